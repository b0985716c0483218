"""Compares streamed networks (--stream) after each call with the same networks applied to the whole window."""

import pathlib
import re

import numpy as np
import onnx
import pytest
from conftest import make
from onnx import TensorProto, helper, numpy_helper

import ingot

MODELS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "models"


def build(inputs, outputs, nodes, constants):
    """Returns a model of nodes given as (operator, inputs, output, attributes); outputs have no stated shape."""
    graph = helper.make_graph(
        [helper.make_node(op, list(reads), [out], out + "_node", **attributes) for op, reads, out, attributes in nodes],
        "net",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


class Chain:
    """Builds a chain of layers with random weights. `quantized` adds QuantizeLinear and DequantizeLinear around convolutions."""

    def __init__(self, shape, quantized=False, seed=1):
        self.shape, self.quantized, self.rng = shape, quantized, np.random.default_rng(seed)
        self.nodes, self.constants, self.value, self.channels, self.count = [], {}, "x", shape[1], 0
        if quantized:
            self.quantize()

    def add(self, op, *more, **attributes):
        self.count += 1
        out = f"v{self.count}"
        self.nodes.append((op, (self.value, *more), out, attributes))
        self.value = out
        return self

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def quantize(self, scale=0.05, zero=3):
        scale, zero = self.constant(np.float32(scale)), self.constant(np.int8(zero))
        return self.add("QuantizeLinear", scale, zero).add("DequantizeLinear", scale, zero)

    def conv(self, channels, kernel, depthwise=False, **attributes):
        group = self.channels if depthwise else 1
        shape = (channels, self.channels // group, *kernel)
        bias = self.constant(self.rng.normal(0, 0.2, channels).astype(np.float32))
        if self.quantized:
            raw = self.constant(self.rng.integers(-127, 128, shape).astype(np.int8))
            scale, zero, w = self.constant(np.float32(0.01)), self.constant(np.int8(0)), f"w{self.count}"
            self.nodes.append(("DequantizeLinear", (raw, scale, zero), w, {}))
        else:
            w = self.constant(self.rng.normal(0, 0.3, shape).astype(np.float32))
        self.add("Conv", w, bias, kernel_shape=kernel, group=group, **attributes)
        self.channels = channels
        return self.quantize() if self.quantized else self

    def model(self):
        return build({"x": self.shape}, [self.value], self.nodes, self.constants)


def agree(model, axis, stream=None, target="native", exact=True, calls=None, **options):
    """Compares the streamed network with the model on the whole window, from the first call on that has filled the state."""
    whole = ingot.compile(model, target=target, **options)
    net = ingot.compile(model, target=target, stream=axis if stream is None else stream, **options)
    shape = whole.inputs[0].shape
    hop, window = net.inputs[0].shape[axis], shape[axis]
    warm_up = -(-window // hop)
    calls = calls or warm_up + 2 * (window // hop) + 3
    rng = np.random.default_rng(5)
    size = list(shape)
    size[axis] = hop * calls + window
    signal = rng.normal(0, 2, size).astype(np.float32)
    take = lambda begin, end: np.ascontiguousarray(signal.take(range(begin, end), axis))
    compared = 0
    for call in range(1, calls + 1):
        got = net(take((call - 1) * hop, call * hop))
        if call < warm_up:
            continue
        want = whole(take(call * hop - window, call * hop)) if call * hop >= window else None
        if want is None:
            continue
        if got.shape != want.shape:
            differing = [i for i in range(want.ndim) if got.shape[i] != want.shape[i]]
            assert len(differing) == 1
            count = want.shape[differing[0]]
            want = want.take(range(count - got.shape[differing[0]], count), differing[0])
        if exact:
            np.testing.assert_array_equal(got, want, f"call {call}")
        else:
            np.testing.assert_allclose(got, want, 1e-5, 1e-5, err_msg=f"call {call}")
        compared += 1
    assert compared > 3
    return net, whole


QUANTIZED = {
    "valid": lambda c: c.conv(8, (3, 3)).conv(8, (3, 3), depthwise=True).conv(12, (1, 1)).add("GlobalAveragePool"),
    "dilated": lambda c: c.conv(8, (3, 1), dilations=[2, 1]).add("Relu").quantize().conv(4, (2, 3), dilations=[3, 1]),
    "strided": lambda c: c.conv(8, (4, 3), strides=[2, 1]).conv(8, (3, 3), strides=[2, 2]).add("GlobalAveragePool"),
    "leftover": lambda c: c.conv(8, (4, 3), strides=[3, 1]).conv(8, (2, 1)).add("Flatten"),
    "padded": lambda c: c.conv(8, (3, 3), pads=[1, 1, 1, 1]).conv(8, (3, 3), depthwise=True, pads=[1, 1, 1, 1]).add("GlobalAveragePool"),
    "padded-left": lambda c: c.conv(8, (3, 3), pads=[2, 0, 0, 0]).conv(8, (3, 3), pads=[2, 0, 0, 0]).add("Flatten"),
    "padded-stride": lambda c: c.conv(8, (10, 4), strides=[2, 2], pads=[4, 1, 5, 1]).conv(8, (3, 3), pads=[1, 1, 1, 1]).add("Flatten"),
    "max-pool": lambda c: c.conv(8, (3, 3)).add("MaxPool", kernel_shape=[2, 2], strides=[2, 2]).conv(4, (3, 1)).add("Flatten"),
}


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize("target", ["native", "generic"])
def test_int8(name, target):
    chain = QUANTIZED[name](Chain([1, 1, 29, 10], quantized=True))
    net, whole = agree(chain.model(), 2, target=target)
    assert net.state_bytes > 0
    if name == "valid":
        # Only the pool reads the whole window, which is kept as int8; each convolution keeps at most 3 columns.
        assert net.state_bytes < 3 * (10 + 64 + 64 + 64) + 25 * 6 * 12 + 500


def test_width_as_axis():
    chain = Chain([1, 10, 1, 40], quantized=True).conv(16, (1, 5)).conv(16, (1, 3), depthwise=True).add("GlobalAveragePool")
    agree(chain.model(), 3)


def test_float():
    chain = Chain([1, 3, 24, 5]).conv(6, (3, 3)).add("Relu").conv(6, (3, 3)).add("Sigmoid").add("GlobalAveragePool")
    agree(chain.model(), 2, exact=False)
    agree(chain.model(), 2, exact=False, strict=True)


def test_one_dimensional_with_residual():
    chain = Chain([1, 4, 30]).conv(8, (3,)).add("Relu")
    skip = chain.value
    chain.conv(8, (3,), pads=[2, 0], depthwise=True).add("Add", skip).conv(3, (1,))
    agree(chain.model(), 2, exact=False)


def test_more_columns():
    chain = Chain([1, 1, 29, 6], quantized=True).conv(8, (3, 3)).conv(8, (3, 1), strides=[2, 1]).add("GlobalAveragePool")
    for stream, hop in (("2", 2), ("2=2", 2), ("2=4", 4), ("x:2=6", 6), ("-2", 2)):
        net, _ = agree(chain.model(), 2, stream)
        assert net.inputs[0].shape == (1, 1, hop, 6)


def test_outputs_with_the_axis():
    chain = Chain([1, 4, 20], quantized=True).conv(8, (3,)).conv(5, (3,))
    net, whole = agree(chain.model(), 2)
    assert net.outputs[0].shape == (1, 5, 1) and whole.outputs[0].shape == (1, 5, 16)


TEXTS = {
    # Operators that merge, split, move and reduce columns.
    "rows": ("net (float[1, 12, 6] x) => (float[1, 7] y) <float[6, 5] w, float[60, 7] v> {"
             " a = MatMul(x, w)\n b = Relu(a)\n f = Flatten(b)\n y = MatMul(f, v) }", 1),
    # The result has the elements of a state. The call must copy them, not return the memory of the state.
    "flatten": ("net (float[1, 12, 6] x) => (float[1, 60] y) <float[6, 5] w> { a = MatMul(x, w)\n y = Flatten(a) }", 1),
    "flat": ("net (float[1, 72] x) => (float[1, 3, 1, 1] y) <int64[4] s, float[3, 1, 3, 6] w> {"
             " a = Reshape(x, s)\n b = Conv(a, w)\n c = Relu(b)\n y = GlobalAveragePool(c) }", 1),
    "softmax": ("net (float[1, 12, 6] x) => (float[1, 12, 6] y) <float[6, 6] w> {"
                " a = MatMul(x, w)\n b = Softmax<axis = 2>(a)\n y = Softmax<axis = 1>(b) }", 1),
    "concat": ("net (float[1, 4, 12] x) => (float[1, 2, 8] y) <float[2, 4, 3] w, float[2, 6, 3] u> {"
               " a = Conv(x, w)\n b = Slice(x, begin, end, axes)\n c = Concat<axis = 1>(a, b)\n y = Conv(c, u) }", 2),
    "mean": ("net (float[1, 12, 6] x) => (float[1, 1, 6] y) <float[6, 6] w> {"
             " a = MatMul(x, w)\n m = ReduceMean<axes = [2], keepdims = 1>(a)\n b = Sub(a, m)\n"
             " y = ReduceMax<axes = [1], keepdims = 1>(b) }", 1),
    "batch": ("net (float[12, 6] x) => (float[1, 4] y) <float[6, 4] w> {"
              " a = MatMul(x, w)\n b = Tanh(a)\n y = ReduceMax<axes = [0], keepdims = 1>(b) }", 0),
    "pad": ("net (float[1, 2, 14] x) => (float[1, 3, 16] y) <int64[6] p, float[3, 2, 3] w> {"
            " a = Pad(x, p)\n y = Conv(a, w) }", 2),
    "average": ("net (float[1, 2, 14] x) => (float[1, 3, 14] y) <float[3, 2, 1] w> {"
                " a = Conv(x, w)\n y = AveragePool<kernel_shape = [3], pads = [1, 1]>(a) }", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_operators(name):
    text, axis = TEXTS[name]
    rng = np.random.default_rng(2)
    head, rest = text.split("=>", 1)
    values = {"s": [1, 1, 12, 6], "p": [0, 0, 2, 0, 0, 2], "begin": [1], "end": [11], "axes": [2]}
    first, constants = rest.split("<", 1)
    constants, body = constants.split(">", 1)
    model = make(f"{head}=>{first}{body}")
    for sizes, name in re.findall(r"float\[([\d, ]+)\] (\w+)", constants):
        shape = [int(size) for size in sizes.split(",")]
        model.graph.initializer.append(numpy_helper.from_array(rng.normal(0, 0.5, shape).astype(np.float32), name))
    used = {name for node in model.graph.node for name in node.input}
    for name, value in values.items():
        if name in used:
            model.graph.initializer.append(numpy_helper.from_array(np.array(value, np.int64), name))
    agree(model, axis, exact=False)


def test_spectrogram():
    """Frames of a Fourier transform overlap: a call takes the samples of one new frame."""
    model = make(
        "net (float[1, 208] x) => (float[1, 8, 17, 2] y) { step = Constant<value_int = 20>()\n length = Constant<value_int = 32>()\n"
        " s = STFT<onesided = 1>(x, step, , length)\n y = Mul(s, s) }"
    )
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    for size in (1, 9, 17, 2):
        model.graph.output[0].type.tensor_type.shape.dim.add().dim_value = size
    net, whole = agree(model, 1, exact=False)
    assert net.inputs[0].shape == (1, 20) and net.outputs[0].shape == (1, 1, 17, 2)


def test_other_input():
    """A second input may change with each call, so tensors that depend on it are computed for the whole window."""
    model = make("net (float[1, 4, 12] x, float[1, 4, 1] g) => (float[1, 2, 10] y) { c = Conv(x, w)\n d = Mul(x, g)\n y = Conv(d, w) }")
    w = numpy_helper.from_array(np.ones((2, 4, 3), np.float32), "w")
    model.graph.initializer.append(w)
    with pytest.raises(ingot.UsageError, match="2 inputs: x, g"):
        ingot.compile(model, stream=2)
    with pytest.raises(ingot.UsageError, match="nothing would be saved"):
        ingot.compile(model, stream="x:2")


def test_refused():
    chain = Chain([1, 1, 12, 6]).conv(4, (3, 3)).add("Relu")
    model = chain.model()
    for stream, message in (
        ("4", "no axis 4"), ("1", "1 columns along axis 1"), ("2=12", "12 columns along axis 2"), ("y:2", "no input `y`"),
        ("two", "cannot parse `two`"), ("2=0", "cannot parse `2=0`"), (":2", "cannot parse `:2`"),
    ):  # fmt: skip
        with pytest.raises(ingot.UsageError, match=message):
            ingot.compile(model, stream=stream)
    strided = Chain([1, 1, 12, 6]).conv(4, (3, 3), strides=[2, 1]).conv(4, (2, 1)).model()
    with pytest.raises(ingot.UsageError, match=r"v1_node(.|\n)*multiple of 2"):
        ingot.compile(strided, stream="2=3")
    whole = make("net (float[1, 12, 6] x) => (float[1, 12, 6] y) { t = Transpose<perm = [0, 2, 1]>(x)\n s = MatMul(x, t)\n y = MatMul(s, x) }")
    with pytest.raises(ingot.UsageError, match="nothing would be saved"):
        ingot.compile(whole, stream=1)
    dynamic = make("net (float[n, 12, 6] x) => (float[n, 12, 6] y) { y = Relu(x) }")
    with pytest.raises(ingot.UsageError, match=r"not constant(.|\n)*--dim"):
        ingot.compile(dynamic, dims={"n": (1, 4)}, stream=1)


@pytest.mark.skipif(not (MODELS / "real" / "micro_kws_m_qdq").exists(), reason="the networks are not here")
def test_real_keyword_network():
    model = onnx.load(MODELS / "real" / "micro_kws_m_qdq" / "model.onnx")
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    axis = int(np.argmax(shape))
    agree(model, axis, dims={"unk__68": 1})
