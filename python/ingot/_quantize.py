"""`quantize`: converts a float model to a quantized ONNX model with 8-bit or 4-bit integers."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _cache, _program
from ._compile import Dim, Options
from ._errors import InputError, UsageError
from ._models import Model, to_model


@dataclass(frozen=True)
class Layer:
    """A layer of a quantized model."""

    node: str
    """The name of its ONNX node."""
    operator: str
    """Its operator."""
    precision: str
    """Type of activations x type of weights; ``float32`` where it is not quantized."""
    bytes: int
    """Size of its weights."""
    bytes_before: int
    """Size of its weights in float32."""
    decibels: float | None
    """Signal-to-noise ratio of the outputs, counting only the noise that this layer adds when all others are quantized; None if unknown."""
    decibels_so_far: float | None
    """Signal-to-noise ratio if this layer and all before it are quantized."""


@dataclass(frozen=True)
class Quantized:
    """A quantized model, with the report of the quantization."""

    model: bytes = field(repr=False)
    """The model, as the bytes of an ONNX file."""
    stem: str
    """The name of the file that it was made from."""
    bytes: int
    """Size of the weights."""
    bytes_before: int
    """Size of the weights in float32."""
    samples: int
    """Samples that the ranges of activations were measured on."""
    decibels: float | None
    """Signal-to-noise ratio of the outputs."""
    layers: tuple[Layer, ...]
    """The layers in the order of the model."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the model to an ONNX file; returns its path."""
        target = Path(path)
        target.write_bytes(self.model)
        return target

    def proto(self) -> Any:
        """Returns the model as an ``onnx.ModelProto``; needs the package onnx."""
        import onnx

        return onnx.load_model_from_string(self.model)

    def to_model(self) -> Model:
        """Returns the model in the form that `compile` uses internally."""
        return Model(self.stem, self.model)


def _write_samples(calibrate: Any, folder: Path) -> str:
    """Returns the value of the option --calibrate: the given path, or that of a file with the given arrays."""
    if isinstance(calibrate, (str, os.PathLike)):
        return str(calibrate) if calibrate == "none" else os.path.abspath(calibrate)
    if isinstance(calibrate, Mapping):
        # numpy.savez takes the names as keyword arguments, and has arguments of its own, such as `file`.
        with zipfile.ZipFile(folder / "samples.npz", "w") as archive:
            for name, value in calibrate.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, np.asarray(value), allow_pickle=False)
        return str(folder / "samples.npz")
    array = np.asarray(calibrate)
    if array.dtype.kind not in "biuf":
        raise InputError(f"`calibrate` is an array, a dictionary of arrays or a path, not {type(calibrate).__name__}")
    np.save(folder / "samples.npy", array, allow_pickle=False)
    return str(folder / "samples.npy")


def _contents(path: str) -> bytes:
    """Returns the contents of a file or folder of samples, to be hashed; the path itself if it does not exist."""
    if os.path.isdir(path):
        files = sorted(os.path.join(root, name) for root, _, names in os.walk(path) for name in names)
        return b"".join(name.encode() + Path(name).read_bytes() for name in files)
    return Path(path).read_bytes() if os.path.exists(path) else path.encode()


def quantize(
    model: Any,
    example_inputs: Any = None,
    *,
    kind: str = "int8",
    calibrate: Any = None,
    max_loss: str | None = None,
    labels: Any = None,
    weight_bits: int | None = None,
    dims: Mapping[str, Dim] | None = None,
    bind: Mapping[str, Any] | None = None,
) -> Quantized:
    """Quantizes a float model; the result is ONNX, with QuantizeLinear and DequantizeLinear.

    Parameters
    ----------
    model, example_inputs, dims, bind
        As in `compile`.
    kind
        ``"int8"`` (weights and activations), ``"int8-weights"`` or ``"int4-weights"``.
    calibrate
        Samples: an array for a model with one input, or a dictionary with an array for each input, samples along axis 0; or
        the path of an .npz, .npy or a folder; or ``"none"``, which quantizes only weights.
    max_loss
        The loss that is allowed: a signal-to-noise ratio (``"35dB"``), or a share of samples with another class (``"1%"``).
    labels
        The class of each sample, integers. A `max_loss` in percent then limits the loss of accuracy.
    weight_bits
        The bits of weights that are multiplied with 8-bit activations: 8 (the default), 7 or 6.
    """
    options = Options.of(dims=dims, bind=bind)
    if calibrate is None and kind == "int8":
        raise UsageError('`calibrate` is missing: samples of the inputs, or "none" to quantize only weights')
    source = to_model(model, example_inputs)
    with tempfile.TemporaryDirectory(prefix="ingot-") as scratch, source.file() as path:
        folder = Path(scratch)
        arguments = ["--quantize", kind, *options.arguments()[2:]]
        if max_loss is not None:
            arguments += ["--max-loss", str(max_loss)]
        if weight_bits is not None:
            arguments += ["--weight-bits", str(weight_bits)]
        parts: list[str | bytes] = ["quantize", _program.identity(), source.stem, source.hash(), *arguments]
        if calibrate is not None:
            samples = _write_samples(calibrate, folder)
            parts.append(_contents(samples))
            arguments += ["--calibrate", samples]
        if labels is not None:
            array = np.asarray(labels)
            if array.dtype.kind not in "iu":
                raise InputError(f"`labels` are integers, not {array.dtype}")
            np.save(folder / "labels.npy", array, allow_pickle=False)
            parts.append(_contents(str(folder / "labels.npy")))
            arguments += ["--labels", str(folder / "labels.npy")]

        def build(place: Path) -> None:
            done = _program.call(["quantize", str(path), "-o", str(place / "model.onnx"), *arguments])
            (place / "result.json").write_text(json.dumps(done.result))

        entry = _cache.entry(_cache.key_of(*parts), build)
        data = json.loads((entry / "result.json").read_text())
        layers = tuple(
            Layer(
                node=item.get("node", ""),
                operator=item.get("operator", ""),
                precision=item.get("precision", ""),
                bytes=item.get("bytes", 0),
                bytes_before=item.get("bytes_before", 0),
                decibels=item.get("decibels"),
                decibels_so_far=item.get("decibels_so_far"),
            )
            for item in data.get("layers", ())
        )
        return Quantized(
            model=(entry / "model.onnx").read_bytes(),
            stem=source.stem,
            bytes=data.get("bytes", 0),
            bytes_before=data.get("bytes_before", 0),
            samples=data.get("samples", 0),
            decibels=data.get("decibels"),
            layers=layers,
        )
