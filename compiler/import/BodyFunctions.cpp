// Imports the bodies of If, Loop and Scan as functions.
//
//   If(c) { then: y = -x } { else: y = x }
//     ->
//   %y = graph.if %c then @if_then else @if_else (%x)
//   func.func private @if_then(%x) { %y = graph.neg %x; return %y }
//   func.func private @if_else(%x) { return %x }
//
// A body can use the values of the enclosing graphs. During the import of the
// body, its function uses these values directly. Afterwards, constants and the
// operations computed only from constants are cloned into the function, so that
// weights are packed and folded there; every other outer value becomes an
// argument. If a body cannot become a function, the condition or trip count of
// the node must be known at compile time.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ops/Strings.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

/// Returns a name, unique in the module, for the function of a body.
static std::string nameOfBody(ModuleOp module, const onnx::NodeProto &node,
                              StringRef body) {
  std::string base = node.name().empty() ? node.op_type() : node.name();
  base += "_" + body.split("_branch").first.str();
  for (char &c : base)
    c = llvm::isAlnum(c) ? c : '_';
  std::string name = base;
  for (unsigned n = 2; module.lookupSymbol(name); ++n)
    name = base + "_" + std::to_string(n);
  return name;
}

FailureOr<GraphImporter::BodyFunction> GraphImporter::openBody(
    NodePlace &at, StringRef name, ArrayRef<Type> types,
    llvm::function_ref<SmallVector<Binding>(Block &)> bind) {
  const onnx::GraphProto *body = bodyOf(at, name);
  if (!body)
    return failure();
  auto module = cast<ModuleOp>(main->getParentOp());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  BodyFunction made;
  made.function = func::FuncOp::create(builder, locationOf(at),
                                       nameOfBody(module, at.node, name),
                                       builder.getFunctionType(types, {}));
  made.function.setPrivate();
  Block *block = made.function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Binding> inputs = bind(*block);
  // Stores the ONNX names of the body's inputs as attributes of the function's
  // arguments, so that a dump of the IR shows them.
  for (auto [binding, input] : llvm::zip(inputs, body->input()))
    binding.forEachValue([&, &input = input](Value &value) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        made.function.setArgAttr(argument.getArgNumber(), kernel::kOnnxNameAttr,
                                 builder.getStringAttr(input.name()));
    });
  NodeResults results = runBody(at, bodyScope(at, name, *body), *body, inputs);
  if (failed(results))
    return failure();
  for (const Binding &result : *results)
    if (result.kind == Binding::Undefined) {
      report(
          DiagnosticId::UnsupportedForm,
          "`" + at.node.op_type() +
              "`: an output of its body has no value, which is not supported",
          at);
      return failure();
    }
  made.bindings = std::move(*results);
  for (const auto &output : body->output())
    made.names.push_back(output.name());
  return made;
}

/// Returns the operations that compute `value` from constants alone, operands
/// first. Returns an empty list if `value` depends on anything else, on more
/// than 200 operations, on random numbers, which are never folded, or on
/// strings that are not constants, whose characters must outlive a body.
static SmallVector<Operation *> constantCone(Value value) {
  constexpr size_t mostOperations = 200;
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> cone;
  /// The operations whose operands are being visited, each with the number of
  /// its next operand.
  SmallVector<std::pair<Operation *, unsigned>> path;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isPure(op) || isa<graph::RandomBitsOp>(op) ||
        graph::writesCharacters(op))
      return false;
    if (seen.insert(op).second)
      path.push_back({op, 0});
    return seen.size() <= mostOperations;
  };
  if (!visit(value))
    return {};
  while (!path.empty()) {
    auto &[op, next] = path.back();
    if (next == op->getNumOperands()) {
      cone.push_back(op);
      path.pop_back();
    } else if (!visit(op->getOperand(next++))) {
      return {};
    }
  }
  return cone;
}

namespace {
/// Makes a function independent of values that are defined outside of it:
/// replaces constants by clones inside the function, and other values by new
/// arguments of the function.
class Isolation {
public:
  explicit Isolation(func::FuncOp function)
      : function(function),
        copies(OpBuilder::atBlockBegin(&function.getBody().front())) {}

