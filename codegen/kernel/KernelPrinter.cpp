// Prints the statements of a kernel.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ValueNames.h"
#include "targets/ProgramForm.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

KernelPrinter::KernelPrinter(FunctionOpInterface kernel, SourceContext &context,
                             TextWriter &out)
    : kernel(kernel), context(context), out(out),
      placement(kernel.getFunctionBody()) {
  // Reserves the names of the helper functions and tables that the kernel uses.
  // Arguments may have the names of globals that the kernel does not use.
  kernel.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      names.reserve(context.functions[call.getCallee()]);
    else if (auto table = dyn_cast<memref::GetGlobalOp>(op))
      names.reserve(context.globals[table.getName()]);
    else if (auto call = dyn_cast<kernel::CallExternalOp>(op))
      names.reserve(call.getFunction());
  });
  nameGroups();
}

/// Chooses the names of variables that hold several values: a variable is named
/// after the first of its values that has a name. Results of operations are
/// considered first, then the values that loops carry, which have the names of
/// their initial values.
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

/// Returns the alignment of local arrays in bytes.
int64_t KernelPrinter::alignmentOfLocals() const {
  unsigned align = programForm(context.target).localAlign;
  return align ? align : context.target.bufferAlign;
}

void KernelPrinter::print() {
  SourceMap::Mark mark(context.map, out, SourceMap::Kind::Function, kernel);
  auto launched = dyn_cast<kernel::FuncOp>(*kernel);
  if (launched && launched.getComment())
    out.comment(*launched.getComment());
  else if (auto text = kernel->getAttrOfType<StringAttr>(kernel::kCommentAttr))
    out.comment(text.getValue());
  printSignature();
  bool isOfHost = launched && !launched.getThreads();
  bool isForPass = launched && !isOfHost && !context.passCondition.empty();
  if (isForPass)
    out.raw() << "#if " << context.passCondition << "\n";
  if (const Intrinsic *begin =
          context.target.intrinsic("kernel.func", Type(), Type());
      begin && launched && !isOfHost)
    out.line(begin->spelling + ";");
  printAlignments();
  printShared();
  declareLoadRegisters();
  printBlock(kernel.getFunctionBody().front());
  if (isForPass)
    out.raw() << "#endif\n";
  out.close();
  if (context.bodies.count(kernel.getName()))
    printBody();
}

/// Prints, for C, the function by which the caller's threads execute parts of
/// the kernel's iterations, and the struct through which this function gets the
/// arguments of the kernel.
void KernelPrinter::printBody() {
  const std::string &arguments = context.arguments[kernel.getName()];
  out.blank();
  out.comment("The arguments of " + context.functions[kernel.getName()] + ".");
  out.open("struct " + arguments + " {");
  std::string call;
  for (const auto &[type, name] : llvm::ArrayRef(parameters).drop_back(2)) {
    out.line(type + name + ";");
    call += "a->" + name + ", ";
  }
  out.close("};");
  out.blank();
  out.comment("Executes the iterations [begin, end).");
  out.open("static void " + context.bodies[kernel.getName()] +
           "(void *argument, ptrdiff_t begin, ptrdiff_t end) {");
  out.line("const struct " + arguments + " *const a = argument;");
  out.line(context.functions[kernel.getName()] + "(" + call + "begin, end);");
  out.close();
}

