// Targets for 64-bit Arm: a base level and levels with further instructions.
//
// NEON is part of the base level. It has 16-byte vectors, 32 registers, and a
// multiply-add by one lane of a register. Each further level adds instructions,
// for integer dot products and small floats, to those of the previous level.

#include "targets/FeaturePragmas.h"
#include "targets/arm/Arm.h"
#include "targets/arm/Products.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::targets {

/// Entries of the table of intrinsics for a unary function on scalars and on
/// vectors of all widths. The names of its intrinsics begin with NAME.
#define UNARY(OP, NAME)                                                        \
  {OP, "f32x4", "f32x4", NAME "q_f32({0})"},                                   \
      {OP, "f64x2", "f64x2", NAME "q_f64({0})"},                               \
      {OP, "f32x2", "f32x2", NAME "_f32({0})"},                                \
      {OP, "f32", "f32", "vget_lane_f32(" NAME "_f32(vdup_n_f32({0})), 0)"},   \
      {OP, "f64", "f64", "vget_lane_f64(" NAME "_f64(vdup_n_f64({0})), 0)"}

/// Entries of the table of intrinsics for the maximum or minimum of two vectors
/// of floats.
#define EXTREMUM(OP, NAME)                                                     \
  {OP, "f32x4", "f32x4", NAME "q_f32({0}, {1})"},                              \
      {OP, "f64x2", "f64x2", NAME "q_f64({0}, {1})"},                          \
      {OP, "f32x2", "f32x2", NAME "_f32({0}, {1})"}

/// A vector of four 8-bit elements in the lower half of a 64-bit register. It
/// is passed as a 32-bit word, since g++ 12 would move a four-byte vector byte
/// by byte.
#define FOUR_BYTES(SIGN)                                                       \
  "vreinterpret_" SIGN "8_u32(vcreate_u32(uint32_t({0})))"

/// Entries of the table of intrinsics that widen vectors of narrow integers to
/// wider integers or floats, with zero extension (SIGN u) or sign extension
/// (SIGN s). They are needed since g++ 12 compiles __builtin_convertvector to
/// one or two scalar instructions per lane.
#define WIDEN(EXTEND, TO_FLOAT, SIGN, TYPE)                                    \
  {EXTEND, "i8x4", "i32x4",                                                    \
   "vmovl_" SIGN "16(vget_low_" SIGN "16(vmovl_" SIGN                          \
   "8(" FOUR_BYTES(SIGN) ")))"},                                               \
      {EXTEND, "i16x4", "i32x4", "vmovl_" SIGN "16(" TYPE "16x4_t({0}))"},     \
      {EXTEND, "i8x8", "i16x8", "vmovl_" SIGN "8(" TYPE "8x8_t({0}))"},        \
      {TO_FLOAT, "i8x4", "f32x4",                                              \
       "vcvtq_f32_" SIGN "32(vmovl_" SIGN "16(vget_low_" SIGN "16(vmovl_" SIGN \
       "8(" FOUR_BYTES(SIGN) "))))"}

/// Entries of the table of intrinsics that narrow two registers of integers to
/// one register with elements of half the width. FUNCTION saturates to signed
/// or to unsigned integers.
#define NARROW(OP, FUNCTION)                                                   \
  {OP, "i32x4", "i16x8",                                                       \
   FUNCTION "_high_s32(" FUNCTION "_s32(int32x4_t({0})), int32x4_t({1}))"},    \
      {OP, "i16x8", "i8x16",                                                   \
       FUNCTION "_high_s16(" FUNCTION "_s16(int16x8_t({0})), int16x8_t({1}))"}

static const std::vector<Intrinsic> intrinsics = {
    UNARY("math.sqrt", "vsqrt"),
    UNARY("math.floor", "vrndm"),
    UNARY("math.ceil", "vrndp"),
    UNARY("math.roundeven", "vrndn"),
    UNARY("math.trunc", "vrnd"),
    EXTREMUM("arith.maximumf", "vmax"),
    EXTREMUM("arith.minimumf", "vmin"),
    EXTREMUM("arith.maxnumf", "vmaxnm"),
    EXTREMUM("arith.minnumf", "vminnm"),
    WIDEN("arith.extui", "arith.uitofp", "u", "uint"),
    WIDEN("arith.extsi", "arith.sitofp", "s", "int"),
    {"arith.addi[of pairs]", "i32x4", "i32x4",
     "vpaddq_s32(int32x4_t({0}), int32x4_t({1}))"},
    {"arith.addf[of pairs]", "f32x4", "f32x4", "vpaddq_f32({0}, {1})"},
    {"arith.trunci", "i32x4", "i8x4",
     "vget_lane_u32(vreinterpret_u32_s8(vmovn_s16(vcombine_s16(vmovn_s32("
     "int32x4_t({0})), vdup_n_s16(0)))), 0)"},
    {"arith.trunci", "i32x4", "i16x4", "vmovn_s32(int32x4_t({0}))"},
    {"arith.trunci", "i16x8", "i8x8", "vmovn_s16(int16x8_t({0}))"},
    NARROW("kernel.narrow_signed", "vqmovn"),
    NARROW("kernel.narrow_unsigned", "vqmovun"),
    {"kernel.round_saturated", "f32x4", "i32x4", "vcvtnq_s32_f32({0})"},
    {"kernel.add_saturated", "i16x8", "i16x8",
     "vqaddq_s16(int16x8_t({0}), int16x8_t({1}))"},
    {"arith.extf", "f16x4", "f32x4", "vcvt_f32_f16(float16x4_t({0}))"},
    {"arith.extf", "f16", "f32",
     "vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16({0}))), 0)"},
    {"arith.truncf", "f32x4", "f16x4", "vcvt_f16_f32({0})"},
    {"arith.truncf", "f32", "f16",
     "vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32({0}))), 0)"},
};

