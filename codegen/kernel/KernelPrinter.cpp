// Statements of a kernel.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ValueNames.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

KernelPrinter::KernelPrinter(FunctionOpInterface kernel, SourceContext &context,
                             TextWriter &out)
    : kernel(kernel), context(context), out(out),
      placement(kernel.getFunctionBody()) {
  // Arguments may have the names of weights, but not of what is named here.
  kernel.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      names.reserve(context.functions[call.getCallee()]);
    else if (auto table = dyn_cast<memref::GetGlobalOp>(op))
      names.reserve(context.globals[table.getName()]);
  });
  nameGroups();
}

/// A variable is called as the first of its values that has a name: results
/// before carried values, which have the name of what they start from.
void KernelPrinter::nameGroups() {
  auto consider = [&](Value value) {
    if (!placement.isShared(value))
      return;
    llvm::StringRef name = kernel::nameOf(value);
    if (!name.empty())
      groupNames.try_emplace(placement.variable(value), name);
  };
  kernel.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { llvm::for_each(op->getResults(), consider); });
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), consider);
  });
}

/// A thread of a device has few registers and no vectors to align for.
int64_t KernelPrinter::alignmentOfLocals() const {
  constexpr int64_t word = 16;
  return context.target.isDevice() ? word : context.target.bufferAlign;
}

void KernelPrinter::print() {
  auto launched = dyn_cast<kernel::FuncOp>(*kernel);
  if (launched && launched.getComment())
    out.comment(*launched.getComment());
  else if (auto text = kernel->getAttrOfType<StringAttr>(kernel::kCommentAttr))
    out.comment(text.getValue());
  printSignature();
  bool isForPass =
      isa<kernel::FuncOp>(*kernel) && !context.passCondition.empty();
  if (isForPass)
    out.raw() << "#if " << context.passCondition << "\n";
  if (const Intrinsic *begin =
          context.target.intrinsic("kernel.func", Type(), Type());
      begin && launched)
    out.line(begin->spelling + ";");
  printAlignments();
  printShared();
  declareLoadRegisters();
  printBlock(kernel.getFunctionBody().front());
  if (isForPass)
    out.raw() << "#endif\n";
  out.close();
}

void KernelPrinter::printSignature() {
  unsigned count = kernel.getNumArguments();
  auto launched = dyn_cast<kernel::FuncOp>(*kernel);
  bool parallel = launched && kernel::partArguments(launched);
  std::string text;
  llvm::raw_string_ostream os(text);
  // A kernel is kept a function of its own: inlined into its only caller it
  // would make that caller as large as all kernels together. Functions of
  // numbers are inlined whatever their size, as their text was written there.
  if (context.target.isDevice())
    // Passes in which no kernel has a body call no helper.
    os << (launched ? "__global__ __launch_bounds__(" +
                          llvm::itostr(*launched.getThreads()) +
                          (launched.getResident()
                               ? ", " + llvm::itostr(*launched.getResident())
                               : std::string()) +
                          ") "
           : context.passCondition.empty()
               ? "__device__ __forceinline__ "
               : "[[maybe_unused]] __device__ __forceinline__ ");
  else
    os << (launched ? "[[gnu::noinline]] " : "[[gnu::always_inline]] inline ");
  os << (kernel.getNumResults() == 0
             ? std::string("void")
             : typeName(kernel.getResultTypes().front(), Sign::Signed))
     << ' ' << context.functions[kernel.getName()] << '(';
  for (auto [index, argument] : llvm::enumerate(kernel.getArguments())) {
    auto attribute = [&, index = index](llvm::StringRef name) {
      return kernel.getArgAttr(index, name);
    };
    llvm::StringRef hint;
    if (auto name = dyn_cast_or_null<StringAttr>(attribute(kernel::kNameAttr)))
      hint = name.getValue();
    os << (index ? ", " : "");
    Variable variable;
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      bool readOnly = attribute(kernel::kReadAttr) != nullptr;
      variable.name = hint.empty() ? names.numbered(readOnly ? "in" : "out")
                                   : names.unique(hint);
      os << (readOnly ? "const " : "") << storageTypeName(type.getElementType())
         << " *" << (attribute(kernel::kMayAliasAttr) ? "" : "__restrict ");
    } else {
      if (hint.empty() && parallel && index + 2 >= count)
        hint = index + 2 == count ? "begin" : "end";
      variable.name = hint.empty() ? names.numbered("arg") : names.unique(hint);
      os << typeName(argument.getType(), Sign::Signed) << ' ';
    }
    // Strategies may pass what one shape does not need.
    os << (argument.use_empty() ? "/*" + variable.name + "*/" : variable.name);
    variables[argument] = variable;
  }
  // Maps that the host makes.
  kernel.walk([&](kernel::TilesOp tiles) {
    std::string name = names.unique(nameHint(tiles.getTiles()));
    os << (count++ ? ", " : "") << "const __grid_constant__ CUtensorMap "
       << name;
    variables[tiles.getTiles()] = {name, Sign::Signed};
  });
  if (launched && kernel::sharesSteps(launched)) {
    threads = names.unique("context");
    os << (count ? ", " : "") << "const ingot_context *" << threads;
  }
  os << ") {";
  out.open(text);
}

