#!/usr/bin/env python3
"""Runs the official backend tests of the package onnx through ingot.backend, and compares with what `ingot test` passes.

    backend_suite.py --table test/conformance/results.csv [--every N] [--filter RE]

The tests are those of onnx.backend.test.BackendTest, unmodified: a case passes, is skipped (Ingot does not support the model,
and says why), or fails. Fails if a case fails, or if one is skipped that passes in the column `declared` of the table, which
test/conformance fills.
"""

import argparse
import collections
import csv
import os
import re
import sys
import tempfile
import time
import unittest

os.environ.setdefault("INGOT_CXX", "clang++-22 -O1")

import onnx.backend.test  # noqa: E402

import ingot.backend  # noqa: E402

STATUS = ("pass", "skip", "fail")


class Result(unittest.TestResult):
    """Keeps the status of each case, and why."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def note(self, test, status, why=""):
        self.found[test.id().split(".")[-1]] = (status, why)
        if status == "fail":
            print(f"fail  {test.id()}  {why}", flush=True)

    def addSuccess(self, test):
        self.note(test, "pass")

    def addSkip(self, test, reason):
        self.note(test, "skip", reason)

    def addError(self, test, error):
        self.note(test, "fail", f"{error[0].__name__}: {error[1]}"[:600])

    addFailure = addError


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--csv", help="write the results here")
    arguments = parser.parse_args()
    with open(arguments.table, newline="") as file:
        expected = {row["case"]: row["declared"] for row in csv.DictReader(file)}
    suite = onnx.backend.test.BackendTest(ingot.backend, __name__).test_suite
    # A case for each device; of those Ingot has the processor.
    cases = [case for case in suite if case.id().endswith("_cpu") and re.search(arguments.filter, case.id())]
    cases = sorted(cases, key=lambda case: case.id())[:: arguments.every]
    begin, result = time.time(), Result()
    with tempfile.TemporaryDirectory(prefix="ingot-") as cache:
        os.environ.setdefault("INGOT_CACHE", cache)
        for case in cases:
            case(result)
    counts = collections.Counter(status for status, _ in result.found.values())
    reasons = collections.Counter()
    worse = []
    for name, (status, why) in sorted(result.found.items()):
        if status == "skip":
            match = re.search(r"Ingot: \[([\w-]+)\]", why)
            reasons[match.group(1) if match else why.splitlines()[0][:80]] += 1
            if expected.get(name.removesuffix("_cpu")) == "pass":
                worse.append(f"{name}: {why.splitlines()[0]}")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            csv.writer(file).writerows((name, *found) for name, found in sorted(result.found.items()))
    print(f"{len(cases)} cases in {time.time() - begin:.0f} seconds:", ", ".join(f"{counts[s]} {s}" for s in STATUS))
    passed = sum(expected.get(name.removesuffix("_cpu")) == "pass" for name in result.found)
    print(f"`ingot test` passes {passed} of these")
    for reason, count in reasons.most_common():
        print(f"  skipped: {count:4} {reason}")
    if worse:
        print("skipped here, but `ingot test` passes them:", *worse, sep="\n  ")
    return bool(counts["fail"] or worse)


if __name__ == "__main__":
    sys.exit(main())
