#include "passes/schedule/tiles/PanelKernel.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/ShortSums.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/PackedRows.h"
#include "passes/schedule/tiles/RowTiles.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

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
    // Add the narrowest vector that holds the remaining columns (padded), or
    // the widest vector that is no wider than the remaining columns.
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

/// Returns the number of K steps for which a single load fetches the elements
/// of a row of the left operand: several if multiply-adds take a lane of a
/// vector as factor, else 1.
static int64_t factorLanes(const TargetDescription &target, Type type,
                           int64_t steps) {
  int64_t lanes = target.maxLanes(type);
  return target.multiplyByLane && steps >= lanes ? lanes : 1;
}

TileModel::TileModel(int64_t rows, int64_t columns, int64_t steps,
                     const TargetDescription &target, Type type,
                     int64_t rowBytes)
    : rows(rows),
      vectorsNeeded(llvm::divideCeil(columns, target.maxLanes(type))),
      wholeVectors(columns / target.maxLanes(type)),
      steps(std::max<int64_t>(steps, 1)),
      factors(factorLanes(target, type, steps)), rowBytes(rowBytes),
      vectorBytes(target.maxLanes(type) * type.getIntOrFloatBitWidth() / 8),
      isScalar(target.maxLanes(type) == 1), isByLane(factors > 1),
      target(target) {}

bool TileModel::evictEachOther(int64_t ofTile) const {
  int64_t way = target.l1WayBytes;
  if (way == 0 || rowBytes == 0)
    return false;
  int64_t sets = way / std::gcd(rowBytes, way);
  // In each cache set, one line is left for the weights.
  return llvm::divideCeil(ofTile, sets) > uint64_t(target.l1Bytes / way - 1);
}

double cyclesBesideSteps(int64_t sums, bool isMeasured,
                         const TargetDescription &target) {
  // The sums of a tile are cleared, finished and stored while the K steps of
  // the next tile run. A tile of 28 sums takes 16 cycles more than its 16 K
  // steps, 29 cycles more with 32 K steps, and 52 to 92 cycles more with 64 to
  // 128 (matrix products of eleven networks on Zen 5, November 2026).
  constexpr double ofSum = 5, ofOtherSum = 48, otherSums = 8;
  return (isMeasured ? ofSum : ofOtherSum) / target.rates.instructions *
         (otherSums + static_cast<double>(sums));
}

double TileModel::cycles(const TileChoice &tile) const {
  const IssueRates &rates = target.rates;
  constexpr double lineBytes = 64;
  // Multiply-adds hide the time to fetch cache lines of weights from the L2
  // cache, except for this fraction.
  constexpr double notHidden = 0.25;
  // If the number of sums just hides the latency of the multiply-adds, or is up
  // to `freely` times that number, multiply-adds still stall occasionally:
  // tiles of 4 x 2, 3 x 3 and 5 x 2 take 4.25, 4.75 and 5.2 cycles per K step
  // instead of 4, 4.5 and 5; 6 x 2 takes the 6 cycles of two multiply-adds per
  // cycle (Zen 4, vectors of 32 bytes, November 2026).
  constexpr double ofLatency = 0.06, freely = 1.5;
  bool isMeasured = !isByLane && !isScalar;
  auto ofSteps = static_cast<double>(steps);
  auto perStep = [&](int64_t r, int64_t v) {
    double loads = static_cast<double>(r) / double(factors) + double(v);
    double sums = static_cast<double>(r * v) / rates.multiplyAdds,
           latency = rates.multiplyAddLatency;
    double step = std::max({sums, loads / rates.loads, latency});
    if (isMeasured && sums >= latency && sums < freely * latency)
      step += ofLatency * (freely * latency - sums) / (freely - 1);
    double ofVectors = double(v * vectorBytes), lines = ofVectors / lineBytes,
           panel = ofVectors * double(this->steps);
    if (isMeasured && panel > double(target.l1Bytes))
      step = std::max(step, lines * (1 / rates.loads + rates.missedLoad));
    // If a panel of weights is larger than the L2 cache, each tile reads it
    // from the next cache level or from memory.
    if (rows > tile.rows && target.l2Bytes > 0 &&
        panel > double(target.l2Bytes))
      step = std::max(step, ofVectors / rates.cacheBytes);
    if (isMeasured)
      step += lines * rates.missedLoad * notHidden;
    if (evictEachOther(r))
      step += target.rates.missedLoad * static_cast<double>(r);
    // On cores whose multiply-adds take a lane of a vector as factor, even a
    // few loads take some time.
    if (isByLane)
      step += 0.1 * loads;
    return step + cyclesBesideSteps(r * v, isMeasured, target) / ofSteps;
  };
  int64_t panels = vectorsNeeded / tile.vectors,
          rest = vectorsNeeded % tile.vectors;
  auto overColumns = [&](int64_t r) {
    return static_cast<double>(panels) * perStep(r, tile.vectors) +
           (rest ? perStep(r, rest) : 0);
  };
  RowTiling tiling(rows, tile.rows, RowsLeft::SharedWithLast, target);
  double total = static_cast<double>(tiling.whole) * overColumns(tile.rows);
  // Remaining rows or columns need another tile shape, which is more code. A
  // small penalty breaks ties.
  for (int64_t count : tiling.last)
    total += overColumns(count) * 1.02;
  if (rest)
    total *= 1.005;
  total *= static_cast<double>(steps);
  // Threads divide whole tiles. If the product takes long enough to be divided,
  // a single tile for all of it is slightly worse than several tiles.
  constexpr double worthSharing = 1000, single = 1.02;
  bool isSingle =
      (rows / tile.rows) * std::max<int64_t>(wholeVectors / tile.vectors, 1) <=
      1;
  return isSingle && total > worthSharing ? total * single : total;
}

