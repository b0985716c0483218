#include "dialects/kernel/DotLane.h"

#include "dialects/kernel/NumberTypes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::kernel {

std::optional<DotLane> dotLane(Value operand) {
  auto bytes = operand.getDefiningOp<vector::BitCastOp>();
  auto splat = bytes ? bytes.getSource().getDefiningOp<vector::BroadcastOp>()
                     : vector::BroadcastOp();
  auto word = splat ? splat.getSource().getDefiningOp<vector::ExtractOp>()
                    : vector::ExtractOp();
  auto whole = word && laneCount(word.getSource().getType()) == 1
                   ? word.getSource().getDefiningOp<vector::BitCastOp>()
                   : vector::BitCastOp();
  auto group =
      whole ? whole.getSource().getDefiningOp<vector::ExtractStridedSliceOp>()
            : vector::ExtractStridedSliceOp();
  if (!group || group.getSourceVectorType().getRank() != 1)
    return std::nullopt;
  int64_t first = cast<IntegerAttr>(group.getOffsets()[0]).getInt(),
          size = laneCount(group.getType());
  if (first % size != 0)
    return std::nullopt;
  return DotLane{group.getSource(), first / size};
}

std::string dotByLane(StringRef a, StringRef b, int64_t lane) {
  return ("kernel.dot." + a + "." + b + "[" + Twine(lane) + "]").str();
}

std::string dotAcrossLanes(StringRef a, StringRef b) {
  return ("kernel.dot." + a + "." + b + "[across]").str();
}

std::string dotOfPairs(StringRef a, StringRef b) {
  return ("kernel.dot." + a + "." + b + "[pairs]").str();
}

std::string dotInHalves(StringRef a, StringRef b) {
  return ("kernel.dot." + a + "." + b + "[halves]").str();
}

std::string dotOfHalf(StringRef a, StringRef b, bool isUpper) {
  return ("kernel.dot." + a + "." + b + (isUpper ? "[upper]" : "[lower]"))
      .str();
}

std::string intrinsicName(DotOp dot) {
  std::string a = dot.getTypeOfA(), b = dot.getTypeOfB();
  if (dot->hasAttr(kAcrossLanesAttr))
    return dotAcrossLanes(a, b);
  if (dot->hasAttr(kOfPairsAttr))
    return dotOfPairs(a, b);
  if (auto isUpper = dot->getAttrOfType<BoolAttr>(kUpperHalfAttr))
    return dotOfHalf(a, b, isUpper.getValue());
  return getElementTypeOrSelf(dot.getType()).isInteger(16) ? dotInHalves(a, b)
                                                           : "";
}

} // namespace ingot::kernel
