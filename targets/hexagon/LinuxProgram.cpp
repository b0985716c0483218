// The replacement for a C library in programs for an emulated Hexagon.
//
// Debian has neither a C library nor a compiler runtime for Hexagon. A program
// in qemu-hexagon calls Linux by trap0(#1), with the number of the system call
// in r6. clang calls its runtime for divisions, which have no instruction, and
// for operations on doubles on levels without instructions for them. The text
// below computes both bit by bit; that is slow, but such programs are not
// timed.

#include "targets/hexagon/LinuxProgram.h"

namespace ingot::targets {

const llvm::StringLiteral linuxLibraryText =
    R"text(#include <stddef.h>
#include <stdint.h>

inline int system_call(int number, int a, int b, int c) {
  register int r0 __asm__("r0") = a;
  register int r1 __asm__("r1") = b;
  register int r2 __asm__("r2") = c;
  register int r6 __asm__("r6") = number;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory", "r3", "r4", "r5");
  return r0;
}

// The parts of <stdio.h> that test programs use. FILE contains only a descriptor.
struct FILE {
  int descriptor;
};
inline FILE *fopen(const char *path, const char *mode) {
  static FILE files[8];
  static int count;
  constexpr int here = -100, write_create_truncate = 01101, openat = 56;
  register int r3 __asm__("r3") = 0644;
  __asm__ volatile("" : "+r"(r3));
  register int r0 __asm__("r0") = here;
  register int r1 __asm__("r1") = int(intptr_t(path));
  register int r2 __asm__("r2") = mode[0] == 'w' ? write_create_truncate : 0;
  register int r6 __asm__("r6") = openat;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r3), "r"(r6) : "memory", "r4", "r5");
  if (r0 < 0 || count == 8)
    return nullptr;
  files[count].descriptor = r0;
  return &files[count++];
}
inline size_t transfer(int call, const void *data, size_t bytes, FILE *file) {
  size_t done = 0;
  while (done < bytes) {
    int count = system_call(call, file->descriptor, int(intptr_t(data) + intptr_t(done)), int(bytes - done));
    if (count <= 0)
      break;
    done += size_t(count);
  }
  return done;
}
inline size_t fread(void *data, size_t size, size_t count, FILE *file) {
  return transfer(63, data, size * count, file) / size;
}
inline size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  return transfer(64, data, size * count, file) / size;
}
inline int fflush(FILE *) { return 0; }
inline int fclose(FILE *file) { return system_call(57, file->descriptor, 0, 0); }

#define INGOT_NO_BUILTIN __attribute__((used, no_builtin("memcpy", "memmove", "memset")))
extern "C" {
// Like the functions of the SDK, these access vectors at any address, where the last vector may
// overlap the previous one. If there are fewer bytes than in a vector, they are accessed by words
// at aligned addresses, and the rest byte by byte.
typedef int32_t ingot_bytes __attribute__((vector_size(128), aligned(1), may_alias));
typedef int32_t ingot_word __attribute__((may_alias));
INGOT_NO_BUILTIN void *memset(void *to, int value, size_t bytes) {
  auto *target = static_cast<unsigned char *>(to);
  const int32_t word = int32_t((unsigned(value) & 255) * 0x01010101u);
  size_t i = 0;
  if (bytes >= sizeof(ingot_bytes)) {
    const ingot_bytes all = word - ingot_bytes{};
    for (; i + sizeof all <= bytes; i += sizeof all)
      *reinterpret_cast<ingot_bytes *>(target + i) = all;
    *reinterpret_cast<ingot_bytes *>(target + bytes - sizeof all) = all;
    return to;
  }
  if (uintptr_t(to) % sizeof word == 0)
    for (; i + sizeof word <= bytes; i += sizeof word)
      *reinterpret_cast<ingot_word *>(target + i) = word;
  for (; i < bytes; ++i)
    target[i] = static_cast<unsigned char>(value);
  return to;
}
INGOT_NO_BUILTIN void *memcpy(void *__restrict to, const void *__restrict from, size_t bytes) {
  auto *target = static_cast<unsigned char *>(to);
  auto *source = static_cast<const unsigned char *>(from);
  size_t i = 0;
  if (bytes >= sizeof(ingot_bytes)) {
    for (; i + sizeof(ingot_bytes) <= bytes; i += sizeof(ingot_bytes))
      *reinterpret_cast<ingot_bytes *>(target + i) = *reinterpret_cast<const ingot_bytes *>(source + i);
    i = bytes - sizeof(ingot_bytes);
    *reinterpret_cast<ingot_bytes *>(target + i) = *reinterpret_cast<const ingot_bytes *>(source + i);
    return to;
  }
  if ((uintptr_t(to) | uintptr_t(from)) % sizeof(ingot_word) == 0)
    for (; i + sizeof(ingot_word) <= bytes; i += sizeof(ingot_word))
      *reinterpret_cast<ingot_word *>(target + i) = *reinterpret_cast<const ingot_word *>(source + i);
  for (; i < bytes; ++i)
    target[i] = source[i];
  return to;
}
INGOT_NO_BUILTIN void *memmove(void *to, const void *from, size_t bytes) {
  auto *target = static_cast<unsigned char *>(to);
  auto *source = static_cast<const unsigned char *>(from);
  if (target < source)
    return memcpy(to, from, bytes);
  for (size_t i = bytes; i > 0; --i)
    target[i - 1] = source[i - 1];
  return to;
}
// memcpy for multiples of 8 bytes, at least 32; clang calls it.
__attribute__((used)) void __hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from, unsigned bytes) {
  memcpy(to, from, bytes);
}
}

