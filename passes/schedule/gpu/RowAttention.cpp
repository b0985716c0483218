// Attention with few queries on a device, reading each key and value once.
//
// The kernel takes about as long as loading keys and values does, as in a
// decoder with one query and a KV cache. A block processes one head, and its
// threads divide the keys. A group of adjacent threads shares a key: each
// thread reads some 16-byte vectors of the row of the key, and of the row of
// its value:
//
//   largest = -inf, total = 0, sums = 0                    per group
//   for the group's keys, some at a time:
//     scores = f(q x keys)          reduced over the group by shuffles
//     larger = max(largest, scores), correction = e^(largest - larger)
//     weights = e^(scores - larger), largest = larger
//     total = total * correction + sum of the weights
//     sums = sums * correction + weights x values
//   shared memory <- largest, total, sums
//   barrier
//   total, sums = those of all groups, each multiplied by
//                 e^(largest of the group - largest of all groups), added
//   result = epilogue(sums / total)

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/AttentionBlock.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "passes/schedule/gpu/Sharing.h"
#include "passes/schedule/tiles/TileChoice.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The parameters of a kernel: the queries per head, the warps of a thread
/// block, and the keys that a group of adjacent threads processes at a time.
struct RowAttentionTile {
  int64_t queries, warps, keys;
  /// Elements of a 16-byte vector, and how many such vectors of each key row
  /// and value row a thread reads.
  int64_t vectorElements, keyVectors, valueVectors;
  /// The number of threads in a group: adjacent threads that share each key.
  int64_t together;

  RowAttentionTile(const AttentionAnchor &anchor, int64_t warps, int64_t keys,
                   int64_t warp)
      : queries(anchor.queries().most()), warps(warps), keys(keys),
        vectorElements(vectorAccessBytes /
                       bytesOf(elementOf(anchor.product.getB()))) {
    keyVectors = anchor.depth() / vectorElements;
    valueVectors = anchor.width() / vectorElements;
    together = warp;
    while (together > 1 && std::gcd(keyVectors, valueVectors) % together != 0)
      together /= 2;
    keyVectors /= together;
    valueVectors /= together;
  }
  int64_t groups(int64_t warp) const { return warps * warp / together; }
  int64_t sharedBytes(int64_t warp) const {
    return 4 * groups(warp) * queries *
           (valueVectors * together * vectorElements + 2);
  }
  int64_t registers() const {
    return (queries * (keyVectors + valueVectors) +
            keys * std::max(keyVectors, valueVectors)) *
               vectorElements +
           queries * (keys + 2) + 40;
  }
};

class RowAttentionKernel {
public:
  RowAttentionKernel(KernelBuilder &b, AttentionAnchor anchor,
                     const RowAttentionTile &tile)
      : b(b), block(b, anchor), anchor(anchor), tile(tile), type(block.type),
        groups(tile.groups(b.target.device.warp)) {}

  void emit() {
    largests = b.shared({groups, tile.queries}, type, "largest_of_groups");
    totals = b.shared({groups, tile.queries}, type, "totals_of_groups");
    parts = b.shared({groups, tile.queries, anchor.width()}, type,
                     "sums_of_groups");
    block.forBlocks(tile.queries, threads(), [&](Expr, Expr thread) {
      this->thread = thread;
      group = named(thread / double(tile.together), "group");
      place =
          named(thread % double(tile.together) * double(tile.vectorElements),
                "first_element");
      for (int64_t m = 0; m < tile.queries; ++m)
        overElements(tile.keyVectors, [&](Expr at) {
          queries.push_back(
              named(block.operand(block.queryOperand(), queryAt(m), at),
                    "query_" + Twine(queries.size())));
        });
      keep(overKeys());
      b.barrier();
      finish();
    });
  }

private:
  int64_t threads() const { return tile.warps * b.target.device.warp; }
  int64_t keyElements() const { return tile.keyVectors * tile.vectorElements; }
  int64_t valueElements() const {
    return tile.valueVectors * tile.vectorElements;
  }
  bool fitsKeys() const {
    return anchor.keys().known() &&
           *anchor.keys().known() % (groups * tile.keys) == 0;
  }
  bool knowsQueries() const { return anchor.queries().known().has_value(); }

  Expr queryAt(int64_t m) {
    return knowsQueries() || m == 0
               ? b.index(m)
               : min(b.index(m), b.size(anchor.queries()) - 1.0);
  }

  /// Calls `body` with the index of each element that this thread reads of a
  /// row, in all `vectors` 16-byte vectors.
  void overElements(int64_t vectors, llvm::function_ref<void(Expr)> body) {
    for (int64_t j = 0; j < vectors; ++j)
      for (int64_t i = 0; i < tile.vectorElements; ++i)
        body(place + double(j * tile.together * tile.vectorElements + i));
  }

