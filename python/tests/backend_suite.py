#!/usr/bin/env python3
"""Runs the official backend tests of the package onnx through ingot.backend, and compares with what `ingot test` passes.

    backend_suite.py --table test/conformance/results.csv --refused python/tests/backend_refused.csv [--work DIR] [--jobs N]
                     [--filter RE] [--every N] [--update]

The tests are those of onnx.backend.test.BackendTest, unmodified: a case passes, is skipped (Ingot does not support the model,
and says why), or fails. This program fails if a case fails or did not run; if a case is skipped as unsupported although it
passes in the column `declared` of the table, which test/conformance fills; or if the skipped cases or their reasons differ
from the file of refused cases.

With --work the results are kept in a folder as they come, so that a run that was stopped goes on where it was.
"""

import argparse
import collections
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from fast_compiler import fast_compiler

STATUS = ("pass", "skip", "fail")
COLUMNS = ("case", "id", "reason")
# If the expected values of a case are random numbers that no other backend can reproduce, the
# reason in the table of accepted failures begins with this word.
RANDOM = "random-numbers"
# The official runner asks for len() of each element of a sequence, which fails for arrays of shape []: no backend passes.
# test_backend.py compares the numbers of such a network.
NOT_COMPARABLE = "not-comparable"
LENGTH_OF_SCALAR = "Unable to compare expected type <class 'numpy.ndarray'> and runtime type <class 'numpy.ndarray'>"


class Result(unittest.TestResult):
    """Writes the status of each case, and the reason, as a line of JSON."""

    def __init__(self, file):
        super().__init__()
        self.file = file

    def note(self, test, status, why=""):
        name = test.id().split(".")[-1].removesuffix("_cpu")
        print(json.dumps([name, status, why]), file=self.file, flush=True)
        if status == "fail":
            print(f"fail  {name}  {why}", file=sys.stderr, flush=True)

    def addSuccess(self, test):
        _, refused, why = self.said.getvalue().partition("is effectively skipped: ")
        self.note(test, "skip" if refused else "pass", why)

    def addSkip(self, test, reason):
        self.note(test, "skip", reason)

    def addError(self, test, error):
        if error[0] is TypeError and str(error[1]).startswith(LENGTH_OF_SCALAR):
            return self.note(test, "skip", f"Ingot: [{NOT_COMPARABLE}] the official runner cannot compare sequences of tensors without axes")
        self.note(test, "fail", f"{error[0].__name__}: {error[1]}"[:600])

    addFailure = addError


def read_results(work):
    """Reads a folder of results; returns {case: (status, reason)}."""
    found = {}
    for path in sorted(work.glob("part-*.jsonl")):
        for line in path.read_text().splitlines():
            name, status, why = json.loads(line)
            found[name] = (status, why)
    return found


def read_table(arguments):
    with open(arguments.table, newline="") as file:
        return {row["case"]: row for row in csv.DictReader(file)}


def cases_of(arguments):
    import onnx.backend.test

    import ingot.backend

    tests = onnx.backend.test.BackendTest(ingot.backend, __name__)
    for row in read_table(arguments).values():
        if row["reason"].startswith(RANDOM):
            tests.exclude(f"^{row['case']}_cpu$")
    suite = tests.test_suite
    # The suite has a copy of each case for each device; Ingot supports only the CPU.
    cases = [case for case in suite if case.id().endswith("_cpu") and re.search(arguments.filter, case.id())]
    return sorted(cases, key=lambda case: case.id())[:: arguments.every]


def run_part(arguments, work):
    """Runs the cases number `part`, `part + jobs`, ... that have no result yet."""
    done = read_results(work)
    with tempfile.TemporaryDirectory(prefix="ingot-") as scratch, (work / f"part-{arguments.part}.jsonl").open("a") as file:
        folder = pathlib.Path(scratch)
        os.environ.setdefault("INGOT_CXX", fast_compiler(folder))
        os.environ["INGOT_CACHE"] = str(folder / "cache")
        result = Result(file)
        # The runner of onnx reports a case as passed if the backend rejects it; only with --verbose does it print
        # that the case was rejected.
        sys.argv.append("--verbose")
        for case in cases_of(arguments)[arguments.part :: arguments.jobs]:
            if case.id().split(".")[-1].removesuffix("_cpu") not in done:
                with contextlib.redirect_stdout(io.StringIO()) as result.said:
                    case(result)


def rows_of(found, table):
    """Returns the rejected cases sorted by name, each with the id and first line of the diagnostic, or with the reason in the table."""
    rows = []
    for name, (status, why) in sorted(found.items()):
        if status == "skip":
            match = re.match(r"Ingot: \[([\w-]+)\] (.*)", why)
            known, _, reason = table.get(name, {"reason": ""})["reason"].partition(": ")
            rows.append((name, *match.groups()) if match else (name, known, reason or why.splitlines()[0]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--refused", required=True, help="the cases that are refused, with the reasons")
    parser.add_argument("--update", action="store_true", help="write that file")
    parser.add_argument("--work", help="keep the results in this folder, and run only cases that it has no result of")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part is not None:
        run_part(arguments, pathlib.Path(arguments.work))
        return 0
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="ingot-") as scratch:
        work = pathlib.Path(arguments.work or scratch)
        work.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, *sys.argv, "--work", str(work)]
        parts = [subprocess.Popen([*command, "--part", str(part)]) for part in range(arguments.jobs)]
        if any([part.wait() for part in parts]):
            print("a part of the cases did not end", file=sys.stderr)
            return 1
        wanted = {case.id().split(".")[-1].removesuffix("_cpu") for case in cases_of(arguments)}
        found = {name: value for name, value in read_results(work).items() if name in wanted}
    table = read_table(arguments)
    expected = {name: row["declared"] for name, row in table.items()}
    counts = collections.Counter(status for status, _ in found.values())
    print(f"{len(found)} cases in {time.time() - begin:.0f} seconds:", ", ".join(f"{counts[s]} {s}" for s in STATUS))
    print(f"`ingot test` passes {sum(expected.get(name) == 'pass' for name in found)} of these")
    refused = rows_of(found, table)
    for reason, count in collections.Counter(row[1] for row in refused).most_common():
        print(f"  refused: {count:4} {reason}")
    wrong = [f"{name} fails: {why}" for name, (status, why) in sorted(found.items()) if status == "fail"]
    wrong += [
        f"{name} is refused, but `ingot test` passes it: {why}"
        for name, reason, why in refused
        if expected.get(name) == "pass" and reason != NOT_COMPARABLE
    ]
    wrong += [f"{name} did not run" for name in sorted(wanted - set(found))]
    if arguments.update:
        with open(arguments.refused, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *refused])
    with open(arguments.refused, newline="") as file:
        recorded = {tuple(row[c] for c in COLUMNS) for row in csv.DictReader(file) if row["case"] in wanted}
    wrong += [f"{row[0]} is not recorded as refused ({row[1]}: {row[2]})" for row in refused if row not in recorded]
    wrong += [f"{row[0]} is recorded as refused, for another reason or none: {row[2]}" for row in sorted(recorded - set(refused))]
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
