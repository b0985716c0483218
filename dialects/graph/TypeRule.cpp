#include "dialects/graph/TypeRule.h"

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult TypeRule::refuse(const Twine &why) const {
  return emitOptionalError(loc, "'", name, "' op ", why);
}

LogicalResult TypeRule::result(ArrayRef<int64_t> shape, Type element) {
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult TypeRule::result(ArrayRef<Dim> sizes, Type element) {
  types.push_back(tensorOf(sizes, element));
  return success();
}

SmallVector<kernel::SymbolAttr> dynamicSizes(Operation *op) {
  SmallVector<kernel::SymbolAttr> found;
  auto add = [&](kernel::SizesAttr sizes) {
    if (sizes)
      for (kernel::SymbolAttr symbol : sizes.getSymbols())
        if (!llvm::is_contained(found, symbol))
          found.push_back(symbol);
  };
  for (Type type :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    add(kernel::SizesAttr::of(type));
  if (auto values = dyn_cast<SizesOp>(op))
    add(values.getSizes());
  if (auto call = dyn_cast<CallExternalOp>(op)) {
    add(call.getSizesAttr());
    add(call.getParallelAttr());
  }
  return found;
}

LogicalResult TypeRule::axis(uint64_t axis, Value x) const {
  return require(axis < shapeOf(x).size(),
                 "has no axis " + Twine(static_cast<int64_t>(axis)) +
                     " in an operand of rank " + Twine(shapeOf(x).size()));
}

LogicalResult TypeRule::axes(ArrayRef<int64_t> axes, Value x) const {
  for (int64_t one : axes)
    if (failed(axis(one, x)))
      return failure();
  bool ascend = std::adjacent_find(axes.begin(), axes.end(),
                                   std::greater_equal<int64_t>()) == axes.end();
  return require(ascend, "has axes that do not ascend");
}

LogicalResult TypeRule::alike(ValueRange tensors) const {
  Type first;
  for (Value tensor : tensors) {
    if (!tensor)
      continue;
    if (first && elementOf(tensor) != first)
      return emitOptionalError(loc, "'", name,
                               "' op has operands of element types ", first,
                               " and ", elementOf(tensor));
    first = elementOf(tensor);
  }
  return success();
}

LogicalResult TypeRule::shape(Value x, ArrayRef<int64_t> shape,
                              StringRef what) {
  if (x && hasDynamicSizes(x.getType())) {
    unmet = "has " + what.str() + " of a size known only at run time";
    return success();
  }
  if (!x || shapeOf(x) == shape)
    return success();
  return emitOptionalError(loc, "'", name, "' op has ", what, " of ",
                           x.getType(), ", not of the shape [", shape, "]");
}

LogicalResult TypeRule::shape(Value x, ArrayRef<Dim> sizes,
                              StringRef what) const {
  if (!x || dimsOf(x) == Dims(sizes))
    return success();
  std::string text;
  for (const Dim &size : sizes)
    text += (text.empty() ? "" : ", ") + kernel::sizeText(size);
  return emitOptionalError(loc, "'", name, "' op has ", what, " of ",
                           x.getType(), ", not of the shape [", text, "]");
}

LogicalResult TypeRule::elementwise(ValueRange operands, ValueRange alike,
                                    Type element) {
  auto sizes = llvm::map_to_vector(
      operands, [](Value operand) { return dimsOf(operand); });
  std::optional<Dims> shape =
      broadcastShapes(SmallVector<ArrayRef<Dim>>(sizes.begin(), sizes.end()));
  if (!shape)
    return refuse("has operands that do not broadcast");
  if (failed(this->alike(alike)))
    return failure();
  return result(*shape, element);
}

LogicalResult TypeRule::along(uint64_t axis, Value x) {
  if (failed(this->axis(axis, x)))
    return failure();
  return result(x);
}

LogicalResult TypeRule::reduction(Value x, ArrayRef<int64_t> axes,
                                  Type element) {
  if (failed(this->axes(axes, x)))
    return failure();
  Dims sizes = dimsOf(x);
  return result(resized(sizes, axes, 1), element);
}

LogicalResult TypeRule::window(Value x, ArrayRef<Dim> kernel,
                               ArrayRef<int64_t> strides,
                               ArrayRef<int64_t> dilations,
                               ArrayRef<ArrayRef<int64_t>> pads, Type element,
                               std::optional<Dim> channels) {
  size_t rank = shapeOf(x).size();
  if (rank < 2 || stated().size() != rank)
    return refuse("has an input or a result that is not [N, spatial..., C]");
  auto fits = [&](const auto &list) { return list.size() == rank - 2; };
  auto positive = [](ArrayRef<int64_t> list) {
    return llvm::all_of(list, [](int64_t n) { return n > 0; });
  };
  if (!fits(kernel) || !fits(strides) || !fits(dilations) ||
      !llvm::all_of(pads, fits))
    return refuse("does not have one entry for each spatial axis everywhere");
  if (!llvm::all_of(kernel, [](const Dim &n) { return n.least() > 0; }) ||
      !positive(strides) || !positive(dilations))
    return refuse("has a kernel size, stride or dilation that is not positive");
  Dims sizes = dimsOf(x), result = statedDims();
  return this->result(windowShape(sizes, ArrayRef(result).slice(1, rank - 2),
                                  channels.value_or(sizes.back())),
                      element);
}

LogicalResult TypeRule::check() const {
  if (!unmet.empty())
    return refuse(unmet);
  for (auto [inferred, stated] : llvm::zip_equal(types, statedTypes))
    if (inferred != stated)
      return emitOptionalError(loc, "'", name, "' op has a result of ", stated,
                               " where its operands and attributes make ",
                               inferred);
  return success();
}

} // namespace ingot::graph