template <typename Row>
static void append(std::vector<Row> &rows, const std::vector<Row> &more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

static bool hostIsAArch64() {
  return llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64();
}

/// Whether this machine has all of `features`, which are LLVM's names of
/// features.
static bool hostHas(std::initializer_list<llvm::StringRef> features) {
  if (!hostIsAArch64())
    return false;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return llvm::all_of(features,
                      [&](llvm::StringRef f) { return host.lookup(f); });
}

// The code that selects a target at run time reads ID registers, since
// getauxval would need the C library. A field of an ID register has four bits.
// In some fields, the value 15 means that the unit does not exist.
static constexpr llvm::StringLiteral selectText =
    R"(// Returns the level of this processor: 1 has dotprod, 2 also fp16, 3 also i8mm, 4 also bf16. On
// Linux (4.11 or later) the ID registers tell; elsewhere the macros of the compiler do.
inline int level() {
  uint64_t isar0 = 0, isar1 = 0, pfr0 = 0;
#if defined(__linux__) || !__STDC_HOSTED__
  __asm__("mrs %0, ID_AA64ISAR0_EL1" : "=r"(isar0));
  __asm__("mrs %0, ID_AA64ISAR1_EL1" : "=r"(isar1));
  __asm__("mrs %0, ID_AA64PFR0_EL1" : "=r"(pfr0));
#endif
  const auto has = [](uint64_t word, int bit) {
    return (word >> bit & 15) >= 1 && (word >> bit & 15) < 15;
  };
  bool dotprod = has(isar0, 44), fp16 = has(pfr0, 16) && has(pfr0, 20);
  bool i8mm = has(isar1, 52), bf16 = has(isar1, 44);
#if defined(__ARM_FEATURE_DOTPROD)
  dotprod = true;
#endif
#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
  fp16 = true;
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8)
  i8mm = true;
#endif
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  bf16 = true;
#endif
  return !dotprod ? 0 : !fp16 ? 1 : !i8mm ? 2 : !bf16 ? 3 : 4;
}
)";

/// The definition of INGOT_UNSCHEDULED, an attribute of functions with many sums
/// (TargetDescription::scheduledVectors).
#define UNSCHEDULED_TEXT                                                       \
  "//? INGOT_UNSCHEDULED\n"                                                    \
  "// GCC: do not move loads away from their uses before registers are "       \
  "allocated; the sums of large\n"                                             \
  "// tiles would no longer fit the registers.\n"                              \
  "#if defined(__clang__)\n"                                                   \
  "#define INGOT_UNSCHEDULED\n"                                                \
  "#else\n"                                                                    \
  "#define INGOT_UNSCHEDULED "                                                 \
  "__attribute__((optimize(\"no-schedule-insns\")))\n"                         \
  "#endif\n"                                                                   \
  "//?\n"

/// The definition of INGOT_FMLA_LANE, for products of f16. The operand X of the
/// instruction must be one of the first 16 registers.
#define FMLA_TEXT                                                              \
  "//? INGOT_FMLA_LANE\n"                                                      \
  "// SUM + W * (lane LANE of X), for vectors of eight half floats. GCC 12 "   \
  "would copy the lane\n"                                                      \
  "// to a register of its own.\n"                                             \
  "#if defined(__clang__)\n"                                                   \
  "#define INGOT_FMLA_LANE(SUM, W, X, LANE) \\\n"                              \
  "  vfmaq_laneq_f16((float16x8_t)(SUM), (float16x8_t)(W), (float16x8_t)(X), " \
  "LANE)\n"                                                                    \
  "#else\n"                                                                    \
  "#define INGOT_FMLA_LANE(SUM, W, X, LANE) \\\n"                              \
  "  __extension__({ \\\n"                                                     \
  "    uint16x8_t sum_ = (uint16x8_t)(SUM); \\\n"                              \
  "    __asm__(\"fmla %0.8h, %1.8h, %2.h[%3]\" \\\n"                           \
  "            : \"+w\"(sum_) : \"w\"(W), \"x\"(X), \"i\"(LANE)); \\\n"        \
  "    sum_; \\\n"                                                             \
  "  })\n"                                                                     \
  "#endif\n"                                                                   \
  "//?\n"

