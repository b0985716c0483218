// Finds how often the loops of a kernel iterate.
//
// The bounds of a loop are integers: constants, dynamic sizes of the model with
// their limits, integers that callers of the kernel pass, begin and end of a
// parallel loop, counters of outer loops, and arithmetic on these. Sums are
// kept as sums, so that `i + 4 - i` is known to be 4. For other operations,
// only the range of the result is known.

#include "compiler/evidence/LoopBounds.h"

#include "dialects/kernel/Extremum.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot {

static constexpr int64_t kLowest = std::numeric_limits<int64_t>::min(),
                         kHighest = std::numeric_limits<int64_t>::max();

/// Add, multiply and divide ends of ranges. The limits of int64_t stand for
/// infinity.
static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  if (a == kLowest || b == kLowest)
    return kLowest;
  if (a == kHighest || b == kHighest)
    return kHighest;
  return llvm::AddOverflow(a, b, sum) ? (a < 0 ? kLowest : kHighest) : sum;
}

static int64_t times(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  int64_t product;
  bool isInfinite = a == kLowest || a == kHighest || b == kLowest ||
                    b == kHighest || llvm::MulOverflow(a, b, product);
  return isInfinite ? ((a < 0) == (b < 0) ? kHighest : kLowest) : product;
}

static int64_t quotient(int64_t a, int64_t b) {
  return a == kLowest || a == kHighest ? a : a / b;
}

IntegerRanges::IntegerRanges(ModuleOp module)
    : module(module), symbols(module) {
  module.walk([&](kernel::LaunchOp launch) {
    Operation *callee = symbols.lookup(launch.getCallee());
    auto &arguments = passed[callee];
    // The integers of a kernel for several shapes follow its buffers.
    for (auto [i, value] :
         llvm::enumerate(launch.getValues().value_or(ArrayRef<int64_t>()))) {
      auto [known, isNew] = arguments.try_emplace(launch.getNumOperands() + i,
                                                  Range{value, value});
      if (!isNew)
        known->second = {std::min(known->second.least, value),
                         std::max(known->second.most, value)};
    }
  });
}

void IntegerRanges::Sum::add(const Sum &other, int64_t factor) {
  constant = plus(constant, times(other.constant, factor));
  for (auto [value, count] : other.terms) {
    auto same = llvm::find_if(terms, [value = value](const auto &term) {
      return term.first == value;
    });
    if (same == terms.end())
      terms.push_back({value, count * factor});
    else if ((same->second += count * factor) == 0)
      terms.erase(same);
  }
}

IntegerRanges::Sum IntegerRanges::sumOf(Value value) {
  Sum sum;
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    sum.constant = constant.getSExtValue();
  } else if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    sum = sumOf(op->getOperand(0));
    sum.add(sumOf(op->getOperand(1)), isa<arith::AddIOp>(op) ? 1 : -1);
  } else if (isa_and_nonnull<arith::IndexCastOp>(op)) {
    return sumOf(op->getOperand(0));
  } else if (auto product = dyn_cast_or_null<arith::MulIOp>(op);
             product &&
             matchPattern(product.getRhs(), m_ConstantInt(&constant))) {
    sum.add(sumOf(product.getLhs()), constant.getSExtValue());
  } else {
    sum.terms.push_back({value, 1});
  }
  return sum;
}

IntegerRanges::Range IntegerRanges::rangeOf(const Sum &sum) {
  Range range{sum.constant, sum.constant};
  for (auto [value, factor] : sum.terms) {
    Range part = rangeOf(value);
    int64_t a = times(part.least, factor), b = times(part.most, factor);
    range = {plus(range.least, std::min(a, b)),
             plus(range.most, std::max(a, b))};
  }
  return range;
}

IntegerRanges::Range IntegerRanges::rangeOf(Value value) {
  auto known = ranges.find(value);
  if (known != ranges.end())
    return known->second;
  // A value that depends on itself, such as a loop-carried counter, has no
  // bounds.
  ranges[value] = {kLowest, kHighest};
  Range range = computeRange(value);
  ranges[value] = range;
  return range;
}

