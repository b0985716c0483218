// Compares every expansion of a math operation with the long double function of
// the C library: over its domain, at random bit patterns (denormals,
// infinities, NaN) and at listed arguments, as scalars and as vectors. The
// largest error of each function is bounded in units in the last place (ULP).

#include <catch2/catch.hpp>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "passes/evaluate/Jit.h"
#include "passes/legalize/math/ExpandMath.h"
#include "passes/legalize/math/OutlineMath.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;

namespace {

constexpr size_t kCount = 1 << 15;

/// Returns the text of a function with a loop over the arrays x (and y) that
/// stores op(x, y) to out, `lanes` elements at a time.
std::string kernelText(const std::string &op, int operands,
                       const std::string &element, int lanes) {
  std::string count = std::to_string(kCount),
              memref = "memref<" + count + "x" + element + ">";
  bool scalar = lanes == 1;
  std::string value =
      scalar ? element
             : "vector<" + std::to_string(lanes) + "x" + element + ">";
  std::string load = scalar ? "memref.load" : "vector.load",
              store = scalar ? "memref.store" : "vector.store";
  std::string types = memref + (scalar ? "" : ", " + value);
  std::string y = operands == 2 ? ", %b" : "";
  return "func.func private @kernel(%x: " + memref + ", %y: " + memref +
         ", %out: " + memref +
         ") {\n"
         "  %c0 = arith.constant 0 : index\n"
         "  %n = arith.constant " +
         count +
         " : index\n"
         "  %step = arith.constant " +
         std::to_string(lanes) +
         " : index\n"
         "  scf.for %i = %c0 to %n step %step {\n"
         "    %a = " +
         load + " %x[%i] : " + types +
         "\n"
         "    %b = " +
         load + " %y[%i] : " + types +
         "\n"
         "    %r = " +
         op + " %a" + y + " : " + value +
         "\n"
         "    " +
         store + " %r, %out[%i] : " + types +
         "\n"
         "  }\n"
         "  return\n"
         "}\n";
}

/// Expands the math operations of the function in `text` and runs it.
void run(const std::string &text, llvm::ArrayRef<void *> buffers) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect,
                  cf::ControlFlowDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  REQUIRE(succeeded(
      ingot::legalize::expandMath(*module, *ingot::lookupTarget("generic"))));
  module->walk([](Operation *op) {
    bool isMath = isa<math::MathDialect>(op->getDialect());
    REQUIRE((!isMath || isa<math::SqrtOp>(op)));
  });
  FailureOr<std::unique_ptr<ingot::Jit>> jit =
      ingot::Jit::compile(*module, /*optimize=*/false);
  REQUIRE(succeeded(jit));
  std::vector<void *> pointers(buffers.begin(), buffers.end()), arguments;
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  (*jit)->call("kernel", arguments);
}

using Real = long double;

struct Row {
  const char *op; // The text of the operation on %x and %y.
  Real (*reference)(Real, Real);
  int operands;
  double low, high; // The interval that is sampled densely.
};

/// Returns the promised accuracy of an operation; operations that are not
/// listed are exact.
ingot::legalize::MathFunction promised(const Row &row) {
  const ingot::legalize::MathFunction *known =
      ingot::legalize::lookupMathFunction(row.op);
  return known ? *known : ingot::legalize::MathFunction{row.op, "", "", 0, 0};
}

Real roundEven(Real x) { return std::nearbyint(x); }
#define UNARY(F) [](Real x, Real) -> Real { return F(x); }
#define BINARY(F) [](Real x, Real y) -> Real { return F(x, y); }

