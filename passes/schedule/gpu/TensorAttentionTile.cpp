// Attention on tensor cores, without storing the matrix of scores.
//
//   softmax(f(Q x K)) x V, f elementwise
//
// A warp processes 16 queries of one head, held in registers as MMA operands; a
// block has several warps. Keys and values are copied to shared memory one
// block of keys at a time, while the previous one is used:
//
//   q <- 16 queries;  largest = -inf, total = 0, sums = 0
//   copy keys and values of block 0
//   for each block of keys:
//     await it; barrier; copy the next one into the other buffers
//     scores = f(q x keys)              in registers, 16 x 8 per MMA
//     larger = max(largest, scores)     over the four threads of a row
//     weights = e^(scores - larger), correction = e^(largest - larger)
//     total = total * correction + sum of the weights
//     sums = sums * correction + weights x values
//   result = epilogue(sums / total)
//
// If there are few queries for the device, the warps of a block form slices,
// which divide the keys of each block of keys and finally merge their states
// (largest, total, sums) through shared memory.
//
// The registers of the scores are used directly as left operand of the second
// product: for 16-bit floats, two adjacent MMAs of scores make 16 steps. For
// tf32, an MMA has 8 steps in another order (thread t of four has keys 2t and
// 2t + 1, where the operand has steps t and t + 4), so values are read in the
// order of the scores.
//
// Rows of the tiles in shared memory have an odd number of 16-byte units, so
// that eight adjacent rows are in different banks.

#include "passes/schedule/gpu/TensorAttentionTile.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/ResultVectors.h"
#include "passes/schedule/gpu/Sharing.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

TensorAttentionTile::TensorAttentionTile(const AttentionAnchor &anchor,
                                         int64_t queries, int64_t keys,
                                         int64_t slices)
    : queries(queries), keys(keys), slices(slices), depth(anchor.depth()),
      width(llvm::alignTo(anchor.width(), 2 * unitColumns)),
      elementBytes(bytesOf(elementOf(anchor.product.getB()))) {
  depth = llvm::alignTo(depth, steps());
}

namespace {

class TensorAttentionKernel {
public:
  TensorAttentionKernel(KernelBuilder &b, AttentionAnchor anchor,
                        const TensorAttentionTile &tile)
      : b(b), block(b, anchor), anchor(anchor), tile(tile),
        stored(elementOf(anchor.product.getB())), word(b.builder.getI32Type()),
        keyPlace(OperandPlace::of(block.keyOperand())),
        valuePlace(OperandPlace::of(block.valueOperand())) {}

  void emit() {
    keyTile =
        b.shared({2, tile.keys, tile.row(tile.depth)}, stored, "key_tile");
    valueTile =
        b.shared({2, tile.keys, tile.row(tile.width)}, stored, "value_tile");
    if (tile.slices > 1)
      parts =
          b.shared(tile.parts(warpThreads()), block.type, "parts_of_slices");
    block.forBlocks(tile.queries, threads(), [&](Expr part, Expr thread) {
      this->thread = thread;
      lane = named(thread % double(warpThreads()), "lane");
      Expr warp = thread / double(warpThreads());
      slice = sliceKey = b.index(0);
      if (tile.slices > 1) {
        slice = named(warp / double(tile.warpsOfSlice()), "slice");
        sliceKey = named(slice * double(tile.sliceKeys()), "slice_key");
        warp = warp % double(tile.warpsOfSlice());
      }
      firstQuery = named(part * double(tile.queries) + warp * double(unitRows),
                         "first_query");
      loadQueries();
      AttentionState state = overKeys();
      if (tile.slices == 1)
        return finish(state);
      double ofSlice = double(tile.warpsOfSlice() * warpThreads());
      block.mergeSlices(state, tile.slices, slice,
                        named(thread % ofSlice, "thread_of_slice"), parts,
                        halfOf);
      b.when(equal(slice, 0.0), [&] { finish(state); });
    });
  }

private:
  int64_t warpThreads() const { return b.target.device.warp; }
  int64_t threads() const { return tile.warps() * warpThreads(); }
  bool isNarrow() const { return tile.elementBytes == 2; }
  int64_t keyUnits() const { return tile.sliceKeys() / unitColumns; }
  int64_t valueUnits() const { return tile.width / unitColumns; }
  bool fitsKeys() const {
    return anchor.keys().known() && *anchor.keys().known() % tile.keys == 0;
  }
  bool fitsQueries() const {
    return anchor.queries().known() &&
           *anchor.queries().known() % tile.queries == 0;
  }
  Type multiplied() const {
    auto attr = anchor.product->getAttrOfType<TypeAttr>(kMultipliedAttr);
    return attr ? attr.getValue() : stored;
  }

