// A debug mode of the emulated GPU that detects races: it records reads and
// writes between barriers. Included by cuda_runtime.h.
//
//     clang++ -DEMULATED_GPU_CHECK -fsanitize-coverage=func,trace-loads,trace-stores
//             -fsanitize=bounds -fsanitize-trap=bounds -fno-sanitize-link-runtime
//             -std=c++17 -x c++ net.cu ...
//
// clang then inserts a call for each memory access of a kernel. Reported are:
// - accesses of two threads to the same byte, at least one of them a write, if
//   both threads take part in no barrier between the accesses. The threads may
//   belong to two launches, in branches of a CUDA graph that run concurrently;
// - accesses to the target of an asynchronous copy that has not been awaited;
// - accesses out of bounds: to an address that is neither in device memory, nor
//   in shared memory, nor on the thread's stack. (Within shared memory,
//   -fsanitize=bounds traps accesses outside of an array.)
// The program then prints the threads and aborts. The functions of this header
// replace clang's own runtime.

#ifndef INGOT_EMULATED_RACES_H
#define INGOT_EMULATED_RACES_H

#ifndef EMULATED_GPU_CHECK
inline void emulated_read(const void *, size_t) {}
inline void emulated_write(void *, size_t) {}
struct EmulatedKernelCode {
  explicit EmulatedKernelCode(bool) {}
};
inline void emulated_beside(const std::vector<std::pair<size_t, size_t>> *) {}
inline void emulated_passed(bool) {}
inline void emulated_stack(const char *, size_t) {}
inline void emulated_pending(void *, int) {}
inline void emulated_begin_block(bool) {}
inline void emulated_begun() {}
inline void emulated_release(const void *) {}
inline void emulated_opened(const void *) {}
inline void emulated_acquire(const void *) {}
inline unsigned emulated_issue() { return 0; }
inline void emulated_arrived(const void *, unsigned, unsigned) {}
inline void emulated_in_flight(void *, size_t, bool) {}
inline void emulated_reading(const void *, int) {}
inline void emulated_counted(const void *) {}
inline void emulated_begin_launch() {}

#else
#ifndef __clang__
#error "the debug mode of the emulated GPU needs clang"
#endif
#include <algorithm>
#include <unordered_map>

// Called when this thread stores to the accumulators of warpgroup products.
inline void emulated_changed_sums();

extern "C" {
__attribute__((weak)) extern char __start_emulated_shared[],
    __stop_emulated_shared[];
extern char __executable_start[], _end[];
}

class EmulatedRaces {
public:
  // The attribute that disables checks in functions of this header (see
  // cuda_runtime.h) does not apply to an implicit constructor, so an explicit
  // one is defined.
  EmulatedRaces() {}

  // Whether the running code is part of a kernel.
  bool isKernel = false;
  const char *stackBegin = nullptr, *stackEnd = nullptr;
  unsigned blockEpochs[emulated_most_threads] = {},
           warpEpochs[emulated_most_threads] = {};

  void use(const void *address, size_t bytes, bool isWrite) {
    const char *first = static_cast<const char *>(address);
    if (first >= stackBegin && first < stackEnd)
      return useOwn(first, bytes, isWrite);
    bool isShared =
        isIn(first, __start_emulated_shared, __stop_emulated_shared);
    if (!isShared && isIn(first, __executable_start, _end))
      return;
    if (!isShared && !isAllocated(first, bytes))
      complain("is out of bounds", first, bytes, isWrite, nullptr);
    if (!isShared && !mayBegin[emulated_thread()] &&
        (isWrite || isOfKernels(first, bytes)))
      complain("is before the end of the preceding kernel", first, bytes,
               isWrite, nullptr);
    Access now = {static_cast<unsigned>(emulated_gpu().launches),
                  blockIdx.x / emulated_cluster,
                  emulated_thread(),
                  blockEpochs[emulated_thread()],
                  warpEpochs[emulated_thread()],
                  clocks[emulated_thread()]};
    for (const char *byte = first; byte < first + bytes; ++byte)
      use(cellOf(byte), now, byte, bytes, isWrite, isShared);
  }

