// The convolutions and matrix products that strategies build groups around.

#ifndef INGOT_PASSES_SCHEDULE_ANCHORS_H
#define INGOT_PASSES_SCHEDULE_ANCHORS_H

#include "passes/schedule/GroupView.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::schedule {

/// Whether a strategy can read the weights `w` as packed panels: `w` is packed
/// already or, if `packs`, is a constant outside of its group that can be
/// packed.
bool mayBeInPanels(mlir::Value w, bool packs);

/// A convolution and the pool that is fused with it, if there is one.
struct ConvolutionAnchor {
  graph::ConvOp conv;
  mlir::Operation *pool = nullptr;

  /// Returns the only convolution of a group (and the pool after it) if all its
  /// other operators are cheap, whatever the layout of the weights. `conv` of
  /// the returned anchor is null if the group computes anything else.
  static ConvolutionAnchor onlyOf(GroupView group);
  /// Returns the convolution as onlyOf does, but only if its weights are packed
  /// in panels or can be.
  static ConvolutionAnchor of(GroupView group);

  /// Element type of the operands. Sums of integer products have a wider type.
  mlir::Type type() { return graph::elementOf(conv.getX()); }
  /// The unpacking of the packed weights; null while the weights are not
  /// packed.
  graph::UnpackPanelsOp weights() {
    return conv.getW().getDefiningOp<graph::UnpackPanelsOp>();
  }
  /// Returns the pool's result if there is a pool, else the convolution's.
  mlir::Value result() {
    return (pool ? pool : conv.getOperation())->getResult(0);
  }
  /// Returns how many columns of the convolution's result the pool reads (all
  /// columns without a pool). `across` returns how many columns one window of
  /// the pool covers; 1 without a pool.
  int64_t columns() { return graph::shapeOf(result()).end()[-2] * across(); }
  int64_t across();
  /// Returns the number of output channels. `steps` returns the multiply-adds
  /// per output element.
  int64_t channels() { return graph::shapeOf(result()).back(); }
  int64_t steps();
  int64_t weightBytes();
  /// Whether output and input positions correspond one to one (1x1 kernel,
  /// stride 1, no padding).
  bool isPointwise();
  /// Whether the convolution is one matrix product whose rows are all
  /// positions.
  bool isMatrix() {
    return isPointwise() && !pool && graph::isCompact(graph::dimsOf(result()));
  }
  /// Returns the rows of each matrix product: all positions if isMatrix(), else
  /// those of one image row.
  graph::Dim positions();
  /// Returns how many matrix products, each of positions() rows, the
  /// convolution consists of.
  double products();
};

/// Returns the depthwise convolution of a group; null if the group computes
/// something else.
graph::ConvOp depthwiseOf(GroupView group);
/// Returns the convolution of a group whose input and weights are arguments of
/// the group, possibly widened by a cast (done on load); null if the group
/// computes something else.
graph::ConvOp filtersOf(GroupView group);
/// Returns the integer convolution of a group that strategies may build:
/// weights packed or packable, input an argument of the group without zero
/// point, result stored unchanged. Null if the group computes something else.
graph::ConvOp integerFiltersOf(GroupView group);
/// Whether the convolution is a depthwise one of floats with one filter per
/// channel.
bool isDepthwise(graph::ConvOp conv);
/// Returns the number of output channels per group of a convolution.
int64_t channelsOfGroup(graph::ConvOp conv);
/// Whether the output channels per group of a float convolution fill whole
/// vectors, so that each tile can use the weights of a single group.
bool multipliesInGroups(graph::ConvOp conv, const TargetDescription &target);
/// Whether one vector can hold the outputs of several groups of a float
/// convolution. Outputs and inputs per group must be powers of two, with no
/// more inputs than outputs, and the outputs at most half of a vector (a
/// quarter if tiles of one group are possible).
bool hasGroupsInLanes(graph::ConvOp conv, const TargetDescription &target);
/// Returns the number of input channels per group of a convolution.
int64_t inputsOfGroup(graph::ConvOp conv);
/// Whether the operator only widens its operand's elements, so that the kernel
/// can widen them when it loads the operand.
bool isWidening(mlir::Operation *op);
/// Whether the operator only narrows its operand's elements, so that the kernel
/// can narrow them when it stores the result.
bool isNarrowing(mlir::Operation *op);

/// Whether a slice takes a contiguous range of channels at all positions.
bool takesChannels(graph::SliceOp slice);
/// Whether a concatenation joins the channels of a few tensors and is read only
/// by a pointwise convolution, which can then read the tensors one after the
/// other instead.
bool readsByParts(graph::ConcatOp concat);

/// Whether `op` is a convolution with one group and with weights that are
/// packed in panels or can be, so that it can be the anchor of a fusion group.
bool isFusableConvolution(mlir::Operation *op, bool packs);
/// Returns the chain of elementwise operators from `last` back to a fusable
/// convolution, each with the next one as its only user; empty if there is
/// none.
llvm::SmallVector<mlir::Operation *>
chainToConvolution(mlir::Operation *last,
                   llvm::function_ref<bool(mlir::Operation *)> isFree,
                   bool packs);
/// Whether `op` is a maximum or average pool whose windows neither overlap nor
/// reach into padding, so that it can be computed along with its operand.
bool isDisjointPool(mlir::Operation *op);
/// Whether a pool with disjoint windows should be fused with the convolution
/// whose only user it is.
bool joinsConvolution(mlir::Operation *pool, const TargetDescription &target);
llvm::ArrayRef<int64_t> windowOf(mlir::Operation *pool);

/// The sizes of a matrix product. If the right operand is the same for all
/// batches, the rows of all batches are counted as rows of one matrix.
struct ProductSizes {
  ProductSizes(mlir::Value left, mlir::Value right, mlir::Value result);
  explicit ProductSizes(graph::MatMulOp product);
  /// Whether the number of columns is known when compiling, as tiles require.
  static bool fitTiles(graph::MatMulOp product);
  /// The sizes of one matrix product, and the number of them (`batches`).
  graph::Dim rows, batches, steps;
  int64_t columns;
  bool oneMatrix;
};

/// Whether everything after the group's anchor is elementwise on tensors of the
/// result's shape or vectors along its last axis, so that the result can be
/// treated as one matrix.
bool hasFlatEpilogue(GroupView group, mlir::Operation *anchor);
/// Whether the group reads `input` only after the anchor, at the element that
/// is being written, so that the result may overwrite it.
bool mayBecomeResult(GroupView group, mlir::Value input);
/// Whether the result may overwrite some input of the group.
bool mayBeInPlace(GroupView group);
/// Whether an elementwise operator other than the anchor reads `input`.
bool isEpilogueOperand(mlir::Value input, mlir::Operation *anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ANCHORS_H
