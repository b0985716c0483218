#!/usr/bin/env python3
"""Compares the generated text of many networks and targets with recorded fingerprints.

    run.py --ingot PROGRAM --work DIR [--networks A,B] [--targets A,B] [--sizes fixed,open]
           [--jobs N] [--texts DIR] [--update]

A fingerprint is a hash of each function of the source, of the rest of source and header, and of
the packed weights. The recorded ones are in TARGET.txt: a line for each network and kind of
sizes. `fixed` compiles a network with its own sizes, and 4 for those that it leaves open;
`open` with 1 to 4 for these and for the first axis of each input whose rank is at least 2. A
network that cannot be compiled has the id of its error for a fingerprint.

What differs is told by the names of functions. --texts keeps the generated files: run it with
two builds and two folders, and compare these with diff. --update records the present text.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(os.path.dirname(HERE), "networks", "models")
sys.dont_write_bytecode = True
sys.path.insert(0, MODELS)
import models  # noqa: E402

TARGETS = ["generic", "x86-64-v3", "x86-64-v4+amx", "armv8-a", "cortex-m4", "cortex-m55", "hexagon-v67", "sm_80"]
SIZES = ["fixed", "open"]
FOLDERS = [os.path.join(MODELS, "graphs"), os.path.join(MODELS, "large")]
BOUNDS = {"fixed": "*=4", "open": "*=1..4"}
# In generated C++: the line that begins a function, and the one that ends it.
FUNCTION = re.compile(r"[\w\[].*?(\w+)\(")
END = "}"
# Ingot's commit in the first comment of a generated file, which must not affect the hash.
COMMIT = re.compile(r" \(commit [0-9a-f]+\)")


def networks():
    return sorted(name[:-len(".onnx")] for folder in FOLDERS for name in os.listdir(folder))


def fill(name, work):
    """Fills a network with seeded weights. Returns the paths of two models by kind of sizes: `fixed` as it
    is, `open` with dynamic first axes."""
    paths = {sizes: os.path.join(work, name + ".onnx" if sizes == "fixed" else f"{name}.{sizes}.onnx") for sizes in SIZES}
    if all(os.path.exists(path) for path in paths.values()):
        return paths
    folder = next(f for f in FOLDERS if os.path.exists(os.path.join(f, name + ".onnx")))
    model = models.load_filled(name, folder)
    for sizes, path in paths.items():
        if sizes == "open":
            open_axes(model.graph)
        with open(path + ".part", "wb") as file:
            file.write(model.SerializeToString())
        os.replace(path + ".part", path)
    return paths


def open_axes(graph):
    """Makes the first axis of each input whose rank is at least 2 dynamic, and removes the declared shapes of
    outputs and intermediate values."""
    weights = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        shape = value.type.tensor_type.shape.dim
        if value.name not in weights and len(shape) > 1 and not shape[0].dim_param:
            shape[0].dim_param = "n"
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    graph.ClearField("value_info")


def short(text):
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:6]


def hashes_of(source):
    """Returns a hash for each function of a generated source, by name; `-` is the hash of the text outside of
    functions."""
    found, outside, lines = collections.OrderedDict(), [], []
    name = None
    for line in source.splitlines():
        if name is None:
            match = FUNCTION.match(line)
            if not match or line.startswith(("typedef", "using", "#")) or line.rstrip().endswith((";", "}")):
                outside.append(line)
                continue
            name = match[1]
        lines.append(line)
        if line == END:
            key, turn = name, 2
            while key in found:
                key, turn = f"{name}~{turn}", turn + 1
            found[key] = short("\n".join(lines))
            name, lines = None, []
    found["-"] = short("\n".join(outside + lines))
    return found


def fingerprint(options, target, name, sizes, path):
    """Compiles a network. Returns the hashes of its functions, header and weights by name, or the id of the
    error."""
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        folder = os.path.join(options.texts, target, sizes) if options.texts else scratch
        os.makedirs(folder, exist_ok=True)
        suffix = ".cu" if target.startswith("sm_") else ".cpp"
        source = os.path.join(folder, name + suffix)
        command = [options.ingot, path, "-o", source, "--name", "net", "--target", target, "--weights", "file",
                   "--dim", BOUNDS[sizes]]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            error = re.search(r"error\[([\w-]+)\]", done.stderr)
            return {"error": error[1] if error else f"exit-{done.returncode}"}
        found = collections.OrderedDict()
        with open(source) as file:
            found.update(hashes_of(COMMIT.sub("", file.read())))
        with open(os.path.splitext(source)[0] + ".h") as file:
            found["header"] = short(COMMIT.sub("", file.read()))
        for file in sorted(os.listdir(folder)):
            if file.startswith(name + ".") and not file.endswith((suffix, ".h")):
                with open(os.path.join(folder, file), "rb") as weights:
                    found["weights"] = short(hashlib.file_digest(weights, "sha256").hexdigest())
                if options.texts:
                    os.remove(os.path.join(folder, file))
        return found


def table_path(target):
    return os.path.join(HERE, target + ".txt")


def read_table(target):
    table = {}
    if os.path.exists(table_path(target)):
        with open(table_path(target)) as file:
            for line in file:
                name, sizes, *hashes = line.split()
                table[name, sizes] = dict(part.rsplit(":", 1) for part in hashes)
    return table


def write_table(target, table):
    with open(table_path(target), "w") as file:
        for (name, sizes), found in sorted(table.items()):
            file.write(" ".join([name, sizes, *(f"{key}:{value}" for key, value in found.items())]) + "\n")


def describe(before, now):
    """Describes the difference between the recorded and the new fingerprint of a network: the names of the
    functions that changed."""
    if before is None:
        return "is not recorded"
    if "error" in before or "error" in now:
        return f"{before.get('error', 'compiled')} became {now.get('error', 'compiled')}"
    changed = [key for key in now if key in before and now[key] != before[key]]
    added = [key for key in now if key not in before]
    gone = [key for key in before if key not in now]
    words = []
    for word, keys in ("changed", changed), ("new", added), ("gone", gone):
        if keys:
            shown = ["the rest" if key == "-" else key for key in keys]
            words.append(f"{word}: {', '.join(shown[:6])}" + (f" and {len(shown) - 6} more" if len(shown) > 6 else ""))
    return f"{len(now)} parts, " + "; ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--networks", help="names, separated by commas; all unless said")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--texts")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    names = options.networks.split(",") if options.networks else networks()
    targets = options.targets.split(",")
    tables = {target: read_table(target) for target in targets}
    differing = compared = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = []
        for name in names:
            paths = fill(name, options.work)
            tasks += [(target, name, sizes, pool.submit(fingerprint, options, target, name, sizes, paths[sizes]))
                      for target in targets for sizes in options.sizes.split(",")]
        for target, name, sizes, task in tasks:
            found, before = task.result(), tables[target].get((name, sizes))
            compared += 1
            if found != before:
                differing += 1
                print(f"{name} for {target}, {sizes} sizes: {describe(before, found)}", flush=True)
                tables[target][name, sizes] = found
    if options.update:
        for target, table in tables.items():
            write_table(target, table)
    print(f"{compared - differing} of {compared} texts are as recorded" + (", the others are now" if options.update and differing else ""))
    return 0 if options.update else bool(differing)


if __name__ == "__main__":
    sys.exit(main())
