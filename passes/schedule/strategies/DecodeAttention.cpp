// Attention of few queries, which reads each key and value once: AttentionLoops.h.
//
// A decoder has one query and a cache of keys and values; of heads that share these, the
// queries are a few of one head.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/AttentionLoops.h"
#include "passes/schedule/tiles/PanelKernel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// More queries have scores enough for tiles of them and keys.
constexpr int64_t mostQueries = 8;
/// Elements of a key, all of whose products are in the text.
constexpr int64_t mostDepth = 256;
/// A block of scores stays in the first cache beside the keys that stream through it.
constexpr int64_t keysOfBlock = 128;

bool suits(AttentionAnchor anchor, const TargetDescription &target) {
  Type type = elementOf(anchor.scores.getResult());
  int64_t lanes = target.maxLanes(type);
  Value rows = anchor.keyRows();
  return anchor.isOfF32() && !anchor.rounding && !target.isDevice() &&
         !target.smallCode && !target.freestanding && lanes > 1 && rows &&
         elementOf(rows).isF32() && elementOf(anchor.scores.getA()).isF32() &&
         anchor.queries().known() && *anchor.queries().known() <= mostQueries &&
         anchor.depth() % lanes == 0 && anchor.depth() <= mostDepth;
}

class DecodeAttentionStrategy : public Strategy {
public:
  bool matches(GroupView group,
               const TargetDescription &target) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    return anchor && suits(anchor, target) && !group.isStrict();
  }

  bool takesRunTimeSizes() const override { return true; }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"keys", 1, 1 << 16},
                                   {"queries", 1, mostQueries},
                                   {"value_columns", 1, 1 << 16},
                                   {"value_rows", 1, mostQueries}};
    return keys;
  }

  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    Type type = elementOf(anchor.scores.getResult());
    int64_t queries = *anchor.queries().known(),
            keys = std::min(keysOfBlock, anchor.keys().most());
    TileChoice values =
        TileModel(queries, anchor.width(), keys, target, type).ranked().front();
    return {Plan(anchor.softmax->getContext(),
                 {{"keys", keys},
                  {"queries", queries},
                  {"value_columns", values.vectors * target.maxLanes(type)},
                  {"value_rows", values.rows}})};
  }

  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override {
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
    Operation *keys = nullptr;
    SmallVector<Operation *> taken =
        takeAttention(producer, isMember, isFree, /*asTheyLie=*/false,
                      [&](const AttentionAnchor &anchor) {
                        if (!suits(anchor, target))
                          return false;
                        keys = anchor.scores.getB().getDefiningOp();
                        return keys->hasOneUse() && isFree(keys);
                      });
    if (!taken.empty())
      taken.push_back(keys);
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
