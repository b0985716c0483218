// Imports Scan.
//
// A short Scan is unrolled; any other Scan becomes a `graph.loop`. A
// `graph.loop` slices its inputs and outputs along their first axis, so other
// scan axes are transposed to the front.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ops/Movement.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ingot {

/// The operands and attributes of a Scan node. The lists of axes and directions
/// have an entry for each scan input or scan output.
struct ScanForm {
  size_t states, inputs, outputs;
  SmallVector<int64_t> inputAxes, outputAxes, inputReversed, outputReversed;
  /// Whether the first axis of all states, inputs and outputs is a batch axis,
  /// as in opset 8.
  bool batched;
  graph::Dim batch = 1, count = -1;
  /// The initial states, followed by the scan inputs.
  SmallVector<Value> values;
};

/// Returns the slice of `x` at index `i` of an axis, without that axis.
static Value at(OpBuilder &builder, Location loc, Value x, int64_t axis,
                int64_t i) {
  graph::Dims sizes = graph::dimsOf(x);
  sizes.erase(sizes.begin() + axis);
  return graph::buildReshape(builder, loc,
                             graph::slice(builder, loc, x, axis, i, 1),
                             ArrayRef<graph::Dim>(sizes));
}

/// Returns the length of the scan axis of the first scan input.
static graph::Dim lengthOf(const ScanForm &form) {
  return graph::dimsOf(
      form.values[form.states])[form.batched + form.inputAxes.front()];
}

static FailureOr<ScanForm> readForm(ProtoNode &node, const NodePlace &place,
                                    const onnx::GraphProto &body) {
  ScanForm form;
  // In opset 8, all values have a batch axis, and input 0 may be the lengths of
  // the sequences.
  form.batched = place.opset < 9;
  SmallVector<Value> &values = form.values;
  values.assign(place.inputs);
  if (form.batched) {
    if (values[0])
      return node.unsupported("sequence_lens");
    values.erase(values.begin());
  }
  if (llvm::is_contained(values, Value()))
    return node.invalid("an input is missing, but each input is required");
  int64_t inputs = node.intAttr("num_scan_inputs", 1);
  if (inputs < 1 || inputs > int64_t(values.size()))
    return node.invalid("num_scan_inputs is " + Twine(inputs) +
                        ", but must be from 1 to " + Twine(values.size()));
  form.inputs = inputs;
  form.states = values.size() - inputs;
  if (body.output_size() < int(form.states))
    return node.invalid(
        "the body has fewer outputs than there are state variables");
  form.outputs = body.output_size() - form.states;
  auto list = [&](StringRef name, size_t size) {
    return node.intsAttr(name, SmallVector<int64_t>(size, 0));
  };
  form.inputAxes = list("scan_input_axes", form.inputs);
  form.outputAxes = list("scan_output_axes", form.outputs);
  form.inputReversed =
      list(form.batched ? "directions" : "scan_input_directions", form.inputs);
  form.outputReversed = list("scan_output_directions", form.outputs);
  if (form.inputAxes.size() != form.inputs ||
      form.inputReversed.size() != form.inputs ||
      form.outputAxes.size() != form.outputs ||
      form.outputReversed.size() != form.outputs)
    return node.invalid("the attributes for scan axes and directions must have "
                        "one entry for each scan input or scan output");

  for (size_t k = 0; k < values.size(); ++k) {
    graph::Dims sizes = graph::dimsOf(values[k]);
    ArrayRef<graph::Dim> shape = sizes;
    bool isScanned = k >= form.states;
    if (shape.size() < size_t(form.batched) + isScanned)
      return node.invalid("input " + Twine(k) +
                          " has too few axes to contain its scan axis");
    if (form.batched) {
      if (failed(node.requireEqual(shape[0], graph::dimsOf(values[0])[0],
                                   "the batch sizes of the inputs")))
        return failure();
      shape = shape.drop_front();
    }
    if (!isScanned)
      continue;
    int64_t &axis = form.inputAxes[k - form.states];
    auto normal = node.normalizeAxis(axis, shape.size());
    if (failed(normal))
      return failure();
    axis = *normal;
    if (failed(node.requireEqual(shape[axis], lengthOf(form),
                                 "the lengths of the scan inputs")))
      return failure();
  }
  // The sizes are read only after all checks: a check may assume that two sizes
  // are equal, which replaces one of them in the types.
  if (form.batched)
    form.batch = graph::dimsOf(values[0])[0];
  form.count = lengthOf(form);
  return form;
}

