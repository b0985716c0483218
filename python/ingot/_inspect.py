"""`inspect`: what a model contains, its kernels, flash and RAM."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _program
from ._compile import Dim, Options
from ._errors import Diagnostic, error_of
from ._models import to_model


@dataclass(frozen=True)
class Kernel:
    """A kernel call of a network; a report lists them in the order of a run."""

    name: str
    """The function in the generated C++; empty if the model does not compile."""
    strategy: str
    """How it is implemented: ``convolution``, ``matrix-product``, ``elementwise``, ..."""
    result: str
    """Type and shape of its result, for example ``f32[1,10]``."""
    macs: int
    """Multiply-accumulate operations."""
    moved_bytes: int
    """Bytes that it reads and writes."""
    weight_bytes: int
    """Bytes of its constants, without those that an earlier kernel call reads."""
    code_bytes: int | None
    """Bytes of machine code; None where no compiler has measured them."""
    arena_bytes: int
    """Bytes of the arena that are in use while it runs."""
    stack_bytes: int | None
    """Bytes of stack; None where no compiler has measured them."""
    nodes: tuple[str, ...]
    """The ONNX nodes that it computes."""
    plan: Mapping[str, Any] = field(default_factory=dict)
    """What the schedule chose: tile sizes, order of loops, ..."""


def _bytes_text(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


@dataclass(frozen=True)
class Report:
    """The result of `inspect`; a notebook shows it as a table."""

    target: str
    """The instruction set that the figures are for."""
    compiles: bool
    """Whether the model compiles; if not, `diagnostics` says why."""
    inputs: tuple[tuple[str, str], ...]
    """Name and type of each input of the model, for example ``("x", "float32[1,3,224,224]")``."""
    outputs: tuple[tuple[str, str], ...]
    """Name and type of each output of the model."""
    opsets: Mapping[str, int]
    """The operator sets that the model imports."""
    operators: Mapping[str, int]
    """How many nodes there are of each operator."""
    kernels: tuple[Kernel, ...]
    """The kernels in the order of a run."""
    macs: int
    """Multiply-accumulate operations of a run."""
    parameters: int
    """The number of elements of all weights."""
    weight_bytes: int
    """Bytes of constants."""
    arena_bytes: int
    """Bytes of scratch memory that a call uses."""
    code_bytes: int | None
    """Bytes of machine code; None where no compiler has measured them."""
    stack_bytes: int | None
    """Bytes of stack that a call uses; None where no compiler has measured them."""
    flash_bytes: int | None
    """Bytes of code and constants; None where no compiler has measured them."""
    ram_bytes: int | None
    """Bytes of arena, state and stack; None where no compiler has measured them."""
    diagnostics: tuple[Diagnostic, ...]
    """Faults and warnings."""
    raw: Mapping[str, Any] = field(repr=False)
    """All that `ingot inspect --json` printed."""

    @staticmethod
    def of(data: Mapping[str, Any]) -> Report:
        """Returns the report for the output of `ingot inspect --json`."""
        kernels = tuple(
            Kernel(
                name=group.get("kernel", ""),
                strategy=group.get("strategy", ""),
                result=group.get("result", ""),
                macs=group.get("macs", 0),
                moved_bytes=group.get("bytes", 0),
                weight_bytes=group.get("weight_bytes", 0),
                code_bytes=group.get("code_bytes"),
                arena_bytes=group.get("arena_bytes", 0),
                stack_bytes=group.get("stack_bytes"),
                nodes=tuple(group.get("nodes", ())),
                plan=group.get("plan") or {},
            )
            for group in data.get("groups", ())
        )
        return Report(
            target=data.get("target", ""),
            compiles=bool(data.get("compiles")),
            inputs=tuple((item["name"], item["type"]) for item in data.get("inputs", ())),
            outputs=tuple((item["name"], item["type"]) for item in data.get("outputs", ())),
            opsets=data.get("opsets", {}),
            operators=data.get("operators", {}),
            kernels=kernels,
            macs=data.get("macs", 0),
            parameters=data.get("parameters", 0),
            weight_bytes=data.get("weight_bytes", 0),
            arena_bytes=data.get("arena_bytes", 0),
            code_bytes=data.get("code_bytes"),
            stack_bytes=data.get("stack_bytes"),
            flash_bytes=data.get("flash_bytes"),
            ram_bytes=data.get("ram_bytes"),
            diagnostics=tuple(
                Diagnostic.of({"class": "warning" if data.get("compiles") else "unsupported", **item})
                for item in data.get("diagnostics", ())
            ),
            raw=data,
        )

    def _totals(self) -> list[tuple[str, str]]:
        known = (
            ("kernels", len(self.kernels)), ("MACs", self.macs), ("weights", self.weight_bytes), ("arena", self.arena_bytes),
            ("flash", self.flash_bytes), ("RAM", self.ram_bytes),
        )  # fmt: skip
        return [(name, f"{value:,}") for name, value in known if value is not None]

    def __str__(self) -> str:
        lines = [f"{'kernel':<36} {'result':<20} {'MACs':>13} {'weights':>11} {'arena':>11} {'code':>9}"]
        for k in self.kernels:
            lines.append(
                f"{(k.name or k.strategy)[:36]:<36} {k.result[:20]:<20} {k.macs:>13,} {k.weight_bytes:>11,} {k.arena_bytes:>11,} "
                f"{_bytes_text(k.code_bytes):>9}"
            )
        lines.append(f"{self.target}: " + ", ".join(f"{name} {value}" for name, value in self._totals()))
        lines += [str(d) for d in self.diagnostics]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str = "td") -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        head = ("kernel", "strategy", "result", "MACs", "weights", "arena", "code", "nodes")
        rows = [
            row(
                (k.name, k.strategy, k.result, f"{k.macs:,}", f"{k.weight_bytes:,}", f"{k.arena_bytes:,}", _bytes_text(k.code_bytes),
                 ", ".join(k.nodes))
            )
            for k in self.kernels
        ]  # fmt: skip
        faults = "".join(f"<pre>{html.escape(str(d))}</pre>" for d in self.diagnostics)
        totals = ", ".join(f"{name} {value}" for name, value in self._totals())
        return (
            f"<table><thead>{row(head, 'th')}</thead><tbody>{''.join(rows)}</tbody></table>"
            f"<p>{html.escape(self.target)}: {html.escape(totals)}</p>{faults}"
        )


def inspect_model(path: Path, options: Options) -> Report:
    done = _program.call(["inspect", str(path), *options.arguments()], accept=(0, 1, 3))
    if not isinstance(done.result, dict):
        raise error_of(1, done.diagnostics, done.text)
    return Report.of(done.result)


def inspect(
    model: Any,
    example_inputs: Any = None,
    *,
    target: str | Sequence[str] = "native",
    dims: Mapping[str, Dim] | None = None,
    bind: Mapping[str, Any] | None = None,
    state: Mapping[str, str] | None = None,
    stream: int | str | None = None,
    fast: str | None = None,
    strict: bool = False,
    optimize: str | None = None,
    tune_for: str | None = None,
    max_ram: int | str | None = None,
    max_flash: int | str | None = None,
) -> Report:
    """Returns what a model contains, its kernels, flash and RAM.

    The arguments are those of `compile`; any target of ``ingot targets`` may be named, also one that this machine does not
    run. A model that does not compile gives a report whose `compiles` is False and whose `diagnostics` say why.
    """
    options = Options.of(
        target=target, dims=dims, bind=bind, state=state, stream=stream, fast=fast, strict=strict, optimize=optimize, tune_for=tune_for,
        max_ram=max_ram, max_flash=max_flash,
    )  # fmt: skip
    with to_model(model, example_inputs).file() as path:
        return inspect_model(path, options)
