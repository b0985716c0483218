"""Compiled networks: their inputs and outputs, and calls."""

from __future__ import annotations

import ctypes
import importlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._dtypes import array_type, from_stored, stored_type, to_stored
from ._errors import InputError, InternalError, RunError, ToolchainError
from ._header import Field, Header, Size, read_header, size_function

try:
    from ._native import Function
except ImportError as error:  # pragma: no cover - a broken installation
    raise ImportError(
        f"ingot: the part of this package that calls networks does not load ({error}). It needs CPython 3.11 or later; "
        "install a wheel for this platform, or build one with `pip wheel .`"
    ) from error

if TYPE_CHECKING:
    from ._compile import Entry, Options
    from ._inspect import Report

Array = np.ndarray[Any, Any]

_STATUS = {
    1: ("INGOT_ERROR_NULL", "a pointer that is needed is null"),
    2: ("INGOT_ERROR_ALIGNMENT", "memory is not aligned as the network requires"),
    3: ("INGOT_ERROR_SPECIALIZED", "an input differs from the value that `bind` gave it"),
    4: ("INGOT_ERROR_WEIGHTS", "the weights are not those of this network"),
    5: ("INGOT_ERROR_TARGET", "this machine runs none of the targets that the network was compiled for"),
    6: ("INGOT_ERROR_SHAPE", "a size is out of its bounds, or not the one it must equal"),
}


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a network."""

    name: str
    """Its name in the model."""
    dtype: str
    """The element type by its ONNX name: ``float32``, ``bfloat16``, ``string``, ..."""
    shape: tuple[int | str, ...]
    """Sizes; one that differs between calls is the text of an expression, ``"batch"`` or ``"seq * 2"``."""
    kind: str = "tensor"
    """``tensor``, ``sequence`` (a list of arrays), ``optional`` (a tensor or None) or ``optional sequence`` (a list or None)."""

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The type of the arrays that the network takes or returns."""
        return array_type(self.dtype)

    def __str__(self) -> str:
        text = f"{self.dtype}[{','.join(map(str, self.shape))}]"
        return f"{self.name}: {text if self.kind == 'tensor' else f'{self.kind} of {text}'}"


@dataclass(frozen=True)
class _Value:
    """An input or output of the model, and the fields of the io struct for it."""

    info: TensorInfo
    present: Field | None
    data: Field
    shapes: Field | None


def _group(fields: Sequence[Field], names: Sequence[str]) -> list[_Value]:
    groups: list[tuple[Field | None, Field, Field | None]] = []
    waiting: Field | None = None
    for f in fields:
        if f.part == "present":
            waiting = f
        elif f.part == "shapes":
            present, data, _ = groups.pop()
            groups.append((present, data, f))
        else:
            groups.append((waiting, f, None))
            waiting = None
    values = []
    for i, (present, data, shapes) in enumerate(groups):
        name = names[i] if len(names) == len(groups) else data.title
        kind = ("optional " if present else "") + ("sequence" if data.part == "elements" else "")
        shape: tuple[int | str, ...] = tuple(int(d) if d.isdigit() else d for d in data.dims)
        if shapes:
            # The axes of `data` are the capacity of the buffer. Each element has a shape of its
            # own, of which only the rank is known here.
            shape = ("?",) * int(shapes.dims[1])
        elif data.element is not None:
            shape = data.element
        values.append(_Value(TensorInfo(name, data.dtype, shape, kind.strip() or "tensor"), present, data, shapes))
    return values


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _describe(array: Array) -> str:
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


