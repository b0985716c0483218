"""Operands whose shapes contradict each other or the operator, for
broken_models.py.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cases import F, case, info, model, node, weights


def recurrent(op, gates, shapes, outputs=("y",), **attrs):
    """Returns a model with a recurrent node whose inputs X, W, R, B, ... have
    these shapes."""
    shapes = [(3, 1, 2), (1, gates * 4, 2), (1, gates * 4, 4), *shapes]
    names = [f"i{i}" for i in range(len(shapes))]
    return model([node(op, names, outputs, **{"hidden_size": 4, **attrs})],
                 inputs=[info(n, s, TensorProto.INT32 if n == "i4" else F) for n, s in zip(names, shapes)],
                 outputs=[helper.make_empty_tensor_value_info(o) for o in outputs if o])


@case("invalid-node", node="the_node", text="the input `B` has the shape [3,1,2], but must be [D,8*H] with D=1, H=4")
def lstm_bias_of_rank_3(folder):
    return recurrent("LSTM", 4, [(3, 1, 2)])


@case("invalid-node", node="the_node", text="the input `initial_h` has the shape [1], but must be [D,N,H]")
def gru_state_of_rank_1(folder):
    return recurrent("GRU", 3, [(1, 24), (1,), (1,)])


@case("invalid-node", node="the_node", text="`initial_h` has the shape [1,1,4], but must be [N,D,H] with N=3")
def lstm_states_of_the_other_layout(folder):
    return recurrent("LSTM", 4, [(1, 32), (3,), (1, 1, 4)], layout=1)


@case("invalid-node", node="the_node", text="the attribute `layout` is 2, but must be 0 or 1")
def gru_of_an_unknown_layout(folder):
    return recurrent("GRU", 3, [], layout=2)


@case("invalid-node", node="the_node", text="`R` has the shape [1,4,4], but must be [_,_,hidden_size] with hidden_size=2")
def rnn_hidden_size_of_others(folder):
    return recurrent("RNN", 1, [], outputs=("", "y"), hidden_size=2)


@case("invalid-node", node="the_node", text="1 direction, but `direction` is bidirectional")
def gru_of_one_direction(folder):
    return recurrent("GRU", 3, [], direction="bidirectional")


@case("invalid-node", node="the_node", text="the input `W` has the shape [2,4,1,1], but must be [M,C,_,...] with C=3")
def conv_weights_for_other_channels(folder):
    return model([node("Conv", ["x", "w"])], inputs=[info("x", (1, 3, 4, 4))],
                 initializers=[weights(shape=(2, 4, 1, 1))], outputs=[info("y", None)])


@case("invalid-node", node="the_node", text="must be [N,group*C,_,...] with group=0")
def conv_of_no_groups(folder):
    return model([node("Conv", ["x", "w"], group=0)], inputs=[info("x", (1, 3, 4, 4))],
                 initializers=[weights(shape=(2, 3, 1, 1))], outputs=[info("y", None)])


@case("invalid-node", node="the_node", text="`nonpad_kv_seqlen` has the shape [2], but must be [N] with N=1")
def attention_lengths_of_another_batch(folder):
    inputs = [info(n, (1, 2, 4, 8)) for n in "qkv"] + [info("n", (2,), TensorProto.INT64)]
    return model([node("Attention", ["q", "k", "v", "", "", "", "n"])], inputs=inputs, outputs=[info("y", None)], opset=24)


@case("invalid-node", node="the_node", text="ceil_mode must be 0 or 1, not 3")
def pool_that_rounds_otherwise(folder):
    return model([node("MaxPool", ["x"], kernel_shape=[2, 2], ceil_mode=3)], inputs=[info("x", (1, 1, 5, 5))], outputs=[info("y", None)])


@case("invalid-node", node="the_node", text="the output `y` cannot have the type tensor(float)")
def quantization_to_floats(folder):
    return model([node("QuantizeLinear", ["x", "w"], output_dtype=F)], inputs=[info("x", (2, 4))], initializers=[weights(shape=())],
                 outputs=[info("y", None)], opset=23)


@case("invalid-node", node="the_node", text="the output `y` cannot have the type tensor(int64)")
def quantization_to_wide_integers(folder):
    return model([node("QuantizeLinear", ["x", "w"], output_dtype=TensorProto.INT64)], inputs=[info("x", (2, 4))],
                 initializers=[weights(shape=())], outputs=[info("y", None)], opset=23)


@case("invalid-node", node="the_node", text="the output `output` cannot have the type tensor(bool)")
def random_booleans(folder):
    return model([node("RandomUniformLike", ["x"], dtype=TensorProto.BOOL)], inputs=[info("x", (2, 4))], outputs=[info("y", None)])


@case("invalid-node", node="the_node", text="the output `Mean` cannot have the type tensor(int8)")
def moments_in_integers(folder):
    return model([helper.make_node("LayerNormalization", ["x", "s"], ["y", "mean"], name="the_node", stash_type=TensorProto.INT8)],
                 inputs=[info("x", (2, 4)), info("s", (4,))], outputs=[info("y", None), info("mean", None)])


@case("invalid-node", node="the_node", text="the shapes of the inputs contradict each other: the output 0 would be f32[2,4,4,6]")
def attention_mask_of_other_queries(folder):
    inputs = [info("q", (2, 4, 1, 8)), info("k", (2, 2, 6, 8)), info("v", (2, 2, 6, 6)), info("m", (2, 4, 4, 6))]
    return model([node("Attention", ["q", "k", "v", "m"])], inputs=inputs, outputs=[info("y", None)], opset=24)


@case("invalid-node", node="the_node", text="input 4 belongs to input 2, but differs")
def optimizer_values_of_other_shapes(folder):
    shapes = {"R": (), "T": (), "x": (1, 2), "g": (1, 2), "h": (2,)}
    inputs = [info(n, s, TensorProto.INT64 if n == "T" else F) for n, s in shapes.items()]
    return model([helper.make_node("Adagrad", list(shapes), ["y", "h_new"], name="the_node",
                                   domain="ai.onnx.preview.training")],
                 inputs=inputs, outputs=[info("y", (1, 2)), info("h_new", (2,))],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.preview.training", 1)])


@case("invalid-node", node="the_node", text="The pads attribute cannot be used simultaneously with auto_pad")
def conv_transpose_pads_beside_auto_pad(folder):
    return model([node("ConvTranspose", ["x", "w"], strides=[3, 2], output_padding=[1, 1], pads=[1, 1, 1, 1],
                       auto_pad="SAME_UPPER")],
                 inputs=[info("x", (1, 3, 7, 6))], initializers=[weights(shape=(3, 4, 3, 3))], outputs=[info("y", None)])


@case("invalid-node", node="the_node", text="auto_pad `SAME` does not exist")
def conv_transpose_of_unknown_auto_pad(folder):
    return model([node("ConvTranspose", ["x", "w"], auto_pad="SAME")],
                 inputs=[info("x", (1, 3, 7, 6))], initializers=[weights(shape=(3, 4, 3, 3))], outputs=[info("y", None)])


@case("invalid-attribute", node="the_node", text="has no attribute `start` in the definition of opset 1")
def body_needs_a_newer_opset(folder):
    q = [info(n, (2, 4, 8, 16)) for n in "qkv"]
    return model([helper.make_node("FlexAttention", ["q", "k", "v"], ["y"], name="the_node", domain="ai.onnx.preview")],
                 inputs=q, outputs=[info("y", None)],
                 imports=[helper.make_opsetid("", 3), helper.make_opsetid("ai.onnx.preview", 1)])


@case("invalid-node", node="the_node", text="the indices have more elements than the data along axis 1")
def gathered_beyond_the_data(folder):
    return model([node("GatherElements", ["x", "i"])], inputs=[info("x", (4, 5)), info("i", (2, 6), TensorProto.INT64)],
                 outputs=[info("y", (2, 6))])


@case("invalid-node", node="the_node", text="the window must be a vector")
def frames_of_a_window_without_axes(folder):
    return model([node("STFT", ["x", "s", "w"])], inputs=[info("x", (1, 128, 1)), info("s", (), TensorProto.INT64), info("w", ())],
                 outputs=[info("y", None)], opset=17)


@case("invalid-node", node="the_node", text="frame_step must have exactly one element")
def frames_of_two_steps(folder):
    return model([node("STFT", ["x", "s"])], inputs=[info("x", (1, 128, 1)), info("s", (2,), TensorProto.INT64)],
                 outputs=[info("y", None)], opset=17)


@case("invalid-node", node="the_node", text="string attribute that is one of: none, tanh")
def approximate_by_something_else(folder):
    return model([node("Gelu", approximate="erf")], opset=20)


def contrib(op, inputs, **attrs):
    return model([node(op, [i.name if i else "" for i in inputs], domain="com.microsoft", **attrs)], inputs=[i for i in inputs if i],
                 outputs=[info("y", None)], imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


@case("operand-count", node="the_node", text="the node has 1 input")
def contrib_operand_left_out(folder):
    return contrib("BiasGelu", [info("x")])


@case("invalid-attribute", node="the_node", text="the attribute `num_heads` is missing")
def contrib_attribute_left_out(folder):
    return contrib("MultiHeadAttention", [info("q", (1, 4, 8))])


@case("operand-type", node="the_node", text="the input `weights` has the element type i32")
def contrib_type(folder):
    return contrib("Attention", [info("x", (1, 4, 8)), info("w", (8, 24), TensorProto.INT32)], num_heads=2)


@case("invalid-node", node="the_node", text="the input `bias` has the shape [23], but must be [W] with W=24")
def contrib_shape(folder):
    return contrib("Attention", [info("x", (1, 4, 8)), info("w", (8, 24)), info("b", (23,))], num_heads=2)


@case("invalid-node", node="the_node", text="the weights have 24 columns, which cannot be split into queries, keys and values of 5 heads")
def contrib_heads(folder):
    return contrib("Attention", [info("x", (1, 4, 8)), info("w", (8, 24))], num_heads=5)


@case("unsupported-form", node="the_node", code=3, text="a mask of this shape")
def contrib_mask(folder):
    mask = info("m", (1, 1, 4, 4), TensorProto.INT32)
    return contrib("Attention", [info("x", (1, 4, 8)), info("w", (8, 24)), None, mask], num_heads=2)


@case("unsupported-form", node="the_node", code=3, text="weights of 3 bits")
def contrib_bits(folder):
    inputs = [info("x", (1, 16)), info("w", (4, 1, 6), TensorProto.UINT8), info("s", (4, 1))]
    return contrib("MatMulNBits", inputs, K=16, N=4, bits=3, block_size=16)


@case("invalid-node", node="the_node", text="do not match K=16, N=4, block_size=16 and bits=4")
def contrib_blocks(folder):
    inputs = [info("x", (1, 16)), info("w", (4, 2, 8), TensorProto.UINT8), info("s", (4, 1))]
    return contrib("MatMulNBits", inputs, K=16, N=4, block_size=16)


@case("unsupported-form", node="the_node", code=3, text="the activation `Snake`")
def contrib_activation(folder):
    return contrib("FusedConv", [info("x", (1, 3, 4, 4)), info("w", (2, 3, 1, 1))], activation="Snake")


@case("invalid-node", node="the_node", text="pads must not contain negative values")
def contrib_negative_pads(folder):
    return contrib("FusedConv", [info("x", (1, 3, 9, 9)), info("w", (4, 3, 3, 3))], pads=[-1, -2, 0, 1], activation="Relu")


@case("invalid-node", text="kernel_shape contradicts the weights' shape")
def deformable_kernel_of_another_size(folder):
    return model([node("DeformConv", ["x", "w", "o"], kernel_shape=[2, 3], pads=[1, 1, 1, 1])],
                 inputs=[info("x", (1, 1, 3, 3)), info("w", (1, 1, 2, 2)), info("o", (1, 8, 4, 4))],
                 outputs=[info("y", None)], opset=22)


@case("invalid-node", node="the_node", text="frame_length must have exactly one element")
def stft_without_a_frame_length(folder):
    return model([node("STFT", ["x", "step", "", "length"])],
                 inputs=[info("x", (1, 128, 1)), info("step", (), TensorProto.INT64), info("length", (0,), TensorProto.INT64)],
                 outputs=[helper.make_empty_tensor_value_info("y")])


@case("invalid-node", node="the_node", text="starts, ends, axes and steps must have the same length")
def slice_with_steps_for_other_axes(folder):
    given = ("starts", "ends", "axes", "steps")
    return model([node("Slice", ["x", *given])],
                 inputs=[info("x", (4,)), *(info(n, (2 if n == "steps" else 1,), TensorProto.INT64) for n in given)],
                 outputs=[helper.make_empty_tensor_value_info("y")])


def with_numbers(op, inputs, numbers, **attrs):
    """Returns a model with a node whose last inputs are scalar constants."""
    tensors = [numpy_helper.from_array(np.array(n, np.float32 if isinstance(n, float) else np.int64), f"n{i}")
               for i, n in enumerate(numbers)]
    return model([node(op, [i.name for i in inputs] + [t.name for t in tensors])], inputs=inputs, initializers=tensors,
                 outputs=[helper.make_empty_tensor_value_info("y")], **attrs)


@case("invalid-node", node="the_node", text="frame_step must be positive, and frame_length between 1 and the number")
def frames_that_do_not_move(folder):
    return with_numbers("STFT", [info("x", (1, 128, 1))], [-2], opset=17)


@case("invalid-node", node="the_node", text="lower_edge_hertz or upper_edge_hertz is outside of the spectrum")
def mel_bands_beyond_the_spectrum(folder):
    return with_numbers("MelWeightMatrix", [], [2, 16, 8, 0.0, 100.0], opset=17)


@case("invalid-node", node="the_node", text="a size is -1, but must be 0 or more")
def negative_number_of_mel_bands(folder):
    return with_numbers("MelWeightMatrix", [], [-1, 16, 8, 0.0, 2.0], opset=17)
