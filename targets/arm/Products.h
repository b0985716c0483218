// Dot products of narrow elements on Arm's application cores.

#ifndef INGOT_TARGETS_ARM_PRODUCTS_H
#define INGOT_TARGETS_ARM_PRODUCTS_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Pairs of 8-bit integers with base NEON.
std::vector<Product> neonProducts();
/// For 64-bit Arm only: products of whole registers, whose result lanes are
/// summed at the end.
std::vector<Intrinsic> acrossLanes();
/// Groups of four 8-bit integers: of the same signedness (dotprod), and mixed
/// (i8mm).
std::vector<Product> dotprodProducts();
std::vector<Product> i8mmProducts();
/// f16, accumulated in f16.
std::vector<Product> fmlaProducts();
/// Pairs of bf16, accumulated in f32.
std::vector<Product> bfdotProducts();
/// The same by one lane of a vector, which holds a group or one f16; for bf16
/// including conversions to bf16.
std::vector<Intrinsic> dotprodLanes();
std::vector<Intrinsic> i8mmLanes();
std::vector<Intrinsic> fmlaLanes();
std::vector<Intrinsic> bfdotIntrinsics();

} // namespace ingot::targets

#endif // INGOT_TARGETS_ARM_PRODUCTS_H
