//===- X86.cpp - x86-64 in the levels of its psABI ------------------------===//
//
// x86-64-v3 has AVX2, FMA and F16C (32-byte vectors, 16 registers), x86-64-v4
// adds AVX-512 F/BW/CD/DQ/VL (64-byte vectors, 32 registers).
//
//===----------------------------------------------------------------------===//

#include "targets/TargetDescription.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Host.h"

namespace ingot::targets {

// The same features three times: for each compiler's pragma (which take string
// literals only) and for the question whether this machine has them.
#define V3_FEATURES "avx2,fma,f16c,bmi,bmi2,lzcnt,movbe,popcnt"
#define V4_FEATURES V3_FEATURES ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"

#define OPEN_TEXT(FEATURES)                                                    \
  "#if defined(__clang__)\n"                                                   \
  "#pragma clang attribute push(__attribute__((target(\"" FEATURES             \
  "\"))), apply_to = function)\n"                                              \
  "#else\n"                                                                    \
  "#pragma GCC push_options\n"                                                 \
  "#pragma GCC target(\"" FEATURES "\")\n"                                     \
  "#endif\n"

static constexpr llvm::StringLiteral closeText = "#if defined(__clang__)\n"
                                                 "#pragma clang attribute pop\n"
                                                 "#else\n"
                                                 "#pragma GCC pop_options\n"
                                                 "#endif\n";

static bool hostHas(llvm::StringRef features) {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  llvm::SmallVector<llvm::StringRef, 16> wanted;
  features.split(wanted, ',');
  return llvm::all_of(wanted,
                      [&](llvm::StringRef f) { return host.lookup(f); });
}

/// Square roots, roundings, extrema (max is a > b ? a : b, min likewise) of one
/// vector width; `prefix` is _mm or _mm256.
#define ROWS(PREFIX, LANES32, LANES64)                                         \
  {"max", "f32x" LANES32, "f32x" LANES32, PREFIX "_max_ps({0}, {1})"},         \
      {"max", "f64x" LANES64, "f64x" LANES64, PREFIX "_max_pd({0}, {1})"},     \
      {"min", "f32x" LANES32, "f32x" LANES32, PREFIX "_min_ps({0}, {1})"},     \
      {"min", "f64x" LANES64, "f64x" LANES64, PREFIX "_min_pd({0}, {1})"},     \
      {"math.sqrt", "f32x" LANES32, "f32x" LANES32, PREFIX "_sqrt_ps({0})"},   \
      {"math.sqrt", "f64x" LANES64, "f64x" LANES64, PREFIX "_sqrt_pd({0})"},   \
      {"math.floor", "f32x" LANES32, "f32x" LANES32, PREFIX "_floor_ps({0})"}, \
      {"math.floor", "f64x" LANES64, "f64x" LANES64, PREFIX "_floor_pd({0})"}, \
      {"math.ceil", "f32x" LANES32, "f32x" LANES32, PREFIX "_ceil_ps({0})"},   \
      {"math.ceil", "f64x" LANES64, "f64x" LANES64, PREFIX "_ceil_pd({0})"},   \
      {"math.roundeven", "f32x" LANES32, "f32x" LANES32,                       \
       PREFIX "_round_ps({0}, 8)"},                                            \
      {"math.roundeven", "f64x" LANES64, "f64x" LANES64,                       \
       PREFIX "_round_pd({0}, 8)"},                                            \
      {"math.trunc", "f32x" LANES32, "f32x" LANES32,                           \
       PREFIX "_round_ps({0}, 11)"},                                           \
      {"math.trunc", "f64x" LANES64, "f64x" LANES64,                           \
       PREFIX "_round_pd({0}, 11)"}

/// A scalar operation, done in the lowest lane.
#define SCALAR(OP, NAME, TAIL)                                                 \
  {OP, "f32", "f32",                                                           \
   "_mm_cvtss_f32(" NAME "_ss(_mm_set_ss({0}), _mm_set_ss({0})" TAIL "))"},    \
      {OP, "f64", "f64",                                                       \
       "_mm_cvtsd_f64(" NAME "_sd(_mm_set_sd({0}), _mm_set_sd({0})" TAIL "))"}

static const std::vector<Intrinsic> v3Intrinsics = {
    {"math.sqrt", "f32", "f32", "_mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss({0})))"},
    {"math.sqrt", "f64", "f64", "_mm_cvtsd_f64(_mm_sqrt_pd(_mm_set_sd({0})))"},
    SCALAR("math.floor", "_mm_floor", ""),
    SCALAR("math.ceil", "_mm_ceil", ""),
    SCALAR("math.roundeven", "_mm_round", ", 8"),
    SCALAR("math.trunc", "_mm_round", ", 11"),
    ROWS("_mm", "4", "2"),
    ROWS("_mm256", "8", "4"),
    {"arith.extf", "f16", "f32", "_cvtsh_ss({0})"},
    {"arith.extf", "f16x8", "f32x8", "_mm256_cvtph_ps((__m128i){0})"},
    {"arith.truncf", "f32", "f16", "_cvtss_sh({0}, 0)"},
    {"arith.truncf", "f32x8", "f16x8", "_mm256_cvtps_ph({0}, 0)"},
};

// With a mask of all lanes: the plain forms make g++ 12 warn of a variable that
// its own header leaves uninitialized.
static const std::vector<Intrinsic> v4Intrinsics = {
    {"max", "f32x16", "f32x16", "_mm512_maskz_max_ps(0xFFFF, {0}, {1})"},
    {"max", "f64x8", "f64x8", "_mm512_maskz_max_pd(0xFF, {0}, {1})"},
    {"min", "f32x16", "f32x16", "_mm512_maskz_min_ps(0xFFFF, {0}, {1})"},
    {"min", "f64x8", "f64x8", "_mm512_maskz_min_pd(0xFF, {0}, {1})"},
    {"math.sqrt", "f32x16", "f32x16", "_mm512_maskz_sqrt_ps(0xFFFF, {0})"},
    {"math.sqrt", "f64x8", "f64x8", "_mm512_maskz_sqrt_pd(0xFF, {0})"},
    {"math.floor", "f32x16", "f32x16",
     "_mm512_maskz_roundscale_ps(0xFFFF, {0}, 9)"},
    {"math.floor", "f64x8", "f64x8",
     "_mm512_maskz_roundscale_pd(0xFF, {0}, 9)"},
    {"math.ceil", "f32x16", "f32x16",
     "_mm512_maskz_roundscale_ps(0xFFFF, {0}, 10)"},
    {"math.ceil", "f64x8", "f64x8",
     "_mm512_maskz_roundscale_pd(0xFF, {0}, 10)"},
    {"math.roundeven", "f32x16", "f32x16",
     "_mm512_maskz_roundscale_ps(0xFFFF, {0}, 8)"},
    {"math.roundeven", "f64x8", "f64x8",
     "_mm512_maskz_roundscale_pd(0xFF, {0}, 8)"},
    {"math.trunc", "f32x16", "f32x16",
     "_mm512_maskz_roundscale_ps(0xFFFF, {0}, 11)"},
    {"math.trunc", "f64x8", "f64x8",
     "_mm512_maskz_roundscale_pd(0xFF, {0}, 11)"},
    {"arith.extf", "f16x16", "f32x16",
     "_mm512_maskz_cvtph_ps(0xFFFF, (__m256i){0})"},
    {"arith.truncf", "f32x16", "f16x16",
     "_mm512_maskz_cvtps_ph(0xFFFF, {0}, 0)"},
};

void x86(std::vector<TargetDescription> &targets) {
  TargetDescription v3;
  v3.name = "x86-64-v3";
  v3.summary = "x86-64 with AVX2, FMA and F16C (2013 and later)";
  v3.vectorBytes = {32, 16};
  v3.vectorRegisters = 16;
  v3.fma = true;
  v3.l1Bytes = 32 << 10;
  v3.l2Bytes = 512 << 10;
  v3.nativeTypes = {"f32", "f64", "i8", "i16", "i32", "i64"};
  v3.intrinsics = v3Intrinsics;
  v3.includes = {"immintrin.h"};
  v3.openText = OPEN_TEXT(V3_FEATURES);
  v3.closeText = closeText;
  v3.compilers = {"clang++-22", "clang++", "g++"};
  v3.emulator = "qemu-x86_64 -cpu max";
  v3.elf.machine = llvm::ELF::EM_X86_64;
  v3.runsOnThisHost = [] { return hostHas(V3_FEATURES); };

  TargetDescription v4 = v3;
  v4.name = "x86-64-v4";
  v4.summary = "x86-64 with AVX-512 F/BW/CD/DQ/VL (2017 and later)";
  v4.vectorBytes = {64, 32, 16};
  v4.vectorRegisters = 32;
  v4.l1Bytes = 48 << 10;
  v4.l2Bytes = 1 << 20;
  v4.intrinsics.insert(v4.intrinsics.end(), v4Intrinsics.begin(),
                       v4Intrinsics.end());
  v4.openText = OPEN_TEXT(V4_FEATURES);
  // The emulator knows AVX2, not AVX-512.
  v4.emulator = "";
  v4.runsOnThisHost = [] { return hostHas(V4_FEATURES); };

  targets.push_back(std::move(v3));
  targets.push_back(std::move(v4));
}

} // namespace ingot::targets
