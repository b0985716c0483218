// Replaces functions of sums of integers by piecewise linear tables.
//
//   x = dequantize(cast(sums: si32), s) + bias -> gelu -> quantize: ui8
//     ->  t = clamp(mul_high(sums, s * 256 / (end - begin)) + ...)
//         entry = cast(t >> f): ui8           t has f fractional bits
//         (high(entry) << 8) + low(entry) + slope(entry) * fraction(t)
//
// `high`, `low` and `slope` are lookup tables with 256 entries. They are filled
// by evaluating the operators on samples in f32, and cover the range of x from
// `begin` to `end`; below and above it, the result is constant. If linear
// interpolation deviates by more than an eighth of a step of the quantized
// result at a sample, or at any value of a sum with few values, the function is
// not replaced. Below `begin` and above `end`, the
// result is the exact one, even if it is close to a tie.

#include "passes/decide/SumTables.h"

#include "dialects/graph/ElementsData.h"
#include "passes/decide/ElementOperators.h"
#include "passes/decide/WordBuilder.h"
#include "passes/evaluate/Evaluate.h"
#include "passes/schedule/Tables.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
namespace {

constexpr int64_t entries = schedule::tableBytes;
/// Fractional bits of the results in the table, which are 16-bit numbers.
constexpr int resultFraction = 7;
/// Results in the table may exceed the 8-bit range by this much and are clamped
/// after interpolation. If they were clamped before, the segment in which the
/// function leaves the 8-bit range would not be linear.
constexpr double offset = 64;
/// The largest deviation of linear interpolation from the function, in steps of
/// the quantized result.
constexpr double mostError = 0.125;
/// The least number of fractional bits of table positions, and of slopes. With
/// fewer bits, the error is too large.
constexpr int leastFraction = 8, leastOfSlopes = 3;

/// If a sum has at most so many values, the function is compared with the table
/// at each of them; otherwise at samples.
constexpr double fewValues = 0x1p16;

/// Whether `op` computes floats and may be part of a function that a table
/// replaces. Samples would miss jumps of other operators.
bool isContinuous(Operation *op) {
  return elementOf(op->getResult(0)).isF32() &&
         !isa<SignOp, FloorOp, CeilOp, RoundOp, ModOp, ThresholdedReluOp,
              ShrinkOp, RoundToTf32Op>(op);
}

/// The elementwise operators between a sum of integers and a quantization,
/// which a table may replace.
class SumFunction {
public:
  explicit SumFunction(QuantizeOp last)
      : last(last), operators(shapeOf(last.getResult())) {}

  bool find() {
    auto scaleNumbers = Numbers::of(last.getScale()),
         zeroNumbers = Numbers::of(last.getZero());
    Type type = elementOf(last.getResult());
    if (!(type.isUnsignedInteger(8) || type.isSignedInteger(8)) ||
        hasDynamicSizes(last) || !elementOf(last.getX()).isF32() ||
        !scaleNumbers || scaleNumbers->values.size() != 1 || !zeroNumbers ||
        zeroNumbers->values.size() != 1 || scaleNumbers->values[0] <= 0 ||
        readSum(last.getX(), Numbers::of(1.0)))
      return false;
    scale = scaleNumbers->values[0];
    zero = zeroNumbers->values[0] - (type.isSignedInteger(8) ? -128 : 0);
    llvm::SetVector<Value> &open = operators.open;
    open.insert(last.getX());
    while (!open.empty()) {
      if (open.size() == 1 && (operand = open.front()) && isReadable())
        return true;
      if (!operators.enterNext(isContinuous))
        break;
    }
    return false;
  }

