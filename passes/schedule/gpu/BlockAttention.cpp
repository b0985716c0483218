// Attention in f32 by thread blocks, without storing the matrix of scores.
//
//   softmax(f(Q x K)) x V, f elementwise
//
// A block processes some queries of one head, and each thread a few of these. A
// thread computes their scores with some adjacent keys of each block of keys,
// and their weighted sums for some columns of the values. The operands of both
// matrix products are in shared memory:
//
//   query_tile <- queries, transposed: [step][query]
//   largest = -inf, total = 0, sums = 0
//   for each block of keys:
//     key_tile, value_tile <- keys and values; barrier
//     scores = f(query_tile x key_tile)
//     larger = max(largest, scores)   over the threads with the same queries
//     correction = e^(largest - larger), largest = larger
//     weight_tile <- weights = e^(scores - larger); barrier
//     total = total * correction + sum of the weights
//     sums = sums * correction + weight_tile x value_tile; barrier
//   result = epilogue(sums / total)
//
// If there are few queries for the device, the threads of a block form slices,
// which divide the keys of each block of keys and finally merge their states
// (largest, total, sums) through shared memory. Operands in narrow float types
// that no tensor core multiplies are widened when they are loaded.

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/PlanFields.h"
#include "passes/schedule/gpu/AttentionBlock.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The tile of a thread block: `queries` queries and `keys` keys at a time.
/// `across` threads share each group of `threadQueries` queries. `slices` sets
/// of threads process the same queries and divide the keys.
struct BlockAttentionTile {
  int64_t queries, keys, across, threadQueries, slices = 1;

  int64_t ofSlice() const { return queries / threadQueries * across; }
  int64_t threads() const { return ofSlice() * slices; }
  /// Keys per slice (a set of threads) and per thread in each block of keys.
  int64_t sliceKeys() const { return keys / slices; }
  int64_t threadKeys() const { return sliceKeys() / across; }
  int64_t threadColumns(int64_t width) const {
    return llvm::divideCeil(width, across);
  }
  /// The length in elements of a row of `count` queries or keys in shared
  /// memory, padded by 16 bytes so that threads that store a column use
  /// different banks.
  static int64_t row(int64_t count) { return count + 4; }
  int64_t sharedBytes(const AttentionAnchor &anchor) const {
    return 4 * (anchor.depth() * (row(queries) + row(keys)) +
                keys * (threadColumns(anchor.width()) * across + row(queries)) +
                ShapedType::getNumElements(parts(anchor)));
  }
  SmallVector<int64_t> parts(const AttentionAnchor &anchor) const {
    return AttentionBlock::partsOfSlices(slices, ofSlice(), threadQueries,
                                         threadQueries *
                                             threadColumns(anchor.width()));
  }
  int64_t registers(const AttentionAnchor &anchor) const {
    return threadQueries * (threadKeys() + threadColumns(anchor.width()) + 4) +
           threadColumns(anchor.width()) + 48;
  }
};

class BlockAttentionKernel {
public:
  BlockAttentionKernel(KernelBuilder &b, AttentionAnchor anchor,
                       const BlockAttentionTile &tile)
      : b(b), block(b, anchor), anchor(anchor), tile(tile), type(block.type),
        columns(tile.threadColumns(anchor.width())) {}

