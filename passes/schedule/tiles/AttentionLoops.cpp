#include "passes/schedule/tiles/AttentionLoops.h"

#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/RowTiles.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Returns the larger of two scores. If one of them is NaN, the NaN may be
/// lost, but then the total of the softmax weights is NaN.
Expr larger(Expr x, Expr y) { return named(select(y > x, y, x), "largest"); }
Expr plus(Expr x, Expr y) { return named(x + y, "total"); }

/// The number of queries in a block: always as `count` and, if the number is
/// static, also as `known`.
struct Rows {
  std::optional<int64_t> known;
  Expr count;
};

class AttentionLoops {
public:
  AttentionLoops(KernelBuilder &b, AttentionAnchor anchor, bool byElements)
      : b(b), anchor(anchor), byElements(byElements),
        axes(anchor.axesOf(b.result())), type(b.builder.getF32Type()),
        operandType(elementOf(anchor.scores.getA())),
        dots(dotForm(anchor.scores, b.target)), lanes(b.target.maxLanes(type)),
        block(b.plan.number("queries")),
        keys(std::min(b.plan.number("keys"), anchor.keys().most())),
        isOnline(keys < anchor.keys().most()) {}

  void emit() {
    b.vectorLanes = lanes;
    auto array = [&](ArrayRef<int64_t> shape, StringRef name, Type type) {
      return kernel::nameValue(b.stack(shape, type), name);
    };
    SmallVector<int64_t> ofKeys{block, int64_t(llvm::alignTo(keys, lanes))};
    queries = array({block, anchor.depth()}, "queries", operandType);
    scores = array(ofKeys, dots ? "scores" : "weights", type);
    weights = dots ? array(ofKeys, "weights", operandType) : scores;
    totals = array({block}, "totals", type);
    if (isOnline) {
      largest = array({block}, "largest", type);
      sums = array({block, anchor.width()}, "sums", type);
    }
    Dims parts = anchor.batches();
    Dim all = anchor.queries(), left = all - all.floorDiv(block) * block,
        blocks = (all + (block - 1)).floorDiv(block);
    parts.push_back(blocks);
    b.parallelFor(product(ArrayRef<Dim>(parts)), [&](Expr part) {
      batch = b.delinearize(named(part, "part"), parts);
      Expr number = batch.pop_back_val();
      for (auto [axis, i] : llvm::enumerate(batch))
        named(i, axisName(axis, parts.size() + 1));
      named(number, "block");
      firstQuery = named(number * double(block), "first_query");
      auto overKnown = [&](int64_t count) {
        overKeys({count, b.index(count)});
      };
      if (left == 0)
        return overKnown(block);
      if (!left.known())
        return overKeys({std::nullopt, queriesHere()});
      if (blocks == 1)
        return overKnown(*left.known());
      b.branch(
          isLast(number, *blocks.known()), [&] { overKnown(*left.known()); },
          [&] { overKnown(block); });
    });
  }

private:
  /// Returns the number of queries in the current block. Used only if the total
  /// number of queries is dynamic.
  Expr queriesHere() {
    Dim all = anchor.queries();
    return all.most() <= block
               ? b.size(all)
               : named(min(b.size(all) - firstQuery, double(block)), "count");
  }

  /// Emits the whole computation for a block of `rows` queries.
  void overKeys(const Rows &rows) {
    overElements(rows, anchor.depth(), [&](Expr row, Expr k) {
      Value q = anchor.scores.getA();
      b.store(queries, b.load(q, operandAt(q, queryAt(row), k)), {row, k});
    });
    if (!isOnline)
      return overBlock(rows, b.index(0), anchor.keys());
    begin(rows);
    overBlocks(rows);
    finish(rows);
  }

  /// Emits the loop over blocks of keys, for a block of `rows` queries.
  void overBlocks(const Rows &rows) {
    Dim blocks = anchor.keys().floorDiv(keys),
        left = anchor.keys() - blocks * keys;
    if (blocks == 1)
      overBlock(rows, b.index(0), keys);
    else
      b.forRange(b.index(0), b.size(blocks), [&](Expr number) {
        named(number, "block_of_keys");
        overBlock(rows, named(number * double(keys), "first_key"), keys);
      });
    if (left == 0)
      return;
    auto overLeft = [&] { overBlock(rows, b.size(blocks * keys), left); };
    if (left.known())
      overLeft();
    else
      b.when(named(b.size(left), "keys_left") > 0.0, overLeft);
  }