  // The launches that may run concurrently with the next launches, as ranges of
  // launch numbers (greater than `first`, up to `second`); null if there are
  // none.
  const std::vector<std::pair<size_t, size_t>> *beside = nullptr;

  // Adds (`by` = 1) or removes (`by` = -1) a pending copy of 16 bytes to
  // address `to`.
  void changePending(void *to, int by) {
    for (int i = 0; i < 16; ++i)
      cellOf(static_cast<char *>(to) + i).pending += by;
  }

  // The functions below record how mbarriers order threads: once a thread has
  // waited for a phase of an mbarrier, the accesses of other threads before
  // they arrived in this phase have completed. Each thread counts its arrivals.
  void beginBlock(bool isEarly) {
    mbarriers.clear();
    knownBlocks.clear();
    for (unsigned thread = 0; thread < emulated_most_threads; ++thread) {
      mayBegin[thread] = !isEarly;
      known[thread].clear();
      sums[thread].clear();
    }
  }
  // Whether a kernel has stored to any of these bytes. Bytes to which no kernel
  // has stored are constants.
  bool isOfKernels(const char *first, size_t bytes) {
    return std::any_of(first, first + bytes, [this](const char &byte) {
      return cellOf(&byte).written.launch != 0;
    });
  }
  // Records that this thread has waited for the previous kernel.
  void begun() { mayBegin[emulated_thread()] = true; }
  void release(const void *mbarrier) {
    unsigned thread = emulated_thread();
    join(mbarriers[mbarrier].arrived, known[thread]);
    arrived(mbarrier, thread, clocks[thread]++);
  }
  void arrived(const void *mbarrier, unsigned thread, unsigned clock) {
    std::vector<unsigned> &of = mbarriers[mbarrier].arrived;
    of.resize(std::max<size_t>(of.size(), thread + 1));
    of[thread] = std::max(of[thread], clock + 1);
  }
  void opened(const void *mbarrier) {
    join(mbarriers[mbarrier].opened, mbarriers[mbarrier].arrived);
  }
  void acquire(const void *mbarrier) {
    join(known[emulated_thread()], mbarriers[mbarrier].opened);
  }
  unsigned issue() { return clocks[emulated_thread()]++; }

  // Records that these accumulators belong to a product of this thread, which
  // is in flight (`isInFlight`) or has completed.
  void changeSums(void *first, size_t bytes, bool isInFlight) {
    const char *begin = static_cast<const char *>(first);
    for (Sums &one : sums[emulated_thread()])
      if (one.begin == begin) {
        one = {begin, begin + bytes, isInFlight};
        return;
      }
    sums[emulated_thread()].push_back({begin, begin + bytes, isInFlight});
  }

  // Records that this block adds to `number`, a counter in device memory that
  // orders blocks: the blocks that added to it earlier have completed their
  // writes.
  void counted(const void *number) {
    for (const auto &other : countsAt[number])
      join(knownBlocks, other.first, other.second);
    join(countsAt[number], blockIdx.x, blockEpochs[emulated_thread()]);
  }
  void beginLaunch() { countsAt.clear(); }

  // Adds (`by` = 1) or removes (`by` = -1) a pending product that reads 16
  // bytes at address `from`.
  void changeReading(const void *from, int by) {
    for (int i = 0; i < 16; ++i)
      cellOf(static_cast<const char *>(from) + i).reading += by;
  }

  static EmulatedRaces &all() {
    static EmulatedRaces races;
    return races;
  }

private:
  struct Access {
    unsigned launch, block, thread, blockEpoch, warpEpoch, clock;
  };
  struct Mbarrier {
    std::vector<unsigned> arrived, opened;
  };
  struct Sums {
    const char *begin, *end;
    bool isInFlight;
  };
  static void join(std::vector<unsigned> &to, const std::vector<unsigned> &of) {
    to.resize(std::max(to.size(), of.size()));
    for (size_t i = 0; i < of.size(); ++i)
      to[i] = std::max(to[i], of[i]);
  }
  // Maps a block to its epoch (number of barriers) up to which its accesses are
  // known to have completed.
  typedef std::unordered_map<unsigned, unsigned> Blocks;
  static void join(Blocks &to, unsigned block, unsigned epoch) {
    unsigned &known = to[block];
    known = std::max(known, epoch);
  }
  // The last accesses to a byte, and the numbers of pending copies to it and of
  // pending products that read it. Two reads are stored: if one of them is by
  // the thread that writes next, the other may still race with the write.
  struct Cell {
    Access written, read[2];
    int pending, reading;
  };

