"""`verify`: compares the outputs of a network with expected ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._dtypes import array_type
from ._errors import InputError, ToolchainError
from ._net import Net
from ._reference import first_engine


@dataclass(frozen=True)
class Comparison:
    """An output compared with its expected value."""

    name: str
    """The output."""
    same: bool
    """Whether type and shape are equal and all numbers are within the tolerance."""
    wrong: int
    """How many numbers are out of tolerance; -1 if type or shape differ."""
    max_error: float
    """The largest absolute error of a finite number; NaN if type or shape differ."""


@dataclass(frozen=True)
class Verification:
    """What `verify` found; true in a condition if all outputs are as expected."""

    outputs: tuple[Comparison, ...]
    """The outputs in the order of the model."""
    reference: str
    """Where the expected values are from: ``given``, ``onnxruntime`` or ``onnx.reference``."""

    def __bool__(self) -> bool:
        return all(output.same for output in self.outputs)


def _wide(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(array) if array.dtype.kind in "fbiuc" else np.asarray(array).astype(np.float64)


def compare(name: str, got: Any, want: Any, rtol: float, atol: float) -> Comparison:
    """Compares values: arrays, lists of arrays, or None."""
    if want is None or got is None:
        same = want is None and got is None
        return Comparison(name, same, 0 if same else -1, 0.0)
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            return Comparison(name, False, -1, float("nan"))
        parts = [compare(name, g, w, rtol, atol) for g, w in zip(got, want)]
        wrong = -1 if any(p.wrong < 0 for p in parts) else sum(p.wrong for p in parts)
        return Comparison(name, wrong == 0, wrong, max((p.max_error for p in parts), default=0.0))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype and not {got.dtype.kind, want.dtype.kind} <= set("OUST"):
        return Comparison(name, False, -1, float("nan"))
    if got.dtype.kind in "OUST":
        wrong = int(np.count_nonzero(got.astype(str) != want.astype(str)))
        return Comparison(name, wrong == 0, wrong, float(wrong > 0))
    a, b = _wide(got), _wide(want)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(a.astype(np.float64) - b.astype(np.float64)) if a.dtype.kind != "c" else np.abs(a - b)
    close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    finite = error[np.isfinite(error)]
    wrong = int(np.count_nonzero(~close))
    return Comparison(name, wrong == 0, wrong, float(finite.max()) if finite.size else 0.0)


def _reference(model: bytes, feeds: dict[str, Any]) -> tuple[list[Any], str]:
    try:
        engine = first_engine(model)
    except ImportError as error:
        raise ToolchainError(f"verify needs expected outputs, or the package onnxruntime or onnx to compute them ({error})") from error
    return engine.run(feeds), engine.version.split()[0]


def verify(
    net: Net,
    inputs: Mapping[str, Any] | Sequence[Any] | None = None,
    expected: Any = None,
    *,
    rtol: float = 1e-3,
    atol: float = 1e-5,
    seed: int = 0,
) -> Verification:
    """Runs a network and compares its outputs.

    Parameters
    ----------
    inputs
        A dictionary by name, or the inputs in their order; without it random numbers between 0 and 1 at the smallest sizes.
    expected
        The outputs: an array, or a list of them. Without it ONNX Runtime computes them, or the reference of the package onnx.
    rtol, atol
        A number is right if it is off by at most ``atol + rtol * abs(expected)``. If the largest expected magnitude exceeds 1,
        `atol` is multiplied by it.
    seed
        The seed of the random inputs.
    """
    if inputs is None:
        inputs = _random_inputs(net, seed)
    if isinstance(inputs, Mapping):
        feeds = dict(inputs)
    else:
        given = list(inputs)
        if len(given) != len(net.inputs):
            raise InputError(f"the network takes {len(net.inputs)} inputs, not {len(given)}")
        feeds = {info.name: value for info, value in zip(net.inputs, given)}
    got = net(**feeds)
    results = [got] if len(net.outputs) == 1 else list(got)
    reference = "given"
    if expected is None:
        expected, reference = _reference(net._entry.model.data, {k: np.asarray(v) for k, v in feeds.items()})
    elif not isinstance(expected, (list, tuple)):
        expected = [expected]
    if len(expected) != len(results):
        raise InputError(f"the network has {len(results)} outputs, `expected` has {len(expected)}")
    comparisons = []
    for info, g, w in zip(net.outputs, results, expected):
        scale = 1.0
        if isinstance(w, np.ndarray) and w.dtype.kind == "f" and w.size:
            finite = np.abs(w[np.isfinite(w)])
            scale = max(1.0, float(finite.max())) if finite.size else 1.0
        comparisons.append(compare(info.name, g, w, rtol, atol * scale))
    return Verification(tuple(comparisons), reference)


def _random_inputs(net: Net, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    least = {name: max(bounds[0], 1) for name, bounds in net.sizes.items()}
    feeds = {}
    for info in net.inputs:
        if info.kind != "tensor" or info.dtype == "string":
            raise InputError(f"pass `inputs`: there are no random numbers for `{info}`")
        shape = [size if isinstance(size, int) else least.get(size) for size in info.shape]
        if None in shape:
            raise InputError(f"pass `inputs`: the shape of `{info}` is not a size or a number")
        known = [size for size in shape if size is not None]
        dtype = array_type(info.dtype)
        floats = dtype.kind in "fV"
        feeds[info.name] = (random.random(known) if floats else random.integers(0, 2, known)).astype(dtype)
    return feeds
