#include "passes/schedule/tiles/WinogradTiles.h"

#include "dialects/graph/ElementsData.h"
#include "passes/schedule/tiles/HalfTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Whether {graph.multiplied = bf16} permits the convolution `conv` to round
/// sums of its operands to bf16.
static bool roundsSums(ConvOp conv) {
  auto multiplied = conv->getAttrOfType<TypeAttr>(kMultipliedAttr);
  return multiplied && multiplied.getValue().isBF16();
}

bool hasWinogradForm(ConvOp conv) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  auto isOne = [](int64_t x) { return x == 1; };
  return w.size() == 4 && w[0] == Winograd::window &&
         w[1] == Winograd::window && llvm::all_of(conv.getStrides(), isOne) &&
         llvm::all_of(conv.getDilations(), isOne) &&
         (isa<Float32Type>(elementOf(conv.getX())) || sumsHalves(conv) ||
          roundsSums(conv)) &&
         conv.getGroups() == 1 && tensorType(conv.getX()).getNumElements() != 0;
}

Type laneTypeOfTransforms(Type type) {
  return type.isF16() ? IntegerType::get(type.getContext(), 16)
                      : computeType(type);
}

Type typeOfProducts(Type type) {
  return type.isF16() ? type : computeType(type);
}

std::optional<DotForm> winogradDots(Type type, int64_t channels,
                                    const TargetDescription &target) {
  if (type.isBF16())
    return dotFormOfPairs(type, type, target);
  return type.isF16() ? dotForm(type, type, target, channels) : std::nullopt;
}

/// Whether `channels` channels fill the vectors in which inputs of `type` are
/// transformed and multiplied, and the target multiplies them.
static bool fillsVectors(int64_t channels, Type type,
                         const TargetDescription &target) {
  int64_t lanes = target.maxLanes(laneTypeOfTransforms(type));
  if (type.isF32())
    return channels % (lanes / 2) == 0;
  if (type.isF16())
    return halvesByLane(target) && channels % lanes == 0;
  std::optional<DotForm> dots = winogradDots(type, channels, target);
  return dots && channels % std::max(lanes, dots->group * dots->rowGroups) == 0;
}

bool suitsWinograd(ConvOp conv, const TargetDescription &target, Type type) {
  constexpr int64_t fewestLanes = 4;
  return !target.smallCode && target.fma && target.l2Bytes != 0 &&
         target.maxLanes(laneTypeOfTransforms(type)) >= fewestLanes &&
         fillsVectors(shapeOf(conv.getX())[3], type, target);
}

ColumnVectors winogradVectors(ConvOp conv, int64_t columns,
                              const TargetDescription &target) {
  Type type = elementOf(conv.getX());
  if (auto dots = winogradDots(type, shapeOf(conv.getX())[3], target))
    return coverWithDots(columns, *dots, target, /*padded=*/true);
  return ColumnVectors::cover(columns, target, type, /*padded=*/true);
}

std::optional<double> winogradCycles(ConvOp conv, ElementsAttr weights,
                                     const TargetDescription &target,
                                     Type type) {
  if (!hasWinogradForm(conv) || !suitsWinograd(conv, target, type))
    return std::nullopt;
  std::optional<double> least;
  for (int64_t size : {4, 2}) {
    std::vector<WinogradChoice> choices =
        WinogradTiles(conv, size, target, type).ranked(/*divides=*/false);
    if (!choices.empty() && (!least || choices.front().cycles < *least) &&
        isExactEnough(weights, size, type, target))
      least = choices.front().cycles;
  }
  return least;
}

WinogradTiles::WinogradTiles(ConvOp conv, int64_t size,
                             const TargetDescription &target, Type type,
                             int64_t panel)
    : form(size), target(target), type(type),
      dotForm(winogradDots(type, shapeOf(conv.getX())[3], target)),
      panel(panel), lanes(target.maxLanes(computeType(type))) {
  ArrayRef<int64_t> x = shapeOf(conv.getX()), y = shapeOf(conv.getResult());
  channels = x[3];
  columns = y[3];
  images = y[0];
  down = llvm::divideCeil(y[1], size);
  across = llvm::divideCeil(y[2], size);
}

int64_t WinogradTiles::panels(int64_t ofColumns) const {
  return llvm::divideCeil(columns, ofColumns);
}

TileModel WinogradTiles::model(int64_t rows) const {
  return TileModel(rows, columns, channels, target, type,
                   channels * type.getIntOrFloatBitWidth() / 8);
}

