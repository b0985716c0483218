// x86-64 in the levels of its psABI.
//
// x86-64-v2 has SSE4.2 (16-byte vectors, 16 registers). x86-64-v3 adds AVX2,
// FMA and F16C (32-byte vectors). x86-64-v4 adds AVX-512 F/BW/CD/DQ/VL (64-byte
// vectors, 32 registers). x86-64-v3+avxvnni and x86-64-v4+vnni add dot products
// of 8-bit integers. The targets above x86-64-v4+vnni add products of bf16 and
// of f16, and tiles (Tiles.cpp).

#include "targets/FeaturePragmas.h"
#include "targets/TargetDescription.h"
#include "targets/x86/Products.h"
#include "targets/x86/Tiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Host.h"

namespace ingot::targets {

// The features of each level of x86-64 (v2, v3, ...). They are used in the
// pragmas of both compilers (which accept only string literals), in the query
// whether this machine has them, and in the generated code that selects a
// target.
#define V2_FEATURES "sse3,ssse3,sse4.1,sse4.2,popcnt"
#define V3_FEATURES V2_FEATURES ",avx,avx2,fma,f16c,bmi,bmi2,lzcnt,movbe"
#define V3_VNNI_FEATURES V3_FEATURES ",avxvnni"
#define V4_FEATURES V3_FEATURES ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
#define V4_VNNI_FEATURES V4_FEATURES ",avx512vnni"
#define V4_BF16_FEATURES V4_VNNI_FEATURES ",avx512bf16"
#define V4_FP16_FEATURES V4_BF16_FEATURES ",avx512fp16"
#define V4_AMX_FEATURES V4_FP16_FEATURES ",amx-tile,amx-int8,amx-bf16"

static bool hostHas(llvm::StringRef features) {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  llvm::SmallVector<llvm::StringRef, 16> wanted;
  features.split(wanted, ',');
  return llvm::all_of(wanted,
                      [&](llvm::StringRef f) { return host.lookup(f); });
}

/// Where the instruction cpuid reports a feature, and which registers the
/// operating system must save for it (a mask of XCR0).
struct CpuidFeature {
  llvm::StringRef name;
  enum Word {
    Leaf1Ecx,
    Leaf7Ebx,
    ExtendedEcx,
    Leaf7Ecx,
    Leaf7Edx,
    Leaf7Sub1Eax
  } word;
  unsigned bit, saved;
};

static constexpr CpuidFeature cpuidFeatures[] = {
    {"sse3", CpuidFeature::Leaf1Ecx, 0, 0},
    {"ssse3", CpuidFeature::Leaf1Ecx, 9, 0},
    {"fma", CpuidFeature::Leaf1Ecx, 12, 0x6},
    {"sse4.1", CpuidFeature::Leaf1Ecx, 19, 0},
    {"sse4.2", CpuidFeature::Leaf1Ecx, 20, 0},
    {"movbe", CpuidFeature::Leaf1Ecx, 22, 0},
    {"popcnt", CpuidFeature::Leaf1Ecx, 23, 0},
    {"avx", CpuidFeature::Leaf1Ecx, 28, 0x6},
    {"f16c", CpuidFeature::Leaf1Ecx, 29, 0x6},
    {"bmi", CpuidFeature::Leaf7Ebx, 3, 0},
    {"avx2", CpuidFeature::Leaf7Ebx, 5, 0x6},
    {"bmi2", CpuidFeature::Leaf7Ebx, 8, 0},
    {"avx512f", CpuidFeature::Leaf7Ebx, 16, 0xe6},
    {"avx512dq", CpuidFeature::Leaf7Ebx, 17, 0xe6},
    {"avx512cd", CpuidFeature::Leaf7Ebx, 28, 0xe6},
    {"avx512bw", CpuidFeature::Leaf7Ebx, 30, 0xe6},
    {"avx512vl", CpuidFeature::Leaf7Ebx, 31, 0xe6},
    {"lzcnt", CpuidFeature::ExtendedEcx, 5, 0},
    {"avx512vnni", CpuidFeature::Leaf7Ecx, 11, 0xe6},
    {"amx-bf16", CpuidFeature::Leaf7Edx, 22, 0x60000},
    {"avx512fp16", CpuidFeature::Leaf7Edx, 23, 0xe6},
    {"amx-tile", CpuidFeature::Leaf7Edx, 24, 0x60000},
    {"amx-int8", CpuidFeature::Leaf7Edx, 25, 0x60000},
    {"avxvnni", CpuidFeature::Leaf7Sub1Eax, 4, 0x6},
    {"avx512bf16", CpuidFeature::Leaf7Sub1Eax, 5, 0xe6},
};

// The code that selects a target at run time executes cpuid, since
// __builtin_cpu_supports would need the runtime library of the compiler.
static constexpr llvm::StringLiteral selectText =
    R"(struct Cpuid { uint32_t a, b, c, d; };

inline Cpuid cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Cpuid r = {leaf, 0, subleaf, 0};
  __asm__("cpuid" : "+a"(r.a), "=b"(r.b), "+c"(r.c), "=d"(r.d));
  return r;
}

