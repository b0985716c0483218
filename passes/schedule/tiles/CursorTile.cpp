#include "passes/schedule/tiles/CursorTile.h"

#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/schedule/tiles/VectorTile.h"

using namespace mlir;
using namespace ingot::kernel;
using namespace ingot::graph;

namespace ingot::schedule {

bool canLoadSeveral(const TargetDescription &target, Type type, int64_t count) {
  return count > 1 && count <= target.loadRegisterCount &&
         target.intrinsic(LoadNextOp::getOperationName(), type,
                          VectorType::get(count, type));
}

namespace {

/// Whether one instruction loads the weights of two columns.
bool loadsPairs(const TargetDescription &target, const CursorTerms &terms) {
  MLIRContext *context = terms.w.getContext();
  return terms.form && terms.form->group > 1 &&
         target.loadOfSeveral(
             VectorType::get(terms.form->group, IntegerType::get(context, 8)),
             2);
}

/// Estimates the cycles of all tiles of one shape.
class CostModel {
public:
  CostModel(const TileWork &work, const TargetDescription &target,
            const CursorTerms &terms)
      : work(work), target(target), costs(target.costs), terms(terms),
        type(terms.w) {}

  /// Returns the cycles of all work in tiles of shape `t`; infinite if the tile
  /// does not fit the registers, or if the K steps of an iteration of the inner
  /// loop do not divide those of the work.
  double of(const CursorTileChoice &t) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    int64_t sums = t.rows * t.columns;
    if (t.rows > mostRows || work.steps % t.stepsOfTrip() != 0)
      return never;
    double group = terms.form ? ofIntegers(t) : ofFloats(t);
    double trip =
        static_cast<double>(t.groups) * group + costs.add + costs.takenBranch;
    // Each stretch (a contiguous range of K steps, see TileWork) also takes
    // address computations for the rows of a tile, and a comparison for each
    // row if the row may be padding.
    int64_t trips = work.steps / t.stepsOfTrip();
    double stretch = static_cast<double>(trips) * trip +
                     6.0 * static_cast<double>(t.rows) + 12;
    // Integer results are scaled and stored in vectors of columns, unless a
    // pool combines the results.
    int64_t lanes = terms.form && work.multiple == 1
                        ? target.maxLanes(terms.sum)
                        : 1,
            stored = t.columns % lanes == 0 ? sums / lanes : sums;
    double tile = static_cast<double>(work.stretches) * stretch +
                  static_cast<double>(stored) * (costs.store + 6) + 20;
    double tiles =
        static_cast<double>(llvm::divideCeil(work.positions, t.rows) *
                            llvm::divideCeil(work.columns, t.columns));
    // Larger tiles take more code, and so does a second shape for the remaining
    // columns.
    double instructionPrice = target.smallestCode ? 40 : 12;
    int64_t products = takesVectors() ? t.groups : t.stepsOfTrip();
    double code = 2.0 * static_cast<double>(sums * products + sums);
    if (work.columns % t.columns != 0) {
      code *= 2;
      tiles *= 1.1;
    }
    return tiles * tile + instructionPrice * code;
  }

private:
  /// Whether an operand of a dot product is wider than a core register.
  bool takesVectors() const {
    constexpr int64_t registerBytes = 4;
    return terms.form && terms.form->group > registerBytes;
  }

  /// The most rows of a tile. The address of each row takes a core register.
  static constexpr int64_t mostRows = 8;

  /// Returns the cycles of a tile of floats for `t.together` steps along K;
  /// infinite if the tile does not fit the registers, or if the target cannot
  /// load `t.together` elements at once.
  double ofFloats(const CursorTileChoice &t) const {
    int64_t sums = t.rows * t.columns,
            loaded = t.together > 1 ? t.rows * t.together : 0;
    bool separate = costs.multiplyAdd > costs.multiply + costs.add;
    int64_t registers =
        sums + t.columns + std::max<int64_t>(loaded, 1) + (separate ? 1 : 0);
    if (registers > target.vectorRegisters)
      return INFINITY;
    if (t.together > 1 && (!canLoadSeveral(target, type, t.together) ||
                           loaded + t.columns > target.loadRegisterCount))
      return INFINITY;
    double multiplyAdd =
        std::min(costs.multiplyAdd, costs.multiply + costs.add);
    return static_cast<double>(t.rows) * load(t.together) +
           static_cast<double>(t.together) *
               (load(t.columns) + static_cast<double>(sums) * multiplyAdd);
  }

