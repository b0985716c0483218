// Finds the anchor of a fusion group: the convolution or matrix product around
// which a strategy builds the kernel.

#ifndef INGOT_PASSES_SCHEDULE_ANCHORS_H
#define INGOT_PASSES_SCHEDULE_ANCHORS_H

#include "passes/schedule/GroupView.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::schedule {

/// Whether a strategy can read the weights `w` in panels, in which the weights
/// of some columns are contiguous. Either `w` is already packed in panels, or
/// `packs` is set and `w` is a nonempty constant outside of the group, which
/// can still be packed.
bool mayBeInPanels(mlir::Value w, bool packs);

/// A convolution and the pool that is fused with it, if there is one.
struct ConvolutionAnchor {
  graph::ConvOp conv;
  mlir::Operation *pool = nullptr;

  /// Returns the only convolution of a group and the pool after it
  /// (isDisjointPool), if any. All other operators of the group must be cheap,
  /// and the group's only result must have the shape of result(). The weights
  /// may have any layout. `conv` of the returned anchor is null if the group
  /// computes anything else.
  static ConvolutionAnchor onlyOf(GroupView group);
  /// Like onlyOf, but `conv` is also null unless isFusableConvolution holds for
  /// the convolution.
  static ConvolutionAnchor of(GroupView group);

  /// Element type of the operands. Sums of integer products have a wider type.
  mlir::Type type() { return graph::elementOf(conv.getX()); }
  /// Returns the operator that unpacks the packed weights; null while the
  /// weights are not packed.
  graph::UnpackPanelsOp weights() {
    return conv.getW().getDefiningOp<graph::UnpackPanelsOp>();
  }
  /// Returns the pool's result if there is a pool, else the convolution's.
  mlir::Value result() {
    return (pool ? pool : conv.getOperation())->getResult(0);
  }
  /// Returns how many image columns of the convolution's result the pool reads;
  /// all columns if there is no pool.
  int64_t columns() { return graph::shapeOf(result()).end()[-2] * across(); }
  /// Returns how many columns of the convolution's result one window of the
  /// pool covers; 1 if there is no pool.
  int64_t across();
  /// Returns the number of output channels.
  int64_t channels() { return graph::shapeOf(result()).back(); }
  /// Returns the number of multiply-adds per output element.
  int64_t steps();
  int64_t weightBytes();
  /// Whether output and input positions correspond one to one (1x1 kernel,
  /// stride 1, no padding).
  bool isPointwise();
  /// Whether the convolution is one matrix product, with a row for each output
  /// position of all images.
  bool isMatrix() {
    return isPointwise() && !pool && graph::isCompact(graph::dimsOf(result()));
  }
  /// Returns the number of rows of each matrix product: the output positions of
  /// all images if isMatrix(), else the output positions of one image row.
  graph::Dim positions();
  /// Returns how many matrix products, each of positions() rows, the
  /// convolution consists of.
  double products();
};

/// Returns the depthwise convolution that a fusion group computes; null if it
/// computes something else.
graph::ConvOp depthwiseOf(GroupView group);
/// Returns the anchor of a fusion group if it is a convolution whose result has
/// the shape of the group's only result, and whose input and weights are
/// arguments of the group. Each of these two arguments may be cast or
/// dequantized to a wider type (isWidening), which the kernel does when it
/// loads the elements. Null otherwise.
graph::ConvOp filtersOf(GroupView group);
/// Returns the convolution that a fusion group computes, if the integer
/// strategies can build it: all sizes are static, the weights of the
/// convolution are packed or can be (mayBeInPanels), its input is an argument
/// of the fusion group and has zero point 0, and its result has the shape of
/// the fusion group's only result. Null otherwise.
graph::ConvOp integerFiltersOf(GroupView group);
/// Whether the convolution is a depthwise one of floats with one filter per
/// channel.
bool isDepthwise(graph::ConvOp conv);
/// Returns the number of output channels per group of a convolution.
int64_t channelsOfGroup(graph::ConvOp conv);
/// Whether the output channels per group of an f32 or f64 convolution fill
/// whole vectors, so that each register tile can use the weights of a single
/// group. False for depthwise convolutions, for convolutions with one group, on
/// devices, and on targets that prefer small code.
bool multipliesInGroups(graph::ConvOp conv, const TargetDescription &target);
/// Whether the kernel computes the outputs of several groups of an f32 or f64
/// convolution in one vector. The numbers of outputs and inputs per group must
/// be powers of two, with at least as many outputs as inputs. The outputs of a
/// group may fill at most half of a vector, or a quarter if multipliesInGroups
/// holds. False for depthwise convolutions, on devices, and on targets that
/// prefer small code or compute in whole registers.
bool hasGroupsInLanes(graph::ConvOp conv, const TargetDescription &target);
/// Returns the number of input channels per group of a convolution.
int64_t inputsOfGroup(graph::ConvOp conv);
/// Whether the operator is a cast or a dequantization to a wider type, which
/// the kernel can apply when it loads the operand.
bool isWidening(mlir::Operation *op);
/// Whether the operator is a cast or a quantization to a narrower type, which
/// the kernel can apply when it stores the result.
bool isNarrowing(mlir::Operation *op);

