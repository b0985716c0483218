"""`ingot export`: a network as a library project of a build system or of an embedded platform.

Each kind of project is an entry of `KINDS`: its files as templates, the folders of source and header, and the target that
is compiled for where the command names none. `$name` and the other words of a template are set by `export`.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from . import _program, _web
from ._errors import IngotError, InvalidModelError, UsageError
from ._header import Header, read_header
from ._models import to_model

__all__ = ["KINDS", "Kind", "export"]

_C_TYPES = {
    "float32": "float", "float64": "double", "bool": "uint8_t", "float16": "uint16_t", "bfloat16": "uint16_t",
    "int4": "int8_t", "uint4": "uint8_t", "int2": "int8_t", "uint2": "uint8_t", "string": "const char *",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of project."""

    title: str
    """The name of the build system or platform."""
    target: str
    """The instruction set that is compiled for, unless the command names one."""
    source: str
    """The folder of the source."""
    header: str
    """The folder of the header."""
    files: Mapping[str, str]
    """The other files: templates of names and contents."""
    build: str
    """The text of the README on how to build or use the project."""
    example: str = ""
    """The path of the example program, which calls the network once; empty: `files` contains an example."""
    pack: str = ""
    """The name of an archive of all files; empty: none is written."""
    options: Sequence[str] = field(default=("--weights", "source"))
    """Options of `ingot` for this kind."""


_CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project($name VERSION $version LANGUAGES C CXX)

add_library($name STATIC src/$name.cpp)
target_include_directories($name PUBLIC include)
target_compile_features($name PRIVATE cxx_std_17)
target_compile_options($name PRIVATE -fno-exceptions -fno-rtti)

if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  add_executable(run examples/run.c)
  set_target_properties(run PROPERTIES LINKER_LANGUAGE CXX C_STANDARD 11)
  target_link_libraries(run PRIVATE $name)
  install(TARGETS $name ARCHIVE DESTINATION lib)
  install(FILES include/$name.h DESTINATION include)
endif()
"""

_MAKE = """\
# make: lib$name.a; make run: a program that calls it once.
CXXFLAGS ?= -O2
CFLAGS ?= -O2

lib$name.a: src/$name.o
	$$(AR) rcs $$@ $$^

src/$name.o: src/$name.cpp include/$name.h
	$$(CXX) -std=c++17 -fno-exceptions -fno-rtti -Iinclude $$(CXXFLAGS) -c $$< -o $$@

examples/run.o: examples/run.c include/$name.h
	$$(CC) -std=c11 -Iinclude $$(CFLAGS) -c $$< -o $$@

run: examples/run.o lib$name.a
	$$(CXX) $$(LDFLAGS) $$^ -o $$@

clean:
	rm -f lib$name.a src/$name.o examples/run.o run

.PHONY: clean
"""

_MESON = """\
project('$name', 'c', 'cpp', version: '$version',
  default_options: ['cpp_std=c++17', 'c_std=c11', 'buildtype=release', 'cpp_eh=none', 'cpp_rtti=false'])

include = include_directories('include')
library = static_library('$name', 'src/$name.cpp', include_directories: include, install: true)
install_headers('include/$name.h')
${name}_dep = declare_dependency(link_with: library, include_directories: include)

run = executable('run', 'examples/run.c', dependencies: ${name}_dep)
test('run', run)
"""

_ARDUINO_SKETCH = """\
#include <$name.h>
#include <string.h>

$arena
$tensors

void setup() {
  Serial.begin(115200);
  ${name}_io io;
  memset(&io, 0, sizeof io);
$fields
  unsigned long begin = micros();
  int status = ${name}_run(&io, arena, NULL);
  unsigned long end = micros();
  Serial.print("status ");
  Serial.print(status);
  Serial.print(", microseconds ");
  Serial.println(end - begin);
}

void loop() {}
"""

_C_EXAMPLE = """\
/* Calls the network once; its inputs are zeros. */
#include "$name.h"
#include <stdio.h>
#include <string.h>

$arena
$tensors

