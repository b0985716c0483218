// Functions from bytes to bytes as tables.
//
//   x: ui8 -> dequantize -> sigmoid -> mul with dequantize(x) -> quantize: ui8
//     ->  gather(table of 256 bytes, x)
//
// For targets that look up a register of bytes at once. The table is the chain itself on all
// bytes, which is folded like any other constant: results are the same bits. All operands
// but the bytes have to be single numbers. Where scales are integers, what is a sum of
// scaled integers stays one: its reader, or the kernel before it, takes it in
// (FormIntegerScales).

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/decide/IntegerSums.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Tables.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMTABLES
#include "passes/decide/Passes.h.inc"

namespace {

bool isByte(Value v) {
  Type type = elementOf(v);
  return type.isUnsignedInteger(8) || type.isSignedInteger(8);
}

/// The operators from bytes to a quantization.
class ByteFunction {
public:
  explicit ByteFunction(QuantizeOp last) : last(last) {}

  /// Finds the bytes that all of it is computed from, as far away as can be.
  bool find() {
    if (!isByte(last.getResult()) || hasRunTimeSizes(last) ||
        shapeOf(last.getResult()).empty())
      return false;
    llvm::SetVector<Operation *> seen;
    llvm::SetVector<Value> open;
    if (!enter(last, seen, open))
      return false;
    while (!open.empty()) {
      if (open.size() == 1 && isByte(open.front())) {
        bytes = open.front();
        operators = seen;
        // Others read these bytes, which are computed anyway.
        if (!llvm::all_of(bytes.getUsers(),
                          [&](Operation *user) { return seen.contains(user); }))
          break;
      }
      // The last one, so that all that reads it has been seen.
      Value next = *llvm::max_element(open, [](Value a, Value b) {
        Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
        return opB && (!opA || opA->isBeforeInBlock(opB));
      });
      open.remove(next);
      if (!next.getDefiningOp() || seen.size() == mostOperators ||
          !enter(next.getDefiningOp(), seen, open))
        break;
    }
    return static_cast<bool>(bytes);
  }

  void replace() {
    OpBuilder builder(last);
    Location loc = last.getLoc();
    constexpr int64_t count = schedule::tableBytes;
    SmallVector<int64_t> shape(shapeOf(last.getResult()).size(), 1);
    shape.back() = count;
    auto like = [&](Value v) {
      return RankedTensorType::get(shape, elementOf(v));
    };
    SmallVector<APInt> all;
    for (int64_t byte = 0; byte < count; ++byte)
      all.push_back(APInt(8, byte));
    IRMapping mapping;
    mapping.map(bytes,
                ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(like(bytes), all))
                    .getResult());
    auto ordered = llvm::to_vector(operators);
    llvm::sort(ordered, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    SmallVector<Location> locations;
    for (Operation *op : ordered) {
      locations.push_back(op->getLoc());
      Operation *clone = builder.clone(*op, mapping);
      clone->getResult(0).setType(like(op->getResult(0)));
    }
    Value table =
              ReshapeOp::create(builder, loc, mapping.lookup(last.getResult()),
                                ArrayRef<int64_t>(count)),
          places = bytes;
    Type byte = builder.getIntegerType(8, /*isSigned=*/false);
    if (elementOf(bytes) != byte)
      places =
          BitCastOp::create(builder, loc, tensorOf(dimsOf(bytes), byte), bytes);
    last.replaceAllUsesWith(GatherOp::create(builder, loc, table, places,
                                             /*axis=*/0,
                                             /*in_range=*/true)
                                .getResult());
  }

private:
  static constexpr size_t mostOperators = 64;

  /// Adds an operator and what it reads, unless that is no function of single elements.
  bool enter(Operation *op, llvm::SetVector<Operation *> &seen,
             llvm::SetVector<Value> &open) {
    if (!isa<ElementwiseOpInterface>(op) ||
        shapeOf(op->getResult(0)) != shapeOf(last.getResult()))
      return false;
    for (Value operand : op->getOperands()) {
      if (operand.getDefiningOp<ConstantOp>() &&
          tensorType(operand).getNumElements() == 1)
        continue;
      if (shapeOf(operand) != shapeOf(last.getResult()))
        return false;
      open.insert(operand);
    }
    seen.insert(op);
    return true;
  }

  QuantizeOp last;
  Value bytes;
  llvm::SetVector<Operation *> operators;
};

struct FormTablesPass : impl::FormTablesBase<FormTablesPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!schedule::looksUpBytes(target))
      return;
    // The last ones first: what others go through is not asked any more.
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(getOperation().getBody().front()))) {
      auto last = dyn_cast<QuantizeOp>(op);
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      if (!last)
        continue;
      bool isSum = !strict && target.scalesIntegers &&
                   readSum(last.getX(), Numbers::of(1.0));
      ByteFunction function(last);
      if (!isSum && function.find()) {
        function.replace();
        op.erase();
      }
    }
  }
};

} // namespace
} // namespace ingot::decide
