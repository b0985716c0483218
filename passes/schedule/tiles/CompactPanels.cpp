#include "passes/schedule/tiles/CompactPanels.h"

#include "dialects/graph/ExprNames.h"
#include "passes/schedule/PlanFields.h"
#include "passes/schedule/tiles/TileStore.h"
#include "passes/schedule/tiles/VectorTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Returns the vectors that cover the columns of a panel of weights; in scalar
/// tiles (not CursorTerms::inVectors), one scalar per column. The last vector
/// may be partly used.
static ColumnVectors coverPanel(int64_t columns, const CursorTerms &terms,
                                const TargetDescription &target) {
  if (terms.inVectors(target))
    return ColumnVectors::cover(columns, target, terms.w, /*padded=*/true);
  return {SmallVector<int64_t>(columns, 1), columns};
}

CompactPanels::Panel CompactPanels::panelOf(std::optional<Expr> number) const {
  int64_t before = panels.fullPanels * panels.panelWidth;
  return {number,
          coverPanel(number ? panels.panelWidth : panels.columns - before,
                     terms, b.target),
          number ? named(named(*number, "panel") * double(panels.panelWidth),
                         "channel")
                 : b.index(before)};
}

void CompactPanels::forEach(llvm::function_ref<void(const Panel &)> body) {
  if (panels.fullPanels > 0)
    forAlways(b, panels.fullPanels,
              [&](Expr number) { body(panelOf(number)); });
  if (panels.tailWidth > 0)
    body(panelOf(std::nullopt));
}

Value CompactPanels::laterBias(const Panel &panel) const {
  return panel.vectors.width() == panel.vectors.columns ? Value() : bias;
}

Tile CompactPanels::firstSums(int64_t rows, const Panel &panel) {
  if (!bias || laterBias(panel))
    return zeroTile(b, rows, panel.vectors, terms.sum);
  return biasTile(b, rows, panel.vectors, bias, panel.firstColumn);
}

Expr CompactPanels::withBias(Expr sum, Expr column, const Panel &panel) {
  return laterBias(panel) ? sum + b.load(bias, {column}) : sum;
}

Value CompactPanels::weightsFrom(const Panel &panel, Expr step) {
  Expr at = panel.number
                ? named(*panel.number * double(steps() * panels.panelWidth),
                        "panel_start") +
                      step * double(panels.panelWidth)
                : step * double(panels.tailWidth) +
                      double(panels.fullPanels * steps() * panels.panelWidth);
  return cursorAt(b, panels.buffer, {at}, "next_w");
}

static const PlanFields<CursorTileChoice> fields = {
    {{"columns", 1, 1 << 16}, &CursorTileChoice::columns},
    {{"groups", 1, 2}, &CursorTileChoice::groups},
    {{"rows", 1, 1 << 16}, &CursorTileChoice::rows},
    {{"together", 1, 16}, &CursorTileChoice::together}};

ArrayRef<PlanKey> compactPlanKeys() { return fields.keys(); }

SmallVector<Plan> compactPlans(const TileWork &work, Value weights,
                               const CursorTerms &terms,
                               const TargetDescription &target) {
  auto packed = weights.getDefiningOp<UnpackPanelsOp>();
  // Choose the panel width as for a kernel whose result does not overwrite its
  // operands, since kernels of both kinds may share the weights.
  TileWork any = work;
  any.exact = false;
  int64_t panel = packed ? int64_t(packed.getPanel())
                         : rankCompactTiles(any, target, terms).front().columns;
  return fields.plans(weights.getContext(),
                      rankCompactTiles(work, target, terms, panel));
}

CursorTileChoice compactTile(const Plan &plan) { return fields.tileOf(plan); }

std::string refuseCompactTile(const Plan &plan, const TileWork &work,
                              Value weights, const CursorTerms &terms,
                              const TargetDescription &target) {
  CursorTileChoice tile = compactTile(plan);
  if (std::string why = refusePanels(
          tile.columns, coverPanel(tile.columns, terms, target).width(),
          weights.getDefiningOp<UnpackPanelsOp>());
      !why.empty())
    return why;
  bool isLeast = tile == CursorTileChoice{
                             terms.inVectors(target) ? work.multiple : 1,
                             tile.columns, terms.form ? terms.form->group : 1};
  if (isLeast || std::isfinite(compactTileCost(work, target, terms, tile)))
    return "";
  return "tiles of " + std::to_string(tile.rows) + " rows by " +
         std::to_string(tile.columns) + " columns, " +
         std::to_string(tile.stepsOfTrip()) +
         " steps an iteration, exceed the registers of '" + target.name.str() +
         "' or do not cover " + std::to_string(work.positions) + " rows of " +
         std::to_string(work.steps) + " steps";
}

