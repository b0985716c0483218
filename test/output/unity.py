#!/usr/bin/env python3
"""Compiles several generated files as one translation unit.

    unity.py --ingot PROGRAM --work DIR [--targets generic,x86-64-v3,...]

Two models, and one of them under another name, are one translation unit: for each target, for
all of the targets of a processor family at once, with weights in the source and in a file, with
several targets in one output. GCC and clang take it without a warning, both orders; what is in it
besides sees no macro of the generated files.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
from harness import Failure, arguments, sh  # noqa: E402
from matrix import compilers  # noqa: E402
from run import find_model  # noqa: E402
import json  # noqa: E402

STRICT = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
FAMILIES = ["generic,x86-64-v2;x86-64-v3;x86-64-v4;generic", "armv8-a;armv8.2-a+dotprod;armv8-a,armv8.2-a+dotprod", "cortex-m4;generic",
            "cortex-m55", "armv7-a", "hexagon-v67"]


def generate(args, folder, target, number, model, weights):
    name = f"net_{number}"
    sh([args.ingot, model, "-o", os.path.join(folder, name + ".cpp"), "--name", name, "--target", target, "--weights", weights])
    return name


def check(args, known, family):
    folder = os.path.join(args.work, re.sub(r"\W+", "_", family))
    os.makedirs(folder, exist_ok=True)
    models = [find_model(name, folder)[0] for name in ("mnist_8", "lenet5", "tiny_ds_cnn_kws_int8")]
    names = []
    for target in family.split(";"):
        for model in (models[0], models[1], models[2], models[0]):
            names.append(generate(args, folder, target, len(names), model, "file" if len(names) % 2 else "source"))
    after = "\n#ifdef INGOT_UNROLLED\n#error \"a macro is left\"\n#endif\n#ifdef INGOT_IEEE\n#error \"a macro is left\"\n#endif\n"
    for order, sources in enumerate((names, names[::-1])):
        text = "".join(f'#include "{name}.cpp"\n' for name in sources) + after
        for name in names:
            with open(os.path.join(folder, name + ".cpp")) as file:
                macros = set(re.findall(r"^#define (\w+)", file.read(), re.M))
            text += "".join(f"#ifdef {macro}\n#error \"{macro} is left\"\n#endif\n" for macro in sorted(macros))
        with open(os.path.join(folder, f"unity_{order}.cc"), "w") as file:
            file.write(text)
    best = family.split(";")[-1] if "cortex" not in family else family.split(";")[0]
    for compiler in compilers(known, best):
        for order in (0, 1):
            sh([*compiler, *STRICT, "-O1", "-c", f"unity_{order}.cc", "-o", "unity.o"], cwd=folder)
    return len(names)


def main():
    parser = arguments(__doc__, targets="all")
    args = parser.parse_args()
    known = {target["name"]: target for target in json.loads(sh([args.ingot, "targets", "--json"]))}
    families = FAMILIES if args.targets == "all" else args.targets.split("/")
    files = 0
    try:
        for family in families:
            files += check(args, known, family)
    except Failure as failure:
        print(failure)
        return 1
    print(f"{files} files in {len(families)} translation units")
    return 0


if __name__ == "__main__":
    sys.exit(main())