const Row rows[] = {
    {"math.exp", UNARY(std::exp), 1, -110, 95},
    {"math.exp2", UNARY(std::exp2), 1, -155, 130},
    {"math.expm1", UNARY(std::expm1), 1, -20, 20},
    {"math.log", UNARY(std::log), 1, 0, 10},
    {"math.log2", UNARY(std::log2), 1, 0, 10},
    {"math.log10", UNARY(std::log10), 1, 0, 10},
    {"math.log1p", UNARY(std::log1p), 1, -1, 3},
    {"math.powf", BINARY(std::pow), 2, -30, 30},
    {"math.sin", UNARY(std::sin), 1, -100, 100},
    {"math.cos", UNARY(std::cos), 1, -100, 100},
    {"math.tan", UNARY(std::tan), 1, -100, 100},
    {"math.asin", UNARY(std::asin), 1, -1.1, 1.1},
    {"math.acos", UNARY(std::acos), 1, -1.1, 1.1},
    {"math.atan", UNARY(std::atan), 1, -10, 10},
    {"math.atan2", BINARY(std::atan2), 2, -10, 10},
    {"math.sinh", UNARY(std::sinh), 1, -91, 91},
    {"math.cosh", UNARY(std::cosh), 1, -91, 91},
    {"math.tanh", UNARY(std::tanh), 1, -10, 10},
    {"math.asinh", UNARY(std::asinh), 1, -10, 10},
    {"math.acosh", UNARY(std::acosh), 1, 0.9, 10},
    {"math.atanh", UNARY(std::atanh), 1, -1.1, 1.1},
    {"math.erf", UNARY(std::erf), 1, -5, 5},
    {"math.erfc", UNARY(std::erfc), 1, -5, 27},
    {"math.cbrt", UNARY(std::cbrt), 1, -10, 10},
    {"math.rsqrt", [](Real x, Real) -> Real { return 1 / std::sqrt(x); }, 1, 0,
     10},
    {"math.floor", UNARY(std::floor), 1, -10, 10},
    {"math.ceil", UNARY(std::ceil), 1, -10, 10},
    {"math.trunc", UNARY(std::trunc), 1, -10, 10},
    {"math.round", UNARY(std::round), 1, -10, 10},
    {"math.roundeven", UNARY(roundEven), 1, -10, 10},
    {"math.absf", UNARY(std::fabs), 1, -10, 10},
    {"math.copysign", BINARY(std::copysign), 2, -10, 10},
    {"arith.remf", BINARY(std::fmod), 2, -100, 100},
};

template <typename T> std::vector<T> specialArguments() {
  const T inf = std::numeric_limits<T>::infinity(),
          nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::min(),
          least = std::numeric_limits<T>::denorm_min(),
          most = std::numeric_limits<T>::max();
  std::vector<T> x;
  for (T v : {T(0), inf, nan, tiny, least, most, T(1), T(0.5), T(0.25), T(2),
              T(3), T(1.5), T(2.5), T(0.49999997), T(88.8), T(89.2), T(104),
              T(103.9), T(87.4), T(709.9), T(745.2), T(1e5), T(8388607.5),
              T(8388608), T(8388609), T(16777215), T(1e-4), T(9.0),
              T(1.5707963), T(3.1415927), T(10), T(1000), T(1) / 3, tiny / 3,
              std::nextafter(T(1), T(2)), std::nextafter(T(1), T(0)),
              // Large angles, some of them closest to a multiple of pi/2.
              T(99999.99), T(100000.02), T(2e6), T(1e7), T(3e9), T(1e16),
              T(1e22), T(1e30), T(0xf9be45p72),
              T(sizeof(T) == 8 ? 0x1.6ac5b262ca1ffp849 : 1e38),
              // Arguments at which results overflow, underflow, or are rounded
              // to 1.
              T(88.72283), T(89.41599), T(709.782712893384),
              T(710.475860073944), T(-103.97), T(-87.33), T(9.02), T(19.07),
              T(3.93), T(5.93), T(10.05), T(26.6)}) {
    x.push_back(v);
    x.push_back(-v);
  }
  return x;
}

/// Fills x and y with all pairs of special arguments, then with values in the
/// operation's domain, then with random bit patterns.
template <typename T, typename Bits>
void fillArguments(const Row &row, std::vector<T> &x, std::vector<T> &y) {
  std::vector<T> special = specialArguments<T>();
  size_t n = special.size(), pairs = row.operands == 2 ? n * n : n;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> domain(row.low, row.high);
  for (size_t i = 0; i < x.size(); ++i) {
    if (i < pairs) {
      x[i] = special[i % n];
      y[i] = special[i / n];
    } else if (i % 3) {
      x[i] = T(domain(random));
      y[i] = T(domain(random));
    } else {
      Bits bits[] = {static_cast<Bits>(random()), static_cast<Bits>(random())};
      std::memcpy(&x[i], &bits[0], sizeof(T));
      std::memcpy(&y[i], &bits[1], sizeof(T));
    }
  }
}

