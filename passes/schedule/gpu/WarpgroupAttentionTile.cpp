// Attention by warpgroups (wgmma), without storing the matrix of scores.
//
//   softmax(f(Q x K)) x V, f elementwise
//
// A warpgroup processes 64 queries of one head; one more warpgroup fetches. TMA
// copies bring the queries to shared memory once, and keys and values into a
// ring of stages, a block of keys at a time. One mbarrier signals that the
// queries have arrived; two per stage signal that the stage is full and that it
// is empty again.
//
//   producer:                 consumers:
//     copy the queries          await the queries, full[0]
//     for each block of keys:   scores = queries x keys[0]
//       if its stage was used:  weigh
//         await empty[stage]    for each further block:
//       copy keys and values      settle; arrive at empty[stage read before]
//                                 await full[stage]
//                                 start scores = queries x keys[stage]
//                                 start sums += weights x values[stage before]
//                                 await the scores; weigh (MMAs still run)
//                               settle; sums += weights x last values
//                               result = epilogue(sums / total)
//
//   weigh: larger = max(largest, f(scores)), over the four threads of a row
//          scores = e^(f(scores) - larger), correction = e^(largest - larger)
//          total = total * correction + sum of the scores
//   settle: await the sums; sums = sums * correction; weights = scores
//
// The scores' registers are the left operand of the second product: two
// adjacent units of 8 keys are 16 steps, rounded and packed into 32-bit
// registers. The values are a right operand with contiguous columns: each row
// in memory has the columns of one step.
//
// Rows of a tile have 128 bytes; the copies pad shorter heads, and keys beyond
// the end, with zeros. If there are few queries for the device, the warpgroups
// of a block form two slices, which process blocks of keys in turn; the second
// slice leaves its state (largest, total, sums) in shared memory for the first
// one.

#include "passes/schedule/gpu/WarpgroupAttentionTile.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/StageRing.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

WarpgroupAttentionTile::WarpgroupAttentionTile(const AttentionAnchor &anchor,
                                               int64_t groups, int64_t slices,
                                               int64_t keys, int64_t stages,
                                               int64_t resident)
    : groups(groups), slices(slices), keys(keys), stages(stages),
      resident(resident), depthKTiles(llvm::divideCeil(anchor.depth(), kTile)),
      widthKTiles(llvm::divideCeil(anchor.width(), kTile)),
      depthUnits(llvm::divideCeil(anchor.depth(), unit)),
      others(anchor.between.size() <= 1 ? 48 : 56) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static MappedMatrices matricesOf(Value operand, bool areTransposed, Dim rows,
                                 int64_t used) {
  auto rank = int64_t(shapeOf(operand).size());
  return {OperandPlace::of(operand), rank - (areTransposed ? 1 : 2), rows,
          used};
}

MappedMatrices MappedMatrices::queriesOf(const AttentionAnchor &anchor) {
  return matricesOf(anchor.scores.getA(), /*areTransposed=*/false,
                    anchor.queries(), anchor.depth());
}
MappedMatrices MappedMatrices::keysOf(const AttentionAnchor &anchor) {
  return matricesOf(anchor.scores.getB(), /*areTransposed=*/true, anchor.keys(),
                    anchor.depth());
}
MappedMatrices MappedMatrices::valuesOf(const AttentionAnchor &anchor) {
  return matricesOf(anchor.product.getB(), /*areTransposed=*/false,
                    anchor.keys(), anchor.width());
}

bool MappedMatrices::mayHaveMap() const {
  auto rank = int64_t(place.axes.size());
  int64_t elementAxis = 2 * rank - 3 - rowAxis;
  // Rows must not be strided or repeated, and the elements of a row must be
  // contiguous.
  return isa<BlockArgument>(place.tensor) && place.isCopied && rank <= 5 &&
         place.liesAlong(elementAxis) && place.times.back() == 1 &&
         llvm::all_of(llvm::seq<int64_t>(0, rank),
                      [&](int64_t axis) {
                        return place.axes[axis] != rowAxis ||
                               (place.steps[axis] == 1 &&
                                place.times[axis] == 1);
                      }) &&
         shapeOf(place.tensor).back() % 8 == 0;
}

bool MappedMatrices::hasMap(Value buffer) const {
  auto argument = dyn_cast_or_null<BlockArgument>(buffer);
  if (!argument || !mayHaveMap())
    return false;
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0 &&
         strides.size() == place.axes.size() && strides.back() == 1 &&
         llvm::all_of(ArrayRef(strides).drop_back(), [](int64_t stride) {
           return !ShapedType::isDynamic(stride) && stride % 8 == 0;
         });
}

