// Vectors of microcontrollers.
//
// MVE has eight vector registers, and a multiply-add that takes its factor from
// a core register: a scalar is loaded there, with its address moving on, and
// used without a broadcast. Compilers find both, and the loops without overhead
// (DLS, LE), in plain C; so the table has little to say.
//
// Vectors flush denormals, and clang compares them with a scalar by LT, which
// also holds for NaN (`x < 0 ? 0 : x` is 0 for NaN there): casts of either to
// floats of 8 bits differ from other targets.

#include "targets/arm/Helium.h"

namespace ingot::targets {

static const std::vector<Intrinsic> intrinsics = {
    // Cursors whose distance is known are merged by clang, which then computes
    // each address anew in the inner loop instead of moving it on.
    {"kernel.cursor", "f32", "f32", "__asm__(\"\" : \"+r\"({0}))"},
    {"kernel.cursor", "i8", "i8", "__asm__(\"\" : \"+r\"({0}))"},
    // Of a factor that it knows to be a widened byte, shifted, clang makes products of
    // 64 bits in several instructions.
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

/// VMLAVA multiplies whole registers and adds all products to a core register; those
/// of different signs as 16 bits, which loads widen to. The M55 does half a register
/// in a cycle.
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
  target.intrinsics = intrinsics;
  target.products = products;
  target.includes = {"arm_mve.h"};
}

} // namespace ingot::targets
