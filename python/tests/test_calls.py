"""Tests calls of networks: accepted inputs, outputs, and rejected inputs."""

import ctypes
import gc
import pickle
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest
from conftest import MNIST, make

import ingot


@pytest.fixture(scope="module")
def net(relu):
    return ingot.compile(relu)


@pytest.fixture(scope="module")
def open_net(dense):
    return ingot.compile(dense, dims={"batch": (1, 8)})


X = np.array([-1, 2, -3, 4], np.float32)
Y = np.array([0, 2, 0, 4], np.float32)


def test_call(net):
    y = net(X)
    assert type(y) is np.ndarray and y.dtype == np.float32 and y.tolist() == Y.tolist()
    assert net(x=X).tolist() == Y.tolist()


def test_each_call_has_an_array_of_its_own(net):
    first, second = net(X), net(-X)
    assert first.tolist() == Y.tolist() and second.tolist() == [1, 0, 3, 0]


def test_properties(net):
    assert str(net.inputs[0]) == "x: float32[4]" and net.outputs[0].name == "y"
    assert net.inputs[0].numpy_dtype == np.float32 and net.inputs[0].shape == (4,) and net.sizes == {}
    assert net.arena_bytes >= 0 and net.state_bytes == 0 and net.weights_bytes >= 0 and net.target.startswith("x86-64")
    assert "net_run" in net.header and "ingot_status" in net.source and net.options == {}
    assert "x: float32[4]" in repr(net)


@pytest.mark.parametrize(
    "given",
    [
        X.tolist(),
        tuple(X.tolist()),
        np.array([-1, 0, 2, 0, -3, 0, 4, 0], np.float32)[::2],
        X.astype(">f4"),
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32),
        np.asfortranarray(X),
        memoryview(X),
        [-1, 2, -3, 4],
        np.ma.array(X),
    ],
    ids=["list", "tuple", "strided", "big-endian", "unaligned", "fortran", "buffer", "integers", "subclass"],
)
def test_inputs_that_are_converted(net, given):
    assert net(given).tolist() == Y.tolist()


