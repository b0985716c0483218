#include "compiler/import/operators/OnnxImport.h"

#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ElementsData.h"
#include "dialects/graph/ops/Movement.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot::graph {

static Attribute integerAttr(Type type, int64_t value) {
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), value,
                                      /*isSigned=*/true,
                                      /*implicitTrunc=*/true));
}

Value OnnxNode::scalarConstant(double value, Type elementType) {
  return constant(DenseElementsAttr::get(
      RankedTensorType::get({}, elementType),
      isa<FloatType>(elementType)
          ? builder.getFloatAttr(elementType, value)
          : integerAttr(elementType, static_cast<int64_t>(value))));
}

Value OnnxNode::integers(ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
  return constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, i64()), values));
}

Value OnnxNode::integers(ArrayRef<int64_t> values) {
  return integers({int64_t(values.size())}, values);
}

Value OnnxNode::countTo(const Dim &count) {
  // Up to this number of elements, the result is a constant, or a slice of a
  // constant if `count` is dynamic. A longer constant would take more memory
  // than the code that computes the numbers.
  constexpr int64_t mostNumbers = 4096;
  Type i64 = builder.getIntegerType(64, /*isSigned=*/true);
  if (count.most() > mostNumbers) {
    Value ones = build<ExpandOp>(scalarConstant(1, i64), ArrayRef(count));
    return build<CumSumOp>(ones, /*axis=*/0, /*exclusive=*/true,
                           /*reverse=*/false);
  }
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, count.most()));
  Value all = constant(DenseElementsAttr::get(
      RankedTensorType::get({count.most()}, i64), ArrayRef(numbers)));
  if (count.known())
    return all;
  return build<SliceOp>(all, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1},
                        ArrayRef(count));
}

Value OnnxNode::unlessZeros(Value value) {
  auto constant = value ? value.getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant)
    return value;
  std::vector<char> storage;
  bool isZero = llvm::all_of(elementBytes(constant.getValueAttr(), storage),
                             [](char byte) { return byte == 0; });
  return isZero ? Value() : value;
}

Value OnnxNode::cast(Value value, Type elementType) {
  if (!value || elementOf(value) == elementType)
    return value;
  return CastOp::create(builder, loc, value, elementType);
}

Type OnnxNode::sumType(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32
             ? builder.getF32Type()
             : type;
}

Value OnnxNode::reshape(Value value, ArrayRef<Dim> sizes) {
  if (!value)
    return {};
  RankedTensorType type = tensorOf(sizes, elementOf(value));
  if (value.getType() == type)
    return value;
  if (type.getNumElements() != tensorType(value).getNumElements())
    // Reports the fault, but returns a value, so that import functions need not
    // check each step. The module is discarded.
    (void)invalid("the shape of an operand does not match the other operands");
  return buildReshape(builder, loc, value, sizes);
}

Value OnnxNode::flat(Value value) {
  return reshape(value, {product(dimsOf(value))});
}

Value OnnxNode::expand(Value value, ArrayRef<Dim> sizes) {
  return build<ExpandOp>(value, sizes);
}

Value OnnxNode::slice(Value x, int64_t axis, int64_t start, const Dim &size,
                      int64_t step) {
  return graph::slice(builder, loc, x, axis, start, size, step);
}

Value OnnxNode::cut(Value x, ArrayRef<Dim> sizes) {
  SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
  return builder.createOrFold<SliceOp>(loc, x, starts, steps, sizes);
}

Value OnnxNode::transpose(Value x, ArrayRef<int64_t> perm) {
  return build<TransposeOp>(x, perm);
}

Value OnnxNode::concat(ValueRange parts, int64_t axis) {
  return builder.createOrFold<ConcatOp>(loc, parts, axis);
}

Value OnnxNode::alignAt(Value value, int64_t axis, int64_t rank) {
  if (!value)
    return {};
  if (axis + int64_t(shapeOf(value).size()) > rank) {
    (void)invalid("an operand has too many axes");
    return value; // any value: the module is discarded
  }
  Dims sizes(rank, 1);
  llvm::copy(dimsOf(value), sizes.begin() + axis);
  return reshape(value, sizes);
}

