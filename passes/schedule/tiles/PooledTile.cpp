#include "passes/schedule/tiles/PooledTile.h"

#include "passes/schedule/Anchors.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The used lanes [lane, lane + lanes) of one of the vectors that cover a panel
/// of weights, and the panel's column that is in the first of these lanes.
struct LaneRange {
  int64_t vector, lane, lanes, column;
};

SmallVector<LaneRange> laneRangesOf(const ColumnVectors &columns) {
  SmallVector<LaneRange> laneRanges;
  int64_t column = 0;
  for (auto [v, lanes] : llvm::enumerate(columns.lanes)) {
    int64_t valid = std::min(lanes, columns.columns - column);
    for (int64_t done = 0; done < valid;) {
      int64_t range = llvm::bit_floor(static_cast<uint64_t>(valid - done));
      laneRanges.push_back(
          {static_cast<int64_t>(v), done, range, column + done});
      done += range;
    }
    column += lanes;
  }
  return laneRanges;
}

} // namespace

void emitPooledTile(KernelBuilder &b, ConvOp conv, Operation *pool,
                    ArrayRef<Expr> position, Expr first, int64_t count,
                    const ColumnVectors &columns, Expr firstColumn,
                    llvm::function_ref<Tile(ArrayRef<Expr>, Expr)> sums,
                    Value bias) {
  Type type = elementOf(pool->getOperand(0));
  ArrayRef<int64_t> window = windowOf(pool);
  int64_t across = window.back();
  int64_t results = std::max<int64_t>(count / across, 1),
          parts = std::max<int64_t>(across / count, 1);
  SmallVector<LaneRange> laneRanges = laneRangesOf(columns);
  auto channelAt = [&](const LaneRange &range) {
    return named(firstColumn + double(range.column),
                 "channel_" + Twine(range.column));
  };
  bool isMax = isa<MaxPoolOp>(pool);
  Exprs pooled;
  for (int64_t r = 0; r < results; ++r)
    for (const LaneRange &range : laneRanges)
      pooled.push_back(b.broadcast(
          isMax ? lowest(b, type) : b.constant(0, type), range.lanes));
  Value chain = pool->getOperand(0);
  // The number of rows of a pool window, in all its planes. They are processed
  // one after the other.
  int64_t rows = 1;
  for (int64_t size : window.drop_back())
    rows *= size;
  auto nameOfPlace = [&](int64_t column, size_t range) {
    std::string name = "_" + std::to_string(column);
    return laneRanges.size() == 1 ? name : name + "_" + std::to_string(range);
  };
  auto combine = [&](Expr row, Expr start, ArrayRef<Expr> carried) {
    Exprs next(carried.begin(), carried.end());
    Exprs inWindow = b.delinearize(row, window.drop_back());
    Exprs outer{position[0]};
    for (size_t i = 0; i + 1 < window.size(); ++i)
      outer.push_back(named(
          position[1 + i] * double(window[i]) +
              named(inWindow[i], "pool_" + spatialAxisName(i, window.size())),
          "conv_" + spatialAxisName(i, window.size())));
    Tile tile = sums(outer, start);
    for (int64_t c = 0; c < count; ++c)
      for (auto [n, p] : llvm::enumerate(laneRanges))
        b.withLanes(p.lanes, [&, n = n, p = p] {
          Expr column = channelAt(p);
          Expr sum = lanesOf(b, tile.at(c, p.vector), p.lane, p.lanes);
          if (bias)
            sum = sum + b.load(bias, {column});
          b.bindElement(conv.getResult(), sum);
          Exprs at(outer);
          at.push_back(named(start + double(c), "conv_column_" + Twine(c)));
          at.push_back(column);
          std::string place = nameOfPlace(c, n);
          Expr x = b.load(chain, at);
          if (StringRef name = kernel::nameOf(x.value); !name.contains('_'))
            kernel::renameValue(x.value,
                                (name.empty() ? "conv" : name) + place);
          x = b.broadcast(x, p.lanes);
          Expr &into = next[c / across * laneRanges.size() + n];
          into = named(isMax ? select(x > into, x, into) : into + x,
                       (isMax ? "best" : "total") + nameOfPlace(c / across, n));
          return x;
        });
    b.unbindElement(conv.getResult());
    return next;
  };
  pooled = b.loop(rows, pooled, [&](Expr row, ArrayRef<Expr> carried) {
    named(row, "pool_row");
    return b.loop(parts, carried, [&](Expr part, ArrayRef<Expr> inner) {
      return combine(
          row,
          parts == 1 ? first
                     : named(first + named(part, "pool_column") * double(count),
                             "conv_column"),
          inner);
    });
  });
  for (int64_t r = 0; r < results; ++r)
    for (auto [n, p] : llvm::enumerate(laneRanges))
      b.withLanes(p.lanes, [&, n = n, p = p] {
        Expr value = pooled[r * laneRanges.size() + n];
        if (!isMax)
          value = value * b.constant(1.0 / double(rows * across), type);
        b.bindElement(pool->getResult(0), value);
        Exprs at(position.begin(), position.end());
        Expr column = named(across == 1 ? first : first / double(across),
                            "pooled_column");
        at.push_back(named(column + double(r), "pooled_column_" + Twine(r)));
        at.push_back(channelAt(p));
        b.store(0u, b.broadcast(b.load(b.result(), at), p.lanes), at);
        return value;
      });
  b.unbindElement(pool->getResult(0));
}

} // namespace ingot::schedule
