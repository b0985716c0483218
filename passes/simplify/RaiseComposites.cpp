// Raises chains of operators into which exporters decompose one operator.
//
//   %m = reduce_mean(%x)   %d = sub(%x, %m)   %v = reduce_mean(mul(%d, %d))
//   %y = div(%d, sqrt(add(%v, 1e-5)))
//     ->  %y = layer_norm(%x) {epsilon = 1e-5, center}
//
// Raises layer and root-mean-square normalization, softmax, and the activations
// GELU, SiLU, mish, hard swish, sigmoid and softplus, in the forms in which
// PyTorch, TensorFlow and Keras export them to opsets without these operators.
// The patterns match operands of sums and products in any order, squares as
// powers or products, and roots as reciprocals or powers. A composite is raised
// only if no intermediate value has other users.
//
// The raised operator sums and rounds in another order, so --strict omits this
// pass. Attention is not raised: it stays a chain of matmuls and softmax.

#include "passes/simplify/RaiseComposites.h"
#include "dialects/graph/ops/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_RAISECOMPOSITES
#include "passes/simplify/Passes.h.inc"

bool Matched::isPrivateTo(Operation *root) const {
  return llvm::all_of(operations, [&](Operation *op) {
    return op == root || llvm::all_of(op->getUsers(), [&](Operation *user) {
             return user == root || operations.contains(user);
           });
  });
}

Location Matched::location(OpBuilder &builder) const {
  SmallVector<Operation *> ordered(operations.begin(), operations.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<Location> locations;
  for (Operation *op : ordered)
    locations.push_back(op->getLoc());
  return builder.getFusedLoc(locations);
}

bool isAbout(double value, double number, Value like) {
  Type type = elementOf(like);
  double digits = type.isF64()   ? 1e-12
                  : type.isF32() ? 1e-5
                  : type.isF16() ? 2e-3
                                 : 1e-2;
  return std::abs(value - number) <= digits * std::abs(number);
}

bool isAbout(Value v, double number) {
  std::optional<double> value = uniformNumber(v);
  return value && isAbout(*value, number, v);
}

bool fitsAttribute(double number, Value like) {
  return !elementOf(like).isF64() ||
         static_cast<double>(static_cast<float>(number)) == number;
}

Value squareOf(Value v, Matched &matched) {
  if (auto power = matched.take<PowOp>(v))
    return isUniform(power->getOperand(1), 2.0) ? power->getOperand(0)
                                                : Value();
  if (auto product = matched.take<MulOp>(v))
    return product->getOperand(0) == product->getOperand(1)
               ? product->getOperand(0)
               : Value();
  return {};
}

namespace {

struct RaiseCompositesPass : impl::RaiseCompositesBase<RaiseCompositesPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateActivationPatterns(patterns);
    populateNormalizationPatterns(patterns);
    populateSoftmaxPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot::simplify