$main {
  ${name}_io io;
  memset(&io, 0, sizeof io);
$fields
  int status = ${name}_run(&io, arena, NULL);
  printf("status %d\\n", status);
  return$result;
}
"""

_PDSC = """\
<?xml version="1.0" encoding="UTF-8"?>
<package schemaVersion="1.7.7" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>Ingot</vendor>
  <name>$name</name>
  <description>The network $name, compiled by Ingot</description>
  <url/>
  <license>LICENSE.txt</license>
  <releases>
    <release version="$version" date="2026-01-01">Compiled by Ingot</release>
  </releases>
  <conditions>
    <condition id="Cortex-M">
      <accept Dcore="Cortex-M0+"/>
      <accept Dcore="Cortex-M3"/>
      <accept Dcore="Cortex-M4"/>
      <accept Dcore="Cortex-M7"/>
      <accept Dcore="Cortex-M33"/>
      <accept Dcore="Cortex-M55"/>
    </condition>
  </conditions>
  <components>
    <component Cclass="Machine Learning" Cgroup="Network" Csub="$name" Cversion="$version" condition="Cortex-M">
      <description>The network $name</description>
      <files>
        <file category="header" name="include/$name.h"/>
        <file category="sourceCpp" name="src/$name.cpp"/>
        <file category="source" attr="template" name="examples/run.c" select="A call of the network"/>
      </files>
    </component>
  </components>
