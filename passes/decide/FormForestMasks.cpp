// Evaluates decision trees with few leaves by bit masks, with one row of the
// input (one sample) per vector lane.
//
//   forest(x [rows, features], tables of a walk)
//     ->
//   forest_masks(transpose(x), thresholds and masks of all nodes)
//
// A mask has a bit for each leaf of the tree. The mask of a node applies if the
// node's feature exceeds its threshold, and clears the bits of the leaves that
// cannot be reached then. The row reaches the first leaf whose bit stays set.
//
// A walk from the root takes few steps per row, but each step depends on the
// previous one. Masks evaluate all nodes of a tree, for as many rows at once as
// a vector has lanes. Walks and masks add the weights of the same leaves in the
// same order, so their results are equal.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/GroupCost.h"
#include "targets/TargetDescription.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMFORESTMASKS
#include "passes/decide/Passes.h.inc"

namespace {

constexpr int64_t bitsOfWord = 32, mostLeaves = 1024;

/// Returns the values of a constant operand; nothing if `table` is not
/// constant.
template <typename T> std::optional<std::vector<T>> valuesOf(Value table) {
  DenseElementsAttr values;
  if (!matchPattern(table, m_Constant(&values)))
    return std::nullopt;
  std::vector<T> result;
  if constexpr (std::is_integral_v<T>)
    for (const APInt &value : values.getValues<APInt>())
      result.push_back(static_cast<T>(value.getSExtValue()));
  else
    for (const APFloat &value : values.getValues<APFloat>())
      result.push_back(value.convertToFloat());
  return result;
}

/// Builds the operands of graph.forest_masks from those of a graph.forest.
class Masks {
public:
  /// Reads the forest; fails if a table is not constant, a tree has too many
  /// leaves, a leaf has more than one weight, or no tree has an inner node.
  LogicalResult read(ForestOp forest);
  /// Whether masks are faster than walks for vectors of `lanes` rows.
  bool pay(int64_t lanes) const;
  Value build(OpBuilder &builder, ForestOp forest) const;

private:
  /// The constant operands of a graph.forest.
  struct Walk {
    std::vector<int32_t> feature, next, roots, depths, first, targets;
    std::vector<float> threshold, weights;
    std::vector<int8_t> missing;
  };
  /// An inner node: its index `at` in the forest, and the range [begin, end) of
  /// leaves in its left subtree.
  struct Node {
    int32_t at;
    int64_t begin, end;
  };

  static std::optional<Walk> tablesOf(ForestOp forest);
  /// Appends the inner nodes of the subtree of node `at` to `nodes`, and its
  /// leaves, from left to right, to `weights` and `targets`. Fails if the tree
  /// has too many leaves, or a leaf has several weights.
  LogicalResult add(const Walk &walk, int32_t at, std::vector<Node> &nodes);
  /// Appends the masks of a tree, in 32-bit words with one bit per leaf. The
  /// leaves of the tree begin at index `firstLeafOfTree` of `weights`.
  void addWords(const Walk &walk, ArrayRef<Node> nodes,
                int64_t firstLeafOfTree);

