// Attention without its matrix of scores.
//
//   softmax(f(Q x K)) x V, f elementwise
//
// A part is a block of queries of one head. Its scores are computed for one block of
// keys at a time, and are read again, by the softmax and by the product with the values,
// while they are in the first caches. Where there are several blocks of keys, the
// largest score so far may turn out too small: what was summed with it is scaled when a
// larger one is found (online softmax). For each query:
//
//     largest = -inf, total = 0, sums = 0
//     for a block of keys:
//       scores = f(Q x K)
//       larger = max(largest, scores)
//       weights = e^(scores - larger), correction = e^(largest - larger)
//       total = total * correction + sum of the weights
//       sums = sums * correction + weights x V
//     y = sums / total
//
// The queries of a block are copied once, with what is elementwise in front of them;
// keys and values are read in place, along their last axes.

#include "dialects/graph/ExprNames.h"
#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/RowTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// NaN is ignored: the total will find it.
Expr larger(Expr x, Expr y) { return named(select(y > x, y, x), "largest"); }
Expr plus(Expr x, Expr y) { return named(x + y, "total"); }

class AttentionLoops {
public:
  AttentionLoops(KernelBuilder &b, AttentionAnchor anchor)
      : b(b), anchor(anchor), axes(anchor.axesOf(b.result())),
        type(b.builder.getF32Type()), lanes(b.target.maxLanes(type)),
        block(b.plan.number("queries")),
        keys(std::min(b.plan.number("keys"), anchor.keys())),
        isOnline(keys < anchor.keys()) {}

  void emit() {
    b.vectorLanes = lanes;
    auto array = [&](ArrayRef<int64_t> shape, StringRef name) {
      return kernel::nameValue(b.stack(shape, type), name);
    };
    queries = array({block, anchor.depth()}, "queries");
    weights = array({block, int64_t(llvm::alignTo(keys, lanes))}, "weights");
    totals = array({block}, "totals");
    if (isOnline) {
      largest = array({block}, "largest");
      sums = array({block, anchor.width()}, "sums");
    }
    SmallVector<int64_t> parts(anchor.batches());
    int64_t blocks = llvm::divideCeil(anchor.queries(), block),
            left = anchor.queries() % block;
    parts.push_back(blocks);
    b.parallelFor(ShapedType::getNumElements(parts), [&](Expr part) {
      batch = b.delinearize(named(part, "part"), parts);
      Expr number = batch.pop_back_val();
      for (auto [axis, i] : llvm::enumerate(batch))
        named(i, axisName(axis, parts.size() + 1));
      named(number, "block");
      firstQuery = named(number * double(block), "first_query");
      if (left == 0)
        return overKeys(block);
      if (blocks == 1)
        return overKeys(left);
      b.branch(
          isLast(number, blocks), [&] { overKeys(left); },
          [&] { overKeys(block); });
    });
  }

private:
  /// All that is computed for `count` queries.
  void overKeys(int64_t count) {
    overRows(count, anchor.depth(), [&](Expr row, Expr k) {
      Value q = anchor.scores.getA();
      b.store(queries, b.load(q, operandAt(q, queryAt(row), k)), {row, k});
    });
    if (isOnline)
      begin(count);
    int64_t blocks = anchor.keys() / keys, left = anchor.keys() % keys;
    if (blocks == 1)
      overBlock(count, b.index(0), keys);
    else
      b.forRange(b.index(0), b.index(blocks), [&](Expr number) {
        named(number, "block_of_keys");
        overBlock(count, named(number * double(keys), "first_key"), keys);
      });
    if (left)
      overBlock(count, b.index(blocks * keys), left);
    if (isOnline)
      finish(count);
  }

  /// One block of `count` keys, for the first `rows` queries.
  void overBlock(int64_t rows, Expr firstKey, int64_t count) {
    // Lanes behind the last key count as keys that nothing sees.
    if (count % lanes != 0)
      overRange(rows, "row", [&](Expr row) {
        b.withLanes(lanes, [&] {
          Expr hidden = b.broadcast(lowest(b, type), lanes);
          b.store(weights, hidden, {row, b.index(count / lanes * lanes)});
          return hidden;
        });
      });
    overTiles(rows, count, "score",
              [&](Expr row, int64_t rows, Expr column, int64_t columns) {
                scoreTile(row, rows, firstKey, column, columns);
              });
    overRange(rows, "row", [&](Expr row) { weigh(row, count); });
    overTiles(rows, anchor.width(), "value",
              [&](Expr row, int64_t rows, Expr column, int64_t columns) {
                valueTile(row, rows, firstKey, count, column, columns);
              });
  }

