#include "passes/schedule/tiles/JoinedRows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Bitcasts a vector to a vector with elements of type `element`.
static Expr inLanes(KernelBuilder &b, Expr vector, Type element) {
  auto type = cast<VectorType>(vector.value.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  auto other =
      VectorType::get({bits / element.getIntOrFloatBitWidth()}, element);
  return b.wrap(
      vector::BitCastOp::create(b.builder, b.loc, other, vector.value),
      vector.type);
}

Expr joined(KernelBuilder &b, Exprs vectors) {
  if (vectors.size() == 1)
    return vectors[0];
  if (!isa<VectorType>(vectors[0].value.getType())) {
    auto type =
        VectorType::get(int64_t(vectors.size()), vectors[0].value.getType());
    auto values = llvm::map_to_vector(vectors, [](Expr x) { return x.value; });
    return b.wrap(
        vector::FromElementsOp::create(b.builder, b.loc, type, values),
        vectors[0].type);
  }
  // Join the vectors as vectors of 32-bit words: if a vector of int8 that is
  // shorter than half a register is repeated, clang 22 wrongly fills the first
  // word with four copies of its lowest byte.
  auto type = cast<VectorType>(vectors[0].value.getType());
  Type element = type.getElementType(), word = b.builder.getI32Type();
  int64_t bits = element.getIntOrFloatBitWidth();
  if (bits < 32 && type.getNumElements() * bits % 32 == 0) {
    Exprs words = llvm::map_to_vector(
        vectors, [&](Expr vector) { return inLanes(b, vector, word); });
    return inLanes(b, joined(b, words), element);
  }
  while (vectors.size() > 1) {
    int64_t lanes =
        cast<VectorType>(vectors[0].value.getType()).getNumElements();
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    Exprs pairs;
    for (size_t i = 0; i < vectors.size(); i += 2)
      pairs.push_back(
          {&b,
           vector::ShuffleOp::create(b.builder, b.loc, vectors[i].value,
                                     vectors[i + 1].value, all),
           vectors[i].type});
    vectors = std::move(pairs);
  }
  return vectors[0];
}

bool epilogueIsInVectors(KernelBuilder &b) {
  return llvm::all_of(b.group.block->without_terminator(), [&](Operation &op) {
    return !isa<ElementwiseOpInterface>(op) ||
           llvm::all_of(llvm::concat<Value>(op.getOperands(), op.getResults()),
                        [&](Value v) {
                          return b.target.maxLanes(computeType(elementOf(v))) >
                                 1;
                        });
  });
}

JoinedRows::JoinedRows(KernelBuilder &b, Value anchor)
    : b(b), width(shapeOf(b.result()).back()) {
  isPossible = b.target.wholeRegisters && b.isContiguous(0) &&
               epilogueIsInVectors(b) && classify(anchor);
}

int64_t JoinedRows::most(int64_t left) const {
  int64_t lanes = b.target.maxLanes(computeType(elementOf(b.result())));
  // With fewer columns, joining rows does not make up for the cost of the
  // shuffles.
  constexpr int64_t fewColumns = 4;
  if (!isPossible || 2 * pitch() > lanes || width < fewColumns)
    return 0;
  int64_t count = llvm::bit_floor(uint64_t(std::min(left, lanes / pitch())));
  return count > 1 || hasGaps() ? count : 0;
}

/// Sorts the epilogue's operands into `whole` (with the result's shape),
/// `perColumn` and `perRow` (with one element per column or row). Returns false
/// if rows cannot be joined, for example because an operand has another shape.
bool JoinedRows::classify(Value anchor) {
  ArrayRef<int64_t> shape = shapeOf(b.result());
  if (shapeOf(anchor) != shape || hasDynamicSizes(anchor.getDefiningOp()))
    return false;
  llvm::SmallDenseSet<Value> read;
  for (Operation &op : b.group.block->without_terminator()) {
    if (isa<ConstantOp, UnpackPanelsOp, RestoreKernelOp>(op))
      continue;
    if (&op == anchor.getDefiningOp()) {
      if (auto conv = dyn_cast<ConvOp>(op); conv && conv.getBias())
        read.insert(conv.getBias());
      continue;
    }
    if (!isa<ElementwiseOpInterface>(op))
      return false;
    read.insert(op.operand_begin(), op.operand_end());
  }
  int64_t all = ShapedType::getNumElements(shape), rows = all / width;
  for (BlockArgument input : b.group.block->getArguments()) {
    if (!read.contains(input))
      continue;
    int64_t count = tensorType(input).getNumElements();
    if (count == 1)
      continue;
    if (shapeOf(input) == shape) {
      whole.push_back(input);
      if (hasGaps() && !b.bufferOf(input))
        return false;
      continue;
    }
    int64_t last = shapeOf(input).back();
    if (!b.bufferOf(input))
      return false;
    if (last == width && count == width)
      perColumn.push_back(input);
    else if (last == 1 && count == rows &&
             shapeOf(input).size() == shape.size())
      perRow.push_back(input);
    else
      return false;
  }
  return true;
}

void JoinedRows::bindColumns(int64_t rows) {
  for (Value input : perColumn) {
    Value flat = b.view(b.bufferOf(input), {width});
    // Load the columns in parts whose number of lanes is a power of two.
    int64_t lanes = width & -width;
    Exprs once;
    for (int64_t at = 0; at < width; at += lanes)
      once.push_back(b.withLanes(lanes, [&] {
        return b.loadFrom(flat, elementOf(input), {b.index(at)});
      }));
    once.resize(pitch() / lanes, once.back());
    b.bindElement(input, joined(b, Exprs(rows, joined(b, once))));
  }
}

void JoinedRows::bindRows(int64_t rows,
                          llvm::function_ref<Exprs(int64_t)> index) {
  for (Value input : perRow) {
    Exprs parts;
    for (int64_t row = 0; row < rows; ++row) {
      Expr one = b.withLanes(1, [&] {
        Exprs at = index(row);
        Value buffer = b.bufferOf(input);
        if (at.size() == shapeOf(input).size()) {
          at.back() = b.index(0);
        } else {
          buffer = b.view(buffer, {tensorType(input).getNumElements()});
          at.resize(1);
        }
        return b.loadFrom(buffer, elementOf(input), at);
      });
      parts.push_back(b.broadcast(one, pitch()));
    }
    b.bindElement(input, joined(b, parts));
  }
}

void JoinedRows::bindWhole(int64_t rows, Expr first) {
  int64_t lanes = part(rows), second = secondPart(rows);
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < rows * pitch(); ++lane) {
    int64_t column = std::min(lane % pitch(), width - 1),
            at = lane / pitch() * width + column;
    order.push_back(at < lanes ? at : lanes + at - second);
  }
  for (Value input : whole) {
    Value flat =
        b.view(b.bufferOf(input), {tensorType(input).getNumElements()});
    auto load = [&](int64_t from) {
      return b.withLanes(lanes, [&] {
        return b.loadFrom(flat, elementOf(input), {first + double(from)});
      });
    };
    Expr low = load(0), high = load(second);
    b.bindElement(input,
                  b.wrap(vector::ShuffleOp::create(b.builder, b.loc, low.value,
                                                   high.value, order),
                         low.type));
  }
}

void JoinedRows::store(int64_t rows, Expr results, Expr first) {
  Value flat = b.view(b.outputs[0], {tensorType(b.result()).getNumElements()});
  for (int64_t from : {int64_t(0), secondPart(rows)}) {
    SmallVector<int64_t> order;
    for (int64_t at = from; at < from + part(rows); ++at)
      order.push_back(at / width * pitch() + at % width);
    b.withLanes(part(rows), [&] {
      Expr some =
          b.wrap(vector::ShuffleOp::create(b.builder, b.loc, results.value,
                                           results.value, order),
                 results.type);
      b.store(flat, some, {first + double(from)});
      return some;
    });
  }
}

void JoinedRows::unbind() {
  for (Value input : llvm::concat<Value>(perColumn, perRow))
    b.unbindElement(input);
  if (hasGaps())
    for (Value input : whole)
      b.unbindElement(input);
}

} // namespace ingot::schedule
