#include "compiler/verify/NodeErrors.h"

#include "codegen/files/NodeNames.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/Validate.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;

namespace ingot::verify {

/// Returns the distance from `number` to the next representable number of
/// `type`.
static double spacingOf(double number, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int exponent = std::ilogb(std::max(
      std::abs(number),
      std::ldexp(1.0, llvm::APFloat::semanticsMinExponent(semantics))));
  return std::ldexp(1.0, exponent + 1 -
                             int(llvm::APFloat::semanticsPrecision(semantics)));
}

TensorError measure(StringRef name, const Tensor &got, const Tensor &want,
                    double tolerance, bool isQuantized) {
  TensorError result;
  result.name = name.str();
  result.type = describe(want.type);
  result.tolerance = tolerance;
  if (got.type != want.type) {
    result.isRight = false;
    result.error = result.relative = std::numeric_limits<double>::infinity();
    result.worst = "it is " + describe(got.type);
    return result;
  }
  Difference strict = compare(got, want, {0, 0, 0});
  if (want.isOfStrings()) {
    result.isRight = strict.same();
    if (!result.isRight)
      result.worst = "[" + std::to_string(strict.firstWrong) + "] is " +
                     got.text(strict.firstWrong) + ", expected " +
                     want.text(strict.firstWrong);
    return result;
  }
  result.error = strict.maxError;
  result.range = strict.range;
  double power = 0, noise = 0, largest = 0;
  int64_t worst = -1;
  double worstError = 0;
  for (int64_t i = 0, e = want.elements(); i < e; ++i) {
    double g = got.number(i), w = want.number(i);
    if (std::isfinite(w))
      largest = std::max(largest, std::abs(w));
    if (g == w || (std::isnan(g) && std::isnan(w))) {
      power += std::isfinite(w) ? w * w : 0;
      continue;
    }
    double error = std::abs(g - w);
    if (std::isnan(error))
      error = std::numeric_limits<double>::infinity();
    if (worst < 0 || error > worstError) {
      worst = i;
      worstError = error;
    }
    power += w * w;
    noise += error * error;
  }
  if (result.range == 0)
    result.range = largest > 0 ? largest : 1;
  result.relative = result.error / result.range;
  result.decibels = noise > 0 ? 10 * std::log10(power / noise)
                              : std::numeric_limits<double>::infinity();
  Type element = want.type.getElementType();
  if (auto floating = dyn_cast<FloatType>(element)) {
    if (worst >= 0)
      result.ulp = worstError / spacingOf(want.number(worst), floating);
    result.isRight = result.relative <= tolerance;
  } else {
    unsigned bits = element.getIntOrFloatBitWidth();
    double step = isQuantized && bits > 1 && bits <= 16 ? 1 : 0;
    result.isRight =
        result.error <= std::max(step, step * tolerance * result.range);
    result.ulp = result.error;
  }
  if (!result.isRight && worst >= 0)
    result.worst = "[" + std::to_string(worst) + "] is " + got.text(worst) +
                   ", expected " + want.text(worst);
  return result;
}

/// Returns the tensor of a value; null if the value is a sequence or an absent
/// optional.
static const Tensor *plainTensor(const ModelValue *value) {
  return value && !value->isSequence && value->isPresent &&
                 value->tensors.size() == 1
             ? &value->tensors.front()
             : nullptr;
}
static const Tensor *plainTensor(const std::optional<ModelValue> &value) {
  return plainTensor(value ? &*value : nullptr);
}

double changeOf(const std::optional<ModelValue> &value,
                const std::optional<ModelValue> &moved) {
  const Tensor *a = plainTensor(value), *b = plainTensor(moved);
  if (!a || !b || a->type != b->type ||
      !isa<FloatType>(a->type.getElementType()))
    return 0;
  TensorError change = measure("", *b, *a, 0, false);
  return std::isfinite(change.relative) ? change.relative : 0;
}

namespace {

class Search {
public:
  Search(const CompileOptions &compile, const InputData &data,
         const Against &against, const ReferenceOptions &reference,
         std::optional<double> tolerance, MLIRContext &context,
         Diagnostics &diagnostics)
      : compile(compile), data(data), against(against), reference(reference),
        forced(tolerance), context(context), diagnostics(diagnostics) {}

