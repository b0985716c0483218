#include "compiler/import/operators/ShapeArguments.h"

#include <numeric>

using namespace mlir;

namespace ingot::graph {

FailureOr<SmallVector<int64_t>> attrOrInput(OnnxNode &node, StringRef name,
                                            int64_t sinceInput, unsigned i,
                                            ArrayRef<int64_t> otherwise) {
  if (node.opset < sinceInput)
    return node.intsAttr(name, otherwise);
  if (!node.hasInput(i))
    return SmallVector<int64_t>(otherwise);
  return node.requireInts(i, name);
}

FailureOr<Dims> sizesFromAttrOrInput(OnnxNode &node, StringRef name,
                                     int64_t sinceInput, unsigned i) {
  if (node.opset >= sinceInput && node.hasInput(i))
    return node.requireSizes(i, name);
  SmallVector<int64_t> numbers = node.intsAttr(name);
  return Dims(numbers.begin(), numbers.end());
}

Value inputOrConstant(OnnxNode &node, unsigned i) {
  return node.hasInput(i) && node.isConstant(i)
             ? node.constant(node.constantInput(i))
             : node.input(i);
}

FailureOr<SmallVector<int64_t>>
normalizeAxes(OnnxNode &node, ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    FailureOr<int64_t> normal = node.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return node.invalid("axis " + Twine(*normal) + " is given twice");
    result.push_back(*normal);
  }
  return result;
}

FailureOr<int64_t> axisOrFlat(OnnxNode &node, Value &x) {
  if (node.hasAttr("axis"))
    return node.axisAttr("axis", 0, shapeOf(x).size());
  x = node.reshape(x, {product(dimsOf(x))});
  return 0;
}

SmallVector<int64_t> iota(int64_t count) {
  SmallVector<int64_t> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

} // namespace ingot::graph
