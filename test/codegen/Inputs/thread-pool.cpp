#include "ingot_thread_pool.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

struct Steps {
  std::vector<int> counts;
  static void add(void *self, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t i = begin; i < end; ++i)
      ++static_cast<Steps *>(self)->counts[i];
  }
};

static void runAll(ingot::ThreadPool &pool, int jobs) {
  ingot_context context = pool.context();
  for (int job = 0; job < jobs; ++job)
    for (ptrdiff_t extent : {0, 1, 2, 3, 7, 64, 1000}) {
      Steps steps{std::vector<int>(extent)};
      context.parallel_for(context.user, extent, Steps::add, &steps);
      for (int count : steps.counts)
        if (count != 1) {
          std::printf("a step of %td ran %d times\n", extent, count);
          std::exit(1);
        }
    }
}

int main() {
  ingot::ThreadPool pool(3), alone(1);
  if (pool.size() != 3 || alone.size() != 1)
    return 1;
  runAll(pool, 200);
  runAll(alone, 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  runAll(pool, 10);
  // Two concurrent users of one pool: while one user has the pool's threads,
  // the other does all work on its own thread.
  std::thread other([&] { runAll(pool, 50); });
  runAll(pool, 50);
  other.join();
  // The time of a fork (a call of parallel_for) is measured including the time
  // that the second thread takes to start.
  ingot_context late = {};
  late.parallel_for = [](void *, ptrdiff_t extent, ingot_body body,
                         void *argument) {
    std::thread second([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      body(argument, extent / 2, extent);
    });
    body(argument, 0, extent / 2);
    second.join();
  };
  if (pool.context().fork_nanoseconds == 0 ||
      alone.context().fork_nanoseconds != 0 ||
      ingot::measureFork(late) < 900'000) {
    std::puts("the time of a fork is not measured");
    return 1;
  }
}
