#include "passes/schedule/tiles/PanelKernel.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

ColumnVectors ColumnVectors::cover(int64_t columns,
                                   const TargetDescription &target, Type type,
                                   bool padded) {
  ColumnVectors result;
  result.columns = columns;
  SmallVector<int64_t> widths = target.lanes(type);
  widths.push_back(1);
  int64_t left = columns;
  while (left >= widths.front()) {
    result.lanes.push_back(widths.front());
    left -= widths.front();
  }
  while (left > 0) {
    // The narrowest that holds the rest, or the widest that fits into it.
    int64_t lanes = 1;
    if (padded) {
      for (int64_t width : widths)
        if (width >= left)
          lanes = width;
    } else {
      for (int64_t width : llvm::reverse(widths))
        if (width <= left)
          lanes = width;
    }
    result.lanes.push_back(lanes);
    left -= lanes;
  }
  return result;
}

int64_t ColumnVectors::width() const {
  return std::accumulate(lanes.begin(), lanes.end(), int64_t(0));
}

/// Steps whose factors one load brings into a register.
static int64_t factorLanes(const TargetDescription &target, Type type,
                           int64_t steps) {
  int64_t lanes = target.maxLanes(type);
  return target.multiplyByLane && steps >= lanes ? lanes : 1;
}

TileChoice chooseTile(int64_t rows, int64_t columns, int64_t steps,
                      const TargetDescription &target, Type type) {
  int64_t lanes = target.maxLanes(type);
  // Scalar code has at least this many registers worth naming.
  int64_t registers = lanes == 1 ? 16 : target.vectorRegisters;
  constexpr double latency = 4, perCycle = 2;
  // What a tile costs beside its steps: setting up, storing, epilogue.
  double fixed = 12.0 / static_cast<double>(steps);
  TileChoice best;
  double bestCost = std::numeric_limits<double>::infinity();
  int64_t vectorsNeeded = llvm::divideCeil(columns, lanes);
  int64_t factors = factorLanes(target, type, steps);
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(vectorsNeeded, 12);
       ++vectors) {
    // Sums, the weights of a step; by lane also the factors, and the weights of
    // the next step, which compilers load ahead.
    int64_t most = factors > 1 ? (registers - 2 * vectors - 2) / (vectors + 1)
                               : (registers - vectors - 1) / vectors;
    for (int64_t tileRows = 1; tileRows <= std::min(rows, most); ++tileRows) {
      auto cost = [&](int64_t r, int64_t v) {
        double step = std::max({static_cast<double>(r * v) / perCycle,
                                static_cast<double>(r) / factors / perCycle +
                                    static_cast<double>(v) / perCycle,
                                latency});
        // Where loads are few, they are not all free either.
        if (factors > 1)
          step += 0.1 * (static_cast<double>(r) / factors + v);
        return step + fixed * (8 + static_cast<double>(r * v));
      };
      auto overColumns = [&](int64_t r) {
        int64_t panels = vectorsNeeded / vectors;
        double full = static_cast<double>(panels) * cost(r, vectors);
        return full +
               (vectorsNeeded % vectors ? cost(r, vectorsNeeded % vectors) : 0);
      };
      int64_t tiles = rows / tileRows;
      double total = static_cast<double>(tiles) * overColumns(tileRows);
      // A second shape of tile is more code: a small price breaks ties.
      if (rows % tileRows)
        total += overColumns(rows % tileRows) * 1.02;
      if (vectorsNeeded % vectors)
        total *= 1.005;
      if (total < bestCost * 0.999) {
        bestCost = total;
        best = {tileRows, vectors, 1};
      }
    }
  }
  int64_t sums = best.rows * best.vectors;
  while (best.splits < 4 && sums * best.splits * 2 <= latency * perCycle &&
         best.splits * 2 <= steps &&
         (lanes == 1 || sums * best.splits * 2 + best.vectors + 1 <= registers))
    best.splits *= 2;
  return best;
}

std::string Tile::nameAt(StringRef stem, int64_t row, size_t vector) const {
  std::string name = stem.str();
  if (rows > 1)
    name += "_" + std::to_string(row);
  if (columns.lanes.size() > 1)
    name += "_" + std::to_string(vector);
  return name;
}

Tile zeroTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              Type type) {
  Tile tile{rows, columns, {}};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t lanes : columns.lanes)
      tile.sums.push_back(b.broadcast(b.constant(0, type), lanes));
  return tile;
}

