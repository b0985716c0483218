// Definitions of the operators for ensembles of decision trees.

#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;

namespace ingot::graph {

/// Checks the tables that are operands of both graph.forest and
/// graph.forest_masks. Tables of the nodes must have `decisions` values, and
/// tables of the leaves' weights must have `weights` values.
template <typename Adaptor>
static LogicalResult checkTables(Adaptor op, TypeRule &rule, int64_t decisions,
                                 int64_t weights) {
  int64_t targets = tensorType(op.getBase()).getNumElements();
  return success(
      succeeded(rule.alike({op.getX(), op.getThreshold()})) &&
      succeeded(rule.alike({op.getWeights(), op.getBase()})) &&
      succeeded(rule.shape(op.getFeature(), decisions, "features")) &&
      succeeded(rule.shape(op.getThreshold(), decisions, "thresholds")) &&
      succeeded(rule.shape(op.getMissing(), decisions, "a table `missing`")) &&
      succeeded(rule.shape(op.getWeights(), weights, "weights")) &&
      succeeded(rule.shape(op.getTargets(), weights, "targets")) &&
      succeeded(rule.shape(op.getBase(), targets, "a base")));
}

LogicalResult ForestOp::inferTypes(Adaptor op, TypeRule &rule) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  int64_t nodes = tensorType(op.getFeature()).getNumElements(),
          trees = tensorType(op.getRoots()).getNumElements(),
          entries = tensorType(op.getWeights()).getNumElements(),
          targets = tensorType(op.getBase()).getNumElements();
  if (x.size() != 2)
    return rule.refuse("needs rows of features");
  if (failed(checkTables(op, rule, nodes, entries)) ||
      failed(rule.shape(op.getNext(), {nodes, 2}, "a table `next`")) ||
      failed(rule.shape(op.getRoots(), trees, "roots")) ||
      failed(rule.shape(op.getDepths(), trees, "depths")) ||
      failed(rule.shape(op.getFirst(), nodes + 1, "a table `first`")))
    return failure();
  rule.needKnown(dimsOf(op.getX())[1],
                 "has rows of a size known only at run time");
  return rule.result(ArrayRef<Dim>{dimsOf(op.getX())[0], targets},
                     elementOf(op.getBase()));
}

namespace {

/// Builds the tree walks of graph.forest for one row of the input, the features
/// of a sample.
class WalkBuilder {
public:
  WalkBuilder(BodyBuilder &b, ForestOp op, Expr row)
      : b(b), op(op), row(row), type(elementOf(op.getResult())) {}

  /// Walks down `count` trees from `firstTree` on, then adds the contributions
  /// of the leaves in the order of the trees. The steps of the walks are
  /// interleaved, since each step depends on the previous step of the same
  /// walk.
  void walk(Expr firstTree, int64_t count) {
    Expr steps;
    Exprs roots;
    for (int64_t i = 0; i < count; ++i) {
      Expr tree = firstTree + double(i), depth = index(op.getDepths(), {tree});
      steps = steps ? select(steps < depth, depth, steps) : depth;
      roots.push_back(index(op.getRoots(), {tree}));
    }
    Exprs leaves =
        b.loop(b.index(0), named(steps, "steps"), 1, roots,
               [&](Expr, ArrayRef<Expr> nodes) {
                 Exprs next;
                 for (auto [i, node] : llvm::enumerate(nodes))
                   next.push_back(named(step(node), "node_" + Twine(i)));
                 return next;
               });
    for (Expr leaf : leaves)
      contribute(leaf);
  }

  bool adds() {
    return op.getAggregate() == "SUM" || op.getAggregate() == "AVERAGE";
  }

  /// Returns the initial value of the aggregation over trees.
  Expr start() {
    return b.constant(adds()                       ? 0
                      : op.getAggregate() == "MIN" ? INFINITY
                                                   : -INFINITY,
                      type);
  }

private:
  Expr index(Value table, ArrayRef<Expr> at) {
    return convert(b.load(table, at), b.builder.getIndexType());
  }
  Expr step(Expr node) {
    Expr x = b.load(op.getX(), {row, index(op.getFeature(), {node})});
    Expr low = x <= convert(b.load(op.getThreshold(), {node}), x.type);
    if (op.getAnyMissing())
      low = low | (isNaN(x) & notEqual(b.load(op.getMissing(), {node}), 0.0));
    return index(op.getNext(), {node, select(low, b.index(0), b.index(1))});
  }

