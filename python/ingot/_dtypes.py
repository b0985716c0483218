"""Element types: the names in the generated header and the corresponding NumPy types."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

# For each element type: the NumPy type that stores it, and the name of its type in the package ml_dtypes if NumPy has
# none.
_STORED: dict[str, tuple[str, str | None]] = {
    "float32": ("float32", None),
    "float64": ("float64", None),
    "float16": ("float16", None),
    "int8": ("int8", None),
    "int16": ("int16", None),
    "int32": ("int32", None),
    "int64": ("int64", None),
    "uint8": ("uint8", None),
    "uint16": ("uint16", None),
    "uint32": ("uint32", None),
    "uint64": ("uint64", None),
    "bool": ("bool", None),
    "complex64": ("complex64", None),
    "complex128": ("complex128", None),
    "bfloat16": ("uint16", "bfloat16"),
    "float8e4m3fn": ("uint8", "float8_e4m3fn"),
    "float8e4m3fnuz": ("uint8", "float8_e4m3fnuz"),
    "float8e5m2": ("uint8", "float8_e5m2"),
    "float8e5m2fnuz": ("uint8", "float8_e5m2fnuz"),
    "float8e8m0": ("uint8", "float8_e8m0fnu"),
    "float8e8m0fnu": ("uint8", "float8_e8m0fnu"),
    "float4e2m1": ("uint8", "float4_e2m1fn"),
    "float4e2m1fn": ("uint8", "float4_e2m1fn"),
    "int4": ("int8", "int4"),
    "uint4": ("uint8", "uint4"),
    "int2": ("int8", "int2"),
    "uint2": ("uint8", "uint2"),
}
_NARROW = {"int4", "uint4", "int2", "uint2"}


@functools.lru_cache(maxsize=None)
def stored_type(name: str) -> np.dtype[Any]:
    """Returns the type of the array that holds the elements or, if NumPy has no such type, their bits."""
    return np.dtype("uint8" if name not in _STORED else _STORED[name][0])


@functools.lru_cache(maxsize=None)
def array_type(name: str) -> np.dtype[Any]:
    """Returns the type of arrays of these elements; if NumPy has none, that of ml_dtypes or, without the package, of the bits."""
    if name == "string":
        return np.dtype(object)
    special = _STORED[name][1] if name in _STORED else None
    if special:
        try:
            types: Any = importlib.import_module("ml_dtypes")
        except ImportError:
            return stored_type(name)
        if hasattr(types, special):
            found: np.dtype[Any] = np.dtype(getattr(types, special))
            return found
    return stored_type(name)


def is_small_type(dtype: np.dtype[Any]) -> bool:
    """Whether `dtype` is one of the ml_dtypes types that networks use."""
    return any(special == dtype.name for _, special in _STORED.values())


def to_stored(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Converts an array of the type `array_type(name)` to the stored type: the elements, or their bits."""
    stored = stored_type(name)
    if array.dtype == stored:
        return array
    if name in _NARROW:
        return array.astype(stored)
    # ascontiguousarray gives an array without axes one axis, which reshape removes.
    return np.ascontiguousarray(array).view(stored).reshape(array.shape)


def from_stored(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Converts an array of the stored type (elements, or their bits) to `array_type(name)`."""
    wanted = array_type(name)
    if array.dtype == wanted:
        return array
    result: np.ndarray[Any, Any] = array.astype(wanted) if name in _NARROW else array.view(wanted)
    return result