void accumulate(KernelBuilder &b, Tile &tile, int64_t firstRow, int64_t lastRow,
                int64_t steps, int64_t splits,
                llvm::function_ref<Expr(int64_t, Expr)> x,
                llvm::function_ref<Expr(Expr, size_t)> w, StringRef stepName) {
  size_t vectors = tile.columns.lanes.size();
  size_t first = firstRow * vectors, count = (lastRow - firstRow) * vectors;
  if (count == 0)
    return;
  if (b.group.isStrict())
    splits = 1;
  // Where a multiply-add takes a lane of a register, one load brings the
  // factors of as many steps as there are lanes.
  Type type = tile.sums[first].type;
  int64_t width = factorLanes(b.target, type, steps);
  auto step = [&](Expr k, ArrayRef<Expr> factors, int64_t lane,
                  MutableArrayRef<Expr> sums, StringRef name) {
    Exprs weights;
    for (size_t v = 0; v < vectors; ++v)
      weights.push_back(named(w(k, v), "w_" + Twine(v)));
    for (int64_t row = firstRow; row < lastRow; ++row) {
      Expr value = factors.empty()
                       ? named(x(row, k), "x_" + Twine(row))
                       : lanesOf(b, factors[row - firstRow], lane, 1);
      for (size_t v = 0; v < vectors; ++v) {
        Expr &sum = sums[(row - firstRow) * vectors + v];
        sum = named(fma(value, weights[v], sum), tile.nameAt(name, row, v));
      }
    }
  };
  auto load = [&](Expr k) {
    Exprs factors;
    for (int64_t row = firstRow; width > 1 && row < lastRow; ++row)
      b.withLanes(width, [&] {
        return factors.emplace_back(named(x(row, k), "x_" + Twine(row)));
      });
    return factors;
  };
  Exprs sums(tile.sums.begin() + first, tile.sums.begin() + first + count);
  int64_t stride = std::max(splits, width), trips = steps / stride;
  // Independent parts: the first goes on with the tile's sums.
  Exprs parts(sums);
  for (int64_t s = 1; s < splits; ++s)
    for (size_t i = 0; i < count; ++i)
      parts.push_back(b.broadcast(b.constant(0, sums[i].type),
                                  tile.columns.lanes[i % vectors]));
  parts = b.loop(trips, parts, [&](Expr k, ArrayRef<Expr> carried) {
    named(k, stride == 1 ? stepName : StringRef("trip"));
    Exprs next(carried.begin(), carried.end()), factors;
    for (int64_t s = 0; s < stride; ++s) {
      Expr at = stride == 1 ? k
                            : named(k * double(stride) + double(s),
                                    stepName + "_" + Twine(s));
      if (s % width == 0)
        factors = load(at);
      int64_t part = s % splits;
      step(at, factors, s % width,
           MutableArrayRef<Expr>(next).slice(part * count, count),
           part == 0 ? "sum" : "part_" + std::to_string(part));
    }
    return next;
  });
  for (int64_t k = trips * stride; k < steps; ++k)
    step(b.index(k), {}, 0, MutableArrayRef<Expr>(parts).take_front(count),
         "sum");
  for (int64_t half = splits / 2; half >= 1; half /= 2)
    for (int64_t s = 0; s < half; ++s)
      for (size_t i = 0; i < count; ++i)
        parts[s * count + i] =
            named(parts[s * count + i] + parts[(s + half) * count + i],
                  tile.nameAt(s == 0 ? "sum" : "part_" + std::to_string(s),
                              firstRow + static_cast<int64_t>(i / vectors),
                              i % vectors));
  std::copy(parts.begin(), parts.begin() + count, tile.sums.begin() + first);
}

