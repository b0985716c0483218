//===- LegacyNodes.cpp - nodes of opset 6 ---------------------------------===//
//
// Import functions know the attributes of opset 6. What only its exporters did
// is mended here, forms for training and what differs in still older opsets are
// refused.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"

using namespace mlir;

namespace ingot {

bool GraphImporter::raiseLegacy(NodePlace &at) {
  const onnx::NodeProto &node = at.node;
  const onnx::OpSchema *six = lookupSchema("", node.op_type(), 6);
  if (!six || !at.schema || six->SinceVersion() != at.schema->SinceVersion()) {
    report(DiagnosticId::UnsupportedOpset,
           "`" + node.op_type() + "` of an opset older than 6", at, "",
           "export the model again with a newer opset, or raise it with "
           "onnx.version_converter");
    return false;
  }
  ProtoNode view(*this, at);
  // Training forms of these: a node for inference says so.
  bool trains =
      node.op_type() == "Dropout" || node.op_type() == "BatchNormalization";
  if (trains && !view.intAttr("is_test", 0)) {
    report(DiagnosticId::UnsupportedForm,
           "`" + node.op_type() + "`: is_test=0, that is, for training", at);
    return false;
  }
  if (!view.intAttr("broadcast", 0) || !view.hasAttr("axis") ||
      at.inputs.size() != 2)
    return true;
  // Exporters of the time gave an axis also with leading dimensions of 1 that
  // reach beyond it.
  size_t rank = graph::shapeOf(at.inputs[0]).size();
  ArrayRef<int64_t> shape = graph::shapeOf(at.inputs[1]), rest = shape;
  int64_t axis = view.intAttr("axis", 0);
  if (axis < 0)
    axis += rank;
  while (!rest.empty() && rest.front() == 1 && axis + rest.size() > rank)
    rest = rest.drop_front();
  if (axis < 0 || axis + rest.size() > rank) {
    report(DiagnosticId::InvalidNode,
           "`" + node.op_type() + "`: the second input does not fit at `axis`",
           at);
    return false;
  }
  // Since opset 7 shapes are aligned at their last axes.
  SmallVector<int64_t> aligned(rank, 1);
  llvm::copy(rest, aligned.begin() + axis);
  if (ArrayRef<int64_t>(aligned) != shape)
    at.inputs[1] = graph::ReshapeOp::create(
        builder, locationOf(at),
        RankedTensorType::get(aligned, graph::elementOf(at.inputs[1])),
        at.inputs[1]);
  return true;
}

} // namespace ingot
