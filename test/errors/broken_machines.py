"""Wrong command lines, and machines that lack something: cases in the form of cases.py. None of these
faults may be reported as Ingot's own."""
import os

from cases import case, info, model, node, weights


def relu(folder):
    return model([node("Relu")])


def refused(name, *args, **expected):
    """Adds a case in which Ingot must reject the command-line arguments `args` with a valid model."""
    def build(folder):
        return relu(folder)
    build.__name__ = name
    case("bad-option", args=args, **expected)(build)


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)
    return relu(folder)


@case("over-budget", args=["--target", "wasm32"], text="wasm32 addresses 4294967296")
def more_than_32_bit_addresses(folder):
    """An intermediate result of 4.8 GB."""
    nodes = [node("MatMul", ["x", "a"], ["products"]), node("Softmax", ["products"], ["shares"], axis=0),
             node("MatMul", ["shares", "b"], ["y"])]
    return model(nodes, [info("x", (40000, 1))], [info("y", (40000, 1))], [weights("a", (1, 30000)), weights("b", (30000, 1))])


# ------------------------------------------------------------------ the command line

refused("unknown_target", "--target", "z80", text="targets: native, generic")
refused("misspelt_target", "--target", "genric", text="did you mean `generic`?")
refused("target_twice", "--target", "generic,generic", text="--target: `generic` is given twice")
refused("target_option_twice", "--target", "generic", "--target", "native", text="--target is given 2 times")
refused("misspelt_stage", "--stop-after", "scedule", text="did you mean `schedule`?")
refused("unknown_stage", "--stop-after", "print", text="stages: import, simplify, decide, lower, schedule, plan")
refused("unknown_option", "--frobnicate", text="see `ingot --help`")
refused("misspelt_option", "--targt", "generic", text="did you mean `--target`?")
refused("option_of_another_command", "--threads", "2", text="it is an option of `ingot bench`")
refused("dim_twice", "--dim", "n=1", "--dim", "n=2", text="--dim: `n` is given twice: `1` and `2`")
refused("bind_twice", "--bind", "x=1", "--bind", "x=1", text="--bind: `x` is given twice")
refused("input_twice", "--input", "x=a.npy", "--input", "x=b.npy", "--output-dir", "FOLDER", command=["run"],
        text="--input: `x` is given twice")
refused("second_model", "nosuch.onnx", text="there is also `nosuch.onnx`")
refused("command_behind_an_option", "inspect", text="a command comes first: ingot inspect")
refused("targets_takes_nothing", command=["targets"], text="takes no argument")
refused("output_of_another_kind", "-o", "FOLDER/out.txt", text="has the extension `.txt`")
refused("output_without_extension", "-o", "FOLDER/out", text="has no extension")
refused("output_without_a_name", "-o", "FOLDER/.cpp", text="no name before its extension")
refused("output_of_nothing", "-o", "", text="has no extension")
refused("compiler_that_does_not_exist", "--cxx", "nowhere++ -Os", "-o", "FOLDER/out.o",
        text="the program `nowhere++` is not installed")
refused("compiler_without_effect", "--cxx", "c++", text="--cxx has no effect when C++ is written without --max-ram, --max-flash or --evidence")
refused("weights_without_effect", "--weights", "file", "--stop-after", "plan", text="--weights has no effect")
refused("folders_beside_inputs", "a", "b", "--input", "x=x.npy", command=["run"], text="--input has no effect")
refused("no_threads", "--threads", "0", command=["bench"], text="--threads: 0 is out of range (1 to 1024)")
refused("no_time", "--seconds", "nan", command=["bench"], text="--seconds: the value is out of range")
refused("raw_json", "--raw", "--json", command=["bench"], text="--json has no effect with --raw")


refused("unknown_short_option", "-x", text="see `ingot --help`")
refused("no_guess_for_two_letters", "--op", "2", text="see `ingot --help`")
refused("unknown_color", "--color", "red", text="--color: unknown value `red` (choose auto, always or never)")
refused("quiet_and_verbose", "-q", "-v", text="--quiet and --verbose exclude each other")
refused("size_without_a_number", "--max-ram", "12XB", text="--max-ram: cannot parse `12XB` as a size (examples: 65536, 64K, 1M)")
refused("unknown_precision", "--fast=fp8", text="--fast: unknown precision `fp8` (choose bf16, f16 or tf32)")
refused("unknown_aim", "--optimize", "beauty", text="--optimize: unknown value `beauty` (`speed` and `size` exist)")
refused("unknown_weights", "--weights", "heap", text="--weights: unknown value `heap` (choose source, object or file)")
refused("entry_twice", "--entry", "a", "--entry", "a", text="--entry: the name `a` is used twice; entry names must differ")
refused("entry_with_an_unknown_dimension", "--entry", "a:bach=1", text="--entry a: no input has a dimension `bach`")
refused("quantization_without_quantize", "--calibrate", "none", "--max-loss", "1%",
        text="--calibrate and --max-loss have no effect without --quantize\n  hint: add --quantize int8, or use `ingot quantize`")
