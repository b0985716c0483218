// Imports NonMaxSuppression.
//
// The number of selected boxes, which is a data-dependent size, determines the
// shape of the result.

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"

using namespace mlir;

namespace ingot::graph {

static ImportResult importNonMaxSuppression(OnnxNode &node) {
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
    return node.hasInput(i)
               ? node.reshape(node.cast(inputOrConstant(node, i), type), {})
               : node.scalarConstant(otherwise, type);
  };
  boxes = inputOrConstant(node, 0);
  scores = inputOrConstant(node, 1);
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

void registerSelectionImports(OnnxRegistry &registry) {
  registry.add("NonMaxSuppression", importNonMaxSuppression);
}

} // namespace ingot::graph