namespace {

class WarpgroupAttentionKernel {
public:
  WarpgroupAttentionKernel(KernelBuilder &b, const AttentionAnchor &anchor,
                           const WarpgroupAttentionTile &tile)
      : b(b), block(b, anchor), anchor(anchor), tile(tile),
        stored(elementOf(anchor.product.getB())),
        queries(MappedMatrices::queriesOf(anchor)),
        keys(MappedMatrices::keysOf(anchor)),
        values(MappedMatrices::valuesOf(anchor)) {}

  bool hasMaps() const {
    return llvm::all_of(ArrayRef{&queries, &keys, &values},
                        [&](const MappedMatrices *one) {
                          return one->hasMap(b.bufferOf(one->place.tensor));
                        });
  }

  void emit() {
    constexpr int64_t kTile = WarpgroupAttentionTile::kTile;
    queryTile = sharedForCopies(b, {tile.depthKTiles, tile.queries(), kTile},
                                stored, "query_tile");
    keyTile =
        sharedForCopies(b, {tile.stages, tile.depthKTiles, tile.keys, kTile},
                        stored, "key_tile");
    valueTile =
        sharedForCopies(b, {tile.stages, tile.widthKTiles, tile.keys, kTile},
                        stored, "value_tile");
    if (tile.slices > 1)
      parts = b.shared({tile.parts(), tile.groups * groupThreads}, block.type,
                       "parts_of_slices");
    ring.emplace(b, tile.stages, /*further=*/1 + (tile.slices > 1));
    queryMap = mapOf(queries, tile.queries(), "query_tiles");
    keyMap = mapOf(keys, tile.keys, "key_tiles");
    valueMap = mapOf(values, tile.keys, "value_tiles");
    b.function.setResident(tile.resident);
    block.forBlocks(
        tile.queries(), tile.threads(), [&](Expr part, Expr thread) {
          this->thread = thread;
          firstQuery = named(part * double(tile.queries()), "first_query");
          // One thread of each warp that uses a block of keys signals that the
          // warp has read the pipeline stage.
          int64_t ofSlice = tile.groups * groupThreads;
          SmallVector<int64_t> arrivals{1};
          if (tile.slices > 1)
            arrivals.push_back((tile.slices - 1) * ofSlice);
          ring->setUp(thread, ofSlice / int64_t(b.target.device.warp),
                      arrivals);
          double first = double(tile.consumers() * groupThreads);
          b.branch(
              thread < first, [&] { compute(); },
              [&] {
                setRegistersOfFetching(b, tile.warpgroups());
                b.when(equal(thread, first), [&] { fetch(); });
              });
        });
  }

private:
  /// Creates a TMA descriptor whose tiles hold 128 bytes of each of `rows` rows
  /// of one matrix.
  Value mapOf(const MappedMatrices &matrices, int64_t rows, const Twine &name) {
    const OperandPlace &place = matrices.place;
    Value buffer = b.bufferOf(place.tensor);
    auto [strides, offset] =
        cast<MemRefType>(buffer.getType()).getStridesAndOffset();
    Dims sizes = dimsOf(place.tensor);
    SmallVector<int64_t> box(sizes.size(), 1);
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      if (place.axes[axis] == matrices.rowAxis) {
        // Elements after the last row, or after the last element of a row, are
        // excluded, so that copies yield zeros for them.
        sizes[axis] = matrices.rows + place.starts[axis];
        box[axis] = rows;
      }
    sizes.back() = place.starts.back() + matrices.used;
    box.back() = WarpgroupAttentionTile::kTile;
    return kernel::nameValue(
        kernel::TilesOp::create(
            b.builder, b.loc, kernel::TilesType::get(b.builder.getContext()),
            buffer, kernel::sizesAttr(sizes, b.builder.getContext()), strides,
            box, ArrayRef<int64_t>(), ArrayRef<int64_t>(), ArrayRef<int64_t>()),
        name);
  }

  //===--------------------------------------------------------------------===//
  // Fetching
  //===--------------------------------------------------------------------===//

  /// The additional mbarriers of the ring: one for the queries, one for merging
  /// the results of slices (sets of warpgroups).
  Expr ofQueries() { return ring->further(0); }
  Expr meeting() { return ring->further(1); }

