#!/usr/bin/env python3
"""Checks the tables that `ingot --evidence` writes, on networks and targets.

    tables.py NAME... --ingot PROGRAM --work DIR [--targets generic,cortex-m4]

- the C++ is byte-identical with and without --evidence;
- every node of the model is in a function, a launch, or has a reason; the tables refer to
  functions that are at these lines of the text;
- every line of a kernel has a node, and every `for` of the text is in the table of loops;
- executed on the host (target generic): no loop iterates less or more often than stated.
"""
import csv
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import onnx
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "networks"), os.path.join(HERE, "..", "output")]
sys.dont_write_bytecode = True
from harness import Failure, arguments, sh  # noqa: E402
from run import find_model, make_inputs, save_tensor  # noqa: E402

FILES = {"traceability.json", "node-to-code.csv", "code-to-node.csv", "loops.json", "flowfacts.ffx", "control-flow.json",
         "memory.json", "deviations.md"}

# Options for networks with a dynamic batch. (--emit-test takes sizes from the data.)
OPTIONS = {"keras_text": ["--dim", "unk__6=1..8"], "super_resolution_10": ["--dim", "batch_size=1"]}


def count_nodes(graph):
    """Returns the number of nodes of a graph and its subgraphs."""
    count = 0
    for node in graph.node:
        count += 1
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                count += count_nodes(inner)
    return count


def require(condition, text):
    if not condition:
        raise Failure(text)


def load(directory, name):
    with open(os.path.join(directory, name)) as file:
        return json.load(file)


def check_nodes(model, evidence, lines):
    table = load(evidence, "traceability.json")
    graph = onnx.load(model, load_external_data=False).graph
    require(len(table["nodes"]) == count_nodes(graph), f"{len(table['nodes'])} nodes instead of {count_nodes(graph)}")
    for node in table["nodes"]:
        has_code = node["functions"] or node["launches"]
        require(bool(has_code) != ("reason" in node), f"node {node['name']}: {node}")
    for function in table["functions"]:
        text = "\n".join(lines[function["first_line"] - 1:function["last_line"]])
        require(re.search(rf"\b{function['function']}\(", text) and text.rstrip().endswith("}"),
                f"{function['function']} is not at line {function['first_line']}:\n{text[:300]}")
        require(function["kind"] != "kernel" or function["nodes"], f"kernel {function['function']} has no nodes")
    with open(os.path.join(evidence, "code-to-node.csv")) as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        require(row["kind"] != "kernel" or row["onnx_nodes"], f"line {row['line']} of a kernel has no node")
    listed = {int(row["line"]) for row in rows}
    for function in table["functions"]:
        require(listed.issuperset(range(function["first_line"], function["last_line"] + 1)),
                f"lines of {function['function']} are missing")
    with open(os.path.join(evidence, "node-to-code.csv")) as file:
        named = {(row["onnx_graph"], row["onnx_index"]) for row in csv.DictReader(file)}
    require(len(named) == len(table["nodes"]), "node-to-code.csv has other nodes than traceability.json")
    return table


def check_loops(evidence, table, lines):
    loops = [dict(loop, function=function["function"]) for function in load(evidence, "loops.json")["functions"]
             for loop in function["loops"]]
    stated = {loop["first_line"] for loop in loops}
    for function in table["functions"]:
        for number in range(function["first_line"], function["last_line"] + 1):
            # Skips loops that copy the loop-carried values of an ONNX Loop (counter `element`): the table does not
            # list them.
            if re.match(r"\s*for \((?!ptrdiff_t element = 0)", lines[number - 1]) and function["kind"] != "program":
                require(number in stated, f"the loop in line {number} has no bound: {lines[number - 1]}")
    for loop in loops:
        require(lines[loop["first_line"] - 1].lstrip().startswith("for ("), f"line {loop['first_line']} is not a loop")
        require(loop["most"] is not None or loop["depends_on_data"], f"the loop in line {loop['first_line']} has no bound")
    facts = xml.etree.ElementTree.parse(os.path.join(evidence, "flowfacts.ffx")).getroot()
    require({int(loop.get("line")) for loop in facts.iter("loop")} == stated, "flowfacts.ffx has other loops")
    return loops


def check_memory(evidence, table):
    memory = load(evidence, "memory.json")
    for program in memory["arena"]["programs"]:
        for buffer in program["buffers"]:
            require(buffer["memory"] != "arena" or buffer["offset"] + buffer["bytes"] <= program["bytes"],
                    f"{buffer} is outside of the arena")
    for constant in memory["constants"]["arrays"]:
        require(constant["read_by"], f"nothing reads the constant {constant['name']}")
    require(memory["stack"]["measured"], "the stack was not measured")
    require(memory["stack"]["bytes"] > 0, "the stack is empty")


