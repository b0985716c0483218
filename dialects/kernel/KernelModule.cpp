#include "dialects/kernel/KernelModule.h"

#include "dialects/kernel/HostOps.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace ingot::kernel {

SmallVector<ProgramOp> entryPrograms(ModuleOp module) {
  return llvm::to_vector(llvm::make_filter_range(
      module.getOps<ProgramOp>(),
      [](ProgramOp program) { return program.isPublic(); }));
}

ProgramOp mainProgram(ModuleOp module) {
  SmallVector<ProgramOp> entries = entryPrograms(module);
  return entries.empty() ? ProgramOp() : entries.front();
}

SmallVector<ProgramOp> programsRunBy(Operation *op) {
  SmallVector<FlatSymbolRefAttr> bodies;
  if (auto choice = dyn_cast<IfOp>(op))
    bodies = {choice.getThenBodyAttr(), choice.getElseBodyAttr()};
  else if (auto loop = dyn_cast<LoopOp>(op))
    bodies = {loop.getBodyAttr()};
  SmallVector<ProgramOp> programs;
  for (FlatSymbolRefAttr body : bodies)
    if (auto program =
            SymbolTable::lookupNearestSymbolFrom<ProgramOp>(op, body))
      programs.push_back(program);
  return programs;
}

static void addInOrder(ProgramOp program, llvm::DenseSet<Operation *> &seen,
                       SmallVectorImpl<ProgramOp> &order) {
  if (!seen.insert(program).second)
    return;
  program.walk([&](Operation *op) {
    for (ProgramOp callee : programsRunBy(op))
      addInOrder(callee, seen, order);
  });
  order.push_back(program);
}

SmallVector<ProgramOp> programsInOrder(ModuleOp module) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<ProgramOp> order;
  for (auto program : module.getOps<ProgramOp>())
    addInOrder(program, seen, order);
  return order;
}

SmallVector<ProgramOp> programsInOrder(ProgramOp entry) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<ProgramOp> order;
  addInOrder(entry, seen, order);
  return order;
}

bool decidesOnHost(ProgramOp program) {
  return llvm::any_of(program.getBody().getOps(), [](Operation &op) {
    auto launch = dyn_cast<LaunchOp>(op);
    return isa<IfOp, LoopOp, ReadSizesOp, CheckSizesOp, CopyOp>(op) ||
           (launch && launch.getSecondMemory());
  });
}

Value bufferRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

int64_t sharedBytes(FuncOp kernel) {
  int64_t bytes = 0, coarsest = 1;
  kernel.walk([&](memref::AllocaOp local) {
    MemRefType type = local.getType();
    if (!type.getMemorySpace())
      return;
    int64_t alignment = local.getAlignment().value_or(1);
    coarsest = std::max(coarsest, alignment);
    bytes = llvm::alignTo(bytes, alignment) + spanBytes(type);
  });
  return llvm::alignTo(bytes, coarsest);
}

bool forEachChunk(memref::GlobalOp global,
                  llvm::function_ref<void(ArrayRef<char>)> use) {
  Attribute value = global.getConstantInitValue();
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return false;
    use(blob->getData());
    return true;
  }
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!dense)
    return false;
  // DenseElementsAttr may pack i1 as bits; in memory each element is a byte.
  if (dense.getElementType().isInteger(1)) {
    std::vector<char> bytes;
    for (bool bit : dense.getValues<bool>())
      bytes.push_back(bit);
    use(bytes);
    return true;
  }
  ArrayRef<char> raw = dense.getRawData();
  for (int64_t i = 0, e = dense.isSplat() ? dense.getNumElements() : 1; i < e;
       ++i)
    use(raw);
  return true;
}

} // namespace ingot::kernel