</package>
"""

KINDS: dict[str, Kind] = {
    "cmake": Kind(
        title="CMake", target="native", source="src", header="include", example="examples/run.c",
        files={"CMakeLists.txt": _CMAKE},
        build="    cmake -S . -B build && cmake --build build && build/run\n\nIn another project: `add_subdirectory(DIR)`, and link `$name`.",
    ),
    "make": Kind(
        title="Make", target="native", source="src", header="include", example="examples/run.c",
        files={"Makefile": _MAKE},
        build="    make run && ./run",
    ),
    "meson": Kind(
        title="Meson", target="native", source="src", header="include", example="examples/run.c",
        files={"meson.build": _MESON},
        build="    meson setup build && meson test -C build\n\nAs a subproject: `dependency('$name', fallback: ['$name', '${name}_dep'])`.",
    ),
    "arduino": Kind(
        title="Arduino", target="generic", source="src", header="src",
        files={
            "library.properties": "name=$name\nversion=$version\nauthor=Ingot\nmaintainer=Ingot\nsentence=The network $name.\n"
            "paragraph=Compiled by Ingot from ONNX.\ncategory=Data Processing\nurl=https://example.com/$name\narchitectures=*\nincludes=$name.h\n",
            "keywords.txt": "${name}_io\tKEYWORD1\n${name}_run\tKEYWORD2\n",
            "examples/Run/Run.ino": _ARDUINO_SKETCH,
        },
        build="Copy this folder into the folder `libraries` of your sketchbook and open the example Run. The core must compile C++11. "
        "Before you publish the library, set its author and `url` in `library.properties`.",
    ),
    "platformio": Kind(
        title="PlatformIO", target="generic", source="src", header="include", example="examples/run/main.c",
        files={
            "library.json": '{\n  "name": "$name",\n  "version": "$version",\n  "description": "The network $name, compiled by Ingot",\n'
            '  "keywords": ["machine learning", "onnx"],\n  "frameworks": "*",\n  "platforms": "*",\n  "headers": "$name.h",\n'
            '  "build": {\n    "flags": ["-std=gnu++17"],\n    "unflags": ["-std=gnu++11", "-std=gnu++14"]\n  },\n'
            '  "examples": [{"name": "run", "base": "examples/run", "files": ["main.c"]}]\n}\n',
        },
        build="Put this folder into `lib` of a project, or name it in `lib_deps`.",
    ),
    "zephyr": Kind(
        title="Zephyr", target="generic", source="src", header="include", example="samples/run/src/main.c",
        files={
            "zephyr/module.yml": "name: $name\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\nsamples:\n  - samples\n",
            "zephyr/Kconfig": "config INGOT_$macro\n\tbool \"The network $name, compiled by Ingot\"\n\tdepends on CPP && STD_CPP17\n\thelp\n"
            "\t  Builds ${name}_run(), declared in $name.h.\n",
            "zephyr/CMakeLists.txt": "if(CONFIG_INGOT_$macro)\n  zephyr_library_named($name)\n  zephyr_library_sources(../src/$name.cpp)\n"
            "  zephyr_include_directories(../include)\nendif()\n",
            "samples/run/CMakeLists.txt": "cmake_minimum_required(VERSION 3.20.0)\n"
            "list(APPEND ZEPHYR_EXTRA_MODULES $${CMAKE_CURRENT_SOURCE_DIR}/../..)\n"
            "find_package(Zephyr REQUIRED HINTS $$ENV{ZEPHYR_BASE})\nproject(${name}_run)\ntarget_sources(app PRIVATE src/main.c)\n",
            "samples/run/prj.conf": "CONFIG_CPP=y\nCONFIG_STD_CPP17=y\nCONFIG_INGOT_$macro=y\nCONFIG_MAIN_STACK_SIZE=$stack\n",
            "samples/run/sample.yaml": "sample:\n  name: The network $name\ntests:\n  sample.ingot.$name:\n    harness: console\n"
            "    harness_config:\n      type: one_line\n      regex:\n        - \"status 0\"\n",
        },
        build="    west build -b BOARD samples/run\n\nIn another application add this folder to `ZEPHYR_EXTRA_MODULES` and set "
        "`CONFIG_INGOT_$macro=y`.",
    ),
    "esp-idf": Kind(
        title="ESP-IDF", target="generic", source="src", header="include", example="examples/run/main/main.c",
        files={
            "CMakeLists.txt": "idf_component_register(SRCS src/$name.cpp INCLUDE_DIRS include)\n"
            "target_compile_features($${COMPONENT_LIB} PRIVATE cxx_std_17)\n",
            "idf_component.yml": 'version: "$version"\ndescription: The network $name, compiled by Ingot\ndependencies:\n  idf: ">=5.0"\n',
            "examples/run/CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\ninclude($$ENV{IDF_PATH}/tools/cmake/project.cmake)\n"
            "project(run)\n",
            "examples/run/main/CMakeLists.txt": "idf_component_register(SRCS main.c)\n",
            "examples/run/main/idf_component.yml": 'dependencies:\n  $name:\n    path: "../../.."\n',
            "examples/run/sdkconfig.defaults": "CONFIG_ESP_MAIN_TASK_STACK_SIZE=$stack\n",
        },
        build="    idf.py -C examples/run set-target esp32s3 build flash monitor\n\nIn another project copy this folder into `components`.",
    ),
    "cmsis-pack": Kind(
        title="CMSIS-Pack", target="cortex-m4", source="src", header="include", example="examples/run.c",
        files={
            "Ingot.$name.pdsc": _PDSC,
            "LICENSE.txt": "Text of Ingot in the generated code: MIT-0. The network has the licence of the model.\n",
        },
        build="    cpackget add Ingot.$name.$version.pack\n\nThen select the component Machine Learning, Network, $name.",
        pack="Ingot.$name.$version.pack",
    ),
    "web": Kind(
        title="the web", target=",".join(_web.LEVELS), source="", header="", files={},
        build="    import { load } from \"./$name.js\";\n    const net = await load();\n    const outputs = net.run(inputs);\n\n"
        "`$name.d.ts` says what the functions take. Serve the folder, for example with `python3 -m http.server`; Node.js and Deno read it as it is.",
        options=(),
    ),
}  # fmt: skip


def _identifier(text: str) -> str:
    name = re.sub(r"\W", "_", text, flags=re.ASCII).lower()
    return name if re.match(r"[a-z_]", name) else "net_" + name


def _example_words(header: Header, text: str, name: str) -> dict[str, str]:
    """Returns the parts of an example program that calls the network, by the placeholders of the templates."""
    macro = name.upper()
    tensors, fields = [], []
    counts = re.findall(rf"^#define ({macro}_\w+_ELEMENTS) (\d+)u$", text, flags=re.MULTILINE)
    for size in header.sizes:
        if size.made:
            tensors.append(f"static ptrdiff_t {size.name}_made;")
            fields.append(f"  io.{size.name} = &{size.name}_made;")
        else:
            fields.append(f"  io.{size.name} = {size.most};")
    for f, (elements, count) in zip(header.fields, counts):
        kind = _C_TYPES.get(f.dtype, "uint8_t")
        number = elements if int(count) else "1"
        tensors.append(f"static {kind}{'' if kind.endswith('*') else ' '}{f.name}_data[{number}];")
        if f.dtype == "string" and not f.is_output:
            fields.append(f'  for (size_t i = 0; i < {number}; ++i) {f.name}_data[i] = "";')
        fields.append(f"  io.{f.name} = {f.name}_data;")
    return {
        "arena": f"static unsigned char arena[{macro}_ARENA_BYTES + 1] __attribute__((aligned({macro}_ARENA_ALIGN)));",
        "tensors": "\n".join(tensors),
        "fields": "\n".join(fields),
    }


def _export_web(path: Path, name: str, scratch: Path, place: Path, target: str, options: Sequence[str], threads: bool) -> list[Path]:
    """Writes a module for the web; returns the paths of its files."""
    files, header = _web.write(path, name, scratch, target, options, threads)
    build = Template(KINDS["web"].build).substitute(name=name)
    files["README.md"] = (
        f"# {name}\n\nA library with the network `{name}` for the web, compiled by Ingot for {target}.\n\n{build}\n\n"
        f"The arena has {header.arena_bytes} bytes, the constants have {header.weights_bytes}.\n"
    ).encode()
    place.mkdir(parents=True, exist_ok=True)
    for file, body in files.items():
        (place / file).write_bytes(body)
    return [place / file for file in files]


def export(
    model: Any, kind: str, folder: str | Path, *, name: str = "", target: str = "", threads: bool = False, options: Sequence[str] = ()
) -> list[Path]:
    """Writes a library project for a network; returns the paths of its files.

    Parameters
    ----------
    model
        As in `ingot.compile`.
    kind
        ``cmake``, ``make``, ``meson``, ``arduino``, ``platformio``, ``zephyr``, ``esp-idf``, ``cmsis-pack`` or ``web``.
    folder
        The folder to write. It is created; if it exists, it must be empty or the result of an earlier export.
    name
        Prefix of the functions; without it the name of the model's file.
    target
        The instruction set; without it that of the kind: this machine's for build systems, portable C++ for most others. For the
        web one or several levels, separated by commas.
    threads
        For the web: further modules for several threads.
    options
        Further options of the program, as on the command line.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no kind `{kind}` of project; there are {', '.join(KINDS)}")
    chosen = KINDS[kind]
    if threads and kind != "web":
        raise UsageError(f"--threads is for --as web; a program passes its threads to a library of {chosen.title} itself")
    source = to_model(model)
    name = _identifier(name or source.stem)
    place = Path(folder)
    mark = f"A library with the network `{name}`"
    if place.exists() and any(place.iterdir()):
        readme = place / "README.md"
        if not readme.exists() or "A library with the network `" not in readme.read_text(errors="replace"):
            raise UsageError(f"the folder {place} is not empty, and no result of an export; name another one")
    with tempfile.TemporaryDirectory(prefix="ingot-") as scratch, source.file() as path:
        if kind == "web":
            return _export_web(path, name, Path(scratch), place, target or chosen.target, options, threads)
        output = Path(scratch) / f"{name}.cpp"
        done = _program.call([str(path), "-o", str(output), "--name", name, "--target", target or chosen.target, *chosen.options, *options])
        text = output.with_suffix(".h").read_text()
        header = read_header(text, name)
        if header.state_bytes:
            raise InvalidModelError("`ingot export` has no example for a network with a state; compile it with `ingot MODEL -o FILE`")
        words = {"name": name, "macro": name.upper(), "version": "1.0.0", "stack": "8192"}
        words.update(_example_words(header, text, name))
        is_task = kind == "esp-idf"
        words["main"], words["result"] = ("void app_main(void)", "") if is_task else ("int main(void)", " status")
        files = {Template(file).substitute(words): Template(body).substitute(words) for file, body in chosen.files.items()}
        if chosen.example:
            files[chosen.example] = Template(_C_EXAMPLE).substitute(words)
        files[f"{chosen.source}/{name}.cpp"] = output.read_text()
        files[f"{chosen.header}/{name}.h"] = text
    used = done.result["target"] if isinstance(done.result, dict) else target
    files["README.md"] = (
        f"# {name}\n\n{mark} for {chosen.title}, compiled by Ingot for {used}.\n\n{Template(chosen.build).substitute(words)}\n\n"
        f"`{name}_run` in `{name}.h` runs the network; the header says what it takes. The arena has {header.arena_bytes} bytes, the "
        f"constants have {header.weights_bytes}.\n"
    )
    for file, body in files.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(body)
    paths = [place / file for file in files]
    if chosen.pack:
        pack = place / Template(chosen.pack).substitute(words)
        with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as archive:
            for file, body in sorted(files.items()):
                # A fixed date, so that the same network gives the same bytes.
                archive.writestr(zipfile.ZipInfo(file, (2026, 1, 1, 0, 0, 0)), body)
        paths.append(pack)
    return paths


def main(arguments: Sequence[str]) -> int:
    """The command `ingot export`."""
    parser = argparse.ArgumentParser(
        prog="ingot export",
        description="Writes a library project for a network: source, header, an example and a README.",
        epilog="Other options are those of `ingot MODEL -o FILE`: --dim, --optimize, --max-ram, ...",
    )
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument("--as", dest="kind", required=True, choices=sorted(KINDS), help="the kind of project")
    parser.add_argument("-o", dest="folder", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument("--name", default="", help="prefix of the functions [default: the name of the model]")
    parser.add_argument("--target", default="", help="the instruction set [default: native for cmake, make, meson; else portable; web: all levels]")
    parser.add_argument("--threads", action="store_true", help="for the web: modules for several threads, too")
    given, others = parser.parse_known_args(list(arguments))
    try:
        paths = export(given.model, given.kind, given.folder, name=given.name, target=given.target, threads=given.threads, options=others)
    except IngotError as error:
        print(f"ingot export: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"ingot export: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"wrote {given.folder} ({len(paths)} files) for {KINDS[given.kind].title}")
    return 0
