// Tests operators on values for which definitions tend to be wrong: signed
// zeros, infinities, NaN, the limits of ranges; for every numeric type,
// compared with the C library. The values are computed in the same way as
// constants are folded: by the generated code.

#include "compiler/Pipeline.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "passes/evaluate/Evaluate.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace mlir;
using namespace ingot::graph;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Values {
  Values() { ingot::loadPipelineDialects(context); }

  Type type(const std::string &text) { return parseType(text, &context); }

  /// Returns `numbers`, rounded to the type `element`, as a constant vector.
  static DenseElementsAttr vectorOf(ArrayRef<double> numbers, Type element) {
    auto type =
        RankedTensorType::get({static_cast<int64_t>(numbers.size())}, element);
    if (auto floats = dyn_cast<FloatType>(element)) {
      SmallVector<APFloat> values;
      for (double number : numbers) {
        APFloat value(number);
        bool losesInfo;
        value.convert(floats.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &losesInfo);
        values.push_back(value);
      }
      return DenseElementsAttr::get(type, values);
    }
    SmallVector<APInt> values;
    for (double number : numbers)
      values.emplace_back(
          element.getIntOrFloatBitWidth(),
          number < 0 ? static_cast<uint64_t>(static_cast<int64_t>(number))
                     : static_cast<uint64_t>(number),
          false, /*implicitTrunc=*/true);
    return DenseElementsAttr::get(type, values);
  }

  static std::vector<double> numbersOf(ElementsAttr value) {
    std::vector<double> numbers;
    auto dense = cast<DenseElementsAttr>(value);
    Type element = dense.getElementType();
    if (isa<FloatType>(element)) {
      for (APFloat x : dense.getValues<APFloat>()) {
        bool losesInfo;
        x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
        numbers.push_back(x.convertToDouble());
      }
      return numbers;
    }
    for (const APInt &x : dense.getValues<APInt>())
      numbers.push_back(x.roundToDouble(element.isSignedInteger()));
    return numbers;
  }

  /// Evaluates `op`, such as "graph.gelu {approximate = \"tanh\"}", on constant
  /// vectors.
  std::vector<double> evaluate(const std::string &op,
                               ArrayRef<DenseElementsAttr> operands,
                               RankedTensorType result) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    OperationState state(
        builder.getUnknownLoc(),
        StringRef(op).take_until([](char c) { return c == ' '; }));
    for (DenseElementsAttr operand : operands)
      state.addOperands(
          ConstantOp::create(builder, builder.getUnknownLoc(), operand)
              .getResult());
    state.addTypes(result);
    if (size_t brace = op.find('{'); brace != std::string::npos)
      state.addAttributes(
          cast<DictionaryAttr>(parseAttribute(op.substr(brace), &context))
              .getValue());
    Operation *built = builder.create(state);
    REQUIRE(succeeded(verify(built)));
    auto values = ingot::evaluate(built->getResult(0));
    REQUIRE(succeeded(values));
    return numbersOf(values->front());
  }

  MLIRContext context;
};

struct Precision {
  const char *type;
  double relative, smallest, largest;
};
constexpr Precision precisions[] = {
    {"f32", 1e-6, 1.2e-38, 3.4028235e38},
    {"f64", 1e-14, 2.3e-308, 1.7976931348623157e308},
    {"f16", 1e-3, 6.2e-5, 65504},
    {"bf16", 8e-3, 1.2e-38, 3.3895314e38}};

/// Whether two results are equal up to `slack` times the rounding error of the
/// type that `p` describes; for subnormal numbers this error is absolute.
bool agree(double got, double want, const Precision &p, double slack = 1) {
  if (std::isnan(want))
    return std::isnan(got);
  if (std::fabs(want) > p.largest * (1 + p.relative / 2))
    return got == std::copysign(inf, want) ||
           std::fabs(got) >= p.largest * (1 - p.relative);
  if (std::isinf(got))
    return std::isinf(want) && got == want;
  if (want == 0 && got == 0)
    return std::signbit(want) == std::signbit(got);
  return std::fabs(got - want) <=
         slack * (p.relative * std::fabs(want) + p.smallest);
}

