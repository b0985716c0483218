#!/usr/bin/env python3
"""Writes a tiny detector with the outputs of Ultralytics YOLO v8 and random weights: make_model.py FILE.onnx

  --task detect|segment|pose   what the network finds
  --selected                   the network selects boxes itself, as an export with nms=True: [1,K,6]
  --size N                     height and width of the network's image (128)
  --classes N                  the number of classes (5)
  --shift X                    added to the scores before the sigmoid: -20 gives no boxes, 20 as many as possible

The weights are chosen so that boxes lie around regions that are brighter or have other colors than their surroundings;
they recognize nothing. Equal arguments give equal files.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--task", choices=["detect", "segment", "pose"], default="detect")
parser.add_argument("--selected", action="store_true")
parser.add_argument("--size", type=int, default=128)
parser.add_argument("--classes", type=int, default=0)
parser.add_argument("--shift", type=float, default=0)
arguments = parser.parse_args()

size = arguments.size
classes = arguments.classes or (1 if arguments.task == "pose" else 5)
keypoints, masks = (4, 8) if arguments.task == "pose" else (0, 8)
bins = 8  # of the distribution of the distance between an anchor and a side of a box
random = np.random.default_rng(3)
nodes, constants = [], []


def constant(name, values):
    constants.append(numpy_helper.from_array(np.asarray(values), name))
    return name


def add(operator, inputs, name, **attributes):
    nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
    return name


def ints(*values):
    return constant(f"int_{len(constants)}", np.array(values, np.int64))


def conv(x, inputs, outputs, name, stride=1, kernel=3, gain=2.0, bias=0.0, activation=True):
    shape = (outputs, inputs, kernel, kernel)
    weights = random.normal(0, np.sqrt(gain / (inputs * kernel * kernel)), shape).astype(np.float32)
    biases = (np.zeros(outputs) + bias).astype(np.float32)
    y = add("Conv", [x, constant(name + ".weight", weights), constant(name + ".bias", biases)], name,
            strides=[stride, stride], kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)
    return add("Mul", [y, add("Sigmoid", [y], name + ".sigmoid")], name + ".silu") if activation else y


# The backbone: three feature maps with 1/8, 1/16 and 1/32 of the image's height and width.
x = conv("images", 3, 16, "stem", stride=2, gain=8)
x = conv(x, 16, 16, "down1", stride=2)
p3 = conv(x, 16, 32, "down2", stride=2)
p4 = conv(p3, 32, 32, "down3", stride=2)
p5 = conv(p4, 32, 32, "down4", stride=2)
# The neck: upsamples the small maps and joins them with the larger ones, as in a feature pyramid.
scales = constant("twice", np.array([1, 1, 2, 2], np.float32))
up = add("Resize", [p5, "", scales], "up1", mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
p4 = conv(add("Concat", [up, p4], "join1", axis=1), 64, 32, "mix1")
up = add("Resize", [p4, "", scales], "up2", mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
p3 = conv(add("Concat", [up, p3], "join2", axis=1), 64, 32, "mix2")

maps = [(p3, 8), (p4, 16), (p5, 32)]
anchors, strides = [], []
for _, stride in maps:
    side = size // stride
    y, x = np.mgrid[:side, :side] + 0.5
    anchors.append(np.stack([x.ravel(), y.ravel()]))
    strides.append(np.full((1, side * side), stride))
anchors = np.concatenate(anchors, 1)[None].astype(np.float32)
strides = np.concatenate(strides, 1)[None].astype(np.float32)
count = anchors.shape[2]


def branch(name, outputs, gain=2.0, bias=0.0):
    """Adds a branch of the head on all maps; returns its result [1, outputs, count]."""
    parts = []
    for i, (x, _) in enumerate(maps):
        y = conv(conv(x, 32, 32, f"{name}.{i}.0"), 32, outputs, f"{name}.{i}.1", kernel=1, gain=gain, bias=bias,
                 activation=False)
        parts.append(add("Reshape", [y, ints(1, outputs, -1)], f"{name}.{i}.flat"))
    return add("Concat", parts, name, axis=2)


# The distance of each side from the anchor is the mean of a distribution; centre and size follow from the distances.
sides = add("Reshape", [branch("sides", 4 * bins, gain=8), ints(1, 4, bins, count)], "sides.bins")
sides = add("Softmax", [sides], "sides.softmax", axis=2)
means = add("Mul", [sides, constant("distances", np.arange(bins, dtype=np.float32).reshape(1, 1, bins, 1))], "sides.terms")
distances = add("ReduceSum", [means, ints(2)], "sides.mean", keepdims=0)
nodes.append(helper.make_node("Split", [distances, ints(2, 2)], ["before", "after"], "sides.split", axis=1))
places = constant("anchors", anchors)
low, high = add("Sub", [places, "before"], "low"), add("Add", [places, "after"], "high")
center = add("Mul", [add("Add", [low, high], "corner_sum"), constant("half", np.float32(0.5))], "center")
extent = add("Sub", [high, low], "extent")
stride = constant("strides", strides)
boxes = add("Mul", [add("Concat", [center, extent], "boxes_in_cells", axis=1), stride], "boxes_xywh")
scores = branch("scores", classes, gain=6, bias=(-8.5 if classes > 1 else -3.5) + arguments.shift)
parts = [boxes, add("Sigmoid", [scores], "scores.sigmoid")]
outputs = []
if arguments.task == "segment":
    parts.append(branch("coefficients", masks))
    up = add("Resize", [p3, "", scales], "up3", mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric")
    prototypes = add("Identity", [conv(up, 32, masks, "prototypes", kernel=1)], "output1")
    outputs.append(helper.make_tensor_value_info("output1", TensorProto.FLOAT, [1, masks, size // 4, size // 4]))
if arguments.task == "pose":
    points = add("Reshape", [branch("points", 3 * keypoints), ints(1, keypoints, 3, count)], "points.parts")
    nodes.append(helper.make_node("Split", [points, ints(2, 1)], ["points.xy", "points.seen"], "points.split", axis=2))
    xy = add("Mul", [add("Add", ["points.xy", places], "points.cells"), stride], "points.pixels")
    points = add("Concat", [xy, add("Sigmoid", ["points.seen"], "points.sigmoid")], "points.joined", axis=2)
    parts.append(add("Reshape", [points, ints(1, 3 * keypoints, count)], "points.flat"))
extras = masks if arguments.task == "segment" else 3 * keypoints
rows = add("Concat", parts, "detections" if arguments.selected else "output0", axis=1)
shape = [1, 4 + classes + extras * (arguments.task != "detect"), count]

if arguments.selected:
    # Imitates the selection of an export with nms=True: the best rows, with corners instead of centre and size.
    most = 40
    half = add("Mul", [extent, constant("half_size", np.float32(0.5))], "half_extent")
    corners = add("Concat", [add("Sub", [center, half], "corner0"), add("Add", [center, half], "corner1")], "corners", axis=1)
    corners = add("Mul", [corners, stride], "corners_xyxy")
    best = add("ReduceMax", ["scores.sigmoid", ints(1)], "best", keepdims=1)
    kind = add("Cast", [add("ArgMax", ["scores.sigmoid"], "kind_index", axis=1, keepdims=1)], "kind", to=TensorProto.FLOAT)
    table = [corners, best, kind]
    if arguments.task != "detect":
        table.append(add("Slice", [rows, ints(4 + classes), ints(4 + classes + extras), ints(1)], "extras"))
    table = add("Transpose", [add("Concat", table, "table", axis=1)], "rows", perm=[0, 2, 1])
    nodes.append(helper.make_node("TopK", [add("Reshape", [best, ints(-1)], "best_flat"), ints(most)], ["best_values", "order"], "topk"))
    # Orders the rows from the worst to the best, because `ingot attach` must not rely on an order.
    order = add("Slice", ["order", ints(-1), ints(-most - 1), ints(0), ints(-1)], "reversed")
    add("Gather", [table, order], "output0", axis=1)
    shape = [1, most, 6 + extras * (arguments.task != "detect")]

outputs.insert(0, helper.make_tensor_value_info("output0", TensorProto.FLOAT, shape))
graph = helper.make_graph(nodes, "tiny_yolo", [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, size, size])],
                          outputs, constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
names = {i: name for i, name in enumerate(["cup", "book", "lamp", "chair", "plant"])} if classes == 5 else {
    i: f"class {i}" for i in range(classes)}
helper.set_model_props(model, {"task": arguments.task, "names": repr(names),
                               **({"kpt_shape": f"[{keypoints}, 3]"} if arguments.task == "pose" else {})})
onnx.checker.check_model(model, full_check=True)
onnx.save(model, arguments.file)
