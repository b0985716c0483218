// Moves operators into a group.

#include "passes/decide/OperatorGroup.h"

#include "mlir/IR/IRMapping.h"
#include "passes/schedule/Strategy.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

static bool isSmallConstant(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  return value && !value.empty() && value.isSplat();
}

Value emptyConstant(OpBuilder &builder, Value like) {
  auto value = DenseElementsAttr::get(tensorType(like), ArrayRef<Attribute>());
  return ConstantOp::create(builder, like.getLoc(), cast<ElementsAttr>(value));
}

GroupOp moveToGroup(ArrayRef<Operation *> ordered,
                    const TargetDescription &target, bool packs,
                    bool savesMemory) {
  Operation *last = ordered.back();
  OpBuilder builder(last);
  llvm::SetVector<Value> inputs;
  llvm::SetVector<Operation *> inside(ordered.begin(), ordered.end());
  llvm::SetVector<Operation *> constants;
  llvm::SetVector<Value> empty;
  SmallVector<Location> locations;
  for (Operation *op : ordered) {
    locations.push_back(op->getLoc());
    // Weights that are to be packed become operands of the group. Other
    // constants with equal elements are copied into the group.
    OpOperand *weights =
        packs ? schedule::packableWeights(op, target) : nullptr;
    if (weights)
      inputs.insert(weights->get());
    for (Value operand : op->getOperands()) {
      if (isSmallConstant(operand.getDefiningOp()) &&
          !isa<UnpackPanelsOp, StringsOp>(op) && !inputs.contains(operand))
        constants.insert(operand.getDefiningOp());
      else if (tensorType(operand).getNumElements() == 0 &&
               !hasDynamicSizes(operand.getType()))
        empty.insert(operand);
      else if (!operand.getDefiningOp() ||
               !inside.contains(operand.getDefiningOp()))
        inputs.insert(operand);
    }
  }
  auto group = GroupOp::create(builder, builder.getFusedLoc(locations),
                               last->getResultTypes(), inputs.getArrayRef(),
                               builder.getStringAttr(""), DenseI64ArrayAttr(),
                               ArrayAttr(), DictionaryAttr());
  Block *body = builder.createBlock(&group.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *constant : constants)
    if (!inputs.contains(constant->getResult(0)))
      builder.clone(*constant, mapping);
  for (Value operand : empty)
    mapping.map(operand, emptyConstant(builder, operand));
  for (Operation *op : ordered)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value result : last->getResults())
    yielded.push_back(mapping.lookup(result));
  YieldOp::create(builder, last->getLoc(), yielded);
  schedule::decideStrategy(group, target, packs, savesMemory);
  last->replaceAllUsesWith(group);
  for (Operation *op : llvm::reverse(ordered))
    op->erase();
  return group;
}

} // namespace ingot::decide