struct Function {
  const char *op;
  double (*reference)(double);
  /// Multiplies the tolerance, for functions that inherently lose digits.
  double slack = 1;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) {
  return std::isnan(x) ? x
                       : std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

const Function functions[] = {
    {"graph.abs", [](double x) { return std::fabs(x); }},
    {"graph.neg", [](double x) { return -x; }},
    {"graph.sign",
     [](double x) { return std::isnan(x) ? x : double((x > 0) - (x < 0)); }},
    {"graph.floor", std::floor},
    {"graph.ceil", std::ceil},
    {"graph.round", std::nearbyint},
    {"graph.reciprocal", [](double x) { return 1 / x; }},
    {"graph.sqrt", std::sqrt},
    {"graph.exp", std::exp},
    {"graph.log", std::log},
    {"graph.cosh", std::cosh, 2},
    {"graph.tanh", std::tanh, 3},
    {"graph.erf", std::erf, 3},
    {"graph.atan", std::atan},
    {"graph.asinh", std::asinh, 2},
    {"graph.relu", [](double x) { return std::isnan(x) || x >= 0 ? x : 0.0; }},
    {"graph.sigmoid", sigmoid, 2},
    {"graph.softplus", softplus, 2},
    {"graph.softsign", [](double x) { return x / (1 + std::fabs(x)); }},
    {"graph.hard_sigmoid",
     [](double x) {
       return std::isnan(x) ? x : std::fmin(1, std::fmax(0, 0.2f * x + 0.5));
     },
     2},
    {"graph.elu", [](double x) { return x > 0 ? x : std::expm1(x); }, 2},
    {"graph.mish", [](double x) { return x * std::tanh(softplus(x)); }, 6},
    {"graph.swish", [](double x) { return x * sigmoid(x); }, 3},
    {"graph.gelu {approximate = \"tanh\"}",
     [](double x) {
       return x * sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x));
     },
     40},
};

} // namespace

TEST_CASE_METHOD(Values, "functions agree with the C library") {
  const std::vector<double> numbers = {
      0.0, -0.0, inf,  -inf, nan,  1e-30, -1e-30, 0.25, -0.25, 0.5,  -0.5, 1,
      -1,  1.5,  -1.5, 2.5,  -2.5, 3.7,   -3.7,   9.9,  -9.9,  20,   -20,  50,
      -50, 87,   -87,  200,  -200, 60000, -60000, 1e10, -1e10, 3e38, -3e38};
  for (const Precision &p : precisions) {
    DenseElementsAttr x = vectorOf(numbers, type(p.type));
    std::vector<double> rounded = numbersOf(x);
    for (const Function &f : functions) {
      std::vector<double> got =
          evaluate(f.op, x, cast<RankedTensorType>(x.getType()));
      for (size_t i = 0; i < got.size(); ++i) {
        double want = f.reference(rounded[i]);
        INFO(f.op << " of " << p.type << " " << rounded[i] << ": " << got[i]
                  << ", not " << want);
        CHECK(agree(got[i], want, p, f.slack));
      }
    }
  }
}

TEST_CASE_METHOD(Values, "numbers of tf32 have 10 bits of fraction") {
  const double unit = std::ldexp(1, -10), largest = 3.4028235e38;
  const std::vector<double> xs = {
      1 + unit,      1 + unit / 2, 1 + unit / 2.01,
      -1 - unit / 2, 3.7,          std::ldexp(3, -30),
      0.0,           inf,          -inf,
      nan,           largest};
  DenseElementsAttr x = vectorOf(xs, type("f32"));
  std::vector<double> got =
      evaluate("graph.round_to_tf32", x, cast<RankedTensorType>(x.getType()));
  CHECK(std::isnan(got[9]));
  got[9] = 0;
  // Ties round away from zero; 3.7 is between two multiples of 2^-9.
  CHECK(got == std::vector<double>{1 + unit, 1 + unit, 1, -1 - unit,
                                   std::round(std::ldexp(3.7, 9)) / 512,
                                   std::ldexp(3, -30), 0, inf, -inf, 0, inf});
}

TEST_CASE_METHOD(Values, "extrema and comparisons know NaN") {
  const std::vector<double> xs = {nan, 1, nan, -inf, 0.0, 2, inf};
  const std::vector<double> ys = {1, nan, nan, 3, -1, 2, 5};
  for (const Precision &p : precisions) {
    DenseElementsAttr x = vectorOf(xs, type(p.type)),
                      y = vectorOf(ys, type(p.type));
    auto numeric = cast<RankedTensorType>(x.getType());
    auto boolean = numeric.clone(IntegerType::get(&context, 1));
    auto compute = [&](const char *op, RankedTensorType result) {
      return evaluate(op, {x, y}, result);
    };
    std::vector<double> larger = compute("graph.maximum", numeric),
                        smaller = compute("graph.minimum", numeric);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(std::isnan(larger[i]));
      CHECK(std::isnan(smaller[i]));
    }
    CHECK(std::vector<double>(larger.begin() + 3, larger.end()) ==
          std::vector<double>{3, 0, 2, inf});
    CHECK(std::vector<double>(smaller.begin() + 3, smaller.end()) ==
          std::vector<double>{-inf, -1, 2, 5});
    CHECK(compute("graph.equal", boolean) ==
          std::vector<double>{0, 0, 0, 0, 0, 1, 0});
    CHECK(compute("graph.less_or_equal", boolean) ==
          std::vector<double>{0, 0, 0, 1, 0, 1, 0});
    CHECK(evaluate("graph.is_nan", x, boolean) ==
          std::vector<double>{1, 0, 1, 0, 0, 0, 0});
    CHECK(evaluate("graph.is_inf {detect_positive = 0 : i64}", x, boolean) ==
          std::vector<double>{0, 0, 0, 1, 0, 0, 0});
  }
}

