"""Exceptions, which carry the diagnostics of the compiler as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "CompileError",
    "Diagnostic",
    "IngotError",
    "InputError",
    "InternalError",
    "InvalidModelError",
    "RunError",
    "ToolchainError",
    "UnsupportedError",
    "UsageError",
]


@dataclass(frozen=True)
class Diagnostic:
    """One fault that the compiler found.

    The ids are listed in the manual (`docs/errors.md`, `ingot --explain ID`).
    """

    id: str
    """The kind of fault, for example ``unbound-dimension``."""
    kind: str
    """Its class: ``usage``, ``invalid``, ``unsupported``, ``comparison``, ``internal``, ``warning``."""
    message: str
    """What was found, in one sentence."""
    file: str = ""
    """The file at fault."""
    node: int | None = None
    """The number of the ONNX node in its graph."""
    name: str = ""
    """The name of the node, or of its first output."""
    operator: str = ""
    """The operator of the node."""
    operands: str = ""
    """The types of its operands and results."""
    supported: str = ""
    """What is supported instead."""
    hints: tuple[str, ...] = ()
    """Suggestions how to avoid the fault."""
    count: int = 1
    """How many nodes have this fault; the first one is described."""

    @staticmethod
    def of(data: dict[str, Any]) -> Diagnostic:
        """Returns the diagnostic that `ingot --json` printed as `data`; `ingot inspect` prints no class and no number."""
        node = data.get("node")
        return Diagnostic(
            id=data["id"],
            kind=data.get("class", "unsupported"),
            message=data.get("message", ""),
            file=data.get("file", ""),
            node=node if isinstance(node, int) else None,
            name=data.get("name", node if isinstance(node, str) else ""),
            operator=data.get("operator", ""),
            operands=data.get("operands", ""),
            supported=data.get("supported", ""),
            hints=tuple(data.get("hints", ())) or tuple(filter(None, [data.get("hint", "")])),
            count=data.get("count", 1),
        )

    def __str__(self) -> str:
        lines = [f"[{self.id}] {self.message}" + (f" ({self.count} nodes; the first is shown)" if self.count > 1 else "")]
        if self.node is not None or self.name:
            what = "node" + ("" if self.node is None else f" #{self.node}") + (f" `{self.name}`" if self.name else "")
            lines.append(f"  at {what}" + (f" ({self.operator})" if self.operator else ""))
        if self.operands:
            lines.append(f"  {self.operands}")
        if self.supported:
            lines.append(f"  supported: {self.supported}")
        lines += [f"  hint: {_python_hint(hint)}" for hint in self.hints]
        return "\n".join(lines)


def _python_hint(hint: str) -> str:
    """Rewrites a hint for the command line: options become arguments of `compile`."""

    def dimension(match: re.Match[str]) -> str:
        name, size = match.group(1).strip("'"), match.group(2).strip("'")
        return f'dims={{"{name}": {"(" + size.replace("..", ", ") + ")" if ".." in size else size}}}'

    hint = re.sub(r"--dim (\S+?)=([\w.]+)", dimension, hint)
    return re.sub(r"--bind (\S+?)=(\S+)", r'bind={"\1": [\2]}', hint)


@dataclass(eq=False)
class IngotError(Exception):
    """The base class of all exceptions of this package.

    `diagnostics` contains the diagnostics of the compiler; it is empty for errors that this package detects itself.
    """

    message: str
    diagnostics: tuple[Diagnostic, ...] = field(default=())

    def __post_init__(self) -> None:
        super().__init__(self.message, self.diagnostics)

    @property
    def id(self) -> str:
        """The id of the first diagnostic; empty if there is none."""
        return self.diagnostics[0].id if self.diagnostics else ""

    def __str__(self) -> str:
        return self.message


class CompileError(IngotError):
    """The model cannot be compiled; see the classes below."""


class UsageError(CompileError, ValueError):
    """An option is wrong, or two of them contradict each other."""


class InvalidModelError(CompileError, ValueError):
    """The model or its data is at fault."""


class UnsupportedError(CompileError, NotImplementedError):
    """The model is valid, but uses something that Ingot does not support."""


class InternalError(CompileError):
    """An error of Ingot itself; please report it."""


class ToolchainError(IngotError, RuntimeError):
    """A program that is needed is missing or failed: Ingot itself, or a C++ compiler."""


class InputError(IngotError, ValueError, TypeError):
    """An argument of a call is not what the network takes."""


class RunError(IngotError, RuntimeError):
    """The compiled network returned an error; `status` is its name."""

    def __init__(self, message: str, status: str = "") -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return RunError, (self.message, self.status)


_BY_EXIT_CODE: dict[int, type[CompileError]] = {1: InvalidModelError, 2: UsageError, 3: UnsupportedError}
# Ids with exit code 1 for which the environment is at fault, not the model.
_OF_TOOLS = {"missing-program", "machine-fault", "compiler-failed", "cannot-write"}


def error_of(code: int, diagnostics: tuple[Diagnostic, ...], text: str) -> IngotError:
    """Returns the exception for an exit code of the program; `text` is its output."""
    faults = tuple(d for d in diagnostics if d.kind != "warning")
    message = "\n".join(map(str, faults)) or text.strip() or f"ingot ended with exit code {code}"
    if code == 1 and faults and all(d.id in _OF_TOOLS for d in faults):
        return ToolchainError(message, faults)
    return _BY_EXIT_CODE.get(code, InternalError)(message, faults)