  /// Returns the cycles of a tile of integers for one group of K steps, which
  /// one dot product multiplies; infinite if the tile does not fit the
  /// registers. Rows are processed one after the other, so that only one row's
  /// operand is in a register at a time. In a tile with a single row, the
  /// weights of at most two columns are in registers at a time.
  double ofIntegers(const CursorTileChoice &t) const {
    const DotForm &form = *terms.form;
    int64_t sums = t.rows * t.columns, perOperand = form.preparation ? 2 : 1,
            cursors = t.rows + 1,
            weights = t.rows == 1 ? std::min<int64_t>(t.columns, 2) : t.columns;
    int64_t registers = sums + cursors + (weights + 1) * perOperand;
    // Vector operands need no core registers, but instructions that sum a
    // vector accept only every second core register as accumulator.
    if (takesVectors())
      registers = std::max(2 * sums, sums + cursors + 1);
    if (t.together != form.group || registers > target.coreRegisters)
      return INFINITY;
    double multiplyAdds =
        static_cast<double>(sums * form.group) / form.perCycle;
    int64_t ofWeights =
        t.columns * costs.load -
        (loadsPairs(target, terms)
             ? t.columns / 2 * (int64_t(costs.load) - int64_t(costs.loadNext))
             : 0);
    return static_cast<double>(t.rows * costs.load + ofWeights +
                               (t.rows + t.columns) * form.preparation) +
           multiplyAdds;
  }

  double load(int64_t count) const {
    if (canLoadSeveral(target, type, count))
      return costs.load + static_cast<double>(count - 1) * costs.loadNext;
    return static_cast<double>(count) * costs.load;
  }

  const TileWork &work;
  const TargetDescription &target;
  const InstructionCosts &costs;
  const CursorTerms &terms;
  Type type;
};

/// Whether tiles of `rows` rows cover the positions as required by
/// `work.multiple` and `work.exact`.
bool coversWith(int64_t rows, const TileWork &work) {
  return rows <= work.positions &&
         (rows % work.multiple == 0 || work.multiple % rows == 0) &&
         (!work.exact || work.positions % rows == 0);
}

/// Returns candidates for the number of a row's elements that are loaded at
/// once.
SmallVector<int64_t> togetherOf(const TargetDescription &target,
                                const CursorTerms &terms) {
  if (terms.form)
    return {terms.form->group};
  return target.smallestCode ? SmallVector<int64_t>{1}
                             : SmallVector<int64_t>{1, 2, 4};
}

/// Ranks by cost all tiles that fit the registers. If `panelWidth` is not 0,
/// only tiles with `panelWidth` columns are ranked.
Ranking<CursorTileChoice> rankAll(const TileWork &work,
                                  const TargetDescription &target,
                                  const CursorTerms &terms,
                                  int64_t panelWidth) {
  CostModel model(work, target, terms);
  Ranking<CursorTileChoice> ranking;
  int64_t mostSums = target.smallestCode ? 4 : target.vectorRegisters;
  int64_t most = std::min<int64_t>(work.positions, target.vectorRegisters);
  for (int64_t columns = 1;
       columns <= std::min<int64_t>(work.columns, target.vectorRegisters);
       ++columns) {
    if (panelWidth && columns != panelWidth)
      continue;
    for (int64_t rows = 1; rows <= most; ++rows) {
      if (!coversWith(rows, work) ||
          ((!panelWidth || rows > 1) && rows * columns > mostSums))
        continue;
      for (int64_t together : togetherOf(target, terms)) {
        for (int64_t groups : {1, 2}) {
          // Unrolling twice gains little if there are few K steps. It also
          // gains little for matrix-vector products, which wait for their
          // weights.
          if (groups > 1 &&
              (target.smallestCode || (rows == 1 && !terms.form) ||
               work.steps < 4 * together * groups))
            continue;
          CursorTileChoice choice{rows, columns, together, groups};
          ranking.add(choice, model.of(choice));
        }
      }
    }
  }
  return ranking;
}

} // namespace

