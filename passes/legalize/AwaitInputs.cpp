// Where a kernel that begins before the one in front of it ends waits for that.
//
//     kernel.func @product(%x, %weights, %y):
//       copies of %weights; copies of %x ...
//  =>   copies of %weights; kernel.await_inputs; copies of %x ...
//
// What comes before that place reads nothing but arguments for which all launches of the
// kernel pass constants, and stores to none: what is done there takes place while the
// kernel in front still runs. What else is read of constants by all threads is read there as
// well, as far as there are registers for it. Of a branch whose two sides go on by themselves each waits
// on its own. Compilers may read what is const and restrict wherever they like, also before
// that place: other arguments that are only read are marked as what others may write
// (kernel.may_alias). Nothing is done on targets whose kernels do not begin early.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "passes/legalize/Passes.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_AWAITINPUTS
#include "passes/legalize/Passes.h.inc"

namespace {

class Placing {
public:
  Placing(kernel::FuncOp kernel, const llvm::SmallBitVector &constants)
      : entry(kernel.getBody().front()), constants(constants) {}

  void run() { place(entry, /*isInBranch=*/false); }

private:
  /// Whether an operation may run before the kernel in front has ended.
  bool isEarly(Operation &op) const {
    return !op.walk([&](Operation *inside) {
                bool isLate =
                    !isPure(inside) &&
                    llvm::any_of(inside->getOperands(), [&](Value operand) {
                      return isLateBuffer(operand);
                    });
                return isLate ? WalkResult::interrupt() : WalkResult::advance();
              }).wasInterrupted();
  }
  bool isLateBuffer(Value operand) const {
    if (auto tiles = operand.getDefiningOp<kernel::TilesOp>())
      operand = tiles.getTensor();
    if (!isa<MemRefType>(operand.getType()))
      return false;
    auto argument = dyn_cast<BlockArgument>(kernel::bufferRoot(operand));
    return argument && (argument.getOwner() != &entry ||
                        !constants.test(argument.getArgNumber()));
  }

  void place(Block &block, bool isInBranch) {
    Operation *first = nullptr;
    bool isLast = true;
    for (Operation &op : block.without_terminator())
      if (!isEarly(op)) {
        isLast = !first;
        if (!first)
          first = &op;
      }
    if (first)
      readAhead(first);
    auto branch = dyn_cast_or_null<scf::IfOp>(first);
    // Where all threads come to the end of a kernel without having waited it would end
    // before the one in front, so that each way through it waits.
    if (!branch || !isLast || branch.getNumResults() > 0 ||
        (branch.getElseRegion().empty() && !isInBranch))
      return insertAt(first ? first : block.getTerminator());
    if (branch.getElseRegion().empty()) {
      OpBuilder builder(branch.getContext());
      builder.createBlock(&branch.getElseRegion());
      scf::YieldOp::create(builder, branch.getLoc());
    }
    place(branch.getThenRegion().front(), /*isInBranch=*/true);
    place(branch.getElseRegion().front(), /*isInBranch=*/true);
  }
  /// Moves what is read of constants behind `late` in its block, up to a loop or a branch, to
  /// the place in front of it.
  void readAhead(Operation *late) {
    constexpr int64_t mostBytes = 256;
    SmallVector<memref::LoadOp> loads;
    // What is read behind a loop would take registers from it.
    for (Operation *op = late; op->getNumRegions() == 0 && op->getNextNode();
         op = op->getNextNode())
      if (readsConstant(op))
        loads.push_back(cast<memref::LoadOp>(op));
    int64_t moved = 0;
    for (memref::LoadOp load : loads) {
      int64_t bytes = kernel::elementBytes(load.getType());
      llvm::SetVector<Operation *> needed;
      if (moved + bytes > mostBytes || !mayMove(load, late, needed))
        continue;
      for (Operation *op : needed)
        op->moveBefore(late);
      moved += bytes;
    }
  }
  /// Not what threads share, or have on the stack: that is stored to in between.
  bool readsConstant(Operation *op) const {
    auto load = dyn_cast<memref::LoadOp>(op);
    return load && isa<BlockArgument>(kernel::bufferRoot(load.getMemRef())) &&
           isEarly(*op);
  }
  /// Whether an operation may be in front of `late`, with the `needed` ones behind it, in
  /// their order.
  bool mayMove(Operation *op, Operation *late,
               llvm::SetVector<Operation *> &needed) const {
    if (op->getBlock() != late->getBlock() || op->isBeforeInBlock(late))
      return true;
    if (op->getNumRegions() > 0 || !(readsConstant(op) || isPure(op)))
      return false;
    for (Value operand : op->getOperands())
      if (Operation *of = operand.getDefiningOp();
          of && !mayMove(of, late, needed))
        return false;
    needed.insert(op);
    return true;
  }
  void insertAt(Operation *op) {
    OpBuilder builder(op);
    kernel::AwaitInputsOp::create(builder, op->getLoc());
  }

  Block &entry;
  const llvm::SmallBitVector &constants;
};

struct AwaitInputsPass : impl::AwaitInputsBase<AwaitInputsPass> {
  using Base::Base;

  void runOnOperation() override {
    StringRef name = kernel::AwaitInputsOp::getOperationName();
    if (!lookupTarget(targetName)->intrinsic(name, Type(), Type()))
      return;
    ModuleOp module = getOperation();
    llvm::MapVector<kernel::FuncOp, llvm::SmallBitVector> kernels;
    module.walk([&](kernel::LaunchOp launch) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(
          launch, launch.getCalleeAttr());
      if (!callee.getThreads())
        return;
      auto &constants =
          kernels.try_emplace(callee, callee.getNumArguments(), /*t=*/true)
              .first->second;
      for (unsigned i = 0; i < callee.getNumArguments(); ++i)
        if (i >= launch.getNumOperands() ||
            !kernel::bufferRoot(launch.getOperand(i))
                 .getDefiningOp<memref::GetGlobalOp>())
          constants.reset(i);
    });
    for (auto &[callee, constants] : kernels) {
      Placing(callee, constants).run();
      for (unsigned i = 0; i < callee.getNumArguments(); ++i)
        if (!constants.test(i) && callee.getArgAttr(i, kernel::kReadAttr))
          callee.setArgAttr(i, kernel::kMayAliasAttr,
                            UnitAttr::get(module.getContext()));
    }
  }
};

} // namespace
} // namespace ingot::legalize