  //===--------------------------------------------------------------------===//
  // Loops and places
  //===--------------------------------------------------------------------===//

  void overRange(int64_t count, StringRef name,
                 llvm::function_ref<void(Expr)> body) {
    b.loop(count, {}, [&](Expr i, ArrayRef<Expr>) -> Exprs {
      body(named(i, name));
      return {};
    });
  }

  /// Runs `body` for the elements of `count` rows of `columns`, in lanes.
  void overRows(int64_t count, int64_t columns,
                llvm::function_ref<void(Expr, Expr)> body) {
    overRange(count, "row", [&](Expr row) {
      b.KernelBuilder::forLanes(columns, type, [&](Expr i, int64_t) {
        body(row, named(i, "element"));
      });
    });
  }

  /// Covers `rows` x `columns` with the plan's tiles for `what`, panel by panel.
  void overTiles(int64_t rows, int64_t columns, const std::string &what,
                 llvm::function_ref<void(Expr, int64_t, Expr, int64_t)> tile) {
    int64_t width = b.plan.number(what + "_columns"), panels = columns / width,
            left = columns % width;
    auto panel = [&](Expr column, int64_t count) {
      forRowTiles(b, rows, b.plan.number(what + "_rows"),
                  [&](Expr row, int64_t rowCount) {
                    tile(named(row, "row"), rowCount, column, count);
                  });
    };
    if (panels > 0)
      overRange(panels, "panel", [&](Expr number) {
        panel(named(number * double(width), "column"), width);
      });
    if (left)
      panel(b.index(panels * width), left);
  }

  Expr queryAt(Expr row) { return named(firstQuery + row, "query"); }

  /// Where an operand of a product has the element (row, column) of this head.
  Exprs operandAt(Value operand, Expr row, Expr column) {
    Exprs at;
    for (auto [size, i] : llvm::zip(shapeOf(operand), batch))
      at.push_back(size == 1 ? b.index(0) : i);
    at.push_back(row);
    at.push_back(column);
    return at;
  }

  /// Calls `body` in the lanes of each vector of a tile, with its place and its sum.
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
  // Steps
  //===--------------------------------------------------------------------===//

  void begin(int64_t count) {
    overRows(count, anchor.width(), [&](Expr row, Expr i) {
      b.store(sums, b.constant(0, type), {row, i});
    });
    overRange(count, "row", [&](Expr row) {
      b.store(largest, lowest(b, type), {row});
      b.store(totals, b.constant(0, type), {row});
    });
  }

  void scoreTile(Expr row, int64_t rows, Expr firstKey, Expr column,
                 int64_t columns) {
    Tile tile = zeroTile(b, rows, cover(columns), type);
    Value k = anchor.scores.getB();
    accumulate(
        b, tile, 0, rows, anchor.depth(), /*splits=*/1,
        [&](int64_t i, Expr step) {
          return b.loadFrom(queries, type, {row + double(i), step});
        },
        [&](Expr step, size_t v) {
          return loadVector(k, step, firstKey + column, tile.columns, v);
        });
    Value product = anchor.scores.getResult();
    overVectors(tile, row, column, [&](Expr r, Expr c, Expr sum) {
      b.bindElement(product, sum);
      Exprs at(batch);
      at.push_back(queryAt(r));
      at.push_back(named(firstKey + c, "key"));
      Expr score = b.load(anchor.softmax.getInput(), at);
      b.store(weights, score, {r, c});
    });
    b.unbindElement(product);
  }

