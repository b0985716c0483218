// Definition of ensembles of decision trees.

#include "dialects/graph/GraphDialect.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult ForestOp::inferTypes(Adaptor op, TypeRule &rule) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  int64_t nodes = tensorType(op.getFeature()).getNumElements(),
          trees = tensorType(op.getRoots()).getNumElements(),
          entries = tensorType(op.getWeights()).getNumElements(),
          targets = tensorType(op.getBase()).getNumElements();
  if (x.size() != 2)
    return rule.refuse("needs rows of features");
  if (failed(rule.alike({op.getX(), op.getThreshold()})) ||
      failed(rule.alike({op.getWeights(), op.getBase()})) ||
      failed(rule.shape(op.getFeature(), nodes, "features")) ||
      failed(rule.shape(op.getThreshold(), nodes, "thresholds")) ||
      failed(rule.shape(op.getMissing(), nodes, "a table `missing`")) ||
      failed(rule.shape(op.getNext(), {nodes, 2}, "a table `next`")) ||
      failed(rule.shape(op.getRoots(), trees, "roots")) ||
      failed(rule.shape(op.getDepths(), trees, "depths")) ||
      failed(rule.shape(op.getFirst(), nodes + 1, "a table `first`")) ||
      failed(rule.shape(op.getWeights(), entries, "weights")) ||
      failed(rule.shape(op.getTargets(), entries, "targets")) ||
      failed(rule.shape(op.getBase(), targets, "a base")))
    return failure();
  rule.needKnown(dimsOf(op.getX())[1],
                 "has rows of a size known only at run time");
  return rule.result(ArrayRef<Dim>{dimsOf(op.getX())[0], targets},
                     elementOf(op.getBase()));
}

void ForestOp::emitBody(BodyBuilder &b) {
  Dim rows = dimsOf(getX())[0];
  int64_t trees = shapeOf(getRoots())[0], targets = shapeOf(getResult())[1];
  Type type = elementOf(getResult()), indexType = b.builder.getIndexType();
  auto index = [&](Value table, ArrayRef<Expr> at) {
    return convert(b.load(table, at), indexType);
  };
  StringRef aggregate = getAggregate();
  bool adds = aggregate == "SUM" || aggregate == "AVERAGE";
  double start = adds ? 0 : aggregate == "MIN" ? INFINITY : -INFINITY;
  b.forIndependent(rows, [&](ArrayRef<Expr> row) {
    b.forEach({targets}, [&](ArrayRef<Expr> target) {
      b.store(0, b.constant(start, type), {row[0], target[0]});
    });
    b.forEach({trees}, [&](ArrayRef<Expr> tree) {
      Expr leaf = b.loop(
          b.index(0), index(getDepths(), tree), 1, {index(getRoots(), tree)},
          [&](Expr, ArrayRef<Expr> node) -> Exprs {
            Expr x = b.load(getX(), {row[0], index(getFeature(), node)});
            Expr low = x <= convert(b.load(getThreshold(), node), x.type);
            if (getAnyMissing())
              low =
                  low | (isNaN(x) & notEqual(b.load(getMissing(), node), 0.0));
            return {select(low, index(getNext(), {node[0], b.index(0)}),
                           index(getNext(), {node[0], b.index(1)}))};
          })[0];
      b.forRange(index(getFirst(), {leaf}), index(getFirst(), {leaf + 1.0}),
                 [&](Expr entry) {
                   Exprs at = {row[0], index(getTargets(), {entry})};
                   Expr old = b.loadOutput(0, type, at),
                        weight = convert(b.load(getWeights(), {entry}), type);
                   b.store(0,
                           adds                 ? old + weight
                           : aggregate == "MIN" ? min(old, weight)
                                                : max(old, weight),
                           at);
                 });
    });
    b.forEach({targets}, [&](ArrayRef<Expr> target) {
      Expr sum = b.loadOutput(0, type, {row[0], target[0]});
      if (aggregate == "AVERAGE")
        sum = sum / static_cast<double>(trees);
      b.store(0, sum + convert(b.load(getBase(), target), type),
              {row[0], target[0]});
    });
  });
}

} // namespace ingot::graph
