#include "passes/schedule/tiles/ProductLoops.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/ExprNames.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/tiles/DotForm.h"
#include "passes/schedule/tiles/FlatStore.h"
#include "passes/schedule/tiles/RowTiles.h"
#include "passes/schedule/tiles/TileStore.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

bool ProductStrategy::matches(GroupOnTarget group) const {
  auto product = dyn_cast_or_null<MatMulOp>(group.anchor());
  return product && group.results().size() == 1 &&
         ProductSizes::fitTiles(product) && fits(product, group.target) &&
         dimsOf(product.getResult()) == dimsOf(group.results()[0]);
}

ArrayRef<PlanKey> ProductStrategy::planKeys() const {
  static const PlanKey keys[] = {{"block", 1, 1 << 30, {}, /*isOptional=*/true},
                                 {"columns", 1, 1 << 16},
                                 {"rows", 1, 1 << 16},
                                 {"splits", 1, 4}};
  return keys;
}

/// Returns how many rows of the left operand form a block. A block is
/// multiplied by all panels (groups of columns) of the right operand before the
/// next block begins. Returns nothing if all rows should be multiplied by one
/// panel before the next panel. Without blocks, the left operand is read again
/// for each panel; with blocks, the right operand is read again for each block.
static std::optional<int64_t> blockOf(MatMulOp product, const TileChoice &tile,
                                      int64_t columns,
                                      const TargetDescription &target) {
  ProductSizes sizes(product);
  if (mayDiffer(sizes.batches, 1) || !sizes.rows.known() ||
      !sizes.steps.known() || target.l2Bytes == 0)
    return std::nullopt;
  int64_t rows = *sizes.rows.known(), steps = *sizes.steps.known(),
          rowBytes = steps * bytesPerElement(elementOf(product.getA())),
          left = rows * rowBytes,
          right = steps * sizes.columns *
                  bytesPerElement(elementOf(product.getB())),
          resident = target.residentBytes();
  // Use no blocks if the left operand is at most twice as large as the assumed
  // L2 cache, since some cores of a target have a cache of that size.
  if (left <= 2 * target.l2Bytes)
    return std::nullopt;
  // A block of rows may take half of the resident part of the L2 cache. The
  // other half is left for the panel of weights and for results.
  int64_t most = std::max(resident / 2 / rowBytes / tile.rows, int64_t(1)),
          tiles = llvm::divideCeil(rows, tile.rows),
          blocks = llvm::divideCeil(tiles, most),
          panels = llvm::divideCeil(sizes.columns, columns);
  // Data from the L3 cache is prefetched, which hides the time for it except
  // for this fraction.
  constexpr double notHidden = 0.25;
  bool isCached = left <= std::max(resident, cachedBytes);
  double again = double((panels - 1) * left) *
                 (isCached ? notHidden / target.rates.cacheBytes
                           : 1 / target.rates.memoryBytes),
         againInBlocks = right > resident ? double((blocks - 1) * right) /
                                                target.rates.cacheBytes
                                          : 0;
  if (againInBlocks >= again)
    return std::nullopt;
  return int64_t(llvm::divideCeil(tiles, blocks)) * tile.rows;
}

SmallVector<Plan> ProductStrategy::plans(GroupOnTarget group) const {
  auto product = cast<MatMulOp>(group.anchor());
  auto packed = product.getB().getDefiningOp<UnpackPanelsOp>();
  int64_t lanes = this->lanes(product, group.target);
  std::vector<TileChoice> tiles =
      fittingPanels(this->tiles(product, group.target), packed,
                    shapeOf(product).back(), lanes);
  SmallVector<Plan> plans;
  for (const TileChoice &tile : tiles) {
    int64_t columns = panelOf(packed, tile, lanes);
    SmallVector<std::pair<StringRef, int64_t>> numbers{
        {"columns", columns},
        {"rows", tile.rows},
        {"splits", group.isStrict() ? 1 : tile.splits}};
    Plan whole(product.getContext(), numbers);
    if (auto block = blockOf(product, tile, columns, group.target)) {
      numbers.push_back({"block", *block});
      plans.push_back(Plan(product.getContext(), numbers));
    }
    plans.push_back(whole);
    if (plans.size() >= mostPlans)
      break;
  }
  plans.truncate(std::min(plans.size(), mostPlans));
  return plans;
}