  void emit() {
    queryTile =
        b.shared({anchor.depth(), tile.row(tile.queries)}, type, "query_tile");
    keyTile = b.shared({anchor.depth(), tile.row(tile.keys)}, type, "key_tile");
    valueTile = b.shared({tile.keys, width()}, type, "value_tile");
    weightTile =
        b.shared({tile.keys, tile.row(tile.queries)}, type, "weight_tile");
    if (tile.slices > 1)
      parts = b.shared(tile.parts(anchor), type, "parts_of_slices");
    block.forBlocks(tile.queries, tile.threads(), [&](Expr part, Expr thread) {
      this->thread = thread;
      firstQuery = named(part * double(tile.queries), "first_query");
      Expr inSlice = thread;
      slice = sliceKey = b.index(0);
      if (tile.slices > 1) {
        slice = named(thread / double(tile.ofSlice()), "slice");
        sliceKey = named(slice * double(tile.sliceKeys()), "slice_key");
        inSlice = named(thread % double(tile.ofSlice()), "thread_of_slice");
      }
      double across = double(tile.across);
      ownQuery = named(inSlice / across * double(tile.threadQueries),
                       "first_query_of_thread");
      ownKey = named(sliceKey + inSlice % across * double(tile.threadKeys()),
                     "first_key_of_thread");
      ownColumn = named(inSlice % across * double(columns), "first_column");
      fillQueries();
      AttentionState state = overKeys();
      if (tile.slices == 1)
        return finish(state);
      block.mergeSlices(state, tile.slices, slice, inSlice, parts,
                        [&](int64_t n) { return queryOf(n); });
      b.when(equal(slice, 0.0), [&] { finish(state); });
    });
  }

private:
  int64_t width() const { return columns * tile.across; }
  bool fitsKeys() const {
    return anchor.keys().known() && *anchor.keys().known() % tile.keys == 0;
  }
  bool fitsQueries() const {
    return anchor.queries().known() &&
           *anchor.queries().known() % tile.queries == 0;
  }
  Expr readable(Expr query) {
    return fitsQueries() ? query : min(query, b.size(anchor.queries()) - 1.0);
  }
  Expr queryAt(int64_t i) {
    return named(firstQuery + ownQuery + double(i), "query_" + Twine(i));
  }

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  /// Emits `one` for each element of a `rows` x `columns` tile of `operand`.
  /// The threads of the block divide the elements so that adjacent threads
  /// access adjacent elements along the operand's contiguous axis.
  void fill(Value operand, int64_t rows, int64_t columns,
            llvm::function_ref<void(Expr row, Expr column)> one) {
    OperandPlace place = OperandPlace::of(operand);
    bool alongRows = place.liesAlong(int64_t(shapeOf(operand).size()) - 2);
    b.loop(thread, b.index(rows * columns), tile.threads(), {},
           [&](Expr mine, ArrayRef<Expr>) -> Exprs {
             named(mine, "element");
             double side = double(alongRows ? rows : columns);
             Expr inner = mine % side, outer = mine / side;
             alongRows ? one(inner, outer) : one(outer, inner);
             return {};
           });
  }

  void fillQueries() {
    fill(block.queryOperand(), tile.queries, anchor.depth(),
         [&](Expr query, Expr step) {
           b.store(queryTile,
                   block.operand(block.queryOperand(),
                                 readable(firstQuery + query), step),
                   {step, query});
         });
  }

  void fillKeys(Expr firstKey) {
    Expr count = b.size(anchor.keys());
    auto guarded = [&](std::optional<Expr> inside,
                       llvm::function_ref<Expr()> load) {
      return inside ? b.ifElse(*inside, load, [&] { return block.zero(); })
                    : load();
    };
    fill(block.keyOperand(), anchor.depth(), tile.keys,
         [&](Expr step, Expr key) {
           Expr at = firstKey + key;
           std::optional<Expr> inside;
           if (!fitsKeys())
             inside = at < count;
           b.store(keyTile,
                   guarded(inside,
                           [&] {
                             return block.operand(block.keyOperand(), step, at);
                           }),
                   {step, key});
         });
    fill(block.valueOperand(), tile.keys, width(), [&](Expr key, Expr column) {
      Expr at = firstKey + key;
      std::optional<Expr> inside;
      if (!fitsKeys())
        inside = at < count;
      if (width() != anchor.width()) {
        Expr isColumn = column < double(anchor.width());
        inside = inside ? *inside & isColumn : isColumn;
      }
      b.store(valueTile,
              guarded(inside,
                      [&] {
                        return block.operand(block.valueOperand(), at, column);
                      }),
              {key, column});
    });
  }

  //===--------------------------------------------------------------------===//
  // Steps of the algorithm
  //===--------------------------------------------------------------------===//

  /// Returns the number, among this thread's queries, of the query to which sum
  /// number `n` belongs.
  int64_t queryOf(int64_t n) const { return n / columns; }

  AttentionState overKeys() {
    int64_t queries = tile.threadQueries;
    Dim blocks = (anchor.keys() + (tile.keys - 1)).floorDiv(tile.keys);
    Exprs after = b.loop(
        blocks, block.firstState(queries, queries * columns).carried(),
        [&](Expr number, ArrayRef<Expr> carried) {
          named(number, "block_of_keys");
          AttentionState state(carried, queries);
          Expr firstKey = named(number * double(tile.keys), "first_key");
          fillKeys(firstKey);
          b.barrier();
          weigh(state,
                multiply(queryTile, keyTile, b.index(0), ownKey,
                         tile.threadKeys(), anchor.depth(), "score", "step",
                         Exprs(queries * tile.threadKeys(), block.zero())),
                firstKey);
          b.barrier();
          state.sums =
              multiply(weightTile, valueTile, sliceKey, ownColumn, columns,
                       tile.sliceKeys(), "sum", "key", state.sums);
          b.barrier();
          return state.carried();
        });
    return AttentionState(after, queries);
  }

