#!/usr/bin/env python3
"""Compiles generated code with all warnings: many models, targets, options.

    matrix.py --ingot PROGRAM --work DIR --models NAMES|corners|cases [--every 10]
                [--matrix sample|all] [--optimize]

--models: networks of test/networks, joined by commas; `all` of them; `corners`, models that
were made for this file; `cases`, every N-th of the official backend tests; a folder, all
*.onnx below it.
--matrix all: each model with each setting; sample: with some, such that all settings occur.
--optimize: compile each to an object with -O1 too, where compilers see more than in the text alone.

A setting is a target, or several in one output, and an option. Every compiler of a target that
is installed gets all outputs of a setting in one source, with -Wall -Wextra -Wpedantic -Werror
and the warnings of strict projects: of GCC those of STRICT_GCC, of clang all but those of
CLANG_EXCEPTIONS. Their headers are compiled as C11 and as C++17.
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("networks", "conformance")]
import corners  # noqa: E402
import suite  # noqa: E402
from harness import arguments  # noqa: E402
from run import MODELS, find_model  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STRICT_GCC = ["-Wold-style-cast", "-Wcast-align=strict", "-Wcast-qual", "-Wconversion", "-Wsign-conversion", "-Warith-conversion",
              "-Wshadow", "-Wdouble-promotion", "-Wmissing-declarations", "-Wredundant-decls", "-Wundef", "-Wformat=2",
              "-Wextra-semi", "-Wzero-as-null-pointer-constant", "-Wunused-macros", "-Wlogical-op", "-Wduplicated-cond",
              "-Woverloaded-virtual", "-Wnon-virtual-dtor", "-Wsuggest-override", "-Wvla", "-Walloca", "-Wswitch-enum",
              "-Wunused-const-variable=2", "-Wdeprecated-copy-dtor", "-Wcomma-subscript"]
# Clang warnings that generated code may cause; codegen/README.md gives the reason for each.
CLANG_EXCEPTIONS = ["c++98-compat", "c++98-compat-pedantic", "c++98-compat-local-type-template-args", "pre-c++14-compat",
                    "pre-c++17-compat", "padded", "unsafe-buffer-usage", "float-equal", "unused-template", "switch-default",
                    "disabled-macro-expansion", "gnu-statement-expression-from-macro-expansion", "documentation", "reserved-macro-identifier"]
STRICT_CLANG = ["-Weverything", *(f"-Wno-{name}" for name in CLANG_EXCEPTIONS)]
STRICT = ["-std=c++17", "-fno-exceptions", "-fno-rtti", *WARNINGS]
# Sizes for networks with dynamic shapes.
DIMS = {"keras_text": ["--dim", "unk__6=1"], "mobilenet_v3_photos": ["--dim", "batch=1"],
        "super_resolution_10": ["--dim", "batch_size=1"]}
# Above this size, weights are not written as source: compilers would take minutes to read them.
SPELT_BYTES = 4 << 20

TARGETS = ["generic", "x86-64-v3", "x86-64-v4", "armv8-a", "cortex-m4", "x86-64-v2,x86-64-v3,x86-64-v4", "armv7-a", "cortex-m55",
           "armv8-a,armv8.2-a+dotprod,armv8.2-a+bf16", "cortex-m0plus", "generic,x86-64-v2", "cortex-m33", "cortex-m7", "hexagon-v67"]
OPTIONS = ["", "--optimize=size", "--weights=source", "--strict", "--weights=file", "--weights=object", "--max-ram"]
Setting = collections.namedtuple("Setting", "target option")
Model = collections.namedtuple("Model", "name path flags")


def sh(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def read_models(args):
    if args.models == "corners":
        return [Model(name, path, []) for name, path in corners.write(os.path.join(args.work, "models"))]
    if args.models == "cases":
        folder = os.path.join(args.work, "suite")
        suite.write(folder)
        with open(os.path.join(folder, "cases.tsv")) as file:
            cases = [line.split("\t")[:2] for line in file]
        cases = [(kind, name) for kind, name in cases if kind != "real"][::args.every]
        # Makes names that differ only in case unique, since their macros would be the same.
        seen = collections.Counter()
        names = []
        for _, name in cases:
            names.append(name + "_again" * seen[name.lower()])
            seen[name.lower()] += 1
        return [Model(each, os.path.join(folder, kind, name, "declared", "model.onnx"), [])
                for each, (kind, name) in zip(names, cases)]
    if os.path.isdir(args.models):
        paths = sorted(glob.glob(os.path.join(args.models, "**", "*.onnx"), recursive=True))
        return [Model(re.sub(r"\W+", "_", os.path.relpath(path, args.models)[:-5]), path, []) for path in paths]
    names = args.models.split(",")
    if args.models == "all":
        real = [os.path.basename(os.path.dirname(path)) for path in glob.glob(os.path.join(MODELS, "real", "*", "model.onnx"))]
        names = sorted(real + [os.path.basename(path)[:-5] for path in glob.glob(os.path.join(MODELS, "graphs", "*.onnx"))])
    folder = os.path.join(args.work, "models")
    os.makedirs(folder, exist_ok=True)
    return [Model(name, find_model(name, folder)[0], DIMS.get(name, [])) for name in names]


def settings(args, number):
    """Returns the settings (target and option) with which the model of this number is compiled: all, or with
    --matrix sample a few that are far apart in the list of all and begin at the model's number."""
    every = [Setting(target, option) for option in OPTIONS for target in TARGETS
             if option != "--max-ram" or "," not in target and args.models != "cases"]
    if args.matrix == "all":
        return every
    step = len(TARGETS) * 2 + 3
    return [every[(number + i * step) % len(every)] for i in range(args.sample)]