class Net(Function):
    """A network, compiled and loaded into this process; `ingot.compile` makes it.

    ``net(x, y)`` takes the inputs in the order of the model, ``net(x=x, y=y)`` by name (``net(**{"my input": x})``
    if a name is not an identifier of Python). An input is

    * an array of NumPy, or an object with DLPack (``__dlpack__``) in the memory of the host: read where it is if it is
      contiguous, otherwise copied;
    * a number or a list, which becomes an array of the type of the input;
    * for a sequence a list of arrays, for an optional value perhaps None.

    Types must be those of the network: a float64 array is not rounded silently. The result is an array for a network with
    one output, otherwise a tuple in the order of the model. ``out=`` names arrays (one, or a tuple) that the outputs are
    written to.

    The GIL is released during a call, and threads may call at the same time, each with an arena of its own. A network with
    a state makes one call at a time; `reset` sets the state to zeros.
    """

    def __init__(self, entry: Entry, options: Options) -> None:
        self._entry = entry
        self._options = options
        header: Header = read_header(entry.header, entry.name)
        try:
            self._library = ctypes.CDLL(str(entry.library))
            address = ctypes.cast(getattr(self._library, entry.name + "_run"), ctypes.c_void_p).value
        except (OSError, AttributeError) as error:
            raise ToolchainError(f"the compiled network cannot be loaded: {error}") from error
        super().__init__(address or 0, header.arena_bytes, header.arena_align, options.threads, header.state_bytes > 0)
        signature = entry.signature
        states = dict(options.state)
        self._inputs = _group([f for f in header.fields if not f.is_output], entry.names(signature.inputs, states.keys()))
        self._outputs = _group([f for f in header.fields if f.is_output], entry.names(signature.outputs, states.values()))
        self._header = header
        self._fields = {f.name: f for f in header.fields}
        self._position = {value.info.name: i for i, value in enumerate(self._inputs)}
        # An input whose ONNX name is not a Python identifier can also be passed by the name of its field in the
        # struct.
        for i, value in enumerate(self._inputs):
            self._position.setdefault(value.data.name, i)
        self._given = [size for size in header.sizes if not size.made]
        self._made = [size for size in header.sizes if size.made]
        names = [size.name for size in self._given]
        self._shape = {
            f.name: size_function(f.dims, names + [size.name for size in self._made] if f.is_output else names) for f in header.fields
        }
        self._state = np.zeros(header.state_bytes + header.arena_align, np.uint8)
        self._tail = [_aligned(self._state, header.arena_align)] if header.state_bytes else []
        self._describe()

    def _describe(self) -> None:
        """Enables native calls (Function.describe) if all inputs and outputs are tensors of simple types and shapes."""
        number = {size.name: i for i, size in enumerate(self._given)}

        def dims(f: Field) -> tuple[tuple[bool, int], ...] | None:
            if not all(dim.isdigit() or dim in number for dim in f.dims):
                return None
            return tuple((True, number[dim]) if dim in number else (False, int(dim)) for dim in f.dims)

        inputs, outputs = [], []
        for value in (*self._inputs, *self._outputs):
            shape = dims(value.data)
            dtype = value.info.numpy_dtype
            if value.info.kind != "tensor" or shape is None or dtype != stored_type(value.info.dtype) or self._made:
                return
            if value.data.is_output:
                outputs.append((dtype, shape))
            else:
                inputs.append((value.info.name, dtype.char, max(dtype.itemsize, self._header.tensor_align), shape))
        sizes = tuple((size.least, size.most) for size in self._given)
        self.describe(np.ndarray, np.empty, sizes, tuple(inputs), tuple(outputs), tuple(self._tail))

    # ------------------------------------------------------------ properties

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """The inputs, in the order of the model."""
        return tuple(value.info for value in self._inputs)

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """The outputs, in the order of the model."""
        return tuple(value.info for value in self._outputs)

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """The bounds of the sizes that differ between calls: least and largest value."""
        return {size.name: (size.least, size.most) for size in self._given}

    @property
    def arena_bytes(self) -> int:
        """Bytes of scratch memory that a call uses."""
        return self._header.arena_bytes

    @property
    def state_bytes(self) -> int:
        """Bytes of the state, which is kept from call to call."""
        return self._header.state_bytes

    @property
    def weights_bytes(self) -> int:
        """Bytes of constants."""
        return self._header.weights_bytes

    @property
    def target(self) -> str:
        """The instruction sets that the network was compiled for."""
        return self._entry.target

    @property
    def source(self) -> str:
        """The generated C++, with its constants unless they are larger than a megabyte."""
        path = self._entry.source_path
        text, constants = path.read_text(), path.with_suffix(".constants.inc")
        if constants.exists():
            text = text.replace(f'#include "{constants.name}"\n', constants.read_text())
        return text

    @property
    def header(self) -> str:
        """The generated header, which is C and C++."""
        return self._entry.header

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `compile` that are not the defaults."""
        return self._options.changed()

    def report(self) -> Report:
        """Returns kernels, flash and RAM of the network, as `ingot.inspect` does."""
        from ._inspect import inspect_model

        with self._entry.model_file() as path:
            return inspect_model(path, self._options)

    def save(self, path: str | Path) -> list[Path]:
        """Writes the C++ to `path` (``net.cpp``) and the files beside it; returns their names."""
        from ._compile import write_sources

        with self._entry.model_file() as model:
            return write_sources(model, Path(path), self._options)

    def reset(self) -> None:
        """Sets the state to zeros. No call may be running."""
        self._state[:] = 0

    def __repr__(self) -> str:
        takes = ", ".join(map(str, self.inputs))
        gives = ", ".join(map(str, self.outputs))
        return f"<ingot.Net ({takes}) -> ({gives}), {self.target}, arena {self.arena_bytes} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        from ._compile import rebuild

        return rebuild, (self._entry.portable(), self._options)

    # ----------------------------------------------------------------- calls

    def _general(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Handles every form of call that the class allows; the native part handles the common one."""
        values = self._bind(args, kwargs)
        arrays: dict[str, Array] = {}
        for value, given in zip(self._inputs, values):
            self._flatten(value, given, arrays)
        sizes = self._solve(arrays)
        return self._run(arrays, sizes, out)

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        names = ", ".join(info.name for info in self.inputs)
        if len(args) > len(self._inputs):
            raise InputError(f"the network takes {len(self._inputs)} inputs ({names}), not {len(args)}")
        values: list[Any] = [_MISSING] * len(self._inputs)
        values[: len(args)] = args
        for name, given in kwargs.items():
            if name not in self._position:
                raise InputError(f"the network has no input `{name}`; its inputs are {names}")
            at = self._position[name]
            if values[at] is not _MISSING:
                raise InputError(f"the input `{name}` is given twice")
            values[at] = given
        missing = [value.info.name for value, given in zip(self._inputs, values) if given is _MISSING and value.present is None]
        if missing:
            raise InputError(f"missing: {', '.join(missing)}; the inputs of the network are {names}")
        return [None if given is _MISSING else given for given in values]

    def _flatten(self, value: _Value, given: Any, arrays: dict[str, Array]) -> None:
        """Stores the arrays for the fields of one input value in `arrays`."""
        info = value.info
        if value.present:
            arrays[value.present.name] = np.array(given is not None)
        if given is None:
            if not value.present:
                raise InputError(f"the input `{info.name}` is None, but it is not optional")
            least = [size.least for size in self._given]
            for f in (value.data, value.shapes):
                if f:
                    arrays[f.name] = _empty(self._shape[f.name](*least), f.dtype)
            return
        if not info.kind.endswith("sequence"):
            arrays[value.data.name] = self._tensor(info, given)
            return
        if isinstance(given, (np.ndarray, str, bytes)) or not isinstance(given, Sequence):
            raise InputError(f"the input `{info.name}` is a sequence: pass a list of arrays, not {type(given).__name__}")
        elements = [self._tensor(info, element) for element in given]
        self._rows(value, elements, arrays)

    def _rows(self, value: _Value, elements: list[Array], arrays: dict[str, Array]) -> None:
        most = [size.most for size in self._given]
        row = self._shape[value.data.name](*most)[1:]
        rows = _empty((len(elements), *row), value.info.dtype)
        for i, element in enumerate(elements):
            if not value.shapes:
                if element.shape != value.info.shape:
                    raise InputError(
                        f"element {i} of `{value.info.name}` is {_describe(element)}; its shape must be {list(value.info.shape)}"
                    )
            elif element.size > math.prod(row) or element.ndim != len(value.info.shape):
                raise InputError(
                    f"element {i} of `{value.info.name}` is {_describe(element)}; "
                    f"it may have {len(value.info.shape)} axes and {math.prod(row)} numbers"
                )
            rows[i].reshape(-1)[: element.size] = element.reshape(-1)
        arrays[value.data.name] = rows
        if value.shapes:
            axes = len(value.info.shape)
            arrays[value.shapes.name] = np.array([e.shape for e in elements], np.int64).reshape(len(elements), axes)

    def _tensor(self, info: TensorInfo, given: Any) -> Array:
        """Converts an input to an array of the stored type, contiguous and aligned."""
        wanted = info.numpy_dtype
        if info.dtype == "string":
            array = np.asarray(given)
            if array.dtype.kind not in "OUST" or array.size and not all(isinstance(x, (str, bytes)) for x in array.reshape(-1).tolist()):
                raise InputError(f"the input `{info.name}` is made of strings, not {array.dtype}")
            return array.astype(object)
        if isinstance(given, np.ndarray):
            array = given
        elif hasattr(given, "__dlpack__"):
            array = _from_dlpack(info, given)
        else:
            array = self._of_numbers(info, given)
        if array.dtype != wanted and array.dtype != stored_type(info.dtype):
            if array.dtype.newbyteorder("=") != wanted:
                raise InputError(
                    f"the input `{info.name}` is {info.dtype}[{','.join(map(str, info.shape))}], not {_describe(array)}; "
                    f"convert it with .astype({str(wanted)!r})"
                )
            array = array.astype(wanted)
        return np.require(to_stored(array, info.dtype), requirements=["C", "A"])

    @staticmethod
    def _of_numbers(info: TensorInfo, given: Any) -> Array:
        """Converts numbers, lists and NumPy scalars to an array."""
        try:
            array = np.asarray(given)
        except (TypeError, ValueError) as error:
            raise InputError(f"the input `{info.name}` cannot be made an array: {error}") from error
        wanted = info.numpy_dtype
        if array.dtype == wanted or array.dtype == stored_type(info.dtype):
            return array
        if hasattr(given, "dtype") or array.dtype.kind not in "biuf":
            return array
        whole = wanted.kind in "iub"
        if array.size and (whole and array.dtype.kind == "f" or wanted.kind == "b" and array.dtype.kind != "b"):
            return array
        with np.errstate(over="ignore"):
            made = array.astype(wanted)
        if whole and wanted.kind != "b" and not np.array_equal(made.astype(array.dtype), array):
            raise InputError(f"the input `{info.name}` is {info.dtype}, which cannot hold {given!r}"[:300])
        return made

    def _solve(self, arrays: dict[str, Array]) -> list[int]:
        """Returns the sizes of the call, computed from the shapes of the inputs; raises InputError for a shape that does not fit."""
        known: dict[str, int] = {}
        fields = [self._fields[name] for name in arrays]
        for f in fields:
            shape = arrays[f.name].shape
            if len(shape) != len(f.dims):
                raise InputError(
                    f"the input `{f.title}` has {len(f.dims)} axes, {f.dtype}[{','.join(f.dims)}]; "
                    f"the array has {len(shape)}: {_describe(arrays[f.name])}"
                )
            for axis, (dim, size) in enumerate(zip(f.dims, shape)):
                bounds = next((s for s in self._given if s.name == dim), None)
                if bounds is None or known.setdefault(dim, size) != size:
                    continue
                if not bounds.least <= size <= bounds.most:
                    raise InputError(
                        f"axis {axis} of the input `{f.title}` is {size}; `{dim}` is {bounds.least} to {bounds.most} (the argument "
                        "`dims` of compile)"
                    )
        for size in self._given:
            if size.name not in known:
                known[size.name] = self._search(size, known, fields, arrays)
        sizes = [known[size.name] for size in self._given]
        for f in fields:
            wanted = self._shape[f.name](*sizes)
            if arrays[f.name].shape != wanted:
                text = ",".join(d if d.isdigit() else f"{d} = {w}" for d, w in zip(f.dims, wanted))
                raise InputError(f"the input `{f.title}` is {f.dtype}[{text}], not {_describe(arrays[f.name])}")
        return sizes

    def _search(self, size: Size, known: dict[str, int], fields: list[Field], arrays: dict[str, Array]) -> int:
        """Returns a size that occurs only inside expressions: the first value for which such an expression fits a shape; the
        least value of the size if there is none.
        """
        for f in fields:
            for axis, dim in enumerate(f.dims):
                names = set(re.findall(r"[A-Za-z_]\w*", dim))
                if size.name in names and names <= {*known, size.name}:
                    function = size_function((dim,), [*known, size.name])
                    for value in range(size.least, size.most + 1):
                        if function(*known.values(), value)[0] == arrays[f.name].shape[axis]:
                            return value
        return size.least

    def _run(self, arrays: dict[str, Array], sizes: list[int], out: Any) -> Any:
        keep: list[Any] = []
        counts = np.array([size.most for size in self._made], np.int64)
        largest = [*sizes, *(size.most for size in self._made)]
        buffers = self._buffers(arrays, largest, out)
        words: list[int] = []
        given, made = iter(sizes), iter(range(len(self._made)))
        for size in self._header.sizes:
            words.append(_address(counts) + 8 * next(made) if size.made else next(given))
        for f in self._header.fields:
            if f.is_output:
                words.append(_address(buffers[f.name]))
            elif f.dtype == "string":
                words.append(_strings(arrays[f.name], keep))
            else:
                words.append(_address(arrays[f.name]))
        # Adds a word, so that the array is not empty: even a struct without fields needs an address.
        block = np.array([*words, *self._tail, 0], np.int64)

        def results() -> Any:
            now = [*sizes, *map(int, counts)]
            values = tuple(self._join(value, buffers, now) for value in self._outputs)
            if out is not None:
                return out
            return values[0] if len(values) == 1 else values

        answer = self.run(block, results)
        if isinstance(answer, int) and not isinstance(answer, bool) and answer != 0:
            status, words_of = _STATUS.get(answer, (f"status {answer}", "an unknown error"))
            if answer in (3, 6):
                raise InputError(f"{status}: {words_of}")
            raise RunError(f"{status}: {words_of}", status)
        return answer

    def _buffers(self, arrays: dict[str, Array], largest: list[int], out: Any) -> dict[str, Array]:
        """Returns an array for each output field: those of `out` or, if it is None, new ones for the sizes `largest`."""
        if out is None:
            return {
                f.name: np.zeros(max(math.prod(self._shape[f.name](*largest)), 1), np.uintp if f.dtype == "string" else stored_type(f.dtype))
                for f in self._header.fields
                if f.is_output
            }
        wanted = out if isinstance(out, (tuple, list)) else (out,)
        if len(wanted) != len(self._outputs):
            raise InputError(f"`out` has {len(wanted)} arrays; the network has {len(self._outputs)} outputs")
        buffers: dict[str, Array] = {}
        for value, array in zip(self._outputs, wanted):
            f, info = value.data, value.info
            if info.kind != "tensor" or info.dtype == "string" or self._made:
                raise InputError("`out` is for outputs that are tensors of numbers whose sizes the inputs determine")
            shape = self._shape[f.name](*largest)
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype not in (info.numpy_dtype, stored_type(info.dtype)):
                found = _describe(array) if isinstance(array, np.ndarray) else type(array).__name__
                raise InputError(f"`out` for `{info.name}` must be {info.numpy_dtype}[{','.join(map(str, shape))}], not {found}")
            if not array.flags.carray:
                raise InputError(f"`out` for `{info.name}` must be contiguous, aligned and writable")
            if any(np.may_share_memory(array, other) for other in (*arrays.values(), *buffers.values())):
                raise InputError(f"`out` for `{info.name}` overlaps an input or another output")
            buffers[f.name] = array
        return buffers

    def _join(self, value: _Value, buffers: dict[str, Array], sizes: list[int]) -> Any:
        if value.present and not buffers[value.present.name][0]:
            return None
        data = self._array(value.data, buffers, sizes)
        if not value.info.kind.endswith("sequence"):
            return data
        if value.shapes:
            # The rows have the length of the largest rank; an element of smaller rank has -1 for the missing axes.
            shapes = [[size for size in shape if size >= 0] for shape in self._array(value.shapes, buffers, sizes).tolist()]
        else:
            shapes = [list(value.data.element or ())] * len(data)
        return [row[: math.prod(shape)].reshape(shape).copy() for row, shape in zip(data, shapes)]

    def _array(self, f: Field, buffers: dict[str, Array], sizes: list[int]) -> Array:
        shape, buffer = self._shape[f.name](*sizes), buffers[f.name]
        count = math.prod(shape)
        if f.dtype == "string":
            texts = [ctypes.string_at(int(address)).decode("utf-8", "surrogateescape") for address in buffer[:count]]
            strings = np.empty(count, object)
            strings[:] = texts
            return strings.reshape(shape)
        if buffer.shape == shape:
            return from_stored(buffer, f.dtype)
        data = buffer[:count]
        # Copies the elements if they fill less than half of the buffer, so that the buffer for the largest size is
        # freed.
        data = data.copy() if 2 * count < buffer.size else data
        return from_stored(data, f.dtype).reshape(shape)


