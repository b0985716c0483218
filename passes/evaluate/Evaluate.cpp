#include "passes/evaluate/Evaluate.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "passes/evaluate/Jit.h"
#include "llvm/ADT/SetVector.h"

#include <list>

using namespace mlir;
using namespace ingot::graph;

namespace ingot {

static EvaluationLowering lowering = nullptr;
void setEvaluationLowering(EvaluationLowering fn) { lowering = fn; }

bool isComputable(Value value) {
  SmallVector<Value> pending{value};
  llvm::DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !isPure(op) || hasDynamicSizes(op))
      return false;
    if (seen.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// Returns the operators that `values` depend on, operands first.
static SmallVector<Operation *> coneOf(ArrayRef<Value> values) {
  llvm::SetVector<Operation *> cone;
  SmallVector<std::pair<Operation *, unsigned>> stack;
  for (Value value : values) {
    stack.push_back({value.getDefiningOp(), 0});
    while (!stack.empty()) {
      auto &[op, next] = stack.back();
      if (cone.contains(op) || next == op->getNumOperands()) {
        cone.insert(op);
        stack.pop_back();
      } else {
        Operation *operand = op->getOperand(next++).getDefiningOp();
        if (!cone.contains(operand))
          stack.push_back({operand, 0});
      }
    }
  }
  return cone.takeVector();
}

using Consumed = llvm::function_ref<void(DenseResourceElementsHandle)>;

/// Runs the launches of @main, whose memory has been planned and whose only
/// arguments are its results. Memory is held only while launches need it: a
/// result is allocated before the first launch that writes it, and a constant
/// is released after the last one that reads it.
class MainRunner {
public:
  MainRunner(ModuleOp module, Jit &jit, Consumed consumed)
      : module(module), symbols(module), jit(jit), consumed(consumed) {}

  /// Runs the launches of `main` and stores its results in `results`; `bytes`
  /// are the sizes of the results.
  void run(kernel::ProgramOp main, ArrayRef<int64_t> bytes,
           MutableArrayRef<std::vector<char>> results) {
    constexpr size_t align = 64;
    size_t arenaBytes = *main.getArenaBytes();
    std::vector<char> arena(arenaBytes + align);
    char *base = arena.data() +
                 (align - reinterpret_cast<uintptr_t>(arena.data()) % align);
    countReads(main);
    for (Operation &op : main.getBody().front()) {
      for (Value operand : op.getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand);
            argument && !pointers.contains(argument)) {
          std::vector<char> &result = results[argument.getArgNumber()];
          // Kernels may need a valid pointer for a tensor without elements.
          result.reserve(1);
          result.resize(bytes[argument.getArgNumber()]);
          pointers[argument] = result.data();
        }
      if (auto place = dyn_cast<kernel::ArenaOp>(op))
        pointers[place.getResult()] = base + place.getOffset();
      else if (auto view = dyn_cast<kernel::ViewOp>(op))
        pointers[view.getResult()] =
            pointers.lookup(view.getSource()) + view.getOffset();
      else if (auto get = dyn_cast<memref::GetGlobalOp>(op))
        pointers[get.getResult()] = dataOf(get);
      else if (auto launch = dyn_cast<kernel::LaunchOp>(op))
        run(launch);
    }
  }

private:
  using Resource = DenseResourceElementsHandle;

  ElementsAttr valueOf(memref::GetGlobalOp get) {
    return cast<ElementsAttr>(
        *symbols.lookup<memref::GlobalOp>(get.getName()).getInitialValue());
  }

  char *dataOf(memref::GetGlobalOp get) {
    storage.emplace_back();
    return const_cast<char *>(
        elementBytes(valueOf(get), storage.back()).data());
  }

  /// Returns the resources (data of constants) that `launch` reads, directly or
  /// through views.
  SmallVector<Resource> resourcesOf(kernel::LaunchOp launch) {
    SmallVector<Resource> resources;
    for (Value operand : launch.getOperands()) {
      while (auto view = operand.getDefiningOp<kernel::ViewOp>())
        operand = view.getSource();
      if (auto get = operand.getDefiningOp<memref::GetGlobalOp>())
        if (auto value = dyn_cast<DenseResourceElementsAttr>(valueOf(get)))
          resources.push_back(value.getRawHandle());
    }
    return resources;
  }

  void countReads(kernel::ProgramOp main) {
    for (auto launch : main.getOps<kernel::LaunchOp>())
      for (Resource resource : resourcesOf(launch))
        ++readsLeft[resource.getResource()];
  }

  void run(kernel::LaunchOp launch) {
    auto callee = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    SmallVector<char *> buffers;
    for (Value operand : launch.getOperands())
      buffers.push_back(pointers.lookup(operand));
    int64_t begin = 0, end = 0;
    SmallVector<void *> arguments;
    for (char *&buffer : buffers)
      arguments.push_back(static_cast<void *>(&buffer));
    if (std::optional<kernel::Dim> extent = kernel::extentOf(callee)) {
      end = extent->most();
      arguments.push_back(&begin);
      arguments.push_back(&end);
    }
    jit.call(callee.getName(), arguments);
    for (Resource resource : resourcesOf(launch))
      if (--readsLeft[resource.getResource()] == 0 && consumed)
        consumed(resource);
  }

  ModuleOp module;
  SymbolTable symbols;
  Jit &jit;
  Consumed consumed;
  llvm::DenseMap<Value, char *> pointers;
  llvm::DenseMap<const void *, unsigned> readsLeft;
  std::list<std::vector<char>> storage;
};

namespace {
/// A result of the function that computes constants: its type, and the indices
/// of the constants that it is.
struct Result {
  RankedTensorType type;
  SmallVector<size_t, 1> users;
};
} // namespace

/// Returns a module whose main function computes `values`, and its results.
/// Equal computations, for example of weights that several entry points share,
/// have one result.
static std::pair<OwningOpRef<ModuleOp>, SmallVector<Result>>
moduleOf(ArrayRef<Value> values) {
  Location loc = values[0].getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto main = func::FuncOp::create(builder, loc, "main",
                                   builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(main.addEntryBlock());
  IRMapping mapping;
  for (Operation *op : coneOf(values))
    builder.clone(*op, mapping);
  SmallVector<Value> mapped;
  for (Value value : values)
    mapped.push_back(mapping.lookup(value));
  auto end = func::ReturnOp::create(builder, loc, mapped);
  IRRewriter rewriter(builder);
  DominanceInfo dominance(*module);
  eliminateCommonSubExpressions(rewriter, dominance, *module);

  llvm::MapVector<Value, Result> distinct;
  for (auto [i, value] : llvm::enumerate(end.getOperands())) {
    Result &result = distinct[value];
    result.type = tensorType(value);
    result.users.push_back(i);
  }
  SmallVector<Value> returned;
  SmallVector<Type> types;
  SmallVector<Result> results;
  for (auto &[value, result] : distinct) {
    returned.push_back(value);
    types.push_back(result.type);
    results.push_back(std::move(result));
  }
  end->setOperands(returned);
  main.setType(builder.getFunctionType({}, types));
  return {std::move(module), std::move(results)};
}

FailureOr<SmallVector<ElementsAttr>> evaluate(ArrayRef<Value> values,
                                              Consumed consumed) {
  SmallVector<ElementsAttr> results(values.size());
  // The values of constants and reshaped constants are known without running
  // code.
  SmallVector<size_t> positions;
  for (auto [i, value] : llvm::enumerate(values)) {
    Value root = value;
    while (auto reshape = root.getDefiningOp<ReshapeOp>())
      root = reshape.getX();
    if (auto constant = root.getDefiningOp<ConstantOp>()) {
      auto type = tensorType(value);
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
        results[i] = dense.reshape(type);
      else
        results[i] = DenseResourceElementsAttr::get(
            type, cast<DenseResourceElementsAttr>(constant.getValue())
                      .getRawHandle());
      continue;
    }
    positions.push_back(i);
  }
  if (positions.empty())
    return results;
  // Large values first, while the memory of the others is not needed yet.
  llvm::sort(positions, [&](size_t x, size_t y) {
    auto key = [&](size_t i) {
      return std::pair(-tensorType(values[i]).getNumElements(), i);
    };
    return key(x) < key(y);
  });
  SmallVector<Value> wanted;
  for (size_t position : positions)
    wanted.push_back(values[position]);

  auto [module, distinct] = moduleOf(wanted);
  assert(lowering && "the pipeline sets the lowering");
  if (failed(lowering(*module)))
    return failure();

  int64_t elements = 0;
  SmallVector<int64_t> bytes;
  for (const auto &[type, users] : distinct) {
    elements += type.getNumElements();
    bytes.push_back(type.getNumElements() *
                    bytesPerElement(type.getElementType()));
  }
  FailureOr<std::unique_ptr<Jit>> jit =
      Jit::compile(*module, /*optimize=*/elements > 400'000);
  if (failed(jit))
    return failure();
  std::vector<std::vector<char>> data(distinct.size());
  MainRunner(*module, **jit, consumed)
      .run(kernel::mainProgram(*module), bytes, data);
  for (auto [i, result] : llvm::enumerate(distinct)) {
    ElementsAttr value =
        elementsFromBytes(result.type, std::move(data[i]), "folded");
    for (size_t user : result.users)
      results[positions[user]] = value;
  }
  return results;
}

} // namespace ingot