LogicalResult OnnxNode::requireAlike(Value x, Value y, const Twine &what) {
  if (shapeOf(x).size() != shapeOf(y).size())
    return invalid(what + " must have the same rank");
  for (size_t axis = 0; axis < shapeOf(x).size(); ++axis)
    if (failed(requireEqual(dimsOf(x)[axis], dimsOf(y)[axis], what)))
      return failure();
  return success();
}

LogicalResult OnnxNode::fitAxis(Value &x, int64_t axis, Value y,
                                int64_t otherAxis, const Twine &what) {
  if (takeEqual(dimsOf(x)[axis], dimsOf(y)[otherAxis]))
    return success();
  Dim size = dimsOf(x)[axis], other = dimsOf(y)[otherAxis];
  if (surelyDiffer(size, other))
    return invalid(what + ": " + kernel::sizeText(size) + " and " +
                   kernel::sizeText(other) + " must be equal");
  checkEqual(size, other);
  x = resizedAlong(*this, x, axis, other);
  return success();
}

/// Returns the sizes of the operands along one axis, except sizes that are
/// always 1. `fromEnd` is the number of the axis counted from the end, where 1
/// is the last axis.
static Dims sizesAlong(ArrayRef<Value> operands, size_t fromEnd) {
  Dims sizes;
  for (Value operand : operands)
    if (shapeOf(operand).size() >= fromEnd)
      if (Dim size = dimsOf(operand).end()[-int64_t(fromEnd)]; !(size == 1))
        sizes.push_back(size);
  return sizes;
}

/// Returns the broadcast of `sizes` if one of them can never be 1: this size is
/// the broadcast. Returns nullopt if each of them may be 1.
static std::optional<Dim> fixedSize(ArrayRef<Dim> sizes) {
  for (const Dim &size : sizes)
    if (size.known() && !size.mayBe(1))
      return size;
  for (const Dim &size : sizes)
    if (!size.mayBe(1))
      return size;
  return std::nullopt;
}

Dim OnnxNode::wholeSize(ArrayRef<Dim> sizes) {
  if (auto fixed = fixedSize(sizes))
    return *fixed;
  Dim whole = 1;
  for (const Dim &size : sizes)
    if (!(size == 1))
      whole = whole == 1 ? size : wholeOf(whole, size);
  return whole;
}

std::optional<Dims> OnnxNode::broadcast(MutableArrayRef<Value> operands,
                                        size_t others) {
  size_t rank = 0;
  for (Value operand : operands)
    rank = std::max(rank, shapeOf(operand).size());
  // The sizes are read again for each operand, since assuming that two sizes
  // are equal changes the types of operands.
  for (size_t axis = others + 1; axis <= rank; ++axis)
    for (size_t i = 0; i < sizesAlong(operands, axis).size(); ++i) {
      Dims sizes = sizesAlong(operands, axis);
      if (auto whole = fixedSize(sizes);
          whole && !(sizes[i] == *whole) && !sizes[i].mayBe(1))
        (void)assumeEqual(sizes[i], *whole);
    }
  Dims result;
  for (size_t axis = rank; axis > others; --axis)
    result.push_back(wholeSize(sizesAlong(operands, axis)));
  for (Value &operand : operands) {
    Dims sizes = dimsOf(operand);
    if (sizes.size() <= others)
      continue;
    size_t own = sizes.size() - others;
    for (size_t i = 0; i < own; ++i)
      if (!(sizes[i] == 1))
        sizes[i] = result[result.size() - own + i];
    Value grown = broadcastTo(operand, sizes);
    if (!grown)
      return std::nullopt;
    operand = grown;
  }
  return result;
}

Value OnnxNode::broadcastTo(Value x, ArrayRef<Dim> sizes) {
  Dims from = dimsOf(x);
  if (ArrayRef(from) == sizes)
    return x;
  if (from.size() > sizes.size())
    return {};
  for (auto [size, whole] : llvm::zip(from, sizes.take_back(from.size()))) {
    if (size == whole || size == 1)
      continue;
    if (size.known() || !(size.mayBe(1) || !surelyDiffer(size, whole)))
      return {};
    checkOneOr(size, whole);
  }
  return builder.createOrFold<ExpandOp>(loc, x, sizes);
}

