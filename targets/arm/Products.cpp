// Dot products of narrow elements on Arm's application cores.
//
// Base NEON multiplies 8-bit integers to 16 bits, which hold any product of two
// operands of the same signedness. It adds adjacent pairs of products to 32-bit
// lanes (VMULL, VPADAL). The sum of two products of signed operands also fits
// in 16 bits if one factor is not -128 (SMLAL). SMLAL also multiplies 16-bit
// integers lane by lane and adds the products to 32-bit lanes. SDOT, UDOT and
// USDOT multiply and add groups of four elements. None of these instructions
// saturates. BFDOT
// adds two bf16 products to an f32; it rounds to odd and flushes subnormal
// numbers to zero. SMMLA, UMMLA, USMMLA and BFMMLA multiply two rows by two
// columns at the rate of SDOT and BFDOT, so they do twice as many products per
// cycle; BFMMLA rounds like two BFDOT. FMLA on 16-bit lanes adds an f16 product to an f16
// accumulator in each lane, and rounds once.
//
// Semantics: Arm Architecture Reference Manual. Throughputs: the scheduling
// models of LLVM 22 (llvm-mca). For base NEON, the model is that of Cortex-A72
// (widening multiplication on one pipe, pairwise accumulation on the other);
// for the other instructions, those of Neoverse N1 and N2.

#include "targets/arm/Products.h"

