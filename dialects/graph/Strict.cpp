#include "dialects/graph/Strict.h"

#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace ingot::graph {

bool isStrict(const ElementBuilder &b) {
  Operation *parent = b.builder.getInsertionBlock()->getParentOp();
  auto module = parent ? parent->getParentOfType<ModuleOp>() : ModuleOp();
  return module && module->hasAttr(kernel::kStrictAttr);
}

} // namespace ingot::graph