  //===--------------------------------------------------------------------===//
  // Registers of MMA operands
  //===--------------------------------------------------------------------===//

  /// Returns to which of this thread's two query rows, 0 or 1, the score or
  /// weighted sum with number `n` belongs.
  static int64_t halfOf(int64_t n) { return n / 2 % 2; }

  /// Converts one 32-bit element, or two 16-bit elements, to the stored type
  /// and returns their bits in a 32-bit word; of two, the first one is in the
  /// low half.
  Value wordOf(ArrayRef<Expr> elements) {
    auto bits = [&](Expr x, Type type) {
      x = convert({x.builder, x.value, b.builder.getF32Type()}, stored);
      return bitcast(x, type).value;
    };
    if (!isNarrow())
      return bits(elements[0], IntegerType::get(b.builder.getContext(), 32,
                                                IntegerType::Unsigned));
    Type half =
        IntegerType::get(b.builder.getContext(), 16, IntegerType::Unsigned);
    Value low = arith::ExtUIOp::create(b.builder, b.loc, word,
                                       bits(elements[0], half)),
          high = arith::ExtUIOp::create(b.builder, b.loc, word,
                                        bits(elements[1], half));
    Value by = arith::ConstantIntOp::create(b.builder, b.loc, word, 16);
    return arith::OrIOp::create(
        b.builder, b.loc, low,
        arith::ShLIOp::create(b.builder, b.loc, high, by));
  }

  /// Rounds two f32 numbers to 16 bits each and returns both in one 32-bit
  /// register.
  Value pairOf(Expr low, Expr high) {
    return kernel::RoundPairOp::create(b.builder, b.loc, word, low.value,
                                       high.value, multiplied());
  }

  /// Returns the number of one of this thread's two queries. For `half` = 0,
  /// this is query number lane / 4 of the 16 queries of the warp, which four
  /// threads share; for `half` = 1, the query eight rows further.
  Expr queryAt(int64_t half) {
    return named(firstQuery + lane / 4.0 + double(8 * half), "query");
  }
  Expr readable(Expr query) {
    return fitsQueries() ? query : min(query, b.size(anchor.queries()) - 1.0);
  }

  void loadQueries() {
    for (int64_t half : {0, 1})
      queryOf[half] = readable(queryAt(half));
    int64_t ofWord = isNarrow() ? 2 : 1;
    for (int64_t first = 0; first < tile.depth; first += tile.steps())
      for (int64_t part = 0; part < 4; ++part) {
        Exprs elements;
        for (int64_t i = 0; i < ofWord; ++i)
          elements.push_back(queryElement(
              queryOf[part % 2],
              lane % 4.0 * double(ofWord) +
                  double(first + part / 2 * tile.vectorElements() + i)));
        queries.push_back(kernel::nameValue(wordOf(elements),
                                            "query_" + Twine(queries.size())));
      }
  }
  Expr queryElement(Expr query, Expr at) {
    auto load = [&] { return block.operand(block.queryOperand(), query, at); };
    return tile.depth == anchor.depth()
               ? load()
               : b.ifElse(at < double(anchor.depth()), load,
                          [&] { return block.zero(); });
  }

