// Who reads and writes what between two barriers, on the emulated GPU: a debug mode.
// Included by cuda_runtime.h.
//
//     clang++ -DEMULATED_GPU_CHECK -fsanitize-coverage=func,trace-loads,trace-stores
//             -fsanitize=bounds -fsanitize-trap=bounds -fno-sanitize-link-runtime
//             -std=c++17 -x c++ net.cu ...
//
// Clang then calls a function for each access of a kernel. Two threads that use one byte,
// one of them writing, with no barrier of both in between, are a race, and so is using what
// a copy that is not awaited may still write; an address that is
// neither of the device, nor shared, nor the thread's own, is out of bounds. (Within
// shared memory -fsanitize=bounds traps what leaves its array.) The program says which
// threads and aborts. Clang's own runtime would take the place of these functions.

#ifndef INGOT_EMULATED_RACES_H
#define INGOT_EMULATED_RACES_H

#ifndef EMULATED_GPU_CHECK
inline void emulated_read(const void *, size_t) {}
inline void emulated_write(void *, size_t) {}
struct EmulatedKernelCode {
  explicit EmulatedKernelCode(bool) {}
};
inline void emulated_passed(bool) {}
inline void emulated_stack(const char *, size_t) {}
inline void emulated_pending(void *, int) {}

#else
#ifndef __clang__
#error "the debug mode of the emulated GPU needs clang"
#endif
#include <unordered_map>

extern "C" {
__attribute__((weak)) extern char __start_emulated_shared[],
    __stop_emulated_shared[];
extern char __executable_start[], _end[];
}

class EmulatedRaces {
public:
  // Whether the code that runs is that of a kernel.
  bool isKernel = false;
  const char *stackBegin = nullptr, *stackEnd = nullptr;
  unsigned blockEpochs[1024] = {}, warpEpochs[1024] = {};

  void use(const void *address, size_t bytes, bool isWrite) {
    const char *first = static_cast<const char *>(address);
    if (first >= stackBegin && first < stackEnd)
      return;
    bool isShared =
        isIn(first, __start_emulated_shared, __stop_emulated_shared);
    if (!isShared && isIn(first, __executable_start, _end))
      return;
    if (!isShared && !isAllocated(first, bytes))
      complain("is out of bounds", first, bytes, isWrite, nullptr);
    Access now = {static_cast<unsigned>(emulated_gpu().launches), blockIdx.x,
                  threadIdx.x, blockEpochs[threadIdx.x],
                  warpEpochs[threadIdx.x]};
    for (const char *byte = first; byte < first + bytes; ++byte)
      use(cellOf(byte), now, byte, bytes, isWrite, isShared);
  }

  // One more copy of 16 bytes is on its way there, or one less.
  void changePending(void *to, int by) {
    for (int i = 0; i < 16; ++i)
      cellOf(static_cast<char *>(to) + i).pending += by;
  }

  static EmulatedRaces &all() {
    static EmulatedRaces races;
    return races;
  }

private:
  struct Access {
    unsigned launch, block, thread, blockEpoch, warpEpoch;
  };
  // Two readers: one of them is not the thread that writes.
  struct Cell {
    Access written, read[2];
    int pending;
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

  // Whether the threads cannot have done both at the same time.
  static bool areOrdered(const Access &before, const Access &now,
                         bool isShared) {
    if (before.launch != now.launch)
      return true;
    if (before.block != now.block)
      return isShared;
    return before.thread == now.thread || before.blockEpoch != now.blockEpoch ||
           (before.thread / 32 == now.thread / 32 &&
            before.warpEpoch != now.warpEpoch);
  }

  void use(Cell &cell, const Access &now, const char *byte, size_t bytes,
           bool isWrite, bool isShared) {
    if (cell.pending > 0)
      complain("meets a copy that is not awaited", byte, bytes, isWrite,
               nullptr);
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
    std::unique_ptr<Cell[]> &page = pages[number / size];
    if (!page)
      page.reset(new Cell[size]());
    return page[number % size];
  }

  [[noreturn]] static void complain(const char *what, const char *byte,
                                    size_t bytes, bool isWrite,
                                    const Access *other) {
    fprintf(stderr,
            "emulated GPU: a %s of %zu bytes at %p by thread %u of block %u %s",
            isWrite ? "write" : "read", bytes, static_cast<const void *>(byte),
            threadIdx.x, blockIdx.x, what);
    if (other)
      fprintf(stderr, " thread %u of block %u", other->thread, other->block);
    fputc('\n', stderr);
    abort();
  }

  std::unordered_map<uintptr_t, std::unique_ptr<Cell[]>> pages;
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
// While it lives, the code that runs is a kernel's, or is not.
struct EmulatedKernelCode {
  explicit EmulatedKernelCode(bool is) : before(EmulatedRaces::all().isKernel) {
    EmulatedRaces::all().isKernel = is;
  }
  ~EmulatedKernelCode() { EmulatedRaces::all().isKernel = before; }
  bool before;
};
// This thread has passed a barrier of its warp or block.
inline void emulated_passed(bool isWarp) {
  EmulatedRaces &races = EmulatedRaces::all();
  ++(isWarp ? races.warpEpochs : races.blockEpochs)[threadIdx.x];
}
inline void emulated_stack(const char *begin, size_t bytes) {
  EmulatedRaces::all().stackBegin = begin;
  EmulatedRaces::all().stackEnd = begin + bytes;
}

inline void emulated_pending(void *to, int by) {
  EmulatedRaces::all().changePending(to, by);
}

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
