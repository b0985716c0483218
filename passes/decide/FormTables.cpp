// Replaces elementwise functions of 8-bit integers by lookup tables.
//
//   x: ui8 -> dequantize -> sigmoid -> mul with dequantize(x) -> quantize: ui8
//     ->  gather(table of 256 bytes, x)
//
// This is for targets with an instruction that looks up all 8-bit indices in a
// register at once. The table is computed by applying the operator chain to all
// 256 values and folding the result like any other constant, so results are
// bit-identical. All other operands of the chain must be scalar constants. On
// targets that scale integers without floats, a sum of scaled integers is not
// replaced unless the option `strict` is set: FormIntegerScales merges it into
// its user or producer.

#include "dialects/graph/GraphDialect.h"
#include "passes/decide/ElementOperators.h"
#include "passes/decide/IntegerSums.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Tables.h"

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

/// The elementwise operators between an 8-bit tensor and a quantization, which
/// one lookup table may replace.
class ByteFunction {
public:
  explicit ByteFunction(QuantizeOp last)
      : last(last), operators(shapeOf(last.getResult())) {}

  /// Finds the 8-bit tensor that is the input of the function, and the
  /// operators of the function, which depend on this tensor and constants only.
  /// If there are several such tensors, takes the first one in the network, but
  /// does not search beyond a tensor that other operators read as well. Returns
  /// whether there is such a tensor.
  bool find() {
    if (!isByte(last.getResult()) || hasDynamicSizes(last) ||
        shapeOf(last.getResult()).empty())
      return false;
    ElementOperators seen = operators;
    if (!seen.enter(last))
      return false;
    while (!seen.open.empty()) {
      if (seen.open.size() == 1 && isByte(seen.open.front())) {
        bytes = seen.open.front();
        operators = seen;
        // Stops at a tensor that other operators read too: it is computed
        // anyway.
        if (!llvm::all_of(bytes.getUsers(),
                          [&](Operation *user) { return seen.contains(user); }))
          break;
      }
      if (!seen.enterNext())
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
    SmallVector<APInt> all;
    for (int64_t byte = 0; byte < count; ++byte)
      all.push_back(APInt(8, byte));
    Value samples = ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get(shape, elementOf(bytes)),
                               all));
    Operation *onAll = operators.copyFor(builder, bytes, samples).back();
    Value table = ReshapeOp::create(builder, loc, onAll->getResult(0),
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
  QuantizeOp last;
  Value bytes;
  ElementOperators operators;
};

struct FormTablesPass : impl::FormTablesBase<FormTablesPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!schedule::looksUpBytes(target))
      return;
    // Visits later quantizations first. After a replacement, the operators that
    // the table replaces have no users.
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
