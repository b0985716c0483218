//===- LegacyNodes.cpp - nodes of opset 6 ---------------------------------===//
//
// Before opset 7 binary operators broadcast only where an attribute says so,
// and from an axis of choice; what follows knows NumPy's rule only. Opset 6 is
// raised here, what differs in still older ones is refused.
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
  ArrayRef<int64_t> x = graph::shapeOf(at.inputs[0]);
  ArrayRef<int64_t> y = graph::shapeOf(at.inputs[1]);
  int64_t axis = view.intAttr("axis", 0);
  if (axis < 0)
    axis += x.size();
  if (axis < 0 || axis + y.size() > x.size()) {
    report(DiagnosticId::InvalidNode,
           "`" + node.op_type() + "`: the second input does not fit at axis " +
               Twine(axis),
           at);
    return false;
  }
  SmallVector<int64_t> shape(axis, 1);
  shape.append(y.begin(), y.end());
  shape.resize(x.size(), 1);
  auto type = RankedTensorType::get(shape, graph::elementOf(at.inputs[1]));
  at.inputs[1] =
      graph::ReshapeOp::create(builder, locationOf(at), type, at.inputs[1]);
  return true;
}

} // namespace ingot