// Whether the processor has these features (cpuid leaf 1: ecx, leaf 7: ebx, leaf 0x80000001: ecx)
// and the operating system saves these registers (xgetbv).
inline bool has(uint32_t basic, uint32_t more, uint32_t extended, uint32_t saved) {
  const uint32_t found = cpuid(1).c;
  if ((found & basic) != basic) return false;
  if (more != 0 && (cpuid(0).a < 7 || (cpuid(7).b & more) != more)) return false;
  if (extended != 0 && (cpuid(0x80000000u).a < 0x80000001u ||
                        (cpuid(0x80000001u).c & extended) != extended))
    return false;
  if (saved == 0) return true;
  if ((found >> 27 & 1) == 0) return false;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & saved) == saved;
}
)";

/// Returns a C++ condition, a call of `has`, that is true if the machine has
/// all of `features`.
static std::string selectCondition(llvm::StringRef features) {
  unsigned words[6] = {}, saved = 0;
  for (llvm::StringRef wanted : llvm::split(features, ',')) {
    const CpuidFeature *feature = llvm::find_if(
        cpuidFeatures, [&](const CpuidFeature &f) { return f.name == wanted; });
    assert(feature != std::end(cpuidFeatures) && "a feature without its bit");
    words[feature->word] |= 1u << feature->bit;
    saved |= feature->saved;
  }
  auto hex = [](unsigned word) {
    return word == 0 ? "0" : "0x" + llvm::utohexstr(word, true) + "u";
  };
  std::string condition = "has(" + hex(words[0]) + ", " + hex(words[1]) + ", " +
                          hex(words[2]) + ", " + hex(saved) + ")";
  // Features in other words of leaf 7 are always tested together with a feature
  // in ebx of leaf 7, so leaf 7 is known to exist.
  auto addWord = [&](llvm::StringRef found, CpuidFeature::Word word) {
    if (words[word])
      condition += (" && (" + found + " & " + hex(words[word]) +
                    ") == " + hex(words[word]))
                       .str();
  };
  addWord("cpuid(7).c", CpuidFeature::Leaf7Ecx);
  addWord("cpuid(7).d", CpuidFeature::Leaf7Edx);
  addWord("cpuid(7, 1).a", CpuidFeature::Leaf7Sub1Eax);
  return condition;
}

/// Entries of the table of intrinsics for square roots, roundings, maximum (a >
/// b ? a : b) and minimum of vectors of one width. PREFIX is _mm or _mm256.
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

/// Entries of the table of intrinsics for an operation on scalars, which is
/// computed in the lowest lane of a vector.
#define SCALAR(OP, NAME, TAIL)                                                 \
  {OP, "f32", "f32",                                                           \
   "_mm_cvtss_f32(" NAME "_ss(_mm_set_ss({0}), _mm_set_ss({0})" TAIL "))"},    \
      {OP, "f64", "f64",                                                       \
       "_mm_cvtsd_f64(" NAME "_sd(_mm_set_sd({0}), _mm_set_sd({0})" TAIL "))"}