Expr lanesOf(KernelBuilder &b, Expr vector, int64_t offset, int64_t lanes) {
  auto type = dyn_cast<VectorType>(vector.value.getType());
  if (!type || type.getNumElements() == lanes)
    return vector;
  Value v;
  if (lanes == 1)
    v = vector::ExtractOp::create(b.builder, b.loc, vector.value,
                                  ArrayRef<int64_t>{offset});
  else
    v = vector::ExtractStridedSliceOp::create(
        b.builder, b.loc, vector.value, ArrayRef<int64_t>{offset},
        ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
  return {&b, v, vector.type};
}

void storeTile(KernelBuilder &b, Tile &tile, Value anchor,
               llvm::function_ref<Exprs(int64_t, Expr)> index, Expr firstColumn,
               llvm::function_ref<Expr(Expr, Expr)> beforeEpilogue) {
  StringRef given = kernel::nameOf(firstColumn.value);
  std::string columnName = given.empty() ? "column" : given.str();
  auto storePart = [&](Expr sum, int64_t row, size_t vector, Expr column,
                       int64_t lanes) {
    auto nameOfPlace = [&](StringRef stem) {
      return tile.nameAt(stem, row, vector);
    };
    b.withLanes(lanes, [&] {
      if (beforeEpilogue)
        sum = named(
            beforeEpilogue(sum, column),
            nameOfPlace(anchor.getDefiningOp()->getName().stripDialect()));
      b.bindElement(anchor, sum);
      Exprs at = index(row, column);
      // Where the result is stored under another shape, everything the
      // epilogue reads is bound to this place.
      Exprs from(at);
      if (size_t rank = shapeOf(b.result()).size(); from.size() != rank)
        from.assign(rank, b.index(0));
      Expr result = b.load(b.result(), from);
      if (StringRef name = kernel::nameOf(result.value);
          result.value != sum.value && !name.empty())
        kernel::renameValue(result.value, nameOfPlace(name));
      b.store(0u, b.broadcast(result, lanes), at);
      return sum;
    });
  };
  for (int64_t row = 0; row < tile.rows; ++row) {
    int64_t column = 0;
    for (auto [v, lanes] : llvm::enumerate(tile.columns.lanes)) {
      int64_t valid = std::min(lanes, tile.columns.columns - column);
      // A vector that counts in part is stored in narrower pieces.
      for (int64_t done = 0; done < valid;) {
        int64_t piece = llvm::bit_floor(static_cast<uint64_t>(valid - done));
        storePart(lanesOf(b, tile.at(row, v), done, piece), row, v,
                  named(firstColumn + double(column + done),
                        columnName + "_" + Twine(column + done)),
                  piece);
        done += piece;
      }
      column += lanes;
    }
  }
  b.unbindElement(anchor);
}

std::optional<PackedPanels> PackedPanels::of(KernelBuilder &b, Value w) {
  auto unpack = w.getDefiningOp<UnpackPanelsOp>();
  if (!unpack)
    return std::nullopt;
  PackedPanels panels;
  panels.buffer = b.bufferOf(unpack.getPacked());
  panels.type = elementOf(w);
  panels.columns = shapeOf(w).back();
  panels.group = unpack.getGroup();
  panels.steps = 1;
  for (int64_t size : shapeOf(w).drop_back(2))
    panels.steps *= size;
  panels.steps *= llvm::divideCeil(shapeOf(w).drop_back().back(), panels.group);
  panels.panelWidth = unpack.getPanel();
  panels.fullPanels = panels.columns / panels.panelWidth;
  panels.tailWidth = unpack.getTail();
  return panels;
}

Expr PackedPanels::load(KernelBuilder &b, std::optional<Expr> panel, Expr step,
                        int64_t offset, int64_t lanes) const {
  int64_t stride = (panel ? panelWidth : tailWidth) * group;
  Expr at = panel ? named(*panel * double(steps * stride), "panel_start") +
                        step * double(stride)
                  : step * double(stride) +
                        double(fullPanels * steps * panelWidth * group);
  named(at, "at_step");
  return b.withLanes(lanes * group, [&] {
    return b.loadFrom(buffer, type, {at + double(offset * group)});
  });
}

bool isFusableConvolution(Operation *op) {
  auto conv = dyn_cast<ConvOp>(op);
  return conv && isa<Float32Type, Float64Type>(elementOf(conv.getX())) &&
         conv.getGroups() == 1 && conv.getW().getDefiningOp<UnpackPanelsOp>();
}

ArrayRef<int64_t> windowOf(Operation *pool) {
  if (auto max = dyn_cast<MaxPoolOp>(pool))
    return max.getKernel();
  return cast<AveragePoolOp>(pool).getKernel();
}

bool isDisjointPool(Operation *op) {
  auto disjoint = [&](auto pool) {
    if (pool.getKernel() != pool.getStrides())
      return false;
    for (auto [i, size] : llvm::enumerate(pool.getKernel()))
      if (pool.getLow()[i] != 0 || pool.getDilations()[i] != 1 ||
          shapeOf(pool.getResult())[1 + i] * size > shapeOf(pool.getX())[1 + i])
        return false;
    return isa<Float32Type, Float64Type>(elementOf(pool.getX()));
  };
  if (auto max = dyn_cast<MaxPoolOp>(op))
    return disjoint(max);
  if (auto average = dyn_cast<AveragePoolOp>(op))
    return disjoint(average);
  return false;
}

bool joinsConvolution(Operation *pool, const TargetDescription &target) {
  if (!isDisjointPool(pool))
    return false;
  // Where code is small, the convolution shares it with others; a pool over all
  // positions is little work of its own.
  ArrayRef<int64_t> y = shapeOf(pool->getResult(0));
  return !target.smallCode ||
         ShapedType::getNumElements(y.drop_front().drop_back()) != 1;
}

} // namespace ingot::schedule