FailureOr<int64_t> OnnxNode::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return invalid("axis " + Twine(axis) + " is out of range for rank " +
                   Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

FailureOr<int64_t> OnnxNode::axisAttr(StringRef name, int64_t otherwise,
                                      int64_t rank) {
  return normalizeAxis(intAttr(name, otherwise), rank);
}

RankedTensorType
OnnxNode::elementwiseType(MutableArrayRef<Value> operands,
                          llvm::function_ref<Type(ArrayRef<Type>)> element) {
  SmallVector<Type> types;
  for (Value operand : operands) {
    if (!operand)
      return {}; // building the operand has failed with a diagnostic
    types.push_back(elementOf(operand));
  }
  auto shape = broadcast(operands);
  if (!shape) {
    (void)invalid("the shapes of the inputs do not broadcast");
    shape = dimsOf(operands.front()); // any shape: the module is discarded
  }
  return tensorOf(*shape, element(types));
}

Value OnnxNode::valueOf(const Operand &operand, const Operand &other) {
  if (operand.value || !other.value)
    return operand.value;
  Type type = elementOf(other.value);
  if (!operand.isWhole || isa<FloatType>(type))
    return scalarConstant(operand.real, type);
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, type),
                                         integerAttr(type, operand.whole)));
}

template <typename OpT>
Value OnnxNode::binary(const Operand &x, const Operand &y) {
  Value first = valueOf(x, y), second = valueOf(y, x);
  return elementwise<OpT>({first, second});
}

Value OnnxNode::where(Value condition, const Operand &x, const Operand &y) {
  Value first = valueOf(x, y), second = valueOf(y, x);
  return elementwise<WhereOp>({condition, first, second});
}
Value OnnxNode::add(const Operand &x, const Operand &y) {
  return binary<AddOp>(x, y);
}
Value OnnxNode::sub(const Operand &x, const Operand &y) {
  return binary<SubOp>(x, y);
}
Value OnnxNode::mul(const Operand &x, const Operand &y) {
  return binary<MulOp>(x, y);
}
Value OnnxNode::div(const Operand &x, const Operand &y) {
  return binary<DivOp>(x, y);
}
Value OnnxNode::pow(const Operand &x, const Operand &y) {
  return binary<PowOp>(x, y);
}
Value OnnxNode::min(const Operand &x, const Operand &y) {
  return binary<MinimumOp>(x, y);
}
Value OnnxNode::max(const Operand &x, const Operand &y) {
  return binary<MaximumOp>(x, y);
}
Value OnnxNode::less(const Operand &x, const Operand &y) {
  return binary<LessOp>(x, y);
}
Value OnnxNode::lessOrEqual(const Operand &x, const Operand &y) {
  return binary<LessOrEqualOp>(x, y);
}
Value OnnxNode::greater(const Operand &x, const Operand &y) {
  return binary<GreaterOp>(x, y);
}
Value OnnxNode::greaterOrEqual(const Operand &x, const Operand &y) {
  return binary<GreaterOrEqualOp>(x, y);
}
Value OnnxNode::equal(const Operand &x, const Operand &y) {
  return binary<EqualOp>(x, y);
}
Value OnnxNode::both(const Operand &x, const Operand &y) {
  return binary<AndOp>(x, y);
}
Value OnnxNode::either(const Operand &x, const Operand &y) {
  return binary<OrOp>(x, y);
}

ImportResult OnnxNode::buildAs(StringRef name, ArrayRef<Value> operands,
                               int64_t asOpset) {
  SmallVector<Value> ownInputs(operands);
  // Absent inputs at the end of the list do not count as inputs.
  while (!ownInputs.empty() && !ownInputs.back())
    ownInputs.pop_back();
  std::swap(inputs, ownInputs);
  std::swap(opset, asOpset);
  ImportResult results = OnnxRegistry::get().lookup("", name)->import(*this);
  std::swap(inputs, ownInputs);
  std::swap(opset, asOpset);
  return results;
}

Value OnnxNode::valueAs(StringRef name, ArrayRef<Value> operands,
                        int64_t asOpset) {
  ImportResult results = buildAs(name, operands, asOpset);
  return succeeded(results) ? results->front() : Value();
}

