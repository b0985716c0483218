// Runs the program of teams.mlir without and with threads, and counts the calls
// of parallel_for.
#include "ingot_thread_pool.h"
#include "net.h"

#include <cstdio>

alignas(64) static unsigned char arena[NET_ARENA_BYTES];
static ingot::ThreadPool pool(3);
static int forks;
static std::vector<int32_t> traced;

int main() {
  float x[8], y[8];
  for (int i = 0; i < 8; ++i)
    x[i] = float(i);
  ingot_context shared = {};
  shared.parallel_for = [](void *, ptrdiff_t extent, ingot_body body,
                           void *argument) {
    ++forks;
    pool.parallelFor(extent, body, argument);
  };
  shared.trace = [](void *, int32_t kernel, int32_t finished) {
    traced.push_back(2 * kernel + finished);
  };
  for (const ingot_context *context :
       {(const ingot_context *)nullptr, (const ingot_context *)&shared})
    for (int run = 0; run < 100; ++run) {
      net_io io{};
      io.x = x;
      io.y = y;
      forks = 0;
      traced.clear();
      if (net_run(&io, arena, context) != INGOT_OK)
        return 1;
      for (int i = 0; i < 8; ++i) {
        float one = float(i + 1), sum = (x[i] + 2) * one + one;
        if (y[i] != sum * 2 + 4) {
          std::printf("y[%d] is %g\n", i, double(y[i]));
          return 1;
        }
      }
      if (forks != (context ? 2 : 0)) {
        std::printf("asked for threads %d times\n", forks);
        return 1;
      }
#ifdef TRACE
      // The begin and end of each kernel must be traced in execution order.
      for (size_t i = 0; context && i < 12; ++i)
        if (traced.size() != 12 || traced[i] != int32_t(i)) {
          std::printf("%zu events, the one of index %zu is another\n",
                      traced.size(), i);
          return 1;
        }
#endif
    }
}