class Failure(Exception):
    pass


def is_refusal(args, done):
    """Whether Ingot may reject this: a memory limit that is too small and, except for our own networks,
    unsupported features or sizes that only the data provides."""
    if done.returncode == 1 and "error[over-budget]" in done.stderr:
        return True
    others = args.models == "cases" or os.path.isdir(args.models)
    return others and (done.returncode == 3 or done.returncode == 1 and "error[unbound-" in done.stderr)


def generate(args, model, setting, folder):
    """Compiles a model with a setting to C++ in `folder`; returns its name, or None if the setting is not
    possible for this model."""
    path = os.path.join(folder, model.name + ".cpp")

    def compile(*flags):
        done = sh([args.ingot, model.path, "-o", path, "--name", model.name, "--target", setting.target, *model.flags, *flags])
        if done.returncode and not is_refusal(args, done):
            raise Failure(f"exit code {done.returncode}\n{done.stderr[:2000]}")
        return done.returncode == 0

    if setting.option == "--weights=source" and os.path.getsize(model.path) > SPELT_BYTES:
        return None
    if setting.option != "--max-ram":
        return model.name if compile(*filter(None, [setting.option])) else None
    if not compile():
        return None
    with open(path[:-4] + ".h") as file:
        arena = int(re.search(r"_ARENA_BYTES (\d+)u", file.read()).group(1))
    return model.name if compile("--max-ram", str(max(arena * 3 // 4, 1))) else None


def compilers(known, target):
    """Returns the commands for a target's code: one of GCC and one of clang, if installed."""
    first = known[target.split(",")[0]]
    found = {}
    for command in first["compilers"]:
        words = command.split()
        if shutil.which(words[0]):
            found.setdefault("clang" in words[0], [*words, *first["flags"]])
    return list(found.values())


def write_together(folder, names):
    """Writes one source that includes the generated sources, so that the compiler reads the headers with
    intrinsics once: this takes longer than most sources."""
    headers = "".join(f'#include "{name}.h"\n' for name in names)
    with open(os.path.join(folder, "together.cc"), "w") as file:
        file.write("".join(f'#include "{name}.cpp"\n' for name in names))
    with open(os.path.join(folder, "headers.c"), "w") as file:
        file.write(headers + "int main(void) { return 0; }\n")


def compile_all(args, known, setting, folder, names):
    """Returns the messages of the compilers for all outputs of one setting; empty if there are none."""
    sources = [name + ".cpp" for name in names]
    write_together(folder, names)
    commands = []
    for compiler in compilers(known, setting.target):
        strict = STRICT_CLANG if "clang" in compiler[0] else STRICT_GCC
        commands.append([*compiler, *STRICT, *strict, "-fsyntax-only", "together.cc"])
        commands.append([*compiler, "-x", "c", "-std=c11", *WARNINGS, "-fsyntax-only", "headers.c"])
        if args.optimize:
            commands.append([*compiler, *STRICT, "-O1", "-c", *sources])
    said = ""
    for command in commands:
        done = sh(command, cwd=folder)
        if done.returncode or done.stderr.strip():
            said += f"{' '.join(command[:3])} ...\n{done.stderr[:4000]}\n"
    return said


def main():
    parser = arguments(__doc__)
    parser.add_argument("--models", required=True)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--matrix", choices=["sample", "all"], default="sample")
    parser.add_argument("--sample", type=int, default=2, help="settings of each model")
    parser.add_argument("--optimize", action="store_true")
    parser.add_argument("--filter", default="", help="only settings that contain this text")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    known = {target["name"]: target for target in json.loads(sh([args.ingot, "targets", "--json"]).stdout)}

    bySetting = collections.defaultdict(list)
    for number, model in enumerate(read_models(args)):
        for setting in settings(args, number):
            bySetting[setting].append(model)
    failures = outputs = 0
    for setting, models in sorted(bySetting.items()):
        title = f"{setting.target} {setting.option}".strip()
        if args.filter not in title:
            continue
        folder = os.path.join(args.work, title.replace(",", "+").replace(" ", ""))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        names = []
        for model in models:
            try:
                names += filter(None, [generate(args, model, setting, folder)])
            except Failure as failure:
                failures += 1
                print(f"{title}: {model.name}: {failure}", flush=True)
        said = compile_all(args, known, setting, folder, names) if names else ""
        outputs += len(names)
        if said:
            failures += 1
            print(f"{title}: {said}", flush=True)
        else:
            shutil.rmtree(folder)
            if args.matrix == "all":
                print(f"{title}: {len(names)} outputs, no warning", flush=True)
    print(f"{outputs} outputs of {len(bySetting)} settings, {failures} failures")
    return 1 if failures or not outputs else 0


if __name__ == "__main__":
    sys.exit(main())
