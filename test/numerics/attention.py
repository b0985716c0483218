"""Attention of com.microsoft, as ONNX Runtime's optimizer and its exporters for language models write it, and as other exporters spell it out.
Beside ONNX Runtime.

    attention.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]
"""
import itertools
import sys

import ml_dtypes
import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, contrib, data, rng, run

B, S, N, H = 2, 6, 4, 8
D = N * H
# Overrides the default mask value of -10000, near which float32 rounds masked scores to 0.001.
FAR = {"mask_filter_value": -1e30}
HALF = 5e-3


def padding(rows, keys):
    mask = np.ones((rows, keys), np.int32)
    mask[0, keys - 2:] = 0
    mask[-1, 0] = 0
    return mask


def masks(keys, queries):
    yield "raw", padding(B, keys)
    yield "lengths", np.array([keys - 2, keys], np.int32)
    triangle = np.tril(np.ones((B, queries, keys), np.int32), keys - queries)
    triangle[:, :, 0] = 1
    yield "matrix", triangle


def projected():
    x, w, b = data((B, S, 12)), data((12, 3 * D)) / 4, data((3 * D,))
    weights = {"w": w, "b": b}
    past = data((2, B, N, 5, H))
    bias = data((B, N, S, S))
    for causal in (0, 1):
        heads = {"num_heads": N, "unidirectional": causal}
        yield contrib(f"attention-{causal}", "Attention", {"x": x}, weights, **heads)
        yield contrib(f"attention-scale-{causal}", "Attention", {"x": x}, weights, scale=0.1, **heads)
        yield contrib(f"attention-past-{causal}", "Attention", {"x": x, "past": past}, weights, ("y", "present"), order=["x", "w", "b", "", "past"], **heads)
        yield contrib(f"attention-first-{causal}", "Attention", {"x": x}, weights, ("y", "present"), **heads)
        for small in ((B, N), (1, N), (B, 1), (1, 1)):
            yield contrib(f"attention-bias-{small}-{causal}", "Attention", {"x": x, "a": bias[:small[0], :small[1]]}, weights,
                          order=["x", "w", "b", "", "", "a"], **heads)
        for name, mask in masks(S, S):
            if name == "matrix" or not causal:
                yield contrib(f"attention-{name}-{causal}", "Attention", {"x": x, "m": mask}, weights, order=["x", "w", "b", "m"], **heads, **FAR)
    ends = np.array([5, 6, 1, 0], np.int32)  # lengths, then start positions
    yield contrib("attention-ends", "Attention", {"x": x, "m": ends}, weights, order=["x", "w", "b", "m"], num_heads=N, **FAR)
    yield contrib("attention-past-mask", "Attention", {"x": x, "m": padding(B, S + 5), "past": past}, weights, ("y", "present"),
                  order=["x", "w", "b", "m", "past"], num_heads=N, **FAR)
    other = {"w": data((12, 2 * D + 20)), "b": data((2 * D + 20,))}
    yield contrib("attention-sizes", "Attention", {"x": x}, other, num_heads=N, qkv_hidden_sizes=[D, D, 20])
    yield contrib("attention-one", "Attention", {"x": data((1, 1, 12))}, weights, num_heads=1)


def quantized():
    for signed in (np.int8, np.uint8):
        x, w = data((B, S, 12), np.uint8, 128), data((12, 3 * D), np.int32, 60).astype(signed)
        constants = {"w": w, "b": data((3 * D,)), "xs": np.float32(0.02), "ws": np.float32(0.01), "xz": np.uint8(60), "wz": signed(40)}
        order = ["x", "w", "b", "xs", "ws", "", "xz", "wz"]
        name = np.dtype(signed).name
        yield contrib(f"qattention-{name}", "QAttention", {"x": x}, constants, order=order, num_heads=N)
        yield contrib(f"qattention-causal-{name}", "QAttention", {"x": x}, constants, order=order, num_heads=N, unidirectional=1)
        yield contrib(f"qattention-mask-{name}", "QAttention", {"x": x, "m": padding(B, S)}, constants,
                      order=order[:5] + ["m"] + order[6:], num_heads=N, **FAR)
        yield contrib(f"qattention-past-{name}", "QAttention", {"x": x, "past": data((2, B, N, 5, H))}, constants, ("y", "present"),
                      order=order + ["past"], num_heads=N)
        columns = constants | {"ws": 0.01 + data((3 * D,)) ** 2 / 100, "wz": data((3 * D,), np.int32, 50).astype(signed)}
        yield contrib(f"qattention-columns-{name}", "QAttention", {"x": x}, columns, order=order, num_heads=N)


