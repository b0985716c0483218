// Evaluates integer tensors that are computed from sizes.
//
// Exporters compute shapes with operators such as Shape, Gather, Concat and
// Reshape. If sizes are dynamic, the elements of such integer tensors are
// expressions of sizes. This file computes these expressions element by
// element, also for comparisons and selections. An element that depends on
// other run-time values is unknown.

#include "compiler/import/KnownSizes.h"

#include "compiler/import/TensorData.h"
#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {
namespace {

using Known = std::optional<Dim>;

/// A float that is computed from sizes is represented as an integer multiple of
/// 1 / floatUnit; other floats are unknown.
constexpr int64_t floatUnit = 256;

bool isFloat(Type type) { return type.isF32() || type.isF64(); }
bool isFloat(Operation *op) { return isFloat(elementOf(op->getResult(0))); }

/// Return the product and the quotient of two floats, all in units of 1 /
/// floatUnit; nullopt if the result might not be a multiple of 1 / floatUnit,
/// or if the divisor is not a known positive number.
Known floatProduct(const Dim &x, const Dim &y) {
  return (x * y).dividedBy(Dim(floatUnit));
}
Known floatQuotient(const Dim &x, const Dim &y) {
  if (!y.known() || *y.known() <= 0)
    return std::nullopt;
  return (x * floatUnit).dividedBy(y);
}

Dim floorOf(const Dim &x) { return x.floorDiv(floatUnit) * floatUnit; }
Dim ceilOf(const Dim &x) { return Dim(0) - floorOf(Dim(0) - x); }
/// Rounds a float, in units of 1 / floatUnit, to an integer. Returns nullopt
/// unless the float is always an integer, because size expressions cannot round
/// ties to even.
Known roundOf(const Dim &x) {
  if (x.divisor() % floatUnit == 0)
    return x;
  return std::nullopt;
}

/// Returns x / y rounded towards zero; nullopt if y is 0, or is a dynamic size
/// that may be negative.
Known quotientOf(const Dim &x, const Dim &y) {
  if (auto even = x.dividedBy(y))
    return even;
  Dim none = 0;
  if (y.most() < 0 && y.known())
    return quotientOf(none - x, none - y);
  if (y.least() < 0 || y == 0)
    return std::nullopt;
  // A run that reaches this division does not divide by 0, so y >= 1 is
  // assumed.
  Dim by = largerOf(y, 1);
  Dim down = floorDiv(x, by);
  return x.least() >= 0 ? down
                        : ifLess(x, 0, none - floorDiv(none - x, by), down);
}

/// Returns x modulo y, with the sign of y; nullopt unless y is always positive.
Known moduloOf(const Dim &x, const Dim &y) {
  if (y.least() <= 0)
    return std::nullopt;
  return x - floorDiv(x, y) * y;
}

/// Returns `x` converted from type `from` to type `to`. A float is rounded
/// towards zero when it becomes an integer.
Known castOf(const Dim &x, Type from, Type to) {
  if (to.isInteger(1))
    return ifEqual(x, 0, 0, 1);
  if (isFloat(from) == isFloat(to))
    return x;
  return isFloat(to) ? x * floatUnit : quotientOf(x, Dim(floatUnit));
}

/// Returns one element of the result of an operator on floats, given one
/// element of each operand, all in units of 1 / floatUnit; nullopt if the
/// operator is not supported or the result is unknown.
Known elementOfFloats(Operation *op, ArrayRef<Dim> x) {
  return llvm::TypeSwitch<Operation *, Known>(op)
      .Case([&](MulOp) { return floatProduct(x[0], x[1]); })
      .Case([&](DivOp) { return floatQuotient(x[0], x[1]); })
      .Case([&](FloorOp) { return floorOf(x[0]); })
      .Case([&](CeilOp) { return ceilOf(x[0]); })
      .Case([&](RoundOp) { return roundOf(x[0]); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns one element of the result of an elementwise operator, given one
/// element of each operand; nullopt if the operator is not supported or the
/// result is not an expression of sizes.
Known elementOfResult(Operation *op, ArrayRef<Dim> x) {
  if (isFloat(op))
    if (Known result = elementOfFloats(op, x))
      return result;
  if (isFloat(op) && isa<MulOp, DivOp, ModOp>(op))
    return std::nullopt;
  // On integers, NotOp, AndOp and OrOp are bitwise, which size expressions
  // cannot represent.
  if (isa<NotOp, AndOp, OrOp>(op) && !elementOf(op->getResult(0)).isInteger(1))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Known>(op)
      .Case([&](AddOp) { return x[0] + x[1]; })
      .Case([&](SubOp) { return x[0] - x[1]; })
      .Case([&](MulOp) { return x[0] * x[1]; })
      .Case([&](DivOp) { return quotientOf(x[0], x[1]); })
      .Case([&](MaximumOp) { return largerOf(x[0], x[1]); })
      .Case([&](MinimumOp) { return smallerOf(x[0], x[1]); })
      .Case([&](NegOp) { return Dim(0) - x[0]; })
      .Case([&](AbsOp) { return largerOf(x[0], Dim(0) - x[0]); })
      .Case([&](ReluOp) { return largerOf(x[0], 0); })
      .Case([&](ModOp mod) {
        // With fmod, the remainder has the sign of x, whereas the result of
        // moduloOf is not negative. So x must not be negative.
        return mod.getFmod() && x[0].least() < 0 ? Known()
                                                 : moduloOf(x[0], x[1]);
      })
      .Case([&](EqualOp) { return ifEqual(x[0], x[1], 1, 0); })
      .Case([&](LessOp) { return ifLess(x[0], x[1], 1, 0); })
      .Case([&](GreaterOp) { return ifLess(x[1], x[0], 1, 0); })
      .Case([&](LessOrEqualOp) { return ifLess(x[1], x[0], 0, 1); })
      .Case([&](GreaterOrEqualOp) { return ifLess(x[0], x[1], 0, 1); })
      .Case([&](NotOp) { return Dim(1) - x[0]; })
      .Case([&](AndOp) { return smallerOf(x[0], x[1]); })
      .Case([&](OrOp) { return largerOf(x[0], x[1]); })
      .Case([&](WhereOp) { return ifEqual(x[0], 0, x[2], x[1]); })
      .Case([&](CastOp cast) {
        return castOf(x[0], elementOf(cast.getX()),
                      elementOf(cast.getResult()));
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Maps each tensor to a list of its elements in row-major order. The list is
/// empty if the tensor is too large to be a shape or its element type cannot
/// represent sizes.
class SizeValues {
public:
  const KnownElements &of(Value value) {
    auto [place, isNew] = all.try_emplace(value);
    if (isNew) {
      KnownElements elements = compute(value);
      for (Known &x : elements)
        if (x && !isCounted(*x, elementOf(value)))
          x.reset();
      all[value] = std::move(elements);
    }
    return all[value];
  }

private:
  KnownElements compute(Value value) {
    Operation *op = value.getDefiningOp();
    Type element = elementOf(value);
    bool isWide =
        element.isIntOrIndex() &&
        (element.isInteger(1) || element.getIntOrFloatBitWidth() >= 32);
    // The largest number of elements; a longer tensor is not a shape.
    constexpr int64_t mostElements = 256;
    if (hasDynamicSizes(value.getType()) || !(isWide || isFloat(element)) ||
        elementsOf(value) > mostElements)
      return {};
    KnownElements unknown(elementsOf(value));
    if (!op)
      return unknown;
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (!hasData(constant.getValue()))
        return unknown;
      if (isFloat(element))
        return floatsOf(constant.getValue());
      SmallVector<int64_t> numbers = elementsAsInts(constant.getValue());
      return KnownElements(numbers.begin(), numbers.end());
    }
    if (auto sizes = dyn_cast<SizesOp>(op)) {
      Dims dims = dimsOf(sizes.getSizes());
      return KnownElements(dims.begin(), dims.end());
    }
    SmallVector<KnownElements> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(of(operand));
      if (elementsOf(operand) != int64_t(operands.back().size()))
        return unknown;
    }
    return result(op, operands).value_or(unknown);
  }

  /// Returns the elements of a float constant in units of 1 / floatUnit;
  /// nullopt for elements that are not a multiple of the unit.
  static KnownElements floatsOf(ElementsAttr value) {
    KnownElements elements;
    for (const APFloat &x : toDense(value).getValues<APFloat>()) {
      double units = x.convertToDouble() * floatUnit;
      bool isWhole =
          std::abs(units) <= double(mostCounted) && units == std::floor(units);
      elements.push_back(isWhole ? Known(static_cast<int64_t>(units))
                                 : std::nullopt);
    }
    return elements;
  }

  /// Whether `x` is within the range of the type and of exact arithmetic, and
  /// is an expression short enough to be computed again at each use.
  static bool isCounted(const Dim &x, Type type) {
    if (isFloat(type) && !isExactFloat(x))
      return false;
    // An unsigned number below 0 wraps.
    if (type.isUnsignedInteger() && x.least() < 0)
      return false;
    bool isWide = type.getIntOrFloatBitWidth() > 32;
    if (x.known() && (isWide || isFloat(type)))
      return true;
    constexpr size_t longestDefinition = 400;
    bool isShort = llvm::all_of(x.symbols(), [](kernel::SymbolAttr symbol) {
      return symbol.isGiven() || symbol.getName().size() <= longestDefinition;
    });
    int64_t most = isWide ? mostCounted : INT32_MAX,
            least = isWide ? -mostCounted : INT32_MIN;
    return isShort && x.least() >= least && x.most() <= most;
  }

  /// Whether float32 represents exactly all values of `x`, which is in units of
  /// 1 / floatUnit.
  static bool isExactFloat(const Dim &x) {
    constexpr int64_t mostMantissa = int64_t(1) << 24;
    int64_t most =
        x.divisor() % floatUnit == 0 ? mostMantissa * floatUnit : mostMantissa;
    return x.least() >= -most && x.most() <= most;
  }

  /// The largest magnitude of numbers that are used in arithmetic. Larger
  /// numbers, such as INT64_MAX, which stands for the end of an axis in Slice,
  /// are only compared and moved.
  static constexpr int64_t mostCounted = int64_t(1) << 40;
  static bool isSmall(const Dim &x) {
    return x.least() >= -mostCounted && x.most() <= mostCounted;
  }
  /// Whether the result of an operator is computed without overflow.
  static bool isExact(Operation *op, ArrayRef<Dim> x) {
    if (!isa<AddOp, SubOp, MulOp, DivOp, NegOp>(op))
      return true;
    Dim product = isa<MulOp>(op) ? x[0] * x[1] : Dim(0);
    if (isFloat(op) && isa<DivOp>(op))
      product = x[0] * floatUnit;
    return llvm::all_of(x, isSmall) && isSmall(product);
  }

  /// Returns the elements of the result of `op`, given the elements of its
  /// operands; nullopt if this class does not support the operator.
  std::optional<KnownElements> result(Operation *op,
                                      ArrayRef<KnownElements> operands) {
    if (isa<ReshapeOp>(op))
      return operands[0];
    if (isa<ElementwiseOpInterface>(op))
      return elementwise(op, operands);
    if (auto slice = dyn_cast<SliceOp>(op))
      return moved(op, operands[0], [&](MutableArrayRef<int64_t> at) {
        for (auto [i, start, step] :
             llvm::zip(at, slice.getStarts(), slice.getSteps()))
          i = start + i * step;
      });
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return moved(op, operands[0], [&](MutableArrayRef<int64_t> at) {
        SmallVector<int64_t> own(at);
        for (auto [i, axis] : llvm::zip(own, transpose.getPerm()))
          at[axis] = i;
      });
    if (isa<ExpandOp>(op))
      return moved(op, operands[0], [](MutableArrayRef<int64_t>) {});
    if (auto gather = dyn_cast<GatherOp>(op))
      return gathered(gather, operands[0], operands[1]);
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      if (concat.getType().getRank() != 1)
        return std::nullopt;
      KnownElements joined;
      for (const KnownElements &part : operands)
        llvm::append_range(joined, part);
      return joined;
    }
    if (isa<ReduceProdOp, ReduceSumOp, ReduceMaxOp, ReduceMinOp>(op) &&
        elementsOf(op->getResult(0)) == 1)
      return reduced(op, operands[0]);
    return std::nullopt;
  }

  /// Returns the product, sum, maximum or minimum of all elements of `x`, as
  /// `op` requires; nullopt if `x` is empty, if an element is unknown, if a
  /// number is too large for exact arithmetic, or if `op` is a product of
  /// floats.
  static std::optional<KnownElements> reduced(Operation *op,
                                              const KnownElements &x) {
    auto all = allOf(x);
    if (isFloat(op) && isa<ReduceProdOp>(op))
      return std::nullopt;
    if (!all || all->empty() || !llvm::all_of(*all, isSmall))
      return std::nullopt;
    Dim one = all->front();
    for (const Dim &next : ArrayRef(*all).drop_front()) {
      one = isa<ReduceProdOp>(op)  ? one * next
            : isa<ReduceSumOp>(op) ? one + next
            : isa<ReduceMaxOp>(op) ? largerOf(one, next)
                                   : smallerOf(one, next);
      if (!isSmall(one))
        return std::nullopt;
    }
    return KnownElements{one};
  }

  static int64_t elementsOf(Value value) {
    return tensorType(value).getNumElements();
  }

  /// Returns the coordinates of element `number`, in row-major order, of a
  /// tensor of shape `shape`.
  static SmallVector<int64_t> placeOf(int64_t number, ArrayRef<int64_t> shape) {
    SmallVector<int64_t> at(shape.size());
    for (size_t axis = shape.size(); axis-- > 0; number /= shape[axis])
      at[axis] = number % shape[axis];
    return at;
  }

  /// Returns the element of an operand of shape `shape` that broadcasting uses
  /// at the coordinates `at` of the result.
  static const Known &elementAt(const KnownElements &elements,
                                ArrayRef<int64_t> shape, ArrayRef<int64_t> at) {
    int64_t number = 0;
    for (auto [axis, size] : llvm::enumerate(shape)) {
      int64_t i = at[at.size() - shape.size() + axis];
      number = number * size + (size == 1 ? 0 : i);
    }
    return elements[number];
  }

  /// Returns the elements of a result that only moves elements of `x`; `from`
  /// maps coordinates of the result to those of `x`.
  static KnownElements
  moved(Operation *op, const KnownElements &x,
        llvm::function_ref<void(MutableArrayRef<int64_t>)> from) {
    KnownElements elements;
    Value result = op->getResult(0);
    for (int64_t i = 0; i < elementsOf(result); ++i) {
      SmallVector<int64_t> at = placeOf(i, shapeOf(result));
      from(at);
      elements.push_back(elementAt(x, shapeOf(op->getOperand(0)), at));
    }
    return elements;
  }

  static std::optional<KnownElements> gathered(GatherOp gather,
                                               const KnownElements &x,
                                               const KnownElements &indices) {
    ArrayRef<int64_t> from = shapeOf(gather.getX());
    if (from.size() != 1)
      return std::nullopt;
    KnownElements elements;
    for (const Known &index : indices) {
      auto i = index ? index->known() : std::nullopt;
      bool isInside = i && *i >= -from[0] && *i < from[0];
      elements.push_back(isInside ? x[*i < 0 ? *i + from[0] : *i]
                                  : std::nullopt);
    }
    return elements;
  }

  static KnownElements elementwise(Operation *op,
                                   ArrayRef<KnownElements> operands) {
    KnownElements elements;
    Value result = op->getResult(0);
    for (int64_t i = 0; i < elementsOf(result); ++i) {
      SmallVector<int64_t> at = placeOf(i, shapeOf(result));
      KnownElements in;
      for (auto [operand, x] : llvm::zip(op->getOperands(), operands))
        in.push_back(elementAt(x, shapeOf(operand), at));
      auto all = allOf(in);
      if (all && !isExact(op, *all))
        all.reset();
      elements.push_back(all ? elementOfResult(op, *all) : std::nullopt);
    }
    return elements;
  }

  llvm::DenseMap<Value, KnownElements> all;
};

} // namespace

std::optional<Dims> allOf(ArrayRef<std::optional<Dim>> elements) {
  Dims all;
  for (const std::optional<Dim> &x : elements) {
    if (!x)
      return std::nullopt;
    all.push_back(*x);
  }
  return all;
}

KnownElements elementsOfSizes(Value value) {
  KnownElements elements;
  if (elementOf(value).isIntOrIndex())
    elements = SizeValues().of(value);
  elements.resize(tensorType(value).getNumElements());
  return elements;
}

std::optional<Dims> valuesOfSizes(Value value) {
  KnownElements elements = SizeValues().of(value);
  bool isRead = elementOf(value).isIntOrIndex() &&
                tensorType(value).getNumElements() == int64_t(elements.size());
  return isRead ? allOf(elements) : std::nullopt;
}

} // namespace ingot
