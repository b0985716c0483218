#include "codegen/files/ProgramPrinter.h"

#include "codegen/files/StatePrinter.h"
#include "codegen/kernel/Names.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/ValueNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

kernel::FuncOp ProgramPrinter::calleeOf(kernel::LaunchOp launch) const {
  return symbols.lookup<kernel::FuncOp>(launch.getCallee());
}

/// Returns the element type and shape of a buffer for a comment, such as
/// "float32 [1,4,4,16]".
static std::string tensorText(MemRefType type, Sign sign) {
  Type element = type.getElementType();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (element.isInteger(1))
    os << "bool";
  else if (isa<IntegerType>(element))
    os << (sign == Sign::Unsigned ? "uint" : "int")
       << element.getIntOrFloatBitWidth();
  else if (element.isF16() || element.isF32() || element.isF64())
    os << "float" << element.getIntOrFloatBitWidth();
  else
    os << element;
  os << " [";
  llvm::interleave(type.getShape(), os, ",");
  os << "]";
  return text;
}

/// Whether a buffer is only used as the frame of kernel.if and kernel.loop
/// operations. The frame is the part of the arena that their bodies use; it is
/// passed as the last output.
static bool isFrame(kernel::ArenaOp buffer) {
  return llvm::all_of(buffer->getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    bool isLast = use.getOperandNumber() + 1 == user->getNumOperands();
    bool takesFrame = llvm::any_of(
        kernel::programsRunBy(user), [](kernel::ProgramOp program) {
          return program.getArenaBytes().value_or(0) > 0;
        });
    return isLast && takesFrame;
  });
}

/// Returns unsigned if more than half of the launches (calls of kernels) that
/// use a buffer access its elements as unsigned integers; otherwise signed.
Sign ProgramPrinter::signOf(Value buffer) const {
  int64_t launches = 0, isUnsigned = 0;
  for (OpOperand &use : buffer.getUses())
    if (auto launch = dyn_cast<kernel::LaunchOp>(use.getOwner())) {
      ++launches;
      isUnsigned += signOfArgument(calleeOf(launch), use.getOperandNumber()) ==
                    Sign::Unsigned;
    }
  return 2 * isUnsigned > launches ? Sign::Unsigned : Sign::Signed;
}

/// Returns the template argument, such as "<float>", of the generated functions
/// that return a pointer to a buffer. Returns an empty string in C, where these
/// functions return void pointers.
std::string ProgramPrinter::templateArgument(const std::string &type) const {
  return out.language.isC ? "" : "<" + type + ">";
}

/// Returns a pointer to the constants at `offset`, as an expression. The offset
/// is a template argument, so that the function returns the same address in all
/// calls: clang then knows the address in the kernels, too.
std::string ProgramPrinter::constantsAt(const std::string &type, StringRef base,
                                        int64_t offset) const {
  return (out.language.isC ? "constants_at(" + base + ", " + Twine(offset) + ")"
                           : "constants_at<" + type + ", " + Twine(offset) +
                                 ">(" + base + ")")
      .str();
}

void ProgramPrinter::printArenaValue(kernel::ArenaOp buffer) {
  if (isFrame(buffer)) {
    named[buffer] = {buffer.getOffset() == 0
                         ? "memory"
                         : "memory + " + llvm::utostr(buffer.getOffset()),
                     "unsigned char", false};
    return;
  }
  auto type = cast<MemRefType>(buffer.getType());
  Sign sign = signOf(buffer);
  std::string element = storageTypeName(type.getElementType(), sign);
  StringRef hint = kernel::nameOf(buffer);
  // Buffers with the same name, offset and element type, but another shape,
  // share a pointer.
  std::string &known =
      arenaNames[{hint, buffer.getOffset(), type.getElementType(),
                  unsigned(buffer.getSecondMemory()), unsigned(sign)}];
  if (known.empty()) {
    known = hint.empty() ? names.numbered("value") : names.unique(hint);
    out.line(Twine(element) + " *const " + known + " = buffer_at" +
             templateArgument(element) + "(" +
             (buffer.getSecondMemory() ? secondBase : "memory") + ", " +
             Twine(buffer.getOffset()) + "); // " + tensorText(type, sign));
  }
  named[buffer] = {known, element, false};
}

/// Prints `if (condition) return status;`, on one line if it fits.
void ProgramPrinter::returnIf(const Twine &condition, StringRef status) {
  std::string text = ("if (" + condition + ") return " + status + ";").str();
  if (text.size() < 98)
    return out.line(text);
  out.open("if (" + condition + ") {");
  out.line("return " + status + ";");
  out.close();
}

void ProgramPrinter::check(const Twine &call) {
  out.line("status = " + call + ";");
  out.line("if (status != INGOT_OK) return status;");
}

void ProgramPrinter::printStatePointers(StringRef phases) {
  kernel::ProgramOp main = interface.main;
  for (auto [argument, tensor] :
       llvm::zip(main.getArguments(), interface.tensors)) {
    if (!tensor.slots || argument.use_empty())
      continue;
    std::string qualified = (tensor.isOutput ? "" : "const ") + tensor.cType,
                name = names.unique(tensor.field);
    out.line(qualified + " *const " + name + " = buffer_at" +
             templateArgument(qualified) + "(state, " +
             slotText(*tensor.slots, phases) + "); // " + tensor.type + " " +
             interface.shapeText(tensor.sizes));
    named[argument] = {name, tensor.cType, !tensor.isOutput};
  }
}