template <typename... OpTs> struct RegularOperators {
  static void addAll(OnnxRegistry &registry) {
    (addIfElementwise<OpTs>(registry), ...);
  }
  template <typename OpT> static void addIfElementwise(OnnxRegistry &registry) {
    if constexpr (OpT::template hasTrait<ElementwiseOpInterface::Trait>())
      registry.addRegular<OpT>();
  }
};

OnnxRegistry::OnnxRegistry() {
  RegularOperators<
#define GET_OP_LIST
#include "dialects/graph/GraphOps.cpp.inc"
      >::addAll(*this);
#define INGOT_FAMILY(NAME) register##NAME##Imports(*this);
#include "compiler/import/operators/Families.def"
#undef INGOT_FAMILY
}

const OnnxRegistry &OnnxRegistry::get() {
  static const OnnxRegistry registry;
  return registry;
}

static std::string keyOf(StringRef domain, StringRef name) {
  if (domain == "ai.onnx")
    domain = "";
  return (domain + "." + name).str();
}

void OnnxRegistry::add(StringRef name, ImportFunction import, StringRef limits,
                       StringRef domain) {
  operators[keyOf(domain, name)] = {domain.str(), name.str(), std::move(import),
                                    "", limits.str()};
}

void OnnxRegistry::addRegular(StringRef onnxName, StringRef graphName,
                              ImportFunction import) {
  operators[keyOf("", onnxName)] = {"", onnxName.str(), std::move(import),
                                    graphName.str(), ""};
}

const OnnxOperator *OnnxRegistry::lookup(StringRef domain,
                                         StringRef name) const {
  auto it = operators.find(keyOf(domain, name));
  return it == operators.end() ? nullptr : &it->second;
}

std::vector<const OnnxOperator *> OnnxRegistry::all() const {
  std::vector<const OnnxOperator *> all;
  for (const auto &entry : operators)
    all.push_back(&entry.second);
  llvm::sort(all, [](const OnnxOperator *a, const OnnxOperator *b) {
    return std::tie(a->domain, a->name) < std::tie(b->domain, b->name);
  });
  return all;
}

/// Returns the error that the verifier reports for an operation; empty if there
/// is none.
static std::string refusalOf(Operation *op) {
  std::string refusal;
  ScopedDiagnosticHandler handler(
      op->getContext(),
      [&](Diagnostic &diagnostic) { refusal = diagnostic.str(); });
  if (succeeded(verify(op, /*verifyRecursively=*/false)))
    return "";
  return StringRef(refusal).split(" op ").second.str();
}

ImportResult OnnxRegistry::importRegularNode(
    OnnxNode &node, StringRef graphName, ArrayRef<StringRef> attributes,
    llvm::function_ref<Type(ArrayRef<Type>)> element) {
  SmallVector<Value> operands;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.hasInput(i))
      return node.invalid("input " + Twine(i) + " is missing");
    operands.push_back(node.input(i));
  }
  if (!node.broadcast(operands))
    return node.invalid("the shapes of the inputs do not broadcast");
  RankedTensorType type = node.elementwiseType(operands, element);
  OperationState state(node.loc, graphName);
  state.addOperands(operands);
  state.addTypes(type);
  Operation *op = node.builder.create(state);
  for (StringRef name : attributes) {
    if (!node.hasAttr(name))
      continue; // the operation has ONNX's default value
    // The operation has a default value for each attribute, from which the type
    // of the attribute is derived.
    Attribute byDefault = op->getAttr(name);
    if (auto number = dyn_cast<FloatAttr>(byDefault))
      op->setAttr(name,
                  FloatAttr::get(number.getType(), node.floatAttr(name, 0)));
    else if (auto integer = dyn_cast<IntegerAttr>(byDefault))
      op->setAttr(name,
                  IntegerAttr::get(integer.getType(), node.intAttr(name, 0)));
    else
      op->setAttr(name, node.builder.getStringAttr(node.stringAttr(name, "")));
  }
  // The operation's verifier checks the attribute values; its error is reported
  // for the node.
  if (std::string refusal = attributes.empty() ? "" : refusalOf(op);
      !refusal.empty())
    return node.invalid(refusal);
  return one(op->getResult(0));
}

} // namespace ingot::graph