  SmallVector<Value, 4> loadMatrices(Value from, const Exprs &at,
                                     bool transposed, const Twine &name) {
    SmallVector<Value> indices =
        llvm::map_to_vector(at, [](Expr e) { return e.value; });
    auto load = kernel::LoadMatricesOp::create(
        b.builder, b.loc, TypeRange{word, word, word, word}, from, indices,
        transposed);
    for (auto [i, part] : llvm::enumerate(load.getParts()))
      kernel::nameValue(part, name + "_" + Twine(i));
    return SmallVector<Value, 4>(load.getParts());
  }

  /// Adds the product of a left operand and 8 columns of a right operand (one
  /// MMA) to four sums of this thread.
  void multiply(ArrayRef<Value> left, ArrayRef<Value> right,
                MutableArrayRef<Expr> sums, const Twine &name) {
    auto product = kernel::WarpProductOp::create(
        b.builder, b.loc, left, right,
        llvm::map_to_vector(sums, [](Expr e) { return e.value; }), multiplied(),
        multiplied());
    for (auto [n, sum] : llvm::enumerate(sums))
      sum =
          named(b.wrap(product.getResult(n), sum.type), name + "_" + Twine(n));
  }

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  /// Loads the keys or the values of the block of keys that begins at
  /// `firstKey` into buffer number `buffer` (0 or 1) of their tile.
  void fill(bool isKeys, Expr firstKey, Expr buffer) {
    const OperandPlace &place = isKeys ? keyPlace : valuePlace;
    Value operand = isKeys ? block.keyOperand() : block.valueOperand(),
          to = isKeys ? keyTile : valueTile;
    int64_t used = isKeys ? anchor.depth() : anchor.width(),
            vectors = llvm::divideCeil(isKeys ? tile.depth : tile.width,
                                       tile.vectorElements()),
            axis = int64_t(shapeOf(operand).size()) - (isKeys ? 2 : 1);
    bool alongVectors = place.liesAlong(axis);
    Value argument = b.bufferOf(place.tensor);
    bool isCopied = alongVectors && place.isCopied && argument &&
                    used % tile.vectorElements() == 0 &&
                    place.isAligned(cast<MemRefType>(argument.getType()),
                                    tile.vectorElements());
    share(b, thread, threads(), tile.keys * vectors, [&](Expr mine) {
      // Adjacent threads read adjacent elements.
      double across = double(alongVectors ? vectors : tile.keys);
      Expr at = alongVectors ? mine % across : mine / across,
           row = alongVectors ? mine / across : mine % across;
      Expr key = firstKey + row,
           element = named(at * double(tile.vectorElements()), "element");
      std::optional<Expr> inside;
      if (!fitsKeys())
        inside = key < b.size(anchor.keys());
      if (vectors * tile.vectorElements() !=
          int64_t(llvm::alignTo(used, tile.vectorElements()))) {
        Expr isUsed = element < double(used);
        inside = inside ? *inside & isUsed : isUsed;
      }
      auto placeAt = [&](Expr element) {
        return isKeys ? block.operandAt(operand, element, key)
                      : block.operandAt(operand, key, element);
      };
      if (isCopied)
        return copyAhead(b, argument, place.at(b, placeAt(element)), to,
                         {buffer, row, element}, inside);
      auto storeVector = [&](llvm::function_ref<Expr(Expr)> load) {
        Exprs vectorElements;
        for (int64_t i = 0; i < tile.vectorElements(); ++i)
          vectorElements.push_back(load(element + double(i)));
        storeRounded(b, vectorElements, to, {buffer, row, element});
      };
      auto one = [&](Expr i) {
        auto load = [&] { return b.load(operand, placeAt(i)); };
        return used % tile.vectorElements() == 0
                   ? load()
                   : b.ifElse(i < double(used), load,
                              [&] { return b.constant(0, stored); });
      };
      if (!inside)
        return storeVector(one);
      b.branch(
          *inside, [&] { storeVector(one); },
          [&] { storeVector([&](Expr) { return b.constant(0, stored); }); });
    });
  }

  void fillBoth(Expr firstKey, Expr buffer) {
    fill(/*isKeys=*/true, firstKey, buffer);
    fill(/*isKeys=*/false, firstKey, buffer);
    kernel::CloseCopiesOp::create(b.builder, b.loc);
  }

