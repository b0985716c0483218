#include "compiler/import/ProtoNode.h"

#include "compiler/import/TensorData.h"

using namespace mlir;

namespace ingot {

ProtoNode::ProtoNode(GraphImporter &importer, NodePlace &at, bool isRepeatable)
    : OnnxNode(importer.getBuilder(), importer.locationOf(at), at.opset),
      importer(importer), at(at), isRepeatable(isRepeatable) {
  inputs = at.inputs;
  // Absent inputs at the end of the list do not count as inputs.
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  outputCount = at.node.output_size();
}

bool ProtoNode::wantsOutput(unsigned i) const {
  return i < unsigned(at.node.output_size()) && !at.node.output(i).empty();
}

const onnx::AttributeProto *ProtoNode::find(StringRef name) const {
  for (const auto &attr : at.node.attribute())
    if (attr.name() == name)
      return &attr;
  return nullptr;
}

bool ProtoNode::hasAttr(StringRef name) const { return find(name); }

/// Whether an attribute has a value of the type that `isWritten` tests. Some
/// writers omit a value of 0 or "", so an attribute that has only a type has
/// the default value of protobuf.
static bool hasValue(const onnx::AttributeProto *attr,
                     bool (onnx::AttributeProto::*isWritten)() const) {
  return attr && ((attr->*isWritten)() ||
                  attr->type() != onnx::AttributeProto::UNDEFINED);
}

int64_t ProtoNode::intAttr(StringRef name, int64_t otherwise) const {
  const auto *attr = find(name);
  return hasValue(attr, &onnx::AttributeProto::has_i) ? attr->i() : otherwise;
}

double ProtoNode::floatAttr(StringRef name, double otherwise) const {
  const auto *attr = find(name);
  return hasValue(attr, &onnx::AttributeProto::has_f) ? attr->f() : otherwise;
}

std::string ProtoNode::stringAttr(StringRef name, StringRef otherwise) const {
  const auto *attr = find(name);
  return hasValue(attr, &onnx::AttributeProto::has_s) ? attr->s()
                                                      : otherwise.str();
}

SmallVector<int64_t> ProtoNode::intsAttr(StringRef name,
                                         ArrayRef<int64_t> otherwise) const {
  const auto *attr = find(name);
  return attr ? SmallVector<int64_t>(attr->ints().begin(), attr->ints().end())
              : SmallVector<int64_t>(otherwise);
}

bool GraphImporter::checkTensorAttributes(NodePlace &at) {
  for (const auto &attr : at.node.attribute()) {
    // The tensor attribute of Constant may be large, so it is checked only by
    // the import function of Constant, which also reads it.
    if (!attr.has_t() || at.node.op_type() == "Constant")
      continue;
    std::string error;
    if (attr.t().data_type() == onnx::TensorProto::STRING &&
                at.node.op_type() == "LabelEncoder"
            ? stringsOf(attr.t(), &context, error).has_value()
            : succeeded(denseTensorAttr(attr.t(), &file, &context, error)))
      continue;
    bool isKnown = !dataTypeName(attr.t().data_type()).empty() &&
                   !elementType(attr.t().data_type(), &context);
    report(isKnown ? DiagnosticId::UnsupportedType
                   : DiagnosticId::InvalidTensor,
           "`" + printable(at.node.op_type()) + "`: its attribute `" +
               printable(attr.name()) + "` " + error,
           at);
    return false;
  }
  return true;
}

SmallVector<std::string> ProtoNode::stringsAttr(StringRef name) const {
  const auto *attr = find(name);
  if (attr && attr->has_t())
    return {attr->t().string_data().begin(), attr->t().string_data().end()};
  return attr ? SmallVector<std::string>(attr->strings().begin(),
                                         attr->strings().end())
              : SmallVector<std::string>();
}

DenseElementsAttr ProtoNode::tensorAttr(StringRef name) const {
  const auto *attr = find(name);
  std::string error;
  if (!attr || !attr->has_t())
    return {};
  auto value = denseTensorAttr(attr->t(), &importer.getFile(),
                               builder.getContext(), error);
  return succeeded(value) ? *value : DenseElementsAttr();
}

Type ProtoNode::elementType(int64_t onnxDataType) const {
  return ingot::elementType(onnxDataType, builder.getContext());
}

DenseElementsAttr ProtoNode::constantInput(unsigned i) {
  return hasInput(i) ? importer.constantOf(input(i)) : DenseElementsAttr();
}

DenseElementsAttr ProtoNode::require(unsigned i, StringRef what) {
  if (!hasInput(i)) {
    (void)invalid("the input that contains its " + what + " is missing");
    return {};
  }
  DenseElementsAttr value = importer.requireConstant(input(i));
  if (!value)
    importer.reportNotConstant(at, i, what);
  return value;
}

static double toDouble(const APFloat &value) {
  APFloat wide = value;
  bool losesInfo;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return wide.convertToDouble();
}

/// Returns the elements of a constant, converted by `ofFloat` if they are
/// floats, else by `ofInteger`. Fails if `value` is null.
template <typename Number>
static FailureOr<SmallVector<Number>>
numbersOf(DenseElementsAttr value, llvm::function_ref<Number(double)> ofFloat,
          llvm::function_ref<Number(const APInt &, Type)> ofInteger) {
  if (!value)
    return failure();
  Type element = value.getElementType();
  SmallVector<Number> numbers;
  if (isa<FloatType>(element))
    for (const APFloat &x : value.getValues<APFloat>())
      numbers.push_back(ofFloat(toDouble(x)));
  else
    for (const APInt &x : value.getValues<APInt>())
      numbers.push_back(ofInteger(x, element));
  return numbers;
}

static FailureOr<SmallVector<double>> doublesOf(DenseElementsAttr value) {
  return numbersOf<double>(
      value, [](double number) { return number; },
      [](const APInt &x, Type element) {
        return element.isSignedInteger() ? double(x.getSExtValue())
                                         : double(x.getZExtValue());
      });
}

/// Returns a list of floats, or the elements of a tensor, as stringsAttr does.
SmallVector<double> ProtoNode::floatsAttr(StringRef name,
                                          ArrayRef<double> otherwise) const {
  const auto *attr = find(name);
  if (attr && attr->has_t())
    return doublesOf(tensorAttr(name)).value_or(SmallVector<double>());
  return attr
             ? SmallVector<double>(attr->floats().begin(), attr->floats().end())
             : SmallVector<double>(otherwise);
}

FailureOr<SmallVector<int64_t>> ProtoNode::requireInts(unsigned i,
                                                       StringRef what) {
  return numbersOf<int64_t>(
      require(i, what),
      [](double number) -> int64_t {
        // Floats outside of the range of int64 saturate. The import function
        // checks the range of the result.
        return std::isnan(number)  ? 0
               : number >= 0x1p63  ? INT64_MAX
               : number <= -0x1p63 ? INT64_MIN
                                   : static_cast<int64_t>(number);
      },
      [](const APInt &x, Type element) -> int64_t {
        if (element.isUnsignedInteger() || element.isInteger(1))
          return std::min<uint64_t>(x.getZExtValue(), INT64_MAX);
        return x.getSExtValue();
      });
}

FailureOr<graph::Dims> ProtoNode::requireSizes(unsigned i, StringRef what) {
  if (hasInput(i) && !importer.constantOf(input(i)))
    if (std::optional<graph::Dims> sizes = importer.sizesIn(input(i)))
      return *sizes;
  auto numbers = requireInts(i, what);
  if (failed(numbers))
    return failure();
  return graph::Dims(numbers->begin(), numbers->end());
}

FailureOr<SmallVector<double>> ProtoNode::requireFloats(unsigned i,
                                                        StringRef what) {
  return doublesOf(require(i, what));
}

LogicalResult ProtoNode::unsupported(const Twine &reason, const Twine &hint) {
  if (isDiscarded())
    return failure();
  const graph::OnnxOperator *op =
      graph::OnnxRegistry::get().lookup(at.node.domain(), at.node.op_type());
  std::string text = hint.str();
  if (text.empty() && op)
    text = "see `ingot ops " + op->name + "`";
  importer.report(DiagnosticId::UnsupportedForm,
                  "`" + printable(at.node.op_type()) + "`: " + reason, at,
                  op && !op->limits.empty() ? "all but " + op->limits : "",
                  text);
  return failure();
}

bool ProtoNode::isConstant(unsigned i) {
  return static_cast<bool>(importer.requireConstant(input(i)));
}

bool ProtoNode::isKnown(unsigned i) {
  return importer.requireConstant(input(i)) || importer.sizesIn(input(i));
}

FailureOr<graph::Dims>
ProtoNode::readSizes(Value counts, ArrayRef<std::optional<int64_t>> most) {
  return importer.readSizes(at, counts, most);
}

void ProtoNode::checkEqual(const graph::Dim &x, const graph::Dim &y) {
  importer.checkEqual(at, x, y);
}

LogicalResult ProtoNode::requireEqual(const graph::Dim &x, const graph::Dim &y,
                                      const Twine &what) {
  if (importer.requireEqual(x, y))
    return success();
  if (importer.restate(at, x, y)) {
    isReplaced = true;
    if (isDiscarded())
      return failure();
    llvm::copy(ArrayRef(at.inputs).take_front(inputs.size()), inputs.begin());
    return success();
  }
  return invalid(what + ": " + kernel::sizeText(x) + " and " +
                 kernel::sizeText(y) + " must be equal");
}

void ProtoNode::warnOfReadings(const Twine &difference, const Twine &wayOut) {
  importer.report(DiagnosticId::TwoReadings,
                  "`" + printable(at.node.op_type()) + "`: " + difference, at,
                  /*supported=*/"", wayOut.str());
}

LogicalResult ProtoNode::invalid(const Twine &reason) {
  if (isDiscarded())
    return failure();
  importer.report(DiagnosticId::InvalidNode,
                  "`" + printable(at.node.op_type()) + "`: " + reason, at);
  return failure();
}

} // namespace ingot
