"""`ingot doctor`: lists the programs that Ingot calls, whether they are installed, and what each is needed for."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from . import _cache, _program, _toolchain
from ._errors import IngotError

__all__ = ["Tool", "tools"]


@dataclass(frozen=True)
class Tool:
    """A program that Ingot calls, its purpose, and how to install it."""

    name: str
    """The name of the program."""
    purpose: str
    """What it is needed for."""
    remedy: str
    """How to get it."""
    path: str = ""
    """Where it is; empty if it is not there."""
    version: str = ""
    """The first line of what it prints as its version."""

    @property
    def found(self) -> bool:
        """Whether the program is installed."""
        return bool(self.path)


# Each entry: the name of a program, what it is needed for, and how to install it.
_TOOLS: tuple[tuple[str, str, str], ...] = (
    ("clang++-22", "building networks for this machine (the fastest code)", "install clang 22"),
    ("clang++", "building networks for this machine", "install clang 22"),
    ("g++", "building networks for this machine", "install g++ 12 or later"),
    ("aarch64-linux-gnu-g++", "objects and sizes for 64-bit Arm", "install g++-aarch64-linux-gnu, or pip install ziglang"),
    ("arm-linux-gnueabihf-g++", "objects and sizes for 32-bit Arm", "install g++-arm-linux-gnueabihf, or pip install ziglang"),
    ("arm-none-eabi-g++", "objects and sizes for Cortex-M", "install gcc-arm-none-eabi and libstdc++-arm-none-eabi-newlib"),
    ("nvcc", "objects for NVIDIA GPUs", "install the CUDA toolkit 13"),
    ("hexagon-clang++", "objects for Hexagon, by its own compiler (clang 22 builds them, too)", "install the Hexagon SDK"),
    ("qemu-aarch64", "`ingot test` and `ingot run` for 64-bit Arm", "install qemu-user"),
    ("qemu-arm", "`ingot test` and `ingot run` for 32-bit Arm", "install qemu-user"),
    ("qemu-hexagon", "`ingot test` and `ingot run` for Hexagon", "install qemu-user"),
    ("wasm-ld-22", "WebAssembly modules, `ingot export --as web`", "install lld 22"),
    ("node", "`ingot test` and `ingot run` for WebAssembly", "install nodejs"),
    ("qemu-system-arm", "`ingot test` and `ingot run` for Cortex-M", "install qemu-system-arm"),
)
_PACKAGES: tuple[tuple[str, str], ...] = (
    ("numpy", "arrays (required)"),
    ("ziglang", "a C++ compiler where there is no other"),
    ("onnx", "onnx.ModelProto as a model, ingot.backend"),
    ("ml_dtypes", "arrays of bfloat16, float8 and 4-bit integers"),
    ("onnxruntime", "expected outputs in ingot.verify"),
    ("torch", "torch.nn.Module as a model, torch.compile"),
    ("skl2onnx", "estimators of scikit-learn as models"),
)


def _version(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, env=_toolchain.environment())
    except (OSError, subprocess.TimeoutExpired):
        return "does not run"
    lines = (done.stdout or done.stderr).strip().splitlines()
    # nvcc prints its version in a later line than other programs.
    line = next((line for line in lines if "release" in line), lines[0] if lines else "")
    return line if done.returncode == 0 else f"does not run (exit code {done.returncode})"


def tools() -> list[Tool]:
    """Returns the programs that Ingot calls; those that are installed have a path and a version."""
    result = []
    for name, purpose, remedy in _TOOLS:
        path = shutil.which(name, path=_toolchain.search_path()) or ""
        result.append(Tool(name, purpose, remedy, path, _version(path) if path else ""))
    return result


def main(arguments: Sequence[str] = ()) -> int:
    """Prints the programs; returns 0 if networks can be compiled and run on this machine, else 1."""
    if arguments:
        print("usage: ingot doctor", file=sys.stderr)
        return 2
    good = True
    print(f"Python       {platform.python_version()}, {platform.system()} {platform.machine()}")
    try:
        print(f"program      {_program.program()}: {_program.identity().rsplit(' ', 2)[0]}")
        native = next((t["name"] for t in _program.targets() if t.get("native")), "")
        if native:
            print(f"native       {native}")
    except IngotError as error:
        good = False
        print(f"program      missing: {error}")
    cache = _cache.folder()
    parent = next((p for p in (cache, *cache.parents) if p.exists()), cache)
    writable = os.access(parent, os.W_OK)
    print(f"cache        {cache}" + ("" if writable else ": cannot be written; networks are kept for a process only (INGOT_CACHE)"))
    print()
    found = tools()
    for tool in found:
        print(f"{'yes' if tool.found else 'no ':<4} {tool.name:<24} {tool.purpose}")
        print(f"     {'':<24} {tool.path + ': ' + tool.version if tool.found else tool.remedy}")
    print()
    for name, purpose in _PACKAGES:
        try:
            print(f"yes  {name + ' ' + metadata.version(name):<24} {purpose}")
        except metadata.PackageNotFoundError:
            print(f"no   {name:<24} {purpose}")
    try:
        compiler = _toolchain.find_compiler(["clang++-22", "clang++", "g++"])
        print(f"\nnetworks are built with {' '.join(compiler)}")
    except IngotError as error:
        good = False
        print(f"\n{error}")
    return 0 if good else 1
