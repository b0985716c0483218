#!/usr/bin/env python3
"""Looks from where vectors are loaded while a network runs with VTCM.

    hexagon_vtcm.py --ingot PROGRAM --work DIR [--network NAME|MODEL.onnx] [--vtcm SIZE]

The network is compiled with and without --vtcm. Vectors may then be loaded from constants, the stack, and VTCM:
none from the arena or a tensor of the caller, but for those that an unaligned store writes
back, and for copies to VTCM (memcpy, and what kernels of copies do beside that). A run may take 3% more packets. qemu-hexagon tells plugins of
loads of scalars only, so the program that is looked at has, in front of each packet that
loads a vector, one that adds zero to a byte at the same address, which changes no register.
"""
import argparse
import bisect
import collections
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from arm_instructions import build_plugin, networks, run, write_main  # noqa: E402
from hexagon_packets import TARGET, count_packets, target_facts  # noqa: E402

MOST_PACKETS = 1.03
PROBE = "\t{\n\t\tmemb(%s+#0) += #0\n\t}"
# A probe is an instruction, added before a vector load, that writes to the address of the load. So
# constants must be in a writable section.
WRITABLE = ".vectors_of_constants"
# A probe accesses the address in a register, without the load's offset. This space after the last constants ensures
# that a register that points behind them is still attributed to constants.
GUARD = f'\t.section\t{WRITABLE},"aw",@progbits\n\t.space\t4096\n'


def generate(args, model, folder, options):
    os.makedirs(folder, exist_ok=True)
    run([args.ingot, model, "-o", os.path.join(folder, "net.cpp"), "--name", "net", "--target", TARGET, "--weights", "object", *options])
    write_main(folder)
    return [os.path.join(folder, part) for part in ("net.cpp", "main.cpp", "net.weights.o")]


def add_probes(text):
    """Returns the assembly with a probe before each packet that loads vectors, and the number of
    probes."""
    lines, packet, count = [], [], 0
    for line in text.splitlines():
        if not packet and not line.lstrip().startswith("{"):
            lines.append(line)
            continue
        packet.append(line)
        if "}" not in line:
            continue
        # A predicated load gets no probe: it only reads what an unaligned store writes back.
        for load in re.finditer(r"(if \(!?p\d(?:\.new)?\) )?v\S+ = vmemu?\((r\d+)", "\n".join(packet)):
            if not load[1]:
                lines.append(PROBE % load[2])
                count += 1
        lines += packet
        packet = []
    return "\n".join(lines) + "\n", count


def probed_program(facts, plugin, folder, sources):
    """Builds and runs the program with probes; returns it, and the loads at each address from each
    range."""
    net, main, weights = sources
    assembly, writable, guard, loads = (os.path.join(folder, name) for name in ("net.s", "weights.o", "guard.s", "loads"))
    with open(guard, "w") as file:
        file.write(GUARD)
    run([*facts["compilers"][0].split(), *facts["flags"], "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-S", net, "-o", assembly])
    with open(assembly) as file:
        text = re.sub(r"\.section\t\.rodata[^,]*,\"aM?\",@progbits(,\d+)?", f'.section\t{WRITABLE},"aw",@progbits', file.read())
    text, probes = add_probes(text)
    with open(assembly, "w") as file:
        file.write(text)
    run(["llvm-objcopy-22", "--rename-section", f".rodata={WRITABLE},alloc,data,load,contents", weights, writable])
    _, program = count_packets(facts, plugin, folder, [assembly, main], [writable, guard])
    ranges = {}
    for line in run(["readelf", "-sW", program]).splitlines():
        # Matches a static object of main.cpp: the arena (the model's working memory), a tensor, or VTCM.
        if found := re.match(r"\s*\d+: ([0-9a-f]{8})\s+(\S+) OBJECT .* _ZL\d+(\w+)$", line):
            begin = int(found[1], 16)
            ranges[found[3]] = begin, begin + int(found[2], 0)
    for line in run(["readelf", "-SW", program]).splitlines():
        if found := re.match(rf"\s*\[ *\d+\] \{WRITABLE}\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", line):
            begin = int(found[1], 16)
            ranges["constants"] = begin, begin + int(found[2], 16)
    counts, _ = count_packets(facts, plugin, folder, [assembly, main], [writable, guard],
                              [f"loads={loads}", *(f"range={begin}-{end}" for begin, end in ranges.values())])
    return program, probes, loads, [*ranges, "stack"]


def loads_by_range(program, loads, names):
    """Returns the number of vector loads from each memory range, and by each function that loads from
    tensors."""
    functions = sorted((int(line.split()[0], 16), line.split()[-1]) for line in run(["nm", "--defined-only", program]).splitlines())
    probes = set()
    for line in run(["llvm-objdump-22", "-d", "--no-show-raw-insn", program]).splitlines():
        if found := re.match(r"\s*([0-9a-f]+): \{ \s*memb\(r\d+\+#0x0\) \+= #0x0 \}", line):
            probes.add(int(found[1], 16))
    sums, wrong = collections.Counter(), collections.Counter()
    with open(loads) as file:
        for line in file:
            address, *counts = map(int, line.split())
            if address not in probes:
                continue
            sums.update(dict(zip(names, counts)))
            function = functions[bisect.bisect_right(functions, (address, "~")) - 1][1]
            if re.match(r"_ZN12_GLOBAL__N_1\d+copy_", function):
                continue
            wrong[function] += sum(count for name, count in zip(names, counts) if name not in ("constants", "stack", "vtcm"))
    return sums, +wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--network", default="tiny_resnet8_cifar_int8")
    parser.add_argument("--vtcm", default="16K")
    args = parser.parse_args()
    for program in ("qemu-hexagon", "clang++-22", "llvm-objcopy-22"):
        if not shutil.which(program):
            print(f"{program} is not installed")
            return 0
    os.makedirs(args.work, exist_ok=True)
    model = args.network if args.network.endswith(".onnx") else networks.find_model(args.network, args.work)[0]
    name = os.path.splitext(os.path.basename(args.network))[0]
    plugin, facts = build_plugin(args.work), target_facts(args.ingot)
    packets = {}
    for options in ([], ["--vtcm", args.vtcm]):
        folder = os.path.join(args.work, name + "".join(options))
        net, main_file, weights = generate(args, model, folder, options)
        packets[len(options)] = sum(count_packets(facts, plugin, folder, [net, main_file], [weights])[0].values())
    program, probes, loads, names = probed_program(facts, plugin, folder, [net, main_file, weights])
    sums, wrong = loads_by_range(program, loads, names)
    more = packets[2] / packets[0]
    print(f"{name}: {packets[0]} packets, with --vtcm {args.vtcm} {packets[2]} ({more - 1:+.2%}); vectors loaded by {probes} places:",
          ", ".join(f"{name} {count}" for name, count in sums.most_common()))
    if not sums["vtcm"] or not sums["constants"]:
        print("WRONG: no vector is loaded from VTCM, or none from constants")
        return 1
    for function, count in wrong.most_common():
        print(f"WRONG: {function} loads {count} vectors from tensors elsewhere")
    if more > MOST_PACKETS:
        print(f"WRONG: {MOST_PACKETS - 1:.0%} more packets are allowed")
    return 1 if wrong or more > MOST_PACKETS else 0


if __name__ == "__main__":
    sys.exit(main())