class Foreign:
    """An array of another library, which supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack(net):
    assert net(Foreign(X)).tolist() == Y.tolist()

    class OnDevice(Foreign):
        def __dlpack__(self, **kwargs):
            raise BufferError("the memory is on a device")

    with pytest.raises(ingot.InputError, match="`x` cannot be read through DLPack: the memory is on a device"):
        net(OnDevice(X))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (X.astype(np.float64), r"is float32\[4\], not float64\[4\]; convert it with .astype\('float32'\)"),
        (np.zeros(5, np.float32), r"is float32\[4\], not float32\[5\]"),
        (np.zeros((2, 2), np.float32), r"has 1 axes, float32\[4\]; the array has 2"),
        ("text", "not <U4"),
        (None, "is None, but it is not optional"),
        ([[1], [2, 3]], "cannot be made an array"),
        (np.float64(3), "not float64"),
    ],
)
def test_inputs_that_are_refused(net, given, words):
    with pytest.raises(ingot.InputError, match=words) as caught:
        net(given)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, TypeError)


def test_names_of_inputs(net):
    for call, words in (
        (lambda: net(), "missing: x"),
        (lambda: net(X, X), "takes 1 inputs"),
        (lambda: net(y=X), "no input `y`; its inputs are x"),
        (lambda: net(X, x=X), "given twice"),
    ):
        with pytest.raises(ingot.InputError, match=words):
            call()


def test_open_sizes(open_net):
    assert open_net.sizes == {"batch": (1, 8)}
    assert str(open_net.outputs[0]) == "y: float32[batch,8]"
    for n in (1, 3, 8):
        x = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
        y = open_net(x, x)
        assert y.shape == (n, 8) and np.array_equal(y[:, :4], 2 * x) and np.array_equal(open_net(z=x, x=x), y)
        assert np.array_equal(open_net(x, z=x), y)
    with pytest.raises(ingot.InputError, match=r"axis 0 of the input `x` is 9; `batch` is 1 to 8"):
        open_net(np.zeros((9, 4), np.float32), np.zeros((9, 4), np.float32))
    with pytest.raises(ingot.InputError, match=r"`z` is float32\[batch = 2,4\], not float32\[3,4\]"):
        open_net(np.zeros((2, 4), np.float32), np.zeros((3, 4), np.float32))


def test_sizes_that_only_expressions_have():
    model = make("net (float[n] x, float[p] z) => (float[m] y) { y = Concat<axis = 0>(x, z) }")
    net = ingot.compile(model, dims={"n": (0, 4), "p": (0, 4)})
    assert net(X[:0], X[:3]).tolist() == X[:3].tolist()
    assert net.outputs[0].shape == ("n + p",)


def test_sizes_of_the_data():
    model = make("net (float[a, b] x) => (int64[2, n] y, float[m] v) { y = NonZero(x)\n r = Constant<value_ints = [-1]>()\n v = Reshape(x, r) }")
    net = ingot.compile(model, dims={"a": (0, 3), "b": (0, 40)})
    x = np.zeros((3, 40), np.float32)
    x[1, 2] = 1
    y, v = net(x)
    assert y.tolist() == [[1], [2]] and v.shape == (120,)
    y, v = net(np.ones((2, 2), np.float32))
    assert y.tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
    y, v = net(np.zeros((0, 2), np.float32))
    assert y.shape == (2, 0) and v.shape == (0,)


def test_out(net, open_net):
    y = np.empty(4, np.float32)
    assert net(X, out=y) is y and y.tolist() == Y.tolist()
    x = np.ones((2, 4), np.float32)
    (z,) = open_net(x, x, out=(np.empty((2, 8), np.float32),))
    assert z.tolist() == [[2] * 4 + [1] * 4] * 2
    for out, words in (
        (np.empty(4, np.float64), "must be float32"),
        (np.empty(8, np.float32)[::2], "contiguous"),
        (X, "overlaps an input"),
        ((y, y), "has 2 arrays"),
        ([1, 2, 3, 4], "has 4 arrays"),
        ([[1, 2, 3, 4]], "not list"),
    ):
        with pytest.raises(ingot.InputError, match=words):
            net(X, out=out)


def identities(types, opset=17):
    """Returns a network that returns each of its inputs; `types` are the types of the inputs."""
    onnx_names = [{"float64": "double"}.get(name, name.replace("_e", "e")) for name in types]
    takes = ", ".join(f"{name}[3] x{i}" for i, name in enumerate(onnx_names))
    gives = ", ".join(f"{name}[3] y{i}" for i, name in enumerate(onnx_names))
    body = "\n".join(f"y{i} = Identity(x{i})" for i in range(len(types)))
    return ingot.compile(make(f"net ({takes}) => ({gives}) {{ {body} }}", opset))


TYPES = ["float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
SMALL_TYPES = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"]


def test_types():
    net = identities(TYPES)
    arrays = [np.array([0, 1, 1], name) for name in TYPES]
    lists = [[False, True, True] if name == "bool" else [0, 1, 1] for name in TYPES]
    for results in (net(*arrays), net(*lists), net(*(np.flip(a)[::-1] for a in arrays))):
        for x, y in zip(arrays, results):
            assert y.dtype == x.dtype and np.array_equal(x, y)


def test_types_of_ml_dtypes():
    net = identities(SMALL_TYPES, opset=21)
    arrays = [np.array([0, 1, 2], np.float32).astype(getattr(ml_dtypes, name)) for name in SMALL_TYPES]
    bits = [x.astype(np.int8) if name == "int4" else x.view(np.uint16 if name == "bfloat16" else np.uint8) for name, x in zip(SMALL_TYPES, arrays)]
    for results in (net(*arrays), net(*bits), net(*([0, 1, 2] for _ in arrays))):
        for x, y in zip(arrays, results):
            assert y.dtype == x.dtype and np.array_equal(x, y)


def test_integers_do_not_wrap():
    net = ingot.compile(make("net (int8[2] x) => (int8[2] y) { y = Identity(x) }"))
    with pytest.raises(ingot.InputError, match="int8, which cannot hold"):
        net([1, 300])
    with pytest.raises(ingot.InputError, match="not float64"):
        net([1.5, 2])


def test_scalars_and_empty_arrays():
    net = ingot.compile(make("net (float x, float[2, 0] e) => (float y, float[2, 0] f) { y = Add(x, x)\n f = Relu(e) }"))
    y, f = net(np.float32(3), np.zeros((2, 0), np.float32))
    assert y.shape == () and y == 6 and f.shape == (2, 0)
    y, _ = net(1.5, np.zeros((2, 0), np.float32))
    assert y == 3


def test_strings():
    net = ingot.compile(make('net (string[2] x) => (string[n] y) { y = StringNormalizer<case_change_action = "UPPER", stopwords = ["a"]>(x) }'))
    assert net.inputs[0].numpy_dtype == object
    assert net(["ingot", "bär"]).tolist() == ["INGOT", "BäR"] or net(["ingot", "bär"]).tolist() == ["INGOT", "BÄR"]
    assert net(np.array([b"a", b"b"], object)).tolist() == ["B"]
    for bad, words in ((np.zeros(2), "made of strings"), (["a\0b", "c"], "zero character"), ([1, 2], "made of strings")):
        with pytest.raises(ingot.InputError, match=words):
            net(bad)


def test_sequences():
    net = ingot.compile(
        make("net (seq(float[?]) x, int64 i) => (float[n] y, seq(float[?]) q) { y = SequenceAt(x, i)\n q = SequenceErase(x, i) }"),
        dims={"x_count": (0, 3), "x:0": (0, 4)},
    )
    assert net.inputs[0].kind == "sequence" and "sequence of" in str(net.inputs[0])
    parts = [np.array([1, 2], np.float32), np.array([3], np.float32), np.zeros(0, np.float32)]
    y, q = net(parts, 1)
    assert y.tolist() == [3] and [part.tolist() for part in q] == [[1, 2], []]
    with pytest.raises(ingot.InputError, match="pass a list of arrays, not ndarray"):
        net(np.zeros((2, 2), np.float32), 0)
    with pytest.raises(ingot.InputError, match=r"element 0 of `x` is float32\[5\]"):
        net([np.zeros(5, np.float32)], 0)
    with pytest.raises(ingot.InputError, match="is 4; `x_count` is 0 to 3"):
        net([parts[0]] * 4, 0)
    with pytest.raises(ingot.InputError, match="INGOT_ERROR_SHAPE"):
        net(parts[:1], 2)


def test_sequences_of_one_shape():
    net = ingot.compile(make("net (seq(float[2]) x) => (seq(float[2]) y, int64 n) { y = Identity(x)\n n = SequenceLength(x) }"), dims={"x_count": (0, 3)})
    y, n = net([[1, 2], [3, 4]])
    assert [part.tolist() for part in y] == [[1, 2], [3, 4]] and n == 2
    assert net([])[0] == []
    with pytest.raises(ingot.InputError, match="its shape must be"):
        net([np.zeros(3, np.float32)])


@pytest.mark.parametrize("shape", [(), (2, 3), (1, 2, 0), (1, 1, 2, 2)])
def test_sequences_of_arrays_with_axes(shape):
    kind = "float" + (f"[{','.join(map(str, shape))}]" if shape else "")
    net = ingot.compile(make(f"net (seq({kind}) x) => (seq({kind}) y) {{ y = Identity(x) }}"), dims={"x_count": (0, 3)})
    assert net.inputs[0].shape == net.outputs[0].shape == shape
    given = [np.full(shape, i, np.float32) for i in range(3)]
    for count in range(4):
        y = net(given[:count])
        assert len(y) == count and all(np.array_equal(a, b) for a, b in zip(y, given))
    with pytest.raises(ingot.InputError, match="its shape must be"):
        net([np.zeros((*shape, 2), np.float32)])


def test_sequences_of_different_ranks():
    net = ingot.compile(make("net (float[2,3] x, float[4] z, float s) => (seq(float[]) y) { y = SequenceConstruct(x, z, s) }"))
    x, z, s = np.arange(6, dtype=np.float32).reshape(2, 3), X, np.float32(7)
    assert [part.tolist() for part in net(x, z, s)] == [x.tolist(), z.tolist(), 7]


def test_optional_values():
    net = ingot.compile(make("net (optional(float[3]) x) => (bool y, optional(float[3]) z) { y = OptionalHasElement(x)\n z = Identity(x) }"))
    assert net.inputs[0].kind == "optional"
    y, z = net(X[:3])
    assert y and z.tolist() == X[:3].tolist()
    for y, z in (net(None), net()):
        assert not y and z is None


def test_names_that_are_none_of_python():
    net = ingot.compile(make('net (float[2] "x:0", float[2] "ünï/*") => (float[2] "y 1") { "y 1" = Sub("x:0", "ünï/*") }'))
    assert [i.name for i in net.inputs] == ["x:0", "ünï/*"] and net.outputs[0].name == "y 1"
    a, b = np.float32([3, 4]), np.float32([1, 1])
    assert net(**{"x:0": a, "ünï/*": b}).tolist() == [2, 3] == net(x_0=a, **{"ünï/*": b}).tolist()


def test_bound_values():
    model = make("net (float[2, 3] x, int64[2] shape) => (float[a, b] y) { y = Reshape(x, shape) }")
    net = ingot.compile(model, bind={"shape": np.array([3, 2])})
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert net(x, np.array([3, 2])).shape == (3, 2)
    with pytest.raises(ingot.InputError, match="INGOT_ERROR_SPECIALIZED.*bind"):
        net(x, np.array([2, 3]))


def test_state():
    model = make("net (float[2] x, float[2] h) => (float[2] y, float[2] g) { g = Add(x, h)\n y = Identity(g) }")
    net = ingot.compile(model, state={"h": "g"})
    assert [i.name for i in net.inputs] == ["x"] and [o.name for o in net.outputs] == ["y"] and net.state_bytes > 0
    one = np.ones(2, np.float32)
    assert net(one).tolist() == [1, 1] and net([1, 1]).tolist() == [2, 2] and net(x=one).tolist() == [3, 3]
    net.reset()
    assert net(one).tolist() == [1, 1]
    assert net.options == {"state": {"h": "g"}}

    threads = [threading.Thread(target=lambda: [net(one) for _ in range(500)]) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert net(one).tolist() == [2002, 2002]


def test_threads():
    one, two = ingot.compile(MNIST), ingot.compile(MNIST, threads=2)
    images = np.random.default_rng(1).random((20, 1, 1, 28, 28), np.float32)
    expected = [one(image) for image in images]
    assert all(np.array_equal(two(image), want) for image, want in zip(images, expected))
    assert ingot.Options.of(threads=0).threads >= 1

    wrong = []

    def work():
        for image, want in zip(images, expected):
            for net in (one, two):
                if not np.array_equal(net(image), want):
                    wrong.append(image)

    threads = [threading.Thread(target=work) for _ in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_a_child_process_has_threads_of_its_own():
    import os

    net = ingot.compile(MNIST, threads=2)
    x = np.zeros((1, 1, 28, 28), np.float32)
    expected = net(x)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(net(x), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_pickle(open_net):
    again = pickle.loads(pickle.dumps(open_net))
    assert again.inputs == open_net.inputs and again.options == open_net.options
    x = np.ones((2, 4), np.float32)
    assert np.array_equal(again(x, x), open_net(x, x))


def test_nets_are_freed(relu):
    net = ingot.compile(relu)
    net(X)
    alive = weakref.ref(net)
    del net
    gc.collect()
    assert alive() is None


def test_memory_does_not_grow(net, open_net):
    import resource

    x = np.ones((8, 4), np.float32)
    for i in range(20000):
        if i == 4000:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        net(X)
        open_net(x, z=x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000


def test_the_native_part_checks_its_arguments(net):
    from ingot._native import Function

    for bad in ((0, 0, 64, 1, False), (1, -1, 64, 1, False), (1, 0, 3, 1, False)):
        with pytest.raises(ValueError):
            Function(*bad)
    with pytest.raises(RuntimeError, match="not called"):
        Function.__new__(Function).run(b"")
    with pytest.raises(RuntimeError, match="made once"):
        Function.__init__(net, 1, 0, 64, 1, False)
    with pytest.raises(RuntimeError, match="described once"):
        net.describe(np.ndarray, np.empty, (), (), (), ())
    echo = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(lambda io, arena, context: 2)
    function = Function(ctypes.cast(echo, ctypes.c_void_p).value, 0, 64, 1, False)
    assert function.run(bytes(8)) == 2
    with pytest.raises(TypeError):
        function.run(3)
    with pytest.raises(ValueError, match="out of range"):
        function.describe(np.ndarray, np.empty, (), (("x", "f", 4, ((True, 0),)),), (), ())


def test_an_error_of_the_network(net, monkeypatch):
    monkeypatch.setattr(type(net), "run", lambda self, words, then: 5)
    with pytest.raises(ingot.RunError, match="INGOT_ERROR_TARGET: this machine") as caught:
        net(X.tolist())
    assert caught.value.status == "INGOT_ERROR_TARGET" and pickle.loads(pickle.dumps(caught.value)).status == caught.value.status
