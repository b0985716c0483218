#include "compiler/measure/HostTime.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Contraction.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/DotForm.h"
#include "targets/HostClones.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <chrono>

using namespace mlir;

namespace ingot {

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;

/// The least seconds of several runs of `work`.
static double fastest(llvm::function_ref<void()> work) {
  double best = INFINITY;
  for (int run = 0; run < 5; ++run) {
    auto start = Clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

using Line = uint64_t __attribute__((vector_size(64)));

/// What the lines have in their first words, each line read `repeats` times.
INGOT_WIDEST_CLONES static uint64_t readLines(const Line *lines, size_t count,
                                              size_t repeats) {
  Line sums[4] = {};
  for (size_t repeat = 0; repeat < repeats; ++repeat)
    for (size_t i = 0; i + 4 <= count; i += 4)
      for (size_t sum = 0; sum < 4; ++sum)
        sums[sum] ^= lines[i + sum];
  return sums[0][0] ^ sums[1][0] ^ sums[2][0] ^ sums[3][0];
}

/// Bytes per second of reading `bytes` again and again.
static double readRate(const std::vector<Line> &lines, int64_t bytes) {
  size_t count = bytes / sizeof(Line), repeats = (16 << 20) / bytes + 1;
  volatile uint64_t sink = 0;
  double seconds =
      fastest([&] { sink = sink ^ readLines(lines.data(), count, repeats); });
  return double(count * sizeof(Line)) * double(repeats) / seconds;
}

/// The bytes of the last cache by what Linux says; elsewhere, or where a machine keeps it to
/// itself, a size that servers and desktops have.
static int64_t lastCacheBytes() {
  constexpr int64_t usual = 16 << 20;
  auto file = llvm::MemoryBuffer::getFileAsStream(
      "/sys/devices/system/cpu/cpu0/cache/index3/size");
  int64_t kilobytes = 0;
  if (!file ||
      (*file)->getBuffer().trim().drop_back().getAsInteger(10, kilobytes))
    return usual;
  return kilobytes << 10;
}

HostRates measureHost(const TargetDescription &target) {
  HostRates rates;
  // Each addition waits for the one before it, for one cycle.
  constexpr uint64_t additions = 4 << 20;
  double seconds = fastest([&] {
    uint64_t sum = 1;
    for (uint64_t i = 0; i < additions; ++i) {
      sum += i;
      __asm__ volatile("" : "+r"(sum));
    }
  });
  rates.cyclesPerSecond = double(additions) / seconds;
  constexpr size_t beyondCaches = 64 << 20;
  std::vector<Line> lines(beyondCaches / sizeof(Line));
  rates.nearBytes = readRate(lines, target.l2Bytes / 2);
  rates.sharedBytes = readRate(lines, 4 * target.l2Bytes);
  rates.memoryBytes = readRate(lines, beyondCaches);
  rates.sharedCacheBytes = lastCacheBytes();
  return rates;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type ? type.getNumElements() *
                    graph::bytesPerElement(type.getElementType())
              : 0;
}

static bool isConstant(Value v) {
  return v.getDefiningOp<graph::ConstantOp>() != nullptr;
}

/// Multiply-adds per cycle at most, of the kind that a contraction has.
static double peakOf(Operation *contraction, const TargetDescription &target) {
  std::optional<schedule::DotForm> form;
  if (auto conv = dyn_cast<graph::ConvOp>(contraction))
    form = schedule::dotForm(conv, target);
  else if (auto product = dyn_cast<graph::MatMulOp>(contraction))
    form = schedule::dotForm(product, target);
  auto single = Float32Type::get(contraction->getContext());
  return form ? form->perCycle
              : target.rates.multiplyAdds * double(target.maxLanes(single));
}

/// The cycles of a group's operators, and at least of its contractions.
static std::pair<double, double> issueCycles(kernel::FuncOp function,
                                             const TargetDescription &target) {
  schedule::GroupView group{&function.getBody().front()};
  double cycles = 0, least = 0;
  if (const auto *strategy =
          schedule::lookupStrategy(function.getStrategy().value_or("")))
    cycles =
        strategy->cost(group, schedule::Plan(function.getPlanAttr()), target);
  for (Operation &op : *group.block)
    if (int64_t products = schedule::multiplyAddsOf(&op))
      least += double(products) / peakOf(&op, target);
  // Algorithms with fewer products than the definition take less than these.
  if (cycles)
    least = std::min(least, cycles);
  return {(cycles ? cycles : least) + schedule::elementCyclesOf(group, target),
          least};
}

/// The part of the time that bytes take from behind the second cache which adds to that of
/// the operations, since most are fetched ahead: weights of 1.2 to 9.4 MB that 49 positions
/// are multiplied by, in ten convolutions on Zen 5 (0 to 0.3, November 2026).
static constexpr double notHidden = 0.2;

std::vector<std::pair<std::string, HostTime>>
predictLaunches(ModuleOp lowered, const TargetDescription &target,
                const HostRates &rates) {
  SymbolTable symbols(lowered);
  // What all launches read of constants in a run comes from where all of it fits.
  llvm::DenseSet<Value> constants;
  int64_t allConstants = 0;
  lowered.walk([&](kernel::LaunchOp launch) {
    for (Value operand : launch.getOperands())
      if (isConstant(operand) && constants.insert(operand).second)
        allConstants += bytesOf(operand);
  });
  struct Level {
    double rate;
    StringRef name;
  };
  auto levelOf = [&](int64_t bytes) -> Level {
    if (bytes <= target.residentBytes())
      return {rates.nearBytes, "cache"};
    if (bytes <= rates.sharedCacheBytes)
      return {rates.sharedBytes, "shared cache"};
    return {rates.memoryBytes, "memory"};
  };
  std::vector<std::pair<std::string, HostTime>> predicted;
  lowered.walk([&](kernel::LaunchOp launch) {
    auto function = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    if (!function || function.isExternal())
      return;
    HostTime time;
    auto [cycles, least] = issueCycles(function, target);
    double issue = cycles / rates.cyclesPerSecond, moving = 0, waited = 0,
           slowest = 0;
    StringRef source = "cache";
    auto move = [&](int64_t bytes, Level level) {
      double seconds = double(bytes) / level.rate;
      moving += seconds;
      if (level.rate != rates.nearBytes)
        waited += notHidden * seconds;
      if (seconds > slowest) {
        slowest = seconds;
        source = level.name;
      }
    };
    for (auto [operand, argument] :
         llvm::zip(launch.getOperands(), function.getArguments())) {
      int64_t bytes = schedule::bytesRead(argument);
      move(bytes, levelOf(isConstant(operand) ? allConstants : bytes));
    }
    for (Value result : launch.getResults())
      move(bytesOf(result), levelOf(bytesOf(result)));
    time.seconds = std::max(issue, moving) + std::min(issue, waited);
    time.limit = std::max(least / rates.cyclesPerSecond, moving);
    time.bound = issue >= moving ? StringRef("issue") : source;
    predicted.push_back({launch.getCallee().str(), time});
  });
  return predicted;
}

} // namespace ingot
