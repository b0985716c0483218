// Imports Loop as a `graph.loop`, whose body is a function.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/operators/RunTimeShapes.h"

using namespace mlir;

namespace ingot {

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

/// Builds a `graph.loop` whose states are represented by tensors as `forms`
/// describes. The member functions are the steps of `build`, in this order;
/// those that return false have failed, most of them with a diagnostic.
class GraphImporter::RunTimeLoop {
public:
  using Forms = SmallVector<std::optional<CarriedForm>>;

  RunTimeLoop(GraphImporter &importer, NodePlace &at, Forms &forms)
      : importer(importer), at(at), node(importer, at),
        builder(importer.builder), forms(forms) {}

  NodeResults build();
  /// Whether `build` failed because a state outgrew its form. A larger form is
  /// then stored in the forms, and the loop can be built anew.
  bool hasGrown() const { return grown; }

private:
  bool readOperands();
  bool importBody();
  bool growForms();
  std::optional<int64_t> mostAfter(int64_t first, int64_t more,
                                   const std::string &name);
  bool collectResults();
  bool readCondition();
  void carryIterations();
  bool chooseStates();
  bool countIterations();
  void addScanOutputs();
  NodeResults skip();
  graph::LoopOp close();
  NodeResults bindResults(graph::LoopOp loop);

  GraphImporter &importer;
  NodePlace &at;
  ProtoNode node;
  OpBuilder &builder;
  Forms &forms;
  bool grown = false;

