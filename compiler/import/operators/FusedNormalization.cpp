// Imports normalizations that ONNX Runtime's optimizer fuses with additions,
// embedding lookups and activations.

#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/RowNorm.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Layer normalization
//===----------------------------------------------------------------------===//

/// Imports a layer normalization or, if `center` is false, an RMS normalization
/// of the sum of input 0, input 1 and `addend`. Returns the normalized rows,
/// the mean of each row, the factor that scales each row, and the sum.
static ImportResult skipNorm(OnnxNode &node, Value scale, Value bias,
                             Value addend, bool center) {
  Value sum = sumOf(node, {node.input(0), node.input(1), addend});
  if (!sum)
    return failure();
  RowNorm norm{int64_t(shapeOf(sum).size()) - 1,
               node.floatAttr("epsilon", 1e-12), center};
  SmallVector<Value> results{normalizeRows(node, sum, scale, bias, norm)};
  if (node.wantsOutput(1) && !center)
    return node.unsupported(
        "the mean of RMS normalization as an output is not supported",
        "remove the second output");
  if (node.wantsOutput(1) || node.wantsOutput(2)) {
    auto [mean, inverse] = statisticsOfRows(node, sum, norm, node.f32());
    llvm::append_values(results, mean, inverse);
  }
  results.resize(3);
  results.push_back(sum);
  return results;
}

static ImportResult importSkipLayerNorm(OnnxNode &node) {
  return skipNorm(node, node.input(2), node.input(3), node.input(4),
                  /*center=*/true);
}

static ImportResult importSkipSimplifiedLayerNorm(OnnxNode &node) {
  return skipNorm(node, node.input(2), Value(), node.input(3),
                  /*center=*/false);
}

/// Returns the number of elements equal to 1 in each row of `mask` [rows,
/// columns], as an int32 vector [rows].
static Value countOnes(OnnxNode &node, Value mask) {
  Type i32 = elementOf(mask);
  Value isOne = node.equal(mask, 1);
  Value count =
      node.build<ReduceSumOp>(node.cast(isOne, i32), ArrayRef<int64_t>{1});
  return node.reshape(count, {dimsOf(mask)[0]});
}

/// Imports EmbedLayerNormalization: looks up word, position and segment
/// embeddings, sums and normalizes them.
static ImportResult importEmbedLayerNorm(OnnxNode &node) {
  Value ids = node.input(0), segments = node.input(1), words = node.input(2),
        positions = node.input(3), kinds = node.input(4), mask = node.input(7),
        places = node.input(8);
  for (Value table : {words, positions, kinds})
    if (table && shapeOf(table)[0] == 0)
      return node.invalid("an embedding table has no rows");
  if (static_cast<bool>(segments) != static_cast<bool>(kinds))
    return node.invalid(
        "segment_ids and segment_embedding must be given together");
  Dim batch = dimsOf(ids)[0], steps = dimsOf(ids)[1];
  // Indices are not checked: the user of the generated program must pass valid
  // ones.
  auto lookUp = [&](Value table, Value indices) {
    return gatherAlong(node, table, 0, indices);
  };
  Value atPlaces;
  if (places) {
    atPlaces = lookUp(positions, places);
  } else {
    if (!node.requireAtMost(steps, shapeOf(positions)[0]))
      return node.invalid(
          "the position embedding has " + Twine(shapeOf(positions)[0]) +
          " rows, but the sequence has " + kernel::sizeText(steps) + " words");
    atPlaces = node.slice(positions, 0, 0, dimsOf(ids)[1]);
  }
  Value sum = sumOf(node, {lookUp(words, ids), atPlaces,
                           segments ? lookUp(kinds, segments) : Value()});
  if (!sum)
    return failure();
  Value y = normalizeRows(node, sum, node.input(5), node.input(6),
                          {2, node.floatAttr("epsilon", 1e-12), true});
  Value lengths;
  if (node.wantsOutput(1)) {
    lengths = mask ? countOnes(node, mask)
                   : Value(node.expand(node.scalarConstant(0, elementOf(ids)),
                                       {batch}));
  }
  return SmallVector<Value>{y, lengths, sum};
}

//===----------------------------------------------------------------------===//
// Group normalization
//===----------------------------------------------------------------------===//

/// Applies group normalization to `x`. If the attribute `channels_last` is set,
/// the channels are the last axis of `x`, otherwise axis 1.
static Value groupNorm(OnnxNode &node, Value x) {
  int64_t last = node.intAttr("channels_last", 1),
          activation = node.intAttr("activation", 0);
  if (activation != 0 && activation != 1)
    return noValue(
        node.invalid("activation must be 0 or 1, not " + Twine(activation)));
  Value y = normalizeGroups(node, last ? toChannelsFirst(node, x) : x,
                            node.intAttr("groups", 0), node.input(1),
                            node.input(2), node.floatAttr("epsilon", 1e-5));
  if (y && last)
    y = toChannelsLast(node, y);
  return activation ? node.elementwise<SwishOp>({y}) : y;
}

static LogicalResult checkChannelsLast(OnnxNode &node) {
  int64_t last = node.intAttr("channels_last", 1);
  if (last != 0 && last != 1)
    return node.invalid("channels_last must be 0 or 1, not " + Twine(last));
  return success();
}

static ImportResult importGroupNorm(OnnxNode &node) {
  if (failed(checkChannelsLast(node)))
    return failure();
  return one(groupNorm(node, node.input(0)));
}

static ImportResult importSkipGroupNorm(OnnxNode &node) {
  if (failed(checkChannelsLast(node)))
    return failure();
  Value x = node.input(0), skip = node.input(3), bias = node.input(4);
  int64_t channels = node.intAttr("channels_last", 1) ? 3 : 1;
  auto alongChannels = [&](Value v) {
    Dims sizes(4, 1);
    sizes[0] = shapeOf(v).size() == 2 ? dimsOf(v)[0] : Dim(1);
    sizes[channels] = dimsOf(v).back();
    return node.reshape(v, sizes);
  };
  if (shapeOf(skip).size() == 2)
    skip = alongChannels(skip);
  Value sum = sumOf(node, {x, skip, bias ? alongChannels(bias) : Value()});
  if (!sum)
    return failure();
  Value y = groupNorm(node, sum);
  if (!y)
    return failure();
  return SmallVector<Value>{y, sum};
}

void registerFusedNormalizationImports(OnnxRegistry &registry) {
  StringRef domain = "com.microsoft";
  registry.add("SkipLayerNormalization", importSkipLayerNorm, "", domain);
  registry.add("SkipSimplifiedLayerNormalization",
               importSkipSimplifiedLayerNorm, "", domain);
  registry.add("EmbedLayerNormalization", importEmbedLayerNorm, "", domain);
  registry.add("GroupNorm", importGroupNorm, "", domain);
  registry.add("SkipGroupNorm", importSkipGroupNorm, "", domain);
}

} // namespace ingot::graph
