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
#include "compiler/import/operators/RunTimeShapes.h"
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

NodeResults GraphImporter::importRunTimeLoop(NodePlace &at) {
  SmallVector<Binding> states(
      llvm::drop_begin(at.bindings, std::min<size_t>(2, at.bindings.size())));
  if (!checkCarried(at, states))
    return failure();
  CarriedForms forms;
  for (const Binding &state : states)
    forms.push_back(formOf(state));
  // The loop is built up to four times. The sizes of a carried sequence's
  // elements, and whether a carried tensor changes its shape, are known only
  // after importing one iteration. By how much such a value grows per iteration
  // is known only after importing another one.
  for (int tries = 0; tries < 4; ++tries) {
    bool grown = false;
    Diagnostics why;
    NodeResults results =
        attempt(at, why, [&] { return buildLoop(at, forms, grown); });
    if (succeeded(results))
      return results;
    if (!grown) {
      diagnostics = why;
      return failure();
    }
  }
  return ProtoNode(*this, at).unsupported(
      "a carried sequence whose elements grow with each iteration is not "
      "supported");
}

std::optional<int64_t>
GraphImporter::mostAfter(const NodePlace &at,
                         const std::optional<graph::Dim> &count, int64_t first,
                         int64_t more, const std::string &name) {
  int64_t most;
  if (count && !llvm::MulOverflow(more, count->most(), most) &&
      !llvm::AddOverflow(most, first, most))
    return most;
  made.insert(name);
  if (auto bound = boundOf(name))
    return std::max(first, bound->most);
  std::vector<std::string> inputs =
      at.inputs[0] ? bindableInputs(at.inputs[0]) : std::vector<std::string>();
  report(inputs.empty() ? DiagnosticId::RuntimeShape
                        : DiagnosticId::UnboundValue,
         "`" + at.node.op_type() + "`: the size `" + printable(name) +
             "` grows with each iteration, and the number of iterations has no "
             "upper bound",
         at, "",
         "give a bound with --dim " + printable(name) + "=0..MOST" +
             (inputs.empty() ? "" : ", or " + bindHint(inputs)));
  return std::nullopt;
}

bool GraphImporter::growForms(NodePlace &at, ArrayRef<Binding> states,
                              ArrayRef<Binding> results,
                              const std::optional<graph::Dim> &count,
                              CarriedForms &forms, bool &grown) {
  ProtoNode node(*this, at);
  for (size_t k = 0; k < states.size(); ++k) {
    std::string name = at.node.output(k);
    auto own = formOf(results[k]), initial = formOf(states[k]);
    bool isSame =
        own && initial && own->tensor && own->tensor == initial->tensor;
    if (!own || (isSame && forms[k]->tensor))
      continue;
    if (forms[k] && forms[k]->tensor)
      forms[k]->tensor = initial->tensor;
    std::optional<CarriedForm> wanted = forms[k] ? join(*forms[k], *own) : own;
    if (!wanted || !wanted->sequence || wanted->hasPresent) {
      (void)node.unsupported("a carried value whose type or rank changes "
                             "between iterations is not supported");
      return false;
    }
    // Compares the state before and after one iteration. If a size or the
    // number of a sequence's elements has grown, its upper bound is increased
    // to allow for the same growth in each iteration.
    CarriedForm before = forms[k] ? *forms[k] : *wanted,
                first = initial ? *initial : before;
    if (first.tensor)
      first = boxOf(first.tensor);
    if (before.tensor)
      before = boxOf(before.tensor);
    for (auto [axis, size] : llvm::enumerate(wanted->sequence->sizes)) {
      int64_t more = size.most - before.sequence->sizes[axis].most;
      if (!wanted->isBox || more <= 0)
        continue;
      auto most = mostAfter(at, count, first.sequence->sizes[axis].most, more,
                            name + "_" + std::to_string(axis));
      if (!most)
        return false;
      size.most = *most;
    }
    int64_t capacity = forms[k] ? before.sequence->capacity : 0,
            more = own->sequence ? own->sequence->capacity - capacity : 0,
            least = initial ? first.sequence->capacity : 0;
    if (!wanted->isBox && more > 0) {
      auto most = mostAfter(at, count, least, more, name + "_count");
      if (!most)
        return false;
      wanted->sequence->capacity = *most;
    } else if (!wanted->isBox) {
      wanted->sequence->capacity = std::max(least, capacity);
    }
    if (forms[k] && forms[k]->sequence &&
        *wanted->sequence == *forms[k]->sequence)
      continue;
    forms[k] = wanted;
    grown = true;
  }
  return !grown;
}

