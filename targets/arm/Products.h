// Dot products of narrow elements on Arm's application cores.

#ifndef INGOT_TARGETS_ARM_PRODUCTS_H
#define INGOT_TARGETS_ARM_PRODUCTS_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Dot products of pairs of 8-bit integers with base NEON.
std::vector<Product> neonProducts();
/// For 64-bit Arm only: dot products of whole registers, whose result lanes are
/// summed at the end.
std::vector<Intrinsic> acrossLanes();
/// Dot products of groups of four 8-bit integers: of the same signedness
/// (dotprod), and mixed (i8mm).
std::vector<Product> dotprodProducts();
std::vector<Product> i8mmProducts();
/// Products of f16, accumulated in f16.
std::vector<Product> fmlaProducts();
/// Dot products of pairs of bf16, accumulated in f32.
std::vector<Product> bfdotProducts();
/// Dot products whose second operand is one lane of a vector (a group of
/// elements, or one f16) for all lanes. bfdotIntrinsics also contains
/// conversions to bf16.
std::vector<Intrinsic> dotprodLanes();
std::vector<Intrinsic> i8mmLanes();
std::vector<Intrinsic> halfIntrinsics();
std::vector<Intrinsic> bfdotIntrinsics();

} // namespace ingot::targets

#endif // INGOT_TARGETS_ARM_PRODUCTS_H
