#!/usr/bin/env python3
"""Measures with gcov which lines and branches of kernels the program of --emit-test executes.

    coverage.py NAME... --ingot PROGRAM --work DIR

All lines and all outcomes of all branches of kernels and helpers must be executed, except
where control-flow.json says that the data of a run decide. The exceptions are counted.

Helpers are measured as functions, not once for each place that they are inlined into.
"""
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "networks"), os.path.join(HERE, "..", "output")]
sys.dont_write_bytecode = True
from harness import Failure, arguments, sh  # noqa: E402
from run import find_model  # noqa: E402
from tables import data_sets, load  # noqa: E402


def measure(ingot, name, work):
    """Returns the functions of control-flow.json, and the counts of lines and branches."""
    directory = os.path.join(work, name)
    os.makedirs(directory, exist_ok=True)
    model, folders = find_model(name, directory)
    folder = os.path.dirname(model) if folders else data_sets(model, os.path.join(directory, "data"), 4)
    source = os.path.join(directory, "net.cpp")
    evidence = os.path.join(directory, "evidence")
    sh([ingot, model, "-o", source, "--target", "generic", "--weights", "source", "--emit-test", folder,
        "--evidence", evidence])
    with open(source) as file:
        text = file.read()
    with open(source, "w") as file:
        file.write(text.replace("[[gnu::always_inline]]", ""))
    for old in os.listdir(directory):
        if old.endswith((".gcda", ".gcno", ".gcov.json.gz")):
            os.remove(os.path.join(directory, old))
    flags = ["-std=c++17", "-O0", "-fno-exceptions"]
    sh(["g++", *flags, "--coverage", "-c", "net.cpp", "-o", "net.o"], cwd=directory)
    sh(["g++", *flags, "--coverage", "net_test.cpp", "net.o", "-o", "net"], cwd=directory)
    sh(["./net"], cwd=directory)
    sh(["gcov", "--json-format", "--branch-probabilities", "net.o"], cwd=directory)
    with gzip.open(os.path.join(directory, "net.gcov.json.gz")) as file:
        files = json.load(file)["files"]
    counts = next(entry for entry in files if entry["file"].endswith("net.cpp"))["lines"]
    return load(evidence, "control-flow.json")["functions"], load(evidence, "traceability.json")["functions"], counts


def check(ingot, name, work):
    flow, functions, counts = measure(ingot, name, work)
    by_line = {}
    for entry in counts:
        known = by_line.setdefault(entry["line_number"], [0, []])
        known[0] += entry["count"]
        known[1] += [branch["count"] for branch in entry["branches"] if not branch["throw"]]
    total, executed, branches, taken, problems = 0, 0, 0, 0, []
    for function, effects in zip(functions, flow):
        if function["kind"] == "program":
            continue
        places = [(place["first_line"], place["last_line"]) for place in effects["places"] if place["effect"] != "address"]
        for line in range(function["first_line"], function["last_line"] + 1):
            if line not in by_line:
                continue
            count, outcomes = by_line[line]
            total, executed = total + 1, executed + (count > 0)
            branches, taken = branches + len(outcomes), taken + sum(outcome > 0 for outcome in outcomes)
            is_data = any(first <= line <= last for first, last in places)
            if (count == 0 or 0 in outcomes) and not is_data:
                problems.append(f"line {line} of {function['function']}: executed {count} times, outcomes {outcomes}")
    text = f"{executed} of {total} lines, {taken} of {branches} branches; the data decide the others"
    if problems:
        raise Failure(text + f", but not these {len(problems)}:\n  " + "\n  ".join(problems[:12]))
    return text


def main():
    parser = arguments(__doc__)
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    failed = False
    for name in args.names:
        try:
            print(f"{name}: {check(args.ingot, name, args.work)}", flush=True)
        except Failure as failure:
            failed = True
            print(f"{name}: FAILED: {failure}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
