// Statistics of the values of a tensor, gathered sample by sample.

#ifndef INGOT_COMPILER_QUANTIZE_STATISTICS_H
#define INGOT_COMPILER_QUANTIZE_STATISTICS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace ingot::quantize {

/// Collects the largest value of each sample, and estimates the largest values
/// of unseen samples.
class Extremes {
public:
  void add(float largest);
  /// Returns the largest value expected among ten times as many samples as were
  /// added.
  double expected() const;
  /// Returns the expected sum of squared errors if values beyond `end` are
  /// clipped, for as many samples as were added.
  double lossBeyond(double end) const;

private:
  /// Fits an exponential tail to the extremes above a high threshold, which is
  /// appropriate for most distributions.
  void fit() const;
  /// The largest of the `count` values that were added, in any order.
  std::vector<float> values;
  size_t count = 0;
  mutable size_t fitted = 0, above = 0;
  mutable double threshold = 0, excess = 0;
};

/// A histogram with bins of equal width, symmetric about zero; the width
/// doubles when a value does not fit. Zeros are counted separately, since every
/// scale represents them exactly.
class Histogram {
public:
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape);

  float lowest() const { return low; }
  float highest() const { return high; }
  uint64_t count() const { return total; }
  bool hasOnlyNumbers() const { return finite; }

  /// Returns the expected loss for unseen samples if values outside of [low,
  /// high] are clipped: the sum of squared errors, for as many samples as were
  /// added.
  double unseenLoss(double low, double high) const;

  /// Returns the estimated sum of squared errors if values from `low` to `high`
  /// are rounded to multiples of `step`, and all other values are clipped.
  double loss(double low, double high, double step) const;

private:
  static constexpr int binCount = 16384;
  void widen(float reach);
  double width() const { return 2 * double(reach) / binCount; }
  std::vector<uint32_t> bins;
  float reach = 0, low = 0, high = 0;
  uint64_t zeros = 0, total = 0;
  /// Per channel: the extremes of the magnitudes of negative values, and of the
  /// positive values.
  std::vector<Extremes> lows, highs;
  bool finite = true;
};

/// The largest magnitude, the sum and the sum of squares of each channel along
/// an axis.
class ChannelStatistics {
public:
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape,
           int axis);
  std::vector<double> largest, sum, squares;
  std::vector<Extremes> extremes;
  /// The number of values per channel.
  uint64_t count = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_STATISTICS_H
