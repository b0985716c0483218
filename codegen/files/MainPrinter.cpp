// <name>_run as C++ text.

#include "codegen/files/MainPrinter.h"

#include "codegen/files/NodeNames.h"
#include "codegen/kernel/Names.h"
#include "dialects/kernel/ValueNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

bool MainPrinter::usesThreads() const {
  bool threads = false;
  interface.main->walk([&](kernel::LaunchOp launch) {
    threads |= kernel::extentOf(calleeOf(launch)).value_or(1).most() > 1;
  });
  return threads;
}

kernel::FuncOp MainPrinter::calleeOf(kernel::LaunchOp launch) const {
  return symbols.lookup<kernel::FuncOp>(launch.getCallee());
}

void MainPrinter::printHelpers() {
  if (usesThreads())
    printParallel();
}

void MainPrinter::printRun(StringRef function) {
  out.open(function + "(const " + interface.name +
           "_io *io, void *arena, const ingot_context "
           "*context) {");
  if (!usesThreads() && !options.trace)
    out.line("(void)context;");
  printChecks();
  unsigned number = 0;
  for (Operation &op : interface.main->getRegion(0).front()) {
    if (auto launch = dyn_cast<kernel::LaunchOp>(op))
      printLaunch(launch, number++);
    else if (auto require = dyn_cast<kernel::RequireEqualOp>(op))
      printRequireEqual(require);
    else if (auto buffer = dyn_cast<kernel::ArenaOp>(op);
             buffer && !buffer->use_empty())
      printArenaValue(buffer);
  }
  out.line("return INGOT_OK;");
  out.close();
}

/// "float32 [1,4,4,16]".
static std::string tensorText(MemRefType type) {
  Type element = type.getElementType();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (element.isInteger(1))
    os << "bool";
  else if (isa<IntegerType>(element))
    os << "int" << element.getIntOrFloatBitWidth();
  else if (element.isF16() || element.isF32() || element.isF64())
    os << "float" << element.getIntOrFloatBitWidth();
  else
    os << element;
  os << " [";
  llvm::interleave(type.getShape(), os, ",");
  os << "]";
  return text;
}

void MainPrinter::printArenaValue(kernel::ArenaOp buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  std::string element = storageTypeName(type.getElementType());
  StringRef hint = kernel::nameOf(buffer);
  // The same bytes under another shape.
  std::string &known =
      arenaNames[{hint, buffer.getOffset(), type.getElementType()}];
  if (known.empty()) {
    known = hint.empty() ? names.numbered("value") : names.unique(hint);
    out.line(Twine(element) + " *const " + known + " = (" + element +
             " *)(memory + " + Twine(buffer.getOffset()) + "); // " +
             tensorText(type));
  }
  named[buffer] = {known, element, false};
}

void MainPrinter::printParallel() {
  out.line("// Runs body(begin, end) over [0, extent), on the caller's threads "
           "if it lends any.");
  out.line("template <typename Body>");
  out.open("inline void " + parallel +
           "(const ingot_context *context, ptrdiff_t "
           "extent, const Body &body) {");
  out.open("if (!context || !context->parallel_for) {");
  out.line("body(0, extent);");
  out.line("return;");
  out.close();
  out.open("const ingot_body part = [](void *argument, ptrdiff_t begin, "
           "ptrdiff_t end) {");
  out.line("(*static_cast<const Body *>(argument))(begin, end);");
  out.close("};");
  out.line("context->parallel_for(context->user, extent, part, "
           "const_cast<Body *>(&body));");
  out.close();
  out.blank();
}

/// On one line where it fits.
void MainPrinter::returnIf(const Twine &condition, StringRef status) {
  std::string text = ("if (" + condition + ") return " + status + ";").str();
  if (text.size() < 98)
    return out.line(text);
  out.open("if (" + condition + ") {");
  out.line("return " + status + ";");
  out.close();
}

