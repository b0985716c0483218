// Places the values that are kept from run to run.
//
// A state is a value that one run stores and the next run reads. The input and
// output arguments of a state have the same `kernel.state`; a program may have
// the input, the output or both. Each state gets two slots in the state memory,
// and the byte at `phase` tells which of the two holds the value. A run reads
// this slot, writes the other one, and flips the byte when it is done. So a run
// that ends early because a check fails leaves the value unchanged. A single
// slot suffices if a program reads the input for the last time before it begins
// to write the output. An output that is appended to its input uses the same
// slot, and the byte does not change.
//
//   program @main(%x {kernel.state = "cache"}, %y {kernel.state = "cache", kernel.output})
//     ->
//   program @main(%x {.., kernel.slots = array<i64: 64, 192>, kernel.phase = 0},
//                 %y {.., kernel.slots = array<i64: 192, 64>, kernel.phase = 0})
//
// The module attribute `kernel.state_bytes` is the total size of the state
// memory.

#include "dialects/kernel/KernelModule.h"
#include "passes/plan/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::plan {
#define GEN_PASS_DEF_PLANSTATE
#include "passes/plan/Passes.h.inc"

namespace {

/// A value that is kept from run to run.
struct State {
  /// The inputs and outputs of the state: arguments of one or more programs.
  SmallVector<BlockArgument> arguments;
  int64_t bytes = 0;
  /// Whether the input and the output of the state can share one slot in the
  /// state memory.
  bool hasOnePlace = true;
};

/// The first and last operation of a block that access `buffer`, directly or
/// through views.
struct Uses {
  Operation *first = nullptr, *last = nullptr;

  explicit Uses(Value buffer) { add(buffer); }

private:
  void add(Value buffer) {
    for (Operation *user : buffer.getUsers()) {
      if (auto view = dyn_cast<kernel::ViewOp>(user)) {
        add(view.getResult());
        continue;
      }
      if (!first || user->isBeforeInBlock(first))
        first = user;
      if (!last || last->isBeforeInBlock(user))
        last = user;
    }
  }
};

bool has(BlockArgument argument, StringRef attr) {
  auto program = cast<kernel::ProgramOp>(argument.getOwner()->getParentOp());
  return program.getArgAttr(argument.getArgNumber(), attr) != nullptr;
}

bool isOutput(BlockArgument argument) {
  return has(argument, kernel::kOutputAttr);
}
bool isAppended(BlockArgument argument) {
  return has(argument, kernel::kAppendedAttr);
}

/// Whether a check that follows `write`, the first operation that writes an
/// output, may end the run with an error.
bool mayBeRefusedBehind(Operation *write) {
  for (Operation *op = write; op; op = op->getNextNode()) {
    bool refuses =
        isa<kernel::ReadSizesOp, kernel::CheckSizesOp, kernel::RequireEqualOp>(
            op);
    for (kernel::ProgramOp program : kernel::programsRunBy(op))
      program.walk([&](Operation *inside) {
        refuses |= isa<kernel::ReadSizesOp, kernel::CheckSizesOp>(inside);
      });
    if (refuses)
      return true;
  }
  return false;
}

/// Returns the first launch of the fork (a set of launches that may run
/// concurrently) that contains `op`; `op` itself if no fork contains it.
Operation *beginOfFork(Operation *op) {
  auto launch = dyn_cast<kernel::LaunchOp>(op);
  if (!launch || !launch.getFork())
    return op;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode())
    if (auto other = dyn_cast<kernel::LaunchOp>(before)) {
      if (other.getFork() != launch.getFork())
        break;
      op = other;
    }
  return op;
}

/// Whether the input and the output of a state can share one slot in the state
/// memory if only `program` reads and writes the state.
bool takesOnePlace(const State &state, kernel::ProgramOp program) {
  SmallVector<BlockArgument> inputs, outputs;
  for (BlockArgument argument : state.arguments)
    if (argument.getOwner()->getParentOp() == program)
      (isOutput(argument) ? outputs : inputs).push_back(argument);
  for (BlockArgument output : outputs) {
    if (isAppended(output))
      continue;
    Uses written(output);
    if (!written.first || mayBeRefusedBehind(written.first))
      return false;
    for (BlockArgument input : inputs)
      if (Uses read(input);
          read.last && !read.last->isBeforeInBlock(beginOfFork(written.first)))
        return false;
  }
  return true;
}

struct PlanStatePass : impl::PlanStateBase<PlanStatePass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<StringAttr, State> states;
    for (kernel::ProgramOp program : kernel::entryPrograms(getOperation()))
      for (BlockArgument argument : program.getArguments())
        if (auto name = program.getArgAttrOfType<StringAttr>(
                argument.getArgNumber(), kernel::kStateAttr)) {
          State &state = states[name];
          state.arguments.push_back(argument);
          state.bytes =
              std::max(state.bytes,
                       kernel::spanBytes(cast<MemRefType>(argument.getType())));
        }
    if (states.empty())
      return;
    for (auto &[name, state] : states)
      for (kernel::ProgramOp program : kernel::entryPrograms(getOperation()))
        state.hasOnePlace &= onePlace && takesOnePlace(state, program);
    int64_t phases = llvm::count_if(
        states, [](const auto &entry) { return !entry.second.hasOnePlace; });
    Builder builder(&getContext());
    int64_t end = llvm::alignTo(phases, alignment), phase = 0;
    for (auto &[name, state] : states) {
      int64_t first = end, second = end;
      if (!state.hasOnePlace)
        second += llvm::alignTo(state.bytes, alignment);
      end = second + llvm::alignTo(state.bytes, alignment);
      for (BlockArgument argument : state.arguments) {
        auto program =
            cast<kernel::ProgramOp>(argument.getOwner()->getParentOp());
        unsigned index = argument.getArgNumber();
        bool swaps = isOutput(argument) && !isAppended(argument);
        program.setArgAttr(
            index, kernel::kSlotsAttr,
            builder.getDenseI64ArrayAttr(
                {swaps ? second : first, swaps ? first : second}));
        if (!state.hasOnePlace)
          program.setArgAttr(index, kernel::kPhaseAttr,
                             builder.getI64IntegerAttr(phase));
      }
      phase += !state.hasOnePlace;
    }
    getOperation()->setAttr(kernel::kStateBytesAttr,
                            builder.getI64IntegerAttr(end));
  }
};

} // namespace
} // namespace ingot::plan
