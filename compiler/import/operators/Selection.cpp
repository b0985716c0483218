// Imports NonMaxSuppression.
//
// The number of selected boxes determines the shape of the result. If boxes and
// scores are known at compile time, the result is a constant; else it has a
// data-dependent size.

#include "compiler/import/operators/RunTimeShapes.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// A box with top <= bottom and left <= right.
struct Box {
  float top, left, bottom, right;

  static Box of(ArrayRef<double> given, bool fromCenter) {
    auto at = [&](size_t i) { return static_cast<float>(given[i]); };
    if (fromCenter) {
      float x = at(0), y = at(1), width = at(2) / 2, height = at(3) / 2;
      return {y - height, x - width, y + height, x + width};
    }
    return {std::min(at(0), at(2)), std::min(at(1), at(3)),
            std::max(at(0), at(2)), std::max(at(1), at(3))};
  }
  float area() const { return (bottom - top) * (right - left); }
  /// Whether the intersection over union of two boxes exceeds `share`.
  bool overlaps(const Box &other, float share) const {
    float height = std::min(bottom, other.bottom) - std::max(top, other.top);
    float width = std::min(right, other.right) - std::max(left, other.left);
    if (height <= 0 || width <= 0)
      return false;
    float both = height * width, all = area() + other.area() - both;
    return all > 0 && both / all > share;
  }
};
} // namespace

/// Returns the indices of at most `most` selected boxes of one class, in the
/// order of decreasing scores. `share` is the largest allowed overlap of two
/// boxes; boxes with a score of at most `least` are ignored.
static SmallVector<int64_t> select(ArrayRef<Box> boxes, ArrayRef<double> scores,
                                   int64_t most, float share,
                                   std::optional<double> least) {
  SmallVector<int64_t> order, kept;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (!least || scores[i] > *least)
      order.push_back(static_cast<int64_t>(i));
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= most)
      break;
    if (llvm::none_of(kept, [&](int64_t other) {
          return boxes[candidate].overlaps(boxes[other], share);
        }))
      kept.push_back(candidate);
  }
  return kept;
}

static ImportResult selectAtRunTime(OnnxNode &node) {
  RunTimeInts ints(node);
  Value boxes = node.input(0), scores = node.input(1);
  auto size = [](Value v, size_t axis) { return dimsOf(v)[axis]; };
  if (shapeOf(boxes).size() != 3 || shapeOf(scores).size() != 3)
    return node.invalid("boxes must be [batch, boxes, 4], and scores must be "
                        "[batch, classes, boxes]");
  StringRef what = "the sizes of boxes and scores";
  if (failed(node.requireEqual(size(boxes, 2), 4, what)) ||
      failed(node.requireEqual(size(boxes, 0), size(scores, 0), what)) ||
      failed(node.requireEqual(size(boxes, 1), size(scores, 2), what)))
    return failure();
  Type real = elementOf(boxes), i64 = node.i64();
  for (unsigned i = 2; i < 5; ++i)
    for (size_t axis = 0;
         node.hasInput(i) && axis < shapeOf(node.input(i)).size(); ++axis)
      if (failed(node.requireEqual(
              size(node.input(i), axis), 1,
              "the number of elements of a limit or threshold")))
        return failure();
  for (unsigned i = 2; i < 5; ++i)
    if (node.hasInput(i) && tensorType(node.input(i)).getNumElements() != 1)
      return node.invalid(
          "each limit or threshold must have exactly one element");
  auto number = [&](unsigned i, Type type, double otherwise) {
    return node.hasInput(i) ? node.reshape(node.cast(node.input(i), type), {})
                            : node.scalarConstant(otherwise, type);
  };
  int64_t most =
      size(scores, 0).most() * size(scores, 1).most() * size(scores, 2).most();
  auto op = NonMaxSuppressionOp::create(
      node.builder, node.loc,
      TypeRange{RankedTensorType::get({most, 3}, i64),
                RankedTensorType::get({1}, i64),
                tensorOf({3, size(boxes, 1)},
                         node.builder.getIntegerType(32, /*isSigned=*/true))},
      boxes, scores, number(2, i64, 0), number(3, real, 0),
      number(4, real, -INFINITY),
      node.intAttr("center_point_box", 0) ? node.builder.getUnitAttr()
                                          : UnitAttr());
  auto count = node.readSizes(op.getCount(), {most});
  if (failed(count))
    return failure();
  return one(node.slice(op.getSelected(), 0, 0, count->front()));
}

static ImportResult importNonMaxSuppression(OnnxNode &node) {
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (node.hasInput(i) && !node.isConstant(i))
      return selectAtRunTime(node);
  ArrayRef<int64_t> boxShape = shapeOf(node.input(0)),
                    scoreShape = shapeOf(node.input(1));
  if (boxShape.size() != 3 || scoreShape.size() != 3 || boxShape[2] != 4 ||
      boxShape[0] != scoreShape[0] || boxShape[1] != scoreShape[2])
    return node.invalid("boxes must be [batch, boxes, 4], and scores must be "
                        "[batch, classes, boxes]");
  auto boxes = node.requireFloats(0, "boxes"),
       scores = node.requireFloats(1, "scores");
  if (failed(boxes) || failed(scores))
    return failure();
  // Reads input `i`, an optional operand with one element, into `value`.
  auto number = [&](unsigned i, StringRef what,
                    std::optional<double> &value) -> LogicalResult {
    if (!node.hasInput(i))
      return success();
    auto given = node.requireFloats(i, what);
    if (failed(given))
      return failure();
    if (given->size() != 1)
      return node.invalid(what + " has " + Twine(given->size()) +
                          " elements, but must have exactly 1");
    value = given->front();
    return success();
  };
  std::optional<double> most, share, least;
  if (failed(number(2, "max_output_boxes_per_class", most)) ||
      failed(number(3, "iou_threshold", share)) ||
      failed(number(4, "score_threshold", least)))
    return failure();
  bool fromCenter = node.intAttr("center_point_box", 0) != 0;
  int64_t count = boxShape[1], classes = scoreShape[1];
  SmallVector<int64_t> selected;
  for (int64_t batch = 0; batch < boxShape[0]; ++batch) {
    std::vector<Box> own;
    own.reserve(count);
    for (int64_t i = 0; i < count; ++i)
      own.push_back(
          Box::of(ArrayRef<double>(*boxes).slice((batch * count + i) * 4, 4),
                  fromCenter));
    for (int64_t c = 0; c < classes; ++c)
      for (int64_t box :
           select(own,
                  ArrayRef<double>(*scores).slice((batch * classes + c) * count,
                                                  count),
                  std::isfinite(most.value_or(0))
                      ? static_cast<int64_t>(std::min(most.value_or(0), 1e9))
                      : 0,
                  static_cast<float>(share.value_or(0)), least))
        selected.append({batch, c, box});
  }
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(selected.size()) / 3, 3}, node.i64());
  return one(node.constant(DenseElementsAttr::get(type, ArrayRef(selected))));
}

void registerSelectionImports(OnnxRegistry &registry) {
  registry.add("NonMaxSuppression", importNonMaxSuppression);
}

} // namespace ingot::graph
