"""The form of a case of broken_models.py: a function that returns a model (or bytes, or a path); the
decorator specifies the expected diagnostic.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

cases = []
F = TensorProto.FLOAT
I64 = TensorProto.INT64


def case(diagnostic, node=None, code=None, args=(), text=None, command=(), env=None, most_bytes=None, file=None):
    """Registers a case. FOLDER in an argument stands for the folder of the case; no file may become larger
    than `most_bytes`. `code` defaults to the exit code of the diagnostic's class. `file` is the path that
    the message must show after `-->`."""
    def add(build):
        cases.append((build.__name__, build, diagnostic, node, code, list(args), text, list(command), env or {},
                      most_bytes, file))
        return build
    return add


def info(name, shape=(1, 4), dtype=F):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), opset=17, imports=None, functions=()):
    graph = helper.make_graph(nodes, "g", inputs if inputs is not None else [info("x")],
                              outputs if outputs is not None else [info("y")], list(initializers))
    imports = imports or [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))


def node(op, inputs=("x",), outputs=("y",), name="the_node", **attrs):
    return helper.make_node(op, list(inputs), list(outputs), name=name, **attrs)


def weights(name="w", shape=(4, 4), dtype=np.float32):
    return numpy_helper.from_array(np.zeros(shape, dtype), name)
