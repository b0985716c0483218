// The choice of the parameters of Winograd's algorithm, their cost, and the
// accuracy of the results.
//
// A block of tiles passes through three steps: the transform of the inputs to
// all points (the elements of the transformed tiles), a matrix product with the
// weights for each point, and the transform of the products to outputs.
// Intermediate data stays in the L2 cache if possible.

#ifndef INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H

#include "dialects/graph/ops/Winograd.h"
#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// Whether a convolution has elements of f32, f16 or bf16, windows of 3 x 3,
/// stride 1, dilation 1 and one group of channels. Operands of f16 and bf16 must
/// be marked (graph.multiplied).
bool hasWinogradForm(graph::ConvOp conv);
/// Whether Winograd's algorithm is suitable for `conv` with elements of `type`
/// on the target. The target must have fused multiply-adds and vectors of at
/// least four elements, and must not prefer small code. The input channels must
/// fill vectors (for f32, half a vector may remain), since a second version of
/// the code for other remaining channels would double it. For f16, the target
/// must have multiply-adds that take a lane of a vector as factor: products and
/// transforms are computed in f16. For bf16, it must have dot products of two
/// rows by two columns (DotForm::ofPairs): transforms are computed in f32, and
/// transformed inputs and weights are rounded to bf16.
bool suitsWinograd(graph::ConvOp conv, const TargetDescription &target,
                   mlir::Type type);

/// Returns how the target computes the products of transformed inputs and
/// weights of `type` with `channels` channels; nothing for f32.
std::optional<DotForm> winogradDots(mlir::Type type, int64_t channels,
                                    const TargetDescription &target);
/// Returns the vectors of sums that cover `columns` columns of a panel of
/// weights.
ColumnVectors winogradVectors(graph::ConvOp conv, int64_t columns,
                              const TargetDescription &target);

/// The parameters of Winograd's algorithm for a convolution.
struct WinogradChoice {
  /// The number of outputs of a tile along each axis.
  int64_t size = 0;
  /// The register tile of the matrix products.
  TileChoice tile;
  /// The number of tiles per block, a multiple of the register tile's rows, and
  /// the number of parts into which threads divide the work.
  int64_t block = 0, parts = 1;
  double cycles = 0;
};

/// Returns the cycles by which the first read of `bytes` bytes of weights from
/// memory lengthens matrix products of `products` cycles. Each panel is fetched
/// while the previous one is multiplied, which hides most of the read.
double cyclesOfFirstRead(double bytes, double products,
                         const TargetDescription &target);

class WinogradTiles {
public:
  /// `size` is the number of outputs of a tile along each axis. `type` is the
  /// type of the transformed inputs and weights. `panel` is the panel width of
  /// packed weights, or 0 if they are not packed.
  WinogradTiles(graph::ConvOp conv, int64_t size,
                const TargetDescription &target, mlir::Type type,
                int64_t panel = 0);

  /// Returns the choices that fit the caches, best first; at least one if the
  /// weights are already packed. `divides` says that several threads divide the
  /// work.
  std::vector<WinogradChoice> ranked(bool divides) const;
  /// Estimates the cycles of the convolution on one thread.
  double cycles(const WinogradChoice &choice) const;
  /// Returns that part of cycles() that is due to the first read of the
  /// weights.
  double firstRead(const WinogradChoice &choice) const;
  /// Returns the number of tiles of all images.
  int64_t tiles() const { return images * down * across; }
  int64_t panels(int64_t columns) const;

private:
  /// products() returns the cycles of the matrix products, and transforms()
  /// those of the transforms of inputs and outputs; all operands are in the L2
  /// cache.
  double products(const TileChoice &tile) const;
  double transforms() const;
  /// Returns the cycles for loading the weights, and for loading data that
  /// exceeds the L2 cache, from the next cache level or from memory.
  double transfers(const WinogradChoice &choice) const;
  /// cyclesOfPoint() returns the cycles of the matrix product of one point (an
  /// element of the transformed tiles) in register tiles of shape `tile`, and
  /// shapes() the possible register tiles, best first.
  double cyclesOfPoint(int64_t rows, const TileChoice &tile) const;
  std::vector<TileChoice> shapes() const;
  TileModel model(int64_t rows) const;
  DotModel dots(int64_t rows) const;
  double weightBytes() const;
  int64_t bytesOfBlock(const WinogradChoice &choice) const;
  /// Returns the number of work items: blocks of tiles times panels of weights.
  int64_t unitsOf(const WinogradChoice &choice) const;
  int64_t partsOf(const WinogradChoice &choice) const;
  /// Returns the relative increase in time if two threads get unequal shares of
  /// the work and one must wait for the other, times a factor: how much this
  /// wait counts in the ranking.
  double waitOf(const WinogradChoice &choice) const;

