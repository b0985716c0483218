"""Compares the program of examples/yolo with ONNX Runtime and with a reference in NumPy, box by box.

    yolo_agree.py INGOT SOURCE FOLDER [--count N] [--task TASK]... [--cxx COMMAND] [--run COMMAND] [--target NAME]

ONNX Runtime runs the model of `ingot attach`, with the added nodes. The reference uses only the network: letterbox (of
make_pictures.py), selection and mapping to the frame are computed in NumPy.
"""
import argparse
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

parser = argparse.ArgumentParser()
parser.add_argument("ingot")
parser.add_argument("source", type=Path)
parser.add_argument("work", type=Path)
parser.add_argument("--count", type=int, default=100)
parser.add_argument("--task", action="append")
parser.add_argument("--cxx", default="g++ -O2")
parser.add_argument("--run", default="")
parser.add_argument("--target", default="x86-64-v2")
arguments = parser.parse_args()
example = arguments.source / "examples/yolo"
sys.path.insert(0, str(example))
import make_pictures

MOST, SCORE, OVERLAP = 60, 0.25, 0.7
# In pixels; for scores, a hundredth of this. A level halfway between two integers may be rounded up or down.
TOLERANCE = 0.3
failures = []


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def ingot(*words):
    subprocess.run([arguments.ingot, *map(str, words), "-q"], check=True)


def overlap(a, b):
    sides = np.minimum(a[2:4], b[2:4]) - np.maximum(a[:2], b[:2])
    common = np.prod(np.maximum(sides, 0))
    return common / (np.prod(a[2:4] - a[:2]) + np.prod(b[2:4] - b[:2]) - common)


def to_frame(rows, picture, size, points):
    """Maps corners and keypoints from the network's image to the picture, in place."""
    height, width, _ = picture.shape
    gain = min(size / height, size / width)
    left, top = (round((size - round(n * gain)) / 2 - 0.1) for n in (width, height))
    columns = [0, 2] + [6 + 3 * i for i in range(points)]
    for offset, bar, limit in ((0, left, width), (1, top, height)):
        for c in columns:
            rows[:, c + offset] = np.clip((rows[:, c + offset] - bar) / gain, 0, limit)
    return rows


def select(output, classes, selected):
    """Returns the selected rows of the network's output, in the network's image."""
    if selected:
        rows = output[0][np.argsort(-output[0][:, 4], kind="stable")][:MOST]
        return rows[rows[:, 4] > SCORE].astype(np.float64)
    rows = output[0].T.astype(np.float64)
    scores = rows[:, 4:4 + classes]
    center, half = rows[:, :2], rows[:, 2:4] / 2
    rows = np.concatenate([center - half, center + half, scores.max(1, keepdims=True),
                           scores.argmax(1)[:, None], rows[:, 4 + classes:]], 1)
    rows = rows[rows[:, 4] > SCORE]
    kept = []
    for row in rows[np.argsort(-rows[:, 4], kind="stable")]:
        if len(kept) < MOST and all(row[5] != other[5] or overlap(row, other) <= OVERLAP for other in kept):
            kept.append(row)
    return np.array(kept).reshape(len(kept), rows.shape[1])


def same(name, rows, expected, tolerance):
    """Returns a message if two lists of boxes differ by more than a tolerance (see TOLERANCE), otherwise "". The order is not
    compared, because boxes with almost equal scores may be swapped."""
    if rows.shape != expected.shape:
        return f"{name}: {len(rows)} boxes instead of {len(expected)}"
    free = list(range(len(expected)))
    for row in rows:
        errors = [np.abs(row - expected[i]) for i in free]
        match = next((k for k, error in enumerate(errors)
                      if error[4] < tolerance / 100 and error[5] == 0 and (error < tolerance).all()), None)
        if match is None:
            near = expected[free[int(np.argmin([error[:5].max() for error in errors]))]] if free else "no other"
            return f"{name}: no box like {row}, but {near}"
        free.pop(match)
    return ""


def compile_program(*words):
    subprocess.run([*shlex.split(arguments.cxx), "-std=c++17", "-I", example, *words], check=True)


