"""Wrong command lines and machines that lack something: cases as cases.py says. Such faults are never Ingot's own."""
import os

from cases import case, model, node


def relu(folder):
    return model([node("Relu")])


def refused(name, *args, **expected):
    """A case of the plain model with these arguments."""
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


# ------------------------------------------------------------------ the command line

refused("unknown_target", "--target", "z80", text="targets: native, generic")
refused("misspelt_target", "--target", "genric", text="did you mean `generic`?")
refused("target_twice", "--target", "generic,generic", text="--target names `generic` twice")
refused("target_option_twice", "--target", "generic", "--target", "native", text="--target is given 2 times")
refused("misspelt_stage", "--stop-after", "scedule", text="did you mean `schedule`?")
refused("unknown_stage", "--stop-after", "print", text="stages: import, simplify, decide, lower, schedule, plan")
refused("unknown_option", "--frobnicate", text="see `ingot --help`")
refused("misspelt_option", "--targt", "generic", text="did you mean `--target`?")
refused("option_of_another_command", "--threads", "2", text="it is an option of `ingot bench`")
refused("dim_twice", "--dim", "n=1", "--dim", "n=2", text="--dim names `n` twice: `1` and `2`")
refused("bind_twice", "--bind", "x=1", "--bind", "x=1", text="--bind names `x` twice")
refused("input_twice", "--input", "x=a.npy", "--input", "x=b.npy", "--output-dir", "FOLDER", command=["run"],
        text="--input names `x` twice")
refused("second_model", "nosuch.onnx", text="there is also `nosuch.onnx`")
refused("command_behind_an_option", "inspect", text="a command comes first: ingot inspect")
refused("targets_takes_nothing", command=["targets"], text="takes no argument")
refused("output_of_another_kind", "-o", "FOLDER/out.txt", text="has the extension `.txt`")
refused("output_without_extension", "-o", "FOLDER/out", text="has no extension")
refused("output_without_a_name", "-o", "FOLDER/.cpp", text="no name before its extension")
refused("output_of_nothing", "-o", "", text="has no extension")
refused("compiler_that_does_not_exist", "--cxx", "nowhere++ -Os", "-o", "FOLDER/out.o",
        text="there is no program `nowhere++`")
refused("compiler_without_effect", "--cxx", "c++", text="--cxx has no effect on C++ without a budget")
refused("weights_without_effect", "--weights", "file", "--stop-after", "plan", text="--weights has no effect")
refused("folders_beside_inputs", "a", "b", "--input", "x=x.npy", command=["run"], text="--input has no effect")
refused("no_threads", "--threads", "0", command=["bench"], text="--threads is 0")
refused("no_time", "--seconds", "nan", command=["bench"], text="--seconds can be")
refused("raw_json", "--raw", "--json", command=["bench"], text="--json has no effect with --raw")


# ------------------------------------------------------------------------ the machine

@case("cannot-write", args=["-o", "/proc/no/such/folder/out.cpp"])
def output_cannot_be_written(folder):
    return relu(folder)


@case("cannot-write", most_bytes=2000, text="out.h` cannot be written: File too large")
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