  /// Clones the outer constants that the function uses, and the operations that
  /// depend only on constants, into the function. Returns all other outer
  /// values that the function uses.
  llvm::SetVector<Value> copyConstants() {
    llvm::SetVector<Value> others;
    forEachOutside([&](OpOperand &operand) {
      Value value = operand.get();
      if (Value own = mapping.lookupOrNull(value))
        return operand.set(own);
      // A constant cannot have a dynamic size, so an empty tensor with dynamic
      // sizes is passed like other values.
      if (graph::tensorType(value).getNumElements() == 0 &&
          !graph::hasDynamicSizes(value.getType()) &&
          !graph::isString(graph::elementOf(value))) {
        auto empty = DenseElementsAttr::get(graph::tensorType(value),
                                            ArrayRef<Attribute>());
        return operand.set(
            graph::ConstantOp::create(copies, value.getLoc(), empty));
      }
      SmallVector<Operation *> cone = constantCone(value);
      for (Operation *op : cone)
        if (!mapping.contains(op->getResult(0)))
          copies.clone(*op, mapping);
      if (cone.empty())
        others.insert(value);
      else
        operand.set(mapping.lookup(value));
    });
    return others;
  }

  /// Appends an argument to the function for each of `values`, and replaces the
  /// function's uses of the value by the argument.
  void addArguments(ArrayRef<Value> values, Builder &builder) {
    for (Value value : values) {
      DictionaryAttr attrs;
      if (auto name = dyn_cast<NameLoc>(value.getLoc()))
        attrs = builder.getDictionaryAttr(
            builder.getNamedAttr(kernel::kOnnxNameAttr, name.getName()));
      unsigned index = function.getNumArguments();
      (void)function.insertArgument(index, value.getType(), attrs,
                                    value.getLoc());
      mapping.map(value, function.getArgument(index));
    }
    forEachOutside([&](OpOperand &operand) {
      operand.set(mapping.lookup(operand.get()));
    });
  }

private:
  void forEachOutside(llvm::function_ref<void(OpOperand &)> use) {
    Region &region = function.getBody();
    for (Operation &op : region.front())
      for (OpOperand &operand : op.getOpOperands())
        if (operand.get().getParentRegion() != &region)
          use(operand);
  }

  func::FuncOp function;
  OpBuilder copies;
  IRMapping mapping;
};
} // namespace

SmallVector<Value>
GraphImporter::closeBodies(MutableArrayRef<BodyFunction> bodies) {
  std::vector<Isolation> isolations;
  llvm::SetVector<Value> captures;
  for (BodyFunction &body : bodies) {
    for (Value &result : body.results)
      result = resolve(result);
    OpBuilder end = OpBuilder::atBlockEnd(&body.function.getBody().front());
    func::ReturnOp::create(end, body.function.getLoc(), body.results);
    isolations.emplace_back(body.function);
    for (Value value : isolations.back().copyConstants())
      captures.insert(value);
  }
  for (auto [body, isolation] : llvm::zip(bodies, isolations)) {
    isolation.addArguments(captures.getArrayRef(), builder);
    body.function.setFunctionType(
        builder.getFunctionType(body.function.getBody().getArgumentTypes(),
                                ValueRange(body.results).getTypes()));
    for (auto [i, name] : llvm::enumerate(body.names))
      body.function.setResultAttr(i, kernel::kOnnxNameAttr,
                                  builder.getStringAttr(name));
  }
  return captures.takeVector();
}

void GraphImporter::forget(llvm::function_ref<bool(Value)> isGone) {
  SmallVector<Value> gone;
  for (auto [from, to] : replaced)
    if (isGone(from) || isGone(to))
      gone.push_back(from);
  for (Value value : gone)
    replaced.erase(value);
  notConstant.clear();
}

void GraphImporter::dropBody(func::FuncOp function) {
  forget([&](Value value) {
    return value.getParentRegion() == &function.getBody();
  });
  llvm::erase_if(wholes, [&](const Whole &whole) {
    return whole.block->getParent() == &function.getBody();
  });
  function.walk([](Operation *op) { op->dropAllReferences(); });
  function.erase();
}