  static bool isIn(const char *byte, const char *begin, const char *end) {
    return begin && byte >= begin && byte < end;
  }
  static bool isAllocated(const char *first, size_t bytes) {
    const auto &allocations = emulated_gpu().allocations;
    auto behind = allocations.upper_bound(first);
    if (behind == allocations.begin())
      return false;
    --behind;
    return first + bytes <= behind->first + behind->second.bytes;
  }

  // Whether barriers order two accesses, so that these cannot be concurrent.
  bool areOrdered(const Access &before, const Access &now,
                  bool isShared) const {
    if (before.launch != now.launch) {
      if (beside)
        for (const std::pair<size_t, size_t> &one : *beside)
          if (before.launch > one.first && before.launch <= one.second)
            return isShared;
      return true;
    }
    if (before.block != now.block) {
      auto other = knownBlocks.find(before.block);
      return isShared ||
             (other != knownBlocks.end() && before.blockEpoch < other->second);
    }
    return before.thread == now.thread || before.blockEpoch != now.blockEpoch ||
           (before.thread / 32 == now.thread / 32 &&
            before.warpEpoch != now.warpEpoch) ||
           (before.thread < known[now.thread].size() &&
            known[now.thread][before.thread] > before.clock);
  }

  // Checks an access of the running thread to its own stack, where its
  // accumulators are: fails if these belong to a wgmma that is still in flight.
  void useOwn(const char *first, size_t bytes, bool isWrite) {
    for (const Sums &one : sums[emulated_thread()]) {
      if (first < one.begin || first >= one.end)
        continue;
      if (one.isInFlight)
        complain("conflicts with a wgmma that is not awaited", first, bytes,
                 isWrite, nullptr);
      if (isWrite)
        emulated_changed_sums();
    }
  }

  void use(Cell &cell, const Access &now, const char *byte, size_t bytes,
           bool isWrite, bool isShared) {
    if (cell.pending > 0)
      complain("conflicts with a copy that is not awaited", byte, bytes,
               isWrite, nullptr);
    if (cell.reading > 0 && isWrite)
      complain("conflicts with a wgmma that is not awaited", byte, bytes,
               isWrite, nullptr);
    if (!areOrdered(cell.written, now, isShared))
      complain("races with a write of", byte, bytes, isWrite, &cell.written);
    if (isWrite) {
      for (const Access &read : cell.read)
        if (!areOrdered(read, now, isShared))
          complain("races with a read of", byte, bytes, isWrite, &read);
      cell.written = now;
      return;
    }
    for (Access &read : cell.read)
      if (areOrdered(read, now, isShared)) {
        read = now;
        return;
      }
  }

  Cell &cellOf(const char *byte) {
    constexpr uintptr_t size = 4096;
    uintptr_t number = reinterpret_cast<uintptr_t>(byte);
    if (number / size != lastPage) {
      std::unique_ptr<Cell[]> &page = pages[number / size];
      if (!page)
        page.reset(new Cell[size]());
      lastPage = number / size;
      cells = page.get();
    }
    return cells[number % size];
  }

  [[noreturn]] static void complain(const char *what, const char *byte,
                                    size_t bytes, bool isWrite,
                                    const Access *other) {
    fprintf(stderr,
            "emulated GPU: a %s of %zu bytes at %p by thread %u of block %u %s",
            isWrite ? "write" : "read", bytes, static_cast<const void *>(byte),
            threadIdx.x, blockIdx.x, what);
    if (other)
      fprintf(stderr, " thread %u of block %u%s", other->thread % blockDim.x,
              other->block * emulated_cluster + other->thread / blockDim.x,
              other->launch == emulated_gpu().launches
                  ? ""
                  : " in another branch of the graph");
    fputc('\n', stderr);
    abort();
  }

