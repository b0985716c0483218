#include "passes/schedule/tiles/PositionTiles.h"

#include "passes/schedule/tiles/PanelKernel.h"
#include "targets/TargetDescription.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Whether a value is a scalar or has one element per channel.
static bool isOfChannels(Value v, int64_t channels) {
  int64_t count = tensorType(v).getNumElements();
  return (isa<BlockArgument>(v) || v.getDefiningOp<ConstantOp>()) &&
         (count == 1 || (count == channels && shapeOf(v).back() == channels));
}

/// Whether the epilogue consists of elementwise operators in the type of the
/// sums, which read nothing but the results of the convolution and the pool,
/// scalars, and values with one element per channel.
static bool readsChannelsOnly(GroupView group, ConvolutionAnchor anchor) {
  Type type = anchor.type();
  llvm::SmallDenseSet<Value> behind{anchor.conv.getResult()};
  for (Operation &op : group.block->without_terminator()) {
    if (llvm::none_of(op.getOperands(),
                      [&](Value v) { return behind.contains(v); }))
      continue;
    if (op.getNumResults() != 1 || elementOf(op.getResult(0)) != type ||
        (&op != anchor.pool && !isa<ElementwiseOpInterface>(op)))
      return false;
    for (Value operand : op.getOperands())
      if (!behind.contains(operand) &&
          !isOfChannels(operand, anchor.channels()))
        return false;
    behind.insert(op.getResult(0));
  }
  return behind.contains(group.results()[0]);
}

ConvolutionAnchor positionConvolution(GroupOnTarget group) {
  if (group.hasDynamicSizes() || group.target.smallCode ||
      group.target.wholeRegisters)
    return {};
  ConvolutionAnchor found = ConvolutionAnchor::onlyOf(group);
  ConvOp conv = found.conv;
  if (!conv || conv.getGroups() != 1 || !isa<BlockArgument>(conv.getW()))
    return {};
  Type type = found.type();
  auto isOfType = [&](Value v) { return !v || elementOf(v) == type; };
  size_t rank = shapeOf(conv.getX()).size();
  // In strict mode, the products of a position must be added kernel column by
  // kernel column, and channel by channel within each column. The loops of this
  // strategy keep that order only if there is a single input channel.
  bool isInOrder = !group.isStrict() || shapeOf(conv.getX()).back() == 1;
  bool takes = isa<Float32Type, Float64Type>(type) &&
               group.target.maxLanes(type) > 1 && isOfType(conv.getW()) &&
               isOfType(conv.getBias()) && isOfType(conv.getResult()) &&
               (rank == 3 || rank == 4) && isInOrder &&
               tensorType(found.result()).getNumElements() > 0 &&
               readsChannelsOnly(group, found);
  return takes ? found : ConvolutionAnchor();
}

std::optional<ColumnsInMemory> ColumnsInMemory::of(ConvOp conv) {
  Value x = conv.getX();
  if (isa<BlockArgument>(x) && shapeOf(x).back() == 1)
    return ColumnsInMemory{x, {}};
  auto transpose = x.getDefiningOp<TransposeOp>();
  if (!transpose || !isa<BlockArgument>(transpose.getX()))
    return std::nullopt;
  ArrayRef<int64_t> perm = transpose.getPerm();
  if (perm.end()[-2] != int64_t(perm.size()) - 1)
    return std::nullopt;
  return ColumnsInMemory{transpose.getX(), llvm::to_vector(perm)};
}

CopiedRows::CopiedRows(ConvolutionAnchor anchor)
    : down{1, 1, 1, 1, 1, 0}, channels(shapeOf(anchor.conv.getX()).back()) {
  SmallVector<WindowAxis> axes = windowAxes(anchor.conv);
  across = axes.back();
  if (axes.size() > 1)
    down = axes.front();
  if (anchor.pool) {
    poolColumns = windowOf(anchor.pool).back();
    poolRows = axes.size() > 1 ? windowOf(anchor.pool).front() : 1;
  }
  ArrayRef<int64_t> result = shapeOf(anchor.result());
  images = result.front();
  resultRows = axes.size() > 1 ? result[1] : 1;
  resultColumns = result.end()[-2];
}

CopiedRows::Place CopiedRows::placeOf(int64_t column) const {
  int64_t remainder = (column % stride() + stride()) % stride();
  return {remainder, (column - remainder) / stride()};
}

int64_t CopiedRows::zeros() const {
  // The last input column that the windows of a result row read.
  int64_t last = (resultColumns * poolColumns - 1) * across.stride +
                 across.reach() - across.low,
          behind = placeOf(last).number + 1 - most(),
          inFront = -placeOf(-across.low).number;
  return std::max<int64_t>({behind, inFront, 0});
}

PositionTiles::PositionTiles(ConvolutionAnchor anchor,
                             const TargetDescription &target)
    : copied(anchor), channels(anchor.channels()), target(target),
      type(anchor.type()),
      isInMemory(ColumnsInMemory::of(anchor.conv).has_value()) {
  SmallVector<int64_t> widths = target.lanes(type);
  int64_t widest = widths.front(), left = copied.resultColumns % widest;
  vectors.assign(copied.resultColumns / widest, widest);
  if (left > 0)
    vectors.push_back(*llvm::find_if(
        llvm::reverse(widths), [&](int64_t lanes) { return lanes >= left; }));
}

