// mbarriers of the emulated GPU, and copies of whole tiles that signal them
// (cp.async.bulk.tensor). A copy completes as late as possible: when no thread
// could continue otherwise. Included by cuda_runtime.h.

#ifndef INGOT_EMULATED_MBARRIERS_H
#define INGOT_EMULATED_MBARRIERS_H

// The tensor map that the driver creates for copies of whole tiles. As on the
// device, it has 128 bytes.
struct alignas(64) CUtensorMap {
  const char *tensor;
  uint64_t sizes[5], distances[5];
  uint16_t box[5];
  int16_t low[3], high[3];
  uint8_t steps[5], rank, element, areWindows;
};
static_assert(sizeof(CUtensorMap) == 128, "a map of 128 bytes");

// The contents of the 64-bit word of an mbarrier.
struct EmulatedMbarrier {
  uint16_t arrivals, left;
  int32_t bytes : 31;
  uint32_t phase : 1;

  static EmulatedMbarrier of(const int64_t *word) {
    EmulatedMbarrier mbarrier;
    memcpy(&mbarrier, word, sizeof mbarrier);
    if (mbarrier.arrivals == 0)
      fail("an mbarrier is used before it is initialized");
    return mbarrier;
  }
  // Stores the mbarrier to `word` after an arrival or a copy. If no arrivals
  // and no bytes are missing, completes its phase.
  void put(int64_t *word) {
    if (left == 0 && bytes == 0) {
      left = arrivals;
      phase ^= 1u;
      emulated_opened(word);
    }
    memcpy(word, this, sizeof *this);
  }
  [[noreturn]] static void fail(const char *what) {
    fprintf(stderr, "emulated GPU: %s (thread %u of block %u)\n", what,
            threadIdx.x, blockIdx.x);
    abort();
  }
};
static_assert(sizeof(EmulatedMbarrier) == sizeof(int64_t), "a gate is a word");

class EmulatedTiles {
public:
  struct Copy {
    CUtensorMap map;
    int64_t at[5], shift[3];
    char *to;
    int64_t *mbarrier;
    unsigned thread, clock;
    // The number of blocks of the cluster that receive the copy. For each
    // receiving block, the distance in bytes from the shared memory of the
    // block that started the copy to that of the receiving one.
    unsigned blocks;
    ptrdiff_t distances[emulated_most_blocks];

    // Calls `body` for each 16 bytes of shared memory that the copy writes, in
    // each receiving block. `body` gets the address of these 16 bytes, their
    // source address (null if they are outside of the tensor), and how many of
    // them are inside of the tensor.
    template <typename Body> void forEachVector(const Body &body) const {
      for (unsigned block = 0; block < blocks; ++block)
        forEachVector(to + distances[block], body);
    }
    int64_t *mbarrierOf(unsigned block) const {
      return reinterpret_cast<int64_t *>(reinterpret_cast<char *>(mbarrier) +
                                         distances[block]);
    }
    template <typename Body>
    void forEachVector(char *to, const Body &body) const {
      unsigned rows = map.areWindows ? map.box[1] : 1;
      for (unsigned axis = 1; axis < map.rank && !map.areWindows; ++axis)
        rows *= map.box[axis];
      int64_t place[5];
      memcpy(place, at, sizeof place);
      for (unsigned row = 0; row < rows; ++row) {
        bool isInside = true;
        const char *from = map.tensor;
        for (unsigned axis = 1; axis < map.rank; ++axis) {
          bool isMoved = map.areWindows && axis + 1 < map.rank;
          int64_t here = place[axis] + (isMoved ? shift[axis - 1] : 0);
          isInside &= here >= 0 && here < int64_t(map.sizes[axis]);
          from += here * int64_t(map.distances[axis]);
        }
        for (unsigned vector = 0; vector * 16u < map.box[0] * map.element;
             ++vector) {
          int64_t first = at[0] + int64_t(vector * 16u / map.element);
          int64_t inTensor =
              isInside ? (int64_t(map.sizes[0]) - first) * map.element : 0;
          uintptr_t byte =
              reinterpret_cast<uintptr_t>(to) + row * 128 + vector * 16;
          body(reinterpret_cast<char *>(byte ^ ((byte >> 7 & 7u) << 4)),
               first < 0 || inTensor <= 0 ? nullptr
                                          : from + first * map.element,
               inTensor < 16 ? unsigned(inTensor) : 16u);
        }
        next(place);
      }
    }