  const onnx::GraphProto *body = nullptr;
  /// The trip count and the condition before the first iteration; null if they
  /// are absent or no longer needed.
  Value limit, condition;
  /// The upper bound of the number of iterations, if it is a constant or can be
  /// computed from sizes.
  std::optional<graph::Dim> count;
  SmallVector<Binding> states;
  /// The tensors that represent the states before the first iteration.
  SmallVector<Value> initials;
  BodyFunction opened;
  /// The condition that the body returns, and whether it can end the loop.
  Value goesOn;
  bool conditional = false;
  /// The tensors that the loop carries, their values at the end of the body and
  /// the scan outputs' parts, and the names of both.
  SmallVector<Value> carried, returned;
  SmallVector<std::string> names;
  /// The types of the loop's results: the carried tensors, the scan outputs.
  SmallVector<Type> results;
  /// The index in `initials` of each carried tensor.
  SmallVector<unsigned> places;
  /// The final value of each tensor of `initials`; null until `close` for
  /// those that are carried.
  SmallVector<Value> finals;
  /// The arguments of the body that the loop does not pass.
  llvm::BitVector gone;
  std::optional<OpenParts> open;
};

bool GraphImporter::RunTimeLoop::readOperands() {
  body = importer.bodyOf(at, "body");
  auto input = [&](size_t i) {
    return i < at.inputs.size() ? at.inputs[i] : Value();
  };
  limit = input(0), condition = input(1);
  for (Value value : {limit, condition})
    if (value && graph::tensorType(value).getNumElements() != 1) {
      (void)node.invalid(
          "the trip count and the condition must have one element each");
      return false;
    }
  if (limit) {
    if (DenseElementsAttr known = importer.constantOf(limit))
      count = std::max<int64_t>(
          (*known.getValues<APInt>().begin()).getSExtValue(), 0);
    else if (auto sizes = importer.sizesIn(limit))
      count = sizes->front();
  }
  if (DenseElementsAttr known =
          condition ? importer.constantOf(condition) : DenseElementsAttr()) {
    condition = {};
    if (!*known.getValues<bool>().begin())
      count = 0;
  }
  llvm::append_range(
      states,
      llvm::drop_begin(at.bindings, std::min<size_t>(2, at.bindings.size())));
  if (size_t(body->output_size()) < 1 + states.size()) {
    (void)node.invalid("the body must return the condition and each carried "
                       "value, but has fewer outputs");
    return false;
  }
  return true;
}

bool GraphImporter::RunTimeLoop::importBody() {
  SmallVector<Type> types{
      RankedTensorType::get({}, builder.getIntegerType(64, /*isSigned=*/true))};
  for (auto [state, form] : llvm::zip(states, forms))
    if (form && !importer.appendTensors(at, state, *form, initials))
      return false;
  if (size_t(body->output_size()) > 1 + states.size())
    llvm::append_range(initials, OpenParts::initials(node));
  llvm::append_range(types, ValueRange(initials).getTypes());
  finals.resize(initials.size());
  gone.resize(types.size());
  InIteration iteration(importer.iterations);
  auto made = importer.openBody(at, "body", types, [&](Block &block) {
    iteration.enter(block.getArgument(0));
    SmallVector<Binding> inputs =
        importer.iterationInputs(at, *body, block.getArgument(0));
    SmallVector<Value> arguments(llvm::drop_begin(block.getArguments()));
    ArrayRef<Value> rest = arguments;
    for (const auto &form : forms) {
      auto input = form ? importer.takeTensors(at, *form, rest)
                        : Binding::sequence(std::vector<Value>());
      inputs.push_back(succeeded(input) ? *input : Binding::poisoned());
    }
    return inputs;
  });
  if (succeeded(made))
    opened = std::move(*made);
  return succeeded(made);
}

/// Returns an upper bound of a size that starts at `first` and grows by `more`
/// in each iteration. If the number of iterations has no bound, returns the
/// bound that --dim gives for `name`; nullopt with a diagnostic if there is
/// none.
std::optional<int64_t>
GraphImporter::RunTimeLoop::mostAfter(int64_t first, int64_t more,
                                      const std::string &name) {
  int64_t most;
  if (count && !llvm::MulOverflow(more, count->most(), most) &&
      !llvm::AddOverflow(most, first, most))
    return most;
  importer.made.insert(name);
  if (auto bound = importer.boundOf(name))
    return std::max(first, bound->most);
  std::vector<std::string> inputs = at.inputs[0]
                                        ? importer.bindableInputs(at.inputs[0])
                                        : std::vector<std::string>();
  importer.report(inputs.empty() ? DiagnosticId::RuntimeShape
                                 : DiagnosticId::UnboundValue,
                  "`" + at.node.op_type() + "`: the size `" + printable(name) +
                      "` grows with each iteration, and the number of "
                      "iterations has no upper bound",
                  at, "",
                  "give a bound with --dim " + printable(name) + "=0..MOST" +
                      (inputs.empty() ? "" : ", or " + bindHint(inputs)));
  return std::nullopt;
}

/// Enlarges `forms` so that they can also represent the states after an
/// iteration. Fails and sets `grown` if a form has changed. Fails with a
/// diagnostic if a state cannot be represented.
bool GraphImporter::RunTimeLoop::growForms() {
  for (size_t k = 0; k < states.size(); ++k) {
    std::string name = at.node.output(k);
    auto own = formOf(opened.bindings[1 + k]), initial = formOf(states[k]);
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
      auto most = mostAfter(first.sequence->sizes[axis].most, more,
                            name + "_" + std::to_string(axis));
      if (!most)
        return false;
      size.most = *most;
    }
    int64_t capacity = forms[k] ? before.sequence->capacity : 0,
            more = own->sequence ? own->sequence->capacity - capacity : 0,
            least = initial ? first.sequence->capacity : 0;
    if (!wanted->isBox && more > 0) {
      auto most = mostAfter(least, more, name + "_count");
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

/// Collects the results of the body (the condition, the states and the scan
/// outputs) as the tensors that represent them.
bool GraphImporter::RunTimeLoop::collectResults() {
  SmallVector<CarriedForm> resultForms;
  SmallVector<Binding> tensors;
  SmallVector<std::string> tensorNames;
  for (auto [k, result] : llvm::enumerate(opened.bindings)) {
    bool isState = k > 0 && k <= states.size();
    if (isState && !forms[k - 1])
      continue;
    if (k > states.size())
      importer.takeAsDeclared(at, opened, k, body->output(static_cast<int>(k)));
    const CarriedForm *own =
        isState && forms[k - 1]->sequence ? &*forms[k - 1] : nullptr;
    bool isSequence = own && !own->isBox;
    if (result.kind != (isSequence ? Binding::Sequence : Binding::Known)) {
      (void)node.unsupported(
          "a body that returns a sequence or an empty optional value is not "
          "supported if the carried value is not a sequence");
      return false;
    }
    resultForms.push_back(own ? *own : *formOf(result));
    tensors.push_back(result);
    tensorNames.push_back(opened.names[k]);
  }
  opened.bindings = tensors;
  opened.names = tensorNames;
  return importer.closeResults(at, opened, resultForms) &&
         importer.checkLasting(at, opened.function, opened.results);
}

bool GraphImporter::RunTimeLoop::readCondition() {
  goesOn = opened.results.front();
  if (!graph::elementOf(goesOn).isInteger(1) ||
      graph::tensorType(goesOn).getNumElements() != 1) {
    (void)node.invalid("the condition of the body must be a single bool");
    return false;
  }
  DenseElementsAttr known = importer.constantOf(goesOn);
  conditional = !known || !*known.getValues<bool>().begin();
  return true;
}

/// Appends the states of OpenParts to those of the body if there are scan
/// outputs.
void GraphImporter::RunTimeLoop::carryIterations() {
  if (size_t(body->output_size()) <= 1 + states.size())
    return;
  SmallVector<Value> last =
      OpenParts::carried(node, opened.function, conditional ? goesOn : Value());
  size_t place = initials.size() - 1;
  opened.results.insert(opened.results.begin() + place, last.begin(),
                        last.end());
  std::string added[] = {"iterations", "goes_on"};
  opened.names.insert(opened.names.begin() + place, std::begin(added),
                      std::end(added));
}

/// Determines which tensors the loop carries. A state that the body returns
/// unchanged, or that has no elements, is the same in all iterations.
bool GraphImporter::RunTimeLoop::chooseStates() {
  for (auto [k, initial] : llvm::enumerate(initials)) {
    Value result = opened.results[1 + k];
    BlockArgument argument = opened.function.getArgument(1 + k);
    if (result.getType() != initial.getType()) {
      importer.reportUnlessKnown(
          at,
          "a loop with many iterations, or whose trip count is known only at "
          "run time, must not change the type of a carried value, here from " +
              describe(initial.getType()) + " to " + describe(result.getType()),
          {limit, condition});
      return false;
    }
    if (result == argument ||
        graph::tensorType(initial).getNumElements() == 0) {
      argument.replaceAllUsesWith(initial);
      gone.set(1 + k);
      finals[k] = initial;
      continue;
    }
    carried.push_back(initial);
    results.push_back(initial.getType());
    returned.push_back(result);
    names.push_back(opened.names[1 + k]);
    places.push_back(k);
  }
  return true;
}

/// Determines `count`, the length of the scan outputs, if there are any.
bool GraphImporter::RunTimeLoop::countIterations() {
  bool hasParts = opened.results.size() > 1 + initials.size();
  bool isOpen = conditional || condition || (limit && !count);
  std::optional<int64_t> most;
  if (count)
    most = std::max<int64_t>(count->most(), 0);
  bool mayBeNegative = count && count->least() < 0;
  if (hasParts && (isOpen || mayBeNegative) && !conditional && limit) {
    // The body never ends the loop, so the number of iterations, which is the
    // length of the scan outputs, is known before the loop. This number becomes
    // a data-dependent size. If the loop is in the body of another one, the
    // number must be within its bound even in runs that skip the other loop.
    OpBuilder::InsertionGuard guard(builder);
    importer.leaveBodies({limit, condition});
    graph::RunTimeInts ints(node);
    Value often = node.max(ints.vector(limit), 0);
    if (condition)
      often = node.where(node.reshape(condition, {1}), often, 0);
    auto read = importer.readSizes(at, often, most);
    if (failed(read))
      return false;
    count = read->front();
    limit = condition = {};
    isOpen = false;
  }
  if (hasParts && isOpen && !(count == graph::Dim(0))) {
    SmallVector<Value> from;
    for (Value value : {limit, condition})
      if (value)
        from.push_back(value);
    auto made = importer.madeSize(at, "count", most, from);
    if (failed(made))
      return false;
    open = OpenParts{*made, limit};
    count = made->most();
  }
  if (!limit && !conditional && !condition && !count) {
    (void)node.unsupported(
        "a loop without a trip count and without a condition never ends");
    return false;
  }
  return true;
}

void GraphImporter::RunTimeLoop::addScanOutputs() {
  size_t first = 1 + initials.size();
  for (auto [k, part] :
       llvm::enumerate(ArrayRef(opened.results).drop_front(first))) {
    graph::Dims sizes = graph::dimsOf(part);
    sizes.insert(sizes.begin(), *count);
    results.push_back(graph::tensorOf(sizes, graph::elementOf(part)));
    returned.push_back(part);
    names.push_back(opened.names[first + k]);
  }
}

/// Returns the results of a loop without iterations: the states are unchanged,
/// and the scan outputs are empty.
NodeResults GraphImporter::RunTimeLoop::skip() {
  SmallVector<Binding> bindings(states);
  for (Type type : ArrayRef(results).drop_front(carried.size()))
    bindings.push_back(
        Binding::known(importer.emptyTensor(at, cast<RankedTensorType>(type))));
  importer.dropBody(opened.function);
  return bindings;
}

/// Ends the body and creates the loop.
graph::LoopOp GraphImporter::RunTimeLoop::close() {
  func::FuncOp function = opened.function;
  if (conditional) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&function.getBody().front());
    goesOn = node.reshape(goesOn, ArrayRef<int64_t>());
    returned.insert(returned.begin(), goesOn);
    names.insert(names.begin(), opened.names.front());
  }
  opened.results = returned;
  opened.names = names;
  bool counted = !function.getArgument(0).use_empty();
  if (!counted)
    gone.set(0);
  (void)function.eraseArguments(gone);
  SmallVector<Value> shared =
      importer.closeBodies(MutableArrayRef<BodyFunction>(opened));
  return graph::LoopOp::create(
      builder, importer.locationOf(at), results, function.getName(),
      count ? kernel::sizesAttr(*count, &importer.context)
            : kernel::SizesAttr(),
      counted, conditional, DenseBoolArrayAttr(),
      count && !open ? Value() : limit, condition, carried,
      /*sliced=*/ValueRange(), shared);
}

NodeResults GraphImporter::RunTimeLoop::bindResults(graph::LoopOp loop) {
  for (auto [i, place] : llvm::enumerate(places))
    finals[place] = loop.getResult(i);
  SmallVector<Binding> bindings;
  ArrayRef<Value> rest = finals;
  for (auto [state, form] : llvm::zip(states, forms)) {
    auto binding = form ? importer.takeTensors(at, *form, rest) : state;
    if (failed(binding))
      return failure();
    bindings.push_back(std::move(*binding));
  }
  if (open)
    importer.readSize(at, open->count(node, finals.end()[-2], finals.back()),
                      open->made);
  for (Value stacked : loop.getStacked())
    bindings.push_back(
        Binding::known(open ? open->existing(node, stacked) : stacked));
  return bindings;
}

NodeResults GraphImporter::RunTimeLoop::build() {
  if (!readOperands() || !importBody() || !growForms() || !collectResults() ||
      !readCondition())
    return failure();
  carryIterations();
  if (!chooseStates() || !countIterations())
    return failure();
  addScanOutputs();
  return count == graph::Dim(0) ? skip() : bindResults(close());
}

NodeResults GraphImporter::importRunTimeLoop(NodePlace &at) {
  SmallVector<Binding> states(
      llvm::drop_begin(at.bindings, std::min<size_t>(2, at.bindings.size())));
  if (!checkCarried(at, states))
    return failure();
  RunTimeLoop::Forms forms;
  for (const Binding &state : states)
    forms.push_back(formOf(state));
  // The loop is built up to four times. The sizes of a carried sequence's
  // elements, and whether a carried tensor changes its shape, are known only
  // after importing one iteration. By how much such a value grows per iteration
  // is known only after importing another one.
  for (int tries = 0; tries < 4; ++tries) {
    RunTimeLoop loop(*this, at, forms);
    Diagnostics why;
    NodeResults results = attempt(at, why, [&] { return loop.build(); });
    if (succeeded(results))
      return results;
    if (!loop.hasGrown()) {
      diagnostics = why;
      return failure();
    }
  }
  return ProtoNode(*this, at).unsupported(
      "a carried sequence whose elements grow with each iteration is not "
      "supported");
}

} // namespace ingot
