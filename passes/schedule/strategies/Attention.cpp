// Attention on CPUs without storing the matrix of scores: see AttentionLoops.h.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/AttentionLoops.h"
#include "passes/schedule/tiles/DotTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The most bytes of stack memory for the arrays of one work item (a block of
/// queries of one head). A thread can spare that much, and the L2 cache can
/// hold it beside keys and values.
constexpr int64_t mostStackBytes = 64 << 10;
/// The fewest queries per head. With fewer, the matrix products are in effect
/// matrix-vector products, which are bound by memory bandwidth.
constexpr int64_t leastQueries = 4;
/// The most elements of a key and a value together. With more, the arrays of a
/// block of queries do not fit the stack memory.
constexpr int64_t widestHeads = 1024;

/// Returns how the target computes dot products of bf16 or f16 operands;
/// nothing for f32 operands, or if the target has no such dot products.
std::optional<DotForm> dotFormOf(AttentionAnchor anchor,
                                 const TargetDescription &target) {
  return dotForm(anchor.scores, target);
}

bool suits(AttentionAnchor anchor, const TargetDescription &target) {
  Type type = elementOf(anchor.scores.getResult());
  return anchor.isOfF32() && !target.smallCode && !target.freestanding &&
         target.maxLanes(type) > 1 && anchor.queries().most() >= leastQueries &&
         anchor.depth() + anchor.width() <= widestHeads &&
         (!anchor.rounding ||
          (dotFormOf(anchor, target) && anchor.keys().known()));
}

class AttentionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    return anchor && suits(anchor, group.target) && !group.isStrict();
  }

  bool takesDynamicSizes() const override { return true; }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {
        {"keys", 1, 1 << 16},          {"queries", 1, 1 << 12},
        {"score_columns", 1, 1 << 16}, {"score_rows", 1, 1 << 12},
        {"value_columns", 1, 1 << 16}, {"value_rows", 1, 1 << 12}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    Ranking<Plan> ranking;
    // Each block of queries reads all keys and values. Small blocks would wait
    // for the outer caches, so try blocks of at least 24 queries first.
    for (int64_t least = 24; least > 0 && std::isinf(ranking.leastCost());
         least /= 2)
      for (int64_t keys : keysOf(anchor))
        for (int64_t queries : queriesOf(anchor, least)) {
          Plan plan = planOf(anchor, queries, keys, group.target);
          if (stackBytes(anchor, plan, group.target) <= mostStackBytes)
            ranking.add(plan, cost(group, plan));
        }
    std::vector<Plan> ranked =
        std::move(ranking).ranked(planOf(anchor, 1, 1, group.target));
    return SmallVector<Plan>(ArrayRef(ranked).take_front(mostPlans));
  }

  double cost(GroupOnTarget group, const Plan &plan) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    int64_t block = plan.number("queries"),
            keys = std::min(plan.number("keys"), anchor.keys().most());
    auto over = [](int64_t all, int64_t part, auto cycles) {
      return double(all / part) * cycles(part) +
             (all % part ? cycles(all % part) : 0);
    };
    double head = over(anchor.queries().most(), block, [&](int64_t rows) {
      return over(anchor.keys().most(), keys, [&](int64_t count) {
        return cyclesOfBlock(anchor, plan, rows, count, group.target);
      });
    });
    // Queries that remain after the last whole block need a second copy of the
    // code, which costs compile time. The factor ranks plans with such queries
    // behind equally fast plans without them.
    constexpr double moreCode = 1.04;
    if (anchor.queries().divisor() % block != 0)
      head *= moreCode;
    return head * double(product(ArrayRef<Dim>(anchor.batches())).most());
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    int64_t bytes = stackBytes(anchor, plan, group.target);
    if (bytes > mostStackBytes)
      return "the arrays for " + std::to_string(plan.number("queries")) +
             " queries take " + std::to_string(bytes) +
             " bytes, but may use at most " + std::to_string(mostStackBytes) +
             " bytes of the stack";
    std::string why = refuseTile(tileOf(plan, "score", anchor, group.target),
                                 anchor.depth(), group.isStrict());
    return why.empty() ? refuseTile(tileOf(plan, "value", anchor, group.target),
                                    anchor.keys().most(), group.isStrict())
                       : why;
  }

  SmallVector<Operation *> takes(Operation *producer,
                                 llvm::function_ref<bool(Operation *)> isMember,
                                 llvm::function_ref<bool(Operation *)> isFree,
                                 const TargetDescription &target,
                                 bool packs) const override {
    return takeAttention(
        producer, isMember, isFree, /*inStoredLayout=*/false,
        [&](const AttentionAnchor &anchor) { return suits(anchor, target); });
  }

  void emit(KernelBuilder &b) const override {
    buildAttention(b, AttentionAnchor::of(b.group));
  }

