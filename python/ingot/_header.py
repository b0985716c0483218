"""Reads the header of a compiled network: the sizes and tensors of its io struct.

The header is the contract between a network and its caller (docs/generated-code.md). This module reads the fields of the
struct in order, with the element type and the shape that are stated in the comment of each field.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ._errors import InternalError


@dataclass(frozen=True)
class Size:
    """A size of the io struct that may differ between runs."""

    name: str
    made: bool
    """Whether the size is data-dependent, so that the run writes it; otherwise the caller gives it."""
    least: int
    most: int


@dataclass(frozen=True)
class Field:
    """A field of the io struct that points to a tensor."""

    name: str
    is_output: bool
    dtype: str
    dims: tuple[str, ...]
    """Expressions of sizes."""
    part: str
    """Of a sequence or an optional value: ``elements``, ``shapes``, ``present``; otherwise empty."""
    title: str
    """The name in the model, as far as a comment in C can have it."""
    element: tuple[int, ...] | None = None
    """Of the part ``elements``: the shape of the elements of the sequence, if all have the same shape."""


@dataclass
class Header:
    sizes: list[Size] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    arena_bytes: int = 0
    arena_align: int = 64
    state_bytes: int = 0
    weights_bytes: int = 0
    tensor_align: int = 1


_PARTS = {
    "a row for each element, which begins it": "elements",
    "a row for the shape of each element": "shapes",
    "whether the value is there": "present",
}
_ELEMENT = re.compile(r", a row for each element of shape \[([\d,]*)\] \*/$")
_SIZE = re.compile(r"  ptrdiff_t (\*?)(\w+); +/\* (?:out, )?size: (-?\d+) to (-?\d+) \*/$")
_TENSOR = re.compile(r"  (?:const )?[\w ]+?(?:\*const )?\*+(\w+); +/\* (in|out): (\w+) \[(.*)$")


def _split(text: str) -> tuple[list[str], str]:
    """Splits ``a,b * 2], "x"`` into the dimensions (at commas outside of parentheses) and the text after the bracket."""
    dims, depth, begin = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and char in ",]":
            dims.append(text[begin:at].strip())
            begin = at + 1
            if char == "]":
                return [dim for dim in dims if dim], text[at + 1 :]
    raise InternalError(f"a shape in the generated header cannot be read: {text}")


def read_header(text: str, name: str) -> Header:
    """Parses the header of the network `name`."""
    header = Header()
    macro = name.upper() + "_"
    numbers = {
        key: int(value) for key, value in re.findall(r"^#define (\w+) (-?\d+)u?$", text, flags=re.MULTILINE) if key.startswith(macro)
    }
    header.arena_bytes = numbers.get(macro + "ARENA_BYTES", 0)
    header.arena_align = numbers.get(macro + "ARENA_ALIGN", 64)
    header.state_bytes = numbers.get(macro + "STATE_BYTES", 0)
    header.weights_bytes = numbers.get(macro + "WEIGHTS_BYTES", 0)
    header.tensor_align = numbers.get(macro + "TENSOR_ALIGN", 1)
    struct = re.search(rf"^typedef struct {name}_io {{\n(.*?)^}} {name}_io;$", text, flags=re.MULTILINE | re.DOTALL)
    if not struct:
        raise InternalError("the generated header has no io struct")
    for line in struct.group(1).splitlines():
        if size := _SIZE.match(line):
            header.sizes.append(Size(size.group(2), size.group(1) == "*", int(size.group(3)), int(size.group(4))))
        elif tensor := _TENSOR.match(line):
            dims, rest = _split(tensor.group(4))
            fixed = _ELEMENT.search(rest)
            part = "elements" if fixed else next((short for words, short in _PARTS.items() if rest.endswith(f", {words} */")), "")
            element = tuple(int(size) for size in fixed.group(1).split(",") if size) if fixed else None
            quoted = re.match(r', "(.*)"', rest)
            title = quoted.group(1) if quoted else tensor.group(1)
            header.fields.append(Field(tensor.group(1), tensor.group(2) == "out", tensor.group(3), tuple(dims), part, title, element))
        elif not re.match(r"  (void \*state|const void \*unused|const void \*weights)\w*;", line):
            raise InternalError(f"a line of the generated header cannot be read: {line.strip()}")
    return header


# ------------------------------------------------------------- expressions

_TOKEN = re.compile(r"\s*(\d+|\w+|[<>=]=|[-+*/%()?:<>])")


class _Parser:
    """Translates C expressions of sizes to Python: sums, products, quotients of nonnegative numbers, and `a < b ? x : y`."""

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self.tokens = _TOKEN.findall(text)
        self.names = names
        self.at = 0

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.next()
        self.at += 1
        return token

    def choice(self) -> str:
        left = self.operation(0)
        if self.next() in ("<", ">", "==", "<=", ">="):
            left = f"{left} {self.take()} {self.operation(0)}"
        if self.next() != "?":
            return left
        self.take()
        yes = self.choice()
        self.take()
        no = self.choice()
        return self.chosen(left, yes, no)

    def operation(self, level: int) -> str:
        if level == 2:
            return self.operand()
        signs = (("+", "-"), ("*", "/", "%"))[level]
        left = self.operation(level + 1)
        while self.next() in signs:
            sign = self.take()
            right = self.operation(level + 1)
            left = self.quotient(left, right) if sign == "/" else f"({left} {sign} {right})"
        return left

    def chosen(self, condition: str, yes: str, no: str) -> str:
        return f"({yes} if {condition} else {no})"

    def quotient(self, left: str, right: str) -> str:
        return f"({left} // {right})"

    def operand(self) -> str:
        token = self.take()
        if token == "(":
            inner = self.choice()
            if self.take() != ")":
                raise InternalError("a size in the generated header cannot be read")
            return f"({inner})"
        if token == "-":
            return f"(-{self.operand()})"
        if not token.isdigit() and token not in self.names:
            raise InternalError(f"a size in the generated header cannot be read: {token}")
        return token


class _JavaScript(_Parser):
    """Translates C expressions of sizes to JavaScript; sizes are properties of the object `s`."""

    def chosen(self, condition: str, yes: str, no: str) -> str:
        return f"({condition} ? {yes} : {no})"

    def quotient(self, left: str, right: str) -> str:
        return f"Math.floor({left} / {right})"

    def operand(self) -> str:
        token = super().operand()
        return f"s.{token}" if token in self.names else token


def size_javascript(dims: tuple[str, ...], names: list[str]) -> str:
    """Returns a JavaScript function from an object with sizes to the values of `dims`."""
    parts = []
    for dim in dims:
        parser = _JavaScript(dim, frozenset(names))
        parts.append(parser.choice())
        if parser.next():
            raise InternalError(f"a size in the generated header cannot be read: {dim}")
    return f"(s) => [{', '.join(parts)}]"


def size_function(dims: tuple[str, ...], names: list[str]) -> Callable[..., tuple[int, ...]]:
    """Returns a function from the sizes, in the order of `names`, to the values of `dims`."""
    # Renames the sizes, since the name of a size may be a Python keyword.
    renamed = {name: f"s{i}" for i, name in enumerate(names)}
    parts = []
    for dim in dims:
        parser = _Parser(dim, frozenset(names))
        parts.append(re.sub(r"[A-Za-z_]\w*", lambda m: renamed.get(m.group(0), m.group(0)), parser.choice()))
        if parser.next():
            raise InternalError(f"a size in the generated header cannot be read: {dim}")
    made: Callable[..., tuple[int, ...]] = eval(f"lambda {', '.join(renamed.values())}: ({''.join(p + ', ' for p in parts)})", {})
    return made
