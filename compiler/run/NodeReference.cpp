#include "compiler/run/NodeReference.h"

#include "codegen/files/NodeNames.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/evaluate/Evaluate.h"
#include "llvm/ADT/StringSwitch.h"

// Contains ingot_test::Summing, by which this file and the test program on the
// target compute the same sums of a kernel's results.
#include "runtime_support/ingot.h"
#include "runtime_support/ingot_test.h"

#include <cmath>

using namespace mlir;

namespace ingot {

static constexpr std::pair<StringLiteral, ingot_test::Type> typeNames[] = {
    {"F16", ingot_test::F16}, {"BF16", ingot_test::BF16},
    {"F32", ingot_test::F32}, {"F64", ingot_test::F64},
    {"I8", ingot_test::I8},   {"U8", ingot_test::U8},
    {"I16", ingot_test::I16}, {"U16", ingot_test::U16},
    {"I32", ingot_test::I32}, {"U32", ingot_test::U32},
    {"I64", ingot_test::I64}, {"U64", ingot_test::U64},
};

StringRef testType(Type type) {
  std::string name;
  if (type.isInteger(1))
    name = "U8";
  else if (type.isBF16())
    name = "BF16";
  else if (isa<Float16Type, Float32Type, Float64Type>(type))
    name = "F" + std::to_string(type.getIntOrFloatBitWidth());
  else if (isa<IntegerType>(type))
    name = (type.isUnsignedInteger() ? "U" : "I") +
           std::to_string(type.getIntOrFloatBitWidth());
  for (auto [known, value] : typeNames)
    if (known == name)
      return known;
  return "";
}

static ingot_test::Type typeNamed(StringRef name) {
  return llvm::find_if(typeNames,
                       [&](auto &entry) { return entry.first == name; })
      ->second;
}

/// Replaces each fusion group by its body; returns, for each group, the values
/// that replace its results.
static std::vector<SmallVector<Value>> dissolveGroups(func::FuncOp main) {
  std::vector<SmallVector<Value>> results;
  SmallVector<graph::GroupOp> groups;
  main.walk([&](graph::GroupOp group) { groups.push_back(group); });
  for (graph::GroupOp group : groups) {
    OpBuilder builder(group);
    IRMapping mapping;
    Block &body = group.getBody().front();
    mapping.map(body.getArguments(), group.getInputs());
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> &values = results.emplace_back();
    for (Value value : body.getTerminator()->getOperands())
      values.push_back(mapping.lookupOrDefault(value));
    // Groups inside this group were dissolved before, so the values of their
    // results are mapped to the copies, too.
    for (SmallVector<Value> &inner : results)
      for (Value &value : inner)
        value = mapping.lookupOrDefault(value);
    group->replaceAllUsesWith(values);
    group->erase();
  }
  return results;
}

/// Returns the values of the function that depend on an if or loop.
static llvm::DenseSet<Value> dependOnControl(func::FuncOp main) {
  llvm::DenseSet<Value> found;
  for (Operation &op : main.getBody().front())
    if (isa<graph::IfOp, graph::LoopOp>(op) ||
        llvm::any_of(op.getOperands(),
                     [&](Value operand) { return found.contains(operand); }))
      found.insert_range(op.getResults());
  return found;
}

static Tensor tensorOf(ElementsAttr value) {
  Tensor tensor{cast<RankedTensorType>(value.getShapedType()), {}};
  std::vector<char> storage;
  ArrayRef<char> bytes = graph::elementBytes(value, storage);
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

std::optional<NodeReference>
NodeReference::evaluate(ModuleOp decided, ArrayRef<const Tensor *> inputs) {
  auto main = decided.lookupSymbol<func::FuncOp>("main");
  Block &block = main.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), inputs)) {
    std::vector<char> bytes = tensor->bytes;
    argument.replaceAllUsesWith(graph::ConstantOp::create(
        builder, main.getLoc(),
        graph::elementsFromBytes(cast<RankedTensorType>(argument.getType()),
                                 std::move(bytes), "input")));
  }
  NodeReference reference;
  main.walk([&](graph::GroupOp group) {
    Group &known = reference.groups.emplace_back(
        Group{group.getLoc(), group->getNumOperands(), {}, {}});
    if (auto strides = group.getOutputStridesAttr())
      known.strides = strides.asArrayRef();
  });
  std::vector<SmallVector<Value>> results = dissolveGroups(main);

  // A value that several groups return is evaluated once.
  llvm::SetVector<Value> wanted;
  for (ArrayRef<Value> values : results)
    wanted.insert_range(values);
  wanted.insert_range(block.getTerminator()->getOperands());
  // The unpacked form of packed weights is requested too, so that it is
  // evaluated once, not again for each operator that reads it.
  main.walk([&](graph::UnpackPanelsOp unpack) { wanted.insert(unpack); });
  llvm::DenseSet<Value> unknown = dependOnControl(main);
  wanted.remove_if([&](Value value) { return unknown.contains(value); });
  FailureOr<SmallVector<ElementsAttr>> evaluated =
      ingot::evaluate(wanted.getArrayRef());
  if (failed(evaluated))
    return std::nullopt;
  llvm::DenseMap<Value, ElementsAttr> valueOf;
  for (auto [value, attribute] : llvm::zip(wanted, *evaluated))
    valueOf[value] = attribute;
  auto tensorFor = [&](Value value) {
    auto known = valueOf.find(value);
    return known == valueOf.end()
               ? Tensor{cast<RankedTensorType>(value.getType()), {}}
               : tensorOf(known->second);
  };
  for (auto [group, values] : llvm::zip(reference.groups, results))
    for (Value value : values)
      group.results.push_back(tensorFor(value));
  for (Value value : block.getTerminator()->getOperands())
    reference.outputTensors.push_back(tensorFor(value));
  return reference;
}

