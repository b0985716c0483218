#include "compiler/import/operators/AxisVectors.h"

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"

using namespace mlir;

namespace ingot::graph {

FailureOr<Value> positionsFrom(OnnxNode &node, StringRef name,
                               int64_t sinceInput, unsigned i) {
  bool isInput = node.opset >= sinceInput;
  if (isInput ? !node.hasInput(i) : !node.hasAttr(name))
    return Value();
  if (isInput && !node.isKnown(i))
    return RunTimeInts(node).input(i);
  auto given = sizesFromAttrOrInput(node, name, sinceInput, i);
  if (failed(given))
    return failure();
  constexpr int64_t most = int64_t(1) << 39;
  for (Dim &each : *given)
    if (auto number = each.known())
      each = std::clamp(*number, -most, most);
  return RunTimeInts(node).sizes(*given);
}

FailureOr<Value> putOnAxes(OnnxNode &node, Value vector, Value axes,
                           Value values) {
  RunTimeInts ints(node);
  auto numbers = numbersOf(node, axes);
  if (!numbers)
    return ints.put(vector, axes, values);
  int64_t rank = shapeOf(vector)[0];
  auto normal = normalizeAxes(node, *numbers, rank);
  if (failed(normal))
    return failure();
  if (*normal == iota(rank))
    return values;
  SmallVector<Value> parts;
  for (int64_t axis = 0; axis < rank; ++axis) {
    auto at = llvm::find(*normal, axis);
    parts.push_back(at == normal->end()
                        ? ints.part(vector, axis)
                        : ints.part(values, at - normal->begin()));
  }
  return parts.empty() ? vector : ints.joined(parts);
}

std::optional<SmallVector<int64_t>> numbersOf(OnnxNode &node, Value vector) {
  SmallVector<int64_t> numbers;
  for (const std::optional<Dim> &each : node.elementsIn(vector)) {
    auto number = each ? each->known() : std::nullopt;
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Value elementAt(OnnxNode &node, Value vector, int64_t i) {
  RunTimeInts ints(node);
  auto known = node.elementsIn(vector)[i];
  return known ? ints.sizes(*known) : ints.part(vector, i);
}

} // namespace ingot::graph
