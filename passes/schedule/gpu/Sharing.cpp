#include "passes/schedule/gpu/Sharing.h"

using namespace ingot::graph;

namespace ingot::schedule {

void share(KernelBuilder &b, Expr thread, int64_t threads, int64_t count,
           llvm::function_ref<void(Expr)> body) {
  for (int64_t first = 0; first < count; first += threads) {
    Expr mine = first ? thread + double(first) : thread;
    if (first + threads <= count)
      body(mine);
    else
      b.when(mine < double(count), [&] { body(mine); });
  }
}

int64_t mostShared(const Device &device) {
  return device.multipliesByWarpgroups() ? device.sharedBytes
                                         : device.declaredSharedBytes;
}

} // namespace ingot::schedule
