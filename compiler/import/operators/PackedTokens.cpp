#include "compiler/import/operators/PackedTokens.h"

#include "compiler/import/operators/RunTimeShapes.h"

using namespace mlir;

namespace ingot::graph {

static Value zeros(OnnxNode &node, const Dim &count) {
  return node.builder.createOrFold<ExpandOp>(
      node.loc, RunTimeInts(node).number(0), ArrayRef<Dim>(count));
}

PackedTokens::PackedTokens(OnnxNode &node, Value given)
    : node(node), given(given) {
  Dim all = sequences() * places();
  offsets = RunTimeInts(node).vector(given);
  tokens = RunTimeInts(node).put(zeros(node, all), offsets, node.countTo(all));
}

Value PackedTokens::padded(Value packed) {
  Value y = gatherAlong(node, packed, 0, tokens);
  Dims sizes = dimsOf(packed);
  sizes[0] = places();
  sizes.insert(sizes.begin(), sequences());
  return node.reshape(y, sizes);
}

Value PackedTokens::paddedByZeros(Value packed) {
  RunTimeInts ints(node);
  Value y = padded(packed);
  Dims ones(dimsOf(y).size(), 1);
  ones[0] = sequences();
  ones[1] = places();
  Value isToken =
      node.reshape(node.less(tokens, ints.sizes(dimsOf(packed)[0])), ones);
  return node.where(isToken, y, 0);
}

Value PackedTokens::packed(Value padded, const Dim &count) {
  RunTimeInts ints(node);
  Dims sizes = dimsOf(padded);
  sizes.erase(sizes.begin());
  sizes[0] = sequences() * places();
  return gatherAlong(node, node.reshape(padded, sizes), 0,
                     ints.take(offsets, node.countTo(count)));
}

Value PackedTokens::lengths(Value ends) {
  RunTimeInts ints(node);
  if (failed(node.requireEqual(
          dimsOf(ends)[0], sequences() + 1,
          "the length of cumulative_sequence_length, and the batch size + 1")))
    return {};
  Value all = ints.vector(ends), first = node.countTo(sequences());
  return node.sub(ints.take(all, node.add(first, 1)), ints.take(all, first));
}

static ImportResult importRemovePadding(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), counts = node.input(1);
  Dim sequences = dimsOf(x)[0], places = dimsOf(x)[1], all = sequences * places;
  counts = ints.vector(counts);
  Value place = node.reshape(node.countTo(places), {1, places});
  Value isToken = node.less(place, node.reshape(counts, {sequences, 1}));
  isToken = node.reshape(isToken, {all});
  FailureOr<Value> tokens = positionsOf(node, isToken);
  if (failed(tokens))
    return failure();
  // The offsets first list the positions of all tokens, in the order of the
  // tokens, then the positions of the padding.
  Type i64 = node.i64();
  Value one = node.cast(isToken, i64);
  Value behind =
      node.add(ints.sizes(dimsOf(*tokens)[0]), ints.sums(node.sub(1, one),
                                                         /*exclusive=*/true));
  Value to = node.where(isToken, ints.sums(one, /*exclusive=*/true), behind);
  Value offsets = ints.put(zeros(node, all), to, node.countTo(all));
  Value ends =
      ints.joined({ints.numbers({0}), ints.sums(counts, /*exclusive=*/false)});
  Value longest = node.build<ReduceMaxOp>(
      ints.joined({ints.numbers({0}), counts}), ArrayRef<int64_t>{0});
  Dims rows = dimsOf(x);
  rows.erase(rows.begin());
  rows[0] = all;
  Type narrow = elementOf(node.input(1));
  return SmallVector<Value>{
      gatherAlong(node, node.reshape(x, rows), 0, *tokens),
      node.reshape(node.cast(offsets, narrow), {sequences, places}),
      node.cast(ends, narrow), node.cast(node.reshape(longest, {1}), narrow)};
}

static ImportResult importRestorePadding(OnnxNode &node) {
  return one(PackedTokens(node, node.input(1)).paddedByZeros(node.input(0)));
}

void registerPackedTokensImports(OnnxRegistry &registry) {
  registry.add("RemovePadding", importRemovePadding, "", "com.microsoft");
  registry.add("RestorePadding", importRestorePadding, "", "com.microsoft");
}

} // namespace ingot::graph
