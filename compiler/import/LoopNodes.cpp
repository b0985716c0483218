// Imports Loop.
//
// A short loop with a known trip count is unrolled: its body is imported once
// per iteration, and scan outputs are concatenated. Then iterations fuse and
// share kernels like other nodes. Any other loop becomes a `graph.loop`, whose
// body is a function. A loop that cannot become one (for example because the
// shape of a state cannot be bounded) is also unrolled, if its trip count is
// known.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Strings.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ingot {

bool GraphImporter::isShort(int64_t iterations,
                            const onnx::GraphProto &body) const {
  constexpr int64_t mostIterations = 16, mostNodes = 200;
  return iterations <= mostIterations &&
         iterations * copies * body.node_size() <= mostNodes;
}

bool GraphImporter::checkUnrolled(NodePlace &at, const onnx::GraphProto &body,
                                  int64_t count) {
  if (count <= maxUnrolledNodes / copies / std::max(1, body.node_size()))
    return true;
  report(
      DiagnosticId::UnsupportedForm,
      "`" + at.node.op_type() + "`: " + Twine(count) +
          " or more iterations of " + Twine(body.node_size()) +
          " nodes would be unrolled" +
          (copies > 1
               ? " in each of " + std::to_string(copies) + " copies of the loop"
               : "") +
          ", which is too much",
      at,
      "up to " + std::to_string(maxUnrolledNodes) + " nodes after unrolling");
  return false;
}

/// Stacks tensors of equal shape along a new axis, axis `axis` of the result.
/// Returns null, with a diagnostic, if their types differ or the axis is out of
/// range.
Value GraphImporter::stack(NodePlace &at, ArrayRef<Value> parts, int64_t axis) {
  Location loc = locationOf(at);
  assumeAlike(parts, std::nullopt);
  SmallVector<Value> wide;
  for (Value part : parts) {
    if (!part || part.getType() != parts[0].getType()) {
      report(DiagnosticId::InvalidNode,
             "`" + at.node.op_type() +
                 "`: the type of an output differs between iterations",
             at);
      return {};
    }
    graph::Dims shape = graph::dimsOf(part);
    int64_t rank = int64_t(shape.size()) + 1;
    int64_t place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank) {
      report(DiagnosticId::InvalidNode,
             "`" + at.node.op_type() + "`: an output axis is out of range", at);
      return {};
    }
    shape.insert(shape.begin() + place, 1);
    wide.push_back(graph::buildReshape(builder, loc, part, shape));
  }
  if (wide.size() == 1)
    return wide[0];
  int64_t rank = graph::shapeOf(wide[0]).size();
  return graph::ConcatOp::create(builder, loc, wide,
                                 axis < 0 ? axis + rank : axis);
}

Value GraphImporter::emptyTensor(NodePlace &at, RankedTensorType type) {
  if (graph::isString(type.getElementType()))
    return builder.createOrFold<graph::ExpandOp>(
        locationOf(at),
        graph::buildStrings(builder, locationOf(at), {}, {std::string()}),
        ArrayRef(graph::dimsOf(type)));
  if (!graph::hasDynamicSizes(type))
    return constant(DenseElementsAttr::get(type, ArrayRef<Attribute>()),
                    locationOf(at));
  // A constant cannot have a dynamic size, so a tensor with dynamic sizes is
  // built by Expand.
  ProtoNode node(*this, at);
  return node.build<graph::ExpandOp>(
      node.scalarConstant(0, type.getElementType()),
      ArrayRef(graph::dimsOf(type)));
}

NodeResults GraphImporter::importLoop(NodePlace &at) {
  const onnx::GraphProto *body = bodyOf(at, "body");
  if (!body)
    return failure();
  // ONNX's type inference, which checks the types of the trip count and the
  // condition, is skipped if the loop carries sequences. So the types are
  // checked here.
  for (size_t i = 0; i < std::min<size_t>(2, at.bindings.size()); ++i)
    if (at.bindings[i].kind == Binding::Sequence ||
        (at.inputs[i] &&
         !graph::elementOf(at.inputs[i]).isInteger(i == 0 ? 64 : 1))) {
      (void)ProtoNode(*this, at).invalid(
          "the trip count must be int64 and the condition bool");
      return failure();
    }
  auto isKnown = [&](size_t i) {
    return i >= at.inputs.size() || !at.inputs[i] || constantOf(at.inputs[i]);
  };
  bool known = isKnown(0) && isKnown(1), isFirst = false;
  if (known && !at.inputs.empty() && at.inputs[0])
    for (const APInt &count : constantOf(at.inputs[0]).getValues<APInt>())
      isFirst = isShort(count.getSExtValue(), *body);
  Diagnostics whyUnrolled, whyAtRunTime;
  auto unroll = [&] { return unrollLoop(at); };
  if (isFirst)
    if (NodeResults results = attempt(at, whyUnrolled, unroll);
        succeeded(results))
      return results;
  if (NodeResults results =
          attempt(at, whyAtRunTime, [&] { return importRunTimeLoop(at); });
      succeeded(results))
    return results;
  if (!isFirst)
    if (NodeResults results = attempt(at, whyUnrolled, unroll);
        succeeded(results))
      return results;
  bool hasCount = known && !at.inputs.empty() && at.inputs[0];
  // If the trip count and the condition are not known otherwise,
  // requireConstant makes them known from the data that the user gave for
  // inputs of the model. A loop that then has no iteration cannot be unrolled,
  // since the shapes of its scan outputs are unknown, so `graph.loop` is tried
  // again.
  Diagnostics whyKnown;
  auto isTaken = [&](size_t i) {
    return i >= at.inputs.size() || !at.inputs[i] ||
           requireConstant(at.inputs[i]);
  };
  if (!known && isTaken(0) && isTaken(1))
    if (NodeResults results =
            attempt(at, whyKnown, [&] { return importRunTimeLoop(at); });
        succeeded(results))
      return results;
  if (NodeResults results = importSkippedLoop(at, *body); succeeded(results))
    return results;
  diagnostics = hasCount ? whyUnrolled : whyAtRunTime;
  return failure();
}

