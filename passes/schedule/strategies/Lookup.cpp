// The strategy for functions of one 8-bit integer, computed by table lookup.
//
// The fusion group is a gather of int8 elements from a table of 256 elements,
// which the pass decide-form-tables creates. The table stays in registers, and
// whole registers of indices are looked up at once (vector.gather with unsigned
// 8-bit indices). If the tensor does not fill a whole number of registers, the
// last register overlaps the previous one.

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/ContiguousRows.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/Tables.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class LookupStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    GatherOp gather = tableOf(group);
    return gather &&
           tensorType(gather.getResult()).getNumElements() >=
               group.target.maxLanes(elementOf(gather.getIndices())) &&
           looksUpBytes(group.target) && !group.hasDynamicSizes();
  }

  void emit(KernelBuilder &b) const override {
    GatherOp gather = tableOf(b.group);
    BlockArgument bytes = bytesOf(gather);
    Type from = elementOf(bytes), to = elementOf(gather.getResult());
    int64_t count = tensorType(gather.getResult()).getNumElements(),
            lanes = b.target.maxLanes(from);
    Value x = b.view(b.bufferOf(bytes), {count}),
          y = b.view(b.outputs[0], {count});
    // If the input or the result is part of a larger tensor, process elements
    // one by one.
    if (!hasContiguousRows(x) || !hasContiguousRows(y))
      return b.forIndependent(dimsOf(b.result()), [&](ArrayRef<Expr> at) {
        b.store(0u, b.load(b.result(), at), at);
      });
    bool isWhole = count % lanes == 0;
    if (isWhole)
      b.allowInPlace(0, bytes.getArgNumber());
    auto mask = VectorType::get({lanes}, b.builder.getI1Type());
    Value all = arith::ConstantOp::create(b.builder, b.loc, mask,
                                          DenseElementsAttr::get(mask, true)),
          zero = b.index(0).value;
    b.parallelFor(llvm::divideCeil(count, lanes), [&](Expr number) {
      Expr first = named(number, "vector") * double(lanes);
      if (!isWhole)
        first = min(first, double(count - lanes));
      named(first, "first");
      b.withLanes(lanes, [&] {
        Expr places = b.loadFrom(x, from, {first});
        Value found = vector::GatherOp::create(
            b.builder, b.loc, cast<VectorType>(places.value.getType()),
            b.bufferOf(gather.getX()), zero, places.value, all, places.value);
        Expr result = named(b.wrap(found, to), "found");
        b.store(y, result, {first});
        return result;
      });
    });
  }

private:
  /// Returns the gather of a group that consists of only this gather from a
  /// table of 256 bytes (isByteTable) and possibly a bitcast of its indices to
  /// an unsigned type; null otherwise.
  static GatherOp tableOf(GroupView group) {
    Operation *op = group.block->getTerminator()->getPrevNode();
    if (!op || !isByteTable(op) || group.results()[0] != op->getResult(0) ||
        !isa<BlockArgument>(op->getOperand(0)) || !bytesOf(cast<GatherOp>(op)))
      return {};
    auto bits = op->getOperand(1).getDefiningOp<BitCastOp>();
    return op->getPrevNode() == bits.getOperation() &&
                   (!bits || !bits->getPrevNode())
               ? cast<GatherOp>(op)
               : GatherOp();
  }
  static BlockArgument bytesOf(GatherOp gather) {
    Value bytes = gather.getIndices();
    if (auto bits = bytes.getDefiningOp<BitCastOp>())
      bytes = bits.getX();
    return dyn_cast<BlockArgument>(bytes);
  }
};

} // namespace

std::unique_ptr<Strategy> createLookupStrategy() {
  return std::make_unique<LookupStrategy>();
}

} // namespace ingot::schedule
