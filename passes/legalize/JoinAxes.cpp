// Merges axes of a buffer whose indices are quotients and remainders of one
// index, in kernels of threads. (Other kernels have a loop per axis.)
//
//     %w = arith.remsi %row, %c56 ; %rest = arith.divsi %row, %c56
//     %h = arith.remsi %rest, %c56 ; %n = arith.divsi %rest, %c56
//     memref.load %x[%n, %h, %w, %c] : memref<32x56x56x64xf32>
//  => %v = kernel.view %x : memref<32x56x56x64xf32> to memref<100352x64xf32>
//     memref.load %v[%row, %c] : memref<100352x64xf32>
//
// The axes must be contiguous axes of a kernel argument. The indices of an
// access along these axes must be the digits of one number in the mixed-radix
// system with the axis sizes as bases.

#include "dialects/kernel/KernelDialect.h"
#include "passes/legalize/Expansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

/// A value of the form (number / divisor) % modulus, or number / divisor if
/// `modulus` is 0.
struct Digit {
  Value number;
  int64_t divisor = 1, modulus = 0;

  static Digit of(Value value) {
    Operation *op = value.getDefiningOp();
    APInt by;
    if (!isa_and_nonnull<arith::DivSIOp, arith::RemSIOp>(op) ||
        !matchPattern(op->getOperand(1), m_ConstantInt(&by)) ||
        !by.isStrictlyPositive())
      return {value};
    Digit digit = of(op->getOperand(0));
    int64_t factor = by.getSExtValue();
    if (digit.modulus % factor != 0)
      return {value};
    if (isa<arith::RemSIOp>(op)) {
      digit.modulus = factor;
    } else {
      digit.divisor *= factor;
      digit.modulus /= factor;
    }
    return digit;
  }

  bool operator==(const Digit &other) const {
    return number == other.number && divisor == other.divisor &&
           modulus == other.modulus;
  }
};

/// Neighbouring axes `first` to `last` of a buffer that become one axis of
/// `size` elements, and the index along the merged axis.
struct Joined {
  size_t first, last;
  int64_t size;
  Value index;
};

/// Returns the innermost axes that can be merged, as many as possible, for an
/// access with `indices` to a buffer of shape `shape` and strides `strides`;
/// nothing if there are none.
std::optional<Joined> findJoined(ValueRange indices, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> strides) {
  for (size_t last = shape.size(); last-- > 1;) {
    Digit lowest = Digit::of(indices[last]);
    int64_t size = shape[last];
    if (size == 1 || lowest.modulus != size)
      continue;
    std::optional<Joined> found;
    for (size_t axis = last; axis-- > 0;) {
      // Axes of size 1 do not affect the address.
      if (shape[axis] == 1)
        continue;
      Digit digit = Digit::of(indices[axis]);
      if (strides[axis] != strides[last] * size ||
          digit.number != lowest.number ||
          digit.divisor != lowest.divisor * size ||
          (digit.modulus != 0 && digit.modulus != shape[axis]))
        break;
      size *= shape[axis];
      // Merge only if the index along the merged axis has already been
      // computed.
      Digit together = {lowest.number, lowest.divisor,
                        digit.modulus == 0 ? 0 : size};
      for (Value number = indices[last];;) {
        if (Digit::of(number) == together) {
          found = {axis, last, size, number};
          break;
        }
        Operation *op = number.getDefiningOp();
        if (!isa_and_nonnull<arith::DivSIOp, arith::RemSIOp>(op))
          break;
        number = op->getOperand(0);
      }
      if (digit.modulus == 0)
        break;
    }
    if (found)
      return found;
  }
  return std::nullopt;
}

/// Returns the view of `buffer` with the merged type `type`. All accesses to
/// the buffer share it.
Value viewOf(BlockArgument buffer, MemRefType type, PatternRewriter &rewriter) {
  for (Operation *user : buffer.getUsers())
    if (auto view = dyn_cast<kernel::ViewOp>(user);
        view && view.getType() == type && view.getOffset() == 0 &&
        view->getBlock() == buffer.getOwner())
      return view;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(buffer.getOwner());
  return kernel::ViewOp::create(rewriter, buffer.getLoc(), type, buffer);
}

/// Returns the operand with the buffer that the memory access `op` reads or
/// writes.
template <typename Op> OpOperand &bufferOf(Op op) {
  if constexpr (std::is_same_v<Op, kernel::CopyAheadOp>)
    return op.getFromMutable();
  else if constexpr (std::is_same_v<Op, vector::LoadOp> ||
                     std::is_same_v<Op, vector::StoreOp>)
    return op.getBaseMutable();
  else if constexpr (std::is_same_v<Op, kernel::StoreVectorOp>)
    return op.getToMutable();
  else
    return op.getMemrefMutable();
}
template <typename Op> MutableOperandRange indicesOf(Op op) {
  if constexpr (std::is_same_v<Op, kernel::CopyAheadOp>)
    return op.getFromIndicesMutable();
  else
    return op.getIndicesMutable();
}

template <typename Op> struct JoinAxes : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value source = bufferOf(op).get();
    auto type = cast<MemRefType>(source.getType());
    auto buffer = dyn_cast<BlockArgument>(source);
    if (auto view = source.getDefiningOp<kernel::ViewOp>();
        view && view.getOffset() == 0)
      buffer = dyn_cast<BlockArgument>(view.getSource());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    auto function =
        buffer ? dyn_cast<kernel::FuncOp>(buffer.getOwner()->getParentOp())
               : kernel::FuncOp();
    if (!function || !function.getThreads() || !type.hasStaticShape() ||
        type.getNumElements() == 0 ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset))
      return failure();
    MutableOperandRange indices = indicesOf(op);
    auto places = llvm::to_vector(ValueRange(OperandRange(indices)));
    SmallVector<int64_t> shape(type.getShape());
    std::optional<Joined> joined = findJoined(places, shape, strides);
    if (!joined)
      return failure();
    strides[joined->first] = strides[joined->last];
    shape[joined->first] = joined->size;
    places[joined->first] = joined->index;
    for (auto *list : {&shape, &strides})
      list->erase(list->begin() + joined->first + 1,
                  list->begin() + joined->last + 1);
    places.erase(places.begin() + joined->first + 1,
                 places.begin() + joined->last + 1);
    MemRefLayoutAttrInterface layout;
    if (!type.getLayout().isIdentity())
      layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
    Value view = viewOf(buffer,
                        MemRefType::get(shape, type.getElementType(), layout,
                                        type.getMemorySpace()),
                        rewriter);
    rewriter.modifyOpInPlace(op, [&] {
      bufferOf(op).set(view);
      indices.assign(places);
    });
    return success();
  }
};

} // namespace

void populateJoinAxes(RewritePatternSet &patterns) {
  patterns.add<JoinAxes<memref::LoadOp>, JoinAxes<memref::StoreOp>,
               JoinAxes<vector::LoadOp>, JoinAxes<vector::StoreOp>,
               JoinAxes<kernel::StoreVectorOp>, JoinAxes<kernel::CopyAheadOp>>(
      patterns.getContext());
}

} // namespace ingot::legalize
