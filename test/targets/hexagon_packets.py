#!/usr/bin/env python3
"""Counts the packets of one run of each case on Hexagon, and compares with hexagon_packets.csv.

    hexagon_packets.py --ingot PROGRAM --work DIR [--cases A,B] [--update]

Products, convolutions, and whole networks of bytes. A packet is what the processor begins in a cycle. The generated code runs under qemu-hexagon,
for which a packet is an instruction, with the plugin of test/firmware, which counts between
two marks around the run; a loop of known length is counted first. The packets of a product
are those of its kernel and of sums for its zero points, without the change of layout of a
model's inputs and outputs and without their padding. Its hot loops must not spill and hold as many vector multiplies
in a packet as its case says (two at most, one of two vectors), and it has to reach the
multiply-adds per packet that its case says, as whole networks have to. Fails where a run takes more packets than the
table says (by 0.5%: compilers change); --update writes the table anew.
"""
import argparse
import bisect
import collections
import json
import os
import re
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from arm_instructions import build_plugin, networks, run, write_main  # noqa: E402
from recorded import read_table, write_table  # noqa: E402

TABLE = os.path.join(HERE, "hexagon_packets.csv")
FIELDS = ["case", "macs", "packets", "product_packets", "macs_per_packet"]
TARGET = "hexagon-v67"
SLACK = 0.005
TURNS, LOOP_PACKETS = 1000, 3


