"""`compile`: from a model to a network in this process."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from . import _cache, _program, _toolchain
from ._dtypes import is_small_type
from ._errors import ToolchainError, UsageError
from ._models import Model, to_model
from ._net import Net
from ._onnx import Signature

Dim = int | str | tuple[int, int] | range
Pairs = tuple[tuple[str, str], ...]


def _pairs(value: Mapping[str, Any] | None, what: str, text: Any) -> Pairs:
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise UsageError(f"`{what}` is a dictionary, not {type(value).__name__}")
    return tuple((str(key), text(key, item)) for key, item in value.items())


def _dim_text(name: str, size: Any) -> str:
    if isinstance(size, range):
        if len(size) == 0 or size.step != 1:
            raise UsageError(f"dims[{name!r}] is {size}: it must go up by one, as range(1, 65) does")
        return f"{size.start}..{size.stop - 1}"
    if isinstance(size, (tuple, list)) and len(size) == 2:
        return f"{int(size[0])}..{int(size[1])}"
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        return str(int(size))
    if isinstance(size, str):
        return size
    raise UsageError(f"dims[{name!r}] is {size!r}: it must be a size or a pair of bounds, for example 8 or (1, 64)")


def _values_text(name: str, value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind == "V" and is_small_type(array.dtype):
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf":
        raise UsageError(f"bind[{name!r}] must be numbers, not {array.dtype}")
    return ",".join(repr(x) if not isinstance(x, bool) else str(int(x)) for x in array.reshape(-1).tolist())


@dataclass(frozen=True)
class Options:
    """The arguments of `compile` as text: everything besides the model that determines a network."""

    target: str = "native"
    """Names of instruction sets, separated by commas."""
    dims: Pairs = ()
    """Pairs of dimension and size, ``"8"`` or ``"1..64"``."""
    bind: Pairs = ()
    """Pairs of input and values, ``"1,2,3"``."""
    state: Pairs = ()
    """Pairs of input and output."""
    stream: str = ""
    """``"[INPUT:]AXIS[=COLUMNS]"``, or empty."""
    fast: str = ""
    """``"bf16"``, ``"f16"`` or empty."""
    strict: bool = False
    """Whether the order of floating-point operations is kept."""
    optimize: str = ""
    """``"size"`` or empty."""
    tune_for: str = ""
    """The name of a processor, or empty."""
    max_ram: str = ""
    """Bytes, ``"64K"``, or empty."""
    max_flash: str = ""
    """Bytes, ``"1M"``, or empty."""
    threads: int = 1
    """Threads of a call."""

    @staticmethod
    def of(
        target: str | Sequence[str] = "native",
        dims: Mapping[str, Any] | None = None,
        bind: Mapping[str, Any] | None = None,
        state: Mapping[str, str] | None = None,
        stream: int | str | None = None,
        fast: str | None = None,
        strict: bool = False,
        optimize: str | None = None,
        tune_for: str | None = None,
        max_ram: int | str | None = None,
        max_flash: int | str | None = None,
        threads: int = 1,
    ) -> Options:
        """Returns the options for arguments of `compile`."""
        if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
            raise UsageError(f"`threads` is {threads!r}: it must be a number from 1 to 1024, or 0 for all of this machine")
        return Options(
            target=target if isinstance(target, str) else ",".join(target),
            dims=_pairs(dims, "dims", _dim_text),
            bind=_pairs(bind, "bind", _values_text),
            state=_pairs(state, "state", lambda _, output: str(output)),
            stream="" if stream is None else str(stream),
            fast=fast or "",
            strict=bool(strict),
            optimize=optimize or "",
            tune_for=tune_for or "",
            max_ram=str(max_ram or ""),
            max_flash=str(max_flash or ""),
            threads=threads or os.cpu_count() or 1,
        )

    def changed(self) -> dict[str, Any]:
        """Returns the options that are not the defaults."""
        result: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if value != f.default:
                result[f.name] = dict(value) if isinstance(value, tuple) else value
        return result

    def arguments(self) -> list[str]:
        """Returns the command-line options of the program."""
        result = ["--target", self.target]
        for option, pairs in (("--dim", self.dims), ("--bind", self.bind), ("--state", self.state)):
            for name, value in pairs:
                result += [option, f"{name}={value}"]
        for option, value in (
            ("--stream", self.stream),
            ("--fast", self.fast),
            ("--optimize", self.optimize),
            ("--tune-for", self.tune_for),
            ("--max-ram", self.max_ram),
            ("--max-flash", self.max_flash),
        ):
            if value:
                result += [option, value]
        return result + (["--strict"] if self.strict else [])


@functools.lru_cache(maxsize=1)
def _processor() -> str:
    """Returns the facts about this processor on which the target `native` depends; empty if the system does not tell them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return "\n".join(sorted({line for line in lines if re.match(r"(flags|Features|model name|CPU part)\b", line)}))