  bool replace() {
    auto sum = readSharedSum(operand);
    if (!sum || sum->terms.empty() || !findEnds(*sum) || !fillTable())
      return false;
    // Scales the sum so that it is in units of table entries.
    double perEntry = double(entries) / (end - begin);
    sum = read(perEntry);
    if (!sum)
      return false;
    double bound =
        sum->bound() + double(entries) * 2 + std::abs(begin * perEntry);
    int fraction = mostFraction;
    while (fraction >= leastFraction && !fits(*sum, bound, fraction, 31))
      --fraction;
    if (fraction < leastFraction)
      return false;
    settleEnds(fraction);
    auto constant = Numbers::combined(
        sum->constant, Numbers::of(-begin * perEntry), std::plus<>());
    sum->constant = *constant;
    WordBuilder b(last);
    Value t = b.sum(*sum, fraction);
    t = b.binary<MaximumOp>(t, b.number(0));
    t = b.binary<MinimumOp>(t, b.number((entries << fraction) - 1));
    Value entry = b.cast(b.right(t, fraction), byteType(false));
    auto lookUp = [&](auto valueOf, bool isSigned) {
      SmallVector<APInt> bytes;
      for (int64_t i = 0; i < entries; ++i)
        bytes.push_back(APInt(8, uint64_t(valueOf(i)) & 0xff));
      Type type = byteType(isSigned);
      Value table = ConstantOp::create(
          b.builder, b.loc,
          DenseElementsAttr::get(RankedTensorType::get({entries}, type),
                                 bytes));
      return b.cast(GatherOp::create(b.builder, b.loc, table, entry,
                                     /*axis=*/0, /*in_range=*/true)
                        .getResult(),
                    b.si32);
    };
    Value low = lookUp([&](int64_t i) { return values[i]; }, false),
          high = lookUp([&](int64_t i) { return values[i] >> 8; }, false),
          slope = lookUp([&](int64_t i) { return slopes[i]; }, true),
          rest = b.binary<AndOp>(t, b.number((int64_t(1) << fraction) - 1)),
          more = b.binary<MulHighOp>(
              b.left(slope, resultFraction + 1 - slopeFraction),
              b.left(rest, 31 - fraction)),
          result = b.binary<AddOp>(b.binary<AddOp>(b.left(high, 8), low), more);
    Type type = elementOf(last.getResult());
    int64_t least = type.isSignedInteger(8) ? -128 : 0;
    result = b.binary<AddOp>(b.right(result, resultFraction),
                             b.number(least - int64_t(offset)));
    result = b.binary<MinimumOp>(b.binary<MaximumOp>(result, b.number(least)),
                                 b.number(least + 255));
    last.replaceAllUsesWith(b.cast(result, type));
    last.erase();
    return true;
  }

private:
  static constexpr int mostFraction = 22;

  bool isReadable() {
    return operand.getDefiningOp() && readSharedSum(operand) &&
           (operand.getDefiningOp<DequantizeOp>() ||
            llvm::all_of(operand.getUsers(), [&](Operation *user) {
              return operators.contains(user);
            }));
  }

  /// Returns the sum of integers to which the function is applied, times
  /// `factor`.
  std::optional<Sum> read(double factor) {
    auto sum = readSharedSum(operand);
    if (!sum)
      return sum;
    scaleSum(*sum, factor);
    return sum;
  }
  static void scaleSum(Sum &sum, double factor) {
    auto times = [&](Numbers &x) {
      x = x.mapped([&](double v) { return v * factor; });
    };
    times(sum.constant);
    for (Term &term : sum.terms) {
      if (term.limited)
        scaleSum(*term.limited, factor);
      else
        times(term.factor);
      for (std::optional<Numbers> *limit : {&term.least, &term.most})
        if (*limit)
          times(**limit);
    }
  }

  Type byteType(bool isSigned) {
    return IntegerType::get(last.getContext(), 8,
                            isSigned ? IntegerType::Signed
                                     : IntegerType::Unsigned);
  }

