# lit's configuration for test/: every .mlir and .test file with RUN lines is a test.
#
# Substitutions: %ingot, %ingot-opt, %ingot-translate, FileCheck, not, split-file, %python (with onnx and
# numpy), %models (networks; feature `models`), %examples, %runtime, %cxx (the system compiler, g++),
# %clangxx, %without-tiles (runs a program without AMX), and lit's own %s, %t, %S.
import os
import shutil

import lit.formats

config.name = "Ingot"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.join(config.ingot_source, "test")
# These folders contain data and helpers of tests, which are not lit tests even if they have the suffix of one.
config.excludes = ["unit", "Inputs", "models"]

config.substitutions += [
    # Longer names first: lit replaces one substitution after the other.
    ("%ingot-fuzz", os.path.join(config.ingot_bin, "ingot-fuzz")),
    ("%ingot-opt", os.path.join(config.ingot_bin, "ingot-opt")),
    ("%ingot-translate", os.path.join(config.ingot_bin, "ingot-translate")),
    ("%ingot", os.path.join(config.ingot_bin, "ingot")),
    ("%python", config.python),
    ("%models", config.models),
    ("%examples", os.path.join(config.ingot_source, "examples")),
    ("%runtime", os.path.join(config.ingot_source, "runtime_support")),
    ("%clangxx", config.clangxx),
    ("%cxx", "g++"),
]
path = [config.llvm_bin, config.environment["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
# The output must not depend on the user's locale and terminal.
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"

if config.models and os.path.isdir(config.models):
    config.available_features.add("models")
for program in ("ingot", "ingot-fuzz", "ingot-opt", "ingot-translate"):
    if os.path.exists(os.path.join(config.ingot_bin, program)):
        config.available_features.add(program)
for program in ("g++", "aarch64-linux-gnu-g++", "qemu-x86_64", "qemu-aarch64", "qemu-hexagon",
                "arm-none-eabi-g++", "qemu-system-arm", "node", "wasm-ld-22"):
    if shutil.which(program):
        config.available_features.add(program)
# A feature cpu-FLAG for each instruction set of this machine, for tests that run code for it.
try:
    with open("/proc/cpuinfo") as cpuinfo:
        flags = next((l for l in cpuinfo if l.startswith("flags")), "").split()
    config.available_features.update("cpu-" + flag for flag in flags)
except OSError:
    pass
# %without-tiles runs a program as on a processor without AMX: under an emulator if this machine has AMX.
config.substitutions.append(("%without-tiles", "qemu-x86_64" if "cpu-amx_tile" in config.available_features else ""))
