// Computes keys for random number generators.
//
// A node without a seed gets a key that identifies its position in the model: a
// hash of the positions of the node and of all nodes whose bodies or functions
// contain it. So the key is the same in every compilation. Each iteration of a
// loop draws other numbers, whether the loop is unrolled or not: iteration i
// adds i times an odd number to the key. The odd number is different for each
// enclosing loop.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace ingot {

uint64_t GraphImporter::placeOf(const NodePlace &at, StringRef name) {
  return llvm::xxh3_64bits(std::to_string(at.scope.place) + " " +
                           std::to_string(at.index) + " " + name.str());
}

Value GraphImporter::randomKey(NodePlace &at, std::optional<uint64_t> seed) {
  ProtoNode node(*this, at);
  Type wide = builder.getIntegerType(64, /*isSigned=*/false);
  auto type = RankedTensorType::get({}, wide);
  auto number = [&](uint64_t value) {
    return node.constant(DenseElementsAttr::get(
        type, builder.getIntegerAttr(wide, APInt(64, value))));
  };
  // 2^64 divided by the golden ratio: its multiples modulo 2^64 are far apart.
  constexpr uint64_t step = 0x9E3779B97F4A7C15;
  Value key = number(seed.value_or(placeOf(at)));
  uint64_t factor = 1;
  for (Value iteration : iterations) {
    factor *= step;
    Value moved = node.elementwise<graph::MulOp>(
        {node.cast(resolve(iteration), wide), number(factor)});
    key = node.elementwise<graph::AddOp>({key, moved});
  }
  return key;
}

} // namespace ingot