  /// Returns the number of blocks of keys per slice (a set of warpgroups); the
  /// last blocks may begin after the last key.
  Dim blocksOfSlice() const {
    int64_t all = tile.keys * tile.slices;
    return (anchor.keys() + (all - 1)).floorDiv(all);
  }

  void fetch() {
    ring->expect(ofQueries(), tile.bytesOfQueries());
    for (int64_t kTile = 0; kTile < tile.depthKTiles; ++kTile)
      copy(queryMap, queries, anchor.scores.getA(), firstQuery, kTile,
           queryTile, {b.index(kTile), b.index(0), b.index(0)}, ofQueries());
    Dim blocks = blocksOfSlice() * tile.slices;
    b.loop(blocks, {}, [&](Expr number, ArrayRef<Expr>) -> Exprs {
      named(number, "block_of_keys");
      Expr stage = ring->stageOf(number);
      if (!blocks.known() || *blocks.known() > tile.stages)
        b.when(number >= double(tile.stages), [&] {
          ring->await(ring->empty(stage), 1.0 - ring->parityOf(number));
        });
      ring->expect(ring->full(stage), tile.bytesOfStage());
      Expr firstKey = named(number * double(tile.keys), "first_key");
      for (int64_t kTile = 0; kTile < tile.depthKTiles; ++kTile)
        copy(keyMap, keys, anchor.scores.getB(), firstKey, kTile, keyTile,
             {stage, b.index(kTile), b.index(0), b.index(0)},
             ring->full(stage));
      for (int64_t kTile = 0; kTile < tile.widthKTiles; ++kTile)
        copy(valueMap, values, anchor.product.getB(), firstKey, kTile,
             valueTile, {stage, b.index(kTile), b.index(0), b.index(0)},
             ring->full(stage));
      return {};
    });
  }
  void copy(Value map, const MappedMatrices &matrices, Value operand,
            Expr firstRow, int64_t kTile, Value to, const Exprs &toPlace,
            Expr mbarrier) {
    Expr first = b.index(kTile * WarpgroupAttentionTile::kTile);
    bool areTransposed =
        matrices.rowAxis + 1 == int64_t(shapeOf(operand).size());
    Exprs place = matrices.place.at(
        b, areTransposed ? block.operandAt(operand, first, firstRow)
                         : block.operandAt(operand, firstRow, first));
    kernel::CopyTileOp::create(b.builder, b.loc, map, valuesOf(place),
                               ValueRange(), to, valuesOf(toPlace),
                               ring->mbarriers, mbarrier.value, Value());
  }

  //===--------------------------------------------------------------------===//
  // Computing
  //===--------------------------------------------------------------------===//

  void compute() {
    setRegistersOfSums(b, tile.warpgroups());
    double warpThreads = b.target.device.warp;
    lane = named(thread % warpThreads, "lane");
    Expr warp = named(thread % double(groupThreads) / warpThreads, "warp"),
         group = named(thread / double(groupThreads), "group");
    slice = b.index(0);
    if (tile.slices > 1) {
      slice = named(group / double(tile.groups), "slice");
      group = group % double(tile.groups);
    }
    groupRow = tile.groups == 1 ? b.index(0)
                                : named(group * double(groupRows), "group_row");
    for (int64_t half : {0, 1}) {
      rowQueries[half] = named(firstQuery + groupRow + warp * 16.0 +
                                   lane / 4.0 + double(8 * half),
                               "query");
      readable[half] =
          named(min(rowQueries[half], b.size(anchor.queries()) - 1.0), "query");
    }
    scores = ownArray(tile.scores(), block.type, "scores");
    sums = ownArray(tile.sums(), block.type, "sums");
    words = ownArray(tile.scores() / 2, b.builder.getI32Type(), "weights");
    AttentionState state = overKeys();
    tile.slices == 1 ? finish(state) : finishSlices(state);
  }
  Value ownArray(int64_t count, Type type, const Twine &name) {
    return kernel::nameValue(
        memref::AllocaOp::create(b.builder, b.loc,
                                 MemRefType::get({count}, type)),
        name);
  }

