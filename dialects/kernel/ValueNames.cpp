#include "dialects/kernel/ValueNames.h"

#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

/// Calls `visit` with each operation (other than a function) whose regions have
/// arguments, and with these arguments. Printed IR does not contain the
/// locations of such arguments.
static void
forLoops(Operation *root,
         llvm::function_ref<void(Operation *, ArrayRef<BlockArgument>)> visit) {
  root->walk([&](Operation *op) {
    SmallVector<BlockArgument> arguments;
    if (isa<FunctionOpInterface>(op))
      return;
    for (Region &region : op->getRegions())
      llvm::append_range(arguments, region.getArguments());
    if (!arguments.empty())
      visit(op, arguments);
  });
}

void spellArgumentNames(Operation *root) {
  forLoops(root, [](Operation *op, ArrayRef<BlockArgument> arguments) {
    SmallVector<StringRef> names;
    for (BlockArgument argument : arguments)
      names.push_back(nameIn(argument.getLoc()));
    if (llvm::any_of(names, [](StringRef name) { return !name.empty(); }))
      op->setAttr(kNamesAttr, Builder(op->getContext()).getStrArrayAttr(names));
  });
}

void readArgumentNames(Operation *root) {
  forLoops(root, [](Operation *op, ArrayRef<BlockArgument> arguments) {
    auto names = dyn_cast_or_null<ArrayAttr>(op->removeAttr(kNamesAttr));
    if (!names)
      return;
    for (auto [argument, name] : llvm::zip(arguments, names))
      if (auto text = dyn_cast<StringAttr>(name); text && !text.empty())
        renameValue(argument, text.getValue());
  });
}

void KeepNames::notifyOperationReplaced(Operation *op, ValueRange replacement) {
  for (auto [from, to] : llvm::zip(op->getResults(), replacement))
    if (StringRef name = nameOf(from); !name.empty())
      nameValue(to, name);
}

} // namespace ingot::kernel