  /// Turns the scores of a query and `count` keys into weights.
  void weigh(Expr row, int64_t count) {
    int64_t padded = llvm::alignTo(count, lanes);
    auto score = [&](Expr i) {
      return b.loadFrom(weights, type, {row, named(i, "key")});
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
    // Of a query that has seen no key yet, -inf - -inf would be no number.
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

  void valueTile(Expr row, int64_t rows, Expr firstKey, int64_t count,
                 Expr column, int64_t columns) {
    Tile tile = zeroTile(b, rows, cover(columns), type);
    if (isOnline)
      overVectors(tile, row, column, [&](Expr r, Expr c, Expr &sum) {
        sum = b.loadFrom(sums, type, {r, c});
      });
    Value v = anchor.product.getB();
    accumulate(
        b, tile, 0, rows, count, /*splits=*/1,
        [&](int64_t i, Expr key) {
          return b.loadFrom(weights, type, {row + double(i), key});
        },
        [&](Expr key, size_t vector) {
          return loadVector(v, firstKey + key, column, tile.columns, vector);
        },
        "key");
    overVectors(tile, row, column, [&](Expr r, Expr c, Expr sum) {
      if (isOnline)
        b.store(sums, sum, {r, c});
      else
        storeResult(sum, factorOf(r), r, c);
    });
  }

  void finish(int64_t count) {
    overRange(count, "row", [&](Expr row) {
      Expr total = b.loadFrom(totals, type, {row});
      b.store(totals, named(1.0 / total, "factor"), {row});
    });
    overRows(count, anchor.width(), [&](Expr row, Expr i) {
      storeResult(b.loadFrom(sums, type, {row, i}), factorOf(row), row, i);
    });
  }

  Expr factorOf(Expr row) {
    return b.withLanes(1, [&] { return b.loadFrom(totals, type, {row}); });
  }

  /// Stores the weighed sum of values, with all that follows in the group.
  void storeResult(Expr sum, Expr factor, Expr row, Expr column) {
    Expr y = named(sum * factor, "attention");
    // No key is seen, or a score is no number: the total is 0 or NaN.
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
    return ColumnVectors::cover(columns, b.target, type, /*padded=*/false);
  }

  /// The vector `v` of a row of `operand`, of those from `column` on.
  Expr loadVector(Value operand, Expr row, Expr column,
                  const ColumnVectors &vectors, size_t v) {
    int64_t offset = 0;
    for (int64_t lanes : ArrayRef(vectors.lanes).take_front(v))
      offset += lanes;
    return b.withLanes(vectors.lanes[v], [&] {
      return b.load(operand, operandAt(operand, row, column + double(offset)));
    });
  }

  KernelBuilder &b;
  AttentionAnchor anchor;
  SmallVector<int64_t> axes;
  Type type;
  int64_t lanes, block, keys;
  bool isOnline;
  /// For each query of a block: itself; its scores, which become weights; the sum of
  /// all weights, and at the end its inverse; the largest score and the weighed values so
  /// far.
  Value queries, weights, totals, largest, sums;
  Exprs batch;
  Expr firstQuery;
};

//===----------------------------------------------------------------------===//
// The strategy
//===----------------------------------------------------------------------===//

/// Arrays of a part live on the stack: what a thread has to spare, and a second cache
/// holds beside keys and values.
constexpr int64_t mostStackBytes = 64 << 10;
/// Fewer queries are products of a vector and a matrix, which memory bounds.
constexpr int64_t leastQueries = 4;
/// Heads of more elements, of keys and values together, leave no room for a block.
constexpr int64_t widestHeads = 1024;

bool suits(AttentionAnchor anchor, const TargetDescription &target) {
  Type type = elementOf(anchor.scores.getA());
  return !target.isDevice() && !target.smallCode && !target.freestanding &&
         target.maxLanes(type) > 1 && anchor.queries() >= leastQueries &&
         anchor.depth() + anchor.width() <= widestHeads;
}

/// Whether the group around `product` can end behind it with elementwise operators and
/// transposes alone.
bool endsInPlace(Operation *product,
                 llvm::function_ref<bool(Operation *)> isMember) {
  Operation *op = product;
  while (!op->use_empty() && isMember(*op->user_begin())) {
    Operation *reader = *op->user_begin();
    if (!isReadInPlace(op, reader))
      return false;
    for (Value operand : reader->getOperands())
      if (Operation *other = operand.getDefiningOp();
          other && other != op && isMember(other))
        return false;
    op = reader;
  }
  return true;
}

/// Adds what an operand is computed by in front of the product, element by element and
/// once: transposes, and as `scales` products with one number.
void addInFront(Value operand, bool scales,
                llvm::function_ref<bool(Operation *)> isFree,
                SmallVectorImpl<Operation *> &taken) {
  for (Operation *op = operand.getDefiningOp();
       op && op->hasOneUse() && isFree(op);
       op = op->getOperand(0).getDefiningOp()) {
    auto transpose = dyn_cast<TransposeOp>(op);
    bool scalesHere = scales && isa<MulOp>(op) &&
                      tensorType(op->getOperand(1)).getNumElements() == 1 &&
                      dimsOf(op->getOperand(0)) == dimsOf(op->getResult(0));
    if (!scalesHere && !(transpose && transpose.passesLanes()))
      return;
    taken.push_back(op);
  }
}

class AttentionStrategy : public Strategy {
public:
  StringRef name() const override { return "attention"; }

  bool matches(GroupView group,
               const TargetDescription &target) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    return anchor && suits(anchor, target) && !group.isStrict();
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {
        {"keys", 1, 1 << 16},          {"queries", 1, 1 << 12},
        {"score_columns", 1, 1 << 16}, {"score_rows", 1, 1 << 12},
        {"value_columns", 1, 1 << 16}, {"value_rows", 1, 1 << 12}};
    return keys;
  }

  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    Ranking<Plan> ranking;
    // Each block reads all keys and values: few queries would wait for outer caches.
    for (int64_t least = 24; least > 0 && std::isinf(ranking.leastCost());
         least /= 2)
      for (int64_t keys : keysOf(anchor))
        for (int64_t queries : queriesOf(anchor, least)) {
          Plan plan = planOf(anchor, queries, keys, target);
          if (stackBytes(anchor, plan, target) <= mostStackBytes)
            ranking.add(plan, cost(group, plan, target));
        }
    std::vector<Plan> ranked =
        std::move(ranking).ranked(planOf(anchor, 1, 1, target));
    return SmallVector<Plan>(ArrayRef(ranked).take_front(mostPlans));
  }

