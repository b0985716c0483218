// Tests which outputs are considered equal.

#include "compiler/run/Compare.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace mlir;
using namespace ingot;

namespace {
/// Returns a vector of f32 or i32.
template <typename Element>
Tensor vectorOf(MLIRContext &context, std::vector<Element> values) {
  Builder b(&context);
  Type type = std::is_same_v<Element, float> ? Type(b.getF32Type())
                                             : Type(b.getI32Type());
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

TEST_CASE("integers have no part of a range", "[run]") {
  MLIRContext context;
  Tensor want = vectorOf<int32_t>(context, {-1000000, 1000000, 3});
  Tensor got = vectorOf<int32_t>(context, {-1000000, 1000000, 4});
  Tolerance ofRange;
  ofRange.ofRange = 1e-5;
  CHECK(compare(got, want, ofRange).wrong == 1);
}