TEST_CASE_METHOD(Values, "integers divide, shift and wrap without traps") {
  auto compute = [&](const char *op, const char *of, ArrayRef<double> x,
                     ArrayRef<double> y) {
    DenseElementsAttr a = vectorOf(x, type(of)), b = vectorOf(y, type(of));
    return evaluate(op, {a, b}, cast<RankedTensorType>(a.getType()));
  };
  using Numbers = std::vector<double>;
  CHECK(compute("graph.div", "si32", {7, -7, 7, 5, -2147483648.0},
                {2, 2, -2, 0, -1}) == Numbers{3, -3, -3, 0, -2147483648.0});
  CHECK(compute("graph.mod", "si8", {7, -7, 7, -7, -128, 5},
                {3, 3, -3, -3, -1, 0}) == Numbers{1, 2, -2, -1, 0, 0});
  CHECK(compute("graph.mod {fmod = 1 : i64}", "si64", {7, -7, 7, -7},
                {3, 3, -3, -3}) == Numbers{1, -1, 1, -1});
  CHECK(compute("graph.mod", "ui64", {7, 1.8446744073709550e19}, {4, 10}) ==
        Numbers{3, 8});
  CHECK(compute("graph.add", "ui8", {250, 255}, {10, 1}) == Numbers{4, 0});
  CHECK(compute("graph.mul", "si16", {300, -32768}, {300, -1}) ==
        Numbers{24464, -32768});
  CHECK(compute("graph.pow", "si32", {3, -2, 2, 5, 1, 0, -1},
                {4, 3, -1, 0, -7, 0, -3}) == Numbers{81, -8, 0, 1, 1, 1, -1});
  CHECK(compute("graph.bit_shift", "ui8", {1, 255, 3, 3}, {7, 1, 8, 200}) ==
        Numbers{128, 254, 0, 0});
  CHECK(compute("graph.bit_shift {direction = \"RIGHT\"}", "si8",
                {-128, 127, -1, 5}, {3, 2, 9, 8}) == Numbers{-16, 31, -1, 0});
  CHECK(compute("graph.mul_high", "si32",
                {-2147483648, 2147483647, -1, 65536, 3},
                {-2147483648, 2147483647, 1, 65536, -5}) ==
        Numbers{1073741824, 1073741823, -1, 1, -1});
}

TEST_CASE_METHOD(Values, "casts saturate, wrap and keep what fits") {
  auto cast = [&](const char *from, ArrayRef<double> x, const char *to,
                  const char *attributes = "") {
    DenseElementsAttr a = vectorOf(x, type(from));
    return evaluate(
        std::string("graph.cast ") + attributes, a,
        RankedTensorType::get({static_cast<int64_t>(x.size())}, type(to)));
  };
  using Numbers = std::vector<double>;
  CHECK(cast("f32", {1.9, -1.9, 300, -300, inf, -inf, nan}, "si8") ==
        Numbers{1, -1, 127, -128, 127, -128, 0});
  CHECK(cast("f32", {-1, 4294967296.0, 4294967040.0}, "ui32") ==
        Numbers{0, 4294967295.0, 4294967040.0});
  CHECK(cast("f64", {1e30, -1e30, 9007199254740993.0}, "si64") ==
        Numbers{9223372036854775807.0, -9223372036854775808.0,
                9007199254740992.0});
  CHECK(cast("si32", {200, -1, 256}, "si8") == Numbers{-56, -1, 0});
  CHECK(cast("si8", {-1, -128}, "ui16") == Numbers{65535, 65408});
  CHECK(cast("si32", {7, 8, -9}, "si4") == Numbers{7, -8, 7});
  CHECK(cast("f32", {0.0, -0.0, 0.1, nan, -3}, "i1") == Numbers{0, 0, 1, 1, 1});
  CHECK(cast("ui64", {1.8446744073709550e19}, "f32") ==
        Numbers{1.8446744073709552e19});
  CHECK(cast("f32", {65519, 65520, -1e9, 2049, 2051}, "f16") ==
        Numbers{65504, inf, -inf, 2048, 2052});
  CHECK(cast("f32", {1e9, -inf, 0.0625, 449, 17}, "f8E4M3FN") ==
        Numbers{448, -448, 0.0625, 448, 16});
  Numbers open = cast("f32", {1e9, 1}, "f8E5M2", "{saturate = 0 : i64}");
  CHECK(open == Numbers{inf, 1});
  CHECK(cast("f32", {3, 4, 5, 1e-45}, "f8E8M0FNU") ==
        Numbers{4, 4, 8, 1.1754943508222875e-38});
  CHECK(cast("f32", {2.4, 2.9, 1e6}, "f4E2M1FN") == Numbers{2, 3, 6});
}

