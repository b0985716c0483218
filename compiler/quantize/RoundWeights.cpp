// Rounds weights using second moments.
//
// With the covariance H of the operand, replacing the weights w of a row by
// integers q costs (w - q) H (w - q)^T. With H = (I + U) D (I + U)^T, U
// strictly upper triangular, the cost is a sum of squares if the columns are
// rounded one after the other and each receives the errors of the previous
// ones:
//
//     q[k] = round(w[k] + sum over j < k of (w[j] - q[j]) U[j][k])
//
// The algorithm needs neither gradients nor iterations. The most important
// columns are rounded first.

#include "compiler/quantize/RoundWeights.h"

#include <cmath>
#include <cstring>
#include <numeric>

using llvm::ArrayRef;
using llvm::MutableArrayRef;

namespace ingot::quantize {

/// An attribute that compiles a function for several instruction sets;
/// CMakeLists.txt defines it where compilers support it.
#ifndef INGOT_VECTORIZED
#define INGOT_VECTORIZED
#endif

/// The share of the mean variance that is added to the variance of each column:
/// otherwise the weights of columns that hardly varied in the calibration data
/// would become arbitrary.
static constexpr double damping = 0.01;

/// Returns a dot product, computed in several partial sums that compilers can
/// vectorize.
INGOT_VECTORIZED static float dot(const float *a, const float *b, int64_t n) {
  constexpr int lanes = 32;
  float sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l)
      sums[l] += a[i + l] * b[i + l];
  for (int half = lanes / 2; half; half /= 2)
    for (int l = 0; l < half; ++l)
      sums[l] += sums[l + half];
  float total = sums[0];
  for (; i < n; ++i)
    total += a[i] * b[i];
  return total;
}

/// Replaces `matrix` (n by n) by its lower Cholesky factor. `least` has been
/// added to all variances, so smaller pivots are rounding errors; they are
/// raised to `least`, since rows are divided by them.
static void factorize(MutableArrayRef<float> matrix, int64_t n, float least) {
  for (int64_t i = 0; i < n; ++i) {
    float *row = &matrix[i * n];
    for (int64_t j = 0; j < i; ++j) {
      const float *other = &matrix[j * n];
      row[j] = (row[j] - dot(row, other, j)) / other[j];
    }
    float rest = row[i] - dot(row, row, i);
    row[i] = std::sqrt(std::max(rest, least));
  }
}

namespace {
/// The factors by which the rounding error of each column changes the columns
/// that are rounded later.
struct Feedback {
  /// Columns in the order in which they are rounded.
  std::vector<int64_t> order;
  /// Row k contains the multipliers U[0..k-1][k] of the previous columns'
  /// errors (see the head of this file), with rows and columns in the order of
  /// `order`.
  std::vector<float> factors;
  /// D[k]: the cost of an error of column k that later columns cannot
  /// compensate.
  std::vector<float> costs;

  Feedback(ArrayRef<float> covariance, int64_t n) : order(n) {
    std::iota(order.begin(), order.end(), 0);
    auto variance = [&](int64_t i) { return covariance[i * n + i]; };
    llvm::stable_sort(
        order, [&](int64_t a, int64_t b) { return variance(a) > variance(b); });
    double trace = 0;
    for (int64_t i = 0; i < n; ++i)
      trace += variance(i);
    float damp = float(damping * trace / n + 1e-12);
    // The covariances are stored with the columns in reverse order, so that the
    // factor of the matrix is lower triangular.
    factors.assign(n * n, 0);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j)
        factors[i * n + j] =
            covariance[order[n - 1 - i] * n + order[n - 1 - j]] +
            (i == j ? damp : 0);
    factorize(factors, n, damp);
    // Reverses the order of columns in place: row k then contains the
    // multipliers of column k and its divisor.
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; i + j < n - 1; ++j)
        std::swap(factors[i * n + j], factors[(n - 1 - j) * n + n - 1 - i]);
    for (int64_t k = 0; k < n; ++k) {
      float own = factors[k * n + k];
      costs.push_back(own * own);
      for (int64_t j = 0; j < k; ++j)
        factors[k * n + j] /= own;
    }
  }
};