/// An entry of the table of intrinsics for a function with two operands, which
/// are cast to the type REGISTER.
#define OF_TWO(OP, FROM, TO, FUNCTION, REGISTER)                               \
  {OP, FROM, TO, FUNCTION "(" REGISTER "({0}), " REGISTER "({1}))"}

/// Entries of the table of intrinsics for operations that work in blocks of 128
/// bits. They narrow two registers of integers to one register with elements of
/// half the width (saturating), or interleave the bytes, or pairs of bytes, of
/// two registers.
#define BLOCKS(PREFIX, REGISTER, I32, I16, I8)                                 \
  OF_TWO("kernel.narrow_signed", I32, I16, PREFIX "_packs_epi32", REGISTER),   \
      OF_TWO("kernel.narrow_unsigned", I32, I16, PREFIX "_packus_epi32",       \
             REGISTER),                                                        \
      OF_TWO("kernel.narrow_signed", I16, I8, PREFIX "_packs_epi16",           \
             REGISTER),                                                        \
      OF_TWO("kernel.narrow_unsigned", I16, I8, PREFIX "_packus_epi16",        \
             REGISTER),                                                        \
      OF_TWO("kernel.zip_low", I8, I8, PREFIX "_unpacklo_epi8", REGISTER),     \
      OF_TWO("kernel.zip_high", I8, I8, PREFIX "_unpackhi_epi8", REGISTER),    \
      OF_TWO("kernel.zip_low", I16, I16, PREFIX "_unpacklo_epi16", REGISTER),  \
      OF_TWO("kernel.zip_high", I16, I16, PREFIX "_unpackhi_epi16", REGISTER)

/// Entries of the table of intrinsics that zero- or sign-extend vectors of
/// integers. They are needed since g++ 12 splits a vector that becomes two or
/// four times as wide, although the conversion is one instruction.
#define WIDEN(FROM, TO, FUNCTION, FROM_BITS, TO_BITS, VALUE)                   \
  {"arith.extui", FROM, TO,                                                    \
   FUNCTION "epu" FROM_BITS "_epi" TO_BITS "(" VALUE ")"},                     \
      {"arith.extsi", FROM, TO,                                                \
       FUNCTION "epi" FROM_BITS "_epi" TO_BITS "(" VALUE ")"}

/// An entry of the table of intrinsics for PMADDUBSW, which adds pairs of
/// products of unsigned and signed 8-bit integers in 16 bits, saturated. The
/// entry adds these sums to an accumulator.
#define HALVES(FROM, TO, PREFIX, REGISTER)                                     \
  {"kernel.dot.ui8.si8[halves]", FROM, TO,                                     \
   PREFIX "_add_epi16(" REGISTER "({2}), " PREFIX "_maddubs_epi16(" REGISTER   \
          "({0}), " REGISTER "({1})))"}

/// The conversion of a vector of 4 or 8 bytes to the lower part of a register.
#define WORD "_mm_cvtsi32_si128(int32_t({0}))"
#define TWO_WORDS "_mm_cvtsi64_si128(int64_t({0}))"

static const std::vector<Intrinsic> v2Intrinsics = {
    {"math.sqrt", "f32", "f32", "_mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss({0})))"},
    {"math.sqrt", "f64", "f64", "_mm_cvtsd_f64(_mm_sqrt_pd(_mm_set_sd({0})))"},
    SCALAR("math.floor", "_mm_floor", ""),
    SCALAR("math.ceil", "_mm_ceil", ""),
    SCALAR("math.roundeven", "_mm_round", ", 8"),
    SCALAR("math.trunc", "_mm_round", ", 11"),
    ROWS("_mm", "4", "2"),
    BLOCKS("_mm", "__m128i", "i32x4", "i16x8", "i8x16"),
    HALVES("i8x16", "i16x8", "_mm", "__m128i"),
    WIDEN("i8x4", "i32x4", "_mm_cvt", "8", "32", WORD),
    WIDEN("i16x4", "i32x4", "_mm_cvt", "16", "32", TWO_WORDS),
    WIDEN("i8x8", "i16x8", "_mm_cvt", "8", "16", TWO_WORDS),
};

