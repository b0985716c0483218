"""`python -m ingot` and the console script `ingot`: the program, and what this package adds to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from . import _program, _toolchain, doctor
from ._errors import IngotError

_HELP = """
Commands of the Python package:
  ingot doctor                compilers and emulators: which are there, what each is needed for
  ingot export MODEL --as KIND -o DIR
                              write a library project for a build system; see ingot export --help
  python -m ingot --cmake-dir print the folder for -DIngot_DIR
  python -m ingot --include-dir
                              print the folder of ingot.h and ingot_thread_pool.h
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command of this package, or replaces this process by the `ingot` program."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    first = given[0] if given else ""
    try:
        if first == "doctor":
            return doctor.main(given[1:])
        if first == "export":
            from . import export

            return export.main(given[1:])
        if first == "--cmake-dir":
            print(_program.PREFIX / "lib" / "cmake" / "Ingot")
            return 0
        if first == "--include-dir":
            print(_program.PREFIX / "include" / "ingot")
            return 0
        path = _program.program()
        if first in ("", "-h", "--help", "help") and len(given) < 2:
            import subprocess

            code = subprocess.run([path, *given], env=_toolchain.environment()).returncode
            print(_HELP, end="", file=sys.stderr if code else sys.stdout)
            return code
        os.execve(path, ["ingot", *given], _toolchain.environment())
    except IngotError as error:
        print(f"ingot: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"ingot: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
