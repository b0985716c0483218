"""Tests of the cache: entries are found again, shared by processes, never incomplete, and not required."""

import json
import os
import shutil
import subprocess
import sys
import time
import warnings

import numpy as np
import onnx
import pytest

import ingot
from ingot import _cache, _toolchain

X = np.float32([1, -2, 3, -4])


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder):
    """Returns the entries of networks. (With the package ziglang, the cache also has an entry with scripts that call it.)"""
    return sorted(path.parent for path in folder.rglob("entry.json") if not (path.parent / "clang++").exists())


def test_the_second_call_is_fast(relu, empty):
    ingot.compile(relu)
    assert len(entries(empty)) == 1
    begin = time.perf_counter()
    ingot.compile(relu)
    # The call takes milliseconds; the limit allows for other work on the machine.
    assert time.perf_counter() - begin < 0.5
    assert len(entries(empty)) == 1


def test_what_a_network_is_made_of_is_its_key(relu, dense, empty):
    ingot.compile(relu)
    ingot.compile(relu, target="generic")
    ingot.compile(dense, dims={"batch": 1})
    ingot.compile(dense, dims={"batch": 2})
    assert len(entries(empty)) == 4
    # The number of threads is an argument of each run, so it is not part of the key.
    ingot.compile(relu, threads=2)
    assert len(entries(empty)) == 4


