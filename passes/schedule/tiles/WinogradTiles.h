// Which blocks of tiles Winograd's algorithm takes together, what they cost, and how
// exact its results are.
//
// A block of tiles goes through three steps: its inputs are sampled at all points,
// multiplied by the weights as one matrix product for each point, and put together.
// What is between the steps stays in the second cache where that is possible.

#ifndef INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H

#include "dialects/graph/ops/Winograd.h"
#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Whether windows of floats are of 3 x 3 neighbours, one apart.
bool hasWinogradForm(graph::ConvOp conv);
/// Whether the target has what its tiles need: code for vectors of channels takes many
/// registers, and code for the last few channels would be as long again.
bool suitsWinograd(graph::ConvOp conv, const TargetDescription &target);

/// How a convolution is computed by Winograd's algorithm.
struct WinogradChoice {
  /// Outputs of a tile along each axis.
  int64_t size = 0;
  /// The register tile of the products.
  TileChoice tile;
  /// Tiles of a block, a multiple of the register tile's rows; threads divide the
  /// work in so many parts.
  int64_t block = 0, parts = 1;
  double cycles = 0;
};

/// Cycles that reading weights of so many bytes for the first time adds to `products`
/// cycles: each panel is fetched while the one before is multiplied, which hides the most.
double cyclesOfFirstRead(double bytes, double products,
                         const TargetDescription &target);

class WinogradTiles {
public:
  /// `panel`: the columns that the weights are packed in, 0 if they are not.
  WinogradTiles(graph::ConvOp conv, int64_t size,
                const TargetDescription &target, int64_t panel = 0);

  /// The choices that fit, the best one first; at least one for packed weights.
  std::vector<WinogradChoice> ranked(bool divides) const;
  /// Estimates the cycles of one thread.
  double cycles(const WinogradChoice &choice) const;
  /// Those of them that the first reads of weights add.
  double firstRead(const WinogradChoice &choice) const;
  /// The tiles of all images.
  int64_t tiles() const { return images * down * across; }
  int64_t panels(int64_t columns) const;

private:
  /// Cycles that the three steps take, with all operands in the second cache.
  double products(const TileChoice &tile) const;
  double transforms() const;
  /// Cycles in which weights, and what does not fit into the second cache, come from
  /// behind it.
  double transfers(const WinogradChoice &choice) const;
  TileModel model(int64_t rows) const;
  double weightBytes() const;
  int64_t bytesOfBlock(const WinogradChoice &choice) const;
  /// Blocks of tiles, and panels of them.
  int64_t unitsOf(const WinogradChoice &choice) const;
  int64_t partsOf(const WinogradChoice &choice) const;
  /// What the time grows by where two threads do not have equal parts, and one of them
  /// waits.
  double waitOf(const WinogradChoice &choice) const;

  graph::Winograd form;
  const TargetDescription &target;
  mlir::Type type;
  int64_t channels, columns, images, down, across, panel, lanes;
};

/// Estimates the standard deviation of the error of results, relative to that of the
/// results, where inputs are independent and of one variance, and each operation is
/// off by an independent error of at most half a unit in the last place:
///
///   error^2 = u^2 * (channels / 6 + 4) * max over outputs (i, j), columns o of
///             sum over points (p, q), channels c of
///               output[i, p]^2 output[j, q]^2 |input[p]|^2 |input[q]|^2 U[p, q, c, o]^2
///
/// with U the sampled weights: each point's sum is off by what its terms and the
/// partial sums of them are rounded by; results have the variance sum of w^2. Of the
/// columns, the largest error and the largest result count, since a bound is a share
/// of the range of the whole result.
double winogradError(mlir::ElementsAttr weights, int64_t size);

/// Estimates the cycles of the cheapest tiles that are exact enough for these weights;
/// nothing where there are none.
std::optional<double> winogradCycles(graph::ConvOp conv,
                                     mlir::ElementsAttr weights,
                                     const TargetDescription &target);

/// The largest of these errors that is admitted. Errors are within five standard
/// deviations, and the largest result is one standard deviation of the results at
/// least: a layer is off by half of the 1e-4 of the range that a network may be.
inline constexpr double mostWinogradError = 1e-5;

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_WINOGRADTILES_H