  /// Compares all tensors; false with diagnostics on failure.
  bool compareAll();
  std::optional<NodeErrors> run(bool isWrong);
  NodeErrors found;

private:
  bool collect();
  bool expect();
  /// Compiles with `options` and with the tensors `others` as additional
  /// outputs; runs the model and returns the values of all outputs, or nothing
  /// on failure.
  std::optional<std::vector<ModelValue>>
  valuesWith(const CompileOptions &options, ArrayRef<std::string> others,
             const InputData &data, Diagnostics &trial);
  /// Returns the error of the tensor `name` with the value `got`; nothing if
  /// there is no expected value, or if `got` is a sequence or absent.
  std::optional<TensorError> errorOf(const std::string &name,
                                     const ModelValue &got) const;
  /// Returns the error of `name` if the model is compiled with `options`;
  /// nothing if that fails or there is no expected value.
  std::optional<TensorError> errorWith(const CompileOptions &options,
                                       const std::string &name);
  bool isOutput(const std::string &name) const {
    return llvm::is_contained(outputs, name);
  }
  void nameNode(const std::string &tensor);
  void findKernel();
  void findCause(bool vanishes);
  bool findDifference();

  const CompileOptions &compile;
  const InputData &data;
  const Against &against;
  const ReferenceOptions &reference;
  std::optional<double> forced;
  MLIRContext &context;
  Diagnostics &diagnostics;

  std::unique_ptr<Compilation> reader;
  std::unique_ptr<Tolerances> tolerances;
  std::vector<std::string> outputs;
  /// All tensors of the graph in topological order, except results of Constant
  /// nodes; and those of them that are not outputs of the model and have an
  /// expected value.
  std::vector<std::string> all, inner;
  llvm::StringMap<int> producers;
  llvm::StringMap<std::optional<ModelValue>> expected;
  llvm::StringMap<double> changes;
};

} // namespace

bool Search::collect() {
  reader = std::make_unique<Compilation>(compile, context, diagnostics);
  ModelFile *file = reader->open();
  if (!file)
    return false;
  tolerances = std::make_unique<Tolerances>(file->model(), compile.fast);
  outputs = outputNames(file->model());
  const onnx::GraphProto &graph = file->model().graph();
  for (int index : topologicalOrder(graph.node())) {
    const onnx::NodeProto &node = graph.node(index);
    for (const std::string &name : node.output()) {
      if (name.empty())
        continue;
      producers[name] = index;
      if (node.op_type() != "Constant")
        all.push_back(name);
    }
  }
  return true;
}

bool Search::expect() {
  for (const std::string &name : all)
    if (!isOutput(name))
      inner.push_back(name);
  auto take = [&](ArrayRef<std::optional<ModelValue>> values,
                  ArrayRef<std::optional<ModelValue>> moved,
                  ArrayRef<std::string> others) {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string &name =
          i < outputs.size() ? outputs[i] : others[i - outputs.size()];
      expected[name] = values[i];
      if (i < moved.size())
        changes[name] = changeOf(values[i], moved[i]);
    }
  };
  if (!against.options) {
    auto values =
        computeExpected(compile, data, inner, reference, context, diagnostics);
    if (!values)
      return false;
    take(values->values, values->moved, inner);
  } else {
    // The expected values are the tensors of the same names in the model
    // `against`.
    Compilation other(*against.options, context, diagnostics);
    if (!other.open())
      return false;
    llvm::StringSet<> known;
    for (const onnx::NodeProto &node : other.open()->model().graph().node())
      known.insert(node.output().begin(), node.output().end());
    for (const std::string &name : outputNames(other.open()->model()))
      known.erase(name);
    llvm::erase_if(
        inner, [&](const std::string &name) { return !known.contains(name); });
    auto values =
        valuesWith(*against.options, inner, against.arrange(data), diagnostics);
    if (!values)
      return false;
    std::vector<std::optional<ModelValue>> optional(values->begin(),
                                                    values->end());
    take(optional, {}, inner);
  }
  llvm::erase_if(inner, [&](const std::string &name) {
    auto known = expected.find(name);
    return known == expected.end() || !plainTensor(known->second);
  });
  return true;
}

std::optional<std::vector<ModelValue>>
Search::valuesWith(const CompileOptions &options, ArrayRef<std::string> others,
                   const InputData &data, Diagnostics &trial) {
  DataRunner runner(withOutputs(options, others), /*dynamic=*/false, context,
                    trial);
  // The inputs are Ingot's own, not data of the user.
  runner.reportsTaken = false;
  std::vector<Tensor> tensors;
  if (!runner.run(data, tensors))
    return std::nullopt;
  return joinOutputs(runner.outputs(), tensors);
}

std::optional<TensorError> Search::errorOf(const std::string &name,
                                           const ModelValue &got) const {
  auto known = expected.find(name);
  if (known == expected.end() || !plainTensor(known->second))
    return std::nullopt;
  const Tensor *value = plainTensor(&got);
  if (!value)
    return std::nullopt;
  double tolerance =
      forced.value_or(std::max(tolerances->of(name), 2 * changes.lookup(name)));
  return measure(name, *value, *plainTensor(known->second), tolerance,
                 tolerances->isQuantized(name));
}

