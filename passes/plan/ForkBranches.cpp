// Marks launches for concurrent execution if each of them is too small to fill
// the device.
//
// Consecutive launches become a fork if they can be divided into branches that
// do not depend on each other:
//
//   %a = launch @narrow(%x)            %a = launch @narrow(%x) {fork = 0, branch = 0}
//   %b = launch @wide(%x)        ->    %b = launch @wide(%x)   {fork = 0, branch = 1}
//   %c = launch @join(%a, %b)          %c = launch @join(%a, %b)
//
// Forks are branches of a recorded device graph. A program with control flow on
// the host, and the programs that it calls, are not recorded and have no forks.
//
// The program is divided into sequential launches and forks such that the
// predicted time is minimal. A fork takes as long as its longest branch, but at
// least as long as all of its launches one after the other if each had the
// whole device. So a fork of launches that fill the device gains nothing. Each
// branch after the first adds a cost given by the target.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "passes/plan/Passes.h"
#include "passes/schedule/DeviceTime.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::plan {
#define GEN_PASS_DEF_FORKBRANCHES
#include "passes/plan/Passes.h.inc"

namespace {

/// A launch; or a concatenation, which takes no time and waits for its
/// operands.
struct Step {
  Operation *op;
  /// The steps whose results this step uses.
  SmallVector<unsigned> waitsFor;
  schedule::BranchTime time;
};

/// The branches of a fork, which run concurrently; each branch is a list of
/// indices of steps.
using Fork = SmallVector<SmallVector<unsigned>>;

class ForkSearch {
public:
  ForkSearch(std::vector<Step> steps, const Device &device)
      : steps(std::move(steps)), device(device) {}

  /// Returns the forks that give the least predicted time, in program order.
  std::vector<Fork> run() const {
    struct Best {
      double seconds = 0;
      size_t begin = 0;
      Fork fork;
    };
    std::vector<Best> best(steps.size() + 1);
    for (size_t end = 1; end < best.size(); ++end)
      best[end].seconds = std::numeric_limits<double>::infinity();
    for (size_t begin = 0; begin < steps.size(); ++begin) {
      double before = best[begin].seconds;
      auto offer = [&](size_t end, double seconds, Fork fork) {
        if (before + seconds < best[end].seconds)
          best[end] = {before + seconds, begin, std::move(fork)};
      };
      offer(begin + 1, steps[begin].time.seconds, {});
      // A fork has at most `longest` launches, which bounds the compile time of
      // large models.
      constexpr size_t longest = 48;
      for (size_t end = begin + 2;
           end <= std::min(begin + longest, steps.size()); ++end) {
        Fork fork = branchesOf(begin, end);
        if (fork.size() > 1)
          offer(end,
                schedule::secondsOf(timesOf(fork), device) +
                    perLaunch * double(end - begin),
                fork);
      }
    }
    std::vector<Fork> forks;
    for (size_t end = steps.size(); end > 0; end = best[end].begin)
      if (!best[end].fork.empty())
        forks.push_back(std::move(best[end].fork));
    std::reverse(forks.begin(), forks.end());
    return forks;
  }

private:
  /// A cost in seconds for each launch in a fork. All buffers that a fork uses
  /// stay live during the whole fork, so if two forks save the same time, the
  /// one with fewer launches is better.
  static constexpr double perLaunch = 5e-8;

  /// Divides the steps [begin, end) into at most four branches that do not
  /// depend on each other, with similar durations.
  Fork branchesOf(size_t begin, size_t end) const {
    std::vector<size_t> parent(end - begin);
    std::iota(parent.begin(), parent.end(), size_t(0));
    auto rootOf = [&](size_t i) {
      while (parent[i] != i)
        i = parent[i];
      return i;
    };
    for (size_t i = begin; i < end; ++i)
      for (unsigned from : steps[i].waitsFor)
        if (from >= begin) {
          size_t a = rootOf(from - begin), b = rootOf(i - begin);
          parent[std::max(a, b)] = std::min(a, b);
        }
    llvm::MapVector<size_t, SmallVector<unsigned>> parts;
    for (size_t i = begin; i < end; ++i)
      parts[rootOf(i - begin)].push_back(unsigned(i));
    Fork fork;
    SmallVector<schedule::BranchTime> times;
    for (auto &[root, part] : parts) {
      schedule::BranchTime time = timeOf(part);
      // A part whose predicted time is 0, unless it is the first part, and each
      // part beyond the fourth branch is added to the shortest branch.
      constexpr size_t most = 4;
      if (fork.size() < most && (time.seconds > 0 || fork.empty())) {
        fork.push_back(std::move(part));
        times.push_back(time);
        continue;
      }
      size_t least = 0;
      for (size_t i = 1; i < fork.size(); ++i)
        if (times[i].seconds < times[least].seconds)
          least = i;
      llvm::append_range(fork[least], part);
      times[least].seconds += time.seconds;
    }
    for (SmallVector<unsigned> &branch : fork)
      llvm::sort(branch);
    return fork;
  }