NodeResults GraphImporter::unrollScan(NodePlace &place, const ScanForm &form) {
  ProtoNode node(*this, place);
  Location loc = locationOf(place);
  const onnx::GraphProto *body = bodyOf(place, "body");
  auto knownBatch = form.batch.known(), knownCount = form.count.known();
  if (!knownBatch || !knownCount)
    return node.unsupported("a batch size or scan length that is known only at "
                            "run time is not supported here");
  int64_t batch = *knownBatch, count = *knownCount;
  if (count == 0 || batch == 0)
    return node.unsupported(
        "an empty batch or a scan length of 0 is not supported");
  if (batch > maxUnrolledNodes || !checkUnrolled(place, *body, batch * count))
    return failure();
  llvm::SaveAndRestore inCopies(copies, copies * batch * count);

  Scope shared = bodyScope(place, "body", *body);
  SmallVector<SmallVector<Value>> perBatch(body->output_size());
  for (int64_t b = 0; b < batch; ++b) {
    SmallVector<Value> own(form.values);
    if (form.batched)
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
      InIteration iteration(iterations, integers(place, {}, b * count + i));
      NodeResults results = runBody(place, shared, *body, arguments);
      iteration.leave();
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
    Value all = form.batched ? stack(place, parts, 0) : parts[0];
    if (!all)
      return failure();
    results.push_back(Binding::known(all));
  }
  return results;
}

/// Transposes axis `from` of `x` to the front.
static Value withAxisFirst(OpBuilder &builder, Location loc, Value x,
                           int64_t from) {
  SmallVector<int64_t> perm{from};
  for (int64_t axis = 0; axis < graph::tensorType(x).getRank(); ++axis)
    if (axis != from)
      perm.push_back(axis);
  return from == 0 ? x : graph::buildTranspose(builder, loc, x, perm);
}

/// Transposes the first axis of `x` to position `to`.
static Value withFirstAxisAt(OpBuilder &builder, Location loc, Value x,
                             int64_t to) {
  SmallVector<int64_t> perm;
  for (int64_t axis = 1; axis < graph::tensorType(x).getRank(); ++axis)
    perm.push_back(axis);
  perm.insert(perm.begin() + to, 0);
  return to == 0 ? x : graph::buildTranspose(builder, loc, x, perm);
}

/// Returns the scan inputs with their scan axis in front.
static SmallVector<Value> scanAxesFirst(OpBuilder &builder, Location loc,
                                        const ScanForm &form) {
  SmallVector<Value> sliced;
  for (auto [x, axis] :
       llvm::zip(ArrayRef(form.values).drop_front(form.states), form.inputAxes))
    sliced.push_back(withAxisFirst(builder, loc, x, axis));
  return sliced;
}

/// Returns the types of the arguments of the body: the number of the iteration,
/// the states, and one slice of each of `scanned`.
static SmallVector<Type> argumentTypes(ProtoNode &node, ValueRange states,
                                       ArrayRef<Value> scanned) {
  SmallVector<Type> types{RankedTensorType::get({}, node.i64())};
  llvm::append_range(types, states.getTypes());
  for (Value x : scanned) {
    graph::Dims sizes = graph::dimsOf(x);
    types.push_back(
        graph::tensorOf(ArrayRef(sizes).drop_front(), graph::elementOf(x)));
  }
  return types;
}

/// Requires the results of the body to be tensors, and each state to have the
/// same shape before and after an iteration.
static LogicalResult requireShapes(ProtoNode &node, ArrayRef<Value> states,
                                   ArrayRef<Binding> results) {
  for (auto [k, result] : llvm::enumerate(results)) {
    if (result.kind != Binding::Known)
      return node.unsupported(
          "a body that returns a sequence is not supported");
    if (k < states.size() && result.value.getType() != states[k].getType() &&
        graph::elementOf(result.value) == graph::elementOf(states[k]) &&
        failed(node.requireAlike(
            result.value, states[k],
            "the shapes of a state variable before and after an iteration")))
      return failure();
  }
  return success();
}

/// Returns the types of the results of the loop: the states, and the stacked
/// scan outputs with their scan axis in front. Makes the numbers of the output
/// axes in `form` non-negative.
static FailureOr<SmallVector<Type>> resultTypes(ProtoNode &node, ScanForm &form,
                                                ArrayRef<Value> states,
                                                ArrayRef<Value> results) {
  SmallVector<Type> types;
  for (auto [k, result] : llvm::enumerate(results)) {
    bool isState = k < form.states;
    if (isState && result.getType() != states[k].getType())
      return node.unsupported(
          "a state variable must keep its type, but changes from " +
          describe(states[k].getType()) + " to " + describe(result.getType()));
    graph::Dims sizes = graph::dimsOf(result);
    if (!isState) {
      auto axis = node.normalizeAxis(form.outputAxes[k - form.states],
                                     sizes.size() + 1);
      if (failed(axis))
        return failure();
      form.outputAxes[k - form.states] = *axis;
      sizes.insert(sizes.begin(), form.count);
    }
    types.push_back(graph::tensorOf(sizes, graph::elementOf(result)));
  }
  return types;
}

