"""A compiler for tests that check what networks compute, not how fast: without optimization, with precompiled headers."""

import pathlib
import shlex
import subprocess

from ingot import _toolchain

COMPILER = "clang++-22"
# The headers that generated code includes. Parsing the intrinsics takes nine tenths of the time to compile a small
# network.
HEADERS = ("immintrin.h", "math.h", "stddef.h", "stdint.h", "string.h")


def fast_compiler(folder: pathlib.Path) -> str:
    """Returns a value for INGOT_CXX. Its precompiled header is in `folder`, which must exist as long as the compiler is used."""
    level = "-O0"
    header, compiled = folder / "headers.h", folder / "headers.pch"
    header.write_text("".join(f"#include <{name}>\n" for name in HEADERS))
    try:
        command = [COMPILER, *_toolchain.FLAGS, level, "-x", "c++-header", str(header), "-o", str(compiled)]
        if subprocess.run(command, capture_output=True).returncode == 0:
            return f"{COMPILER} {level} -fuse-ld=lld -include-pch {shlex.quote(str(compiled))}"
    except OSError:
        pass  # the error appears when the first network is compiled
    return f"{COMPILER} {level}"
