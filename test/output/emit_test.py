#!/usr/bin/env python3
"""Runs the program that `ingot --emit-test` writes on emulated boards.

    emit_test.py --ingot PROGRAM --work DIR [--targets cortex-m4,cortex-m55] [--c] [MODEL...]

A MODEL is a folder with model.onnx and test_data_set_*; by default two of
test/networks/models/real. Each gives the expected outputs on each board, printed by
the board's own code. With a bias changed the program fails and names the kernel
that adds it. With --c the source of the network is C.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "firmware"))
from harness import arguments  # noqa: E402
from count import Target, run  # noqa: E402

REAL = os.path.join(HERE, "..", "networks", "models", "real")

# The board's function for output: a semihosting call.
PRINT = r"""
extern "C" void board_print(const char *text) {
  register int operation __asm__("r0") = 4; // SYS_WRITE0
  register const char *argument __asm__("r1") = text;
  __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
}
extern "C" int board_test(void);
extern "C" int main() { return board_test(); }
"""


def build(target, directory, program, sources, flags):
    """Compiles and links C++ with the start-up code of the target's programs."""
    objects = []
    for source in sources:
        path = os.path.join(directory, source)
        objects.append(path if path.endswith(".o") else f"{path}.{program}.o")
        if not path.endswith(".o"):
            language = (["-x", "c", "-std=c11", "-Wpedantic"] if path.endswith(".c")
                        else ["-std=c++17", "-fno-exceptions", "-fno-rtti"])
            run(target.compiler + [*language, "-Os", "-Wall", "-Wextra", "-Werror",
                                   *target.flags, *flags, "-I" + directory, "-c", path, "-o", objects[-1]])
    start = os.path.join(directory, "start.cpp")
    with open(start, "w") as file:
        file.write(target.program_text)
    elf = os.path.join(directory, program)
    run(target.linker + [*target.link_flags, start, *objects, "-o", elf])
    return elf


def execute(target, elf):
    done = subprocess.run(target.emulator + [elf], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


def check(ingot, model, target, directory, suffix):
    os.makedirs(directory, exist_ok=True)
    run([ingot, os.path.join(model, "model.onnx"), "-o", os.path.join(directory, "net" + suffix), "--name", "net", "--target",
         target.name, "--weights", "source", "--emit-test", model])
    own = ["-ffreestanding", "-DINGOT_TEST_PRINT=board_print", "-DINGOT_TEST_MAIN=board_test"]
    with open(os.path.join(directory, "print.cpp"), "w") as file:
        file.write(PRINT)
    _, text = execute(target, build(target, directory, "bare", ["net" + suffix, "net_test.cpp", "print.cpp"], own))
    if not text.endswith("all outputs are as expected\n") or " off " in text or "not compared" in text:
        return f"the bare program says\n{text}"

    # Changes the first bias of the second kernel, so that the test program must
    # report a wrong result.
    with open(os.path.join(directory, "net" + suffix)) as file:
        source = file.read()
    kernel, bias = re.findall(r"^ +(\w+)\(\w+_weights,\s+[\w>-]+,\s+(\w+_bias),", source, re.M)[1]
    with open(os.path.join(directory, "broken" + suffix), "w") as file:
        file.write(re.sub(rf"(const float {bias}\[\d+\] = {{\s*)[-0-9.e]+f", r"\g<1>1000.0f", source))
    _, text = execute(target, build(target, directory, "broken", ["broken" + suffix, "net_test.cpp", "print.cpp"], own))
    found = re.search(r"the first node that is off is kernel (\d+), .*\((\w+)\)", text)
    if not text.endswith("FAILED\n") or not found or found[2] != kernel:
        return f"with a wrong bias of {kernel} the program says\n{text}"
    return ""


def main():
    parser = arguments(__doc__, targets="cortex-m0plus,cortex-m4,cortex-m55")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--c", action="store_true")
    args = parser.parse_args()
    failed = False
    for model in args.models or [os.path.join(REAL, name) for name in ("mnist_8", "micro_kws_m_static_fp32")]:
        for name in args.targets.split(","):
            directory = os.path.join(args.work, os.path.basename(model), name)
            problem = check(args.ingot, model, Target(args.ingot, name), directory, ".c" if args.c else ".cpp")
            print(f"{os.path.basename(model)} {name}: {problem or 'as expected, and a fault is found'}", flush=True)
            failed |= bool(problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
