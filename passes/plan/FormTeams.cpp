// Threads stay together for short launches that follow each other.
//
// A launch whose kernel threads share asks the caller for them, and waits for all of them
// at its end. Launches of one `team` ask once; between them threads wait for each other,
// which takes half as long.
//
//   kernel.launch @a(..)            kernel.launch @a(..) {team = 0}
//   kernel.launch @small(..)   ->   kernel.launch @small(..) {team = 0}
//   kernel.launch @b(..)            kernel.launch @b(..) {team = 0}
//
// A team begins and ends with launches that threads share. Those in between that are too
// small to be shared are done by one of its threads. Longer launches are on their own: to
// them it makes no difference, and threads that wait for them can be of use elsewhere.
// Members meet in one word of 64 bits (runtime_support/ingot_team.h), which 32-bit targets
// cannot be expected to exchange.
//
// How it scales: each member that does a part of a launch changes the word twice, once to
// take its share and once to count it as done and take what is left; a member for which
// there is no part only reads. With 64 members and 64 parts the word goes 128 times from
// core to core, 6 to 13 us at 50 to 100 ns each. The threads of a pool that get parts of a
// launch on its own do the same: one change of the word that hands out parts, and one of
// the count of those that are not done. By this reckoning a team of many costs what forks
// cost, and pays no more than these for a launch of a few microseconds; it has been measured
// on two cores.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "passes/plan/Passes.h"
#include "passes/schedule/GroupCost.h"

using namespace mlir;

namespace ingot::plan {
#define GEN_PASS_DEF_FORMTEAMS
#include "passes/plan/Passes.h.inc"

namespace {

/// A team saves about 0.1 us a launch (Zen 4, two threads, November 2026), so that at a
/// hundred times as long there is nothing to gain.
constexpr double mostCycles = 50'000;

struct FormTeamsPass : impl::FormTeamsBase<FormTeamsPass> {
  using Base::Base;

  void runOnOperation() override {
    target = lookupTarget(targetName);
    bool meets = target->pointerBytes == 8 && !target->vectorBytes.empty();
    if (target->isDevice() || target->freestanding || !meets)
      return;
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      if (!program.isExternal())
        formTeams(program, symbols);
  }

private:
  void formTeams(kernel::ProgramOp program, const SymbolTable &symbols) const {
    int64_t number = 0;
    SmallVector<kernel::LaunchOp> members, small;
    auto close = [&] {
      if (members.size() > 1) {
        for (kernel::LaunchOp member : members)
          member.setTeam(number);
        ++number;
      }
      members.clear();
      small.clear();
    };
    for (Operation &op : program.getBody().front()) {
      if (isa<kernel::ArenaOp, kernel::ViewOp, kernel::PrefetchOp,
              memref::GetGlobalOp>(op))
        continue;
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      auto callee = launch ? symbols.lookup<kernel::FuncOp>(launch.getCallee())
                           : kernel::FuncOp();
      if (!callee || kernel::sharesSteps(callee) ||
          cyclesOf(launch, callee) > mostCycles) {
        close();
      } else if (!kernel::usesThreads(callee)) {
        if (!members.empty())
          small.push_back(launch);
      } else {
        members.append(small);
        small.clear();
        members.push_back(launch);
      }
    }
    close();
  }

  /// A rough prediction: products by what vectors of floats do, and what is read and
  /// written by what the second cache gives.
  double cyclesOf(kernel::LaunchOp launch, kernel::FuncOp callee) const {
    int64_t bytes = 0;
    for (Value operand : launch.getOperands())
      bytes += kernel::spanBytes(cast<MemRefType>(operand.getType()));
    return double(callee.getMultiplyAdds().value_or(0)) /
               schedule::workPerCycle(*target) +
           double(bytes) / target->rates.cacheBytes;
  }

  const TargetDescription *target = nullptr;
};

} // namespace
} // namespace ingot::plan
