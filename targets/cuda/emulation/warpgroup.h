// Operations of warpgroups on the emulated GPU: matrix multiplications of tiles
// in shared memory (wgmma), which are computed when they are awaited. Tiles and
// accumulators are laid out as PTX documents it. Included by cuda_runtime.h.

#ifndef INGOT_EMULATED_WARPGROUP_H
#define INGOT_EMULATED_WARPGROUP_H

class EmulatedProducts {
public:
  struct Product {
    void (*compute)(const Product &);
    void (*read)(const Product &, int);
    void *sums;
    size_t bytes;
    // The contents of a matrix descriptor: the address of the tile. For a
    // transposed tile also the bytes from 64 rows or columns of the product to
    // the next 64; 0 for other tiles.
    struct Tile {
      const char *at;
      unsigned distance;
    } left, right;
    // The left operand, if it is four words in registers of the thread; null if
    // it is a tile.
    const int32_t *words;
    // Whether the product overwrites the accumulators.
    bool isFirst;
    unsigned group, number;
  };
  static EmulatedProducts &ofBlock() {
    static thread_local EmulatedProducts products;
    return products;
  }
  void begin() { mine().isBegun = true; }
  void add(Product product) {
    OfThread &of = mine();
    if (!of.isBegun)
      EmulatedMbarrier::fail(
          "a wgmma begins before its accumulators are fenced");
    for (const Product::Tile &tile : {product.left, product.right}) {
      if ((reinterpret_cast<uintptr_t>(tile.at) &
           (tile.distance ? 0x3ffu : 0x38fu)) != 0)
        EmulatedMbarrier::fail(
            "a tile begins at an address that is not a multiple of 1024 bytes");
      // A descriptor stores the distance in 14 bits, in units of 16 bytes.
      if (tile.distance % 1024 != 0 || tile.distance >> 18 != 0)
        EmulatedMbarrier::fail(
            "the column blocks of a tile are not a multiple of "
            "1024 bytes apart");
    }
    product.group = of.group;
    product.number = of.count++;
    of.pending.push_back(product);
    setInFlight(product, true);
    product.read(product, 1);
  }
  // Returns the operand words that another thread of the warp has passed to the
  // same product.
  const int32_t *wordsOf(unsigned thread, const Product &product) {
    for (const Product &other : threads[thread].pending)
      if (other.number == product.number)
        return other.words;
    EmulatedMbarrier::fail(
        "threads of a warp begin different wgmma operations");
  }
  void close() { ++mine().group; }
  void await(unsigned newest) {
    OfThread &of = mine();
    size_t done = 0;
    bool areWords = false;
    while (done < of.pending.size() &&
           of.pending[done].group + newest < of.group) {
      areWords |= of.pending[done].words != nullptr;
      ++done;
    }
    // A product with words in registers reads the words of other threads of the
    // warp. So this thread waits until all threads of the warp have started the
    // product.
    if (areWords)
      EmulatedBlock::current()->wait(/*isWarp=*/true);
    for (size_t i = 0; i < done; ++i) {
      of.pending[i].read(of.pending[i], -1);
      of.pending[i].compute(of.pending[i]);
    }
    EmulatedBlock::current()->wait(/*isWarp=*/true);
    for (size_t i = 0; i < done; ++i)
      setInFlight(of.pending[i], false);
    of.pending.erase(of.pending.begin(), of.pending.begin() + ptrdiff_t(done));
    for (const Product &product : of.pending)
      setInFlight(product, true);
  }
  // Records that this thread has stored to its accumulators, so that
  // wgmma.fence is needed again.
  void changed() { mine().isBegun = false; }
  void endBlock() {
    for (OfThread &of : threads) {
      if (!of.pending.empty())
        EmulatedMbarrier::fail(
            "a block ends before one of its wgmma operations is awaited");
      of = OfThread();
    }
  }

private:
  struct OfThread {
    std::vector<Product> pending;
    unsigned group = 0, count = 0;
    bool isBegun = false;
  };
  OfThread &mine() { return threads[emulated_thread()]; }
  static void setInFlight(const Product &product, bool is) {
    emulated_in_flight(product.sums, product.bytes, is);
    if (product.words)
      emulated_in_flight(const_cast<int32_t *>(product.words), 16, is);
  }
  OfThread threads[emulated_most_threads];
};

