#include "dialects/graph/GraphDialect.h"

#include "dialects/graph/MappedData.h"
#include "dialects/graph/ShortSums.h"
#include "dialects/graph/ops/Patterns.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/Strict.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace ingot::graph;

#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/GraphInterfaces.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/GraphOps.cpp.inc"
      >();
  addInterfaces<MappedData>();
}

static LogicalResult verifyShortShare(Operation *op, Attribute value) {
  auto share = dyn_cast<FloatAttr>(value);
  if (share && share.getValueAsDouble() > 0 && share.getValueAsDouble() < 1 &&
      op->hasAttr(kShortSumsAttr))
    return success();
  return op->emitOpError() << "attribute '" << kShortShareAttr
                           << "' is a number between 0 and 1, besides '"
                           << kShortSumsAttr << "', not " << value;
}

static LogicalResult verifyShortSums(Operation *op, Attribute value) {
  auto pairs = dyn_cast<IntegerAttr>(value);
  if (pairs && pairs.getInt() > 0 && isa<ConvOp, MatMulOp>(op) &&
      elementOf(op->getOperand(0)).isUnsignedInteger(8) &&
      elementOf(op->getOperand(1)).isSignedInteger(8))
    return success();
  return op->emitOpError() << "attribute '" << kShortSumsAttr
                           << "' is a positive number, of contractions of ui8 "
                              "by si8, not "
                           << value;
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  if (attr.getName() == kShortSumsAttr)
    return verifyShortSums(op, attr.getValue());
  if (attr.getName() == kShortShareAttr)
    return verifyShortShare(op, attr.getValue());
  if (attr.getName() != kMultipliedAttr)
    return op->emitOpError() << "has an unknown attribute " << attr.getName();
  auto type = dyn_cast<TypeAttr>(attr.getValue());
  auto isOf = [&](Type operands) {
    return isa<ConvOp, MatMulOp>(op) &&
           elementOf(op->getOperand(0)) == operands &&
           elementOf(op->getOperand(1)) == operands &&
           elementOf(op->getResult(0)).isF32();
  };
  auto isTypeFor = [&](Type multiplied) {
    if (multiplied.isBF16())
      return isa<ConvOp>(op) && isOf(multiplied);
    if (multiplied.isSignedInteger(8))
      return isa<MatMulOp, NarrowMatMulOp>(op) &&
             elementOf(op->getOperand(0)).isF32();
    return isa<FloatTF32Type>(multiplied)
               ? isOf(Float32Type::get(op->getContext()))
               : multiplied.isF16() && isOf(multiplied);
  };
  if (!type || !isTypeFor(type.getValue()))
    return op->emitOpError() << "attribute '" << attr.getName().getValue()
                             << "' is tf32, of contractions of f32, f16, of "
                                "those of f16 with a result of f32, bf16, of "
                                "convolutions of bf16 with a result of f32, or "
                                "si8, of matmuls with a left operand of f32, "
                                "not "
                             << attr.getValue();
  return success();
}

void GraphDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  populateElementwisePatterns(patterns);
  populateMovementPatterns(patterns);
  populateReductionPatterns(patterns);
  populateWindowPatterns(patterns);
}

LogicalResult ConstantOp::inferTypes(Adaptor op, TypeRule &rule) {
  ShapedType type = op.getValue().getShapedType();
  return rule.result(type.getShape(), type.getElementType());
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult SizesOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (product(rule.stated()) != int64_t(op.getSizes().getSizes().size()) ||
      !isa<IntegerType>(rule.statedElement()))
    return rule.refuse("the result must be a tensor of integers, with one "
                       "element for each of the 'sizes'");
  return rule.result(rule.stated(), rule.statedElement());
}

Expr SizesOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr position = b.linearize(idx, shapeOf(getResult())), value;
  for (auto [i, size] : llvm::enumerate(dimsOf(getSizes()))) {
    Expr own = b.size(size);
    value = value ? select(equal(position, double(i)), own, value) : own;
  }
  return convert(value, elementOf(getResult()));
}

bool SizesOp::passesLanes() { return getSizes().getSizes().size() == 1; }

LogicalResult ReadSizesOp::verify() {
  return kernel::verifyReadSizes(
      *this, tensorType(getCounts()).getNumElements(), getSizes());
}

LogicalResult CheckSizesOp::verify() {
  return kernel::verifyPairs(*this, getPairs());
}

