// Dot products of narrow elements on Arm's application cores.

#ifndef INGOT_TARGETS_ARM_PRODUCTS_H
#define INGOT_TARGETS_ARM_PRODUCTS_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Returns dot products of pairs of 8-bit integers with base NEON.
std::vector<Product> neonProducts();
/// Returns dot products of whole registers, for 64-bit Arm only. Only the sum
/// of all result lanes is defined (kernel.across_lanes).
std::vector<Intrinsic> acrossLanes();
/// Returns products of halves of registers of 16-bit integers, for 64-bit Arm
/// only (kernel.upper_half).
std::vector<Intrinsic> ofHalves();
/// Return dot products of groups of four 8-bit integers: of the same signedness
/// (dotprod), and of different signedness (i8mm).
std::vector<Product> dotprodProducts();
std::vector<Product> i8mmProducts();
/// Returns products of f16, accumulated in f16.
std::vector<Product> fmlaProducts();
/// Returns dot products of pairs of bf16, accumulated in f32.
std::vector<Product> bfdotProducts();
/// Return dot products in which all lanes use the same lane of the second
/// operand: a group of elements, or one f16. bfdotIntrinsics also returns
/// conversions to bf16.
std::vector<Intrinsic> dotprodLanes();
std::vector<Intrinsic> i8mmLanes();
std::vector<Intrinsic> halfIntrinsics();
std::vector<Intrinsic> bfdotIntrinsics();

} // namespace ingot::targets

#endif // INGOT_TARGETS_ARM_PRODUCTS_H