/// Says of arguments what their types do not.
void KernelPrinter::printAlignments() {
  for (auto [index, argument] : llvm::enumerate(kernel.getArguments())) {
    auto bytes =
        kernel.getArgAttrOfType<IntegerAttr>(index, kernel::kAlignAttr);
    if (!bytes)
      continue;
    const std::string &name = variables[argument].name;
    bool readOnly = kernel.getArgAttr(index, kernel::kReadAttr) != nullptr;
    out.line(
        name + " = static_cast<" + (readOnly ? "const " : "") +
        storageTypeName(cast<MemRefType>(argument.getType()).getElementType()) +
        " *>(__builtin_assume_aligned(" + name + ", " + Twine(bytes.getInt()) +
        "));");
  }
}

void KernelPrinter::inScope(llvm::function_ref<void()> print) {
  NameScope outside = names;
  print();
  names = std::move(outside);
}

void KernelPrinter::printBlock(Block &block) {
  for (Operation &op : block)
    if (!placement.isNested(&op))
      printStatement(&op);
}

void KernelPrinter::printStatement(Operation *op) {
#define INGOT_STATEMENT(OP, FUNCTION)                                          \
  if (auto o = dyn_cast<OP>(op))                                               \
    return FUNCTION(o);
#define INGOT_TOGETHER INGOT_STATEMENT
#include "codegen/kernel/Printable.def"
  // Terminators are printed by what they end.
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (!printUpdate(op))
    define(op->getResult(0), ofOperation(op));
}

void KernelPrinter::printLocal(memref::AllocaOp local) {
  if (variables.count(local))
    return;
  MemRefType type = local.getType();
  std::string name = nameHint(local);
  name = name.empty() ? names.numbered("local") : names.unique(name);
  int64_t elements =
      kernel::spanBytes(type) / kernel::elementBytes(type.getElementType());
  bool isShared = isa_and_nonnull<gpu::AddressSpaceAttr>(type.getMemorySpace());
  out.line("alignas(" +
           Twine(local.getAlignment().value_or(alignmentOfLocals())) + ") " +
           (isShared ? "__shared__ " : "") +
           storageTypeName(type.getElementType()) + " " + name + "[" +
           Twine(std::max<int64_t>(elements, 1)) + "];");
  variables[local] = {name, Sign::Signed};
}

/// The same bytes under another shape: the name of the source, unless bytes are
/// skipped.
void KernelPrinter::printView(kernel::ViewOp view) {
  Variable source = variables.at(view.getSource());
  variables[view] = source;
  if (view.getOffset() != 0)
    variables[view].name =
        "(" + source.name + " + " +
        std::to_string(view.getOffset() /
                       kernel::elementBytes(view.getType().getElementType())) +
        ")";
}