void MainPrinter::printChecks() {
  std::string missing = "!io";
  for (const InterfaceTensor &tensor : interface.tensors)
    if (tensor.elements > 0)
      missing += " || !io->" + tensor.field;
  if (interface.weightsMode == WeightsMode::File)
    missing += " || !io->" + interface.weightsField;
  if (interface.arenaBytes > 0)
    missing += " || !arena";
  returnIf(missing, "INGOT_ERROR_NULL");
  kernel::ProgramOp main = interface.main;
  for (auto [argument, tensor] :
       llvm::zip(main.getArguments(), interface.tensors))
    if (tensor.elements > 0 &&
        kernel::elementBytes(
            cast<MemRefType>(argument.getType()).getElementType()) <
            interface.tensorAlign)
      returnIf("(uintptr_t)io->" + tensor.field + " % " + interface.macro +
                   "_TENSOR_ALIGN != 0",
               "INGOT_ERROR_ALIGNMENT");
  for (const InterfaceSize &size : interface.sizes)
    returnIf("io->" + size.field + " < " + Twine(size.symbol.getLeast()) +
                 " || io->" + size.field + " > " + Twine(size.symbol.getMost()),
             "INGOT_ERROR_SHAPE");
  for (const InterfaceSize &size : interface.sizes)
    if (size.equalTo)
      returnIf("io->" + size.field + " != " +
                   interface.sizeText(kernel::Dim(size.equalTo), "io->"),
               "INGOT_ERROR_SHAPE");
  if (interface.arenaBytes > 0) {
    returnIf("(uintptr_t)arena % " + interface.macro + "_ARENA_ALIGN != 0",
             "INGOT_ERROR_ALIGNMENT");
    bool used = llvm::any_of(
        interface.main->getRegion(0).getOps<kernel::ArenaOp>(),
        [](kernel::ArenaOp buffer) { return !buffer->use_empty(); });
    out.line(used ? "unsigned char *const memory = (unsigned char *)arena;"
                  : "(void)arena;");
  } else {
    out.line("(void)arena;");
  }
  printWeightsBase();
}

/// Weights outside of the source, by name.
void MainPrinter::printWeightsBase() {
  if (interface.weightsMode == WeightsMode::Source)
    return;
  std::string base = interface.name + "_weights";
  if (interface.weightsMode == WeightsMode::File) {
    std::string field = "io->" + interface.weightsField;
    returnIf("(uintptr_t)" + field + " % " + interface.macro +
                 "_WEIGHTS_ALIGN != 0",
             "INGOT_ERROR_ALIGNMENT");
    returnIf("!" + interface.name + "_is_header(" + field + ")",
             "INGOT_ERROR_WEIGHTS");
    out.line("const unsigned char *const weights = (const unsigned char *)" +
             field + " + " + Twine(kWeightsHeaderBytes) + ";");
    base = "weights";
  }
  llvm::StringSet<> declared;
  interface.main->walk([&](memref::GetGlobalOp op) {
    const Weight &weight = weightOf(op);
    if (weight.offset < 0 || op->use_empty())
      return;
    std::string element = storageTypeName(op.getType().getElementType());
    std::string &name = context.globals[op.getName()];
    // One name even if the main function asks for the weight twice.
    if (!named.count(op) && declared.insert(name).second)
      out.line("const " + element + " *const " + name + " = (const " + element +
               " *)(" + base + " + " + Twine(weight.offset) + "); // " +
               tensorText(op.getType()));
    named[op] = {name, element, true};
  });
}

const Weight &MainPrinter::weightOf(memref::GetGlobalOp op) const {
  return weights
      .all()[weights.indexOf(symbols.lookup<memref::GlobalOp>(op.getName()))];
}

MainPrinter::Pointer MainPrinter::pointer(Value memref) {
  auto known = named.find(memref);
  if (known != named.end())
    return known->second;
  std::string element =
      storageTypeName(cast<MemRefType>(memref.getType()).getElementType());
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    const InterfaceTensor &tensor = interface.tensors[argument.getArgNumber()];
    return {"io->" + tensor.field, tensor.cType, !tensor.isOutput};
  }
  if (auto global = memref.getDefiningOp<memref::GetGlobalOp>())
    return {context.globals[global.getName()], element, true};
  auto view = memref.getDefiningOp<kernel::ViewOp>();
  Pointer source = pointer(view.getSource());
  if (view.getOffset() == 0)
    return source;
  // In elements if the offset is a whole number of them, else in bytes.
  auto sourceType = cast<MemRefType>(view.getSource().getType());
  int64_t size = kernel::elementBytes(sourceType.getElementType());
  if (view.getOffset() % size == 0)
    return {"(" + source.text + " + " + llvm::utostr(view.getOffset() / size) +
                ")",
            source.type, source.isConst};
  std::string byte = source.isConst ? "const unsigned char" : "unsigned char";
  return {"((" + byte + " *)" + source.text + " + " +
              llvm::utostr(view.getOffset()) + ")",
          "unsigned char", source.isConst};
}

/// A pointer as a kernel takes it.
std::string MainPrinter::argument(Value memref, bool readOnly) {
  Pointer from = pointer(memref);
  std::string element =
      storageTypeName(cast<MemRefType>(memref.getType()).getElementType());
  if (from.type == element && (readOnly || !from.isConst)) {
    StringRef text = from.text;
    // Parentheses around the whole of an argument are noise.
    if (text.starts_with("(") && text.ends_with(")") && !text.starts_with("(("))
      text = text.drop_front().drop_back();
    return text.str();
  }
  return std::string("(") + (readOnly ? "const " : "") + element + " *)" +
         from.text;
}