CursorTerms CursorTerms::of(ConvOp conv, const TargetDescription &target) {
  return {elementOf(conv.getX()), elementOf(conv.getW()),
          elementOf(conv.getResult()), dotForm(conv, target)};
}

CursorTerms CursorTerms::of(MatMulOp product, const TargetDescription &target) {
  return {elementOf(product.getA()), elementOf(product.getB()),
          elementOf(product.getResult()), dotForm(product, target)};
}

bool CursorTerms::arePossible() const {
  return isa<Float32Type, Float64Type>(x) || (form && form->isScalar());
}

bool CursorTerms::inVectors(const TargetDescription &target) const {
  return !form && target.maxLanes(w) > 1;
}

double cursorTileCost(const TileWork &work, const TargetDescription &target,
                      const CursorTerms &terms, const CursorTileChoice &tile) {
  return coversWith(tile.rows, work) ? CostModel(work, target, terms).of(tile)
                                     : INFINITY;
}

std::vector<CursorTileChoice> rankCursorTiles(const TileWork &work,
                                              const TargetDescription &target,
                                              const CursorTerms &terms,
                                              int64_t panelWidth) {
  CursorTileChoice last{1, panelWidth ? panelWidth : 1,
                        terms.form ? terms.form->group : 1};
  Ranking<CursorTileChoice> ranking = rankAll(work, target, terms, panelWidth);
  double least = ranking.leastCost();
  std::vector<CursorTileChoice> tiles = std::move(ranking).ranked(last);
  // All kernels should use the same tile, so that they can share code. Another
  // tile is used only if it saves much time. The common tile is the best one
  // for large matrices.
  constexpr double much = 1.06;
  constexpr int64_t large = 5040;
  TileWork largest{work.positions == 1 ? 1 : large, large, large};
  CursorTileChoice usual =
      rankAll(largest, target, terms, panelWidth).ranked(last).front();
  if (work.columns % usual.columns == 0 &&
      cursorTileCost(work, target, terms, usual) < much * least) {
    llvm::erase(tiles, usual);
    tiles.insert(tiles.begin(), usual);
  }
  return tiles;
}

std::vector<CursorTileChoice> rankCompactTiles(const TileWork &work,
                                               const TargetDescription &target,
                                               const CursorTerms &terms,
                                               int64_t panelWidth) {
  return terms.inVectors(target)
             ? rankVectorTiles(work, target, terms.w, panelWidth)
             : rankCursorTiles(work, target, terms, panelWidth);
}

double compactTileCost(const TileWork &work, const TargetDescription &target,
                       const CursorTerms &terms, const CursorTileChoice &tile) {
  return terms.inVectors(target) ? vectorTileCost(work, target, terms.w, tile)
                                 : cursorTileCost(work, target, terms, tile);
}

Exprs loopAlways(KernelBuilder &b, int64_t trips, ArrayRef<Expr> init,
                 llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> body) {
  return b.loop(b.index(0), b.index(trips), 1, init, body);
}

void forAlways(KernelBuilder &b, int64_t trips,
               llvm::function_ref<void(Expr)> body) {
  loopAlways(b, trips, {}, [&](Expr i, ArrayRef<Expr>) -> Exprs {
    body(i);
    return {};
  });
}

Expr scaled(KernelBuilder &b, Expr x, int64_t factor) {
  return b.wrap(
      arith::MulIOp::create(b.builder, b.loc, x.value, b.index(factor).value),
      x.type);
}

Expr shifted(KernelBuilder &b, Expr x, int64_t term) {
  return b.wrap(
      arith::AddIOp::create(b.builder, b.loc, x.value, b.index(term).value),
      x.type);
}

