#include "dialects/kernel/Strict.h"

#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace ingot::kernel {

bool isStrict(Operation *op) {
  auto module = op ? op->getParentOfType<ModuleOp>() : ModuleOp();
  return module && module->hasAttr(kStrictAttr);
}

} // namespace ingot::kernel
