// Loop and Scan, unrolled.
//
// A loop whose number of iterations is known becomes its body, imported once
// for each iteration; what it collects is concatenated. So iterations fuse and
// share kernels like any other nodes.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot {

/// More would make endless code.
static constexpr int64_t maxUnrolledNodes = 20'000;

bool GraphImporter::checkUnrolled(NodePlace &at, const onnx::GraphProto &body,
                                  int64_t count) {
  if (count <= maxUnrolledNodes / std::max(1, body.node_size()))
    return true;
  report(DiagnosticId::UnsupportedForm,
         "`" + at.node.op_type() + "`: " + Twine(count) +
             " or more iterations of " + Twine(body.node_size()) + " nodes",
         at, "up to " + std::to_string(maxUnrolledNodes) + " nodes in all");
  return false;
}

/// Parts of one shape side by side on a new axis.
Value GraphImporter::stack(NodePlace &at, ArrayRef<Value> parts, int64_t axis) {
  Location loc = locationOf(at);
  assumeAlike(parts, std::nullopt);
  SmallVector<Value> wide;
  for (Value part : parts) {
    if (!part || part.getType() != parts[0].getType()) {
      report(DiagnosticId::InvalidNode,
             "`" + at.node.op_type() +
                 "`: what iterations give differs in its type",
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

NodeResults GraphImporter::importLoop(NodePlace &at) {
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
                          " elements");
    count = given->front();
  }
  Value condition = input(1);
  /// Whether another iteration follows; none if that is not known.
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
    return node.invalid("the body has fewer outputs than there are values to "
                        "carry");
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
    if (!checkUnrolled(at, *body, count == INT64_MAX ? i + 1 : count))
      return failure();
    SmallVector<Binding> arguments{Binding::known(integers(at, {}, i)),
                                   Binding::known(boolean(at, true))};
    llvm::append_range(arguments, states);
    NodeResults results = runBody(at, shared, *body, arguments);
    if (failed(results))
      return failure();
    // Without a condition to begin with, only the count ends the loop.
    condition = (*results)[0].value;
    for (size_t k = 0; k < stateCount; ++k)
      states[k] = (*results)[1 + k];
    for (size_t k = 0; k < collected.size(); ++k)
      collected[k].push_back((*results)[1 + stateCount + k].value);
  }
  for (ArrayRef<Value> parts : collected) {
    if (parts.empty())
      return node.unsupported("outputs of no iterations");
    Value all = stack(at, parts, 0);
    if (!all)
      return failure();
    states.push_back(Binding::known(all));
  }
  return states;
}

namespace {
/// Scan's attributes, by scan input and output.
struct ScanForm {
  size_t states, inputs, outputs;
  SmallVector<int64_t> inputAxes, outputAxes, inputReversed, outputReversed;
};
} // namespace

/// The part of `x` at `i` of an axis, which goes.
static Value at(OpBuilder &builder, Location loc, Value x, int64_t axis,
                int64_t i) {
  SmallVector<int64_t> shape(graph::shapeOf(x));
  shape.erase(shape.begin() + axis);
  return graph::buildReshape(builder, loc,
                             graph::slice(builder, loc, x, axis, i, 1), shape);
}

NodeResults GraphImporter::importScan(NodePlace &place) {
  ProtoNode node(*this, place);
  Location loc = locationOf(place);
  const onnx::GraphProto *body = bodyOf(place, "body");
  if (!body)
    return failure();
  // Opset 8 has a batch and perhaps the lengths of its sequences.
  bool batched = place.opset < 9;
  SmallVector<Value> values(place.inputs);
  if (batched) {
    if (values[0])
      return node.unsupported("sequence_lens");
    values.erase(values.begin());
  }
  if (llvm::is_contained(values, Value()))
    return node.invalid("an input is missing");
  ScanForm form;
  int64_t inputs = node.intAttr("num_scan_inputs", 1);
  if (inputs < 1 || inputs > int64_t(values.size()))
    return node.invalid("num_scan_inputs is " + Twine(inputs));
  form.inputs = inputs;
  form.states = values.size() - inputs;
  if (body->output_size() < int(form.states))
    return node.invalid("the body has fewer outputs than states");
  form.outputs = body->output_size() - form.states;
  auto list = [&](StringRef name, size_t size) {
    return node.intsAttr(name, SmallVector<int64_t>(size, 0));
  };
  form.inputAxes = list("scan_input_axes", form.inputs);
  form.outputAxes = list("scan_output_axes", form.outputs);
  form.inputReversed =
      list(batched ? "directions" : "scan_input_directions", form.inputs);
  form.outputReversed = list("scan_output_directions", form.outputs);
  if (form.inputAxes.size() != form.inputs ||
      form.inputReversed.size() != form.inputs ||
      form.outputAxes.size() != form.outputs ||
      form.outputReversed.size() != form.outputs)
    return node.invalid("an attribute does not have one entry per scan input "
                        "or output");

  int64_t batch = 1, count = -1;
  for (size_t k = 0; k < values.size(); ++k) {
    ArrayRef<int64_t> shape = graph::shapeOf(values[k]);
    bool isScanned = k >= form.states;
    if (shape.size() < size_t(batched) + isScanned)
      return node.invalid("input " + Twine(k) + " has too few axes");
    if (batched) {
      batch = graph::shapeOf(values[0])[0];
      if (shape[0] != batch)
        return node.invalid("the inputs differ in their batch");
      shape = shape.drop_front();
    }
    if (!isScanned)
      continue;
    int64_t &axis = form.inputAxes[k - form.states];
    auto normal = node.normalizeAxis(axis, shape.size());
    if (failed(normal))
      return failure();
    axis = *normal;
    if (count >= 0 && shape[axis] != count)
      return node.invalid("the scan inputs differ in their length");
    count = shape[axis];
  }
  if (count == 0 || batch == 0)
    return node.unsupported("no iterations");
  if (batch > maxUnrolledNodes || !checkUnrolled(place, *body, batch * count))
    return failure();

  Scope shared = bodyScope(place, "body", *body);
  SmallVector<SmallVector<Value>> perBatch(body->output_size());
  for (int64_t b = 0; b < batch; ++b) {
    SmallVector<Value> own(values);
    if (batched)
      for (Value &value : own)
        value = at(builder, loc, value, 0, b);
    SmallVector<Binding> states;
    for (size_t k = 0; k < form.states; ++k)
      states.push_back(Binding::known(own[k]));
    SmallVector<SmallVector<Value>> collected(form.outputs);
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Binding> arguments(states);
      for (size_t k = 0; k < form.inputs; ++k)
        arguments.push_back(Binding::known(
            at(builder, loc, own[form.states + k], form.inputAxes[k],
               form.inputReversed[k] ? count - 1 - i : i)));
      NodeResults results = runBody(place, shared, *body, arguments);
      if (failed(results))
        return failure();
      for (size_t k = 0; k < form.states; ++k)
        states[k] = (*results)[k];
      for (size_t k = 0; k < form.outputs; ++k)
        collected[k].push_back((*results)[form.states + k].value);
    }
    for (size_t k = 0; k < form.states; ++k)
      perBatch[k].push_back(states[k].value);
    for (size_t k = 0; k < form.outputs; ++k) {
      if (form.outputReversed[k])
        std::reverse(collected[k].begin(), collected[k].end());
      Value all = stack(place, collected[k], form.outputAxes[k]);
      if (!all)
        return failure();
      perBatch[form.states + k].push_back(all);
    }
  }
  SmallVector<Binding> results;
  for (ArrayRef<Value> parts : perBatch) {
    Value all = batched ? stack(place, parts, 0) : parts[0];
    if (!all)
      return failure();
    results.push_back(Binding::known(all));
  }
  return results;
}

} // namespace ingot