/// The definition of INGOT_BFMMLA, for products of bf16.
#define BFMMLA_TEXT                                                            \
  "//? INGOT_BFMMLA\n"                                                         \
  "// SUM + A * B, for two rows A and two columns B of bf16. GCC 12 would "    \
  "copy "                                                                      \
  "vectors when it\n"                                                          \
  "// changes their type.\n"                                                   \
  "#if defined(__clang__)\n"                                                   \
  "#define INGOT_BFMMLA(SUM, A, B) \\\n"                                       \
  "  vbfmmlaq_f32((float32x4_t)(SUM), (bfloat16x8_t)(A), (bfloat16x8_t)(B))\n" \
  "#else\n"                                                                    \
  "#define INGOT_BFMMLA(SUM, A, B) \\\n"                                       \
  "  __extension__({ \\\n"                                                     \
  "    float32x4_t sum_ = (float32x4_t)(SUM); \\\n"                            \
  "    __asm__(\"bfmmla %0.4s, %1.8h, %2.8h\" \\\n"                            \
  "            : \"+w\"(sum_) : \"w\"(A), \"w\"(B)); \\\n"                     \
  "    sum_; \\\n"                                                             \
  "  })\n"                                                                     \
  "#endif\n"                                                                   \
  "//?\n"

/// The text before functions that use these instruction sets beyond Armv8.2-A.
#define OPEN(FEATURES)                                                         \
  INGOT_OPEN_FEATURES("arch=armv8.2-a" FEATURES)                               \
  UNSCHEDULED_TEXT FMLA_TEXT BFMMLA_TEXT

void aarch64(std::vector<TargetDescription> &targets) {
  TargetDescription base;
  base.name = "armv8-a";
  base.family = "aarch64";
  base.selectText = selectText;
  base.selectCondition = "level() >= 0";
  base.openText = UNSCHEDULED_TEXT;
  base.summary = "64-bit Arm with NEON (Cortex-A53, A72 and later)";
  base.vectorBytes = {16, 8};
  base.vectorRegisters = 32;
  base.scheduledVectors = 11;
  base.fma = true;
  base.multiplyByLane = true;
  base.l1Bytes = 32 << 10;
  base.l2Bytes = 512 << 10;
  base.intrinsics = intrinsics;
  append(base.intrinsics, acrossLanes());
  append(base.intrinsics, ofHalves());
  base.products = neonProducts();
  base.includes = {"arm_neon.h"};
  base.compilers = {"clang++-22 --target=aarch64-linux-gnu",
                    "aarch64-linux-gnu-g++"};
  if (hostIsAArch64())
    base.compilers = {"clang++-22", "clang++", "g++"};
  base.linkFlags = {"-static"};
  base.emulator = "qemu-aarch64 -cpu max";
  base.elf.machine = llvm::ELF::EM_AARCH64;
  base.runsOnThisHost = [] { return hostHas({}); };
  targets.push_back(base);

  auto level = [&](llvm::StringRef name, llvm::StringRef summary,
                   llvm::StringRef openText, llvm::StringRef selectCondition,
                   bool (*runsOnThisHost)(),
                   const std::vector<Product> &products = {},
                   const std::vector<Intrinsic> &lanes = {}) {
    append(base.products, products);
    append(base.intrinsics, lanes);
    TargetDescription target = base;
    target.name = name;
    target.summary = summary;
    target.openText = openText;
    target.closeText = closeFeatures;
    target.selectCondition = selectCondition;
    target.runsOnThisHost = runsOnThisHost;
    targets.push_back(std::move(target));
  };
  level(
      "armv8.2-a+dotprod", "64-bit Arm with int8 dot products (Cortex-A75)",
      OPEN("+dotprod"), "level() >= 1", [] { return hostHas({"dotprod"}); },
      dotprodProducts(), dotprodLanes());
  level(
      "armv8.2-a+fp16",
      "armv8.2-a+dotprod and half floats (Cortex-A55, A76, Neoverse N1)",
      OPEN("+dotprod+fp16"), "level() >= 2",
      [] { return hostHas({"dotprod", "fullfp16"}); }, fmlaProducts(),
      halfIntrinsics());
  level(
      "armv8.2-a+i8mm", "armv8.2-a+fp16 and matrices of bytes",
      OPEN("+dotprod+fp16+i8mm"), "level() >= 3",
      [] { return hostHas({"dotprod", "fullfp16", "i8mm"}); }, i8mmProducts(),
      i8mmLanes());
  level(
      "armv8.2-a+bf16",
      "armv8.2-a+i8mm with products of bf16 (Neoverse V1, N2, Cortex-A510 and "
      "later)",
      OPEN("+dotprod+fp16+i8mm+bf16"), "level() >= 4",
      [] { return hostHas({"dotprod", "fullfp16", "i8mm", "bf16"}); },
      bfdotProducts(), bfdotIntrinsics());
}

} // namespace ingot::targets