refused("weights_of_five_bits", "--quantize", "int8", "--calibrate", "x.npz", "--weight-bits", "5",
        text="--weight-bits: unknown value `5` (choose 8, 7 or 6)")
refused("weight_bits_of_float_products", "--quantize", "int8-weights", "--weight-bits", "7",
        text="--weight-bits has no effect if activations are not quantized")
refused("stage_into_a_source", "--stop-after", "decide", "-o", "FOLDER/out.cpp", text="name a .mlir file")
refused("prefix_of_the_runtime", "--name", "ingot", text="the prefix `ingot` is reserved")
refused("usage_without_a_blank", "foo", command=["targets"], text="usage: ingot targets [OPTIONS]\n")
refused("unknown_shell", command=["completion"], text="(choose bash, zsh or fish)")
refused("unknown_page", command=["reference"], text="(choose cli, man, errors, operators, targets or deviations)")


@case("renamed-prefix", args=["--name", "class"], text="--name: `class` cannot be used in C++; the prefix is `class_`")
def name_that_is_a_keyword(folder):
    return relu(folder)


@case("empty-tensors", args=["--dim", "n=0"], text="every output of the model is empty")
def no_elements(folder):
    return model([node("Relu")], inputs=[info("x", ("n", 4))], outputs=[info("y", ("n", 4))])


# ------------------------------------------------------------------------ the machine

def foreign(folder, name, text="int main() {}\n"):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)
    return relu(folder)


@case("foreign-file", args=["-o", "FOLDER/main.cpp"], file="FOLDER/main.cpp", text="choose another name with -o, or replace it with --force")
def source_of_a_person(folder):
    return foreign(folder, "main.cpp")


@case("foreign-file", args=["-o", "FOLDER/main.cpp"], file="FOLDER/main.h")
def header_of_a_person(folder):
    return foreign(folder, "main.h")


@case("foreign-file", args=["-o", "FOLDER/main.o"], file="FOLDER/main.o")
def object_that_is_none(folder):
    return foreign(folder, "main.o")


@case("foreign-file", command=["quantize"], args=["--calibrate", "none", "-o", "FOLDER/model.onnx"],
      file="FOLDER/model.onnx")
def quantized_over_its_own_model(folder):
    return relu(folder)


@case("run-failed", command=["bench"], args=["--target", "cortex-m4"], text="cannot time cortex-m4 code on this host")
def times_of_a_microcontroller(folder):
    return relu(folder)


@case("cannot-write", args=["-o", "/proc/no/such/folder/out.cpp"], file="/proc/no/such/folder/out.cpp")
def output_cannot_be_written(folder):
    return relu(folder)


@case("cannot-write", most_bytes=2000, file="FOLDER/out.h", text="out.h` cannot be written: File too large")
def disk_that_is_full(folder):
    return relu(folder)


@case("cannot-write", most_bytes=2000, args=["--stop-after", "plan", "-o", "FOLDER/out.mlir"], text="File too large")
def disk_that_is_full_of_a_stage(folder):
    return model([node("Sin", [f"x{i}" if i else "x"], [f"x{i + 1}" if i < 40 else "y"]) for i in range(41)])


@case("cannot-write", args=["-o", "FOLDER/out.o"], env={"TMPDIR": "/no/such/folder"},
      text="`/no/such/folder` cannot be written: No such file or directory")
def no_temporary_folder(folder):
    return relu(folder)


@case("cannot-write", command=["bench"], env={"TMPDIR": "/no/such/folder"}, text="/no/such/folder")
def no_temporary_folder_to_run_in(folder):
    return relu(folder)


@case("missing-program", args=["-o", "FOLDER/out.o"], env={"PATH": "/no/such/folder"},
      text="no compiler for the target")
def no_compiler(folder):
    return relu(folder)


@case("missing-program", command=["bench"], env={"PATH": "/no/such/folder"}, text="no compiler for the target")
def no_compiler_to_run_with(folder):
    return relu(folder)


@case("machine-fault", args=["-o", "FOLDER/out.o", "--cxx", "FOLDER/compiler"],
      text="`compiler` failed: ld: final link failed: No space left on device")
def compiler_on_a_full_disk(folder):
    return script(folder, "compiler", "echo error: collect2 >&2; echo ld: final link failed: No space left on device >&2\n"
                                      "exit 1")


@case("compiler-failed", args=["-o", "FOLDER/out.o", "--cxx", "FOLDER/compiler -x"], text="error: what is this?")
def compiler_that_fails(folder):
    return script(folder, "compiler", "echo model.cpp:1: error: what is this? >&2; exit 1")
