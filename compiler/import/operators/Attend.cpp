#include "compiler/import/operators/Attend.h"

#include "compiler/import/operators/Products.h"
#include "dialects/graph/ops/Movement.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult refuseOpen(OnnxNode &node, const Dim &size, const Twine &what) {
  std::string name = kernel::sizeText(size);
  return node.unsupported(
      what + " (" + name +
          ") must be known when compiling, but is known only at run time",
      "fix the size" +
          (size.given().size() == 1
               ? ": --dim " + size.given().front().getName().str() + "=SIZE"
               : std::string()));
}

LogicalResult checkHeads(OnnxNode &node, ArrayRef<Value> parts) {
  for (Value part : parts) {
    if (!dimsOf(part)[1].known())
      return refuseOpen(node, dimsOf(part)[1], "the number of heads");
    if (!dimsOf(part)[3].known())
      return refuseOpen(node, dimsOf(part)[3], "the size of a head");
  }
  return success();
}

Value splitHeads(OnnxNode &node, Value x, int64_t heads) {
  Dims sizes = dimsOf(x);
  if (!sizes[2].known())
    return noValue(refuseOpen(node, sizes[2], "the total size of all heads"));
  Value apart =
      node.reshape(x, {sizes[0], sizes[1], heads, shapeOf(x)[2] / heads});
  return node.transpose(apart, {0, 2, 1, 3});
}

Value joined(OnnxNode &node, Value x, Value y, int64_t axis) {
  if (!x)
    return y;
  for (int64_t i = 0; i < int64_t(dimsOf(x).size()); ++i)
    if (i != axis && dimsOf(x).size() == dimsOf(y).size())
      (void)node.takeEqual(dimsOf(x)[i], dimsOf(y)[i]);
  Dims xs = dimsOf(x), ys = dimsOf(y);
  if (elementOf(x) != elementOf(y) || !concatenated({ArrayRef(xs), ys}, axis))
    return noValue(
        node.invalid("the past keys or values must match the new ones in "
                     "batch size, number of heads and head size"));
  return node.concat({x, y}, axis);
}

Value positions(OnnxNode &node, const Dim &count, Type type) {
  auto numbers = llvm::map_to_vector(
      llvm::seq<int64_t>(0, count.most()),
      [&](int64_t i) -> Attribute { return IntegerAttr::get(type, i); });
  Value whole = node.constant(DenseElementsAttr::get(
      RankedTensorType::get({count.most()}, type), numbers));
  return node.slice(whole, 0, 0, count);
}

Value sizeValue(OnnxNode &node, const Dim &size) {
  if (auto number = size.known())
    return node.scalarConstant(*number, node.i64());
  return node.build<SizesOp>(
      RankedTensorType::get({}, node.i64()),
      kernel::sizesAttr({size}, node.builder.getContext()));
}

Value causal(OnnxNode &node, const Dim &queries, const Dim &keys) {
  Type i64 = node.i64();
  Value query = node.reshape(positions(node, queries, i64), {1, 1, queries, 1});
  Value key = node.reshape(positions(node, keys, i64), {1, 1, 1, keys});
  Value last = node.add(query, sizeValue(node, keys - queries));
  return node.lessOrEqual(key, last);
}

double attentionScale(OnnxNode &node, int64_t headSize) {
  double given = node.floatAttr("scale", 0);
  return given != 0 ? given
                    : 1 / std::sqrt(double(std::max<int64_t>(1, headSize)));
}

/// Converts `lengths` to a boolean mask [B, 1, 1, T]: true for keys inside of
/// the sequence. `lengths` contains the lengths of B sequences [B], or their
/// end positions followed by their start positions [2 * B].
static Value visibleByLength(OnnxNode &node, Value lengths, const Dim &batch,
                             const Dim &keys) {
  Type type = elementOf(lengths);
  Value key = node.reshape(positions(node, keys, type), {1, 1, 1, keys});
  auto part = [&](const Dim &start) {
    Value own = node.slice(lengths, 0, *start.known(), *batch.known());
    return node.reshape(own, {batch, 1, 1, 1});
  };
  if (dimsOf(lengths)[0] == batch)
    return node.less(key, node.reshape(lengths, {batch, 1, 1, 1}));
  return node.both(node.less(key, part(0)),
                   node.greaterOrEqual(key, part(batch)));
}

