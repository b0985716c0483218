// The convolutions and products that strategies build groups around.

#ifndef INGOT_PASSES_SCHEDULE_ANCHORS_H
#define INGOT_PASSES_SCHEDULE_ANCHORS_H

#include "passes/schedule/GroupView.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::schedule {

/// Whether a strategy can read `w` in panels: it is packed, or a constant (outside
/// of its group) that can be packed.
bool mayBeInPanels(mlir::Value w, bool packs);

/// A convolution and the pool that is computed with it.
struct ConvolutionAnchor {
  graph::ConvOp conv;
  mlir::Operation *pool = nullptr;

  /// The one that a group computes beside cheap operators, whatever its weights; without
  /// `conv` if that is not all it computes.
  static ConvolutionAnchor onlyOf(GroupView group);
  /// The same if its weights are in panels or will be.
  static ConvolutionAnchor of(GroupView group);

  /// Of the operands; sums of bytes are wider.
  mlir::Type type() { return graph::elementOf(conv.getX()); }
  /// Null while the weights are not packed.
  graph::UnpackPanelsOp weights() {
    return conv.getW().getDefiningOp<graph::UnpackPanelsOp>();
  }
  /// The pool's result, or the convolution's.
  mlir::Value result() {
    return (pool ? pool : conv.getOperation())->getResult(0);
  }
  /// The convolution's columns that the result needs, and how many of them one
  /// window of the pool takes (1 without a pool).
  int64_t columns() { return graph::shapeOf(result()).end()[-2] * across(); }
  int64_t across();
  /// The channels that it computes, and the products that are summed for each.
  int64_t channels() { return graph::shapeOf(result()).back(); }
  int64_t steps();
  int64_t weightBytes();
  /// Output and input positions of the convolution correspond one to one.
  bool isPointwise();
  /// All positions are rows of one matrix.
  bool isMatrix() {
    return isPointwise() && !pool && graph::isCompact(graph::dimsOf(result()));
  }
  /// The rows of the product: all positions, or those of a row of the image.
  graph::Dim positions();
  /// How many such products there are.
  double products();
};

/// The convolution of a group with one filter for each channel; null if the
/// group computes something else.
graph::ConvOp depthwiseOf(GroupView group);
/// The convolution of a group that reads its operands as they are stored, or in a
/// narrower type; null if the group computes something else.
graph::ConvOp filtersOf(GroupView group);
/// The convolution of integers of a group that strategies may take whose weights are
/// packed: its input is an argument, without a zero point, and its result is stored as it
/// is. Null if the group computes something else.
graph::ConvOp integerFiltersOf(GroupView group);
/// Whether each channel of floats has one filter of its own.
bool isDepthwise(graph::ConvOp conv);
/// The output channels of a group of a convolution.
int64_t channelsOfGroup(graph::ConvOp conv);
/// Whether the output channels of each group of a convolution of floats fill vectors:
/// then tiles can multiply by the weights of one group each.
bool multipliesInGroups(graph::ConvOp conv, const TargetDescription &target);
/// Whether each vector can be of the outputs of several groups of a convolution of floats:
/// each group has a power of two of them, at most half of a vector, or a quarter where tiles
/// can be of one group, and a power of two of inputs, no more than outputs.
bool hasGroupsInLanes(graph::ConvOp conv, const TargetDescription &target);
/// The input channels of a group of a convolution.
int64_t inputsOfGroup(graph::ConvOp conv);
/// Whether the operator only gives its operand's elements a wider type, as they can
/// have when they are loaded.
bool isWidening(mlir::Operation *op);
/// Whether it gives them a narrower one, in which they are better stored.
bool isNarrowing(mlir::Operation *op);

/// Whether a slice takes neighbouring channels of all positions.
bool takesChannels(graph::SliceOp slice);
/// Whether a concatenation joins channels of a few tensors, for a pointwise convolution
/// alone: then that can read them one after the other instead.
bool readsByParts(graph::ConcatOp concat);

/// A convolution in one group, whose weights are in panels or can be: it can be an
/// anchor.
bool isFusableConvolution(mlir::Operation *op, bool packs);
/// The operators from `last` up to such a convolution, each read by the next one
/// alone and elementwise; empty if there is none.
llvm::SmallVector<mlir::Operation *>
chainToConvolution(mlir::Operation *last,
                   llvm::function_ref<bool(mlir::Operation *)> isFree,
                   bool packs);
/// A maximum or mean over windows that neither overlap nor reach into padding:
/// it can be computed while its operand is.
bool isDisjointPool(mlir::Operation *op);
/// Such a pool is to be computed with the convolution that it alone reads.
bool joinsConvolution(mlir::Operation *pool, const TargetDescription &target);
llvm::ArrayRef<int64_t> windowOf(mlir::Operation *pool);

/// The sizes of a matrix product. A right operand that is the same for all
/// batches makes the rows of all batches rows of one matrix.
struct ProductSizes {
  /// Of a product of two values.
  ProductSizes(mlir::Value left, mlir::Value right, mlir::Value result);
  explicit ProductSizes(graph::MatMulOp product);
  /// Whether the columns are known when compiling: tiles are built for them.
  static bool fitTiles(graph::MatMulOp product);
  /// The sizes of one matrix, and how many there are.
  graph::Dim rows, batches, steps;
  int64_t columns;
  bool oneMatrix;
};

/// Whether everything behind the group's anchor is elementwise on tensors of
/// its shape or vectors along its last axis: then it is a matrix as a whole.
bool hasFlatEpilogue(GroupView group, mlir::Operation *anchor);
/// Read behind the anchor only, at the very place where the result is written.
bool mayBecomeResult(GroupView group, mlir::Value input);
/// Whether an input of the group may become its result.
bool mayBeInPlace(GroupView group);
/// Whether an elementwise operator other than the anchor reads it.
bool isEpilogueOperand(mlir::Value input, mlir::Operation *anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ANCHORS_H
