// Finds where the control flow of kernels depends on the data of a run.
//
// A value depends on data if it is loaded from a buffer that holds data, or
// computed from such values, or selected by a condition that depends on data. A
// buffer of a kernel holds data unless all calls of the kernel pass a constant
// of the model for it, or the kernel itself has filled it with values that do
// not depend on data.

#include "compiler/evidence/DataFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ingot {

/// Returns the buffer that `value`, an operand of a kernel call, is a view of.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<kernel::ViewOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

DataFlow::DataFlow(ModuleOp module) : module(module), symbols(module) {
  // A buffer that a kernel receives holds data, unless every call of the kernel
  // passes a constant.
  module.walk([&](kernel::LaunchOp launch) {
    auto callee = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    for (auto [operand, argument] :
         llvm::zip(launch.getOperands(), callee.getArguments()))
      if (isa<MemRefType>(argument.getType()) &&
          !rootOf(operand).getDefiningOp<memref::GetGlobalOp>())
        mark(argument);
  });
  module.walk([&](kernel::ProgramOp program) {
    for (BlockArgument argument : program.getArguments())
      mark(argument);
    program.walk([&](kernel::ArenaOp buffer) { mark(buffer); });
  });
  bool isNew = true;
  while (isNew) {
    isNew = false;
    for (auto function : module.getOps<FunctionOpInterface>())
      if (!function.isExternal())
        while (spread(function))
          isNew = true;
  }
}

bool DataFlow::holdsData(Value memref) const {
  Value root = kernel::bufferRoot(memref);
  return depends(root) || depends(memref);
}

/// Whether data decide if `op` is executed.
bool DataFlow::isConditional(Operation *op) const {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(parent);
        branch && depends(branch.getCondition()))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && depends(loop.getInductionVar()))
      return true;
    if (auto loop = dyn_cast<scf::WhileOp>(parent);
        loop && depends(loop.getConditionOp().getCondition()))
      return true;
  }
  return false;
}

bool DataFlow::spread(FunctionOpInterface function) {
  bool isNew = false;
  auto markAll = [&](ValueRange values) {
    for (Value value : values)
      isNew |= mark(value);
  };
  auto pass = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      if (depends(source))
        isNew |= mark(target);
  };
  function->walk([&](Operation *op) {
    auto isData = [&](Value operand) {
      return isa<MemRefType>(operand.getType()) ? holdsData(operand)
                                                : depends(operand);
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      pass(loop.getInitArgs(), loop.getRegionIterArgs());
      pass(loop.getYieldedValues(), loop.getRegionIterArgs());
      pass(loop.getRegionIterArgs(), loop.getResults());
      if (depends(loop.getLowerBound()) || depends(loop.getUpperBound()) ||
          depends(loop.getStep())) {
        isNew |= mark(loop.getInductionVar());
        markAll(loop.getResults());
      }
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      pass(loop.getInits(), loop.getBeforeArguments());
      pass(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
      pass(loop.getConditionOp().getArgs(), loop.getAfterArguments());
      pass(loop.getConditionOp().getArgs(), loop.getResults());
      if (depends(loop.getConditionOp().getCondition()))
        markAll(loop.getResults());
      return;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (depends(branch.getCondition()))
        markAll(branch.getResults());
      if (branch.getNumResults()) {
        pass(branch.thenYield().getOperands(), branch.getResults());
        pass(branch.elseYield().getOperands(), branch.getResults());
      }
      return;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        return markAll(call.getResults());
      for (auto [operand, argument] :
           llvm::zip(call.getOperands(), callee.getArguments()))
        if (isData(operand))
          isNew |= mark(argument);
      callee.walk([&](func::ReturnOp end) {
        pass(end.getOperands(), call.getResults());
      });
      return;
    }
    if (op->getNumRegions() > 0 || isa<memref::GetGlobalOp>(op))
      return;
    if (llvm::any_of(op->getOperands(), isData) || isConditional(op)) {
      markAll(op->getResults());
      // A buffer that `op` writes holds data if `op` reads data or is executed
      // conditionally.
      if (!isMemoryEffectFree(op) && !isa<memref::LoadOp>(op))
        for (Value operand : op->getOperands())
          if (isa<MemRefType>(operand.getType()) &&
              hasEffect<MemoryEffects::Write>(op, operand))
            isNew |= mark(kernel::bufferRoot(operand));
    }
  });
  return isNew;
}

std::vector<DataFlow::Place> DataFlow::placesIn(Operation *function) const {
  std::vector<Place> places;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto add = [&](Effect effect, bool is) {
      if (is)
        places.push_back({effect, op});
    };
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return add(Effect::Branch, depends(branch.getCondition()));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return add(Effect::Loop, depends(loop.getLowerBound()) ||
                                   depends(loop.getUpperBound()) ||
                                   depends(loop.getStep()));
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return add(Effect::Loop, depends(loop.getConditionOp().getCondition()));
    if (isa<kernel::IfOp>(op))
      return add(Effect::Branch, true);
    if (auto loop = dyn_cast<kernel::LoopOp>(op))
      return add(Effect::Loop, loop.getLimit() || loop.getCondition() ||
                                   loop.getConditional());
    if (isa<kernel::CallExternalOp>(op))
      return add(Effect::Call, true);
    if (auto choice = dyn_cast<arith::SelectOp>(op))
      return add(Effect::Choice, depends(choice.getCondition()));
    if (isa<arith::AndIOp, arith::OrIOp>(op))
      return add(Effect::Choice, op->getResult(0).getType().isInteger(1) &&
                                     depends(op->getResult(0)));
    if (isa<memref::LoadOp, memref::StoreOp>(op)) {
      ValueRange indices = isa<memref::LoadOp>(op)
                               ? ValueRange(op->getOperands().drop_front(1))
                               : ValueRange(op->getOperands().drop_front(2));
      return add(Effect::Address, llvm::any_of(indices, [&](Value index) {
                   return depends(index);
                 }));
    }
    // Other operations that access memory, such as vector loads: each index
    // among their operands is part of an address.
    if (llvm::any_of(op->getOperandTypes(),
                     [](Type type) { return isa<MemRefType>(type); }) &&
        !isa<kernel::LaunchOp>(op))
      add(Effect::Address, llvm::any_of(op->getOperands(), [&](Value operand) {
            return operand.getType().isIndex() && depends(operand);
          }));
  });
  return places;
}

StringRef DataFlow::nameOf(Effect effect) {
  switch (effect) {
  case Effect::Branch:
    return "branch";
  case Effect::Loop:
    return "loop";
  case Effect::Choice:
    return "choice";
  case Effect::Address:
    return "address";
  case Effect::Call:
    return "call";
  }
  llvm_unreachable("all effects are named");
}

} // namespace ingot