template <typename T> double ulpError(T got, Real expected) {
  T rounded = T(expected);
  if (std::isnan(rounded))
    return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got))
    return INFINITY;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded)
      return 0;
    // An overflow that is caused only by rounding counts as an error of one
    // unit in the last place.
    return std::fabs(expected) >
                       Real(std::numeric_limits<T>::max()) * Real(1 - 1e-6) &&
                   (got > 0) == (expected > 0)
               ? 1
               : INFINITY;
  }
  if (rounded == 0 && got == 0)
    return std::signbit(rounded) == std::signbit(got) ? 0 : INFINITY;
  int exponent = std::max(
      std::ilogb(rounded == 0 ? std::numeric_limits<T>::denorm_min() : rounded),
      std::numeric_limits<T>::min_exponent - 1);
  return double(
      std::fabs(Real(got) - expected) /
      std::ldexp(Real(1), exponent - std::numeric_limits<T>::digits + 1));
}

template <typename T, typename Bits>
void check(const Row &row, int lanes, double bound) {
  std::string element = sizeof(T) == 4 ? "f32" : "f64";
  std::vector<T> x(kCount), y(kCount), out(kCount);
  fillArguments<T, Bits>(row, x, y);
  run(kernelText(row.op, row.operands, element, lanes),
      {x.data(), y.data(), out.data()});
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < kCount; ++i) {
    double error = ulpError(out[i], row.reference(x[i], y[i]));
    if (error > worst)
      worst = error, at = i;
  }
  INFO(row.op << " on " << element << " in " << lanes << " lanes: " << worst
              << " ulp at " << x[at] << ", " << y[at] << ": " << out[at]
              << " for " << row.reference(x[at], y[at]));
  if (getenv("INGOT_PRINT_ERRORS"))
    std::printf("%-16s %s x%d: %.2f ulp at %.9g, %.9g (got %.9g)\n", row.op,
                element.c_str(), lanes, worst, double(x[at]), double(y[at]),
                double(out[at]));
  CHECK(worst <= bound);
}

} // namespace

TEST_CASE("math functions are accurate", "[expand-math]") {
  for (const Row &row : rows) {
    check<float, uint32_t>(row, 1, promised(row).ulps32);
    check<float, uint32_t>(row, 8, promised(row).ulps32);
    check<double, uint64_t>(row, 1, promised(row).ulps64);
    check<double, uint64_t>(row, 4, promised(row).ulps64);
  }
}

namespace {

/// Evaluates op(x, y) for one pair of values, as a scalar or in a vector of two
/// lanes.
template <typename R, typename X, typename Y>
R evaluate(const std::string &expression, const std::string &result,
           const std::string &typeX, const std::string &typeY, X x, Y y) {
  R out{};
  std::string mx = "memref<1x" + typeX + ">", my = "memref<1x" + typeY + ">",
              mr = "memref<1x" + result + ">";
  run("func.func private @kernel(%x: " + mx + ", %y: " + my + ", %out: " + mr +
          ") {\n"
          "  %c0 = arith.constant 0 : index\n"
          "  %a = memref.load %x[%c0] : " +
          mx +
          "\n"
          "  %b = memref.load %y[%c0] : " +
          my +
          "\n"
          "  %r = " +
          expression +
          "\n"
          "  memref.store %r, %out[%c0] : " +
          mr +
          "\n"
          "  return\n"
          "}\n",
      {&x, &y, &out});
  return out;
}

int32_t onInts(const std::string &expression, int32_t x, int32_t y = 0) {
  return evaluate<int32_t>(expression, "i32", "i32", "i32", x, y);
}

} // namespace