void ProgramPrinter::printStateChange(StringRef phases) {
  for (const InterfaceTensor &tensor : interface.tensors)
    if (tensor.slots && tensor.slots->phase && tensor.isOutput &&
        !tensor.slots->isAppended)
      out.line(phases + "[" + Twine(*tensor.slots->phase) +
               "] ^= 1; // the next run reads what is " + tensor.field +
               " now");
}

std::string ProgramPrinter::missingTensors() const {
  std::string missing;
  for (const InterfaceTensor &tensor : interface.tensors)
    if (tensor.elements > 0 && !tensor.slots)
      missing += " || !io->" + tensor.field;
  for (const InterfaceSize &size : interface.sizes)
    if (size.isMade)
      missing += " || !io->" + size.field;
  return missing;
}

void ProgramPrinter::printAlignmentCheck(size_t number) {
  const InterfaceTensor &tensor = interface.tensors[number];
  kernel::ProgramOp main = interface.main;
  auto type = cast<MemRefType>(main.getArgument(number).getType());
  if (tensor.elements > 0 && !tensor.slots &&
      kernel::elementBytes(type.getElementType()) < interface.tensorAlign)
    returnIf(out.language.reinterpret("uintptr_t", "io->" + tensor.field) +
                 " % " + interface.macro + "_TENSOR_ALIGN != 0",
             "INGOT_ERROR_ALIGNMENT");
}

/// Prints checks that no string in an input tensor is null, since kernels read
/// the strings.
void ProgramPrinter::printStringChecks() {
  for (const InterfaceTensor &tensor : interface.tensors) {
    if (tensor.isOutput || !tensor.isOfStrings() || tensor.elements == 0)
      continue;
    kernel::Dim count(1);
    for (const kernel::Dim &size : tensor.sizes)
      count *= size;
    std::string end = interface.sizeText(count, "io->");
    out.open("for (ptrdiff_t string = 0; string < " + end + "; ++string) {");
    returnIf("!io->" + tensor.field + "[string]", "INGOT_ERROR_NULL");
    out.close();
  }
}

void ProgramPrinter::printSizeChecks() {
  for (const InterfaceSize &size : interface.sizes)
    if (!size.isMade)
      returnIf("io->" + size.field + " < " + Twine(size.symbol.getLeast()) +
                   " || io->" + size.field + " > " +
                   Twine(size.symbol.getMost()),
               "INGOT_ERROR_SHAPE");
  for (const InterfaceSize &size : interface.sizes)
    if (size.equalTo)
      returnIf("io->" + size.field +
                   " != " + interface.sizeText(*size.equalTo, "io->"),
               "INGOT_ERROR_SHAPE");
}

SmallVector<Operation *> ProgramPrinter::stepsThatUse(Value buffer) {
  SmallVector<Operation *> steps;
  for (Operation *user : buffer.getUsers())
    if (auto view = dyn_cast<kernel::ViewOp>(user))
      llvm::append_range(steps, stepsThatUse(view));
    else
      steps.push_back(user);
  return steps;
}

void ProgramPrinter::printWeightPointers(kernel::ProgramOp program,
                                         StringRef base,
                                         std::optional<uint64_t> team) {
  // Finds the worker group (short kernels that the same threads process in
  // sequence) that reads each weight. A weight that operations outside of this
  // group also read is declared for the whole program.
  llvm::StringMap<std::optional<uint64_t>> teams;
  program->walk([&](memref::GetGlobalOp op) {
    for (Operation *step : stepsThatUse(op)) {
      auto launch = dyn_cast<kernel::LaunchOp>(step);
      // In C, worker groups are not printed as scopes, so all weights are
      // declared for the whole program.
      std::optional<uint64_t> own =
          launch && !out.language.isC ? launch.getTeam() : std::nullopt;
      auto [known, isNew] = teams.try_emplace(op.getName(), own);
      if (!isNew && known->second != own)
        known->second = std::nullopt;
    }
  });
  llvm::StringSet<> declared;
  program->walk([&](memref::GetGlobalOp op) {
    if (!isNamedWeight(op) || teams.lookup(op.getName()) != team)
      return;
    const Weight &weight = weightOf(op);
    std::string element =
        storageTypeName(op.getType().getElementType(), weight.sign);
    std::string &name = context.globals[op.getName()];
    // A weight is declared once, even if the program uses it twice.
    if (!named.count(op) && declared.insert(name).second)
      out.line("const " + element + " *const " + name + " = " +
               constantsAt(element, base, weight.offset) + "; // " +
               tensorText(op.getType(), weight.sign));
    named[op] = {name, element, true};
  });
}

const Weight &ProgramPrinter::weightOf(memref::GetGlobalOp op) const {
  return weights
      .all()[weights.indexOf(symbols.lookup<memref::GlobalOp>(op.getName()))];
}

