// Any group, element by element.
//
// Loops over the result; each element is pulled through the group. Vectors run
// along the last axis where every operator on the way passes lanes. What is refilled
// at last, into one axis, is computed along its own axes: each element has its number
// among all.

#include "passes/schedule/Strategy.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class LoopNestStrategy : public Strategy {
public:
  bool matches(GroupView group, const TargetDescription &) const override {
    return group.results().size() == 1;
  }

  bool takesRunTimeSizes() const override { return true; }
  bool takesDevices() const override { return true; }

  void emit(KernelBuilder &b) const override {
    Value result = b.result();
    RefillOp refill = refilled(result);
    if (refill)
      result = refill.getX();
    Dims shape = dimsOf(result);
    if (tensorType(result).getNumElements() == 0)
      return;
    Type type = elementOf(result);
    int64_t widest = 1;
    if (passLanes(b.group, refill)) {
      widest = 0;
      // All operators in lanes: the widest element type limits their number.
      for (Operation &op : b.group.block->without_terminator())
        for (Value v : llvm::concat<Value>(op.getOperands(), op.getResults()))
          type = b.decidingLanes(type, elementOf(v));
      if (computeType(type).isInteger(1))
        type = IntegerType::get(type.getContext(), 8);
    }
    if (b.target.isDevice())
      return b.forIndependent(shape, [&](ArrayRef<Expr> at) {
        for (auto [axis, i] : llvm::enumerate(at))
          named(i, nameOf(b, axis));
        Expr element = b.load(result, at);
        b.store(0u, element,
                refill ? Exprs{b.linearize(at, shape)} : Exprs(at));
      });
    Dim last = shape.empty() ? Dim(1) : shape.back();
    b.forIndependent(ArrayRef(shape).drop_back(shape.empty() ? 0 : 1),
                     [&](ArrayRef<Expr> outer) {
                       for (auto [axis, i] : llvm::enumerate(outer))
                         named(i, nameOf(b, axis));
                       auto body = [&](Expr i, int64_t) {
                         Exprs at(outer);
                         if (!shape.empty())
                           at.push_back(named(i, nameOf(b, shape.size() - 1)));
                         Expr element = b.load(result, at);
                         if (refill)
                           at = {b.linearize(at, shape)};
                         b.store(0u, element, at);
                       };
                       if (widest == 0 && takesPieces(b) && last.known())
                         forPieces(b, *last.known(), body);
                       else
                         b.forLanes(last, type, body, widest);
                     });
  }

private:
  /// Whether bytes are moved, and at most compared, on a target that computes in whole
  /// registers: parts of one can be copied by other registers, and half of one is
  /// loaded and stored well enough.
  static bool takesPieces(KernelBuilder &b) {
    return b.target.wholeRegisters &&
           llvm::all_of(b.group.block->without_terminator(), [](Operation &op) {
             return (isa<ConstantOp>(op) || isCopy(op) || isa<MaxPoolOp>(op)) &&
                    storageType(elementOf(op.getResult(0))).isInteger(8);
           });
  }
  static bool isCopy(Operation &op) {
    return isa<PadOp, TransposeOp, SliceOp, ConcatOp>(op) ||
           (isa<ReshapeOp>(op) &&
            shapeOf(op.getOperand(0)) == shapeOf(op.getResult(0)));
  }

  /// Calls `body` for [0, size) in vectors of bytes, each half as wide as the one
  /// before; what is computed from only as far as half a register.
  static void forPieces(KernelBuilder &b, int64_t size,
                        llvm::function_ref<void(Expr, int64_t)> body) {
    int64_t at = 0, widest = b.target.vectorBytes.front();
    bool copies =
        llvm::all_of(b.group.block->without_terminator(), [](Operation &op) {
          return isa<ConstantOp>(op) || isCopy(op);
        });
    for (int64_t lanes = widest; at < size;
         lanes = copies || lanes == widest ? lanes / 2 : 1) {
      int64_t end = size / lanes * lanes;
      if (at == end)
        continue;
      b.withLanes(lanes, [&]() -> Expr {
        if (at + lanes == end)
          body(b.index(at), lanes);
        else
          b.loop(b.index(at), b.index(end), lanes, {},
                 [&](Expr i, ArrayRef<Expr>) -> Exprs {
                   body(i, lanes);
                   return {};
                 });
        return {};
      });
      at = end;
    }
  }

  /// Convolutions and pools yield images, channels last.
  static std::string nameOf(KernelBuilder &b, size_t axis) {
    size_t rank = shapeOf(b.result()).size();
    bool isImage =
        isa_and_nonnull<ConvOp, ConvTransposeOp, MaxPoolOp, AveragePoolOp>(
            b.group.anchor());
    return isImage ? imageAxisName(axis, rank) : axisName(axis, rank);
  }

  /// The refill into one axis that yields the result; null if another operator does.
  static RefillOp refilled(Value result) {
    auto refill = result.getDefiningOp<RefillOp>();
    return refill && shapeOf(result).size() == 1 ? refill : RefillOp();
  }

  static bool passLanes(GroupView group, Operation *last) {
    return llvm::all_of(group.block->without_terminator(), [&](Operation &op) {
      auto element = dyn_cast<ElementOpInterface>(op);
      return &op == last || !element || element.passesLanes();
    });
  }
};

} // namespace

std::unique_ptr<Strategy> createLoopNestStrategy() {
  return std::make_unique<LoopNestStrategy>();
}

} // namespace ingot::schedule