  AttentionState overKeys() {
    forUnits(tile.sums(), [&](Expr at) { b.store(sums, block.zero(), {at}); });
    ring->await(ofQueries(), b.index(0));
    Expr first = countOf(b.index(0)), stage = ring->stageOf(first);
    ring->await(ring->full(stage), ring->parityOf(first));
    kernel::BeginProductsOp::create(b.builder, b.loc, ValueRange());
    multiplyKeys(stage);
    awaitProducts({scores}, 0);
    Exprs carried = block.firstState(2, 0).carried();
    llvm::append_range(
        carried,
        weigh(carried, named(first * double(tile.keys), "first_key"),
              /*isFull=*/anchor.keys().least() >= tile.keys * tile.slices));
    carried = b.loop(
        b.index(1), b.size(blocksOfSlice()), 1, carried,
        [&](Expr number, ArrayRef<Expr> before) {
          named(number, "block_of_slice");
          Expr count = named(countOf(number), "block_of_keys"),
               stage = ring->stageOf(count);
          settle(before.take_back(2));
          b.when(equal(lane, 0.0) & (number > 1.0),
                 [&] { ring->arrive(ring->empty(stageBefore(number - 1.0))); });
          ring->await(ring->full(stage), ring->parityOf(count));
          kernel::BeginProductsOp::create(b.builder, b.loc,
                                          ValueRange{sums, words});
          multiplyKeys(stage);
          multiplyValues(stageBefore(number));
          awaitProducts({scores}, 1);
          Exprs after(before.drop_back(2));
          llvm::append_range(
              after, weigh(after, named(count * double(tile.keys), "first_key"),
                           fitsKeys()));
          return after;
        });
    // Await the pipeline stage of the last block of keys again, although it is
    // full: nvcc moves a wait for products, as in settle(), before the code
    // that precedes it, but not across the await of an mbarrier. The loop alone
    // does not stop nvcc if it has a single iteration.
    Expr last = countOf(b.size(blocksOfSlice()) - 1.0);
    ring->await(ring->full(ring->stageOf(last)), ring->parityOf(last));
    settle(ArrayRef(carried).take_back(2));
    kernel::BeginProductsOp::create(b.builder, b.loc, ValueRange{sums, words});
    multiplyValues(stageBefore(b.size(blocksOfSlice())));
    awaitProducts({sums, words}, 0);
    return AttentionState(ArrayRef(carried).drop_back(2), 2);
  }
  /// Returns the pipeline stage that holds block of keys number `ofSlice` - 1
  /// of this slice (a set of warpgroups).
  Expr stageBefore(Expr ofSlice) {
    return named(countOf(ofSlice - 1.0) % double(tile.stages), "stage_before");
  }

  /// Waits for the running products with values, multiplies the sums by
  /// `corrections`, and rounds the weights of the next products. This happens
  /// at the start of an iteration. At the end of the previous iteration, nvcc
  /// would move the wait before the code that weighs the scores, which should
  /// run at the same time as the products; but nvcc does not move a wait to
  /// another iteration.
  void settle(ArrayRef<Expr> corrections) {
    awaitProducts({sums, words}, 0);
    forUnits(tile.sums() / 4, [&](Expr unit) {
      for (int64_t n = 0; n < 4; ++n)
        b.store(sums, load(sums, unit, n) * corrections[n / 2],
                {placeOf(unit, n)});
    });
    packWeights();
  }
  /// The slices (sets of warpgroups) process the blocks of keys in turn. Takes
  /// the number of a block of keys among those of this slice; returns its
  /// number among all blocks of keys.
  Expr countOf(Expr ofSlice) {
    return tile.slices == 1 ? ofSlice : ofSlice * double(tile.slices) + slice;
  }
  void awaitProducts(ValueRange arrays, int64_t newest) {
    kernel::AwaitProductsOp::create(b.builder, b.loc, arrays, newest);
  }

  /// Starts the MMAs that multiply all queries of the warpgroup by the block of
  /// keys in a pipeline stage.
  void multiplyKeys(Expr stage) {
    constexpr int64_t unit = WarpgroupAttentionTile::unit,
                      kTile = WarpgroupAttentionTile::kTile;
    Value zero = b.index(0).value;
    for (int64_t at = 0; at < tile.depthUnits; ++at) {
      Value inKTiles = b.index(at * unit / kTile).value,
            step = b.index(at * unit % kTile).value;
      kernel::TileProductOp::create(
          b.builder, b.loc, queryTile,
          ValueRange{inKTiles, groupRow.value, step}, keyTile,
          ValueRange{stage.value, inKTiles, zero, step}, scores, stored, stored,
          /*left_turned=*/false, /*right_turned=*/false, /*first=*/at == 0);
    }
    kernel::CloseProductsOp::create(b.builder, b.loc);
  }
  /// Starts the MMAs that add the products of the weights and the values in a
  /// pipeline stage to the sums.
  void multiplyValues(Expr stage) {
    constexpr int64_t unit = WarpgroupAttentionTile::unit;
    Value zero = b.index(0).value;
    for (int64_t at = 0; at < tile.keys / unit; ++at)
      kernel::TileProductOp::create(
          b.builder, b.loc, words, ValueRange{b.index(4 * at).value}, valueTile,
          ValueRange{stage.value, zero, b.index(at * unit).value, zero}, sums,
          stored, stored, /*left_turned=*/false, /*right_turned=*/true,
          /*first=*/false);
    kernel::CloseProductsOp::create(b.builder, b.loc);
  }