DotModel WinogradTiles::dots(int64_t rows) const {
  return DotModel(rows, columns, channels, *dotForm, target);
}

double WinogradTiles::cyclesOfPoint(int64_t rows,
                                    const TileChoice &tile) const {
  return dotForm ? dots(rows).cycles(tile) : model(rows).cycles(tile);
}

std::vector<TileChoice> WinogradTiles::shapes() const {
  return dotForm ? dots(tiles()).ranked() : model(tiles()).ranked();
}

double WinogradTiles::products(const TileChoice &tile) const {
  // The rows of the matrix products are rounded up to whole register tiles.
  int64_t rows = llvm::alignTo(tiles(), tile.rows);
  // For each panel of weights, the kernel reads the rows of the matrix product
  // of a point (an element of the transformed tiles) from the L2 cache again.
  constexpr double lineBytes = 64;
  double lines = double(rows * channels) *
                 (type.getIntOrFloatBitWidth() / 8.0) / lineBytes *
                 double(panels(tile.vectors * lanes));
  return double(form.points * form.points) *
         (cyclesOfPoint(rows, tile) +
          lines * (1 / target.rates.loads + target.rates.missedLoad));
}

/// Returns the number of multiply-adds and additions of a matrix-vector product
/// with the matrix of a transform. Two interpolation points x and -x share
/// terms.
static int64_t operations(const Winograd &form) {
  return form.size == 2 ? 4 : 12;
}

double WinogradTiles::transforms() const {
  double points = double(form.points * form.points),
         outputs = double(form.size * form.size);
  // Each transform is applied to the rows of a tile, and then to the columns of
  // that result.
  double ofInput = double(2 * form.points * operations(form)),
         ofOutput = double((form.points + form.size) * operations(form));
  // Inputs of f16 are scaled down; those of bf16 are widened, transformed and
  // rounded.
  if (type.isF16())
    ofInput += points;
  if (type.isBF16())
    ofInput += 2 * points;
  auto vectors = [&](int64_t of) {
    return double(
        tiles() *
        llvm::divideCeil(of, target.maxLanes(laneTypeOfTransforms(type))));
  };
  const IssueRates &rates = target.rates;
  double moved = points / rates.loads + points;
  return vectors(channels) * std::max(ofInput / rates.multiplyAdds, moved) +
         vectors(columns) *
             (std::max(ofOutput / rates.multiplyAdds, points / rates.loads) +
              outputs);
}

int64_t WinogradTiles::bytesOfBlock(const WinogradChoice &choice) const {
  return form.points * form.points * choice.block *
         (channels * bytesPerElement(type) +
          std::min(columns, choice.tile.vectors * lanes) *
              bytesPerElement(typeOfProducts(type)));
}

double WinogradTiles::weightBytes() const {
  return double(form.points * form.points * channels * columns) *
         type.getIntOrFloatBitWidth() / 8;
}

double cyclesOfFirstRead(double bytes, double products,
                         const TargetDescription &target) {
  // The fraction of the shorter one of the two times (for reading and for
  // multiplying) that the longer one does not hide. Fitted to convolutions of
  // 48 to 512 channels on 13 x 13 to 7 x 7 positions (Zen 5, November 2026).
  constexpr double notHidden = 0.4;
  double read = bytes / target.rates.memoryBytes;
  return std::max(read - products, 0.0) + notHidden * std::min(read, products);
}

double WinogradTiles::firstRead(const WinogradChoice &choice) const {
  return cyclesOfFirstRead(weightBytes(), products(choice.tile), target);
}

double WinogradTiles::transfers(const WinogradChoice &choice) const {
  double bytesOfElement = type.getIntOrFloatBitWidth() / 8.0,
         points = double(form.points * form.points);
  double weights = weightBytes(), block = double(bytesOfBlock(choice)),
         cache = double(target.l2Bytes);
  auto blocks = double(llvm::divideCeil(tiles(), choice.block));
  double cycles = firstRead(choice);
  if (weights + block > cache)
    cycles += (blocks - 1) * weights / target.rates.cacheBytes;
  // The matrix product of one point (an element of the transformed tiles) needs
  // the weights of a panel for that point. They share the cache with the data
  // of the block.
  double panelBytes =
      double(choice.tile.vectors * lanes * channels) * bytesOfElement;
  // The fraction of the cache for the rows of a block. Weights that stream
  // through the cache occupy the rest of it.
  constexpr double ofRows = 0.75;
  if (block + panelBytes > ofRows * cache)
    cycles += points * double(tiles() * channels) * bytesOfElement *
              double(panels(choice.tile.vectors * lanes)) /
              target.rates.cacheBytes;
  return cycles;
}