inline void emulated_changed_sums() { EmulatedProducts::ofBlock().changed(); }

struct emulated_group_instructions : emulated_instructions {
  template <typename Shared> static Shared &shared_memory() {
    struct alignas(1024) OfBlock {
      Shared shared;
    };
    __shared__ OfBlock memory[emulated_most_blocks];
    emulated_block_bytes = sizeof(OfBlock);
    return memory[emulated_rank()].shared;
  }

  static void begin() {}
  static void await_inputs() {
    EmulatedKernelCode pause(false);
    emulated_begun();
  }
  static void init_gate(int64_t *mbarrier, unsigned arrivals) {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().init(mbarrier, arrivals);
  }
  static void publish_gates() {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().publish();
  }
  static void arrive(int64_t *mbarrier) {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().arrive(mbarrier, 0);
  }
  // All blocks of a cluster have the same layout of shared memory, so the
  // mbarrier of another block has the same offset.
  static void arrive_at(int64_t *mbarrier, ptrdiff_t block) {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().arrive(
        reinterpret_cast<int64_t *>(reinterpret_cast<char *>(mbarrier) +
                                    distance_of(unsigned(block))),
        0);
  }
  static void cluster_barrier() {
    EmulatedBlock::current()->wait(/*isWarp=*/false);
  }
  static void cluster_barrier_shown() { cluster_barrier(); }
  template <typename Number>
  static void send(Number *to, int64_t *mbarrier, ptrdiff_t block, Number a,
                   Number b, Number c, Number d) {
    EmulatedKernelCode pause(false);
    ptrdiff_t distance = distance_of(unsigned(block));
    char *there = reinterpret_cast<char *>(to) + distance;
    if (reinterpret_cast<uintptr_t>(there) % 16 != 0)
      EmulatedMbarrier::fail(
          "16 bytes are sent to an address that is not a multiple of 16");
    Number numbers[] = {a, b, c, d};
    emulated_write(there, sizeof numbers);
    memcpy(there, numbers, sizeof numbers);
    EmulatedTiles::ofBlock().count(
        reinterpret_cast<int64_t *>(reinterpret_cast<char *>(mbarrier) +
                                    distance),
        sizeof numbers);
  }
  static void expect_bytes(int64_t *mbarrier, unsigned bytes) {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().arrive(mbarrier, bytes);
  }
  static void await_gate(int64_t *mbarrier, ptrdiff_t parity) {
    EmulatedKernelCode pause(false);
    emulated_read(mbarrier, 8);
    EmulatedBlock::current()->waitAtMbarrier(mbarrier, unsigned(parity));
    emulated_acquire(mbarrier);
  }
  template <typename... Places>
  static void copy_tile(void *to, const CUtensorMap &map, int64_t *mbarrier,
                        Places... places) {
    copy(to, map, mbarrier, {places...}, sizeof...(places), false, own_block());
  }
  template <typename... Places>
  static void copy_tile_for(void *to, const CUtensorMap &map, int64_t *mbarrier,
                            ptrdiff_t blocks, Places... places) {
    copy(to, map, mbarrier, {places...}, sizeof...(places), false, blocks);
  }
  template <typename... Places>
  static void copy_window_for(void *to, const CUtensorMap &map,
                              int64_t *mbarrier, ptrdiff_t blocks,
                              Places... places) {
    copy(to, map, mbarrier, {places...}, (sizeof...(places) + 2) / 2, true,
         blocks);
  }
  template <typename... Places>
  static void copy_window(void *to, const CUtensorMap &map, int64_t *mbarrier,
                          Places... places) {
    copy(to, map, mbarrier, {places...}, (sizeof...(places) + 2) / 2, true,
         own_block());
  }

