// Forms worker groups (teams) of threads for consecutive short launches.
//
// A launch whose kernel is split over threads requests these threads from the
// caller and waits for all of them when it ends. The launches of a worker group
// request threads only once. Between launches, the threads wait for each other,
// which takes half as long as a new request and wait.
//
//   kernel.launch @a(..)            kernel.launch @a(..) {team = 0}
//   kernel.launch @small(..)   ->   kernel.launch @small(..) {team = 0}
//   kernel.launch @b(..)            kernel.launch @b(..) {team = 0}
//
// A worker group begins and ends with launches that are split over threads.
// Launches in between that are too small to be split are executed by one of the
// group's threads. Longer launches are not part of worker groups: for them, the
// saved time is negligible, and the waiting threads would spin for too long.
// The threads synchronize through one 64-bit word
// (runtime_support/ingot_team.h), for which 32-bit targets may lack atomics.
//
// Scaling: each thread that executes a part of a launch modifies the word
// twice: to take its first part, and to count a part as done and take one of
// the remaining parts. A thread without a part only reads the word. With 64
// threads and 64 parts, the word moves between cores 128 times, which takes 6
// to 13 us at 50 to 100 ns each. A thread pool needs the same number of
// modifications for a separate launch: it modifies a word that hands out parts,
// and a count of unfinished parts. So by this estimate, a large worker group is
// not faster than separate launches of a few microseconds. This has been
// measured on two cores only.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "passes/plan/Passes.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot::plan {
#define GEN_PASS_DEF_FORMTEAMS
#include "passes/plan/Passes.h.inc"

namespace {

/// Launches that take more cycles than this are in no worker group. A worker
/// group saves about 0.1 us per launch (Zen 4, two threads, November 2026),
/// which is negligible for a launch that takes a hundred times as long.
constexpr uint64_t mostCycles = 50'000;

struct FormTeamsPass : impl::FormTeamsBase<FormTeamsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription *target = lookupTarget(targetName);
    bool meets = target->pointerBytes == 8 && !target->vectorBytes.empty();
    if (!target->hasThreads || !meets)
      return;
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      if (!program.isExternal())
        formTeams(program, symbols);
  }

private:
  static void formTeams(kernel::ProgramOp program, const SymbolTable &symbols) {
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
          callee.getCycles().value_or(0) > mostCycles) {
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
};

} // namespace
} // namespace ingot::plan