double WinogradTiles::cycles(const WinogradChoice &choice) const {
  // The overhead of the loops over panels of weights and over points (elements
  // of the transformed tiles), for each block of tiles.
  auto blocks = double(llvm::divideCeil(tiles(), choice.block));
  double starts = blocks * double(form.points * form.points) *
                  double(panels(choice.tile.vectors * lanes)) * 4;
  return products(choice.tile) + transforms() + transfers(choice) + starts;
}

int64_t WinogradTiles::unitsOf(const WinogradChoice &choice) const {
  return llvm::divideCeil(tiles(), choice.block) *
         std::max<int64_t>(columns / (choice.tile.vectors * lanes), 1);
}

int64_t WinogradTiles::partsOf(const WinogradChoice &choice) const {
  // Each part (the share of a thread) has its own scratch memory. `enough`
  // parts are sufficient to balance two threads of unequal speed; there are
  // more only if their scratch memory takes at most half of the L2 cache.
  constexpr int64_t enough = 4, most = 8;
  int64_t fit = target.l2Bytes / 2 / std::max<int64_t>(bytesOfBlock(choice), 1);
  int64_t units = unitsOf(choice);
  // A part with less work than this justifies neither a thread nor scratch
  // memory.
  constexpr int64_t leastWork = 1 << 18;
  int64_t work = tiles() * form.points * form.points * channels * columns;
  units = std::clamp<int64_t>(work / leastWork, 1, units);
  return std::clamp<int64_t>(fit, std::min(enough, units),
                             std::min(most, units));
}

double WinogradTiles::waitOf(const WinogradChoice &choice) const {
  // If there are fewer blocks of tiles than parts (the shares of threads),
  // threads also divide the panels of weights that each block is multiplied by.
  int64_t blocks = llvm::divideCeil(tiles(), choice.block), panels = 1;
  if (blocks < choice.parts)
    panels = unitsOf(choice) / blocks;
  int64_t units = blocks * panels,
          most =
              choice.parts == 1 ? units : int64_t(llvm::divideCeil(units, 2));
  double longest = double(most * choice.block) / double(panels),
         half = double(tiles()) / 2;
  // The weight of the time for which one of two threads waits for the other:
  // with 0, the ranking would be that for one thread, with 1 that for two.
  constexpr double share = 0.25;
  return share * std::max(longest / half - 1, 0.0);
}

std::vector<WinogradChoice> WinogradTiles::ranked(bool divides) const {
  constexpr size_t most = 16;
  std::vector<TileChoice> shapes = this->shapes();
  if (panel)
    shapes = withVectors(llvm::divideCeil(panel, lanes), std::move(shapes));
  else if (shapes.size() > most)
    shapes.resize(most);
  Ranking<WinogradChoice> ranking(/*tolerance=*/0.01);
  for (const TileChoice &shape : shapes) {
    // Try smaller blocks first, since they leave more of the cache to other
    // data.
    for (int64_t blocks = llvm::divideCeil(tiles(), shape.rows); blocks >= 1;
         --blocks) {
      WinogradChoice choice{
          form.size,
          {shape.rows, shape.vectors, 1},
          int64_t(
              llvm::alignTo(llvm::divideCeil(tiles(), blocks), shape.rows))};
      // Skip numbers of blocks that do not give blocks of equal size (except
      // for the last one).
      if (llvm::divideCeil(tiles(), choice.block) != uint64_t(blocks))
        continue;
      // Blocks whose data exceeds the L2 cache are slow, and the arena (the
      // buffer for intermediate tensors) must have room for that data.
      if (bytesOfBlock(choice) > target.l2Bytes)
        break;
      choice.cycles = cycles(choice);
      choice.parts = divides ? partsOf(choice) : 1;
      double wait = divides ? waitOf(choice) : 0;
      ranking.add(choice, choice.cycles * (1 + wait));
    }
  }
  // No other kernel can use transformed weights, so there must be at least one
  // choice.
  WinogradChoice least{
      form.size, {1, int64_t(llvm::divideCeil(panel, lanes)), 1}, 1};
  if (!panel && std::isinf(ranking.leastCost()))
    return {};
  return std::move(ranking).ranked(least);
}

