#!/usr/bin/env python3
"""Checks a timeline against the rules of the trace event format, and prints its events.

    check_trace.py TRACE.json

An event has a name, a phase, a process and a thread; a complete event (`X`) has a start and a duration of at least 0. The
events of a thread are nested: two of them either are apart, or one contains the other.
"""
import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
assert set(trace) <= {"traceEvents", "displayTimeUnit", "otherData"} and trace["displayTimeUnit"] in {"ns", "ms"}
threads = {}
for event in trace["traceEvents"]:
    assert isinstance(event["name"], str) and event["ph"] in {"X", "M"} and isinstance(event["pid"], int), event
    if event["ph"] == "M":
        assert event["name"] in {"process_name", "thread_name"} and isinstance(event["args"]["name"], str), event
        continue
    assert isinstance(event["cat"], str) and isinstance(event["tid"], int), event
    assert event["ts"] >= 0 and event["dur"] >= 0, event
    threads.setdefault((event["pid"], event["tid"]), []).append(event)
for events in threads.values():
    open_until = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while open_until and open_until[-1] <= event["ts"] + 1e-6:
            open_until.pop()
        end = event["ts"] + event["dur"]
        assert not open_until or end <= open_until[-1] + 1e-6, event
        open_until.append(end)
    for event in events:
        print(event["name"], event["cat"], f"{event['ts']:g} {event['dur']:g}", event.get("args", {}).get("nodes", ""))