  private:
    // Advances `place` to the next position in the box that is copied or, in
    // im2col mode, to the next window.
    void next(int64_t *place) const {
      for (unsigned axis = 1; axis < map.rank; ++axis) {
        bool isOuter = axis + 1 == map.rank;
        int64_t first = at[axis], end = at[axis] + map.box[axis], step = 1;
        if (map.areWindows) {
          if (isOuter) {
            ++place[axis];
            return;
          }
          first = map.low[axis - 1];
          end = int64_t(map.sizes[axis]) + map.high[axis - 1];
          step = map.steps[axis];
        }
        place[axis] += step;
        if (place[axis] < end)
          return;
        place[axis] = first;
      }
    }
  };

  static EmulatedTiles &ofBlock() {
    static thread_local EmulatedTiles tiles;
    return tiles;
  }
  void init(int64_t *word, unsigned arrivals) {
    emulated_write(word, 8);
    EmulatedMbarrier mbarrier = {uint16_t(arrivals), uint16_t(arrivals), 0, 0};
    memcpy(word, &mbarrier, sizeof mbarrier);
    unpublished.push_back({word, emulated_thread()});
  }
  void publish() {
    for (size_t i = unpublished.size(); i-- > 0;)
      if (unpublished[i].second == emulated_thread())
        unpublished.erase(unpublished.begin() + ptrdiff_t(i));
  }
  void arrive(int64_t *word, unsigned bytes) {
    emulated_read(word, 8);
    EmulatedMbarrier mbarrier = EmulatedMbarrier::of(word);
    if (mbarrier.left == 0)
      EmulatedMbarrier::fail(
          "more threads arrive at an mbarrier than its arrival count");
    mbarrier.bytes += int32_t(bytes);
    --mbarrier.left;
    emulated_release(word);
    mbarrier.put(word);
  }
  // Records at an mbarrier that this thread has written `bytes` of the bytes
  // that the mbarrier expects.
  void count(int64_t *word, unsigned bytes) {
    EmulatedMbarrier mbarrier = EmulatedMbarrier::of(word);
    mbarrier.bytes -= int32_t(bytes);
    emulated_arrived(word, emulated_thread(), emulated_issue());
    mbarrier.put(word);
  }
  void add(Copy copy) {
    emulated_read(copy.mbarrier, 8);
    for (const auto &one : unpublished)
      if (one.first == copy.mbarrier)
        EmulatedMbarrier::fail(
            "a copy uses an mbarrier whose initialization is not published");
    if (reinterpret_cast<uintptr_t>(copy.to) % 128 != 0)
      EmulatedMbarrier::fail(
          "a tile is copied to an address that is not a multiple of 128 bytes");
    copy.thread = emulated_thread();
    copy.forEachVector([](char *to, const char *, unsigned) {
      emulated_write(to, 16);
      emulated_pending(to, 1);
    });
    copy.clock = emulated_issue();
    copies.push_back(copy);
  }
  // Completes one pending copy: the newest copy whose mbarrier a thread awaits
  // or, if there is none, the oldest copy. Returns false if no copy is pending.
  template <typename IsAwaited> bool arriveLate(const IsAwaited &isAwaited) {
    if (copies.empty())
      return false;
    size_t late = copies.size();
    auto isOneAwaited = [&](const Copy &copy) {
      for (unsigned block = 0; block < copy.blocks; ++block)
        if (isAwaited(copy.mbarrierOf(block)))
          return true;
      return false;
    };
    while (late > 1 && !isOneAwaited(copies[late - 1]))
      --late;
    Copy copy = copies[late - 1];
    copies.erase(copies.begin() + ptrdiff_t(late - 1));
    unsigned running = emulated_thread();
    emulated_go_on(copy.thread);
    int32_t bytes = 0;
    copy.forEachVector([&](char *to, const char *from, unsigned count) {
      emulated_pending(to, -1);
      memset(to, 0, 16);
      if (from) {
        emulated_read(from, count);
        memcpy(to, from, count);
      }
      bytes += 16;
    });
    for (unsigned block = 0; block < copy.blocks; ++block) {
      EmulatedMbarrier mbarrier = EmulatedMbarrier::of(copy.mbarrierOf(block));
      mbarrier.bytes -= bytes / int32_t(copy.blocks);
      emulated_arrived(copy.mbarrierOf(block), copy.thread, copy.clock);
      mbarrier.put(copy.mbarrierOf(block));
    }
    emulated_go_on(running);
    return true;
  }
  // Fails if a copy is pending: it would overwrite shared memory of the next
  // block.
  void endBlock() {
    if (!copies.empty())
      EmulatedMbarrier::fail(
          "a block ends before one of its copies has completed");
    unpublished.clear();
  }

private:
  std::vector<Copy> copies;
  std::vector<std::pair<int64_t *, unsigned>> unpublished;
};

