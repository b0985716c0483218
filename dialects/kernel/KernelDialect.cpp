// Verifiers of the kernel dialect.
//
// A launch is checked against its callee in every stage of the pipeline. First,
// launch and callee work on tensors. Then loops have been built in the callee,
// which works on memrefs, but the launch still works on tensors. Finally,
// launch and callee work on memrefs. The operands of the launch, followed by
// its results, must match the callee's arguments (and results) in shape and
// element width. Signedness is not compared, since it is lost when a kernel is
// lowered from the graph dialect.

#include "dialects/kernel/KernelDialect.h"

#include "dialects/kernel/HostOps.h"
#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/TileRegisters.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::kernel;
using ingot::elementOf;
using ingot::laneCount;

#include "dialects/kernel/KernelDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

void KernelDialect::initialize() {
  addSizes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/kernel/KernelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/TileRegisterOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/HostOps.cpp.inc"
      >();
}

std::optional<Dim> ingot::kernel::extentOf(FuncOp kernel) {
  std::optional<Attribute> extent = kernel.getExtent();
  if (!extent)
    return std::nullopt;
  if (auto number = dyn_cast<IntegerAttr>(*extent))
    return Dim(number.getInt());
  return dimsOf(cast<SizesAttr>(*extent)).front();
}

unsigned ingot::kernel::partArguments(FuncOp kernel) {
  return kernel.getExtent() && !kernel.getThreads() ? 2 : 0;
}

