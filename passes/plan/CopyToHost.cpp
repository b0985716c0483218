// Inserts copies between device and host memory.
//
// In a program for a GPU, a kernel without threads runs on the host (the stage
// `schedule` decides this). It reads copies in host memory, and its results are
// copied back for kernels on the device. {second_memory} means host memory
// here:
//
//   %a = launch @wide(%x)          %a = launch @wide(%x)
//   %b = launch @serial(%a)   ->   %h = copy %a {second_memory}
//   %y = launch @wide(%b)          %k = launch @serial(%h) {second_memory}
//                                  %b = copy %k
//                                  %y = launch @wide(%b)
//
// A tensor is copied once, as a whole; its views become views of the copy. Host
// kernels and operations that read sizes use the results of other host kernels
// without a copy. Programs that are called by other programs (bodies of ifs and
// loops) copy their arguments and results.

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/HostOps.h"
#include "passes/plan/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::plan {
#define GEN_PASS_DEF_COPYTOHOST
#include "passes/plan/Passes.h.inc"

namespace {

class HostCopies {
public:
  explicit HostCopies(kernel::ProgramOp program) : builder(program) {}

  void bridge(kernel::LaunchOp launch) {
    launch.setSecondMemory(true);
    for (OpOperand &operand : launch->getOpOperands()) {
      builder.setInsertionPoint(launch);
      operand.set(onHost(operand.get()));
    }
    builder.setInsertionPointAfter(launch);
    for (Value result : launch.getResults()) {
      auto isOfDevice = [](OpOperand &use) {
        return !isa<kernel::ReadSizesOp>(use.getOwner());
      };
      if (llvm::none_of(result.getUses(), isOfDevice))
        continue;
      auto copy = kernel::CopyOp::create(builder, launch.getLoc(),
                                         result.getType(), result, Value(),
                                         /*secondMemory=*/false, {});
      result.replaceUsesWithIf(copy.getResult(), [&](OpOperand &use) {
        return use.getOwner() != copy && isOfDevice(use);
      });
      known[copy.getResult()] = result;
    }
  }

private:
  Value onHost(Value value) {
    if (Value there = known.lookup(value))
      return there;
    Operation *op = value.getDefiningOp();
    Value there;
    if (isa_and_nonnull<ReshapeOp, SliceOp>(op)) {
      Value whole = onHost(op->getOperand(0));
      Operation *view = builder.clone(*op);
      view->setOperand(0, whole);
      there = view->getResult(0);
    } else {
      there = kernel::CopyOp::create(builder, value.getLoc(), value.getType(),
                                     value, Value(), /*secondMemory=*/true, {})
                  .getResult();
    }
    return known[value] = there;
  }

  OpBuilder builder;
  /// Maps tensors in device memory to equal tensors in host memory.
  llvm::DenseMap<Value, Value> known;
};

struct CopyToHostPass : impl::CopyToHostBase<CopyToHostPass> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      HostCopies copies(program);
      for (auto launch :
           llvm::make_early_inc_range(program.getOps<kernel::LaunchOp>()))
        if (!symbols.lookup<kernel::FuncOp>(launch.getCallee()).getThreads())
          copies.bridge(launch);
    }
  }
};

} // namespace
} // namespace ingot::plan