  template <typename... Sums> static void begin_products(Sums &...) {
    EmulatedKernelCode pause(false);
    EmulatedProducts::ofBlock().begin();
  }
  static void close_products() {
    EmulatedKernelCode pause(false);
    EmulatedProducts::ofBlock().close();
  }
  template <unsigned newest, typename... Sums>
  static void await_products(Sums &...) {
    EmulatedKernelCode pause(false);
    EmulatedProducts::ofBlock().await(newest);
  }
  // The emulation does not limit registers, so these functions do nothing.
  template <unsigned> static void more_registers() {}
  template <unsigned> static void fewer_registers() {}

#define EMULATED_PRODUCT_OF(NAME, COLUMNS, LEFT, RIGHT, SUM)                   \
  static void product_##NAME##_##COLUMNS(                                      \
      SUM(&sums)[COLUMNS / 2], const void *left, const void *right) {          \
    add<LEFT, RIGHT, SUM, COLUMNS>(sums, {static_cast<const char *>(left), 0}, \
                                   {static_cast<const char *>(right), 0});     \
  }
#define EMULATED_PRODUCTS(NAME, LEFT, RIGHT, SUM)                              \
  EMULATED_PRODUCT_OF(NAME, 64, LEFT, RIGHT, SUM)                              \
  EMULATED_PRODUCT_OF(NAME, 128, LEFT, RIGHT, SUM)                             \
  EMULATED_PRODUCT_OF(NAME, 192, LEFT, RIGHT, SUM)                             \
  EMULATED_PRODUCT_OF(NAME, 256, LEFT, RIGHT, SUM)
  EMULATED_PRODUCTS(f16, Half, Half, float)
  EMULATED_PRODUCTS(bf16, BFloat, BFloat, float)
  EMULATED_PRODUCTS(tf32, Tf32, Tf32, float)
  EMULATED_PRODUCTS(s8_s8, Integer<int8_t>, Integer<int8_t>, int32_t)
  EMULATED_PRODUCTS(s8_u8, Integer<int8_t>, Integer<uint8_t>, int32_t)
  EMULATED_PRODUCTS(u8_s8, Integer<uint8_t>, Integer<int8_t>, int32_t)
  EMULATED_PRODUCTS(u8_u8, Integer<uint8_t>, Integer<uint8_t>, int32_t)
  EMULATED_PRODUCTS(e4m3_e4m3, E4m3, E4m3, float)
  EMULATED_PRODUCTS(e4m3_e5m2, E4m3, E5m2, float)
  EMULATED_PRODUCTS(e5m2_e4m3, E5m2, E4m3, float)
  EMULATED_PRODUCTS(e5m2_e5m2, E5m2, E5m2, float)
#undef EMULATED_PRODUCTS
#undef EMULATED_PRODUCT_OF
#define EMULATED_PRODUCT_OF(NAME, COLUMNS, TYPE)                               \
  static void product_first_##NAME##_##COLUMNS(                                \
      float (&sums)[COLUMNS / 2], const void *left, const void *right) {       \
    add<TYPE, TYPE, float, COLUMNS>(                                           \
        sums, {static_cast<const char *>(left), 0},                            \
        {static_cast<const char *>(right), 0}, nullptr, true);                 \
  }                                                                            \
  template <unsigned left_distance, unsigned right_distance>                   \
  static void product_turned_##NAME##_##COLUMNS(                               \
      float (&sums)[COLUMNS / 2], const void *left, const void *right) {       \
    add<TYPE, TYPE, float, COLUMNS>(                                           \
        sums, {static_cast<const char *>(left), left_distance},                \
        {static_cast<const char *>(right), right_distance});                   \
  }                                                                            \
  template <unsigned left_distance, unsigned right_distance>                   \
  static void product_words_turned_##NAME##_##COLUMNS(                         \
      float (&sums)[COLUMNS / 2], const int32_t *left, const void *right) {    \
    static_assert(left_distance == 0, "words are no tile");                    \
    add<TYPE, TYPE, float, COLUMNS>(                                           \
        sums, {}, {static_cast<const char *>(right), right_distance}, left);   \
  }