  double cost(GroupView group, const Plan &plan,
              const TargetDescription &target) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    int64_t block = plan.number("queries"),
            keys = std::min(plan.number("keys"), anchor.keys());
    auto over = [](int64_t all, int64_t part, auto cycles) {
      return double(all / part) * cycles(part) +
             (all % part ? cycles(all % part) : 0);
    };
    double head = over(anchor.queries(), block, [&](int64_t rows) {
      return over(anchor.keys(), keys, [&](int64_t count) {
        return cyclesOfBlock(anchor, plan, rows, count, target);
      });
    });
    // The queries left are built once more: a price for code, which compilers take long
    // for.
    constexpr double moreCode = 1.04;
    if (anchor.queries() % block)
      head *= moreCode;
    return head * double(ShapedType::getNumElements(anchor.batches()));
  }

  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    int64_t bytes = stackBytes(anchor, plan, target);
    if (bytes > mostStackBytes)
      return "its arrays for " + std::to_string(plan.number("queries")) +
             " queries take " + std::to_string(bytes) + " of the stack's " +
             std::to_string(mostStackBytes) + " bytes";
    std::string why = refuseTile(tileOf(plan, "score", anchor, target),
                                 anchor.depth(), group.isStrict());
    return why.empty() ? refuseTile(tileOf(plan, "value", anchor, target),
                                    anchor.keys(), group.isStrict())
                       : why;
  }

  SmallVector<Operation *> takes(Operation *producer,
                                 llvm::function_ref<bool(Operation *)> isMember,
                                 llvm::function_ref<bool(Operation *)> isFree,
                                 const TargetDescription &target,
                                 bool packs) const override {
    auto product = dyn_cast<MatMulOp>(producer);
    if (isa<SoftmaxOp>(producer))
      product = dyn_cast<MatMulOp>(*producer->user_begin());
    AttentionAnchor anchor =
        product ? AttentionAnchor::of(product) : AttentionAnchor();
    if (!anchor || !suits(anchor, target) || !endsInPlace(product, isMember) ||
        GroupView{product->getBlock()}.isStrict())
      return {};
    SmallVector<Operation *> taken{anchor.softmax, anchor.scores};
    llvm::append_range(taken, anchor.between);
    if (producer == product)
      taken.push_back(product);
    if (!llvm::all_of(taken, isFree))
      return {};
    addInFront(anchor.scores.getA(), /*scales=*/true, isFree, taken);
    addInFront(product.getB(), /*scales=*/false, isFree, taken);
    return taken;
  }

  void emit(KernelBuilder &b) const override {
    AttentionLoops(b, AttentionAnchor::of(b.group)).emit();
  }

