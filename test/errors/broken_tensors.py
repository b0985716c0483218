"""Damaged tensors, in the model or in external data: cases in the form of
cases.py."""
import os

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from cases import F, case, model, node, weights


@case("invalid-tensor", text="initializer `w`")
def too_few_bytes(folder):
    w = weights()
    w.raw_data = w.raw_data[:-1]
    return model([node("MatMul", ["x", "w"])], initializers=[w])


@case("invalid-tensor", text="initializer `w`")
def too_few_values(folder):
    w = TensorProto(name="w", data_type=F, dims=[4, 4], float_data=[1.0])
    return model([node("MatMul", ["x", "w"])], initializers=[w])


@case("invalid-tensor", text="invalid shape")
def tensor_shape_overflows(folder):
    w = TensorProto(name="w", data_type=F, dims=[1 << 62, 1 << 62], raw_data=b"1234")
    return model([node("MatMul", ["x", "w"])], initializers=[w])


@case("invalid-tensor", text="invalid shape")
def tensor_shape_negative(folder):
    w = TensorProto(name="w", data_type=F, dims=[-4, 4], raw_data=b"1234")
    return model([node("MatMul", ["x", "w"])], initializers=[w])


@case("invalid-tensor", text="no known data type")
def tensor_without_type(folder):
    w = TensorProto(name="w", dims=[4, 4], raw_data=bytes(64))
    return model([node("MatMul", ["x", "w"])], initializers=[w])


@case("invalid-tensor", node="the_node")
def constant_of_wrong_size(folder):
    w = weights()
    w.raw_data = w.raw_data[:8]
    return model([node("Constant", [], ["w"], value=w), node("MatMul", ["x", "w"], name="user")])


@case("invalid-tensor", text="index")
def sparse_index_outside(folder):
    m = model([node("MatMul", ["x", "w"])])
    sparse = onnx.SparseTensorProto(dims=[4, 4])
    sparse.values.CopyFrom(numpy_helper.from_array(np.ones(1, np.float32), "w"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([99], np.int64), "i"))
    m.graph.sparse_initializer.append(sparse)
    return m


def external(**entries):
    w = TensorProto(name="w", data_type=F, dims=[4, 4], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        w.external_data.add(key=key, value=str(value))
    return model([node("MatMul", ["x", "w"])], initializers=[w])


@case("external-data", text="not inside")
def external_data_above(folder):
    return external(location="../../../../etc/passwd", length=64)


@case("external-data", text="not inside")
def external_data_absolute(folder):
    return external(location="/etc/passwd", length=64)


@case("external-data", text="link to outside")
def external_data_behind_a_link(folder):
    link = os.path.join(folder, "link.bin")
    if not os.path.islink(link):
        os.symlink("/etc/passwd", link)
    return external(location="link.bin", length=64)


def linked_model(folder, **entries):
    """Returns a model that is a symbolic link in one folder to a file in
    another."""
    names, blobs = os.path.join(folder, "names"), os.path.join(folder, "blobs")
    for path in (names, blobs):
        os.makedirs(path, exist_ok=True)
    with open(os.path.join(blobs, "a"), "wb") as f:
        f.write(external(**entries).SerializeToString())
    with open(os.path.join(folder, "elsewhere.bin"), "wb") as f:
        f.write(bytes(64))
    for link, to in (("model.onnx", "../blobs/a"), ("data.bin", "../elsewhere.bin")):
        if not os.path.islink(os.path.join(names, link)):
            os.symlink(to, os.path.join(names, link))
    return os.path.join(names, "model.onnx")


@case("external-data", text="link to outside")
def external_data_outside_of_both_folders(folder):
    return linked_model(folder, location="data.bin", length=64)


@case("external-data", text="not inside")
def external_data_above_a_linked_model(folder):
    return linked_model(folder, location="../elsewhere.bin", length=64)


@case("external-data", text="cannot be read")
def external_data_missing(folder):
    return external(location="nothing.bin")


@case("external-data", text="cannot be read")
def external_data_missing_and_a_size(folder):
    m = external(location="nothing.bin")
    m.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"  # what reads the data may determine this size
    return m


@case("external-data", text="offset")
def external_data_out_of_range(folder):
    with open(os.path.join(folder, "data.bin"), "wb") as f:
        f.write(bytes(64))
    return external(location="data.bin", offset=32, length=64)


@case("external-data", text="not a number of bytes")
def external_data_negative_offset(folder):
    return external(location="data.bin", offset=-4)


@case("external-data", text="offset")
def external_data_offset_overflows(folder):
    return external(location="data.bin", offset=(1 << 64) - 8, length=64)


@case("external-data", text="no location")
def external_data_nowhere(folder):
    return external()