namespace {
/// Collects the scan outputs of a loop that ends by its condition. They are
/// allocated for the upper bound of the number of iterations. The loop carries
/// two more states: the number of iterations done, and whether another one
/// follows. If another one follows when the upper bound is reached, the
/// generated program fails.
struct OpenParts {
  graph::Dim made;
  /// The trip count of the loop; null if only the condition ends the loop.
  Value limit;

  static SmallVector<Value> initials(ProtoNode &node) {
    graph::RunTimeInts ints(node);
    return {node.reshape(ints.number(0), ArrayRef<int64_t>()),
            node.scalarConstant(1, node.builder.getI1Type())};
  }
  /// Returns the new values of the two additional states at the end of the
  /// body: the number of iterations done, and whether another one follows. If
  /// `goesOn` is null, the condition does not end the loop, and both states,
  /// the last two arguments of the body, are returned unchanged.
  static SmallVector<Value> carried(ProtoNode &node, func::FuncOp body,
                                    Value goesOn) {
    OpBuilder::InsertionGuard guard(node.builder);
    node.builder.setInsertionPointToEnd(&body.getBody().front());
    if (!goesOn)
      return llvm::to_vector_of<Value>(body.getArguments().take_back(2));
    graph::RunTimeInts ints(node);
    return {node.add(body.getArgument(0),
                     node.reshape(ints.number(1), ArrayRef<int64_t>())),
            node.reshape(goesOn, ArrayRef<int64_t>())};
  }

  /// Returns the number of iterations whose scan outputs were collected. If the
  /// upper bound was reached and another iteration would have followed, returns
  /// the upper bound plus 1, which makes the generated program fail.
  Value count(ProtoNode &node, Value done, Value goesOn) const {
    graph::RunTimeInts ints(node);
    done = ints.vector(done);
    Value isFull = node.equal(done, made.most());
    Value lacks = node.both(isFull, node.reshape(goesOn, {1}));
    if (limit)
      lacks = node.both(lacks, node.less(done, ints.vector(limit)));
    return node.where(lacks, made.most() + 1, done);
  }
  Value existing(ProtoNode &node, Value stacked) const {
    graph::Dims sizes = graph::dimsOf(stacked);
    sizes[0] = made;
    return node.build<graph::SliceOp>(
        stacked, SmallVector<int64_t>(sizes.size(), 0),
        SmallVector<int64_t>(sizes.size(), 1), sizes);
  }
};
} // namespace

/// Returns `scalar`, the iteration number or the condition, reshaped to the
/// rank that the body declares for its input `i`: old exporters declare an axis
/// of size 1.
static Binding inDeclaredRank(ProtoNode &node, Value scalar,
                              const onnx::GraphProto &body, int i) {
  if (i >= body.input_size() || !body.input(i).type().has_tensor_type())
    return Binding::known(scalar);
  SmallVector<int64_t> ones(
      size_t(body.input(i).type().tensor_type().shape().dim_size()), 1);
  return Binding::known(node.reshape(scalar, ones));
}