static const std::vector<Intrinsic> v3Intrinsics = {
    ROWS("_mm256", "8", "4"),
    BLOCKS("_mm256", "__m256i", "i32x8", "i16x16", "i8x32"),
    HALVES("i8x32", "i16x16", "_mm256", "__m256i"),
    WIDEN("i8x8", "i32x8", "_mm256_cvt", "8", "32", TWO_WORDS),
    WIDEN("i16x8", "i32x8", "_mm256_cvt", "16", "32", "__m128i({0})"),
    WIDEN("i8x16", "i16x16", "_mm256_cvt", "8", "16", "__m128i({0})"),
    {"arith.extf", "f16", "f32", "_cvtsh_ss({0})"},
    {"arith.extf", "f16x8", "f32x8", "_mm256_cvtph_ps(__m128i({0}))"},
    {"arith.truncf", "f32", "f16", "_cvtss_sh({0}, 0)"},
    {"arith.truncf", "f32x8", "f16x8", "_mm256_cvtps_ph({0}, 0)"},
};

// The entries call the masked intrinsics, with all lanes enabled: for the
// unmasked ones, g++ 12 warns about an uninitialized variable in its own
// header.
static const std::vector<Intrinsic> v4Intrinsics = {
    BLOCKS("_mm512", "__m512i", "i32x16", "i16x32", "i8x64"),
    HALVES("i8x64", "i16x32", "_mm512", "__m512i"),
    WIDEN("i8x16", "i32x16", "_mm512_maskz_cvt", "8", "32",
          "0xFFFF, __m128i({0})"),
    WIDEN("i16x16", "i32x16", "_mm512_maskz_cvt", "16", "32",
          "0xFFFF, __m256i({0})"),
    WIDEN("i8x32", "i16x32", "_mm512_maskz_cvt", "8", "16",
          "0xFFFFFFFFu, __m256i({0})"),
    {"arith.trunci", "i32x16", "i8x16",
     "_mm512_maskz_cvtepi32_epi8(0xFFFF, __m512i({0}))"},
    {"arith.trunci", "i32x8", "i8x8",
     "_mm_cvtsi128_si64(_mm256_maskz_cvtepi32_epi8(0xFF, __m256i({0})))"},
    // Converts numbers of 4 or 2 bits to float by a table: VPERMPS selects one
    // of 16 lanes by the lowest four bits of the index.
    {"kernel.low_bits[4]", "i32x16", "f32x16",
     "_mm512_permutexvar_ps(__m512i({0}), _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, "
     "7, 8, 9, 10, 11, 12, 13, 14, 15))"},
    {"kernel.low_bits[2]", "i32x16", "f32x16",
     "_mm512_permutexvar_ps(__m512i({0}), _mm512_setr_ps(0, 1, 2, 3, 0, 1, 2, "
     "3, 0, 1, 2, 3, 0, 1, 2, 3))"},
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
     "_mm512_maskz_cvtph_ps(0xFFFF, __m256i({0}))"},
    {"arith.truncf", "f32x16", "f16x16",
     "_mm512_maskz_cvtps_ph(0xFFFF, {0}, 0)"},
};

// Conversions to bf16, which flush subnormal numbers to zero. A vector of four
// lanes, or a scalar, is in the lower part of a register.
static const std::vector<Intrinsic> bfloatIntrinsics = {
    {"arith.truncf", "f32", "bf16",
     "uint16_t(_mm_cvtsi128_si32(__m128i(_mm_cvtneps_pbh(_mm_set_ss({0})))))",
     /*flushes=*/true},
    {"arith.truncf", "f32x4", "bf16x4",
     "_mm_cvtsi128_si64(__m128i(_mm_cvtneps_pbh(__m128({0}))))",
     /*flushes=*/true},
    {"arith.truncf", "f32x16", "bf16x16", "_mm512_cvtneps_pbh(__m512({0}))",
     /*flushes=*/true},
    {"arith.truncf", "f32x8", "bf16x8", "_mm256_cvtneps_pbh(__m256({0}))",
     /*flushes=*/true},
};