std::optional<TensorError> Search::errorWith(const CompileOptions &options,
                                             const std::string &name) {
  std::vector<std::string> others;
  if (!isOutput(name))
    others.push_back(name);
  Diagnostics trial;
  auto values = valuesWith(options, others, data, trial);
  if (!values)
    return std::nullopt;
  for (auto [i, output] : llvm::enumerate(outputs))
    if (output == name)
      return errorOf(name, (*values)[i]);
  return errorOf(name, values->back());
}

void Search::nameNode(const std::string &tensor) {
  auto producer = producers.find(tensor);
  found.tensor = tensor;
  if (producer == producers.end())
    return;
  const onnx::NodeProto &node =
      reader->open()->model().graph().node(producer->second);
  found.node = producer->second;
  found.nodeName = node.name().empty() ? node.output(0) : node.name();
  found.operatorName = node.op_type();
  for (const std::string &input : node.input())
    for (const TensorError &error : found.tensors)
      if (error.name == input)
        found.errorOfInputs = std::max(found.errorOfInputs, error.relative);
}

/// Finds the kernel that computes the wrong node if the model is compiled
/// without additional outputs.
void Search::findKernel() {
  Diagnostics trial;
  Compilation compilation(compile, context, trial);
  if (!compilation.open())
    return;
  bindData(compilation, data);
  if (!compilation.advance(Stage::Decide))
    return;
  compilation.module().walk([&](graph::GroupOp group) {
    llvm::SetVector<StringRef> names;
    for (Operation &op : group.getBody().front())
      names.insert_range(nodesOf(op.getLoc()));
    if (!found.strategy.empty() || !names.contains(found.nodeName))
      return;
    found.strategy = group.getStrategy().str();
    for (StringRef name : names)
      found.nodesOfKernel.push_back(name.str());
  });
}

/// Compares the operator, the attributes and the constants of the wrong node
/// with those of its counterpart, the node of the model `against` that computes
/// the same tensor. Returns true, with the reason in `found.cause`, if they
/// differ or there is no counterpart.
bool Search::findDifference() {
  Diagnostics trial;
  Compilation other(*against.options, context, trial);
  ModelFile *file = other.open();
  if (!file)
    return false;
  const onnx::NodeProto *twin = nullptr;
  for (const onnx::NodeProto &node : file->model().graph().node())
    if (llvm::is_contained(node.output(), found.tensor))
      twin = &node;
  const onnx::NodeProto &node =
      reader->open()->model().graph().node(found.node);
  if (!twin) {
    found.cause = "the other model has no node for this tensor";
    return true;
  }
  if (twin->op_type() != node.op_type()) {
    found.cause =
        "the node is a `" + printable(twin->op_type()) + "` in the other model";
    return true;
  }
  auto constantOf =
      [&](ModelFile &of,
          const std::string &name) -> std::optional<std::vector<char>> {
    std::string error;
    for (const onnx::TensorProto &tensor : of.model().graph().initializer())
      if (tensor.name() == name)
        return tensorBytes(tensor, &of, &context, error);
    return std::nullopt;
  };
  for (int i = 0; i < std::min(node.input_size(), twin->input_size()); ++i) {
    auto a = constantOf(*reader->open(), node.input(i)),
         b = constantOf(*file, twin->input(i));
    if (a != b) {
      found.cause = "the constant `" + printable(node.input(i)) +
                    "` has other values than in the other model";
      return true;
    }
  }
  auto attributes = [](const onnx::NodeProto &of) {
    std::vector<std::string> texts;
    for (const onnx::AttributeProto &attribute : of.attribute())
      texts.push_back(attribute.SerializeAsString());
    llvm::sort(texts);
    return texts;
  };
  if (attributes(node) != attributes(*twin)) {
    found.cause = "the node has other attributes in the other model";
    return true;
  }
  return false;
}

