// Imports rotary position embeddings, and the attention of decoders whose query
// heads share key and value heads and that have a key/value cache.

#include "compiler/import/operators/Attend.h"
#include "compiler/import/operators/CacheFormat.h"
#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/RowNorm.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Returns `count` elements of each row of `x` (its last axis): the elements at
/// `start`, `start` + `step`, and so on.
static Value columns(OnnxNode &node, Value x, int64_t start, int64_t count,
                     int64_t step = 1) {
  return node.slice(x, shapeOf(x).size() - 1, start, count, step);
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Rotates pairs of elements of each head of `x` [B, N, S, H] by angles.
/// `places` [1 or B, S] contains, for each position of `x`, the index of the
/// row that holds the cosines and sines of its angles. If `interleaved` is set,
/// a pair consists of two adjacent elements, else of an element of the first
/// half and one of the second half. Elements after the pairs are unchanged.
/// Returns null, with a diagnostic, if the shapes do not match.
static Value rotate(OnnxNode &node, Value x, Value cosines, Value sines,
                    Value places, bool interleaved) {
  int64_t half = shapeOf(cosines)[1], size = shapeOf(x)[3];
  if (shapeOf(cosines)[0] == 0 || 2 * half > size)
    return noValue(node.invalid(
        "cos_cache has " + Twine(half) +
        " columns, which is more than half the head size " + Twine(size)));
  Type type = elementOf(x);
  auto angles = [&](Value table) {
    Value rows = node.build<GatherOp>(node.cast(table, type), places,
                                      /*axis=*/0, /*in_range=*/false);
    Dims sizes = dimsOf(rows);
    return node.reshape(rows, {sizes[0], 1, sizes[1], half});
  };
  Value c = angles(cosines), s = angles(sines);
  Value a = columns(node, x, 0, half, interleaved ? 2 : 1),
        b = interleaved ? columns(node, x, 1, half, 2)
                        : columns(node, x, half, half);
  auto times = [&](Value u, Value v) { return node.mul(u, v); };
  Value first = node.sub(times(a, c), times(b, s)),
        second = node.add(times(b, c), times(a, s));
  if (!first || !second || dimsOf(first) != dimsOf(a))
    return noValue(
        node.invalid("the shape of position_ids does not match the batch "
                     "size and the sequence length"));
  SmallVector<Value> parts{first, second};
  if (interleaved) {
    Dims pairs = dimsOf(first), joined = pairs;
    pairs.push_back(1);
    joined.back() = 2 * half;
    Value together = node.concat(
        {node.reshape(first, pairs), node.reshape(second, pairs)}, 4);
    parts = {node.reshape(together, joined)};
  }
  if (2 * half < size)
    parts.push_back(columns(node, x, 2 * half, size - 2 * half));
  return parts.size() == 1 ? parts[0] : node.concat(parts, 3);
}

/// Returns `ids`, the input position_ids, as a tensor [1 or B, S]. A single
/// number is the position of the first of `steps` consecutive steps.
static Value placesOf(OnnxNode &node, Value ids, const Dim &steps) {
  if (shapeOf(ids).size() == 2)
    return ids;
  Value first = node.reshape(ids, {1, 1});
  Value each = node.reshape(positions(node, steps, elementOf(ids)), {1, steps});
  return node.add(each, first);
}

static ImportResult importRotaryEmbedding(OnnxNode &node) {
  Value x = node.input(0), ids = node.input(1), cosines = node.input(2),
        sines = node.input(3);
  if (node.intAttr("is_packed_batching", 0))
    return node.unsupported("`is_packed_batching` is not supported",
                            "export the model with padded sequences");
  bool isFlat = shapeOf(x).size() == 3;
  int64_t width = shapeOf(x).back(), heads = node.intAttr("num_heads", 0),
          rotary = node.intAttr("rotary_embedding_dim", 0);
  if (!dimsOf(cosines)[1].known())
    return refuseOpen(node, dimsOf(cosines)[1],
                      "the number of columns of cos_cache");
  // Without rotary_embedding_dim, all elements of a head are rotated, so the
  // head size is twice the number of columns of cos_cache.
  if (rotary == 0) {
    int64_t turning = 2 * shapeOf(cosines)[1];
    if (!dimsOf(x).back().known() && (!isFlat || heads > 0))
      (void)node.takeEqual(dimsOf(x).back(),
                           isFlat ? heads * turning : turning);
    width = shapeOf(x).back();
  }
  if (!isFlat && !dimsOf(x)[3].known())
    return refuseOpen(node, dimsOf(x)[3], "the size of a head");
  int64_t size = isFlat ? 2 * shapeOf(cosines)[1] : width;
  // If only a part of each head is rotated, cos_cache does not determine the
  // head size. For a flat input, it is then the width divided by num_heads.
  if (isFlat && rotary > 0 && heads > 0)
    size = width / heads;
  // The number of heads of a flat input may be dynamic, the head size may not.
  if (isFlat && !dimsOf(x).back().known() &&
      (rotary > 0 || !node.requireMultiple(dimsOf(x).back(), size)))
    return refuseOpen(node, dimsOf(x).back(), "the total size of all heads");
  width = shapeOf(x).back();
  if (size <= 0 || width % size != 0 ||
      (isFlat && heads > 0 && rotary > 0 && width % heads != 0))
    return node.invalid("rows of " + Twine(width) +
                        " elements cannot be split into heads of " +
                        Twine(size));
  Value parts = x;
  if (isFlat) {
    Dims sizes = dimsOf(x);
    Dims apart{sizes[0], sizes[1], sizes[2].floorDiv(size), size};
    parts = node.transpose(node.reshape(x, apart), {0, 2, 1, 3});
  }
  Value y =
      rotate(node, parts, cosines, sines, placesOf(node, ids, dimsOf(parts)[2]),
             node.intAttr("interleaved", 0) != 0);
  if (!y)
    return failure();
  if (isFlat)
    y = node.reshape(node.transpose(y, {0, 2, 1, 3}), dimsOf(x));
  return one(y);
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

namespace {
/// The queries, keys and values of a GroupQueryAttention node, and their sizes.
/// `heads` is the number of query heads, `shared` the number of key and value
/// heads, `size` the head size. `total` is total_sequence_length, `keys` the
/// length of the new cache.
struct Grouped {
  int64_t heads, shared, size;
  Dim batch, steps, total, keys;
  Value query, key, value;
  CacheFormat keyFormat, valueFormat;
  /// The number of cached steps of each sequence: int64 [B].
  Value past;
  /// Whether no steps are cached.
  bool isFirst = false;
};
} // namespace

static LogicalResult checkGrouped(OnnxNode &node) {
  if (node.intAttr("sliding_window_cache", 0))
    return node.unsupported("`sliding_window_cache` is not supported",
                            "export the model with a cache of full length");
  if (node.intAttr("qk_output", 0) || node.wantsOutput(3))
    return node.unsupported("the output `output_qk` is not supported",
                            "export the model without it");
  if (node.hasInput(3) != node.hasInput(4))
    return node.invalid("past_key and past_value must be given together");
  if (node.hasInput(1) != node.hasInput(2))
    return node.invalid("key and value must be given together");
  if (node.hasInput(14) != node.hasInput(15))
    return node.invalid(
        "q_norm_weight and k_norm_weight must be given together");
  return success();
}

/// Splits queries, keys and values into heads. If there is no input 1, input 0
/// contains queries, keys and values next to each other; otherwise it contains
/// only the queries.
static LogicalResult readHeads(OnnxNode &node, Grouped &g) {
  Value query = node.input(0), key = node.input(1), value = node.input(2);
  g.heads = node.intAttr("num_heads", 0);
  g.shared = node.intAttr("kv_num_heads", 0);
  constexpr int64_t most = 1 << 20;
  if (g.heads < 1 || g.shared < 1 || g.heads > most || g.heads % g.shared != 0)
    return node.invalid("kv_num_heads=" + Twine(g.shared) +
                        " does not divide num_heads=" + Twine(g.heads));
  if (!dimsOf(query)[2].known())
    return success(static_cast<bool>(splitHeads(node, query, g.heads)));
  if (key)
    (void)node.takeEqual(dimsOf(key)[2],
                         shapeOf(query)[2] / g.heads * g.shared);
  int64_t width = shapeOf(query)[2];
  int64_t all = g.heads + (key ? 0 : 2 * g.shared);
  g.size = width / all;
  if (g.size < 1 || width % all != 0 ||
      (key && shapeOf(key)[2] != g.shared * g.size))
    return node.invalid("rows of " + Twine(width) +
                        " elements cannot be split into " + Twine(all) +
                        " heads");
  if (!key) {
    Value packed = query;
    query = columns(node, packed, 0, g.heads * g.size);
    key = columns(node, packed, g.heads * g.size, g.shared * g.size);
    value =
        columns(node, packed, (g.heads + g.shared) * g.size, g.shared * g.size);
  }
  g.query = splitHeads(node, query, g.heads);
  g.key = splitHeads(node, key, g.shared);
  g.value = splitHeads(node, value, g.shared);
  for (Value part : {g.query, g.key, g.value})
    if (!part)
      return failure();
  g.batch = dimsOf(g.query)[0];
  g.steps = dimsOf(g.query)[2];
  auto ofKeys = CacheFormat::of(node, "k", g.key),
       ofValues = CacheFormat::of(node, "v", g.value);
  if (failed(ofKeys) || failed(ofValues))
    return failure();
  g.keyFormat = *ofKeys;
  g.valueFormat = *ofValues;
  return success();
}

/// Ensures that total_sequence_length, `total`, is at least the number of steps
/// (new keys per sequence), by an assumption about dynamic sizes. Without a
/// cache, both are assumed to be equal. With a cache, if only one of them is
/// dynamic, it is assumed to be large or small enough; if both are dynamic,
/// `total` is assumed to be the length of the cache plus the number of steps.
static void assumeRoom(OnnxNode &node, const Grouped &g, const Dim &total) {
  Dim steps = dimsOf(g.query)[2];
  if ((total - steps).least() >= 0)
    return;
  if (!node.hasInput(3))
    (void)node.takeEqual(total, steps);
  else if (steps.known())
    (void)node.requireAtLeast(total, *steps.known());
  else if (total.known())
    (void)node.requireAtMost(steps, *total.known());
  else
    (void)node.takeEqual(total, dimsOf(node.input(3))[2] + steps);
}

/// Returns a size with its bounds as text for diagnostics: "`total` in 1..8"
/// for a dynamic size, "4" for a number.
static std::string boundsText(const Dim &size) {
  if (size.known())
    return kernel::sizeText(size);
  return "`" + kernel::sizeText(size) + "` in " + std::to_string(size.least()) +
         ".." + std::to_string(size.most());
}

/// Returns the number of steps in the new cache: a cache that is longer than
/// `total`, total_sequence_length, keeps its length.
static Dim lengthOfCache(OnnxNode &node, const Dim &total) {
  Value old = node.input(3);
  return kernel::largerOf(old ? dimsOf(old)[2] : Dim(0), total);
}

/// Determines the number of keys in the new cache, and the number of cached
/// steps of each sequence.
static LogicalResult readLengths(OnnxNode &node, Grouped &g) {
  Value cache = node.input(3);
  for (unsigned i : {3, 4})
    if (Value old = node.input(i)) {
      (void)node.takeEqual(dimsOf(old)[0], dimsOf(g.query)[0]);
      (void)node.takeEqual(dimsOf(old)[1], g.shared);
      const CacheFormat &format = i == 3 ? g.keyFormat : g.valueFormat;
      if (!node.takeEqual(dimsOf(old)[3], format.width(g.size)))
        return node.invalid("the last axis of the cache must have " +
                            Twine(format.width(g.size)) + " elements");
    }
  auto total = node.requireSizes(6, "total_sequence_length");
  if (failed(total))
    return failure();
  assumeRoom(node, g, total->front());
  total = node.requireSizes(6, "total_sequence_length");
  if (Value bias = node.input(10)) {
    (void)node.takeEqual(dimsOf(bias).back(), total->front());
    total = node.requireSizes(6, "total_sequence_length");
  }
  g.batch = dimsOf(g.query)[0];
  g.steps = dimsOf(g.query)[2];
  Dim held = cache ? dimsOf(cache)[2] : Dim(0);
  g.total = total->front();
  g.keys = lengthOfCache(node, g.total);
  if (g.keys.most() < g.steps.least())
    return node.invalid("total_sequence_length, " + boundsText(total->front()) +
                        ", is less than the sequence length of the query, " +
                        boundsText(g.steps));
  if ((g.keys - g.steps).least() < 0)
    return node.unsupported(
        "total_sequence_length, " + boundsText(total->front()) +
            ", may be less than the lengths of the cache and of the query, " +
            boundsText(held) + " and " + boundsText(g.steps) + ", together",
        "have the bounds of the total length (or of the mask that it is the "
        "length of) hold both: at most " +
            Twine(held.most() + g.steps.most()));
  Type i64 = node.i64();
  Value last = node.reshape(node.cast(node.input(5), i64), {g.batch});
  // If total_sequence_length is the number of new steps, nothing is cached.
  g.isFirst = total->front() == g.steps;
  Value before = node.add(last, sizeValue(node, Dim(1) - g.steps));
  Value zero = node.scalarConstant(0, i64);
  g.past =
      g.isFirst ? Value(node.expand(zero, {g.batch})) : node.max(before, zero);
  return success();
}

/// Returns the cache `old`, resized to the number of keys; zeros if `old` is
/// null. Elements after the cached steps are undefined, and never read. `now`
/// contains the new keys or values in the format of the cache.
static Value lengthened(OnnxNode &node, const Grouped &g, Value old,
                        Value now) {
  Dims sizes{g.batch, g.shared, g.keys, dimsOf(now)[3]};
  Value zero = node.scalarConstant(0, elementOf(now));
  if (!old)
    return node.expand(zero, sizes);
  Dim held = dimsOf(old)[2];
  if (held == g.keys)
    return old;
  sizes[2] = g.keys - held;
  return node.concat({old, node.expand(zero, sizes)}, 2);
}

/// Returns the cache `old` (which may be null), resized to the number of keys,
/// with the new keys or values `now`, which have its format, written after the cached steps of each
/// sequence.
static Value extended(OnnxNode &node, const Grouped &g, Value old, Value now) {
  if (g.keys == g.steps)
    return now;
  return node.build<TensorScatterOp>(lengthened(node, g, old, now), now, g.past,
                                     /*axis=*/2,
                                     /*circular=*/false);
}

/// Returns a boolean mask [B, 1, S, T] that is true where a query attends to a
/// key.
static Value visibleKeys(OnnxNode &node, const Grouped &g) {
  Type i64 = node.i64();
  Value key = node.reshape(positions(node, g.keys, i64), {1, 1, 1, g.keys});
  Value query = node.reshape(positions(node, g.steps, i64), {1, 1, g.steps, 1});
  Value past = node.reshape(g.past, {g.batch, 1, 1, 1});
  Value own = node.add(query, past);
  Value last = own;
  if (node.intAttr("causal", 1) == 0)
    last = node.add(past, sizeValue(node, g.steps - 1));
  Value visible = node.lessOrEqual(key, last);
  int64_t window = node.intAttr("local_window_size", -1);
  if (window < 0)
    return visible;
  Value first = node.sub(own, double(window));
  return node.both(visible, node.greater(key, first));
}

static LogicalResult rotateHeads(OnnxNode &node, Grouped &g) {
  if (g.steps == 0 || g.batch == 0)
    return node.unsupported(
        "an empty batch or an empty sequence is not supported");
  if (node.intAttr("do_rotary", 0) == 0)
    return success();
  if (!node.hasInput(7) || !node.hasInput(8))
    return node.invalid("do_rotary=1 requires cos_cache and sin_cache");
  Value ids = node.input(9), places = ids;
  // If nothing is cached, ONNX Runtime reads only the first position id, as the
  // position of the first step.
  if (ids && g.isFirst) {
    for (const Dim &size : dimsOf(ids))
      (void)node.requireAtLeast(size, 1);
    g.batch = dimsOf(g.query)[0];
    g.total = g.steps = dimsOf(g.query)[2];
    g.keys = lengthOfCache(node, g.total);
    places = placesOf(
        node, node.slice(node.reshape(ids, {product(dimsOf(ids))}), 0, 0, 1),
        g.steps);
  }
  if (!ids) {
    Value each =
        node.reshape(positions(node, g.steps, node.i64()), {1, g.steps});
    places = node.add(each, node.reshape(g.past, {g.batch, 1}));
  }
  bool interleaved = node.intAttr("rotary_interleaved", 0) != 0;
  for (Value *x : {&g.query, &g.key}) {
    *x = rotate(node, *x, node.input(7), node.input(8), places, interleaved);
    if (!*x)
      return failure();
  }
  return success();
}

static ImportResult importGroupQueryAttention(OnnxNode &node) {
  Grouped g;
  if (failed(checkGrouped(node)) || failed(readHeads(node, g)) ||
      failed(readLengths(node, g)))
    return failure();
  if (node.hasInput(14)) {
    RowNorm norm{3, node.floatAttr("qk_norm_epsilon", 1e-6), /*center=*/false};
    g.query = normalizeRows(node, g.query, node.input(14), Value(), norm);
    g.key = normalizeRows(node, g.key, node.input(15), Value(), norm);
    if (!g.query || !g.key)
      return failure();
  }
  if (failed(rotateHeads(node, g)))
    return failure();
  Value keys =
            extended(node, g, node.input(3), g.keyFormat.encode(node, g.key)),
        values = extended(node, g, node.input(4),
                          g.valueFormat.encode(node, g.value));
  // With a quantized cache, the attention is computed in float32: the scales
  // multiply queries and results, whose range may exceed that of float16.
  Type type = elementOf(g.query), f32 = node.f32();
  bool isQuantized = g.keyFormat.isQuantized() || g.valueFormat.isQuantized();
  Type own = isQuantized ? f32 : type;
  auto inOwn = [&](Value x) { return x ? node.cast(x, own) : x; };
  AttentionOperands o;
  o.query = g.keyFormat.scaleQueries(node, inOwn(g.query));
  o.key = g.keyFormat.decode(node, keys, own);
  o.value = g.valueFormat.decode(node, values, own);
  o.scale = attentionScale(node, g.size);
  o.visible = visibleKeys(node, g);
  Value bias = inOwn(node.input(10));
  // The cache may be longer than attention_bias is wide. The keys after
  // total_sequence_length are hidden.
  if (bias && dimsOf(bias).back() == g.total)
    bias = resizedAlong(node, bias, int64_t(dimsOf(bias).size()) - 1, g.keys);
  o.biases.push_back(bias);
  o.cap = node.floatAttr("softcap", 0);
  o.sink = inOwn(node.input(11));
  if (!o.sink && node.intAttr("smooth_softmax", -1) == 1)
    o.sink = node.expand(node.scalarConstant(0, own), {g.heads});
  Value y = attend(node, o);
  if (!y)
    return failure();
  y = node.cast(g.valueFormat.scaleResult(node, y), type);
  return SmallVector<Value>{y, keys, values};
}

void registerGroupedAttentionImports(OnnxRegistry &registry) {
  StringRef domain = "com.microsoft";
  registry.add("RotaryEmbedding", importRotaryEmbedding, "`is_packed_batching`",
               domain);
  registry.add(
      "GroupQueryAttention", importGroupQueryAttention,
      "`sliding_window_cache`; the output `output_qk`; a "
      "total_sequence_length that does not follow from the sizes of the inputs",
      domain);
}

} // namespace ingot::graph
