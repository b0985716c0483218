// Evaluates values that must be known at compile time.
//
// Import functions query shapes, axes and similar values. Values that depend
// only on constants are evaluated. A value that depends on inputs of the graph
// is evaluated if the user gave data for these inputs; the generated code then
// rejects other values of these inputs.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/KnownSizes.h"
#include "compiler/import/TensorData.h"

using namespace mlir;

namespace ingot {

Value GraphImporter::resolve(Value value) const {
  auto it = replaced.find(value);
  return it == replaced.end() ? value : it->second;
}

/// Collects the arguments of `main` that `value` is computed from. Returns
/// false if it depends on more than `maxOps` values (no shape computation has
/// so many), on dynamic sizes, on strings, on the result of an If or a Loop, or
/// on an argument of a loop's body.
static bool collectArguments(Value value, func::FuncOp main,
                             SmallVectorImpl<BlockArgument> &arguments) {
  constexpr size_t maxOps = 20'000;
  SmallVector<Value> worklist{value};
  DenseSet<Value> seen{value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() != &main.getBody().front())
        return false;
      arguments.push_back(argument);
      continue;
    }
    // Strings are not evaluated: the evaluator represents a string by an
    // address, which differs from run to run.
    if (graph::hasDynamicSizes(next.getDefiningOp()) ||
        isa<graph::IfOp, graph::LoopOp, graph::StringsOp>(next.getDefiningOp()))
      return false;
    for (Value operand : next.getDefiningOp()->getOperands())
      if (seen.insert(operand).second)
        worklist.push_back(operand);
    if (seen.size() > maxOps)
      return false;
  }
  llvm::sort(arguments, [](BlockArgument a, BlockArgument b) {
    return a.getArgNumber() < b.getArgNumber();
  });
  return true;
}

/// Returns the sizes as a constant of type `type` if each of them is a number;
/// otherwise null.
static DenseElementsAttr numbersIn(ArrayRef<graph::Dim> sizes,
                                   RankedTensorType type) {
  SmallVector<APInt> numbers;
  for (const graph::Dim &size : sizes) {
    auto number = size.known();
    if (!number)
      return {};
    numbers.push_back(APInt(type.getElementTypeBitWidth(),
                            static_cast<uint64_t>(*number), /*isSigned=*/true,
                            /*implicitTrunc=*/true));
  }
  return DenseElementsAttr::get(type, numbers);
}