void Search::findCause(bool vanishes) {
  if (against.options && against.options->model != compile.model &&
      findDifference())
    return;
  findKernel();
  std::string kernel =
      found.strategy.empty() ? "" : "the strategy `" + found.strategy + "`";
  if (vanishes) {
    found.rightWith.push_back("every tensor as an output");
    found.cause = "fusion: the kernel that joins " +
                  std::to_string(found.nodesOfKernel.size()) + " nodes" +
                  (kernel.empty() ? "" : " by " + kernel);
    return;
  }
  struct Variant {
    std::string name, cause;
    CompileOptions options;
  };
  std::vector<Variant> variants;
  auto add = [&](const Twine &name, const Twine &cause) -> CompileOptions & {
    variants.push_back({name.str(), cause.str(), compile});
    return variants.back().options;
  };
  if (!compile.fast.empty())
    add("no --fast", "--fast=" + compile.fast + ", which rounds operands")
        .fast.clear();
  if (!compile.strict) {
    CompileOptions &strict =
        add("--strict", "the order of floating-point operations, which "
                        "--strict keeps");
    strict.strict = true;
    strict.fast.clear();
  }
  const TargetDescription *generic = lookupTarget("generic");
  if (generic && generic != compile.target) {
    CompileOptions &other =
        add("--target generic", (kernel.empty() ? "the code" : kernel) +
                                    " for " + compile.target->name);
    other.target = generic;
    other.fast.clear();
    other.fallbacks.clear();
    other.vtcmBytes.reset();
  }
  if (compile.maxRam)
    add("no --max-ram", "patch-based execution for --max-ram").maxRam.reset();
  for (const Variant &variant : variants) {
    auto error = errorWith(variant.options, found.tensor);
    if (!error)
      continue;
    (error->isRight ? found.rightWith : found.wrongWith)
        .push_back(variant.name);
    if (error->isRight && found.cause.empty())
      found.cause = variant.cause;
  }
  if (!found.cause.empty())
    return;
  // No option changes the result, so the import may be wrong. To find out,
  // evaluates the imported model by the definitions of its operators, without
  // optimizations.
  ReferenceOptions definition;
  definition.engine = Engine::Definition;
  Diagnostics trial;
  std::vector<std::string> others;
  if (!isOutput(found.tensor))
    others.push_back(found.tensor);
  auto values =
      computeExpected(compile, data, others, definition, context, trial);
  std::optional<TensorError> error;
  if (values)
    for (size_t i = 0; i < values->values.size(); ++i)
      if ((i < outputs.size() ? outputs[i] : others[i - outputs.size()]) ==
              found.tensor &&
          values->values[i])
        error = errorOf(found.tensor, *values->values[i]);
  if (error && error->isRight) {
    found.rightWith.push_back("the definitions of the operators");
    found.cause =
        (kernel.empty() ? "a kernel" : kernel) + ", or a pass before it";
  } else if (error) {
    found.wrongWith.push_back("the definitions of the operators");
    found.cause = "Ingot and the reference define `" + found.operatorName +
                  "` differently, or read its constants differently";
  } else {
    found.cause = "no option changes the result";
  }
}

bool Search::compareAll() {
  if (!collect() || !expect())
    return false;
  auto values = valuesWith(compile, inner, data, diagnostics);
  if (!values)
    return false;
  llvm::StringMap<size_t> places;
  for (auto [i, name] : llvm::enumerate(outputs))
    places[name] = i;
  for (auto [i, name] : llvm::enumerate(inner))
    places[name] = outputs.size() + i;
  for (const std::string &name : all)
    if (auto place = places.find(name); place != places.end())
      if (auto error = errorOf(name, (*values)[place->second]))
        found.tensors.push_back(std::move(*error));
  return true;
}

std::optional<NodeErrors> Search::run(bool isWrong) {
  if (!compareAll())
    return std::nullopt;
  const TensorError *first = nullptr;
  for (const TensorError &error : found.tensors)
    if (!first && !error.isRight)
      first = &error;
  if (first) {
    nameNode(first->name);
    findCause(/*vanishes=*/false);
    return std::move(found);
  }
  if (!isWrong)
    return std::move(found);
  // The error vanishes if all tensors are outputs. The faulty kernel is
  // therefore found by bisection, with one additional output per run: tensors
  // before the faulty kernel are right, and those after it wrong.
  size_t least = 0, most = inner.size();
  std::string tensor;
  while (least < most) {
    size_t middle = (least + most) / 2;
    auto error = errorWith(compile, inner[middle]);
    if (error && !error->isRight) {
      most = middle;
      tensor = inner[middle];
    } else {
      least = middle + 1;
    }
  }
  for (const std::string &output : outputs)
    if (tensor.empty())
      if (auto error = errorWith(compile, output); error && !error->isRight)
        tensor = output;
  nameNode(tensor);
  findCause(/*vanishes=*/true);
  return std::move(found);
}

std::optional<NodeErrors>
findNodeErrors(const CompileOptions &compile, const InputData &data,
               const Against &against, const ReferenceOptions &reference,
               bool isWrong, std::optional<double> tolerance,
               MLIRContext &context, Diagnostics &diagnostics) {
  return Search(compile, data, against, reference, tolerance, context,
                diagnostics)
      .run(isWrong);
}

std::optional<std::vector<TensorError>>
compareTensors(const CompileOptions &compile, const InputData &data,
               const Against &against, MLIRContext &context,
               Diagnostics &diagnostics) {
  ReferenceOptions unused;
  Search search(compile, data, against, unused, std::nullopt, context,
                diagnostics);
  if (!search.compareAll())
    return std::nullopt;
  return std::move(search.found.tensors);
}

} // namespace ingot::verify
