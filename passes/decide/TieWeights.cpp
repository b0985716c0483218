// Stores the table of a gather only once, if a matmul reads its transpose as
// packed weights (panels): the gather reads from the panels instead. Language
// models have such a table, since their embedding is also the weight matrix of
// their last layer.
//
//   group(table, i) { gather(table, i) }
//   group(x, p) { matmul(x, unpack_panels(p)) }
//     ->
//   group(p, i) { gather(transpose(unpack_panels(p)), i) }
//   group(x, p) { matmul(x, unpack_panels(p)) }
//
// p is pack_panels(weights), and `table` has exactly the elements of
// transpose(weights). A gather reads few elements of a large table, so it costs
// little that the elements of a row are not contiguous in the panels.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/MappedData.h"
#include "passes/decide/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_TIEWEIGHTS
#include "passes/decide/Passes.h.inc"

namespace {

/// The least number of elements of a table. For smaller tables, the saved
/// memory is not worth the more expensive address computation.
constexpr int64_t leastElements = 1 << 12;

/// Returns the block argument that stands for a group's operand in its body.
BlockArgument argumentOf(OpOperand &operand) {
  auto group = cast<GroupOp>(operand.getOwner());
  return group.getBody().getArgument(operand.getOperandNumber());
}

/// Whether `constant` is a large table that only gathers read, where no gather
/// reads more than a quarter of the table. Splat constants do not count, since
/// kernels contain their value instead of the table.
bool isTable(ConstantOp constant) {
  auto type = tensorType(constant.getResult());
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (type.getRank() != 2 || type.getNumElements() < leastElements ||
      (dense && dense.isSplat()) || constant->use_empty())
    return false;
  return llvm::all_of(constant->getUses(), [&](OpOperand &use) {
    auto group = dyn_cast<GroupOp>(use.getOwner());
    BlockArgument inside = group ? argumentOf(use) : BlockArgument();
    return inside && llvm::all_of(inside.getUsers(), [&](Operation *user) {
             auto gather = dyn_cast<GatherOp>(user);
             return gather && gather.getX() == inside &&
                    gather.getIndices() != inside &&
                    4 * tensorType(gather.getResult()).getNumElements() <=
                        type.getNumElements();
           });
  });
}

bool areTransposed(ConstantOp a, ConstantOp b) {
  auto type = tensorType(a.getResult());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  if (tensorType(b.getResult()) !=
      RankedTensorType::get({columns, rows}, type.getElementType()))
    return false;
  std::vector<char> storageOfA, storageOfB;
  ArrayRef<char> as = elementBytes(a.getValue(), storageOfA),
                 bs = elementBytes(b.getValue(), storageOfB);
  int64_t size = bytesPerElement(type.getElementType());
  // Compares block by block, so that the cache lines of both constants stay in
  // the cache, and releases a mapped file from time to time.
  constexpr int64_t side = 16, releasedBytes = 1 << 24;
  const auto &mapped = MappedData::of(a.getContext());
  int64_t read = 0;
  for (int64_t top = 0; top < rows; top += side) {
    if ((read += side * columns * size) > releasedBytes) {
      mapped.releasePages();
      read = 0;
    }
    for (int64_t left = 0; left < columns; left += side)
      for (int64_t row = top; row < std::min(top + side, rows); ++row)
        for (int64_t column = left; column < std::min(left + side, columns);
             ++column)
          if (std::memcmp(as.data() + (row * columns + column) * size,
                          bs.data() + (column * rows + row) * size, size))
            return false;
  }
  return true;
}

/// Makes a group read the packed weights of `pack`, unpacked and transposed,
/// instead of its constant operand `use`.
void readPanels(OpOperand &use, PackPanelsOp pack, UnpackPanelsOp unpack) {
  BlockArgument table = argumentOf(use);
  OpBuilder builder = OpBuilder::atBlockBegin(table.getOwner());
  auto panels = cast<UnpackPanelsOp>(builder.clone(*unpack));
  auto transposed =
      TransposeOp::create(builder, table.getLoc(), panels.getResult(), {1, 0});
  table.replaceAllUsesWith(transposed);
  panels.setOperand(table);
  table.setType(pack.getType());
  use.set(pack.getResult());
}

struct TieWeightsPass : impl::TieWeightsBase<TieWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    Block &body = getOperation().getBody().front();
    // Collects the packed weights that groups read.
    SmallVector<std::pair<PackPanelsOp, UnpackPanelsOp>> packed;
    for (GroupOp group : body.getOps<GroupOp>())
      for (OpOperand &operand : group->getOpOperands())
        for (Operation *user : argumentOf(operand).getUsers())
          if (auto unpack = dyn_cast<UnpackPanelsOp>(user))
            if (auto pack = operand.get().getDefiningOp<PackPanelsOp>())
              packed.push_back({pack, unpack});
    for (ConstantOp table :
         SmallVector<ConstantOp>(body.getOps<ConstantOp>())) {
      if (!hasData(table.getValue()) || !isTable(table))
        continue;
      for (auto [pack, unpack] : packed) {
        auto weights = pack.getW().getDefiningOp<ConstantOp>();
        if (!weights || !hasData(weights.getValue()) ||
            !areTransposed(table, weights))
          continue;
        // The gather may precede the matmul, so the packed weights are moved to
        // the beginning of the block.
        pack->moveBefore(&body.front());
        weights->moveBefore(pack);
        for (OpOperand &use : llvm::make_early_inc_range(table->getUses()))
          readPanels(use, pack, unpack);
        break;
      }
    }
  }
};

} // namespace
} // namespace ingot::decide