/// Returns the sum of squares of each row of a matrix.
static SmallVector<double> squaresOf(const Winograd::Matrix &matrix) {
  SmallVector<double> sums;
  for (ArrayRef<double> row : matrix) {
    sums.push_back(0);
    for (double x : row)
      sums.back() += x * x;
  }
  return sums;
}

/// Returns the elements of f32, f16 or bf16 weights as floats.
static std::vector<float> numbersOf(ElementsAttr weights) {
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(weights, storage);
  std::vector<float> numbers(weights.getNumElements());
  if (weights.getElementType().isF32()) {
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  for (auto [i, number] : llvm::enumerate(numbers)) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
    llvm::APFloat value(
        cast<FloatType>(weights.getElementType()).getFloatSemantics(),
        llvm::APInt(16, bits));
    number = float(value.convertToDouble());
  }
  return numbers;
}

double winogradError(ElementsAttr weights, int64_t size, Type type,
                     const TargetDescription &target) {
  constexpr int64_t taps = Winograd::window * Winograd::window;
  constexpr double mostHalf = 65504;
  double unit = type.isF16() ? 0x1p-11 : type.isBF16() ? 0x1p-8 : 0x1p-24;
  Winograd form(size);
  std::vector<float> numbers = numbersOf(weights);
  const float *w = numbers.data();
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  int64_t channels = shape[2], columns = shape[3], terms = channels;
  if (type.isF16())
    terms = std::min(terms, dotForm(type, type, target, terms)->stage);
  // Transformed weights that overflow f16 cannot be used.
  if (type.isF16())
    for (float number : numbers)
      if (std::abs(number) * form.weightGain(type) > mostHalf)
        return std::numeric_limits<double>::infinity();
  // For each column and each pair of taps (elements of the window), the
  // products of their weights, summed over the channels. The sum of squares of
  // the transformed weights at a point (an element of the transformed tile) is
  // a quadratic form of these.
  std::vector<double> pairs(taps * taps * columns, 0);
  for (int64_t a = 0; a < taps; ++a)
    for (int64_t b = 0; b <= a; ++b) {
      double *sums = pairs.data() + (a * taps + b) * columns;
      for (int64_t c = 0; c < channels; ++c) {
        const float *first = w + (a * channels + c) * columns,
                    *second = w + (b * channels + c) * columns;
        for (int64_t o = 0; o < columns; ++o)
          sums[o] += double(first[o]) * double(second[o]);
      }
    }
  SmallVector<double> input = squaresOf(form.input);
  double error = 0, result = 0;
  for (int64_t o = 0; o < columns; ++o) {
    auto of = [&](int64_t a, int64_t b) {
      return pairs[(a * taps + b) * columns + o];
    };
    double energy = 0;
    for (int64_t a = 0; a < taps; ++a)
      energy += of(a, a);
    result = std::max(result, energy);
    // For each point (element) of a transformed tile, the variance of its sum
    // over the channels.
    SmallVector<double> sums;
    for (int64_t p = 0; p < form.points; ++p)
      for (int64_t q = 0; q < form.points; ++q) {
        double sum = 0;
        auto factor = [&](int64_t tap) {
          return form.weights[p][tap / Winograd::window] *
                 form.weights[q][tap % Winograd::window];
        };
        for (int64_t a = 0; a < taps; ++a)
          for (int64_t b = 0; b <= a; ++b)
            sum += (a == b ? 1 : 2) * factor(a) * factor(b) * of(a, b);
        sums.push_back(sum * input[p] * input[q]);
      }
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < form.points; ++p)
          for (int64_t q = 0; q < form.points; ++q)
            sum += std::pow(form.output[i][p] * form.output[j][q], 2) *
                   sums[p * form.points + q];
        error = std::max(error, sum);
      }
  }
  if (result == 0)
    return 0;
  double roundings = type.isBF16() ? 2.0 / 3 : double(terms) / 6 + 4;
  return unit * std::sqrt(roundings * error / result);
}

bool isExactEnough(ElementsAttr weights, int64_t size, Type type,
                   const TargetDescription &target) {
  return winogradError(weights, size, type, target) <=
         (type.isF16()    ? mostWinogradErrorOfHalves
          : type.isBF16() ? mostWinogradErrorOfBFloats
                          : mostWinogradError);
}

} // namespace ingot::schedule
