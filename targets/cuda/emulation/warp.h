// Operations of a warp and asynchronous copies on the emulated GPU. Operands
// are laid out in registers as PTX documents it (ldmatrix, mma.m16n8k8 to
// m16n8k32, cp.async). Included by cuda_runtime.h.

#ifndef INGOT_EMULATED_WARP_H
#define INGOT_EMULATED_WARP_H

// The asynchronous copies (cp.async) of the threads of a block. They complete
// as late as the kernel allows, when they are awaited.
class EmulatedCopies {
public:
  void clear() {
    for (auto &ofThread : copies) {
      for (const Copy &copy : ofThread.pending)
        emulated_pending(copy.to, -1);
      ofThread = OfThread();
    }
  }
  void add(void *to, const void *from) {
    OfThread &mine = copies[emulated_thread()];
    emulated_pending(to, 1);
    mine.pending.push_back(
        {static_cast<char *>(to), static_cast<const char *>(from), mine.group});
  }
  void close() { ++copies[emulated_thread()].group; }
  void await(unsigned newest) {
    OfThread &mine = copies[emulated_thread()];
    size_t done = 0;
    for (const Copy &copy : mine.pending) {
      if (copy.group + newest >= mine.group)
        break;
      emulated_pending(copy.to, -1);
      arrive(copy.to, copy.from);
      ++done;
    }
    mine.pending.erase(mine.pending.begin(),
                       mine.pending.begin() + static_cast<ptrdiff_t>(done));
  }
  static void arrive(void *to, const void *from) {
    emulated_write(to, 16);
    if (!from) {
      memset(to, 0, 16);
      return;
    }
    emulated_read(from, 16);
    memcpy(to, from, 16);
  }
  static EmulatedCopies &ofBlock() {
    static thread_local EmulatedCopies result;
    return result;
  }

private:
  struct Copy {
    char *to;
    const char *from;
    unsigned group;
  };
  struct OfThread {
    std::vector<Copy> pending;
    unsigned group = 0;
  };
  OfThread copies[1024];
};

// Returns the value of the f16 or bf16 with these bits.
inline float emulated_value(uint16_t bits, bool isBFloat) {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  if (!isBFloat) {
    uint32_t sign = uint32_t(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u) {
      word = sign | 0x7f800000u | (rest & 0x3ffu) << 13;
    } else {
      // With the bits shifted to the position of f32's bits, the exponent is
      // 112 too low. This also holds for subnormal numbers.
      word = rest << 13;
      memcpy(&value, &word, sizeof value);
      value *= 0x1p112f;
      memcpy(&word, &value, sizeof value);
      word |= sign;
    }
  }
  memcpy(&value, &word, sizeof value);
  return value;
}

// The operand registers and addresses that the threads of a block exchange, by
// number of the thread.
struct EmulatedRegisters {
  uint32_t words[1024][6];
  const void *addresses[1024];

  static EmulatedRegisters &ofBlock() {
    static thread_local EmulatedRegisters result;
    return result;
  }
};

struct emulated_instructions {
  static void load_matrices(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d,
                            const void *row) {
    load(a, b, c, d, row, false);
  }
  static void load_matrices_transposed(uint32_t &a, uint32_t &b, uint32_t &c,
                                       uint32_t &d, const void *row) {
    load(a, b, c, d, row, true);
  }