  /// Emits the computation for a block of `rows` queries and a block of `count`
  /// keys from `firstKey` on: scores, softmax weights, and weighted values.
  void overBlock(const Rows &rows, Expr firstKey, const Dim &count) {
    hideBehind(rows, count);
    if (byElements)
      scoreKeys(rows, firstKey, count);
    else
      overTiles(rows, count, "score",
                [&](Expr row, int64_t rows, Expr column, int64_t columns) {
                  scoreTile(row, rows, firstKey, column, columns);
                });
    overRows(rows, [&](Expr row) { weigh(row, count); });
    overTiles(rows, anchor.width(), "value",
              [&](Expr row, int64_t rows, Expr column, int64_t columns) {
                valueTile(row, rows, firstKey, count, column, columns);
              });
  }

  /// If `count` keys do not fill whole vectors, stores the score -inf in all
  /// lanes of the last vector of each row. The scores of the keys overwrite
  /// some of these lanes later; the lanes after the last key get the softmax
  /// weight 0.
  void hideBehind(const Rows &rows, const Dim &count) {
    Dim whole = wholeVectors(count);
    if (whole == count)
      return;
    auto hide = [&] {
      overRows(rows, [&](Expr row) {
        b.withLanes(lanes, [&] {
          Expr hidden = b.broadcast(lowest(b, type), lanes);
          b.store(scores, hidden, {row, b.size(whole)});
          return hidden;
        });
      });
    };
    if (count.known())
      hide();
    else
      b.when(named(b.size(whole), "in_vectors") < b.size(count), hide);
  }

  //===--------------------------------------------------------------------===//
  // Loops and indices
  //===--------------------------------------------------------------------===//

  /// Returns `count` rounded down to whole vectors.
  Dim wholeVectors(const Dim &count) { return count.floorDiv(lanes) * lanes; }

  void overRange(const Dim &count, StringRef name,
                 llvm::function_ref<void(Expr)> body) {
    b.loop(count, {}, [&](Expr i, ArrayRef<Expr>) -> Exprs {
      body(named(i, name));
      return {};
    });
  }

  void overRows(const Rows &rows, llvm::function_ref<void(Expr)> body) {
    if (rows.known)
      return overRange(*rows.known, "row", body);
    b.forRange(b.index(0), rows.count,
               [&](Expr row) { body(named(row, "row")); });
  }

  /// Emits `body(row, column)` for the elements of a `rows` x `columns` array,
  /// in vectors along the columns.
  void overElements(const Rows &rows, int64_t columns,
                    llvm::function_ref<void(Expr, Expr)> body) {
    overRows(rows, [&](Expr row) {
      b.KernelBuilder::forLanes(columns, type, [&](Expr i, int64_t) {
        body(row, named(i, "element"));
      });
    });
  }

  /// Emits `tile` for tiles that cover the `rows` x `columns` results of matrix
  /// product `what` ("score" or "value"), panel by panel. The plan gives the
  /// size of a tile.
  void overTiles(const Rows &rows, const Dim &columns, const std::string &what,
                 llvm::function_ref<void(Expr, int64_t, Expr, int64_t)> tile) {
    int64_t width = b.plan.number(what + "_columns");
    Dim panels = columns.floorDiv(width), left = columns - panels * width;
    auto panel = [&](Expr column, int64_t count) {
      int64_t tileRows = b.plan.number(what + "_rows");
      RowsLeft left = dots ? RowsLeft::InOwnTile : RowsLeft::SharedWithLast;
      auto rowTile = [&](Expr row, int64_t rowCount) {
        tile(named(row, "row"), rowCount, column, count);
      };
      if (rows.known)
        forRowTiles(b, *rows.known, tileRows, rowTile, left);
      else
        forRowTiles(b, rows.count, tileRows, rowTile);
    };
    if (mayDiffer(panels, 0))
      overRange(panels, "panel", [&](Expr number) {
        panel(named(number * double(width), "column"), width);
      });
    if (left == 0)
      return;
    if (left.known())
      return panel(b.size(panels * width), *left.known());
    auto vectors = [&] {
      Expr last = named(b.size(columns) - double(lanes), "last_vector");
      b.loop(b.size(panels * width), b.size(columns), lanes, {},
             [&](Expr column, ArrayRef<Expr>) -> Exprs {
               panel(named(min(column, last), "column"), lanes);
               return {};
             });
    };
    if (columns.least() >= lanes)
      return vectors();
    b.branch(b.size(columns) >= double(lanes), vectors, [&] {
      overRows(rows, [&](Expr row) {
        overRange(columns, "column",
                  [&](Expr column) { tile(row, 1, column, 1); });
      });
    });
  }

