// Checks that the results of an imported node have the element types and shapes
// that ONNX's own shape inference computes.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/TensorData.h"

using namespace mlir;

namespace ingot {

/// Returns the shape in `type`, which ONNX's shape inference has computed;
/// nullopt unless it has inferred the rank and all sizes.
static std::optional<SmallVector<int64_t>>
staticShape(const onnx::TypeProto &type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape())
    return std::nullopt;
  SmallVector<int64_t> shape;
  for (const auto &dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value())
      return std::nullopt;
    shape.push_back(dim.dim_value());
  }
  return shape;
}

/// Whether ONNX's shape inference may contradict the operator's specification:
///
/// - Pools with `ceil_mode`: until opset 22, inference counts windows that
///   begin after the input, which the specification, ONNX's reference
///   implementation and ONNX Runtime omit.
/// - LinearClassifier without intercepts, which are optional: inference takes
///   the number of intercepts as the number of classes.
/// - ConvTranspose: inference returns a shape with too few axes if output_shape
///   is smaller than the input; with auto_pad, it adds output_padding to the
///   size that auto_pad determines.
/// - Einsum: if operands give different sizes to one letter of the equation,
///   inference uses the first size; NumPy and ONNX Runtime broadcast a size of
///   1.
/// - Resize by scales: inference does not multiply size and scale in float32,
///   as ONNX Runtime does: 7 times float32(15 / 7) is 15.
static bool isInferredWrong(const NodePlace &at) {
  auto attribute = [&](StringRef name) {
    return llvm::find_if(at.node.attribute(), [&](const auto &attribute) {
      return attribute.name() == name;
    });
  };
  auto none = at.node.attribute().end();
  StringRef type = at.node.op_type();
  if (type == "LinearClassifier") {
    auto intercepts = attribute("intercepts");
    return intercepts == none || intercepts->floats().empty();
  }
  if (type == "ConvTranspose" &&
      (attribute("output_shape") != none ||
       (attribute("auto_pad") != none && attribute("output_padding") != none)))
    return true;
  // Models with older opsets use negative axes of Squeeze and Unsqueeze, and
  // ONNX Runtime accepts them, although ONNX allows them only since opset 11.
  constexpr int64_t withNegativeAxes = 11;
  if ((type == "Squeeze" || type == "Unsqueeze") && at.opset < withNegativeAxes)
    return true;
  if (type == "Einsum" || type == "Resize")
    return true;
  constexpr int64_t corrected = 22;
  auto ceilMode = attribute("ceil_mode");
  return type.ends_with("Pool") && at.opset < corrected && ceilMode != none &&
         ceilMode->i() != 0;
}

bool GraphImporter::checkResults(NodePlace &at, ArrayRef<Binding> results) {
  for (int i = 0; i < at.node.output_size(); ++i) {
    if (at.node.output(i).empty())
      continue;
    Binding binding = i < int(results.size()) ? results[i] : Binding();
    if (binding.kind == Binding::Sequence || binding.kind == Binding::Absent)
      continue;
    Value result = binding.value;
    auto type = result ? dyn_cast<RankedTensorType>(result.getType())
                       : RankedTensorType();
    if (!type) {
      report(DiagnosticId::UnsupportedForm,
             "the output " + Twine(i) + " of `" + at.node.op_type() +
                 "` is not supported",
             at);
      return false;
    }
    if (!fitsAtBounds(at, type))
      return false;
    if (!checkedElements(type.getShape(),
                         8 * elementBytes(type.getElementType()))) {
      report(DiagnosticId::InvalidShape,
             "`" + at.node.op_type() + "`: the result has the invalid shape " +
                 describe(type),
             at);
      return false;
    }
    if (i >= int(at.inferred.size()))
      continue;
    // ONNX's shape inference is an independent implementation: if it differs
    // from Ingot's result, one of the two is wrong.
    // Inference gives the result of RMSNormalization the type of the input; the
    // specification gives it the type of the scale.
    int64_t dataType = at.node.op_type() == "RMSNormalization"
                           ? 0
                           : at.inferred[i].tensor_type().elem_type();
    auto shape = staticShape(at.inferred[i]);
    if (isInferredWrong(at))
      shape.reset();
    bool differs =
        (dataType && dataType != onnxDataType(type.getElementType())) ||
        (shape && ArrayRef(*shape) != type.getShape());
    // ONNX's shape rules of the following operators are less strict than the
    // specification: they accept scales, biases and slopes that would broadcast
    // the input.
    static const llvm::StringSet<> unidirectional{"PRelu",
                                                  "BatchNormalization",
                                                  "InstanceNormalization",
                                                  "LayerNormalization",
                                                  "RMSNormalization",
                                                  "GroupNormalization"};
    // If a node was built from the function body by which ONNX defines its
    // operator, the results contradict ONNX's shape inference only if the
    // shapes of the operands contradict each other.
    if (differs &&
        (at.isExpanded || unidirectional.contains(at.node.op_type()))) {
      report(DiagnosticId::InvalidNode,
             "`" + at.node.op_type() +
                 "`: the shapes of the inputs contradict each other: the "
                 "output " +
                 Twine(i) + " would be " + describe(type),
             at);
      return false;
    }
    if (differs) {
      std::string want = describe(RankedTensorType::get(
          shape ? *shape : SmallVector<int64_t>(type.getShape()),
          elementType(dataType, &context) ? elementType(dataType, &context)
                                          : type.getElementType()));
      report(DiagnosticId::Internal,
             "the output " + Twine(i) + " of `" + at.node.op_type() +
                 "` was built as " + describe(type) + ", but ONNX infers " +
                 want,
             at);
      return false;
    }
  }
  return true;
}

} // namespace ingot