void forCoveringTiles(KernelBuilder &b, const Dim &positions, int64_t rows,
                      StringRef name, llvm::function_ref<void(Expr)> body) {
  bool fits = positions == positions.floorDiv(rows) * rows;
  b.loop(b.index(0), b.size(positions), rows, {},
         [&](Expr first, ArrayRef<Expr>) -> Exprs {
           if (!fits) {
             Expr last = b.size(positions - rows);
             named(first, name + "_of_tile");
             first = select(first < last, first, last);
           }
           named(first, name);
           body(first);
           return {};
         });
}

Value cursorAt(KernelBuilder &b, Value buffer, ArrayRef<Expr> index,
               StringRef name, Value inside, Value otherwise) {
  SmallVector<Value> at;
  for (Expr i : index)
    at.push_back(i.value);
  return CursorOp::create(b.builder, kernel::named(b.loc, name),
                          CursorType::get(b.builder.getContext()), buffer, at,
                          inside, otherwise);
}

Expr loadNext(KernelBuilder &b, Value cursor, Type type, int64_t lanes) {
  Type result = storageType(type);
  if (lanes > 1)
    result = VectorType::get(lanes, result);
  auto load =
      LoadNextOp::create(b.builder, b.loc, result, cursor, IntegerAttr());
  return b.wrap(load.getResult(0), type);
}

Exprs loadSeveral(KernelBuilder &b, Value cursor, Type type, int64_t count,
                  int64_t first) {
  SmallVector<Type> types(count, type);
  auto load = LoadNextOp::create(b.builder, b.loc, types, cursor,
                                 b.builder.getI64IntegerAttr(first));
  Exprs values;
  for (Value v : load.getResults())
    values.push_back(b.wrap(v, type));
  return values;
}

/// Returns sum + x * w; if `x` and `w` are groups of K steps, `sum` plus their
/// dot product.
static Expr addProduct(KernelBuilder &b, const CursorTerms &terms, Expr x,
                       Expr w, Expr sum) {
  bool isUnsigned[] = {terms.x.isUnsignedInteger(),
                       terms.w.isUnsignedInteger()};
  if (terms.form->group > 1)
    return b.wrap(kernel::DotOp::create(b.builder, b.loc, sum.value.getType(),
                                        x.value, w.value, sum.value,
                                        isUnsigned[0], isUnsigned[1]),
                  sum.type);
  auto widened = [&](Value narrow, bool isUnsigned) -> Value {
    Type wide = sum.value.getType();
    if (isUnsigned)
      return arith::ExtUIOp::create(b.builder, b.loc, wide, narrow);
    return arith::ExtSIOp::create(b.builder, b.loc, wide, narrow);
  };
  Value product =
      arith::MulIOp::create(b.builder, b.loc, widened(x.value, isUnsigned[0]),
                            widened(w.value, isUnsigned[1]));
  return b.wrap(arith::AddIOp::create(b.builder, b.loc, sum.value, product),
                sum.type);
}

/// Loads the weights of one or two columns of a tile, from column `first` on:
/// of two columns if the target loads these with one instruction, else of one.
static Exprs loadColumns(KernelBuilder &b, const CursorTerms &terms,
                         Value weights, int64_t first, int64_t columns) {
  int64_t group = terms.form->group;
  if (first + 1 >= columns || !loadsPairs(b.target, terms))
    return {named(loadNext(b, weights, terms.w, group), "w_" + Twine(first))};
  Type type = VectorType::get(group, storageType(terms.w));
  auto load = LoadNextOp::create(b.builder, kernel::named(b.loc, "w"),
                                 TypeRange{type, type}, weights, IntegerAttr());
  return {b.wrap(load.getResult(0), terms.w),
          b.wrap(load.getResult(1), terms.w)};
}

