"""Ingot compiles neural networks in ONNX to standalone C++; this package compiles them and calls the result.

    import ingot, numpy as np

    net = ingot.compile("model.onnx")
    y = net(np.zeros((1, 3, 224, 224), np.float32))

See `compile` and `Net`; the manual has a page about this package (docs/python.md).
"""

from importlib import metadata as _metadata

from ._cache import clear as clear_cache
from ._compile import Options, compile
from ._errors import (
    CompileError,
    Diagnostic,
    IngotError,
    InputError,
    InternalError,
    InvalidModelError,
    RunError,
    ToolchainError,
    UnsupportedError,
    UsageError,
)
from ._inspect import Kernel, Report, inspect
from ._net import Net, TensorInfo
from ._quantize import Layer, Quantized, quantize
from ._session import InferenceSession, NodeArg
from ._verify import Comparison, Verification, verify

try:
    __version__ = _metadata.version("ingot-onnx")
except _metadata.PackageNotFoundError:  # used from a build folder
    __version__ = "0+source"

__all__ = [
    "CompileError",
    "Comparison",
    "Diagnostic",
    "InferenceSession",
    "IngotError",
    "InputError",
    "InternalError",
    "InvalidModelError",
    "Kernel",
    "Layer",
    "Net",
    "NodeArg",
    "Options",
    "Quantized",
    "Report",
    "RunError",
    "TensorInfo",
    "ToolchainError",
    "UnsupportedError",
    "UsageError",
    "Verification",
    "clear_cache",
    "compile",
    "inspect",
    "quantize",
    "verify",
]
