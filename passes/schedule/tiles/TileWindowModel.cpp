#include "passes/schedule/tiles/TileWindowModel.h"

#include "passes/schedule/tiles/DotTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

TileWindows::TileWindows(ConvOp conv)
    : down(windowAxes(conv).front()), across(windowAxes(conv).back()),
      channels(shapeOf(conv.getX()).back()) {}

static bool isMatrix(ConvOp conv) {
  ConvolutionAnchor anchor;
  anchor.conv = conv;
  return anchor.isMatrix();
}

/// Returns the TileForm for operands of types `left` and `right`. Its group
/// size must be that of the target's vector dot products, `dots`, because the
/// weights are packed for either of them. Returns nothing otherwise.
static std::optional<TileForm> formOf(ConvOp conv, Type left, Type right,
                                      const std::optional<DotForm> &dots,
                                      const TargetDescription &target) {
  if (!dots || dots->isScalar() || conv.getXOutside() != 0 ||
      shapeOf(conv.getX()).size() != 4)
    return std::nullopt;
  TileWindows windows(conv);
  if (windows.down.low < 0 || windows.across.low < 0)
    return std::nullopt;
  auto form = TileForm::of(
      left, right, isMatrix(conv) ? windows.channels : windows.stepsOfRun(),
      target);
  return form && form->group == dots->group ? form : std::nullopt;
}

std::optional<TileForm> tileForm(ConvolutionAnchor anchor,
                                 const TargetDescription &target) {
  ConvOp conv = anchor.conv;
  std::optional<DotForm> dots = dotForm(conv, target);
  if (!dots || anchor.pool || groupsKernelRows(conv, *dots) ||
      !isa<BlockArgument>(conv.getX()))
    return std::nullopt;
  auto form = formOf(conv, elementOf(conv.getX()), elementOf(conv.getW()), dots,
                     target);
  UnpackPanelsOp packed = anchor.weights();
  if (form && packed &&
      (int64_t(packed.getGroup()) != form->group ||
       packed.getPanel() % form->lanes || packed.getTail() % form->lanes ||
       packed.getAxes() != 1))
    return std::nullopt;
  return form;
}

std::optional<double> tileCycles(ConvOp conv, Type narrow,
                                 const TargetDescription &target) {
  int64_t steps = ShapedType::getNumElements(shapeOf(conv.getW()).drop_back());
  std::optional<TileForm> form = formOf(
      conv, narrow, narrow, dotForm(narrow, narrow, target, steps), target);
  if (!form || conv.getGroups() != 1)
    return std::nullopt;
  TileWindowModel model(conv, *form, target);
  return model.cycles(model.ranked().front());
}

TileWindowModel::TileWindowModel(ConvOp conv, const TileForm &form,
                                 const TargetDescription &target)
    : form(form), target(target), windows(conv),
      isMatrix(schedule::isMatrix(conv)), y(shapeOf(conv.getResult())) {}

double TileWindowModel::cycles(const Choice &choice) const {
  if (choice.lines == 0)
    return tiles(0).cycles(choice.block);
  auto blocks = double(y[0] * (y[1] / choice.lines));
  // Copying the input rows takes one cycle per vector.
  double copied = double(windows.elements(choice.lines)) /
                  double(target.maxLanes(form.left));
  return blocks * (tiles(choice.lines).cycles(choice.block) + copied);
}

std::vector<TileWindowModel::Choice> TileWindowModel::ranked() const {
  Ranking<Choice> ranking(/*tolerance=*/0.001);
  auto add = [&](int64_t lines) {
    for (const TileChoice &block : tiles(lines).ranked())
      ranking.add({block, lines}, cycles({block, lines}));
  };
  if (isMatrix) {
    add(0);
  } else {
    for (int64_t lines = 1; lines <= y[1]; ++lines)
      if (y[1] % lines == 0 && fits(lines))
        add(lines);
  }
  return std::move(ranking).ranked({{1, 1, 1}, isMatrix ? 0 : 1});
}

int64_t TileWindowModel::parts(const Choice &choice) const {
  constexpr int64_t most = 8;
  int64_t width = choice.block.vectors * form.lanes,
          units = y[0] * (y[1] / std::max<int64_t>(choice.lines, 1)) *
                  std::max<int64_t>(y.back() / width, 1);
  return std::min(units, most);
}

bool TileWindowModel::fits(int64_t lines) const {
  return lines == 1 ||
         windows.elements(lines) * form.left.getIntOrFloatBitWidth() / 8 <=
             target.l2Bytes / 2;
}

RegisterTileModel TileWindowModel::tiles(int64_t lines) const {
  int64_t positions = lines ? windows.positions(lines)
                            : ShapedType::getNumElements(y.drop_back());
  return RegisterTileModel(form, positions, y.back(),
                           lines ? windows.runs() : 1, target);
}

} // namespace ingot::schedule