void packCompactPanels(GroupOp group, OpOperand &weights, const Plan &plan,
                       const CursorTerms &terms,
                       const TargetDescription &target) {
  int64_t panel = plan.number("columns"),
          left = shapeOf(weights.get()).back() % panel,
          steps = terms.form ? terms.form->group : 1;
  auto conv = dyn_cast<ConvOp>(weights.getOwner());
  int64_t axes = 1;
  if (steps > 1 && conv && copiesWindows(conv, target))
    axes = static_cast<int64_t>(shapeOf(weights.get()).size()) - 1;
  else if (steps > 1 && conv && readsKernelRows(conv))
    axes = 2;
  packPanels(group, weights, panel, coverPanel(left, terms, target).width(),
             steps, axes);
}

TileWork matrixWork(GroupView group, int64_t positions, int64_t columns,
                    int64_t steps) {
  TileWork work{positions, columns, steps};
  work.exact = mayBeInPlace(group);
  return work;
}

void emitCompactMatrix(KernelBuilder &b, Operation *anchor,
                       CompactPanels &panels) {
  Value x = anchor->getOperand(0), buffer = b.bufferOf(x);
  Dims sizes = dimsOf(x);
  sizes.pop_back();
  int64_t positions = graph::product(sizes).most(), steps = panels.steps();
  for (auto [i, input] : llvm::enumerate(b.group.block->getArguments()))
    if (mayBecomeResult(b.group, input))
      b.allowInPlace(0, i);
  CursorTileChoice choice = compactTile(b.plan);
  // View the result as a matrix, and the operands of the epilogue as well: with
  // a row for each position, or with a single row. If one of these views does
  // not exist, because a tensor is part of a larger one, access all of them by
  // the indices along each axis.
  Value whole = b.outputs[0],
        result = b.view(whole, {positions, panels.panels.columns}),
        left = b.view(buffer, {positions, shapeOf(x).back()});
  SmallVector<std::pair<Value, Value>> operands;
  for (Value input : b.group.block->getArguments()) {
    if (!isEpilogueOperand(input, anchor) ||
        tensorType(input).getNumElements() == 1)
      continue;
    int64_t size = shapeOf(input).back(),
            count = tensorType(input).getNumElements() / size;
    operands.push_back({input, b.view(b.bufferOf(input), {count, size})});
  }
  bool isFlat = result && llvm::all_of(operands, [](auto &operand) {
                  return operand.second != nullptr;
                });
  if (isFlat)
    b.outputs[0] = result;
  else
    operands.clear();
  auto indexOf = [&](Expr position, Expr column) {
    Exprs at = b.delinearize(position, sizes);
    for (auto [axis, i] : llvm::enumerate(at))
      named(i, axisName(axis, sizes.size() + 1));
    at.push_back(column);
    return at;
  };
  forCoveringTiles(b, positions, choice.rows, "position", [&](Expr first) {
    auto rowOfTile = [&](int64_t row) {
      return named(first + double(row), "position_" + Twine(row));
    };
    panels.forEach([&](const CompactPanels::Panel &panel) {
      Tile tile = panels.firstSums(choice.rows, panel);
      SmallVector<Value> cursors;
      for (int64_t row = 0; row < choice.rows; ++row)
        cursors.push_back(cursorAt(b, left ? left : buffer,
                                   left ? Exprs{rowOfTile(row), b.index(0)}
                                        : indexOf(rowOfTile(row), b.index(0)),
                                   "next_x_" + std::to_string(row)));
      accumulateNext(b, tile, panels.terms, steps, choice, cursors,
                     panels.weightsFrom(panel, b.index(0)));
      storeTile(
          b, tile, anchor->getResult(0),
          [&](int64_t row, Expr column) {
            for (auto [input, matrix] : operands) {
              bool isRow =
                  cast<MemRefType>(matrix.getType()).getDimSize(0) == 1;
              Exprs at{isRow ? b.index(0) : rowOfTile(row), column};
              b.bindElement(input, b.loadFrom(matrix, elementOf(input), at));
            }
            return isFlat ? Exprs{rowOfTile(row), column}
                          : indexOf(rowOfTile(row), column);
          },
          panel.firstColumn,
          [&](Expr sum, Expr column) {
            return panels.withBias(sum, column, panel);
          });
    });
  });
  for (auto [input, matrix] : operands)
    b.unbindElement(input);
  b.outputs[0] = whole;
}

} // namespace ingot::schedule