  std::vector<int32_t> feature, kept, nodesOf = {0}, firstLeaf, wordsOf = {0},
                                      targets;
  std::vector<float> threshold, weights;
  std::vector<int8_t> missing;
  int64_t steps = 0;
};

std::optional<Masks::Walk> Masks::tablesOf(ForestOp forest) {
  auto feature = valuesOf<int32_t>(forest.getFeature()),
       next = valuesOf<int32_t>(forest.getNext()),
       roots = valuesOf<int32_t>(forest.getRoots()),
       depths = valuesOf<int32_t>(forest.getDepths()),
       first = valuesOf<int32_t>(forest.getFirst()),
       targets = valuesOf<int32_t>(forest.getTargets());
  auto threshold = valuesOf<float>(forest.getThreshold()),
       weights = valuesOf<float>(forest.getWeights());
  auto missing = valuesOf<int8_t>(forest.getMissing());
  if (!feature || !next || !roots || !depths || !first || !targets ||
      !threshold || !weights || !missing)
    return std::nullopt;
  return Walk{*feature, *next,      *roots,   *depths, *first,
              *targets, *threshold, *weights, *missing};
}

LogicalResult Masks::add(const Walk &walk, int32_t at,
                         std::vector<Node> &nodes) {
  int64_t leaves = static_cast<int64_t>(weights.size());
  int32_t low = walk.next[2 * at], high = walk.next[2 * at + 1];
  if (low == at && high == at) {
    int32_t entries = walk.first[at + 1] - walk.first[at];
    if (entries > 1 || static_cast<int64_t>(nodes.size()) == mostLeaves)
      return failure();
    weights.push_back(entries ? walk.weights[walk.first[at]] : 0);
    targets.push_back(entries ? walk.targets[walk.first[at]] : 0);
    return success();
  }
  size_t node = nodes.size();
  nodes.push_back({at, leaves, 0});
  if (failed(add(walk, low, nodes)))
    return failure();
  nodes[node].end = static_cast<int64_t>(weights.size());
  return add(walk, high, nodes);
}

void Masks::addWords(const Walk &walk, ArrayRef<Node> nodes,
                     int64_t firstLeafOfTree) {
  int64_t leaves = static_cast<int64_t>(weights.size());
  for (int64_t first = firstLeafOfTree; first < leaves; first += bitsOfWord) {
    auto bitsBelow = [&](int64_t leaf) {
      return llvm::maskTrailingOnes<uint32_t>(
          std::clamp<int64_t>(leaf - first, 0, bitsOfWord));
    };
    for (const Node &node : nodes) {
      // If the feature is above the threshold, the leaves of the left subtree
      // are not reachable.
      uint32_t gone = bitsBelow(node.end) & ~bitsBelow(node.begin);
      if (gone == 0)
        continue;
      feature.push_back(walk.feature[node.at]);
      threshold.push_back(walk.threshold[node.at]);
      missing.push_back(walk.missing[node.at]);
      kept.push_back(static_cast<int32_t>(~gone));
    }
    nodesOf.push_back(static_cast<int32_t>(feature.size()));
    firstLeaf.push_back(static_cast<int32_t>(first));
  }
  wordsOf.push_back(static_cast<int32_t>(firstLeaf.size()));
}

LogicalResult Masks::read(ForestOp forest) {
  std::optional<Walk> walk = tablesOf(forest);
  if (!walk)
    return failure();
  for (auto [root, depth] : llvm::zip_equal(walk->roots, walk->depths)) {
    // Stops early: a tree of this depth has more than `mostLeaves` leaves.
    std::vector<Node> nodes;
    int64_t firstLeafOfTree = static_cast<int64_t>(weights.size());
    if (depth >= mostLeaves || failed(add(*walk, root, nodes)))
      return failure();
    addWords(*walk, nodes, firstLeafOfTree);
    steps += depth;
  }
  return success(!feature.empty());
}

bool Masks::pay(int64_t lanes) const {
  using schedule::ForestCycles;
  return ForestCycles::ofNode * double(feature.size()) +
             ForestCycles::ofWord * double(firstLeaf.size()) +
             ForestCycles::ofTree * double(wordsOf.size() - 1) <
         ForestCycles::ofStep * double(steps * lanes);
}

Value Masks::build(OpBuilder &builder, ForestOp forest) const {
  Location loc = forest.getLoc();
  auto constant = [&](const auto &values, Type type) -> Value {
    int64_t count = static_cast<int64_t>(values.size());
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({count}, type),
                               ArrayRef(values)));
  };
  Type ints = builder.getIntegerType(32, /*isSigned=*/true),
       bytes = builder.getIntegerType(8, /*isSigned=*/true),
       f32 = builder.getF32Type();
  return ForestMasksOp::create(
      builder, loc, forest.getType(),
      buildTranspose(builder, loc, forest.getX(), {1, 0}),
      constant(feature, ints), constant(threshold, f32),
      constant(missing, bytes), constant(kept, ints), constant(nodesOf, ints),
      constant(firstLeaf, ints), constant(wordsOf, ints),
      constant(weights, f32), constant(targets, ints), forest.getBase(),
      forest.getAnyMissing());
}

struct FormForestMasksPass : impl::FormForestMasksBase<FormForestMasksPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SmallVector<ForestOp> forests;
    getOperation().walk([&](ForestOp op) { forests.push_back(op); });
    for (ForestOp forest : forests) {
      Masks masks;
      int64_t lanes = target.maxLanes(Float32Type::get(&getContext()));
      if (!isPossible(forest, target, lanes) || failed(masks.read(forest)) ||
          !masks.pay(lanes))
        continue;
      OpBuilder builder(forest);
      forest.replaceAllUsesWith(masks.build(builder, forest));
      forest.erase();
    }
  }

private:
  static bool isPossible(ForestOp forest, const TargetDescription &target,
                         int64_t lanes) {
    return !target.smallCode && lanes > 1 && elementOf(forest.getX()).isF32() &&
           elementOf(forest.getWeights()).isF32() &&
           forest.getAggregate() == "SUM" &&
           dimsOf(forest.getX())[0].least() >= lanes;
  }
};

} // namespace
} // namespace ingot::decide
