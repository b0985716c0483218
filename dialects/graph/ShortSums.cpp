#include "dialects/graph/ShortSums.h"

#include "dialects/graph/ElementsData.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// The largest sums of the positive weights of a pair, and of the magnitudes of
/// its negative weights.
struct Extremes {
  int positive = 0, negative = 0;

  void add(int8_t first, int8_t second) {
    positive =
        std::max(positive, std::max<int>(first, 0) + std::max<int>(second, 0));
    negative =
        std::max(negative, -std::min<int>(first, 0) - std::min<int>(second, 0));
  }
};

} // namespace

int64_t pairsInShortSums(ElementsAttr weights, int64_t axes) {
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(weights, storage);
  ArrayRef<int64_t> steps = weights.getShapedType().getShape().drop_back();
  int64_t columns = weights.getShapedType().getShape().back(),
          run = ShapedType::getNumElements(steps.take_back(axes)),
          runs = ShapedType::getNumElements(steps.drop_back(axes));
  const auto *w = reinterpret_cast<const int8_t *>(bytes.data());
  Extremes most;
  for (int64_t r = 0; r < runs; ++r)
    for (int64_t k = 0; k < run; k += 2)
      for (int64_t n = 0; n < columns; ++n) {
        const int8_t *first = w + (r * run + k) * columns + n;
        most.add(*first, k + 1 < run ? first[columns] : int8_t(0));
      }
  constexpr int largest = UINT8_MAX;
  int64_t ofPair = std::max({most.positive, most.negative, 1});
  return INT16_MAX / (largest * ofPair);
}

} // namespace ingot::graph