/// Whether a slice takes a contiguous range of channels at all positions.
bool takesChannels(graph::SliceOp slice);
/// Whether a concatenation joins the channels of a few tensors, none of them a
/// constant, and is read only by a pointwise float convolution with one group
/// of channels. That convolution can then read the tensors one after the other
/// instead.
bool readsByParts(graph::ConcatOp concat);

/// Whether `op` is a convolution that can be the anchor of a fusion group: it
/// has one group of channels and a static number of input channels, multiplies
/// f32, f64 or narrow elements without zero point, and its weights have a
/// static shape and are packed in panels or can be (mayBeInPanels).
bool isFusableConvolution(mlir::Operation *op, bool packs);
/// Follows operands from `last` back to a fusable convolution. Returns the
/// operators on this path: elementwise operators from `last` on, then the
/// convolution. Each has a single use and satisfies `isFree`. Empty if there is
/// no such path.
llvm::SmallVector<mlir::Operation *>
chainToConvolution(mlir::Operation *last,
                   llvm::function_ref<bool(mlir::Operation *)> isFree,
                   bool packs);
/// Whether `op` is a maximum or average pool that can be computed along with
/// its operand: its windows are adjacent, do not overlap and do not reach into
/// padding, and all sizes except the batch size are static. The elements are
/// f32, f64 or, for a maximum, integers.
bool isDisjointPool(mlir::Operation *op);
/// Whether `pool` should be fused with the convolution whose result only `pool`
/// reads. False unless isDisjointPool(pool).
bool joinsConvolution(mlir::Operation *pool, const TargetDescription &target);
llvm::ArrayRef<int64_t> windowOf(mlir::Operation *pool);

/// The sizes of a matrix product. If all batches have the same right operand,
/// the rows of all batches are counted as rows of one matrix.
struct ProductSizes {
  ProductSizes(mlir::Value left, mlir::Value right, mlir::Value result);
  explicit ProductSizes(graph::MatMulOp product);
  /// Whether the number of columns is known when compiling, as tiles require.
  static bool fitTiles(graph::MatMulOp product);
  /// The sizes of one matrix product (`steps` is the K dimension), and the
  /// number of matrix products (`batches`).
  graph::Dim rows, batches, steps;
  int64_t columns;
  bool oneMatrix;
};

/// Whether all operators of the group except the anchor are elementwise, and
/// each argument that they read has either the type of the result or no axis
/// longer than 1 except the last one. The result can then be treated as one
/// matrix.
bool hasFlatEpilogue(GroupView group, mlir::Operation *anchor);
/// Whether only elementwise operators depend on `v`, directly or through each
/// other, up to `result`, and all of them have the sizes of `result`. An element
/// of `result` then depends on `v` only at the same index.
bool keepsIndices(mlir::Value v, mlir::Value result);
/// Whether the result of the group may overwrite `input`: it is the only one, it
/// has the type of `input`, and keepsIndices(input, result). The anchor then
/// does not depend on `input`, and each element of `input` is read just before
/// the result element at the same index is written.
bool mayBecomeResult(GroupView group, mlir::Value input);
/// Whether mayBecomeResult holds for some input of the group.
bool mayBeInPlace(GroupView group);
/// Whether an elementwise operator other than the anchor reads `input`.
bool isEpilogueOperand(mlir::Value input, mlir::Operation *anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ANCHORS_H
