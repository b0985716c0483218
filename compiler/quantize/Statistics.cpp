#include "compiler/quantize/Statistics.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace ingot::quantize {

/// The tail distribution is fitted to the values above a threshold; this is the
/// largest number of these values.
static constexpr size_t mostAbove = 32;

void Extremes::add(float largest) {
  // Only the largest values are kept, since there is one Extremes object per
  // channel of each tensor.
  constexpr size_t kept = mostAbove + 1;
  if (values.size() == 2 * kept) {
    std::nth_element(values.begin(), values.begin() + kept, values.end(),
                     std::greater<float>());
    values.resize(kept);
  }
  if (values.capacity() == 0)
    values.reserve(2 * kept);
  values.push_back(largest);
  ++count;
}

void Extremes::fit() const {
  if (fitted == count)
    return;
  fitted = count;
  std::vector<float> sorted = values;
  llvm::sort(sorted, std::greater<float>());
  above = std::max<size_t>(std::min(count / 2, mostAbove), 1);
  threshold = above < sorted.size() ? sorted[above] : 0;
  excess = 0;
  for (size_t i = 0; i < above; ++i)
    excess += (sorted[i] - threshold) / double(above);
}

double Extremes::expected() const {
  fit();
  return threshold + excess * std::log(10 * double(above));
}

double Extremes::lossBeyond(double end) const {
  fit();
  // If the largest values are equal, no tail can be extrapolated.
  if (excess <= 0)
    return 0;
  return double(above) * std::exp(-std::max(end - threshold, 0.0) / excess) *
         2 * excess * excess;
}

/// Returns the channel axis of a tensor: the second for images, else the last.
static size_t channelAxis(llvm::ArrayRef<int64_t> shape) {
  return shape.size() >= 4 ? 1 : shape.size() - 1;
}

void Histogram::widen(float wanted) {
  if (bins.empty()) {
    bins.assign(binCount, 0);
    reach = std::exp2(std::floor(std::log2(wanted)) + 1);
    return;
  }
  while (reach <= wanted) {
    std::vector<uint32_t> wider(binCount, 0);
    for (int i = 0; i < binCount; ++i)
      wider[binCount / 4 + i / 2] += bins[i];
    bins.swap(wider);
    reach *= 2;
  }
}

void Histogram::add(llvm::ArrayRef<float> values,
                    llvm::ArrayRef<int64_t> shape) {
  size_t channels = 1, inner = values.size();
  // An axis with more elements than this holds positions rather than channels.
  constexpr int64_t mostChannels = 4096;
  if (!shape.empty() && shape[channelAxis(shape)] <= mostChannels) {
    channels = shape[channelAxis(shape)];
    inner = 1;
    for (size_t d = channelAxis(shape) + 1; d < shape.size(); ++d)
      inner *= shape[d];
  }
  std::vector<float> least(channels, 0), most(channels, 0);
  for (size_t at = 0; at < values.size(); at += inner) {
    float &channelLeast = least[at / inner % channels],
          &channelMost = most[at / inner % channels];
    for (float value : values.slice(at, inner)) {
      channelLeast = std::min(channelLeast, value);
      channelMost = std::max(channelMost, value);
      // `finite` also becomes false for NaN, for which the comparison is false.
      finite &= std::abs(value) <= 1e30f;
    }
  }
  if (!finite || values.empty())
    return;
  lows.resize(channels);
  highs.resize(channels);
  for (size_t c = 0; c < channels; ++c) {
    lows[c].add(-least[c]);
    highs[c].add(most[c]);
    low = std::min(low, least[c]);
    high = std::max(high, most[c]);
  }
  float largest = std::max(-low, high);
  if (largest > 0 && (bins.empty() || largest >= reach))
    widen(largest);
  total += values.size();
  double scale = bins.empty() ? 0 : 1 / width();
  for (float value : values) {
    if (value == 0) {
      ++zeros;
      continue;
    }
    int bin = int((double(value) + reach) * scale);
    ++bins[std::min(std::max(bin, 0), binCount - 1)];
  }
}

double Histogram::unseenLoss(double from, double to) const {
  double lost = 0;
  for (const Extremes &channel : lows)
    lost += channel.lossBeyond(-from);
  for (const Extremes &channel : highs)
    lost += channel.lossBeyond(to);
  return lost;
}

double Histogram::loss(double from, double to, double step) const {
  double lost = 0, inside = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    if (!bins[i])
      continue;
    double value = (double(i) + 0.5) * width() - reach;
    double over = value > to ? value - to : value < from ? from - value : 0;
    if (over > 0)
      lost += bins[i] * over * over;
    else
      inside += bins[i];
  }
  return lost + inside * step * step / 12;
}

void ChannelStatistics::add(llvm::ArrayRef<float> values,
                            llvm::ArrayRef<int64_t> shape, int axis) {
  if (axis < 0)
    axis += shape.size();
  size_t channels = shape[axis], inner = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d)
    inner *= shape[d];
  largest.resize(channels);
  extremes.resize(channels);
  sum.resize(channels);
  squares.resize(channels);
  if (values.empty())
    return;
  count += values.size() / channels;
  std::vector<float> own(channels, 0);
  for (size_t at = 0; at < values.size(); at += inner) {
    size_t c = at / inner % channels;
    double most = own[c], total = 0, square = 0;
    for (float value : values.slice(at, inner)) {
      most = std::max(most, std::abs(double(value)));
      total += value;
      square += double(value) * value;
    }
    own[c] = float(most);
    sum[c] += total;
    squares[c] += square;
  }
  for (size_t c = 0; c < channels; ++c) {
    extremes[c].add(own[c]);
    largest[c] = std::max(largest[c], double(own[c]));
  }
}

} // namespace ingot::quantize
