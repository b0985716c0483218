#!/usr/bin/env python3
"""Checks the promises of the generated code on a sample of the official backend tests.

    cases.py --ingot PROGRAM --work DIR [--every 60] [--targets generic,native]

Each case is checked as run.py checks a network, for each target. Then all of them,
each under its own name, are linked into one program.
"""
import importlib.util
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "conformance"))
import suite  # noqa: E402
from harness import arguments  # noqa: E402

spec = importlib.util.spec_from_file_location("promises", os.path.join(HERE, "run.py"))
promises = importlib.util.module_from_spec(spec)
spec.loader.exec_module(promises)


def sample(folder, every):
    """Returns the name and the path of the model of every `every`-th case of the suite in `folder`."""
    with open(os.path.join(folder, "cases.tsv")) as file:
        cases = [line.split("\t")[:2] for line in file]
    return [(name, os.path.join(folder, kind, name, "declared", "model.onnx"))
            for kind, name in cases if kind != "real"][::every]


def check_case(args, model, target, directory):
    """Checks a case; returns False if the model is not supported."""
    os.makedirs(directory, exist_ok=True)
    trial = subprocess.run([args.ingot, model, "-o", os.path.join(directory, "net.cpp"), "--target", target],
                           capture_output=True, text=True)
    # Skips cases that are unsupported (exit code 3) or whose sizes depend on values that only the data provides.
    if trial.returncode == 3 or "unbound-" in trial.stderr:
        return False
    names = promises.compile_twice(args, model, target, "source", directory)
    directory = os.path.join(directory, "a")
    promises.check_text(directory)
    promises.check_compilers(directory)
    promises.check_object(directory)
    if promises.runs_here(args.ingot, target):
        promises.check_run(directory, names)
    return True


def link_together(args, cases, directory):
    """Links all models into one program; includes their headers in one C and one
    C++ file."""
    os.makedirs(directory, exist_ok=True)
    # Ingot truncates names to 60 characters; the numbers make them unique.
    cases = [(f"{name[:50]}_{number}", model) for number, (name, model) in enumerate(cases)]
    objects = []
    for name, model in cases:
        promises.sh([args.ingot, model, "-o", os.path.join(directory, name + ".cpp"), "--name", name])
        promises.sh(["g++", *promises.STRICT, "-O0", "-c", name + ".cpp"], cwd=directory)
        objects.append(name + ".o")
    includes = "".join(f'#include "{name}.h"\n' for name, _ in cases)
    calls = "".join(f"  refused += {name}_run(0, 0, 0) == INGOT_ERROR_NULL;\n" for name, _ in cases)
    text = f"{includes}int main(void) {{\n  int refused = 0;\n{calls}  return refused != {len(cases)};\n}}\n"
    for compiler, standard, suffix in (("gcc", "-std=c11", "c"), ("g++", "-std=c++17", "cpp")):
        source = "all." + suffix
        with open(os.path.join(directory, source), "w") as file:
            file.write(text)
        promises.sh([compiler, standard, *promises.WARNINGS, source, *objects, "-o", "all"], cwd=directory)
        promises.sh([os.path.join(directory, "all")])


def main():
    parser = arguments(__doc__, targets="generic,native")
    parser.add_argument("--every", type=int, default=60)
    args = parser.parse_args()
    args.dim = []
    folder = os.path.join(args.work, "suite")
    suite.write(folder)
    kept, failed = [], []
    for name, model in sample(folder, args.every):
        try:
            supported = [check_case(args, model, target, os.path.join(args.work, name, target))
                         for target in args.targets.split(",")]
            if all(supported):
                kept.append((name, model))
        except promises.Failure as failure:
            failed.append(name)
            print(f"{name}: {failure}", flush=True)
    try:
        link_together(args, kept, os.path.join(args.work, "together"))
    except promises.Failure as failure:
        failed.append("together")
        print(f"together: {failure}")
    print(f"{len(kept)} cases keep all promises, {len(failed)} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
