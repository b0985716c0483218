// Compares AMX tile instructions, as emulated, with the operations in Intel's
// manual.
//
// Without an argument, runs all cases; with a number, runs the case of that
// number in `fault`: an instruction that must raise an exception, which ends
// the program.
#include "amx_emulator.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>

namespace {

struct alignas(64) Configuration {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

Configuration shape(int m, int n, int k) {
  Configuration c;
  const int shapes[][2] = {{m, 4 * n}, {m, 4 * k}, {k, 4 * n}};
  for (int i = 0; i < 3; ++i) {
    c.rows[i] = uint8_t(shapes[i][0]);
    c.bytes[i] = uint16_t(shapes[i][1]);
  }
  return c;
}

int failures = 0;
void expect(bool holds, const char *what) {
  if (holds)
    return;
  printf("%s\n", what);
  ++failures;
}

// Compiler barrier: g++'s intrinsics do not declare that tile loads read
// memory.
inline void inMemory() { __asm__ volatile("" ::: "memory"); }

uint8_t a[16 * 96], b[16 * 64];
int32_t sums[16 * 20], want[16 * 20];

template <typename A, typename B> int32_t product(int i, int j) {
  return int32_t(A(a[i])) * int32_t(B(b[j]));
}

/// Multiplies an m x k by a k x n matrix of 8-bit integers; rows of a are 96
/// bytes apart, rows of the sums 80 bytes.
template <typename A, typename B, typename Multiply>
void bytes(int m, int n, int k, const char *what, Multiply multiply) {
  for (int i = 0; i < 16 * 96; ++i)
    a[i] = uint8_t(i * 37 + i / 96 * 11 + 128);
  for (int i = 0; i < 16 * 64; ++i)
    b[i] = uint8_t(i * 91 + i / 64 * 5 + 127);
  for (int i = 0; i < 16 * 20; ++i)
    sums[i] = want[i] = i - 7;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column)
      for (int step = 0; step < 4 * k; ++step)
        want[row * 20 + column] += product<A, B>(
            row * 96 + step, step / 4 * 64 + 4 * column + step % 4);
  Configuration c = shape(m, n, k);
  inMemory();
  _tile_loadconfig(&c);
  _tile_loadd(0, sums, 80);
  _tile_loadd(1, a, 96);
  _tile_stream_loadd(2, b, 64);
  multiply();
  _tile_stored(0, sums, 80);
  _tile_release();
  expect(memcmp(sums, want, sizeof sums) == 0, what);
}

uint16_t rounded(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return uint16_t(bits >> 16);
}

void bfloats() {
  static uint16_t left[16][32], right[16][32];
  static float floats[16][16];
  for (int row = 0; row < 16; ++row)
    for (int i = 0; i < 32; ++i) {
      left[row][i] = rounded(float(row - i));
      right[row][i] = rounded(float(i * row % 7) / 4);
    }
  // Subnormal operands are treated as zeros, and subnormal sums become zeros.
  left[3][0] = right[2][5] = 0x0001;
  floats[15][15] = 1e-40f;
  inMemory();
  Configuration c = shape(16, 16, 16);
  inMemory();
  _tile_loadconfig(&c);
  _tile_loadd(0, floats, 64);
  _tile_loadd(1, left, 64);
  _tile_loadd(2, right, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, floats, 64);
  _tile_release();
  auto number = [](uint16_t half) {
    uint32_t bits = half == 1 ? 0 : uint32_t(half) << 16;
    float x;
    memcpy(&x, &bits, 4);
    return x;
  };
  bool same = true;
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      float sum = 0; // Exact in any order: small multiples of 1/4.
      for (int k = 0; k < 32; ++k)
        sum += number(left[m][k]) * number(right[k / 2][2 * n + k % 2]);
      same &= floats[m][n] == sum;
    }
  expect(same, "products of bf16");
}

