// Verifiers of kernel.if and kernel.loop, which run other programs: their
// bodies.
//
// Like launches, these operations are checked in both forms that they have in
// the pipeline: on tensors, and on buffers, where the results of a program have
// become arguments.

#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ingot::kernel;

/// Whether `a` and `b` are both tensors or both buffers, and have the same
/// shape and elements of equal size in bytes. The element types are not
/// compared, since signedness is lost in lowering.
static bool isSameData(Type a, Type b) {
  auto x = dyn_cast<ShapedType>(a), y = dyn_cast<ShapedType>(b);
  return x && y && x.getShape() == y.getShape() &&
         isa<MemRefType>(a) == isa<MemRefType>(b) &&
         elementBytes(x.getElementType()) == elementBytes(y.getElementType());
}

/// Checks that `body` names a private kernel.program with these argument and
/// result types. Once it works on buffers, its results are its trailing
/// arguments.
static LogicalResult checkProgram(Operation *op, FlatSymbolRefAttr body,
                                  ArrayRef<Type> arguments,
                                  ArrayRef<Type> results,
                                  SymbolTableCollection &symbols) {
  auto program = symbols.lookupNearestSymbolFrom<ProgramOp>(op, body);
  if (!program || program.isPublic())
    return op->emitOpError()
           << "runs '" << body.getValue() << "', which is no private program";
  SmallVector<Type> given(arguments), declared(program.getArgumentTypes());
  llvm::append_range(given, results);
  llvm::append_range(declared, program.getResultTypes());
  if (given.size() != declared.size())
    return op->emitOpError()
           << "passes " << given.size() << " operands and results to '"
           << body.getValue() << "', which declares " << declared.size();
  for (auto [i, types] : llvm::enumerate(llvm::zip(given, declared)))
    if (!isSameData(std::get<0>(types), std::get<1>(types)))
      return op->emitOpError()
             << "passes " << std::get<0>(types) << " as value " << i << " of '"
             << body.getValue() << "', which declares " << std::get<1>(types);
  return success();
}

/// Returns the bytes that the frame of `op` must have. The frame is the part of
/// the caller's arena (the buffer for intermediate tensors) that the bodies of
/// `op` use as their arena, so it must be as large as the largest of these.
static int64_t frameBytes(Operation *op, ArrayRef<FlatSymbolRefAttr> bodies,
                          SymbolTableCollection &symbols) {
  int64_t bytes = 0;
  for (FlatSymbolRefAttr body : bodies)
    if (auto program = symbols.lookupNearestSymbolFrom<ProgramOp>(op, body))
      bytes = std::max<int64_t>(bytes, program.getArenaBytes().value_or(0));
  return bytes;
}

/// Checks that one output follows the first `count` outputs: a frame (the part
/// of the arena that the bodies use) of at least `bytes` bytes. If `bytes` is
/// 0, checks that no output follows.
static LogicalResult checkFrame(Operation *op, ValueRange outputs, size_t count,
                                int64_t bytes) {
  bool holds = outputs.size() == count + (bytes > 0);
  if (holds && bytes > 0)
    holds = spanBytes(cast<MemRefType>(outputs.back().getType())) >= bytes;
  return holds ? success()
               : op->emitOpError() << "has no frame of " << bytes
                                   << " bytes as the last of its outputs";
}

static bool isOnBuffers(Operation *op) {
  return isa<MemRefType>(op->getOperand(0).getType());
}

static SmallVector<Type> typesOf(ValueRange values) {
  return llvm::to_vector(values.getTypes());
}

LogicalResult IfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FlatSymbolRefAttr bodies[] = {getThenBodyAttr(), getElseBodyAttr()};
  SmallVector<Type> results = typesOf(getResults());
  if (isOnBuffers(*this)) {
    int64_t frame = frameBytes(*this, bodies, symbols);
    size_t count = getOutputs().size() - (frame > 0);
    if (getOutputs().empty())
      return emitOpError("works on buffers and has no output to write to");
    if (failed(checkFrame(*this, getOutputs(), count, frame)))
      return failure();
    results = typesOf(getOutputs().take_front(count));
  }
  for (FlatSymbolRefAttr body : bodies)
    if (failed(checkProgram(*this, body, typesOf(getCaptures()), results,
                            symbols)))
      return failure();
  return success();
}

/// Returns the type of the slice x[i] of a tensor or buffer. The slice of a
/// tensor has no dynamic sizes.
static Type partOf(Type whole) {
  auto shaped = cast<ShapedType>(whole);
  ArrayRef<int64_t> shape = shaped.getShape().drop_front();
  if (isa<MemRefType>(whole))
    return MemRefType::get(shape, shaped.getElementType());
  return RankedTensorType::get(shape, shaped.getElementType());
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  size_t carried = getCarried().size();
  bool onBuffers = !getOutputs().empty();
  int64_t frame = frameBytes(*this, getBodyAttr(), symbols);
  SmallVector<Type> all =
      typesOf(onBuffers ? ValueRange(getOutputs()) : ValueRange(getResults()));
  // The outputs are the results, a second buffer for each carried tensor
  // (iterations write to its two buffers in turn), and the frame, the part of
  // the arena that the body uses.
  size_t count = all.size();
  if (onBuffers) {
    if (all.size() < 2 * carried + (frame > 0) ||
        failed(
            checkFrame(*this, getOutputs(), all.size() - (frame > 0), frame)))
      return emitOpError("lacks buffers for what it carries");
    count -= carried + (frame > 0);
  }
  if (count < carried)
    return emitOpError("has fewer results than it carries");
  if (getElements() && getElements()->getSizes().size() != carried)
    return emitOpError("says how many elements other tensors have");
  Builder b(getContext());
  auto number = [&](Type element) -> Type {
    if (onBuffers)
      return MemRefType::get({}, element);
    return RankedTensorType::get({}, element);
  };
  SmallVector<Type> arguments, results;
  if (getCounted())
    arguments.push_back(number(b.getI64Type()));
  if (getConditional())
    results.push_back(number(b.getI1Type()));
  llvm::append_range(arguments, getCarried().getTypes());
  llvm::append_range(results, ArrayRef(all).take_front(carried));
  for (Type whole : getSliced().getTypes())
    arguments.push_back(partOf(whole));
  for (Type whole : ArrayRef(all).take_front(count).drop_front(carried))
    results.push_back(partOf(whole));
  llvm::append_range(arguments, getShared().getTypes());
  return checkProgram(*this, getBodyAttr(), arguments, results, symbols);
}

/// Adds the effects of an operation on buffers. An operation on tensors has no
/// effects, so it may be erased if its results are unused, and merged with an
/// equal operation.
static void
addEffects(Operation *op,
           SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
               &effects) {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType())) {
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
}

void IfOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addEffects(*this, effects);
}

void LoopOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addEffects(*this, effects);
}
