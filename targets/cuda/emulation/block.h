// Threads of the emulated GPU. If threads wait for each other, each has its own
// stack. Included by cuda_runtime.h.

#ifndef INGOT_EMULATED_BLOCK_H
#define INGOT_EMULATED_BLOCK_H

// A block of threads. Threads run in sequence; a thread runs until it has to
// wait. It continues when all other threads of its block, or of its warp, wait
// as well, or when the awaited phase of an mbarrier is complete.
class EmulatedBlock {
public:
  static constexpr unsigned warp = 32;

  void run(unsigned count, const std::function<void()> &kernel) {
    this->kernel = &kernel;
    threads = count;
    next = 0;
    waiting.clear();
    EmulatedBlock *outer = current();
    current() = this;
    while (next < threads) {
      resume(take());
      // All threads have started and wait: lets those continue whose wait has
      // ended.
      while (next == threads && !waiting.empty())
        release();
    }
    current() = outer;
  }
  /// Waits until all threads of the warp or of the block have arrived.
  void wait(bool isWarp) {
    EmulatedKernelCode pause(false);
    Fiber *self = running;
    waiting.push_back({self, emulated_thread(), isWarp, nullptr, 0});
    swapcontext(&self->context, &scheduler);
    emulated_go_on(self->place);
    emulated_passed(isWarp);
  }
  /// Waits until the parity of the mbarrier's phase differs from `parity`, so
  /// that the phase with that parity is complete.
  void waitAtMbarrier(const int64_t *mbarrier, unsigned parity) {
    if (isOpen(mbarrier, parity))
      return;
    Fiber *self = running;
    waiting.push_back({self, emulated_thread(), false, mbarrier, parity});
    swapcontext(&self->context, &scheduler);
    emulated_go_on(self->place);
  }
  static EmulatedBlock *&current() {
    static thread_local EmulatedBlock *block = nullptr;
    return block;
  }
  // The values that the threads of a warp exchange, by number of the thread.
  uint64_t shown[emulated_most_threads];

private:
  struct Fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 << 10);
    unsigned place;
  };
  struct Waiting {
    Fiber *fiber;
    unsigned place;
    bool isWarp;
    const int64_t *mbarrier;
    unsigned parity;
  };

  static bool isOpen(const int64_t *mbarrier, unsigned parity) {
    return EmulatedMbarrier::of(mbarrier).phase != parity;
  }

  static unsigned warpOf(const Waiting &one) { return one.place / warp; }

  /// Ends the waits whose condition holds, so that their threads can continue.
  void release() {
    std::vector<Waiting> ready;
    for (const Waiting &one : waiting)
      if (one.mbarrier && isOpen(one.mbarrier, one.parity))
        ready.push_back(one);
    for (unsigned w = 0; w * warp < threads; ++w) {
      unsigned present = 0, atWarp = 0;
      for (const Waiting &one : waiting)
        if (warpOf(one) == w) {
          ++present;
          atWarp += one.isWarp;
        }
      if (atWarp == 0 || atWarp < present)
        continue;
      for (const Waiting &one : waiting)
        if (warpOf(one) == w)
          ready.push_back(one);
    }
    if (ready.empty()) {
      bool isBlock = waiting.size() == threads;
      for (const Waiting &one : waiting)
        isBlock &= !one.isWarp && !one.mbarrier;
      // If no thread can continue, an asynchronous copy completes.
      auto isAwaited = [&](const int64_t *mbarrier) {
        for (const Waiting &one : waiting)
          if (one.mbarrier == mbarrier)
            return true;
        return false;
      };
      if (!isBlock && EmulatedTiles::ofBlock().arriveLate(isAwaited))
        return;
      if (!isBlock) {
        fprintf(stderr,
                "emulated GPU: some threads of block %u wait at a barrier or "
                "mbarrier that the other threads never reach\n",
                blockIdx.x);
        abort();
      }
      ready = waiting;
    }
    for (const Waiting &one : ready)
      isReady[one.place] = true;
    std::vector<Waiting> others;
    for (const Waiting &one : waiting)
      if (!isReady[one.place])
        others.push_back(one);
    for (const Waiting &one : ready)
      isReady[one.place] = false;
    waiting = others;
    if (emulated_gpu().backwards)
      for (size_t i = ready.size(); i-- > 0;)
        proceed(ready[i]);
    else
      for (const Waiting &one : ready)
        proceed(one);
  }
  void proceed(const Waiting &one) {
    one.fiber->place = one.place;
    resume(one.fiber);
  }
  void resume(Fiber *fiber) {
    running = fiber;
    emulated_stack(fiber->stack.data(), fiber->stack.size());
    swapcontext(&scheduler, &fiber->context);
  }
  /// Returns a stack that is not in use, for threads that have not started yet.
  Fiber *take() {
    Fiber *fiber;
    if (idle.empty()) {
      fibers.emplace_back(new Fiber);
      fiber = fibers.back().get();
    } else {
      fiber = idle.back();
      idle.pop_back();
    }
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack.data();
    fiber->context.uc_stack.ss_size = fiber->stack.size();
    fiber->context.uc_link = &scheduler;
    makecontext(&fiber->context, &EmulatedBlock::begin, 0);
    return fiber;
  }
  static void begin() {
    EmulatedBlock *block = current();
    Fiber *self = block->running;
    while (block->next < block->threads) {
      unsigned number = block->next++;
      emulated_go_on(emulated_gpu().backwards ? block->threads - 1 - number
                                              : number);
      (*block->kernel)();
    }
    block->idle.push_back(self);
  }

  const std::function<void()> *kernel = nullptr;
  unsigned threads = 0, next = 0;
  ucontext_t scheduler;
  Fiber *running = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber *> idle;
  std::vector<Waiting> waiting;
  bool isReady[emulated_most_threads] = {};
};

#endif // INGOT_EMULATED_BLOCK_H