  /// Emits an unrolled loop of `body` over the numbers [0, `count`), so that
  /// these numbers can index arrays in registers. The loop carries values,
  /// initially `first`, and returns the final ones.
  Exprs forUnits(int64_t count, const Exprs &first,
                 llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> body) {
    return b.loop(b.index(0), b.index(count), 1, first,
                  [&](Expr unit, ArrayRef<Expr> carried) {
                    named(unit, "unit");
                    cast<BlockArgument>(unit.value)
                        .getOwner()
                        ->getParentOp()
                        ->setAttr(kernel::kUnrolledAttr,
                                  b.builder.getBoolAttr(true));
                    return body(unit, carried);
                  });
  }
  void forUnits(int64_t count, llvm::function_ref<void(Expr)> body) {
    forUnits(count, {}, [&](Expr unit, ArrayRef<Expr>) {
      body(unit);
      return Exprs();
    });
  }
  /// Returns the index, in an array of sums or scores, of element `n` (0 to 3)
  /// of an 8-column unit: two elements of this thread's first row, then two of
  /// its second.
  static Expr placeOf(Expr unit, int64_t n) { return unit * 4.0 + double(n); }
  Expr load(Value array, Expr unit, int64_t n) {
    return b.loadFrom(array, block.type, {placeOf(unit, n)});
  }
  Expr keyOf(Expr firstKey, Expr unit, int64_t n) {
    return named(firstKey + unit * 8.0 + lane % 4.0 * 2.0 + double(n % 2),
                 "key");
  }

  /// Whether the number of keys is static and all blocks of keys are full.
  bool fitsKeys() const {
    return anchor.keys().known() &&
           *anchor.keys().known() % (tile.keys * tile.slices) == 0;
  }

  /// Turns the scores of the block of keys that begins at `firstKey` into
  /// weights and updates `carried`, the maxima and totals of the thread's two
  /// queries. Returns the factors that correct the previous sums. `isFull`
  /// promises that all keys of the block exist.
  Exprs weigh(Exprs &carried, Expr firstKey, bool isFull) {
    AttentionState state(carried, 2);
    int64_t units = tile.scores() / 4;
    Expr keyCount = b.size(anchor.keys());
    if (!block.scoresAreProducts())
      forUnits(units, [&](Expr unit) {
        for (int64_t n = 0; n < 4; ++n) {
          Expr key = keyOf(firstKey, unit, n);
          b.store(scores,
                  named(block.score(load(scores, unit, n), readable[n / 2],
                                    isFull ? key : min(key, keyCount - 1.0)),
                        "score"),
                  {placeOf(unit, n)});
        }
      });
    if (!isFull)
      b.when(firstKey + double(tile.keys) > keyCount, [&] {
        forUnits(units, [&](Expr unit) {
          for (int64_t n = 0; n < 4; ++n)
            b.store(scores,
                    select(keyOf(firstKey, unit, n) < keyCount,
                           load(scores, unit, n), block.lowest()),
                    {placeOf(unit, n)});
        });
      });
    Exprs tops =
        forUnits(units, state.largest, [&](Expr unit, ArrayRef<Expr> before) {
          Exprs tops(before.begin(), before.end());
          for (int64_t n = 0; n < 4; ++n)
            tops[n / 2] = largerOf(tops[n / 2], load(scores, unit, n));
          return tops;
        });
    Exprs shifts, corrections;
    for (int64_t half : {0, 1}) {
      Expr top = block.across(4, tops[half], largerOf);
      shifts.push_back(block.shiftOf(top));
      corrections.push_back(
          named(block.weight(state.largest[half], shifts[half]), "correction"));
      state.largest[half] = top;
      state.total[half] = state.total[half] * corrections[half];
    }
    state.total =
        forUnits(units, state.total, [&](Expr unit, ArrayRef<Expr> before) {
          Exprs totals(before.begin(), before.end());
          for (int64_t n = 0; n < 4; ++n) {
            Expr weight = named(
                block.weight(load(scores, unit, n), shifts[n / 2]), "weight");
            totals[n / 2] = sumOf(totals[n / 2], weight);
            b.store(scores, weight, {placeOf(unit, n)});
          }
          return totals;
        });
    carried = state.carried();
    return corrections;
  }