private:
  /// Numbers of keys in a block: all of them, if they are few.
  static SmallVector<int64_t> keysOf(AttentionAnchor anchor) {
    constexpr int64_t few = 256;
    if (anchor.keys() <= few)
      return {anchor.keys()};
    return {64, 96, 128};
  }

  /// Numbers of queries in a block: whole tiles, or what leaves no queries.
  static SmallVector<int64_t> queriesOf(AttentionAnchor anchor, int64_t least) {
    SmallVector<int64_t> counts;
    int64_t all = anchor.queries(), most = std::min<int64_t>(all, 64);
    for (int64_t count = std::min(least, all); count <= most; ++count)
      if (count % 8 == 0 || count % 6 == 0 || all % count == 0)
        counts.push_back(count);
    return counts;
  }

  static TileChoice tileOf(const Plan &plan, const std::string &what,
                           AttentionAnchor anchor,
                           const TargetDescription &target) {
    int64_t lanes = target.maxLanes(elementOf(anchor.scores.getA()));
    return {plan.number(what + "_rows"),
            int64_t(llvm::divideCeil(plan.number(what + "_columns"), lanes))};
  }

  /// The tiles of both products of `queries` and `keys`.
  static TileModel scoreModel(AttentionAnchor anchor, int64_t queries,
                              int64_t keys, const TargetDescription &target) {
    return TileModel(queries, keys, anchor.depth(), target,
                     elementOf(anchor.scores.getA()));
  }
  static TileModel valueModel(AttentionAnchor anchor, int64_t queries,
                              int64_t keys, const TargetDescription &target) {
    return TileModel(queries, anchor.width(), keys, target,
                     elementOf(anchor.scores.getA()));
  }

  static Plan planOf(AttentionAnchor anchor, int64_t queries, int64_t keys,
                     const TargetDescription &target) {
    TileChoice scores =
                   scoreModel(anchor, queries, keys, target).ranked().front(),
               values =
                   valueModel(anchor, queries, keys, target).ranked().front();
    int64_t lanes = target.maxLanes(elementOf(anchor.scores.getA()));
    return Plan(anchor.softmax->getContext(),
                {{"keys", keys},
                 {"queries", queries},
                 {"score_columns", scores.vectors * lanes},
                 {"score_rows", scores.rows},
                 {"value_columns", values.vectors * lanes},
                 {"value_rows", values.rows}});
  }

  /// Estimates the cycles of `rows` queries and `count` keys.
  static double cyclesOfBlock(AttentionAnchor anchor, const Plan &plan,
                              int64_t rows, int64_t count,
                              const TargetDescription &target) {
    // Cycles that the softmax takes for each vector of scores, and for each query beside:
    // halves are merged, and what was summed before is scaled.
    constexpr double ofVector = 8, ofQuery = 40;
    double lanes = double(target.maxLanes(elementOf(anchor.scores.getA())));
    return scoreModel(anchor, rows, count, target)
               .cycles(tileOf(plan, "score", anchor, target)) +
           valueModel(anchor, rows, count, target)
               .cycles(tileOf(plan, "value", anchor, target)) +
           double(rows) * (ofVector * double(count) / lanes + ofQuery);
  }

  static int64_t stackBytes(AttentionAnchor anchor, const Plan &plan,
                            const TargetDescription &target) {
    int64_t keys = std::min(plan.number("keys"), anchor.keys()),
            lanes = target.maxLanes(elementOf(anchor.scores.getA())),
            row = anchor.depth() + int64_t(llvm::alignTo(keys, lanes)) + 1 +
                  (keys < anchor.keys() ? anchor.width() + 1 : 0);
    return plan.number("queries") * row * 4;
  }
};

} // namespace

std::unique_ptr<Strategy> createAttentionStrategy() {
  return std::make_unique<AttentionStrategy>();
}

} // namespace ingot::schedule
