// Tests Winograd's algorithm: its matrices, and the estimate of its rounding
// error.
#include "dialects/graph/ops/Winograd.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/schedule/tiles/WinogradTiles.h"

#include <catch2/catch.hpp>

#include <random>

using namespace ingot;
using namespace ingot::graph;
using namespace ingot::schedule;

/// Returns matrix * x, computed in type T.
template <typename T>
static std::vector<T> applied(const Winograd::Matrix &matrix,
                              const std::vector<T> &x) {
  std::vector<T> y;
  for (llvm::ArrayRef<double> row : matrix) {
    y.push_back(0);
    for (size_t i = 0; i < row.size(); ++i)
      y.back() += T(row[i]) * x[i];
  }
  return y;
}

/// Returns matrix * x * transposed matrix, where x is in row-major order.
template <typename T>
static std::vector<T> appliedTwice(const Winograd::Matrix &matrix,
                                   const std::vector<T> &x) {
  size_t columns = matrix.front().size(), rows = matrix.size();
  std::vector<T> half, whole(rows * rows);
  for (size_t i = 0; i < columns; ++i)
    for (T value :
         applied(matrix, std::vector<T>(x.begin() + i * columns,
                                        x.begin() + (i + 1) * columns)))
      half.push_back(value);
  for (size_t j = 0; j < rows; ++j) {
    std::vector<T> column;
    for (size_t i = 0; i < columns; ++i)
      column.push_back(half[i * rows + j]);
    std::vector<T> values = applied(matrix, column);
    for (size_t i = 0; i < rows; ++i)
      whole[i * rows + j] = values[i];
  }
  return whole;
}

static std::mt19937 &generator() {
  static std::mt19937 engine(7);
  return engine;
}

template <typename T> static std::vector<T> noise(size_t count) {
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (T &value : values)
    value = T(normal(generator()));
  return values;
}

TEST_CASE("Winograd's matrices compute windows of three", "[kernel]") {
  for (int64_t size : {2, 4}) {
    Winograd form(size);
    CHECK(form.points == size + 2);
    auto x = noise<double>(form.points), w = noise<double>(3);
    std::vector<double> values = applied(form.input, x),
                        ofWeights = applied(form.weights, w);
    for (int64_t i = 0; i < form.points; ++i)
      values[i] *= ofWeights[i];
    std::vector<double> y = applied(form.output, values);
    for (int64_t i = 0; i < size; ++i)
      CHECK(y[i] == Approx(x[i] * w[0] + x[i + 1] * w[1] + x[i + 2] * w[2]));
    // The weights can be computed from the transformed weights.
    std::vector<double> again = applied(form.restore, ofWeights);
    for (int64_t i = 0; i < 3; ++i)
      CHECK(again[i] == Approx(w[i]));
    // All factors of the input and output transforms are exact in float.
    for (const Winograd::Matrix *matrix : {&form.input, &form.output})
      for (llvm::ArrayRef<double> row : *matrix)
        for (double factor : row)
          CHECK(double(float(factor)) == factor);
  }
}

TEST_CASE("Winograd's factors of f16 cancel out", "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type half = mlir::Float16Type::get(&context),
             single = mlir::Float32Type::get(&context);
  for (int64_t size : {2, 4}) {
    Winograd form(size);
    CHECK(form.weightScale(single) == 1);
    CHECK(form.inputScale() * form.weightScale(half) * form.outputScale() == 1);
    CHECK(form.weightGain(half) ==
          form.weightGain(single) * form.weightScale(half));
  }
  // No sum of inputs is larger than the largest input.
  CHECK(Winograd(2).inputScale() == 1.0 / 4);
  CHECK(Winograd(4).inputScale() == 1.0 / 64);
  CHECK(Winograd(2).outputScale() == 1);
  CHECK(Winograd(4).outputScale() == 4);
}

/// Returns the weights [3, 3, channels, 1].
static mlir::ElementsAttr weightsOf(mlir::MLIRContext &context,
                                    llvm::ArrayRef<float> values) {
  auto type = mlir::RankedTensorType::get({3, 3, int64_t(values.size()) / 9, 1},
                                          mlir::Float32Type::get(&context));
  return mlir::DenseElementsAttr::get(type, values);
}

