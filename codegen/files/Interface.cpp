// Collects what the C interface of an entry point consists of: tensors, dynamic
// sizes, memory, weights.

#include "codegen/files/Interface.h"

#include "codegen/kernel/CTypes.h"
#include "codegen/kernel/Names.h"
#include "dialects/kernel/SizeDivision.h"

#include "dialects/kernel/KernelModule.h"
#include "targets/ProgramForm.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ingot {

/// Returns the ONNX name of an element type, for tensors without the attribute
/// kernel.onnx_type.
static std::string onnxTypeName(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (element.isBF16())
    return "bfloat16";
  if (isa<kernel::StringType>(element))
    return "string";
  std::string bits = std::to_string(element.getIntOrFloatBitWidth());
  return (isa<FloatType>(element) ? "float" : "int") + bits;
}

/// Returns the C type of an element in a tensor of the caller. Floats that C
/// lacks, such as f16, are passed as bits in unsigned integers; an element
/// narrower than a byte takes a byte.
static std::string elementCType(llvm::StringRef onnxType) {
  return llvm::StringSwitch<std::string>(onnxType)
      .Cases({"float32", "float"}, "float")
      .Cases({"float64", "double"}, "double")
      .Cases({"float16", "bfloat16", "uint16"}, "uint16_t")
      .Cases({"int8", "int4", "int2"}, "int8_t")
      .Case("string", "const char *")
      .Case("int16", "int16_t")
      .Case("int32", "int32_t")
      .Case("int64", "int64_t")
      .Case("uint32", "uint32_t")
      .Case("uint64", "uint64_t")
      .Default("uint8_t");
}

Interface::Interface(ModuleOp module, const CodegenOptions &options)
    : Interface(kernel::mainProgram(module), options, Weights(module)) {}

