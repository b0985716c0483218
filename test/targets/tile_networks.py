#!/usr/bin/env python3
"""Runs networks in tiles of AMX, and beside the same processor without tiles.

    tile_networks.py --ingot PROGRAM --work DIR --networks A,B [--fast bf16] [--cycles GHZ] [--update]

Outputs of integer networks are to be those of x86-64-v4+vnni bit for bit; with --fast=bf16 they may differ from those
of x86-64-v4+bf16 by 1% of their range, since sums are in another order. What a run executes of AMX is compared with
tile_networks.csv: it fails where that is more than the table says; --update writes the table anew. A processor that has
tiles executes them itself, and only outputs are compared.

--cycles predicts the time of a run on a processor with tiles, for a machine without them of so many GHz: what is not in
tiles is measured, with the functions for tiles made empty, and tiles are computed from their counts: products begin every
16 cycles, loads every 8, stores every 16 (targets/x86/Tiles.cpp). Nothing of both is taken to overlap.

NETWORKS are those of test/networks, or files.
"""
import argparse
import os
import re
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "networks")]
import run as networks  # noqa: E402
from recorded import read_table, write_table  # noqa: E402

TABLE = os.path.join(HERE, "tile_networks.csv")
FIELDS = ["network", "products", "loads", "stores", "shapes"]
SLACK = 1.005
CYCLES = {"products": 16, "loads": 8, "stores": 16, "shapes": 64}
INPUTS = os.path.join(HERE, "Inputs")
# Replacements for the AMX functions when their time must not count.
EMPTY = "".join(f"#undef {name}\n#define {name}(...) ((void)0)\n" for name in (
    "_tile_loadconfig", "_tile_release", "_tile_zero", "_tile_loadd", "_tile_stored", "_tile_dpbuud", "_tile_dpbusd",
    "_tile_dpbsud", "_tile_dpbssd", "_tile_dpbf16ps"))