namespace ingot::targets {

#define PAIRS(TYPE, LETTER, SIGN)                                              \
  {TYPE,                                                                       \
   TYPE,                                                                       \
   2,                                                                          \
   4,                                                                          \
   1,                                                                          \
   "vpadalq_" LETTER "16(" SIGN "32x4_t({2}), vmull_" LETTER "8(" SIGN         \
   "8x8_t({0}), " SIGN "8x8_t({1})))"}

/// Entries of the table of dot products for one instruction, on registers of 16
/// and of 8 bytes.
#define GROUPS(A, B, NAME, SUFFIX, SUM, TYPE_A, TYPE_B)                        \
  {A,                                                                          \
   B,                                                                          \
   4,                                                                          \
   4,                                                                          \
   2,                                                                          \
   NAME "q_" SUFFIX "(" SUM "32x4_t({2}), " TYPE_A "8x16_t({0}), " TYPE_B      \
        "8x16_t({1}))"},                                                       \
      {A,                                                                      \
       B,                                                                      \
       4,                                                                      \
       2,                                                                      \
       2,                                                                      \
       NAME "_" SUFFIX "(" SUM "32x2_t({2}), " TYPE_A "8x8_t({0}), " TYPE_B    \
            "8x8_t({1}))"}

std::vector<Product> neonProducts() {
  return {PAIRS("si8", "s", "int"),
          PAIRS("ui8", "u", "uint"),
          {"si16", "si16", 1, 4, 1,
           "vmlal_s16(int32x4_t({2}), int16x4_t({0}), int16x4_t({1}))"}};
}

std::vector<Intrinsic> acrossLanes() {
  return {{"kernel.dot.si8.si8[across]", "i8x16", "i32x4",
           "vpadalq_s16(int32x4_t({2}), vmlal_high_s8(vmull_s8("
           "vget_low_s8(int8x16_t({0})), vget_low_s8(int8x16_t({1}))), "
           "int8x16_t({0}), int8x16_t({1})))"},
          {"kernel.dot.si8.si8[across][to zero]", "i8x16", "i32x4",
           "vpaddlq_s16(vmlal_high_s8(vmull_s8("
           "vget_low_s8(int8x16_t({0})), vget_low_s8(int8x16_t({1}))), "
           "int8x16_t({0}), int8x16_t({1})))"}};
}

std::vector<Intrinsic> ofHalves() {
  return {{"kernel.dot.si16.si16[lower]", "i16x8", "i32x4",
           "vmlal_s16(int32x4_t({2}), vget_low_s16(int16x8_t({0})), "
           "vget_low_s16(int16x8_t({1})))"},
          {"kernel.dot.si16.si16[upper]", "i16x8", "i32x4",
           "vmlal_high_s16(int32x4_t({2}), int16x8_t({0}), int16x8_t({1}))"}};
}

/// An entry of the table of intrinsics for a product of two rows by two
/// columns, of types A and B.
#define OF_PAIRS(A, B, FROM, TO, NAME, SUM, TYPE_A, TYPE_B)                    \
  {"kernel.dot." A "." B "[pairs]", FROM, TO,                                  \
   NAME "(" SUM "({2}), " TYPE_A "({0}), " TYPE_B "({1}))"}

std::vector<Product> dotprodProducts() {
  return {GROUPS("si8", "si8", "vdot", "s32", "int", "int", "int"),
          GROUPS("ui8", "ui8", "vdot", "u32", "uint", "uint", "uint")};
}

std::vector<Product> i8mmProducts() {
  return {GROUPS("ui8", "si8", "vusdot", "s32", "int", "uint", "int"),
          {"si8", "ui8", 4, 4, 2,
           "vusdotq_s32(int32x4_t({2}), uint8x16_t({1}), int8x16_t({0}))"},
          {"si8", "ui8", 4, 2, 2,
           "vusdot_s32(int32x2_t({2}), uint8x8_t({1}), int8x8_t({0}))"}};
}

std::vector<Product> fmlaProducts() {
  return {{"f16", "f16", 1, 8, 2,
           "vfmaq_f16(float16x8_t({2}), float16x8_t({0}), float16x8_t({1}))"},
          {"f16", "f16", 1, 4, 2,
           "vfma_f16(float16x4_t({2}), float16x4_t({0}), float16x4_t({1}))"}};
}

std::vector<Product> bfdotProducts() {
  return {
      {"bf16", "bf16", 2, 4, 2,
       "vbfdotq_f32(float32x4_t({2}), bfloat16x8_t({0}), bfloat16x8_t({1}))"},
      {"bf16", "bf16", 2, 2, 2,
       "vbfdot_f32(float32x2_t({2}), bfloat16x4_t({0}), bfloat16x4_t({1}))"}};
}

/// Entries of the table of intrinsics for a dot product in which all lanes use
/// the same group of four elements: group LANE of the vector {1}.
#define BY_LANE(A, B, NAME, SUFFIX, SUM, TYPE_A, TYPE_B, LANE)                 \
  {"kernel.dot." A "." B "[" LANE "]", "i8x16", "i32x4",                       \
   NAME "q_laneq_" SUFFIX "(" SUM "32x4_t({2}), " TYPE_A                       \
        "8x16_t({0}), " TYPE_B "8x16_t({1}), " LANE ")"},                      \
      {"kernel.dot." A "." B "[" LANE "]", "i8x16", "i32x2",                   \
       NAME "_laneq_" SUFFIX "(" SUM "32x2_t({2}), " TYPE_A                    \
            "8x8_t({0}), " TYPE_B "8x16_t({1}), " LANE ")"}
#define BY_LANES(...)                                                          \
  BY_LANE(__VA_ARGS__, "0"), BY_LANE(__VA_ARGS__, "1"),                        \
      BY_LANE(__VA_ARGS__, "2"), BY_LANE(__VA_ARGS__, "3")

#define BFLOATS_BY_LANE(LANE)                                                  \
  {"kernel.dot.bf16.bf16[" LANE "]", "bf16x8", "f32x4",                        \
   "vbfdotq_laneq_f32(float32x4_t({2}), bfloat16x8_t({0}), "                   \
   "bfloat16x8_t({1}), " LANE ")"},                                            \
      {"kernel.dot.bf16.bf16[" LANE "]", "bf16x8", "f32x2",                    \
       "vbfdot_laneq_f32(float32x2_t({2}), bfloat16x4_t({0}), "                \
       "bfloat16x8_t({1}), " LANE ")"}

#define HALVES_BY_LANE(LANE)                                                   \
  {"kernel.dot.f16.f16[" LANE "]", "f16x8", "f16x8",                           \
   "INGOT_FMLA_LANE({2}, {0}, {1}, " LANE ")"},                                \
      {"kernel.dot.f16.f16[" LANE "]", "f16x8", "f16x4",                       \
       "vfma_laneq_f16(float16x4_t({2}), float16x4_t({0}), "                   \
       "float16x8_t({1}), " LANE ")"}

/// Entries of the table of intrinsics for an arithmetic operation on two
/// vectors of f16.
#define HALVES(OP, NAME)                                                       \
  {OP, "f16x8", "f16x8", NAME "q_f16(float16x8_t({0}), float16x8_t({1}))"},    \
      {OP, "f16x4", "f16x4", NAME "_f16(float16x4_t({0}), float16x4_t({1}))"}

std::vector<Intrinsic> halfIntrinsics() {
  return {HALVES_BY_LANE("0"),
          HALVES_BY_LANE("1"),
          HALVES_BY_LANE("2"),
          HALVES_BY_LANE("3"),
          HALVES_BY_LANE("4"),
          HALVES_BY_LANE("5"),
          HALVES_BY_LANE("6"),
          HALVES_BY_LANE("7"),
          HALVES("arith.addf", "vadd"),
          HALVES("arith.subf", "vsub"),
          HALVES("arith.mulf", "vmul"),
          HALVES("arith.divf", "vdiv"),
          {"arith.negf", "f16x8", "f16x8", "vnegq_f16(float16x8_t({0}))"},
          {"arith.negf", "f16x4", "f16x4", "vneg_f16(float16x4_t({0}))"},
          {"vector.fma", "f16x8", "f16x8",
           "vfmaq_f16(float16x8_t({2}), float16x8_t({0}), float16x8_t({1}))"},
          {"vector.fma", "f16x4", "f16x4",
           "vfma_f16(float16x4_t({2}), float16x4_t({0}), float16x4_t({1}))"},
          HALVES("arith.maximumf", "vmax"),
          HALVES("arith.minimumf", "vmin"),
          HALVES("arith.maxnumf", "vmaxnm"),
          HALVES("arith.minnumf", "vminnm")};
}

std::vector<Intrinsic> bfdotIntrinsics() {
  return {
      {"kernel.dot.bf16.bf16[pairs]", "bf16x8", "f32x4",
       "INGOT_BFMMLA({2}, {0}, {1})"},
      BFLOATS_BY_LANE("0"),
      BFLOATS_BY_LANE("1"),
      BFLOATS_BY_LANE("2"),
      BFLOATS_BY_LANE("3"),
      {"arith.extf", "bf16x4", "f32x4", "vcvt_f32_bf16(bfloat16x4_t({0}))"},
      {"arith.truncf", "f32x4", "bf16x4", "vcvt_bf16_f32(float32x4_t({0}))"},
      {"arith.truncf", "f32", "bf16",
       "vget_lane_u16(vreinterpret_u16_bf16("
       "vcvt_bf16_f32(vdupq_n_f32({0}))), 0)"}};
}

std::vector<Intrinsic> dotprodLanes() {
  return {BY_LANES("si8", "si8", "vdot", "s32", "int", "int", "int"),
          BY_LANES("ui8", "ui8", "vdot", "u32", "uint", "uint", "uint")};
}

std::vector<Intrinsic> i8mmLanes() {
  return {BY_LANES("ui8", "si8", "vusdot", "s32", "int", "uint", "int"),
          BY_LANES("si8", "ui8", "vsudot", "s32", "int", "int", "uint"),
          OF_PAIRS("si8", "si8", "i8x16", "i32x4", "vmmlaq_s32", "int32x4_t",
                   "int8x16_t", "int8x16_t"),
          OF_PAIRS("ui8", "ui8", "i8x16", "i32x4", "vmmlaq_u32", "uint32x4_t",
                   "uint8x16_t", "uint8x16_t"),
          OF_PAIRS("ui8", "si8", "i8x16", "i32x4", "vusmmlaq_s32", "int32x4_t",
                   "uint8x16_t", "int8x16_t")};
}

} // namespace ingot::targets
