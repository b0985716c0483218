"""Reads the few facts of an ONNX file that this package needs, without the package onnx.

An ONNX file is a protobuf message: a sequence of (field number, wire type, value). The field numbers below are those of
onnx.proto. The `ingot` program itself reads everything that is needed to compile a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MODEL_GRAPH = 7
_GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_SPARSE = 5, 11, 12, 15
_TENSOR_NAME = 8
_VALUE_NAME, _VALUE_TYPE = 1, 2
_TYPE_OPTIONAL = 9


@dataclass(frozen=True)
class Signature:
    """The names of a model's inputs (without those that have a default value) and outputs."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    optional: tuple[str, ...] = ()
    """The inputs that are optional values."""


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yields the fields of a message that are messages or strings: field number and bytes."""
    at, end = 0, len(data)

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < end:
        tag = varint()
        wire = tag & 7
        if wire == 0:
            varint()
        elif wire == 1:
            at += 8
        elif wire == 5:
            at += 4
        elif wire == 2:
            length = varint()
            if length > end - at:
                raise ValueError("not a protobuf message")
            yield tag >> 3, data[at : at + length]
            at += length
        else:
            raise ValueError("not a protobuf message")


def _first(data: memoryview, number: int) -> str:
    for field, value in _fields(data):
        if field == number:
            return bytes(value).decode("utf-8", "replace")
    return ""


def signature(model: bytes) -> Signature | None:
    """Returns the names in a model; None if the bytes are not a model (the compiler reports the reason)."""
    try:
        inputs: list[str] = []
        outputs: list[str] = []
        optional: list[str] = []
        given: set[str] = set()
        graph = next((value for field, value in _fields(memoryview(model)) if field == _MODEL_GRAPH), memoryview(b""))
        for field, value in _fields(graph):
            if field == _GRAPH_INPUT:
                inputs.append(_first(value, _VALUE_NAME))
                if any(kind == _TYPE_OPTIONAL for number, part in _fields(value) if number == _VALUE_TYPE for kind, _ in _fields(part)):
                    optional.append(inputs[-1])
            elif field == _GRAPH_OUTPUT:
                outputs.append(_first(value, _VALUE_NAME))
            elif field == _GRAPH_INITIALIZER:
                given.add(_first(value, _TENSOR_NAME))
            elif field == _GRAPH_SPARSE:
                given.add(next((_first(part, _TENSOR_NAME) for number, part in _fields(value) if number == 1), ""))
    except (IndexError, ValueError):
        return None
    return Signature(tuple(name for name in inputs if name not in given), tuple(outputs), tuple(optional))


def external_files(model: bytes) -> list[str]:
    """Returns the names of the files with external data that a model refers to, relative to its folder."""
    names: set[str] = set()
    # A StringStringEntryProto: key = "location", value = the name.
    for match in re.finditer(rb"\n\x08location\x12", model):
        length = shift = 0
        at = match.end()
        while at < len(model):
            byte = model[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        names.add(model[at : at + length].decode("utf-8", "replace"))
    return sorted(names)
