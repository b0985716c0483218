#!/usr/bin/env python3
"""Builds the C source of networks, runs it, and compares it with the C++ source.

    c_sources.py NAME... --ingot PROGRAM --work DIR [--targets generic]

gcc and clang build the source as C11 without a warning. A program in C runs it on the calling thread, then with a
`parallel_for` that splits each loop and runs the last part first; the outputs must equal those of the C++ source to the
bit.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
sys.dont_write_bytecode = True
from harness import Failure, arguments, sh  # noqa: E402
from run import find_model  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wcast-qual", "-Werror"]
OF_C = ["-std=c11", *WARNINGS, "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wbad-function-cast"]

MAIN = """\
#include "net.h"
#include <stdio.h>
#include <string.h>

static int calls;
static void in_parts(void *user, ptrdiff_t extent, ingot_body body, void *argument) {{
  ptrdiff_t part = extent / 3 + 1, end = extent;
  (void)user;
  ++calls;
  while (end > 0) {{
    ptrdiff_t begin = end > part ? end - part : 0;
    body(argument, begin, end);
    end = begin;
  }}
}}

{tensors}
static _Alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES + 1];

int main(int argc, char **argv) {{
  const ingot_context context = {{in_parts, NULL, NULL, NULL}};
  net_io io = {{{fields}}};
  FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
{fill}
  if (!file || net_run(&io, arena, NULL) != INGOT_OK) return 1;
{write}
  memset(arena, 255, sizeof arena);
  if (net_run(&io, arena, &context) != INGOT_OK) return 1;
{write}
  printf("%d loops in parts\\n", calls);
  return fclose(file);
}}
"""


def program(header):
    """Returns a program that fills the inputs of a network, runs it twice and writes the outputs."""
    tensors = re.findall(r"^  (const )?(\w+) \*(\w+);", header.split("typedef struct net_io {")[1].split("}")[0], re.M)
    elements = {name: re.search(rf"#define NET_{name.upper()}_ELEMENTS (\d+)u", header)[1] for _, _, name in tensors}
    inputs = [name for const, _, name in tensors if const]
    outputs = [name for const, _, name in tensors if not const]
    return MAIN.format(
        tensors="\n".join(f"static {kind} {name}[{elements[name]}];" for _, kind, name in tensors),
        fields=", ".join(name for _, _, name in tensors),
        fill="\n".join(f"  for (int i = 0; i < {elements[name]}; ++i) {name}[i] = (float)(i * 37 % 101) / 50 - 1;"
                       for name in inputs),
        write="\n".join(f"  fwrite({name}, sizeof {name}, 1, file);" for name in outputs))


def check(args, network, target, directory):
    os.makedirs(directory, exist_ok=True)
    model, _ = find_model(network, args.work)
    for source in ("net.c", "net.cpp"):
        sh([args.ingot, model, "--target", target, "--weights", "source", "--name", "net", "-o", source, "--force"],
           cwd=directory)
    with open(os.path.join(directory, "net.h")) as file, open(os.path.join(directory, "main.c"), "w") as main:
        main.write(program(file.read()))
    results = {}
    for compiler, command, source in (("gcc", ["gcc", *OF_C], "net.c"), ("clang", ["clang-22", *OF_C], "net.c"),
                                      ("C++ by gcc", ["g++", "-std=c++17", *WARNINGS], "net.cpp"),
                                      ("C++ by clang", ["clang++-22", "-std=c++17", *WARNINGS], "net.cpp")):
        sh([*command, "-O2", "-c", source, "-o", "net.o"], cwd=directory)
        sh(["gcc", "-std=c11", "main.c", "net.o", "-o", "net", "-lm"], cwd=directory)
        said = sh(["./net", "outputs"], cwd=directory)
        with open(os.path.join(directory, "outputs"), "rb") as file:
            results[compiler] = file.read()
        once = len(results[compiler]) // 2
        if results[compiler][:once] != results[compiler][once:] or said.startswith("0 "):
            raise Failure(f"{compiler}: the parts of loops give another result")
    for compiler in ("gcc", "clang"):
        if results[compiler] != results["C++ by " + compiler]:
            raise Failure(f"{compiler}: C gives another result than C++")


def main():
    parser = arguments(__doc__, targets="generic")
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    args.ingot = os.path.abspath(args.ingot)
    os.makedirs(args.work, exist_ok=True)
    failed = False
    for network in args.names:
        for target in args.targets.split(","):
            try:
                check(args, network, target, os.path.join(args.work, network, target))
            except Failure as failure:
                print(f"{network}, {target}: {failure}")
                failed = True
    print(f"{len(args.names)} networks {'differ' if failed else 'are equal as C and C++'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
