// Imports nodes, function calls and constants.

#include "compiler/import/GraphImporter.h"

#include "compiler/import/FunctionBody.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/TensorNotes.h"
#include "mlir/IR/Verifier.h"
#include "passes/evaluate/Evaluate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ingot {

/// Limits for the number of imported nodes and for nested function calls,
/// against models whose functions call each other exponentially often. Real
/// models stay far below.
static constexpr size_t maxNodes = 2'000'000;
static constexpr unsigned maxCallDepth = 64;

Binding Scope::lookup(StringRef name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (auto it = scope->bindings.find(name); it != scope->bindings.end())
      return it->second;
  return {};
}

GraphImporter::GraphImporter(ModelFile &file, const ImportOptions &options,
                             Diagnostics &diagnostics, MLIRContext &context)
    : file(file), options(options), diagnostics(diagnostics), context(context),
      builder(&context) {}

OwningOpRef<ModuleOp> GraphImporter::run() {
  const onnx::ModelProto &model = file.model();
  opsets = opsetImports(model.opset_import());
  notes = tensorNotes(model.graph(), &context);
  for (const auto &function : model.functions())
    functions[functionKey(function.domain(), function.name(),
                          function.overload())] = &function;

  auto unknown = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  builder.setInsertionPointToEnd(module->getBody());
  main = func::FuncOp::create(builder, unknown, "main",
                              builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(main.addEntryBlock());

  Scope scope;
  scope.opsets = &opsets;
  Diagnostics before = diagnostics;
  if (!importInputs(model.graph(), scope)) {
    for (const Question &question : questions)
      diagnostics.report(DiagnosticId::UnboundDimension, question.message,
                         question.hint);
    return nullptr;
  }
  importInitializers(model.graph(), scope);
  importNodes(model.graph().node(), scope);
  checkMadeOptions();
  bool isDone = importOutputs(model.graph(), scope);
  return reportUnbound(before) || !isDone ? nullptr : std::move(module);
}

void GraphImporter::importInitializers(const onnx::GraphProto &graph,
                                       Scope &scope) {
  auto bind = [&](const std::string &name, FailureOr<ElementsAttr> value,
                  const std::string &error) {
    if (succeeded(value)) {
      scope.bindings[name] = Binding::known(constant(
          *value, NameLoc::get(builder.getStringAttr(printable(name)))));
      return;
    }
    diagnostics.report(DiagnosticId::InvalidTensor,
                       "the initializer `" + printable(name) + "` " + error);
    scope.bindings[name] = Binding::poisoned();
  };
  // The main graph is imported only once, so the data of its initializers are
  // moved out of the protobuf instead of copied.
  onnx::GraphProto *mainGraph = file.model().mutable_graph();
  for (int i = 0; i < graph.initializer_size(); ++i) {
    const onnx::TensorProto &tensor = graph.initializer(i);
    std::string error;
    if (tensor.data_type() == onnx::TensorProto::STRING) {
      importStrings(tensor, scope);
      continue;
    }
    auto value =
        &graph == mainGraph
            ? takeTensorAttr(*mainGraph->mutable_initializer(i), tensor.name(),
                             &file, &context, error)
            : tensorAttr(tensor, tensor.name(), &file, &context, error);
    // The tensor is valid, but its element type is unsupported. Nodes that use
    // it are skipped.
    if (failed(value) && !elementType(tensor.data_type(), &context) &&
        !dataTypeName(tensor.data_type()).empty()) {
      diagnostics.report(DiagnosticId::UnsupportedType,
                         "the initializer `" + printable(tensor.name()) + "` " +
                             error);
      scope.bindings[tensor.name()] = Binding::poisoned();
      continue;
    }
    if (failed(value) &&
        tensor.data_location() == onnx::TensorProto::EXTERNAL &&
        StringRef(error).starts_with("its external")) {
      diagnostics.report(DiagnosticId::ExternalData,
                         "the initializer `" + printable(tensor.name()) +
                             "`: " + error);
      scope.bindings[tensor.name()] = Binding::poisoned();
      continue;
    }
    bind(tensor.name(), value, error);
  }
  for (const auto &sparse : graph.sparse_initializer()) {
    std::string error;
    auto value = sparseTensorAttr(sparse, &file, &context, error);
    bind(sparse.values().name(), value, error);
  }
}

Value GraphImporter::constant(ElementsAttr value, Location loc) {
  return graph::ConstantOp::create(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Import of nodes
//===----------------------------------------------------------------------===//

Location GraphImporter::locationOf(const NodePlace &at) {
  // A node in a function body gets the location of the node that calls the
  // function, since that is the node that users know from the model's graph.
  const onnx::NodeProto &node = at.scope.call ? *at.scope.call : at.node;
  int64_t index = at.scope.call ? at.scope.callIndex : at.index;
  std::string name = node.name().empty()
                         ? "#" + std::to_string(index) + " " + node.op_type()
                         : node.name();
  return NameLoc::get(builder.getStringAttr(printable(name)));
}

/// Returns the symbols of the dynamic sizes in the types of a node's operands.
static llvm::SetVector<kernel::SymbolAttr> dynamicSizes(const NodePlace &at) {
  llvm::SetVector<kernel::SymbolAttr> found;
  auto add = [&](Value input) {
    for (const graph::Dim &size : input ? graph::dimsOf(input) : graph::Dims())
      found.insert_range(size.given());
  };
  llvm::for_each(at.inputs, add);
  for (Binding binding : at.bindings)
    binding.forEachValue(add);
  return found;
}

Diagnostic GraphImporter::diagnosticAt(const NodePlace &at) {
  Diagnostic diagnostic;
  if (at.scope.call) {
    setNode(diagnostic, *at.scope.call, at.scope.callIndex, at.scope.callOpset);
    Diagnostic inner;
    setNode(inner, at.node, at.index, at.opset);
    diagnostic.node += ", in its body " + inner.node;
  } else {
    setNode(diagnostic, at.node, at.index, at.opset);
  }
  diagnostic.node += at.scope.inside;
  SmallVector<Type> outputs;
  diagnostic.operands = describeOperands(at.schema, at.inputs, outputs);
  return diagnostic;
}

NodeResults GraphImporter::reportDynamicSize(const NodePlace &at,
                                             const Twine &what) {
  std::string sizes, hint;
  for (kernel::SymbolAttr symbol : dynamicSizes(at)) {
    std::string name = printable(symbol.getName());
    sizes += (sizes.empty() ? "`" : ", `") + name + "`";
    hint +=
        (hint.empty() ? "fix the size: --dim " : " --dim ") + name + "=SIZE";
  }
  Diagnostic diagnostic = diagnosticAt(at);
  diagnostic.id = DiagnosticId::UnsupportedForm;
  diagnostic.message =
      what.str() +
      " (not supported with sizes that are known only at run time: " + sizes +
      ")";
  diagnostic.hints.push_back(hint);
  diagnostics.report(std::move(diagnostic));
  return failure();
}

void GraphImporter::report(DiagnosticId id, const Twine &message,
                           const NodePlace &at, std::string supported,
                           std::string hint) {
  // Dynamic sizes were checked at their upper bounds only. A shape that is
  // invalid at the upper bounds may be valid at other sizes, so the node is not
  // reported as invalid, but as unsupported for dynamic sizes.
  if (infoOf(id).kind == DiagnosticClass::Invalid && !dynamicSizes(at).empty())
    return (void)reportDynamicSize(at, message);
  Diagnostic diagnostic = diagnosticAt(at);
  diagnostic.id = id;
  diagnostic.message = message.str();
  diagnostic.supported = std::move(supported);
  if (!hint.empty())
    diagnostic.hints.push_back(std::move(hint));
  diagnostics.report(std::move(diagnostic));
}

void GraphImporter::importNodes(const NodeList &nodes, Scope &scope) {
  for (int i : topologicalOrder(nodes))
    importNode(nodes[i], i, scope);
}

/// Binds all results of a node to `binding`.
static void bindAll(const onnx::NodeProto &node, Scope &scope,
                    const Binding &binding) {
  for (const std::string &output : node.output())
    if (!output.empty())
      scope.bindings[output] = binding;
}

void GraphImporter::importNode(const onnx::NodeProto &node, int64_t index,
                               Scope &scope) {
  NodePlace at{node, index,
               scope.opsets->lookup(canonicalDomain(node.domain())), scope};
  if (++importedNodes > maxNodes) {
    if (!exhausted)
      report(DiagnosticId::RecursiveFunction,
             "inlining the functions of the model yields more than " +
                 Twine(maxNodes) + " nodes",
             at);
    exhausted = true;
    return bindAll(node, scope, Binding::poisoned());
  }
  for (const std::string &input : node.input()) {
    Binding binding = input.empty() ? Binding::absent() : scope.lookup(input);
    if (binding.kind == Binding::Poisoned) {
      reportIfUnimplemented({node, index, at.opset, scope});
      return bindAll(node, scope, Binding::poisoned());
    }
    binding.forEachValue([&](Value &value) { value = resolve(value); });
    at.inputs.push_back(binding.value);
    at.bindings.push_back(std::move(binding));
  }
  at.schema = lookupSchema(node.domain(), node.op_type(), at.opset);

  size_t reported = diagnostics.size();
  NodeResults results = failure();
  try {
    Block *block = builder.getInsertionBlock();
    Operation *last = block->empty() ? nullptr : &block->back();
    if (checkStrings(at))
      results = buildNode(at);
    // An import function may report a fault and still return results. Such
    // results are discarded.
    bool isSound = diagnostics.size() == reported && !at.poisoned;
    if (succeeded(results) &&
        (!isSound || !checkDynamicSizes(at, *results, last) ||
         !checkResults(at, *results)))
      results = failure();
  } catch (const std::exception &error) {
    results = failure();
    report(DiagnosticId::Internal,
           "importing the node failed: " + Twine(printable(error.what())), at);
  }
  if (failed(results)) {
    if (diagnostics.size() == reported && !at.poisoned)
      report(DiagnosticId::Internal,
             "the import of `" + printable(node.op_type()) +
                 "` failed without a reason",
             at);
    return bindAll(node, scope, Binding::poisoned());
  }
  for (Binding &result : *results)
    foldPartOfShape(result);
  for (int i = 0; i < node.output_size(); ++i)
    if (!node.output(i).empty())
      scope.bindings[node.output(i)] = (*results)[i];
}

/// Whether the node's results are correct for all values of the dynamic sizes
/// of its operands; reports a diagnostic if not. Each operation built for the
/// node is verified, since its shape rule fails if it does not support dynamic
/// sizes. A result that can be evaluated at compile time is rejected, because
/// it would be correct only for the upper bounds. It is accepted from operators
/// that handle dynamic sizes themselves, such as Shape and Size, or read only a
/// type, such as CastLike. Nodes in the bodies of If, Loop and Scan have been
/// checked already.
bool GraphImporter::checkDynamicSizes(const NodePlace &at,
                                      ArrayRef<Binding> results,
                                      Operation *before) {
  if (dynamicSizes(at).empty())
    return true;
  // These operators may return constants although operands have dynamic sizes.
  // Slice and Split do so if the operand is [0, 1, ..., n - 1] with a dynamic
  // size n: each slice of it is a slice of the constant [0, 1, ..., m - 1],
  // where m is the upper bound of n.
  bool knows = at.isExpanded ||
               llvm::is_contained({"Shape", "Size", "CastLike",
                                   "SequenceLength", "OptionalHasElement", "If",
                                   "Loop", "Scan", "Slice", "Split"},
                                  at.node.op_type());
  bool holds = knows || llvm::all_of(results, [](const Binding &result) {
                 return !result.value || !isComputable(result.value);
               });
  ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  Block *block = builder.getInsertionBlock();
  for (Block::iterator op = before ? std::next(before->getIterator())
                                   : block->begin();
       op != block->end() && holds; ++op)
    holds = succeeded(verify(&*op, /*verifyRecursively=*/false));
  if (!holds)
    (void)reportDynamicSize(at, "`" + printable(at.node.op_type()) + "`");
  return holds;
}

/// Converts the values that an import function returns to bindings.
static NodeResults bindings(graph::ImportResult values) {
  if (failed(values))
    return failure();
  return llvm::map_to_vector(*values,
                             [](Value value) { return Binding::known(value); });
}

/// Returns the element type of the tensors in a sequence, or `ofEmpty` if the
/// sequence is empty; null if the binding is not a sequence.
static Type elementIn(const Binding &binding, Type ofEmpty) {
  if (binding.list)
    return graph::elementOf(binding.list->rows);
  if (!binding.isList())
    return Type();
  return binding.elements.empty() ? ofEmpty
                                  : graph::elementOf(binding.elements.front());
}

NodeResults GraphImporter::buildNode(NodePlace &at) {
  const onnx::NodeProto &node = at.node;
  auto local = functions.find(
      functionKey(node.domain(), node.op_type(), node.overload()));
  if (local != functions.end())
    return call(*local->second, at, /*isLocal=*/true);

  const Special *special = lookupSpecial(node.domain(), node.op_type());
  bool ofSequence = llvm::any_of(at.bindings, [](const Binding &binding) {
    return binding.kind == Binding::Sequence;
  });
  for (const Binding &binding : at.bindings)
    if (binding.present && (!special || special->sequences == Special::No)) {
      report(DiagnosticId::UnsupportedForm,
             "`" + printable(node.op_type()) +
                 "`: an optional value as an input is not supported",
             at, "",
             "read the element of the optional value with OptionalGetElement");
      return failure();
    }
  auto ownBody = [&]() -> std::optional<onnx::FunctionProto> {
    if (!at.schema)
      return std::nullopt;
    auto elements = llvm::map_to_vector(at.bindings, [&](const Binding &given) {
      return elementIn(given, builder.getF32Type());
    });
    return functionBody(node, *at.schema, at.opset, at.inputs, elements);
  };
  if (ofSequence && !special)
    if (auto body = ownBody())
      return call(file.keep(std::move(*body)), at, /*isLocal=*/false);
  if (ofSequence && (!special || special->sequences == Special::No)) {
    report(DiagnosticId::UnsupportedForm,
           "`" + printable(node.op_type()) +
               "`: a sequence as an input is not supported",
           at);
    return failure();
  }
  bool isNothing = special &&
                   special->import == &GraphImporter::importIdentity &&
                   !at.bindings.empty() && !node.input(0).empty() &&
                   at.bindings[0].kind == Binding::Absent;
  if (special &&
      (ofSequence || isNothing || special->sequences == Special::Only))
    return (this->*special->import)(at);
  if (at.schema) {
    // Nodes in the bodies of functions by which ONNX defines operators were not
    // validated with the model. They are written for one opset, while the model
    // may import an older one.
    auto error = at.scope.call ? checkForm(node, *at.schema) : std::nullopt;
    // The node lists all required operands, but one of them may be an optional
    // value that turns out to be absent.
    if (!error && !special)
      error = checkGiven(*at.schema,
                         llvm::map_to_vector(at.inputs, [](Value value) {
                           return static_cast<bool>(value);
                         }));
    if (!error) {
      assumeFitting(at);
      error = checkTypes(node, *at.schema, at.inputs, at.inferred);
    }
    if (error) {
      report(error->id, "`" + node.op_type() + "`: " + error->message, at,
             error->supported);
      return failure();
    }
  }
  for (const onnx::TypeProto &type : at.inferred) {
    SmallVector<int64_t> shape;
    for (const auto &dim : type.tensor_type().shape().dim())
      shape.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
    if (!checkedElements(shape, dataTypeBits(type.tensor_type().elem_type()))) {
      report(DiagnosticId::InvalidShape,
             "`" + node.op_type() + "`: the result has the invalid shape [" +
                 llvm::join(
                     llvm::map_range(
                         shape, [](int64_t d) { return std::to_string(d); }),
                     ",") +
                 "]",
             at);
      return failure();
    }
  }
  if (canonicalDomain(node.domain()).empty() &&
      ((at.opset < 7 && !raiseLegacy(at)) ||
       (at.opset < 8 && !checkEqualShapes(at))))
    return failure();
  if (!checkTensorAttributes(at))
    return failure();
  if (special)
    return (this->*special->import)(at);
  if (const graph::OnnxOperator *op =
          graph::OnnxRegistry::get().lookup(node.domain(), node.op_type())) {
    // The import function may have read inputs or derived values from them
    // before requireEqual replaces them, so it is called again. The number of
    // calls is limited: two requirements may replace each other's sizes.
    constexpr unsigned mostCalls = 32;
    for (unsigned calls = 1;; ++calls) {
      bool isRepeatable = calls < mostCalls;
      ProtoNode protoNode(*this, at, isRepeatable);
      graph::ImportResult results = op->import(protoNode);
      if (!isRepeatable || !protoNode.hasNewInputs())
        return bindings(std::move(results));
    }
  }
  if (auto body = ownBody())
    return call(file.keep(std::move(*body)), at, /*isLocal=*/false);
  reportUnimplemented(at);
  return failure();
}

/// Returns a hint with a workaround for a node whose operator is not
/// implemented; empty if none is known.
static StringRef wayOutOf(const onnx::NodeProto &node) {
  // The operators of com.microsoft.nchwc store weights in blocks of channels,
  // and the model file does not contain the block size.
  if (node.domain() == "com.microsoft.nchwc")
    return "ONNX Runtime optimized the model for one processor family: "
           "optimize it with at most ORT_ENABLE_EXTENDED, or disable "
           "NchwcTransformer";
  StringRef none,
      search = "export the decoder (the body of this node) as a separate "
               "model, and select the tokens in the calling program",
      map = "maps are not supported: export the model with tensors as features";
  return llvm::StringSwitch<StringRef>(node.op_type())
      .Cases({"BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"},
             search)
      .Cases({"CastMap", "DictVectorizer"}, map)
      .Default(none);
}

void GraphImporter::reportUnimplemented(const NodePlace &at) {
  const onnx::NodeProto &node = at.node;
  report(DiagnosticId::UnsupportedOperator,
         "the operator `" + printable(node.op_type()) + "`" +
             (canonicalDomain(node.domain()).empty()
                  ? ""
                  : " of " + printable(node.domain(), 60)) +
             " is not implemented",
         at, "", wayOutOf(node).str());
}

void GraphImporter::reportIfUnimplemented(const NodePlace &at) {
  const onnx::NodeProto &node = at.node;
  const onnx::OpSchema *schema =
      lookupSchema(node.domain(), node.op_type(), at.opset);
  bool isFunction = functions.count(functionKey(node.domain(), node.op_type(),
                                                node.overload())) ||
                    (schema && (schema->HasFunction() ||
                                schema->HasContextDependentFunction()));
  if (!isFunction && !lookupSpecial(node.domain(), node.op_type()) &&
      !graph::OnnxRegistry::get().lookup(node.domain(), node.op_type()))
    reportUnimplemented(at);
  for (const auto &attr : node.attribute())
    for (int i = 0; attr.has_g() && i < attr.g().node_size(); ++i) {
      const onnx::NodeProto &inner = attr.g().node(i);
      int64_t opset = at.scope.opsets->lookup(canonicalDomain(inner.domain()));
      reportIfUnimplemented({inner, i, opset, at.scope});
    }
}

NodeResults GraphImporter::call(const onnx::FunctionProto &function,
                                NodePlace &at, bool isLocal) {
  if (llvm::is_contained(callStack, &function) || callDepth >= maxCallDepth) {
    report(DiagnosticId::RecursiveFunction,
           "the function `" + printable(function.name()) + "` calls itself",
           at);
    return failure();
  }
  OpsetImports own = opsetImports(function.opset_import());
  // The body of an operator that ONNX defines as a function imports only the
  // opsets that it needs in addition to those of the graph that contains the
  // node.
  if (!isLocal || own.empty())
    for (const auto &entry : *at.scope.opsets)
      own.try_emplace(entry.first(), entry.second);

  at.isExpanded = true;
  Scope body;
  // A graph attribute of the call can use the names of the graph around the
  // call.
  if (llvm::any_of(at.node.attribute(),
                   [](const auto &attribute) { return attribute.has_g(); }))
    body.outer = &at.scope;
  body.opsets = &own;
  body.inside = at.scope.inside;
  body.call = at.scope.call ? at.scope.call : &at.node;
  body.callIndex = at.scope.call ? at.scope.callIndex : at.index;
  body.callOpset = at.scope.call ? at.scope.callOpset : at.opset;
  body.place = placeOf(at);
  for (int i = 0; i < function.input_size(); ++i)
    body.bindings[function.input(i)] =
        i < int(at.bindings.size()) ? at.bindings[i] : Binding::absent();
  AttributeValues attributes =
      callAttributes(at.node, function, isLocal ? nullptr : at.schema);
  callStack.push_back(&function);
  ++callDepth;
  for (int i : topologicalOrder(function.node())) {
    const onnx::NodeProto &node = function.node(i);
    if (!hasReferences(node)) {
      importNode(node, i, body);
      continue;
    }
    onnx::FunctionProto copy;
    *copy.add_node() = substitute(node, attributes);
    importNode(file.keep(std::move(copy)).node(0), i, body);
  }
  --callDepth;
  callStack.pop_back();

  SmallVector<Binding> results;
  for (int i = 0; i < at.node.output_size(); ++i) {
    Binding binding = i < function.output_size()
                          ? body.lookup(function.output(i))
                          : Binding();
    bool wanted = !at.node.output(i).empty();
    if (wanted && binding.kind == Binding::Poisoned) {
      at.poisoned = true;
      return failure();
    }
    if (wanted && binding.kind == Binding::Undefined) {
      report(DiagnosticId::InvalidNode,
             "the function `" + printable(function.name()) +
                 "` does not compute its output " + Twine(i),
             at);
      return failure();
    }
    results.push_back(std::move(binding));
  }
  return results;
}

} // namespace ingot