  Expr queryAt(Expr row) { return named(firstQuery + row, "query"); }

  /// Returns the index, in tensor `operand`, of element (row, column) of the
  /// current head's matrix.
  Exprs operandAt(Value operand, Expr row, Expr column) {
    Exprs at;
    for (auto [size, i] : llvm::zip(shapeOf(operand), batch))
      at.push_back(size == 1 ? b.index(0) : i);
    at.push_back(row);
    at.push_back(column);
    return at;
  }

  /// Calls `body` for each vector of sums of the tile that begins at row `row`
  /// and column `column`. `body` gets the row of the vector, the column of its
  /// first lane, and the vector.
  void overVectors(Tile &tile, Expr row, Expr column,
                   llvm::function_ref<void(Expr, Expr, Expr &)> body) {
    for (int64_t i = 0; i < tile.rows; ++i) {
      int64_t offset = 0;
      for (size_t v = 0; v < tile.columns.lanes.size(); ++v) {
        b.withLanes(tile.columns.lanes[v], [&]() -> Expr {
          body(named(row + double(i), "row_" + Twine(i)),
               named(column + double(offset), "column_" + Twine(offset)),
               tile.at(i, v));
          return {};
        });
        offset += tile.columns.lanes[v];
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Steps of the algorithm
  //===--------------------------------------------------------------------===//

  void begin(const Rows &rows) {
    overElements(rows, anchor.width(), [&](Expr row, Expr i) {
      b.store(sums, b.constant(0, type), {row, i});
    });
    overRows(rows, [&](Expr row) {
      b.store(largest, lowest(b, type), {row});
      b.store(totals, b.constant(0, type), {row});
    });
  }

  void scoreTile(Expr row, int64_t rows, Expr firstKey, Expr column,
                 int64_t columns) {
    Tile tile = zeroTile(b, rows, cover(columns), type);
    addProducts(tile, queries, row, anchor.scores.getB(), b.index(0),
                anchor.depth(), firstKey + column, "step");
    Value product = anchor.scores.getResult();
    overVectors(tile, row, column, [&](Expr r, Expr c, Expr sum) {
      b.bindElement(product, sum);
      Exprs at(batch);
      at.push_back(queryAt(r));
      at.push_back(named(firstKey + c, "key"));
      Expr score = b.load(anchor.softmax.getInput(), at);
      b.store(scores, score, {r, c});
    });
    b.unbindElement(product);
  }

  /// Emits the scores of all queries of a block and of `count` keys from
  /// `firstKey` on, for keys whose elements are contiguous in memory.
  void scoreKeys(const Rows &rows, Expr firstKey, const Dim &count) {
    // Multiply several keys at a time, so that their sums hide the latency of a
    // multiply-add but stay in registers.
    int64_t together =
        std::max<int64_t>(1, BodyBuilder::sumsAtOnce / *rows.known);
    Dim groups = count.floorDiv(together), left = count - groups * together;
    if (mayDiffer(groups, 0))
      overRange(groups, "group_of_keys", [&](Expr number) {
        Expr column = named(number * double(together), "column");
        multiplyKeys(*rows.known, firstKey, column, together);
      });
    if (mayDiffer(left, 0))
      overRange(left, "key_left", [&](Expr i) {
        Expr column = named(b.size(groups * together) + i, "column");
        multiplyKeys(*rows.known, firstKey, column, 1);
      });
    if (anchor.between.empty())
      return;
    Value product = anchor.scores.getResult();
    overRows(rows, [&](Expr row) {
      b.BodyBuilder::forLanes(count, [&](Expr i) {
        b.bindElement(product, b.loadFrom(scores, type, {row, i}));
        Exprs at(batch);
        at.push_back(queryAt(row));
        at.push_back(named(firstKey + i, "key"));
        b.store(scores, b.load(anchor.softmax.getInput(), at), {row, i});
      });
    });
    b.unbindElement(product);
  }

  /// Stores the dot products of `rows` queries with `count` keys in `scores`.
  /// The first of these keys is number `column` of the current block of keys.
  void multiplyKeys(int64_t rows, Expr firstKey, Expr column, int64_t count) {
    Value keyRows = anchor.keyRows();
    SmallVector<Exprs> places;
    for (int64_t u = 0; u < count; ++u) {
      Exprs place =
          operandAt(anchor.scores.getB(), b.index(0),
                    named(firstKey + column + double(u), "key_" + Twine(u)));
      places.push_back(place);
    }
    Exprs products;
    b.withLanes(lanes, [&]() -> Expr {
      products.assign(count * rows, b.broadcast(b.constant(0, type), lanes));
      for (int64_t element = 0; element < anchor.depth(); element += lanes) {
        Exprs ofQueries;
        for (int64_t row = 0; row < rows; ++row)
          ofQueries.push_back(
              named(b.loadFrom(queries, type, {b.index(row), b.index(element)}),
                    "query_" + Twine(row)));
        for (int64_t u = 0; u < count; ++u) {
          places[u][places[u].size() - 2] = b.index(element);
          Expr key = named(b.load(keyRows, anchor.atKeyRows(places[u])),
                           "of_key_" + Twine(u));
          for (int64_t row = 0; row < rows; ++row) {
            Expr &sum = products[u * rows + row];
            sum = named(fma(ofQueries[row], key, sum),
                        "product_" + Twine(u) + "_" + Twine(row));
          }
        }
      }
      return {};
    });
    for (int64_t u = 0; u < count; ++u)
      for (int64_t row = 0; row < rows; ++row)
        b.store(scores, BodyBuilder::mergeLanes(products[u * rows + row], plus),
                {b.index(row), column + double(u)});
  }

  /// Adds a matrix product to a tile: the rows of `left` from `row` on, times
  /// `steps` rows of `right` from `first` on, in the columns from `column` on.
  void addProducts(Tile &tile, Value left, Expr row, Value right, Expr first,
                   const Dim &steps, Expr column, StringRef step) {
    auto ofRow = [&](int64_t i, Expr at) {
      return b.loadFrom(left, operandType, {row + double(i), at});
    };
    auto ofColumns = [&](Expr at, int64_t offset, int64_t lanes) {
      return b.withLanes(lanes, [&] {
        return b.load(right,
                      operandAt(right, first + at, column + double(offset)));
      });
    };
    if (!dots)
      return accumulate(
          b, tile, 0, tile.rows, steps, /*splits=*/1, ofRow,
          [&](Expr at, size_t v) {
            ArrayRef<int64_t> lanes = tile.columns.lanes;
            return ofColumns(
                at,
                std::accumulate(lanes.begin(), lanes.begin() + v, int64_t(0)),
                lanes[v]);
          },
          step);
    accumulateDots(
        b, tile, *dots, *steps.known(),
        {ofRow,
         [&](Expr group, int64_t count, int64_t offset, int64_t lanes) {
           Exprs rows;
           for (int64_t i = 0; i < count; ++i)
             rows.push_back(ofColumns(group * double(dots->group) + double(i),
                                      offset, lanes));
           return interleaveRows(b, rows, dots->group);
         },
         operandType, operandType});
  }

  /// Turns the scores of query `row` with `count` keys into softmax weights.
  /// With a single block of keys, stores the inverse of the sum of these
  /// weights in `totals`. With several blocks, updates the largest score and
  /// the sum of weights of the query, and multiplies its weighted sums of the
  /// values of previous blocks by the correction for the new largest score.
  void weigh(Expr row, const Dim &count) {
    Dim padded = wholeVectors(count + (lanes - 1));
    auto score = [&](Expr i) {
      return b.loadFrom(scores, type, {row, named(i, "key")});
    };
    Expr top = b.reduceLanes(
        padded, lowest(b, type),
        [&](Expr i, Expr acc) { return larger(acc, score(i)); }, larger);
    Expr before;
    if (isOnline) {
      before = named(b.loadFrom(largest, type, {row}), "before");
      top = larger(before, top);
      b.store(largest, top, {row});
    }
    // For a query that has seen no unmasked key yet, avoid -inf - -inf = NaN.
    Expr shift = named(select(top > lowest(b, type), top, 0.0), "shift");
    Expr total = b.reduceLanes(
        padded, b.constant(0, type),
        [&](Expr i, Expr acc) {
          Expr weight = named(expOrZero(score(i) - shift), "weight");
          b.store(weights, weight, {row, i});
          return plus(acc, weight);
        },
        plus);
    if (!isOnline)
      return b.store(totals, named(1.0 / total, "factor"), {row});
    Expr correction = named(expOrZero(before - shift), "correction");
    Expr corrected = fma(b.loadFrom(totals, type, {row}), correction, total);
    b.store(totals, named(corrected, "corrected"), {row});
    b.KernelBuilder::forLanes(anchor.width(), type, [&](Expr i, int64_t) {
      named(i, "element");
      b.store(sums, b.loadFrom(sums, type, {row, i}) * correction, {row, i});
    });
  }

  void valueTile(Expr row, int64_t rows, Expr firstKey, const Dim &count,
                 Expr column, int64_t columns) {
    Tile tile = zeroTile(b, rows, cover(columns), type);
    if (isOnline)
      overVectors(tile, row, column, [&](Expr r, Expr c, Expr &sum) {
        sum = b.loadFrom(sums, type, {r, c});
      });
    addProducts(tile, weights, row, anchor.product.getB(), firstKey, count,
                column, "key");
    overVectors(tile, row, column, [&](Expr r, Expr c, Expr sum) {
      if (isOnline)
        b.store(sums, sum, {r, c});
      else
        storeResult(sum, factorOf(r), r, c);
    });
  }

  void finish(const Rows &rows) {
    overRows(rows, [&](Expr row) {
      Expr total = b.loadFrom(totals, type, {row});
      b.store(totals, named(1.0 / total, "factor"), {row});
    });
    overElements(rows, anchor.width(), [&](Expr row, Expr i) {
      storeResult(b.loadFrom(sums, type, {row, i}), factorOf(row), row, i);
    });
  }

  Expr factorOf(Expr row) {
    return b.withLanes(1, [&] { return b.loadFrom(totals, type, {row}); });
  }

  /// Multiplies `sum`, a weighted sum of elements of V, by `factor` (1 / total
  /// of the weights), applies the group's epilogue and stores the result.
  void storeResult(Expr sum, Expr factor, Expr row, Expr column) {
    Expr y = named(sum * factor, "attention");
    // The total of the weights is 0 if all keys are masked, and NaN if a score
    // is NaN. With `zero_nan`, the result is 0 in both cases.
    if (anchor.softmax.getZeroNan())
      y = select(b.broadcast(factor < highest(b, type), b.lanes()), y, 0.0);
    Value product = anchor.product.getResult();
    b.bindElement(product, y);
    Exprs own(batch), at;
    own.push_back(queryAt(row));
    own.push_back(column);
    for (int64_t axis : axes)
      at.push_back(own[axis]);
    b.store(0u, b.load(b.result(), at), at);
    b.unbindElement(product);
  }

  ColumnVectors cover(int64_t columns) {
    if (dots)
      return coverWithDots(columns, *dots, b.target, /*padded=*/false);
    return ColumnVectors::cover(columns, b.target, type, /*padded=*/false);
  }

  KernelBuilder &b;
  AttentionAnchor anchor;
  /// Whether the elements of each key are contiguous in memory. If so, a score
  /// is the sum of the lanes of a vector of products.
  bool byElements;
  SmallVector<int64_t> axes;
  /// The element types of the sums, and of the queries, keys and values.
  Type type, operandType;
  /// How the target computes dot products of bf16 or f16 operands; nothing for
  /// f32.
  std::optional<DotForm> dots;
  int64_t lanes, block, keys;
  bool isOnline;
  /// Arrays with a row for each query of a block. `queries`: the query.
  /// `scores`: its scores. `weights`: its softmax weights (f32 weights replace
  /// the scores in place). `totals`: the sum of its weights, inverted at the
  /// end. `largest`: its largest score so far. `sums`: its weighted sum of
  /// values so far.
  Value queries, scores, weights, totals, largest, sums;
  Exprs batch;
  Expr firstQuery;
};

} // namespace

void buildAttention(KernelBuilder &b, AttentionAnchor anchor) {
  AttentionLoops(b, anchor, /*byElements=*/false).emit();
}

void buildDecodeAttention(KernelBuilder &b, AttentionAnchor anchor) {
  AttentionLoops(b, anchor, /*byElements=*/true).emit();
}

} // namespace ingot::schedule
