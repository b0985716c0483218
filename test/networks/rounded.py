"""Rewrites a network to compute as a framework does in half precision, for ONNX Runtime: weights, inputs
and the result of each node are rounded to bf16 or f16, and sums are accumulated in f32. For tf32, only the
operands of matmuls and convolutions are rounded.

    save(model, kind, path)
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"bf16": TensorProto.BFLOAT16, "f16": TensorProto.FLOAT16}
PRODUCTS = ("Conv", "MatMul", "Gemm")


def round_nodes(kind, before, after):
    """Returns nodes that round `before` to `after`. For tf32: x * (2^13 + 1) - (x * (2^13 + 1) - x), whose
    lowest 13 bits are zero."""
    if kind in TYPES:
        return [helper.make_node("Cast", [before], [after + ".narrow"], to=TYPES[kind]),
                helper.make_node("Cast", [after + ".narrow"], [after], to=TensorProto.FLOAT)]
    return [helper.make_node("Mul", [before, "rounded.factor"], [after + ".large"]),
            helper.make_node("Sub", [after + ".large", before], [after + ".rest"]),
            helper.make_node("Sub", [after + ".large", after + ".rest"], [after])]


def save(model, kind, path):
    model = onnx.shape_inference.infer_shapes(onnx.load(model))
    graph = model.graph
    floats = {v.name for v in [*graph.input, *graph.output, *graph.value_info] if v.type.tensor_type.elem_type == TensorProto.FLOAT}
    floats |= {t.name for t in graph.initializer if t.data_type == TensorProto.FLOAT}
    outputs = {v.name for v in graph.output}
    nodes, new, known = list(graph.node), [], {}

    def rounded(name):
        if name not in known:
            known[name] = name + ".rounded"
            new.extend(round_nodes(kind, name, known[name]))
        return known[name]

    for node in nodes:
        if kind in TYPES or node.op_type in PRODUCTS:
            for i, name in enumerate(node.input):
                # Not rounded: a bias, which is added to the f32 accumulator, and the sizes of a Resize, which
                # are not data.
                if name in floats and node.op_type != "Resize" and not (node.op_type in PRODUCTS and i > 1):
                    node.input[i] = rounded(name)
        new.append(node)
        if kind in TYPES:
            for i, name in enumerate(node.output):
                if name in floats and name in outputs:
                    node.output[i] = name + ".wide"
                    new.extend(round_nodes(kind, name + ".wide", name))
    del graph.node[:]
    graph.node.extend(new)
    graph.initializer.append(numpy_helper.from_array(np.array(2 ** 13 + 1, np.float32), "rounded.factor"))
    onnx.save(model, path)

