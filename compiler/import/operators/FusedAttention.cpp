// Imports attention operators with fused projections, masks and key/value
// caches, which ONNX Runtime's optimizer and its exporters for language models
// write.

#include "compiler/import/operators/Attend.h"
#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/PackedTokens.h"
#include "compiler/import/operators/Products.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Attention and QAttention: fused with the projections
//===----------------------------------------------------------------------===//

/// The projections of the input have `all` columns, which are divided among
/// queries, keys and values. Returns the number of columns of each of the
/// three, for all heads together. Fails, with a diagnostic, if `all` columns
/// cannot be divided in this way.
static FailureOr<SmallVector<int64_t>> widths(OnnxNode &node, int64_t all,
                                              int64_t heads) {
  SmallVector<int64_t> each = node.intsAttr("qkv_hidden_sizes");
  if (each.empty())
    each.assign(3, all / 3);
  bool fits = each.size() == 3 && heads > 0;
  int64_t sum = 0;
  for (int64_t width : each) {
    fits = fits && width > 0 && width <= all && width % heads == 0;
    sum += fits ? width : 0;
  }
  if (!fits || sum != all || each[0] != each[1])
    return node.invalid(
        "the weights have " + Twine(all) +
        " columns, which cannot be split into queries, keys and values of " +
        Twine(heads) + " heads");
  return each;
}

static LogicalResult refuse(OnnxNode &node, StringRef flag, StringRef hint) {
  if (node.intAttr(flag, 0) == 0)
    return success();
  return node.unsupported("`" + Twine(flag) + "` is not supported", hint);
}

/// Returns the attention for `projected`, which contains queries, keys and
/// values along its last axis: [B, S, columns of queries + keys + values].
/// `mask`, `past` (cached keys and values) and `bias` may be null.
static ImportResult attendProjected(OnnxNode &node, Value projected, Value mask,
                                    Value past, Value bias) {
  int64_t heads = node.intAttr("num_heads", 0);
  if (!dimsOf(projected)[2].known())
    return node.unsupported(
        "the number of columns of the weights must be known when compiling, "
        "but is known only at run time",
        "fix the number with --dim");
  auto each = widths(node, shapeOf(projected)[2], heads);
  if (failed(each) ||
      failed(refuse(node, "do_rotary",
                    "export the model with a separate RotaryEmbedding node")) ||
      failed(refuse(node, "past_present_share_buffer",
                    "export the model without a shared cache buffer")))
    return failure();
  SmallVector<Value> parts;
  int64_t start = 0;
  for (int64_t width : *each) {
    parts.push_back(
        splitHeads(node, node.slice(projected, 2, start, width), heads));
    if (!parts.back())
      return failure();
    start += width;
  }
  AttentionOperands o;
  o.query = parts[0];
  o.scale = attentionScale(node, shapeOf(o.query)[3]);
  for (unsigned i : {0, 1}) {
    Value old;
    if (past)
      old = node.reshape(node.slice(past, 0, i, 1),
                         ArrayRef(dimsOf(past)).drop_front());
    parts[1 + i] = joined(node, old, parts[1 + i], 2);
    if (!parts[1 + i])
      return failure();
  }
  o.key = parts[1];
  o.value = parts[2];
  if (mask) {
    auto hidden = biasOfMask(node, mask, o.query, o.key);
    if (failed(hidden))
      return failure();
    o.biases.push_back(*hidden);
  }
  o.biases.push_back(bias);
  if (node.intAttr("unidirectional", 0))
    o.visible = causal(node, dimsOf(o.query)[2], dimsOf(o.key)[2]);
  Value y = attend(node, o);
  if (!y)
    return failure();
  SmallVector<Value> results{y};
  if (node.wantsOutput(1)) {
    Dims sizes = dimsOf(o.key);
    if (dimsOf(o.value) != sizes)
      return node.invalid("the output `present` requires keys and values of "
                          "the same head size");
    sizes.insert(sizes.begin(), 1);
    results.push_back(node.concat(
        {node.reshape(o.key, sizes), node.reshape(o.value, sizes)}, 0));
  }
  return results;
}

/// Adds the bias of the projections, input 2, to `product`, the matmul of input
/// and weights, and returns the attention for the sum.
static ImportResult attendProduct(OnnxNode &node, Value product, Value mask,
                                  Value past, Value bias) {
  Value projected = product ? sumOf(node, {product, node.input(2)}) : Value();
  if (!projected)
    return failure();
  return attendProjected(node, projected, mask, past, bias);
}

static ImportResult importAttention(OnnxNode &node) {
  if (node.hasInput(6))
    return node.unsupported("the input `past_sequence_length` is not supported",
                            "export the model without a shared cache buffer");
  return attendProduct(node, importMatMul(node, node.input(0), node.input(1)),
                       node.input(3), node.input(4), node.input(5));
}

static ImportResult importQAttention(OnnxNode &node) {
  return attendProduct(
      node,
      importScaledProduct(node, {node.input(0), node.input(3), node.input(6)},
                          {node.input(1), node.input(4), node.input(7)}),
      node.input(5), node.input(8), Value());
}