LogicalResult GroupOp::verifyRegions() {
  Block &body = getBody().front();
  if (getStrategy().empty())
    return emitOpError("names no strategy");
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has other operands than its body has arguments");
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("has other results than its body yields");
  if (auto strides = getOutputStrides();
      strides &&
      (getNumResults() != 1 || strides->size() != shapeOf(getResult(0)).size()))
    return emitOpError("has 'output_strides', but not one for each axis of "
                       "its one result");
  std::optional<ArrayAttr> all = getInputStrides();
  if (!all)
    return success();
  if (all->size() != getInputs().size())
    return emitOpError("has ") << all->size() << " 'input_strides' for "
                               << getInputs().size() << " operands";
  for (auto [input, strides] : llvm::zip_equal(getInputs(), *all)) {
    auto list = dyn_cast<DenseI64ArrayAttr>(strides);
    if (!list ||
        (!list.empty() && list.size() != int64_t(shapeOf(input).size())))
      return emitOpError("has 'input_strides' that are neither empty nor one "
                         "for each axis");
  }
  return success();
}

namespace ingot::graph {

Type realType(Value x) {
  return elementOf(x).isF64() ? elementOf(x) : Float32Type::get(x.getContext());
}

SmallVector<int64_t> permuted(ArrayRef<int64_t> values,
                              ArrayRef<int64_t> perm) {
  SmallVector<int64_t> result;
  for (int64_t p : perm)
    result.push_back(values[p]);
  return result;
}
Dims permuted(ArrayRef<Dim> sizes, ArrayRef<int64_t> perm) {
  return llvm::map_to_vector(perm, [&](int64_t axis) { return sizes[axis]; });
}

SmallVector<int64_t> inversePermutation(ArrayRef<int64_t> perm) {
  SmallVector<int64_t> inverse(perm.size());
  for (auto [i, p] : llvm::enumerate(perm))
    inverse[p] = i;
  return inverse;
}

Expr emitElementwise(ElementwiseOpInterface op, ElementBuilder &b,
                     ArrayRef<Expr> idx) {
  Exprs in;
  for (Value operand : op->getOperands())
    in.push_back(b.loadBroadcast(operand, idx));
  Expr result = op.emitScalar(b, in);
  result.type = elementOf(op->getResult(0));
  return b.broadcast(result, b.lanes());
}

Expr meanOf(Expr sum, const Dim &count) {
  auto known = count.known();
  if (!known)
    return sum / convert(sum.builder->size(count), sum.type);
  double number = static_cast<double>(*known);
  Operation *function = sum.builder->builder.getInsertionBlock()->getParentOp();
  return isa<FloatType>(sum.type) && !kernel::isStrict(function)
             ? sum * (1.0 / number)
             : sum / number;
}

Expr emitReduction(ReductionOpInterface op, ElementBuilder &b,
                   ArrayRef<Expr> idx) {
  Value input = op.getInput();
  Dims trips = permuted(dimsOf(input), op.getAxes());
  Dim count = product(trips);
  Exprs at(idx);
  if (count == 0)
    trips.clear(); // an empty reduction reads nothing
  Expr acc = b.reduce(trips, op.init(b), [&](ArrayRef<Expr> reduced, Expr acc) {
    if (count == 0)
      return acc;
    for (auto [axis, i] : llvm::zip(op.getAxes(), reduced))
      at[axis] = i;
    return op.combine(b, acc, b.load(input, at));
  });
  Expr result = op.finish(b, acc, count);
  result.type = elementOf(op->getResult(0));
  return b.broadcast(result, b.lanes());
}

Operation *buildPermutedAxes(Operation *op, OpBuilder &builder,
                             ArrayRef<int64_t> perm, ValueRange operands) {
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  for (Value result : copy->getResults())
    result.setType(tensorOf(permuted(dimsOf(result), perm), elementOf(result)));
  SmallVector<int64_t> inverse = inversePermutation(perm);
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    copy->setAttr("axis", builder.getI64IntegerAttr(inverse[axis.getInt()]));
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes")) {
    SmallVector<int64_t> moved = permuted(inverse, axes);
    llvm::sort(moved);
    copy->setAttr("axes", builder.getDenseI64ArrayAttr(moved));
  }
  return copy;
}

bool hasAxesOfResult(Operation *op, unsigned i) {
  return shapeOf(op->getOperand(i)).size() ==
             shapeOf(op->getResult(0)).size() &&
         !(product(dimsOf(op->getOperand(i))) == 1);
}

bool readsStrings(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value v) {
    return isa<kernel::StringType>(elementOf(v));
  });
}

Operation *buildPermutedElementwise(Operation *op, OpBuilder &builder,
                                    ArrayRef<int64_t> perm,
                                    ValueRange operands) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!hasAxesOfResult(op, i) && !(product(dimsOf(operand)) == 1))
      // The caller has to reshape an operand of lower rank first.
      return nullptr;
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  Value result = op->getResult(0);
  copy->getResult(0).setType(
      tensorOf(permuted(dimsOf(result), perm), elementOf(result)));
  return copy;
}

} // namespace ingot::graph

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.cpp.inc"
