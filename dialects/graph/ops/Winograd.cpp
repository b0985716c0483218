#include "dialects/graph/ops/Winograd.h"

#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace ingot::graph {

/// Returns the coefficients (the constant term first) of the polynomial with
/// these roots whose highest coefficient is 1.
static Winograd::Row withRoots(ArrayRef<double> roots) {
  Winograd::Row polynomial{1};
  for (double root : roots) {
    polynomial.push_back(0);
    for (size_t i = polynomial.size(); i-- > 0;)
      polynomial[i] = (i ? polynomial[i - 1] : 0) - root * polynomial[i];
  }
  return polynomial;
}

Winograd::Winograd(int64_t size) : size(size), points(size + window - 1) {
  static const double pairs[][2] = {{1, 0}, {0.75, 1.5}};
  finite.push_back(0);
  for (int64_t i = 0; i < size / 2; ++i)
    for (double sign : {1.0, -1.0})
      finite.push_back(sign * pairs[size / 2 - 1][i]);
  auto power = [](double x, int64_t n) { return n ? std::pow(x, n) : 1.0; };
  output.assign(size, Row(points, 0));
  restore.assign(window, Row(points, 0));
  for (size_t i = 0; i < finite.size(); ++i) {
    Row others(finite);
    others.erase(others.begin() + i);
    Row row = withRoots(others);
    double scale = 0;
    for (size_t k = 0; k < row.size(); ++k)
      scale += row[k] * power(finite[i], k);
    row.resize(points, 0);
    input.push_back(row);
    Row powers;
    for (int64_t k = 0; k < window; ++k)
      powers.push_back(power(finite[i], k) / scale);
    weights.push_back(powers);
    for (int64_t k = 0; k < size; ++k)
      output[k][i] = power(finite[i], k);
    // The weights w are recovered as the coefficients of the polynomial w0 + w1
    // t + w2 t^2. w0 is its value at 0; w1 is the difference between its values
    // at the points p and -p, divided by 2p; w2 is its value at infinity.
    if (i == 0)
      restore[0][i] = scale;
    else if (i <= 2)
      restore[1][i] = scale / (2 * finite[i]);
  }
  input.push_back(withRoots(finite));
  weights.push_back({0, 0, 1});
  output.back().back() = 1;
  restore.back().back() = 1;
}

/// Returns the largest factor by which matrix * x * transpose(matrix) may exceed
/// the largest magnitude of the elements of x.
static double gainOf(const Winograd::Matrix &matrix) {
  double most = 0;
  for (ArrayRef<double> row : matrix) {
    double sum = 0;
    for (double factor : row)
      sum += std::abs(factor);
    most = std::max(most, sum);
  }
  return most * most;
}

double Winograd::inputScale() const {
  return std::exp2(-std::ceil(std::log2(gainOf(input))));
}

/// Returns the sum of squares of a row of a matrix.
static double squaresOf(ArrayRef<double> row) {
  double sum = 0;
  for (double x : row)
    sum += x * x;
  return sum;
}

double Winograd::outputScale() const {
  // The variance of a product relative to that of an output along one axis,
  // which is the sum of `window` products. Both axes together give the square,
  // whose square root is this ratio itself.
  double most = 1;
  for (auto [x, w] : llvm::zip(input, weights))
    most = std::max(most, squaresOf(x) * squaresOf(w) / double(window));
  return std::exp2(std::ceil(std::log2(most)));
}

double Winograd::weightScale(Type type) const {
  return type.isF16() ? 1 / (inputScale() * outputScale()) : 1;
}

double Winograd::weightGain(Type type) const {
  return gainOf(weights) * weightScale(type);
}

/// Whether `x` is computed in f16, not widened to f32.
static bool isInHalves(Expr x) {
  return getElementTypeOrSelf(x.value.getType()).isF16();
}

/// Returns `number` in the type in which `x` is computed.
static Expr numberBeside(Expr x, double number) {
  ElementBuilder &b = *x.builder;
  if (!isInHalves(x))
    return b.constant(number, x.type);
  Value value = arith::ConstantOp::create(
      b.builder, b.loc, b.builder.getFloatAttr(x.type, number));
  if (auto vector = dyn_cast<VectorType>(x.value.getType()))
    return b.broadcast(b.wrap(value, x.type), vector.getNumElements());
  return b.wrap(value, x.type);
}

/// Returns x * factor + sum.
static Expr multiplyAdd(Expr x, double factor, Expr sum) {
  Expr number = numberBeside(x, factor);
  if (!isInHalves(x))
    return fma(x, number, sum);
  ElementBuilder &b = *x.builder;
  return b.wrap(kernel::DotOp::create(b.builder, b.loc, sum.value.getType(),
                                      x.value, number.value, sum.value,
                                      /*aUnsigned=*/false,
                                      /*bUnsigned=*/false),
                x.type);
}

Expr Winograd::scaled(Expr x, double factor) {
  return x * numberBeside(x, factor);
}

/// Returns the sum of factors[i] * values[i] over all i that `takes` accepts;
/// null if these factors are all 0.
static Expr weighted(ArrayRef<double> factors, ArrayRef<Expr> values,
                     llvm::function_ref<bool(size_t)> takes) {
  Expr sum;
  // Terms with factor 1 come first, so that a sum does not begin with a
  // multiplication.
  for (bool plain : {true, false})
    for (auto [i, factor] : llvm::enumerate(factors)) {
      if (factor == 0 || !takes(i) || (factor == 1) != plain)
        continue;
      Expr x = values[i];
      if (!sum)
        sum = plain ? x : Winograd::scaled(x, factor);
      else if (plain)
        sum = sum + x;
      else if (factor == -1)
        sum = sum - x;
      else
        sum = multiplyAdd(x, factor, sum);
    }
  return sum;
}

