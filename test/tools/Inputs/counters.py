"""Checks --counters: counters.py INGOT MODEL TRACE.json

The system itself counts `cpu-ns` and `page-faults`; cycles and instructions need counters of the processor, which virtual
machines often hide. If a counter is missing or not allowed, `ingot bench` must say so.
"""
import json
import subprocess
import sys

ingot, model, trace = sys.argv[1:]


def bench(counters, *options):
    """Returns the result of a run; None if it fails with the diagnostic that the machine does not count an event."""
    done = subprocess.run([ingot, "bench", model, "--seconds", "0.2", "--json", "--counters", counters, *options],
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    error = json.loads(done.stdout)[0]
    assert done.returncode == 1 and error["id"] == "run-failed", done
    assert "--counters: this machine does not count `" in error["message"] or "kernel.perf_event_paranoid" in error["message"], error
    assert error["hints"], error
    return None


result = bench("cpu-ns,page-faults", "--trace", trace)
if result:
    # 268 million multiply-adds take a millisecond or more. The upper limit allows for other programs on the machine.
    of_run = result["counters"]["cpu-ns"]
    assert 1e6 < of_run < 3e6 * result["p90"] and result["counters"]["page-faults"] >= 0, result
    kernels = [event for event in json.load(open(trace, encoding="utf-8"))["traceEvents"] if event.get("cat") == "kernel"]
    of_kernels = sum(event["args"]["cpu-ns"] for event in kernels) / result["runs"]
    assert 0.5 < of_kernels / of_run < 1.5, (of_kernels, of_run)
result = bench("instructions,cycles")
if result:
    assert 0.05 < result["counters"]["instructions"] / result["counters"]["cycles"] < 10, result
print("cycles are", "counted" if result else "not counted")
