// Variants of kernel.dot, a vector dot product that adds groups of adjacent
// products (along K) to each lane of an accumulator. In the first variant, the
// second operand is the same group of elements for all lanes: one lane of a
// longer vector, which holds several groups. In the second, the target may add
// each product to any lane of the sums. In the third, the sums have 16 bits,
// and each group is a pair. In the fourth, the operands are two rows and two
// columns of matrices, and the sums are the elements of their 2 x 2 product. In
// the fifth, only the lower or the upper halves of the operands are multiplied.
//
// Targets with a dot product by a lane need no broadcast of the group, and a
// single vector load fetches several groups.

#ifndef INGOT_DIALECTS_KERNEL_DOTLANE_H
#define INGOT_DIALECTS_KERNEL_DOTLANE_H

#include "dialects/kernel/KernelDialect.h"

#include <optional>

namespace ingot::kernel {

struct DotLane {
  /// The longer vector, and the index in it of the group of elements along K
  /// (the summed axis) that all lanes use.
  mlir::Value vector;
  int64_t lane;
};

/// If `operand` is one group of elements along K (the summed axis), broadcast
/// to all lanes, returns the vector that contains the group and the index of
/// the group in it; otherwise nullopt.
std::optional<DotLane> dotLane(mlir::Value operand);

/// Returns the name, in a target's table of intrinsics, of a dot product of
/// types `a` and `b` (such as "si8") whose second operand is, for all lanes,
/// the group of elements in lane `lane` of a longer vector.
std::string dotByLane(llvm::StringRef a, llvm::StringRef b, int64_t lane);

/// Marks a dot product of 8-bit integers in code that finally sums all lanes of
/// the result. Only that sum is defined: the sum of the accumulator's lanes
/// plus all products. A target may add a product to any lane, and may add pairs
/// of products in 16 bits, so the second operand must not contain -128.
inline constexpr llvm::StringLiteral kAcrossLanesAttr = "kernel.across_lanes";

/// Returns the name, in a target's table of intrinsics, of a dot product of
/// types `a` and `b` that is marked by kAcrossLanesAttr: only the sum of all
/// lanes of the result is defined.
std::string dotAcrossLanes(llvm::StringRef a, llvm::StringRef b);

/// Returns the name, in a target's table of intrinsics, of a dot product of
/// pairs of 8-bit integers of types `a` and `b` with sums of 16 bits. A target
/// may saturate the sum of a pair, so only code that knows that all sums fit
/// into 16 bits may build such a dot product.
std::string dotInHalves(llvm::StringRef a, llvm::StringRef b);

/// Marks a dot product of two rows by two columns. The halves of the first
/// operand are two rows r0 and r1 of a matrix, those of the second are two
/// columns c0 and c1 of another, and the four lanes of the accumulator are the
/// sums of r0 c0, r0 c1, r1 c0 and r1 c1.
inline constexpr llvm::StringLiteral kOfPairsAttr = "kernel.of_pairs";

/// Returns the name, in a target's table of intrinsics, of a dot product of
/// types `a` and `b` that is marked by kOfPairsAttr.
std::string dotOfPairs(llvm::StringRef a, llvm::StringRef b);

/// Marks a product of 16-bit integers that multiplies only half of the lanes of
/// its operands, which have twice as many lanes as the sums: the upper half if
/// the attribute is true, the lower half if it is false. Each product is added
/// to its own lane of the sums.
inline constexpr llvm::StringLiteral kUpperHalfAttr = "kernel.upper_half";

/// Returns the name, in a target's table of intrinsics, of a product of types
/// `a` and `b` that is marked by kUpperHalfAttr, of the upper half if `isUpper`.
std::string dotOfHalf(llvm::StringRef a, llvm::StringRef b, bool isUpper);

/// Returns the name of `dot` in a target's table of intrinsics if `dot` is of
/// one of these kinds: dotAcrossLanes, dotOfPairs, dotInHalves or dotOfHalf.
/// Returns an empty string for other dot products, which are in the target's
/// table of products.
std::string intrinsicName(DotOp dot);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_DOTLANE_H