/// The numbers that a row or block of a weight can have: (integer - zero) *
/// scale for the integers from `least` to `most`.
struct Grid {
  float scale = 1;
  int zero = 0, least = -127, most = 127;

  int nearest(float value) const {
    float rounded = std::nearbyint(value / scale) + float(zero);
    return int(std::min(std::max(rounded, float(least)), float(most)));
  }
  float value(int integer) const { return float(integer - zero) * scale; }
};
} // namespace

/// Returns the grid for values in the range [low * part, high * part].
static Grid gridOf(float low, float high, float part, int bits) {
  Grid grid;
  low = std::min(low * part, 0.0f);
  high = std::max(high * part, 0.0f);
  if (bits > 4) {
    grid.most = largestInteger(bits);
    grid.least = -grid.most;
    grid.scale = std::max(-low, high) / float(grid.most);
  } else {
    grid.least = 0;
    grid.most = (1 << bits) - 1;
    grid.scale = (high - low) / float(grid.most);
    if (grid.scale > 0)
      grid.zero = int(std::nearbyint(-low / grid.scale));
  }
  // Replaces the scale of a row of zeros, and avoids a denormal scale.
  if (!(grid.scale > 1e-30f))
    grid.scale = 1;
  return grid;
}

/// Returns the grid with the least rounding loss for a row or block of weights:
/// the sum of the squared errors, each multiplied by the importance of the
/// weight.
static Grid chooseGrid(ArrayRef<float> numbers, ArrayRef<float> importance,
                       int bits) {
  float low = 0, high = 0;
  for (float number : numbers) {
    low = std::min(low, number);
    high = std::max(high, number);
  }
  Grid best;
  double least = INFINITY;
  float smallest = bits > 4 ? 0.8f : 0.5f;
  for (float part = 1; part >= smallest; part -= 0.025f) {
    Grid grid = gridOf(low, high, part, bits);
    double loss = 0;
    for (auto [number, weight] : llvm::zip(numbers, importance)) {
      double error = number - grid.value(grid.nearest(number));
      loss += error * error * weight;
    }
    if (loss < least) {
      least = loss;
      best = grid;
    }
  }
  return best;
}

/// Calls `visit` with the columns of a row of four weights each, whose products
/// are summed in 16 bits: two adjacent input channels, and those four channels
/// later (kShortSumsAttr). Calls nothing for weights that have other sums.
static void forShortSums(const Weight &weight,
                         llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  bool isConv = weight.kind == WeightKind::Conv;
  bool isMultiplied = isConv || weight.kind == WeightKind::Gemm ||
                      weight.kind == WeightKind::MatMul;
  if (!isMultiplied || weight.groups != 1)
    return;
  int64_t taps = 1;
  for (size_t d = 2; isConv && d < weight.shape.size(); ++d)
    taps *= weight.shape[d];
  int64_t channels = weight.depth / taps;
  for (int64_t c = 0; channels % 8 == 0 && c < channels; c += 8)
    for (int64_t pair : {c, c + 2})
      for (int64_t tap = 0; tap < taps; ++tap)
        visit({pair * taps + tap, (pair + 1) * taps + tap,
               (pair + 4) * taps + tap, (pair + 5) * taps + tap});
}

/// Reduces the magnitudes of weights of 7 bits so that the products of four
/// weights (forShortSums) fit into 16 bits, if this adds less than a quarter
/// to the squared rounding error. Calls `reduced(row, column)` for each step of
/// 1 by which a weight is reduced.
static void limitShortSums(Weight &weight,
                           llvm::function_ref<void(int64_t, int64_t)> reduced) {
  constexpr int largest = 128;
  constexpr double share = 0.25, ofRounding = 1.0 / 12;
  if (weight.bits != 7)
    return;
  std::vector<std::pair<int64_t, int64_t>> steps;
  std::vector<int8_t> values = weight.values;
  double added = 0;
  for (int64_t r = 0; r < weight.rows; ++r)
    forShortSums(weight, [&](ArrayRef<int64_t> columns) {
      for (int sign : {1, -1}) {
        auto magnitude = [&](int64_t c) {
          return std::max(sign * values[r * weight.depth + c], 0);
        };
        int sum = 0;
        for (int64_t c : columns)
          sum += magnitude(c);
        for (; sum > largest; --sum) {
          int64_t most = *llvm::max_element(columns, [&](int64_t a, int64_t b) {
            return magnitude(a) < magnitude(b);
          });
          int8_t &value = values[r * weight.depth + most];
          int before = value - weight.values[r * weight.depth + most];
          value = int8_t(value - sign);
          added += 2 * std::abs(before) + 1;
          steps.push_back({r, most});
        }
      }
    });
  if (added > share * ofRounding * double(weight.elements()))
    return;
  for (auto [row, column] : steps)
    reduced(row, column);
  weight.values = values;
}