MAIN = """#include "net.h"
#include "amx_emulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
alignas(NET_ARENA_ALIGN) static unsigned char arena[NET_ARENA_BYTES + 1];
%s
static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}
int main(int, char **arguments) {
  net_io io = {};
  unsigned seed = 1;
%s
  (void)seed;
  double best = 1e9;
  for (int turn = 0; turn < atoi(arguments[2]); ++turn) {
    double begin = now();
    if (net_run(&io, arena, nullptr) != INGOT_OK)
      return 1;
    double took = now() - begin;
    best = took < best ? took : best;
  }
  AmxCounts counts = amx_counts();
  printf("%%ld %%ld %%ld %%ld %%.9f\\n", counts.products, counts.loads, counts.stores, counts.configurations, best);
  FILE *file = fopen(arguments[1], "wb");
%s
  fclose(file);
  return 0;
}
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"[:4000])
    return done.stdout


def write_main(folder):
    """Writes a program for net.h, with reproducible inputs: floats between -1 and 1, integers 0 and
    1."""
    with open(os.path.join(folder, "net.h")) as file:
        header = file.read()
    buffers, fill, write = [], [], []
    sizes = re.findall(r"#define NET_\w+_ELEMENTS (\d+)u", header)
    fields = re.findall(r"^  (const )?(\w+) \*(\w+); +/\* (?:in|out): ", header, re.MULTILINE)
    for (size, (is_input, kind, name)) in zip(sizes, fields, strict=True):
        buffers.append(f"alignas(64) static {kind} {name}[{size} + 1];")
        fill.append(f"  io.{name} = {name};")
        value = f"{kind}(seed >> 8) * 0x1p-23f - 1" if kind == "float" else f"{kind}(seed >> 31)"
        if is_input:
            fill.append(f"  for (auto &x : {name}) {{ seed = seed * 1664525u + 1013904223u; x = {value}; }}")
        else:
            write.append(f"  fwrite({name}, sizeof {name} - sizeof *{name}, 1, file);")
    with open(os.path.join(folder, "main.cpp"), "w") as file:
        file.write(MAIN % ("\n".join(buffers), "\n".join(fill), "\n".join(write)))


class Network:
    def __init__(self, args, name):
        self.args, self.name = args, os.path.basename(name).removesuffix(".onnx")
        self.model = name if name.endswith(".onnx") else networks.find_model(name, args.work)[0]

    def build(self, target, change=lambda text: text, called=None):
        """Compiles the network for a target, with `change` applied to its source; returns the path of the program."""
        folder = os.path.join(self.args.work, self.name, called or target)
        os.makedirs(folder, exist_ok=True)
        source, program = (os.path.join(folder, file) for file in ("net.cpp", "program"))
        run([self.args.ingot, self.model, "-o", source, "--name", "net", "--target", target, "--weights", "object",
             *(["--fast", self.args.fast] if self.args.fast else [])])
        write_main(folder)
        with open(source) as file:
            text = file.read()
        # Disables features that this machine lacks besides AMX, and the request for permission to use
        # AMX.
        text = re.sub(r"switch \(.*select::number\(\)\)", "switch (1)", text.replace(",avx512fp16", ""))
        with open(source, "w") as file:
            file.write(change(text))
        parts = [os.path.join(folder, part) for part in ("net.cpp", "main.cpp", "net.weights.o")]
        run(["g++", "-w", "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-I" + INPUTS, *filter(os.path.exists, parts),
             os.path.join(self.args.work, "emulator.o"), "-o", program])
        return program

    def measure(self, program, turns=1):
        """Returns the outputs of a program, the executed AMX instructions, and the seconds of the fastest run."""
        output = program + ".out"
        *counts, seconds = run([program, output, str(turns)]).split()
        return np.fromfile(output, np.float32 if self.args.fast else np.uint8), dict(zip(FIELDS[1:], map(int, counts))), float(seconds)


def differs(args, got, want):
    if not args.fast:
        return not np.array_equal(got, want)
    return not np.max(np.abs(got - want)) <= 0.01 * np.max(np.abs(want))


def predict(args, network, counts, plain):
    """Prints the time of a run: measured for the program without AMX, and predicted with AMX."""
    def emptied(text):
        return re.sub(r"(#include <immintrin.h>\n)", lambda found: found.group(1) + EMPTY, text, count=1)
    rest = network.build("x86-64-v4+amx", emptied, "rest")
    without = min(network.measure(plain, 5)[2] for _ in range(3))
    outside = min(network.measure(rest, 5)[2] for _ in range(3))
    tiles = sum(counts[what] * CYCLES[what] for what in CYCLES)
    hertz = args.cycles * 1e9
    total = outside * hertz + tiles
    print(f"{network.name:28} {without * hertz / 1e6:.1f} M cycles without tiles, {total / 1e6:.1f} M with them "
          f"({tiles / 1e6:.1f} M in tiles): {without * hertz / total:.2f} times as fast", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--networks", required=True)
    parser.add_argument("--fast")
    parser.add_argument("--cycles", type=float)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    beside = "x86-64-v4+" + (args.fast or "vnni")
    if not networks.runs_here(args.ingot, beside):
        print(f"{beside}: this machine does not run it")
        return 77
    run(["g++", "-std=c++17", "-O2", "-c", os.path.join(INPUTS, "amx_emulator.cpp"), "-o", os.path.join(args.work, "emulator.o")])
    table = read_table(TABLE, "network")
    wrong = 0
    for name in args.networks.split(","):
        network = Network(args, name)
        plain = network.build(beside)
        want, _, _ = network.measure(plain)
        got, counts, _ = network.measure(network.build("x86-64-v4+amx"))
        row = network.name + (f" {args.fast}" if args.fast else "")
        known = table.get(row, {})
        bad = differs(args, got, want)
        if not any(counts.values()):
            print(f"{row:28} on this processor's tiles" + "  OTHER OUTPUTS" * bad, flush=True)
            if args.update or args.cycles:
                sys.exit("instructions are counted only where tiles are emulated: this processor has them")
            wrong += bad
            continue
        more = any(counts[what] > int(known.get(what, 0)) * SLACK for what in CYCLES) and not args.update
        print(f"{row:28} " + ", ".join(f"{count} {what}" for what, count in counts.items())
              + "  OTHER OUTPUTS" * bad + "  MORE THAN BEFORE" * more, flush=True)
        wrong += bad or more
        table[row] = dict(network=row, **counts)
        if args.cycles:
            predict(args, network, counts, plain)
    if args.update:
        write_table(TABLE, FIELDS, table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