  //===--------------------------------------------------------------------===//
  // Steps of the algorithm
  //===--------------------------------------------------------------------===//

  AttentionState overKeys() {
    fillBoth(b.index(0), b.index(0));
    Dim blocks = (anchor.keys() + (tile.keys - 1)).floorDiv(tile.keys);
    Exprs after = b.loop(
        b.index(0), b.size(blocks), 1,
        block.firstState(2, tile.values()).carried(),
        [&](Expr number, ArrayRef<Expr> carried) {
          named(number, "block_of_keys");
          kernel::AwaitCopiesOp::create(b.builder, b.loc, 0);
          b.barrier();
          if (mayDiffer(blocks, 1))
            b.when(number + 1.0 < b.size(blocks), [&] {
              Expr next = number + 1.0;
              fillBoth(named(next * double(tile.keys), "first_key_to_come"),
                       named(next % 2.0, "buffer_to_fill"));
            });
          AttentionState state(carried, 2);
          Expr firstKey = named(number * double(tile.keys), "first_key"),
               buffer = named(number % 2.0, "buffer");
          Exprs scores = scoresOf(firstKey, buffer);
          Exprs corrections;
          for (int64_t half : {0, 1})
            corrections.push_back(weigh(state, scores, half));
          block.correct(state, corrections, halfOf);
          addValues(state, scores, buffer);
          return state.carried();
        });
    return AttentionState(after, 2);
  }

  /// Returns this thread's scores for the block of keys from `firstKey` on:
  /// four per MMA, two of the thread's first query row, then two of its second.
  Exprs scoresOf(Expr firstKey, Expr buffer) {
    Exprs scores(4 * keyUnits(), block.zero());
    for (int64_t step = 0; step < tile.depth / tile.steps(); ++step)
      for (int64_t pair = 0; pair < keyUnits() / 2; ++pair) {
        Expr row = sliceKey + lane % 8.0 + lane / 16.0 * 8.0 +
                   double(pair * 2 * unitColumns),
             at = lane / 8.0 % 2.0 + double(2 * step);
        SmallVector<Value, 4> keys = loadMatrices(
            keyTile, {buffer, row, at * double(tile.vectorElements())},
            /*transposed=*/false, "keys");
        for (int64_t of : {0, 1}) {
          int64_t unit = 2 * pair + of;
          multiply(ArrayRef(queries).slice(4 * step, 4),
                   ArrayRef(keys).slice(2 * of, 2),
                   MutableArrayRef(scores).slice(4 * unit, 4),
                   "score_" + Twine(unit));
        }
      }
    for (int64_t unit = 0; unit < keyUnits(); ++unit)
      for (int64_t n = 0; n < 4; ++n) {
        Expr key = firstKey + sliceKey + lane % 4.0 * 2.0 +
                   double(unit * unitColumns + n % 2);
        Expr &score = scores[4 * unit + n];
        score = named(block.scoreInside(score, queryOf[n / 2],
                                        named(key, "key"), fitsKeys()),
                      "score_" + Twine(unit) + "_" + Twine(n));
      }
    return scores;
  }

  /// Turns this thread's scores of query row `half` into weights and updates
  /// the row's maximum and total in `state`. Returns the factor that corrects
  /// the row's previous sums.
  Expr weigh(AttentionState &state, MutableArrayRef<Expr> scores,
             int64_t half) {
    auto each = [&](llvm::function_ref<void(Expr &)> body) {
      for (int64_t unit = 0; unit < keyUnits(); ++unit)
        for (int64_t second : {0, 1})
          body(scores[4 * unit + 2 * half + second]);
    };
    Expr top = state.largest[half];
    each([&](Expr &score) { top = largerOf(top, score); });
    top = block.across(4, top, largerOf);
    Expr shift = block.shiftOf(top);
    Expr correction =
        named(block.weight(state.largest[half], shift), "correction");
    Expr total = state.total[half] * correction;
    each([&](Expr &score) {
      score = named(block.weight(score, shift), "weight");
      total = sumOf(total, score);
      if (!isNarrow())
        score = block.rounded(score);
    });
    state.largest[half] = top;
    state.total[half] = total;
    return correction;
  }