  /// Rounds the weights of every two adjacent keys into one 32-bit register, as
  /// the second matrix product expects them.
  void packWeights() {
    forUnits(tile.scores() / 2, [&](Expr pair) {
      Type i32 = b.builder.getI32Type();
      Value low = b.loadFrom(scores, block.type, {pair * 2.0}).value,
            high = b.loadFrom(scores, block.type, {pair * 2.0 + 1.0}).value;
      Value word =
          kernel::RoundPairOp::create(b.builder, b.loc, i32, low, high, stored);
      b.store(words, b.wrap(word, i32), {pair});
    });
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  void finishSlices(const AttentionState &state) {
    Expr inSlice =
        named(thread % double(tile.groups * groupThreads), "thread_of_slice");
    auto place = [&](int64_t n) -> Exprs { return {b.index(n), inSlice}; };
    b.branch(
        slice > 0.0,
        [&] {
          for (int64_t half : {0, 1}) {
            b.store(parts, state.largest[half], place(half));
            b.store(parts, state.total[half], place(2 + half));
          }
          forUnits(tile.sums(), [&](Expr n) {
            b.store(parts, b.loadFrom(sums, block.type, {n}),
                    {n + 4.0, inSlice});
          });
          ring->arrive(meeting());
        },
        [&] {
          ring->await(meeting(), b.index(0));
          auto part = [&](int64_t n) {
            return named(b.loadFrom(parts, block.type, place(n)), "of_slice");
          };
          AttentionState merged = state;
          Exprs own, other;
          for (int64_t half : {0, 1}) {
            Expr before = part(half),
                 top = largerOf(state.largest[half], before),
                 shift = block.shiftOf(top);
            own.push_back(
                named(block.weight(state.largest[half], shift), "correction"));
            other.push_back(
                named(block.weight(before, shift), "correction_of_slice"));
            merged.total[half] =
                fma(part(2 + half), other[half], state.total[half] * own[half]);
          }
          forUnits(tile.sums() / 4, [&](Expr unit) {
            for (int64_t n = 0; n < 4; ++n) {
              Expr ofSlice = b.loadFrom(parts, block.type,
                                        {placeOf(unit, n) + 4.0, inSlice});
              b.store(
                  sums,
                  fma(ofSlice, other[n / 2], load(sums, unit, n) * own[n / 2]),
                  {placeOf(unit, n)});
            }
          });
          finish(merged);
        });
  }

  void finish(const AttentionState &state) {
    for (int64_t half : {0, 1}) {
      Expr factor =
          named(1.0 / block.across(4, state.total[half], sumOf), "factor");
      Expr query = rowQueries[half];
      auto store = [&] {
        forUnits(llvm::divideCeil(anchor.width(), 8), [&](Expr unit) {
          Expr column = named(unit * 8.0 + lane % 4.0 * 2.0, "column");
          auto pair = [&] {
            block.storePair(load(sums, unit, 2 * half),
                            load(sums, unit, 2 * half + 1), factor, query,
                            column);
          };
          anchor.width() % 8 == 0
              ? pair()
              : b.when(column < double(anchor.width()), pair);
        });
      };
      bool fits = anchor.queries().known() &&
                  *anchor.queries().known() % tile.queries() == 0;
      fits ? store() : b.when(query < b.size(anchor.queries()), store);
    }
  }

  KernelBuilder &b;
  AttentionBlock block;
  AttentionAnchor anchor;
  WarpgroupAttentionTile tile;
  /// The element type of tiles in shared memory.
  Type stored;
  MappedMatrices queries, keys, values;
  Value queryMap, keyMap, valueMap, queryTile, keyTile, valueTile, parts;
  std::optional<StageRing> ring;
  Value scores, sums, words;
  Expr thread, lane, slice, groupRow, firstQuery;
  /// The indices of a thread's two queries; in `readable`, they are clamped to
  /// the existing queries.
  Expr rowQueries[2], readable[2];
};

} // namespace

bool emitWarpgroupAttention(KernelBuilder &b, const AttentionAnchor &anchor,
                            const WarpgroupAttentionTile &tile) {
  WarpgroupAttentionKernel kernel(b, anchor, tile);
  if (!kernel.hasMaps())
    return false;
  kernel.emit();
  return true;
}

} // namespace ingot::schedule