bool ingot::kernel::sharesSteps(FuncOp kernel) {
  return kernel.walk([](ParallelOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

bool ingot::kernel::usesThreads(FuncOp kernel) {
  return extentOf(kernel).value_or(1).most() > 1 || sharesSteps(kernel);
}

void ingot::kernel::setExtent(FuncOp kernel, const Dim &extent) {
  Builder builder(kernel.getContext());
  if (auto known = extent.known())
    kernel.setExtentAttr(builder.getIndexAttr(*known));
  else
    kernel.setExtentAttr(sizesAttr(extent, kernel.getContext()));
}

int64_t ingot::kernel::elementBytes(Type elementType) {
  if (elementType.isIndex() || isa<StringType>(elementType))
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

template <typename Op>
static void buildFunction(OpBuilder &builder, OperationState &state,
                          StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(Op::getFunctionTypeAttrName(state.name),
                     TypeAttr::get(type));
  state.addRegion();
}

template <typename Op>
static ParseResult parseFunction(OpAsmParser &parser, OperationState &result) {
  auto type = [](Builder &builder, ArrayRef<Type> arguments,
                 ArrayRef<Type> results, function_interface_impl::VariadicFlag,
                 std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  SMLoc begin = parser.getCurrentLocation();
  if (function_interface_impl::parseFunctionOp(
          parser, result, /*allowVariadic=*/false,
          Op::getFunctionTypeAttrName(result.name), type,
          Op::getArgAttrsAttrName(result.name),
          Op::getResAttrsAttrName(result.name)))
    return failure();
  // Rejects an attribute of a wrong type, which would otherwise be dropped
  // silently.
  return Op::verifyInherentAttrs(result.name, result.attributes, [&] {
    return parser.emitError(begin) << "'" << result.name << "' op ";
  });
}

template <typename Op> static void printFunction(OpAsmPrinter &printer, Op op) {
  function_interface_impl::printFunctionOp(
      printer, op, /*isVariadic=*/false, op.getFunctionTypeAttrName(),
      op.getArgAttrsAttrName(), op.getResAttrsAttrName());
}

/// Whether a function still computes on tensors.
static bool isOnTensors(FunctionOpInterface function) {
  return llvm::any_of(llvm::concat<const Type>(function.getArgumentTypes(),
                                               function.getResultTypes()),
                      llvm::IsaPred<TensorType>);
}

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   FunctionType type) {
  buildFunction<FuncOp>(builder, state, name, type);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<FuncOp>(parser, result);
}

void FuncOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

LogicalResult FuncOp::verify() {
  ArrayRef<Type> arguments = getArgumentTypes();
  if (isOnTensors(*this)) {
    if (!llvm::all_of(arguments, llvm::IsaPred<RankedTensorType>))
      return emitOpError("mixes tensors and buffers");
    // The stage `schedule`, which builds the loops of a kernel, also sets its
    // extent (number of iterations that run in parallel) and its number of GPU
    // threads.
    if (getExtent() || getThreads())
      return emitOpError("has an extent or threads before it has loops");
    if (auto strides = getInputStrides();
        strides && strides->size() != arguments.size())
      return emitOpError() << "has " << strides->size()
                           << " 'input_strides' for " << arguments.size()
                           << " arguments";
    return success();
  }
  if (!getResultTypes().empty())
    return emitOpError("returns values, but works on buffers");
  if (getPlan())
    return emitOpError("works on buffers, so its loops are built already, and "
                       "must have no 'plan' for them");
  if (getInputStrides() || getOutputStrides())
    return emitOpError("has strides that its buffers' types should have");
  for (Type type : arguments)
    if (!isa<MemRefType>(type) && !type.isIndex())
      return emitOpError() << "takes " << type
                           << ", which is neither a buffer nor an integer";
  auto endsInIntegers = [&](size_t count) {
    return arguments.size() >= count &&
           llvm::all_of(arguments.take_back(count),
                        [](Type type) { return type.isIndex(); });
  };
  if (getThreads() && !getExtent())
    return emitOpError("has threads, but no extent that says how many blocks");
  unsigned part = partArguments(*this);
  if (part && !endsInIntegers(part))
    return emitOpError("with an extent must end in two index arguments, begin "
                       "and end");
  arguments = arguments.drop_back(part);
  if (auto extent = dyn_cast_or_null<SizesAttr>(getExtentAttr());
      extent && extent.getSizes().size() != 1)
    return emitOpError("has an extent of several sizes");
  if (getSizes() && !endsInIntegers(getSizes()->getSizes().size()))
    return emitOpError("needs an index argument for each of its sizes");
  return success();
}

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      FunctionType type) {
  buildFunction<ProgramOp>(builder, state, name, type);
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<ProgramOp>(parser, result);
}

void ProgramOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

LogicalResult ProgramOp::verify() {
  if (isExternal())
    return success();
  if (failed(verifyForks(*this)) || failed(verifyTeams(*this)))
    return failure();
  if (isOnTensors(*this))
    return success();
  if (!getResultTypes().empty() ||
      !llvm::all_of(getArgumentTypes(), llvm::IsaPred<MemRefType>))
    return emitOpError("on buffers takes all of them as arguments");
  for (Operation &op : getBody().front())
    if (!isa<ArenaOp, ViewOp, LaunchOp, CopyOp, IfOp, LoopOp, ReadSizesOp,
             CheckSizesOp, RequireEqualOp, PrefetchOp, memref::GetGlobalOp,
             ReturnOp>(op))
      return op.emitOpError("is not of the kernel level; a program only "
                            "launches kernels and runs programs");
  return success();
}

LogicalResult ReadSizesOp::verify() {
  auto type = cast<ShapedType>(getCounts().getType());
  if (type.getElementTypeBitWidth() != 64)
    return emitOpError("reads other integers than those of 64 bits");
  return verifyReadSizes(*this, type.getNumElements(), getSizes());
}

LogicalResult CheckSizesOp::verify() { return verifyPairs(*this, getPairs()); }

LogicalResult ParallelOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 2 ||
      !llvm::all_of(body.getArgumentTypes(),
                    [](Type type) { return type.isIndex(); }))
    return emitOpError("needs a body that takes two integers, begin and end");
  if ((*this)->getParentOfType<ParallelOp>())
    return emitOpError("is inside of another one");
  if (auto kernel = (*this)->getParentOfType<FuncOp>();
      kernel && (kernel.getExtent() || kernel.getThreads()))
    return emitOpError("is in a kernel that threads share as a whole");
  // A buffer that is allocated on the stack outside of the parallel step is
  // rejected, since each thread would have its own copy of it.
  auto usesLocal = [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      auto local = operand.getDefiningOp<memref::AllocaOp>();
      return local && !(*this)->isProperAncestor(local);
    });
  };
  if (getBody()
          .walk([&](Operation *op) {
            return usesLocal(op) ? WalkResult::interrupt()
                                 : WalkResult::advance();
          })
          .wasInterrupted())
    return emitOpError("uses memory of the stack from outside of it");
  return success();
}

LogicalResult ReturnOp::verify() {
  if (isa<ParallelOp>((*this)->getParentOp()))
    return getOperands().empty()
               ? success()
               : emitOpError("returns values from a part of a step");
  auto function = cast<FunctionOpInterface>((*this)->getParentOp());
  if (!llvm::equal(function.getResultTypes(), getOperandTypes()))
    return emitOpError() << "returns other types than '" << function.getName()
                         << "' declares";
  return success();
}