double ProductStrategy::cost(GroupOnTarget group, const Plan &plan) const {
  auto product = cast<MatMulOp>(group.anchor());
  return cycles(product, tileOf(plan, lanes(product, group.target)),
                group.target) *
         double(ProductSizes(product).batches.most());
}

std::string ProductStrategy::refuse(GroupOnTarget group,
                                    const Plan &plan) const {
  auto product = cast<MatMulOp>(group.anchor());
  int64_t columns = plan.number("columns");
  // A right operand that is not packed is read in place, in vectors that cover
  // its columns exactly, so that any number of columns is possible.
  bool inPanels = mayBeInPanels(product.getB(), group.packs) &&
                  shapeOf(product.getB()).size() == 2;
  std::string why =
      inPanels
          ? refusePanels(columns,
                         panelVectors(product, columns, group.target).width(),
                         product.getB().getDefiningOp<UnpackPanelsOp>())
          : "";
  TileChoice tile = tileOf(plan, lanes(product, group.target));
  if (why.empty())
    why = refuseTile(tile, mostSplits(product), group.isStrict());
  auto block = plan.optionalNumber("block");
  if (!why.empty() || !block)
    return why;
  ProductSizes sizes(product);
  if (mayDiffer(sizes.batches, 1) || !sizes.rows.known())
    return "the plan has a block, which requires a product of two matrices "
           "whose rows are known when compiling";
  return *block % tile.rows == 0
             ? ""
             : "the plan has block = " + std::to_string(*block) +
                   ", which is not a multiple of the " +
                   std::to_string(tile.rows) + " rows of a tile";
}

void ProductStrategy::pack(GroupOnTarget group, const Plan &plan) const {
  auto product = cast<MatMulOp>(group.anchor());
  if (shapeOf(product.getB()).size() != 2)
    return;
  int64_t panel = plan.number("columns"),
          left = shapeOf(product).back() % panel;
  packPanels(group.op(), product->getOpOperand(1), panel,
             left ? panelVectors(product, left, group.target).width() : 0,
             steps(product, group.target));
  if (auto form = dotForm(product, group.target); form && form->isMixed())
    appendWideGroups(group.op(), product.getB());
}

StepChunks ProductLoops::fetchAhead(const PackedPanels &panels,
                                    const Place &place, int64_t tileRows) {
  if (place.count < tileRows || steps.known() != panels.steps * panels.group)
    return {};
  // If rows are divided into blocks, the tiles of each block prefetch the next
  // panel of weights.
  int64_t all = b.plan.optionalNumber("block").value_or(rows.most());
  Expr row = all < rows.most() ? place.firstRow % double(all) : place.firstRow;
  return panels.fetchAhead(b, place.panel, b.index(panels.steps), panels.steps,
                           row / double(tileRows),
                           RowTiling(all, tileRows, rowsLeft, b.target).whole);
}

Exprs ProductLoops::operandIndex(Value operand, const Place &place, Expr row,
                                 Expr column) {
  ArrayRef<int64_t> own = shapeOf(operand);
  Exprs batch(place.batch.begin(), place.batch.end());
  if (oneMatrix && operand == left) {
    batch = rowsOf(row);
    row = batch.pop_back_val();
  }
  Exprs at;
  for (size_t axis = 0; axis + 2 < own.size(); ++axis)
    at.push_back(own[axis] == 1
                     ? b.index(0)
                     : batch[batch.size() - (own.size() - 2) + axis]);
  at.push_back(row);
  at.push_back(column);
  return at;
}

Exprs ProductLoops::rowsOf(Expr row) {
  Exprs at = b.delinearize(row, ArrayRef(sizes).drop_back());
  for (auto [axis, i] : llvm::enumerate(at))
    named(i, axisName(axis, sizes.size()));
  return at;
}

Expr ProductLoops::rowAt(const Place &place, int64_t row) {
  return named(place.firstRow + double(row), "row_" + Twine(row));
}

Exprs ProductLoops::resultIndex(const Place &place, int64_t row, Expr column) {
  Exprs at = oneMatrix ? rowsOf(rowAt(place, row))
                       : Exprs(place.batch.begin(), place.batch.end());
  if (!oneMatrix)
    at.push_back(rowAt(place, row));
  at.push_back(column);
  return at;
}