int64_t TileModel::mostRows(int64_t vectors) const {
  // Registers hold the sums, the weights of a K step, an element of the left
  // operand, and one spare vector: with 16 registers, clang 22 spills a sum of
  // a 4 x 3 tile. If multiply-adds take a lane of a vector as factor, registers
  // also hold vectors of the left operand's elements and the weights of the
  // next K step, which compilers load early. Scalar code has at least
  // `scalarRegisters` registers.
  constexpr int64_t scalarRegisters = 16;
  int64_t registers = isScalar ? scalarRegisters : target.vectorRegisters;
  int64_t others = isScalar ? 1 : 2;
  if (!isScalar && target.loadsBeforeMultiplyAdds) {
    // Beside sums and weights, registers hold the left elements of all rows for
    // a K step and, without fma, a product before it is added.
    int64_t products = target.fma ? 0 : 1;
    return (registers - vectors - products) / (vectors + 1);
  }
  return factors > 1 ? (registers - 2 * vectors - 2) / (vectors + 1)
                     : (registers - vectors - others) / vectors;
}

int64_t TileModel::splitsOf(int64_t tileRows, int64_t vectors) const {
  constexpr int64_t most = 4;
  int64_t sums = tileRows * vectors, splits = 1;
  double hidden = target.rates.multiplyAddLatency * target.rates.multiplyAdds;
  while (splits < most && double(sums * splits * 2) <= hidden &&
         splits * 2 <= steps &&
         (isScalar ||
          sums * splits * 2 + vectors + 1 <= int64_t(target.vectorRegisters)))
    splits *= 2;
  return splits;
}

std::vector<TileChoice> withVectors(int64_t vectors,
                                    std::vector<TileChoice> tiles) {
  llvm::erase_if(
      tiles, [&](const TileChoice &tile) { return tile.vectors != vectors; });
  if (tiles.empty())
    tiles.push_back({1, vectors, 1});
  return tiles;
}

std::vector<TileChoice> fittingPanels(std::vector<TileChoice> tiles,
                                      UnpackPanelsOp packed, int64_t columns,
                                      int64_t lanes) {
  if (!packed)
    return tiles;
  int64_t width = std::min<int64_t>(packed.getPanel(), columns);
  return withVectors(llvm::divideCeil(width, lanes), std::move(tiles));
}

int64_t panelOf(UnpackPanelsOp packed, const TileChoice &tile, int64_t lanes) {
  return packed ? int64_t(packed.getPanel()) : tile.vectors * lanes;
}

