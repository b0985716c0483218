#include "dialects/kernel/ValueNames.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;

namespace ingot::kernel {

Location unnamed(Location loc) {
  if (auto fused = dyn_cast<FusedLocWith<StringAttr>>(loc))
    return FusedLoc::get(loc.getContext(), fused.getLocations());
  return loc;
}

Location named(Location loc, const Twine &name) {
  return FusedLoc::get(loc.getContext(), {unnamed(loc)},
                       StringAttr::get(loc.getContext(), name));
}

StringRef nameIn(Location loc) {
  auto fused = dyn_cast<FusedLocWith<StringAttr>>(loc);
  return fused ? fused.getMetadata().getValue() : "";
}

StringRef nameOf(Value value) {
  if (Operation *op = value.getDefiningOp(); op && op->getNumResults() != 1)
    return "";
  return nameIn(value.getLoc());
}

Value nameValue(Value value, const Twine &name) {
  if (nameOf(value).empty())
    renameValue(value, name);
  return value;
}

void renameValue(Value value, const Twine &name) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    argument.setLoc(named(argument.getLoc(), name));
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>())
    op->setLoc(named(op->getLoc(), name));
}

void KeepNames::notifyOperationReplaced(Operation *op, ValueRange replacement) {
  for (auto [from, to] : llvm::zip(op->getResults(), replacement))
    if (StringRef name = nameOf(from); !name.empty())
      nameValue(to, name);
}

} // namespace ingot::kernel
