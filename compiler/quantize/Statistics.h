// What is known of the values of a tensor, gathered sample by sample.

#ifndef INGOT_COMPILER_QUANTIZE_STATISTICS_H
#define INGOT_COMPILER_QUANTIZE_STATISTICS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace ingot::quantize {

/// The largest value of each sample, and what is to be expected of others.
class Extremes {
public:
  void add(float largest);
  /// Returns the expected largest value of ten times as many samples.
  double expected() const;
  /// Returns the expected sum of the squares of what lies beyond `end`, for as
  /// many samples as were added.
  double lossBeyond(double end) const;

private:
  /// The extremes above a high threshold are taken to fall off exponentially,
  /// as those of most distributions do.
  void fit() const;
  /// The largest values, of `count` in all; the order does not matter.
  std::vector<float> values;
  size_t count = 0;
  mutable size_t fitted = 0, above = 0;
  mutable double threshold = 0, excess = 0;
};

/// How often values occur. Bins are of equal width, symmetric about zero; the
/// width doubles when a value does not fit. Zeros count apart: every scale has
/// them exactly.
class Histogram {
public:
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape);

  float lowest() const { return low; }
  float highest() const { return high; }
  uint64_t count() const { return total; }
  bool hasOnlyNumbers() const { return finite; }

  /// Returns what values of samples that were not seen are expected to lose, if
  /// ranges end at `low` and `high`: the sum of squares for as many samples as
  /// were added.
  double unseenLoss(double low, double high) const;

  /// Returns the sum of the squares of what is lost if values from `low` to
  /// `high` are given in equal steps, and others as the nearest end.
  double loss(double low, double high, double step) const;

private:
  static constexpr int binCount = 16384;
  void widen(float reach);
  double width() const { return 2 * double(reach) / binCount; }
  std::vector<uint32_t> bins;
  float reach = 0, low = 0, high = 0;
  uint64_t zeros = 0, total = 0;
  /// Of each channel: its values below zero, with the sign turned, and above.
  std::vector<Extremes> lows, highs;
  bool finite = true;
};

/// Largest magnitude, mean and mean square for each channel of an axis.
class ChannelStatistics {
public:
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape,
           int axis);
  std::vector<double> largest, sum, squares;
  std::vector<Extremes> extremes;
  /// Values of a channel.
  uint64_t count = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_STATISTICS_H