def build(folder, network, objects):
    folder.mkdir(parents=True, exist_ok=True)
    ingot("attach", network, "-o", folder / "detector.onnx", "--frame", "any", "--max-boxes", MOST)
    ingot(folder / "detector.onnx", "-o", folder / "detector.cpp", "--target", arguments.target, "--weights", "source",
          "--dim", "frame_width=1..640", "--dim", "frame_height=1..480")
    model = onnx.load(folder / "detector.onnx")
    rows = model.graph.output[0].type.tensor_type.shape.dim[0].dim_value
    compile_program(f"-DDETECTOR_ROWS={rows}", "-I", folder, "-o", folder / "detect", example / "detect.cpp",
                    folder / "detector.cpp", *objects)
    return session(folder / "detector.onnx")


def detect(folder, files):
    """Returns the rows that the program prints for each picture."""
    result = subprocess.run([*shlex.split(arguments.run), folder / "detect", "--numbers", *files], check=True,
                            stdout=subprocess.PIPE, text=True)
    lines = result.stdout.splitlines()
    rows = []
    while lines:
        count = int(lines.pop(0))
        rows.append(np.array([[float(x) for x in line.split()] for line in lines[:count]]))
        del lines[:count]
    return rows


pictures = [make_pictures.draw(i) for i in range(arguments.count)]
# The smallest picture, a single row, a single column, the network's size, half and twice of it, ties when sizes are rounded.
sizes = [(1, 1), (1, 640), (480, 1), (128, 128), (64, 64), (256, 256), (255, 256), (129, 256), (131, 256)]
for i, (height, width) in enumerate(sizes):
    pictures.append(np.random.default_rng(i).integers(0, 256, (height, width, 3), dtype=np.uint8))
folder = arguments.work / "pictures"
folder.mkdir(parents=True, exist_ok=True)
files = []
for i, picture in enumerate(pictures):
    kind, write = (("png", make_pictures.png), ("ppm", make_pictures.ppm), ("bmp", make_pictures.bmp))[i % 3]
    files.append(folder / f"{i:03}.{kind}")
    files[-1].write_bytes(write(picture))

# The sources that do not depend on the network.
objects = [arguments.work / f"{name}.o" for name in ("draw", "image", "inflate", "jpeg")]
for compiled in objects:
    compile_program("-c", "-o", compiled, example / f"{compiled.stem}.cpp")

tasks = arguments.task or ["detect", "segment", "pose", "detect selected", "pose selected", "detect none", "detect all"]
for task in tasks:
    kind, _, variant = task.partition(" ")
    work = arguments.work / task.replace(" ", "_")
    work.mkdir(parents=True, exist_ok=True)
    options = {"selected": ["--selected"], "none": ["--shift", "-60"], "all": ["--shift", "6"]}.get(variant, [])
    network = work / "network.onnx"
    subprocess.run([sys.executable, example / "make_model.py", network, "--task", kind, *options], check=True)
    # detect.cpp has memory for the mask prototypes only if the output is named output1, as in make_model.py.
    attached, alone = build(work, network, objects), session(network)
    printed = detect(work, files)
    total = 0
    for file, picture, rows in zip(files, pictures, printed):
        boxes, count = attached.run(None, {"frame": picture})[:2]
        expected = boxes[:count[0]].astype(np.float64)
        assert not boxes[count[0]:].any(), "rows after the last box are not 0"
        rows = rows.reshape(len(rows), expected.shape[1])
        failures.append(same(f"{task}, {file.name}: program and ONNX Runtime", rows, expected, TOLERANCE))
        image = make_pictures.letterbox(picture, 128)[None]
        output = alone.run(None, {"images": image})[0]
        reference = to_frame(select(output, 1 if kind == "pose" else 5, variant == "selected"), picture, 128,
                             4 if kind == "pose" else 0)
        # Clipping to a picture with one row or column makes most boxes empty. In the variant `all`, their scores are almost
        # equal as well, and rounding decides which ones are kept.
        if variant != "all" or min(picture.shape[:2]) > 1:
            failures.append(same(f"{task}, {file.name}: program and reference", rows, reference, TOLERANCE))
        total += len(rows)
    if variant == "none" and total or variant == "all" and total < MOST * len(files) * 0.9:
        failures.append(f"{task}: {total} boxes")
    print(f"{task}: {total} boxes in {len(files)} pictures")
failures = [failure for failure in failures if failure]
print(*failures[:10], sep="\n")
sys.exit(f"{len(failures)} differences" if failures else 0)
