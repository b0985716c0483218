// Tests the parts of the quantizer that do not run a model.

#include "catch2/catch.hpp"
#include "compiler/quantize/RoundWeights.h"
#include "compiler/quantize/Statistics.h"

#include <cmath>
#include <random>

using namespace ingot::quantize;

static Weight matrix(int64_t rows, int64_t depth) {
  Weight weight;
  weight.kind = WeightKind::MatMul;
  weight.axis = 1;
  weight.rows = rows;
  weight.depth = depth;
  weight.shape = {depth, rows};
  return weight;
}

TEST_CASE("weights by rows and back") {
  Weight weight = matrix(3, 4);
  std::vector<float> numbers(12);
  for (int i = 0; i < 12; ++i)
    numbers[i] = float(i);
  std::vector<float> rows = weight.byRows(numbers);
  CHECK(rows[0] == 0);
  CHECK(rows[1] == 3);
  CHECK(weight.asConstant(rows) == numbers);
}

TEST_CASE("a histogram knows what a range cuts off") {
  Histogram histogram;
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(float(i) / 1000);
  values.push_back(10);
  histogram.add(values, {1, 1001});
  CHECK(histogram.highest() == 10);
  CHECK(histogram.lowest() == 0);
  CHECK(histogram.loss(0, 10, 0) == Approx(0).margin(1e-3));
  CHECK(histogram.loss(0, 1, 0) == Approx(81).epsilon(0.01));
  // The histogram is widened for a sample with a range a thousand times as
  // wide.
  histogram.add({-10000.0f}, {1, 1});
  CHECK(histogram.lowest() == -10000);
  CHECK(histogram.loss(-1e5, 1e5, 0) == 0);
}

TEST_CASE("extremes of samples that were not seen") {
  Extremes equal, varied;
  for (int i = 0; i < 16; ++i) {
    equal.add(6);
    varied.add(1 + float(i) / 4);
  }
  CHECK(equal.lossBeyond(6) == 0);
  CHECK(equal.expected() == 6);
  CHECK(varied.expected() > 4.75);
  CHECK(varied.lossBeyond(5) > 0);
  CHECK(varied.lossBeyond(5) > varied.lossBeyond(10));
}

/// Returns the largest sum of magnitudes of weights of one sign whose products
/// are summed in 16 bits: columns k, k + 1, k + 4 and k + 5 of a row.
static int largestShortSum(const Weight &weight) {
  int largest = 0;
  for (int64_t k = 0; k < weight.elements(); k += k % 4 ? 6 : 2) {
    int sums[2] = {};
    for (int64_t i : {k, k + 1, k + 4, k + 5}) {
      int value = weight.values[i];
      sums[value < 0] += std::abs(value);
    }
    largest = std::max({largest, sums[0], sums[1]});
  }
  return largest;
}

TEST_CASE("weights of 7 bits are reduced if few sums exceed 16 bits") {
  std::mt19937 generator(5);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(-1, 1);
  const int64_t rows = 4, depth = 8192;
  Weight weight = matrix(rows, depth);
  setBits(weight, 7);
  std::vector<float> numbers(rows * depth);
  for (float &number : numbers)
    number = normal(generator);
  for (int64_t i : {16, 17, 20, 21})
    numbers[i] = -1.75f;
  roundWeight(weight, numbers, nullptr);
  CHECK(largestShortSum(weight) == 128);
  // So many sums of evenly distributed weights do that the rounding error would
  // grow noticeably.
  for (float &number : numbers)
    number = uniform(generator);
  roundWeight(weight, numbers, nullptr);
  CHECK(largestShortSum(weight) > 128);
}

TEST_CASE("rounding by moments loses less of the product") {
  std::mt19937 generator(11);
  std::normal_distribution<float> normal;
  const int64_t rows = 8, depth = 64, samples = 400;
  // Large means must not reduce the precision of the deviations from them.
  for (auto [bits, mean] : {std::pair(8, 1.0f), {4, 1.0f}, {8, 5000.0f}}) {
    Weight weight = matrix(rows, depth);
    setBits(weight, bits);
    std::vector<float> numbers(rows * depth);
    for (float &number : numbers)
      number = normal(generator);
    // The columns of the samples are correlated and have the same mean.
    std::vector<std::vector<float>> vectors(samples, std::vector<float>(depth));
    Moments moments(weight, samples);
    for (std::vector<float> &vector : vectors) {
      float common = normal(generator);
      for (int64_t c = 0; c < depth; ++c)
        vector[c] = mean + common * (c % 4) + 0.3f * normal(generator);
      onnx::NodeProto node;
      moments.add(node, vector, {1, depth});
    }
    moments.finish();
    auto lossOf = [&](const std::vector<float> &lost) {
      std::vector<float> rounded = weight.dequantized();
      double loss = 0;
      for (const std::vector<float> &vector : vectors)
        for (int64_t r = 0; r < rows; ++r) {
          double error = lost[r];
          for (int64_t c = 0; c < depth; ++c)
            error += (rounded[r * depth + c] - numbers[r * depth + c]) *
                     double(vector[c]);
          loss += error * error;
        }
      return loss;
    };
    double nearest = lossOf(roundWeight(weight, numbers, nullptr));
    double fitted = lossOf(roundWeight(weight, numbers, &moments));
    CHECK(fitted < nearest / 4);
  }
}