  void contribute(Expr leaf) {
    b.forRange(index(op.getFirst(), {leaf}), index(op.getFirst(), {leaf + 1.0}),
               [&](Expr entry) {
                 Exprs at = {row, index(op.getTargets(), {entry})};
                 Expr old = b.loadOutput(0, type, at),
                      weight = convert(b.load(op.getWeights(), {entry}), type);
                 b.store(0,
                         adds()                       ? old + weight
                         : op.getAggregate() == "MIN" ? min(old, weight)
                                                      : max(old, weight),
                         at);
               });
  }

  BodyBuilder &b;
  ForestOp op;
  Expr row;
  Type type;
};

} // namespace

void ForestOp::emitBody(BodyBuilder &b) {
  int64_t trees = shapeOf(getRoots())[0], targets = shapeOf(getResult())[1];
  Type type = elementOf(getResult());
  // The number of trees that are walked at once on cores with vectors. On other
  // cores, it is 1, since more would only add code. With 200 trees on Zen 4, 8
  // at a time take 3.5 us, 12 take 2.9 us and 16 take 7.0 us, since clang++ 22
  // vectorizes 16.
  constexpr int64_t most = 12;
  int64_t together = std::min(trees, b.vectorLanes > 1 ? most : 1);
  b.forIndependent(dimsOf(getX())[0], [&](ArrayRef<Expr> row) {
    WalkBuilder walks(b, *this, row[0]);
    b.forEach({targets}, [&](ArrayRef<Expr> target) {
      b.store(0, walks.start(), {row[0], target[0]});
    });
    int64_t rest = trees % together;
    b.loop(b.index(0), b.index(trees - rest), together, {},
           [&](Expr tree, ArrayRef<Expr>) -> Exprs {
             walks.walk(named(tree, "tree"), together);
             return {};
           });
    if (rest)
      walks.walk(b.index(trees - rest), rest);
    b.forEach({targets}, [&](ArrayRef<Expr> target) {
      Expr sum = b.loadOutput(0, type, {row[0], target[0]});
      if (getAggregate() == "AVERAGE")
        sum = sum / static_cast<double>(trees);
      // If no leaf contributes to a target (an output of the ensemble), the
      // minimum or maximum of that target is 0, as in ONNX Runtime.
      if (!walks.adds())
        sum = select(equal(sum, walks.start()), b.constant(0, type), sum);
      b.store(0, sum + convert(b.load(getBase(), target), type),
              {row[0], target[0]});
    });
  });
}

LogicalResult ForestMasksOp::inferTypes(Adaptor op, TypeRule &rule) {
  int64_t nodes = tensorType(op.getFeature()).getNumElements(),
          words = tensorType(op.getFirstLeaf()).getNumElements(),
          trees = tensorType(op.getWordsOf()).getNumElements() - 1,
          leaves = tensorType(op.getWeights()).getNumElements(),
          targets = tensorType(op.getBase()).getNumElements();
  if (shapeOf(op.getX()).size() != 2)
    return rule.refuse("needs columns of features");
  if (failed(checkTables(op, rule, nodes, leaves)) ||
      failed(rule.shape(op.getKept(), nodes, "a table `kept`")) ||
      failed(rule.shape(op.getNodesOf(), words + 1, "a table `nodes_of`")) ||
      failed(rule.shape(op.getFirstLeaf(), words, "first leaves")) ||
      failed(rule.shape(op.getWordsOf(), trees + 1, "a table `words_of`")))
    return failure();
  return rule.result(ArrayRef<Dim>{dimsOf(op.getX())[1], targets},
                     elementOf(op.getBase()));
}