template <typename Word> struct quotient_and_rest {
  Word quotient, rest;
};
template <typename Word> quotient_and_rest<Word> divided(Word a, Word b) {
  Word quotient = 0, rest = 0;
  for (int bit = int(sizeof(Word)) * 8 - 1; bit >= 0; --bit) {
    // The bit that the shift removes from `rest`; if it is 1, the remainder exceeds `b`.
    const bool carry = rest >> (sizeof(Word) * 8 - 1);
    rest = rest << 1 | (a >> bit & 1);
    quotient <<= 1;
    if (carry || rest >= b) {
      rest -= b;
      quotient |= 1;
    }
  }
  return {quotient, rest};
}
// Floats as in IEEE 754, rounded to nearest, ties to even. `rounded` gets the exponent and the
// significand of a result. The highest bit of the significand is 1, and there are two bits more
// than fit: a round bit and, as the lowest bit, a sticky bit, the `or` of all further bits.
template <typename Word, int fraction_bits, int exponent_bits> struct floats {
  static constexpr Word hidden = Word(1) << fraction_bits, sign_bit = hidden << exponent_bits;
  static constexpr int most = (1 << exponent_bits) - 1, bias = most >> 1;
  static constexpr Word infinity = Word(most) << fraction_bits, nan = infinity | hidden >> 1;

  static Word rounded(Word sign, int exponent, Word bits) {
    for (; exponent < 1; ++exponent)
      bits = bits >> 1 | (bits & 1);
    if (exponent >= most)
      return sign | infinity;
    Word result = (Word(exponent - 1) << fraction_bits) + (bits >> 2);
    if ((bits & 3) > 2 || ((bits & 3) == 2 && (result & 1)))
      ++result;
    return sign | result;
  }
  // Returns the exponent of a number that is not 0; `x` becomes its significand, with the highest
  // bit 1, also if the number is subnormal.
  static int take_apart(Word &x) {
    int exponent = int(x >> fraction_bits);
    x &= hidden - 1;
    if (exponent > 0) {
      x |= hidden;
      return exponent;
    }
    for (exponent = 1; !(x & hidden); --exponent)
      x <<= 1;
    return exponent;
  }
  static Word quotient(Word a, Word b) {
    const Word sign = (a ^ b) & sign_bit;
    a &= sign_bit - 1;
    b &= sign_bit - 1;
    if (a > infinity || b > infinity || (a == infinity && b == infinity) || (a == 0 && b == 0))
      return nan;
    if (a == infinity || b == 0)
      return sign | infinity;
    if (b == infinity || a == 0)
      return sign;
    int exponent = take_apart(a);
    exponent += bias - take_apart(b);
    if (a < b) {
      a <<= 1;
      --exponent;
    }
    Word bits = 0;
    for (int i = 0; i < fraction_bits + 3; ++i) {
      bits <<= 1;
      if (a >= b) {
        a -= b;
        bits |= 1;
      }
      a <<= 1;
    }
    return rounded(sign, exponent, bits | (a != 0));
  }
  static Word product(Word a, Word b) {
    const Word sign = (a ^ b) & sign_bit;
    a &= sign_bit - 1;
    b &= sign_bit - 1;
    if (a > infinity || b > infinity || (a == infinity && b == 0) || (b == infinity && a == 0))
      return nan;
    if (a == infinity || b == infinity)
      return sign | infinity;
    if (a == 0 || b == 0)
      return sign;
    int exponent = take_apart(a);
    exponent += take_apart(b) - bias;
    // Adds `a` for each 1 in `b`, from the lowest bit on, and shifts the sum to the right. `lost`
    // tells whether a 1 was shifted out.
    Word bits = 0, lost = 0;
    for (int i = 0; i <= fraction_bits; ++i) {
      if (b >> i & 1)
        bits += a << 2;
      if (i < fraction_bits) {
        lost |= bits & 1;
        bits >>= 1;
      }
    }
    if (bits >> (fraction_bits + 3)) {
      lost |= bits & 1;
      bits >>= 1;
      ++exponent;
    }
    return rounded(sign, exponent, bits | lost);
  }
  static Word sum(Word a, Word b) {
    if ((a & (sign_bit - 1)) < (b & (sign_bit - 1))) {
      const Word other = a;
      a = b;
      b = other;
    }
    const Word sign = a & sign_bit;
    const bool differ = (a ^ b) & sign_bit;
    a &= sign_bit - 1;
    b &= sign_bit - 1;
    if (a > infinity || b > infinity || (a == infinity && b == infinity && differ))
      return nan;
    if (a == infinity || b == 0)
      return a == 0 && differ ? 0 : sign | a;
    int exponent = take_apart(a);
    int behind = exponent - take_apart(b);
    // Three more low bits, since a difference may have to be shifted to the left by one.
    a <<= 3;
    b <<= 3;
    for (; behind > 0; --behind)
      b = b >> 1 | (b & 1);
    Word bits = differ ? a - b : a + b;
    if (bits == 0)
      return 0;
    for (; bits >> (fraction_bits + 3); ++exponent)
      bits = bits >> 1 | (bits & 1);
    for (; !(bits >> (fraction_bits + 2)); --exponent)
      bits <<= 1;
    return rounded(sign, exponent - 1, bits);
  }
};
template <typename To, typename From> To bits_of(From from) {
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
#define INGOT_DIVISIONS(SIGNED, UNSIGNED, SUFFIX) \
  __attribute__((used)) UNSIGNED __hexagon_udiv##SUFFIX(UNSIGNED a, UNSIGNED b) { return divided(a, b).quotient; } \
  __attribute__((used)) UNSIGNED __hexagon_umod##SUFFIX(UNSIGNED a, UNSIGNED b) { return divided(a, b).rest; } \
  __attribute__((used)) SIGNED __hexagon_div##SUFFIX(SIGNED a, SIGNED b) { \
    const UNSIGNED q = divided(a < 0 ? 0 - UNSIGNED(a) : UNSIGNED(a), b < 0 ? 0 - UNSIGNED(b) : UNSIGNED(b)).quotient; \
    return SIGNED((a < 0) != (b < 0) ? 0 - q : q); \
  } \
  __attribute__((used)) SIGNED __hexagon_mod##SUFFIX(SIGNED a, SIGNED b) { \
    const UNSIGNED r = divided(a < 0 ? 0 - UNSIGNED(a) : UNSIGNED(a), b < 0 ? 0 - UNSIGNED(b) : UNSIGNED(b)).rest; \
    return SIGNED(a < 0 ? 0 - r : r); \
  }