template <typename Row>
static void append(std::vector<Row> &rows, const std::vector<Row> &more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

void x86(std::vector<TargetDescription> &targets) {
  static const std::string conditions[] = {selectCondition(V2_FEATURES),
                                           selectCondition(V3_FEATURES),
                                           selectCondition(V4_FEATURES),
                                           selectCondition(V3_VNNI_FEATURES),
                                           selectCondition(V4_VNNI_FEATURES),
                                           selectCondition(V4_BF16_FEATURES),
                                           selectCondition(V4_FP16_FEATURES),
                                           selectCondition(V4_AMX_FEATURES) +
                                               " && may_use_tiles()"};
  TargetDescription v2;
  v2.name = "x86-64-v2";
  v2.summary = "x86-64 with SSE4.2 (2009 and later)";
  v2.vectorBytes = {16};
  v2.vectorRegisters = 16;
  v2.l1Bytes = 32 << 10;
  v2.l1WayBytes = 4 << 10;
  v2.l2Bytes = 256 << 10;
  // Starting work on another core and waiting for its end takes 0.12 us with
  // runtime_support/ingot_thread_pool.h while both threads spin, plus another
  // 0.12 us since workers do not finish together (Zen 4 at 3.7 GHz, November
  // 2026).
  v2.forkCycles = 1000;
  // One core reads 44 to 48 GB/s from memory at 4.3 GHz if it reads weights
  // that it has read before.
  v2.rates.memoryBytes = 11;
  v2.intrinsics = v2Intrinsics;
  v2.products = pairProducts128();
  v2.includes = {"immintrin.h"};
  v2.openText = INGOT_OPEN_FEATURES(V2_FEATURES);
  v2.closeText = closeFeatures;
  v2.family = "x86-64";
  v2.selectText = selectText;
  v2.selectCondition = conditions[0];
  v2.compilers = {"clang++-22", "clang++", "g++"};
  v2.emulator = "qemu-x86_64 -cpu Nehalem";
  v2.elf.machine = llvm::ELF::EM_X86_64;
  v2.runsOnThisHost = [] { return hostHas(V2_FEATURES); };

  TargetDescription v3 = v2;
  v3.name = "x86-64-v3";
  v3.summary = "x86-64 with AVX2, FMA and F16C (2013 and later)";
  v3.vectorBytes = {32, 16};
  v3.fma = true;
  v3.l2Bytes = 512 << 10;
  v3.prefetchText = "__builtin_prefetch({0});";
  v3.prefetchLine = 64;
  append(v3.intrinsics, v3Intrinsics);
  append(v3.products, pairProducts256());
  v3.openText = INGOT_OPEN_FEATURES(V3_FEATURES);
  v3.selectCondition = conditions[1];
  v3.emulator = "qemu-x86_64 -cpu max";
  v3.runsOnThisHost = [] { return hostHas(V3_FEATURES); };

  TargetDescription v3Vnni = v3;
  v3Vnni.name = "x86-64-v3+avxvnni";
  v3Vnni.summary = "x86-64-v3 with int8 dot products (Alder Lake, Zen 5)";
  v3Vnni.l1Bytes = 48 << 10;
  v3Vnni.l2Bytes = 1 << 20;
  append(v3Vnni.products, avxVnniProducts());
  v3Vnni.openText = INGOT_OPEN_FEATURES(V3_VNNI_FEATURES);
  v3Vnni.selectCondition = conditions[3];
  // The emulator supports AVX2, but not AVX-VNNI.
  v3Vnni.emulator = "";
  v3Vnni.runsOnThisHost = [] { return hostHas(V3_VNNI_FEATURES); };

  TargetDescription v4 = v3;
  v4.name = "x86-64-v4";
  v4.summary = "x86-64 with AVX-512 F/BW/CD/DQ/VL (2017 and later)";
  v4.vectorBytes = {64, 32, 16};
  v4.vectorRegisters = 32;
  // The value of older cores; Ice Lake, Zen 5 and later cores have 48 KiB.
  v4.l1Bytes = 32 << 10;
  v4.l2Bytes = 1 << 20;
  append(v4.intrinsics, v4Intrinsics);
  append(v4.products, pairProducts512());
  v4.openText = INGOT_OPEN_FEATURES(V4_FEATURES);
  v4.selectCondition = conditions[2];
  // The emulator supports AVX2, but not AVX-512.
  v4.emulator = "";
  v4.runsOnThisHost = [] { return hostHas(V4_FEATURES); };

  TargetDescription v4Vnni = v4;
  v4Vnni.name = "x86-64-v4+vnni";
  v4Vnni.summary =
      "x86-64-v4 with int8 dot products (Cascade Lake, Ice Lake, Zen 4)";
  append(v4Vnni.products, vnniProducts());
  v4Vnni.openText = INGOT_OPEN_FEATURES(V4_VNNI_FEATURES);
  v4Vnni.selectCondition = conditions[4];
  v4Vnni.runsOnThisHost = [] { return hostHas(V4_VNNI_FEATURES); };

  TargetDescription v4Bf16 = v4Vnni;
  v4Bf16.name = "x86-64-v4+bf16";
  v4Bf16.summary = "x86-64-v4+vnni with products of bf16 (Cooper Lake, "
                   "Sapphire Rapids, Zen 4)";
  append(v4Bf16.intrinsics, bfloatIntrinsics);
  append(v4Bf16.products, bfloatProducts());
  v4Bf16.openText = INGOT_OPEN_FEATURES(V4_BF16_FEATURES);
  v4Bf16.selectCondition = conditions[5];
  v4Bf16.runsOnThisHost = [] { return hostHas(V4_BF16_FEATURES); };

  TargetDescription v4Fp16 = v4Vnni;
  v4Fp16.name = "x86-64-v4+fp16";
  v4Fp16.summary =
      "x86-64-v4+bf16 with products of f16 (Sapphire Rapids and later)";
  v4Fp16.l1Bytes = 48 << 10;
  v4Fp16.l2Bytes = 2 << 20;
  append(v4Fp16.intrinsics, bfloatIntrinsics);
  append(v4Fp16.products, bfloatProducts(/*perCycle=*/0.5));
  append(v4Fp16.products, halfProducts());
  v4Fp16.openText = INGOT_OPEN_FEATURES(V4_FP16_FEATURES);
  v4Fp16.selectCondition = conditions[6];
  v4Fp16.runsOnThisHost = [] { return hostHas(V4_FP16_FEATURES); };

  TargetDescription v4Amx = v4Fp16;
  v4Amx.name = "x86-64-v4+amx";
  v4Amx.summary = "x86-64-v4+fp16 with tiles of bytes and bf16 (Sapphire "
                  "Rapids and later)";
  v4Amx.tiles = tileRegisters();
  append(v4Amx.intrinsics, tileIntrinsics());
  static const std::string opening =
      std::string(INGOT_OPEN_FEATURES(V4_AMX_FEATURES)) + tileFunctions.str();
  v4Amx.openText = opening;
  v4Amx.permissionText = tilePermissionText;
  v4Amx.selectCondition = conditions[7];
  v4Amx.runsOnThisHost = [] {
    return hostHas(V4_AMX_FEATURES) && mayUseTiles();
  };

  targets.push_back(std::move(v2));
  targets.push_back(std::move(v3));
  targets.push_back(std::move(v3Vnni));
  targets.push_back(std::move(v4));
  targets.push_back(std::move(v4Vnni));
  targets.push_back(std::move(v4Bf16));
  targets.push_back(std::move(v4Fp16));
  targets.push_back(std::move(v4Amx));
}

} // namespace ingot::targets