TEST_CASE_METHOD(Values, "reductions of special values") {
  auto reduce = [&](const char *op, const char *of, ArrayRef<double> x) {
    DenseElementsAttr a = vectorOf(x, type(of));
    return evaluate(std::string("graph.") + op + " {axes = array<i64: 0>}", a,
                    RankedTensorType::get({1}, type(of)))[0];
  };
  CHECK(reduce("reduce_max", "f32", {-inf, -5, -inf}) == -5);
  CHECK(std::isnan(reduce("reduce_max", "f32", {1, nan, 3})));
  CHECK(std::isnan(reduce("reduce_min", "f16", {nan, 2, 3})));
  CHECK(reduce("reduce_max", "si8", {-128, -127}) == -127);
  CHECK(reduce("reduce_min", "ui64", {3, 1.8446744073709550e19}) == 3);
  CHECK(reduce("reduce_sum", "f16", {2048, 1, 1, 1, 1}) == 2052);
  CHECK(reduce("reduce_l2", "f32", {3, 4}) == 5);
  CHECK(reduce("reduce_mean", "si32", {1, 2, 4}) == 2);
  CHECK(reduce("reduce_prod", "si32", {2, 3, -4}) == -24);
  auto position = [&](const char *op, ArrayRef<double> x) {
    DenseElementsAttr a = vectorOf(x, type("f32"));
    return evaluate(op, a, RankedTensorType::get({1}, type("si64")))[0];
  };
  CHECK(position("graph.arg_max {axis = 0 : i64, last = false}",
                 {1, 3, 3, 2}) == 1);
  CHECK(position("graph.arg_max {axis = 0 : i64, last = true}", {1, 3, 3, 2}) ==
        2);
  CHECK(position("graph.arg_max {axis = 0 : i64, last = false}",
                 {1, nan, inf, nan}) == 1);
  CHECK(position("graph.arg_max {axis = 0 : i64, last = true}",
                 {1, nan, inf, nan, 0}) == 3);
  CHECK(position("graph.arg_min {axis = 0 : i64, last = false}",
                 {1, -inf, -inf}) == 1);
}

TEST_CASE_METHOD(Values, "softmax does not overflow") {
  for (const Precision &p : precisions) {
    auto x = vectorOf({1000, 1000, -1000, -inf}, type(p.type));
    auto y = evaluate("graph.softmax {axis = 0 : i64}", x,
                      cast<RankedTensorType>(x.getType()));
    CHECK(y == std::vector<double>{0.5, 0.5, 0, 0});
    auto z = evaluate("graph.log_softmax {axis = 0 : i64}", x,
                      cast<RankedTensorType>(x.getType()));
    CHECK(agree(z[0], -std::log(2.0), p));
    CHECK(agree(z[2], -2000 - std::log(2.0), p));
    CHECK(z[3] == -inf);
    auto all = vectorOf({1, nan, 2}, type(p.type));
    for (double v : evaluate("graph.softmax {axis = 0 : i64}", all,
                             cast<RankedTensorType>(all.getType())))
      CHECK(std::isnan(v));
  }
}

TEST_CASE_METHOD(Values, "random bits are those of Philox 4x32-10") {
  // The expected bits are those of the reference implementation of Philox
  // (Salmon et al., 2011).
  auto bits = [&](uint64_t key, const char *result, const char *attributes) {
    auto scalar = RankedTensorType::get({}, type("ui64"));
    return evaluate(std::string("graph.random_bits ") + attributes,
                    DenseElementsAttr::get(scalar, APInt(64, key)),
                    cast<RankedTensorType>(type(result)));
  };
  CHECK(bits(0, "tensor<1xui32>", "{stream = 0 : i64, bits = 32 : i64}") ==
        std::vector<double>{0x6627e8d5});
  CHECK(bits(0, "tensor<1xui64>", "{stream = 0 : i64, bits = 53 : i64}") ==
        std::vector<double>{double(0x6627e8d5e169c58d >> 11)});
  CHECK(bits(0, "tensor<ui32>", "{stream = 0 : i64, bits = 8 : i64}") ==
        std::vector<double>{0x66});
}
