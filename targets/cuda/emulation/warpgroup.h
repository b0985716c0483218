// What four warps of the emulated GPU do together: products of tiles in shared memory,
// which are computed when they are awaited (wgmma), their tiles and sums laid out as PTX
// documents it. Included by cuda_runtime.h.

#ifndef INGOT_EMULATED_WARPGROUP_H
#define INGOT_EMULATED_WARPGROUP_H

class EmulatedProducts {
public:
  struct Product {
    void (*compute)(const Product &);
    void (*read)(const Product &, int);
    void *sums;
    size_t bytes;
    const char *left, *right;
    // Of a right tile across: the bytes from 64 columns to the next 64. Then the left operand is
    // four words of the thread.
    unsigned distance;
    // Whether the sums are replaced.
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
      EmulatedGate::fail("a product begins, but its sums are not handed over");
    auto check = [](const char *tile, uintptr_t bits) {
      if ((reinterpret_cast<uintptr_t>(tile) & bits) != 0)
        EmulatedGate::fail("a tile begins at no multiple of 1024 bytes");
    };
    if (product.distance == 0) {
      check(product.left, 0x38fu);
      check(product.right, 0x38fu);
    } else {
      // The steps of a product are two groups of 8 rows.
      check(product.right, 0x3ffu);
      if (product.distance % 1024 != 0 || product.distance >> 18 != 0)
        EmulatedGate::fail("columns of a tile across are not where a "
                           "descriptor can say");
    }
    product.group = of.group;
    product.number = of.count++;
    of.pending.push_back(product);
    setInFlight(product, true);
    product.read(product, 1);
  }
  // The words of another thread of the warp in the same product, which it has begun.
  const int32_t *wordsOf(unsigned thread, const Product &product) {
    for (const Product &other : threads[thread].pending)
      if (other.number == product.number)
        return reinterpret_cast<const int32_t *>(other.left);
    EmulatedGate::fail("threads of a warp begin different products");
  }
  void close() { ++mine().group; }
  void await(unsigned newest) {
    OfThread &of = mine();
    size_t done = 0;
    bool areWords = false;
    while (done < of.pending.size() &&
           of.pending[done].group + newest < of.group) {
      areWords |= of.pending[done].distance != 0;
      ++done;
    }
    // Words of other threads are read: all of these have begun the products, and go on
    // together.
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
  // This thread has stored to sums of its own: they have to be handed over anew.
  void changed() { mine().isBegun = false; }
  void endBlock() {
    for (OfThread &of : threads) {
      if (!of.pending.empty())
        EmulatedGate::fail(
            "a block ends before a product of its own is awaited");
      of = OfThread();
    }
  }

private:
  struct OfThread {
    std::vector<Product> pending;
    unsigned group = 0, count = 0;
    bool isBegun = false;
  };
  OfThread &mine() { return threads[threadIdx.x]; }
  static void setInFlight(const Product &product, bool is) {
    emulated_in_flight(product.sums, product.bytes, is);
    if (product.distance != 0)
      emulated_in_flight(const_cast<char *>(product.left), 16, is);
  }
  OfThread threads[1024];
};

inline void emulated_changed_sums() { EmulatedProducts::ofBlock().changed(); }

struct emulated_group_instructions : emulated_instructions {
  template <typename Shared> static Shared &shared_memory() {
    alignas(1024) __shared__ Shared memory;
    return memory;
  }