NodeResults GraphImporter::attempt(NodePlace &at, Diagnostics &why,
                                   llvm::function_ref<NodeResults()> build) {
  auto module = cast<ModuleOp>(main->getParentOp());
  Diagnostics before = diagnostics;
  llvm::StringSet<> madeBefore = made;
  llvm::StringMap<unsigned> timesBefore = timesMade;
  graph::Dims checkedBefore = checked;
  size_t functions = llvm::range_size(module.getOps<func::FuncOp>());
  SmallVector<std::pair<Block *, Operation *>> ends;
  for (Block *block : {builder.getInsertionBlock(), &main.getBody().front()})
    ends.push_back({block, block->empty() ? nullptr : &block->back()});
  size_t wholesBefore = wholes.size();
  // The node may already be marked as poisoned by an earlier failure, which was
  // reported then. The mark is cleared during `build`, so that the attempt
  // fails only if `build` itself fails.
  bool wasPoisoned = std::exchange(at.poisoned, false);
  NodeResults results = build();
  if (succeeded(results) && diagnostics.size() == before.size() && !at.poisoned)
    return results;
  why = std::exchange(diagnostics, before);
  made = std::move(madeBefore);
  timesMade = std::move(timesBefore);
  checked = std::move(checkedBefore);
  at.poisoned |= wasPoisoned;
  // Erases the functions of the failed attempt in reverse order: functions of
  // nested bodies come later in the module than those that call them.
  SmallVector<func::FuncOp> made(
      llvm::drop_begin(module.getOps<func::FuncOp>(), functions));
  for (func::FuncOp function : llvm::reverse(made))
    dropBody(function);
  for (auto [block, last] : ends)
    while (!block->empty() && &block->back() != last &&
           block->back().use_empty()) {
      Operation *op = &block->back();
      forget([&](Value value) { return value.getDefiningOp() == op; });
      op->erase();
    }
  // Forgets the broadcast sizes (`wholes`) that the failed attempt created.
  // Broadcast sizes that are computed at the start of main are kept, since the
  // operations that compute them have not been erased.
  size_t number = 0;
  llvm::erase_if(wholes, [&](const Whole &whole) {
    return number++ >= wholesBefore && !whole.isFirst;
  });
  for (const Whole &whole : wholes)
    this->made.insert(whole.name);
  return failure();
}

bool GraphImporter::checkCarried(NodePlace &at, ArrayRef<Binding> states) {
  for (const Binding &state : states)
    if (state.kind == Binding::Absent || state.present) {
      report(DiagnosticId::UnsupportedForm,
             "`" + at.node.op_type() +
                 "`: carrying an optional value between iterations is not "
                 "supported",
             at);
      return false;
    }
  return true;
}

NodeResults GraphImporter::importRunTimeIf(NodePlace &at) {
  ProtoNode node(*this, at);
  Value condition = at.inputs[0];
  if (graph::tensorType(condition).getNumElements() != 1)
    return node.invalid("the condition has " +
                        Twine(graph::tensorType(condition).getNumElements()) +
                        " elements, but must have exactly 1");
  SmallVector<BodyFunction, 2> bodies;
  for (StringRef branch : {"then_branch", "else_branch"}) {
    ++branchDepth;
    auto opened = openBody(at, branch, {},
                           [](Block &) { return SmallVector<Binding>(); });
    --branchDepth;
    if (failed(opened))
      return failure();
    bodies.push_back(std::move(*opened));
  }
  ArrayRef<Binding> first = bodies[0].bindings, second = bodies[1].bindings;
  if (first.size() != second.size())
    return node.invalid("its branches have " + Twine(first.size()) + " and " +
                        Twine(second.size()) +
                        " results, but must have the same number");
  SmallVector<CarriedForm> forms;
  for (auto [x, y] : llvm::zip(first, second)) {
    std::optional<CarriedForm> form = formOfEither(x, y);
    if (!form) {
      auto text = [](const Binding &binding) {
        return binding.kind == Binding::Known
                   ? describe(binding.value.getType())
               : binding.kind == Binding::Sequence ? std::string("a sequence")
                                                   : std::string("nothing");
      };
      reportUnlessKnown(
          at,
          "its condition is computed at run time, so both branches must return "
          "values of one type and rank, but they return " +
              text(x) + " and " + text(y),
          {condition});
      return failure();
    }
    // A size that a branch computes is unknown outside of the branch. A tensor
    // with such a size is returned as a sequence with one element, since a
    // sequence is passed together with the shapes of its elements.
    for (auto [body, result] :
         {std::pair(bodies[0].function, x), std::pair(bodies[1].function, y)})
      if (form->tensor && result.kind == Binding::Known &&
          madeIn(body, form->tensor))
        form = boxOf(form->tensor);
    forms.push_back(std::move(*form));
  }
  for (BodyFunction &body : bodies)
    if (!closeResults(at, body, forms))
      return failure();
  SmallVector<Type> types(ValueRange(bodies[0].results).getTypes());
  SmallVector<Value> captures = closeBodies(bodies);
  auto choice = graph::IfOp::create(builder, locationOf(at), types, condition,
                                    bodies[0].function.getName(),
                                    bodies[1].function.getName(), captures);
  SmallVector<Value> results(choice.getResults());
  ArrayRef<Value> rest = results;
  SmallVector<Binding> bindings;
  for (const CarriedForm &form : forms) {
    auto binding = takeTensors(at, form, rest);
    if (failed(binding))
      return failure();
    bindings.push_back(std::move(*binding));
  }
  return bindings;
}

} // namespace ingot
