// Verifiers of the kernel dialect.
//
// A launch is checked against its callee in every state of the pipeline: both
// on tensors, the callee scheduled (memrefs) and the launch not yet planned, or
// both on memrefs. Operands followed by results must match the arguments
// (followed by results) in shape and element width; signedness is lost when a
// kernel leaves the graph level.

#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::kernel;

#include "dialects/kernel/KernelDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/kernel/KernelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
}

void ingot::kernel::registerKernelDialect(DialectRegistry &registry) {
  registry.insert<KernelDialect>();
}

int64_t ingot::kernel::elementBytes(Type elementType) {
  if (elementType.isIndex())
    return 8;
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * elementBytes(complex.getElementType());
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

int64_t ingot::kernel::spanBytes(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (type.getNumElements() == 0 ||
      failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  int64_t last = offset;
  for (auto [stride, size] : llvm::zip_equal(strides, type.getShape()))
    last += stride * (size - 1);
  return (last + 1) * elementBytes(type.getElementType());
}

std::optional<int64_t>
ingot::kernel::parallelExtent(FunctionOpInterface kernel) {
  if (auto extent = kernel->getAttrOfType<IntegerAttr>(kExtentAttr))
    return extent.getInt();
  return std::nullopt;
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  if (attr.getName() != kExtentAttr)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto extent = dyn_cast<IntegerAttr>(attr.getValue());
  if (!function || !extent || extent.getInt() < 0)
    return op->emitOpError() << "attribute '" << kExtentAttr
                             << "' must be a trip count on a function";
  // On tensors the loop does not exist yet, hence neither do its bounds.
  ArrayRef<Type> arguments = function.getArgumentTypes();
  if (llvm::any_of(arguments, llvm::IsaPred<TensorType>))
    return success();
  if (arguments.size() < 2 ||
      !llvm::all_of(arguments.take_back(2), [](Type t) { return t.isIndex(); }))
    return op->emitOpError() << "with '" << kExtentAttr
                             << "' must end in two index arguments, begin and "
                                "end";
  return success();
}

/// Static strides and a non-negative offset: the only layouts C can index.
static LogicalResult verifyLayout(Operation *op, MemRefType type) {
  // Nothing is indexed in an empty one, and its strides are not asked for.
  if (type.getLayout().isIdentity())
    return success();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides))
    return op->emitOpError() << "needs a static strided layout, got " << type;
  return success();
}

LogicalResult ArenaOp::verify() {
  return verifyLayout(*this, cast<MemRefType>(getResult().getType()));
}

LogicalResult ViewOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto result = cast<MemRefType>(getResult().getType());
  if (failed(verifyLayout(*this, source)) ||
      failed(verifyLayout(*this, result)))
    return failure();
  if (static_cast<int64_t>(getOffset()) + spanBytes(result) > spanBytes(source))
    return emitOpError() << "reaches past the end of its source: byte "
                         << getOffset() << " + " << spanBytes(result) << " of "
                         << spanBytes(source);
  return success();
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getOffset() == 0 && getSource().getType() == getResult().getType())
    return getSource();
  auto inner = getSource().getDefiningOp<ViewOp>();
  if (!inner)
    return {};
  // A view of a view: one view of the first buffer.
  getSourceMutable().assign(inner.getSource());
  setOffset(getOffset() + inner.getOffset());
  return getResult();
}

LogicalResult CursorOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  if (static_cast<int64_t>(getIndices().size()) != source.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices into "
                         << source;
  if (static_cast<bool>(getCondition()) != static_cast<bool>(getOtherwise()))
    return emitOpError("needs a condition and a buffer for it, or neither");
  if (getOtherwise() &&
      cast<MemRefType>(getOtherwise().getType()).getElementType() !=
          source.getElementType())
    return emitOpError("points at elements of two types");
  return success();
}

LogicalResult LoadNextOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("loads nothing");
  if ((getNumResults() > 1) != getFirst().has_value())
    return emitOpError("names a register if it loads several, else none");
  if (!llvm::all_equal(getResultTypes()))
    return emitOpError("loads elements of different types");
  return success();
}

LogicalResult LaunchOp::verify() {
  ArrayRef<int64_t> pairs = getInplace().value_or(ArrayRef<int64_t>());
  if (pairs.size() % 2 != 0)
    return emitOpError("'inplace' must be pairs (result, operand)");
  // Once planned, results have become trailing operands.
  int64_t results =
      getResults().empty() ? getOperands().size() : getResults().size();
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] < 0 || pairs[i] >= results || pairs[i + 1] < 0 ||
        pairs[i + 1] >= static_cast<int64_t>(getOperands().size()))
      return emitOpError("'inplace' names a result or operand that is not");
  return success();
}

/// Equal shape and element type, but for signedness and for integers of less
/// than 8 bits, which take a byte each in memory. A buffer without a shape
/// takes any.
static bool sameData(Type launched, Type declared) {
  auto a = dyn_cast<ShapedType>(launched), b = dyn_cast<ShapedType>(declared);
  if (!a || !b)
    return false;
  if (isa<MemRefType>(launched) && isa<MemRefType>(declared) &&
      !b.hasStaticShape())
    return a.getElementType() == b.getElementType();
  if (a.getShape() != b.getShape())
    return false;
  if (isa<MemRefType>(launched) && isa<MemRefType>(declared))
    return launched == declared;
  Type x = a.getElementType(), y = b.getElementType();
  auto stored = [](Type type) {
    unsigned width = type.getIntOrFloatBitWidth();
    return width == 1 ? 1 : std::max(8u, width);
  };
  return x == y ||
         (isa<IntegerType>(x) && isa<IntegerType>(y) && stored(x) == stored(y));
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "launches '" << getCallee()
                         << "', which is no function";
  SmallVector<Type> declared(callee.getArgumentTypes());
  if (parallelExtent(callee) && declared.size() >= 2 &&
      declared.back().isIndex())
    declared.pop_back_n(2);
  size_t values = getValues().value_or(ArrayRef<int64_t>()).size(),
         integers = 0;
  while (!declared.empty() && declared.back().isIndex()) {
    declared.pop_back();
    ++integers;
  }
  if (values != integers)
    return emitOpError() << "passes " << values << " integers to '"
                         << getCallee() << "', which takes " << integers;
  llvm::append_range(declared, callee.getResultTypes());

  SmallVector<Type> launched(getOperands().getTypes());
  llvm::append_range(launched, getResults().getTypes());
  if (launched.size() != declared.size())
    return emitOpError() << "passes " << launched.size() << " buffers to '"
                         << getCallee() << "', which takes " << declared.size();
  for (auto [index, pair] : llvm::enumerate(llvm::zip(launched, declared)))
    if (!sameData(std::get<0>(pair), std::get<1>(pair)))
      return emitOpError() << "buffer " << index << " of '" << getCallee()
                           << "' is " << std::get<1>(pair) << ", not "
                           << std::get<0>(pair);
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // On tensors a launch is a value: unused ones may go, equal ones may merge.
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (isa<MemRefType>(operand.get().getType())) {
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
}

LogicalResult RequireEqualOp::verify() {
  auto input = cast<MemRefType>(getInput().getType());
  auto expected = getExpected().getShapedType();
  if (input.getShape() != expected.getShape() ||
      !input.getElementType().isIntOrFloat() ||
      input.getElementType() != expected.getElementType())
    return emitOpError() << "compares " << input << " with " << expected;
  return success();
}
