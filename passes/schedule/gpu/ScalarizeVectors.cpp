// Turns vectors into scalars, for devices whose threads have no vector
// registers.
//
//     %x = vector.load %a[%i] : vector<2xf32>
//     %y = math.exp %x
//     vector.store %y, %b[%i]
//   =>
//     %j = arith.addi %i, 1
//     %x_0 = memref.load %a[%i], %x_1 = memref.load %a[%j]
//     %y_0 = math.exp %x_0, %y_1 = math.exp %x_1
//     memref.store %y_0, %b[%i], memref.store %y_1, %b[%j]
//
// Loads and stores of a vector stay adjacent, so that the device's compiler
// merges them into one access if it knows that the address is aligned
// (MarkAligned).

#include "passes/schedule/gpu/ScalarizeVectors.h"

#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace ingot::schedule {
namespace {

bool hasLanes(Type type) { return isa<VectorType>(type); }
bool hasLanes(Operation *op) {
  return llvm::any_of(op->getOperandTypes(),
                      [](Type t) { return hasLanes(t); }) ||
         llvm::any_of(op->getResultTypes(), [](Type t) { return hasLanes(t); });
}
int64_t lanesOf(Type type) { return cast<VectorType>(type).getNumElements(); }

/// Splits operations that compute lane by lane, and those that build, extract
/// from, load and store vectors.
struct SplitOperation : ConversionPattern {
  SplitOperation(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->getNumRegions() != 0)
      return failure();
    if (auto store = dyn_cast<vector::StoreOp>(op)) {
      for (auto [lane, value] : llvm::enumerate(operands[0]))
        memref::StoreOp::create(
            rewriter, op->getLoc(), value, store.getBase(),
            placeOf(rewriter, op, store.getIndices(), lane));
      rewriter.eraseOp(op);
      return success();
    }
    if (op->getNumResults() != 1)
      return failure();
    FailureOr<SmallVector<Value>> lanes = lanesOf(op, operands, rewriter);
    if (failed(lanes))
      return failure();
    rewriter.replaceOpWithMultiple(op, {*lanes});
    return success();
  }

private:
  /// Returns the location of the scalar for one lane of the result of `op`. If
  /// that result has a name, the scalar's name is the same, followed by the
  /// lane number.
  static Location locationOf(Operation *op, int64_t lane) {
    StringRef name = kernel::nameIn(op->getLoc());
    return name.empty() ? op->getLoc()
                        : kernel::named(op->getLoc(), name + "_" + Twine(lane));
  }

  static SmallVector<Value> placeOf(OpBuilder &builder, Operation *op,
                                    ValueRange indices, int64_t lane) {
    SmallVector<Value> place(indices);
    if (lane == 0)
      return place;
    Location loc = kernel::unnamed(op->getLoc());
    StringRef name = kernel::nameOf(place.back());
    Value by = arith::ConstantIndexOp::create(builder, loc, lane);
    place.back() = arith::AddIOp::create(builder, loc, place.back(), by);
    if (!name.empty())
      kernel::nameValue(place.back(), name + "_" + Twine(lane));
    return place;
  }

  static FailureOr<SmallVector<Value>>
  lanesOf(Operation *op, ArrayRef<ValueRange> operands, OpBuilder &builder) {
    using Lanes = SmallVector<Value>;
    if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
      if (!extract.getDynamicPosition().empty())
        return failure();
      return Lanes{operands[0][extract.getStaticPosition()[0]]};
    }
    Type type = op->getResult(0).getType();
    if (!hasLanes(type))
      return failure();
    int64_t count = schedule::lanesOf(type);
    Type element = cast<VectorType>(type).getElementType();
    if (isa<vector::BroadcastOp>(op))
      return Lanes(count, operands[0][0]);
    if (isa<vector::FromElementsOp>(op))
      return llvm::map_to_vector(operands, [](ValueRange r) { return r[0]; });
    if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
      int64_t from = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
      return Lanes(operands[0].slice(from, count));
    }
    Lanes lanes;
    if (auto load = dyn_cast<vector::LoadOp>(op)) {
      for (int64_t lane = 0; lane < count; ++lane) {
        auto own = memref::LoadOp::create(
            builder, locationOf(op, lane), load.getBase(),
            placeOf(builder, op, load.getIndices(), lane));
        own->setAttr(kernel::kSideBySideAttr, builder.getUnitAttr());
        lanes.push_back(own);
      }
      return lanes;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      for (Attribute value :
           cast<DenseElementsAttr>(constant.getValue()).getValues<Attribute>())
        lanes.push_back(arith::ConstantOp::create(builder, op->getLoc(),
                                                  cast<TypedAttr>(value)));
      return lanes;
    }
    if (op->getName().getDialectNamespace() == "vector" &&
        !isa<vector::FMAOp>(op))
      return failure();
    for (int64_t lane = 0; lane < count; ++lane) {
      Lanes own;
      for (ValueRange operand : operands)
        own.push_back(operand.size() == 1 ? operand[0] : operand[lane]);
      if (isa<vector::FMAOp>(op)) {
        lanes.push_back(math::FmaOp::create(builder, locationOf(op, lane),
                                            own[0], own[1], own[2]));
        continue;
      }
      OperationState state(locationOf(op, lane), op->getName(), own, element,
                           op->getAttrs());
      lanes.push_back(builder.create(state)->getResult(0));
    }
    return lanes;
  }
};

} // namespace

LogicalResult scalarizeVectors(kernel::FuncOp kernel) {
  WalkResult found = kernel.walk([](Operation *op) {
    return hasLanes(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  MLIRContext *context = kernel.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](VectorType type, SmallVectorImpl<Type> &lanes) -> LogicalResult {
        lanes.append(type.getNumElements(), type.getElementType());
        return success();
      });
  RewritePatternSet patterns(context);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return !hasLanes(op); });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  patterns.add<SplitOperation>(converter, context);
  return applyFullConversion(kernel, target, std::move(patterns));
}

} // namespace ingot::schedule
