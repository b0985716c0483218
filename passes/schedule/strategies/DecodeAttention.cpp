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
/// The number of keys in a block. The scores of a block stay in the L1 cache
/// while the keys stream through it.
constexpr int64_t keysOfBlock = 128;

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
            keys = std::min(keysOfBlock, anchor.keys().most());
    TileChoice values =
        TileModel(queries, anchor.width(), keys, group.target, type)
            .ranked()
            .front();
    return {
        Plan(anchor.softmax->getContext(),
             {{"keys", keys},
              {"queries", queries},
              {"value_columns", values.vectors * group.target.maxLanes(type)},
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