def attended(q, k, v):
    """Returns the attention of queries, keys and values [B, S, N, H]."""
    weights = np.exp(np.einsum("bsnh,btnh->bnst", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("bnst,btnh->bsnh", weights / weights.sum(-1, keepdims=True), v).reshape(*q.shape[:2], -1).astype(np.float32)


def multi_head():
    q, k, v = data((B, S, D)), data((B, 9, D)), data((B, 9, 20))
    b = data((2 * D + 20,))
    own = data((3 * D,))
    heads = {"num_heads": N}
    op = "MultiHeadAttention"
    yield contrib("heads", op, {"q": q, "k": k, "v": v}, **heads)
    yield contrib("heads-scale", op, {"q": q, "k": k, "v": v}, scale=0.2, **heads)
    yield contrib("heads-bias", op, {"q": q, "k": k, "v": v}, {"b": b}, **heads)
    yield contrib("heads-causal", op, {"q": q, "k": q, "v": q}, {"b": own}, unidirectional=1, **heads)
    # Packed queries, keys and values, for which ONNX Runtime has no CPU kernel: compared with NumPy.
    packed, pair = data((B, S, N, 3, H)), data((B, 9, N, 2, H))
    yield contrib("heads-packed", op, {"x": packed}, want=[attended(*(packed[:, :, :, i] for i in range(3)))], **heads)
    yield contrib("heads-packed-keys", op, {"q": q, "kv": pair}, want=[attended(q.reshape(B, S, N, H), pair[:, :, :, 0], pair[:, :, :, 1])], **heads)
    cached = {"q": q, "k": data((B, N, 9, H)), "v": data((B, N, 9, H))}
    yield contrib("heads-cross", op, cached, **heads)
    yield contrib("heads-cross-bias", op, cached, {"b": own}, **heads)
    for name, mask in masks(9, S):
        yield contrib(f"heads-{name}", op, {"q": q, "k": k, "v": v, "m": mask}, order=["q", "k", "v", "", "m"], **heads, **FAR)
    for small in ((B, N), (1, N), (B, 1), (1, 1)):
        yield contrib(f"heads-attention-bias-{small}", op, {"q": q, "k": k, "v": v, "a": data((*small, S, 9))}, order=["q", "k", "v", "", "", "a"], **heads)
    past = {"pk": data((B, N, 5, H)), "pv": data((B, N, 5, H))}
    x = {"q": q, "k": data((B, S, D)), "v": data((B, S, D))}
    three = ("y", "key", "value")
    yield contrib("heads-past", op, x | past, {"b": own}, three, order=["q", "k", "v", "b", "", "", "pk", "pv"], **heads)
    yield contrib("heads-past-causal", op, x | past, None, three, order=["q", "k", "v", "", "", "", "pk", "pv"], unidirectional=1, **heads)
    yield contrib("heads-first", op, x, None, three, **heads)
    room = {"pk": data((B, N, 12, H)), "pv": data((B, N, 12, H)), "n": np.array([5], np.int32)}
    shared = ["q", "k", "v", "", "", "", "pk", "pv", "n"]
    yield contrib("heads-shared", op, x | room, None, three, order=shared, **heads)
    yield contrib("heads-shared-causal", op, x | room, None, three, order=shared, unidirectional=1, **heads)
    step = {"q": data((B, 1, D)), "k": data((B, 1, D)), "v": data((B, 1, D))}
    op, order = "DecoderMaskedMultiHeadAttention", ["q", "k", "v", "m", "a", "pk", "pv", "n", "", "", "b"]
    yield contrib("step-cross", op, {"q": step["q"], "k": cached["k"], "v": cached["v"]}, **heads)
    heads["past_present_share_buffer"] = 1
    given = lambda *names: [o if o in ("q", "k", "v", "pk", "pv", "n") + names else "" for o in order]
    yield contrib("step", op, step | room, None, three, order=given(), **heads)
    yield contrib("step-bias", op, step | room, {"b": own}, three, order=given("b"), **heads)
    yield contrib("step-scale", op, step | room, None, three, order=given(), scale=0.3, **heads)
    yield contrib("step-full", op, step | room | {"n": np.array([11], np.int32)}, None, three, order=given(), **heads)
    yield contrib("step-mask", op, step | room | {"m": padding(B, 12), "n": np.array([11], np.int32)}, None, three, order=given("m"), **heads, **FAR)
    yield contrib("step-attention-bias", op, step | room | {"a": data((B, N, 1, 12)), "n": np.array([11], np.int32)}, None, three, order=given("a"), **heads)


def rotary():
    for dtype, interleaved in itertools.product((np.float32, np.float16), (0, 1)):
        angles = data((20, H // 2))
        caches = {"cos": np.cos(angles).astype(dtype), "sin": np.sin(angles).astype(dtype)}
        x = data((B, S, D), dtype)
        places = data((B, S), np.int64, 20)
        order = ["x", "p", "cos", "sin"]
        name = f"{np.dtype(dtype).name}-{interleaved}"
        near = {"interleaved": interleaved, "tolerance": HALF if dtype == np.float16 else 1e-5}
        yield contrib(f"rotary-{name}", "RotaryEmbedding", {"x": x, "p": places}, caches, order=order, **near)
        yield contrib(f"rotary-start-{name}", "RotaryEmbedding", {"x": x, "p": np.array([7])}, caches, order=order, **near)
        yield contrib(f"rotary-heads-{name}", "RotaryEmbedding", {"x": data((B, N, S, H), dtype), "p": places}, caches, order=order, **near)
        part = {k: v[:, :H // 4].copy() for k, v in caches.items()}
        yield contrib(f"rotary-part-{name}", "RotaryEmbedding", {"x": x, "p": places}, part, order=order, num_heads=N, rotary_embedding_dim=H // 2, **near)


def scaled(x, scales, size):
    """Divides heads by the root of their mean square and multiplies them by a scale."""
    def norm(values, scale):
        heads = values.reshape(B, S, -1, size)
        return (heads / np.sqrt((heads ** 2).mean(-1, keepdims=True) + 1e-6) * scale).astype(np.float32).reshape(values.shape)
    return {"q": norm(x["q"], scales["qn"]), "k": norm(x["k"], scales["kn"])}


def grouped():
    order = ["q", "k", "v", "pk", "pv", "last", "total", "cos", "sin", "p", "a", "sink", "", "", "qn", "kn"]
    H = 16
    angles = data((32, H // 2))

    def case(name, steps, past, lengths, packed=False, rotate=False, dtype=np.float32, kv=2, more=None, want=None, **attributes):
        B = len(lengths)
        width = lambda n: data((B, steps, n * H), dtype)
        inputs = {"q": width(N + 2 * kv)} if packed else {"q": width(N), "k": width(kv), "v": width(kv)}
        if past:
            inputs |= {"pk": data((B, kv, past, H), dtype), "pv": data((B, kv, past, H), dtype)}
            for i, length in enumerate(lengths):  # zeros after the valid part
                inputs["pk"][i, :, length - steps:] = inputs["pv"][i, :, length - steps:] = 0
        inputs |= {"last": np.array(lengths, np.int32) - 1} | (more or {})
        constants = {"total": np.array(max(lengths), np.int32)}
        if rotate:
            constants |= {"cos": np.cos(angles).astype(dtype), "sin": np.sin(angles).astype(dtype)}
        known = inputs | constants
        return contrib(f"grouped-{name}", "GroupQueryAttention", inputs, constants, ("y", "key", "value"), want=want,
                       order=[o if o in known else "" for o in order], num_heads=N, kv_num_heads=kv, do_rotary=int(rotate),
                       tolerance=HALF if dtype == np.float16 else 1e-5, **attributes)

    for rotate, packed in itertools.product((False, True), (False, True)):
        name = f"{int(rotate)}{int(packed)}"
        yield case(f"first-{name}", S, 0, [S, S], packed, rotate)
        yield case(f"step-{name}", 1, 7, [8, 8], packed, rotate)
        yield case(f"step-shorter-{name}", 1, 7, [5, 8], packed, rotate)
        yield case(f"chunk-{name}", 3, 7, [10], packed, rotate)
    yield case("interleaved", S, 0, [S, S], rotate=True, rotary_interleaved=1)
    yield case("half", S, 0, [S, S], rotate=True, dtype=np.float16)
    yield case("scale", 1, 7, [8, 8], scale=0.5)
    yield case("softcap", S, 0, [S, S], softcap=1.5)
    yield case("window", S, 0, [S, S], local_window_size=3)
    yield case("window-step", 1, 7, [8, 8], local_window_size=4)
    yield case("smooth", S, 0, [S, S], smooth_softmax=1)
    yield case("sink", S, 0, [S, S], more={"sink": data((N,))})
    yield case("bias", 1, 7, [8, 8], more={"a": data((1, N, 1, 8))})
    # A cache that is longer than total_sequence_length keeps its length; attention_bias does not cover the rest.
    yield case("room", 1, 11, [8, 8], rotate=True)
    yield case("room-chunk", 3, 11, [10])
    yield case("room-bias", 1, 11, [8, 8], more={"a": data((1, N, 1, 8))})
    yield case("positions", S, 0, [S, S], rotate=True, more={"p": data((B, S), np.int64, 20)})
    yield case("one-head", 1, 7, [8, 8], kv=1)
    yield case("all-heads", 1, 7, [8, 8], kv=4)
    # ONNX Runtime's CPU kernel does not normalize heads: compare with heads that are normalized beforehand.
    x, scales = {"q": data((B, S, N * H)), "k": data((B, S, 2 * H))}, {"qn": data((H,)), "kn": data((H,))}
    before = case("norm", S, 0, [S, S], rotate=True, more=scaled(x, scales, H))
    yield case("norm", S, 0, [S, S], rotate=True, more=x | scales | {"v": before.inputs["v"]}, want=run(before))


def from_cache(inputs, constants, kv, read, write):
    """Returns the attention and the caches of GroupQueryAttention with the cached keys and values first. `write(x, name)` returns
    new keys ("k") or values ("v") in the format of the cache, `read(cache, name)` the floats of a cache."""
    steps, count = inputs["q"].shape[1], inputs["pk"].shape[2]
    heads = {n: inputs[n].reshape(*inputs[n].shape[:2], -1, inputs["q"].shape[2] // N).transpose(0, 2, 1, 3).astype(np.float32) for n in "qkv"}
    caches = {n: np.concatenate([inputs["p" + n], write(heads[n], n)], 2) for n in "kv"}
    k, v = (np.repeat(read(caches[n], n), N // kv, 1) for n in "kv")
    scores = np.where(np.tri(steps, count + steps, count, bool), np.einsum("bnsh,bnth->bnst", heads["q"], k) * k.shape[-1] ** -0.5, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = np.einsum("bnst,bnth->bsnh", weights / weights.sum(-1, keepdims=True), v)
    return [y.reshape(y.shape[0], steps, -1).astype(inputs["q"].dtype), caches["k"], caches["v"]]


def cached():
    """GroupQueryAttention whose cache has another element type than its queries: quantized, or floats of another type."""
    order = ["q", "k", "v", "pk", "pv", "last", "total", "cos", "sin", "", "a", "sink", "ks", "vs"]
    H = 16
    angles = data((32, H // 2))

    def case(name, bits, kind, steps, past, lengths, room=0, packed=False, rotate=False, dtype=np.float32, kv=2, cache=None, more=None, reference=None,
             **attributes):
        B = len(lengths)
        width = lambda n: data((B, steps, n * H), dtype)
        inputs = {"q": width(N + 2 * kv)} if packed else {"q": width(N), "k": width(kv), "v": width(kv)}
        cache = cache or {8: np.int8, 4: np.uint8}[bits]
        for n in ("pk", "pv"):
            shape = (B, kv, past + room, H // 2 if bits == 4 else H)
            info = np.iinfo(cache) if np.issubdtype(cache, np.integer) else None
            inputs[n] = (rng.integers(info.min, info.max + 1, shape) if info else data(shape)).astype(cache)
            for i, length in enumerate(lengths):  # zeros after the valid part
                inputs[n][i, :, length - steps:] = 0
        inputs |= {"last": np.array(lengths, np.int32) - 1} | (more or {})
        constants = {"total": np.array(max(lengths), np.int32)}
        if rotate:
            constants |= {"cos": np.cos(angles).astype(dtype), "sin": np.sin(angles).astype(dtype)}
        if kind:
            step = {8: 0.02, 4: 0.3}[bits]
            for n in ("ks", "vs"):
                constants[n] = np.array([step], np.float32) if kind == "PER_TENSOR" else (step * (1 + rng.random(kv * H))).astype(np.float32)
            attributes |= {"k_quant_type": kind, "v_quant_type": kind, "kv_cache_bit_width": bits}
        known = inputs | constants
        return contrib(f"cached-{name}", "GroupQueryAttention", inputs, constants, ("y", "key", "value"),
                       want=reference and from_cache(inputs, constants, kv, *reference(constants)), order=[o if o in known else "" for o in order],
                       num_heads=N, kv_num_heads=kv, do_rotary=int(rotate), tolerance=HALF if dtype == np.float16 else 1e-5, **attributes)

    for bits, kind in itertools.product((8, 4), ("PER_TENSOR", "PER_CHANNEL")):
        name = f"{bits}-{kind[4:].lower()}"
        for rotate, packed in itertools.product((False, True), (False, True)):
            form = f"{name}-{int(rotate)}{int(packed)}"
            yield case(f"step-{form}", bits, kind, 1, 7, [8, 8], packed=packed, rotate=rotate)
            yield case(f"chunk-{form}", bits, kind, 3, 7, [10], packed=packed, rotate=rotate)
        yield case(f"first-{name}", bits, kind, S, 0, [S, S])
        yield case(f"shorter-{name}", bits, kind, 1, 7, [5, 8])
        yield case(f"room-{name}", bits, kind, 1, 7, [8, 8], room=4)
        yield case(f"first-room-{name}", bits, kind, S, 0, [S, S], room=12)
        yield case(f"half-{name}", bits, kind, 1, 7, [8, 8], dtype=np.float16)
        yield case(f"window-{name}", bits, kind, 1, 7, [8, 8], local_window_size=4)
        yield case(f"bias-{name}", bits, kind, 1, 7, [8, 8], more={"a": data((1, N, 1, 8))})
        yield case(f"sink-{name}", bits, kind, S, 0, [S, S], more={"sink": data((N,))})
        yield case(f"softcap-{name}", bits, kind, 1, 7, [8, 8], softcap=1.5, scale=0.5)
        yield case(f"all-heads-{name}", bits, kind, 1, 7, [8, 8], kv=4)
        yield case(f"one-head-{name}", bits, kind, 1, 40, [41, 41], kv=1)

    # ONNX Runtime has no CPU kernels for these caches: compare with NumPy.
    def floats(cache):
        return lambda constants: (lambda x, n: x.astype(np.float32), lambda x, n: x.astype(cache))

    def narrow(constants):
        def scale(n):
            return constants[n + "s"].reshape(-1, 1, H) if constants[n + "s"].size > 1 else constants[n + "s"]
        return (lambda x, n: x.astype(np.float32) * scale(n), lambda x, n: np.clip(x / scale(n), -448, 448).astype(ml_dtypes.float8_e4m3fn))

    for steps, past, lengths in ((1, 7, [8, 8]), (3, 7, [10])):
        for cache in (np.float16, ml_dtypes.bfloat16):
            yield case(f"{np.dtype(cache).name}-{steps}", 16, None, steps, past, lengths, cache=cache, reference=floats(cache))
        for kind in ("PER_TENSOR", "PER_CHANNEL"):
            yield case(f"float8-{kind[4:].lower()}-{steps}", 8, kind, steps, past, lengths, cache=ml_dtypes.float8_e4m3fn, reference=narrow)


def packed():
    """Packed tokens of sequences with different lengths. ONNX Runtime has these operators only for GPUs:
    compares with NumPy."""
    for counts in ((4, 6), (6, 6), (1, 0)):
        name = "-".join(map(str, counts))
        there = np.arange(S) < np.array(counts)[:, None]
        places = np.arange(B * S)
        offsets = np.concatenate([places[there.ravel()], places[~there.ravel()]]).reshape(B, S).astype(np.int32)
        ends = np.array([0, counts[0], sum(counts)], np.int32)
        x = data((B, S, 12))
        yield contrib(f"remove-padding-{name}", "RemovePadding", {"x": x, "n": np.array(counts, np.int32)}, None, ("y", "offsets", "ends", "longest"),
                      want=[x[there], offsets, ends, np.array([max(counts)], np.int32)])
        yield contrib(f"restore-padding-{name}", "RestorePadding", {"x": x[there], "o": offsets}, want=[np.where(there[..., None], x, np.float32(0))])

        def attend(q, k, v, bias, scale=None):
            """Computes attention for [T, N, H], separately for each sequence."""
            parts = []
            for i, (begin, end) in enumerate(zip(ends, ends[1:])):
                one, length = slice(begin, end), end - begin
                scores = np.einsum("snh,tnh->nst", q[one], k[one]) * (scale or q.shape[-1] ** -0.5)
                weights = np.exp(scores + (bias[i % len(bias), :, :length, :length] if bias is not None else 0))
                weights /= weights.sum(-1, keepdims=True)
                parts.append(np.einsum("nst,tnh->snh", weights, v[one]).reshape(length, D))
            return np.concatenate(parts).astype(np.float32)

        w, b, rows, bias = data((12, 3 * D)) / 4, data((3 * D,)), x[there], data((1, N, S, S))
        places = {"o": offsets, "e": ends}
        q, k, v = (part.reshape(-1, N, H) for part in np.split(rows @ w + b, 3, axis=1))
        yield contrib(f"packed-attention-{name}", "PackedAttention", {"x": rows, **places}, {"w": w, "b": b}, order=["x", "w", "b", "o", "e"],
                      num_heads=N, want=[attend(q, k, v, None)])
        yield contrib(f"packed-attention-bias-{name}", "PackedAttention", {"x": rows, **places, "a": bias}, {"w": w, "b": b},
                      order=["x", "w", "b", "o", "e", "a"], num_heads=N, scale=0.3, want=[attend(q, k, v, bias, 0.3)])
        flat = {key: value.reshape(-1, D) for key, value in (("q", q), ("k", k), ("v", v))}
        yield contrib(f"packed-heads-{name}", "PackedMultiHeadAttention", {**flat, **places}, None, order=["q", "k", "v", "", "o", "e"],
                      num_heads=N, want=[attend(q, k, v, None)])
        together = np.stack([q, k, v], axis=2)
        more = b.reshape(3, N, H)
        yield contrib(f"packed-heads-together-{name}", "PackedMultiHeadAttention", {"q": together, **places}, {"b": b}, order=["q", "", "", "b", "o", "e"],
                      num_heads=N, want=[attend(q + more[0], k + more[1], v + more[2], None)])


def spelled():
    """Attention as individual operators. Many keys are computed in blocks; a query may have no visible key
    in the first blocks, or none at all."""
    def case(name, queries, keys, size, width, mask=None, guard=False, cap=0, residual=False, large=1.0):
        inputs = {"q": large * data((B, queries, N, size)), "k": data((B, keys, N, size)), "v": data((B, keys, N, width))}
        constants = {"scale": np.float32(size ** -0.5), "zero": np.float32(0), "cap": np.float32(cap)}
        nodes = []

        def add(op, *names, **attributes):
            nodes.append(helper.make_node(op, names, [f"t{len(nodes)}"], **attributes))
            return nodes[-1].output[0]

        q = add("Mul", add("Transpose", "q", perm=[0, 2, 1, 3]), "scale")
        scores = add("MatMul", q, add("Transpose", "k", perm=[0, 2, 3, 1]))
        if cap:
            scores = add("Mul", add("Tanh", add("Div", scores, "cap")), "cap")
        if mask is not None:
            inputs["mask"] = mask
            scores = add("Add", scores, "mask")
        weights = add("Softmax", scores, axis=-1)
        if guard:
            weights = add("Where", add("IsNaN", weights), "zero", weights)
        y = add("Transpose", add("MatMul", weights, add("Transpose", "v", perm=[0, 2, 1, 3])), perm=[0, 2, 1, 3])
        if residual:
            inputs["r"] = data((B, queries, N, width))
            y = add("Add", y, "r")
        nodes[-1].output[0] = "out"
        used = {name for node in nodes for name in node.input}
        return Case(f"spelled-{name}", nodes, inputs, {k: v for k, v in constants.items() if k in used})

    def hidden(queries, keys, nothing):
        mask = np.where(data((B, 1, queries, keys), np.bool_), np.float32(0), -np.inf).astype(np.float32)
        mask[..., 1, :] = mask[..., 2, :] = -np.inf
        mask[..., 70] = mask[..., 1, -1] = mask[..., 2, 0] = 0  # some queries see only one key, in the last or the first block
        mask[..., 1:3, 70] = -np.inf
        if nothing:
            mask[..., 3, :] = mask[..., -1, :] = -np.inf
        return mask

    for queries, keys in ((70, 300), (13, 21), (5, 256), (64, 1024)):
        name = f"{queries}-{keys}"
        yield case(name, queries, keys, 24, 40)
        yield case(f"large-{name}", queries, keys, 16, 33, large=30.0)
        yield case(f"residual-{name}", queries, keys, 7, 16, residual=True)
        yield case(f"bias-{name}", queries, keys, 32, 32, mask=data((1, N, queries, keys)), cap=2.0)
    yield case("wide", 70, 300, 512, 512)  # fewer queries fit on the stack
    yield case("too-wide", 12, 70, 600, 600)
    yield case("hidden", 70, 300, 32, 32, mask=hidden(70, 300, False))
    yield case("nothing", 70, 300, 32, 32, mask=hidden(70, 300, True), guard=True)
    yield case("nothing-few", 70, 210, 32, 32, mask=hidden(70, 210, True), guard=True)
    yield case("nothing-nan", 70, 300, 32, 32, mask=hidden(70, 300, True))


# Cases that Ingot must reject if sizes are dynamic: a mask vector of dynamic length may hold lengths only,
# or lengths and start positions; and a cache of dynamic size may be too small for all steps.
REFUSED = ("attention-ends", "heads-shared", "heads-shared-causal")
# The axes whose sizes must be static, by rank: the number of heads, and elements per head.
KNOWN = {3: {2}, 4: {1, 3}, 5: {0, 2, 3, 4}}


def open_axes(case, name):
    rank = case.inputs[name].ndim
    if name in ("p", "n") and rank == 1:
        return ()
    known = {0, 2, 3} if case.name.startswith("spelled") else KNOWN.get(rank, set())
    if name == "mask":
        return (2, 3)
    if name in ("q", "k", "v") and rank == 2:
        return (0,)
    # The number of heads may be dynamic if each head is rotated as a whole.
    if name == "x" and case.name.startswith("rotary-") and "part" not in case.name and rank == 3:
        known = set()
    return range(rank) if name in ("a", "m") else [i for i in range(rank) if i not in known]


if __name__ == "__main__":
    sys.exit(compare(__doc__, projected(), quantized(), multi_head(), rotary(), grouped(), cached(), packed(), spelled(), refused=REFUSED, axes=open_axes))