  /// Evaluates the operators of the function on the floats `x`. Returns the
  /// results in steps of the quantized result, plus 1/2 and the zero point
  /// (relative to the least 8-bit value), and clamped to [-offset, 256 +
  /// offset]. Returns an empty list if the operators cannot be evaluated or if
  /// a result is NaN.
  SmallVector<double> compute(ArrayRef<double> x) {
    OpBuilder builder(last);
    Location loc = last.getLoc();
    SmallVector<int64_t> shape(shapeOf(last.getResult()).size(), 1);
    if (shape.empty())
      return {};
    shape.back() = int64_t(x.size());
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    auto floats =
        llvm::map_to_vector(x, [](double v) { return static_cast<float>(v); });
    Operation *samples = ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, ArrayRef<float>(floats)));
    SmallVector<Operation *> copies =
        operators.copyFor(builder, operand, samples->getResult(0));
    copies.insert(copies.begin(), samples);
    auto found = evaluate({copies.back()->getResult(0)});
    for (Operation *op : llvm::reverse(copies))
      op->erase();
    SmallVector<double> results;
    if (failed(found))
      return results;
    std::vector<char> storage;
    ArrayRef<char> bytes = elementBytes(found->front(), storage);
    for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
      float y;
      std::memcpy(&y, bytes.data() + at, sizeof y);
      // A NaN cannot be stored in a table.
      if (std::isnan(y))
        return {};
      results.push_back(
          std::clamp(y / scale + zero + 0.5, -offset, 256 + offset));
    }
    return results;
  }

  /// Returns the values of the sum in ascending order; samples of them, which
  /// are denser near 0, if there are more than `fewValues` or if terms have
  /// several factors.
  static SmallVector<double> valuesOf(const Sum &sum) {
    double unit = sum.terms[0].factor.most(), count = 0;
    bool isRegular = sum.constant.values.size() == 1;
    for (const Term &term : sum.terms) {
      isRegular &= !term.limited && term.factor.values.size() == 1 &&
                   term.factor.most() == unit;
      count += std::ceil(term.bound);
    }
    SmallVector<double> x;
    if (isRegular && 2 * count < fewValues) {
      for (double i = -count; i <= count; ++i)
        x.push_back(sum.constant.values[0] + unit * i);
      return x;
    }
    double bound = sum.bound();
    constexpr int octaves = 14, perOctave = 32, steps = 1 << 11;
    for (int i = 0; i <= octaves * perOctave; ++i)
      x.push_back(bound * std::exp2(-double(i) / perOctave));
    for (int i = 1; i < steps; ++i)
      x.push_back(bound * i / steps);
    for (size_t i = 0, count = x.size(); i < count; ++i)
      x.push_back(-x[i]);
    x.push_back(0);
    llvm::sort(x);
    return x;
  }

  /// Finds `begin` and `end`: the quantized result is constant for operands
  /// below `begin`, and constant for operands above `end`. Returns false if the
  /// operators cannot be evaluated, or if the sum has no finite bound.
  bool findEnds(const Sum &sum) {
    if (!std::isfinite(sum.bound()))
      return false;
    x = valuesOf(sum);
    y = compute(x);
    if (y.size() < 2)
      return false;
    // Rounds ties to even, as the quantization does.
    auto byte = [&](size_t i) {
      return std::clamp(std::nearbyint(y[i] - 0.5 - zero) + zero, 0.0, 255.0);
    };
    below = static_cast<int64_t>(byte(0));
    above = static_cast<int64_t>(byte(x.size() - 1));
    size_t first = 0, past = x.size() - 1;
    while (first + 1 < past && byte(first + 1) == byte(0))
      ++first;
    while (past > first + 1 && byte(past - 1) == byte(x.size() - 1))
      --past;
    begin = x[first];
    end = x[past];
    return true;
  }

  bool fillTable() {
    // Each segment is sampled at its ends and at points that divide it into
    // `parts` parts.
    constexpr int64_t parts = 4;
    SmallVector<double> points;
    for (int64_t i = 0; i <= entries * parts; ++i)
      points.push_back(begin +
                       (end - begin) * double(i) / double(entries * parts));
    SmallVector<double> results = compute(points);
    if (results.empty())
      return false;
    double most = 0, error = 0;
    auto compare = [&](double at, double exact) {
      double place = (at - begin) / (end - begin) * double(entries);
      if (!(place >= 0 && place <= double(entries)))
        return;
      int64_t i = std::min(int64_t(place), entries - 1);
      double from = results[i * parts], to = results[(i + 1) * parts];
      most = std::max(most, std::abs(to - from));
      error = std::max(
          error, std::abs(exact - from - (to - from) * (place - double(i))));
    };
    for (auto [at, exact] : llvm::zip(points, results))
      compare(at, exact);
    for (auto [at, exact] : llvm::zip(x, y))
      compare(at, exact);
    slopeFraction = resultFraction;
    while (slopeFraction >= leastOfSlopes &&
           std::ldexp(most, slopeFraction) > 127)
      --slopeFraction;
    if (error > mostError || slopeFraction < leastOfSlopes)
      return false;
    for (int64_t i = 0; i < entries; ++i) {
      values.push_back(std::llround(
          std::ldexp(results[i * parts] + offset, resultFraction)));
      slopes.push_back(std::llround(std::ldexp(
          results[(i + 1) * parts] - results[i * parts], slopeFraction)));
    }
    return true;
  }

  /// Returns the entry of the table plus the slope's part for the fractional
  /// bits `rest` of a position, computed as the generated code does.
  int64_t valueAt(int64_t entry, int64_t rest, int fraction) const {
    int64_t slope = slopes[entry] * (1 << (resultFraction + 1 - slopeFraction));
    return values[entry] + ((slope * (rest << (31 - fraction))) >> 32);
  }

  /// Adjusts the first and the last entry such that the first and the last
  /// position, to which all operands below `begin` and above `end` are clamped,
  /// have the exact results. Without this, all these results would be one step
  /// off if the function is close to a tie there.
  void settleEnds(int fraction) {
    auto settle = [&](int64_t entry, int64_t rest, int64_t byte) {
      int64_t value = valueAt(entry, rest, fraction),
              least = (byte + int64_t(offset)) << resultFraction,
              most = least + (1 << resultFraction) - 1;
      if (byte > 0 && value < least)
        values[entry] += least - value;
      if (byte < 255 && value > most)
        values[entry] += most - value;
    };
    settle(0, 0, below);
    settle(entries - 1, (int64_t(1) << fraction) - 1, above);
  }

  QuantizeOp last;
  Value operand;
  double scale = 1, zero = 0, begin = 0, end = 0;
  /// Values of the sum and the results of the function (see `compute`).
  SmallVector<double> x, y;
  /// The results, relative to the least 8-bit value, of operands below `begin`
  /// and above `end`.
  int64_t below = 0, above = 0;
  int slopeFraction = 0;
  SmallVector<int64_t> values, slopes;
  ElementOperators operators;
};

} // namespace

bool formSumTable(QuantizeOp op) {
  SumFunction function(op);
  return function.find() && function.replace();
}

} // namespace ingot::decide