std::vector<float> roundWeight(Weight &weight, ArrayRef<float> numbers,
                               const Moments *moments) {
  if (moments && moments->empty())
    moments = nullptr;
  int64_t depth = weight.depth, blocks = weight.blocks(),
          length = weight.block ? weight.block : depth;
  weight.values.assign(weight.elements(), 0);
  weight.scales.assign(weight.rows * blocks, 1);
  weight.zeroPoints.assign(weight.isInt8() ? 0 : weight.rows * blocks, 0);
  std::vector<Grid> grids(weight.rows * blocks);
  int64_t rowsOfGroup = weight.rows / weight.groups;
  std::vector<float> importance(depth, 1);
  double power = 0;
  for (int64_t r = 0; r < weight.rows; ++r) {
    if (moments && r % rowsOfGroup == 0) {
      int64_t group = r / rowsOfGroup;
      double mean = 0;
      for (int64_t c = 0; c < depth; ++c) {
        int64_t part = c / moments->partDepth(), at = c % moments->partDepth();
        importance[c] =
            moments->covariance(group, part)[at * moments->columns(part) + at];
        mean += importance[c] / double(depth);
      }
      for (float &value : importance)
        value = float(std::max(double(value), 0.0) + damping * mean + 1e-12);
    }
    for (int64_t c = 0; c < depth; ++c)
      power += double(numbers[r * depth + c]) * numbers[r * depth + c] *
               importance[c];
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t count = std::min(length, depth - b * length);
      Grid &grid = grids[r * blocks + b];
      grid = chooseGrid(numbers.slice(r * depth + b * length, count),
                        ArrayRef(importance).slice(b * length, count),
                        weight.bits);
      weight.scales[r * blocks + b] = grid.scale;
      if (!weight.isInt8())
        weight.zeroPoints[r * blocks + b] = uint8_t(grid.zero);
    }
  }
  auto round = [&](int64_t row, int64_t column, float wanted) {
    const Grid &grid = grids[row * blocks + column / length];
    int integer = grid.nearest(wanted);
    weight.values[row * depth + column] = int8_t(integer);
    return grid.value(integer);
  };
  std::vector<float> lost(weight.rows, 0);
  double error = 0;
  if (!moments)
    for (int64_t r = 0; r < weight.rows; ++r)
      for (int64_t c = 0; c < depth; ++c) {
        float number = numbers[r * depth + c],
              off = number - round(r, c, number);
        error += off * off;
      }
  for (int64_t g = 0; moments && g < weight.groups; ++g)
    for (int64_t p = 0; p < moments->parts(); ++p) {
      int64_t n = moments->columns(p), first = p * moments->partDepth();
      Feedback feedback(moments->covariance(g, p), n);
      std::vector<float> errors(n);
      for (int64_t r = g * rowsOfGroup; r < (g + 1) * rowsOfGroup; ++r)
        for (int64_t k = 0; k < n; ++k) {
          int64_t column = first + feedback.order[k];
          float number = numbers[r * depth + column];
          float wanted =
              number + dot(errors.data(), &feedback.factors[k * n], k);
          float rounded = round(r, column, wanted);
          error += (wanted - rounded) * (wanted - rounded) * feedback.costs[k];
          errors[k] = number - rounded;
          lost[r] += float(errors[k] * moments->mean(g)[column]);
        }
    }
  limitShortSums(weight, [&](int64_t r, int64_t c) {
    float step = weight.scales[r];
    error += step * step * importance[c];
    if (moments)
      lost[r] += (weight.values[r * depth + c] > 0 ? step : -step) *
                 moments->mean(r / rowsOfGroup)[c];
  });
  weight.noise = error / std::max(power, 1e-30);
  return lost;
}

} // namespace ingot::quantize