  struct Half {
    typedef uint16_t Bits;
    static float value(uint16_t bits) { return emulated_value(bits, false); }
  };
  struct BFloat {
    typedef uint16_t Bits;
    static float value(uint16_t bits) { return emulated_value(bits, true); }
  };
  // A 32-bit word whose lowest 13 bits the hardware ignores.
  struct Tf32 {
    typedef uint32_t Bits;
    static float value(uint32_t bits) {
      float value;
      bits &= ~0x1fffu;
      memcpy(&value, &bits, sizeof value);
      return value;
    }
  };
  // 8-bit floats: e5m2 is the upper half of an f16; e4m3 has no infinities and
  // one NaN.
  struct E5m2 {
    typedef uint8_t Bits;
    static float value(uint8_t bits) {
      return emulated_value(static_cast<uint16_t>(bits << 8), false);
    }
  };
  struct E4m3 {
    typedef uint8_t Bits;
    static float value(uint8_t bits) {
      if ((bits & 0x7fu) == 0x7fu)
        return emulated_value(0x7fff, false);
      // With the bits shifted to the position of f16's bits, the exponent is 8
      // too low. This also holds for subnormal numbers.
      unsigned sign = bits & 0x80u, rest = bits & 0x7fu;
      return emulated_value(static_cast<uint16_t>(sign << 8 | rest << 7),
                            false) *
             256.0f;
    }
  };
  template <typename Byte> struct Integer {
    typedef Byte Bits;
    static uint32_t value(Byte byte) {
      return static_cast<uint32_t>(static_cast<int32_t>(byte));
    }
  };
#define EMULATED_PRODUCT(NAME, LEFT, RIGHT, SUM)                               \
  static void NAME(SUM &s0, SUM &s1, SUM &s2, SUM &s3, uint32_t a0,            \
                   uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,         \
                   uint32_t b1) {                                              \
    SUM *sums[] = {&s0, &s1, &s2, &s3};                                        \
    uint32_t words[] = {a0, a1, a2, a3, b0, b1};                               \
    multiply<LEFT, RIGHT>(sums, words);                                        \
  }
  EMULATED_PRODUCT(multiply_f16, Half, Half, float)
  EMULATED_PRODUCT(multiply_bf16, BFloat, BFloat, float)
  EMULATED_PRODUCT(multiply_tf32, Tf32, Tf32, float)
  EMULATED_PRODUCT(multiply_s8_s8, Integer<int8_t>, Integer<int8_t>, int32_t)
  EMULATED_PRODUCT(multiply_s8_u8, Integer<int8_t>, Integer<uint8_t>, int32_t)
  EMULATED_PRODUCT(multiply_u8_s8, Integer<uint8_t>, Integer<int8_t>, int32_t)
  EMULATED_PRODUCT(multiply_u8_u8, Integer<uint8_t>, Integer<uint8_t>, int32_t)
  EMULATED_PRODUCT(multiply_e4m3_e4m3, E4m3, E4m3, float)
  EMULATED_PRODUCT(multiply_e4m3_e5m2, E4m3, E5m2, float)
  EMULATED_PRODUCT(multiply_e5m2_e4m3, E5m2, E4m3, float)
  EMULATED_PRODUCT(multiply_e5m2_e5m2, E5m2, E5m2, float)
#undef EMULATED_PRODUCT

  static float widen_e4m3(uint8_t bits) { return E4m3::value(bits); }
  static float widen_e5m2(uint8_t bits) { return E5m2::value(bits); }
  static float larger_f32(float x, float y) { return x != x || y > x ? y : x; }
  // Returns the quotient with the largest error that the device may have.
  static float quotient_f32(float x, float y) {
    return x / y * (1 + 1.1920929e-7f);
  }
  static float divide_f32(float x, float y) { return x / y; }
  static float root_f32(float x) { return __builtin_sqrtf(x); }
  static double root_f64(double x) { return __builtin_sqrt(x); }
  // Returns 2^x with the largest errors that the device may have. Depending on
  // the bits of x, the result is too high by two units in the last place, too
  // low by two units, or exact.
  static float exp2_f32(float x) {
    float power = __builtin_exp2f(x);
    constexpr float leastNormal = 1.17549435e-38f;
    if (!(power < __builtin_inff()) || x == 0.0f)
      return power;
    if (power < leastNormal)
      return 0.0f;
    uint32_t bits, word;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&word, &power, sizeof word);
    word += (bits * 2654435761u >> 16) % 3 * 2 - 2;
    memcpy(&power, &word, sizeof power);
    return power < leastNormal ? 0.0f : power;
  }
  static float widen_f16(uint16_t bits) { return emulated_value(bits, false); }
  static uint16_t narrow_f16(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    uint32_t sign = word >> 16 & 0x8000u, rest = word & 0x7fffffffu;
    if (rest > 0x7f800000u)
      return 0x7fff;
    // Numbers of at least 65520 become infinity. Numbers below 2^-14 are
    // subnormal in f16: adding 0.5 rounds them to multiples of 2^-24, which the
    // lowest bits of the sum count.
    if (rest >= 0x477ff000u)
      return static_cast<uint16_t>(sign | 0x7c00u);
    if (rest < 0x38800000u) {
      float small;
      memcpy(&small, &rest, sizeof small);
      small += 0.5f;
      memcpy(&rest, &small, sizeof rest);
      return static_cast<uint16_t>(sign | (rest - 0x3f000000u));
    }
    rest += 0xfffu + (rest >> 13 & 1u);
    return static_cast<uint16_t>(sign | ((rest - 0x38000000u) >> 13));
  }

  static uint32_t pair_f16(float low, float high) {
    return narrow_f16(low) | uint32_t(narrow_f16(high)) << 16;
  }
  static uint32_t pair_bf16(float low, float high) {
    return narrow_bf16(low) | uint32_t(narrow_bf16(high)) << 16;
  }
  static uint16_t narrow_bf16(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    if ((word & 0x7fffffffu) > 0x7f800000u)
      return 0x7fff;
    return static_cast<uint16_t>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
  }

  static ptrdiff_t count(int32_t *number, ptrdiff_t amount) {
    EmulatedKernelCode pause(false);
    static thread_local int32_t total;
    EmulatedBlock::current()->wait(/*isWarp=*/false);
    if (threadIdx.x == 0)
      total = *number += static_cast<int32_t>(amount);
    emulated_counted(number);
    EmulatedBlock::current()->wait(/*isWarp=*/false);
    return total;
  }

  template <typename... Floats> static void store_f32(float *to, Floats... x) {
    const float vector[] = {x...};
    store(to, vector);
  }
  template <typename... Floats>
  static void store_f16(uint16_t *to, Floats... x) {
    const uint16_t vector[] = {narrow_f16(x)...};
    store(to, vector);
  }
  template <typename... Floats>
  static void store_bf16(uint16_t *to, Floats... x) {
    const uint16_t vector[] = {narrow_bf16(x)...};
    store(to, vector);
  }
  template <typename... Floats> static void put_f32(float *to, Floats... x) {
    (void(*to++ = x), ...);
  }
  template <typename... Floats> static void put_f16(uint16_t *to, Floats... x) {
    (void(*to++ = narrow_f16(x)), ...);
  }
  template <typename... Floats>
  static void put_bf16(uint16_t *to, Floats... x) {
    (void(*to++ = narrow_bf16(x)), ...);
  }

  static void copy_ahead(void *to, const void *from, bool is_inside) {
    EmulatedKernelCode pause(false);
    EmulatedCopies::ofBlock().add(to, is_inside ? from : nullptr);
  }
  static void close_copies() {
    EmulatedKernelCode pause(false);
    EmulatedCopies::ofBlock().close();
  }
  template <unsigned newest> static void await_copies() {
    EmulatedKernelCode pause(false);
    EmulatedCopies::ofBlock().await(newest);
  }

