// Imports TfIdfVectorizer.
//
// Counts how often each n-gram of the pool occurs in each row x of the input.
// For each length of n-grams and each distance d between their items, shifted
// copies of the row are compared with the items of all n-grams p in the pool:
//
//   count[p] = sum over i of (x[i] == pool[p][0] and x[i + d] == pool[p][1]
//                             and ...)

#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Strings.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the number of occurrences [rows, grams] of each n-gram of the pool,
/// of length `n`, in the rows of `x` [rows, length], where the items of an
/// n-gram are `distance` positions apart. If `strings` is not empty, `pool`
/// contains indices into `strings`.
static Value countGrams(OnnxNode &node, Value x, ArrayRef<int64_t> pool,
                        ArrayRef<std::string> strings, int64_t n,
                        int64_t distance) {
  int64_t grams = int64_t(pool.size()) / n, reach = (n - 1) * distance;
  Dim rows = dimsOf(x)[0], length = dimsOf(x)[1];
  // If the row length is dynamic, all positions are compared, and those whose
  // n-grams would extend beyond the end of the row are masked below.
  Dim places = length.known() ? length - reach : length;
  Type type = elementOf(x);
  if (!length.known())
    x = extendedAlong(node, x, 1, reach);
  Value found;
  for (int64_t item = 0; item < n; ++item) {
    SmallVector<Attribute> column;
    SmallVector<std::string> words;
    for (int64_t gram = 0; gram < grams && !strings.empty(); ++gram)
      words.push_back(strings[pool[gram * n + item]]);
    for (int64_t gram = 0; gram < grams && strings.empty(); ++gram)
      column.push_back(IntegerAttr::get(
          type, APInt(type.getIntOrFloatBitWidth(),
                      static_cast<uint64_t>(pool[gram * n + item]),
                      /*isSigned=*/true, /*implicitTrunc=*/true)));
    Value wanted =
        strings.empty()
            ? node.constant(DenseElementsAttr::get(
                  RankedTensorType::get({1, 1, grams}, type), column))
            : buildStrings(node.builder, node.loc, {1, 1, grams}, words);
    Value has = node.reshape(node.slice(x, 1, item * distance, places),
                             {rows, places, 1});
    Value same = node.equal(has, wanted);
    found = found ? node.both(found, same) : same;
  }
  if (!length.known()) {
    RunTimeInts ints(node);
    Value isInside =
        node.less(node.countTo(places), ints.sizes(length - reach));
    found = node.both(found, node.alignAt(isInside, 1, 3));
  }
  Type f32 = node.f32();
  Value sum = node.build<ReduceSumOp>(node.cast(found, f32),
                                      node.builder.getDenseI64ArrayAttr({1}));
  return node.reshape(sum, {rows, grams});
}