  schedule::BranchTime timeOf(ArrayRef<unsigned> branch) const {
    schedule::BranchTime sum;
    for (unsigned step : branch) {
      sum.seconds += steps[step].time.seconds;
      sum.alone += steps[step].time.alone;
    }
    return sum;
  }
  SmallVector<schedule::BranchTime> timesOf(const Fork &fork) const {
    return llvm::map_to_vector(
        fork, [&](const auto &branch) { return timeOf(branch); });
  }

  std::vector<Step> steps;
  const Device &device;
};

struct ForkBranchesPass : impl::ForkBranchesBase<ForkBranchesPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SymbolTable symbols(getOperation());
    if (target.device.branchSeconds > 0)
      for (auto program : getOperation().getOps<kernel::ProgramOp>())
        if (program.isPublic() && !kernel::decidesOnHost(program))
          fork(program, symbols, target.device);
  }

private:
  static void fork(kernel::ProgramOp program, const SymbolTable &symbols,
                   const Device &device) {
    std::vector<Step> steps;
    llvm::DenseMap<Operation *, unsigned> numberOf;
    int64_t number = 0;
    auto divide = [&] {
      for (const Fork &fork : ForkSearch(steps, device).run())
        mark(steps, fork, number++);
      steps.clear();
      numberOf.clear();
    };
    for (Operation &op : program.getBody().front().without_terminator()) {
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      if (isa<ConstantOp, ReshapeOp, SliceOp>(op))
        continue;
      if (!launch && !isa<ConcatOp>(op)) {
        divide();
        continue;
      }
      Step step{&op, waitsFor(&op, numberOf), {}};
      if (launch)
        step.time.add(timeOf(launch, symbols, device));
      numberOf[&op] = unsigned(steps.size());
      steps.push_back(std::move(step));
    }
    divide();
  }

  static SmallVector<unsigned>
  waitsFor(Operation *op,
           const llvm::DenseMap<Operation *, unsigned> &numberOf) {
    SmallVector<unsigned> numbers;
    for (Value operand : op->getOperands()) {
      Operation *from = operand.getDefiningOp();
      while (isa_and_nonnull<ReshapeOp, SliceOp>(from))
        from = from->getOperand(0).getDefiningOp();
      if (auto found = numberOf.find(from); found != numberOf.end())
        numbers.push_back(found->second);
    }
    return numbers;
  }

  static schedule::DeviceTime timeOf(kernel::LaunchOp launch,
                                     const SymbolTable &symbols,
                                     const Device &device) {
    auto callee = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    int64_t bytes = 0;
    for (Value value :
         llvm::concat<Value>(launch.getOperands(), launch.getResults())) {
      auto type = tensorType(value);
      bytes += type.getNumElements() * bytesPerElement(type.getElementType());
    }
    return schedule::predictTime(device, schedule::DeviceWork::of(callee),
                                 bytes,
                                 int64_t(callee.getMultiplyAdds().value_or(0)));
  }

  static void mark(ArrayRef<Step> steps, const Fork &fork, int64_t number) {
    for (auto [branch, members] : llvm::enumerate(fork))
      for (unsigned step : members)
        if (auto launch = dyn_cast<kernel::LaunchOp>(steps[step].op)) {
          launch.setFork(number);
          launch.setBranch(int64_t(branch));
        }
  }
};

} // namespace
} // namespace ingot::plan
