// Operators that call functions of the module. The types of the operands and
// results of an operator determine those of the functions that it calls.

#include "dialects/graph/GraphDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ingot::graph;

/// Checks that `body` is the name of a private function with these argument and
/// result types.
static LogicalResult checkBody(Operation *op, FlatSymbolRefAttr body,
                               TypeRange arguments, TypeRange results,
                               SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, body);
  if (!function || function.isPublic())
    return op->emitOpError()
           << "runs '" << body.getValue() << "', which is no private function";
  auto type = FunctionType::get(op->getContext(), arguments, results);
  if (function.getFunctionType() != type)
    return op->emitOpError() << "runs '" << body.getValue() << "' as " << type
                             << ", which is " << function.getFunctionType();
  return success();
}

LogicalResult IfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (tensorType(getCondition()).getNumElements() != 1)
    return emitOpError("has a condition of several elements");
  for (FlatSymbolRefAttr body : {getThenBodyAttr(), getElseBodyAttr()})
    if (failed(checkBody(*this, body, getCaptures().getTypes(),
                         getOutputs().getTypes(), symbols)))
      return failure();
  return success();
}

LogicalResult LoopOp::verify() {
  size_t carried = getCarried().size();
  if (getOutputs().size() < carried ||
      getOutputs().take_front(carried).getTypes() != getCarried().getTypes())
    return emitOpError("does not begin its results with what it carries");
  bool isOpen = getLimit() || getCondition() || getConditional();
  bool hasParts = !getSliced().empty() || !getStacked().empty();
  if (hasParts && !getCount())
    return emitOpError("slices or stacks tensors, and has no count");
  if (!isOpen && !getCount())
    return emitOpError("has no end");
  if (getCount() && getCountAttr().getSizes().size() != 1)
    return emitOpError("has several counts");
  for (Value value : {getLimit(), getCondition()})
    if (value && tensorType(value).getNumElements() != 1)
      return emitOpError("has a limit or a condition of several elements");
  for (Value whole : llvm::concat<Value>(getSliced(), getStacked()))
    if (dimsOf(whole).empty() ||
        mayDiffer(dimsOf(whole).front(), dimsOf(getCountAttr()).front()))
      return emitOpError() << "takes parts of " << whole.getType()
                           << ", which is not as long as the loop";
  if (auto reversed = getReversed();
      reversed && reversed->size() != getSliced().size() + getStacked().size())
    return emitOpError("does not say of each sliced and each stacked tensor "
                       "whether it is reversed");
  return success();
}

/// Returns the type of the slice x[i] of a tensor.
static Type partOf(Value whole) {
  Dims sizes = dimsOf(whole);
  return tensorOf(ArrayRef(sizes).drop_front(), elementOf(whole));
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MLIRContext *context = getContext();
  SmallVector<Type> arguments, results;
  if (getCounted())
    arguments.push_back(RankedTensorType::get(
        {}, IntegerType::get(context, 64, IntegerType::Signed)));
  if (getConditional())
    results.push_back(RankedTensorType::get({}, IntegerType::get(context, 1)));
  llvm::append_range(arguments, getCarried().getTypes());
  llvm::append_range(results, getCarried().getTypes());
  llvm::append_range(arguments, llvm::map_range(getSliced(), partOf));
  llvm::append_range(results, llvm::map_range(getStacked(), partOf));
  llvm::append_range(arguments, getShared().getTypes());
  return checkBody(*this, getBodyAttr(), arguments, results, symbols);
}