/// Imports a loop that executes no iteration. Its body need not be valid for
/// its operands. The final states are the initial ones. Scan outputs are empty;
/// they have the sizes that the body declares, and 0 where it declares none.
/// Fails, without a diagnostic, if the loop may execute an iteration or the
/// element type of a scan output is unsupported.
NodeResults GraphImporter::importSkippedLoop(NodePlace &at,
                                             const onnx::GraphProto &body) {
  auto first = [&](size_t i) -> std::optional<int64_t> {
    DenseElementsAttr known = i < at.inputs.size() && at.inputs[i]
                                  ? constantOf(at.inputs[i])
                                  : DenseElementsAttr();
    if (!known || known.getNumElements() != 1)
      return std::nullopt;
    return known.getElementType().isInteger(1)
               ? *known.getValues<bool>().begin()
               : (*known.getValues<APInt>().begin()).getSExtValue();
  };
  if (first(0).value_or(1) > 0 && first(1).value_or(1) != 0)
    return failure();
  SmallVector<Binding> results(
      llvm::drop_begin(at.bindings, std::min<size_t>(2, at.bindings.size())));
  for (int i = 1 + static_cast<int>(results.size()); i < body.output_size();
       ++i) {
    const auto &declared = body.output(i).type().tensor_type();
    Type element = elementType(declared.elem_type(), &context);
    if (!element)
      return failure();
    SmallVector<int64_t> shape{0};
    for (const auto &dim : declared.shape().dim())
      shape.push_back(std::max<int64_t>(0, dim.dim_value()));
    results.push_back(
        Binding::known(emptyTensor(at, RankedTensorType::get(shape, element))));
  }
  return results;
}

SmallVector<Binding>
GraphImporter::iterationInputs(NodePlace &at, const onnx::GraphProto &body,
                               Value number) {
  ProtoNode node(*this, at);
  SmallVector<Binding> inputs;
  for (Value scalar : {number, boolean(at, true)}) {
    // Old exporters declare an axis of size 1.
    int i = static_cast<int>(inputs.size());
    bool isDeclared =
        i < body.input_size() && body.input(i).type().has_tensor_type();
    if (isDeclared)
      scalar = node.reshape(
          scalar,
          SmallVector<int64_t>(
              body.input(i).type().tensor_type().shape().dim_size(), 1));
    inputs.push_back(Binding::known(scalar));
  }
  return inputs;
}

NodeResults GraphImporter::unrollLoop(NodePlace &at) {
  ProtoNode node(*this, at);
  const onnx::GraphProto *body = bodyOf(at, "body");
  if (!body)
    return failure();
  auto input = [&](size_t i) {
    return i < at.inputs.size() ? at.inputs[i] : Value();
  };
  int64_t count = INT64_MAX;
  if (input(0)) {
    auto given = node.requireInts(0, "trip count");
    if (failed(given))
      return failure();
    if (given->size() != 1)
      return node.invalid("the trip count has " + Twine(given->size()) +
                          " elements, but must have exactly 1");
    count = given->front();
  }
  Value condition = input(1);
  /// Whether another iteration follows; nullopt if that is unknown at compile
  /// time.
  auto goesOn = [&]() -> std::optional<bool> {
    DenseElementsAttr known =
        condition ? requireConstant(condition) : DenseElementsAttr();
    if (!known || known.getNumElements() != 1 ||
        !known.getElementType().isInteger(1))
      return std::nullopt;
    return *known.getValues<bool>().begin();
  };
  SmallVector<Binding> states(
      llvm::drop_begin(at.bindings, std::min<size_t>(2, at.bindings.size())));
  size_t stateCount = states.size();
  if (size_t(body->output_size()) < 1 + stateCount)
    return node.invalid("the body must return the condition and each carried "
                        "value, but has fewer outputs");
  SmallVector<SmallVector<Value>> collected(body->output_size() - 1 -
                                            stateCount);
  Scope shared = bodyScope(at, "body", *body);
  for (int64_t i = 0; i < count; ++i) {
    if (condition) {
      auto known = goesOn();
      if (!known) {
        reportRuntimeCondition(at, condition,
                               "conditions that are known when compiling");
        return failure();
      }
      if (!*known)
        break;
    }
    int64_t least = count == INT64_MAX ? i + 1 : count;
    if (!checkUnrolled(at, *body, least))
      return failure();
    llvm::SaveAndRestore inCopies(copies, copies * least);
    Value number = integers(at, {}, i);
    SmallVector<Binding> arguments = iterationInputs(at, *body, number);
    llvm::append_range(arguments, states);
    InIteration iteration(iterations, number);
    NodeResults results = runBody(at, shared, *body, arguments);
    iteration.leave();
    if (failed(results))
      return failure();
    // After the first iteration, the body's condition decides whether another
    // one follows, even if the loop has no initial condition.
    condition = (*results)[0].value;
    for (size_t k = 0; k < stateCount; ++k)
      states[k] = (*results)[1 + k];
    for (size_t k = 0; k < collected.size(); ++k)
      collected[k].push_back((*results)[1 + stateCount + k].value);
  }
  for (ArrayRef<Value> parts : collected) {
    if (parts.empty())
      return node.unsupported(
          "scan outputs of a loop without iterations are not supported");
    Value all = stack(at, parts, 0);
    if (!all)
      return failure();
    states.push_back(Binding::known(all));
  }
  return states;
}

} // namespace ingot