_MISSING: Any = object()


def _empty(shape: tuple[int, ...], dtype: str) -> Array:
    """Returns an array of zeros, or of empty strings."""
    return np.full(shape, "", object) if dtype == "string" else np.zeros(shape, stored_type(dtype))


def _aligned(memory: Array, align: int) -> int:
    """Returns the first address in `memory` that is a multiple of `align`."""
    return -(-_address(memory) // align) * align


def _from_dlpack(info: TensorInfo, given: Any) -> Array:
    try:
        return np.from_dlpack(given)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # A PyTorch tensor that NumPy cannot convert: it requires a gradient, or has a type that NumPy lacks.
        if hasattr(given, "detach"):
            given = given.detach().cpu().contiguous()
            if info.dtype == "bfloat16" and "bfloat16" in str(given.dtype):
                viewed: Array = given.view(importlib.import_module("torch").int16).numpy().view(np.uint16)
                return viewed
            try:
                return np.asarray(given.numpy())
            except (RuntimeError, TypeError):
                pass
        raise InputError(f"the input `{info.name}` cannot be read through DLPack: {error}") from error


def _strings(array: Array, keep: list[Any]) -> int:
    """Returns the address of a table of zero-terminated strings; `keep` keeps their memory alive."""
    texts = [text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape") for text in array.reshape(-1).tolist()]
    for text in texts:
        if b"\0" in text:
            raise InputError("a string with a zero character cannot be passed")
    table = (ctypes.c_char_p * max(len(texts), 1))(*texts)
    keep.append((table, texts))
    return ctypes.addressof(table)