/// Emits the multiply-adds of a tile of integers for one group of K steps,
/// which one dot product multiplies.
static Exprs accumulateGroup(KernelBuilder &b, const Tile &tile,
                             const CursorTerms &terms, ArrayRef<Value> rows,
                             Value weights, ArrayRef<Expr> carried) {
  int64_t columns = tile.columns.lanes.size(), group = terms.form->group;
  Exprs sums(carried), w;
  auto loadRow = [&](size_t row) {
    return named(loadNext(b, rows[row], terms.x, group), "x_" + Twine(row));
  };
  auto add = [&](size_t row, Expr x, int64_t v, Expr weight) {
    Expr &sum = sums[row * columns + v];
    sum =
        named(addProduct(b, terms, x, weight, sum), tile.nameAt("sum", row, v));
  };
  std::optional<Expr> single;
  if (rows.size() == 1)
    single = loadRow(0);
  for (int64_t v = 0; v < columns;) {
    Exprs loaded = loadColumns(b, terms, weights, v, columns);
    for (Expr weight : loaded) {
      if (single)
        add(0, *single, v, weight);
      ++v;
    }
    llvm::append_range(w, loaded);
  }
  for (size_t row = 0; row < rows.size() && !single; ++row) {
    Expr x = loadRow(row);
    for (int64_t v = 0; v < columns; ++v)
      add(row, x, v, w[v]);
  }
  return sums;
}

/// Emits the multiply-adds of a tile of floats for `together` steps along K.
static Exprs accumulateTrip(KernelBuilder &b, const Tile &tile, Type type,
                            int64_t together, ArrayRef<Value> rows,
                            Value weights, ArrayRef<Expr> carried) {
  ArrayRef<int64_t> lanes = tile.columns.lanes;
  int64_t columns = lanes.size();
  bool scalars = llvm::all_of(lanes, [](int64_t n) { return n == 1; });
  bool several = together > 1 && canLoadSeveral(b.target, type, together);
  int64_t weightRegister = b.target.loadRegisterCount - columns;
  int64_t rowRegister =
      weightRegister - static_cast<int64_t>(rows.size()) * together;
  Exprs sums(carried);
  SmallVector<Exprs> x;
  if (several)
    for (auto [row, cursor] : llvm::enumerate(rows))
      x.push_back(
          loadSeveral(b, cursor, type, together,
                      rowRegister + static_cast<int64_t>(row) * together));
  for (int64_t step = 0; step < together; ++step) {
    Exprs w;
    if (scalars && canLoadSeveral(b.target, type, columns))
      w = loadSeveral(b, weights, type, columns, weightRegister);
    else
      for (auto [v, n] : llvm::enumerate(lanes))
        w.push_back(named(loadNext(b, weights, type, n), "w_" + Twine(v)));
    for (auto [row, cursor] : llvm::enumerate(rows)) {
      Expr value = several
                       ? x[row][step]
                       : named(loadNext(b, cursor, type), "x_" + Twine(row));
      for (int64_t v = 0; v < columns; ++v) {
        Expr &sum = sums[row * columns + v];
        sum = named(fma(value, w[v], sum), tile.nameAt("sum", row, v));
      }
    }
  }
  return sums;
}

void accumulateNext(KernelBuilder &b, Tile &tile, const CursorTerms &terms,
                    int64_t steps, const CursorTileChoice &choice,
                    ArrayRef<Value> rows, Value weights) {
  accumulateNext(b, tile, terms, b.index(steps / choice.stepsOfTrip()), choice,
                 rows, weights);
}

void accumulateNext(KernelBuilder &b, Tile &tile, const CursorTerms &terms,
                    Expr trips, const CursorTileChoice &choice,
                    ArrayRef<Value> rows, Value weights) {
  tile.sums = b.loop(
      b.index(0), trips, 1, tile.sums, [&](Expr trip, ArrayRef<Expr> carried) {
        named(trip, "iteration");
        Exprs sums(carried);
        for (int64_t group = 0; group < choice.groups; ++group)
          sums = terms.form
                     ? accumulateGroup(b, tile, terms, rows, weights, sums)
                     : accumulateTrip(b, tile, terms.w, choice.together, rows,
                                      weights, sums);
        return sums;
      });
}

} // namespace ingot::schedule
