#!/usr/bin/env python3
"""What any stage prints is the whole program: compiled on from there, it gives the same bytes.

    round_trip.py --ingot PROGRAM --work DIR --models NAMES [--targets generic,x86-64-v3,cortex-m4]

Each network is compiled in one go. Then for each stage the module that --stop-after writes is
compiled on with --start-from; source and header have to be the same.
"""
import filecmp
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
sys.path.insert(0, HERE)
from harness import arguments  # noqa: E402
from matrix import DIMS  # noqa: E402
from run import find_model  # noqa: E402

STAGES = ["import", "simplify", "decide", "lower", "schedule", "plan", "legalize"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr[:1000]}"


def check(ingot, model, flags, target, folder):
    """Compiles a network in one go and from the module after each stage. Returns a message for each stage
    from which other C++ results."""
    straight, resumed, module = (os.path.join(folder, name) for name in ("straight", "resumed", "module.mlir"))
    for directory in (straight, resumed):
        os.makedirs(directory, exist_ok=True)
    said = run([ingot, model, *flags, "--target", target, "-o", os.path.join(straight, "net.cpp")])
    if said:
        return [said]
    wrong = []
    for stage in STAGES:
        # Before stage Decide, a module has no target.
        given = ["--target", target] if stage in ("import", "simplify") else []
        said = run([ingot, model, *flags, "--target", target, "--stop-after", stage, "-o", module]) or \
            run([ingot, module, "--start-from", stage, *given, "-o", os.path.join(resumed, "net.cpp")])
        if said:
            wrong.append(f"{stage}: {said}")
        for name in ("net.cpp", "net.h"):
            if not said and not filecmp.cmp(os.path.join(straight, name), os.path.join(resumed, name), shallow=False):
                wrong.append(f"{stage}: {name} differs")
    return wrong


def main():
    parser = arguments(__doc__, targets="generic,x86-64-v3,cortex-m4")
    parser.add_argument("--models", required=True)
    args = parser.parse_args()
    folder = os.path.join(args.work, "models")
    os.makedirs(folder, exist_ok=True)
    failures = count = 0
    for name in args.models.split(","):
        model = find_model(name, folder)[0]
        for target in args.targets.split(","):
            count += len(STAGES)
            for wrong in check(args.ingot, model, DIMS.get(name, []), target, os.path.join(args.work, name, target)):
                failures += 1
                print(f"{name} for {target}: {wrong}", flush=True)
    print(f"{count} modules were compiled on, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
