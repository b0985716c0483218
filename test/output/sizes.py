#!/usr/bin/env python3
"""Compares what `ingot inspect` predicts with what linking gives.

    sizes.py NAME... --ingot PROGRAM --work DIR [--targets generic,native]

For each network and target, with the target's own compiler:
- flash: the bytes that the model adds to a linked image, within 3%;
- RAM: the arena exactly; no variables besides; weights in no writable section;
- stack: what a run touches, on this machine or on the target's emulated board, is
  what was predicted but for a slack;
- a budget of exactly the prediction is kept, one of a byte less is refused with the
  heaviest kernel's name.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
sys.dont_write_bytecode = True
from harness import Failure, arguments, sh  # noqa: E402
from run import find_model, runs_here  # noqa: E402

STANDARD = ["-std=c++17", "-O2", "-fPIC", "-fno-exceptions", "-fno-rtti"]

# The beginning of all C++ programs in this file: the arena (the model's working memory) and the tensors
# of the model.
BUFFERS = r"""
#include "net.h"
#include <stdint.h>
extern "C" { alignas(NET_ARENA_ALIGN) unsigned char net_memory[NET_ARENA_BYTES + (NET_ARENA_BYTES == 0)]; }
@TENSORS@
static const net_io tensors = {@POINTERS@};
extern "C" __attribute__((noinline)) void call_net() { net_run(&tensors, net_memory, nullptr); }
extern "C" __attribute__((noinline)) void call_nothing() { __asm__ volatile(""); }
"""

# A program without a C library, whose sections give the flash size. It defines memcpy and memset itself
# unless the target is freestanding.
IMAGE = BUFFERS + r"""
extern "C" __attribute__((used)) void image_start() { call_net(); call_nothing(); for (;;) __asm__ volatile(""); }
#ifndef FREESTANDING
extern "C" __attribute__((used)) void *memcpy(void *to, const void *from, size_t n) {
  for (size_t i = 0; i < n; ++i) { ((volatile char *)to)[i] = ((const char *)from)[i]; }
  return to;
}
extern "C" __attribute__((used)) void *memset(void *to, int value, size_t n) {
  for (size_t i = 0; i < n; ++i) { ((volatile char *)to)[i] = (char)value; }
  return to;
}
#endif
"""

# A program that runs the model on a separate stack filled with a pattern, and prints the bytes of this
# stack that were written.
HOST_STACK = BUFFERS + r"""
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
static ucontext_t home, away;
alignas(64) static unsigned char memory[1 << 18];
static long used(void (*body)()) {
  memset(memory, 0xa5, sizeof memory);
  getcontext(&away);
  away.uc_stack.ss_sp = memory;
  away.uc_stack.ss_size = sizeof memory;
  away.uc_link = &home;
  makecontext(&away, body, 0);
  swapcontext(&home, &away);
  size_t clean = 0;
  while (clean < sizeof memory && memory[clean] == 0xa5) ++clean;
  return long(sizeof memory - clean);
}
int main() { printf("%ld\n", used(call_net) - used(call_nothing)); }
"""

# A program for a bare-metal board that fills the stack below the frame of used() with a pattern, runs the
# model, and prints the bytes of stack that were written.
BOARD_STACK = BUFFERS + r"""
#include <stdio.h>
static __attribute__((noinline)) long used(void (*body)()) {
  volatile unsigned char *here = (volatile unsigned char *)__builtin_frame_address(0) - 512;
  for (long i = 0; i < 16384; ++i) here[-i] = 0xa5;
  body();
  long deepest = 16384;
  while (deepest > 0 && here[1 - deepest] == 0xa5) --deepest;
  return deepest;
}
// Pushes the model's frames out of the unpainted bytes.
static __attribute__((noinline)) long below(void (*body)()) {
  volatile unsigned char gap[512];
  gap[0] = 0;
  body();
  return gap[0];
}
static void (*chosen)();
static void deeper() { below(chosen); }
static long measured(void (*body)()) { chosen = body; return used(deeper); }
int main() { printf("%ld\n", measured(call_net) - measured(call_nothing)); }
"""


def write_program(directory, name, text, header):
    """Writes the C++ program `text` to the file `name`, with the tensors that `header` declares in place of
    @TENSORS@ and @POINTERS@; returns its path."""
    fields = re.findall(r"^  (const )?(\w+) \*(\w+); +/\* (?:in|out): .*\*/$", header, re.M)
    counts = dict(re.findall(r"#define NET_(\w+)_ELEMENTS (\d+)u", header))
    tensors = [f"static {kind} tensor_{field}[{max(int(counts[field.upper()]), 1)}];" for _, kind, field in fields]
    pointers = [f"tensor_{field}" for _, _, field in fields]
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text.replace("@TENSORS@", "\n".join(tensors)).replace("@POINTERS@", ", ".join(pointers)))
    return path


def sections(path):
    """Returns (name, bytes, flags, whether the file contains the bytes) for each loaded section of an ELF
    file."""
    result = []
    for line in sh(["readelf", "-SW", path]).splitlines():
        found = re.match(r"\s*\[\s*\d+\] (\S+)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+\s+([A-Za-z]*)", line)
        if found and "A" in found[4]:
            result.append((found[1], int(found[3], 16), found[4], found[2] != "NOBITS"))
    return result


def flash(path):
    return sum(size for _, size, _, stored in sections(path) if stored)


class Target:
    def __init__(self, ingot, name):
        known = {target["name"]: target for target in json.loads(sh([ingot, "targets", "--json"]))}
        self.facts = known[name]
        self.name = name
        self.bare = bool(self.facts["program_text"])
        self.compiler = self.facts["compilers"][0].split()
        self.linker = self.facts["linker"].split() or self.compiler

    def compile(self, source, directory, *flags):
        output = source[:-len(".cpp")] + ".o"
        sh([*self.compiler, *STANDARD, *self.facts["flags"], *flags, "-I", directory, "-c", source, "-o", output])
        return output


def check_image(target, directory, objects, prediction, header):
    program = target.compile(write_program(directory, "image.cpp", IMAGE, header), directory,
                             *(["-DFREESTANDING"] if target.bare else ["-fno-builtin"]))
    image = os.path.join(directory, "image.elf")
    libraries = ["-lc", "-lgcc"] if target.bare else []
    sh([*target.linker, *target.facts["flags"], "-nostdlib", "-static", "-Wl,--gc-sections,--build-id=none,-e,image_start",
        program, *objects, *libraries, "-o", image])
    linked = flash(image) - flash(program)
    error = prediction["flash_bytes"] / linked - 1
    if abs(error) > 0.03:
        raise Failure(f"flash: {prediction['flash_bytes']} bytes predicted, {linked} linked ({error:+.1%})")
    arena = re.search(r"\s(0x[0-9a-f]+|\d+)\s+OBJECT\s.*\snet_memory$", sh(["readelf", "-sW", image]), re.M)
    if int(arena[1], 0) != max(prediction["arena_bytes"], 1):
        raise Failure(f"arena: {prediction['arena_bytes']} bytes predicted, {arena[1]} linked")
    for path in objects:
        for name, size, flags, _ in sections(path):
            if "W" in flags and size:
                raise Failure(f"{os.path.basename(path)} has {size} bytes of variables in {name}")
    return linked, error


def measure_stack(ingot, target, directory, objects, header):
    """Returns the stack bytes that a run writes; None if nothing here can run it."""
    program = os.path.join(directory, "stack")
    if target.bare:
        source = write_program(directory, "stack.cpp", BOARD_STACK, header)
        start = os.path.join(directory, "start.cpp")
        with open(start, "w") as file:
            file.write(target.facts["program_text"])
        sh([*target.linker, "-std=c++17", "-O2", "-I", directory, source, start, *objects,
            *target.facts["link_flags"], "-o", program])
        return int(sh([*target.facts["emulator"].split(), program], timeout=600))
    if not runs_here(ingot, target.name):
        return None
    source = write_program(directory, "stack.cpp", HOST_STACK, header)
    sh([*target.linker, "-std=c++17", "-O1", "-I", directory, source, *objects, "-o", program])
    return int(sh([program]))


def check_stack(ingot, target, directory, objects, prediction, header):
    written = measure_stack(ingot, target, directory, objects, header)
    if written is None:
        return "?"
    # Not included in the prediction: return addresses, the red zone of leaf functions
    # on 64-bit hosts and, on boards, the C library's functions.
    slack = 64 if target.bare else 192
    if not prediction["stack_bytes"] * 0.8 - 64 <= written <= prediction["stack_bytes"] + slack:
        raise Failure(f"stack: {prediction['stack_bytes']} bytes predicted, {written} written")
    return written


def check_budgets(args, model, target, prediction, directory):
    output = os.path.join(directory, "budget.cpp")
    base = [args.ingot, model, "-o", output, "--target", target.name]
    flash_bytes, ram_bytes = prediction["flash_bytes"], prediction["ram_bytes"]
    sh([*base, "--max-flash", str(flash_bytes), "--max-ram", str(ram_bytes)])
    os.remove(output)
    done = subprocess.run([*base, "--max-flash", str(flash_bytes - 1)], capture_output=True, text=True)
    heaviest = collections.Counter()
    for row in prediction["groups"]:
        heaviest[tuple(row["nodes"])] += row["weight_bytes"] + row["code_bytes"]
    first = re.search(r"weights (\d+) \+ code (\d+): (\w+)", done.stderr)
    if done.returncode != 1 or "over-budget" not in done.stderr or os.path.exists(output) or not first or \
            int(first[1]) + int(first[2]) != max(heaviest.values()):
        raise Failure(f"a byte over the budget gives exit code {done.returncode}:\n{done.stderr}")


def check(args, network, target):
    directory = os.path.join(args.work, f"{network}-{target.name}")
    os.makedirs(directory, exist_ok=True)
    model, _ = find_model(network, args.work)
    source = os.path.join(directory, "net.cpp")
    prediction = json.loads(sh([args.ingot, "inspect", "--json", model, "--target", target.name]))
    if "flash_bytes" not in prediction:
        raise Failure("nothing is predicted")
    sh([args.ingot, model, "-o", source, "--target", target.name, "--name", "net"])
    with open(os.path.join(directory, "net.h")) as file:
        header = file.read()
    objects = [target.compile(source, directory)]
    if os.path.exists(os.path.join(directory, "net.weights.o")):
        objects.append(os.path.join(directory, "net.weights.o"))
    linked, error = check_image(target, directory, objects, prediction, header)
    written = check_stack(args.ingot, target, directory, objects, prediction, header)
    check_budgets(args, model, target, prediction, directory)
    rows = prediction["groups"]
    if sum(row["weight_bytes"] for row in rows) != prediction["weight_bytes"]:
        raise Failure("the groups' weights are not all weights")
    code = sum(row["code_bytes"] for row in rows)
    # On boards, kernels may have a smaller part of the code: boards without floating-point hardware
    # also need library functions.
    if not (0.1 if target.bare else 0.5) * prediction["code_bytes"] < code <= prediction["code_bytes"]:
        raise Failure(f"the groups have {code} of {prediction['code_bytes']} bytes of code")
    if max(row["arena_bytes"] for row in rows) != prediction["arena_lower_bound"]:
        raise Failure("the groups' arena is not the plan's")
    print(f"{network} {target.name}: flash {prediction['flash_bytes']} predicted, {linked} linked ({error:+.2%}); "
          f"arena {prediction['arena_bytes']}; stack {prediction['stack_bytes']} predicted, {written} written", flush=True)


def main():
    parser = arguments(__doc__, targets="generic")
    parser.add_argument("networks", nargs="+")
    args = parser.parse_args()
    args.work = os.path.abspath(args.work)
    os.makedirs(args.work, exist_ok=True)
    failed = 0
    for name in args.targets.split(","):
        target = Target(args.ingot, name)
        if not shutil.which(target.compiler[0]) or not shutil.which(target.linker[0]):
            print(f"{name}: no compiler is installed")
            continue
        for network in args.networks:
            try:
                check(args, network, target)
            except Failure as failure:
                failed += 1
                print(f"{network} {name}: {failure}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
