// Runs a sequence of steps on a worker group (threads that compute consecutive
// short kernels together), with several implementations of parallel_for. Each
// step reads what the previous one wrote.
#include "ingot_thread_pool.h"

namespace {
// ingot_team.h needs this macro and this function, which generated files define
// themselves.
#define INGOT_NOINLINE [[gnu::noinline]]
bool pays_to_fork(const ingot_context *context, uint64_t) {
  return context && context->parallel_for;
}
#include "ingot_team.h"
} // namespace

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static constexpr ptrdiff_t most = 5000;
static constexpr ptrdiff_t extents[] = {25, 2, 1, 0, 64, most, 7, 3, 4096};

struct Memory {
  unsigned a[most], b[most], total;
};

/// Runs the sequence of steps on a worker group, the threads that compute these
/// steps together. In steps of 64 iterations, the thread that gets iteration 0
/// first sleeps for `delay` milliseconds.
static void run(const ingot_context *context, Memory *memory, int delay) {
  in_team(context, 1000, [=](Team &team) {
    for (int round = 0; round < 4; ++round)
      for (ptrdiff_t extent : extents) {
        unsigned *from = memory->a, *to = memory->b;
        team.share(extent, [=](ptrdiff_t begin, ptrdiff_t end) {
          if (delay && extent == 64 && begin == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(delay));
          for (ptrdiff_t i = begin; i < end; ++i)
            to[i] = from[i] * 3 + from[extent - 1 - i] + unsigned(i);
        });
        team.once([=] { memory->total = memory->total * 5 + to[0]; });
        team.share(extent, [=](ptrdiff_t begin, ptrdiff_t end) {
          for (ptrdiff_t i = begin; i < end; ++i)
            from[i] = to[extent - 1 - i] + memory->total;
        });
      }
  });
}

static Memory expected, actual;

static void check(const char *threads, const ingot_context &context,
                  int delay = 0) {
  std::memset(&actual, 0, sizeof actual);
  run(&context, &actual, delay);
  if (std::memcmp(&actual, &expected, sizeof actual)) {
    std::printf("%s: another result than by one thread\n", threads);
    std::exit(1);
  }
}

/// A parallel_for that runs the iterations one by one on the calling thread,
/// the last one first.
static void reversed(void *, ptrdiff_t extent, ingot_body body,
                     void *argument) {
  for (ptrdiff_t i = extent; i-- > 0;)
    body(argument, i, i + 1);
}

/// A parallel_for that runs all iterations in one call on the calling thread,
/// and calls `body` with an empty range before and after it.
static void whole(void *, ptrdiff_t extent, ingot_body body, void *argument) {
  body(argument, 0, 0);
  body(argument, 0, extent);
  body(argument, extent, extent);
}

/// A parallel_for with one thread per iteration.
static void threads(void *, ptrdiff_t extent, ingot_body body, void *argument) {
  std::vector<std::thread> all;
  for (ptrdiff_t i = 0; i < extent; ++i)
    all.emplace_back([=] { body(argument, i, i + 1); });
  for (std::thread &thread : all)
    thread.join();
}

int main() {
  run(nullptr, &expected, 0);
  ingot_context context = {};
  check("no threads", context);
  context.parallel_for = whole;
  check("the whole at once", context);
  context.parallel_for = reversed;
  check("part after part", context);
  context.parallel_for = threads;
  for (int i = 0; i < 3; ++i)
    check("a thread for each part", context);
  for (unsigned size : {1, 2, 3, 8, 64}) {
    ingot::ThreadPool pool(size);
    for (int i = 0; i < (size > 8 ? 3 : 20); ++i)
      check("a pool", pool.context());
    // One thread sleeps for 20 ms in a step; the others stop waiting before the
    // step ends. The run must still complete.
    check("a pool with a late thread", pool.context(), 20);
  }
  // Two concurrent runs, one of which gets no threads of the pool.
  ingot::ThreadPool pool(3);
  Memory other = {};
  std::thread second([&] {
    ingot_context context = pool.context();
    run(&context, &other, 0);
  });
  check("a pool in use", pool.context());
  second.join();
  if (std::memcmp(&other, &expected, sizeof other)) {
    std::puts("two runs at once: another result than by one thread");
    return 1;
  }
}
