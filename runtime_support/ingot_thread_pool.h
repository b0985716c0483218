// ingot_thread_pool.h - threads for models compiled by Ingot, for hosted C++17.
// SPDX-License-Identifier: MIT-0
//
//     ingot::ThreadPool pool(4);               // the caller and three workers
//     ingot_context context = pool.context();
//     mnist_run(&io, arena, &context);
//
// A model calls parallel_for once per kernel, or once per group of short kernels, often for a few
// microseconds of work. Workers therefore spin for a while before they sleep. A loop is divided
// into parts; threads take parts through one atomic word: the caller takes the first parts, workers
// take the last ones, so that a thread mostly reads rows that it wrote itself in the previous
// kernel. One run at a time may use a pool. A second, concurrent run is correct, but uses only the
// thread that calls it.
//
// The constructor measures how long it takes on this machine to start another thread and to wait
// for it; models then run loops that are too short for this on one thread. The measurement takes
// about two milliseconds, or up to 50 more if a new thread first waits for a processor.
// `ingot::measureFork` does the same for a context with another parallel_for.
#ifndef INGOT_THREAD_POOL_H
#define INGOT_THREAD_POOL_H

#include "ingot.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace ingot {

/// Returns the value for `context.fork_nanoseconds`: the time of a loop that `context.parallel_for`
/// divides between two threads, minus half of its time on one thread. A quarter of the iterations
/// of the measured loop read what the other thread wrote in the previous loop, as in kernels that
/// read neighboring rows. The loop takes some microseconds, so that the other thread takes a part
/// of it.
inline uint64_t measureFork(const ingot_context &context) {
  constexpr ptrdiff_t kRows = 64, kColumns = 32;
  constexpr int kRounds = 31, kSteps = 5, kBetween = 4;
  constexpr std::chrono::milliseconds kLongestWait{50};
  struct Data {
    unsigned rows[2][kRows][kColumns] = {};
    int from = 0;
  } data;
  ingot_body body = [](void *argument, ptrdiff_t begin, ptrdiff_t end) {
    Data &data = *static_cast<Data *>(argument);
    for (ptrdiff_t row = begin; row < end; ++row)
      for (ptrdiff_t column = 0; column < kColumns; ++column) {
        unsigned value = data.rows[data.from][row % 4 == 0 ? kRows - 1 - row : row][column];
        for (int step = 0; step < kSteps; ++step)
          value = (value ^ value >> 7) * 5 + 1;
        data.rows[1 - data.from][row][column] = value;
      }
  };
  auto nanoseconds = [&](bool divides) {
    auto start = std::chrono::steady_clock::now();
    if (divides)
      context.parallel_for(context.user, kRows, body, &data);
    else
      body(&data, 0, kRows);
    auto end = std::chrono::steady_clock::now();
    data.from = 1 - data.from;
    return int64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
  };
  auto median = [](int64_t (&times)[kRounds]) {
    std::nth_element(times, times + kRounds / 2, times + kRounds);
    return times[kRounds / 2];
  };
  // Undivided loops follow each divided one, so that the other threads do not sleep in between, and
  // a thread that was late for a loop is not early for the next one. The least of three
  // measurements counts, since other programs can only lengthen a loop. A new thread may first wait
  // for a processor: until the other thread saves a quarter of the time, the measurement is
  // repeated.
  auto start = std::chrono::steady_clock::now();
  int64_t least = INT64_MAX;
  for (int count = 1;; ++count) {
    int64_t divided[kRounds], undivided[kRounds];
    for (int round = 0; round < kRounds; ++round) {
      divided[round] = nanoseconds(/*divides=*/true);
      for (int loop = 0; loop < kBetween; ++loop)
        undivided[round] = nanoseconds(/*divides=*/false);
    }
    int64_t alone = median(undivided);
    least = std::min(least, median(divided) - alone / 2);
    if ((count >= 3 && least < alone / 4) ||
        std::chrono::steady_clock::now() - start > kLongestWait)
      return uint64_t(std::max<int64_t>(least, 1));
  }
}

class ThreadPool {
public:
  /// `threads` is the number of threads including the calling one; 0: one for each hardware thread
  /// of the machine.
  explicit ThreadPool(unsigned threads = 0) {
    if (threads == 0)
      threads = std::thread::hardware_concurrency();
    for (unsigned i = 1; i < threads; ++i)
      workers.emplace_back([this] { work(); });
    if (!workers.empty())
      forkNanoseconds = measureFork(context());
  }
  ~ThreadPool() {
    stopping.store(true);
    wake();
    for (std::thread &worker : workers)
      worker.join();
  }
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return unsigned(workers.size()) + 1; }

  ingot_context context() {
    ingot_context result = {};
    result.parallel_for = [](void *pool, ptrdiff_t extent, ingot_body body, void *argument) {
      static_cast<ThreadPool *>(pool)->parallelFor(extent, body, argument);
    };
    result.user = this;
    result.fork_nanoseconds = forkNanoseconds;
    return result;
  }

  void parallelFor(ptrdiff_t extent, ingot_body body, void *argument) {
    if (extent <= 1 || workers.empty() || busy.exchange(true)) {
      body(argument, 0, extent);
      return;
    }
    // There are more parts than threads, so that the other threads take over the parts of a thread
    // that starts late or has slow iterations.
    ptrdiff_t parts = 4 * ptrdiff_t(size());
    parts = parts < extent ? parts : extent;
    parts = parts < kMaxParts ? parts : kMaxParts;
    job.body.store(body, std::memory_order_relaxed);
    job.argument.store(argument, std::memory_order_relaxed);
    job.extent.store(extent, std::memory_order_relaxed);
    unfinished.store(parts, std::memory_order_relaxed);
    ++generation;
    ticket.store(uint64_t(generation) << 36 | uint64_t(parts) << 24);
    wake();
    unfinished.fetch_sub(runParts(/*fromBack=*/false), std::memory_order_acquire);
    for (unsigned spins = 0; unfinished.load(std::memory_order_acquire) != 0; ++spins)
      pause(spins);
    busy.store(false);
  }

