// Forms of dot products of narrow types: integers, bf16 or f16. A K step is an
// index of the reduction; a dot-product instruction takes a *group* of adjacent
// K steps at once, for example 2 or 4 (DotTile.h). The group sizes, lanes and
// rates are properties of the target. A DotForm describes them for two element
// types or for a given matrix product or convolution.

#ifndef INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H
#define INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ShortSums.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// How a target computes dot products of two narrow types.
struct DotForm {
  /// The number of adjacent K steps that one instruction multiplies and sums.
  int64_t group = 0;
  /// Whether operands are widened before they are multiplied, the even and the
  /// odd K steps separately: int8 to int16 if the target multiplies pairs of
  /// int16, or bf16 to f32.
  bool widened = false;
  /// Whether a dot product takes the elements of the left operand as one
  /// integer in a scalar register, instead of as a vector.
  bool byWord = false;
  /// If each instruction selects a group (the elements that one dot product
  /// takes) of the left operand by lane: the number of groups of a row that one
  /// load fetches. 1 if a group is broadcast to all lanes.
  int64_t rowGroups = 1;
  /// Whether each column has its own vector of sums, whose lanes take different
  /// K steps and are added up at the end. If so, both operands are loaded in
  /// the order in which they are stored.
  bool acrossLanes = false;
  /// Whether an instruction multiplies two rows by two columns. A vector of
  /// sums then has two columns of two rows (kOfPairsAttr).
  bool ofPairs = false;
  /// The numbers of lanes of sums for which the target has a dot-product
  /// instruction, largest first.
  llvm::SmallVector<int64_t> lanes;
  /// Multiply-adds per cycle with the widest vectors of sums.
  double perCycle = 0;
  /// The number of instructions that prepare an operand, once for all dot
  /// products that use it.
  int64_t preparation = 0;
  /// The number of K steps whose products are accumulated in the operands' type
  /// before these partial sums are widened; 0 if products are added to wide
  /// sums at once. If a group has one K step, a vector of narrow partial sums
  /// has the columns of two vectors of wide sums.
  int64_t stage = 0;
  /// The number of groups of 8-bit elements whose products are summed in 16
  /// bits before these sums are widened; 0 if products are added to 32-bit sums
  /// at once.
  int64_t shortGroups = 0;
  /// If shortGroups: the share of the groups of packed weights whose products
  /// are summed in 16 bits. If it is less than 1, the others are multiplied in
  /// the widened form (`widened` is set), as a byte for each group says
  /// (PackedPanels::isWide).
  double shortShare = 1;

  /// Whether some groups of weights are summed in 16 bits, and others not.
  bool isMixed() const { return shortGroups && widened; }
  /// Whether sums are scalars, for tiles in core registers (CursorTile.h).
  bool isScalar() const { return lanes.front() == 1; }
};

/// Returns the fastest DotForm for elements of types `a` and `b`, in either
/// order; nothing if the target has none. Scalar sums require that the group
/// size divides the number of K steps, `steps`, unless `fillsUp` says that the
/// K steps are padded to whole groups. `sums` says which sums of products fit
/// into 16 bits.
std::optional<DotForm> dotForm(mlir::Type a, mlir::Type b,
                               const TargetDescription &target, int64_t steps,
                               bool fillsUp = false,
                               graph::ShortSums sums = {});

/// Returns which sums of products fit into 16 bits in a contraction of 8-bit
/// elements with one group of channels, by signed constant weights, if its left
/// operand is unsigned or becomes so; none if the target has dot products of
/// such elements, or no instruction that sums pairs of products in 16 bits.
graph::ShortSums shortSumsOf(mlir::Operation *contraction,
                             const TargetDescription &target);

/// Returns the DotForm with products of two rows by two columns (ofPairs) for
/// rows of type `a` and columns of type `b`; nothing if the target has none.
std::optional<DotForm> dotFormOfPairs(mlir::Type a, mlir::Type b,
                                      const TargetDescription &target);

/// Returns the DotForm of a matrix product of narrow types without zero points;
/// nothing for other matrix products, or if the target has none.
std::optional<DotForm> dotForm(graph::MatMulOp product,
                               const TargetDescription &target);

/// Whether a kernel row is read as one contiguous run: the convolution has few
/// channels and at most two spatial axes, and the kernel columns are adjacent.
/// Scalar tiles read the run from a copy (CompactConvolution.cpp); with many
/// channels, the copy would cost more than separate addresses for each kernel
/// column. Vector tiles read it in place.
bool readsKernelRows(graph::ConvOp conv);

/// Whether tiles in core registers read the windows of an integer convolution
/// from a copy, in which the K steps of a window are contiguous and padded to a
/// multiple of those that a dot product takes. False if a pool is fused, since
/// the windows of all positions of the pool would take too much memory.
bool copiesWindows(graph::ConvOp conv, const TargetDescription &target);
/// Whether the kernel of an integer convolution, which multiplies in core
/// registers, first copies its input and writes the padding into the copy. Then
/// the padding may have any zero point, and no operator has to pad the input.
bool fillsPadding(graph::ConvOp conv, const TargetDescription &target);

/// Returns the DotForm of a convolution of narrow types with one group of
/// channels and without zero point; nothing for other convolutions, or if the
/// target has none. The number of channels must be a multiple of those that a
/// dot product takes (DotForm::group), unless kernel rows are read as
/// contiguous runs.
std::optional<DotForm> dotForm(graph::ConvOp conv,
                               const TargetDescription &target);

/// Whether dot products take groups of adjacent elements of a kernel row (see
/// readsKernelRows), because its few channels do not fill whole groups.
bool groupsKernelRows(graph::ConvOp conv, const DotForm &form);

/// Returns the DotForm of a depthwise convolution, in which a dot product takes
/// adjacent kernel columns of one channel and both operands are vectors;
/// nothing if the target has no such dot products, or if it does not compute in
/// whole registers.
std::optional<DotForm> depthwiseForm(graph::ConvOp conv,
                                     const TargetDescription &target);
/// Whether BlockDepthwise.cpp can compute the depthwise int8 convolution once
/// its zero point is 0.
bool filtersInBlocks(graph::ConvOp conv, const TargetDescription &target);

/// Whether the kernel of an integer depthwise convolution widens 8-bit inputs
/// and weights to 16 bits and multiplies them lane by lane
/// (WidenedDepthwise.cpp). The channels must fill whole vectors of 16-bit
/// elements. The input may have any zero point.
bool filtersWidened(graph::ConvOp conv, const TargetDescription &target);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H
