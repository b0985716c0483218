"""Programs around the code of the README, and a network with a state.

    readme_program.py README.md FOLDER
"""
import os
import re
import sys

import onnx
from onnx import TensorProto, helper

readme, folder = sys.argv[1:]


def block(start):
    """The indented lines of the README that begin with `start`."""
    with open(readme) as file:
        text = file.read()
    return re.search(r"^    " + re.escape(start) + r".*\n(    .*\n)*", text, re.MULTILINE).group(0)


include, *threads = block('#include "ingot_thread_pool.h"').splitlines()
programs = {
    "threads": ['#include "mnist.h"', include.strip(), """
alignas(MNIST_ARENA_ALIGN) static unsigned char arena[MNIST_ARENA_BYTES];
int main() {
  static float image[28 * 28], scores[10];
  mnist_io io = {image, scores};""", *threads, """
  return scores[0] == 0 || pool.size() != 4;
}"""],
    "state": ["""#include "net.h"
#include <stdio.h>
alignas(NET_ARENA_ALIGN) static unsigned char arena[NET_ARENA_BYTES + 1];
static bool read(float *samples) { return ++samples[0] < 5; }
static void write(const float *result) { printf("%g ", result[0]); }
int main() {
  float samples[NET_SAMPLES_ELEMENTS] = {}, result[NET_RESULT_ELEMENTS];""", block("alignas(NET_STATE_ALIGN)"), "}"],
}
for name, lines in programs.items():
    with open(os.path.join(folder, name + ".cpp"), "w") as file:
        file.write("\n".join(lines) + "\n")


def info(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, (3,))


graph = helper.make_graph([helper.make_node("Add", ["samples", "h_in"], ["h_out"]),
                           helper.make_node("Identity", ["h_out"], ["result"])], "running_sum",
                          [info("samples"), info("h_in")], [info("result"), info("h_out")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
          os.path.join(folder, "net.onnx"))
