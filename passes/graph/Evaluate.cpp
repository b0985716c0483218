//===- Evaluate.cpp -------------------------------------------------------===//

#include "passes/graph/Evaluate.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/Jit.h"
#include "mlir/IR/DialectResourceBlobManager.h"
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
    if (!op || !isPure(op))
      return false;
    if (seen.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// The operators that `values` depend on, operands first.
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

/// Runs the launches of a planned @main.
class MainRunner {
public:
  MainRunner(ModuleOp module, Jit &jit) : module(module), jit(jit) {}

  void run(func::FuncOp main, ArrayRef<char *> arguments) {
    for (auto [argument, pointer] : llvm::zip(main.getArguments(), arguments))
      pointers[argument] = pointer;
    constexpr size_t align = 64;
    size_t bytes = module->getAttrOfType<IntegerAttr>("ingot.arena_bytes").getInt();
    std::vector<char> arena(bytes + align);
    char *base = arena.data() + (align - reinterpret_cast<uintptr_t>(arena.data()) % align);
    for (Operation &op : main.getBody().front()) {
      if (auto place = dyn_cast<kernel::ArenaOp>(op))
        pointers[place.getResult()] = base + place.getOffset();
      else if (auto view = dyn_cast<kernel::ViewOp>(op))
        pointers[view.getResult()] = pointers.lookup(view.getSource()) + view.getOffset();
      else if (auto get = dyn_cast<memref::GetGlobalOp>(op))
        pointers[get.getResult()] = dataOf(get);
      else if (auto launch = dyn_cast<kernel::LaunchOp>(op))
        run(launch);
    }
  }

private:
  char *dataOf(memref::GetGlobalOp get) {
    auto global = module.lookupSymbol<memref::GlobalOp>(get.getName());
    storage.emplace_back();
    ArrayRef<char> bytes = elementBytes(cast<ElementsAttr>(*global.getInitialValue()), storage.back());
    return const_cast<char *>(bytes.data());
  }

  void run(kernel::LaunchOp launch) {
    auto callee = module.lookupSymbol<func::FuncOp>(launch.getCallee());
    SmallVector<char *> buffers;
    for (Value operand : launch.getOperands())
      buffers.push_back(pointers.lookup(operand));
    int64_t begin = 0, end = 0;
    SmallVector<void *> arguments;
    for (char *&buffer : buffers)
      arguments.push_back(&buffer);
    if (auto extent = callee->getAttrOfType<IntegerAttr>("kernel.extent")) {
      end = extent.getInt();
      arguments.push_back(&begin);
      arguments.push_back(&end);
    }
    jit.call(callee.getName(), arguments);
  }

  ModuleOp module;
  Jit &jit;
  llvm::DenseMap<Value, char *> pointers;
  std::list<std::vector<char>> storage;
};

FailureOr<SmallVector<ElementsAttr>> evaluate(ArrayRef<Value> values) {
  SmallVector<ElementsAttr> results(values.size());
  // Constants under another shape need no code.
  SmallVector<Value> wanted;
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
        results[i] = DenseResourceElementsAttr::get(type, cast<DenseResourceElementsAttr>(constant.getValue()).getRawHandle());
      continue;
    }
    wanted.push_back(value);
    positions.push_back(i);
  }
  if (wanted.empty())
    return results;

  MLIRContext *context = wanted[0].getContext();
  Location loc = wanted[0].getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Type> types;
  for (Value value : wanted)
    types.push_back(value.getType());
  auto main = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, types));
  builder.setInsertionPointToStart(main.addEntryBlock());
  IRMapping mapping;
  for (Operation *op : coneOf(wanted))
    builder.clone(*op, mapping);
  SmallVector<Value> returned;
  for (Value value : wanted)
    returned.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, loc, returned);
  assert(lowering && "the pipeline sets the lowering");
  if (failed(lowering(*module)))
    return failure();

  int64_t elements = 0;
  for (Value value : wanted)
    elements += tensorType(value).getNumElements();
  FailureOr<std::unique_ptr<Jit>> jit = Jit::compile(*module, /*optimize=*/elements > 100'000);
  if (failed(jit))
    return failure();
  std::vector<std::vector<char>> data;
  SmallVector<char *> pointers;
  for (Value value : wanted)
    data.emplace_back(std::max<int64_t>(1, tensorType(value).getNumElements() * bytesPerElement(elementOf(value))));
  for (auto &bytes : data)
    pointers.push_back(bytes.data());
  MainRunner(*module, **jit).run(module->lookupSymbol<func::FuncOp>("main"), pointers);
  for (auto [i, value] : llvm::enumerate(wanted)) {
    data[i].resize(tensorType(value).getNumElements() * bytesPerElement(elementOf(value)));
    results[positions[i]] = elementsFromBytes(tensorType(value), std::move(data[i]), "folded");
  }
  (void)context;
  return results;
}

} // namespace ingot