/// Imports PackedAttention: pads the packed sequences to equal lengths, and
/// masks the padding.
static ImportResult importPackedAttention(OnnxNode &node) {
  Value product = importMatMul(node, node.input(0), node.input(1));
  Value projected = product ? sumOf(node, {product, node.input(2)}) : Value();
  PackedTokens tokens(node, node.input(3));
  Value lengths = projected ? tokens.lengths(node.input(4)) : Value();
  if (!lengths)
    return failure();
  ImportResult y = attendProjected(node, tokens.padded(projected), lengths,
                                   Value(), node.input(5));
  if (failed(y))
    return failure();
  return one(tokens.packed(y->front(), dimsOf(node.input(0))[0]));
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention: projections are separate nodes
//===----------------------------------------------------------------------===//

/// Returns slice `i` along axis 3 of a packed tensor [B, S, N, p, H] as [B, N,
/// S, H]. The slices are queries, keys and values (p = 3), or keys and values
/// (p = 2).
static Value packedPart(OnnxNode &node, Value packed, int64_t i) {
  Dims sizes = dimsOf(packed);
  Value part = node.reshape(node.slice(packed, 3, i, 1),
                            {sizes[0], sizes[1], sizes[2], sizes[4]});
  return node.transpose(part, {0, 2, 1, 3});
}

namespace {
/// The inputs of MultiHeadAttention and DecoderMaskedMultiHeadAttention. If
/// `pastLength` is set, the cache is longer than the steps that it contains,
/// and new keys and values are written at position `pastLength`.
struct HeadInputs {
  Value query, key, value, bias, mask, attentionBias, pastKey, pastValue,
      pastLength;
};
} // namespace

/// Returns the queries, keys and values split into heads: each [B, N, length,
/// H].
static FailureOr<SmallVector<Value>>
headsOf(OnnxNode &node, const HeadInputs &in, int64_t heads) {
  if (in.query && shapeOf(in.query).size() == 5)
    return SmallVector<Value>{packedPart(node, in.query, 0),
                              packedPart(node, in.query, 1),
                              packedPart(node, in.query, 2)};
  if (!in.key)
    return node.invalid("a query of rank 3 requires the input `key`");
  Value query = splitHeads(node, in.query, heads);
  if (shapeOf(in.key).size() == 5)
    return SmallVector<Value>{query, packedPart(node, in.key, 0),
                              packedPart(node, in.key, 1)};
  if (!in.value)
    return node.invalid("keys that are not packed require the input `value`");
  auto split = [&](Value x) {
    return shapeOf(x).size() == 4 ? x : splitHeads(node, x, heads);
  };
  return SmallVector<Value>{query, split(in.key), split(in.value)};
}

/// Adds the bias of the projections to the queries, keys and values in `parts`.
/// Keys and values from a cache already contain the bias.
static LogicalResult addBiases(OnnxNode &node, const HeadInputs &in,
                               SmallVectorImpl<Value> &parts) {
  if (!in.bias)
    return success();
  bool isCached = in.key && shapeOf(in.key).size() == 4;
  int64_t start = 0, all = shapeOf(in.bias)[0];
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t heads = shapeOf(part)[1], width = heads * shapeOf(part)[3];
    if (start + width > all)
      return node.invalid("the bias has " + Twine(all) +
                          " elements: too few for queries, keys and values");
    Value own = node.slice(in.bias, 0, start, width);
    start += width;
    if (i > 0 && isCached)
      continue;
    part = node.add(part, node.reshape(own, {1, heads, 1, shapeOf(part)[3]}));
    if (!part)
      return failure();
  }
  if (start != all)
    return node.invalid("the bias has " + Twine(all) + " elements, not " +
                        Twine(start));
  return success();
}

/// Writes the new keys and values of `o` into the cache, and masks the unused
/// positions of the cache after them.
static LogicalResult writeIntoCache(OnnxNode &node, const HeadInputs &in,
                                    AttentionOperands &o) {
  Type i64 = node.i64();
  if (!in.pastKey || tensorType(in.pastLength).getNumElements() != 1)
    return node.invalid(
        "past_sequence_length must have one element, and requires past_key");
  for (auto [x, cache] :
       {std::pair(o.key, in.pastKey), {o.value, in.pastValue}}) {
    Dim steps = dimsOf(x)[2];
    if (steps.known())
      (void)node.requireAtLeast(dimsOf(cache)[2], *steps.known());
    else if (auto room = dimsOf(cache)[2].known())
      (void)node.requireAtMost(steps, *room);
    if ((dimsOf(cache)[2] - dimsOf(x)[2]).least() < 0)
      return node.invalid("the cache has no room for the new keys");
    for (unsigned axis : {0, 1, 3})
      (void)node.takeEqual(dimsOf(cache)[axis], dimsOf(x)[axis]);
  }
  Dim batch = dimsOf(o.query)[0], queries = dimsOf(o.query)[2],
      steps = dimsOf(o.key)[2];
  Value past = node.reshape(node.cast(in.pastLength, i64), {});
  Value places = node.expand(past, {batch});
  for (auto [x, cache] :
       {std::pair(&o.key, in.pastKey), std::pair(&o.value, in.pastValue)})
    *x = node.build<TensorScatterOp>(cache, *x, places, /*axis=*/2,
                                     /*circular=*/false);
  Dim keys = dimsOf(o.key)[2];
  Value key = node.reshape(positions(node, keys, i64), {1, 1, 1, keys});
  Value last = node.add(past, sizeValue(node, steps - 1));
  if (node.intAttr("unidirectional", 0))
    last = node.add(
        node.reshape(positions(node, queries, i64), {1, 1, queries, 1}), past);
  o.visible = node.lessOrEqual(key, last);
  return success();
}

