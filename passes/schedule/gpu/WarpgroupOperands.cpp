// Which operands copies of whole tiles bring to warpgroups, and what their blocks take.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/gpu/WarpgroupTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

int64_t WarpgroupTile::registersAtStart(const Device &device) const {
  // In units of 8, of which an instruction can name 255.
  return std::min<int64_t>(255,
                           device.registers / (threads() * resident) / 8 * 8);
}

int64_t WarpgroupTile::registersOfSums(const Device &device) const {
  int64_t each = registersAtStart(device);
  int64_t most = (each * (consumers() + 1) - ofFetching) / consumers() / 8 * 8;
  return std::max(each, std::min<int64_t>(most, 240));
}

Dim warpgroupBlocks(const BlockOperands &operands, const WarpgroupTile &tile,
                    const Device &device) {
  Dim tiles = (operands.rows + (tile.rows - 1)).floorDiv(tile.rows) *
              llvm::divideCeil(operands.columns, tile.columns);
  int64_t atOnce = int64_t(device.processors) * tile.resident;
  return tiles.known() && *tiles.known() > atOnce && tile.slices == 1
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

/// What a map of windows can say: at most two axes, with 8 bits for each corner and for
/// the place in a window.
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

int64_t stripsOf(const BlockOperands &operands, GroupView group) {
  Operation *anchor = group.anchor();
  int64_t size = bytesOf(operands.leftType());
  bool isPacked = operands.rightTensor.getDefiningOp<UnpackPanelsOp>();
  // Maps are of whole tensors.
  if (!isa<BlockArgument>(operands.leftTensor) || operands.batches != 1 ||
      operands.leftTensor != anchor->getOperand(0) ||
      isa<NarrowMatMulOp>(anchor) ||
      (isPacked ? !isInColumns(operands)
                : !mayBeInPanels(operands.rightTensor, group.packs)))
    return 0;
  if (auto product = dyn_cast<MatMulOp>(anchor);
      product && (shapeOf(product.getB()).size() != 2 ||
                  shapeOf(product.getA()).size() < 2))
    return 0;
  if (operands.leftRun * size % pieceBytes != 0)
    return 0;
  auto conv = dyn_cast<ConvOp>(anchor);
  if (!conv || isPointwise(conv))
    return llvm::divideCeil(operands.steps * size, stripBytes);
  // A strip is of one place of the window.
  return fitsMap(conv) && operands.leftRun * size % stripBytes == 0
             ? operands.steps * size / stripBytes
             : 0;
}

} // namespace ingot::schedule
