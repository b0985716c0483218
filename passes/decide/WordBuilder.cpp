#include "passes/decide/WordBuilder.h"

#include <cmath>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

RankedTensorType WordBuilder::typeOf(Value x, Value y) {
  auto sizes = broadcastShapes({dimsOf(x), dimsOf(y)});
  return tensorOf(*sizes, elementOf(x));
}

Value WordBuilder::shifted(Value x, Value by, StringRef direction) {
  auto made = BitShiftOp::create(builder, loc, TypeRange{typeOf(x, by)},
                                 ValueRange{x, by});
  made->setAttr("direction", builder.getStringAttr(direction));
  return made->getResult(0);
}

Value WordBuilder::left(Value x, int64_t by) {
  return by == 0 ? x : shifted(x, number(by), "LEFT");
}

Value WordBuilder::right(Value x, int64_t by) {
  return by == 0 ? x : shifted(x, number(by), "RIGHT");
}

Value WordBuilder::number(int64_t value) {
  return constant(Numbers::of(double(value)));
}

Value WordBuilder::constant(const Numbers &numbers) {
  auto type = RankedTensorType::get(numbers.shape, si32);
  auto values = llvm::map_to_vector(numbers.values, [](double x) {
    return APInt(32, static_cast<int64_t>(x), /*isSigned=*/true);
  });
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, values));
}

Value WordBuilder::cast(Value x, Type type) {
  return elementOf(x) == type ? x : CastOp::create(builder, loc, x, type);
}

Value WordBuilder::bits(Value x, Type type) {
  return BitCastOp::create(builder, loc, tensorOf(dimsOf(x), type), x);
}

Value WordBuilder::sum(const Sum &sum, int fraction) {
  Value result;
  for (const Term &each : sum.terms) {
    Value v = term(each, fraction);
    result = result ? binary<AddOp>(result, v) : v;
  }
  Numbers addend = sum.constant.mapped(
      [&](double x) { return std::nearbyint(std::ldexp(x, fraction)); });
  return addend.most() == 0 ? result : binary<AddOp>(result, constant(addend));
}

Value WordBuilder::term(const Term &term, int fraction) {
  auto inUnits = [&](const Numbers &limit) {
    return constant(limit.mapped(
        [&](double x) { return std::nearbyint(std::ldexp(x, fraction)); }));
  };
  if (term.limited) {
    Value v = sum(*term.limited, fraction);
    if (term.least)
      v = binary<MaximumOp>(v, inUnits(*term.least));
    return term.most ? binary<MinimumOp>(v, inUnits(*term.most)) : v;
  }
  int shift = term.shift(fraction);
  Value x = left(cast(term.integer, si32), shift);
  Numbers multiplier = term.factor.mapped([&](double factor) {
    double m = std::nearbyint(std::ldexp(factor, 32 + fraction - shift));
    return std::clamp(m, -0x1p31, 0x1p31 - 1);
  });
  return binary<MulHighOp>(x, constant(multiplier));
}

bool fits(const Sum &sum, double bound, int fraction, int bits) {
  bool fits = std::ldexp(bound, fraction) < std::ldexp(1, bits);
  sum.forEachFactor([&](const Term &term) {
    fits &= std::ldexp(term.bound, term.shift(fraction)) < 0x1p31;
  });
  return fits;
}

} // namespace ingot::decide
