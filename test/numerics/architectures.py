"""Small networks in the manner of known architectures, beside ONNX Runtime.

    architectures.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Each at an old and a new opset, with odd channel counts and sizes, so that every
way in which layers meet is met: residual, dense, inception and fire blocks,
grouped and shuffled channels, squeeze-and-excitation, dilated context, encoders
with decoders, attention, recurrent and fully connected heads.
"""
import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, data, ints


class Net:
    """Writes a graph layer by layer; a layer takes and returns value names."""

    def __init__(self, opset, x):
        self.opset, self.x = opset, x
        self.nodes, self.constants = [], {}
        self.channels = {"x": x.shape[1]} if x.ndim > 1 else {}

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def op(self, kind, *operands, outputs=1, channels=None, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(operands), names, **attributes))
        for name in names:
            self.channels[name] = channels or self.channels.get(operands[0])
        return names[0] if outputs == 1 else names

    def conv(self, x, out, kernel=3, stride=1, groups=1, dilation=1, pads=None, bias=True, rank=2, auto_pad=None):
        kernels = kernel if isinstance(kernel, tuple) else (kernel,) * rank
        inside = self.channels[x] // groups
        w = data((out, inside, *kernels)) / np.sqrt(inside * np.prod(kernels))
        operands = [x, self.constant(w.astype(np.float32))]
        if bias:
            operands.append(self.constant(data((out,)) / 8))
        if auto_pad:
            where = {"auto_pad": auto_pad}
        else:
            half = [(k - 1) * dilation // 2 for k in kernels]
            where = {"pads": pads or half + half}
        return self.op("Conv", *operands, channels=out, kernel_shape=list(kernels), strides=[stride] * rank,
                       group=groups, dilations=[dilation] * rank, **where)

    def norm(self, x):
        n = self.channels[x]
        return self.op("BatchNormalization", x, *(self.constant(v.astype(np.float32)) for v in (
            1 + data((n,)) / 8, data((n,)) / 8, data((n,)) / 8, 1 + np.abs(data((n,))) / 8)), epsilon=1e-3)

    def resize(self, x, height, width, **more):
        """Resizes by integer factors."""
        scales = np.array([1, 1, height, width], np.float32)
        if self.opset < 9:
            return self.op("Upsample", x, scales=scales.tolist())
        if self.opset < 11:
            return self.op("Upsample", x, self.constant(scales))
        roi = self.constant(np.zeros(8, np.float32)) if self.opset < 13 else ""
        return self.op("Resize", x, roi, self.constant(scales), **more)

    def relu(self, x):
        return self.op("Relu", x)

    def relu6(self, x):
        if self.opset < 11:
            return self.op("Clip", x, min=0.0, max=6.0)
        return self.op("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))

    def act(self, x):
        return self.relu(self.norm(x))

    def concat(self, *xs, axis=1):
        return self.op("Concat", *xs, axis=axis, channels=sum(self.channels[x] for x in xs))

    def max_pool(self, x, size=2, stride=2, pad=0, **more):
        return self.op("MaxPool", x, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4, **more)

    def mean(self, x, axes, keep=0):
        if self.opset < 18:
            return self.op("ReduceMean", x, axes=axes, keepdims=keep)
        return self.op("ReduceMean", x, self.constant(ints(*axes)), keepdims=keep)

    def dense(self, x, features, out, bias=True):
        w = (data((out, features)) / np.sqrt(features)).astype(np.float32)
        return self.op("Gemm", x, self.constant(w), self.constant(data((out,)) / 8), transB=1)

    def flatten(self, x):
        return self.op("Flatten", x, axis=1)

    def case(self, name, *outputs):
        return Case(f"{name}-{self.opset}", self.nodes, {"x": self.x}, self.constants, outputs, self.opset, 1e-4)


def alexnet(n):
    x = n.max_pool(n.relu(n.conv("x", 13, 11, stride=4, pads=[2] * 4)), 3)
    x = n.op("LRN", x, size=5)
    x = n.max_pool(n.relu(n.conv(n.conv(x, 26, 5), 26, 3, groups=2)), 3)
    x = n.op("Dropout", n.flatten(x))
    return n.op("Softmax", n.dense(n.relu(n.dense(x, 26 * 9, 31)), 31, 10), axis=1)


def vgg(n):
    x = "x"
    for channels in (9, 16, 21):
        x = n.max_pool(n.relu(n.conv(n.relu(n.conv(x, channels)), channels)))
    x = n.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    return n.op("GlobalMaxPool", x)


def resnext(n):
    x = n.act(n.conv("x", 24, 7, stride=2, bias=False))
    x = n.max_pool(x, 3, 2, 1)
    for out, stride in ((24, 1), (48, 2)):
        y = n.act(n.conv(x, 16, 1, bias=False))
        y = n.act(n.conv(y, 16, 3, stride, groups=4, bias=False))
        y = n.norm(n.conv(y, out, 1, bias=False))
        if out != n.channels[x]:
            x = n.norm(n.conv(x, out, 1, stride, bias=False))
        x = n.relu(n.op("Add", y, x, channels=out))
    return n.op("GlobalAveragePool", x)


def preact_resnet(n):
    x = n.conv("x", 12)
    for _ in range(2):
        y = n.conv(n.act(x), 12)
        x = n.op("Add", x, n.conv(n.act(y), 12))
    return n.mean(n.act(x), [2, 3])


def densenet(n):
    x = n.conv("x", 8, 3, stride=2)
    for _ in range(3):
        x = n.concat(x, n.conv(n.act(n.conv(n.act(x), 20, 1)), 7))
    x = n.conv(n.act(x), 11, 1)
    return n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])


