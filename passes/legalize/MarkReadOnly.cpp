#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/TileRegisters.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/legalize/Passes.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_MARKREADONLY
#include "passes/legalize/Passes.h.inc"

static void markReadOnly(FunctionOpInterface kernel) {
  llvm::DenseSet<Value> written;
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.insert(kernel::bufferRoot(store.getMemRef()));
    else if (auto store = dyn_cast<vector::StoreOp>(op))
      written.insert(kernel::bufferRoot(store.getBase()));
    else if (auto store = dyn_cast<kernel::StoreVectorOp>(op))
      written.insert(kernel::bufferRoot(store.getTo()));
    else if (auto count = dyn_cast<kernel::CountOp>(op))
      written.insert(kernel::bufferRoot(count.getCounts()));
    else if (auto copy = dyn_cast<kernel::CopyAheadOp>(op))
      written.insert(kernel::bufferRoot(copy.getTo()));
    else if (auto store = dyn_cast<kernel::StoreTileOp>(op))
      written.insert(kernel::bufferRoot(store.getBuffer()));
    else if (auto call = dyn_cast<func::CallOp>(op))
      for (Value operand : call.getOperands())
        written.insert(operand);
    else if (auto call = dyn_cast<kernel::CallExternalOp>(op))
      for (Value output : call.getOutputs())
        written.insert(kernel::bufferRoot(output));
  });
  auto unit = UnitAttr::get(kernel.getContext());
  for (BlockArgument argument : kernel.getArguments())
    if (isa<MemRefType>(argument.getType()) && !written.contains(argument))
      kernel.setArgAttr(argument.getArgNumber(), kernel::kReadAttr, unit);
}

namespace {
struct MarkReadOnlyPass : impl::MarkReadOnlyBase<MarkReadOnlyPass> {
  using Base::Base;

  void runOnOperation() override {
    for (Operation &op : getOperation().getOps())
      if (isa<kernel::FuncOp, func::FuncOp>(op))
        markReadOnly(cast<FunctionOpInterface>(op));
  }
};
} // namespace

} // namespace ingot::legalize
