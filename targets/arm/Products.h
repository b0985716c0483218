// Products of narrow numbers on Arm's application cores.

#ifndef INGOT_TARGETS_ARM_PRODUCTS_H
#define INGOT_TARGETS_ARM_PRODUCTS_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Pairs of bytes with NEON alone.
std::vector<Product> neonProducts();
/// Of 64 bits alone: products of whole registers, whose lanes are summed in the end.
std::vector<Intrinsic> acrossLanes();
/// Groups of four bytes of the same sign (dotprod), and of two signs (i8mm).
std::vector<Product> dotprodProducts();
std::vector<Product> i8mmProducts();
/// f16, summed as such.
std::vector<Product> fmlaProducts();
/// Pairs of bf16.
std::vector<Product> bfdotProducts();
/// The same with a group, or one f16, in a lane of a vector; for bf16 with conversions to it.
std::vector<Intrinsic> dotprodLanes();
std::vector<Intrinsic> i8mmLanes();
std::vector<Intrinsic> fmlaLanes();
std::vector<Intrinsic> bfdotIntrinsics();

} // namespace ingot::targets

#endif // INGOT_TARGETS_ARM_PRODUCTS_H