IntegerRanges::Range IntegerRanges::rangeOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  Range unknown{kLowest, kHighest};
  unsigned number = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (argument != loop.getInductionVar()) {
      // The initial value, and the value that an iteration yields. While the
      // latter is computed, rangeOf takes the carried value as unbounded.
      Range first = rangeOf(loop.getInitArgs()[number - 1]),
            next = rangeOf(loop.getYieldedValues()[number - 1]);
      return {std::min(first.least, next.least),
              std::max(first.most, next.most)};
    }
    return {rangeOf(loop.getLowerBound()).least,
            plus(rangeOf(loop.getUpperBound()).most, -1)};
  }
  if (auto step = dyn_cast<kernel::ParallelOp>(parent))
    return {0, int64_t(step.getExtent())};
  auto kernel = dyn_cast<kernel::FuncOp>(parent);
  if (!kernel)
    return unknown;
  unsigned count = kernel.getNumArguments(),
           parts = kernel::partArguments(kernel);
  if (number + parts >= count)
    return {0, kernel::extentOf(kernel)->most()};
  auto &arguments = passed[kernel];
  if (auto given = arguments.find(number); given != arguments.end())
    return given->second;
  kernel::Dims sizes =
      kernel.getSizes() ? kernel::dimsOf(*kernel.getSizes()) : kernel::Dims();
  unsigned first = count - parts - sizes.size();
  if (number < first)
    return unknown;
  return {sizes[number - first].least(), sizes[number - first].most()};
}

/// Whether an operation returns the maximum (true) or the minimum (false) of
/// its two operands; no value for any other operation and for null. It may be
/// an arith operation, or a call of a function such as max_index.
static std::optional<bool> extremumOf(Operation *op) {
  if (isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(op))
    return isa<arith::MaxSIOp>(op);
  auto call = dyn_cast_or_null<func::CallOp>(op);
  auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                           call, call.getCalleeAttr())
                     : func::FuncOp();
  if (!callee || callee.isExternal() || callee.getNumArguments() != 2)
    return std::nullopt;
  Operation *end = callee.getBody().front().getTerminator();
  auto choice = end->getNumOperands() == 1
                    ? end->getOperand(0).getDefiningOp<arith::SelectOp>()
                    : arith::SelectOp();
  if (!choice || !choice.getType().isIntOrIndex() ||
      choice.getTrueValue() != callee.getArgument(0) ||
      choice.getFalseValue() != callee.getArgument(1))
    return std::nullopt;
  return kernel::isMaximum(choice);
}

IntegerRanges::Range IntegerRanges::computeRange(Value value) {
  Range unknown{kLowest, kHighest};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return rangeOfArgument(argument);
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return rangeOf(op->getOperand(i)); };
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), constant.getSExtValue()};
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return rangeOf(sumOf(value));
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return operand(0);
  if (isa<arith::MulIOp>(op)) {
    Range a = operand(0), b = operand(1);
    int64_t ends[] = {times(a.least, b.least), times(a.least, b.most),
                      times(a.most, b.least), times(a.most, b.most)};
    return {*llvm::min_element(ends), *llvm::max_element(ends)};
  }
  if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::DivUIOp>(op)) {
    Range a = operand(0), b = operand(1);
    if (b.least < 1 || (a.least < 0 && !isa<arith::DivSIOp>(op)))
      return unknown;
    return {quotient(a.least, a.least < 0 ? b.least : b.most),
            quotient(a.most, a.most < 0 ? b.most : b.least)};
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    Range a = operand(0), b = operand(1);
    if (a.least < 0 || b.least < 1)
      return unknown;
    return {0, std::min(a.most, b.most - 1)};
  }
  if (isa<arith::AndIOp>(op)) {
    Range a = operand(0), b = operand(1);
    if (a.least < 0 && b.least < 0)
      return unknown;
    return {0, std::min(a.least < 0 ? kHighest : a.most,
                        b.least < 0 ? kHighest : b.most)};
  }
  if (std::optional<bool> isMax = extremumOf(op)) {
    Range a = operand(0), b = operand(1);
    if (*isMax)
      return {std::max(a.least, b.least), std::max(a.most, b.most)};
    return {std::min(a.least, b.least), std::min(a.most, b.most)};
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    Range a = operand(1), b = operand(2);
    Range either{std::min(a.least, b.least), std::max(a.most, b.most)};
    // `a < b ? a : b` is at most a and at most b; `a > b ? a : b` is at least a
    // and at least b.
    auto compare = choice.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare)
      return either;
    Value x = compare.getLhs(), y = compare.getRhs();
    bool isStraight = x == choice.getTrueValue() && y == choice.getFalseValue(),
         isCrossed = y == choice.getTrueValue() && x == choice.getFalseValue();
    auto predicate = compare.getPredicate();
    bool isLess = predicate == arith::CmpIPredicate::slt ||
                  predicate == arith::CmpIPredicate::sle,
         isGreater = predicate == arith::CmpIPredicate::sgt ||
                     predicate == arith::CmpIPredicate::sge;
    if ((isStraight && isLess) || (isCrossed && isGreater))
      either.most = std::min(a.most, b.most);
    if ((isStraight && isGreater) || (isCrossed && isLess))
      either.least = std::max(a.least, b.least);
    return either;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    Range a = rangeOf(branch.thenYield().getOperand(number)),
          b = rangeOf(branch.elseYield().getOperand(number));
    return {std::min(a.least, b.least), std::max(a.most, b.most)};
  }
  return unknown;
}

