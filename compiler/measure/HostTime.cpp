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
#include <cstdlib>
#include <memory>
#include <time.h>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

using namespace mlir;

namespace ingot {

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;

/// Returns the shortest time of several runs of `work`, in seconds.
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

/// Reads `count` lines of 64 bytes, `repeats` times; returns the xor of the
/// first words of all lines, so that the compiler cannot omit the reads.
INGOT_WIDEST_CLONES static uint64_t readLines(const Line *lines, size_t count,
                                              size_t repeats) {
  // Separate variables, since g++ 12 keeps an array of vectors in memory.
  Line a = {}, b = {}, c = {}, d = {};
  for (size_t repeat = 0; repeat < repeats; ++repeat)
    for (size_t i = 0; i + 4 <= count; i += 4) {
      a ^= lines[i];
      b ^= lines[i + 1];
      c ^= lines[i + 2];
      d ^= lines[i + 3];
    }
  return a[0] ^ b[0] ^ c[0] ^ d[0];
}

/// Returns the rate at which a core reads a buffer of `bytes` bytes repeatedly,
/// in bytes per second.
static double readRate(ArrayRef<Line> lines, int64_t bytes) {
  size_t count = bytes / sizeof(Line), repeats = (16 << 20) / bytes + 1;
  volatile uint64_t sink = 0;
  double seconds =
      fastest([&] { sink = sink ^ readLines(lines.data(), count, repeats); });
  return double(count * sizeof(Line)) * double(repeats) / seconds;
}

/// Defines the function NAME, which executes `steps` steps of multiply-adds on
/// twelve independent vectors, enough to hide their latency on any core. The
/// vectors are separate variables, since g++ 12 keeps an array in memory. One
/// operand is unknown to the compiler, which could otherwise drop a sum that
/// never changes.
#define INGOT_MULTIPLY_ADDS(NAME, ATTRIBUTE, BYTES)                            \
  ATTRIBUTE static float NAME(uint64_t steps) {                                \
    using Vector = float __attribute__((vector_size(BYTES)));                  \
    volatile float unknown = 0.5F;                                             \
    Vector x = Vector{} + unknown, a = x, b = a + x, c = b + x, d = c + x,     \
           e = d + x, f = e + x, g = f + x, h = g + x, i = h + x, j = i + x,   \
           k = j + x, l = k + x;                                               \
    for (; steps > 0; --steps) {                                               \
      __asm__ volatile("" ::: "memory");                                       \
      a = a * x + x, b = b * x + x, c = c * x + x, d = d * x + x;              \
      e = e * x + x, f = f * x + x, g = g * x + x, h = h * x + x;              \
      i = i * x + x, j = j * x + x, k = k * x + x, l = l * x + x;              \
    }                                                                          \
    Vector sum = a + b + c + d + e + f + g + h + i + j + k + l;                \
    return sum[0];                                                             \
  }
INGOT_MULTIPLY_ADDS(multiplyAdds16, , 16)
INGOT_MULTIPLY_ADDS(multiplyAdds32, INGOT_MULTIPLY_ADDS_32, 32)
INGOT_MULTIPLY_ADDS(multiplyAdds64, INGOT_MULTIPLY_ADDS_64, 64)
#undef INGOT_MULTIPLY_ADDS

/// Returns the number of multiply-add instructions per second on the target's
/// widest vectors; 0 if it cannot be measured.
static double multiplyAddRate(const TargetDescription &target) {
  if (!target.fma || target.vectorBytes.empty() || !target.runsOnThisHost ||
      !target.runsOnThisHost())
    return 0;
  auto *work = target.vectorBytes.front() == 64   ? multiplyAdds64
               : target.vectorBytes.front() == 32 ? multiplyAdds32
                                                  : multiplyAdds16;
  constexpr uint64_t steps = 200'000, eachStep = 12;
  volatile float sink = 0;
  return double(steps * eachStep) / fastest([&] { sink = sink + work(steps); });
}

/// Returns the size of the last-level cache as reported by Linux; elsewhere, or
/// if it is not reported, a typical size of servers and desktops.
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
  // Measures the clock rate by a chain of additions, each of which takes one
  // cycle. An iteration of the loop has several additions, since an iteration
  // takes more than a cycle on some cores (Zen 4: 1.09).
  constexpr uint64_t additions = 4 << 20, ofStep = 8;
  double seconds = fastest([&] {
    uint64_t sum = 1;
    for (uint64_t i = 0; i < additions / ofStep; ++i)
      for (uint64_t addition = 0; addition < ofStep; ++addition) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
      }
  });
  rates.cyclesPerSecond = double(additions) / seconds;
  rates.multiplyAdds = multiplyAddRate(target) / rates.cyclesPerSecond;
  constexpr size_t beyondCaches = 64 << 20, largePage = 2 << 20,
                   count = beyondCaches / sizeof(Line);
  std::unique_ptr<Line[], decltype(&std::free)> memory(
      static_cast<Line *>(std::aligned_alloc(largePage, beyondCaches)),
      std::free);
