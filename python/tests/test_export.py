"""Tests `ingot export`: each project has the files that its build system requires, and is built if its compiler is installed."""

import json
import pathlib
import re
import shutil
import subprocess
import zipfile

import manifests
import numpy as np
import onnx
import pytest
from conftest import MNIST, make

import ingot
from ingot import export as exporting
from ingot.__main__ import main

# For each kind of project: a compiler from Debian, and the flags that the platform uses.
FLAGS = {
    "arduino": ("arm-none-eabi-g++", "-mcpu=cortex-m0plus -mthumb -Os -std=gnu++17 -ffunction-sections -fdata-sections -fno-threadsafe-statics "
                "-nostdlib --param max-inline-insns-single=500 -fno-rtti -fno-exceptions"),
    "platformio": ("arm-none-eabi-g++", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os -std=gnu++17 -fno-rtti -fno-exceptions"),
    "zephyr": ("arm-none-eabi-g++", "-mcpu=cortex-m33 -mthumb -Os -std=c++17 -ffreestanding -fno-common -fno-rtti -fno-exceptions -Wall"),
    "esp-idf": ("riscv64-unknown-elf-g++", "-march=rv32imc_zicsr_zifencei -mabi=ilp32 --specs=picolibc.specs -Os -std=gnu++17 -ffunction-sections "
                "-fdata-sections -fstrict-volatile-bitfields -fno-rtti -fno-exceptions -nostartfiles -Wall"),
    "cmsis-pack": ("arm-none-eabi-g++", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -O2 -std=gnu++17 -fno-rtti -fno-exceptions -Wall"),
}  # fmt: skip


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["cmake", "make", "meson"])
def test_build_systems(kind, tmp_path):
    if not shutil.which(kind):
        pytest.skip(f"{kind} is not installed")
    assert main(["export", str(MNIST), "--as", kind, "-o", str(tmp_path / "p"), "--name", "digits"]) == 0
    place = tmp_path / "p"
    if kind == "cmake":
        run("cmake", "-S", ".", "-B", "build", "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_C_COMPILER=gcc", cwd=place)
        run("cmake", "--build", "build", cwd=place)
        assert run("build/run", cwd=place) == "status 0\n"
    elif kind == "make":
        run("make", "run", cwd=place)
        assert run("./run", cwd=place) == "status 0\n"
        run("make", "clean", cwd=place)
    else:
        run("meson", "setup", "build", cwd=place)
        run("meson", "test", "-C", "build", cwd=place)


@pytest.mark.parametrize("kind", FLAGS)
def test_sources_compile_with_the_flags_of_the_family(kind, tmp_path):
    compiler, flags = FLAGS[kind]
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    exporting.export(MNIST, kind, tmp_path, name="digits")
    where = exporting.KINDS[kind]
    (tmp_path / "empty.cpp").write_text("#include <stdint.h>\n")
    if subprocess.run([compiler, *flags.split(), "-fsyntax-only", "empty.cpp"], cwd=tmp_path, capture_output=True).returncode:
        pytest.skip(f"{compiler} has no headers for {flags.split()[0]}")
    run(compiler, *flags.split(), f"-I{where.header}", "-c", f"{where.source}/digits.cpp", "-o", "digits.o", cwd=tmp_path)
    if where.example:
        plain = [flag for flag in flags.split() if "++" not in flag and "-rtti" not in flag and "exceptions" not in flag]
        run(compiler.replace("g++", "gcc"), *plain, "-std=gnu11", f"-I{where.header}", "-c", where.example, "-o", "run.o", cwd=tmp_path)


def test_arduino(tmp_path):
    """The rules of the Arduino library specification: properties, layout, and a sketch that is C++ with a core's header."""
    exporting.export(MNIST, "arduino", tmp_path / "digits", name="digits")
    lines = (tmp_path / "digits" / "library.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    assert set(properties) >= {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", properties["version"]) and properties["includes"] == "digits.h"
    assert properties["category"] in ("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing",
                                      "Data Storage", "Data Processing", "Other")  # fmt: skip
    assert all(re.fullmatch(r"\S+\tKEYWORD[12]", line) for line in (tmp_path / "digits" / "keywords.txt").read_text().splitlines())
    sketch = (tmp_path / "digits/examples/Run/Run.ino").read_text()
    core = (
        "#include <stddef.h>\n#include <stdint.h>\nstruct S { void begin(long); void print(const char *); void print(long); "
        "void println(unsigned long); };\nextern S Serial;\nunsigned long micros();\n"
    )
    (tmp_path / "sketch.cpp").write_text(core + sketch)
    run("g++", "-std=gnu++17", "-fsyntax-only", "-Idigits/src", "sketch.cpp", cwd=tmp_path)


ARDUINO = pathlib.Path("/usr/share/arduino/hardware/arduino/avr")


def test_an_uno(tmp_path):
    """A network that fits into an Arduino Uno: sketch, library and core are built with avr-g++, and run by simavr if it is installed."""
    if not shutil.which("avr-g++") or not (ARDUINO / "cores/arduino").exists():
        pytest.skip("Debian's gcc-avr, avr-libc and arduino-core-avr are not installed")
    random = np.random.default_rng(1)
    model = make("net (float[1, 4] x) => (float[1, 3] y) { h = Gemm(x, w, b)\n r = Relu(h)\n y = Gemm(r, v, c) }")
    for name, shape in (("w", (4, 8)), ("b", (8,)), ("v", (8, 3)), ("c", (3,))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name))
    exporting.export(model, "arduino", tmp_path, name="iris", options=["--optimize", "size"])
    flags = ["-Os", "-ffunction-sections", "-fdata-sections", "-mmcu=atmega328p", "-w", "-fno-exceptions", "-fno-threadsafe-statics",
             "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_UNO", "-DARDUINO_ARCH_AVR",
             # The float.h of Debian's avr-gcc lacks this macro, which Arduino's core uses.
             "-DDECIMAL_DIG=__DECIMAL_DIG__",
             "-Isrc", f"-I{ARDUINO}/cores/arduino", f"-I{ARDUINO}/variants/standard"]  # fmt: skip
    objects = []

    def build(compiler, path, *more):
        objects.append(f"{len(objects)}.o")
        run(compiler, *flags, *more, "-c", str(path), "-o", objects[-1], cwd=tmp_path)

    # The language standards are those in platform.txt.
    build("avr-g++", "src/iris.cpp", "-std=gnu++11", "-Wall", "-Wextra", "-Werror")
    build("avr-g++", "examples/Run/Run.ino", "-std=gnu++11", "-x", "c++", "-include", "Arduino.h")
    for path in sorted((ARDUINO / "cores/arduino").iterdir()):
        if path.suffix in (".c", ".S"):
            build("avr-gcc", path, *(["-std=gnu11"] if path.suffix == ".c" else ["-x", "assembler-with-cpp"]))
        elif path.suffix == ".cpp":
            build("avr-g++", path, "-std=gnu++11", "-fpermissive")
    run("avr-gcc", "-Os", "-Wl,--gc-sections", "-mmcu=atmega328p", *objects, "-lm", "-o", "run.elf", cwd=tmp_path)
    text, data, bss = map(int, run("avr-size", "run.elf", cwd=tmp_path).splitlines()[1].split()[:3])
    # The board has 32 KB of flash, 512 bytes of it for the bootloader, and 2 KB of RAM.
    assert text + data < 31 * 1024 and data + bss < 1536
    if shutil.which("simavr"):
        with subprocess.Popen(["simavr", "-m", "atmega328p", "-f", "16000000", "run.elf"], cwd=tmp_path, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as board:  # fmt: skip
            said = next((line for line in board.stdout if "status" in line), "")
            board.kill()
        assert "status 0, microseconds" in said


def test_platformio(tmp_path):
    exporting.export(MNIST, "platformio", tmp_path, name="digits")
    manifest = json.loads((tmp_path / "library.json").read_text())
    assert re.fullmatch(r"[^:;/,@<>]{1,100}", manifest["name"]) and re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert {"name", "version"} <= set(manifest) and (tmp_path / manifest["examples"][0]["base"] / "main.c").exists()


def test_zephyr(tmp_path):
    exporting.export(MNIST, "zephyr", tmp_path, name="digits")
    assert manifests.faults_of_zephyr(tmp_path) == []
    module = manifests.read_yaml((tmp_path / "zephyr/module.yml").read_text())
    assert module["name"] == "digits" and module["samples"] == ["samples"]
    settings = dict(line.split("=") for line in (tmp_path / "samples/run/prj.conf").read_text().splitlines())
    assert settings["CONFIG_INGOT_DIGITS"] == settings["CONFIG_CPP"] == "y" and int(settings["CONFIG_MAIN_STACK_SIZE"]) >= 4096
    assert 'type: one_line' in (tmp_path / "samples/run/sample.yaml").read_text()
    (tmp_path / "zephyr/module.yml").write_text("name: a b\nbuilt: x\nbuild:\n  cmake: none\n  kconfig: none\nsamples:\n  - none\n")
    assert len(manifests.faults_of_zephyr(tmp_path)) == 5


def test_esp_idf(tmp_path):
    exporting.export(MNIST, "esp-idf", tmp_path, name="digits")
    assert "void app_main(void)" in (tmp_path / "examples/run/main/main.c").read_text()
    assert manifests.faults_of_esp_idf((tmp_path / "idf_component.yml").read_text()) == []
    text = (tmp_path / "examples/run/main/idf_component.yml").read_text()
    assert manifests.faults_of_esp_idf(text, is_component=False) == []
    place = manifests.read_yaml(text)["dependencies"]["digits"]["path"]
    assert (tmp_path / "examples/run/main" / place).resolve() == tmp_path.resolve()
    wrong = 'version: "1.0"\nauthor: x\ntargets:\n  - esp31\ndependencies:\n  a b: "*"\n'
    with pytest.raises(ValueError):
        manifests.faults_of_esp_idf(wrong)
    assert len(manifests.faults_of_esp_idf(wrong.replace("a b", "idf").replace('"*"', '"=>5"'))) == 4


def test_cmsis_pack(tmp_path):
    exporting.export(MNIST, "cmsis-pack", tmp_path / "a", name="digits")
    exporting.export(MNIST, "cmsis-pack", tmp_path / "b", name="digits")
    pack = tmp_path / "a/Ingot.digits.1.0.0.pack"
    assert pack.read_bytes() == (tmp_path / "b/Ingot.digits.1.0.0.pack").read_bytes()
    with zipfile.ZipFile(pack) as archive:
        names, text = archive.namelist(), archive.read("Ingot.digits.pdsc").decode()
    assert manifests.faults_of_pdsc(text, names, "Ingot.digits.pdsc") == []
    assert pack.name == "Ingot.digits.{}.pack".format(re.search(r'release version="(.*?)"', text).group(1))
    for old, new in (
        ("<url/>", "<author/><url/>"),
        ("<vendor>Ingot<", "<vendor>In got<"),
        ('version="1.0.0" date', 'version="1" date'),
        ('date="2026-01-01"', 'date="today"'),
        ("Cortex-M3", "Cortex-M2"),
        ('condition="Cortex-M"', 'condition="none"'),
        ("src/digits.cpp", "digits.cpp"),
        ('category="header"', 'category="h"'),
        (' select="A call of the network"', ""),
        ('Cgroup="Network" ', ""),
        ("LICENSE.txt", "none.txt"),
    ):
        assert old in text and manifests.faults_of_pdsc(text.replace(old, new), names, "Ingot.digits.pdsc"), new
    assert manifests.faults_of_pdsc(text, names, "digits.pdsc")


def test_sizes_and_strings_in_examples(tmp_path, dense):
    exporting.export(dense, "make", tmp_path / "d", options=["--dim", "batch=1..4"])
    run("make", "run", cwd=tmp_path / "d")
    assert run("./run", cwd=tmp_path / "d") == "status 0\n"
    model = make("net (float[3] x) => (int64[1, n] y) { y = NonZero(x) }")
    exporting.export(model, "make", tmp_path / "n", name="1net")
    run("make", "run", cwd=tmp_path / "n")
    strings = make('net (string[2] x) => (string[n] y) { y = StringNormalizer<case_change_action = "UPPER", stopwords = ["a"]>(x) }')
    exporting.export(strings, "make", tmp_path / "s")
    run("make", "run", cwd=tmp_path / "s")
    assert run("./run", cwd=tmp_path / "s") == "status 0\n"


def test_what_is_refused(tmp_path, capsys):
    with pytest.raises(ingot.UsageError, match="no kind `bazel`"):
        exporting.export(MNIST, "bazel", tmp_path)
    (tmp_path / "file").write_text("mine")
    assert main(["export", str(MNIST), "--as", "make", "-o", str(tmp_path)]) == 1
    assert "is not empty, and no result of an export" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"
    assert main(["export", "/no/such.onnx", "--as", "make", "-o", str(tmp_path / "x")]) == 1
    assert main(["export", str(MNIST), "--as", "make", "-o", str(tmp_path / "file" / "x"), "--optimize", "size"]) == 1
    state = make("net (float[2] x, float[2] h) => (float[2] y, float[2] g) { g = Add(x, h)\n y = Identity(g) }")
    with pytest.raises(ingot.InvalidModelError, match="network with a state"):
        exporting.export(state, "make", tmp_path / "y", options=["--state", "h=g"])
    # A second export into the same folder replaces the first one.
    for _ in range(2):
        assert main(["export", str(MNIST), "--as", "make", "-o", str(tmp_path / "again")]) == 0
    with pytest.raises(SystemExit):
        main(["export", str(MNIST)])
