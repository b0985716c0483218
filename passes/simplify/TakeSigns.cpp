// Chooses signed or unsigned 8-bit activations for the target's dot products.
//
// If the target multiplies the weights with 8-bit integers of one signedness
// only, activations get this signedness where they are quantized
// (SignedBytes.h):
//
//   %q = quantize(x, s, -12: si8)                    %q = quantize(x, s, 116: ui8)
//   conv(dequantize(%q, s, -12), w: si8)     ->      conv(dequantize(%q, s, 116), w: si8)
//
// If the target has no dot products of 8-bit integers, but sums pairs of products
// of uint8 by int8 in 16 bits, activations that are multiplied with weights of
// at most 7 bits become unsigned (see MarkShortSums.h).
//
// The pass precedes WidenContractions, which decides which contractions use
// int8. Otherwise each contraction would convert the signedness of its input
// (FormIntegerDots), and depthwise convolutions would be computed in floats.
//
// The pass does nothing for devices, nor for cores that multiply int8 in core
// registers: for such cores, AgreeSigns compares the cycles with either
// signedness.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/DotLane.h"
#include "passes/simplify/Moves.h"
#include "passes/simplify/OtherSign.h"
#include "passes/simplify/Passes.h"
#include "passes/simplify/SignedBytes.h"
#include "targets/TargetDescription.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_TAKESIGNS
#include "passes/simplify/Passes.h.inc"

namespace {

bool isByte(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() == 8 && !integer.isSignless();
}

/// Constant 8-bit weights of a contraction.
struct Weights {
  /// The integer type in which contractions read the weights; null for other
  /// operands. For unsigned weights with zero point 128, this is the signed
  /// type, since WidenContractions makes such weights signed.
  Type type;
  ElementsAttr values;

  explicit Weights(Value operand) {
    auto dequantize = Moves::behind(operand).from.getDefiningOp<DequantizeOp>();
    if (!dequantize || !isByte(elementOf(dequantize.getX())))
      return;
    auto constant =
        Moves::behind(dequantize.getX()).from.getDefiningOp<ConstantOp>();
    if (!constant)
      return;
    values = constant.getValue();
    type = elementOf(dequantize.getX());
    if (oneNumberOf(dequantize.getZero()) == 128)
      type = otherSign(type);
  }

  /// Whether no signed weight exceeds 64 in magnitude.
  bool haveSevenBits() const {
    if (!type.isSignedInteger(8) || !hasData(values))
      return false;
    // The difference between a stored element and the weight: 0 or 128.
    uint8_t zero = values.getElementType() == type ? 0 : 128;
    std::vector<char> storage;
    return llvm::all_of(elementBytes(values, storage), [&](char element) {
      return std::abs(int8_t(uint8_t(element) - zero)) <= 64;
    });
  }
};

/// Whether the contraction of unsigned activations with `weights` can sum
/// products in 16 bits.
bool sumsInHalves(Operation *contraction, const Weights &weights,
                  const TargetDescription &target) {
  auto conv = dyn_cast<ConvOp>(contraction);
  std::string name = kernel::dotInHalves("ui8", "si8");
  return (!conv || conv.getGroups() == 1) &&
         llvm::any_of(target.intrinsics,
                      [&](const Intrinsic &row) { return row.op == name; }) &&
         weights.haveSevenBits();
}

struct TakeSignsPass : impl::TakeSignsBase<TakeSignsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (target.coreRegisters)
      return;
    llvm::DenseSet<Value> seen;
    SmallVector<Value> quantized;
    getOperation().walk([&](QuantizeOp op) {
      if (isByte(elementOf(op.getResult())))
        quantized.push_back(op.getResult());
    });
    for (Value v : quantized) {
      if (seen.contains(v))
        continue;
      SignedBytes bytes(v, [](OpOperand &) { return false; });
      seen.insert_range(bytes.all());
      if (bytes.mayChange() && isBetter(bytes, elementOf(v), target))
        bytes.change([](OpOperand &) {});
    }
  }

private:
  /// Whether the target has dot products for activations of type `type`.
  static bool takes(Operation *contraction, Type type, const Weights &weights,
                    const TargetDescription &target) {
    return weights.type && (target.hasInt8Dot(type, weights.type) ||
                            (type.isUnsignedInteger(8) &&
                             sumsInHalves(contraction, weights, target)));
  }

  /// Whether a contraction of `bytes` with weights needs the other signedness,
  /// and no contraction needs the present one.
  static bool isBetter(const SignedBytes &bytes, Type own,
                       const TargetDescription &target) {
    bool wantsOther = false, wantsOwn = false;
    auto ask = [&](OpOperand &use) {
      Operation *op = use.getOwner();
      if (!isa<ConvOp, MatMulOp>(op))
        return;
      // If a tensor is the right operand of a contraction, it plays the role of
      // the weights and must keep its signedness.
      if (use.getOperandNumber() != 0) {
        wantsOwn = true;
        return;
      }
      Weights weights(op->getOperand(1));
      bool takesOwn = takes(op, own, weights, target),
           takesOther = takes(op, bytes.other(), weights, target);
      wantsOther |= takesOther && !takesOwn;
      wantsOwn |= !weights.type || (takesOwn && !takesOther);
    };
    for (Value v : bytes.all())
      for (Operation *reader : v.getUsers())
        if (auto dequantize = dyn_cast<DequantizeOp>(reader))
          overReaders(dequantize.getResult(), ask);
    return wantsOther && !wantsOwn;
  }

  /// Calls `body` for each use of `v`, and of the results of transposes and
  /// reshapes of `v`.
  static void overReaders(Value v, llvm::function_ref<void(OpOperand &)> body) {
    for (OpOperand &use : v.getUses()) {
      if (isa<TransposeOp, ReshapeOp>(use.getOwner()))
        overReaders(use.getOwner()->getResult(0), body);
      else
        body(use);
    }
  }
};

} // namespace
} // namespace ingot::simplify
