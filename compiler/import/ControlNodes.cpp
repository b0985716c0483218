//===- ControlNodes.cpp - operators that disappear on import --------------===//
//
// Identity, Constant, Shape, Size, and If with a known condition become values
// that exist already, or constants.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"

using namespace mlir;

namespace ingot {

GraphImporter::Special
GraphImporter::specialImport(const onnx::NodeProto &node) {
  static const llvm::StringMap<Special> specials = {
      {"Identity", &GraphImporter::importIdentity},
      {"Constant", &GraphImporter::importConstant},
      {"Shape", &GraphImporter::importShape},
      {"Size", &GraphImporter::importSize},
      {"If", &GraphImporter::importIf},
  };
  return canonicalDomain(node.domain()).empty()
             ? specials.lookup(node.op_type())
             : nullptr;
}

graph::ImportResult GraphImporter::importIdentity(NodePlace &at) {
  return SmallVector<Value>{at.inputs[0]};
}

graph::ImportResult GraphImporter::importConstant(NodePlace &at) {
  auto given = llvm::find_if(at.node.attribute(), [](const auto &attr) {
    return StringRef(attr.name()).contains("value");
  });
  if (given == at.node.attribute().end()) {
    report(DiagnosticId::InvalidAttribute, "`Constant` has no value", at);
    return failure();
  }
  const onnx::AttributeProto &attr = *given;
  StringRef name = at.node.output(0);
  std::string error;
  FailureOr<ElementsAttr> value = failure();
  auto vector = [&](Type element, int64_t size) {
    return RankedTensorType::get({size}, element);
  };
  if (attr.has_t()) {
    value = tensorAttr(attr.t(), name, &file, &context, error);
    if (failed(value) && !elementType(attr.t().data_type(), &context) &&
        !dataTypeName(attr.t().data_type()).empty()) {
      report(DiagnosticId::UnsupportedType, "`Constant`: its value " + error,
             at);
      return failure();
    }
  } else if (attr.has_sparse_tensor()) {
    value = sparseTensorAttr(attr.sparse_tensor(), &file, &context, error);
  } else if (attr.name() == "value_float") {
    value = ElementsAttr(DenseElementsAttr::get(
        RankedTensorType::get({}, builder.getF32Type()), attr.f()));
  } else if (attr.name() == "value_floats") {
    value = ElementsAttr(DenseElementsAttr::get(
        vector(builder.getF32Type(), attr.floats_size()),
        ArrayRef<float>(attr.floats().data(), attr.floats_size())));
  } else if (attr.name() == "value_int" || attr.name() == "value_ints") {
    Type i64 = builder.getIntegerType(64, /*isSigned=*/true);
    SmallVector<int64_t> ints(attr.ints().begin(), attr.ints().end());
    bool isScalar = attr.name() == "value_int";
    if (isScalar)
      ints.assign(1, attr.i());
    auto type =
        isScalar ? RankedTensorType::get({}, i64) : vector(i64, ints.size());
    value = ElementsAttr(denseFromBytes(
        type, ArrayRef(reinterpret_cast<const char *>(ints.data()),
                       ints.size() * 8)));
  } else {
    report(DiagnosticId::UnsupportedType, "`Constant`: a constant of strings",
           at);
    return failure();
  }
  if (failed(value)) {
    report(StringRef(error).starts_with("its external")
               ? DiagnosticId::ExternalData
               : DiagnosticId::InvalidTensor,
           "`Constant`: its value " + error, at);
    return failure();
  }
  return SmallVector<Value>{constant(*value, locationOf(at))};
}

/// A tensor of int64.
static DenseElementsAttr integers(Builder &builder, ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(
      shape, builder.getIntegerType(64, /*isSigned=*/true));
  return denseFromBytes(type,
                        ArrayRef(reinterpret_cast<const char *>(values.data()),
                                 values.size() * 8));
}

graph::ImportResult GraphImporter::importShape(NodePlace &at) {
  ProtoNode node(*this, at);
  ArrayRef<int64_t> shape = graph::shapeOf(at.inputs[0]);
  int64_t rank = shape.size();
  auto bound = [&](StringRef name, int64_t otherwise) {
    int64_t axis = node.intAttr(name, otherwise);
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = bound("start", 0), end = bound("end", rank);
  ArrayRef<int64_t> part =
      shape.slice(start, std::max<int64_t>(end - start, 0));
  return SmallVector<Value>{constant(
      integers(builder, {int64_t(part.size())}, part), locationOf(at))};
}

graph::ImportResult GraphImporter::importSize(NodePlace &at) {
  int64_t count = graph::tensorType(at.inputs[0]).getNumElements();
  return SmallVector<Value>{
      constant(integers(builder, {}, count), locationOf(at))};
}

graph::ImportResult GraphImporter::importIf(NodePlace &at) {
  DenseElementsAttr condition = requireConstant(at.inputs[0]);
  if (!condition) {
    report(DiagnosticId::UnsupportedForm,
           "`If`: a condition that is computed at run time", at,
           "conditions that are known when compiling");
    return failure();
  }
  if (condition.getNumElements() != 1) {
    report(DiagnosticId::InvalidNode,
           "`If`: the condition has " + Twine(condition.getNumElements()) +
               " elements",
           at);
    return failure();
  }
  StringRef branch =
      condition.getValues<bool>()[0] ? "then_branch" : "else_branch";
  for (const auto &attr : at.node.attribute()) {
    if (attr.name() != branch || !attr.has_g())
      continue;
    Scope inner;
    inner.outer = &at.scope;
    inner.opsets = at.scope.opsets;
    inner.call = at.scope.call;
    inner.callIndex = at.scope.callIndex;
    inner.callOpset = at.scope.callOpset;
    Diagnostic where;
    setNode(where, at.node, at.index, 0);
    inner.inside =
        ", inside `" + branch.str() + "` of " + where.node + at.scope.inside;
    importInitializers(attr.g(), inner);
    importNodes(attr.g().node(), inner);
    SmallVector<Value> results;
    for (const auto &output : attr.g().output()) {
      Binding binding = inner.lookup(output.name());
      if (binding.kind == Binding::Poisoned) {
        at.poisoned = true;
        return failure();
      }
      results.push_back(binding.value);
    }
    return results;
  }
  report(DiagnosticId::InvalidAttribute, "`If` has no " + branch, at);
  return failure();
}

} // namespace ingot