  AttentionState overKeys() {
    int64_t round = groups * tile.keys;
    Dim trips = (anchor.keys() + (round - 1)).floorDiv(round);
    Exprs after =
        b.loop(trips,
               block.firstState(tile.queries, tile.queries * valueElements())
                   .carried(),
               [&](Expr trip, ArrayRef<Expr> carried) {
                 named(trip, "iteration");
                 AttentionState state(carried, tile.queries);
                 Expr firstKey =
                     named(trip * double(round) + group, "first_key");
                 Exprs keys;
                 for (int64_t u = 0; u < tile.keys; ++u)
                   keys.push_back(
                       named(firstKey + double(u * groups), "key_" + Twine(u)));
                 addKeys(state, keys);
                 return state.carried();
               });
    return AttentionState(after, tile.queries);
  }

  Expr readable(Expr key) {
    return fitsKeys() ? key : min(key, b.size(anchor.keys()) - 1.0);
  }

  void addKeys(AttentionState &state, ArrayRef<Expr> keys) {
    // Compute this thread's part of each dot product of a key and a query.
    Exprs scores;
    for (Expr key : keys) {
      Exprs products(tile.queries, block.zero());
      int64_t n = 0;
      overElements(tile.keyVectors, [&](Expr at) {
        Expr k = named(block.operand(block.keyOperand(), at, readable(key)),
                       "k_" + Twine(n));
        for (int64_t m = 0; m < tile.queries; ++m)
          products[m] = named(
              fma(queries[m * keyElements() + n], k, products[m]), "product");
        ++n;
      });
      llvm::append_range(scores, products);
    }
    for (size_t u = 0; u < keys.size(); ++u)
      for (int64_t m = 0; m < tile.queries; ++m) {
        Expr &score = scores[u * tile.queries + m];
        score = block.across(tile.together, score, sumOf);
        score = named(block.scoreInside(score, queryAt(m), keys[u], fitsKeys()),
                      "score");
      }
    Exprs corrections;
    for (int64_t m = 0; m < tile.queries; ++m) {
      Expr top = state.largest[m];
      for (size_t u = 0; u < keys.size(); ++u)
        top = largerOf(top, scores[u * tile.queries + m]);
      Expr shift = block.shiftOf(top);
      corrections.push_back(
          named(block.weight(state.largest[m], shift), "correction"));
      Expr total = state.total[m] * corrections[m];
      for (size_t u = 0; u < keys.size(); ++u) {
        Expr &score = scores[u * tile.queries + m];
        score = named(block.weight(score, shift), "weight");
        total = sumOf(total, score);
        score = block.rounded(score);
        score.type = type;
      }
      state.largest[m] = top;
      state.total[m] = total;
    }
    block.correct(state, corrections,
                  [&](int64_t n) { return n / valueElements(); });
    for (size_t u = 0; u < keys.size(); ++u) {
      Expr key = readable(keys[u]);
      int64_t n = 0;
      overElements(tile.valueVectors, [&](Expr at) {
        Expr v = named(block.operand(block.valueOperand(), key, at),
                       "v_" + Twine(n));
        for (int64_t m = 0; m < tile.queries; ++m) {
          Expr &sum = state.sums[m * valueElements() + n];
          sum = named(fma(scores[u * tile.queries + m], v, sum),
                      "sum_" + Twine(n));
        }
        ++n;
      });
    }
  }

  void keep(const AttentionState &state) {
    for (int64_t m = 0; m < tile.queries; ++m) {
      int64_t n = 0;
      overElements(tile.valueVectors, [&](Expr at) {
        b.store(parts, state.sums[m * valueElements() + n++],
                {group, b.index(m), at});
      });
    }
    b.when(equal(place, 0.0), [&] {
      for (int64_t m = 0; m < tile.queries; ++m) {
        b.store(largests, state.largest[m], {group, b.index(m)});
        b.store(totals, state.total[m], {group, b.index(m)});
      }
    });
  }

  void finish() {
    share(b, thread, threads(), tile.queries * anchor.width(), [&](Expr mine) {
      Expr column = tile.queries == 1
                        ? mine
                        : named(mine % double(anchor.width()), "column"),
           query = tile.queries == 1
                       ? b.index(0)
                       : named(mine / double(anchor.width()), "query");
      auto of = [&](Value array, Expr group) {
        return b.loadFrom(array, type, {group, query});
      };
      Expr top = b.reduce(groups, block.lowest(), [&](Expr group, Expr acc) {
        return largerOf(acc, of(largests, named(group, "group")));
      });
      Expr shift = block.shiftOf(top);
      Exprs both = b.loop(
          Dim(groups), {block.zero(), block.zero()},
          [&](Expr group, ArrayRef<Expr> carried) -> Exprs {
            named(group, "group");
            Expr correction =
                named(block.weight(of(largests, group), shift), "correction");
            return {
                named(fma(of(totals, group), correction, carried[0]), "total"),
                named(fma(b.loadFrom(parts, type, {group, query, column}),
                          correction, carried[1]),
                      "sum")};
          });
      auto store = [&] {
        block.storeResult(both[1], named(1.0 / both[0], "factor"), query,
                          column);
      };
      knowsQueries() ? store()
                     : b.when(query < b.size(anchor.queries()), store);
    });
  }