NodeResults GraphImporter::buildLoop(NodePlace &at, CarriedForms &forms,
                                     bool &grown) {
  ProtoNode node(*this, at);
  const onnx::GraphProto *body = bodyOf(at, "body");
  auto input = [&](size_t i) {
    return i < at.inputs.size() ? at.inputs[i] : Value();
  };
  Value limit = input(0), condition = input(1);
  for (Value value : {limit, condition})
    if (value && graph::tensorType(value).getNumElements() != 1)
      return node.invalid(
          "the trip count and the condition must have one element each");
  // The trip count, if it is a constant or can be computed from sizes.
  std::optional<graph::Dim> count;
  if (limit) {
    if (DenseElementsAttr known = constantOf(limit))
      count = std::max<int64_t>(
          (*known.getValues<APInt>().begin()).getSExtValue(), 0);
    else if (auto sizes = sizesIn(limit))
      count = sizes->front();
  }
  if (DenseElementsAttr known =
          condition ? constantOf(condition) : DenseElementsAttr()) {
    condition = {};
    if (!*known.getValues<bool>().begin())
      count = 0;
  }
  SmallVector<Binding> states(
      llvm::drop_begin(at.bindings, std::min<size_t>(2, at.bindings.size())));
  if (size_t(body->output_size()) < 1 + states.size())
    return node.invalid("the body must return the condition and each carried "
                        "value, but has fewer outputs");
  SmallVector<Type> types{
      RankedTensorType::get({}, builder.getIntegerType(64, /*isSigned=*/true))};
  SmallVector<Value> initials;
  for (auto [state, form] : llvm::zip(states, forms))
    if (form && !appendTensors(at, state, *form, initials))
      return failure();
  bool collects = size_t(body->output_size()) > 1 + states.size();
  if (collects)
    llvm::append_range(initials, OpenParts::initials(node));
  llvm::append_range(types, ValueRange(initials).getTypes());
  InIteration iteration(iterations);
  auto opened = openBody(at, "body", types, [&](Block &block) {
    iteration.enter(block.getArgument(0));
    SmallVector<Binding> inputs{
        inDeclaredRank(node, block.getArgument(0), *body, 0),
        inDeclaredRank(node, boolean(at, true), *body, 1)};
    SmallVector<Value> arguments(llvm::drop_begin(block.getArguments()));
    ArrayRef<Value> rest = arguments;
    for (const auto &form : forms) {
      auto input = form ? takeTensors(at, *form, rest)
                        : Binding::sequence(std::vector<Value>());
      inputs.push_back(succeeded(input) ? *input : Binding::poisoned());
    }
    return inputs;
  });
  iteration.leave();
  if (failed(opened) ||
      !growForms(at, states, ArrayRef(opened->bindings).slice(1, states.size()),
                 count, forms, grown))
    return failure();
  // Collects the results of the body (the condition, the states and the scan
  // outputs) and their forms, which describe the tensors that represent them.
  SmallVector<CarriedForm> resultForms;
  SmallVector<Binding> tensors;
  SmallVector<std::string> tensorNames;
  for (auto [k, result] : llvm::enumerate(opened->bindings)) {
    bool isState = k > 0 && k <= states.size();
    if (isState && !forms[k - 1])
      continue;
    if (k > states.size())
      takeAsDeclared(at, *opened, k, body->output(static_cast<int>(k)));
    const CarriedForm *own =
        isState && forms[k - 1]->sequence ? &*forms[k - 1] : nullptr;
    bool isSequence = own && !own->isBox;
    if (result.kind != (isSequence ? Binding::Sequence : Binding::Known))
      return node.unsupported(
          "a body that returns a sequence or an empty optional value is not "
          "supported if the carried value is not a sequence");
    resultForms.push_back(own ? *own : *formOf(result));
    tensors.push_back(result);
    tensorNames.push_back(opened->names[k]);
  }
  opened->bindings = tensors;
  opened->names = tensorNames;
  if (!closeResults(at, *opened, resultForms) ||
      !checkLasting(at, opened->function, opened->results))
    return failure();
  size_t stateCount = initials.size();
  Value goesOn = opened->results.front();
  if (!graph::elementOf(goesOn).isInteger(1) ||
      graph::tensorType(goesOn).getNumElements() != 1)
    return node.invalid("the condition of the body must be a single bool");
  DenseElementsAttr alwaysGoesOn = constantOf(goesOn);
  bool conditional = !alwaysGoesOn || !*alwaysGoesOn.getValues<bool>().begin();

  func::FuncOp function = opened->function;
  if (collects) {
    SmallVector<Value> last =
        OpenParts::carried(node, function, conditional ? goesOn : Value());
    opened->results.insert(opened->results.begin() + (stateCount - 1),
                           last.begin(), last.end());
    std::string names[] = {"iterations", "goes_on"};
    opened->names.insert(opened->names.begin() + (stateCount - 1),
                         std::begin(names), std::end(names));
  }
  SmallVector<Value> carried, returned, finals(stateCount);
  SmallVector<std::string> names;
  SmallVector<unsigned> places;
  llvm::BitVector gone(types.size());
  for (size_t k = 0; k < stateCount; ++k) {
    Value result = opened->results[1 + k], initial = initials[k];
    BlockArgument argument = function.getArgument(1 + k);
    if (result.getType() != initial.getType()) {
      reportUnlessKnown(
          at,
          "a loop with many iterations, or whose trip count is known only at "
          "run time, must not change the type of a carried value, here from " +
              describe(initial.getType()) + " to " + describe(result.getType()),
          {limit, condition});
      return failure();
    }
    // A state that the body returns unchanged, or that has no elements, is the
    // same in all iterations.
    if (result == argument ||
        graph::tensorType(initial).getNumElements() == 0) {
      argument.replaceAllUsesWith(initial);
      gone.set(1 + k);
      finals[k] = initial;
      continue;
    }
    carried.push_back(initial);
    returned.push_back(result);
    names.push_back(opened->names[1 + k]);
    places.push_back(k);
  }
  ArrayRef<Value> parts = ArrayRef(opened->results).drop_front(1 + stateCount);
  bool isOpen = conditional || condition || (limit && !count);
  SmallVector<Type> results;
  for (Value initial : carried)
    results.push_back(initial.getType());
  std::optional<int64_t> most;
  if (count)
    most = std::max<int64_t>(count->most(), 0);
  bool mayBeNegative = count && count->least() < 0;
  if (!parts.empty() && (isOpen || mayBeNegative) && !conditional && limit) {
    // The body never ends the loop, so the number of iterations, which is the
    // length of the scan outputs, is known before the loop. This number becomes
    // a data-dependent size. If the loop is in the body of another one, the
    // number must be within its bound even in runs that skip the other loop.
    OpBuilder::InsertionGuard guard(builder);
    leaveBodies({limit, condition});
    graph::RunTimeInts ints(node);
    Value often = node.max(ints.vector(limit), 0);
    if (condition)
      often = node.where(node.reshape(condition, {1}), often, 0);
    auto read = readSizes(at, often, most);
    if (failed(read))
      return failure();
    count = read->front();
    limit = condition = {};
    isOpen = false;
  }
  std::optional<OpenParts> open;
  if (!parts.empty() && isOpen && !(count == graph::Dim(0))) {
    SmallVector<Value> from;
    for (Value value : {limit, condition})
      if (value)
        from.push_back(value);
    auto made = madeSize(at, "count", most, from);
    if (failed(made))
      return failure();
    open = OpenParts{*made, limit};
    count = made->most();
  }
  for (auto [k, part] : llvm::enumerate(parts)) {
    graph::Dims sizes = graph::dimsOf(part);
    sizes.insert(sizes.begin(), *count);
    results.push_back(graph::tensorOf(sizes, graph::elementOf(part)));
    returned.push_back(part);
    names.push_back(opened->names[1 + stateCount + k]);
  }
  if (!limit && !conditional && !condition && !count)
    return node.unsupported(
        "a loop without a trip count and without a condition never ends");
  if (count == graph::Dim(0)) {
    // In a loop without iterations, the states are unchanged, and the scan
    // outputs are empty.
    SmallVector<Binding> bindings(states);
    for (Type type : ArrayRef(results).drop_front(carried.size()))
      bindings.push_back(
          Binding::known(emptyTensor(at, cast<RankedTensorType>(type))));
    dropBody(function);
    return bindings;
  }
  if (conditional) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&function.getBody().front());
    goesOn = graph::buildReshape(builder, locationOf(at), goesOn,
                                 ArrayRef<int64_t>());
    returned.insert(returned.begin(), goesOn);
    names.insert(names.begin(), opened->names.front());
  }
  opened->results = returned;
  opened->names = names;
  bool counted = !function.getArgument(0).use_empty();
  if (!counted)
    gone.set(0);
  (void)function.eraseArguments(gone);
  SmallVector<Value> shared = closeBodies(MutableArrayRef(*opened));
  auto loop = graph::LoopOp::create(
      builder, locationOf(at), results, function.getName(),
      count ? kernel::sizesAttr(*count, &context) : kernel::SizesAttr(),
      counted, conditional, DenseBoolArrayAttr(),
      count && !open ? Value() : limit, condition, carried,
      /*sliced=*/ValueRange(), shared);
  for (auto [i, place] : llvm::enumerate(places))
    finals[place] = loop.getResult(i);
  SmallVector<Binding> bindings;
  ArrayRef<Value> rest = finals;
  for (auto [state, form] : llvm::zip(states, forms)) {
    auto binding = form ? takeTensors(at, *form, rest) : state;
    if (failed(binding))
      return failure();
    bindings.push_back(std::move(*binding));
  }
  if (open)
    readSize(at, open->count(node, finals.end()[-2], finals.back()),
             open->made);
  for (Value stacked : loop.getStacked())
    bindings.push_back(
        Binding::known(open ? open->existing(node, stacked) : stacked));
  return bindings;
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
    SmallVector<Binding> arguments{
        inDeclaredRank(node, number, *body, 0),
        inDeclaredRank(node, boolean(at, true), *body, 1)};
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