  std::unordered_map<uintptr_t, std::unique_ptr<Cell[]>> pages;
  uintptr_t lastPage = 0;
  Cell *cells = nullptr;
  unsigned clocks[emulated_most_threads] = {};
  bool mayBegin[emulated_most_threads];
  std::vector<unsigned> known[emulated_most_threads];
  std::vector<Sums> sums[emulated_most_threads];
  std::unordered_map<const void *, Mbarrier> mbarriers;
  Blocks knownBlocks;
  std::unordered_map<const void *, Blocks> countsAt;
};

inline void emulated_use(const void *address, size_t bytes, bool isWrite) {
  EmulatedRaces &races = EmulatedRaces::all();
  bool isKernel = races.isKernel;
  races.isKernel = false;
  races.use(address, bytes, isWrite);
  races.isKernel = isKernel;
}
inline void emulated_read(const void *address, size_t bytes) {
  emulated_use(address, bytes, false);
}
inline void emulated_write(void *address, size_t bytes) {
  emulated_use(address, bytes, true);
}
// While this object exists, marks the running code as part of a kernel (`is`)
// or not.
struct EmulatedKernelCode {
  explicit EmulatedKernelCode(bool is) : before(EmulatedRaces::all().isKernel) {
    EmulatedRaces::all().isKernel = is;
  }
  ~EmulatedKernelCode() { EmulatedRaces::all().isKernel = before; }
  bool before;
};
// Sets the launches that may run concurrently with the next launches, as ranges
// of launch numbers: greater than `first`, up to `second`.
inline void
emulated_beside(const std::vector<std::pair<size_t, size_t>> *launches) {
  EmulatedRaces::all().beside = launches;
}
// Records that this thread has passed a barrier of its warp or block.
inline void emulated_passed(bool isWarp) {
  EmulatedRaces &races = EmulatedRaces::all();
  ++(isWarp ? races.warpEpochs : races.blockEpochs)[emulated_thread()];
}
inline void emulated_stack(const char *begin, size_t bytes) {
  EmulatedRaces::all().stackBegin = begin;
  EmulatedRaces::all().stackEnd = begin + bytes;
}

inline void emulated_pending(void *to, int by) {
  EmulatedRaces::all().changePending(to, by);
}

inline void emulated_begin_block(bool isEarly) {
  EmulatedRaces::all().beginBlock(isEarly);
}
inline void emulated_begun() { EmulatedRaces::all().begun(); }
inline void emulated_release(const void *mbarrier) {
  EmulatedRaces::all().release(mbarrier);
}
inline void emulated_opened(const void *mbarrier) {
  EmulatedRaces::all().opened(mbarrier);
}
inline void emulated_acquire(const void *mbarrier) {
  EmulatedRaces::all().acquire(mbarrier);
}
inline unsigned emulated_issue() { return EmulatedRaces::all().issue(); }
inline void emulated_arrived(const void *mbarrier, unsigned thread,
                             unsigned clock) {
  EmulatedRaces::all().arrived(mbarrier, thread, clock);
}
inline void emulated_in_flight(void *sums, size_t bytes, bool is) {
  EmulatedRaces::all().changeSums(sums, bytes, is);
}

inline void emulated_reading(const void *from, int by) {
  EmulatedRaces::all().changeReading(from, by);
}

inline void emulated_counted(const void *number) {
  EmulatedRaces::all().counted(number);
}
inline void emulated_begin_launch() { EmulatedRaces::all().beginLaunch(); }

#define EMULATED_HOOK(BYTES)                                                   \
  extern "C" __attribute__((weak)) void __sanitizer_cov_load##BYTES(           \
      const void *address) {                                                   \
    if (EmulatedRaces::all().isKernel)                                         \
      emulated_read(address, BYTES);                                           \
  }                                                                            \
  extern "C" __attribute__((weak)) void __sanitizer_cov_store##BYTES(          \
      void *address) {                                                         \
    if (EmulatedRaces::all().isKernel)                                         \
      emulated_write(address, BYTES);                                          \
  }
EMULATED_HOOK(1)
EMULATED_HOOK(2)
EMULATED_HOOK(4)
EMULATED_HOOK(8)
EMULATED_HOOK(16)
#undef EMULATED_HOOK
#endif

#endif // INGOT_EMULATED_RACES_H
