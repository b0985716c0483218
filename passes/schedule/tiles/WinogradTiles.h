// The choice of blocks of tiles for Winograd's algorithm, their cost, and the
// accuracy of the results.
//
// A block of tiles passes through three steps: transform of the inputs to all
// points, one matrix product with the weights per point, and transform of the
// outputs. Intermediate data stays in the L2 cache if possible.

#ifndef INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H

#include "dialects/graph/ops/Winograd.h"
#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// Whether a convolution has floats, 3 x 3 windows, stride 1 and dilation 1.
bool hasWinogradForm(graph::ConvOp conv);
/// Whether the target is suitable for a convolution of elements of `type`: the
/// code for vectors of channels needs many registers, and a second version for
/// remaining channels would double it. Elements of f16 are transformed in f32,
/// and multiplied by lane.
bool suitsWinograd(graph::ConvOp conv, const TargetDescription &target,
                   mlir::Type type);

/// Returns the vectors of sums that cover `columns` columns of panels.
ColumnVectors winogradVectors(graph::ConvOp conv, int64_t columns,
                              const TargetDescription &target);

/// The parameters of Winograd's algorithm for a convolution.
struct WinogradChoice {
  /// Outputs of a tile along each axis.
  int64_t size = 0;
  /// The register tile of the matrix products.
  TileChoice tile;
  /// Tiles per block, a multiple of the register tile's rows; and the number of
  /// parts that threads divide the work into.
  int64_t block = 0, parts = 1;
  double cycles = 0;
};

/// Returns the cycles that the first read of `bytes` bytes of weights adds to
/// `products` cycles: each panel is fetched while the previous one is
/// multiplied, which hides most of it.
double cyclesOfFirstRead(double bytes, double products,
                         const TargetDescription &target);

class WinogradTiles {
public:
  /// `panel` is the panel width of packed weights, 0 if they are not packed;
  /// `type` is that of the transformed inputs and weights.
  WinogradTiles(graph::ConvOp conv, int64_t size,
                const TargetDescription &target, mlir::Type type,
                int64_t panel = 0);

  /// Returns the choices that fit, best first; at least one for packed weights.
  std::vector<WinogradChoice> ranked(bool divides) const;
  /// Estimates the cycles of one thread.
  double cycles(const WinogradChoice &choice) const;
  /// Returns the part of cycles() that is due to the first read of the weights.
  double firstRead(const WinogradChoice &choice) const;
  /// Returns the tiles of all images.
  int64_t tiles() const { return images * down * across; }
  int64_t panels(int64_t columns) const;

private:
  /// Return the cycles of the matrix products, and of the transforms of inputs
  /// and outputs, with all operands in the L2 cache.
  double products(const TileChoice &tile) const;
  double transforms() const;
  /// Returns the cycles for loading weights, and data that exceeds the L2
  /// cache, from beyond that cache.
  double transfers(const WinogradChoice &choice) const;
  /// Return the cycles of the product of a point with a register tile, and the
  /// register tiles, best first.
  double cyclesOfPoint(int64_t rows, const TileChoice &tile) const;
  std::vector<TileChoice> shapes() const;
  TileModel model(int64_t rows) const;
  DotModel dots(int64_t rows) const;
  double weightBytes() const;
  int64_t bytesOfBlock(const WinogradChoice &choice) const;
  /// Returns the number of work items: blocks of tiles times panels.
  int64_t unitsOf(const WinogradChoice &choice) const;
  int64_t partsOf(const WinogradChoice &choice) const;
  /// Returns the relative increase in time if two threads get unequal parts and
  /// one must wait.
  double waitOf(const WinogradChoice &choice) const;

  graph::Winograd form;
  const TargetDescription &target;
  mlir::Type type;
  /// The form of products of f16; none for f32.
  std::optional<DotForm> halves;
  int64_t channels, columns, images, down, across, panel, lanes;
};

/// Estimates the standard deviation of the error of results relative to that of
/// the results, for independent inputs of equal variance, if each operation has
/// an independent error of at most half a unit in the last place:
///
///   error^2 = u^2 * (channels / 6 + 4) * max over outputs (i, j), columns o of
///             sum over points (p, q), channels c of
///               output[i, p]^2 output[j, q]^2
///               |input[p]|^2 |input[q]|^2 U[p, q, c, o]^2
///
/// with U the transformed weights: the sum of each point has the rounding
/// errors of its terms and partial sums; results have the variance sum of w^2.
/// The largest error and the largest result over all columns count, since a
/// tolerance is a fraction of the range of the whole result. In f16, sums are
/// widened after a stage, whose steps count instead of the channels.
double winogradError(mlir::ElementsAttr weights, int64_t size, mlir::Type type,
                     const TargetDescription &target);
/// Whether the error is accepted.
bool isExactEnough(mlir::ElementsAttr weights, int64_t size, mlir::Type type,
                   const TargetDescription &target);

/// Estimates the cycles of the cheapest tiles that are exact enough for these
/// weights; nothing if there are none. `type` is that of the transformed inputs
/// and weights.
std::optional<double> winogradCycles(graph::ConvOp conv,
                                     mlir::ElementsAttr weights,
                                     const TargetDescription &target,
                                     mlir::Type type);

/// The largest winogradError that is accepted. Errors stay within five standard
/// deviations, and the largest result is at least one standard deviation of the
/// results, so that a layer's error is at most half of the tolerance of a
/// network, 1e-4 of the range.
inline constexpr double mostWinogradError = 1e-5;
/// The same for f16, in which a direct sum has errors of about 2e-3.
inline constexpr double mostWinogradErrorOfHalves = 1e-2;

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H