private:
  // The loop to execute, until all of its parts have been taken. Its fields are atomic, since a
  // late worker may read them while the next job is being set up. In that case the exchange of its
  // outdated ticket fails, and the worker reads the fields again.
  struct Job {
    std::atomic<ingot_body> body{nullptr};
    std::atomic<void *> argument{nullptr};
    std::atomic<ptrdiff_t> extent{0};
  };

  static constexpr size_t kLine = 64;
  static constexpr ptrdiff_t kMaxParts = 0xfff;
  static ptrdiff_t partsOf(uint64_t ticket) { return ticket >> 24 & 0xfff; }
  static ptrdiff_t frontOf(uint64_t ticket) { return ticket >> 12 & 0xfff; }
  static ptrdiff_t backOf(uint64_t ticket) { return ticket & 0xfff; }
  bool hasWork() const {
    uint64_t now = ticket.load();
    return frontOf(now) + backOf(now) < partsOf(now);
  }

  /// Takes and executes parts until none are left; returns how many. A thread first takes half of
  /// an equal share of the parts at once, so that threads seldom access `ticket` at the same time.
  ptrdiff_t runParts(bool fromBack) {
    ptrdiff_t done = 0;
    uint64_t now = ticket.load(std::memory_order_acquire);
    for (;;) {
      ptrdiff_t front = frontOf(now), back = backOf(now), parts = partsOf(now);
      if (front + back >= parts)
        return done;
      ptrdiff_t share = parts / (2 * ptrdiff_t(size()));
      ptrdiff_t left = parts - front - back, taken = done > 0 || share < 1 ? 1
                                                     : share < left        ? share
                                                                           : left;
      ptrdiff_t first = fromBack ? parts - back - taken : front;
      ingot_body body = job.body.load(std::memory_order_relaxed);
      void *argument = job.argument.load(std::memory_order_relaxed);
      ptrdiff_t extent = job.extent.load(std::memory_order_relaxed);
      uint64_t step = uint64_t(taken) << (fromBack ? 0 : 12);
      if (!ticket.compare_exchange_weak(now, now + step))
        continue;
      // `rest` parts have one iteration more than the others; they are distributed evenly.
      ptrdiff_t length = extent / parts, rest = extent % parts, end = first + taken;
      body(argument, first * length + first * rest / parts, end * length + end * rest / parts);
      done += taken;
      now = ticket.load(std::memory_order_acquire);
    }
  }

  void work() {
    for (unsigned spins = 0; !stopping.load(std::memory_order_relaxed);) {
      if (ptrdiff_t done = runParts(/*fromBack=*/true)) {
        unfinished.fetch_sub(done, std::memory_order_release);
        spins = 0;
        continue;
      }
      if (++spins < kSpins) {
        pause(spins);
        continue;
      }
      spins = 0;
      std::unique_lock<std::mutex> lock(mutex);
      sleeping.fetch_add(1);
      wakeUp.wait(lock, [this] { return hasWork() || stopping.load(); });
      sleeping.fetch_sub(1);
    }
  }

  void wake() {
    // A worker increments `sleeping` before it looks for work for the last time, and this function
    // reads `sleeping` after the work was published. So either the worker finds the work, or it is
    // woken here.
    if (sleeping.load() == 0)
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
    }
    wakeUp.notify_all();
  }

  static void pause(unsigned spins) {
    // If there are fewer cores than threads, the thread that is waited for may need this core.
    if (spins % 1024 == 1023)
      std::this_thread::yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }

  static constexpr unsigned kSpins = 20000;

  /// One word: the number of the job, its number of parts, and how many parts were taken from the
  /// front and from the back. This word is in the same cache line as the job.
  alignas(kLine) std::atomic<uint64_t> ticket{0};
  Job job;
  /// The number of parts that are not finished. Not in the cache line of `ticket`, which idle
  /// workers read all the time.
  alignas(kLine) std::atomic<ptrdiff_t> unfinished{0};
  uint32_t generation = 0;
  std::atomic<bool> busy{false};
  alignas(kLine) std::atomic<bool> stopping{false};
  std::atomic<unsigned> sleeping{0};
  uint64_t forkNanoseconds = 0;
  std::mutex mutex;
  std::condition_variable wakeUp;
  /// Declared last and so destroyed first, since the threads use all other members.
  std::vector<std::thread> workers;
};

} // namespace ingot

#endif // INGOT_THREAD_POOL_H
