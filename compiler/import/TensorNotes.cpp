// Comments on inputs and outputs, for the header of the generated code.

#include "compiler/import/TensorNotes.h"

#include "compiler/import/TensorData.h"
#include "onnx/onnx_pb.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::StringRef;

namespace ingot {

namespace {
/// The positions of a quantized tensor, its scale and its zero point among the
/// inputs of an operator; `tensor` is -1 if the operator's output is the
/// quantized tensor.
struct QuantizedOperand {
  StringRef op;
  int tensor, scale, zero;
};
} // namespace

static constexpr int isOutput = -1;
static constexpr QuantizedOperand quantizedOperands[] = {
    {"DequantizeLinear", 0, 1, 2},      {"QuantizeLinear", isOutput, 1, 2},
    {"QLinearConv", 0, 1, 2},           {"QLinearConv", isOutput, 6, 7},
    {"QLinearMatMul", 0, 1, 2},         {"QLinearMatMul", isOutput, 6, 7},
    {"QLinearAdd", isOutput, 6, 7},     {"QLinearSigmoid", isOutput, 3, 4},
    {"QLinearSoftmax", isOutput, 3, 4}, {"QLinearGlobalAveragePool", 0, 1, 2}};

namespace {
class Notes {
public:
  Notes(const onnx::GraphProto &graph, MLIRContext *context)
      : context(context) {
    for (const auto &tensor : graph.input())
      interface.insert(tensor.name());
    for (const auto &tensor : graph.output())
      interface.insert(tensor.name());
    for (const auto &tensor : graph.initializer())
      constants[tensor.name()] = &tensor;
    for (const auto &node : graph.node())
      if (node.op_type() == "Constant" && node.output_size() == 1 &&
          node.attribute_size() == 1 && node.attribute(0).has_t())
        constants[node.output(0)] = &node.attribute(0).t();
    for (const auto &node : graph.node())
      for (const QuantizedOperand &operand : quantizedOperands)
        if (node.op_type() == operand.op)
          add(node, operand);
  }

  llvm::StringMap<std::string> quantized;

private:
  void add(const onnx::NodeProto &node, const QuantizedOperand &operand) {
    if (operand.scale >= node.input_size() || node.output_size() == 0 ||
        operand.tensor >= node.input_size())
      return;
    StringRef name = operand.tensor == isOutput ? node.output(0)
                                                : node.input(operand.tensor);
    if (!interface.contains(name))
      return;
    std::string scale = number(node.input(operand.scale)),
                zero = operand.zero < node.input_size() &&
                               !node.input(operand.zero).empty()
                           ? number(node.input(operand.zero))
                           : "0";
    if (scale.empty() || zero.empty())
      return;
    quantized.try_emplace(name, zero == "0" ? "scale " + scale
                                            : "scale " + scale +
                                                  ", zero point " + zero);
  }

  /// Returns the element of the constant `name` as text; empty if there is no
  /// such constant or it does not have exactly one element.
  std::string number(StringRef name) const {
    const onnx::TensorProto *tensor = constants.lookup(name);
    std::string error, text;
    if (!tensor)
      return text;
    auto values = denseTensorAttr(*tensor, /*file=*/nullptr, context, error);
    if (failed(values) || values->getNumElements() != 1)
      return text;
    llvm::raw_string_ostream os(text);
    if (auto type = dyn_cast<IntegerType>(values->getElementType())) {
      APInt value = *values->value_begin<APInt>();
      value.print(os, /*isSigned=*/!type.isUnsigned());
    } else if (isa<FloatType>(values->getElementType())) {
      APFloat value = *values->value_begin<APFloat>();
      os << llvm::format("%.9g", value.convertToDouble());
    }
    return text;
  }

  MLIRContext *context;
  llvm::StringSet<> interface;
  llvm::StringMap<const onnx::TensorProto *> constants;
};
} // namespace

llvm::StringMap<std::string> tensorNotes(const onnx::GraphProto &graph,
                                         MLIRContext *context) {
  Notes notes(graph, context);
  llvm::StringMap<std::string> result;
  auto add = [&](const onnx::ValueInfoProto &tensor) {
    std::string text = notes.quantized.lookup(tensor.name());
    if (!tensor.doc_string().empty())
      text += (text.empty() ? "" : "; ") + tensor.doc_string();
    if (!text.empty())
      result[tensor.name()] = text;
  };
  for (const auto &input : graph.input())
    add(input);
  for (const auto &output : graph.output())
    add(output);
  return result;
}

} // namespace ingot
