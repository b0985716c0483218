"""Runs a model with ONNX Runtime, or with the reference evaluator of the package onnx.

`ingot verify` contains the text of this file and runs it as a program, in a Python that need not have the package ingot:

    python _reference.py MODEL FOLDER ENGINE...

FOLDER contains the inputs input_0.pb, input_1.pb, ..., each a TensorProto with its name; and extra.txt, a list of tensors
inside of the model that are returned too, one name per line. The program writes the outputs of the model and these tensors
to output_0.pb, output_1.pb, ...; it writes no file for a value that is neither a tensor nor a sequence. If the file move.txt
exists, the engine `onnxruntime` also writes moved_0.pb, moved_1.pb, ...: the same values for float inputs that are changed
by the relative amount in move.txt. reference.txt names the engine that was used; if none can be used, reasons.txt says why.

    python _reference.py --time MODEL FOLDER THREADS

times ONNX Runtime. The first line that the program writes to FOLDER/answer names the engine or, after `error: `, the reason
why it cannot be used. Then, for each line with a number of seconds in FOLDER/ask, it runs the model for that long, and
writes a line with the milliseconds of each run to FOLDER/answer.

The package onnx is not needed with ONNX Runtime: this file reads and writes tensors itself.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

ENGINES = ("onnxruntime", "onnx")
"""The engines, the preferred one first."""

# TensorProto.DataType of the types that NumPy has.
_TYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
}  # fmt: skip
# Types that the package ml_dtypes adds.
_MORE_TYPES = {16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz"}
_STRING = 8


def _varint(value: int) -> bytes:
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yields the fields of a protobuf message."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            size = number() if size is None else size
            yield key >> 3, data[at : at + size]
            at += size


def read_tensor(data: bytes) -> tuple[str, np.ndarray[Any, Any]]:
    """Returns name and value of a TensorProto that `ingot` has written."""
    dims, kind, raw, name, strings = [], 0, b"", "", []
    for number, value in _fields(data):
        if number == 1 and isinstance(value, int):
            dims.append(value)
        elif number == 1:  # packed
            dims += [size for _, size in _fields(b"".join(b"\x08" + part for part in _varints(value)))]
        elif number == 2:
            kind = value
        elif number == 6:
            strings.append(value.decode())
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
    if kind == _STRING:
        return name, np.array(strings, dtype=object).reshape(dims)
    if kind in _TYPES:
        return name, np.frombuffer(raw, _TYPES[kind]).reshape(dims)
    if kind in _MORE_TYPES:
        return name, np.frombuffer(raw, getattr(importlib.import_module("ml_dtypes"), _MORE_TYPES[kind])).reshape(dims)
    onnx = importlib.import_module("onnx")
    return name, onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def _varints(data: bytes) -> Iterator[bytes]:
    start = 0
    for at, byte in enumerate(data):
        if byte < 128:
            yield data[start : at + 1]
            start = at + 1


def write_value(value: Any) -> bytes | None:
    """Returns a tensor as TensorProto, a list of tensors as SequenceProto; None if the value is neither."""
    if isinstance(value, (list, tuple)):
        onnx = importlib.import_module("onnx")
        sequence: bytes = onnx.numpy_helper.from_list([np.asarray(v) for v in value]).SerializeToString()
        return sequence
    if not isinstance(value, (np.ndarray, np.generic)):
        return None
    array = np.asarray(value)
    dims = b"".join(_field(1, size) for size in array.shape)
    if array.dtype.kind in "OUS":
        texts = [v if isinstance(v, bytes) else str(v).encode() for v in array.reshape(-1)]
        return dims + _field(2, _STRING) + b"".join(_field(6, text) for text in texts)
    for kind, name in (_TYPES | _MORE_TYPES).items():
        if array.dtype.name == name:
            return dims + _field(2, kind) + _field(9, np.ascontiguousarray(array).tobytes())
    onnx = importlib.import_module("onnx")
    tensor: bytes = onnx.numpy_helper.from_array(array).SerializeToString()
    return tensor


def with_outputs(model: bytes, names: Sequence[str]) -> bytes:
    """Returns a serialized model that also returns the tensors `names`: a protobuf parser merges concatenated messages."""
    return model + _field(7, b"".join(_field(12, _field(1, name.encode())) for name in names)) if names else model


class Engine:
    """A model ready to run."""

    run: Callable[[Mapping[str, Any]], list[Any]]

    def __init__(self, name: str, model: bytes, folder: str, threads: int = 0) -> None:
        """`folder` contains the external data of the model. Raises ImportError if the package is not installed.

        If `threads` is not 0, the engine `onnxruntime` optimizes the model and runs it on this number of threads.
        """
        self.name = name
        package = importlib.import_module(name)
        self.version = f"{'onnx.reference' if name == 'onnx' else name} {package.__version__}"
        if name == "onnxruntime":
            options = package.SessionOptions()
            options.log_severity_level = 4
            # Unless runs are timed, disables optimizations: the results are then those of the operators one by one.
            if threads:
                options.intra_op_num_threads = threads
            else:
                options.graph_optimization_level = package.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
            session = package.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self.run = lambda feeds: list(session.run(None, dict(feeds)))
            return
        proto = package.load_model_from_string(model)
        package.load_external_data_for_model(proto, folder)
        evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator(proto)
        self.run = lambda feeds: list(evaluator.run(None, dict(feeds)))


def first_engine(model: bytes, folder: str = ".", names: Sequence[str] = ENGINES) -> Engine:
    """Returns the first engine that is installed and takes the model; raises ImportError if there is none."""
    reasons = []
    for name in names:
        try:
            return Engine(name, model, folder)
        except Exception as error:  # noqa: BLE001 (each package has its own exceptions)
            reasons.append(f"{name}: {error}")
    raise ImportError("; ".join(reasons))


def _moved(feeds: Mapping[str, Any], amount: float) -> dict[str, Any]:
    random = np.random.default_rng(0)

    def move(value: Any) -> Any:
        if value.dtype.kind != "f":
            return value
        return (value * (1 + amount * random.choice([-1.0, 1.0], value.shape))).astype(value.dtype)

    return {name: move(value) for name, value in feeds.items()}


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _feeds(folder: str) -> dict[str, Any]:
    feeds: dict[str, Any] = {}
    while os.path.exists(path := os.path.join(folder, f"input_{len(feeds)}.pb")):
        name, value = read_tensor(_read(path))
        feeds[name] = value
    return feeds


def _time(model_path: str, folder: str, threads: str) -> int:
    with open(os.path.join(folder, "ask")) as ask, open(os.path.join(folder, "answer"), "w") as answer:
        try:
            engine = Engine("onnxruntime", _read(model_path), os.path.dirname(os.path.abspath(model_path)), int(threads))
            feeds = _feeds(folder)
            for _ in range(2):
                engine.run(feeds)
        except Exception as error:  # noqa: BLE001 (ONNX Runtime has its own exceptions)
            print("error:", " ".join(str(error).split()), file=answer)
            return 1
        print(engine.version, file=answer, flush=True)
        for line in ask:
            times: list[float] = []
            start = time.perf_counter()
            while not times or time.perf_counter() - start < float(line):
                begin = time.perf_counter()
                engine.run(feeds)
                times.append((time.perf_counter() - begin) * 1e3)
            print(*times, file=answer, flush=True)
    return 0


def main(arguments: Sequence[str]) -> int:
    if arguments[0] == "--time":
        return _time(*arguments[1:])
    model_path, folder, *engines = arguments

    def path(name: str) -> str:
        return os.path.join(folder, name)

    def write(kind: str, values: Sequence[Any]) -> None:
        for i, value in enumerate(values):
            data = write_value(value)
            if data is not None:
                with open(path(f"{kind}_{i}.pb"), "wb") as file:
                    file.write(data)

    feeds = _feeds(folder)
    extra = _read(path("extra.txt")).decode().split("\n")[:-1]
    model = with_outputs(_read(model_path), extra)
    reasons = []
    for name in engines:
        try:
            engine = Engine(name, model, os.path.dirname(os.path.abspath(model_path)))
            with np.errstate(all="ignore"):
                write("output", engine.run(feeds))
                if name == "onnxruntime" and os.path.exists(path("move.txt")):
                    write("moved", engine.run(_moved(feeds, float(_read(path("move.txt"))))))
        except Exception as error:  # noqa: BLE001 (each package has its own exceptions)
            reasons.append(f"{name}: {str(error) or type(error).__name__}")
            continue
        with open(path("reference.txt"), "w") as file:
            file.write(engine.version)
        return 0
    with open(path("reasons.txt"), "w") as file:
        file.write("\n".join(reasons))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
