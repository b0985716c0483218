"""Finds the C++ compiler that builds networks for this process."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from . import _cache
from ._errors import ToolchainError

# The compilers that the program searches for, and the flags with which Zig replaces each of them.
_STAND_INS = {
    # The C library is named, since Zig takes musl where it finds no program to read that from; the wheel needs glibc.
    "clang++": "-target native-linux-gnu",
    "aarch64-linux-gnu-g++": "-target aarch64-linux-gnu",
    "arm-linux-gnueabihf-g++": "-target arm-linux-gnueabihf",
}


FLAGS = ("-std=c++17", "-w", "-O2", "-fPIC", "-fno-exceptions", "-fno-rtti")
"""Flags that networks are compiled with."""


@functools.lru_cache(maxsize=1)
def zig() -> tuple[str, ...]:
    """Returns the command of the compiler Zig, if the package ziglang is installed, else nothing."""
    if importlib.util.find_spec("ziglang") is None:
        return ()
    return (sys.executable, "-m", "ziglang")


def _stand_ins() -> str:
    """Returns a folder with scripts that call Zig, one for each compiler that Zig can replace; empty without Zig."""
    if not zig():
        return ""
    texts = {
        name: f'#!/bin/sh\nexec {shlex.join(zig())} c++ {flags} "$@"\n'.replace("  ", " ") for name, flags in _STAND_INS.items()
    }

    def build(place: Path) -> None:
        for name, text in texts.items():
            (place / name).write_text(text)
            (place / name).chmod(0o755)

    return str(_cache.entry(_cache.key_of("zig", *texts.values()), build))


def search_path() -> str:
    """Returns the search path of programs; the folder of stand-ins comes last, so that it serves only if a compiler is missing."""
    return os.pathsep.join(part for part in (os.environ.get("PATH", os.defpath), _stand_ins()) if part)


def environment() -> dict[str, str]:
    """Returns the environment in which the program is called."""
    return {**os.environ, "PATH": search_path()}


def find_compiler(names: Sequence[str]) -> list[str]:
    """Returns the command of the compiler that builds networks.

    ``INGOT_CXX`` names one, with flags; otherwise it is the first of `names` in the path.
    """
    named = shlex.split(os.environ.get("INGOT_CXX", ""))
    if named:
        if not shutil.which(named[0], path=search_path()):
            raise ToolchainError(f"the environment variable INGOT_CXX names {named[0]}, which is not in the path")
        return named
    for name in names:
        found = shutil.which(name, path=search_path())
        if found:
            return [found]
    raise ToolchainError(
        f"there is no C++ compiler: looked for {', '.join(names)}. Install g++ (version 12 or later) or clang++, or get one "
        "by `pip install ziglang`, or name one in the environment variable INGOT_CXX"
    )


def identity(command: Sequence[str]) -> str:
    """Returns a string that differs between compilers and their versions."""
    path = shutil.which(command[0], path=search_path()) or command[0]
    try:
        status = os.stat(path)
        return f"{shlex.join(command)} {status.st_size} {status.st_mtime_ns}"
    except OSError:
        return shlex.join(command)


def build_library(command: Sequence[str], files: Sequence[Path], library: Path) -> None:
    """Builds a shared library of C++ and object files."""
    # Networks do not need the C++ library. Zig would otherwise build its own library first, which takes longer than
    # the network.
    stand_ins = _stand_ins()
    less = ["-nostdlib++"] if stand_ins and os.path.dirname(command[0]) == stand_ins else []
    # Flags of the command come last, so that they override FLAGS.
    whole = [command[0], *FLAGS, "-shared", *less, *command[1:], *map(str, files), "-o", str(library)]
    try:
        done = subprocess.run(whole, capture_output=True, text=True, env=environment())
    except OSError as error:
        raise ToolchainError(f"the compiler {command[0]} does not run: {error}") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise ToolchainError(
            f"{shlex.join(command)} does not compile the generated C++ (exit code {done.returncode}); g++ 12 and clang 22 do. "
            "The environment variable INGOT_CXX names another compiler.\n" + "\n".join(lines[:20])
        )
