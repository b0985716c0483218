// The strategy for attention with few queries on CPUs, as in a decoder, which
// has one query per head and a cache of keys and values. The kernel reads each
// key and value once (AttentionLoops.h). If several heads share keys and
// values, their queries count as the queries of one head.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/AttentionLoops.h"
#include "passes/schedule/tiles/PanelKernel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The most queries per head for which this strategy is used. With more
/// queries, the strategy "attention" with its tiles of queries and keys is
/// faster.
constexpr int64_t mostQueries = 8;
/// The most elements of a key. The limit exists because the dot product of a
/// query and a key is unrolled over all elements.
constexpr int64_t mostDepth = 256;
/// The bytes of the values of a block of keys. They stay in the L1 cache while
/// they are multiplied by the weights of one query after the other.
constexpr int64_t bytesOfBlock = 16 << 10;

/// Returns the number of keys in a block for values of `width` elements.
int64_t keysOf(const AttentionAnchor &anchor, int64_t lanes) {
  int64_t keys = bytesOfBlock / (anchor.width() * int64_t(sizeof(float)));
  return std::min(std::max(keys / lanes * lanes, lanes), anchor.keys().most());
}

/// Returns the tile of weighted values. It has whole values if its sums fit the
/// registers, else equal parts of values that are as wide as possible. So it
/// reads the values of a block in the order in which they are stored, and
/// processors prefetch them. A narrow tile with more rows would read each value
/// in several passes.
TileChoice valueTile(int64_t queries, int64_t width,
                     const TargetDescription &target, int64_t lanes) {
  int64_t vectors = llvm::divideCeil(width, lanes), rows = 1;
  // A row needs registers for its sums and its weight. Several rows share the
  // vectors of a value; a single row reads them from memory as operands of
  // multiply-adds. Two registers are left to the loop.
  auto fits = [&](int64_t rows) {
    int64_t ofValue = rows > 1 ? vectors : 0;
    return rows * (vectors + 1) + ofValue + 2 <=
           int64_t(target.vectorRegisters);
  };
  while (!fits(1))
    vectors = llvm::divideCeil(vectors, 2);
  while (rows < queries && fits(rows + 1))
    ++rows;
  return {rows, vectors, 1};
}

bool suits(AttentionAnchor anchor, const TargetDescription &target) {
  Type type = elementOf(anchor.scores.getResult());
  int64_t lanes = target.maxLanes(type);
  Value rows = anchor.keyRows();
  return anchor.isOfF32() && !anchor.rounding && !target.smallCode &&
         !target.freestanding && lanes > 1 && rows && elementOf(rows).isF32() &&
         elementOf(anchor.scores.getA()).isF32() && anchor.queries().known() &&
         *anchor.queries().known() <= mostQueries &&
         anchor.depth() % lanes == 0 && anchor.depth() <= mostDepth;
}

class DecodeAttentionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    return anchor && suits(anchor, group.target) && !group.isStrict();
  }

  bool takesDynamicSizes() const override { return true; }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"keys", 1, 1 << 16},
                                   {"queries", 1, mostQueries},
                                   {"value_columns", 1, 1 << 16},
                                   {"value_rows", 1, mostQueries}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    Type type = elementOf(anchor.scores.getResult());
    int64_t queries = *anchor.queries().known(),
            lanes = group.target.maxLanes(type);
    TileChoice values = valueTile(queries, anchor.width(), group.target, lanes);
    return {Plan(anchor.softmax->getContext(),
                 {{"keys", keysOf(anchor, lanes)},
                  {"queries", queries},
                  {"value_columns", values.vectors * lanes},
                  {"value_rows", values.rows}})};
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return plan.number("queries") !=
                   *AttentionAnchor::of(group).queries().known()
               ? "the plan must have all queries of a head in one block"
               : "";
  }

  SmallVector<Operation *> takes(Operation *producer,
                                 llvm::function_ref<bool(Operation *)> isMember,
                                 llvm::function_ref<bool(Operation *)> isFree,
                                 const TargetDescription &target,
                                 bool packs) const override {
    AttentionAnchor found;
    Operation *keys = nullptr;
    SmallVector<Operation *> taken =
        takeAttention(producer, isMember, isFree, /*inStoredLayout=*/false,
                      [&](const AttentionAnchor &anchor) {
                        if (!suits(anchor, target))
                          return false;
                        found = anchor;
                        keys = anchor.scores.getB().getDefiningOp();
                        return keys->hasOneUse() && isFree(keys);
                      });
    if (taken.empty())
      return taken;
    taken.push_back(keys);
    // A cache may have narrower elements than the queries.
    takeCache(found.keyRows(), keys, isFree, taken);
    takeCache(found.product.getB(), found.product, isFree, taken);
    return taken;
  }

  void emit(KernelBuilder &b) const override {
    buildDecodeAttention(b, AttentionAnchor::of(b.group));
  }
};

} // namespace

std::unique_ptr<Strategy> createDecodeAttentionStrategy() {
  return std::make_unique<DecodeAttentionStrategy>();
}

} // namespace ingot::schedule
