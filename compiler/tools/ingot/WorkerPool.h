//===- WorkerPool.h - threads behind ingot_context::parallel_for -*- C++ -*-==//

#ifndef INGOT_COMPILER_TOOLS_INGOT_WORKERPOOL_H
#define INGOT_COMPILER_TOOLS_INGOT_WORKERPOOL_H

#include "runtime_support/ingot.h"

#include <atomic>
#include <thread>
#include <vector>

namespace ingot {

/// Threads that wait for loops. They spin between loops, since kernels follow
/// each other within microseconds; made for measuring, not for sharing a
/// machine.
class WorkerPool {
public:
  explicit WorkerPool(unsigned threads);
  ~WorkerPool();
  /// What a model takes; valid as long as this.
  const ingot_context *context() const { return &hooks; }

private:
  static void parallelFor(void *user, ptrdiff_t extent, ingot_body body,
                          void *argument);
  void work(unsigned worker);
  void runPart(unsigned part);

  ingot_context hooks = {};
  std::vector<std::thread> workers;
  unsigned parts;
  ptrdiff_t extent = 0;
  ingot_body body = nullptr;
  void *argument = nullptr;
  std::atomic<unsigned> generation{0}, pending{0};
  std::atomic<bool> stopping{false};
};

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_WORKERPOOL_H
