#!/usr/bin/env python3
"""Counts the instructions of a model on an emulated board for many different inputs.

    instructions.py NAME... --ingot PROGRAM --work DIR [--targets cortex-m4] [--runs 200]

A network whose statements do not depend on data (control-flow.json) must execute the same
number of instructions in all runs. An instruction that a condition skips counts as executed.

Where conditional expressions depend on data, GCC makes branches of some of them, mainly of a
minimum of a maximum. Then the numbers differ with the usual flags, and must be equal with
STEADY.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "networks"), os.path.join(HERE, "..", "output"), os.path.join(HERE, "..", "firmware")]
sys.dont_write_bytecode = True
from count import Target, disassemble, run, write_interface  # noqa: E402
from harness import Failure, arguments  # noqa: E402
from run import find_model  # noqa: E402
from tables import load  # noqa: E402


# Keeps GCC from joining the conditions of several conditional expressions into branches.
STEADY = "-fno-thread-jumps"


def generate(ingot, model, target, directory, runs):
    """Returns whether statements and whether conditional expressions depend on data."""
    source = os.path.join(directory, "model.cpp")
    evidence = os.path.join(directory, "evidence")
    options = ["--target", target.name, "--weights", "source"]
    run([ingot, model, "-o", source, "--name", "model", *options, "--evidence", evidence])
    facts = json.loads(run([ingot, "inspect", "--json", model, *options]))
    interface = os.path.join(directory, "count_model.h")
    write_interface(interface, "model", facts, target, None)
    with open(interface) as file:
        text = file.read()
    # Each run continues the sequence of random inputs, scaled to another range.
    for old, new in (("unsigned seed = 1;", "static unsigned seed = 1;"), ("* 0x1p-31f", "* 0x1p-31f * count_scale")):
        text = text.replace(old, new)
    with open(interface, "w") as file:
        file.write(f"#define COUNT_RUNS {runs}\nstatic float count_scale = 1.0f;\n{text}")
    start = os.path.join(directory, "start.cpp")
    with open(start, "w") as file:
        file.write(target.program_text)
    functions = load(evidence, "control-flow.json")["functions"]
    return [any(function[kind + "_depend_on_data"] for function in functions) for kind in ("statements", "choices")]


def count(target, directory, flags, runs):
    """Returns the number of instructions of each run."""
    code, start = os.path.join(directory, "model.o"), os.path.join(directory, "start.cpp")
    run(target.compiler + ["-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", *target.flags, *flags, "-I", directory,
                           "-c", os.path.join(directory, "model.cpp"), "-o", code])
    elf = os.path.join(directory, "runs.elf")
    run(target.linker + ["-std=c++17", "-O2", "-masm-syntax-unified", "-I", directory, os.path.join(HERE, "InstructionsMain.cpp"),
                         start, code, *target.link_flags, "-o", elf])
    plugin = os.path.join(directory, "libcount.so")
    run(["cc", "-shared", "-fPIC", "-O2", "-fvisibility=hidden", os.path.join(HERE, "..", "firmware", "CountPlugin.c"),
         "-o", plugin])
    symbols = {function[2]: function[0] for function in disassemble(elf, target.name)[1]}
    intervals = os.path.join(directory, "intervals")
    at = target.emulator.index("-kernel")
    run(target.emulator[:at] + ["-plugin", f"{plugin},begin={symbols['count_begin']},end={symbols['count_end']},"
                                f"out={os.path.join(directory, 'counts')},intervals={intervals}"] + target.emulator[at:] + [elf],
        timeout=3600)
    with open(intervals) as file:
        counts = [int(line) for line in file]
    if len(counts) != runs:
        raise Failure(f"{len(counts)} runs instead of {runs}")
    return counts


def check(ingot, name, target, work, runs):
    directory = os.path.abspath(os.path.join(work, name, target.name))
    os.makedirs(directory, exist_ok=True)
    model, _ = find_model(name, os.path.join(work, name))
    statements, choices = generate(ingot, model, target, directory, runs)
    counts = count(target, directory, [], runs)
    text = f"{min(counts)} to {max(counts)} instructions in {runs} runs"
    if statements:
        return text + "; its statements depend on data"
    if min(counts) == max(counts):
        return text
    if not choices:
        raise Failure(text + ", but nothing depends on data")
    counts = count(target, directory, [STEADY], runs)
    text += f"; with {STEADY}: {min(counts)} to {max(counts)}"
    if min(counts) != max(counts):
        raise Failure(text + ", but no statement depends on data")
    return text


def main():
    parser = arguments(__doc__, targets="cortex-m4")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--runs", type=int, default=200)
    args = parser.parse_args()
    failed = False
    for name in args.names:
        for target in args.targets.split(","):
            try:
                print(f"{name} {target}: {check(args.ingot, name, Target(args.ingot, target), args.work, args.runs)}", flush=True)
            except Failure as failure:
                failed = True
                print(f"{name} {target}: FAILED: {failure}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