/// Tests all addressing forms, loads of partial tiles, and the tile
/// configuration.
void addresses() {
  static uint8_t from[40][64], to[40][64];
  for (int i = 0; i < 40 * 64; ++i)
    (&from[0][0])[i] = uint8_t(i * 7 + 3);
  static Configuration c = shape(5, 3, 2);
  inMemory();
  __asm__ volatile("ldtilecfg %0" ::"m"(c));
  Configuration found;
  _tile_storeconfig(&found);
  inMemory();
  expect(memcmp(&found, &c, sizeof c) == 0, "the configuration is stored");
  const uint8_t *base = from[2];
  long half = 64;
  __asm__ volatile("tileloadd 64(%0,%1,2), %%tmm1" ::"r"(base), "r"(half)
                   : "memory");
  __asm__ volatile(
      "tilestored %%tmm1, 4096(%0,%1,1)" ::"r"(uintptr_t(to[1]) - 4096),
      "r"(half)
      : "memory");
  for (int row = 0; row < 40; ++row)
    for (int i = 0; i < 64; ++i) {
      bool isInside = row >= 1 && row < 6 && i < 8;
      expect(to[row][i] == (isInside ? from[3 + 2 * (row - 1)][i] : 0),
             "a tile is moved");
    }
  // Addresses with registers r8 and above, with the frame pointer as base, and
  // without an index.
  memset(to, 1, sizeof to);
  register long thirteen __asm__("r13") = long(from[1]);
  register long twelve __asm__("r12") = 128;
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm0" ::"r"(thirteen), "r"(twelve)
                   : "memory");
  __asm__ volatile("tilestored %%tmm0, (%0,%1,1)" ::"r"(twelve + long(to[0])),
                   "r"(half)
                   : "memory");
  expect(memcmp(to[2], from[1], 12) == 0 && memcmp(to[3], from[3], 12) == 0,
         "registers from r8 on");
  _tile_zero(0);
  _tile_stored(0, to, 64);
  uint8_t zero[12] = {};
  expect(memcmp(to[4], zero, 12) == 0 && to[4][12] == 1, "a tile is cleared");
  _tile_release();
  _tile_storeconfig(&found);
  inMemory();
  expect(found.palette == 0 && found.rows[0] == 0, "the state is released");
}

/// Executes instructions that raise an exception according to the manual.
void fault(int number) {
  Configuration c = shape(16, 16, 16);
  auto set = [&] {
    inMemory();
    _tile_loadconfig(&c);
  };
  switch (number) {
  case 0:
    _tile_zero(0);
    break;
  case 1:
    c.palette = 2;
    set();
    break;
  case 2:
    c.rows[0] = 17;
    set();
    break;
  case 3:
    c.bytes[1] = 0;
    set();
    break;
  case 4:
    c.reserved[3] = 1;
    set();
    break;
  case 5:
    set();
    _tile_zero(3);
    break;
  case 6:
    c.rows[1] = 15;
    set();
    _tile_dpbusd(0, 1, 2);
    break;
  case 7:
    c.rows[2] = 15;
    set();
    _tile_dpbusd(0, 1, 2);
    break;
  case 8:
    c.bytes[2] = 60;
    set();
    _tile_dpbssd(0, 1, 2);
    break;
  case 9:
    set();
    // tdpbssd with tiles 0, 1 and 1, which compilers reject.
    __asm__ volatile(".byte 0xc4, 0xe2, 0x73, 0x5e, 0xc1");
    break;
  case 10:
    c.bytes[1] = 62;
    set();
    _tile_dpbf16ps(0, 1, 2);
    break;
  case 11:
    __asm__ volatile("ud2");
    break;
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1) {
    fault(atoi(argv[1]));
    return 0;
  }
  const int shapes[][3] = {{16, 16, 16}, {5, 3, 2}, {1, 16, 7}, {16, 1, 1}};
  for (auto [m, n, k] : shapes) {
    bytes<uint8_t, uint8_t>(m, n, k, "unsigned by unsigned",
                            [] { _tile_dpbuud(0, 1, 2); });
    bytes<uint8_t, int8_t>(m, n, k, "unsigned by signed",
                           [] { _tile_dpbusd(0, 1, 2); });
    bytes<int8_t, uint8_t>(m, n, k, "signed by unsigned",
                           [] { _tile_dpbsud(0, 1, 2); });
    bytes<int8_t, int8_t>(m, n, k, "signed by signed",
                          [] { _tile_dpbssd(0, 1, 2); });
  }
  AmxCounts counts = amx_counts();
  if (amx_is_emulated())
    expect(counts.products == 16 && counts.loads == 48 && counts.stores == 16 &&
               counts.configurations == 16 && counts.zeros == 0,
           "instructions are counted");
  bfloats();
  addresses();
  if (failures == 0)
    printf("all cases hold\n");
  return failures != 0;
}