std::vector<TileChoice> TileModel::ranked() const {
  constexpr int64_t mostVectors = 12;
  Ranking<TileChoice> ranking(/*tolerance=*/0.001);
  for (int64_t v = 1; v <= std::min(vectorsNeeded, mostVectors); ++v)
    for (int64_t r = 1; r <= std::min(rows, mostRows(v)); ++r)
      ranking.add({r, v, splitsOf(r, v)}, cycles({r, v, 1}));
  return std::move(ranking).ranked({1, 1, 1});
}

TileChoice tileOf(const Plan &plan, int64_t lanes) {
  return {plan.number("rows"),
          int64_t(llvm::divideCeil(plan.number("columns"), lanes)),
          plan.number("splits")};
}

std::string refuseTile(const TileChoice &tile, int64_t steps, bool isStrict) {
  if (!llvm::isPowerOf2_64(tile.splits) ||
      tile.splits > std::max<int64_t>(steps, 1))
    return "sums of " + std::to_string(steps) + " steps cannot be split into " +
           std::to_string(tile.splits) +
           " parts; the number of parts must be a power of two, and at most "
           "the number of steps";
  if (tile.splits > 1 && isStrict)
    return "sums in " + std::to_string(tile.splits) +
           " parts change the order of the terms, which strict mode does not "
           "allow";
  // The most sums of a tile. Each sum is at least one line of generated code,
  // and targets have far fewer registers than this.
  constexpr int64_t mostSums = 512;
  int64_t sums = tile.rows * tile.vectors * tile.splits;
  if (sums > mostSums)
    return "a tile of " + std::to_string(sums) +
           " accumulators is larger than the " + std::to_string(mostSums) +
           " that are supported";
  return "";
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

Tile biasTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              Value bias, Expr firstColumn) {
  Exprs first;
  int64_t column = 0;
  for (int64_t lanes : columns.lanes) {
    Expr loaded = b.withLanes(lanes, [&] {
      return named(b.load(bias, {named(firstColumn + double(column),
                                       "channel_" + Twine(column))}),
                   "bias_" + Twine(column));
    });
    // A bias whose elements are all equal is loaded as a scalar.
    first.push_back(b.broadcast(loaded, lanes));
    column += lanes;
  }
  Tile tile{rows, columns, {}};
  for (int64_t row = 0; row < rows; ++row)
    llvm::append_range(tile.sums, first);
  return tile;
}

Exprs loopInChunks(KernelBuilder &b, const Dim &trips, ArrayRef<Expr> sums,
                   const StepChunks &chunks,
                   llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> body) {
  if (!chunks.steps)
    return b.loop(trips, sums, body);
  auto length = double(chunks.steps);
  return b.loop(trips.floorDiv(chunks.steps), sums,
                [&](Expr chunk, ArrayRef<Expr> carried) {
                  chunks.begin(named(chunk, "chunk"));
                  Expr first = named(chunk * length, "begin_of_chunk"),
                       end = named(first + length, "end_of_chunk");
                  return b.loop(first, end, 1, carried, body);
                });
}

