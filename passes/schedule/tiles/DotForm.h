// How products of narrow numbers are computed: integers, bf16 or f16.
//
// A product takes a *group* of 2 or 4 neighbouring steps at once (DotTile.h). Which groups,
// in how many lanes and how fast is a fact of the target; the forms here say it of two
// types, and of the contractions that have a form.

#ifndef INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H
#define INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H

#include "dialects/graph/GraphDialect.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// How a target multiplies narrow numbers of two types.
struct DotForm {
  /// Steps that are loaded together.
  int64_t group = 0;
  /// Bytes become integers of 16 bits before they are multiplied, the even steps
  /// apart from the odd ones: the target multiplies pairs of those. bf16 become f32.
  bool widened = false;
  /// A row's group is a word in a scalar register, not a vector.
  bool byWord = false;
  /// The groups of a row that one load brings, of which each product takes one by
  /// its lane; 1: a group is copied to all lanes.
  int64_t rowGroups = 1;
  /// Sums have a vector for each column, whose lanes take neighbouring steps and are added
  /// up when all steps are done: both operands are loaded as they are.
  bool acrossLanes = false;
  /// Lanes of accumulators for which the target has the product, widest first.
  llvm::SmallVector<int64_t> lanes;
  /// Multiply-adds per cycle in the widest vectors.
  double perCycle = 0;
  /// Instructions in front that each operand takes for all its products.
  int64_t preparation = 0;
  /// Steps whose products are summed in numbers as narrow as the operands; 0: sums are
  /// wide at once. With a group of one step, a narrow sum has the columns of two wide ones.
  int64_t stage = 0;

  /// Whether products are of one lane, for tiles in core registers (CursorTile.h).
  bool isScalar() const { return lanes.front() == 1; }
};

/// The fastest form for elements of types `a` and `b`, in either order; nothing
/// where the target has no product for them. Products of one lane take groups that
/// divide `steps`, unless these are filled up to whole groups.
std::optional<DotForm> dotForm(mlir::Type a, mlir::Type b,
                               const TargetDescription &target, int64_t steps,
                               bool fillsUp = false);

/// Whether the target's products compute this one: narrow numbers without zero points.
std::optional<DotForm> dotForm(graph::MatMulOp product,
                               const TargetDescription &target);

/// Whether a kernel row can be read at once: the few channels of its columns follow each
/// other. Tiles of one lane read it from a copy (CompactConvolution.cpp), which with many
/// channels costs more than addresses for each kernel column; tiles of vectors read it in
/// place.
bool readsKernelRows(graph::ConvOp conv);

/// Whether tiles in core registers read the windows of a convolution of integers from a
/// copy, in which the steps of a window follow each other and fill whole groups. With a
/// pool behind it, the windows of all its positions would take too much memory.
bool copiesWindows(graph::ConvOp conv, const TargetDescription &target);
/// Whether tiles in core registers copy what they read of a convolution's input, so that
/// they can have any number in its padding.
bool fillsPadding(graph::ConvOp conv, const TargetDescription &target);

/// The same of a convolution without a zero point, in one group. Its channels are whole
/// groups of steps, or the kernel rows that are read at once.
std::optional<DotForm> dotForm(graph::ConvOp conv,
                               const TargetDescription &target);

/// Whether products in `form` take groups of neighbouring kernel columns: there are too
/// few channels for a group.
bool groupsKernelRows(graph::ConvOp conv, const DotForm &form);

/// How vectors of channels are multiplied that have a filter each, in groups of kernel
/// columns: with both operands in vectors. Nothing where the target has no such product.
std::optional<DotForm> depthwiseForm(graph::ConvOp conv,
                                     const TargetDescription &target);
/// Whether it is computed by a filter of bytes for each channel that is interleaved in
/// blocks (BlockDepthwise.cpp), once its zero point is 0.
bool filtersInBlocks(graph::ConvOp conv, const TargetDescription &target);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_DOTFORM_H
