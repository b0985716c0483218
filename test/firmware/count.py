#!/usr/bin/env python3
"""Counts what one run of a model costs on an emulated microcontroller.

    count.py --ingot PROGRAM [--target cortex-m4] MODEL.onnx [-- INGOT OPTIONS]

Prints instructions and weighted cycles for each multiply-accumulate, bytes of
code (in all and of each function), arena and stack. The instructions are counted
twice: by a QEMU plugin, and by the board's timer under -icount, calibrated with a
loop of known length; the two have to agree. Cycles are the executed instructions
weighed as the core's reference manual says, since a fused multiply-add of a small
core costs more than one cycle.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# The timer of each board, and the value of -icount shift that gives it a fine
# resolution.
BOARDS = {
    "mps2-an385": ("COUNT_TIMER 0x40000000u", 6),
    "mps2-an386": ("COUNT_TIMER 0x40000000u", 6),
    "mps2-an500": ("COUNT_TIMER 0x40000000u", 6),
    "mps2-an505": ("COUNT_TIMER 0x50000000u", 6),
    "mps3-an547": ("COUNT_SYSTEM_COUNTER 0x58100000u", 5),
}

# Cycles by mnemonic (the longest matching prefix) for an in-order, single-issue core;
# `n` is the number of registers in a list.
SMALL_CORE = {
    "": "1", "ldr": "2", "ldrd": "3", "str": "2", "strd": "3", "ldm": "1 + n", "stm": "1 + n", "push": "1 + n",
    "pop": "1 + n", "tbb": "2", "tbh": "2", "sdiv": "6", "udiv": "6", "smull": "1", "mls": "2",
    "vldr": "2", "vstr": "2", "vldm": "1 + n", "vstm": "1 + n", "vpush": "1 + n", "vpop": "1 + n",
    "vfma": "3", "vfms": "3", "vfnma": "3", "vfnms": "3", "vmla": "3", "vmls": "3", "vnmla": "3", "vnmls": "3",
    "vdiv": "14", "vsqrt": "14",
}
# Cycles by mnemonic for the Cortex-M55, where a vector instruction takes two beats (cycles) and the branch
# of a low-overhead loop none.
VECTOR_CORE = dict(SMALL_CORE, **{
    "": "1", "vldr": "1", "vstr": "1", "ldr": "1", "str": "1", "vfma": "1", "vfms": "1", "le": "0",
    "q": "2",  # any instruction on a vector register
})
CORES = {"cortex-m55": VECTOR_CORE}
TAKEN = {"cortex-m55": 1, "cortex-m7": 1}  # additional cycles of a taken branch; 2 for other cores


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--flags", default="-O2", help="of the compiler, besides the target's")
    parser.add_argument("--compiler", help="instead of the target's")
    parser.add_argument("--work", help="folder that keeps what is built")
    parser.add_argument("--emx", metavar="PROGRAM", help="measure the C of emx-onnx-cgen instead, for comparison")
    parser.add_argument("--mix", action="store_true", help="how often each instruction runs")
    parser.add_argument("--hot", type=int, default=0, metavar="N", help="the N blocks that cost most")
    parser.add_argument("--json", action="store_true")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:split])
    arguments.options = sys.argv[split + 1:]
    return arguments


class Target:
    """A target, as described by `ingot targets --json`."""

    def __init__(self, ingot, name, compiler=None):
        known = {t["name"]: t for t in json.loads(run([ingot, "targets", "--json"]))}
        if name not in known or "program_text" not in known[name] or not known[name]["program_text"]:
            sys.exit(f"{name} is not a target whose programs run on a bare board")
        target = known[name]
        self.name = name
        self.flags = target["flags"]
        self.compiler = (compiler or target["compilers"][0]).split()
        # The C compiler that belongs to the C++ compiler, for the code of emx-onnx-cgen.
        self.c_compiler = [word.replace("clang++", "clang").replace("g++", "gcc") for word in self.compiler]
        if "clang" in self.compiler[0]:
            # Clang has no C library of its own: uses the C headers of the GCC that links.
            library = run((target["linker"] or "arm-none-eabi-g++").split() + ["-print-file-name=libc.a"]).strip()
            self.c_compiler += ["-isystem", os.path.join(os.path.dirname(library), "..", "include")]
        self.linker = (target["linker"] or target["compilers"][0]).split()
        self.link_flags = target["link_flags"]
        self.program_text = target["program_text"]
        self.emulator = target["emulator"].split()
        self.board = self.emulator[self.emulator.index("-M") + 1]


def shape_bytes(text):
    """Returns the bytes and the C type of a description such as
    "float32[1,28,28]"."""
    kind, _, dims = text.partition("[")
    count = 1
    for dim in filter(None, dims.rstrip("]").split(",")):
        count *= int(dim)
    width = {"float32": 4, "float64": 8, "int64": 8, "uint64": 8, "int32": 4, "uint32": 4, "float16": 2,
             "bfloat16": 2, "int16": 2, "uint16": 2}.get(kind, 1)
    return count * width, kind


def write_interface(path, name, facts, target, emx):
    """Writes count_model.h for CountMain.cpp: the buffers, a function that fills inputs with numbers between
    -1 and 1, and a function that runs the model."""
    define, _ = BOARDS[target.board]
    lines = [f"#define {define}", f"#define COUNT_STACK {(4 << 20) if emx else (64 << 10)}u"]
    if not emx:
        lines += [f'#include "{name}.h"',
                  f"alignas({name.upper()}_ARENA_ALIGN) static char count_arena[{name.upper()}_ARENA_BYTES + 1];"]
    pointers, fill = [], []
    for i, tensor in enumerate(facts["inputs"] + facts["outputs"]):
        is_input = i < len(facts["inputs"])
        size, kind = shape_bytes(tensor["type"])
        lines.append(f"alignas(16) static char count_tensor_{i}[{max(size, 1)}];")
        pointers.append(f"count_tensor_{i}")
        if is_input and kind == "float32":
            fill.append(f"  for (unsigned i = 0; i < {size // 4}; ++i) {{\n    seed = seed * 1664525u + 1013904223u;\n"
                        f"    ((float *)count_tensor_{i})[i] = float(int(seed)) * 0x1p-31f;\n  }}")
    lines += ["static void count_fill_inputs() {", "  unsigned seed = 1;", "  (void)seed;", *fill, "}"]
    if emx:
        parameters = ", ".join(["void *"] * len(pointers))
        lines += [f'extern "C" void {name}({parameters});', "static int count_run() {",
                  f"  {name}({', '.join(pointers)});", "  return 0;", "}"]
    else:
        lines += [f"static void *const count_io[] = {{{', '.join(pointers)}}};", "static int count_run() {",
                  f"  return {name}_run((const {name}_io *)count_io, count_arena, nullptr);", "}"]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def section_sizes(objects):
    """Returns the bytes of code and of constants in object files."""
    code = constants = 0
    for path in objects:
        for line in run(["arm-none-eabi-objdump", "-h", "-w", path]).splitlines():
            found = re.match(r"\s*\d+ (\S+)\s+([0-9a-f]+) .*\bALLOC\b", line)
            if not found:
                continue
            if re.search(r"\bCODE\b", line):
                code += int(found[2], 16)
            elif not found[1].startswith((".ARM.", ".bss", ".data")):
                constants += int(found[2], 16)
    return code, constants


def disassemble(path, core):
    """Returns a map from address to (mnemonic, operands), and the functions as
    (address, size, name)."""
    instructions = {}
    for line in run(["llvm-objdump-22", "-d", "--no-show-raw-insn", "--mcpu=" + core, path]).splitlines():
        found = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if found:
            instructions[int(found[1], 16)] = (found[2], found[3])
    functions = []
    for line in run(["arm-none-eabi-nm", "-C", "-S", path]).splitlines():
        found = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.*)", line)
        if found:
            functions.append((int(found[1], 16) & ~1, int(found[2], 16), found[3]))
    return instructions, sorted(functions)


def list_length(operands):
    """Returns the number of registers in a list such as {r0, r2-r4}."""
    count = 0
    for part in re.search(r"\{([^}]*)\}", operands)[1].split(","):
        ends = [int(n) for n in re.findall(r"\d+", part)]
        count += ends[-1] - ends[0] + 1 if "-" in part else 1
    return count * 2 if re.search(r"\{\s*d", operands) else count


def weight_of(mnemonic, operands, weights):
    if "q" in weights and re.search(r"\bq\d", operands):
        return int(weights["q"])
    best = max((key for key in weights if key != "q" and mnemonic.startswith(key)), key=len)
    formula = weights[best]
    if formula == "1 + n":
        return 1 + list_length(operands) if "{" in operands else 2
    return int(formula)


class Count:
    """Instructions and cycles in all and by function, mnemonic and block: the counts of CountPlugin.c (a
    file), weighted by means of the disassembly."""

    def __init__(self, target, elf, counts):
        self.code, functions = disassemble(elf, target.name)
        weights = CORES.get(target.name, SMALL_CORE)
        taken_cycles = TAKEN.get(target.name, 2)
        self.instructions = self.cycles = 0
        self.mix, self.functions, self.blocks = {}, {}, []
        for line in open(counts):
            address, size, instructions, runs, taken = map(int, line.split())
            function = next((f for f in functions if f[0] <= address < f[0] + f[1]), (0, 0, "?"))
            if function[2] in ("count_begin", "count_end", "main"):
                continue
            cycles = 0
            for at in range(address, address + size, 2):
                if at in self.code:
                    mnemonic, operands = self.code[at]
                    if mnemonic == "<unknown>":
                        sys.exit(f"{function[2]}: the disassembler does not know the instruction at {at:x}")
                    weight = weight_of(mnemonic, operands, weights)
                    cycles += weight * runs
                    entry = self.mix.setdefault(mnemonic, [0, 0])
                    entry[0] += runs
                    entry[1] += weight * runs
            cycles += taken * taken_cycles if not self.ends_in_free_branch(address, size) else 0
            self.instructions += instructions * runs
            self.cycles += cycles
            entry = self.functions.setdefault(function[2], [0, 0, function[1]])
            entry[0] += instructions * runs
            entry[1] += cycles
            self.blocks.append((cycles, address, size, runs))

    def ends_in_free_branch(self, address, size):
        last = max((at for at in range(address, address + size, 2) if at in self.code), default=None)
        return last is not None and self.code[last][0] in ("le", "letp")


def measure(arguments, target, work):
    """Compiles a model, runs it in QEMU and counts its instructions. Returns the Count and a dictionary of
    figures."""
    name = "model"
    options = ["--target", target.name] + arguments.options
    facts = json.loads(run([arguments.ingot, "inspect", "--json", arguments.model] + options))
    code_object = os.path.join(work, name + ".o")
    if arguments.emx:
        source = os.path.join(work, name + ".c")
        # The C code of emx-onnx-cgen may use neither heap nor files, as on a bare-metal board.
        run([arguments.emx, "compile", arguments.model, source, "--model-name", name, "--restrict-arrays",
             "--large-temp-threshold", "0", "--large-weight-threshold", "0"])
        compiler = target.c_compiler
    else:
        source = os.path.join(work, name + ".cpp")
        run([arguments.ingot, arguments.model, "-o", source, "--name", name] + options)
        compiler = target.compiler + ["-std=c++17", "-fno-exceptions", "-fno-rtti"]
    write_interface(os.path.join(work, "count_model.h"), name, facts, target, arguments.emx)
    run(compiler + target.flags + arguments.flags.split() + ["-I", work, "-c", source, "-o", code_object])
    objects = [code_object] + [path for path in [os.path.join(work, name + ".weights.o")] if os.path.exists(path)]
    start = os.path.join(work, "start.cpp")
    with open(start, "w") as file:
        file.write(target.program_text)
    elf = os.path.join(work, "count.elf")
    main_text = os.path.join(HERE, "CountMain.cpp")
    run(target.linker + ["-std=c++17", "-O2", "-masm-syntax-unified", "-I", work, main_text, start] + objects +
        target.link_flags + (["-lm"] if arguments.emx else []) + ["-o", elf])
    plugin = os.path.join(work, "libcount.so")
    run(["cc", "-shared", "-fPIC", "-O2", "-fvisibility=hidden", os.path.join(HERE, "CountPlugin.c"), "-o", plugin])
    symbols = {f[2]: f[0] for f in disassemble(elf, target.name)[1]}
    counts = os.path.join(work, "counts")
    at = target.emulator.index("-kernel")
    output = run(target.emulator[:at] + [
        "-icount", f"shift={BOARDS[target.board][1]}", "-plugin",
        f"{plugin},begin={symbols['count_begin']},end={symbols['count_end']},out={counts}"] + target.emulator[at:] + [elf],
        timeout=1800)
    board = {key: int(value) for key, value in (line.split() for line in output.splitlines())}
    if board["status"] != 0:
        sys.exit(f"the run failed with status {board['status']}")
    count = Count(target, elf, counts)
    code, constants = section_sizes(objects)
    arena = 0
    if not arguments.emx:
        arena = int(re.search(r"_ARENA_BYTES (\d+)", open(os.path.join(work, name + ".h")).read())[1])
    macs = sum(group["macs"] for group in facts["groups"])
    return count, {
        "macs": macs, "instructions": count.instructions, "cycles": count.cycles,
        "timer_instructions": round(board["run_ticks"] * board["loop_instructions"] / board["loop_ticks"]),
        "instructions_per_mac": count.instructions / max(macs, 1), "cycles_per_mac": count.cycles / max(macs, 1),
        "code_bytes": code, "constant_bytes": constants, "arena_bytes": arena, "stack_bytes": board["stack"]}


def print_report(arguments, count, figures):
    print(f"{figures['macs']} MACs: {figures['instructions_per_mac']:.3f} instructions/MAC, "
          f"{figures['cycles_per_mac']:.3f} cycles/MAC")
    print(f"instructions {figures['instructions']} (timer: {figures['timer_instructions']}), cycles {figures['cycles']}")
    print(f"code {figures['code_bytes']}, constants {figures['constant_bytes']}, arena {figures['arena_bytes']}, "
          f"stack {figures['stack_bytes']} bytes")
    print(f"{'bytes':>7} {'instructions':>13} {'cycles':>13}  function")
    for name, (instructions, cycles, size) in sorted(count.functions.items(), key=lambda f: -f[1][1]):
        print(f"{size:7} {instructions:13} {cycles:13}  {name}")
    if arguments.mix:
        for mnemonic, (runs, cycles) in sorted(count.mix.items(), key=lambda f: -f[1][1]):
            print(f"{runs:13} {cycles:13}  {mnemonic}")
    for cycles, address, size, runs in sorted(count.blocks, reverse=True)[:arguments.hot]:
        print(f"-- {cycles} cycles, {runs} runs")
        for at in range(address, address + size, 2):
            if at in count.code:
                print(f"  {at:x}: {count.code[at][0]:12} {count.code[at][1]}")


def main():
    arguments = parse_arguments()
    target = Target(arguments.ingot, arguments.target, arguments.compiler)
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or temporary
        os.makedirs(work, exist_ok=True)
        count, figures = measure(arguments, target, os.path.abspath(work))
    if arguments.json:
        figures["functions"] = {name: {"instructions": f[0], "cycles": f[1], "bytes": f[2]} for name, f in count.functions.items()}
        print(json.dumps(figures, indent=2))
    else:
        print_report(arguments, count, figures)
    # The plugin and the board's timer measure the same run, except for the call of the model.
    if abs(figures["timer_instructions"] - figures["instructions"]) > max(100, figures["instructions"] // 200):
        sys.exit("the plugin and the timer disagree")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