void accumulate(KernelBuilder &b, Tile &tile, int64_t firstRow, int64_t lastRow,
                const Dim &steps, int64_t splits,
                llvm::function_ref<Expr(int64_t, Expr)> x,
                llvm::function_ref<Expr(Expr, size_t)> w, StringRef stepName,
                const StepChunks &chunks) {
  size_t vectors = tile.columns.lanes.size();
  size_t first = firstRow * vectors, count = (lastRow - firstRow) * vectors;
  if (count == 0)
    return;
  // If a multiply-add can take a lane of a register as its factor, one load
  // fetches the left operand's elements of as many K steps as the register has
  // lanes.
  Type type = tile.sums[first].type;
  int64_t width = factorLanes(b.target, type, steps.most());
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
  int64_t stride = std::max(splits, width);
  Dim trips = steps.floorDiv(stride);
  // The partial sums of all splits, independent of each other. Those of the
  // first split start with the sums of the tile, the others with zero.
  Exprs parts(sums);
  for (int64_t s = 1; s < splits; ++s)
    for (size_t i = 0; i < count; ++i)
      parts.push_back(b.broadcast(b.constant(0, sums[i].type),
                                  tile.columns.lanes[i % vectors]));
  auto trip = [&](Expr k, ArrayRef<Expr> carried) {
    named(k, stride == 1 ? stepName : StringRef("iteration"));
    if (width > 1 && stride == width && lastRow - firstRow == tile.rows)
      unrollSteps(b, trips);
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
  };
  parts =
      loopInChunks(b, trips, parts, stride == 1 ? chunks : StepChunks(), trip);
  // The remaining K steps: a few unrolled ones, or a loop if their number is
  // dynamic.
  auto whole = MutableArrayRef<Expr>(parts).take_front(count);
  if (auto known = steps.known()) {
    for (int64_t k = *known / stride * stride; k < *known; ++k)
      step(b.index(k), {}, 0, whole, "sum");
  } else if (stride > 1) {
    llvm::copy(b.loop(b.size(trips * stride), b.size(steps), 1, whole,
                      [&](Expr k, ArrayRef<Expr> carried) {
                        named(k, stepName);
                        Exprs next(carried);
                        step(k, {}, 0, next, "sum");
                        return next;
                      }),
               whole.begin());
  }
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

std::string refusePanels(int64_t columns, int64_t width,
                         UnpackPanelsOp weights) {
  if (weights && columns != int64_t(weights.getPanel()))
    return "the plan has columns = " + std::to_string(columns) +
           ", but the weights are packed in panels of " +
           std::to_string(weights.getPanel());
  if (!weights && width != columns)
    return "the plan has columns = " + std::to_string(columns) +
           ", which must be a multiple of the vector width";
  return "";
}

BlockArgument replaceInput(GroupOp group, OpOperand &use, Value input) {
  auto argument = cast<BlockArgument>(use.get());
  if (argument.hasOneUse()) {
    group->setOperand(argument.getArgNumber(), input);
    argument.setType(input.getType());
    return argument;
  }
  group.getInputsMutable().append(input);
  return group.getBody().front().addArgument(input.getType(), input.getLoc());
}

void packPanels(GroupOp group, OpOperand &weights, int64_t panel, int64_t tail,
                int64_t steps, int64_t axes) {
  if (isa<BlockArgument>(weights.get()) &&
      mayBeInPanels(weights.get(), /*packs=*/true))
    putInPanels(group, weights, panel, tail, steps, axes);
}

void putInPanels(GroupOp group, OpOperand &weights, int64_t panel, int64_t tail,
                 int64_t steps, int64_t axes) {
  auto argument = cast<BlockArgument>(weights.get());
  Value w = group.getInputs()[argument.getArgNumber()];
  Location loc = weights.getOwner()->getLoc();
  OpBuilder builder(group);
  Value packed =
      PackPanelsOp::create(builder, loc, w, panel, tail, steps, axes);
  argument = replaceInput(group, weights, packed);
  builder.setInsertionPoint(weights.getOwner());
  weights.set(UnpackPanelsOp::create(builder, loc, w.getType(), argument, panel,
                                     tail, steps, axes));
}

void appendWideGroups(GroupOp group, Value weights) {
  auto unpack = weights.getDefiningOp<UnpackPanelsOp>();
  auto argument =
      unpack ? dyn_cast<BlockArgument>(unpack.getPacked()) : BlockArgument();
  auto pack = argument ? group.getInputs()[argument.getArgNumber()]
                             .getDefiningOp<PackPanelsOp>()
                       : PackPanelsOp();
  if (!pack)
    return;
  ElementsAttr values = pack.getW().getDefiningOp<ConstantOp>().getValue();
  OpBuilder builder(group);
  Location loc = unpack.getLoc();
  std::vector<char> wide =
      wideGroups(values, unpack.getAxes(), unpack.getPanel());
  auto type =
      RankedTensorType::get({int64_t(wide.size())}, values.getElementType());
  Value bytes = ConstantOp::create(
      builder, loc, elementsFromBytes(type, std::move(wide), "wide_groups"));
  Value all = ConcatOp::create(builder, loc,
                               ValueRange{pack.getResult(), bytes}, int64_t(0));
  unpack.getPackedMutable().set(
      replaceInput(group, unpack.getPackedMutable(), all));
}

std::optional<PackedPanels> PackedPanels::of(KernelBuilder &b, Value w,
                                             bool isMixed) {
  auto unpack = w.getDefiningOp<UnpackPanelsOp>();
  if (!unpack)
    return std::nullopt;
  PackedPanels panels;
  panels.buffer = b.bufferOf(unpack.getPacked());
  panels.type = elementOf(w);
  panels.columns = shapeOf(w).back();
  panels.group = unpack.getGroup();
  panels.panelWidth = unpack.getPanel();
  panels.fullPanels = panels.columns / panels.panelWidth;
  panels.tailWidth = unpack.getTail();
  int64_t full = panels.fullPanels * panels.panelWidth,
          width = full + (full < panels.columns ? panels.tailWidth : 0);
  int64_t bytes = isMixed ? panels.fullPanels + (full < panels.columns) : 0;
  panels.steps = tensorType(unpack.getPacked()).getNumElements() /
                 std::max<int64_t>(width * panels.group + bytes, 1);
  return panels;
}

Expr PackedPanels::start(KernelBuilder &b, std::optional<Expr> panel,
                         Expr step) const {
  int64_t stride = width(panel.has_value()) * group;
  Expr at = panel ? named(*panel * double(steps * stride), "panel_start") +
                        step * double(stride)
                  : step * double(stride) +
                        double(fullPanels * steps * panelWidth * group);
  return named(at, "at_step");
}

Expr PackedPanels::load(KernelBuilder &b, std::optional<Expr> panel, Expr step,
                        int64_t offset, int64_t lanes) const {
  Expr at = start(b, panel, step);
  if (offset > 0)
    at = named(at + double(offset * group), "at_column_" + Twine(offset));
  return b.withLanes(lanes * group,
                     [&] { return b.loadFrom(buffer, type, {at}); });
}

Expr PackedPanels::isWide(KernelBuilder &b, std::optional<Expr> panel,
                          Expr step) const {
  int64_t width = fullPanels * panelWidth;
  if (width < columns)
    width += tailWidth;
  Expr first = panel ? *panel * double(steps) : b.index(fullPanels * steps);
  Expr at =
      named(first + step, "number_of_group") + double(width * group * steps);
  return notEqual(
      b.withLanes(1, [&] { return b.loadFrom(buffer, type, {at}); }), 0.0);
}

StepChunks PackedPanels::fetchAhead(KernelBuilder &b, std::optional<Expr> panel,
                                    Expr first, int64_t count, Expr tile,
                                    int64_t tiles) const {
  int64_t line = b.target.prefetchLine, bytes = kernel::elementBytes(type),
          bytesOfStep = panelWidth * group * bytes;
  if (line == 0 || !panel ||
      2 * fullPanels * steps * bytesOfStep <= b.target.residentBytes())
    return {};
  int64_t length = std::min(tiles, count);
  while (length > 1 && count % length != 0)
    --length;
  if (length <= 1)
    return {};
  Expr from = named(first + tile * double(count / length), "first_ahead"),
       last = named((double(fullPanels) - *panel) * double(steps) - 1.0,
                    "last_step");
  PackedPanels panels = *this;
  return {length, [=, &b](Expr chunk) {
            Expr ahead = named(from + chunk, "ahead");
            Expr at = panels.start(b, panel, min(ahead, last));
            for (int64_t byte = 0; byte < bytesOfStep; byte += line)
              kernel::PrefetchOp::create(b.builder, b.loc, panels.buffer,
                                         (at + double(byte / bytes)).value,
                                         line);
          }};
}

void PackedPanels::prefetchNext(KernelBuilder &b, Expr panel) const {
  if (!b.target.fetchesRanges() || fullPanels < 2)
    return;
  int64_t elements = steps * panelWidth * group,
          bytes = std::min(elements * kernel::elementBytes(type),
                           b.target.residentBytes());
  b.when(panel < double(fullPanels - 1), [&] {
    Expr next = named((panel + 1.0) * double(elements), "next_panel");
    kernel::PrefetchOp::create(b.builder, b.loc, buffer, next.value, bytes);
  });
}

} // namespace ingot::schedule
