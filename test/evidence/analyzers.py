#!/usr/bin/env python3
"""Runs clang-tidy and cppcheck with its MISRA addon on generated code.

    analyzers.py NAME... --ingot PROGRAM --work DIR [--targets generic,cortex-m4] [--languages c++,c]

Nothing may be reported but what compiler/evidence/deviations.csv lists, and the checks below,
each with the reason why it does not apply. Without these programs the test is skipped (exit
code 77).
"""
import csv
import itertools
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(HERE, "..", "networks"), os.path.join(HERE, "..", "output")]
sys.dont_write_bytecode = True
import subprocess  # noqa: E402
from harness import Failure, arguments, sh  # noqa: E402
from run import find_model  # noqa: E402
from tables import OPTIONS  # noqa: E402

CHECKS = "-*,bugprone-*,cert-*,clang-analyzer-*,misc-*"
STANDARDS = {"c++": "c++17", "c": "c11"}
EXCLUDED = {
    "misc-include-cleaner": "asks for the private headers of the compiler's intrinsics",
    "misc-no-recursion": "there is no recursion; the check is slow",
}


def deviations():
    """Returns the checks of the list of deviations."""
    with open(os.path.join(ROOT, "compiler", "evidence", "deviations.csv")) as file:
        return {row["check"] for row in csv.DictReader(file)} - {"-"}


def ids_in(text, source):
    """Returns the findings in the files beside `source`, as a map from id to lines."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"(.*?):(\d+):\d+: \w+: .*\[([\w.,-]+)\]$", line)
        if match and os.path.dirname(os.path.abspath(match[1])) == os.path.dirname(source):
            for name in match[3].split(","):
                found.setdefault(name, []).append(line.strip())
    return found


def clang_tidy(source, target, language):
    flags = ["-std=" + STANDARDS[language], *target["flags"]]
    if "arm-none-eabi" in target["compilers"][0]:
        library = sh(["arm-none-eabi-gcc", "-print-file-name=libc.a"]).strip()
        flags += ["--target=arm-none-eabi", "-isystem", os.path.join(os.path.dirname(library), "..", "include")]
    checks = ",".join([CHECKS, *("-" + name for name in EXCLUDED)])
    done = subprocess.run(["clang-tidy-22", source, "--quiet", "--checks=" + checks, "--header-filter=.*", "--", *flags],
                          capture_output=True, text=True)
    if "error:" in done.stdout:
        raise Failure(done.stdout[:2000])
    return ids_in(done.stdout, source)


def cppcheck(source, language):
    # Analyzes one configuration: GCC, for a core with the instructions that Cortex-M4 files require. Without -D,
    # cppcheck would analyze the combinations of all macros.
    done = subprocess.run(["cppcheck", "--addon=misra", "--enable=style,warning,performance,portability",
                           "--std=" + STANDARDS[language], "--language=" + language, "-D__GNUC__=12",
                           "-D__ARM_FEATURE_SIMD32=1", "-D__ARM_FP=4", "--max-configs=1", "--inline-suppr", "--quiet",
                           "--template={file}:{line}:{column}: {severity}: {message} [{id}]", source],
                          capture_output=True, text=True, cwd=os.path.dirname(source))
    if done.returncode:
        raise Failure(done.stdout + done.stderr)
    return ids_in(done.stderr, source)


def check(ingot, name, target, language, work, allowed):
    directory = os.path.abspath(os.path.join(work, name, target["name"] + "_" + language))
    os.makedirs(directory, exist_ok=True)
    model, _ = find_model(name, os.path.join(work, name))
    source = os.path.join(directory, "net.c" if language == "c" else "net.cpp")
    # Leaves the weights out of the source: they are 90% of the text, and only constants.
    sh([ingot, model, "-o", source, "--target", target["name"], "--weights", "object",
        *OPTIONS.get(name, [])])
    found = {**clang_tidy(source, target, language), **cppcheck(source, language)}
    others = {name: lines for name, lines in found.items() if name not in allowed}
    if others:
        raise Failure("\n  ".join(f"{name} ({len(lines)}): {lines[0]}" for name, lines in sorted(others.items())))
    return ", ".join(f"{name} {len(lines)}" for name, lines in sorted(found.items())) or "nothing"


def main():
    parser = arguments(__doc__, targets="generic,cortex-m4,cortex-m55")
    parser.add_argument("--languages", default="c++,c")
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    for program in ("clang-tidy-22", "cppcheck"):
        if not shutil.which(program):
            print(f"{program} is not installed")
            return 77
    targets = {target["name"]: target for target in json.loads(sh([args.ingot, "targets", "--json"]))}
    allowed, failed = deviations(), False
    for name in args.names:
        for target, language in itertools.product(args.targets.split(","), args.languages.split(",")):
            try:
                found = check(args.ingot, name, targets[target], language, args.work, allowed)
                print(f"{name} {target} {language}: {found}", flush=True)
            except Failure as failure:
                failed = True
                print(f"{name} {target} {language}: FAILED: {failure}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