int64_t PositionTiles::pitch() const {
  return llvm::alignTo(copied.most() + copied.zeros(), lanes());
}

int64_t PositionTiles::start() const {
  return llvm::alignTo(copied.zeros(), lanes());
}

int64_t PositionTiles::elements(int64_t lines) const {
  int64_t covered = 0;
  for (int64_t width : vectors)
    covered += width;
  // Lanes of the last vector that are beyond the last result.
  int64_t more = covered - copied.resultColumns;
  return start() + copies(lines) * pitch() + llvm::alignTo(more, lanes());
}

/// Returns how many vector registers a tile takes: for its sums, for the input
/// vectors of a K step, and for one weight.
int64_t PositionTiles::registers(int64_t ofChannels, int64_t ofVectors) const {
  int64_t read = copied.poolColumns * ofVectors;
  return ofChannels * read + read + 1;
}

double PositionTiles::cyclesOfTile(int64_t ofChannels,
                                   int64_t ofVectors) const {
  const IssueRates &rates = target.rates;
  int64_t sumsOfTile = ofChannels * copied.poolColumns * ofVectors;
  auto read = double(copied.poolColumns * ofVectors), sums = double(sumsOfTile);
  double loads = read + double(ofChannels);
  double step =
      std::max({sums / rates.multiplyAdds, loads / rates.loads,
                (sums + loads) / rates.instructions, rates.multiplyAddLatency});
  auto steps =
      double(copied.down.kernel * copied.across.kernel * copied.channels);
  // Results are transposed with one shuffle per cycle. They are stored in full
  // vectors if the tile has all channels, else separately for each position.
  auto turned = double(llvm::PowerOf2Ceil(ofChannels));
  double parts = ofChannels == channels
                     ? 2 * turned
                     : double(target.maxLanes(type) *
                              llvm::popcount(uint64_t(ofChannels)));
  double stored = double(ofVectors) * (turned * std::log2(turned) + parts);
  return double(copied.poolRows) *
             (steps * step +
              cyclesBesideSteps(sumsOfTile, !target.multiplyByLane, target)) +
         stored;
}

double PositionTiles::cyclesOfCopy(int64_t lines) const {
  int64_t stride = copied.stride(), columns = copied.inputColumns();
  bool isInVectors = isInMemory && stride <= mostInVectors;
  // The kernel copies one element, or one vector, of the input per cycle. With
  // a stride, each vector of the copy is gathered from as many input vectors as
  // the stride; the cost counts the stride - 1 steps that merge them.
  auto ofRow = isInVectors
                   ? double(llvm::divideCeil(columns, target.maxLanes(type)) *
                            std::max<int64_t>(stride - 1, 1))
                   : double(columns);
  double rows = double(std::min(copied.rows(lines), copied.inputRows()));
  return rows * double(copied.channels) * ofRow;
}

double PositionTiles::cycles(const PositionChoice &choice) const {
  auto over = [](int64_t all, int64_t each, auto cost) {
    double whole = double(all / each) * cost(each);
    return all % each ? whole + cost(all % each) : whole;
  };
  double ofRow = over(channels, choice.channels, [&](int64_t ofChannels) {
    return over(
        int64_t(vectors.size()), choice.vectors,
        [&](int64_t ofVectors) { return cyclesOfTile(ofChannels, ofVectors); });
  });
  auto blocks =
      double(copied.images * llvm::divideCeil(copied.resultRows, choice.lines));
  return double(copied.images * copied.resultRows) * ofRow +
         blocks * cyclesOfCopy(choice.lines);
}

/// The most threads that each have their own copy of input rows.
static constexpr int64_t mostParts = 8;

/// Returns how many result rows share a copy of input rows: as many as possible
/// if the copy is to fit half of the L1 cache, and at least one.
int64_t PositionTiles::linesOfCopy(bool divides) const {
  int64_t bytes = type.getIntOrFloatBitWidth() / 8, lines = copied.resultRows;
  if (divides)
    lines = llvm::divideCeil(lines, mostParts);
  while (lines > 1 && elements(lines) * bytes > target.l1Bytes / 2)
    lines = llvm::divideCeil(lines, 2);
  return lines;
}

std::vector<PositionChoice> PositionTiles::ranked(bool divides) const {
  Ranking<PositionChoice> ranking(/*tolerance=*/0.001);
  int64_t lines = linesOfCopy(divides);
  for (int64_t v = 1; v <= int64_t(vectors.size()); ++v)
    for (int64_t n = 1; n <= channels; ++n)
      if (registers(n, v) < int64_t(target.vectorRegisters))
        ranking.add({n, v, lines}, cycles({n, v, lines}));
  return std::move(ranking).ranked({1, 1, lines});
}

int64_t PositionTiles::parts(const PositionChoice &choice) const {
  return std::min<int64_t>(
      mostParts,
      copied.images * llvm::divideCeil(copied.resultRows, choice.lines));
}

} // namespace ingot::schedule
