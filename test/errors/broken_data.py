"""Data that does not match its model: cases in the form of cases.py."""
import os

import numpy as np
from onnx import numpy_helper

from cases import case, info, model, node


def data_folder(folder, shape, wrong=False):
    path = os.path.join(folder, "test_data_set_0")
    os.makedirs(path, exist_ok=True)
    x = np.ones(shape, np.float32)
    for name, value in (("input_0", x), ("output_0", x + (1 if wrong else 0))):
        with open(os.path.join(path, name + ".pb"), "wb") as f:
            f.write(numpy_helper.from_array(value).SerializeToString())


@case("mismatch", command=["test"])
def expected_output_differs(folder):
    data_folder(folder, (1, 4), wrong=True)
    return model([node("Relu")])


@case("input-mismatch", command=["test"])
def data_of_another_shape(folder):
    data_folder(folder, (1, 5))
    return model([node("Relu")])


def data_of_two_symbols(folder):
    path = os.path.join(folder, "test_data_set_0")
    os.makedirs(path, exist_ok=True)
    for name, shape in (("input_0", (2, 4)), ("input_1", (3, 4))):
        with open(os.path.join(path, name + ".pb"), "wb") as f:
            f.write(numpy_helper.from_array(np.ones(shape, np.float32)).SerializeToString())
    return model([node("Relu"), node("Relu", ["z"], ["w"], name="other")],
                 inputs=[info("x", ("n", 4)), info("z", ("n", 4))], outputs=[info("y", None), info("w", None)])


@case("input-mismatch", command=["test"], text="set each axis: --dim z:0=3")
def data_of_two_sizes_of_one_symbol(folder):
    return data_of_two_symbols(folder)


@case("input-mismatch", command=["test"], args=["--dim", "x:0=5"], text="but --dim sets x:0=5")
def data_against_an_axis_that_was_given(folder):
    return data_of_two_symbols(folder)


@case("input-mismatch", command=["test"], args=["--dim", "n=5"], text="but --dim sets n=5")
def data_against_a_symbol_that_was_given(folder):
    return data_of_two_symbols(folder)


def report(folder, text):
    with open(os.path.join(folder, "new.json"), "w") as f:
        f.write(text)
    return model([node("Relu")])


@case("over-growth", command=["diff"], args=["FOLDER/new.json", "--max-macs-growth", "10%"], file="FOLDER/new.json",
      text="MACs grows from 0 to 16, by 16; --max-macs-growth allows 0 (10 %)")
def more_work(folder):
    return report(folder, '{"target": "generic", "compiles": true, "macs": 16, "groups": []}')


@case("cannot-read", command=["diff"], args=["FOLDER/new.json"], text="neither an ONNX model nor a report")
def report_that_is_none(folder):
    return report(folder, '{"target": "generic"}')


@case("cannot-read", command=["diff"], args=["FOLDER/new.json"], text="the model does not compile")
def report_without_figures(folder):
    return report(folder, '{"target": "generic", "compiles": false}')


@case("missing-program", command=["diff"], args=["FOLDER/new.json", "--max-ram-growth", "0"], text="is not measured")
def report_without_sizes(folder):
    return report(folder, '{"target": "generic", "compiles": true, "macs": 0}')


@case("bad-option", command=["diff"], args=["FOLDER/new.json", "--max-time-growth", "5%"], text="no predicted time for the target generic")
def report_without_times(folder):
    return report(folder, '{"target": "generic", "compiles": true, "macs": 0}')
