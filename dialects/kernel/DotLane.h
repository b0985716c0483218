// Products whose operands or sums lie otherwise than kernel.dot says: a group of steps out of a
// vector of several as a factor, and sums in any lane.
//
// Targets that multiply by a lane need no copy of the group in all lanes: one load
// brings the groups of several steps.

#ifndef INGOT_DIALECTS_KERNEL_DOTLANE_H
#define INGOT_DIALECTS_KERNEL_DOTLANE_H

#include "dialects/kernel/KernelDialect.h"

#include <optional>

namespace ingot::kernel {

struct DotLane {
  /// The vector with the group, and its place among the groups.
  mlir::Value vector;
  int64_t lane;
};

/// Where an operand of a product that is one group in all lanes comes from;
/// nothing where that is no lane of a vector.
std::optional<DotLane> dotLane(mlir::Value operand);

/// The name that a target's intrinsics have for a product of types `a` and `b` (as
/// "si8") whose second operand is the group in a lane.
std::string dotByLane(llvm::StringRef a, llvm::StringRef b, int64_t lane);

/// On a product of 8-bit integers: only the sum of all lanes of the result is defined, that of
/// the lanes of the accumulator and of all products. A target may add each product to any
/// lane, and two of them in 16 bits, so that the second operand has no -128. It is for who
/// adds up all lanes in the end.
inline constexpr llvm::StringLiteral kAcrossLanesAttr = "kernel.across_lanes";

/// The name that a target's intrinsics have for such a product of types `a` and `b`.
std::string dotAcrossLanes(llvm::StringRef a, llvm::StringRef b);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_DOTLANE_H
