"""`ingot export --as web`: exports a network as an ES module with WebAssembly.

The module is made from the files of the folder `web`, in which a table that describes the network is filled in. One
WebAssembly module is compiled for each level of instructions, since an engine rejects a module with an unknown
instruction; the page loads the best one that the engine supports.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from . import _program
from ._errors import InvalidModelError, UsageError
from ._header import Field, Header, read_header, size_javascript

LEVELS = ("wasm32", "wasm32+simd128", "wasm32+relaxed-simd")
_FEATURES = {"wasm32": [], "wasm32+simd128": ["simd128"], "wasm32+relaxed-simd": ["simd128", "relaxed-simd"]}  # fmt: skip
# Modules with threads import their memory, which the page creates and shares with all workers.
_THREADED = "clang++-22 --target=wasm32 -matomics -mbulk-memory -Wl,--shared-memory,--import-memory,--max-memory=4294967296"
_PAGE = 65536
_ARRAYS = {
    "float32": "Float32Array", "float64": "Float64Array", "int64": "BigInt64Array", "uint64": "BigUint64Array", "bool": "Uint8Array",
    "float16": "Uint16Array", "bfloat16": "Uint16Array",
    **{f"{sign}int{bits}": f"{'Ui' if sign else 'I'}nt{bits}Array" for sign in ("", "u") for bits in (8, 16, 32)},
}  # fmt: skip


def _pages_of_imported_memory(module: bytes) -> int:
    """Returns the minimal number of pages of the memory that a module imports."""
    found = re.search(rb"\x03env\x06memory\x02[\x00-\x03]", module)
    if not found:
        raise InvalidModelError("the module with threads imports no memory; is lld 22 installed?")
    pages, shift, at = 0, 0, found.end()
    while True:
        byte = module[at]
        pages |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return pages
        shift, at = shift + 7, at + 1


def _tensor_name(field: Field) -> str:
    return field.name if field.part else field.title


def _tensor(field: Field, header: Header) -> str:
    names = [size.name for size in header.sizes]
    made = any(size.made and re.search(rf"\b{size.name}\b", " ".join(field.dims)) for size in header.sizes)
    shape = size_javascript(field.dims, names)
    rest = ", made: true" if made else ""
    return (
        f"{{ name: {json.dumps(_tensor_name(field))}, output: {json.dumps(field.is_output)}, "
        f"type: {json.dumps(field.dtype)}, shape: {shape}{rest} }}"
    )


def _declarations(name: str, header: Header, levels: Sequence[str]) -> str:
    def group(output: bool, optional: str) -> str:
        lines = []
        for field in header.fields:
            if field.is_output == output:
                lines.append(f"  /** {field.dtype} [{', '.join(field.dims)}] */")
                lines.append(f"  {json.dumps(_tensor_name(field))}{optional}: {_ARRAYS.get(field.dtype, 'Uint8Array')};")
        return "\n".join(lines)

    sizes = "\n".join(
        f"  /** {size.least} to {size.most}{', made by the run' if size.made else ''} */\n  {'readonly ' if size.made else ''}{size.name}: number;"
        for size in header.sizes
    )
    return (
        Template((Path(__file__).parent / "web" / "network.d.ts").read_text())
        .safe_substitute(
            name=name, inputs=group(False, "?"), outputs=group(True, ""), sizes=sizes, levels=" | ".join(json.dumps(level) for level in levels)
        )
        .replace("\n\n}", "\n}")
    )


def write(path: Path, name: str, scratch: Path, target: str, options: Sequence[str], threads: bool) -> tuple[dict[str, bytes], Header]:
    """Compiles the network for each level; returns the files of the export by name, and the header of the network."""
    levels = [level for level in LEVELS if level in target.split(",")]
    if unknown := set(target.split(",")) - set(LEVELS):
        raise UsageError(f"--target {target}: `{min(unknown)}` is no level of WebAssembly; there are {', '.join(LEVELS)}")
    files: dict[str, bytes] = {}
    rows, text, header = [], "", Header()
    for level in levels:
        short = level.removeprefix("wasm32+") if level != "wasm32" else "scalar"
        row: dict[str, Any] = {"target": level, "features": _FEATURES[level]}
        for threaded in (False, True) if threads else (False,):
            output = scratch / f"{name}.wasm"
            more = ["--cxx", _THREADED] if threaded else []
            _program.call([str(path), "-o", str(output), "--name", name, "--target", level, *more, *options])
            file = f"{name}.{short}{'.threads' if threaded else ''}.wasm"
            files[file] = output.read_bytes()
            text = output.with_suffix(".h").read_text()
            header = read_header(text, name)
            stack = re.search(rf"^#define {name.upper()}_STACK_BYTES (\d+)u$", text, flags=re.MULTILINE)
            if threaded:
                row["threaded"] = {"file": file, "pages": _pages_of_imported_memory(files[file])}
            else:
                row.update(file=file, stack=int(stack.group(1)) if stack else _PAGE)
        rows.append(row)
    weights = scratch / f"{name}.weights"
    weights_file = f"{name}.weights" if "const void *weights" in text else ""
    if weights_file:
        if len(levels) > 1:
            raise UsageError("weights in a file are arranged for one level; name it with --target, or leave out --weights file")
        files[weights_file] = weights.read_bytes()
    io = re.search(r"typedef struct \w+_io \{\n(.*?)\n\}", text, flags=re.DOTALL)
    elements = [int(count) for count in re.findall(rf"^#define {name.upper()}_\w+_ELEMENTS (\d+)u$", text, flags=re.MULTILINE)]
    most = sum(-(-count * 8 // 64) * 64 + 64 for count in elements) + header.weights_bytes + header.state_bytes
    table = {
        "name": name,
        "version": hashlib.sha256(b"".join(files.values())).hexdigest()[:16],
        "worker": f"./{name}.worker.js",
        "levels": rows,
        "files": {file: len(data) for file, data in files.items()},
        "weights": weights_file,
        "ioBytes": 4 * max(1, len(io.group(1).splitlines()) if io else 1),
        "stateBytes": header.state_bytes,
        "mostBytes": most,
        "sizes": [{"name": size.name, "made": size.made, "least": size.least, "most": size.most} for size in header.sizes],
    }
    network = json.dumps(table, indent=2)[:-2]
    tensors = ",\n    ".join(_tensor(field, header) for field in header.fields)
    network += f',\n  "tensors": [\n    {tensors}\n  ]\n}}'
    folder = Path(__file__).parent / "web"
    for file, words in (("network.js", {"network": network, "name": name}), ("worker.js", {"name": name})):
        body = (folder / file).read_text()
        for word, value in words.items():
            body = body.replace(f"${word}", value)
        files[f"{name}.js" if file == "network.js" else f"{name}.worker.js"] = body.encode()
    files[f"{name}.d.ts"] = _declarations(name, header, levels).encode()
    package = {"name": name.lower(), "version": "1.0.0", "type": "module", "main": f"{name}.js", "types": f"{name}.d.ts"}
    files["package.json"] = json.dumps(package, indent=2).encode() + b"\n"
    return files, header