static ImportResult attendHeads(OnnxNode &node, const HeadInputs &in) {
  auto parts = headsOf(node, in, node.intAttr("num_heads", 0));
  if (failed(parts) || llvm::is_contained(*parts, Value()) ||
      failed(checkHeads(node, *parts)) || failed(addBiases(node, in, *parts)))
    return failure();
  if (static_cast<bool>(in.pastKey) != static_cast<bool>(in.pastValue))
    return node.invalid("past_key and past_value must be given together");
  if (node.wantsOutput(3))
    return node.unsupported("the output `qk` is not supported",
                            "export the model without it");
  AttentionOperands o;
  o.query = (*parts)[0];
  o.key = (*parts)[1];
  o.value = (*parts)[2];
  if (in.pastLength) {
    if (failed(writeIntoCache(node, in, o)))
      return failure();
  } else {
    o.key = joined(node, in.pastKey, o.key, 2);
    o.value = o.key ? joined(node, in.pastValue, o.value, 2) : Value();
    if (!o.value)
      return failure();
  }
  o.scale = attentionScale(node, shapeOf(o.query)[3]);
  if (in.mask) {
    auto hidden = biasOfMask(node, in.mask, o.query, o.key);
    if (failed(hidden))
      return failure();
    o.biases.push_back(*hidden);
  }
  o.biases.push_back(in.attentionBias);
  if (!o.visible && node.intAttr("unidirectional", 0))
    o.visible = causal(node, dimsOf(o.query)[2], dimsOf(o.key)[2]);
  Value y = attend(node, o);
  if (!y)
    return failure();
  return SmallVector<Value>{y, o.key, o.value};
}

static ImportResult importMultiHeadAttention(OnnxNode &node) {
  if (node.hasInput(9))
    return node.unsupported("caches indexed by beams are not supported",
                            "export the model without beam search");
  return attendHeads(node, {node.input(0), node.input(1), node.input(2),
                            node.input(3), node.input(4), node.input(5),
                            node.input(6), node.input(7), node.input(8)});
}

static ImportResult importPackedMultiHeadAttention(OnnxNode &node) {
  PackedTokens tokens(node, node.input(4));
  auto padded = [&](unsigned i) {
    return node.hasInput(i) ? tokens.padded(node.input(i)) : Value();
  };
  HeadInputs in;
  in.query = padded(0);
  in.key = padded(1);
  in.value = padded(2);
  in.bias = node.input(3);
  in.attentionBias = node.input(6);
  in.mask = tokens.lengths(node.input(5));
  if (!in.mask)
    return failure();
  ImportResult y = attendHeads(node, in);
  if (failed(y))
    return failure();
  return one(tokens.packed(y->front(), dimsOf(node.input(0))[0]));
}

/// Imports DecoderMaskedMultiHeadAttention, the attention of one decoding step,
/// with one query per sequence.
static ImportResult importDecoderMaskedMultiHeadAttention(OnnxNode &node) {
  if (failed(refuse(node, "output_qk", "export the model without it")))
    return failure();
  if (node.hasInput(8) || node.hasInput(9))
    return node.unsupported("caches indexed by beams are not supported",
                            "export the model without beam search");
  bool isShared = node.intAttr("past_present_share_buffer", 0) != 0;
  if (isShared && node.hasInput(5) && !node.hasInput(7))
    return node.invalid("past_present_share_buffer=1 needs "
                        "past_sequence_length");
  return attendHeads(
      node, {node.input(0), node.input(1), node.input(2), node.input(10),
             node.input(3), node.input(4), node.input(5), node.input(6),
             isShared && node.hasInput(5) ? node.input(7) : Value()});
}

void registerFusedAttentionImports(OnnxRegistry &registry) {
  StringRef domain = "com.microsoft";
  StringRef projected = "shared caches; `do_rotary`; masks [3 * batch + 2] and "
                        "of rank 4";
  StringRef heads = "caches indexed by beams; the output `qk`; masks "
                    "[3 * batch + 2]";
  registry.add("Attention", importAttention, projected, domain);
  registry.add("QAttention", importQAttention, projected, domain);
  registry.add("PackedAttention", importPackedAttention, "", domain);
  registry.add("PackedMultiHeadAttention", importPackedMultiHeadAttention, "",
               domain);
  registry.add("MultiHeadAttention", importMultiHeadAttention, heads, domain);
  registry.add("DecoderMaskedMultiHeadAttention",
               importDecoderMaskedMultiHeadAttention, heads, domain);
}

} // namespace ingot::graph