def inception(n):
    x = n.relu(n.conv("x", 10, 3, stride=2, pads=[0] * 4))
    a = n.relu(n.conv(x, 6, 1))
    b = n.relu(n.conv(n.conv(n.relu(n.conv(x, 7, 1)), 8, (1, 7)), 9, (7, 1)))
    c = n.relu(n.conv(n.op("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4), 5, 1))
    d = n.max_pool(x, 3, 1, 1)
    x = n.concat(a, b, c, d)
    return n.concat(n.conv(x, 8, 3, stride=2), n.max_pool(x, 3, 2, 1))


def squeezenet(n):
    x = n.max_pool(n.relu(n.conv("x", 12, 3, stride=2)), 3, 2, ceil_mode=1 if n.opset >= 10 else 0) if n.opset >= 10 \
        else n.max_pool(n.relu(n.conv("x", 12, 3, stride=2)), 3)
    for squeeze in (4, 5):
        s = n.relu(n.conv(x, squeeze, 1))
        x = n.concat(n.relu(n.conv(s, 11, 1)), n.relu(n.conv(s, 13, 3)))
    return n.flatten(n.op("GlobalAveragePool", n.relu(n.conv(x, 10, 1))))


def shufflenet(n):
    x = n.act(n.conv("x", 12, 3, stride=2))
    _, _, h, w = n.x.shape
    h, w = (h + 1) // 2, (w + 1) // 2
    for _ in range(2):
        split = {"num_outputs": 2} if n.opset >= 18 else {}
        left, right = n.op("Split", x, outputs=2, axis=1, channels=6, **split)
        right = n.act(n.conv(n.norm(n.conv(n.act(n.conv(right, 6, 1)), 6, 3, groups=6)), 6, 1))
        x = n.concat(left, right)
        x = n.op("Reshape", x, n.constant(ints(1, 2, 6, h, w)))
        x = n.op("Transpose", x, perm=[0, 2, 1, 3, 4])
        x = n.op("Reshape", x, n.constant(ints(1, 12, h, w)), channels=12)
    return x


def mobilenet_v1(n):
    x = n.relu6(n.norm(n.conv("x", 10, 3, stride=2, auto_pad="SAME_UPPER")))
    for out, stride in ((14, 1), (18, 2), (18, 1)):
        c = n.channels[x]
        x = n.relu6(n.norm(n.conv(x, c, 3, stride, groups=c, bias=False, auto_pad="SAME_UPPER")))
        x = n.relu6(n.norm(n.conv(x, out, 1, bias=False)))
    return n.op("GlobalAveragePool", x)


def mobilenet_v3(n):
    def hswish(x):
        if n.opset >= 14:
            return n.op("HardSwish", x)
        y = n.relu6(n.op("Add", x, n.constant(np.float32(3))))
        return n.op("Div", n.op("Mul", x, y), n.constant(np.float32(6)))
    x = hswish(n.norm(n.conv("x", 8, 3, stride=2)))
    for expand, out, kernel, stride in ((20, 8, 3, 1), (27, 12, 5, 2)):
        y = hswish(n.norm(n.conv(x, expand, 1)))
        y = n.norm(n.conv(y, expand, kernel, stride, groups=expand))
        s = n.relu(n.conv(n.op("GlobalAveragePool", y), 6, 1))
        y = n.op("Mul", y, n.op("HardSigmoid", n.conv(s, expand, 1), alpha=1 / 6, beta=0.5))
        y = n.norm(n.conv(hswish(y), out, 1))
        x = n.op("Add", x, y) if stride == 1 and out == n.channels[x] else y
    return x


def efficientnet(n):
    def silu(x):
        return n.op("Mul", x, n.op("Sigmoid", x))
    x = silu(n.norm(n.conv("x", 9, 3, stride=2, pads=[0, 0, 1, 1])))
    y = silu(n.norm(n.conv(x, 9, 5, groups=9)))
    s = silu(n.conv(n.mean(y, [2, 3], 1), 3, 1))
    y = n.op("Mul", n.op("Sigmoid", n.conv(s, 9, 1)), y, channels=9)
    return n.op("Add", n.norm(n.conv(y, 9, 1)), x)


def unet(n):
    skips, x = [], "x"
    for channels in (6, 10):
        x = n.relu(n.conv(n.relu(n.conv(x, channels)), channels))
        skips.append(x)
        x = n.max_pool(x)
    x = n.relu(n.conv(x, 14))
    for channels in (10, 6):
        w = data((n.channels[x], channels, 2, 2)) / 6
        x = n.op("ConvTranspose", x, n.constant(w), n.constant(data((channels,)) / 8), channels=channels, kernel_shape=[2, 2], strides=[2, 2])
        x = n.relu(n.conv(n.concat(skips.pop(), x), channels))
    return n.op("Sigmoid", n.conv(x, 2, 1))


def deeplab(n):
    x = n.act(n.conv("x", 8, 3, stride=2))
    branches = [n.relu(n.conv(x, 5, 1))] + [n.relu(n.conv(x, 5, 3, dilation=d)) for d in (2, 4)]
    _, _, h, w = n.x.shape
    whole = n.relu(n.conv(n.op("GlobalAveragePool", x), 5, 1))
    whole = n.resize(whole, (h + 1) // 2, (w + 1) // 2)
    return n.conv(n.concat(*branches, whole), 4, 1)


def fpn(n):
    a = n.relu(n.conv("x", 6, 3, stride=2))
    b = n.relu(n.conv(a, 9, 3, stride=2))
    top = n.conv(b, 7, 1)
    up = n.resize(top, 2, 2, mode="linear", coordinate_transformation_mode="align_corners")
    merged = n.op("Add", n.conv(a, 7, 1), up)
    return n.conv(merged, 7), n.op("Sigmoid", n.conv(top, 3))


def yolo_head(n):
    x = n.op("LeakyRelu", n.norm(n.conv("x", 12, 3, stride=2)), alpha=0.1)
    x = n.concat(x, n.max_pool(x, 5, 1, 2), n.max_pool(x, 9, 1, 4))
    x = n.conv(x, 3 * 7, 1)
    _, _, h, w = n.x.shape
    h, w = (h + 1) // 2, (w + 1) // 2
    x = n.op("Transpose", n.op("Reshape", x, n.constant(ints(1, 3, 7, h, w))), perm=[0, 1, 3, 4, 2])
    x = n.op("Sigmoid", x)
    if n.opset < 10:
        return n.op("Slice", x, axes=[4], starts=[0], ends=[2])
    xy = n.op("Slice", x, n.constant(ints(0)), n.constant(ints(2)), n.constant(ints(4)))
    rest = n.op("Slice", x, n.constant(ints(2)), n.constant(ints(7)), n.constant(ints(4)))
    xy = n.op("Mul", xy, n.constant(np.float32(2)))
    return n.op("Reshape", n.op("Concat", xy, rest, axis=4), n.constant(ints(1, -1, 7)))


def pixel_shuffle(n):
    x = n.op("Tanh", n.conv("x", 11, 5))
    return n.op("DepthToSpace", n.conv(x, 12, 3), blocksize=2)


def conv1d(n):
    _, c, h, w = n.x.shape
    x = n.op("Reshape", "x", n.constant(ints(1, c, h * w)), channels=c)
    x = n.relu(n.conv(x, 8, 9, stride=4, rank=1))
    for d in (1, 2, 4):
        y = n.op("Mul", n.op("Tanh", n.conv(x, 8, 3, dilation=d, rank=1)), n.op("Sigmoid", n.conv(x, 8, 3, dilation=d, rank=1)))
        x = n.op("Add", n.conv(y, 8, 1, rank=1), x)
    return n.op("GlobalAveragePool", x)


def conv3d(n):
    b, c, h, w = n.x.shape
    x = n.op("Reshape", "x", n.constant(ints(1, 1, c, h, w)), channels=1)
    x = n.relu(n.conv(x, 5, 3, rank=3))
    x = n.op("MaxPool", x, kernel_shape=[1, 2, 2], strides=[1, 2, 2])
    return n.conv(x, 4, (1, 3, 3), rank=3)


def transformer(n):
    _, c, h, w = n.x.shape
    d, heads = 24, 3
    x = n.conv("x", d, 4, stride=4, pads=[0] * 4)
    tokens = (h // 4) * (w // 4)
    x = n.op("Transpose", n.op("Reshape", x, n.constant(ints(1, d, tokens))), perm=[0, 2, 1])
    x = n.op("Add", x, n.constant(data((1, tokens, d)) / 8))

    def layer_norm(x):
        m = n.op("Sub", x, n.mean(x, [-1], 1))
        v = n.mean(n.op("Mul", m, m), [-1], 1)
        y = n.op("Div", m, n.op("Sqrt", n.op("Add", v, n.constant(np.float32(1e-5)))))
        return n.op("Add", n.op("Mul", y, n.constant(1 + data((d,)) / 8)), n.constant(data((d,)) / 8))

    def linear(x, i, o):
        return n.op("Add", n.op("MatMul", x, n.constant(data((i, o)) / np.float32(np.sqrt(i)))), n.constant(data((o,)) / 8))
    y = layer_norm(x)
    q, k, v = (n.op("Transpose", n.op("Reshape", linear(y, d, d), n.constant(ints(1, tokens, heads, d // heads))), perm=[0, 2, 1, 3]) for _ in range(3))
    scores = n.op("Mul", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2])), n.constant(np.float32((d // heads) ** -0.5)))
    y = n.op("MatMul", n.op("Softmax", scores, axis=3), v)
    y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.constant(ints(1, tokens, d)))
    x = n.op("Add", x, linear(y, d, d))
    y = linear(layer_norm(x), d, 2 * d)
    half = n.op("Mul", y, n.constant(np.float32(0.5)))
    if n.opset >= 9:
        y = n.op("Mul", half, n.op("Add", n.op("Erf", n.op("Div", y, n.constant(np.float32(2 ** 0.5)))), n.constant(np.float32(1))))
    else:
        y = n.op("Mul", half, n.op("Add", n.op("Tanh", y), n.constant(np.float32(1))))
    x = n.op("Add", x, linear(y, 2 * d, d))
    return n.mean(x, [1])


def crnn(n):
    x = n.max_pool(n.relu(n.conv("x", 6)))
    _, _, h, w = n.x.shape
    x = n.op("Transpose", x, perm=[3, 0, 1, 2])
    x = n.op("Reshape", x, n.constant(ints(w // 2, 1, 6 * (h // 2))))
    features, hidden = 6 * (h // 2), 10
    w_, r = data((2, 4 * hidden, features)) / 8, data((2, 4 * hidden, hidden)) / 4
    y = n.op("LSTM", x, n.constant(w_), n.constant(r), n.constant(data((2, 8 * hidden)) / 8), outputs=3, hidden_size=hidden, direction="bidirectional")[0]
    y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.constant(ints(w // 2, 2 * hidden)))
    return n.op("LogSoftmax", n.dense(y, 2 * hidden, 9), axis=1)


def mlp_mixer(n):
    _, c, h, w = n.x.shape
    x = n.op("Reshape", "x", n.constant(ints(1, c, h * w)))
    x = n.op("MatMul", x, n.constant(data((h * w, 15)) / 20))
    x = n.op("PRelu", x, n.constant(np.abs(data((15,)))))
    y = n.op("Transpose", x, perm=[0, 2, 1])
    y = n.op("MatMul", y, n.constant(data((c, c))))
    return n.op("Add", n.op("Transpose", y, perm=[0, 2, 1]), x)


def style_transfer(n):
    x = n.op("Pad", "x", pads=[0, 0, 3, 3, 0, 0, 3, 3], mode="reflect") if n.opset < 11 else \
        n.op("Pad", "x", n.constant(ints(0, 0, 3, 3, 0, 0, 3, 3)), mode="reflect")
    x = n.conv(x, 8, 7, pads=[0] * 4)
    x = n.relu(n.op("InstanceNormalization", x, n.constant(1 + data((8,)) / 8), n.constant(data((8,)) / 8)))
    w = data((8, 5, 3, 3)) / 8
    return n.op("Tanh", n.op("ConvTranspose", x, n.constant(w), channels=5, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, output_padding=[1, 1]))


def networks():
    sizes = {"alexnet": 67, "vgg": 24, "unet": 20, "fpn": 20, "crnn": 12, "transformer": 16, "conv3d": 10, "mlp_mixer": 6, "inception": 19}
    for make in (alexnet, vgg, resnext, preact_resnet, densenet, inception, squeezenet, shufflenet, mobilenet_v1, mobilenet_v3,
                 efficientnet, unet, deeplab, fpn, yolo_head, pixel_shuffle, conv1d, conv3d, transformer, crnn, mlp_mixer, style_transfer):
        size = sizes.get(make.__name__, 21)
        for opset in (7, 9, 12, 17, 22):
            n = Net(opset, data((1, 3, size, size + (1 if size % 2 else 0))))
            outputs = make(n)
            yield n.case(make.__name__, *([outputs] if isinstance(outputs, str) else outputs))


if __name__ == "__main__":
    raise SystemExit(compare(__doc__, networks()))