namespace {

/// Builds the code of graph.forest_masks for a block of input rows that are
/// processed together, one in each lane.
class MasksBuilder {
public:
  MasksBuilder(BodyBuilder &b, ForestMasksOp op)
      : b(b), op(op), targets(shapeOf(op.getResult())[1]),
        type(elementOf(op.getResult())), bits(elementOf(op.getKept())) {}

  /// Emits the code for `lanes` input rows, beginning with row `first`.
  void emit(Expr first) {
    lanes = b.lanes();
    if (lanes > 1) {
      reached = b.stack({lanes}, bits);
      terms = b.stack({lanes}, type);
    }
    targets == 1 ? addToOne(first) : addToSeveral(first);
  }

private:
  int64_t trees() { return shapeOf(op.getWordsOf())[0] - 1; }

  /// Adds up the weights of the leaves if the forest has a single target
  /// (output). The sums stay in registers.
  void addToOne(Expr first) {
    Expr none = b.broadcast(b.constant(0, type), lanes);
    Expr sum = b.loop(trees(), {none}, [&](Expr tree, ArrayRef<Expr> carried) {
      Expr term;
      forEachLeaf(tree, first, [&](Expr, Expr lane, Expr leaf) {
        term = b.load(op.getWeights(), {leaf});
        if (lanes > 1)
          b.store(terms, term, {lane});
      });
      if (lanes > 1)
        term = b.loadFrom(terms, type, {b.index(0)});
      return Exprs{named(carried[0] + term, "sum")};
    })[0];
    sum = sum + b.loadScalar(op.getBase(), {b.index(0)});
    if (lanes > 1)
      b.store(terms, sum, {b.index(0)});
    forEachRow(first, [&](Expr row, Expr lane) {
      b.store(0, lanes > 1 ? b.loadFrom(terms, type, {lane}) : sum,
              {row, b.index(0)});
    });
  }

  void addToSeveral(Expr first) {
    auto forEachTarget =
        [&](llvm::function_ref<Expr(Expr, ArrayRef<Expr>)> of) {
          forEachRow(first, [&](Expr row, Expr) {
            b.forEach({targets}, [&](ArrayRef<Expr> target) {
              b.store(0, of(row, target), {row, target[0]});
            });
          });
        };
    forEachTarget([&](Expr, ArrayRef<Expr>) { return b.constant(0, type); });
    b.forEach({trees()}, [&](ArrayRef<Expr> tree) {
      forEachLeaf(tree[0], first, [&](Expr row, Expr, Expr leaf) {
        Exprs place = {row, indexAt(op.getTargets(), leaf)};
        b.store(0,
                b.loadOutput(0, type, place) + b.load(op.getWeights(), {leaf}),
                place);
      });
    });
    forEachTarget([&](Expr row, ArrayRef<Expr> target) {
      return b.loadOutput(0, type, {row, target[0]}) +
             b.load(op.getBase(), target);
    });
  }

  /// Calls `body` with each input row, its lane, and the leaf that the row
  /// reaches in `tree`.
  void forEachLeaf(Expr tree, Expr first,
                   llvm::function_ref<void(Expr, Expr, Expr)> body) {
    named(tree, "tree");
    Expr leaf = reachedLeaf(tree, first);
    if (lanes > 1)
      b.store(reached, leaf, {b.index(0)});
    forEachRow(first, [&](Expr row, Expr lane) {
      Expr own = lanes > 1 ? b.loadFrom(reached, bits, {lane}) : leaf;
      body(row, lane, named(convert(own, b.builder.getIndexType()), "leaf"));
    });
  }

  Expr indexAt(Value table, Expr at) {
    return convert(b.loadScalar(table, {at}), b.builder.getIndexType());
  }

  /// Calls `body` with the index and the lane of each row of the block, in
  /// sequence.
  void forEachRow(Expr first, llvm::function_ref<void(Expr, Expr)> body) {
    b.withLanes(1, [&]() -> Expr {
      b.forEach({lanes}, [&](ArrayRef<Expr> lane) {
        body(named(first + lane[0], "row"), named(lane[0], "lane"));
      });
      return {};
    });
  }

