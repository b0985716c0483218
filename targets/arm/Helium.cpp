// Helium (MVE), the vectors of Armv8.1-M microcontrollers.
//
// There are eight vector registers. A multiply-add takes a scalar factor from a
// core register, so that a scalar is loaded with post-increment and used
// without a broadcast. Compilers use this, and low-overhead loops (DLS, LE),
// for ordinary C++, so the table of intrinsics is short.
//
// Vector instructions flush subnormal numbers to zero.
//
// clang 22 compares a vector with a scalar by the condition LT or LE, which
// also hold for NaN, instead of exchanging the operands and using GT or GE. It
// does so wherever it sees that all lanes of an operand are equal, and turns
// `x != x` into such comparisons with 0. An empty asm statement hides from clang
// what an operand contains.

#include "targets/arm/Helium.h"

namespace ingot::targets {

static constexpr llvm::StringLiteral openText =
    R"(// X, a vector of floats. The compiler does not see that its lanes are equal, or that they equal
// those of another vector: it would compile comparisons to instructions that treat NaN differently.
#define INGOT_OPAQUE(X) \
  __extension__({ \
    float __attribute__((vector_size(sizeof(X)))) ingot_opaque = X; \
    __asm__("" : "+w"(ingot_opaque)); \
    ingot_opaque; \
  })
// Which lanes of a vector of floats are NaN, and which are numbers.
#define INGOT_IS_NAN(X) (INGOT_OPAQUE(X) != (X))
#define INGOT_IS_NUMBER(X) (INGOT_OPAQUE(X) == (X))
// The larger and the smaller of four floats; B if A or B is NaN. See INGOT_OPAQUE.
#define INGOT_LARGER(A, B) \
  __extension__({ \
    const float32x4_t ingot_a = float32x4_t(INGOT_OPAQUE(A)), ingot_b = float32x4_t(B); \
    vpselq_f32(ingot_a, ingot_b, vcmpgtq_f32(ingot_a, ingot_b)); \
  })
#define INGOT_SMALLER(A, B) \
  __extension__({ \
    const float32x4_t ingot_a = float32x4_t(A), ingot_b = float32x4_t(INGOT_OPAQUE(B)); \
    vpselq_f32(ingot_a, ingot_b, vcmpgtq_f32(ingot_b, ingot_a)); \
  })
)";

/// An entry of the table of intrinsics for a comparison of LANES floats.
#define COMPARISON(LANES, PREDICATE, SPELLING)                                 \
  {"arith.cmpf[" PREDICATE "]", "f32x" LANES, "i1x" LANES, SPELLING}

/// Entries of the table of intrinsics for comparisons of vectors of LANES
/// floats.
#define COMPARISONS(LANES)                                                     \
  COMPARISON(LANES, "nan", "INGOT_IS_NAN({0})"),                               \
      COMPARISON(LANES, "number", "INGOT_IS_NUMBER({0})"),                     \
      COMPARISON(LANES, "uno", "INGOT_IS_NAN({0}) | INGOT_IS_NAN({1})"),       \
      COMPARISON(LANES, "ord", "INGOT_IS_NUMBER({0}) & INGOT_IS_NUMBER({1})"), \
      COMPARISON(LANES, "olt with splat", "{0} < INGOT_OPAQUE({1})"),          \
      COMPARISON(LANES, "ole with splat", "{0} <= INGOT_OPAQUE({1})"),         \
      COMPARISON(LANES, "uge with splat", "~({0} < INGOT_OPAQUE({1}))"),       \
      COMPARISON(LANES, "ugt with splat", "~({0} <= INGOT_OPAQUE({1}))"),      \
      COMPARISON(LANES, "ogt of splat", "INGOT_OPAQUE({0}) > {1}"),            \
      COMPARISON(LANES, "oge of splat", "INGOT_OPAQUE({0}) >= {1}"),           \
      COMPARISON(LANES, "ule of splat", "~(INGOT_OPAQUE({0}) > {1})"),         \
      COMPARISON(LANES, "ult of splat", "~(INGOT_OPAQUE({0}) >= {1})")

static const std::vector<Intrinsic> intrinsics = {
    COMPARISONS("4"),
    COMPARISONS("2"),
    {"max[of splat]", "f32x4", "f32x4", "INGOT_LARGER({0}, ({1}))"},
    {"min[with splat]", "f32x4", "f32x4", "INGOT_SMALLER(({0}), {1})"},
    // An empty asm statement hides from clang where a pointer comes from.
    // Otherwise, clang merges pointers with a known distance, and then
    // recomputes each address in the inner loop instead of incrementing it.
    {"kernel.cursor", "f32", "f32", "__asm__(\"\" : \"+r\"({0}))"},
    {"kernel.cursor", "i8", "i8", "__asm__(\"\" : \"+r\"({0}))"},
    // An empty asm statement hides from clang how a factor was computed. If
    // clang knows that it is a widened and shifted byte, it multiplies in 64
    // bits with several instructions.
    {"kernel.mul_high", "i32", "i32",
     "__extension__({ int32_t ingot_factor = int32_t({0}); __asm__(\"\" : "
     "\"+r\"(ingot_factor)); int32_t((int64_t(ingot_factor) * "
     "int32_t({1})) >> 32); })"},
    {"kernel.mul_high", "i32x4", "i32x4",
     "vmulhq_s32(int32x4_t({0}), int32x4_t({1}))"},
    {"math.floor", "f32x4", "f32x4", "vrndmq_f32({0})"},
    {"math.ceil", "f32x4", "f32x4", "vrndpq_f32({0})"},
    {"math.roundeven", "f32x4", "f32x4", "vrndnq_f32({0})"},
    {"math.trunc", "f32x4", "f32x4", "vrndq_f32({0})"},
};

#define WIDENED(SIGN, X)                                                       \
  "__builtin_convertvector((" SIGN " char __attribute__((vector_size(8))))" X  \
  ", int16x8_t)"

/// VMLADAVA multiplies the elements of two registers and adds all products to a
/// core register. Operands of different signedness are multiplied as 16-bit
/// integers, to which loads widen them. The M55 processes half a register per
/// cycle.
static const std::vector<Product> products = {
    {"si8", "si8", 16, 1, 0.5,
     "vmladavaq_s8({2}, int8x16_t({0}), int8x16_t({1}))"},
    {"si8", "si8", 8, 1, 0.5,
     "vmladavaq_s16({2}, " WIDENED("signed", "{0}") ", " WIDENED("signed",
                                                                 "{1}") ")"},
    {"ui8", "si8", 8, 1, 0.5,
     "vmladavaq_s16({2}, " WIDENED("unsigned", "{0}") ", " WIDENED("signed",
                                                                   "{1}") ")"},
};

void addHelium(TargetDescription &target) {
  target.vectorBytes = {16};
  target.vectorRegisters = 8;
  target.fma = true;
  // clang 22 gathers four elements at this distance by a VLDRW that adds 512 to
  // its addresses. The instruction encodes at most 508, so that 0 is added.
  target.faultyStride = 128;
  target.intrinsics = intrinsics;
  target.products = products;
  target.includes = {"arm_mve.h"};
  target.openText = openText;
}

} // namespace ingot::targets
