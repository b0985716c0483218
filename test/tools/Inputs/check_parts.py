"""Checks a timeline with threads: the parts of a kernel cover its loop exactly once, and are on the tracks of their threads.

    check_parts.py TRACE.json
"""
import json
import sys

events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
parts = [event for event in events if event.get("cat") == "part"]
kernels = [event for event in events if event.get("cat") == "kernel"]
assert parts and names[1] == "kernels", names
divided = 0
for kernel in kernels:
    end = kernel["ts"] + kernel["dur"]
    own = sorted((part["args"]["first"], part["args"]["end"]) for part in parts
                 if part["name"] == kernel["name"] and kernel["ts"] - 1e-3 <= part["ts"] and part["ts"] + part["dur"] <= end + 1e-3)
    divided += len(own) > 1
    assert not own or own[0][0] == 0 and all(before[1] == after[0] for before, after in zip(own, own[1:])), own
assert divided, "no kernel is divided"
for part in parts:
    assert names[part["tid"]] == f"thread {part['tid'] - 1}" and part["tid"] >= 2, part