#define EMULATED_PRODUCTS(NAME, TYPE)                                          \
  EMULATED_PRODUCT_OF(NAME, 64, TYPE)                                          \
  EMULATED_PRODUCT_OF(NAME, 128, TYPE)                                         \
  EMULATED_PRODUCT_OF(NAME, 192, TYPE)                                         \
  EMULATED_PRODUCT_OF(NAME, 256, TYPE)
  EMULATED_PRODUCTS(f16, Half)
  EMULATED_PRODUCTS(bf16, BFloat)
#undef EMULATED_PRODUCTS
#undef EMULATED_PRODUCT_OF

private:
  static ptrdiff_t own_block() { return ptrdiff_t(1) << emulated_rank(); }
  static ptrdiff_t distance_of(unsigned block) {
    if (block >= emulated_cluster)
      EmulatedMbarrier::fail("a block index is out of range for the cluster");
    return (ptrdiff_t(block) - ptrdiff_t(emulated_rank())) *
           emulated_block_bytes;
  }
  // Starts a copy to the blocks of the cluster whose bits are set in `blocks`.
  // `places` are the coordinates, innermost first: those of the position and,
  // for windows, then those of the shift.
  static void copy(void *to, const CUtensorMap &map, int64_t *mbarrier,
                   std::initializer_list<ptrdiff_t> places, unsigned rank,
                   bool areWindows, ptrdiff_t blocks) {
    EmulatedKernelCode pause(false);
    if (map.rank != rank || map.areWindows != areWindows)
      EmulatedMbarrier::fail(
          "a copy has a rank other than that of its tensor map");
    EmulatedTiles::Copy copy = {};
    copy.map = map;
    copy.to = static_cast<char *>(to);
    copy.mbarrier = mbarrier;
    for (unsigned block = 0; blocks >> block != 0; ++block)
      if (blocks >> block & 1)
        copy.distances[copy.blocks++] = distance_of(block);
    unsigned number = 0;
    for (ptrdiff_t place : places) {
      if (number < rank)
        copy.at[number] = place;
      else
        copy.shift[number - rank] = place;
      ++number;
    }
    EmulatedTiles::ofBlock().add(copy);
  }

  typedef EmulatedProducts::Product::Tile Tile;
  template <typename Left, typename Right, typename Sum, unsigned columns>
  static void add(Sum (&sums)[columns / 2], Tile left, Tile right,
                  const int32_t *words = nullptr, bool isFirst = false) {
    EmulatedKernelCode pause(false);
    EmulatedProducts::ofBlock().add({compute<Left, Right, Sum, columns>,
                                     read<columns>, sums, sizeof sums, left,
                                     right, words, isFirst, 0, 0});
  }
  // Returns the address of 16-byte chunk `vector` of a row, after swizzling.
  static const char *vectorAt(const char *tile, unsigned row, unsigned vector) {
    uintptr_t byte =
        reinterpret_cast<uintptr_t>(tile) + row * 128 + vector * 16;
    return reinterpret_cast<const char *>(byte ^ ((byte >> 7 & 7u) << 4));
  }
  // Returns the address of 16 bytes of a transposed tile: the elements at
  // position `step` along K of the 8 rows or columns from row / 8 * 8 on.
  static const char *turnedVector(const Tile &tile, unsigned step,
                                  unsigned row) {
    return vectorAt(tile.at + row / 64 * tile.distance, step, row % 64 / 8);
  }
  // Converts all elements (along K) of row or column `row` of `tile`, and
  // writes them to `values`.
  template <typename Type, typename Value>
  static void decode(const Tile &tile, unsigned row, Value *values) {
    typedef typename Type::Bits Bits;
    for (unsigned step = 0; tile.distance && step < 32 / sizeof(Bits); ++step) {
      Bits bits;
      memcpy(&bits, turnedVector(tile, step, row) + row % 8 * sizeof bits,
             sizeof bits);
      *values++ = Type::value(bits);
    }
    for (unsigned vector = 0; !tile.distance && vector < 2; ++vector) {
      const char *from = vectorAt(tile.at, row, vector);
      for (unsigned i = 0; i < 16 / sizeof(Bits); ++i) {
        Bits bits;
        memcpy(&bits, from + i * sizeof bits, sizeof bits);
        *values++ = Type::value(bits);
      }
    }
  }
  // Converts the elements (along K) of a row of the left operand, which four
  // threads hold in registers, and writes them to `values`. `half` selects one
  // of the two rows of this thread.
  template <typename Type, typename Value>
  static void decodeWords(const EmulatedProducts::Product &product,
                          unsigned half, Value *values) {
    unsigned first = emulated_thread() / 4 * 4;
    for (unsigned other = 0; other < 4; ++other) {
      const int32_t *words =
          EmulatedProducts::ofBlock().wordsOf(first + other, product);
      for (unsigned word = half; word < 4; word += 2)
        for (unsigned second = 0; second < 2; ++second)
          values[word / 2 * 8 + other * 2 + second] =
              Type::value(static_cast<typename Type::Bits>(
                  uint32_t(words[word]) >> 16 * second));
    }
  }
  // Adds (`by` = 1) or removes (`by` = -1) the pending reads of a product,
  // which last from its start until it is awaited. One thread does this for its
  // warp.
  template <unsigned columns>
  static void read(const EmulatedProducts::Product &product, int by) {
    if (threadIdx.x % 32 != 0)
      return;
    auto mark = [by](const char *from) {
      emulated_read(from, 16);
      emulated_reading(from, by);
    };
    auto markAll = [mark](const Tile &tile, unsigned first, unsigned count) {
      for (unsigned row = first; !tile.distance && row < first + count; ++row)
        for (unsigned vector = 0; vector < 2; ++vector)
          mark(vectorAt(tile.at, row, vector));
      for (unsigned step = 0; tile.distance && step < 16; ++step)
        for (unsigned row = first; row < first + count; row += 8)
          mark(turnedVector(tile, step, row));
    };
    if (!product.words)
      markAll(product.left, threadIdx.x / 32 % 4 * 16, 16);
    markAll(product.right, 0, columns);
  }
  template <typename Left, typename Right, typename Sum, unsigned columns>
  static void compute(const EmulatedProducts::Product &product) {
    constexpr unsigned steps = 32 / sizeof(typename Left::Bits);
    typedef decltype(Left::value(0)) Value;
    unsigned lane = threadIdx.x % 32, warpRow = threadIdx.x / 32 % 4 * 16;
    Value rows[2][steps], column[steps];
    for (unsigned half = 0; half < 2; ++half)
      if (product.words)
        decodeWords<Left>(product, half, rows[half]);
      else
        decode<Left>(product.left, warpRow + lane / 4 + 8 * half, rows[half]);
    Sum *sums = static_cast<Sum *>(product.sums);
    for (unsigned j = 0; j < columns / 8; ++j)
      for (unsigned second = 0; second < 2; ++second) {
        decode<Right>(product.right, 8 * j + lane % 4 * 2 + second, column);
        for (unsigned half = 0; half < 2; ++half) {
          Value total = 0;
          for (unsigned step = 0; step < steps; ++step)
            total += rows[half][step] * column[step];
          Sum &sum = sums[4 * j + 2 * half + second];
          Value before = product.isFirst ? 0 : static_cast<Value>(sum);
          sum = static_cast<Sum>(before + total);
        }
      }
  }
};

#endif // INGOT_EMULATED_WARPGROUP_H
