// Dot products of narrow elements on x86-64.
//
// PMADDWD multiplies signed 16-bit integers and adds pairs of products in 32
// bits; the only sum that can overflow is that of two (-2^15)^2, which wraps.
// It does not accumulate, so each entry is a product and an addition. VPDPBUSD
// multiplies unsigned by signed 8-bit integers and adds four products to the
// accumulator without saturation (VPDPBUSDS saturates). PMADDUBSW saturates sums
// of two products to 16 bits; its entry is in the table of intrinsics. VDPBF16PS
// adds two bf16 products to an f32; it rounds to nearest even and flushes
// subnormal operands and sums to zero, regardless of MXCSR. VFMADD on 16-bit
// lanes adds an f16 product to an f16 accumulator in each lane, and rounds once.
//
// Semantics: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2. Throughputs: the scheduling models of LLVM 22 (llvm-mca) for
// Nehalem, Skylake, Skylake-X, Cascade Lake and, for AVX-VNNI, Alder Lake.
//
// Measured in November 2026: on Zen 4 at 3.67 GHz, VDPBF16PS has the throughput
// of f32 multiply-adds: 3.65 G/s with 64 bytes (one per cycle, like f32) and
// 6.87 G/s with 32 bytes; its latency is 6 cycles. On Emerald Rapids, it has a
// quarter of the throughput of f32: 1.35 G/s with 64 bytes, compared with 5.54
// G/s for VFMADD on f32 and 5.90 G/s on f16.

#include "targets/x86/Products.h"

namespace ingot::targets {

#define PAIRS(LANES, PER_CYCLE, PREFIX, REGISTER)                              \
  {"si16",                                                                     \
   "si16",                                                                     \
   2,                                                                          \
   LANES,                                                                      \
   PER_CYCLE,                                                                  \
   PREFIX "_add_epi32(" REGISTER "({2}), " PREFIX "_madd_epi16(" REGISTER      \
          "({0}), " REGISTER "({1})))"}

#define BYTES(LANES, PER_CYCLE, NAME, REGISTER)                                \
  {                                                                            \
      "ui8",                                                                   \
      "si8",                                                                   \
      4,                                                                       \
      LANES,                                                                   \
      PER_CYCLE,                                                               \
      NAME "(" REGISTER "({2}), " REGISTER "({0}), " REGISTER "({1}))"}

std::vector<Product> pairProducts128() {
  return {PAIRS(4, 1, "_mm", "__m128i")};
}

std::vector<Product> pairProducts256() {
  return {PAIRS(8, 2, "_mm256", "__m256i")};
}

std::vector<Product> pairProducts512() {
  return {PAIRS(16, 2, "_mm512", "__m512i")};
}

std::vector<Product> vnniProducts() {
  return {BYTES(16, 2, "_mm512_dpbusd_epi32", "__m512i"),
          BYTES(8, 2, "_mm256_dpbusd_epi32", "__m256i"),
          BYTES(4, 2, "_mm_dpbusd_epi32", "__m128i")};
}

#define BFLOATS(LANES, PER_CYCLE, NAME, SUMS, OPERANDS)                        \
  {"bf16",    "bf16",                                                          \
   2,         LANES,                                                           \
   PER_CYCLE, NAME "(" SUMS "({2}), " OPERANDS "({0}), " OPERANDS "({1}))"}

std::vector<Product> bfloatProducts(double perCycle) {
  return {BFLOATS(16, perCycle, "_mm512_dpbf16_ps", "__m512", "__m512bh"),
          BFLOATS(8, perCycle, "_mm256_dpbf16_ps", "__m256", "__m256bh"),
          BFLOATS(4, perCycle, "_mm_dpbf16_ps", "__m128", "__m128bh")};
}

#define HALVES(LANES, NAME, REGISTER)                                          \
  {"f16", "f16",                                                               \
   1,     LANES,                                                               \
   2,     NAME "(" REGISTER "({0}), " REGISTER "({1}), " REGISTER "({2}))"}

std::vector<Product> halfProducts() {
  return {HALVES(32, "_mm512_fmadd_ph", "__m512h"),
          HALVES(16, "_mm256_fmadd_ph", "__m256h"),
          HALVES(8, "_mm_fmadd_ph", "__m128h")};
}

std::vector<Product> avxVnniProducts() {
  return {BYTES(8, 2, "_mm256_dpbusd_avx_epi32", "__m256i"),
          BYTES(4, 2, "_mm_dpbusd_avx_epi32", "__m128i")};
}

} // namespace ingot::targets