std::string KernelPrinter::nameHint(Value value) {
  auto ofGroup = groupNames.find(placement.variable(value));
  return ofGroup != groupNames.end() ? ofGroup->second.str()
                                     : kernel::nameOf(value).str();
}

/// The name of the argument that an operation loads from: w0, w1 from w.
std::string KernelPrinter::loadedFrom(Operation *op) {
  constexpr size_t longest = 8;
  if (!isa_and_nonnull<memref::LoadOp, vector::LoadOp>(op))
    return "";
  auto buffer = variables.find(op->getOperand(0));
  if (buffer == variables.end() || buffer->second.name.size() > longest ||
      llvm::isDigit(buffer->second.name.back()))
    return "";
  return buffer->second.name;
}

KernelPrinter::Variable &KernelPrinter::newVariable(Value value, Sign sign) {
  std::string hint = nameHint(value), name;
  Type element = elementOf(value.getType());
  if (!hint.empty())
    name = names.unique(hint);
  else if (placement.isShared(value))
    name = names.numbered(isa<FloatType>(element) ? "acc" : "s");
  else if (element.isInteger(1))
    name = names.numbered(isVector(value.getType()) ? "mask" : "is");
  else if (element.isIndex())
    name = names.numbered("at");
  else if (std::string buffer = loadedFrom(value.getDefiningOp());
           !buffer.empty())
    name = names.numbered(buffer);
  else
    name = names.numbered("t");
  return variables[placement.variable(value)] = {name, sign};
}

std::string KernelPrinter::declaredType(Value value, Sign sign) {
  if (isMask(value.getType()))
    return useVector(maskTypeName(maskBits(value), laneCount(value.getType())));
  return typeName(value.getType(), sign);
}

void KernelPrinter::define(Value value, const Expression &expression) {
  auto known = variables.find(placement.variable(value));
  if (known != variables.end()) {
    std::string text = expression.text;
    // Vectors do not convert between signs by themselves.
    if (isVector(value.getType()) && !isMask(value.getType()) &&
        isa<IntegerType>(elementOf(value.getType())) &&
        known->second.sign != expression.sign)
      text = castTo(typeName(value.getType(), known->second.sign), expression)
                 .text;
    if (text != known->second.name)
      out.line(known->second.name + " = " + text + ";");
    return;
  }
  std::string type = declaredType(value, expression.sign);
  const Variable &variable = newVariable(value, expression.sign);
  out.line((placement.isShared(value) ? "" : "const ") + type + " " +
           variable.name + " = " + expression.text + ";");
}

void KernelPrinter::declareUninitialized(Value value) {
  Sign sign = isVector(value.getType()) ? Sign::Unsigned : Sign::Signed;
  std::string type = declaredType(value, sign);
  out.line(type + " " + newVariable(value, sign).name + ";");
}

/// `acc += a * b` and the like, where an operation updates its own variable.
bool KernelPrinter::printUpdate(Operation *op) {
  Value result = op->getResult(0);
  auto known = variables.find(placement.variable(result));
  if (known == variables.end() || !placement.isShared(result) ||
      context.target.intrinsic(op->getName().getStringRef(), result.getType(),
                               result.getType()))
    return false;
  auto isSelf = [&](Value value) {
    return placement.isShared(value) &&
           placement.variable(value) == placement.variable(result);
  };
  auto update = [&](llvm::StringRef spelling, const Expression &by) {
    out.line(known->second.name + spelling.str() + by.text + ";");
    return true;
  };
  if (isa<vector::FMAOp, math::FmaOp>(op)) {
    if (!isSelf(op->getOperand(2)) || isSelf(op->getOperand(0)) ||
        isSelf(op->getOperand(1)))
      return false;
    auto [a, b] = mixedOperands(op->getOperand(0), op->getOperand(1));
    return update(" += ", {within(a, Binding::Product) + " * " +
                               within(b, Binding::Unary),
                           Binding::Product});
  }
  llvm::StringRef spelling;
#define INGOT_FLOATS(OP, SPELLING, BINDING, UPDATE)                            \
  if (isa<OP>(op))                                                             \
    spelling = UPDATE;
#include "codegen/kernel/Printable.def"
  if (spelling.empty())
    return false;
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (op->hasTrait<OpTrait::IsCommutative>() && isSelf(right))
    std::swap(left, right);
  if (!isSelf(left) || isSelf(right))
    return false;
  return update(spelling, splatSource(right).value_or(value(right)));
}