static ImportResult importTfIdf(OnnxNode &node) {
  SmallVector<int64_t> pool = node.intsAttr("pool_int64s"),
                       starts = node.intsAttr("ngram_counts"),
                       indexes = node.intsAttr("ngram_indexes");
  SmallVector<std::string> strings = node.stringsAttr("pool_strings");
  if (isString(elementOf(node.input(0))) == strings.empty())
    return node.invalid("the pool must have the element type of the input: "
                        "pool_strings for strings, pool_int64s for integers");
  if (!strings.empty())
    pool = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(strings.size())));
  SmallVector<double> weights = node.floatsAttr("weights");
  int64_t shortest = node.intAttr("min_gram_length", 1),
          longest = node.intAttr("max_gram_length", 1),
          skips = node.intAttr("max_skip_count", 0);
  std::string mode = node.stringAttr("mode", "TF");
  if (!llvm::is_contained({"TF", "IDF", "TFIDF"}, mode))
    return node.invalid("unknown mode `" + mode + "`");
  if (shortest < 1 || longest < shortest || skips < 0 || skips > 1000)
    return node.invalid(
        "min_gram_length must be 1 or more, max_gram_length not less than "
        "min_gram_length, and max_skip_count between 0 and 1000");
  ArrayRef<int64_t> shape = shapeOf(node.input(0));
  if (shape.size() != 1 && shape.size() != 2)
    return node.invalid("the input has " + Twine(shape.size()) +
                        " axes, but must have 1 or 2");
  int64_t outputs = 0;
  llvm::DenseSet<int64_t> seen;
  for (int64_t index : indexes) {
    if (index < 0 || index > 1 << 24)
      return node.invalid("ngram_indexes contains the invalid index " +
                          Twine(index));
    if (!seen.insert(index).second)
      return node.unsupported(
          "n-grams that share an output are not supported",
          "export the model with one output for each n-gram");
    outputs = std::max(outputs, index + 1);
  }
  if (!weights.empty() && weights.size() != indexes.size())
    return node.invalid("weights has " + Twine(weights.size()) +
                        " entries for " + Twine(indexes.size()) + " n-grams");

  Value x = node.input(0);
  Dim length = dimsOf(x).back(), rows = shape.size() == 2 ? dimsOf(x)[0] : 1;
  x = node.reshape(x, {rows, length});
  // A number of the pool that exceeds int32 equals no element of an int32
  // input.
  if (strings.empty() &&
      !llvm::all_of(pool, [](int64_t item) { return llvm::isInt<32>(item); }))
    x = node.cast(x, node.i64());
  Type f32 = node.f32();
  // For each output: the number of its column in the concatenated counts of
  // n-grams. Column 0 is always 0, for outputs without an n-gram.
  SmallVector<int64_t> place(outputs, 0);
  SmallVector<Value> counts;
  counts.push_back(node.expand(node.scalarConstant(0, f32), {rows, 1}));
  int64_t columns = 1;
  size_t gram = 0;
  for (int64_t n = 1; n <= int64_t(starts.size()); ++n) {
    int64_t begin = starts[n - 1],
            end = n < int64_t(starts.size()) ? starts[n] : pool.size();
    if (begin < 0 || end < begin || end > int64_t(pool.size()) ||
        (end - begin) % n)
      return node.invalid(
          "ngram_counts must be ascending positions in the pool, and between "
          "the n-th position and the next one the pool must have a multiple of "
          "n entries");
    int64_t grams = (end - begin) / n;
    if (gram + grams > indexes.size())
      return node.invalid("ngram_indexes is shorter than the pool");
    ArrayRef<int64_t> own = ArrayRef<int64_t>(indexes).slice(gram, grams);
    gram += grams;
    if (grams == 0 || n < shortest || n > longest)
      continue;
    Value sum;
    // 1-grams have no distance between items, so they are counted once.
    for (int64_t distance = 1; distance <= (n == 1 ? 1 : skips + 1);
         ++distance) {
      if ((length - (n - 1) * distance).most() < 1)
        break;
      Value count =
          countGrams(node, x, ArrayRef<int64_t>(pool).slice(begin, end - begin),
                     strings, n, distance);
      sum = sum ? node.add(sum, count) : count;
    }
    if (!sum)
      continue;
    for (auto [i, output] : llvm::enumerate(own))
      place[output] = columns + int64_t(i);
    columns += grams;
    counts.push_back(sum);
  }
  Value all = counts.size() == 1 ? counts[0] : node.concat(counts, 1);
  Value y = node.build<GatherOp>(all, node.integers(place), 1,
                                 /*inRange=*/true);
  if (mode == "IDF")
    y = node.min(y, 1);
  if (mode != "TF" && !weights.empty()) {
    SmallVector<double> byOutput(outputs, 0);
    for (auto [index, weight] : llvm::zip_equal(indexes, weights))
      byOutput[index] = weight;
    y = node.mul(y, floatConstant(node, {outputs}, byOutput, f32));
  }
  return one(
      node.reshape(y, shape.size() == 1 ? Dims{outputs} : Dims{rows, outputs}));
}

void registerTextImports(OnnxRegistry &registry) {
  registry.add("TfIdfVectorizer", importTfIdf, "n-grams that share an output");
}

} // namespace ingot::graph
