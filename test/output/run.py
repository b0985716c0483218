#!/usr/bin/env python3
"""Checks the promises that the generated code makes, on one network.

    run.py NAME --ingot PROGRAM --work DIR [--targets generic,native] [--weights source]

Targets of one output are joined by colons: generic,x86-64-v2:x86-64-v3.

- two compilations are byte-identical;
- no warning from g++ and clang under -Wall -Wextra -Wpedantic -std=c++17
  -fno-exceptions -fno-rtti; the header alone is valid C11 and C++17;
- nothing is included but <stdint.h>, <stddef.h> and intrinsics;
- the object needs memcpy, memset and its own weights at most: no heap, no libm;
- no function uses more than 4 KB of stack;
- AddressSanitizer and UndefinedBehaviorSanitizer are content, with arena and
  tensors of exactly the sizes that the header states;
- two threads that run the model at once get the same result as one;
- a null or misaligned pointer is an error code.
"""
import filecmp
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
sys.dont_write_bytecode = True
from harness import Failure, arguments, sh  # noqa: E402
from run import find_model, runs_here  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STRICT = ["-std=c++17", "-fno-exceptions", "-fno-rtti"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
STACK_LIMIT = 4096
ALLOWED_INCLUDES = re.compile(r"stdint\.h|stddef\.h|\w*intrin\.h|arm_\w+\.h|hexagon_\w+\.h|hvx_\w+\.h")

# The main function of a program for one model; write_driver replaces the placeholders.
DRIVER = r"""
#include "@NAME@.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thread>

static void *allocate(size_t align, size_t bytes) {
  void *memory = nullptr;
  return posix_memalign(&memory, align, bytes) ? nullptr : memory;
}

template <typename T> static T *fill(size_t count) {
  T *values = static_cast<T *>(allocate(64, count * sizeof(T)));
  unsigned state = 12345;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = sizeof(T) >= 4 && T(0.5) != T(0) ? T((state >> 8) * (1.0 / (1 << 23)) - 1) : T(state >> 31);
  }
  return values;
}

static bool equal(const void *a, const void *b, size_t bytes) { return !memcmp(a, b, bytes); }

int main() {
  @NAME@_io io[3] = {};
  void *arena[3];
  for (int k = 0; k < 3; ++k) {
@ALLOCATE@
    arena[k] = allocate(@MACRO@_ARENA_ALIGN < 16 ? 16 : @MACRO@_ARENA_ALIGN, @MACRO@_ARENA_BYTES + (@MACRO@_ARENA_BYTES == 0));
  }
  int status[3];
  status[0] = @NAME@_run(&io[0], arena[0], nullptr);
  auto run = [&](int k) {
    for (int i = 0; i < 5; ++i)
      status[k] = @NAME@_run(&io[k], arena[k], nullptr);
  };
  std::thread first(run, 1), second(run, 2);
  first.join();
  second.join();
  if (status[0] || status[1] || status[2])
    return printf("status %d %d %d\n", status[0], status[1], status[2]), 1;
  for (int k = 1; k < 3; ++k) {
@COMPARE@
  }
  if (@NAME@_run(nullptr, arena[0], nullptr) != INGOT_ERROR_NULL)
    return puts("a null io is accepted"), 1;
  if (@MACRO@_ARENA_BYTES && @NAME@_run(&io[0], nullptr, nullptr) != INGOT_ERROR_NULL)
    return puts("a null arena is accepted"), 1;
  if (@MACRO@_ARENA_BYTES && @MACRO@_ARENA_ALIGN > 1 &&
      @NAME@_run(&io[0], static_cast<char *>(arena[0]) + 1, nullptr) != INGOT_ERROR_ALIGNMENT)
    return puts("a misaligned arena is accepted"), 1;
  for (int k = 0; k < 3; ++k) {
@FREE@
    free(arena[k]);
  }
  return 0;
}
"""


def compile_twice(args, model, target, weights, directory):
    """Generates the code into two folders; returns the names of the files."""
    for folder in ("a", "b"):
        path = os.path.join(directory, folder)
        os.makedirs(path, exist_ok=True)
        for old in os.listdir(path):
            os.remove(os.path.join(path, old))
        dims = [word for dim in args.dim for word in ("--dim", dim)]
        sh([args.ingot, model, "-o", os.path.join(path, "net.cpp"), "--target", target.replace(":", ","), "--name", "net",
            "--weights", weights, *dims])
    a, b = (os.path.join(directory, folder) for folder in ("a", "b"))
    names = sorted(os.listdir(a))
    if names != sorted(os.listdir(b)):
        raise Failure(f"two compilations write different files: {names}, {sorted(os.listdir(b))}")
    _, different, errors = filecmp.cmpfiles(a, b, names, shallow=False)
    if different or errors:
        raise Failure(f"two compilations differ in {different + errors}")
    return names


def check_text(directory):
    for name in ("net.cpp", "net.h"):
        with open(os.path.join(directory, name)) as file:
            # Removes the branch for compilers without GCC's extensions, which includes more headers.
            text = re.sub(r"#if defined\(__GNUC__\)\n.*?#endif\n", "", file.read(), count=1, flags=re.S)
            for include in re.findall(r'#\s*include\s*[<"]([^>"]+)', text):
                if include != "net.h" and not ALLOWED_INCLUDES.fullmatch(include):
                    raise Failure(f"{name} includes {include}")


def check_compilers(directory):
    for compiler in ("g++", "clang++-22"):
        sh([compiler, *STRICT, *WARNINGS, "-O1", "-c", "net.cpp", "-o", f"{compiler}.o"], cwd=directory)
    for name in ("header.c", "header.cpp"):
        with open(os.path.join(directory, name), "w") as file:
            file.write('#include "net.h"\n')
    for compiler in ("g++", "clang++-22"):
        sh([compiler, *STRICT, *WARNINGS, "-fsyntax-only", "header.cpp"], cwd=directory)
    for compiler in ("gcc", "clang-22"):
        sh([compiler, "-std=c11", *WARNINGS, "-fsyntax-only", "header.c"], cwd=directory)


def check_object(directory):
    sh(["g++", *STRICT, "-O2", "-fstack-usage", "-c", "net.cpp", "-o", "net.o"], cwd=directory)
    needed = {line.split()[-1] for line in sh(["nm", "-u", "net.o"], cwd=directory).splitlines()}
    surplus = needed - {"memcpy", "memset", "net_weights"}
    if surplus:
        raise Failure(f"the object needs {sorted(surplus)}")
    with open(os.path.join(directory, "net.su")) as file:
        for line in file:
            function, size, _ = line.rstrip("\n").split("\t")
            if int(size) > STACK_LIMIT:
                raise Failure(f"{function} uses {size} bytes of stack")


def write_driver(directory):
    with open(os.path.join(directory, "net.h")) as file:
        header = file.read()
    struct = re.search(r"typedef struct net_io \{(.*?)\} net_io;", header, re.S).group(1)
    allocate, compare, free = [], [], []
    for const, kind, field, shape in re.findall(
            r"^\s*(const )?(\w+) \*(\w+); +/\* (?:in|out): \w+ \[([\d,]*)\]", struct, re.M):
        count = 1
        for size in filter(None, shape.split(",")):
            count *= int(size)
        allocate.append(f"    io[k].{field} = fill<{kind}>({count});")
        free.append(f"    free(const_cast<void *>(static_cast<const void *>(io[k].{field})));")
        if not const:
            compare.append(f"    if (!equal(io[0].{field}, io[k].{field}, {count} * sizeof({kind})))\n"
                           f'      return puts("{field} differs between threads"), 1;')
    text = DRIVER
    for mark, value in {"NAME": "net", "MACRO": "NET", "ALLOCATE": "\n".join(allocate),
                        "COMPARE": "\n".join(compare), "FREE": "\n".join(free)}.items():
        text = text.replace(f"@{mark}@", value)
    with open(os.path.join(directory, "driver.cpp"), "w") as file:
        file.write(text)


def check_run(directory, names):
    """Runs the code under the sanitizers. Weights in a file are tested by `ingot test`."""
    write_driver(directory)
    objects = [name for name in names if name.endswith(".o")]
    sh(["g++", "-std=c++17", "-O1", "-g1", *SANITIZERS, "driver.cpp", "net.cpp", *objects, "-o", "driver",
        "-pthread"], cwd=directory)
    sh([os.path.join(directory, "driver")])


def main():
    parser = arguments(__doc__, targets="generic,native")
    parser.add_argument("name")
    parser.add_argument("--weights", default="source")
    parser.add_argument("--dim", action="append", default=[])
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    model, _ = find_model(args.name, args.work)
    failed = False
    targets, kinds = args.targets.split(","), args.weights.split(",")
    for target in targets:
        # The location of the weights (source, object, file) is independent of the target: locations other
        # than the first are tested only for the first and the last target.
        for weights in kinds if target in (targets[0], targets[-1]) else kinds[:1]:
            directory = os.path.join(args.work, args.name, target, weights)
            try:
                names = compile_twice(args, model, target, weights, directory)
                directory = os.path.join(directory, "a")
                check_text(directory)
                check_compilers(directory)
                check_object(directory)
                if weights != "file" and runs_here(args.ingot, target.split(":")[0]):
                    check_run(directory, names)
                print(f"{args.name} {target} {weights}: all promises kept", flush=True)
            except Failure as failure:
                print(f"{args.name} {target} {weights}: {failure}", flush=True)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