@dataclass(frozen=True)
class Entry:
    """A compiled network in the cache."""

    folder: Path
    model: Model
    target: str
    header: str
    name: str = "net"

    @property
    def library(self) -> Path:
        return self.folder / "net.so"

    @property
    def source_path(self) -> Path:
        return self.folder / "net.cpp"

    @property
    def signature(self) -> Signature:
        return self.model.signature

    def names(self, given: Iterable[str], states: Collection[str]) -> list[str]:
        """Returns the names in `given` that are not names of `states`; `*` in a name of `states` stands for any text."""
        patterns = [re.compile(".*".join(map(re.escape, state.split("*")))) for state in states]
        return [name for name in given if not any(p.fullmatch(name) for p in patterns)]

    @contextmanager
    def model_file(self) -> Iterator[Path]:
        with self.model.file() as path:
            yield path

    def portable(self) -> Model:
        return self.model.portable()


def _compiler(target: str) -> list[str]:
    """Returns the command of the compiler for a target; for `native`, that of a target that this machine runs."""
    name = target.split(",")[0]
    known = {t["name"]: t for t in _program.targets()}
    chosen = known.get(name)
    if chosen is None or name == "native":
        import platform

        arm = platform.machine() in ("aarch64", "arm64")
        chosen = known.get("armv8-a" if arm else "x86-64-v2") or known["generic"]
    return _toolchain.find_compiler(chosen["compilers"])


def _build(model: Model, options: Options, compiler: list[str], place: Path) -> None:
    with model.file() as path:
        done = _program.call([str(path), "-o", str(place / "net.cpp"), *options.arguments()])
    objects = [place / name for name in ("net.weights.o",) if (place / name).exists()]
    _toolchain.build_library(compiler, [place / "net.cpp", *objects], place / "net.so")
    for file in objects:
        file.unlink()
    (place / "result.json").write_text(json.dumps(done.result))


def _load(model: Model, options: Options) -> Net:
    targets = options.target.split(",")
    # Code for several targets selects one when it runs, and reports an error if this machine supports none of them.
    if len(targets) == 1 and targets[0] in _program.foreign_targets():
        raise UsageError(
            f"this machine does not run code for {targets[0]}; `ingot.inspect` and `ingot MODEL -o FILE` compile for other machines"
        )
    compiler = _compiler(options.target)
    parts = [_program.identity(), _toolchain.identity(compiler), model.stem, model.hash(), *options.arguments()]
    if options.target == "native":
        parts.append(_processor())
    folder = _cache.entry(_cache.key_of(*parts), lambda place: _build(model, options, compiler, place))
    target = json.loads((folder / "result.json").read_text())["target"]
    return Net(Entry(folder, model, target, (folder / "net.h").read_text()), options)


def rebuild(model: Model, options: Options) -> Net:
    """Recreates a network from a pickle: taken from the cache, or compiled for this machine."""
    return _load(model, options)