static bool isOdd(size_t i) { return i % 2 == 1; }
static bool isEven(size_t i) { return i % 2 == 0; }

Exprs Winograd::sampled(ArrayRef<Expr> x) const {
  auto all = [](size_t) { return true; };
  Exprs values{weighted(input.front(), x, all)};
  // The values of a polynomial at the points p and -p share the sums of the
  // even and of the odd terms.
  for (size_t i = 1; i < finite.size(); i += 2) {
    Row odd(input[i]);
    for (double &factor : odd)
      factor /= finite[i];
    Expr evens = named(weighted(input[i], x, isEven), "evens"),
         odds = named(weighted(odd, x, isOdd), "odds");
    for (double point : {finite[i], finite[i + 1]})
      values.push_back(point == 1    ? evens + odds
                       : point == -1 ? evens - odds
                                     : multiplyAdd(odds, point, evens));
  }
  values.push_back(weighted(input.back(), x, all));
  return values;
}

Exprs Winograd::outputsOf(ArrayRef<Expr> products, double scale) const {
  // Output k is the sum, over all points, of the product at the point times the
  // k-th power of the point. The powers of p and -p are equal for even k, and
  // differ in sign for odd k. So the sum and the difference of the products at
  // p and -p are computed once.
  Exprs sums{products.front()}, differences{products.front()};
  for (size_t i = 1; i < finite.size(); i += 2) {
    sums.push_back(named(products[i] + products[i + 1], "pair_sum"));
    differences.push_back(
        named(products[i] - products[i + 1], "pair_difference"));
  }
  sums.push_back(products.back());
  differences.push_back(products.back());
  Exprs outputs;
  for (int64_t k = 0; k < size; ++k) {
    Row factors{output[k].front()};
    for (size_t i = 1; i < finite.size(); i += 2)
      factors.push_back(output[k][i]);
    factors.push_back(output[k].back());
    for (double &factor : factors)
      factor *= scale;
    outputs.push_back(weighted(factors, k % 2 ? differences : sums,
                               [](size_t) { return true; }));
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// The weights
//===----------------------------------------------------------------------===//

LogicalResult SampleKernelOp::inferTypes(Adaptor op, TypeRule &rule) {
  ArrayRef<int64_t> w = shapeOf(op.getW());
  if (!Winograd::hasSize(op.getSize()))
    return rule.refuse("has the size " + std::to_string(op.getSize()) +
                       ", not 2 or 4");
  if (w.size() != 4 || w[0] != Winograd::window || w[1] != Winograd::window ||
      !isa<FloatType>(elementOf(op.getW())))
    return rule.refuse("needs floats of the shape [3, 3, C, O]");
  int64_t points = Winograd(op.getSize()).points;
  return rule.result({points * points, w[2], w[3]}, elementOf(op.getW()));
}

LogicalResult RestoreKernelOp::inferTypes(Adaptor op, TypeRule &rule) {
  ArrayRef<int64_t> values = shapeOf(op.getValues());
  if (!Winograd::hasSize(op.getSize()))
    return rule.refuse("has the size " + std::to_string(op.getSize()) +
                       ", not 2 or 4");
  int64_t points = Winograd(op.getSize()).points;
  if (values.size() != 3 || values[0] != points * points ||
      !isa<FloatType>(elementOf(op.getValues())))
    return rule.refuse("needs floats of the shape [" +
                       std::to_string(points * points) + ", C, O]");
  return rule.result({Winograd::window, Winograd::window, values[1], values[2]},
                     elementOf(op.getValues()));
}

/// Returns element (row, column) of matrix * x * transpose(matrix). `row` and
/// `column` may be dynamic; x(i, j) returns an element of x.
static Expr transformed(ElementBuilder &b, const Winograd::Matrix &matrix,
                        Expr row, Expr column, Type type,
                        llvm::function_ref<Expr(int64_t, int64_t)> x) {
  auto factor = [&](Expr at, size_t i) {
    Expr found = b.constant(matrix.front()[i], type);
    for (size_t k = 1; k < matrix.size(); ++k)
      if (matrix[k][i] != 0 || matrix.front()[i] != 0)
        found =
            select(equal(at, double(k)), b.constant(matrix[k][i], type), found);
    return found;
  };
  auto isRead = [&](size_t i) {
    return llvm::any_of(matrix, [&](ArrayRef<double> row) { return row[i]; });
  };
  Expr sum = b.constant(0, type);
  for (size_t i = 0; i < matrix.front().size(); ++i) {
    if (!isRead(i))
      continue;
    Expr ofRow = b.constant(0, type);
    for (size_t j = 0; j < matrix.front().size(); ++j)
      if (isRead(j))
        ofRow = fma(x(i, j), factor(column, j), ofRow);
    sum = fma(ofRow, factor(row, i), sum);
  }
  return sum;
}

Expr SampleKernelOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Winograd form(getSize());
  Exprs point = b.delinearize(idx[0], {form.points, form.points});
  Expr value = transformed(
      b, form.weights, point[0], point[1], elementOf(getW()),
      [&](int64_t row, int64_t column) {
        return b.load(getW(), {b.index(row), b.index(column), idx[1], idx[2]});
      });
  double scale = form.weightScale(elementOf(getW()));
  return scale == 1 ? value : value * scale;
}

Expr RestoreKernelOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Winograd form(getSize());
  Expr weight = transformed(
      b, form.restore, idx[0], idx[1], elementOf(getValues()),
      [&](int64_t row, int64_t column) {
        return b.load(getValues(),
                      {b.index(row * form.points + column), idx[2], idx[3]});
      });
  double scale = form.weightScale(elementOf(getValues()));
  return scale == 1 ? weight : weight * (1 / scale);
}

} // namespace ingot::graph