COUNTERS = """
#include <stdio.h>
#include <stdlib.h>
struct IngotLoop { long least, most, count; };
static IngotLoop ingot_loops[%d] = {%s};
static inline void ingot_leave(int line) {
  IngotLoop &loop = ingot_loops[line];
  if (loop.count < loop.least || loop.count > loop.most) {
    printf("the loop in line %%d iterates %%ld times, not %%ld to %%ld\\n", line, loop.count, loop.least, loop.most);
    abort();
  }
  loop.count = 0;
}
"""


def data_sets(model, directory, count=1):
    """Writes data sets with seeded inputs. The inputs of each are larger than those of the one before."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for number in range(count):
        folder = os.path.join(directory, f"test_data_set_{number}")
        os.makedirs(folder, exist_ok=True)
        for i, (value, array) in enumerate(zip(session.get_inputs(), make_inputs(session, None))):
            if array.dtype == np.float32:
                array = array * np.float32(8**number)
            save_tensor(os.path.join(folder, f"input_{i}.pb"), value.name, np.asarray(array))
    return directory


def check_bounds(ingot, model, folder, directory):
    """Runs the code with a counter in each loop."""
    # Removes the sources of an earlier run: Ingot does not replace them, since counters were added to them.
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    source = os.path.join(directory, "net.cpp")
    evidence = os.path.join(directory, "evidence")
    sh([ingot, model, "-o", source, "--target", "generic", "--weights", "source", "--emit-test", folder, "--evidence", evidence])
    with open(source) as file:
        lines = file.read().split("\n")
    loops = [loop for function in load(evidence, "loops.json")["functions"] for loop in function["loops"]]
    limits = [(0, 0)] * (len(lines) + 1)
    for loop in loops:
        first, last = loop["first_line"], loop["last_line"]
        limits[first] = (loop["least"], loop["most"] if loop["most"] is not None else 2**62)
        header = next(i for i in range(first - 1, last) if lines[i].endswith("{"))
        lines[header] += f" ++ingot_loops[{first}].count;"
        lines[last - 1] += f" ingot_leave({first});"
    table = COUNTERS % (len(limits), ", ".join(f"{{{least}, {most}, 0}}" for least, most in limits))
    with open(source, "w") as file:
        file.write("\n".join([table] + lines))
    program = os.path.join(directory, "net")
    sh(["g++", "-std=c++17", "-O1", source, os.path.join(directory, "net_test.cpp"), "-o", program])
    done = subprocess.run([program], capture_output=True, text=True, timeout=600)
    require(done.returncode == 0, f"with counted loops: {done.stdout[-600:]}{done.stderr[-600:]}")
    return len(loops)


def check(ingot, name, target, work):
    directory = os.path.join(work, name, target)
    os.makedirs(directory, exist_ok=True)
    model, folders = find_model(name, os.path.join(work, name))
    with_tables, without = (os.path.join(directory, kind, "net.cpp") for kind in ("with", "without"))
    evidence = os.path.join(directory, "with", "evidence")
    for path in (with_tables, without):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        sh([ingot, model, "-o", path, "--target", target, *OPTIONS.get(name, []), *(["--evidence", evidence] if path == with_tables else [])])
    for extension in (".cpp", ".h"):
        require(filecmp.cmp(with_tables[:-4] + extension, without[:-4] + extension, shallow=False),
                f"{extension} differs with --evidence")
    require(set(os.listdir(evidence)) == FILES, f"files: {os.listdir(evidence)}")
    with open(with_tables) as file:
        lines = file.read().split("\n")
    table = check_nodes(model, evidence, lines)
    loops = check_loops(evidence, table, lines)
    check_memory(evidence, table)
    reasons = {}
    for node in table["nodes"]:
        reason = node.get("reason", "in a function").partition(":")[0]
        reasons[reason] = reasons.get(reason, 0) + 1
    text = f"{len(loops)} loops, {sum(loop['exact'] for loop in loops)} exact; nodes {reasons}"
    if target == "generic":
        folder = os.path.dirname(model) if folders else data_sets(model, os.path.join(directory, "data"))
        check_bounds(ingot, model, folder, os.path.join(directory, "counted"))
        text += "; executed within the bounds"
    return text


def main():
    parser = arguments(__doc__, targets="generic,cortex-m4,cortex-m55")
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    failed = False
    for name in args.names:
        for target in args.targets.split(","):
            try:
                print(f"{name} {target}: {check(args.ingot, name, target, args.work)}", flush=True)
            except Failure as failure:
                failed = True
                print(f"{name} {target}: FAILED: {failure}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
