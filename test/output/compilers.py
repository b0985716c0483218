#!/usr/bin/env python3
"""Compiles the sources for `generic` with compilers other than those of the host, as C++11 and C11 without a warning.

    compilers.py NAME... --ingot PROGRAM --work DIR

clang as MSVC reads the source only (its extensions of GCC are off there); others write objects. A compiler that is not
installed is named and left out.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
sys.dont_write_bytecode = True
from harness import Failure, arguments, sh  # noqa: E402
from run import find_model  # noqa: E402

WARNINGS = ["-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffreestanding", "-O2"]
# Each compiler with its options.
COMPILERS = {
    "clang as MSVC": ["clang++-22", "--target=x86_64-pc-windows-msvc", "-fms-compatibility", "-std=c++14", "-Wall", "-Wextra",
                      "-Werror", "-isystem", os.path.join(HERE, "Inputs", "msvc"), "-fsyntax-only"],
    "clang for RISC-V": ["clang++-22", "--target=riscv32-unknown-elf", *WARNINGS, "-c"],
    "g++ for RISC-V": ["riscv64-unknown-elf-g++", *WARNINGS, "-c"],
    "g++ for Xtensa": ["xtensa-lx106-elf-g++", *WARNINGS, "-c"],
    "g++ for AVR": ["avr-g++", "-mmcu=atmega2560", *WARNINGS, "-c"],
    "g++ for Cortex-M0": ["arm-none-eabi-g++", "-mcpu=cortex-m0", "-mthumb", *WARNINGS, "-c"],
}
WARNINGS_OF_C = ["-std=c11", "-Wstrict-prototypes", "-Wmissing-prototypes", *WARNINGS[1:]]
COMPILERS_OF_C = {
    "clang as MSVC": ["clang-22", "--target=x86_64-pc-windows-msvc", "-fms-compatibility", "-std=c11", "-Wall", "-Wextra",
                      "-Werror", "-isystem", os.path.join(HERE, "Inputs", "msvc"), "-fsyntax-only"],
    "TinyCC": ["tcc", "-std=c11", "-Wall", "-Werror", "-c"],
    "clang for RISC-V": ["clang-22", "--target=riscv32-unknown-elf", *WARNINGS_OF_C, "-c"],
    "gcc for RISC-V": ["riscv64-unknown-elf-gcc", *WARNINGS_OF_C, "-c"],
    "gcc for Xtensa": ["xtensa-lx106-elf-gcc", *WARNINGS_OF_C, "-c"],
    "gcc for AVR": ["avr-gcc", "-mmcu=atmega2560", *WARNINGS_OF_C, "-c"],
    "gcc for Cortex-M0": ["arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb", *WARNINGS_OF_C, "-c"],
}

# On AVR, an index has 16 bits: models with more bytes of constants than this are left out.
SIZES_OF_AVR = 32767


def main():
    parser = arguments(__doc__)
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    failed = False
    for name in args.names:
        network, *dims = name.split(",")
        model, _ = find_model(network, args.work)
        sources = {os.path.join(args.work, f"{network}.cpp"): COMPILERS,
                   os.path.join(args.work, f"{network}_c.c"): COMPILERS_OF_C}
        # Stores the constants in a file: a microcontroller cannot hold those of every network.
        for source in sources:
            sh([args.ingot, model, "--target", "generic", "--weights", "file", "--name", "net", "-o", source, "--force",
                *(word for dim in dims for word in ("--dim", dim))])
        for source, compiler, command in ((source, *item) for source, compilers in sources.items()
                                          for item in compilers.items()):
            constants = os.path.getsize(os.path.splitext(source)[0] + ".weights")
            if command[0].startswith("avr-") and constants > SIZES_OF_AVR:
                continue
            if not shutil.which(command[0]):
                print(f"{network}: {compiler} is not installed")
                continue
            output = [] if command[-1] == "-fsyntax-only" else ["-o", os.path.splitext(source)[0] + ".o"]
            try:
                sh([*command, source, *output])
            except Failure as failure:
                print(f"{network}, {compiler}: {failure}")
                failed = True
    print(f"{len(args.names)} networks {'fail' if failed else 'compile'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