// The driver's functions for tensor maps, with the driver's checks of their
// arguments.
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
  CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2
};
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_128B = 3 };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 };

inline CUresult emulated_map(CUtensorMap *map, CUtensorMapDataType type,
                             cuuint32_t rank, void *tensor,
                             const cuuint64_t *sizes,
                             const cuuint64_t *distances,
                             const cuuint32_t *steps) {
  memset(map, 0, sizeof *map);
  map->tensor = static_cast<const char *>(tensor);
  map->rank = uint8_t(rank);
  map->element = uint8_t(1u << type);
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0 || rank < 1 || rank > 5 ||
      reinterpret_cast<uintptr_t>(tensor) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  map->distances[0] = map->element;
  for (unsigned axis = 0; axis < rank; ++axis) {
    map->sizes[axis] = sizes[axis];
    map->steps[axis] = uint8_t(steps[axis]);
    if (sizes[axis] == 0 || sizes[axis] > uint64_t(1) << 32 ||
        steps[axis] == 0 || steps[axis] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    if (axis == 0)
      continue;
    map->distances[axis] = distances[axis - 1];
    if (distances[axis - 1] % 16 != 0 || distances[axis - 1] >> 40 != 0)
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
inline CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *tensor,
    const cuuint64_t *sizes, const cuuint64_t *distances, const cuuint32_t *box,
    const cuuint32_t *steps, CUtensorMapInterleave, CUtensorMapSwizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  CUresult result =
      emulated_map(map, type, rank, tensor, sizes, distances, steps);
  for (unsigned axis = 0; result == CUDA_SUCCESS && axis < rank; ++axis) {
    map->box[axis] = uint16_t(box[axis]);
    if (box[axis] == 0 || box[axis] > 256)
      return CUDA_ERROR_INVALID_VALUE;
  }
  // With the 128-byte swizzle, rows of the tile must have 128 bytes.
  return result == CUDA_SUCCESS && map->box[0] * map->element != 128
             ? CUDA_ERROR_INVALID_VALUE
             : result;
}
inline CUresult cuTensorMapEncodeIm2col(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *tensor,
    const cuuint64_t *sizes, const cuuint64_t *distances, const int *low,
    const int *high, cuuint32_t channels, cuuint32_t positions,
    const cuuint32_t *steps, CUtensorMapInterleave, CUtensorMapSwizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  CUresult result =
      emulated_map(map, type, rank, tensor, sizes, distances, steps);
  if (result != CUDA_SUCCESS || rank < 3 || channels == 0 || channels > 256 ||
      positions == 0 || positions > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  map->areWindows = 1;
  map->box[0] = uint16_t(channels);
  map->box[1] = uint16_t(positions);
  // In the map of the hardware, the offsets of a corner (`low` or `high`) along
  // all spatial axes share 16 bits, which limits each.
  int most = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
  for (unsigned axis = 0; axis + 2 < rank; ++axis) {
    map->low[axis] = int16_t(low[axis]);
    map->high[axis] = int16_t(high[axis]);
    if (low[axis] < -most || low[axis] >= most || high[axis] < -most ||
        high[axis] >= most)
      return CUDA_ERROR_INVALID_VALUE;
  }
  return map->box[0] * map->element != 128 ? CUDA_ERROR_INVALID_VALUE
                                           : CUDA_SUCCESS;
}

#endif // INGOT_EMULATED_MBARRIERS_H
