// Prints operations of matrix tile registers: each is a call of the intrinsic
// in the target's table, with tile numbers as constants.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/TileRegisters.h"

using namespace mlir;

namespace ingot {

/// Prints the call that configures the matrix tile registers: the bytes per row
/// of each tile, then the number of rows of each tile; 0 for tiles without a
/// shape.
void KernelPrinter::printShapeTiles(kernel::ShapeTilesOp shapes) {
  std::string text;
  for (ArrayRef<int64_t> numbers : {shapes.getBytes(), shapes.getRows()})
    for (unsigned tile = 0; tile < context.target.tiles.count; ++tile) {
      text += text.empty() ? "" : ", ";
      text += llvm::itostr(tile < numbers.size() ? numbers[tile] : 0);
    }
  out.line(calledBy(shapes->getName().getStringRef()) + "(" + text + ");");
}

void KernelPrinter::printReleaseTiles(kernel::ReleaseTilesOp release) {
  out.line(calledBy(release->getName().getStringRef()) + "();");
}

void KernelPrinter::printClearTile(kernel::ClearTileOp clear) {
  out.line(calledBy(clear->getName().getStringRef()) + "(" +
           Twine(clear.getTile()) + ");");
}

void KernelPrinter::printLoadTile(kernel::LoadTileOp load) {
  out.line(calledBy(load->getName().getStringRef()) + "(" +
           Twine(load.getTile()) + ", &" +
           address(load.getBuffer(), load.getIndices()) + ", " +
           Twine(load.getPitch()) + ");");
}

void KernelPrinter::printStoreTile(kernel::StoreTileOp store) {
  out.line(calledBy(store->getName().getStringRef()) + "(" +
           Twine(store.getTile()) + ", &" +
           address(store.getBuffer(), store.getIndices()) + ", " +
           Twine(store.getPitch()) + ");");
}

void KernelPrinter::printMultiplyTiles(kernel::MultiplyTilesOp product) {
  out.line(calledBy(product.getIntrinsicName()) + "(" +
           Twine(product.getSums()) + ", " + Twine(product.getA()) + ", " +
           Twine(product.getB()) + ");");
}

} // namespace ingot
