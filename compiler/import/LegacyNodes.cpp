// Supports nodes of opset 6 and older.
//
// Nodes are read with the attributes of opset 6; older definitions are
// supported for the operators that isOldFormKnown lists. Deviations of the
// exporters of that time are corrected here. Training modes are diagnosed as
// unsupported.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"

using namespace mlir;

namespace ingot {

/// Whether the definition that the operator `name` had before opset 6 is
/// supported: it differs from the later one only by the attribute
/// `consumed_inputs`, which named inputs that could be overwritten, or the
/// operator's import function handles it.
static bool isOldFormKnown(StringRef name) {
  static const llvm::StringSet<> names{"Abs",
                                       "Add",
                                       "BatchNormalization",
                                       "Cast",
                                       "Ceil",
                                       "Clip",
                                       "Concat",
                                       "Div",
                                       "Dropout",
                                       "Elu",
                                       "Exp",
                                       "Floor",
                                       "Gemm",
                                       "GlobalLpPool",
                                       "HardSigmoid",
                                       "InstanceNormalization",
                                       "LeakyRelu",
                                       "Log",
                                       "LpPool",
                                       "Max",
                                       "Mean",
                                       "Min",
                                       "Mul",
                                       "Neg",
                                       "PRelu",
                                       "Pad",
                                       "Reciprocal",
                                       "Relu",
                                       "Reshape",
                                       "Sigmoid",
                                       "Split",
                                       "Sqrt",
                                       "Sub",
                                       "Sum",
                                       "Tanh",
                                       "Tile"};
  return names.contains(name);
}

bool GraphImporter::raiseLegacy(NodePlace &at) {
  const onnx::NodeProto &node = at.node;
  const onnx::OpSchema *six = lookupSchema("", node.op_type(), oldestOpset);
  if (!six || !at.schema ||
      (six->SinceVersion() != at.schema->SinceVersion() &&
       !isOldFormKnown(node.op_type()))) {
    report(DiagnosticId::UnsupportedOpset,
           "`" + node.op_type() + "` is from an opset older than " +
               Twine(oldestOpset) + ", the oldest that is supported",
           at, "",
           "export the model again with a newer opset, or raise it with "
           "onnx.version_converter");
    return false;
  }
  ProtoNode view(*this, at);
  // Dropout and BatchNormalization have a training mode in these opsets, which
  // is the default; is_test=1 marks nodes for inference.
  bool trains =
      node.op_type() == "Dropout" || node.op_type() == "BatchNormalization";
  if (trains && !view.intAttr("is_test", 0)) {
    report(DiagnosticId::UnsupportedForm,
           "`" + node.op_type() +
               "`: is_test=0 (training mode) is not supported",
           at);
    return false;
  }
  if (at.schema->attributes().count("broadcast") && at.inputs.size() == 2)
    return alignSecond(at);
  return true;
}

bool GraphImporter::checkEqualShapes(NodePlace &at) {
  static const llvm::StringSet<> names{"Sum", "Mean", "Max", "Min"};
  if (!names.contains(at.node.op_type()))
    return true;
  ProtoNode view(*this, at);
  return llvm::all_of(at.inputs, [&](Value input) {
    return succeeded(view.requireAlike(
        at.inputs[0], input,
        "the shapes of the inputs (which broadcast only since opset 8)"));
  });
}

/// Aligns the second operand of a node of opset 6 or older. In these opsets,
/// only the second operand broadcasts, if `broadcast` is set, starting at axis
/// `axis` of the first. Since opset 7, shapes are aligned at their last axes.
bool GraphImporter::alignSecond(NodePlace &at) {
  ProtoNode view(*this, at);
  graph::Dims second = graph::dimsOf(at.inputs[1]);
  ArrayRef<graph::Dim> rest = second;
  auto refuse = [&](const Twine &why) {
    report(DiagnosticId::InvalidNode, "`" + at.node.op_type() + "`: " + why,
           at);
    return false;
  };
  if (!view.intAttr("broadcast", 0))
    return succeeded(
        view.requireAlike(at.inputs[0], at.inputs[1],
                          "the shapes of the inputs (which broadcast before "
                          "opset 7 only with `broadcast=1`)"));
  // Exporters of opset 6 and older also wrote second operands of a larger rank
  // than the first operand, with leading axes of size 1; these axes are
  // dropped.
  graph::Dims first = graph::dimsOf(at.inputs[0]);
  int64_t rank = first.size(), axis = view.intAttr("axis", 0);
  if (axis < 0)
    axis += rank;
  bool hasAxis = view.hasAttr("axis");
  auto room = [&] { return rank - (hasAxis ? axis : 0); };
  while (!rest.empty() && rest.front() == 1 && int64_t(rest.size()) > room())
    rest = rest.drop_front();
  if (axis < 0 || int64_t(rest.size()) > room())
    return refuse("`axis` is out of range, or the second input has more axes "
                  "than the first has from `axis` on");
  graph::Dims aligned(rank, 1);
  llvm::copy(rest,
             hasAxis ? aligned.begin() + axis : aligned.end() - rest.size());
  Value other = view.reshape(at.inputs[1], ArrayRef(aligned));
  for (int64_t i = 0; i < rank; ++i) {
    graph::Dim mine = graph::dimsOf(other)[i];
    if (mine.mayBe(1))
      continue;
    if (surelyDiffer(mine, graph::dimsOf(at.inputs[0])[i]))
      return refuse("the second input does not broadcast to the first");
    if (failed(
            view.fitAxis(at.inputs[0], i, other, i, "the sizes of the inputs")))
      return false;
  }
  graph::Dims whole = graph::dimsOf(at.inputs[0]);
  for (auto [mine, size] : llvm::zip_equal(graph::dimsOf(other), whole))
    if (mine == 1)
      size = 1;
  Value grown = view.broadcastTo(other, whole);
  if (!grown)
    return refuse("the second input does not broadcast to the first");
  at.inputs[1] = grown;
  return true;
}

} // namespace ingot
