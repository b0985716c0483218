#include "compiler/import/Summary.h"

#include "compiler/import/Schema.h"
#include "compiler/import/TensorData.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {

std::string typeText(const onnx::TypeProto &type) {
  switch (type.value_case()) {
  case onnx::TypeProto::kTensorType:
    break;
  case onnx::TypeProto::kSequenceType:
    return "sequence of " + typeText(type.sequence_type().elem_type());
  case onnx::TypeProto::kOptionalType:
    return "optional " + typeText(type.optional_type().elem_type());
  case onnx::TypeProto::kMapType:
    return "map";
  case onnx::TypeProto::kSparseTensorType:
    return "sparse tensor";
  default:
    return "unknown";
  }
  const auto &tensor = type.tensor_type();
  StringRef name = dataTypeName(tensor.elem_type());
  std::string text = name.empty() ? "unknown" : name.str();
  if (!tensor.has_shape())
    return text;
  std::vector<std::string> sizes;
  for (const auto &dim : tensor.shape().dim())
    sizes.push_back(dim.has_dim_value()       ? std::to_string(dim.dim_value())
                    : dim.dim_param().empty() ? "?"
                                              : printable(dim.dim_param()));
  return text + "[" + llvm::join(sizes, ",") + "]";
}

static void
countNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
           ModelSummary &summary) {
  for (const auto &node : nodes) {
    StringRef domain = canonicalDomain(node.domain());
    ++summary.nodes;
    ++summary.operators[(domain.empty() ? "" : printable(domain) + ".") +
                        printable(node.op_type())];
    for (const auto &attr : node.attribute()) {
      if (attr.has_g())
        countNodes(attr.g().node(), summary);
      for (const auto &graph : attr.graphs())
        countNodes(graph.node(), summary);
    }
  }
}

ModelSummary summarize(const onnx::ModelProto &model) {
  ModelSummary summary;
  const onnx::GraphProto &graph = model.graph();
  summary.producer = printable(model.producer_name());
  if (!model.producer_version().empty())
    summary.producer += " " + printable(model.producer_version());
  summary.irVersion = model.ir_version();
  for (const auto &import : model.opset_import()) {
    StringRef domain = canonicalDomain(import.domain());
    summary.opsets[domain.empty() ? "ai.onnx" : printable(domain)] =
        import.version();
  }
  llvm::StringSet<> constants;
  for (const auto &tensor : graph.initializer()) {
    constants.insert(tensor.name());
    SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
    unsigned bits = dataTypeBits(tensor.data_type());
    if (auto count = checkedElements(shape, bits))
      summary.initializerBytes += (*count * bits + 7) / 8;
  }
  summary.initializers = graph.initializer_size();
  for (const auto &input : graph.input())
    if (!constants.contains(input.name()))
      summary.inputs.push_back({input.name(), typeText(input.type())});
  for (const auto &output : graph.output())
    summary.outputs.push_back({output.name(), typeText(output.type())});
  countNodes(graph.node(), summary);
  summary.functions = model.functions_size();
  for (const auto &function : model.functions())
    countNodes(function.node(), summary);
  return summary;
}

} // namespace ingot