def model(node, x, w, y):
    weights = numpy_helper.from_array(np.random.default_rng(1).integers(-128, 128, w).astype(np.int8), "w")
    graph = helper.make_graph([node], "case", [helper.make_tensor_value_info("x", TensorProto.UINT8, x)],
                              [helper.make_tensor_value_info("y", TensorProto.INT32, y)],
                              [weights, numpy_helper.from_array(np.uint8(0), "x_zero")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def matmul(m, k, n):
    return model(helper.make_node("MatMulInteger", ["x", "w", "x_zero"], ["y"]), [m, k], [k, n], [m, n])


def conv(channels, size, filters, kernel, **attributes):
    pad = kernel // 2
    out = (size + 2 * pad - kernel) // attributes.get("strides", [1])[0] + 1
    node = helper.make_node("ConvInteger", ["x", "w", "x_zero"], ["y"], pads=[pad] * 4, **attributes)
    return model(node, [1, channels, size, size], [filters, channels // attributes.get("group", 1), kernel, kernel],
                 [1, filters, out, out])


# The model, the MACs per packet that it must reach, and the vector multiplications per packet in each of
# its hot loops.
CASES = {
    "gemm_1024": (matmul(1024, 1024, 1024), 100, 1.8),
    "gemm_128x256x64": (matmul(128, 256, 64), 100, 1.6),
    "conv_1x1_64": (conv(64, 28, 64, 1), 100, 1.4),
    "conv_1x1_256": (conv(256, 14, 256, 1), 100, 1.8),
    "conv_3x3_32": (conv(32, 28, 32, 3), 80, 1.5),
    "conv_3x3_64": (conv(64, 28, 64, 3), 80, 1.5),
    "conv_3x3_128_strided": (conv(128, 28, 128, 3, strides=[2, 2]), 80, 1.5),
    "depthwise_3x3_64": (conv(64, 28, 64, 3, group=64), 70, 0.75),
    "depthwise_3x3_128": (conv(128, 28, 128, 3, group=128), 75, 0.8),
    "depthwise_3x3_64_strided": (conv(64, 56, 64, 3, group=64, strides=[2, 2]), 60, 0.65),
    "depthwise_3x3_24": (conv(24, 28, 24, 3, group=24), 60, 0.75),
    "depthwise_3x3_72": (conv(72, 28, 72, 3, group=72), 70, 0.8),
    "depthwise_3x3_144": (conv(144, 28, 144, 3, group=144), 70, 0.8),
    "depthwise_3x3_200": (conv(200, 14, 200, 3, group=200), 60, 0.7),
    "depthwise_3x3_8_strided": (conv(8, 56, 8, 3, group=8, strides=[2, 2]), 40, 0.5),
    "depthwise_3x3_16_strided": (conv(16, 56, 16, 3, group=16, strides=[2, 2]), 40, 0.5),
    "depthwise_3x3_24_strided": (conv(24, 56, 24, 3, group=24, strides=[2, 2]), 30, 0.3),
    "depthwise_3x3_32_strided": (conv(32, 56, 32, 3, group=32, strides=[2, 2]), 55, 0.6),
    "depthwise_3x3_48_strided": (conv(48, 56, 48, 3, group=48, strides=[2, 2]), 40, 0.5),
    "depthwise_3x3_96_strided": (conv(96, 56, 96, 3, group=96, strides=[2, 2]), 48, 0.55),
    "depthwise_3x3_144_strided": (conv(144, 28, 144, 3, group=144, strides=[2, 2]), 45, 0.55),
}
# The number of hot loops that may spill, by case. In these cases the last vector of a row starts at an arbitrary
# position, which takes more registers than in similar cases.
MAY_SPILL = {"depthwise_3x3_200": 1, "depthwise_3x3_24_strided": 1}
# The MACs per packet that whole networks must reach, counting all packets of a run.
NETWORKS = {"mnist_int8": 30, "tiny_ds_cnn_kws_int8": 45, "tiny_resnet8_cifar_int8": 70}
EXAMPLES = {"mnist_int8": os.path.join(HERE, "..", "..", "examples", "hexagon", "mnist_int8.onnx")}


def target_facts(ingot):
    return next(t for t in json.loads(run([ingot, "targets", "--json"])) if t["name"] == TARGET)


def count_packets(facts, plugin, folder, sources, objects=(), watch=()):
    """Returns the packets of each function of a program between count_begin and count_end, and the
    program. `watch` are further options of the plugin."""
    program, counts, support = (os.path.join(folder, name) for name in ("program", "counts", "support.cpp"))
    with open(support, "w") as file:
        file.write(facts["library_text"] + "int main();\n" + facts["program_text"])
    command = facts["compilers"][0].split()
    run([*command, *facts["flags"], "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", *facts["link_flags"], *sources, support,
         *objects, "-o", program])
    symbols = {line.split()[-1]: int(line.split()[0], 16) for line in run(["nm", "--defined-only", program]).splitlines()}
    begin, end = (hex(symbols[mark]) for mark in ("count_begin", "count_end"))
    run([*facts["emulator"].split(), "-plugin", ",".join([plugin, f"begin={begin}", f"end={end}", f"out={counts}", *watch]), program])
    functions, packets = sorted((address, name) for name, address in symbols.items()), collections.Counter()
    with open(counts) as file:
        for line in file:
            address, _, block, runs, _ = map(int, line.split())
            name = functions[bisect.bisect_right(functions, (address, "~")) - 1][1]
            packets[name] += block * runs
    return packets, program


def calibrate(facts, plugin, folder):
    """Checks the counts with a loop of three packets: counts for two trip counts must differ by
    exactly its packets."""
    os.makedirs(folder, exist_ok=True)
    text = """extern "C" {
__attribute__((noinline)) void count_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void count_end(void) { __asm__ volatile(""); }
}
int main() {
  count_begin();
  __asm__ volatile("{ loop0(1f, #TURNS) }\\n1: { r1 = r0 }\\n{ r2 = r1; r3 = r0 }\\n{ r4 = r3 }:endloop0\\n" ::: "r1", "r2", "r3", "r4", "lc0", "sa0");
  count_end();
  return 0;
}
"""
    packets = []
    for turns in (10, 10 + TURNS):
        source = os.path.join(folder, "loop.cpp")
        with open(source, "w") as file:
            file.write(text.replace("TURNS", str(turns)))
        packets.append(sum(count_packets(facts, plugin, folder, [source])[0].values()))
    if packets[1] - packets[0] != TURNS * LOOP_PACKETS:
        sys.exit(f"{TURNS} turns of {LOOP_PACKETS} packets are counted as {packets[1] - packets[0]}")


def hot_loops(program):
    """Returns, for each innermost loop with vector multiplications: its packets, its multiplications,
    and whether it uses the stack."""
    packets, starts = [], set()
    for line in run(["llvm-objdump-22", "-d", "--no-show-raw-insn", program]).splitlines():
        if not (text := re.match(r"\s+([0-9a-f]+): (.*)", line)):
            continue
        if "{" in text[2]:
            packets.append([int(text[1], 16), ""])
        packets[-1][1] += text[2] + "\n"
    for _, text in packets:
        starts.update(int(start, 16) for start in re.findall(r"loop0\(#*0x([0-9a-f]+)", text))
    # A loop ends with `:endloop0` (the hardware loop counter) or with a backward jump.
    loops = []
    for address, text in packets:
        back = [int(start, 16) for start in re.findall(r"jump\S* 0x([0-9a-f]+)", text) if int(start, 16) <= address]
        if ":endloop0" in text:
            back += sorted(start for start in starts if start <= address)[-1:]
        loops += [(start, address) for start in back]
    for first, last in loops:
        if any(first <= start and end <= last and (start, end) != (first, last) for start, end in loops):
            continue
        body = [text for at, text in packets if first <= at <= last]
        if products := sum(text.count("vrmpy") for text in body):
            yield len(body), products, any(re.search(r"vmem\(r(29|30)", text) for text in body)


def count(args, facts, plugin, name):
    """Returns the MACs, all packets of one run, those of matmuls, and the hot loops."""
    folder = os.path.join(args.work, name)
    os.makedirs(folder, exist_ok=True)
    if name in EXAMPLES:
        path = EXAMPLES[name]
    elif name in NETWORKS:
        path, _ = networks.find_model(name, args.work)
    else:
        path = os.path.join(folder, "model.onnx")
        onnx.save(CASES[name][0], path)
    # MACs are counted for `generic`: for Hexagon, `inspect` would also count those of sums over windows.
    inspected = json.loads(run([args.ingot, "inspect", path, "--json", "--target", "generic"]))
    macs = sum(group["macs"] for group in inspected["groups"])
    run([args.ingot, path, "-o", os.path.join(folder, "net.cpp"), "--name", "net", "--target", TARGET, "--weights", "source"])
    write_main(folder)
    packets, program = count_packets(facts, plugin, folder, [os.path.join(folder, part) for part in ("net.cpp", "main.cpp")])
    products = sum(number for function, number in packets.items() if name in NETWORKS or not re.search("transpose|pad_|^mem(set|cpy)$", function))
    return macs, sum(packets.values()), products, list(hot_loops(program))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--cases", default=",".join([*CASES, *NETWORKS]))
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    for program in ("qemu-hexagon", "clang++-22", "llvm-objdump-22"):
        if not shutil.which(program):
            print(f"{program} is not installed")
            return 0
    os.makedirs(args.work, exist_ok=True)
    table = {}
    if os.path.exists(TABLE):
        table = read_table(TABLE, "case")
    plugin, facts = build_plugin(args.work), target_facts(args.ingot)
    calibrate(facts, plugin, os.path.join(args.work, "loop"))
    wrong = 0
    for name in args.cases.split(","):
        least = NETWORKS[name] if name in NETWORKS else CASES[name][1]
        macs, packets, products, loops = count(args, facts, plugin, name)
        known = int(table.get(name, {}).get("packets", 0))
        faults = []
        if known and packets > known * (1 + SLACK):
            faults.append(f"{packets / known - 1:+.2%}")
        if macs / products < least:
            faults.append(f"{least} are expected")
        if name in CASES and sum(spills for _, _, spills in loops) > MAY_SPILL.get(name, 0):
            faults.append("a hot loop spills")
        if name in CASES and any(inside < CASES[name][2] * size for size, inside, _ in loops):
            faults.append(f"{CASES[name][2]} multiplies in a packet are expected")
        if name in CASES and not loops:
            faults.append("no hot loop is found")
        in_loops = ", ".join(f"{inside}/{size}" for size, inside, _ in loops)
        print(f"{name:22} {macs:11} MACs, packets {packets:9}, of products {products:9}: {macs / products:6.1f} MACs each; multiplies in packets of hot loops {in_loops}"
              + (f"  WRONG: {', '.join(faults)}" if faults else ""), flush=True)
        wrong += bool(faults) and not args.update
        table[name] = dict(zip(FIELDS, (name, macs, packets, products, f"{macs / products:.1f}")))
    if args.update:
        write_table(TABLE, FIELDS, table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