private:
  /// Returns candidate numbers of keys per block: all keys if they are few,
  /// else fixed numbers.
  static SmallVector<int64_t> keysOf(AttentionAnchor anchor) {
    constexpr int64_t few = 256;
    if (anchor.keys().most() <= few)
      return {anchor.keys().most()};
    return {64, 96, 128};
  }

  /// Returns candidate numbers of queries per block, from `least` to 64:
  /// multiples of common tile heights (6 and 8), and divisors of the number of
  /// queries.
  static SmallVector<int64_t> queriesOf(AttentionAnchor anchor, int64_t least) {
    SmallVector<int64_t> counts;
    int64_t all = anchor.queries().most(), most = std::min<int64_t>(all, 64);
    for (int64_t count = std::min(least, all); count <= most; ++count)
      if (count % 8 == 0 || count % 6 == 0 || all % count == 0)
        counts.push_back(count);
    return counts;
  }

  static TileChoice tileOf(const Plan &plan, const std::string &what,
                           AttentionAnchor anchor,
                           const TargetDescription &target) {
    int64_t lanes = target.maxLanes(elementOf(anchor.scores.getResult()));
    return {plan.number(what + "_rows"),
            int64_t(llvm::divideCeil(plan.number(what + "_columns"), lanes))};
  }

  /// Calls `body` with the cost model of a matrix product [rows, K] x [K,
  /// columns], where K is `steps`, in the types of the attention.
  template <typename BodyT>
  static auto withModel(AttentionAnchor anchor, int64_t rows, int64_t columns,
                        int64_t steps, const TargetDescription &target,
                        BodyT body) {
    if (auto form = dotFormOf(anchor, target))
      return body(DotModel(rows, columns, steps, *form, target));
    return body(TileModel(rows, columns, steps, target,
                          elementOf(anchor.scores.getResult())));
  }

  static Plan planOf(AttentionAnchor anchor, int64_t queries, int64_t keys,
                     const TargetDescription &target) {
    auto best = [](auto model) { return model.ranked().front(); };
    TileChoice scores = withModel(anchor, queries, keys, anchor.depth(), target,
                                  best),
               values = withModel(anchor, queries, anchor.width(), keys, target,
                                  best);
    int64_t lanes = target.maxLanes(elementOf(anchor.scores.getResult()));
    return Plan(anchor.softmax->getContext(),
                {{"keys", keys},
                 {"queries", queries},
                 {"score_columns", scores.vectors * lanes},
                 {"score_rows", scores.rows},
                 {"value_columns", values.vectors * lanes},
                 {"value_rows", values.rows}});
  }

  /// Estimates the cycles of a block of `rows` queries and `count` keys.
  static double cyclesOfBlock(AttentionAnchor anchor, const Plan &plan,
                              int64_t rows, int64_t count,
                              const TargetDescription &target) {
    // Cycles of the softmax for each vector of scores, and for each query
    // (horizontal reductions, and the correction of previous sums).
    constexpr double ofVector = 8, ofQuery = 40;
    double lanes =
        double(target.maxLanes(elementOf(anchor.scores.getResult())));
    auto cyclesOf = [&](const std::string &what) {
      return [&, what](auto model) {
        return model.cycles(tileOf(plan, what, anchor, target));
      };
    };
    return withModel(anchor, rows, count, anchor.depth(), target,
                     cyclesOf("score")) +
           withModel(anchor, rows, anchor.width(), count, target,
                     cyclesOf("value")) +
           double(rows) * (ofVector * double(count) / lanes + ofQuery);
  }

  static int64_t stackBytes(AttentionAnchor anchor, const Plan &plan,
                            const TargetDescription &target) {
    int64_t keys = std::min(plan.number("keys"), anchor.keys().most()),
            lanes = target.maxLanes(elementOf(anchor.scores.getResult())),
            row = anchor.depth() + int64_t(llvm::alignTo(keys, lanes)) + 1 +
                  (keys < anchor.keys().most() ? anchor.width() + 1 : 0);
    return plan.number("queries") * row * 4;
  }
};

} // namespace

std::unique_ptr<Strategy> createAttentionStrategy() {
  return std::make_unique<AttentionStrategy>();
}

} // namespace ingot::schedule
