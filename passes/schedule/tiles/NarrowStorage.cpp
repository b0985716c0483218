#include "passes/schedule/tiles/NarrowStorage.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Returns the values of an f32 constant as integers; nothing if one of them is
/// -0.0 or not an integer of a magnitude below 2^31, or if the constant has
/// another type or no data.
static std::optional<SmallVector<int64_t>> wholeNumbersOf(ConstantOp constant) {
  if (!elementOf(constant.getResult()).isF32() || !hasData(constant.getValue()))
    return std::nullopt;
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(constant.getValue(), storage);
  SmallVector<int64_t> numbers;
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    // Integers have no negative zero.
    if (!(std::abs(number) < 0x1p31f) || number != std::trunc(number) ||
        (number == 0 && std::signbit(number)))
      return std::nullopt;
    numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

/// Creates a constant with `numbers` as integers of `bits` bits, in the shape
/// of `constant`.
static Value inBits(ConstantOp constant, ArrayRef<int64_t> numbers,
                    unsigned bits) {
  std::vector<char> bytes;
  for (int64_t number : numbers)
    for (unsigned bit = 0; bit < bits; bit += 8)
      bytes.push_back(static_cast<char>(number >> bit));
  OpBuilder builder(constant);
  auto type =
      RankedTensorType::get(shapeOf(constant.getResult()),
                            builder.getIntegerType(bits, /*isSigned=*/true));
  return ConstantOp::create(
      builder, constant.getLoc(),
      elementsFromBytes(type, std::move(bytes), "weights"));
}

void storeNarrow(GroupOp group, OpOperand &use) {
  auto argument = dyn_cast<BlockArgument>(use.get());
  if (!argument || !argument.hasOneUse())
    return;
  auto constant =
      group.getInputs()[argument.getArgNumber()].getDefiningOp<ConstantOp>();
  if (!constant || !constant->hasOneUse())
    return;
  auto numbers = wholeNumbersOf(constant);
  auto fit = [&](unsigned bits) {
    return numbers && llvm::all_of(*numbers, [&](int64_t number) {
             return llvm::isIntN(bits, number);
           });
  };
  if (!fit(16))
    return;
  Type floats = argument.getType();
  Value stored = inBits(constant, *numbers, fit(8) ? 8 : 16);
  constant->getResult(0).replaceAllUsesWith(stored);
  constant.erase();
  argument.setType(stored.getType());
  OpBuilder builder(use.getOwner());
  use.set(CastOp::create(builder, use.getOwner()->getLoc(), floats, argument));
}

StoredOperand::StoredOperand(KernelBuilder &b, Value operand,
                             ArrayRef<int64_t> shape)
    : b(b), type(elementOf(operand)) {
  if (auto cast = operand.getDefiningOp<CastOp>())
    operand = cast.getX();
  storedType = elementOf(operand);
  buffer = b.view(b.bufferOf(operand), shape);
}

Expr StoredOperand::load(ArrayRef<Expr> at) const {
  return convert(b.loadFrom(buffer, storedType, at), type);
}

} // namespace ingot::schedule
