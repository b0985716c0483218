//===- WorkerPool.cpp -----------------------------------------------------===//

#include "compiler/tools/ingot/WorkerPool.h"

namespace ingot {

WorkerPool::WorkerPool(unsigned threads) : parts(threads) {
  hooks.parallel_for = parallelFor;
  hooks.user = this;
  for (unsigned i = 1; i < threads; ++i)
    workers.emplace_back([this, i] { work(i); });
}

WorkerPool::~WorkerPool() {
  stopping = true;
  ++generation;
  for (std::thread &worker : workers)
    worker.join();
}

void WorkerPool::runPart(unsigned part) {
  ptrdiff_t begin = extent * part / parts, end = extent * (part + 1) / parts;
  if (begin < end)
    body(argument, begin, end);
}

void WorkerPool::work(unsigned worker) {
  for (unsigned seen = 0;;) {
    while (generation.load(std::memory_order_acquire) == seen)
      ;
    ++seen;
    if (stopping)
      return;
    runPart(worker);
    pending.fetch_sub(1, std::memory_order_release);
  }
}

void WorkerPool::parallelFor(void *user, ptrdiff_t extent, ingot_body body,
                             void *argument) {
  auto &pool = *static_cast<WorkerPool *>(user);
  if (pool.parts == 1 || extent == 1)
    return body(argument, 0, extent);
  pool.extent = extent;
  pool.body = body;
  pool.argument = argument;
  pool.pending.store(pool.parts - 1, std::memory_order_relaxed);
  pool.generation.fetch_add(1, std::memory_order_release);
  pool.runPart(0);
  while (pool.pending.load(std::memory_order_acquire) != 0)
    ;
}

} // namespace ingot