TEST_CASE("exponentials that may be 0 are never subnormal", "[expand-math]") {
  auto exp = [](float x) {
    return evaluate<float>("math.exp %a fastmath<afn> : f32", "f32", "f32",
                           "f32", x, 0.0f);
  };
  for (float x : {-80.01f, -88.0f, -103.0f, -1e30f, -INFINITY})
    CHECK(exp(x) == 0);
  auto isNear = [&](float x) {
    return ulpError(exp(x), std::exp(Real(x))) <= 2.5f + std::abs(x);
  };
  for (float x :
       {-79.99f, -50.0f, -1.0f, -0.4f, 0.0f, 0.34f, 0.35f, 1.0f, 88.3f})
    CHECK(isNear(x));
  for (float x = -79; x < 88; x += 0.37f)
    CHECK(isNear(x));
  for (float x : {88.5f, 89.0f, 1e30f, INFINITY})
    CHECK(exp(x) == INFINITY);
  CHECK(std::isnan(exp(NAN)));
}

TEST_CASE("bits are counted", "[expand-math]") {
  for (int32_t x : {0, 1, -1, 8, 0x00f0f000, INT32_MIN, INT32_MAX}) {
    uint32_t bits = static_cast<uint32_t>(x);
    CHECK(onInts("math.ctpop %a : i32", x) == __builtin_popcount(bits));
    CHECK(onInts("math.ctlz %a : i32", x) == (bits ? __builtin_clz(bits) : 32));
    CHECK(onInts("math.cttz %a : i32", x) == (bits ? __builtin_ctz(bits) : 32));
  }
  CHECK(evaluate<int8_t>("math.ctpop %a : i8", "i8", "i8", "i8", int8_t(-1),
                         int8_t(0)) == 8);
  CHECK(evaluate<int64_t>("math.ctlz %a : i64", "i64", "i64", "i64", int64_t(1),
                          int64_t(0)) == 63);
  CHECK(onInts("math.absi %a : i32", -5) == 5);
}

TEST_CASE("integer exponents", "[expand-math]") {
  CHECK(onInts("math.ipowi %a, %b : i32", 3, 5) == 243);
  CHECK(onInts("math.ipowi %a, %b : i32", -3, 3) == -27);
  CHECK(onInts("math.ipowi %a, %b : i32", 7, 0) == 1);
  CHECK(onInts("math.ipowi %a, %b : i32", 2, -1) == 0);
  CHECK(onInts("math.ipowi %a, %b : i32", 1, -3) == 1);
  CHECK(onInts("math.ipowi %a, %b : i32", -1, -3) == -1);
  CHECK(onInts("math.ipowi %a, %b : i32", -1, -4) == 1);
  CHECK(evaluate<float>("math.fpowi %a, %b : f32, i32", "f32", "f32", "i32",
                        1.5f, 3) == 3.375f);
  CHECK(evaluate<float>("math.fpowi %a, %b : f32, i32", "f32", "f32", "i32",
                        2.0f, -2) == 0.25f);
}

TEST_CASE("constant exponents", "[expand-math]") {
  for (float exponent : {-1.0f, 0.0f, 0.5f, 1.0f, 2.0f, 3.0f, 4.0f, 0.25f})
    for (float x :
         {0.0f, -0.0f, 2.25f, float(INFINITY), -float(INFINITY), float(NAN)}) {
      std::string power = "scf.execute_region -> f32 {\n"
                          "    %e = arith.constant " +
                          std::to_string(exponent) +
                          " : f32\n"
                          "    %p = math.powf %a, %e : f32\n"
                          "    scf.yield %p : f32\n  }";
      float got = evaluate<float>(power, "f32", "f32", "f32", x, 0.0f);
      float expected = std::pow(x, exponent);
      INFO(x << " to the power of " << exponent);
      CHECK((std::isnan(expected) ? std::isnan(got) : got == Approx(expected)));
    }
}

TEST_CASE("classes of floats", "[expand-math]") {
  const float inf = INFINITY, tiny = 1e-40f;
  for (float x : {0.0f, -1.5f, tiny, inf, -inf, float(NAN)}) {
    auto ask = [&](const char *op) {
      return evaluate<bool>(std::string(op) + " %a : f32", "i1", "f32", "f32",
                            x, 0.0f);
    };
    CHECK(ask("math.isnan") == std::isnan(x));
    CHECK(ask("math.isinf") == std::isinf(x));
    CHECK(ask("math.isfinite") == std::isfinite(x));
    CHECK(ask("math.isnormal") == std::isnormal(x));
  }
}
