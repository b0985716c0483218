"""Threads change no bit of a result, and do not race.

    threads.py --ingot INGOT

Networks whose kernels are divided in all the ways that there are run with the caller's own thread, with pools
of two, three and eight, and with parts one after the other; as they are and under sanitizers.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(31)

PROGRAM = r"""
#include "ingot_thread_pool.h"
#include "net.h"
#include <cstdio>
#include <cstring>
#include <vector>

alignas(64) static unsigned char arena[NET_ARENA_BYTES + 1];
static float x[NET_X_ELEMENTS], alone[NET_Y_ELEMENTS], shared[NET_Y_ELEMENTS];

int main() {
  for (size_t i = 0; i < NET_X_ELEMENTS; ++i)
    x[i] = float(i * 7919 % 1009) / 504.0f - 1.0f;
  // What the networks are chosen for: threads are asked for as often as they should be.
  static unsigned forks = 0;
  static ingot_context inner;
  static const auto counted = [](void *user, ptrdiff_t extent, ingot_body body, void *argument) {
    ++forks;
    inner.parallel_for(inner.user, extent, body, argument);
  };
  ingot::ThreadPool two(2), three(3), many(8);
  ingot_context contexts[] = {three.context(), two.context(), many.context(), {}};
  // Part after part on one thread, the last one first.
  contexts[3].parallel_for = [](void *, ptrdiff_t extent, ingot_body body, void *argument) {
    while (extent-- > 0)
      body(argument, extent, extent + 1);
  };
  net_io io{};
  io.x = x;
  io.y = alone;
  if (net_run(&io, arena, nullptr))
    return 1;
  io.y = shared;
  for (int run = 0; run < 4 * RUNS; ++run) {
    inner = contexts[run % 4];
    ingot_context context = {};
    context.parallel_for = counted;
    std::memset(shared, 0, sizeof shared);
    forks = 0;
    if (net_run(&io, arena, &context))
      return 1;
    if (std::memcmp(alone, shared, sizeof shared)) {
      std::puts("threads change the result");
      return 1;
    }
  }
  // Where starting a thread takes longer than the network, no loop is divided.
  const unsigned divided = forks;
  inner = contexts[1];
  ingot_context slow = {};
  slow.parallel_for = counted;
  slow.fork_nanoseconds = UINT64_MAX;
  forks = 0;
  if (net_run(&io, arena, &slow) || forks) {
    std::puts("a loop is divided although starting a thread takes longer");
    return 1;
  }
  std::printf("%u\n", divided);
}
"""


def network(nodes, weights, x, y, shapes={}):
    initializers = [numpy_helper.from_array((rng.standard_normal(shape) / 8).astype(np.float32), name) for name, shape in weights.items()]
    initializers += [numpy_helper.from_array(np.array(values, np.int64), name) for name, values in shapes.items()]

    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    graph = helper.make_graph(nodes, "net", [info("x", x)], [info("y", y)], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def networks():
    """Yields names, models, and the minimal number of calls of parallel_for per run."""
    node = helper.make_node
    # Threads divide a depthwise convolution by channels and a 1x1 convolution by panels (packed
    # weights of some columns), the last of which is smaller; a mean over the image lies in between.
    yield "pieces", network(
        [node("Conv", ["x", "wd"], ["d"], group=576, pads=[2] * 4), node("Relu", ["d"], ["r"]),
         node("GlobalAveragePool", ["r"], ["m"]), node("Mul", ["r", "m"], ["s"]), node("Conv", ["s", "wp"], ["y"])],
        {"wd": (576, 1, 5, 5), "wp": (200, 576, 1, 1)}, [1, 576, 7, 7], [1, 200, 7, 7]), 1
    # Consecutive small kernels, which one group of threads processes together (a worker group).
    yield "team", network(
        [node("Conv", ["x", "wa"], ["a"], pads=[1] * 4), node("Relu", ["a"], ["b"]),
         node("Conv", ["b", "wd"], ["d"], group=32, pads=[1] * 4), node("Relu", ["d"], ["r"]),
         node("Conv", ["r", "wp"], ["p"]), node("Relu", ["p"], ["q"]), node("GlobalAveragePool", ["q"], ["m"]),
         node("Flatten", ["m"], ["f"]), node("MatMul", ["f", "wm"], ["l"]), node("Softmax", ["l"], ["s"]),
         node("Reshape", ["s", "four"], ["t"]), node("Mul", ["q", "t"], ["u"]), node("Conv", ["u", "wq"], ["y"])],
        {"wa": (32, 3, 3, 3), "wd": (32, 1, 3, 3), "wp": (48, 32, 1, 1), "wm": (48, 48), "wq": (40, 48, 1, 1)},
        [1, 3, 25, 25], [1, 40, 25, 25], {"four": [1, 48, 1, 1]}), 1
    yield "winograd", network([node("Conv", ["x", "w"], ["y"], pads=[1] * 4)], {"w": (96, 64, 3, 3)}, [1, 64, 28, 28], [1, 96, 28, 28]), 1
    yield "rows", network([node("Softmax", ["x"], ["s"]), node("MatMul", ["s", "w"], ["y"])], {"w": (300, 1000)}, [97, 300], [97, 1000]), 2
    # Two chains of three convolutions, which are computed row by row; the threads do not divide the rows evenly.
    yield "chains", network(
        [node("Conv", ["x", "we"], ["e"]), node("Relu", ["e"], ["a"]),
         node("Conv", ["a", "wd"], ["d"], group=96, pads=[1] * 4), node("Relu", ["d"], ["r"]),
         node("Conv", ["r", "wp"], ["p"]), node("Add", ["x", "p"], ["s"]),
         node("Conv", ["s", "wf"], ["f"]), node("Relu", ["f"], ["g"]),
         node("Conv", ["g", "wh"], ["h"], group=96, pads=[2] * 4, strides=[2] * 2), node("Relu", ["h"], ["i"]),
         node("Conv", ["i", "wq"], ["y"])],
        {"we": (96, 16, 1, 1), "wd": (96, 1, 3, 3), "wp": (16, 96, 1, 1), "wf": (96, 16, 1, 1), "wh": (96, 1, 5, 5),
         "wq": (24, 96, 1, 1)}, [1, 16, 75, 75], [1, 24, 38, 38]), 2
    # A chain of convolutions on three images: the rows of a thread end within an image, or belong to two images.
    yield "chained-images", network(
        [node("Conv", ["x", "we"], ["e"]), node("Conv", ["e", "wd"], ["d"], group=96, pads=[1] * 4, strides=[2] * 2),
         node("Relu", ["d"], ["r"]), node("Conv", ["r", "wp"], ["y"])],
        {"we": (96, 16, 1, 1), "wd": (96, 1, 3, 3), "wp": (24, 96, 1, 1)}, [3, 16, 75, 75], [3, 24, 38, 38]), 1
    # A convolution with few channels, for which each thread copies rows of the input, which may belong to two images.
    yield "positions", network([node("Conv", ["x", "w"], ["c"], pads=[2] * 4), node("Relu", ["c"], ["r"]),
                                node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2], strides=[2, 2])],
                               {"w": (5, 3, 5, 5)}, [3, 3, 70, 101], [3, 5, 35, 50]), 1
    # An LSTM, whose time steps depend on each other: threads share the work of each step.
    yield "steps", network([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=256)], {"w": (1, 1024, 40), "r": (1, 1024, 256)},
                           [20, 2, 40], [20, 1, 2, 256]), 40


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--program")
    ingot = parser.parse_args().ingot
    runtime = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "runtime_support")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        for name, model, least in networks():
            onnx.save(model, path("net.onnx"))
            subprocess.run([ingot, path("net.onnx"), "-o", path("net.cpp"), "--target", "x86-64-v3", "--weights", "source"], check=True)
            with open(path("main.cpp"), "w") as file:
                file.write(PROGRAM)
            for sanitizer, runs in [([], 50), (["-fsanitize=thread"], 3), (["-fsanitize=address,undefined"], 3)]:
                subprocess.run(["clang++-22", "-std=c++17", "-O1", "-pthread", f"-DRUNS={runs}", "-I", folder, "-I", runtime, *sanitizer,
                                path("main.cpp"), path("net.cpp"), "-o", path("main")], check=True)
                done = subprocess.run([path("main")], capture_output=True, text=True)
                forks = int(done.stdout) if done.returncode == 0 else 0
                if forks < least:
                    failures += 1
                    print(f"{name} {' '.join(sanitizer)}: exit {done.returncode}, {forks} times threads, not {least}\n{done.stdout}{done.stderr[:2000]}")
            # With --threads=none, the generated code never calls parallel_for.
            subprocess.run([ingot, path("net.onnx"), "-o", path("net.cpp"), "--target", "x86-64-v3", "--weights", "source",
                            "--threads", "none"], check=True)
            subprocess.run(["clang++-22", "-std=c++17", "-O1", "-pthread", "-DRUNS=1", "-I", folder, "-I", runtime,
                            path("main.cpp"), path("net.cpp"), "-o", path("main")], check=True)
            done = subprocess.run([path("main")], capture_output=True, text=True)
            with open(path("net.cpp")) as file:
                mentions = "parallel_for" in file.read()
            if done.returncode != 0 or int(done.stdout) != 0 or mentions:
                failures += 1
                print(f"{name} --threads=none: exit {done.returncode}, {done.stdout}, parallel_for in the source: {mentions}")
    print(f"{failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