extern "C" {
INGOT_DIVISIONS(int32_t, uint32_t, si3)
INGOT_DIVISIONS(int64_t, uint64_t, di3)
__attribute__((used)) float __hexagon_divsf3(float a, float b) {
  return bits_of<float>(floats<uint32_t, 23, 8>::quotient(bits_of<uint32_t>(a), bits_of<uint32_t>(b)));
}
using doubles = floats<uint64_t, 52, 11>;
__attribute__((used)) double __hexagon_divdf3(double a, double b) {
  return bits_of<double>(doubles::quotient(bits_of<uint64_t>(a), bits_of<uint64_t>(b)));
}
__attribute__((used)) double __hexagon_muldf3(double a, double b) {
  return bits_of<double>(doubles::product(bits_of<uint64_t>(a), bits_of<uint64_t>(b)));
}
__attribute__((used)) double __hexagon_adddf3(double a, double b) {
  return bits_of<double>(doubles::sum(bits_of<uint64_t>(a), bits_of<uint64_t>(b)));
}
__attribute__((used)) double __hexagon_subdf3(double a, double b) {
  return bits_of<double>(doubles::sum(bits_of<uint64_t>(a), bits_of<uint64_t>(b) ^ doubles::sign_bit));
}
}
)text";

const llvm::StringLiteral linuxProgramText =
    R"text(__asm__(".text\n.globl _start\n_start:\n{ call main }\n{ r6 = #94 }\n{ trap0(#1) }\n");
)text";

} // namespace ingot::targets