void MainPrinter::printLaunch(kernel::LaunchOp launch, unsigned number) {
  kernel::FuncOp callee = calleeOf(launch);
  std::string call = context.functions[launch.getCallee()] + "(";
  for (auto [index, operand] : llvm::enumerate(launch.getOperands())) {
    bool readOnly = callee.getArgAttr(index, kernel::kReadAttr) != nullptr;
    call += (index ? ", " : "") + argument(operand, readOnly);
  }
  for (int64_t value : launch.getValues().value_or(ArrayRef<int64_t>()))
    call += ", " + llvm::itostr(value);
  if (std::optional<kernel::SizesAttr> sizes = callee.getSizes())
    for (const kernel::Dim &size : kernel::dimsOf(*sizes))
      call += ", " + interface.sizeText(size, "io->");
  bool comma = launch.getNumOperands() > 0;
  if (std::string nodes = nodesText(launch.getLoc()); !nodes.empty())
    out.comment(nodes);
  auto trace = [&](int finished) {
    if (options.trace)
      out.line("if (context && context->trace) "
               "context->trace(context->trace_user, " +
               Twine(number) + ", " + Twine(finished) + ");");
  };
  trace(0);
  std::optional<kernel::Dim> extent = kernel::extentOf(callee);
  if (!extent)
    out.line(call + ");");
  else if (extent->most() <= 1)
    out.line(call + (comma ? ", " : "") + "0, " +
             interface.sizeText(*extent, "io->") + ");");
  else {
    // By value: what is captured by reference has to live on the stack, which
    // would then grow with the number of kernels.
    out.open(parallel + "(context, " + interface.sizeText(*extent, "io->") +
             ", [=](ptrdiff_t begin, ptrdiff_t end) {");
    out.line(call + (comma ? ", " : "") + "begin, end);");
    out.close("});");
  }
  trace(1);
}

void MainPrinter::printKernelNames() {
  out.blank();
  out.open("extern \"C\" const char *" + interface.name +
           "_kernel_name(int32_t kernel) {");
  out.open("switch (kernel) {");
  unsigned number = 0;
  interface.main->walk([&](kernel::LaunchOp launch) {
    std::string text = context.functions[launch.getCallee()];
    if (std::string nodes = nodesText(launch.getLoc()); !nodes.empty())
      text += ": " + toCommentText(nodes);
    llvm::replace(text, '"', '\'');
    llvm::replace(text, '\n', ' ');
    // Names have spaces, where lines are not to be broken.
    out.raw() << "    case " << number++ << ": return \"" << text << "\";\n";
  });
  out.line("default: return nullptr;");
  out.close();
  out.close();
}

void MainPrinter::printRequireEqual(kernel::RequireEqualOp require) {
  auto expected = cast<DenseElementsAttr>(require.getExpected());
  Pointer input = pointer(require.getInput());
  auto type = cast<MemRefType>(require.getInput().getType());
  std::string element = storageTypeName(type.getElementType());
  int64_t count = type.getNumElements();
  if (count == 0)
    return;
  out.open("{");
  out.comment(require.getMessage());
  std::string values;
  auto append = [&](const std::string &value) {
    values += values.empty() ? value : ", " + value;
  };
  // Floats that C has are compared as numbers, the others by their bits.
  bool isNumber = isa<Float32Type, Float64Type>(type.getElementType());
  for (Attribute value : expected.getValues<Attribute>()) {
    if (isNumber) {
      append(floatLiteral(cast<FloatAttr>(value).getValue()));
      continue;
    }
    APInt bits = isa<FloatAttr>(value)
                     ? cast<FloatAttr>(value).getValue().bitcastToAPInt()
                     : cast<IntegerAttr>(value).getValue();
    append(bits.getBitWidth() == 1 ? (bits.isZero() ? "0" : "1")
           : isa<FloatAttr>(value) ? integerLiteral(bits, Sign::Unsigned)
                                   : integerLiteral(bits, Sign::Signed));
  }
  out.line("static const " + element + " expected[" + Twine(count) + "] = {" +
           values + "};");
  out.line("const " + element + " *const given = (const " + element + " *)" +
           input.text + ";");
  out.open("for (int element = 0; element < " + Twine(count) +
           "; ++element) {");
  out.line("if (given[element] != expected[element]) return "
           "INGOT_ERROR_SPECIALIZED;");
  out.close();
  out.close();
}

} // namespace ingot