/// Assigns all of `from` at once, through copies where one assignment would
/// change what a later one reads.
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
        Sign sign =
            isVector(argument.getType()) ? Sign::Unsigned : Sign::Signed;
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
  // Compilers of processors share the one that forbids it.
  if (auto unrolled = loop->getAttrOfType<BoolAttr>(kernel::kUnrolledAttr))
    out.line(unrolled.getValue() ? "INGOT_UNROLLED" : "#pragma GCC unroll 1");
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
    out.open(context.parallel + "(" + threads + ", " + Twine(step.getExtent()) +
             ", [=](" + begin + ", " + end + ") {");
    printBlock(body);
    out.close("});");
  });
}

void KernelPrinter::printWhile(scf::WhileOp loop) {
  for (auto [argument, init] :
       llvm::zip_equal(loop.getBeforeArguments(), loop.getInits())) {
    Sign sign = isVector(argument.getType()) ? Sign::Unsigned : Sign::Signed;
    define(argument, isMask(argument.getType())
                         ? maskAs(init, maskBits(argument))
                         : initializer(init, sign));
  }
  for (Value result : loop.getResults())
    if (!variables.count(placement.variable(result)))
      declareUninitialized(result);
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

void KernelPrinter::printInsert(vector::InsertOp insert) {
  Value result = insert.getResult();
  if (!placement.isShared(result) ||
      placement.variable(result) != placement.variable(insert.getDest())) {
    Expression copy = isMask(result.getType())
                          ? maskAs(insert.getDest(), maskBits(result))
                          : value(insert.getDest());
    std::string type = declaredType(result, copy.sign);
    if (variables.count(placement.variable(result))) {
      define(result, copy);
    } else {
      const Variable &variable = newVariable(result, copy.sign);
      out.line(type + " " + variable.name + " = " + copy.text + ";");
    }
  }
  OpFoldResult position = insert.getMixedPosition().front();
  std::string index =
      isa<Attribute>(position)
          ? llvm::itostr(cast<IntegerAttr>(cast<Attribute>(position)).getInt())
          : value(cast<Value>(position)).text;
  out.line(variables[placement.variable(result)].name + "[" + index + "] = " +
           laneValue(insert.getValueToStore(), result.getType()) + ";");
}

/// Results of a load of several are in variables that are bound to registers.
void KernelPrinter::declareLoadRegisters() {
  std::set<int64_t> registers;
  kernel.walk([&](kernel::LoadNextOp load) {
    if (auto first = load.getFirst())
      for (unsigned i = 0; i < load.getNumResults(); ++i)
        registers.insert(*first + i);
  });
  std::string text;
  for (int64_t number : registers) {
    std::string name = (context.target.loadRegisters + Twine(number)).str();
    names.reserve(name);
    text += text.empty() ? "register float " : ", ";
    text += (name + Twine(" __asm__(\"") + name + "\")").str();
  }
  if (!text.empty())
    out.line(text + ";");
}

std::string SourceContext::prefetch(StringRef pointer, int64_t bytes) const {
  std::string text = target.prefetchText.str();
  text.replace(text.find("{0}"), 3, pointer.str());
  return text.replace(text.find("{1}"), 3, std::to_string(bytes));
}

void KernelPrinter::printCursor(kernel::CursorOp cursor) {
  auto type = cast<MemRefType>(cursor.getSource().getType());
  std::string hint = nameHint(cursor);
  std::string text = "&" + address(cursor.getSource(), cursor.getIndices());
  if (cursor.getCondition())
    text = within(value(cursor.getCondition()), Binding::Compare) + " ? " +
           text + " : " + pointer(cursor.getOtherwise());
  std::string name = names.unique(hint.empty() ? "next" : hint);
  variables[cursor] = {name, Sign::Signed};
  out.line("const " + storageTypeName(type.getElementType()) + " *" + name +
           " = " + text + ";");
  // What some compilers have to be told of it.
  if (const Intrinsic *row = context.target.intrinsic(
          cursor->getName().getStringRef(), type.getElementType(),
          type.getElementType())) {
    std::string statement = row->spelling.str();
    out.line(statement.replace(statement.find("{0}"), 3, name) + ";");
  }
}

void KernelPrinter::printPrefetch(kernel::PrefetchOp prefetch) {
  Value buffer = prefetch.getBuffer();
  out.line(context.prefetch(prefetch.getIndices().empty()
                                ? pointer(buffer)
                                : "&" + address(buffer, prefetch.getIndices()),
                            prefetch.getBytes()));
}

void KernelPrinter::printLoadNext(kernel::LoadNextOp load) {
  std::string cursor = variables.at(load.getCursor()).name;
  Value first = load.getResult(0);
  auto vector = dyn_cast<VectorType>(first.getType());
  // What is read into: registers that have names, or variables.
  std::vector<std::string> places{cursor};
  auto spelled = [&](llvm::StringRef rest) {
    std::string text;
    while (!rest.empty()) {
      unsigned operand = 0;
      if (!rest.consume_front("{")) {
        text += rest.front();
        rest = rest.drop_front();
        continue;
      }
      rest.consumeInteger(10, operand);
      rest.consume_front("}");
      text += places[operand];
    }
    return text;
  };
  if (load.getNumResults() == 1) {
    const Intrinsic *row =
        vector ? context.target.intrinsic(load->getName().getStringRef(),
                                          vector.getElementType(), vector)
               : nullptr;
    if (!vector) {
      define(first, {"*" + cursor + "++", Binding::Unary});
    } else if (row) {
      std::string name = useVector(typeName(vector, Sign::Unsigned));
      define(first, {"(" + name + ")" + spelled(row->spelling), Binding::Unary,
                     Sign::Unsigned});
    } else {
      std::string name = typeName(vector, Sign::Unsigned);
      define(first, {"*(const " + useVector(name + "_u") + " *)" + cursor,
                     Binding::Unary, Sign::Unsigned});
      out.line(cursor + " += " + Twine(vector.getNumElements()) + ";");
    }
    return;
  }
  Sign sign = vector ? Sign::Unsigned : Sign::Signed;
  for (auto [i, result] : llvm::enumerate(load.getResults())) {
    std::string name =
        load.getFirst()
            ? (context.target.loadRegisters + Twine(*load.getFirst() + i)).str()
            : names.unique(
                  (kernel::nameIn(load.getLoc()) + "_" + Twine(i)).str());
    variables[result] = {name, sign};
    places.push_back(name);
  }
  if (!load.getFirst())
    out.line(useVector(typeName(vector, sign)) + " " +
             llvm::join(llvm::drop_begin(places), ", ") + ";");
  out.line(spelled(context.target
                       .loadOfSeveral(first.getType(), load.getNumResults())
                       ->spelling) +
           ";");
}

Expression KernelPrinter::callText(func::CallOp call) {
  std::string text = context.functions[call.getCallee()] + "(";
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    text += index ? ", " : "";
    text += isa<MemRefType>(operand.getType())
                ? pointer(operand)
                : initializer(operand, Sign::Signed).text;
  }
  text += ")";
  Expression expression = {text};
  if (call.getNumResults() == 1 && isVector(call.getResult(0).getType()))
    expression.sign = Sign::Unsigned;
  return expression;
}

void KernelPrinter::printCall(func::CallOp call) {
  if (call.getNumResults() == 1 && !call.getResult(0).use_empty())
    define(call.getResult(0), callText(call));
  else
    out.line(callText(call).text + ";");
}

void KernelPrinter::printReturn(func::ReturnOp op) {
  if (op.getNumOperands() == 1)
    out.line("return " + initializer(op.getOperand(0), Sign::Signed).text +
             ";");
}

} // namespace ingot