  KernelBuilder &b;
  AttentionBlock block;
  AttentionAnchor anchor;
  RowAttentionTile tile;
  Type type;
  int64_t groups;
  Value largests, totals, parts;
  /// This thread's elements of the rows of all queries.
  Exprs queries;
  Expr thread, group, place;
};

class RowAttentionStrategy : public AttentionStrategyOnDevice {
public:
  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"keys", 1, 16}, {"warps", 1, 32}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    using Choice = std::pair<int64_t, int64_t>;
    Ranking<Choice> ranking;
    for (int64_t warps : {4, 8, 16, 2, 1})
      for (int64_t keys : {4, 2, 8, 1})
        if (refuse(anchor, {warps, keys}, group.target).empty())
          ranking.add({warps, keys},
                      seconds(anchor, {warps, keys}, group.target));
    return plansOf(std::move(ranking).ranked({1, 1}), [&](Choice choice) {
      return Plan(anchor.softmax->getContext(),
                  {{"keys", choice.second}, {"warps", choice.first}});
    });
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuse(AttentionAnchor::of(group),
                  {plan.number("warps"), plan.number("keys")}, group.target);
  }

  void emit(KernelBuilder &b) const override {
    AttentionAnchor anchor = AttentionAnchor::of(b.group);
    RowAttentionKernel(b, anchor,
                       {anchor, b.plan.number("warps"), b.plan.number("keys"),
                        b.target.device.warp})
        .emit();
  }

protected:
  bool suits(const AttentionAnchor &anchor,
             const TargetDescription &target) const override {
    constexpr int64_t few = 8;
    int64_t rank = int64_t(shapeOf(anchor.scores.getB()).size()),
            vectorElements =
                vectorAccessBytes / bytesOf(elementOf(anchor.product.getB()));
    return anchor.queries().most() < few &&
           anchor.depth() % vectorElements == 0 &&
           anchor.width() % vectorElements == 0 &&
           OperandPlace::of(anchor.scores.getB()).liesAlong(rank - 2) &&
           OperandPlace::of(anchor.product.getB()).liesAlong(rank - 1) &&
           refuse(anchor, {1, 1}, target).empty();
  }

private:
  static std::string refuse(const AttentionAnchor &anchor,
                            std::pair<int64_t, int64_t> choice,
                            const TargetDescription &target) {
    int64_t warp = target.device.warp;
    RowAttentionTile tile(anchor, choice.first, choice.second, warp);
    return refuseBlock(tile.warps * warp, tile.sharedBytes(warp),
                       tile.registers(), target);
  }

  /// Estimates the time. Memory bandwidth is reached only with enough loads in
  /// flight: a thread waits about 500 ns (400 to 900 cycles, measured on GPUs
  /// from Volta to Hopper) for the vectors of a set of keys, then for those of
  /// the values. A shuffle takes about 25 cycles, and several are in flight.
  static double seconds(const AttentionAnchor &anchor,
                        std::pair<int64_t, int64_t> choice,
                        const TargetDescription &target) {
    const Device &device = target.device;
    RowAttentionTile tile(anchor, choice.first, choice.second, device.warp);
    constexpr double latency = 500e-9, cycle = 1 / 1.5e9;
    double groups = double(tile.groups(device.warp)),
           threads = double(tile.warps * device.warp),
           blocks = double(product(ArrayRef<Dim>(anchor.batches())).most());
    double trips =
        std::ceil(double(anchor.keys().most()) / (groups * double(tile.keys)));
    double bytes = blocks * double(anchor.keys().most()) *
                   double(anchor.depth() + anchor.width()) *
                   double(bytesOf(elementOf(anchor.product.getB())));
    double resident =
        std::max(1.0, std::floor(device.residentThreads / threads));
    double flying = std::min(blocks, device.multiprocessors * resident) *
                    threads *
                    double(tile.keys * tile.keyVectors * vectorAccessBytes);
    double share = std::min(1.0, flying / (device.bytesPerSecond * latency));
    double exchanges = double(tile.keys * tile.queries) *
                       std::log2(double(tile.together)) * 8 * cycle;
    double waves = std::ceil(blocks / (device.multiprocessors * resident));
    return bytes / device.bytesPerSecond / share +
           waves *
               (trips * (2 * latency + exchanges) + groups * 2 * 10 * cycle);
  }
};

} // namespace

std::unique_ptr<Strategy> createRowAttentionStrategy() {
  return std::make_unique<RowAttentionStrategy>();
}

} // namespace ingot::schedule
