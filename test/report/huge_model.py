#!/usr/bin/env python3
"""Reports about a model with 1 GB of weights: under 60 seconds, and under 1.5 times the memory of the model.

    huge_model.py --ingot PROGRAM [--megabytes N] [--external]
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time


def write(path, megabytes, external):
    """Writes matrix products with weights of 64 MB each; with `external` in a file of their own."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    count = megabytes // 64
    random = np.random.default_rng(1)
    nodes, weights, tensor = [], [], "x"
    for i in range(count):
        # Derives rows that differ from few random numbers: drawing 1 GB of numbers would take longer than the report.
        values = np.tile(random.standard_normal(4096, np.float32) / 64, (4096, 1)) + np.arange(4096, dtype=np.float32)[:, None] / 2**20
        weights.append(numpy_helper.from_array(values, f"w{i}"))
        nodes += [helper.make_node("MatMul", [tensor, f"w{i}"], [f"p{i}"], name=f"product{i}"),
                  helper.make_node("Tanh", [f"p{i}"], [f"t{i}"], name=f"bend{i}")]
        tensor = f"t{i}"
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 4096])  # noqa: E731
    graph = helper.make_graph(nodes, "g", [value("x")], [value(tensor)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, save_as_external_data=external, location="weights.bin")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--external", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "huge.onnx")
        subprocess.run([sys.executable, "-c", "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1]); import huge_model; "
                        "huge_model.write(sys.argv[2], int(sys.argv[3]), bool(sys.argv[4]))", os.path.dirname(os.path.abspath(__file__)), model,
                        str(options.megabytes), "yes" if options.external else ""], check=True)
        size = sum(entry.stat().st_size for entry in os.scandir(folder))
        page = os.path.join(folder, "huge.html")
        start = time.perf_counter()
        process = subprocess.Popen([options.ingot, "report", model, "-q", "-o", page])
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        memory = usage.ru_maxrss * 1024
        made = os.path.getsize(page) if os.path.exists(page) else 0
    print(f"{size / 1e6:.0f} MB of model: report of {made / 1e3:.0f} KB in {seconds:.1f} s, {memory / 1e6:.0f} MB of memory, "
          f"{memory / size:.2f} times the model; exit code {process.returncode}")
    return 0 if process.returncode == 0 and seconds < 60 and memory < 1.5 * size else 1


if __name__ == "__main__":
    sys.exit(main())
