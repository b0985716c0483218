// Decides which operands TMA copies can bring to warpgroups, and computes the
// number and the registers of the blocks of a warpgroup product.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/gpu/WarpgroupTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

int64_t WarpgroupTile::registersAtStart(const Device &device) const {
  // Register counts are multiples of 8, and an instruction can encode at most
  // 255.
  return std::min<int64_t>(255,
                           device.registers / (threads() * resident) / 8 * 8);
}

int64_t WarpgroupTile::registersOfSums(const Device &device) const {
  int64_t each = registersAtStart(device);
  int64_t most = (each * (consumers() + 1) - ofFetching) / consumers() / 8 * 8;
  return std::max(each, std::min<int64_t>(most, 240));
}

Dim WarpgroupTile::tilesBelow(const BlockOperands &operands) const {
  return (operands.rows + (rows * below - 1)).floorDiv(rows * below) * below;
}
int64_t WarpgroupTile::tilesBeside(const BlockOperands &operands) const {
  return int64_t(llvm::divideCeil(operands.columns, columns * beside)) * beside;
}

Dim warpgroupBlocks(const BlockOperands &operands, const WarpgroupTile &tile,
                    const Device &device) {
  Dim tiles = tile.tilesBelow(operands) * tile.tilesBeside(operands) *
              operands.batches * tile.behind;
  int64_t atOnce = int64_t(device.multiprocessors) * tile.resident /
                   tile.cluster() * tile.cluster();
  return tiles.known() && *tiles.known() > atOnce && tile.slices == 1 &&
                 tile.behind == 1
             ? Dim(atOnce)
             : tiles;
}

bool isPointwise(ConvOp conv) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  return llvm::all_of(w.drop_back(2), [](int64_t size) { return size == 1; }) &&
         llvm::all_of(conv.getStrides(), [](int64_t s) { return s == 1; }) &&
         llvm::all_of(conv.getLow(), [](int64_t low) { return low == 0; }) &&
         ArrayRef(dimsOf(conv.getX())).drop_back() ==
             ArrayRef(dimsOf(conv.getResult())).drop_back();
}

/// Whether an im2col TMA descriptor can describe the convolution: it has at
/// most two spatial axes, whose result sizes are static, strides of at most 8,
/// and 8 bits suffice for each corner and each offset in the window.
static bool fitsMap(ConvOp conv) {
  ArrayRef<int64_t> x = shapeOf(conv.getX()), w = shapeOf(conv.getW());
  Dims y = dimsOf(conv.getResult());
  if (x.size() < 3 || x.size() > 4)
    return false;
  for (size_t axis = 0; axis + 2 < x.size(); ++axis) {
    int64_t stride = conv.getStrides()[axis], low = conv.getLow()[axis];
    int64_t last = (y[1 + axis].most() - 1) * stride - low;
    if (!y[1 + axis].known() || stride > 8 || low > 127 || low < -127 ||
        std::abs(last - (x[1 + axis] - 1)) > 127 ||
        (w[axis] - 1) * conv.getDilations()[axis] > 255)
      return false;
  }
  return true;
}

StoredMatrix storedMatrix(Value operand) {
  if (isa<BlockArgument>(operand))
    return {operand};
  auto transpose = operand.getDefiningOp<TransposeOp>();
  if (!transpose || !isa<BlockArgument>(transpose.getX()))
    return {};
  auto perm = llvm::to_vector(transpose.getPerm());
  size_t rank = perm.size();
  if (rank < 2)
    return {};
  std::swap(perm[rank - 2], perm[rank - 1]);
  for (size_t axis = 0; axis < rank; ++axis)
    if (perm[axis] != int64_t(axis))
      return {};
  return {transpose.getX(), true};
}

/// Returns the order in which the tiles of a matrix are copied; None if TMA
/// cannot copy them. `haveSteps` tells whether the steps (K) are the last axis
/// of the operand.
static TileOrder orderOf(const BlockOperands &operands, Value tensor,
                         bool haveSteps) {
  StoredMatrix stored = storedMatrix(tensor);
  if (!stored.tensor)
    return TileOrder::None;
  int64_t size = bytesOf(elementOf(tensor));
  ArrayRef<int64_t> shape = shapeOf(stored.tensor);
  // Batches are axes of the descriptor, which has at most five.
  bool isBatched = mayDiffer(operands.batches, 1);
  if (shape.size() < 2 || (isBatched && shape.size() > 5) ||
      shape.back() * size % vectorAccessBytes != 0)
    return TileOrder::None;
  if (haveSteps != stored.isTransposed)
    return TileOrder::Steps;
  return size == 2 ? TileOrder::Turned : TileOrder::None;
}

TileOrder leftOrderOf(const BlockOperands &operands, GroupView group) {
  Operation *anchor = group.anchor();
  // TMA descriptors describe whole tensors, not slices of them.
  if (operands.leftTensor != anchor->getOperand(0))
    return TileOrder::None;
  auto conv = dyn_cast<ConvOp>(anchor);
  if (conv && !isPointwise(conv)) {
    // A K tile must belong to a single element of the window.
    bool fits =
        isa<BlockArgument>(operands.leftTensor) && fitsMap(conv) &&
        operands.leftRun * bytesOf(operands.leftType()) % kTileRowBytes == 0;
    return fits ? TileOrder::Windows : TileOrder::None;
  }
  TileOrder order = orderOf(operands, operands.leftTensor, /*haveSteps=*/true);
  // The rows of all batches form one axis only if the steps (K) are contiguous.
  bool areJoined = llvm::any_of(shapeOf(operands.leftTensor).drop_back(2),
                                [](int64_t size) { return size != 1; });
  if (order == TileOrder::Turned &&
      (conv || (areJoined && operands.batches == 1)))
    return TileOrder::None;
  return order;
}

TileOrder rightOrderOf(const BlockOperands &operands, GroupView group) {
  Operation *anchor = group.anchor();
  if (operands.rightTensor.getDefiningOp<UnpackPanelsOp>())
    return isInColumns(operands) ? TileOrder::Packed : TileOrder::None;
  // Batched right operands keep their layout; other constant weights are
  // packed.
  auto product = dyn_cast<MatMulOp>(anchor);
  if (mayBeInPanels(operands.rightTensor, group.packs) &&
      (!product || shapeOf(product.getB()).size() == 2))
    return TileOrder::Packed;
  return product && operands.rightTensor == product.getB()
             ? orderOf(operands, product.getB(), /*haveSteps=*/false)
             : TileOrder::None;
}

int64_t kTilesOf(const BlockOperands &operands, GroupView group) {
  if (operands.areGroups || isa<NarrowMatMulOp>(group.anchor()) ||
      leftOrderOf(operands, group) == TileOrder::None ||
      rightOrderOf(operands, group) == TileOrder::None)
    return 0;
  return llvm::divideCeil(operands.steps * bytesOf(operands.leftType()),
                          kTileRowBytes);
}

} // namespace ingot::schedule
