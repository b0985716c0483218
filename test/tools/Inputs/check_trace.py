"""Checks that a trace has the format of Chrome's trace viewer, and that the kernels of a run follow each other."""
import json
import sys

trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"]
assert events[0]["ph"] == "M" and events[0]["name"] == "process_name", events[0]
kernels = [e for e in events if e.get("cat") == "kernel"]
runs = [e for e in events if e.get("cat") == "run"]
assert kernels and runs, trace
for event in kernels + runs:
    assert event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= 0, event
    assert event["pid"] == 1 and event["tid"] == 1 and event["name"], event
for before, after in zip(kernels, kernels[1:]):
    assert before["ts"] + before["dur"] <= after["ts"] + 1e-6, (before, after)
assert "conv" in kernels[0]["name"] and "Convolution28" in kernels[0]["args"]["nodes"], kernels[0]