NodeResults GraphImporter::importRunTimeScan(NodePlace &place, ScanForm form) {
  ProtoNode node(*this, place);
  Location loc = locationOf(place);
  if (form.batched)
    return node.unsupported("a Scan of opset 8 is supported only if its batch "
                            "size and its length are constants and not 0");
  if (!checkCarried(place, ArrayRef(place.bindings).take_front(form.states)))
    return failure();
  ArrayRef<Value> states = ArrayRef(form.values).take_front(form.states);
  for (Value state : states)
    if (graph::tensorType(state).getNumElements() == 0)
      return node.unsupported(
          "carrying an empty tensor between iterations is not supported");
  SmallVector<Value> sliced = scanAxesFirst(builder, loc, form);
  InIteration iteration(iterations);
  auto opened = openBody(
      place, "body", argumentTypes(node, states, sliced), [&](Block &block) {
        iteration.enter(block.getArgument(0));
        return llvm::map_to_vector(
            block.getArguments().drop_front(),
            [](Value argument) { return Binding::known(argument); });
      });
  iteration.leave();
  if (failed(opened))
    return failure();
  if (failed(requireShapes(node, states, opened->bindings)))
    return failure();
  const onnx::GraphProto &body = *bodyOf(place, "body");
  for (size_t k = form.states; k < opened->bindings.size(); ++k)
    takeAsDeclared(place, *opened, k, body.output(static_cast<int>(k)));
  SmallVector<CarriedForm> forms;
  for (const Binding &result : opened->bindings)
    forms.push_back(*formOf(result));
  if (!closeResults(place, *opened, forms) ||
      !checkLasting(place, opened->function, opened->results))
    return failure();
  form.count = lengthOf(form);
  auto results = resultTypes(node, form, states, opened->results);
  if (failed(results))
    return failure();
  SmallVector<Binding> bindings;
  if (form.count == graph::Dim(0)) {
    for (Value state : states)
      bindings.push_back(Binding::known(state));
    for (auto [type, axis] : llvm::zip(
             ArrayRef(*results).drop_front(form.states), form.outputAxes)) {
      auto stacked = cast<RankedTensorType>(type);
      graph::Dims sizes = graph::dimsOf(stacked);
      sizes.erase(sizes.begin());
      sizes.insert(sizes.begin() + axis, 0);
      bindings.push_back(Binding::known(emptyTensor(
          place, graph::tensorOf(sizes, stacked.getElementType()))));
    }
    dropBody(opened->function);
    return bindings;
  }
  SmallVector<bool> reversed;
  for (int64_t backwards :
       llvm::concat<int64_t>(form.inputReversed, form.outputReversed))
    reversed.push_back(backwards != 0);
  bool anyReversed = llvm::is_contained(reversed, true);
  bool counted = !opened->function.getArgument(0).use_empty();
  if (!counted)
    (void)opened->function.eraseArgument(0);
  SmallVector<Value> shared = closeBodies(MutableArrayRef(*opened));
  auto loop = graph::LoopOp::create(
      builder, loc, *results, opened->function.getName(),
      kernel::sizesAttr(form.count, &context), counted,
      /*conditional=*/false,
      anyReversed ? builder.getDenseBoolArrayAttr(reversed)
                  : DenseBoolArrayAttr(),
      /*limit=*/Value(), /*condition=*/Value(), states, sliced, shared);
  for (auto [k, result] : llvm::enumerate(loop.getResults())) {
    Value value = result;
    if (k >= form.states)
      value = withFirstAxisAt(builder, loc, value,
                              form.outputAxes[k - form.states]);
    bindings.push_back(Binding::known(value));
  }
  return bindings;
}

NodeResults GraphImporter::importScan(NodePlace &place) {
  ProtoNode node(*this, place);
  const onnx::GraphProto *body = bodyOf(place, "body");
  if (!body)
    return failure();
  FailureOr<ScanForm> form = readForm(node, place, *body);
  if (failed(form))
    return failure();
  auto count = form->count.known(), batch = form->batch.known();
  bool known = count && batch;
  bool isFirst = known && *count > 0 && isShort(*count * *batch, *body);
  Diagnostics whyUnrolled, whyAtRunTime;
  for (bool unrolls : {isFirst, !isFirst}) {
    NodeResults results =
        attempt(place, unrolls ? whyUnrolled : whyAtRunTime, [&] {
          return unrolls ? unrollScan(place, *form)
                         : importRunTimeScan(place, *form);
        });
    if (succeeded(results))
      return results;
  }
  diagnostics = known && *count > 0 ? whyUnrolled : whyAtRunTime;
  return failure();
}

} // namespace ingot