#ifdef MADV_HUGEPAGE
  // Weights are usually mapped from files, which the system maps in larger
  // blocks than other memory. Huge pages give this buffer the same read rate
  // (Zen 4: 31 GB/s with huge pages, 25 GB/s with 4 KB pages).
  madvise(memory.get(), beyondCaches, MADV_HUGEPAGE);
#endif
  std::fill_n(memory.get(), count, Line{});
  ArrayRef<Line> lines(memory.get(), count);
  rates.ownCacheBytes = readRate(lines, target.l2Bytes / 2);
  rates.sharedBytes = readRate(lines, 4 * target.l2Bytes);
  rates.memoryBytes = readRate(lines, beyondCaches);
  rates.sharedCacheBytes = lastCacheBytes();
  return rates;
}

/// Returns the target with measured rates: processors with the same instruction
/// set (level) differ in how many of their widest vectors they multiply per
/// cycle (Zen 4 one of 64 bytes, Zen 5 two).
static TargetDescription asMeasured(TargetDescription target,
                                    const HostRates &rates) {
  // The cost of a load that misses the L1 cache: the cycles to read a cache
  // line from the L2 cache beyond those of an L1 load (2.3 on Zen 4, 1.1 on Zen
  // 5).
  double ofLine =
      double(sizeof(Line)) * rates.cyclesPerSecond / rates.ownCacheBytes;
  target.rates.missedLoad = std::max(0.0, ofLine - 1 / target.rates.loads);
  if (rates.multiplyAdds == 0)
    return target;
  double part = rates.multiplyAdds / target.rates.multiplyAdds;
  target.rates.multiplyAdds = rates.multiplyAdds;
  for (Product &product : target.products)
    if (product.lanes * 4 == target.vectorBytes.front()) {
      product.perCycle *= part;
      product.wordsPerCycle *= part;
    }
  return target;
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

/// Returns the peak multiply-adds per cycle for the type of dot product that a
/// contraction uses.
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

std::pair<double, double> issueCycles(schedule::GroupOnTarget group,
                                      StringRef name, DictionaryAttr plan) {
  const TargetDescription &target = group.target;
  double cycles = 0, least = 0;
  if (const auto *strategy = schedule::lookupStrategy(name))
    cycles = strategy->cost(group, schedule::Plan(plan));
  for (Operation &op : *group.block)
    if (int64_t products = schedule::multiplyAddsOf(&op))
      least += double(products) / peakOf(&op, target);
  // Algorithms with fewer multiplications than the definition of the operator
  // (Winograd) can be faster than `least`.
  if (cycles)
    least = std::min(least, cycles);
  return {(cycles ? cycles : least) + schedule::elementCyclesOf(group), least};
}

/// Fetching bytes from beyond the L2 cache mostly overlaps with computation,
/// since most bytes are prefetched; this share of the time does not. Measured
/// with weights of 1.2 to 9.4 MB and 49 positions, in ten convolutions on Zen 5
/// (0 to 0.3, November 2026).
static constexpr double notHidden = 0.2;

/// Transposes reach only this share of the bandwidth of the shared cache or of
/// memory, since no core prefetches the tiles of eight rows that they read (19
/// to 21 GB/s in three networks on Zen 4, where contiguous lines reach 80;
/// November 2026).
static constexpr double inRows = 0.25;

/// Returns the tensor that `value` is a view of, or `value` itself.
static Value storedIn(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getX();
  return value;
}

namespace {
/// Computes reuse distances of tensors: a tensor comes from the smallest cache
/// that holds everything accessed since the last use of the tensor.
class ReuseDistances {
public:
  explicit ReuseDistances(ModuleOp lowered) {
    llvm::DenseSet<Value> seen;
    lowered.walk([&](kernel::LaunchOp launch) {
      for (Value operand : launch.getOperands())
        if (Value stored = storedIn(operand);
            comesFromOutside(stored) && seen.insert(stored).second)
          ofRun += bytesOf(stored);
    });
  }
  /// Records a read of `bytes` bytes of a tensor. Returns the bytes accessed
  /// since the last use of the tensor, including this read.
  int64_t read(Value operand, int64_t bytes) {
    Value stored = storedIn(operand);
    auto last = lastUse.find(stored);
    int64_t between = last != lastUse.end()      ? used - last->second
                      : comesFromOutside(stored) ? ofRun - bytes
                                                 : 0;
    use(stored, bytes);
    return between + bytes;
  }
  /// Records a write of a result. Returns an estimate of the bytes accessed
  /// since the memory of the result was last used. For an output of the model,
  /// these are the bytes of all constants and inputs, but at least those of the
  /// result; for other results, only the bytes of the result.
  int64_t write(Value result) {
    int64_t bytes = bytesOf(result);
    use(result, bytes);
    return isReturned(result) ? std::max(bytes, ofRun) : bytes;
  }

private:
  void use(Value stored, int64_t bytes) {
    used += bytes;
    lastUse[stored] = used;
  }
  /// Whether a tensor is a constant or an input, which are used once per run.
  static bool comesFromOutside(Value stored) {
    return isConstant(stored) || isa<BlockArgument>(stored);
  }
  static bool isReturned(Value result) {
    return llvm::any_of(result.getUsers(), [](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>();
    });
  }

  /// The bytes of all constants and inputs, and the bytes accessed so far.
  int64_t ofRun = 0, used = 0;
  llvm::DenseMap<Value, int64_t> lastUse;
};
} // namespace

/// Returns how often a kernel reads all of an argument: the weights of a
/// recurrence are read in each step.
static int64_t timesRead(BlockArgument argument, kernel::FuncOp function) {
  if (function.getStrategy() != "recurrence")
    return 1;
  Operation *anchor = schedule::GroupView(&function.getBody().front()).anchor();
  Value weights = anchor->getOperand(1);
  while (auto unpack = weights.getDefiningOp<graph::UnpackPanelsOp>())
    weights = unpack.getOperand();
  return weights == argument
             ? ShapedType::getNumElements(
                   graph::shapeOf(anchor->getOperand(0)).drop_back())
             : 1;
}

std::vector<std::pair<std::string, HostTime>>
predictLaunches(ModuleOp lowered, const TargetDescription &target,
                const HostRates &rates) {
  SymbolTable symbols(lowered);
  const TargetDescription measured = asMeasured(target, rates);
  ReuseDistances distances(lowered);
  struct Level {
    double rate;
    StringRef name;
  };
  auto levelOf = [&](int64_t bytes) -> Level {
    if (bytes <= target.residentBytes())
      return {rates.ownCacheBytes, "cache"};
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
    auto [cycles, least] = issueCycles({&function.getBody().front(), measured},
                                       function.getStrategy().value_or(""),
                                       function.getPlanAttr());
    double issue = cycles / rates.cyclesPerSecond, moving = 0, movingAgain = 0,
           waited = 0, slowest = 0;
    StringRef source = "cache";
    bool takesRows = function.getStrategy() == "transpose";
    auto move = [&](int64_t bytes, Level level) {
      bool isOwnCache = level.rate == rates.ownCacheBytes;
      double seconds =
          double(bytes) /
          (takesRows && !isOwnCache ? inRows * level.rate : level.rate);
      moving += seconds;
      if (!isOwnCache)
        waited += notHidden * seconds;
      if (seconds > slowest) {
        slowest = seconds;
        source = level.name;
      }
    };
    for (auto [operand, argument] :
         llvm::zip(launch.getOperands(), function.getArguments())) {
      int64_t bytes = schedule::bytesRead(argument),
              again = timesRead(argument, function) - 1;
      move(bytes, levelOf(distances.read(operand, bytes)));
      // The cycles estimated for the kernel include the first read of the
      // argument.
      movingAgain += double(again * bytes) / levelOf(bytes).rate;
    }
    for (Value result : launch.getResults())
      move(bytesOf(result), levelOf(distances.write(result)));
    time.seconds = std::max(issue, moving) + std::min(issue, waited);
    time.limit = std::max(least / rates.cyclesPerSecond, moving + movingAgain);
    time.bound = issue >= moving ? StringRef("issue") : source;
    predicted.push_back({launch.getCallee().str(), time});
  });
  return predicted;
}

} // namespace ingot