/// Returns the standard deviation of the error in float32, relative to that of
/// the results.
static double measuredError(int64_t size, int64_t channels,
                            llvm::ArrayRef<float> w) {
  Winograd form(size);
  int64_t points = form.points;
  double error = 0, result = 0;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<float> products(points * points, 0);
    std::vector<double> exact(size * size, 0);
    for (int64_t c = 0; c < channels; ++c) {
      auto x = noise<float>(points * points);
      std::vector<float> kernel;
      for (int64_t tap = 0; tap < 9; ++tap)
        kernel.push_back(w[tap * channels + c]);
      std::vector<float> a = appliedTwice(form.input, x),
                         b = appliedTwice(form.weights, kernel);
      for (int64_t i = 0; i < points * points; ++i)
        products[i] = std::fma(a[i], b[i], products[i]);
      for (int64_t i = 0; i < size * size; ++i)
        for (int64_t tap = 0; tap < 9; ++tap)
          exact[i] +=
              double(x[(i / size + tap / 3) * points + i % size + tap % 3]) *
              double(kernel[tap]);
    }
    std::vector<float> y = appliedTwice(form.output, products);
    // Measures the last element of an output tile, which has the largest error.
    double last = double(y.back()) - exact.back();
    error += last * last;
    result += exact.back() * exact.back();
  }
  return std::sqrt(error / result);
}

/// Returns winogradError for these weights in f32.
static double errorOf(mlir::ElementsAttr weights, int64_t size) {
  return winogradError(weights, size,
                       mlir::Float32Type::get(weights.getContext()),
                       *lookupTarget("generic"));
}

TEST_CASE("the estimate of Winograd's errors is near and above them",
          "[kernel]") {
  mlir::MLIRContext context;
  for (int64_t size : {2, 4})
    for (int64_t channels : {8, 64, 512}) {
      INFO("size " << size << ", " << channels << " channels");
      auto w = noise<float>(9 * channels);
      double estimate = errorOf(weightsOf(context, w), size),
             measured = measuredError(size, channels, w);
      CHECK(measured < estimate);
      CHECK(estimate < 4 * measured);
    }
}

TEST_CASE("Winograd's errors do not depend on the scale of the weights",
          "[kernel]") {
  mlir::MLIRContext context;
  auto w = noise<float>(9 * 32);
  double error = errorOf(weightsOf(context, w), 4);
  for (float &value : w)
    value *= 0x1p40f;
  CHECK(errorOf(weightsOf(context, w), 4) == Approx(error));
  for (float &value : w)
    value = 0;
  CHECK(errorOf(weightsOf(context, w), 4) == 0);
  // Large tiles are less accurate than small ones, and smooth weights have a
  // larger error than random ones.
  w = noise<float>(9 * 32);
  CHECK(errorOf(weightsOf(context, w), 2) < errorOf(weightsOf(context, w), 4));
  double ofNoise = errorOf(weightsOf(context, w), 4);
  std::fill(w.begin(), w.end(), 1.0f);
  CHECK(errorOf(weightsOf(context, w), 4) > ofNoise);
}

TEST_CASE("Winograd's algorithm rounds to bf16 in small tiles only",
          "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type type = mlir::BFloat16Type::get(&context);
  const TargetDescription &target = *lookupTarget("armv8.2-a+bf16");
  mlir::ElementsAttr weights = weightsOf(context, noise<float>(9 * 32));
  // The error of direct sums of inputs and weights that are rounded to bf16, by
  // the same estimate.
  double direct = 0x1p-8 * std::sqrt(2.0 / 3);
  CHECK(winogradError(weights, 2, type, target) > direct);
  CHECK(winogradError(weights, 2, type, target) < 2.5 * direct);
  CHECK(isExactEnough(weights, 2, type, target));
  CHECK(!isExactEnough(weights, 4, type, target));
}