  /// Multiplies this thread's queries (rows of `left`) by columns [column,
  /// column + count) of `right`, at the indices [first, first + steps) of the K
  /// dimension. Returns `sums` plus these products. `name` and `step` are the
  /// names of a sum and of an index along K in the generated code.
  Exprs multiply(Value left, Value right, Expr first, Expr column,
                 int64_t count, int64_t steps, StringRef name, StringRef step,
                 const Exprs &sums) {
    return b.loop(
        b.index(0), b.index(steps), 1, sums,
        [&](Expr at, ArrayRef<Expr> carried) {
          named(at, step);
          if (tile.slices > 1)
            at = named(first + at, step + "_of_tile");
          Exprs ofQuery, ofColumn, after;
          for (int64_t i = 0; i < tile.threadQueries; ++i)
            ofQuery.push_back(
                named(b.loadFrom(left, type, {at, ownQuery + double(i)}),
                      "left_" + Twine(i)));
          for (int64_t j = 0; j < count; ++j)
            ofColumn.push_back(
                named(b.loadFrom(right, type, {at, column + double(j)}),
                      "right_" + Twine(j)));
          for (int64_t i = 0; i < tile.threadQueries; ++i)
            for (int64_t j = 0; j < count; ++j)
              after.push_back(
                  named(fma(ofQuery[i], ofColumn[j], carried[i * count + j]),
                        name + "_" + Twine(i) + "_" + Twine(j)));
          return after;
        });
  }

  /// Computes the weights of this thread's keys in the block of keys that
  /// begins at `firstKey`, from `scores` (dot products), and stores them in
  /// shared memory, where all threads of the block can read them. Updates
  /// `state` for these keys, except that the weighted values are not added to
  /// its sums yet.
  void weigh(AttentionState &state, Exprs scores, Expr firstKey) {
    int64_t count = tile.threadKeys();
    Exprs corrections;
    for (int64_t i = 0; i < tile.threadQueries; ++i) {
      auto mine = MutableArrayRef(scores).slice(i * count, count);
      Expr query = readable(queryAt(i)), top = state.largest[i];
      for (int64_t j = 0; j < count; ++j) {
        Expr key = named(firstKey + ownKey + double(j), "key_" + Twine(j));
        mine[j] = named(block.scoreInside(mine[j], query, key, fitsKeys()),
                        "score_" + Twine(i) + "_" + Twine(j));
        top = largerOf(top, mine[j]);
      }
      top = block.across(tile.across, top, largerOf);
      Expr shift = block.shiftOf(top);
      corrections.push_back(
          named(block.weight(state.largest[i], shift), "correction"));
      Expr total = state.total[i] * corrections[i];
      for (int64_t j = 0; j < count; ++j) {
        Expr weight = named(block.weight(mine[j], shift), "weight");
        total = sumOf(total, weight);
        Expr rounded = block.rounded(weight);
        rounded.type = type;
        b.store(weightTile, rounded,
                {ownKey + double(j), ownQuery + double(i)});
      }
      state.largest[i] = top;
      state.total[i] = total;
    }
    block.correct(state, corrections, [&](int64_t n) { return queryOf(n); });
  }

  void finish(const AttentionState &state) {
    for (int64_t i = 0; i < tile.threadQueries; ++i) {
      Expr factor = named(
          1.0 / block.across(tile.across, state.total[i], sumOf), "factor");
      Expr query = queryAt(i);
      auto store = [&] {
        for (int64_t j = 0; j < columns; ++j) {
          Expr column = named(ownColumn + double(j), "column_" + Twine(j));
          auto one = [&] {
            block.storeResult(state.sums[i * columns + j], factor, query,
                              column);
          };
          width() == anchor.width()
              ? one()
              : b.when(column < double(anchor.width()), one);
        }
      };
      fitsQueries() ? store() : b.when(query < b.size(anchor.queries()), store);
    }
  }

  KernelBuilder &b;
  AttentionBlock block;
  AttentionAnchor anchor;
  BlockAttentionTile tile;
  Type type;
  /// The number of columns of the values for which a thread computes sums.
  int64_t columns;
  Value queryTile, keyTile, valueTile, weightTile, parts;
  Expr thread, slice, sliceKey, firstQuery, ownQuery, ownKey, ownColumn;
};

class BlockAttentionStrategy : public AttentionStrategyOnDevice {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    Ranking<BlockAttentionTile> ranking;
    for (BlockAttentionTile tile : tiles)
      for (int64_t slices : {1, 2, 4}) {
        tile.slices = slices;
        if (refuse(anchor, tile, group.target).empty())
          ranking.add(tile, seconds(anchor, tile, group.target));
      }
    return fields.plans(anchor.softmax->getContext(),
                        std::move(ranking).ranked(smallest));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuse(AttentionAnchor::of(group), fields.tileOf(plan),
                  group.target);
  }

  void emit(KernelBuilder &b) const override {
    BlockAttentionKernel(b, AttentionAnchor::of(b.group), fields.tileOf(b.plan))
        .emit();
  }

