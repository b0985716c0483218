"""Finds the `ingot` program and runs it."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _toolchain
from ._errors import Diagnostic, ToolchainError, error_of

PREFIX = Path(__file__).parent / "_prefix"
"""Where the program, the headers and the CMake package are installed, inside of this package."""


def program() -> str:
    """Returns the path of the `ingot` program.

    It is searched for in the environment variable ``INGOT``, then in this package, then in the path.
    """
    named = os.environ.get("INGOT")
    if named:
        if not os.access(named, os.X_OK):
            raise ToolchainError(f"the environment variable INGOT names {named}, which is no program")
        return named
    own = PREFIX / "bin" / "ingot"
    if own.exists():
        return str(own)
    found = shutil.which("ingot")
    # Skips console scripts: the script of this package would call this function again.
    if found and Path(found).read_bytes()[:2] != b"#!":
        return found
    raise ToolchainError(
        "the ingot program is missing: this package has none. "
        "Install a wheel for this platform (Linux on x86-64), or name a program in the environment variable INGOT"
    )


@functools.lru_cache(maxsize=8)
def _version_of(path: str, size: int, time: int) -> str:
    result = subprocess.run([path, "version"], capture_output=True, text=True)
    if result.returncode:
        raise ToolchainError(f"{path} does not run: {result.stderr.strip()}")
    return f"{result.stdout.strip()} {size} {time}"


def identity() -> str:
    """Returns a string that differs between builds of the program."""
    path = program()
    status = os.stat(path)
    try:
        return _version_of(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise ToolchainError(f"{path} does not run: {error}") from error


@dataclass(frozen=True)
class Output:
    """The output of the program: its JSON, diagnostics and standard error."""

    result: Any
    diagnostics: tuple[Diagnostic, ...]
    text: str


def call(arguments: Sequence[str], cwd: str | os.PathLike[str] | None = None, accept: Sequence[int] = (0,)) -> Output:
    """Runs the program with `arguments` and --json; raises an exception with its diagnostics unless the exit code is in `accept`."""
    try:
        done = subprocess.run([program(), *arguments, "--json"], capture_output=True, text=True, cwd=cwd, env=_toolchain.environment())
    except OSError as error:
        raise ToolchainError(f"the ingot program does not run: {error}") from error
    try:
        result = json.loads(done.stdout) if done.stdout.strip() else None
    except json.JSONDecodeError:
        result = None
    # The program prints a list of diagnostics, or an object that may contain one as "diagnostics".
    found = result if isinstance(result, list) else result.get("diagnostics", []) if isinstance(result, dict) else []
    diagnostics = tuple(Diagnostic.of(item) for item in found if isinstance(item, dict) and "id" in item)
    if done.returncode not in accept:
        if done.returncode < 0:
            raise error_of(70, (), f"the ingot program ended with signal {-done.returncode}\n{done.stderr[-2000:]}")
        raise error_of(done.returncode, diagnostics, done.stderr or done.stdout)
    return Output(result, diagnostics, done.stderr)


@functools.lru_cache(maxsize=1)
def targets() -> tuple[dict[str, Any], ...]:
    """Returns the targets of the program, as `ingot targets --json` lists them."""
    return tuple(call(["targets"]).result)


@functools.lru_cache(maxsize=1)
def foreign_targets() -> frozenset[str]:
    """Returns the targets whose code this machine cannot run, according to `ingot targets`."""
    try:
        done = subprocess.run([program(), "targets"], capture_output=True, text=True)
    except OSError as error:
        raise ToolchainError(f"the ingot program does not run: {error}") from error
    lines = [line for line in done.stdout.splitlines() if re.search(r"\((does not run|emulated) on this machine", line)]
    devices = [line for line in done.stdout.splitlines() if line.startswith("sm_")]
    return frozenset(line.split()[0] for line in lines + devices)
