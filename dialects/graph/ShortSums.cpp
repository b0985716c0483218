#include "dialects/graph/ShortSums.h"

#include "dialects/graph/ElementsData.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// The largest sums of the positive weights of a pair, and of the magnitudes of
/// its negative weights.
struct Extremes {
  int positive = 0, negative = 0;

  /// Returns how many such sums of products fit into 16 bits, added up.
  int64_t pairs() const {
    constexpr int largest = UINT8_MAX;
    int64_t ofPair = std::max({positive, negative, 1});
    return INT16_MAX / (largest * ofPair);
  }

  void add(int8_t first, int8_t second) {
    positive =
        std::max(positive, std::max<int>(first, 0) + std::max<int>(second, 0));
    negative =
        std::max(negative, -std::min<int>(first, 0) - std::min<int>(second, 0));
  }
};

/// Weights as a matrix of K steps by columns. The K steps are divided into runs
/// of equal length, which begin with a new pair.
class Matrix {
public:
  Matrix(ElementsAttr weights, int64_t axes) {
    ArrayRef<int64_t> shape = weights.getShapedType().getShape(),
                      steps = shape.drop_back();
    columns = shape.back();
    run = ShapedType::getNumElements(steps.take_back(axes));
    runs = ShapedType::getNumElements(steps.drop_back(axes));
    values = elementBytes(weights, storage);
  }

  /// Adds the pairs of K steps [first, end) of run `r` in columns [from, to).
  void add(Extremes &most, int64_t r, int64_t first, int64_t end, int64_t from,
           int64_t to) const {
    const auto *w = reinterpret_cast<const int8_t *>(values.data());
    for (int64_t k = first; k < std::min(end, run); k += 2)
      for (int64_t n = from; n < std::min(to, columns); ++n) {
        const int8_t *at = w + (r * run + k) * columns + n;
        most.add(*at, k + 1 < run ? at[columns] : int8_t(0));
      }
  }

  /// Whether the sums of the pairs of products of each `count` adjacent groups
  /// fit into 16 bits. Each run must have a multiple of `count` groups.
  bool fitsGroups(int64_t count) const {
    int64_t steps = count * kShortGroup;
    if (run % steps != 0)
      return false;
    const auto *w = reinterpret_cast<const int8_t *>(values.data());
    for (int64_t k = 0; k < runs * run; k += steps)
      for (int64_t pair = 0; pair < kShortGroup; pair += 2)
        for (int64_t n = 0; n < columns; ++n) {
          int positive = 0, negative = 0;
          for (int64_t i = pair; i < steps; i += kShortGroup)
            for (const int8_t *at :
                 {w + (k + i) * columns + n, w + (k + i + 1) * columns + n}) {
              positive += std::max<int>(*at, 0);
              negative -= std::min<int>(*at, 0);
            }
          if (std::max(positive, negative) > INT16_MAX / UINT8_MAX)
            return false;
        }
    return true;
  }

  int64_t columns, run, runs;

private:
  std::vector<char> storage;
  ArrayRef<char> values;
};

} // namespace

int64_t pairsInShortSums(ElementsAttr weights, int64_t axes) {
  Matrix matrix(weights, axes);
  Extremes most;
  for (int64_t r = 0; r < matrix.runs; ++r)
    matrix.add(most, r, 0, matrix.run, 0, matrix.columns);
  return most.pairs() == 1 && matrix.fitsGroups(2) ? 2 : most.pairs();
}

std::vector<char> wideGroups(ElementsAttr weights, int64_t axes,
                             int64_t panel) {
  Matrix matrix(weights, axes);
  std::vector<char> wide;
  for (int64_t column = 0; column < matrix.columns; column += panel)
    for (int64_t r = 0; r < matrix.runs; ++r)
      for (int64_t k = 0; k < matrix.run; k += kShortGroup) {
        Extremes most;
        matrix.add(most, r, k, k + kShortGroup, column, column + panel);
        wide.push_back(most.pairs() == 0);
      }
  return wide;
}

} // namespace ingot::graph
