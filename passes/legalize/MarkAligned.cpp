// Marks vector loads and stores whose address is a multiple of their size or of
// the register size.
//
//     %x = kernel.arena 512                      // a buffer at a multiple of 128
//     kernel.launch @f(%x)
//     kernel.func @f(%arg0: memref<64x256xi8>):
//       scf.for %i = %c0 to %c64 step %c1
//         vector.load %arg0[%i, %c128] : vector<128xi8>
//  =>     vector.load %arg0[%i, %c128] {alignment = 128} : vector<128xi8>
//
// The alignment of an argument is the smallest that any launch of the kernel
// passes. Buffers in the arena and constants are aligned to the target's buffer
// alignment. Buffers of the caller are aligned to the element size or, if
// larger, the target's tensor alignment. Only targets with `alignedAccess` need
// this; on other targets unaligned accesses are as fast.
//
// Device threads have no vectors, but the device compiler merges loads of
// neighbouring elements if it knows that they are aligned. The pass therefore
// marks the arguments with such loads:
//
//       %a = memref.load %x[%i]; %b = memref.load %x[%i + 1]
//  =>   kernel.func @f(%x: memref<4096xf32> {kernel.align = 16})

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "passes/legalize/Passes.h"
#include "targets/TargetDescription.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_MARKALIGNED
#include "passes/legalize/Passes.h.inc"

namespace {

/// Computes a power of two, up to `most`, that divides an index:
/// - for a constant, the largest such power;
/// - for a sum, difference, minimum or maximum, the smaller of the operands'
///   powers;
/// - for a product, the product of the operands' powers;
/// - for a loop counter, the smaller of the powers of lower bound and step;
/// - for any other index, 1.
class Divisors {
public:
  explicit Divisors(int64_t most) : most(most) {}

  int64_t of(int64_t number) const {
    return number == 0 ? most : std::min(most, number & -number);
  }
  int64_t of(Value index) {
    if (auto known = found.find(index); known != found.end())
      return known->second;
    int64_t divisor = compute(index);
    found[index] = divisor;
    return divisor;
  }
  int64_t scaled(int64_t divisor, int64_t factor) const {
    return std::min(most, divisor * of(factor));
  }

private:
  int64_t compute(Value index) {
    if (auto argument = dyn_cast<BlockArgument>(index)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return loop && argument == loop.getInductionVar()
                 ? std::min(of(loop.getLowerBound()), of(loop.getStep()))
                 : 1;
    }
    Operation *op = index.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
      return of(constant.value());
    if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
      return std::min(of(op->getOperand(0)), of(op->getOperand(1)));
    if (isa<arith::MulIOp>(op))
      return std::min(most, of(op->getOperand(0)) * of(op->getOperand(1)));
    return 1;
  }

  int64_t most;
  llvm::DenseMap<Value, int64_t> found;
};

class Marking {
public:
  Marking(ModuleOp module, const TargetDescription &target)
      : module(module), bufferAlign(target.bufferAlign), divisors(bufferAlign) {
    for (kernel::ProgramOp entry : kernel::entryPrograms(module))
      for (BlockArgument tensor : entry.getArguments())
        arguments[tensor] =
            entry.getArgAttr(tensor.getArgNumber(), kernel::kSlotsAttr)
                ? bufferAlign
                : std::max<int64_t>(target.tensorAlign, elementBytes(tensor));
  }

  void run() {
    module.walk([&](kernel::LaunchOp launch) { meet(launch); });
    module.walk([&](Operation *op) {
      if (auto load = dyn_cast<vector::LoadOp>(op))
        mark(load, load.getBase(), load.getVectorType());
      else if (auto store = dyn_cast<vector::StoreOp>(op))
        mark(store, store.getBase(), store.getVectorType());
    });
  }

  /// Marks the arguments of device kernels that are aligned to `deviceWord`
  /// bytes, if a thread loads or stores neighbouring elements of them.
  void markArguments() {
    module.walk([&](kernel::LaunchOp launch) { meet(launch); });
    for (auto kernel : module.getOps<kernel::FuncOp>())
      for (BlockArgument argument : kernel.getArguments())
        if (arguments.lookup(argument) >= deviceWord &&
            usesNeighbours(argument))
          kernel.setArgAttr(
              argument.getArgNumber(), kernel::kAlignAttr,
              IntegerAttr::get(IntegerType::get(module.getContext(), 64),
                               deviceWord));
  }

private:
  /// The largest access of a device thread, in bytes.
  static constexpr int64_t deviceWord = 16;

