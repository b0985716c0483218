"""`InferenceSession`: the interface of ONNX Runtime, so that programs switch by one import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _program
from ._compile import Dim, compile
from ._errors import CompileError, InputError, InvalidModelError, UnsupportedError
from ._models import Model, to_model
from ._net import Net

_TYPES = {"float32": "float", "float64": "double"}


@dataclass(frozen=True)
class NodeArg:
    """An input or output of a session, as ONNX Runtime has them."""

    name: str
    """Its name in the model."""
    type: str
    """The type as ONNX Runtime writes it: ``"tensor(float)"``."""
    shape: list[int | str | None]
    """The sizes; of an open dimension its name, or None."""


def _argument(item: Mapping[str, str]) -> NodeArg:
    text = item["type"]
    dtype, bracket, rest = text.partition("[")
    shape: list[int | str | None] = []
    if bracket and rest.rstrip("]"):
        shape = [int(d) if d.isdigit() else None if d in ("?", "") else d for d in rest.rstrip("]").split(",")]
    return NodeArg(item["name"], f"tensor({_TYPES.get(dtype, dtype)})", shape)


class SizesOfData:
    """The networks of one model for different input shapes: one network is compiled for each new set of shapes.

    A network also fixes the lengths of sequences, whether an optional input is present, and, where the compiler asks for it,
    the values of inputs that determine shapes. With `values`, a model that is not supported otherwise is compiled for the values
    of all its small integer inputs; for example, a loop whose number of iterations is thus known is unrolled.
    """

    def __init__(self, model: Model, options: Mapping[str, Any], values: bool = False) -> None:
        self.model = model
        self.options = dict(options)
        self.values = values
        self.nets: dict[Any, Net] = {}
        self.bound: tuple[str, ...] = ()

    def net_for(self, feeds: Mapping[str, Any]) -> Net:
        """Returns the network for the shapes (and fixed values) of `feeds`; compiles it if necessary."""
        net = self.nets.get(self._key(feeds))
        if net is None:
            net = self._compile(feeds)
            self.nets[self._key(feeds)] = net  # the key now includes inputs that were fixed while compiling
        return net

    def _key(self, feeds: Mapping[str, Any]) -> Any:
        # This runs in each call, so the common case, NumPy arrays, must be fast.
        shapes = tuple([(name, x.dtype, x.shape) if type(x) is np.ndarray else (name, _shape_key(x)) for name, x in feeds.items()])
        if not self.bound:
            return shapes
        return shapes, tuple(np.asarray(feeds[name]).tobytes() for name in self.bound if feeds.get(name) is not None)

    def _compile(self, feeds: Mapping[str, Any]) -> Net:
        dims: dict[str, Dim] = {}
        for name, value in feeds.items():
            dims.update(_dims_of(name, value))
        bind: dict[str, Any] = {f"{name}_present": feeds.get(name) is not None for name in self.model.signature.optional}
        bind.update({name: feeds[name] for name in self.bound if feeds.get(name) is not None})
        while True:
            options = {
                **self.options,
                "dims": {**dims, **(self.options.get("dims") or {})},
                "bind": {**bind, **(self.options.get("bind") or {})},
            }
            try:
                return compile(self.model, **options)
            except (InvalidModelError, UnsupportedError) as error:
                wanted = _inputs_to_bind(error, feeds, bind)
                if self.values and not wanted and isinstance(error, UnsupportedError):
                    wanted = [name for name, value in feeds.items() if name not in bind and _is_small_integer(value)]
                if not wanted:
                    raise
                bind.update({name: feeds[name] for name in wanted})
                self.bound += tuple(wanted)


def _shape_key(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return "list", tuple(_shape_key(v) for v in value)
    array = value if hasattr(value, "shape") else np.asarray(value)
    return str(array.dtype), tuple(array.shape)


def _dims_of(name: str, value: Any) -> dict[str, Dim]:
    """Returns the sizes of an input as the option `dims` of `compile`."""
    if value is None:
        return {}
    if isinstance(value, (list, tuple)) and any(hasattr(v, "shape") for v in value) or isinstance(value, list) and not value:
        dims: dict[str, Dim] = {f"{name}_count": len(value)}
        shapes = [np.asarray(v).shape for v in value]
        for axis in range(max((len(s) for s in shapes), default=0)):
            sizes = [s[axis] for s in shapes if axis < len(s)]
            dims[f"{name}:{axis}"] = (min(sizes), max(sizes)) if len(set(sizes)) > 1 else sizes[0]
        return dims
    return {f"{name}:{axis}": int(size) for axis, size in enumerate(np.shape(value))}


# The most numbers that the compiler takes as the value of an input.
_MOST_BOUND = 1024


def _is_small_integer(value: Any) -> bool:
    """Whether an input has few enough integers or booleans to be fixed."""
    return isinstance(value, (np.ndarray, np.generic)) and value.size <= _MOST_BOUND and value.dtype.kind in "biu"


def _inputs_to_bind(error: CompileError, feeds: Mapping[str, Any], bound: Mapping[str, Any]) -> list[str]:
    """Returns the names of the inputs whose values the diagnostics ask for, if they are not fixed yet and are small."""
    hints = " ".join(hint for d in error.diagnostics for hint in d.hints)
    return [
        name
        for name, value in feeds.items()
        if f"--bind {name}=" in hints and name not in bound and value is not None and np.size(value) <= _MOST_BOUND
    ]


class InferenceSession:
    """A model that is run as by ONNX Runtime: ``session.run(names, feeds)``.

    A model without open dimensions, or with the option `dims`, is compiled when the session is created; any other model in
    each `run` with inputs of new shapes, which therefore takes longer. `providers`, `provider_options` and all of
    `sess_options` except `intra_op_num_threads` are accepted and ignored; `options` are arguments of `ingot.compile`.
    """

    def __init__(
        self, path_or_bytes: Any, sess_options: Any = None, providers: Any = None, provider_options: Any = None, **options: Any
    ) -> None:
        del provider_options, providers
        threads = getattr(sess_options, "intra_op_num_threads", 0)
        if threads and "threads" not in options:
            options["threads"] = int(threads)
        self._model = to_model(path_or_bytes)
        with self._model.file() as path:
            told = _program.call(["inspect", str(path)], accept=(0, 1, 3))
        described = told.result if isinstance(told.result, dict) else {}
        self._inputs = [_argument(item) for item in described.get("inputs", ())]
        self._outputs = [_argument(item) for item in described.get("outputs", ())]
        self._names = {argument.name for argument in self._inputs}
        self._nets = SizesOfData(self._model, options)
        is_open = any(not isinstance(size, int) for argument in self._inputs for size in argument.shape)
        self._net: Net | None = None
        if not is_open or not described or "dims" in options:
            # Compiles at once, so that errors of the model are reported here.
            self._net = compile(self._model, **options)

    def get_inputs(self) -> list[NodeArg]:
        """Returns the inputs of the model."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """Returns the outputs of the model."""
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        """Returns the name of the only provider."""
        return ["IngotExecutionProvider"]

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> list[Any]:
        """Runs the model; returns the outputs named in `output_names` or, without names, all outputs."""
        del run_options
        net = self._net
        if net is None:
            if not input_feed.keys() <= self._names:
                name = min(input_feed.keys() - self._names)
                raise InputError(f"the model has no input `{name}`; its inputs are {', '.join(i.name for i in self._inputs)}")
            net = self._nets.net_for(input_feed)
        results = net(**input_feed)
        values = list(results) if type(results) is tuple else [results]
        if not output_names:
            return values
        by_name = {info.name: value for info, value in zip(net.outputs, values)}
        for name in output_names:
            if name not in by_name:
                raise InputError(f"the model has no output `{name}`; its outputs are {', '.join(by_name)}")
        return [by_name[name] for name in output_names]