  /// Returns the leaf of a tree that the row reaches: the first one that
  /// remains when each decision node whose condition is false has ruled out the
  /// leaves below its true branch. A word has one bit for each of 32 leaves.
  /// Words are visited from the last to the first, and the first leaf that
  /// remains in a word replaces the previous result.
  Expr reachedLeaf(Expr tree, Expr row) {
    Expr begin = indexAt(op.getWordsOf(), tree),
         end = indexAt(op.getWordsOf(), tree + 1.0);
    Expr none = b.broadcast(b.constantInt(0, bits), lanes);
    return b.loop(begin, end, 1, {none}, [&](Expr i, ArrayRef<Expr> later) {
      Expr word = named(begin + end - i - 1.0, "word");
      Expr left = leftBits(word, row);
      Expr leaf = firstBit(left) +
                  b.broadcast(b.loadScalar(op.getFirstLeaf(), {word}), lanes);
      return Exprs{
          named(select(notEqual(left, 0.0), leaf, later[0]), "reached")};
    })[0];
  }

  /// Returns a word with one bit for each of 32 leaves of a tree: 0 if a
  /// decision node whose condition is false rules out the leaf.
  Expr leftBits(Expr word, Expr row) {
    Expr all = b.broadcast(b.constantInt(-1, bits), lanes);
    return b.loop(
        indexAt(op.getNodesOf(), word), indexAt(op.getNodesOf(), word + 1.0), 1,
        {all}, [&](Expr node, ArrayRef<Expr> left) {
          named(node, "node");
          auto ofNode = [&](Value table) {
            return b.loadScalar(table, {node});
          };
          Expr x = b.load(op.getX(), {indexAt(op.getFeature(), node), row});
          Expr low = x <= ofNode(op.getThreshold());
          if (op.getAnyMissing()) {
            Expr missing = notEqual(ofNode(op.getMissing()), 0.0);
            low = low | (isNaN(x) & b.broadcast(missing, lanes));
          }
          Expr kept = b.broadcast(ofNode(op.getKept()), lanes);
          return Exprs{named(select(low, left[0], left[0] & kept), "left")};
        })[0];
  }

  /// Returns the index of the lowest set bit: isolates the bit, converts it to
  /// float and reads the exponent.
  Expr firstBit(Expr mask) {
    constexpr int64_t mantissaBits = 23, exponentBits = 255, bias = 127;
    auto number = [&](int64_t value) { return b.constantInt(value, bits); };
    Expr lowest = named(mask & -mask, "lowest_bit");
    Expr power = bitcast(convert(lowest, b.builder.getF32Type()), bits);
    return ((power >> number(mantissaBits)) & number(exponentBits)) -
           number(bias);
  }

  BodyBuilder &b;
  ForestMasksOp op;
  int64_t targets, lanes = 1;
  Type type, bits;
  /// Buffers with one element for each lane, if there are several lanes.
  /// reached: the leaf of the current tree that the row of the lane reaches.
  /// terms, used only with a single target: the weight of that leaf and, after
  /// the last tree, the result for the row.
  Value reached, terms;
};

} // namespace

void ForestMasksOp::emitBody(BodyBuilder &b) {
  Dim rows = dimsOf(getX())[1];
  int64_t lanes = b.vectorLanes;
  MasksBuilder masks(b, *this);
  auto inLanes = [&](Expr first) {
    b.withLanes(lanes, [&]() -> Expr {
      masks.emit(first);
      return {};
    });
  };
  Dim whole = rows.floorDiv(lanes);
  if (whole * lanes == rows)
    return b.forIndependent(whole, [&](ArrayRef<Expr> block) {
      inLanes(named(block[0] * double(lanes), "first_row"));
    });
  // If the last rows do not fill a vector, they are processed one by one.
  b.forIndependent(whole + 1, [&](ArrayRef<Expr> block) {
    Expr first = named(block[0] * double(lanes), "first_row"),
         end = b.size(rows);
    Expr fills = first + double(lanes) <= end;
    b.when(fills, [&] { inLanes(first); });
    b.when(~fills,
           [&] { b.forRange(first, end, [&](Expr row) { masks.emit(row); }); });
  });
}

} // namespace ingot::graph