Interface::Interface(kernel::ProgramOp main, const CodegenOptions &options,
                     const Weights &weights)
    : main(main), sharedName(toIdentifier(options.name)),
      sharedMacro(toMacroPrefix(options.name)) {
  auto module = cast<ModuleOp>(main->getParentOp());
  std::string suffix;
  if (main.getName() != kernel::kMainName)
    suffix = "_" + toIdentifier(main.getName());
  name = sharedName + suffix;
  macro = sharedMacro + StringRef(suffix).upper();
  made = options.language.isC ? "made->" : "made.";
  arenaBytes = main.getArenaBytes().value_or(0);
  arenaAlign = main.getArenaAlign().value_or(64);
  model = options.model.empty() ? options.name : options.model;
  weightsMode = weights.resolve(options.weights);
  if (auto bytes = module->getAttrOfType<IntegerAttr>(kernel::kStateBytesAttr))
    stateBytes = bytes.getInt();

  vtcmBytes = main.getSecondBytes().value_or(0);

  NameScope fields;
  if (auto name = module->getAttrOfType<StringAttr>(kernel::kTargetAttr))
    if (const TargetDescription *target = lookupTarget(name.getValue())) {
      // In a GPU output, the handle (the object with which a program runs the
      // model) owns the memory beside the arena, the weights and the state, so
      // the io struct, the argument of a run, has no field for them.
      if (programForm(*target).hasHandle) {
        placeField = fields.unique("place");
        vtcmBytes = 0;
      }
      if (vtcmBytes) {
        vtcmField = fields.unique(target->tcmName);
        vtcmMacro = macro + "_" + target->tcmName.upper();
      }
    }
  if (!hasHandle() && weightsMode == WeightsMode::File)
    weightsField = fields.unique("weights");
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    hasState |= main.getArgAttr(i, kernel::kSlotsAttr) != nullptr;
  if (hasState && !hasHandle())
    stateField = fields.unique("state");
  llvm::StringMap<kernel::SymbolAttr> symbols;
  llvm::StringMap<kernel::Dim> equalTo;
  auto addSymbols = [&](kernel::SizesAttr attr) {
    for (const kernel::Dim &size : kernel::dimsOf(attr))
      for (kernel::SymbolAttr symbol : size.given())
        symbols[symbol.getName()] = symbol;
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto attr =
            main.getArgAttrOfType<kernel::SizesAttr>(i, kernel::kSizesAttr))
      addSymbols(attr);
  if (auto attr =
          main->getAttrOfType<kernel::SizesAttr>(kernel::kEqualSizesAttr)) {
    addSymbols(attr);
    kernel::Dims pairs = kernel::dimsOf(attr);
    for (size_t i = 0; i < pairs.size(); i += 2)
      equalTo[pairs[i].symbols().front().getName()] = pairs[i + 1];
  }
  for (const auto &entry : symbols) {
    sizes.push_back({"", entry.second});
    if (auto equal = equalTo.find(entry.first()); equal != equalTo.end())
      sizes.back().equalTo = equal->second;
  }
  llvm::sort(sizes, [](const InterfaceSize &a, const InterfaceSize &b) {
    return a.symbol.getName() < b.symbol.getName();
  });
  // Returns whether the shape of an input determines the value of a symbol, a
  // named dynamic size. If not, the size is data-dependent.
  auto isGiven = [&](kernel::SymbolAttr symbol) {
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (auto attr =
              main.getArgAttrOfType<kernel::SizesAttr>(i, kernel::kSizesAttr);
          attr && !main.getArgAttr(i, kernel::kOutputAttr))
        for (const kernel::Dim &size : kernel::dimsOf(attr))
          if (llvm::is_contained(size.given(), symbol))
            return true;
    return false;
  };
  auto addMade = [&](kernel::ProgramOp program, const kernel::Dim &size) {
    if (size.symbols().size() != 1 ||
        !(size == kernel::Dim(size.symbols().front())) ||
        !size.symbols().front().isGiven())
      return;
    kernel::SymbolAttr symbol = size.symbols().front();
    bool isKnown = llvm::any_of(madeSizes, [&](const InterfaceSize &other) {
      return other.symbol == symbol;
    });
    if (isKnown || isGiven(symbol))
      return;
    madeSizes.push_back({"", symbol});
    madeSizes.back().maker = program;
    for (InterfaceSize &own : sizes)
      own.isMade |= own.symbol == symbol;
  };
  SmallVector<kernel::ProgramOp> programs = kernel::programsInOrder(main);
  for (kernel::ProgramOp program : llvm::reverse(programs))
    for (auto read : program.getBody().getOps<kernel::ReadSizesOp>())
      for (const kernel::Dim &size : kernel::dimsOf(read.getSizes()))
        addMade(program, size);
  for (BlockArgument argument : main.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto text = [&](llvm::StringRef attribute) -> std::string {
      auto value = main.getArgAttrOfType<StringAttr>(index, attribute);
      return value ? value.str() : "";
    };
    auto type = cast<MemRefType>(argument.getType());
    InterfaceTensor tensor;
    tensor.isOutput = main.getArgAttr(index, kernel::kOutputAttr) != nullptr;
    tensor.onnxName = text(kernel::kOnnxNameAttr);
    if (tensor.onnxName.empty())
      tensor.onnxName =
          (tensor.isOutput ? "output" : "input") + std::to_string(index);
    // Tensors in the state (those that persist between runs) have no field in
    // the io struct, the argument of a run, so the field of a dynamic size may
    // have the same name as such a tensor.
    bool isState = main.getArgAttr(index, kernel::kSlotsAttr) != nullptr;
    tensor.field = isState ? toIdentifier(tensor.onnxName)
                           : fields.unique(tensor.onnxName);
    tensor.type = text(kernel::kOnnxTypeAttr);
    if (tensor.type.empty())
      tensor.type = onnxTypeName(type.getElementType());
    tensor.cType = elementCType(tensor.type);
    tensor.note = text(kernel::kCommentAttr);
    if (auto sizes =
            main.getArgAttrOfType<kernel::SizesAttr>(index, kernel::kSizesAttr))
      tensor.sizes = kernel::dimsOf(sizes);
    else
      tensor.sizes.assign(type.getShape().begin(), type.getShape().end());
    tensor.elements = type.getNumElements();
    if (!kernel::isCompact(tensor.sizes) &&
        size_t(type.getRank()) == tensor.sizes.size())
      tensor.inMemory.emplace(type.getShape().begin(), type.getShape().end());
    tensor.part = text(kernel::kPartAttr);
    if (auto element = main.getArgAttrOfType<kernel::SizesAttr>(
            index, kernel::kElementAttr)) {
      tensor.element.emplace();
      for (const kernel::Dim &size : kernel::dimsOf(element))
        tensor.element->push_back(size.most());
    }
    if (auto stream = main.getArgAttrOfType<DenseI64ArrayAttr>(
            index, kernel::kStreamedAttr))
      tensor.stream = {stream[0], stream[1], stream[2]};
    if (auto slots = main.getArgAttrOfType<DenseI64ArrayAttr>(
            index, kernel::kSlotsAttr)) {
      tensor.slots = {text(kernel::kStateAttr), slots[0], slots[1], {}};
      tensor.slots->isAppended =
          main.getArgAttr(index, kernel::kAppendedAttr) != nullptr;
      if (auto phase =
              main.getArgAttrOfType<IntegerAttr>(index, kernel::kPhaseAttr))
        tensor.slots->phase = phase.getInt();
    }
    tensors.push_back(std::move(tensor));
  }
  for (InterfaceSize &size : sizes)
    size.field = fields.unique(size.symbol.getName());
  for (InterfaceSize &size : madeSizes) {
    for (const InterfaceSize &own : sizes)
      if (own.symbol == size.symbol)
        size.field = own.field;
    if (size.field.empty())
      size.field = fields.unique(size.symbol.getName());
  }
}

std::vector<Interface> interfacesOf(const Variant &variant,
                                    const CodegenOptions &options,
                                    const Weights &weights) {
  std::vector<Interface> interfaces;
  for (kernel::ProgramOp entry : kernel::entryPrograms(variant.module)) {
    interfaces.emplace_back(entry, options, weights);
    interfaces.back().tensorAlign = variant.target->tensorAlign;
  }
  return interfaces;
}