DenseElementsAttr GraphImporter::constantOf(Value value) {
  value = resolve(value);
  if (auto op = value.getDefiningOp<graph::ConstantOp>())
    return toDense(op.getValueAttr());
  SmallVector<BlockArgument> arguments;
  if (isa<BlockArgument>(value) || !options.evaluate ||
      notConstant.contains(value))
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  DenseElementsAttr known;
  if (type.getNumElements() <= maxEvaluatedElements &&
      collectArguments(value, main, arguments) && arguments.empty()) {
    auto evaluated = options.evaluate({value});
    if (succeeded(evaluated) && evaluated->size() == 1)
      known = toDense(evaluated->front());
  } else if (auto sizes = sizesIn(value)) {
    known = numbersIn(*sizes, type);
  }
  if (!known || known.getType() != type) {
    notConstant.insert(value);
    return {};
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  Value constantValue = constant(known, value.getLoc());
  value.replaceAllUsesWith(constantValue);
  replaced[value] = constantValue;
  return known;
}

/// The largest number of elements of a tensor whose values may determine a
/// shape. Longer tensors contain data that the network processes.
static constexpr int64_t maxBoundElements = 256;

void GraphImporter::foldPartOfShape(Binding &result) {
  Operation *part = result.value ? result.value.getDefiningOp() : nullptr;
  bool isPart = isa_and_nonnull<graph::GatherOp, graph::SliceOp>(part) &&
                part->getOperand(0).getDefiningOp<graph::SizesOp>();
  // Whether `result` is an integer that was converted from a float, and so may
  // be computed from a size: int(sqrt(float(size))).
  bool isRounded =
      isa_and_nonnull<graph::CastOp>(part) &&
      isa<FloatType>(graph::elementOf(part->getOperand(0))) &&
      graph::elementOf(result.value).isIntOrIndex() &&
      !graph::hasDynamicSizes(result.value.getType()) &&
      graph::tensorType(result.value).getNumElements() <= maxBoundElements;
  if ((isPart || isRounded) && constantOf(result.value))
    result.value = resolve(result.value);
}

std::optional<graph::Dims> GraphImporter::sizesIn(Value value) {
  return valuesOfSizes(resolve(value));
}

DenseElementsAttr GraphImporter::requireConstant(Value value) {
  if (DenseElementsAttr known = constantOf(value))
    return known;
  SmallVector<BlockArgument> arguments;
  if (!collectArguments(resolve(value), main, arguments) || arguments.empty())
    return {};
  for (BlockArgument argument : arguments) {
    auto data = options.data.find(argumentNames[argument.getArgNumber()]);
    if (data == options.data.end() ||
        data->second.getNumElements() > maxBoundElements)
      return {};
  }
  for (BlockArgument argument : arguments)
    if (!bindInput(argument,
                   options.data.at(argumentNames[argument.getArgNumber()])))
      return {};
  return constantOf(value);
}

bool GraphImporter::bindInput(BlockArgument argument, DenseElementsAttr value) {
  if (value.getType() != argument.getType())
    return false;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(argument.getOwner());
  Value known = constant(value, NameLoc::get(builder.getStringAttr(printable(
                                    argumentNames[argument.getArgNumber()]))));
  argument.replaceAllUsesWith(known);
  replaced[argument] = known;
  notConstant.clear();
  main.setArgAttr(argument.getArgNumber(), kernel::kBoundAttr, value);
  return true;
}

std::vector<std::string> GraphImporter::bindableInputs(Value value) const {
  SmallVector<BlockArgument> arguments;
  if (!collectArguments(resolve(value), main, arguments))
    return {};
  std::vector<std::string> names;
  for (BlockArgument argument : arguments) {
    if (cast<RankedTensorType>(argument.getType()).getNumElements() >
        maxBoundElements)
      return {};
    names.push_back(argumentNames[argument.getArgNumber()]);
  }
  return names;
}

std::string GraphImporter::bindHint(ArrayRef<std::string> inputs) {
  std::string text = "give the values with";
  for (const std::string &name : inputs)
    text += " --bind " + printable(name) + "=VALUES";
  return text;
}

void GraphImporter::reportNotConstant(const NodePlace &at, unsigned i,
                                      StringRef what) {
  std::vector<std::string> inputs = bindableInputs(at.inputs[i]);
  std::string message = "`" + printable(at.node.op_type()) + "`: its " +
                        what.str() + " must be known when compiling";
  if (inputs.empty())
    return report(DiagnosticId::RuntimeShape,
                  message + ", but is computed at run time", at);
  report(DiagnosticId::UnboundValue,
         message + ", but comes from the input `" +
             printable(llvm::join(inputs, "`, `"), 400) + "`",
         at, "", bindHint(inputs));
}

void GraphImporter::reportRuntimeCondition(const NodePlace &at, Value condition,
                                           std::string supported) {
  std::vector<std::string> inputs = bindableInputs(condition);
  report(DiagnosticId::UnsupportedForm,
         "`" + printable(at.node.op_type()) + "`: its condition" +
             (inputs.empty()
                  ? " is computed at run time"
                  : " depends on the input `" +
                        printable(llvm::join(inputs, "`, `"), 400) + "`"),
         at, std::move(supported), inputs.empty() ? "" : bindHint(inputs));
}

void GraphImporter::reportUnlessKnown(const NodePlace &at, const Twine &message,
                                      ArrayRef<Value> values) {
  std::vector<std::string> inputs;
  for (Value value : values)
    for (const std::string &name :
         value ? bindableInputs(value) : std::vector<std::string>())
      if (!llvm::is_contained(inputs, name))
        inputs.push_back(name);
  report(DiagnosticId::UnsupportedForm,
         "`" + printable(at.node.op_type()) + "`: " + message, at, "",
         inputs.empty() ? "" : bindHint(inputs));
}

} // namespace ingot