/// Whether GCC would spill the sums of the kernel's tiles
/// (TargetDescription::scheduledVectors).
static bool isCrowded(FunctionOpInterface kernel,
                      const TargetDescription &target) {
  int64_t most = target.scheduledVectors;
  if (most == 0)
    return false;
  auto hasMany = [&](Block *block) {
    auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
    // Without a loop along K, the sums are those to which dot products add that
    // are not sums of other dot products.
    auto isFirst = [&](kernel::DotOp dot) {
      auto before = dot.getAccumulator().getDefiningOp<kernel::DotOp>();
      return !before || before->getBlock() != block;
    };
    return (loop && llvm::count_if(loop.getResultTypes(),
                                   llvm::IsaPred<VectorType>) > most) ||
           llvm::count_if(block->getOps<kernel::DotOp>(), isFirst) > most;
  };
  return kernel
      .walk([&](Block *block) {
        return hasMany(block) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void KernelPrinter::printSignature() {
  unsigned count = kernel.getNumArguments();
  auto launched = dyn_cast<kernel::FuncOp>(*kernel);
  bool parallel = launched && kernel::partArguments(launched);
  std::string text;
  llvm::raw_string_ostream os(text);
  // Kernels are noinline: if they were inlined, the function that launches them
  // would be as large as all kernels together. Scalar helper functions are
  // always inlined.
  const std::string words = programForm(context.target).functionWords.str();
  if (launched ? launched.getThreads().has_value() : !words.empty())
    // With several variants, helper functions are [[maybe_unused]]: in the
    // compiler's passes for GPU architectures of other variants, the kernels
    // that call them have no body.
    os << (context.onHost.contains(kernel.getName()) ? "__host__ " + words
           : launched ? "__global__ __launch_bounds__(" +
                            llvm::itostr(*launched.getThreads()) +
                            (launched.getResident()
                                 ? ", " + llvm::itostr(*launched.getResident())
                                 : std::string()) +
                            ") "
           : context.passCondition.empty() ? words
                                           : "[[maybe_unused]] " + words);
  else
    os << out.language.internal()
       << (launched ? "INGOT_NOINLINE " : "INGOT_INLINE ")
       << (launched && context.comparesFloats.contains(kernel.getName())
               ? "INGOT_IEEE "
               : "")
       << (launched && isCrowded(kernel, context.target) ? "INGOT_UNSCHEDULED "
                                                         : "");
  os << (kernel.getNumResults() == 0
             ? std::string("void")
             : typeName(kernel.getResultTypes().front(), Sign::Signed))
     << ' ' << context.functions[kernel.getName()] << '(';
  std::vector<std::string> unused;
  for (auto [index, argument] : llvm::enumerate(kernel.getArguments())) {
    auto attribute = [&, index = index](llvm::StringRef name) {
      return kernel.getArgAttr(index, name);
    };
    llvm::StringRef hint;
    if (auto name = dyn_cast_or_null<StringAttr>(attribute(kernel::kNameAttr)))
      hint = name.getValue();
    Variable variable;
    std::string declared;
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      bool readOnly = attribute(kernel::kReadAttr) != nullptr;
      variable.name = hint.empty() ? names.numbered(readOnly ? "in" : "out")
                                   : names.unique(hint);
      variable.sign = signOfElements(argument);
      declared = (readOnly ? "const " : "") +
                 storageTypeName(type.getElementType(), variable.sign) + " *";
      parameters.push_back({declared, variable.name});
      if (!attribute(kernel::kMayAliasAttr))
        declared += out.language.restrict();
    } else {
      if (hint.empty() && parallel && index + 2 >= count)
        hint = index + 2 == count ? "begin" : "end";
      variable.name = hint.empty() ? names.numbered("arg") : names.unique(hint);
      declared = typeName(argument.getType(), Sign::Signed) + ' ';
      parameters.push_back({declared, variable.name});
    }
    // The name of an argument is printed as a comment if the kernel does not
    // read the argument, or only a tensor map refers to it.
    bool isUnused =
        llvm::all_of(argument.getUsers(), llvm::IsaPred<kernel::TilesOp>);
    // In C, each parameter must have a name.
    if (isUnused && out.language.isC)
      unused.push_back(variable.name);
    os << (index ? ", " : "") << declared
       << (isUnused && !out.language.isC ? "/*" + variable.name + "*/"
                                         : variable.name);
    variables[argument] = variable;
  }
  // Adds a parameter for each tensor map (TMA descriptor), which the host
  // creates.
  kernel.walk([&](kernel::TilesOp tiles) {
    std::string name = names.unique(nameHint(tiles.getTiles()));
    os << (count++ ? ", " : "") << "const __grid_constant__ CUtensorMap "
       << name;
    variables[tiles.getTiles()] = {name, Sign::Signed};
  });
  if (launched && kernel::sharesSteps(launched) && !out.language.isC) {
    threads = names.unique("context");
    os << (count ? ", " : "") << "const ingot_context *" << threads;
  }
  if (out.language.isC && count == 0)
    os << "void";
  os << ") {";
  out.open(text);
  for (const std::string &name : unused)
    out.line("(void)" + name + ";");
}

Sign KernelPrinter::signOfElements(Value memref) const {
  FunctionOpInterface function = kernel;
  if (auto argument = dyn_cast<BlockArgument>(memref);
      argument && argument.getOwner()->getParentOp() == function)
    return signOfArgument(function, argument.getArgNumber());
  if (auto view = memref.getDefiningOp<kernel::ViewOp>())
    return signOfElements(view.getSource());
  return Sign::Signed;
}

/// Prints statements that assert the alignment of arguments where their types
/// do not express it.
void KernelPrinter::printAlignments() {
  for (auto [index, argument] : llvm::enumerate(kernel.getArguments())) {
    auto bytes =
        kernel.getArgAttrOfType<IntegerAttr>(index, kernel::kAlignAttr);
    if (!bytes)
      continue;
    const std::string &name = variables[argument].name;
    bool readOnly = kernel.getArgAttr(index, kernel::kReadAttr) != nullptr;
    std::string element =
        (readOnly ? "const " : "") +
        storageTypeName(cast<MemRefType>(argument.getType()).getElementType(),
                        signOfElements(argument));
    out.line(name + " = " +
             out.language.fromVoid(element,
                                   "__builtin_assume_aligned(" + name + ", " +
                                       std::to_string(bytes.getInt()) + ")") +
             ";");
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
  SourceMap::Mark mark(context.map, out, SourceMap::Kind::Statement, op);
#define INGOT_STATEMENT(OP, FUNCTION)                                          \
  if (auto o = dyn_cast<OP>(op))                                               \
    return FUNCTION(o);
#define INGOT_TOGETHER INGOT_STATEMENT
#include "codegen/kernel/Printable.def"
  // A terminator is printed with the operation whose region it ends.
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
  out.line(out.language.alignas_() + "(" +
           Twine(local.getAlignment().value_or(alignmentOfLocals())) + ") " +
           (isShared ? "__shared__ " : "") +
           storageTypeName(type.getElementType()) + " " + name + "[" +
           Twine(std::max<int64_t>(elements, 1)) + "];");
  variables[local] = {name, Sign::Signed};
}

/// Prints nothing. Uses of the view are printed as the name of its source, plus
/// an offset if the view skips bytes.
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

/// Returns the name of the buffer that an operation loads from, so that
/// variables that are loaded from w are named w0, w1. Returns an empty string
/// if the operation is no load, or if the name is long or ends with a digit.
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
    name = names.numbered(isVector(value.getType()) ? "mask" : "condition");
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

/// Vectors of integers wrap on overflow, so they are unsigned, except
/// accumulators that are converted to floats as signed integers. (g++ 12 keeps
/// signed and unsigned vectors in different registers: a cast after a loop
/// would cost a copy of each accumulator in every iteration, and spill
/// registers.)
Sign KernelPrinter::signOf(Value variable) const {
  bool wraps =
      isVector(variable.getType()) && !placement.isReadSigned(variable);
  return wraps ? Sign::Unsigned : Sign::Signed;
}

void KernelPrinter::define(Value value, const Expression &expression) {
  auto known = variables.find(placement.variable(value));
  if (known != variables.end()) {
    std::string text = expression.text;
    Type element = elementOf(value.getType());
    if (!isMask(value.getType()) && element.isIntOrIndex() &&
        !element.isInteger(1) && known->second.sign != expression.sign)
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
  Sign sign = signOf(value);
  std::string type = declaredType(value, sign);
  out.line(type + " " + newVariable(value, sign).name + ";");
}

/// If the result of an operation is in the same variable as one of its
/// operands, prints the operation as `acc += a * b` or similar, if there is
/// such a form, and returns true. Otherwise prints nothing and returns false.
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

Expression KernelPrinter::callText(func::CallOp call) {
  std::string text = context.functions[call.getCallee()] + "(";
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    text += index ? ", " : "";
    auto memory = dyn_cast<MemRefType>(operand.getType());
    if (memory && signOfElements(operand) == Sign::Unsigned)
      text += out.language.reinterpret(
          "const " + storageTypeName(memory.getElementType()) + " *",
          pointer(operand));
    else
      text +=
          memory ? pointer(operand) : initializer(operand, Sign::Signed).text;
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