  graph::Winograd form;
  const TargetDescription &target;
  mlir::Type type;
  /// How the target computes dot products of f16 or bf16; nothing for f32.
  std::optional<DotForm> dotForm;
  int64_t channels, columns, images, down, across, panel, lanes;
};

/// Estimates the error of the results: its standard deviation relative to the
/// standard deviation of the results. It assumes independent inputs of equal
/// variance, and that each operation has an independent error of at most half a
/// unit in the last place, u:
///
///   error^2 = u^2 * (channels / 6 + 4) * max over outputs (i, j), columns o of
///             sum over points (p, q), channels c of
///               output[i, p]^2 output[j, q]^2
///               |input[p]|^2 |input[q]|^2 U[p, q, c, o]^2
///   result^2 = max over columns o of sum over taps and channels of w[.., o]^2
///   returned value = error / result
///
/// U are the transformed weights, w the original ones. The sum of each point
/// has the rounding errors of its terms and partial sums. The largest error and
/// the largest result of all columns are compared, since a tolerance is a
/// fraction of the range of the whole result. In f16, the products of a stage
/// are added up separately, so the number of K steps of a stage replaces the
/// number of channels; the error is infinite if transformed weights may
/// overflow. In bf16, only transformed inputs and weights are rounded; sums and
/// transforms have the precision of f32. So 2 / 3 replaces channels / 6 + 4.
double winogradError(mlir::ElementsAttr weights, int64_t size, mlir::Type type,
                     const TargetDescription &target);
/// Whether winogradError is at most the accepted error for elements of `type`.
bool isExactEnough(mlir::ElementsAttr weights, int64_t size, mlir::Type type,
                   const TargetDescription &target);

/// Estimates the cycles of the convolution with the cheapest choice that is
/// exact enough for these weights; nothing if there is none. `type` is the type
/// of the transformed inputs and weights.
std::optional<double> winogradCycles(graph::ConvOp conv,
                                     mlir::ElementsAttr weights,
                                     const TargetDescription &target,
                                     mlir::Type type);

/// The largest winogradError that is accepted for f32. Errors stay within five
/// standard deviations, and the largest result is at least one standard
/// deviation of the results. A layer's error is therefore at most 5e-5 of the
/// range of its results, half of a network's tolerance of 1e-4.
inline constexpr double mostWinogradError = 1e-5;
/// Returns a type whose vectors have as many lanes as those in which inputs and
/// products of `type` are transformed: vectors of f16 have as many as any vector
/// of 16-bit elements, also if f16 is otherwise computed in f32.
mlir::Type laneTypeOfTransforms(mlir::Type type);
/// Returns the type of products of transformed inputs and weights of `type`: f16
/// for f16, f32 for other types.
mlir::Type typeOfProducts(mlir::Type type);

/// The largest winogradError that is accepted for bf16: 2.5 times the error of
/// direct sums of rounded inputs and weights by the same estimate, 3.2e-3. It
/// admits tiles of 2 x 2 outputs (1.7 times that error for independent weights),
/// but not tiles of 4 x 4 (8.8 times).
inline constexpr double mostWinogradErrorOfBFloats = 8e-3;

/// The largest winogradError that is accepted for f16: it admits tiles of 4 x 4
/// outputs. Measured errors are a quarter of it, since they are not all of half
/// a unit, and the outputs in the middle of a tile have smaller ones. With tiles
/// of 4 x 4, the layers of ResNet-18 have errors of 5e-3 of their standard
/// deviation (direct sums in f16: 4e-3), its outputs 0.7e-3 of their range (ncnn
/// in f16: 1.7e-3; November 2026).
inline constexpr double mostWinogradErrorOfHalves = 3e-2;

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H
