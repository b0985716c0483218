// Inserts the wait for the previous kernel into kernels that start early
// (programmatic dependent launch).
//
//     kernel.func @product(%x, %weights, %y):
//       copies of %weights; copies of %x ...
//  =>   copies of %weights; kernel.await_inputs; copies of %x ...
//
// Code before the wait overlaps with the previous kernel. It only reads
// arguments for which every launch of the kernel passes constants, and stores
// to none. Loads of constants that follow the wait are moved before it as long
// as there are registers for them. If the kernel ends in a branch, each side of
// the branch has a separate wait. A compiler may move loads of a `const ...
// __restrict` argument before the wait; the other read-only arguments are
// therefore marked with kernel.may_alias and printed without `__restrict`. The
// pass does nothing on targets without early kernel start.

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
  /// Whether `op` may run before the previous kernel has ended.
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
    // Every path has to wait: if a thread reached the end without waiting, this
    // kernel could end before the previous one.
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
  /// Moves loads of constants that are executed after `late` to before `late`.
  /// Only loads in the block of `late`, up to the next loop or branch, are
  /// moved, and at most mostBytes bytes.
  void readAhead(Operation *late) {
    constexpr int64_t mostBytes = 256;
    SmallVector<memref::LoadOp> loads;
    // Loads after a loop are not moved: they would occupy registers during the
    // loop.
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
  /// Whether `op` loads an element of an argument that is a constant in every
  /// launch. Shared memory and stack buffers do not count, since the kernel
  /// itself stores to them.
  bool readsConstant(Operation *op) const {
    auto load = dyn_cast<memref::LoadOp>(op);
    return load && isa<BlockArgument>(kernel::bufferRoot(load.getMemRef())) &&
           isEarly(*op);
  }
  /// Whether `op` may move before `late`; collects in `needed`, in order, the
  /// operations after `late` that have to move with it.
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