@pytest.mark.parametrize("damage", ["library", "missing", "list", "empty", "nothing"])
def test_broken_entries_are_built_again(relu, empty, damage):
    ingot.compile(relu)
    (entry,) = entries(empty)
    # Writes a new file instead of changing the old one, so that a loaded library stays intact.
    if damage == "library":
        data = (entry / "net.so").read_bytes()
        (entry / "net.so").unlink()
        (entry / "net.so").write_bytes(data[: len(data) // 2])
    elif damage == "missing":
        (entry / "net.h").unlink()
    elif damage == "list":
        (entry / "entry.json").write_text('{"files": {"net')
    elif damage == "empty":
        (entry / "entry.json").write_text(json.dumps({"files": {}}))
    else:
        shutil.rmtree(entry)
        entry.mkdir()
    assert ingot.compile(relu)(X).tolist() == [1, 0, 3, 0]
    assert _cache._is_whole(entry)
    assert not [path for path in entry.parent.iterdir() if path.name.startswith((".new", ".old"))]


def test_a_failed_build_leaves_nothing(empty, dense, monkeypatch):
    with pytest.raises(ingot.InvalidModelError):
        ingot.compile(dense)
    assert not entries(empty)
    monkeypatch.setenv("INGOT_CXX", "false")
    with pytest.raises(ingot.ToolchainError, match="does not compile the generated C"):
        ingot.compile(dense, dims={"batch": 1})
    assert not entries(empty)
    assert not [path for path in empty.rglob("*") if path.is_dir() and path.name.startswith(".")]


def test_a_cache_that_cannot_be_written(relu, tmp_path, monkeypatch):
    # A file instead of the folder: not even root can create a folder below it.
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(_cache, "_warned", set())
    with pytest.warns(RuntimeWarning, match="cannot be written .*INGOT_CACHE"):
        assert ingot.compile(relu)(X).tolist() == [1, 0, 3, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ingot.compile(relu)(X).tolist() == [1, 0, 3, 0]


def test_processes_at_once(empty, tmp_path):
    """Four processes want the same network at once; only one of them builds it."""
    log = tmp_path / "log"
    compiler = tmp_path / "compiler"
    real, _, flags = os.environ["INGOT_CXX"].partition(" ")
    compiler.write_text(f'#!/bin/sh\necho built >>{log}\nsleep 0.3\nexec {real} "$@" {flags}\n')
    compiler.chmod(0o755)
    program = (
        "import onnx, numpy, ingot\n"
        "m = onnx.parser.parse_model('<ir_version: 8, opset_import: [\"\": 17]> net (float[4] x) => (float[4] y) { y = Relu(x) }')\n"
        "assert ingot.compile(m)(numpy.float32([1, -2, 3, -4])).tolist() == [1, 0, 3, 0]\n"
    )
    environment = {**os.environ, "INGOT_CXX": str(compiler)}
    processes = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert log.read_text() == "built\n"


def test_what_a_killed_process_leaves_is_removed(empty, tmp_path, monkeypatch):
    started, go, compiler = tmp_path / "started", tmp_path / "go", tmp_path / "compiler"
    real, _, flags = os.environ["INGOT_CXX"].partition(" ")
    compiler.write_text(f'#!/bin/sh\n[ -e {go} ] && exec {real} "$@" {flags}\necho x >{started}\nexec sleep 60\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("INGOT_CXX", str(compiler))
    model = '<ir_version: 8, opset_import: ["": 17]> net (float[4] x) => (float[4] y) { y = Relu(x) }'
    program = f"import onnx, ingot\ningot.compile(onnx.parser.parse_model({model!r}))\n"
    process = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, 9)
    process.wait()
    assert not entries(empty) and len(list(empty.rglob(".new-*"))) == 1
    go.touch()
    assert ingot.compile(onnx.parser.parse_model(model))(X).tolist() == [1, 0, 3, 0]
    assert len(entries(empty)) == 1 and not list(empty.rglob(".new-*"))


def test_a_folder_without_space_for_an_entry(relu, empty, monkeypatch):
    """The lock file can be created, but the folder of the entry cannot."""
    make = _cache.tempfile.mkdtemp

    def mkdtemp(*arguments, dir=None, **named):
        if dir is not None and str(dir).startswith(str(empty)):
            raise OSError(28, "No space left on device")
        return make(*arguments, dir=dir, **named)

    monkeypatch.setattr(_cache.tempfile, "mkdtemp", mkdtemp)
    monkeypatch.setattr(_cache, "_warned", set())
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert ingot.compile(relu)(X).tolist() == [1, 0, 3, 0]
    assert not entries(empty)


def test_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("INGOT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _cache.folder() == tmp_path / "ingot"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _cache.folder() == tmp_path / ".cache" / "ingot"


def test_clear(relu, empty):
    net = ingot.compile(relu)
    ingot.clear_cache()
    assert not empty.exists() and net(X).tolist() == [1, 0, 3, 0]


def test_keys_know_where_parts_begin():
    assert _cache.key_of("ab", "c") != _cache.key_of("a", "bc") and _cache.key_of("a") == _cache.key_of(b"a")


def test_compilers(monkeypatch, tmp_path):
    monkeypatch.delenv("INGOT_CXX")
    monkeypatch.setattr(_toolchain, "search_path", lambda: str(tmp_path))
    with pytest.raises(ingot.ToolchainError, match="no C.. compiler: looked for g.., clang.*pip install ziglang"):
        _toolchain.find_compiler(["g++", "clang++"])
    (tmp_path / "clang++").write_text("#!/bin/sh\n")
    (tmp_path / "clang++").chmod(0o755)
    assert _toolchain.find_compiler(["g++", "clang++"]) == [str(tmp_path / "clang++")]
    monkeypatch.setenv("INGOT_CXX", "no-such-compiler -O3")
    with pytest.raises(ingot.ToolchainError, match="INGOT_CXX names no-such-compiler"):
        _toolchain.find_compiler(["g++"])
    assert _toolchain.identity(["/no/such", "-O1"]) == "/no/such -O1"
    with pytest.raises(ingot.ToolchainError, match="does not run"):
        _toolchain.build_library([str(tmp_path)], [], tmp_path / "x.so")


def test_zig_stands_in(monkeypatch, empty, tmp_path):
    monkeypatch.setattr(_toolchain, "zig", lambda: ("/bin/echo", "zig"))
    folder = _toolchain._stand_ins()
    # Zig gets the flag -nostdlib++, so that it does not build its C++ library. Other compilers do not get the
    # flag, which they may not know.
    called = tmp_path / "called"
    monkeypatch.setattr(_toolchain, "zig", lambda: ("/bin/sh", "-c", f'echo "$@" >>{called}', "zig"))
    _toolchain.build_library([os.path.join(_toolchain._stand_ins(), "clang++")], [], tmp_path / "x.so")
    assert "c++" in called.read_text() and " -nostdlib++ " in called.read_text()
    (tmp_path / "g++").write_text(f'#!/bin/sh\necho "$@" >{called}')
    (tmp_path / "g++").chmod(0o755)
    _toolchain.build_library([str(tmp_path / "g++")], [], tmp_path / "x.so")
    assert "-shared" in called.read_text() and "-nostdlib++" not in called.read_text()
    monkeypatch.setattr(_toolchain, "zig", lambda: ("/bin/echo", "zig"))
    done = subprocess.run([os.path.join(folder, "aarch64-linux-gnu-g++"), "-c"], capture_output=True, text=True)
    assert done.stdout == "zig c++ -target aarch64-linux-gnu -c\n"
    assert _toolchain.search_path().endswith(folder)
    monkeypatch.setattr(_toolchain, "zig", lambda: ())
    assert _toolchain._stand_ins() == ""