FailureOr<Value> biasOfMask(OnnxNode &node, Value mask, Value query,
                            Value key) {
  Type type = elementOf(query);
  // The sizes are read from the types at each use, since assuming that two
  // sizes are equal replaces one of them.
  auto batch = [&] { return dimsOf(query)[0]; };
  auto queries = [&] { return dimsOf(query)[2]; };
  auto keys = [&] { return dimsOf(key)[2]; };
  auto is = [&](llvm::function_ref<Dims()> shape) {
    size_t rank = shape().size();
    for (size_t i = 0; i < rank && dimsOf(mask).size() == rank; ++i)
      if (Dim own = dimsOf(mask)[i], other = shape()[i]; !(own == other))
        (void)(rank > 1 ? node.takeEqual(own, other)
                        : node.assumeEqual(own, other));
    return dimsOf(mask) == shape();
  };
  Value visible;
  bool isStarts = dimsOf(mask).size() == 1 && batch().known() &&
                  dimsOf(mask)[0] == 2 * batch();
  if (isStarts || is([&] { return Dims{batch()}; })) {
    visible = visibleByLength(node, mask, batch(), keys());
  } else {
    Dims aligned;
    if (is([&] { return Dims{batch(), keys()}; }))
      aligned = {batch(), 1, 1, keys()};
    else if (is([&] { return Dims{batch(), queries(), keys()}; }))
      aligned = {batch(), 1, queries(), keys()};
    else
      return node.unsupported(
          "a mask of this shape is not supported",
          "use lengths of shape [batch] or [2 * batch], or mask elements of "
          "shape [batch, keys] or [batch, queries, keys]");
    visible = node.greater(node.reshape(mask, aligned), 0);
  }
  double filter = node.floatAttr("mask_filter_value", -10000);
  return node.where(visible, 0, node.scalarConstant(filter, type));
}

/// Returns the softmax of the scores along the keys. The sink, an additional
/// score per head (it broadcasts to the scores of one key), takes part in the
/// sum but not in the result.
static Value softmaxWithSink(OnnxNode &node, Value products, Value sink) {
  Dims sizes = dimsOf(products), column = sizes;
  column.back() = 1;
  int64_t axis = int64_t(sizes.size()) - 1;
  Value more = node.expand(sink, column);
  Value all = node.build<SoftmaxOp>(node.concat({products, more}, axis), axis);
  return node.cut(all, sizes);
}

/// If `bias` has a dynamic size that may be 1 or the size of the scores
/// `products`, expands `bias` to the shape of the scores. Otherwise returns
/// `bias`, which broadcasts. Returns null if the shapes do not match.
static Value fitBias(OnnxNode &node, Value bias, Value products) {
  if (dimsOf(bias).empty() || dimsOf(bias).size() > dimsOf(products).size())
    return {};
  // The last axis of a bias has one element per key.
  if (!dimsOf(bias).back().known())
    (void)node.takeEqual(dimsOf(bias).back(), dimsOf(products).back());
  Dims sizes = dimsOf(products);
  bool isOpen = llvm::any_of(
      llvm::zip(dimsOf(bias), ArrayRef(sizes).take_back(dimsOf(bias).size())),
      [](auto pair) {
        return !std::get<0>(pair).known() &&
               mayDiffer(std::get<0>(pair), std::get<1>(pair));
      });
  return isOpen ? node.broadcastTo(bias, sizes) : bias;
}