ProductLoops::ProductLoops(KernelBuilder &b, Value left, Value right,
                           Value result, RowsLeft rowsLeft)
    : ProductSizes(left, right, result), b(b), left(left),
      sizes(dimsOf(result)), rowsLeft(rowsLeft) {
  isFlat = oneMatrix && sizes.size() > 2 &&
           llvm::all_of(sizes, [](const Dim &dim) { return dim.known(); });
  if (isFlat && isa<BlockArgument>(left) && steps.known())
    matrix = b.view(b.bufferOf(left), {*rows.known(), *steps.known()});
}

Expr ProductLoops::loadLeft(const Place &place, Expr row, Expr step) {
  return matrix ? b.loadFrom(matrix, elementOf(left), {row, step})
                : b.load(left, operandIndex(left, place, row, step));
}

void ProductLoops::fetchForEpilogue(const Tile &tile, Value result,
                                    const Place &place, Expr firstColumn) {
  if (isFlat || (oneMatrix && sizes.size() == 2))
    schedule::fetchForEpilogue(b, tile, result.getDefiningOp(), place.firstRow,
                               firstColumn, "row");
}

void ProductLoops::store(Tile &tile, Value result, const Place &place,
                         Expr firstColumn) {
  if (isFlat && storeFlat(b, tile, result.getDefiningOp(), place.firstRow,
                          firstColumn, {}, "row"))
    return;
  storeTile(
      b, tile, result,
      [&](int64_t row, Expr column) { return resultIndex(place, row, column); },
      firstColumn);
}

Expr ProductLoops::firstColumn(const Place &place, int64_t panelWidth) {
  return place.panel ? named(*place.panel * double(panelWidth), "column")
                     : b.index(columns / panelWidth * panelWidth);
}

void ProductLoops::overTiles(
    int64_t tileRows, int64_t panelWidth,
    llvm::function_ref<void(const Place &)> tile,
    llvm::function_ref<void(bool, llvm::function_ref<void()>)> around) {
  int64_t fullPanels = columns / panelWidth, rest = columns % panelWidth;
  std::optional<int64_t> blockRows = b.plan.optionalNumber("block");
  std::optional<Expr> block;
  auto overRows = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
    if (panel)
      named(*panel, "panel");
    auto ofRows = [&] {
      auto rowTile = [&](Expr first, int64_t count) {
        tile({batch, named(first, "row"), count, panel});
      };
      block ? forRowTilesOfBlock(b, *rows.known(), tileRows, *block, *blockRows,
                                 rowTile, rowsLeft)
            : forRowTiles(b, rows, tileRows, rowTile, rowsLeft);
    };
    around ? around(panel.has_value(), ofRows) : ofRows();
  };
  auto overPanels = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
    overRows(batch, panel);
    if (panel && rest)
      b.when(isLast(*panel, fullPanels),
             [&] { overRows(batch, std::nullopt); });
  };
  ArrayRef<Dim> batchSizes = ArrayRef(sizes).drop_back(2);
  if (mayDiffer(batches, 1)) {
    b.parallelFor(batches, [&](Expr batch) {
      Exprs at = b.delinearize(named(batch, "batch"), batchSizes);
      if (fullPanels == 0)
        return overPanels(at, std::nullopt);
      b.forRange(b.index(0), b.index(fullPanels),
                 [&](Expr panel) { overPanels(at, panel); });
    });
    return;
  }
  // The batch indices. They are not used if the rows of all batches form one
  // matrix.
  Exprs at(batchSizes.size(), b.index(0));
  if (!blockRows) {
    if (fullPanels == 0)
      return overPanels(at, std::nullopt);
    return b.parallelFor(fullPanels,
                         [&](Expr panel) { overPanels(at, panel); });
  }
  // Threads divide the combinations of a block of rows and a panel of columns,
  // since there may be few of either.
  int64_t blocks = llvm::divideCeil(*rows.known(), *blockRows),
          panels = std::max<int64_t>(fullPanels, 1);
  b.parallelFor(blocks * panels, [&](Expr part) {
    named(part, "part");
    Exprs place = b.delinearize(part, {blocks, panels});
    block = named(place[0], "block");
    overPanels(at, fullPanels ? std::make_optional(place[1]) : std::nullopt);
  });
}

} // namespace ingot::schedule
