#!/usr/bin/env python3
"""Counts the instructions of one run of each network on Arm, and compares with arm_instructions.csv.

    arm_instructions.py --ingot PROGRAM --work DIR [--networks A,B] [--update]

The generated code is built with clang and run under qemu-aarch64 or qemu-arm with
the plugin of test/firmware, which counts between two marks around the run. Fails
where a run takes more instructions than the table says (by 0.5%: compilers change);
--update writes the table anew. A target without its emulator is skipped.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(TESTS, "networks")]
import run as networks  # noqa: E402
from recorded import read_table, write_table  # noqa: E402

TABLE = os.path.join(HERE, "arm_instructions.csv")
FIELDS = ["network", "target", "macs", "instructions", "per_mac"]
NETWORKS = ["mnist_8", "lenet5", "tiny_ad_autoencoder", "tiny_ds_cnn_kws", "tiny_mobilenet_v1_025_vww",
            "tiny_resnet8_cifar", "mobilenet_v2"]
TARGETS = {
    "armv7-a": (["clang++-22", "--target=armv7-linux-gnueabihf", "-mfpu=neon"], "qemu-arm"),
    "armv8-a": (["clang++-22", "--target=aarch64-linux-gnu"], "qemu-aarch64"),
}
SLACK = 0.005

MAIN = """#include "net.h"
extern "C" {
__attribute__((noinline)) void count_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void count_end(void) { __asm__ volatile(""); }
}
alignas(NET_ARENA_ALIGN) static unsigned char arena[NET_ARENA_BYTES + 1];
%s
int main() {
  net_io io = {};
  unsigned seed = 1;
%s
  (void)seed;
  count_begin();
  ingot_status status = net_run(&io, arena, nullptr);
  count_end();
  return status;
}
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def write_main(folder):
    """Writes a program for net.h, with reproducible inputs between 0 and 1."""
    with open(os.path.join(folder, "net.h")) as file:
        header = file.read()
    buffers, fill = [], []
    sizes = re.findall(r"#define NET_\w+_ELEMENTS (\d+)u", header)
    fields = re.findall(r"^  (const )?(\w+) \*(\w+); +/\* (?:in|out): ", header, re.MULTILINE)
    for (size, (is_input, kind, name)) in zip(sizes, fields, strict=True):
        buffers.append(f"alignas(64) static {kind} {name}[{size} + 1];")
        fill.append(f"  io.{name} = {name};")
        if is_input and kind == "float":
            fill.append(f"  for (float &x : {name}) x = float((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-24f;")
    # Scratch memory that the caller provides, such as VTCM, has 4 KiB before and after it: registers may
    # point outside although the addresses that are loaded are inside (hexagon_vtcm.py).
    for name, macro in re.findall(r"^  void \*(\w+); +/\* scratch: (\w+)_BYTES", header, re.MULTILINE):
        buffers.append(f"alignas({macro}_ALIGN) static unsigned char {name}[4096 + {macro}_BYTES + 4096];")
        fill.append(f"  io.{name} = {name} + 4096;")
    with open(os.path.join(folder, "main.cpp"), "w") as file:
        file.write(MAIN % ("\n".join(buffers), "\n".join(fill)))


def build_plugin(work):
    plugin = os.path.join(work, "libcount.so")
    run(["cc", "-shared", "-fPIC", "-O2", "-fvisibility=hidden", os.path.join(TESTS, "firmware", "CountPlugin.c"),
         "-o", plugin])
    return plugin


def count(args, plugin, name, target):
    """Returns the MACs and the executed instructions of one run of a network."""
    model, _ = networks.find_model(name, args.work)
    folder = os.path.join(args.work, name, target)
    os.makedirs(folder, exist_ok=True)
    facts = json.loads(run([args.ingot, "inspect", model, "--json", "--target", target]))
    macs = sum(group["macs"] for group in facts["groups"])
    run([args.ingot, model, "-o", os.path.join(folder, "net.cpp"), "--name", "net", "--target", target,
         "--weights", "object"])
    write_main(folder)
    compiler, emulator = TARGETS[target]
    program = os.path.join(folder, "program")
    parts = [os.path.join(folder, part) for part in ("net.cpp", "main.cpp", "net.weights.o")]
    run([*compiler, "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-static", "-no-pie",
         *filter(os.path.exists, parts), "-o", program])
    symbols = {line.split()[-1]: "0x" + line.split()[0] for line in run(["nm", "--defined-only", program]).splitlines()}
    counts = os.path.join(folder, "counts")
    run([emulator, "-plugin", f"{plugin},begin={symbols['count_begin']},end={symbols['count_end']},out={counts}", program])
    with open(counts) as file:
        instructions = sum(int(line.split()[2]) * int(line.split()[3]) for line in file)
    return macs, instructions


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    table = read_table(TABLE, "network", "target")
    plugin = build_plugin(args.work)
    wrong = 0
    for name in args.networks.split(","):
        for target, (compiler, emulator) in TARGETS.items():
            if not shutil.which(emulator) or not shutil.which(compiler[0]):
                print(f"{name:28} {target}: {emulator} or {compiler[0]} is not installed")
                continue
            macs, instructions = count(args, plugin, name, target)
            known = int(table.get((name, target), {}).get("instructions", 0))
            worse = instructions > known * (1 + SLACK)
            change = f"{instructions / known - 1:+.2%}" if known else "not in the table"
            print(f"{name:28} {target} {instructions:11} instructions, {instructions / macs:.3f} per MAC  {change}"
                  + ("  WRONG" if worse and not args.update else ""), flush=True)
            wrong += worse
            table[name, target] = dict(zip(FIELDS, (name, target, macs, instructions, f"{instructions / macs:.3f}")))
    if not args.update:
        return 1 if wrong else 0
    write_table(TABLE, FIELDS, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