  static void begin() {}
  static void await_inputs() {
    EmulatedKernelCode pause(false);
    emulated_begun();
  }
  static void init_gate(int64_t *gate, unsigned arrivals) {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().init(gate, arrivals);
  }
  static void publish_gates() {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().publish();
  }
  static void arrive(int64_t *gate) {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().arrive(gate, 0);
  }
  static void expect_bytes(int64_t *gate, unsigned bytes) {
    EmulatedKernelCode pause(false);
    EmulatedTiles::ofBlock().arrive(gate, bytes);
  }
  static void await_gate(int64_t *gate, ptrdiff_t parity) {
    EmulatedKernelCode pause(false);
    emulated_read(gate, 8);
    EmulatedBlock::current()->waitAtGate(gate, unsigned(parity));
    emulated_acquire(gate);
  }
  template <typename... Places>
  static void copy_tile(void *to, const CUtensorMap &map, int64_t *gate,
                        Places... places) {
    copy(to, map, gate, {places...}, sizeof...(places), false);
  }
  template <typename... Places>
  static void copy_window(void *to, const CUtensorMap &map, int64_t *gate,
                          Places... places) {
    copy(to, map, gate, {places...}, (sizeof...(places) + 2) / 2, true);
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
  // Registers are no matter here.
  template <unsigned> static void more_registers() {}
  template <unsigned> static void fewer_registers() {}

#define EMULATED_PRODUCT_OF(NAME, COLUMNS, LEFT, RIGHT, SUM)                   \
  static void product_##NAME##_##COLUMNS(                                      \
      SUM(&sums)[COLUMNS / 2], const void *left, const void *right) {          \
    EmulatedKernelCode pause(false);                                           \
    EmulatedProducts::ofBlock().add(                                           \
        {compute<LEFT, RIGHT, SUM, COLUMNS>, read<COLUMNS>, sums, sizeof sums, \
         static_cast<const char *>(left), static_cast<const char *>(right), 0, \
         false, 0, 0});                                                        \
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
  static void product_##NAME##_first_##COLUMNS(                                \
      float (&sums)[COLUMNS / 2], const void *left, const void *right) {       \
    EmulatedKernelCode pause(false);                                           \
    EmulatedProducts::ofBlock().add(                                           \
        {compute<TYPE, TYPE, float, COLUMNS>, read<COLUMNS>, sums,             \
         sizeof sums, static_cast<const char *>(left),                         \
         static_cast<const char *>(right), 0, true, 0, 0});                    \
  }                                                                            \
  static void product_##NAME##_words_across_##COLUMNS(                         \
      float (&sums)[COLUMNS / 2], const int32_t *left, const void *right,      \
      unsigned distance) {                                                     \
    EmulatedKernelCode pause(false);                                           \
    EmulatedProducts::ofBlock().add(                                           \
        {computeAcross<TYPE, COLUMNS>, readAcross<COLUMNS>, sums, sizeof sums, \
         reinterpret_cast<const char *>(left),                                 \
         static_cast<const char *>(right), distance, false, 0, 0});            \
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
  // Innermost first: the place, then for windows the shift.
  static void copy(void *to, const CUtensorMap &map, int64_t *gate,
                   std::initializer_list<ptrdiff_t> places, unsigned rank,
                   bool areWindows) {
    EmulatedKernelCode pause(false);
    if (map.rank != rank || map.areWindows != areWindows)
      EmulatedGate::fail("a copy has another rank than its map");
    EmulatedTiles::Copy copy = {};
    copy.map = map;
    copy.to = static_cast<char *>(to);
    copy.gate = gate;
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

  // 16 bytes of a row: pieces are exchanged by the address.
  static const char *pieceOf(const char *tile, unsigned row, unsigned piece) {
    uintptr_t byte = reinterpret_cast<uintptr_t>(tile) + row * 128 + piece * 16;
    return reinterpret_cast<const char *>(byte ^ ((byte >> 7 & 7u) << 4));
  }
  template <typename Type, typename Value>
  static void decode(const char *tile, unsigned row, Value *values) {
    typedef typename Type::Bits Bits;
    for (unsigned piece = 0; piece < 2; ++piece) {
      const char *from = pieceOf(tile, row, piece);
      for (unsigned i = 0; i < 16 / sizeof(Bits); ++i) {
        Bits bits;
        memcpy(&bits, from + i * sizeof bits, sizeof bits);
        *values++ = Type::value(bits);
      }
    }
  }
  // A warp reads as one: from the begin of the product on until it is awaited.
  template <unsigned columns>
  static void read(const EmulatedProducts::Product &product, int by) {
    if (threadIdx.x % 32 != 0)
      return;
    auto mark = [by](const char *from) {
      emulated_read(from, 16);
      emulated_reading(from, by);
    };
    unsigned warpRow = threadIdx.x / 32 % 4 * 16;
    for (unsigned piece = 0; piece < 2; ++piece) {
      for (unsigned row = 0; row < 16; ++row)
        mark(pieceOf(product.left, warpRow + row, piece));
      for (unsigned column = 0; column < columns; ++column)
        mark(pieceOf(product.right, column, piece));
    }
  }
  template <typename Left, typename Right, typename Sum, unsigned columns>
  static void compute(const EmulatedProducts::Product &product) {
    constexpr unsigned steps = 32 / sizeof(typename Left::Bits);
    typedef decltype(Left::value(0)) Value;
    unsigned lane = threadIdx.x % 32, warpRow = threadIdx.x / 32 % 4 * 16;
    Value rows[2][steps], column[steps];
    for (unsigned half = 0; half < 2; ++half)
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
  // 16 bytes of 8 columns of a step.
  static const char *pieceAcross(const EmulatedProducts::Product &product,
                                 unsigned step, unsigned column) {
    return pieceOf(product.right + column / 64 * product.distance, step,
                   column % 64 / 8);
  }
  template <unsigned columns>
  static void readAcross(const EmulatedProducts::Product &product, int by) {
    if (threadIdx.x % 32 != 0)
      return;
    for (unsigned step = 0; step < 16; ++step)
      for (unsigned column = 0; column < columns; column += 8) {
        const char *from = pieceAcross(product, step, column);
        emulated_read(from, 16);
        emulated_reading(from, by);
      }
  }
  template <typename Type, unsigned columns>
  static void computeAcross(const EmulatedProducts::Product &product) {
    float rows[2][16];
    for (unsigned other = 0; other < 4; ++other) {
      const int32_t *words = EmulatedProducts::ofBlock().wordsOf(
          threadIdx.x / 4 * 4 + other, product);
      for (unsigned word = 0; word < 4; ++word)
        for (unsigned second = 0; second < 2; ++second)
          rows[word % 2][word / 2 * 8 + other * 2 + second] = Type::value(
              static_cast<uint16_t>(uint32_t(words[word]) >> 16 * second));
    }
    float *sums = static_cast<float *>(product.sums);
    for (unsigned j = 0; j < columns / 8; ++j) {
      float total[2][2] = {};
      for (unsigned step = 0; step < 16; ++step) {
        uint16_t piece[8];
        memcpy(piece, pieceAcross(product, step, 8 * j), sizeof piece);
        for (unsigned second = 0; second < 2; ++second) {
          float column = Type::value(piece[threadIdx.x % 4 * 2 + second]);
          for (unsigned half = 0; half < 2; ++half)
            total[half][second] += rows[half][step] * column;
        }
      }
      for (unsigned half = 0; half < 2; ++half)
        for (unsigned second = 0; second < 2; ++second)
          sums[4 * j + 2 * half + second] += total[half][second];
    }
  }
};

#endif // INGOT_EMULATED_WARPGROUP_H