  void addValues(AttentionState &state, ArrayRef<Expr> weights, Expr buffer) {
    int64_t steps = tile.steps();
    for (int64_t first = 0; first < tile.sliceKeys(); first += steps) {
      SmallVector<Value> left;
      if (isNarrow()) {
        for (int64_t part = 0; part < 4; ++part)
          left.push_back(pairOf(
              weights[4 * (first / unitColumns + part / 2) + 2 * (part % 2)],
              weights[4 * (first / unitColumns + part / 2) + 2 * (part % 2) +
                      1]));
      } else {
        for (int64_t n : {0, 2, 1, 3})
          left.push_back(wordOf(weights[4 * (first / unitColumns) + n]));
      }
      for (Value part : left)
        kernel::nameValue(part, "weights");
      for (int64_t pair = 0; pair < valueUnits() / 2; ++pair) {
        SmallVector<Value, 4> values = loadValues(buffer, first, pair);
        for (int64_t of : {0, 1}) {
          int64_t unit = 2 * pair + of;
          multiply(left, ArrayRef(values).slice(2 * of, 2),
                   MutableArrayRef(state.sums).slice(4 * unit, 4),
                   "sum_" + Twine(unit));
        }
      }
    }
  }

  /// Loads the right operands of the two MMAs that compute columns of the
  /// values: the 8-column units 2 * `pair` and 2 * `pair` + 1. Each operand
  /// holds values of as many keys as an MMA has steps (K), from key `first` of
  /// the slice on.
  SmallVector<Value, 4> loadValues(Expr buffer, int64_t first, int64_t pair) {
    if (isNarrow())
      return loadMatrices(valueTile,
                          {buffer, sliceKey + lane % 16.0 + double(first),
                           lane / 16.0 * 8.0 + double(pair * 2 * unitColumns)},
                          /*transposed=*/true, "values");
    SmallVector<Value, 4> values;
    for (int64_t of : {0, 1})
      for (int64_t second : {0, 1})
        values.push_back(kernel::nameValue(
            wordOf(b.loadFrom(
                valueTile, stored,
                {buffer, sliceKey + lane % 4.0 * 2.0 + double(first + second),
                 lane / 4.0 + double((2 * pair + of) * unitColumns)})),
            "value"));
    return values;
  }

  void finish(const AttentionState &state) {
    for (int64_t half : {0, 1}) {
      Expr factor =
          named(1.0 / block.across(4, state.total[half], sumOf), "factor");
      Expr query = queryAt(half);
      auto store = [&] {
        for (int64_t unit = 0; unit < valueUnits(); ++unit) {
          Expr column =
              named(lane % 4.0 * 2.0 + double(unit * unitColumns), "column");
          auto pair = [&] {
            block.storePair(state.sums[4 * unit + 2 * half],
                            state.sums[4 * unit + 2 * half + 1], factor, query,
                            column);
          };
          (unit + 1) * unitColumns <= anchor.width()
              ? pair()
              : b.when(column < double(anchor.width()), pair);
        }
      };
      fitsQueries() ? store() : b.when(query < b.size(anchor.queries()), store);
    }
  }
  KernelBuilder &b;
  AttentionBlock block;
  AttentionAnchor anchor;
  TensorAttentionTile tile;
  /// The element type of keys and values in shared memory, and the type of MMA
  /// operand registers.
  Type stored, word;
  OperandPlace keyPlace, valuePlace;
  Value keyTile, valueTile, parts;
  SmallVector<Value> queries;
  Expr thread, lane, slice, sliceKey, firstQuery, queryOf[2];
};

} // namespace

void emitTensorAttention(KernelBuilder &b, const AttentionAnchor &anchor,
                         const TensorAttentionTile &tile) {
  TensorAttentionKernel(b, anchor, tile).emit();
}

} // namespace ingot::schedule
