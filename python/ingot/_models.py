"""Converts everything that `compile` accepts as a model to ONNX: its bytes, with its files of weights."""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._errors import InvalidModelError, ToolchainError
from ._onnx import Signature, external_files, signature


@dataclass
class Model:
    """An ONNX model: its bytes, and its external data in files beside `path` or in `others`."""

    stem: str
    data: bytes = field(repr=False)
    path: Path | None = None
    others: dict[str, bytes] = field(default_factory=dict, repr=False)
    """The contents of files with external data, by relative names; they take precedence over files beside `path`."""

    @property
    def signature(self) -> Signature:
        return signature(self.data) or Signature((), ())

    def hash(self) -> str:
        """Returns a hash of the contents; of external data in files, only sizes and times are hashed."""
        result = hashlib.sha256(self.data)
        for name in external_files(self.data):
            result.update(name.encode("utf-8", "surrogateescape"))
            if name in self.others:
                result.update(hashlib.sha256(self.others[name]).digest())
            elif self.path:
                try:
                    status = os.stat(self.path.parent / name)
                    result.update(f"{status.st_size} {status.st_mtime_ns}".encode())
                except OSError:
                    pass  # the compiler reports the missing file
        return result.hexdigest()

    @contextmanager
    def file(self) -> Iterator[Path]:
        """A context manager that yields the path of the model's file; the path is valid inside the block."""
        if self.path and self.path.exists() and self.path.stat().st_size == len(self.data) and self.path.read_bytes() == self.data:
            yield self.path.absolute()
            return
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            root = Path(folder)
            for name, data in self.others.items():
                target = (root / name).resolve()
                if not target.is_relative_to(root.resolve()):
                    raise InvalidModelError(f"the model refers to the file {name}, which is outside of its folder")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            path = root / (self.stem + ".onnx")
            path.write_bytes(self.data)
            yield path

    def portable(self) -> Model:
        """Returns the model with all external data in memory, for another process or machine."""
        others = dict(self.others)
        for name in external_files(self.data):
            if name not in others and self.path:
                others[name] = (self.path.parent / name).read_bytes()
        return Model(self.stem, self.data, None, others)


def _need(module: str, why: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ToolchainError(f"{why} needs the package {module}, which cannot be imported ({error}): pip install {module}") from error


def _is_from(model: Any, module: str, name: str) -> bool:
    """Whether the object's class, or a base class, is `name` of the module `module`, which need not be installed."""
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == module for kind in type(model).__mro__)


def to_model(model: Any, example_inputs: Any = None) -> Model:
    """Converts the argument `model` of `compile` to a Model."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InvalidModelError(f"the model {path} cannot be read: {error.strerror}") from error
        return Model(path.stem or "model", data, path)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Model("model", bytes(model))
    if _is_from(model, "onnx", "ModelProto"):
        try:
            return Model("model", model.SerializeToString())
        except Exception as error:  # protobuf fails for models of more than 2 GB
            raise InvalidModelError(f"the model cannot be serialized ({error}); save it with external data and pass its path") from error
    if _is_from(model, "torch", "Module"):
        return _of_torch(model, example_inputs)
    if _is_from(model, "sklearn", "BaseEstimator"):
        return _of_sklearn(model, example_inputs)
    raise InvalidModelError(
        f"a model is a path, the bytes of an ONNX file, an onnx.ModelProto, a torch.nn.Module or an estimator of scikit-learn, "
        f"not {type(model).__module__}.{type(model).__name__}"
    )


def _of_torch(model: Any, example_inputs: Any) -> Model:
    torch = _need("torch", "a torch.nn.Module")
    if example_inputs is None:
        raise InvalidModelError("a torch.nn.Module needs example inputs, which PyTorch traces it with: compile(model, x)")
    if isinstance(example_inputs, Mapping):
        arguments: tuple[Any, ...] = ()
        named: dict[str, Any] | None = dict(example_inputs)
    else:
        is_several = isinstance(example_inputs, Sequence) and not hasattr(example_inputs, "shape")
        arguments, named = tuple(example_inputs) if is_several else (example_inputs,), None
    buffer = io.BytesIO()
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad(), tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            path = Path(folder) / "model.onnx"
            try:
                program = torch.onnx.export(model, arguments, kwargs=named, dynamo=True, verbose=False)
                program.save(str(path), external_data=False)
            except (ImportError, TypeError):
                # Uses the older exporter if the package onnxscript is missing or PyTorch is older than 2.5.
                torch.onnx.export(model, arguments, buffer, **({"dynamo": False} if named is None else {"kwargs": named}))
                path.write_bytes(buffer.getvalue())
            return Model(type(model).__name__, path.read_bytes())
    finally:
        model.train(was_training)


def _of_sklearn(model: Any, example_inputs: Any) -> Model:
    skl2onnx = _need("skl2onnx", "an estimator of scikit-learn")
    types = importlib.import_module("skl2onnx.common.data_types")
    features = getattr(model, "n_features_in_", None)
    if example_inputs is None and features is None:
        raise InvalidModelError(f"{type(model).__name__} is not fitted: call fit() before compile()")
    kinds: list[tuple[str, Any]] | None = None
    if example_inputs is None:
        kinds = [("X", types.FloatTensorType([None, features]))]
    options = {}
    if hasattr(model, "predict_proba"):
        # Requests the probabilities as a matrix instead of a list of dictionaries.
        options = {id(model): {"zipmap": False}}
    try:
        if kinds is not None:
            proto = skl2onnx.to_onnx(model, initial_types=kinds, options=options)
        else:
            proto = skl2onnx.to_onnx(model, X=example_inputs, options=options)
    except Exception as error:  # the converter raises exceptions of many classes
        raise InvalidModelError(f"skl2onnx cannot convert {type(model).__name__}: {error}") from error
    return Model(type(model).__name__, proto.SerializeToString())
