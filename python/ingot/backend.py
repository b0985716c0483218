"""The interface that the ONNX project defines for backends (``onnx.backend.base.Backend``).

The official tests run through it unmodified::

    import onnx.backend.test, ingot.backend
    tests = onnx.backend.test.BackendTest(ingot.backend, __name__)

A model that Ingot does not support raises ``BackendIsNotSupposedToImplementIt``, which those tests count as skipped; the
message names the operator and the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from ._compile import compile
from ._errors import CompileError, InputError, UnsupportedError
from ._models import to_model
from ._session import SizesOfData

__all__ = ["IngotBackend", "IngotRep", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]

# Ids of errors that mean "not supported" to the test suite: the model needs sizes or values at compile time that no
# data can supply, or uses something that Ingot lacks.
_UNKNOWN = {"unbound-dimension", "unsupported-operator", "unsupported-form", "unsupported-attribute", "unsupported-type"}


def _not_supported(error: CompileError) -> Exception:
    return BackendIsNotSupposedToImplementIt(f"Ingot: {error}")


class IngotRep(BackendRep):
    """A model that is compiled when it is run: for the sizes of the inputs, and for input values that compilation needs."""

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:
        source = to_model(model)
        self._signature = source.signature
        self._nets = SizesOfData(source, options, values=True)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the model on a list or dictionary of inputs; returns outputs that are accessible by position and by name."""
        del kwargs
        names = self._signature.inputs
        if isinstance(inputs, Mapping):
            feeds = dict(inputs)
        else:
            values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(values) > len(names):
                raise InputError(f"the model has {len(names)} inputs, not {len(values)}")
            feeds = dict(zip(names, values))
        try:
            net = self._nets.net_for(feeds)
        except CompileError as error:
            if isinstance(error, UnsupportedError) or any(d.id in _UNKNOWN for d in error.diagnostics):
                raise _not_supported(error) from error
            raise
        outputs = net(**feeds)
        results = (outputs,) if len(net.outputs) == 1 else outputs
        named: tuple[Any, ...] = namedtupledict("Outputs", list(self._signature.outputs))(*results)
        return named


class IngotBackend(Backend):
    """The backend; its methods are functions of this module, too."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the model compiles, or fails only because sizes or values of its inputs are unknown."""
        if not cls.supports_device(device):
            return False
        try:
            compile(to_model(model), **kwargs)
        except UnsupportedError:
            return False
        except CompileError as error:
            return all(d.id in ("unbound-dimension", "unbound-value") for d in error.diagnostics)
        return True

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> IngotRep:
        """Returns the model, ready to run; `kwargs` are arguments of `ingot.compile`."""
        if not cls.supports_device(device):
            raise BackendIsNotSupposedToImplementIt(f"Ingot: no device {device}; there is CPU")
        return IngotRep(model, kwargs)

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Compiles a model and runs it."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Sequence[tuple[Any, Any]] | None = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Runs a node as a model of its own; `outputs_info` has type and shape of each output where they are known."""
        from onnx import helper

        values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        arrays = [np.asarray(value) for value in values]
        named = [name for name in node.input if name]
        opsets = [helper.make_opsetid("", kwargs.pop("opset_version", 0) or _newest_opset())]
        if node.domain:
            opsets.append(helper.make_opsetid(node.domain, 1))
        graph_inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(named, arrays)
        ]
        kinds = {name: info for name, info in zip(node.output, outputs_info or ())}
        graph_outputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kinds[name][0])), kinds[name][1])
            if name in kinds
            else helper.make_empty_tensor_value_info(name)
            for name in node.output
        ]
        model = helper.make_model(helper.make_graph([node], "node", graph_inputs, graph_outputs), opset_imports=opsets)
        return cls.prepare(model, device, **kwargs).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is the CPU."""
        return device.split(":")[0].upper() == "CPU"


def _newest_opset() -> int:
    from onnx import defs

    return int(defs.onnx_opset_version())


prepare = IngotBackend.prepare
run_model = IngotBackend.run_model
run_node = IngotBackend.run_node
supports_device = IngotBackend.supports_device
is_compatible = IngotBackend.is_compatible
