// Operators that are resolved during import.
//
// Identity, Constant, Shape, Size, and If with a known condition build no
// operation of their own: their results are existing values or constants. The
// branches of any other If become functions (BodyFunctions.cpp). Loop and Scan
// are unrolled, or their body becomes a function.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ops/Strings.h"

using namespace mlir;

namespace ingot {

const llvm::StringMap<GraphImporter::Special> &GraphImporter::specials() {
  using G = GraphImporter;
  constexpr auto may = Special::May, only = Special::Only;
  constexpr StringLiteral lists = "several operators",
                          mixed =
                              "elements of different types or ranks in a "
                              "sequence whose length is known only at run time";
  static const llvm::StringMap<Special> table = {
      {"Identity", {&G::importIdentity, "", may}},
      {"Constant", {&G::importConstant, ""}},
      {"Shape", {&G::importShape}},
      {"Size", {&G::importSize}},
      {"If",
       {&G::importIf,
        "branches that return different types or ranks under a condition that "
        "is computed at run time",
        may, "if"}},
      {"Loop",
       {&G::importLoop,
        "scan outputs if the number of iterations has no upper bound; carried "
        "optional values",
        may, "loop"}},
      {"Scan", {&G::importScan, "sequence_lens", Special::No, "loop"}},
      {"SequenceEmpty", {&G::importSequenceConstruct, "", only, lists}},
      {"SequenceConstruct", {&G::importSequenceConstruct, "", only, lists}},
      {"SequenceInsert", {&G::importSequenceInsert, mixed, only, lists}},
      {"SequenceErase", {&G::importSequenceErase, mixed, only, lists}},
      {"SequenceAt", {&G::importSequenceAt, mixed, only, lists}},
      {"SequenceLength", {&G::importSequenceLength, "", only, lists}},
      {"SplitToSequence", {&G::importSplitToSequence, "", only, lists}},
      {"ConcatFromSequence", {&G::importConcatFromSequence, "", only, lists}},
      {"Optional", {&G::importOptional, "", only}},
      {"OptionalHasElement", {&G::importOptionalHasElement, "", only, lists}},
      {"OptionalGetElement", {&G::importOptionalGetElement, "", only, lists}},
  };
  return table;
}

const GraphImporter::Special *GraphImporter::lookupSpecial(StringRef domain,
                                                           StringRef name) {
  auto it = specials().find(name);
  return canonicalDomain(domain).empty() && it != specials().end() ? &it->second
                                                                   : nullptr;
}

std::optional<ResolvedOperator> GraphImporter::resolvedOf(StringRef domain,
                                                          StringRef name) {
  const Special *special = lookupSpecial(domain, name);
  if (!special)
    return std::nullopt;
  return ResolvedOperator{special->limits, special->graphOperator};
}

std::optional<ResolvedOperator> resolvedOperator(StringRef domain,
                                                 StringRef name) {
  return GraphImporter::resolvedOf(domain, name);
}

NodeResults GraphImporter::importIdentity(NodePlace &at) {
  return SmallVector<Binding>{at.bindings[0]};
}

NodeResults GraphImporter::importConstant(NodePlace &at) {
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
  auto strings = [&](ArrayRef<int64_t> shape, ArrayRef<std::string> values) {
    return SmallVector<Binding>{Binding::known(
        graph::buildStrings(builder, locationOf(at), shape, values))};
  };
  if (attr.has_t() && attr.t().data_type() == onnx::TensorProto::STRING) {
    if (auto given = stringsOf(attr.t(), &context, error))
      return strings(given->shape, given->values);
  } else if (attr.name() == "value_string") {
    return strings({}, attr.s());
  } else if (attr.name() == "value_strings") {
    std::vector<std::string> values(attr.strings().begin(),
                                    attr.strings().end());
    return strings({int64_t(values.size())}, values);
  } else if (attr.has_t()) {
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
    error = "has an unknown form";
  }
  if (failed(value)) {
    report(StringRef(error).starts_with("its external")
               ? DiagnosticId::ExternalData
               : DiagnosticId::InvalidTensor,
           "`Constant`: its value " + error, at);
    return failure();
  }
  return SmallVector<Binding>{Binding::known(constant(*value, locationOf(at)))};
}

Value GraphImporter::integers(NodePlace &at, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(
      shape, builder.getIntegerType(64, /*isSigned=*/true));
  return constant(denseFromBytes(type, ArrayRef(reinterpret_cast<const char *>(
                                                    values.data()),
                                                values.size() * 8)),
                  locationOf(at));
}

Value GraphImporter::integers(NodePlace &at, ArrayRef<int64_t> shape,
                              ArrayRef<graph::Dim> values) {
  SmallVector<int64_t> numbers;
  for (const graph::Dim &value : values)
    if (auto known = value.known())
      numbers.push_back(*known);
  if (numbers.size() == values.size())
    return integers(at, shape, numbers);
  auto type = RankedTensorType::get(
      shape, builder.getIntegerType(64, /*isSigned=*/true));
  return graph::SizesOp::create(builder, locationOf(at), type,
                                kernel::sizesAttr(values, &context));
}

Value GraphImporter::boolean(NodePlace &at, bool value) {
  auto type = RankedTensorType::get({}, builder.getI1Type());
  return constant(DenseElementsAttr::get(type, value), locationOf(at));
}

NodeResults GraphImporter::importShape(NodePlace &at) {
  ProtoNode node(*this, at);
  graph::Dims sizes = graph::dimsOf(at.inputs[0]);
  int64_t rank = sizes.size();
  auto bound = [&](StringRef name, int64_t otherwise) {
    int64_t axis = node.intAttr(name, otherwise);
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = bound("start", 0), end = bound("end", rank);
  ArrayRef<graph::Dim> part =
      ArrayRef(sizes).slice(start, std::max<int64_t>(end - start, 0));
  return SmallVector<Binding>{
      Binding::known(integers(at, {int64_t(part.size())}, part))};
}

NodeResults GraphImporter::importSize(NodePlace &at) {
  graph::Dim count = graph::product(graph::dimsOf(at.inputs[0]));
  return SmallVector<Binding>{Binding::known(integers(at, {}, count))};
}

const onnx::GraphProto *GraphImporter::bodyOf(NodePlace &at, StringRef name) {
  for (const auto &attr : at.node.attribute())
    if (attr.name() == name && attr.has_g())
      return &attr.g();
  report(DiagnosticId::InvalidAttribute,
         "`" + at.node.op_type() + "` has no " + name, at);
  return nullptr;
}

Scope GraphImporter::bodyScope(NodePlace &at, StringRef name,
                               const onnx::GraphProto &body) {
  Scope scope;
  scope.outer = &at.scope;
  scope.opsets = at.scope.opsets;
  scope.call = at.scope.call;
  scope.callIndex = at.scope.callIndex;
  scope.callOpset = at.scope.callOpset;
  Diagnostic where;
  setNode(where, at.node, at.index, 0);
  scope.inside =
      ", inside `" + name.str() + "` of " + where.node + at.scope.inside;
  scope.place = placeOf(at, name);
  importInitializers(body, scope);
  return scope;
}

NodeResults GraphImporter::runBody(NodePlace &at, const Scope &shared,
                                   const onnx::GraphProto &body,
                                   ArrayRef<Binding> arguments) {
  if (body.input_size() != int(arguments.size())) {
    report(DiagnosticId::InvalidNode,
           "`" + at.node.op_type() + "`: the body has " +
               Twine(body.input_size()) + " inputs, but the operator passes " +
               Twine(arguments.size()) + " values",
           at);
    return failure();
  }
  Scope scope;
  scope.outer = &shared;
  scope.opsets = shared.opsets;
  scope.call = shared.call;
  scope.callIndex = shared.callIndex;
  scope.callOpset = shared.callOpset;
  scope.inside = shared.inside;
  scope.place = shared.place;
  for (auto [input, argument] : llvm::zip_equal(body.input(), arguments))
    scope.bindings[input.name()] = argument;
  importNodes(body.node(), scope);
  SmallVector<Binding> results;
  for (const auto &output : body.output()) {
    results.push_back(scope.lookup(output.name()));
    if (results.back().kind == Binding::Poisoned) {
      at.poisoned = true;
      return failure();
    }
    results.back().forEachValue([&](Value &value) { value = resolve(value); });
  }
  return results;
}

NodeResults GraphImporter::importIf(NodePlace &at) {
  DenseElementsAttr condition = constantOf(at.inputs[0]);
  if (!condition) {
    Diagnostics why;
    NodeResults results = attempt(at, why, [&] { return importRunTimeIf(at); });
    if (succeeded(results))
      return results;
    condition = requireConstant(at.inputs[0]);
    if (!condition) {
      diagnostics = why;
      return failure();
    }
    at.poisoned = false;
  }
  if (condition.getNumElements() != 1) {
    report(DiagnosticId::InvalidNode,
           "`If`: the condition has " + Twine(condition.getNumElements()) +
               " elements, but must have exactly 1",
           at);
    return failure();
  }
  StringRef branch =
      condition.getValues<bool>()[0] ? "then_branch" : "else_branch";
  const onnx::GraphProto *body = bodyOf(at, branch);
  if (!body)
    return failure();
  return runBody(at, bodyScope(at, branch, *body), *body, {});
}

} // namespace ingot
