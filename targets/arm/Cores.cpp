// The cost models of 64-bit Arm cores.
//
// Throughputs and latencies are those of the scheduling models of LLVM 22,
// queried with llvm-mca for loops of multiply-adds by lane, 16-byte loads and
// additions (November 2026). For Cortex-A72, LLVM uses its model of Cortex-A57.
// Cortex-A76 and A78 have no entry: LLVM's model of them has one multiply-add
// per cycle, but they are the same core as Neoverse N1, whose entry applies to
// them. The entry of Neoverse V1 applies to Cortex-X1. A 16-byte load occupies
// the 64-bit load path of Cortex-A53, an in-order core, twice. Cache sizes are
// the middle of the range in Arm's technical reference manuals.

#include "targets/Cores.h"

namespace ingot::targets {

static IssueRates rates(double latency, double dotLatency, double multiplyAdds,
                        double loads, double instructions) {
  IssueRates result;
  result.multiplyAddLatency = latency;
  result.dotLatency = dotLatency;
  result.multiplyAdds = multiplyAdds;
  result.loads = loads;
  result.instructions = instructions;
  return result;
}

void arm(std::vector<Core> &cores) {
  constexpr int64_t kib = 1 << 10;
  auto add = [&](llvm::StringRef name, llvm::StringRef summary,
                 const IssueRates &rates, int64_t l1, int64_t l2) {
    cores.push_back({name, summary, "aarch64", rates, l1 * kib, l2 * kib});
  };
  add("cortex-a53", "in order, two instructions in a cycle",
      rates(10, 6, 1, 0.5, 2), 32, 512);
  add("cortex-a55", "in order, two instructions in a cycle",
      rates(4, 4, 1, 1, 2), 32, 128);
  add("cortex-a72", "out of order, one multiply-add in a cycle",
      rates(4, 5, 1, 1, 3), 32, 1024);
  add("neoverse-n1", "out of order, two multiply-adds in a cycle",
      rates(4, 2, 2, 2, 4), 64, 1024);
  add("neoverse-v1", "out of order, four multiply-adds in a cycle",
      rates(2, 1, 4, 3, 8), 64, 1024);
}

} // namespace ingot::targets