  /// Whether a thread accesses neighbouring elements of `buffer`, directly or
  /// through views.
  static bool usesNeighbours(Value buffer) {
    llvm::SmallDenseSet<Value> places, firstOfTwo;
    SmallVector<Operation *> users(buffer.getUsers());
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      if (auto view = dyn_cast<kernel::ViewOp>(user))
        llvm::append_range(users, view->getUsers());
      if (isa<kernel::StoreVectorOp>(user))
        return true;
      auto load = dyn_cast<memref::LoadOp>(user);
      auto store = dyn_cast<memref::StoreOp>(user);
      if (!load && !store)
        continue;
      OperandRange indices = load ? load.getIndices() : store.getIndices();
      if (indices.empty())
        continue;
      Value last = indices.back();
      places.insert(last);
      auto sum = last.getDefiningOp<arith::AddIOp>();
      APInt by;
      // A constant index 1 along the last axis occurs where the loop over a
      // short row is unrolled. The thread then also accesses element 0 of the
      // row, a neighbour.
      if (matchPattern(last, m_One()))
        return true;
      if (sum && matchPattern(sum.getRhs(), m_ConstantInt(&by)) && by == 1)
        firstOfTwo.insert(sum.getLhs());
    }
    return llvm::any_of(firstOfTwo,
                        [&](Value place) { return places.contains(place); });
  }

  /// Lowers the alignment of each argument of the launched kernel to that of
  /// the operand that this launch passes.
  void meet(kernel::LaunchOp launch) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(
        launch, launch.getCalleeAttr());
    for (auto [operand, argument] :
         llvm::zip(launch.getOperands(), kernel.getArguments())) {
      int64_t align = ofBuffer(operand);
      auto [known, isNew] = arguments.try_emplace(argument, align);
      known->second = std::min(known->second, align);
    }
  }

  /// Returns the number of bytes to which the first byte of `buffer` is
  /// aligned.
  int64_t ofBuffer(Value buffer) {
    if (auto known = arguments.find(buffer); known != arguments.end())
      return known->second;
    Operation *op = buffer.getDefiningOp();
    if (auto arena = dyn_cast_or_null<kernel::ArenaOp>(op))
      return divisors.of(arena.getOffset());
    if (auto view = dyn_cast_or_null<kernel::ViewOp>(op))
      return std::min(ofBuffer(view.getSource()),
                      divisors.of(view.getOffset()));
    if (isa_and_nonnull<memref::GetGlobalOp>(op))
      return bufferAlign;
    return elementBytes(buffer);
  }

  static int64_t elementBytes(Value buffer) {
    return kernel::elementBytes(
        cast<MemRefType>(buffer.getType()).getElementType());
  }

  template <typename Op> void mark(Op op, Value buffer, VectorType type) {
    auto memory = cast<MemRefType>(buffer.getType());
    int64_t element = kernel::elementBytes(memory.getElementType()),
            bytes = type.getNumElements() * element;
    if ((bytes & (bytes - 1)) != 0)
      return;
    // An access of several registers only needs the alignment of one register.
    bytes = std::min(bytes, bufferAlign);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (failed(memory.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset))
      return;
    int64_t align = std::min(ofBuffer(buffer),
                             divisors.scaled(divisors.of(offset), element));
    for (auto [index, stride] : llvm::zip_equal(op.getIndices(), strides))
      align = std::min(
          align,
          divisors.scaled(ShapedType::isDynamic(stride)
                              ? 1
                              : divisors.scaled(divisors.of(index), stride),
                          element));
    if (align >= bytes && bytes > element)
      op.setAlignment(bytes);
  }

  ModuleOp module;
  int64_t bufferAlign;
  Divisors divisors;
  llvm::DenseMap<Value, int64_t> arguments;
};

struct MarkAlignedPass : impl::MarkAlignedBase<MarkAlignedPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (target.alignedAccess)
      Marking(getOperation(), target).run();
    else if (target.tensorAlign > 1)
      Marking(getOperation(), target).markArguments();
  }
};

} // namespace
} // namespace ingot::legalize
