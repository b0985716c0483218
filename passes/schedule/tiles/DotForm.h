// Forms of dot products of narrow types: integers, bf16 or f16. A dot-product
// instruction takes a *group* of 2 or 4 adjacent steps (indices of the
// reduction) at once (DotTile.h). The group sizes, lanes and rates are facts of
// the target; a DotForm describes them for two element types or for a
// contraction.

#ifndef INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H
#define INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H

#include "dialects/graph/GraphDialect.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// How a target computes dot products of two narrow types.
struct DotForm {
  /// Steps that one instruction takes.
  int64_t group = 0;
  /// Whether operands are widened first, with even and odd steps separately:
  /// int8 to int16, of which the target multiplies pairs, and bf16 to f32.
  bool widened = false;
  /// Whether a row's group is a word in a scalar register instead of a vector.
  bool byWord = false;
  /// Groups of a row that one load fetches, from which each instruction
  /// selects one by lane; 1 if a group is broadcast to all lanes.
  int64_t rowGroups = 1;
  /// Whether there is a vector of sums for each column whose lanes take
  /// different steps and are added up at the end; then both operands are loaded
  /// as stored.
  bool acrossLanes = false;
  /// Accumulator lanes for which the target has the instruction, widest first.
  llvm::SmallVector<int64_t> lanes;
  /// Multiply-adds per cycle in the widest vectors.
  double perCycle = 0;
  /// Instructions that prepare each operand, once for all dot products that use
  /// it.
  int64_t preparation = 0;
  /// Steps whose products are accumulated in the operands' type before they are
  /// widened; 0 if sums are wide at once. With a group of one step, a narrow
  /// sum holds the columns of two wide ones.
  int64_t stage = 0;

  /// Whether sums are scalars, for tiles in core registers (CursorTile.h).
  bool isScalar() const { return lanes.front() == 1; }
};

/// Returns the fastest form for elements of types `a` and `b`, in either order;
/// nothing if the target has none. Scalar forms require groups that divide
/// `steps`, unless `fillsUp` says that steps are padded to whole groups.
std::optional<DotForm> dotForm(mlir::Type a, mlir::Type b,
                               const TargetDescription &target, int64_t steps,
                               bool fillsUp = false);

/// Returns the form of a matrix product of narrow types without zero points;
/// nothing if the target has none.
std::optional<DotForm> dotForm(graph::MatMulOp product,
                               const TargetDescription &target);

/// Whether a kernel row can be read at once, since the few channels of its
/// columns are contiguous. Scalar tiles read it from a copy
/// (CompactConvolution.cpp), which with many channels would cost more than
/// addresses for each kernel column; vector tiles read it in place.
bool readsKernelRows(graph::ConvOp conv);

/// Whether tiles in core registers read the windows of an integer convolution
/// from a copy, in which the steps of a window are contiguous and padded to
/// whole groups. Not with a fused pool, as the windows of all its positions
/// would take too much memory.
bool copiesWindows(graph::ConvOp conv, const TargetDescription &target);
/// Whether the kernel of an integer convolution copies its input before it
/// multiplies (in core registers) and writes the padding into the copy. Then
/// the padding may have any zero point, and no operator has to pad the input.
bool fillsPadding(graph::ConvOp conv, const TargetDescription &target);

/// Returns the form of a convolution with one group of channels and without
/// zero point; nothing if the target has none. Its channels must be whole
/// groups of steps, or its kernel rows are read at once.
std::optional<DotForm> dotForm(graph::ConvOp conv,
                               const TargetDescription &target);

/// Whether dot products take groups of adjacent kernel columns, because there
/// are too few channels for a group.
bool groupsKernelRows(graph::ConvOp conv, const DotForm &form);

/// Returns the form of a depthwise convolution, with kernel columns as groups
/// and both operands in vectors; nothing if the target has none.
std::optional<DotForm> depthwiseForm(graph::ConvOp conv,
                                     const TargetDescription &target);
/// Whether BlockDepthwise.cpp can compute the depthwise int8 convolution once
/// its zero point is 0.
bool filtersInBlocks(graph::ConvOp conv, const TargetDescription &target);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H
