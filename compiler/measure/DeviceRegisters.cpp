// Estimates the registers of a GPU thread from live ranges.

#include "compiler/measure/DeviceRegisters.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace ingot {
namespace {

/// Live ranges of the values of a kernel, as intervals of positions:
/// operations, and the ends of their regions, are numbered in order.
class LiveRanges {
public:
  explicit LiveRanges(kernel::FuncOp kernel) { number(kernel); }

  int64_t most(kernel::FuncOp kernel) {
    std::vector<int64_t> changes(count + 1);
    auto live = [&](Value value, int64_t from) {
      int64_t size = registersOf(value), to = endOf(value);
      if (size == 0 || to < from)
        return;
      changes[from] += size;
      changes[to] -= size;
    };
    kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            live(argument, begins[op]);
      for (Value result : op->getResults())
        live(result, begins[op]);
    });
    int64_t now = 0, most = 0;
    for (int64_t change : changes)
      most = std::max(most, now += change);
    return most;
  }

private:
  void number(Operation *op) {
    begins[op] = count++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    ends[op] = count++;
  }

  /// Returns the number of 32-bit registers that hold a value. Constants are
  /// immediates, and booleans are in predicate registers; indices count as 32
  /// bits, pointers to buffers as 64 bits. The elements of an allocated buffer
  /// are in registers, unless it is in another memory space.
  static int64_t registersOf(Value value) {
    Type type = value.getType();
    if (matchPattern(value, m_Constant()) || type.isInteger(1))
      return 0;
    if (auto memref = dyn_cast<MemRefType>(type)) {
      if (!value.getDefiningOp<memref::AllocaOp>())
        return 2;
      return memref.getMemorySpace() ? 0 : memref.getNumElements();
    }
    return type.isInteger(64) || type.isF64() ? 2 : 1;
  }

  /// Returns the position after the last use of a value. If the last use is in
  /// a loop that does not contain the definition, this is the end of the loop.
  int64_t endOf(Value value) {
    int64_t end = -1;
    Region *home = value.getParentRegion();
    for (Operation *user : value.getUsers()) {
      end = std::max(end, begins[user]);
      for (Operation *outer = user->getParentOp();
           outer && home->isAncestor(outer->getParentRegion());
           outer = outer->getParentOp())
        if (isa<LoopLikeOpInterface>(outer))
          end = std::max(end, ends[outer]);
    }
    return end;
  }

  llvm::DenseMap<Operation *, int64_t> begins, ends;
  int64_t count = 0;
};

} // namespace

int64_t estimateRegisters(kernel::FuncOp kernel, const Device &device) {
  int64_t threads = kernel.getThreads().value_or(1),
          resident = kernel.getResident().value_or(1);
  int64_t most =
      std::min<int64_t>(255, device.registers / (threads * resident) / 8 * 8);
  // If warpgroups change their number of registers during the kernel
  // (setmaxnreg), each thread starts with the most registers with which all
  // resident blocks fit.
  bool exchanges =
      kernel
          ->walk([](kernel::SetRegistersOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (exchanges)
    return most;
  // Registers that each thread needs in addition, for its index and for address
  // computations.
  constexpr int64_t others = 12;
  return std::clamp<int64_t>(LiveRanges(kernel).most(kernel) + others, 16,
                             most);
}

} // namespace ingot