IntegerRanges::Range IntegerRanges::difference(Value a, Value b,
                                               unsigned depth) {
  Sum sum = sumOf(a);
  sum.add(sumOf(b), -1);
  Range range = rangeOf(sum);
  // min(x, y) - b is at most x - b, and at most y - b. a - max(x, y) is at most
  // a - x, and at most a - y.
  constexpr unsigned deepest = 4;
  if (depth == deepest)
    return range;
  if (Operation *least = a.getDefiningOp(); extremumOf(least) == false) {
    Range x = difference(least->getOperand(0), b, depth + 1),
          y = difference(least->getOperand(1), b, depth + 1);
    range.most = std::min({range.most, x.most, y.most});
    range.least = std::max(range.least, std::min(x.least, y.least));
  }
  if (Operation *most = b.getDefiningOp(); extremumOf(most) == true) {
    Range x = difference(a, most->getOperand(0), depth + 1),
          y = difference(a, most->getOperand(1), depth + 1);
    range.most = std::min({range.most, x.most, y.most});
    range.least = std::max(range.least, std::min(x.least, y.least));
  }
  return range;
}

std::string IntegerRanges::textOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::to_string(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (isa<kernel::ParallelOp>(parent))
      return number == 0 ? "begin" : "end";
    if (isa<scf::ForOp>(parent))
      return kernel::nameOf(value).str();
    auto kernel = dyn_cast<kernel::FuncOp>(parent);
    if (!kernel)
      return "";
    unsigned count = kernel.getNumArguments(),
             parts = kernel::partArguments(kernel);
    if (number + parts >= count)
      return number + 2 == count ? "begin" : "end";
    kernel::Dims sizes =
        kernel.getSizes() ? kernel::dimsOf(*kernel.getSizes()) : kernel::Dims();
    unsigned first = count - parts - sizes.size();
    return number >= first ? "(" + sizeText(sizes[number - first]) + ")" : "";
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return textOf(op->getOperand(0));
  const char *sign =
      isa<arith::AddIOp>(op)                                         ? " + "
      : isa<arith::SubIOp>(op)                                       ? " - "
      : isa<arith::MulIOp>(op)                                       ? " * "
      : isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op) ? " / "
                                                                     : nullptr;
  std::optional<bool> isMax = extremumOf(op);
  const char *function = !isMax ? nullptr : *isMax ? "max" : "min";
  if (!sign && !function)
    return "";
  std::string a = textOf(op->getOperand(0)), b = textOf(op->getOperand(1));
  if (a.empty() || b.empty())
    return "";
  return function ? std::string(function) + "(" + a + ", " + b + ")"
                  : "(" + a + sign + b + ")";
}

LoopBound IntegerRanges::boundOf(scf::ForOp loop) {
  Range step = rangeOf(loop.getStep()),
        span = difference(loop.getUpperBound(), loop.getLowerBound());
  LoopBound bound;
  if (step.least < 1)
    return bound;
  auto iterations = [](int64_t length, int64_t by) {
    return length <= 0 ? 0 : (length - 1) / by + 1;
  };
  if (span.most != kHighest)
    bound.most = iterations(span.most, step.least);
  if (span.least != kLowest && step.most != kHighest)
    bound.least = iterations(span.least, step.most);
  if (bound.isExact())
    return bound;
  std::string from = textOf(loop.getLowerBound()),
              to = textOf(loop.getUpperBound()), by = textOf(loop.getStep());
  if (from.empty() || to.empty() || by.empty())
    return bound;
  std::string length = from == "0" ? to : "(" + to + " - " + from + ")";
  bound.formula = by == "1" ? length : "ceil(" + length + " / " + by + ")";
  return bound;
}

LoopBound IntegerRanges::boundOf(kernel::LoopOp loop) const {
  LoopBound bound;
  if (!loop.getCount())
    return bound;
  kernel::Dim count = kernel::dimsOf(loop.getCountAttr()).front();
  bound.most = std::max<int64_t>(count.most(), 0);
  // A limit or a condition may end the loop earlier.
  bool endsEarly =
      loop.getLimit() || loop.getCondition() || loop.getConditional();
  bound.least = endsEarly ? 0 : std::max<int64_t>(count.least(), 0);
  if (!count.known())
    bound.formula = sizeText(count);
  return bound;
}

} // namespace ingot
