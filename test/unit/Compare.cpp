// Tests which outputs are considered equal.

#include "compiler/run/Compare.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace mlir;
using namespace ingot;

namespace {
/// Returns a vector of f32 or of signed integers.
template <typename Element>
Tensor vectorOf(MLIRContext &context, std::vector<Element> values) {
  Builder b(&context);
  Type type = std::is_same_v<Element, float>
                  ? Type(b.getF32Type())
                  : Type(b.getIntegerType(8 * sizeof(Element), true));
  Tensor tensor;
  tensor.type = RankedTensorType::get({int64_t(values.size())}, type);
  tensor.bytes.resize(values.size() * sizeof(Element));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}
} // namespace

TEST_CASE("a float near zero may be off by a part of the range", "[run]") {
  MLIRContext context;
  Tensor want = vectorOf<float>(context, {-5, 5, 1e-6f});
  Tensor near = vectorOf<float>(context, {-5, 5, 6e-5f});
  Tensor far = vectorOf<float>(context, {-5, 5, 2e-4f});
  Tolerance ofRange;
  ofRange.ofRange = 1e-5;
  CHECK(compare(near, want, ofRange).same());
  CHECK(compare(far, want, ofRange).firstWrong == 2);
  // If the data set specifies its tolerance, no tolerance is relative to the
  // range, so the small error counts.
  CHECK(compare(near, want, Tolerance()).firstWrong == 2);
}

TEST_CASE("the range is that of finite values", "[run]") {
  MLIRContext context;
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(rangeOf(vectorOf<float>(context, {-1, infinity, 3, NAN})) == 4);
  CHECK(rangeOf(vectorOf<float>(context, {7})) == 0);
  Tolerance ofRange;
  ofRange.ofRange = 1e-5;
  Tensor want = vectorOf<float>(context, {infinity, 0});
  CHECK(compare(want, want, ofRange).same());
  CHECK(compare(vectorOf<float>(context, {1e30f, 0}), want, ofRange).wrong ==
        1);
}

TEST_CASE("integers of more than 16 bits must be equal", "[run]") {
  MLIRContext context;
  Tolerance wide{1e-1, 2, 1e-1};
  CHECK(compare(vectorOf<int32_t>(context, {1000000}),
                vectorOf<int32_t>(context, {1000001}), wide)
            .wrong == 1);
  // Integers that are equal as doubles.
  constexpr int64_t large = int64_t(1) << 61;
  Tensor want = vectorOf<int64_t>(context, {large, large + 1});
  CHECK(compare(want, want, wide).same());
  CHECK(compare(vectorOf<int64_t>(context, {large, large}), want, wide)
            .firstWrong == 1);
  CHECK(want.text(1) == "2305843009213693953");
  // Narrow integers, as of quantized models, have the tolerance of the data set.
  Tensor bytes = vectorOf<int8_t>(context, {-100, 50});
  CHECK(compare(vectorOf<int8_t>(context, {-99, 50}), bytes, wide).same());
  CHECK(compare(vectorOf<int8_t>(context, {-99, 50}), bytes, Tolerance())
            .firstWrong == 0);
}

TEST_CASE("integers have no part of a range", "[run]") {
  MLIRContext context;
  Tensor want = vectorOf<int32_t>(context, {-1000000, 1000000, 3});
  Tensor got = vectorOf<int32_t>(context, {-1000000, 1000000, 4});
  Tolerance ofRange;
  ofRange.ofRange = 1e-5;
  CHECK(compare(got, want, ofRange).wrong == 1);
}