/// Replaces the N query heads in the operands by an axis of key heads and an
/// axis of the `times` query heads that share one of them, so that each key head
/// is read where it lies. Keys and values get an axis of size 1. If each head
/// has one query, the second axis takes the place of the axis of queries: a key
/// head then has `times` queries.
static AttentionOperands withSharedHeads(OnnxNode &node, AttentionOperands o,
                                         int64_t times) {
  Dim heads = dimsOf(o.query)[1];
  bool hasOneQuery = dimsOf(o.query)[2] == 1;
  // Divides the axis of heads of an operand [.., N, S, any]. Does not change an
  // operand that all heads share, unless the number of axes increases.
  auto splitHeadAxis = [&](Value x) {
    if (!x || dimsOf(x).size() < 3)
      return x;
    // An axis of a dynamic size, 1 or N, is first expanded to N heads.
    if (Dims whole = dimsOf(x); !whole.end()[-3].known()) {
      whole.end()[-3] = heads;
      if (Value expanded = node.broadcastTo(x, whole))
        x = expanded;
    }
    Dims sizes = dimsOf(x);
    auto head = sizes.end() - 3;
    bool isOfHeads = *head == heads;
    if (!isOfHeads && (hasOneQuery || !(*head == 1)))
      return x;
    if (isOfHeads)
      *head = heads.floorDiv(times);
    if (hasOneQuery && head[1] == 1)
      head[1] = times;
    else if (hasOneQuery)
      return x;
    else
      sizes.insert(head + 1, isOfHeads ? Dim(times) : Dim(1));
    return node.reshape(x, sizes);
  };
  o.query = splitHeadAxis(o.query);
  o.visible = splitHeadAxis(o.visible);
  for (Value &bias : o.biases)
    bias = splitHeadAxis(bias);
  o.sink = splitHeadAxis(o.sink);
  for (Value *x : {&o.key, &o.value})
    if (Dims sizes = dimsOf(*x); !hasOneQuery) {
      sizes.insert(sizes.begin() + 2, 1);
      *x = node.reshape(*x, sizes);
    }
  return o;
}

/// Returns the products of softmax weights and values as a tensor [B, S, N *
/// any]. `y` has the shape [B, N, S, any] or, after withSharedHeads, [B, key
/// heads, times, S, any], or [B, key heads, times, any] for one query.
static Value joinHeads(OnnxNode &node, Value y, const Dim &heads) {
  Dims sizes = dimsOf(y);
  Dim queries = 1;
  if (sizes.size() == 5) {
    queries = sizes[3];
    y = node.transpose(y, {0, 3, 1, 2, 4});
  } else if (sizes[1] == heads) {
    queries = sizes[2];
    y = node.transpose(y, {0, 2, 1, 3});
  }
  return node.reshape(y, {sizes[0], queries, heads * sizes.back()});
}

Value attend(OnnxNode &node, AttentionOperands o) {
  Type type = elementOf(o.query);
  int64_t heads = shapeOf(o.query)[1], shared = shapeOf(o.key)[1];
  auto refuseMask = [&] {
    return node.invalid(
        "the mask or bias must broadcast to [batch, heads, queries, keys]");
  };
  if (shared < 1 || heads % shared != 0 || shapeOf(o.value)[1] != shared)
    return noValue(
        node.invalid("the number of query heads must be a multiple of the "
                     "number of key and value heads"));
  if (o.sink)
    o.sink = node.reshape(o.sink, {1, heads, 1, 1});
  auto suitsHeads = [&](Value mask) {
    Dims sizes = mask ? dimsOf(mask) : Dims();
    auto own = sizes.size() < 3 ? std::nullopt : sizes.end()[-3].known();
    return !own || *own == 1 || *own == heads;
  };
  if (!suitsHeads(o.visible) || !llvm::all_of(o.biases, suitsHeads))
    return noValue(refuseMask());
  if (heads != shared)
    o = withSharedHeads(node, o, heads / shared);
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, dimsOf(o.key).size()));
  std::swap(perm.end()[-2], perm.end()[-1]);
  Value products = importMatMul(node, o.query, node.transpose(o.key, perm));
  if (!products)
    return {};
  Value plain = products;
  if (o.scale != 1)
    products = node.mul(products, o.scale);
  if (o.cap != 0)
    products = node.mul(
        node.elementwise<TanhOp>({node.mul(products, 1 / o.cap)}), o.cap);
  for (Value bias : o.biases)
    if (products && bias) {
      bias = fitBias(node, bias, plain);
      products = bias ? node.add(products, bias) : Value();
    }
  if (products && o.visible) {
    // Hidden keys get the smallest finite score instead of -infinity, so that
    // the softmax of a query without visible keys does not become NaN.
    APFloat least = APFloat::getLargest(
        cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true);
    Value hidden = node.constant(
        DenseElementsAttr::get(RankedTensorType::get({}, type), least));
    products = node.where(o.visible, products, hidden);
  }
  if (!products || dimsOf(products) != dimsOf(plain))
    return noValue(refuseMask());
  Value weights = o.sink ? softmaxWithSink(node, products, o.sink)
                         : node.build<SoftmaxOp>(
                               products, int64_t(dimsOf(products).size()) - 1);
  Value y = importMatMul(node, weights, o.value);
  return y ? joinHeads(node, y, heads) : Value();
}

} // namespace ingot::graph
