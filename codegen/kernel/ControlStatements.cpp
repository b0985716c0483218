// Prints loops and conditions of a kernel, with their carried values.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/LoopAttributes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot {

/// Prints assignments of the values `from` to the variables `to`, as if all
/// were assigned at once: through copies if an assignment would change a value
/// that a later one reads.
void KernelPrinter::assignAll(ValueRange to, ValueRange from) {
  SmallVector<std::pair<Value, Value>> moves;
  llvm::DenseSet<Value> assigned;
  for (auto [target, source] : llvm::zip_equal(to, from))
    if (placement.variable(target) != placement.variable(source)) {
      moves.push_back({target, source});
      assigned.insert(placement.variable(target));
    }
  auto readsAssigned = [&](Value source) {
    while (Operation *op = source.getDefiningOp()) {
      if (!isTransparent(op) || op->getNumOperands() == 0)
        break;
      source = op->getOperand(0);
    }
    return assigned.contains(placement.variable(source));
  };
  bool copies =
      moves.size() > 1 && llvm::any_of(moves, [&](std::pair<Value, Value> m) {
        return readsAssigned(m.second);
      });
  SmallVector<std::string> texts;
  for (auto [target, source] : moves) {
    Sign sign = variables[placement.variable(target)].sign;
    Expression expression = isMask(target.getType())
                                ? maskAs(source, maskBits(target))
                                : initializer(source, sign);
    if (copies) {
      std::string copy = names.numbered("next");
      out.line("const " + declaredType(target, sign) + " " + copy + " = " +
               expression.text + ";");
      texts.push_back(copy);
    } else {
      define(target, expression);
    }
  }
  for (auto [move, text] : llvm::zip(moves, texts))
    out.line(variables[placement.variable(move.first)].name + " = " + text +
             ";");
}

void KernelPrinter::printFor(scf::ForOp loop) {
  auto start = [&](ValueRange carried, ValueRange inits) {
    for (auto [argument, init] : llvm::zip_equal(carried, inits))
      if (placement.variable(argument) != placement.variable(init)) {
        Sign sign = signOf(argument);
        define(argument, isMask(argument.getType())
                             ? maskAs(init, maskBits(argument))
                             : initializer(init, sign));
      }
  };
  start(loop.getRegionIterArgs(), loop.getInitArgs());

  inScope([&] { printLoop(loop); });
}

void KernelPrinter::printLoop(scf::ForOp loop) {
  Value counter = loop.getInductionVar();
  std::string name = nameHint(counter);
  name = names.unique(name.empty() ? "i" : name);
  variables[counter] = {name, Sign::Signed};

  std::string type = typeName(counter.getType(), Sign::Signed);
  APInt step;
  bool byOne = matchPattern(loop.getStep(), m_ConstantInt(&step)) && step == 1;
  // GCC and clang share the pragma that unrolls a number of times (1: not at
  // all), but not one that unrolls fully, so INGOT_UNROLLED is a macro.
  if (auto unrolled = loop->getAttrOfType<BoolAttr>(kernel::kUnrolledAttr))
    out.line(unrolled.getValue() ? "INGOT_UNROLLED" : "#pragma GCC unroll 1");
  if (auto count = loop->getAttrOfType<IntegerAttr>(kernel::kUnrollCountAttr))
    out.line("#pragma GCC unroll " + Twine(count.getInt()));
  if (auto count =
          loop->getAttrOfType<IntegerAttr>(kernel::kClangUnrollCountAttr)) {
    out.line("#if defined(__clang__)");
    out.line("#pragma clang loop unroll_count(" + Twine(count.getInt()) + ")");
    out.line("#endif");
  }
  if (loop->hasAttr(kernel::kScalarAttr))
    out.line("#pragma clang loop vectorize(disable)");
  SourceMap::Mark mark(context.map, out, SourceMap::Kind::Loop, loop);
  out.open(
      "for (" + type + " " + name + " = " +
      integer(loop.getLowerBound(), Sign::Signed).text + "; " + name + " < " +
      within(integer(loop.getUpperBound(), Sign::Signed), Binding::Sum) + "; " +
      (byOne ? "++" + name
             : name + " += " + integer(loop.getStep(), Sign::Signed).text) +
      ") {");
  printBlock(*loop.getBody());
  assignAll(loop.getRegionIterArgs(), loop.getYieldedValues());
  out.close();
}

void KernelPrinter::printParallel(kernel::ParallelOp step) {
  inScope([&] {
    auto declare = [&](Value bound, StringRef name) {
      variables[bound] = {names.unique(name), Sign::Signed};
      return "ptrdiff_t " + variables[bound].name;
    };
    Block &body = step.getBody().front();
    std::string begin = declare(body.getArgument(0), "begin"),
                end = declare(body.getArgument(1), "end");
    // C has no functions that capture variables, so the thread that calls the
    // kernel executes the whole loop.
    if (out.language.isC) {
      out.open("{");
      out.line("const " + begin + " = 0;");
      out.line("const " + end + " = " + Twine(step.getExtent()) + ";");
      printBlock(body);
      out.close();
      return;
    }
    int64_t extent = step.getExtent();
    out.open("parallel(" + threads + ", " + Twine(extent) + ", " +
             Twine(context.nanoseconds(step.getCycles(), extent)) + ", [=](" +
             begin + ", " + end + ") {");
    printBlock(body);
    out.close("});");
  });
}

void KernelPrinter::printWhile(scf::WhileOp loop) {
  for (auto [argument, init] :
       llvm::zip_equal(loop.getBeforeArguments(), loop.getInits())) {
    Sign sign = signOf(argument);
    define(argument, isMask(argument.getType())
                         ? maskAs(init, maskBits(argument))
                         : initializer(init, sign));
  }
  for (Value result : loop.getResults())
    if (!variables.count(placement.variable(result)))
      declareUninitialized(result);
  SourceMap::Mark mark(context.map, out, SourceMap::Kind::Loop, loop);
  out.open("for (;;) {");
  inScope([&] {
    printBlock(*loop.getBeforeBody());
    scf::ConditionOp condition = loop.getConditionOp();
    assignAll(loop.getResults(), condition.getArgs());
    Expression holds = value(condition.getCondition());
    out.line("if (!" + within(holds, Binding::Unary) + ") break;");
    printBlock(*loop.getAfterBody());
    assignAll(loop.getBeforeArguments(), loop.getYieldOp().getOperands());
  });
  out.close();
}

void KernelPrinter::printIf(scf::IfOp op) {
  if (placement.isConditional(op))
    return define(op.getResult(0), conditional(op));
  for (Value result : op.getResults())
    if (!variables.count(placement.variable(result)))
      declareUninitialized(result);
  auto arm = [&](Block &block) {
    inScope([&] {
      printBlock(block);
      assignAll(op.getResults(), block.getTerminator()->getOperands());
    });
  };
  out.open("if (" + value(op.getCondition()).text + ") {");
  arm(*op.thenBlock());
  bool hasElse =
      op.elseBlock() &&
      (op.getNumResults() > 0 || !op.elseBlock()->without_terminator().empty());
  if (hasElse) {
    out.middle("} else {");
    arm(*op.elseBlock());
  }
  out.close();
}

} // namespace ingot