int64_t largestArena(ArrayRef<Interface> interfaces) {
  int64_t bytes = 0;
  for (const Interface &interface : interfaces)
    bytes = std::max(bytes, interface.arenaBytes);
  return bytes;
}

std::string Interface::shapeText(ArrayRef<kernel::Dim> sizes) const {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(sizes))
    text += (i ? "," : "") + sizeText(size);
  return text + "]";
}

std::string Interface::localName(llvm::StringRef function) const {
  return function.str() + name.substr(sharedName.size());
}

/// Returns the C text of a dynamic size: an affine expression with sums,
/// products, floor divisions and remainders. `level` is the position of the
/// text in the enclosing expression, which decides about parentheses: 0 for no
/// enclosing expression or an operand of a sum; 1 for the first and 2 for the
/// second operand of another operator.
static std::string expressionText(AffineExpr value, const kernel::Dim &size,
                                  llvm::ArrayRef<std::string> symbols,
                                  unsigned level) {
  if (auto number = dyn_cast<AffineConstantExpr>(value))
    return std::to_string(number.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value))
    return symbols[symbol.getPosition()];
  auto parts = cast<AffineBinaryOpExpr>(value);
  AffineExprKind kind = value.getKind();
  bool isSum = kind == AffineExprKind::Add;
  auto operand = [&](AffineExpr part, unsigned place) {
    return expressionText(part, size, symbols, isSum ? 0 : place);
  };
  std::string x = operand(parts.getLHS(), 1), y = operand(parts.getRHS(), 2);
  const char *sign = isSum                              ? " + "
                     : kind == AffineExprKind::FloorDiv ? " / "
                     : kind == AffineExprKind::Mod      ? " % "
                                                        : " * ";
  std::string text = x + sign + y;
  bool isQuotient = !isSum && kind != AffineExprKind::Mul;
  // C++ division truncates towards zero: a multiple of the divisor is first
  // added to a dividend that may be negative.
  if (int64_t more =
          isQuotient ? kernel::divisorsToAdd(parts, size.symbols()) : 0) {
    text = "(" + x + " + " + std::to_string(more) + " * " + y + ")" + sign + y;
    if (kind == AffineExprKind::FloorDiv)
      return "(" + text + " - " + std::to_string(more) + ")";
  }
  return (isSum && level > 0) || (isQuotient && level > 1) ? "(" + text + ")"
                                                           : text;
}

/// Returns the C text of a size symbol that is defined as a choice: the smaller
/// or larger of two sizes, a conditional, or a quotient. `x` are the texts of
/// its operands. The result can be an operand of any operator.
static std::string choiceText(kernel::SymbolAttr symbol,
                              llvm::ArrayRef<std::string> x) {
  kernel::Dims operands =
      kernel::dimsOf(cast<kernel::SizesAttr>(symbol.getOperands()));
  auto part = [](const std::string &text) {
    return llvm::StringRef(text).contains(' ') ? "(" + text + ")" : text;
  };
  auto chosen = [&](const char *by, const std::string &a,
                    const std::string &b) {
    return "(" + part(x[0]) + by + part(x[1]) + " ? " + a + " : " + b + ")";
  };
  switch (symbol.getChoice()) {
  case kernel::SizeChoice::Smaller:
    return chosen(" < ", x[0], x[1]);
  case kernel::SizeChoice::Larger:
    return chosen(" > ", x[0], x[1]);
  case kernel::SizeChoice::IfLess:
    return chosen(" < ", x[2], x[3]);
  case kernel::SizeChoice::IfEqual:
    return chosen(" == ", x[2], x[3]);
  case kernel::SizeChoice::Quotient: {
    std::string quotient = part(x[0]) + " / " + part(x[1]);
    if (operands[0].least() >= 0)
      return "(" + quotient + ")";
    // C++ division truncates towards zero, but this quotient of sizes rounds
    // down.
    return "(" + part(x[0]) + " >= 0 ? " + quotient + " : -((" + part(x[1]) +
           " - 1 - " + part(x[0]) + ") / " + part(x[1]) + "))";
  }
  case kernel::SizeChoice::None:
    break;
  }
  llvm_unreachable("a symbol that is given has a field");
}

std::string Interface::sizeText(const kernel::Dim &size,
                                llvm::StringRef object) const {
  if (auto known = size.known())
    return std::to_string(*known);
  llvm::SmallVector<std::string> fields;
  for (kernel::SymbolAttr symbol : size.symbols()) {
    if (!symbol.isGiven()) {
      llvm::SmallVector<std::string> operands;
      for (const kernel::Dim &x :
           kernel::dimsOf(cast<kernel::SizesAttr>(symbol.getOperands())))
        operands.push_back(sizeText(x, object));
      fields.push_back(choiceText(symbol, operands));
      continue;
    }
    for (const InterfaceSize &own : sizes)
      if (own.symbol == symbol && !own.isMade)
        fields.push_back((object + own.field).str());
    for (const InterfaceSize &own : madeSizes)
      if (own.symbol == symbol)
        fields.push_back((object.empty() ? "" : made) + own.field);
  }
  return expressionText(size.expression(), size, fields, /*level=*/0);
}

} // namespace ingot
