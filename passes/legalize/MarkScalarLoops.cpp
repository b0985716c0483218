// Marks the loops that the target's C++ compiler would vectorize wrongly.
//
//   scf.for %i = 0 to 16 {               // rows of 32 floats: 128 bytes
//     %v = memref.load %x[%i, %c0]
//       ->
//   scf.for %i = 0 to 16 {
//     %v = memref.load %x[%i, %c0]
//   } {kernel.scalar}

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/legalize/Passes.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_MARKSCALARLOOPS
#include "passes/legalize/Passes.h.inc"

/// Returns by how much the index `v` grows if `counter` grows by 1; nothing if
/// that is not known.
static std::optional<int64_t> growthOf(Value v, Value counter) {
  if (v == counter)
    return 1;
  Operation *op = v.getDefiningOp();
  if (!op || !counter.getParentRegion()->isAncestor(op->getParentRegion()))
    return 0;
  if (isa<arith::ConstantOp>(op))
    return 0;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> a = growthOf(op->getOperand(0), counter),
                         b = growthOf(op->getOperand(1), counter);
  if (!a || !b)
    return std::nullopt;
  if (!isa<arith::MulIOp>(op))
    return isa<arith::AddIOp>(op) ? *a + *b : *a - *b;
  APInt factor;
  if (*a == 0 && *b == 0)
    return 0;
  if (matchPattern(op->getOperand(1), m_ConstantInt(&factor)))
    return *a * factor.getSExtValue();
  if (matchPattern(op->getOperand(0), m_ConstantInt(&factor)))
    return *b * factor.getSExtValue();
  return std::nullopt;
}

/// Whether consecutive iterations of `loop` access 32-bit elements whose
/// distance is, or might be, `stride` bytes.
static bool mayHaveStride(scf::ForOp loop, int64_t stride) {
  auto mayDiffer = [&](Value buffer, ValueRange indices) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!type.getElementType().isIntOrFloat() ||
        type.getElementTypeBitWidth() != 32)
      return false;
    APInt step;
    SmallVector<int64_t> strides;
    int64_t offset, distance = 0;
    if (loop.getRegion().isAncestor(buffer.getParentRegion()) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
        failed(type.getStridesAndOffset(strides, offset)))
      return true;
    for (auto [index, elements] : llvm::zip_equal(indices, strides)) {
      std::optional<int64_t> growth = growthOf(index, loop.getInductionVar());
      if (!growth || (*growth != 0 && ShapedType::isDynamic(elements)))
        return true;
      distance += *growth == 0 ? 0 : *growth * elements;
    }
    return std::abs(distance * step.getSExtValue() * 4) == stride;
  };
  return loop
      .walk([&](Operation *op) {
        auto load = dyn_cast<memref::LoadOp>(op);
        auto store = dyn_cast<memref::StoreOp>(op);
        return (load && mayDiffer(load.getMemRef(), load.getIndices())) ||
                       (store &&
                        mayDiffer(store.getMemRef(), store.getIndices()))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct MarkScalarLoopsPass : impl::MarkScalarLoopsBase<MarkScalarLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    int64_t stride = lookupTarget(targetName)->faultyStride;
    if (stride == 0)
      return;
    getOperation().walk([&](scf::ForOp loop) {
      if (mayHaveStride(loop, stride))
        loop->setAttr(kernel::kScalarAttr, UnitAttr::get(&getContext()));
    });
  }
};
} // namespace

} // namespace ingot::legalize