private:
  template <typename Element, size_t count>
  static void store(Element *to, const Element (&vector)[count]) {
    EmulatedKernelCode pause(false);
    if (reinterpret_cast<uintptr_t>(to) % sizeof vector != 0) {
      fprintf(stderr, "emulated GPU: %zu bytes are stored at %p\n",
              sizeof vector, static_cast<void *>(to));
      abort();
    }
    emulated_write(to, sizeof vector);
    memcpy(to, vector, sizeof vector);
  }
  static void load(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d,
                   const void *row, bool isTransposed) {
    EmulatedKernelCode pause(false);
    const void **addresses = EmulatedRegisters::ofBlock().addresses;
    addresses[emulated_thread()] = row;
    emulated_read(row, 16);
    EmulatedBlock::current()->wait(/*isWarp=*/true);
    unsigned lane = emulated_thread() % 32, first = emulated_thread() - lane;
    uint32_t *parts[] = {&a, &b, &c, &d};
    for (unsigned m = 0; m < 4; ++m) {
      auto of = [&](unsigned r) {
        return static_cast<const char *>(addresses[first + 8 * m + r]);
      };
      if (!isTransposed) {
        memcpy(parts[m], of(lane / 4) + 4 * (lane % 4), 4);
        continue;
      }
      uint16_t halves[2];
      for (unsigned h = 0; h < 2; ++h)
        memcpy(&halves[h], of(lane % 4 * 2 + h) + 2 * (lane / 4), 2);
      *parts[m] = uint32_t(halves[1]) << 16 | halves[0];
    }
    EmulatedBlock::current()->wait(/*isWarp=*/true);
  }

  // Returns element `at` of a row or column (32 bytes) of a matrix operand. It
  // is held by four threads, of which `thread` is the first: bytes 0 to 15 in
  // their registers number `low`, bytes 16 to 31 in their registers `high`.
  template <typename Type>
  static auto element(unsigned thread, unsigned low, unsigned high,
                      unsigned at) {
    typedef typename Type::Bits Bits;
    unsigned byte = at * sizeof(Bits), inHalf = byte % 16;
    const uint32_t &word =
        EmulatedRegisters::ofBlock()
            .words[thread + inHalf / 4][byte < 16 ? low : high];
    Bits bits;
    memcpy(&bits, reinterpret_cast<const char *>(&word) + inHalf % 4,
           sizeof bits);
    return Type::value(bits);
  }
  template <typename Left, typename Right, typename Sum>
  static void multiply(Sum *const (&sums)[4], const uint32_t (&words)[6]) {
    EmulatedKernelCode pause(false);
    memcpy(EmulatedRegisters::ofBlock().words[emulated_thread()], words,
           sizeof words);
    EmulatedBlock::current()->wait(/*isWarp=*/true);
    unsigned lane = emulated_thread() % 32, first = emulated_thread() - lane;
    constexpr unsigned steps = 32 / sizeof(typename Left::Bits);
    for (unsigned s = 0; s < 4; ++s) {
      unsigned down = s / 2, column = lane % 4 * 2 + s % 2;
      auto total = element<Left>(first, 0, 0, 0);
      total = 0;
      for (unsigned at = 0; at < steps; ++at)
        total += element<Left>(first + lane / 4 * 4, down, down + 2, at) *
                 element<Right>(first + column * 4, 4, 5, at);
      *sums[s] =
          static_cast<Sum>(static_cast<decltype(total)>(*sums[s]) + total);
    }
    EmulatedBlock::current()->wait(/*isWarp=*/true);
  }
};

#endif // INGOT_EMULATED_WARP_H