/// Checks that the strides and the offset are static. Generated C++ can index
/// no other layouts.
static LogicalResult verifyLayout(Operation *op, MemRefType type) {
  // An identity layout is valid. Empty buffers, which are never indexed, have
  // such a layout, too.
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
  // Folds a view of a view into one view of the first buffer.
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
  bool isOfVectors = isa<VectorType>(getResult(0).getType());
  if ((getNumResults() > 1 && !isOfVectors) != getFirst().has_value())
    return emitOpError("names a register if it loads several, else none");
  if (!llvm::all_equal(getResultTypes()))
    return emitOpError("loads elements of different types");
  return success();
}

LogicalResult LaunchOp::verify() {
  ArrayRef<int64_t> pairs = getInplace().value_or(ArrayRef<int64_t>());
  if (pairs.size() % 2 != 0)
    return emitOpError("'inplace' must be pairs (result, operand)");
  // Once memory is planned, a launch has no results: the buffers for them are
  // its last operands.
  int64_t results =
      getResults().empty() ? getOperands().size() : getResults().size();
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] < 0 || pairs[i] >= results || pairs[i + 1] < 0 ||
        pairs[i + 1] >= static_cast<int64_t>(getOperands().size()))
      return emitOpError("'inplace' names a result or operand that is not");
  if (getFork().has_value() != getBranch().has_value())
    return emitOpError("has one of 'fork' and 'branch' without the other");
  if (getTeam() && getFork())
    return emitOpError("is in a team, of threads of the host, and in a fork, "
                       "of a device");
  if (getAppends() &&
      (getNumResults() != 1 || getOperands().empty() ||
       cast<ShapedType>(getResult(0).getType()).getElementType() !=
           cast<ShapedType>(getOperand(0).getType()).getElementType()))
    return emitOpError("with 'appends' must have one result, and a first "
                       "operand of the same element type");
  for (Value operand : getOperands())
    if (getSecondMemory() && isa<MemRefType>(operand.getType()) &&
        !isInSecondMemory(operand))
      return emitOpError(
          "runs on the host, but has an operand outside of second memory");
  return success();
}

/// Whether a launch may pass a value of type `launched` as an argument or
/// result of type `declared`. Two buffer types must be equal, but a declared
/// buffer of dynamic shape accepts any shape. Other types must have the same
/// shape (two tensors: also the same dynamic sizes) and element type. For
/// these, signedness is ignored, and integers of 2 to 7 bits count as 8-bit
/// integers.
static bool sameData(Type launched, Type declared) {
  auto a = dyn_cast<ShapedType>(launched), b = dyn_cast<ShapedType>(declared);
  if (!a || !b)
    return false;
  if (isa<MemRefType>(launched) && isa<MemRefType>(declared) &&
      !b.hasStaticShape())
    return a.getElementType() == b.getElementType();
  if (a.getShape() != b.getShape() ||
      (isa<TensorType>(launched) && isa<TensorType>(declared) &&
       SizesAttr::of(launched) != SizesAttr::of(declared)))
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
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "launches '" << getCallee()
                         << "', which is no kernel";
  if (getSecondMemory() && callee.getThreads())
    return emitOpError() << "has '" << getCallee()
                         << "' in second memory, where a device has no threads";
  if (getTeam() && (callee.getThreads() || sharesSteps(callee)))
    return emitOpError() << "has '" << getCallee()
                         << "' in a team, whose threads it divides by itself";
  SmallVector<Type> declared(callee.getArgumentTypes());
  declared.pop_back_n(partArguments(callee));
  if (auto sizes = callee.getSizes())
    declared.pop_back_n(sizes->getSizes().size());
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
  // A launch on tensors has no effects, so it may be erased if its results are
  // unused, and merged with an equal launch.
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (isa<MemRefType>(operand.get().getType())) {
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
}

LogicalResult CallExternalOp::verify() {
  size_t buffers = getInputs().size() + getOutputs().size(),
         parameters = buffers + getSizes().size() + getConstants().size();
  if (getNames().size() != parameters)
    return emitOpError("has ")
           << getNames().size() << " names for " << parameters << " parameters";
  if (getElements().size() != buffers)
    return emitOpError("has ") << getElements().size() << " element types for "
                               << buffers << " buffers";
  for (Value buffer : getOperands().take_front(buffers))
    if (!cast<MemRefType>(buffer.getType()).getLayout().isIdentity())
      return emitOpError("passes ")
             << buffer.getType() << ", whose elements are not contiguous";
  for (Attribute constant : getConstants())
    if (!isa<IntegerAttr, FloatAttr, StringAttr, DenseI64ArrayAttr,
             DenseF32ArrayAttr>(constant))
      return emitOpError("passes ")
             << constant << ", which is neither a number, a string nor a list";
  return success();
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
