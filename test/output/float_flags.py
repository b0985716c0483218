#!/usr/bin/env python3
"""Compiles generated code with the options that let a compiler change floating-point arithmetic.

    float_flags.py --ingot PROGRAM --work DIR [--targets generic,x86-64-v3] [--flags sample|all]

One model has all operators whose results hang on the order or on the special values of floats
(float_flags_model.py). Its code gives the same bits with each of the options as without:

- g++ with any of them, also where the generated file comes after others in one translation unit;
- clang with those that keep NaN; for the others the generated file stops the compiler with the
  option that helps, and with that option the bits are the same;
- arm-none-eabi-g++: the same instructions;
- nvcc, where it is installed: the same instructions but for subnormal numbers.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
import float_flags_model  # noqa: E402
from harness import Failure, arguments, sh  # noqa: E402

FLAGS = ["-ffast-math", "-Ofast", "-ffinite-math-only", "-funsafe-math-optimizations",
         "-fassociative-math -fno-signed-zeros -fno-trapping-math", "-freciprocal-math", "-ffast-math -O3", "-ffast-math -Os",
         "-ffast-math -O0"]
SAMPLE = FLAGS[:4]
KEEPS_NAN = "-fno-finite-math-only"

DRIVER = r"""
#include <stdio.h>
#include <string.h>
#include "@NAME@.h"
alignas(@MACRO@_ARENA_ALIGN) static unsigned char arena[@MACRO@_ARENA_BYTES + 1];
alignas(64) static unsigned char tensors[@COUNT@][4096];
int main(int argc, char **argv) {
  if (argc != 4) return 2;
  for (int i = 0; i < 2; ++i) {
    FILE *file = fopen(argv[1 + i], "rb");
    if (!file || fread(tensors[i], 1, 4096, file) == 0) return 3;
    fclose(file);
  }
  @NAME@_io io;
  void **fields = reinterpret_cast<void **>(&io);
  if (sizeof io != sizeof(void *) * @COUNT@) return 4;
  for (int i = 0; i < @COUNT@; ++i) fields[i] = tensors[i];
  if (@NAME@_run(&io, arena, nullptr) != INGOT_OK) return 5;
  FILE *file = fopen(argv[3], "wb");
  fwrite(tensors, 1, sizeof tensors, file);
  return fclose(file);
}
"""


class Model:
    """The code that Ingot generates for one target, and the program that calls it."""

    def __init__(self, args, target):
        self.folder = os.path.join(args.work, target)
        os.makedirs(self.folder, exist_ok=True)
        model = os.path.join(self.folder, "floats.onnx")
        for name, data in float_flags_model.write(model).items():
            data.tofile(os.path.join(self.folder, name + ".bin"))
        sh([args.ingot, model, "-o", os.path.join(self.folder, "floats.cpp"), "--target", target])
        with open(os.path.join(self.folder, "floats.h")) as file:
            count = len(re.findall(r"/\* (?:in|out): ", file.read()))
        with open(os.path.join(self.folder, "main.cc"), "w") as file:
            file.write(DRIVER.replace("@NAME@", "floats").replace("@MACRO@", "FLOATS").replace("@COUNT@", str(count)))

    def run(self, compiler, flags, emulator=(), source="floats.cpp"):
        """Returns all tensors after a run. The driver, which reads no floats, is built without the flags:
        GCC links programs built with -ffast-math to code that flushes subnormal numbers to zero."""
        sh([*compiler, "-std=c++17", "-O2", *flags.split(), "-c", source, "-o", "floats.o"], cwd=self.folder)
        sh([*compiler, "-std=c++17", "-O1", "-static", "main.cc", "floats.o", "-o", "program"], cwd=self.folder)
        sh([*emulator, "./program", "x.bin", "y.bin", "tensors.bin"], cwd=self.folder)
        with open(os.path.join(self.folder, "tensors.bin"), "rb") as file:
            return file.read()

    def instructions(self, compiler, objdump, flags):
        sh([*compiler, "-std=c++17", "-O2", "-c", "floats.cpp", "-o", "floats.o", *flags.split()], cwd=self.folder)
        return sh([objdump, "-d", "floats.o"], cwd=self.folder)


def level(flag):
    """Returns the optimization level: the sign of a NaN that an operation creates depends on it, with any
    flag."""
    return "-O3" if "-Ofast" in flag else " ".join(word for word in flag.split() if word.startswith("-O"))


def check_runs(model, compiler, flags, emulator=()):
    expected = {each: model.run(compiler, each, emulator) for each in sorted({level(flag) for flag in ["", *flags]})}
    for flag in flags:
        forgets_nan = "clang" in compiler[0] and any(word in flag for word in ("fast", "finite"))
        if forgets_nan:
            done = subprocess.run([*compiler, "-std=c++17", *flag.split(), "-fsyntax-only", "floats.cpp"], cwd=model.folder,
                                  capture_output=True, text=True)
            if done.returncode == 0 or KEEPS_NAN not in done.stderr:
                raise Failure(f"{compiler[0]} {flag}: no error names {KEEPS_NAN}\n{done.stderr[:500]}")
            flag += " " + KEEPS_NAN
        if model.run(compiler, flag, emulator) != expected[level(flag)]:
            raise Failure(f"{compiler[0]} {flag}: other results")
    # Includes the generated file after other code and headers in one translation unit, with the same flags.
    with open(os.path.join(model.folder, "unity.cc"), "w") as file:
        file.write("#include <math.h>\n#if defined(__AVX2__) || defined(__SSE2__)\n#include <immintrin.h>\n#endif\n"
                   "float scaled(float x);\nfloat scaled(float x) { return x * 3 / 3; }\n#include \"floats.cpp\"\n"
                   "float shifted(float x);\nfloat shifted(float x) { return x + 2 - 2; }\n")
    flag = flags[0] + (" " + KEEPS_NAN if "clang" in compiler[0] else "")
    if model.run(compiler, flag, emulator, "unity.cc") != expected[""]:
        raise Failure(f"{compiler[0]} {flag}: other results in a larger translation unit")


def check_instructions(model, compiler, objdump, flags):
    expected = model.instructions(compiler, objdump, "")
    for flag in flags:
        if "-O" not in flag and model.instructions(compiler, objdump, flag) != expected:
            raise Failure(f"{compiler[0]} {flag}: other instructions")


def check_device(args):
    """Compares the PTX with and without --use_fast_math, except for the treatment of subnormal numbers."""
    folder = os.path.join(args.work, "sm_80")
    os.makedirs(folder, exist_ok=True)
    model = os.path.join(folder, "floats.onnx")
    float_flags_model.write(model)
    sh([args.ingot, model, "-o", os.path.join(folder, "floats.cu"), "--target", "sm_80"])
    texts = []
    for flags in [], ["--use_fast_math"]:
        sh(["nvcc", "-arch=sm_80", "-std=c++17", "-ptx", "floats.cu", "-o", "floats.ptx", *flags], cwd=folder)
        with open(os.path.join(folder, "floats.ptx")) as file:
            texts.append(file.read().replace(".ftz", ""))
    if texts[0] != texts[1]:
        raise Failure("nvcc --use_fast_math: other instructions")


def main():
    parser = arguments(__doc__, targets="generic,x86-64-v3")
    parser.add_argument("--flags", choices=["sample", "all"], default="all")
    args = parser.parse_args()
    flags = FLAGS if args.flags == "all" else SAMPLE
    checked = 0
    try:
        for target in args.targets.split(","):
            model = Model(args, target)
            for compiler in (["g++"], ["clang++-22"]):
                check_runs(model, compiler, flags if compiler == ["g++"] else flags[:5])
                checked += 1
        if args.flags == "all":
            model = Model(args, "armv8-a")
            check_runs(model, ["aarch64-linux-gnu-g++"], flags[:5], ["qemu-aarch64", "-cpu", "max"])
            model = Model(args, "cortex-m4")
            check_instructions(model, ["arm-none-eabi-g++", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-mthumb"],
                               "arm-none-eabi-objdump", flags)
            checked += 2
            if shutil.which("nvcc"):
                check_device(args)
                checked += 1
    except Failure as failure:
        print(failure)
        return 1
    print(f"{checked} compilers and targets give the same results with all options")
    return 0


if __name__ == "__main__":
    sys.exit(main())