def compile(
    model: Any,
    example_inputs: Any = None,
    *,
    target: str | Sequence[str] = "native",
    dims: Mapping[str, Dim] | None = None,
    bind: Mapping[str, Any] | None = None,
    state: Mapping[str, str] | None = None,
    stream: int | str | None = None,
    quantize: str | None = None,
    calibrate: Any = None,
    max_loss: str | None = None,
    labels: Any = None,
    weight_bits: int | None = None,
    fast: str | None = None,
    strict: bool = False,
    optimize: str | None = None,
    tune_for: str | None = None,
    max_ram: int | str | None = None,
    max_flash: int | str | None = None,
    threads: int = 1,
) -> Net:
    """Compiles a model and loads it; returns the network, which is called like a function.

    The result is kept in a cache (``INGOT_CACHE``, else ``~/.cache/ingot``) by the hash of the model, the options and the
    compilers, so that the second call for the same model takes milliseconds.

    Parameters
    ----------
    model
        The path of an ONNX file, its bytes, an ``onnx.ModelProto``, a ``torch.nn.Module`` (with `example_inputs`), or a
        fitted estimator of scikit-learn (through the package skl2onnx).
    example_inputs
        For PyTorch: a tensor, a tuple or a dictionary of tensors, which the module is traced with. For scikit-learn: rows of
        data, whose type the network then takes; without it the network takes float32.
    target
        Instruction sets to compile for. If several of one family are named (``"x86-64-v2,x86-64-v3,x86-64-v4"``), the code
        selects one when it runs.
    dims
        Sizes of open dimensions: a number, or bounds ``(least, most)``.
    bind
        Values of inputs that determine shapes.
    state
        ``{input: output}``: the network keeps `output` of each call, and reads it as `input` in the next call.
    stream
        The axis of the input, as ``1`` or ``"features:1"``, along which a call takes only the new columns of the window
        that the model sees; ``"1=4"`` takes four at a time. The network keeps what it needs of the others, and each call
        gives the result of the model for the last columns.
    quantize
        ``"int8"``, ``"int8-weights"`` or ``"int4-weights"``; with `calibrate`, `max_loss`, `labels` and
        `weight_bits` as in `quantize`.
    fast
        ``"bf16"`` or ``"f16"``: products of reduced precision where the target has them.
    strict
        Keep the order of floating-point operations.
    optimize, tune_for, max_ram, max_flash
        As the options of the command line.
    threads
        Threads that a call uses; 0: as many as this machine has processors.

    Raises
    ------
    InvalidModelError, UnsupportedError, UsageError
        The model cannot be compiled; `diagnostics` says which node and why.
    ToolchainError
        There is no C++ compiler, or a package is missing.
    """
    options = Options.of(
        target=target, dims=dims, bind=bind, state=state, stream=stream, fast=fast, strict=strict, optimize=optimize, tune_for=tune_for,
        max_ram=max_ram, max_flash=max_flash, threads=threads,
    )  # fmt: skip
    source = to_model(model, example_inputs)
    if quantize:
        from ._quantize import quantize as quantize_model

        source = quantize_model(
            source, kind=quantize, calibrate=calibrate, max_loss=max_loss, labels=labels, weight_bits=weight_bits,
            dims=dims, bind=bind,
        ).to_model()  # fmt: skip
    elif any(value is not None for value in (calibrate, labels, max_loss, weight_bits)):
        raise UsageError('`calibrate`, `max_loss`, `labels` and `weight_bits` are for quantization: add quantize="int8"')
    return _load(source, options)


def write_sources(model: Path, output: Path, options: Options) -> list[Path]:
    """Writes C++ and header; returns the names of the files."""
    done = _program.call([str(model), "-o", str(output), "--force", *options.arguments()])
    result = done.result
    if not isinstance(result, dict):
        raise ToolchainError("the ingot program printed no result")
    return [Path(name) for name in result["files"]]
