// Verifier of copies between device and host.

#include "dialects/kernel/HostOps.h"

#include "dialects/kernel/KernelModule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace ingot::kernel;

bool ingot::kernel::isInSecondMemory(Value buffer) {
  auto arena = bufferRoot(buffer).getDefiningOp<ArenaOp>();
  return arena && arena.getSecondMemory();
}

LogicalResult CopyOp::verify() {
  Type to = getTo()       ? getTo().getType()
            : getResult() ? getResult().getType()
                          : Type();
  if (isa<MemRefType>(getFrom().getType()) != bool(getTo()) ||
      bool(getTo()) == bool(getResult()) || to != getFrom().getType())
    return emitOpError(
        "needs one tensor or buffer of the same type to copy to");
  if (getElements() && (!getTo() || dimsOf(*getElements()).size() != 1))
    return emitOpError("of a buffer copies one number of elements");
  if (getTo() && (isInSecondMemory(getTo()) != getSecondMemory() ||
                  isInSecondMemory(getFrom()) == getSecondMemory()))
    return emitOpError(
        "must have 'second_memory' exactly if it copies to second memory");
  return success();
}

#define GET_OP_CLASSES
#include "dialects/kernel/HostOps.cpp.inc"