protected:
  bool suits(const AttentionAnchor &anchor,
             const TargetDescription &target) const override {
    // With fewer queries, the matrix products are bound by memory bandwidth, as
    // matrix-vector products are.
    constexpr int64_t fewest = 8;
    return anchor.queries().most() >= fewest &&
           refuse(anchor, smallest, target).empty();
  }

private:
  static inline const PlanFields<BlockAttentionTile> fields = {
      {{"across", 1, 32}, &BlockAttentionTile::across},
      {{"keys", 1, 256}, &BlockAttentionTile::keys},
      {{"queries", 1, 256}, &BlockAttentionTile::queries},
      {{"slices", 1, 16}, &BlockAttentionTile::slices},
      {{"thread_queries", 1, 16}, &BlockAttentionTile::threadQueries}};

  static constexpr BlockAttentionTile smallest = {16, 16, 16, 2};
  static constexpr BlockAttentionTile tiles[] = {
      {64, 64, 16, 8}, {64, 32, 16, 8}, {64, 64, 16, 4}, {64, 32, 16, 4},
      {32, 64, 16, 4}, {32, 32, 16, 4}, {32, 16, 16, 4}, {32, 32, 16, 2},
      {32, 32, 8, 4},  {16, 64, 16, 2}, {16, 32, 16, 2}, {16, 32, 8, 2},
      {16, 64, 8, 4},  {16, 64, 16, 1}, {8, 64, 16, 1},  {8, 32, 16, 1},
      {8, 32, 8, 1},   {8, 32, 8, 2},   smallest};

  static std::string refuse(const AttentionAnchor &anchor,
                            const BlockAttentionTile &tile,
                            const TargetDescription &target) {
    if (!llvm::isPowerOf2_64(tile.across) ||
        tile.keys % (tile.across * tile.slices) ||
        tile.queries % tile.threadQueries)
      return "the queries and keys of a block cannot be divided evenly among "
             "its threads";
    if (tile.ofSlice() % target.device.warp)
      return "a slice has " + std::to_string(tile.ofSlice()) +
             " threads, which is not a multiple of the warp size";
    if (!llvm::isPowerOf2_64(tile.slices))
      return "the number of slices must be a power of two, since slices are "
             "merged in pairs";
    return refuseBlock(tile.threads(), tile.sharedBytes(anchor),
                       tile.registers(anchor), target);
  }

  /// Estimates the seconds of the kernel. Per block of keys: operands come from
  /// shared memory, and a score takes about 20 instructions, of which an SM
  /// starts 128 per cycle. Loading keys and values has a latency of about 600
  /// cycles, each shuffle of a reduction about 25.
  static double seconds(const AttentionAnchor &anchor,
                        const BlockAttentionTile &tile,
                        const TargetDescription &target) {
    const Device &device = target.device;
    constexpr double clock = 1.5e9;
    double rate = device.multiplyAddsPerSecond / device.multiprocessors / clock;
    auto product = [&](int64_t own, int64_t steps) {
      double reads = double(tile.threadQueries + own),
             sums = double(tile.threadQueries * own);
      return double(tile.threads()) * double(steps) * (sums + 2 * reads) / rate;
    };
    double cycles =
        product(tile.threadKeys(), anchor.depth()) +
        product(tile.threadColumns(anchor.width()), tile.sliceKeys()) +
        double(tile.queries * tile.keys) * 20 / 128;
    double latency = 600 + 25 * std::log2(double(tile.across)) +
                     5 * double(anchor.depth() + tile.sliceKeys());
    double blocks = double(llvm::divideCeil(anchor.keys().most(), tile.keys));
    double merging = 400 * std::log2(double(tile.slices));
    // An SM is busy with 16 warps: four for each of its warp schedulers, since
    // arithmetic instructions have a latency of four cycles.
    return AttentionStrategyOnDevice::seconds(
        anchor,
        {tile.queries, tile.threads(), tile.sharedBytes(anchor),
         tile.registers(anchor), blocks * cycles + merging,
         blocks * latency + merging, 16 * device.warp},
        target);
  }
};

} // namespace

std::unique_ptr<Strategy> createBlockAttentionStrategy() {
  return std::make_unique<BlockAttentionStrategy>();
}

} // namespace ingot::schedule
