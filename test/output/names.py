#!/usr/bin/env python3
"""Counts the locals of generated code whose names say something.

    names.py NETWORK... --ingot PROGRAM --work DIR [--targets generic,x86-64-v3,cortex-m4]
             [--least PERCENT] [--columns COLUMNS]

A local has a name of the model or of the algorithm, or one that the printer gave
for want of another: `t17`, `acc3`, `at9`, a single letter `i`. Of all locals of a
network on a target at least PERCENT have to be of the first kind, and no line may
be longer than COLUMNS.
"""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
sys.dont_write_bytecode = True
from harness import arguments  # noqa: E402
from run import find_model  # noqa: E402

# Matches a declaration in a function: type, name, then a value, a size or the
# end.
LOCAL = re.compile(r" +(?:const |static |alignas\(\w+\) )*\w+ (?:\*(?:const )?)?(\w+)(?:\[\d+\])?(?: = .*|;)$")
COUNTER = re.compile(r" +for \(\w+ (\w+) = ")
STATEMENTS = {"return", "goto", "else"}
# Matches names that the printer numbers because a value
# (KernelPrinter::newVariable) or a loop has no name.
NAMELESS = re.compile(r"(t|at|acc|s|is|mask|next|local|in|out|arg|value|constant_)\d+|i(_\d+)?|[a-hj-z]\d*")
# Single letters that count as names: those of operands, which the comment of a
# generated function describes.
LETTERS = re.compile(r"[xyabw]\d*")


def locals_of(source):
    """Returns the names of the local variables in a generated source, in order of their declarations."""
    names = []
    for line in source.splitlines():
        found = COUNTER.match(line) or LOCAL.match(line)
        if found and line.split()[0] not in STATEMENTS:
            names.append(found[1])
    return names


def is_nameless(name):
    return NAMELESS.fullmatch(name) and not LETTERS.fullmatch(name)


def check(network, model, target, options):
    """Compiles a network for one target and checks the names and the length of lines. Returns an error
    message; empty if there is no error."""
    path = os.path.join(options.work, f"{network}.{target}.cpp")
    subprocess.run([options.ingot, model, "--name", "net", "--target", target, "--weights", "file", "-o", path],
                   check=True)
    with open(path) as file:
        source = file.read()
    names = locals_of(source)
    nameless = collections.Counter(filter(is_nameless, names))
    percent = 100 * (1 - sum(nameless.values()) / max(1, len(names)))
    longest = max(map(len, source.splitlines()))
    print(f"{network} for {target}: {percent:.1f} % of {len(names)} locals, longest line {longest}")
    faults = []
    if percent < options.least:
        faults.append(f"only {percent:.1f} % of the locals have a name: " +
                      ", ".join(name for name, _ in nameless.most_common(12)))
    if longest > options.columns:
        faults.append(f"a line of {longest} columns")
    return "; ".join(faults)


def main():
    parser = arguments(__doc__, targets="generic,x86-64-v3,cortex-m4")
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--least", type=float, default=90)
    parser.add_argument("--columns", type=int, default=110)
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    failed = False
    for network in options.networks:
        model = find_model(network, options.work)[0]
        for target in options.targets.split(","):
            if fault := check(network, model, target, options):
                print(f"{network} for {target}: {fault}")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