bool ProgramPrinter::isNamedWeight(memref::GetGlobalOp op) const {
  return weightOf(op).offset >= 0 && !op->use_empty();
}

ProgramPrinter::Pointer ProgramPrinter::pointer(Value memref) {
  auto known = named.find(memref);
  if (known != named.end())
    return known->second;
  std::string element =
      storageTypeName(cast<MemRefType>(memref.getType()).getElementType());
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    const InterfaceTensor &tensor = interface.tensors[argument.getArgNumber()];
    return {"io->" + tensor.field,
            tensor.isOfStrings() ? element : tensor.cType, !tensor.isOutput};
  }
  if (auto global = memref.getDefiningOp<memref::GetGlobalOp>())
    return {context.globals[global.getName()],
            storageTypeName(global.getType().getElementType(),
                            weightOf(global).sign),
            true};
  auto view = memref.getDefiningOp<kernel::ViewOp>();
  Pointer source = pointer(view.getSource());
  if (view.getOffset() == 0)
    return source;
  // Adds the offset of the view to the pointer: in elements if the offset is a
  // multiple of the element size, otherwise in bytes.
  auto sourceType = cast<MemRefType>(view.getSource().getType());
  int64_t size = kernel::elementBytes(sourceType.getElementType());
  if (view.getOffset() % size == 0)
    return {"(" + source.text + " + " + llvm::utostr(view.getOffset() / size) +
                ")",
            source.type, source.isConst};
  std::string byte = source.isConst ? "const unsigned char" : "unsigned char";
  return {"(" + out.language.reinterpret(byte + " *", source.text) + " + " +
              llvm::utostr(view.getOffset()) + ")",
          "unsigned char", source.isConst};
}

/// Returns the C++ expression for a buffer, cast to the pointer type of a
/// kernel's parameter.
std::string ProgramPrinter::argument(Value memref, bool readOnly, Sign sign) {
  Pointer from = pointer(memref);
  std::string element = storageTypeName(
      cast<MemRefType>(memref.getType()).getElementType(), sign);
  if (from.type == element && (readOnly || !from.isConst)) {
    StringRef text = from.text;
    // Removes parentheses that enclose the whole argument.
    if (text.starts_with("(") && text.ends_with(")") && !text.starts_with("(("))
      text = text.drop_front().drop_back();
    return text.str();
  }
  std::string isConst = readOnly ? "const " : "";
  // The program has a const pointer to a buffer to which the kernel writes. The
  // memory itself is writable, so const_cast is valid.
  if (from.isConst && !readOnly)
    return out.language.isC
               ? out.language.reinterpret(element + " *", from.text)
               : "const_cast<" + element + " *>(reinterpret_cast<const " +
                     element + " *>(" + from.text + "))";
  // Casts through void *: the buffer is aligned for its elements, which
  // -Wcast-align cannot see.
  if (from.type == "unsigned char")
    return out.language.elementsAt(isConst + element, from.text);
  return out.language.reinterpret(isConst + element + " *", from.text);
}

SmallVector<std::string>
ProgramPrinter::launchArguments(kernel::LaunchOp launch) {
  kernel::FuncOp callee = calleeOf(launch);
  SmallVector<std::string> texts;
  for (auto [index, operand] : llvm::enumerate(launch.getOperands())) {
    bool readOnly = callee.getArgAttr(index, kernel::kReadAttr) != nullptr;
    texts.push_back(argument(operand, readOnly, signOfArgument(callee, index)));
  }
  for (int64_t value : launch.getValues().value_or(ArrayRef<int64_t>()))
    texts.push_back(llvm::itostr(value));
  if (std::optional<kernel::SizesAttr> sizes = callee.getSizes())
    for (const kernel::Dim &size : kernel::dimsOf(*sizes))
      texts.push_back(interface.sizeText(size, "io->"));
  return texts;
}

void ProgramPrinter::printRequireEqual(kernel::RequireEqualOp require,
                                       StringRef given) {
  auto expected = cast<DenseElementsAttr>(require.getExpected());
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
  // Expected values of float and double are printed as numbers. Other floats
  // are passed as integers with the same bits, so their bits are printed.
  bool isNumber = isa<Float32Type, Float64Type>(type.getElementType());
  bool hasNaN = false;
  for (Attribute value : expected.getValues<Attribute>()) {
    if (isNumber) {
      APFloat number = cast<FloatAttr>(value).getValue();
      hasNaN |= number.isNaN();
      append(floatLiteral(number));
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
  out.line("const " + element + " *const given = " +
           out.language.reinterpret("const " + element + " *", given) + ";");
  out.open("for (int element = 0; element < " + Twine(count) +
           "; ++element) {");
  // In C++ NaN differs from itself; but if a NaN is expected, any NaN is
  // accepted.
  std::string differs = "given[element] != expected[element]";
  if (hasNaN)
    differs += " && (given[element] == given[element] || expected[element] == "
               "expected[element])";
  out.line("if (" + differs + ") return INGOT_ERROR_SPECIALIZED;");
  out.close();
  out.close();
}

} // namespace ingot
