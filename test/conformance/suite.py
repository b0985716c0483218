"""Writes the official ONNX backend tests of the installed `onnx` package to files.

write(folder) creates

    FOLDER/cases.tsv                       kind, name, rtol, atol, outputs
    FOLDER/KIND/NAME/input_<i>.pb, output_<i>.pb
    FOLDER/KIND/NAME/declared/model.onnx   the original model
    FOLDER/KIND/NAME/inferred/model.onnx   without shapes of intermediate values and outputs
    FOLDER/KIND/NAME/symbolic/model.onnx   and with a symbol for every dimension of an input

`outputs` has one letter per output: t tensor, s sequence, o optional, m map. A folder whose STAMP
matches this package and this file is not written again.
"""
import hashlib
import os
import shutil

# The three forms of a model; each contains less shape information than the one before.
FORMS = ("declared", "inferred", "symbolic")
# Each form is compiled twice: with the data of its case, and from the model alone (dynamic).
MODES = (*FORMS, *("dynamic-" + form for form in FORMS))
KINDS = ("node", "simple", "real", "pytorch-converted", "pytorch-operator")
LETTERS = {"tensor_type": "t", "sparse_tensor_type": "p", "sequence_type": "s", "optional_type": "o", "map_type": "m"}


def tensor_types(type_proto):
    """Returns the tensor types that are contained in a type."""
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        return [type_proto.tensor_type]
    if kind in ("sequence_type", "optional_type"):
        return tensor_types(getattr(type_proto, kind).elem_type)
    return []


def fed(graph, count=None):
    """Returns the inputs that the caller passes: all if the data has `count` = that many, otherwise those
    without an initializer."""
    given = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    return [i for i in graph.input if count == len(graph.input) or i.name not in given]


def without_shapes(model, mode):
    """Returns a copy of the model with the shape information of form `mode`. Integer vectors keep their
    length, since it may determine the rank of another tensor."""
    import onnx
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    if mode == "declared":
        return copy
    graph = copy.graph
    graph.ClearField("value_info")
    for output in graph.output:
        for tensor in tensor_types(output.type):
            tensor.ClearField("shape")
    if mode == "symbolic":
        for i, value in enumerate(fed(graph)):
            for tensor in tensor_types(value.type):
                dims = tensor.shape.dim
                if len(dims) == 1 and tensor.elem_type in (onnx.TensorProto.INT32, onnx.TensorProto.INT64):
                    continue
                for k, dim in enumerate(dims):
                    dim.dim_param = f"s{i}_{k}"
    return copy


def message(value, info):
    """Returns an input or output of the suite as the bytes of its protobuf message."""
    import numpy as np
    import onnx
    from onnx import numpy_helper
    if isinstance(value, bytes):
        return value
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    make = {"sequence_type": numpy_helper.from_list, "optional_type": numpy_helper.from_optional,
            "map_type": numpy_helper.from_dict}.get(info.type.WhichOneof("value"))
    if make:
        return make(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def numbered(folder, stem):
    found = []
    while os.path.exists(path := os.path.join(folder, f"{stem}_{len(found)}.pb")):
        with open(path, "rb") as file:
            found.append(file.read())
    return found


def ramp(info):
    """Returns the input that the suite uses for its `real` networks."""
    import numpy as np
    shape = [dim.dim_value or 1 for dim in info.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    return (np.arange(count) / count).astype(np.float32).reshape(shape)


def load(case):
    """Returns the model, inputs and outputs of one of onnx's TestCases; each has one data set."""
    import onnx
    from onnx.backend.test.loader import DATA_DIR
    if case.model is not None:
        (inputs, outputs), = case.data_sets
        return case.model, inputs, outputs
    if case.model_dir is not None:
        model = onnx.load(os.path.join(case.model_dir, "model.onnx"))
        folder = os.path.join(case.model_dir, "test_data_set_0")
        return model, numbered(folder, "input"), numbered(folder, "output")
    stem = os.path.join(DATA_DIR, "light", os.path.basename(case.url)).removesuffix(".onnx")
    model = onnx.load(stem + ".onnx")
    with open(stem + "_output_0.pb", "rb") as file:
        return model, [ramp(i) for i in fed(model.graph)], [file.read()]


def write_case(folder, kind, case):
    model, inputs, outputs = load(case)
    place = os.path.join(folder, kind, case.name)
    for mode in FORMS:
        os.makedirs(os.path.join(place, mode))
        with open(os.path.join(place, mode, "model.onnx"), "wb") as file:
            file.write(without_shapes(model, mode).SerializeToString(deterministic=True))
    infos = {"input": fed(model.graph, len(inputs)), "output": model.graph.output}
    for stem, values in (("input", inputs), ("output", outputs)):
        for i, (value, info) in enumerate(zip(values, infos[stem])):
            with open(os.path.join(place, f"{stem}_{i}.pb"), "wb") as file:
                file.write(message(value, info))
    letters = "".join(LETTERS[o.type.WhichOneof("value")] for o in model.graph.output)
    return f"{kind}\t{case.name}\t{case.rtol!r}\t{case.atol!r}\t{letters}\n"


def write(folder):
    import onnx
    with open(__file__, "rb") as file:
        stamp = f"{onnx.__version__} {hashlib.sha256(file.read()).hexdigest()}\n"
    stamp_file = os.path.join(folder, "STAMP")
    if os.path.exists(stamp_file):
        with open(stamp_file) as file:
            if file.read() == stamp:
                return
    from onnx.backend.test.loader import load_model_tests
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lines = [write_case(folder, kind, case) for kind in KINDS for case in load_model_tests(kind=kind)]
    with open(os.path.join(folder, "cases.tsv"), "w") as file:
        file.writelines(sorted(lines))
    with open(stamp_file, "w") as file:
        file.write(stamp)