/// Returns the square root of the sum of the squares of the finite elements.
/// Divides them by the largest one first, whose square may be too large.
static double normOf(ArrayRef<double> elements) {
  double largest = 0, squares = 0;
  for (double x : elements)
    if (std::isfinite(x))
      largest = std::max(largest, std::abs(x));
  if (largest == 0)
    return 0;
  for (double x : elements)
    if (std::isfinite(x))
      squares += (x / largest) * (x / largest);
  return largest * std::sqrt(squares);
}

static TestSignature signatureOf(const Tensor &tensor, StringRef type) {
  ingot_test::Summing sums;
  std::vector<double> elements(tensor.elements());
  for (auto [i, x] : llvm::enumerate(elements)) {
    x = ingot_test::element(tensor.bytes.data(), typeNamed(type), i);
    sums.add(x);
  }
  TestSignature signature;
  signature.norm = normOf(elements);
  llvm::copy(sums.sums, signature.sums);
  signature.odd = sums.odd;
  return signature;
}

/// Returns up to four ONNX nodes that a kernel call computes, and the name of
/// the kernel.
static std::string describe(kernel::LaunchOp launch) {
  llvm::SetVector<StringRef> nodes = nodesOf(launch.getLoc());
  std::string text;
  for (StringRef node : ArrayRef(nodes.getArrayRef()).take_front(4))
    text += (text.empty() ? "" : ", ") + node.str();
  if (nodes.size() > 4)
    text += ", ...";
  return text + " (" + launch.getCallee().str() + ")";
}

/// Converts the axes of a result to the four loops of `node`, merging
/// contiguous axes; false if more than four axes remain.
static bool collapse(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                     TestNode &node) {
  SmallVector<std::pair<int64_t, int64_t>> loops;
  int64_t rowMajor = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t stride = strides.empty() ? rowMajor : strides[i];
    rowMajor *= shape[i];
    if (shape[i] == 1)
      continue;
    if (!loops.empty() && stride == loops.back().first * loops.back().second)
      loops.back().first *= shape[i];
    else
      loops.push_back({shape[i], stride});
  }
  if (loops.size() > 4)
    return false;
  loops.resize(4, {1, 0});
  for (auto [i, loop] : llvm::enumerate(llvm::reverse(loops))) {
    node.sizes[i] = loop.first;
    node.strides[i] = loop.second;
  }
  return true;
}

/// Sets in `node` where a buffer begins: the argument that contains it, or the
/// offset in the arena (the memory of intermediate tensors). Returns false for
/// any other buffer; buffers in fast local memory (VTCM) are not checked.
static bool locate(Value buffer, TestNode &node) {
  node.offset = 0;
  while (auto view = buffer.getDefiningOp<kernel::ViewOp>()) {
    node.offset += view.getOffset();
    buffer = view.getSource();
  }
  if (auto place = buffer.getDefiningOp<kernel::ArenaOp>();
      place && !place.getSecondMemory()) {
    node.offset += place.getOffset();
    return true;
  }
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (argument)
    node.argument = argument.getArgNumber();
  return static_cast<bool>(argument);
}

void NodeReference::find(ModuleOp planned, std::vector<TestNode> &nodes,
                         std::vector<TestSignature> &signatures) const {
  // A launch is a call of the kernel that computes a group. Launches are
  // matched with groups by location; launches with the same location are
  // matched in order.
  llvm::DenseMap<Location, SmallVector<const Group *>> byLocation;
  for (const Group &group : llvm::reverse(groups))
    byLocation[group.location].push_back(&group);
  kernel::ProgramOp main = kernel::mainProgram(planned);
  unsigned number = 0;
  for (auto launch : main.getOps<kernel::LaunchOp>()) {
    TestNode node;
    node.kernel = number++;
    node.name = describe(launch);
    SmallVector<const Group *> &left = byLocation[launch.getLoc()];
    if (left.empty())
      continue;
    const Group &group = *left.pop_back_val();
    // The operands of a kernel call are its inputs, its results, then scratch
    // buffers.
    auto buffers = launch.getOperands().drop_front(group.operands);
    for (auto [buffer, result] : llvm::zip(buffers, group.results)) {
      node.type = testType(result.type.getElementType());
      node.argument = -1;
      if (node.type.empty() || result.bytes.empty() ||
          !collapse(result.type.getShape(), group.strides, node) ||
          !locate(buffer, node))
        continue;
      nodes.push_back(node);
      signatures.push_back(signatureOf(result, node.type));
    }
  }
}

} // namespace ingot
