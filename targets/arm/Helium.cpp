// Helium (MVE), the vectors of Armv8.1-M microcontrollers.
//
// There are eight vector registers. A multiply-add takes a scalar factor from a
// core register, so that a scalar is loaded with post-increment and used
// without a broadcast. Compilers use this, and low-overhead loops (DLS, LE),
// for ordinary C++, so the table of intrinsics is short.
//
// Vector instructions flush subnormal numbers to zero. clang compares a vector
// with a scalar by the condition LT, which also holds for NaN (`x < 0 ? 0 : x`
// is 0 for NaN). Casts of such values to 8-bit floats therefore have other
// results than on other targets.

#include "targets/arm/Helium.h"

namespace ingot::targets {

static const std::vector<Intrinsic> intrinsics = {
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
}

} // namespace ingot::targets
