"""The backend of ``torch.compile(model, backend="ingot")``.

PyTorch finds it by the entry point `torch_dynamo_backends` of this package; nothing has to be imported.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ._compile import compile
from ._errors import IngotError
from ._models import to_model


def dynamo_backend(module: Any, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """Compiles a graph that TorchDynamo has captured; returns the function that runs it.

    A graph that cannot be exported or compiled runs in PyTorch, with a warning. A call that needs gradients also runs in
    PyTorch.
    """
    torch = importlib.import_module("torch")
    plain: Callable[..., Any] = module.forward
    if not all(isinstance(x, torch.Tensor) and x.device.type == "cpu" for x in example_inputs):
        # Symbolic sizes and tensors on a GPU are not supported.
        return plain
    try:
        exported = torch.fx.GraphModule(module, module.graph)
        net = compile(to_model(exported, tuple(x.detach() for x in example_inputs)), **options)
    except (IngotError, RuntimeError, TypeError, ValueError, torch.onnx.OnnxExporterError) as error:
        warnings.warn(f"ingot: a graph runs in PyTorch: {str(error).splitlines()[0]}", RuntimeWarning, stacklevel=2)
        return plain

    def run(*inputs: Any) -> tuple[Any, ...]:
        if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
            result: tuple[Any, ...] = plain(*inputs)
            return result
        outputs = net(*(x.detach().numpy() for x in inputs))
        arrays = outputs if isinstance(outputs, tuple) else (outputs,)
        return tuple(torch.from_numpy(array) for array in arrays)

    return run
