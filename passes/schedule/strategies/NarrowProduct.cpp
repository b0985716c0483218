// The strategy for matrix products [..., M, K] x [K, N] with 2-, 4- or 8-bit
// weights in register tiles.
//
// The weights stay packed in memory and have a scale, and possibly a zero
// point, for each block of K indices. If the left operand has a single row, as
// in token generation, the products of a block are summed without scale and
// zero point, so that a weight costs little more than its load. `number` is a
// weight as stored:
//
//   sum += scale * (sum over the block of x * number
//                   - zero * sum over the block of x)
//
// If several rows share a weight, the weight is dequantized first, as in the
// definition of the operator.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/ProductLoops.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class NarrowProductStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    auto product = dyn_cast_or_null<NarrowMatMulOp>(group.anchor());
    return product && group.results().size() == 1 && !group.isStrict() &&
           elementOf(product.getA()).isF32() &&
           mayBeInPanels(product.getW(), group.packs) &&
           dimsOf(product.getResult()) == dimsOf(group.results()[0]);
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 1 << 16},
                                   {"rows", 1, 1 << 16}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto product = cast<NarrowMatMulOp>(group.anchor());
    auto packed = product.getW().getDefiningOp<UnpackPanelsOp>();
    int64_t lanes = group.target.maxLanes(elementOf(product.getA()));
    std::vector<TileChoice> tiles = fittingPanels(
        ranked(product, group.target), packed, shapeOf(product).back(), lanes);
    return plansOf(tiles, [&](const TileChoice &tile) {
      return Plan(
          product.getContext(),
          {{"columns", panelOf(packed, tile, lanes)}, {"rows", tile.rows}});
    });
  }

  double cost(GroupOnTarget group, const Plan &plan) const override {
    auto product = cast<NarrowMatMulOp>(group.anchor());
    return cycles(model(product, group.target),
                  tileOf(product, plan, group.target));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    auto product = cast<NarrowMatMulOp>(group.anchor());
    int64_t columns = plan.number("columns");
    std::string why =
        refusePanels(columns, cover(product, columns, group.target).width(),
                     product.getW().getDefiningOp<UnpackPanelsOp>());
    return why.empty() ? refuseTile(tileOf(product, plan, group.target), 1,
                                    group.isStrict())
                       : why;
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    auto product = cast<NarrowMatMulOp>(group.anchor());
    int64_t panel = plan.number("columns"),
            left = shapeOf(product).back() % panel,
            tail = left ? cover(product, left, group.target).width() : 0;
    for (OpOperand &operand : product->getOpOperands().drop_front())
      packPanels(group.op(), operand, panel, tail, /*steps=*/1);
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override {
    auto product = cast<NarrowMatMulOp>(b.group.anchor());
    ProductLoops loops(b, product.getA(), product.getW(), product.getResult(),
                       RowsLeft::SharedWithLast);
    if (loops.columns == 0 || loops.rows == 0)
      return;
    int64_t panelWidth = b.plan.number("columns");
    loops.overTiles(b.plan.number("rows"), panelWidth,
                    [&](const ProductLoops::Place &place) {
                      Emitter(b, product, loops, place, panelWidth).emit();
                    });
  }

private:
  static TileModel model(NarrowMatMulOp product,
                         const TargetDescription &target) {
    ProductSizes sizes(product.getA(), product.getW(), product.getResult());
    return TileModel(sizes.rows.most(), sizes.columns, sizes.steps.most(),
                     target, elementOf(product.getA()));
  }
  /// Estimates the cycles of a matrix product in tiles of this shape. Includes
  /// the dequantization of each weight, once for all rows of a tile.
  static double cycles(const TileModel &model, const TileChoice &tile) {
    constexpr double perWeight = 2;
    return model.cycles(tile) * (1 + perWeight / double(tile.rows));
  }
  static std::vector<TileChoice> ranked(NarrowMatMulOp product,
                                        const TargetDescription &target) {
    TileModel floats = model(product, target);
    std::vector<TileChoice> tiles = floats.ranked();
    // Each vector of columns needs two registers besides the sums: one for the
    // scales, and one for the zero points or for the partial sums of a block of
    // K indices. Another `onTheWay` registers hold weights during
    // dequantization.
    constexpr int64_t onTheWay = 6;
    auto fits = [&](const TileChoice &tile) {
      return tile.vectors * (tile.rows + 2) + onTheWay <=
                 target.vectorRegisters ||
             tile.rows * tile.vectors == 1;
    };
    llvm::erase_if(tiles, [&](const TileChoice &tile) { return !fits(tile); });
    if (tiles.empty())
      tiles.push_back({1, 1, 1});
    llvm::stable_sort(tiles, [&](const TileChoice &a, const TileChoice &b) {
      return cycles(floats, a) < cycles(floats, b);
    });
    return tiles;
  }
  static ColumnVectors cover(NarrowMatMulOp product, int64_t columns,
                             const TargetDescription &target) {
    return ColumnVectors::cover(columns, target, elementOf(product.getA()),
                                /*padded=*/true);
  }
  static TileChoice tileOf(NarrowMatMulOp product, const Plan &plan,
                           const TargetDescription &target) {
    int64_t lanes = target.maxLanes(elementOf(product.getA()));
    return {plan.number("rows"),
            int64_t(llvm::divideCeil(plan.number("columns"), lanes)), 1};
  }

  /// Emits the code of one tile.
  struct Emitter {
    KernelBuilder &b;
    NarrowMatMulOp product;
    ProductLoops &loops;
    const ProductLoops::Place &place;
    Type type;
    ColumnVectors vectors;
    Expr firstColumn;
    std::optional<PackedPanels> bytes, scales, zeros;
    SmallVector<int64_t> offsets{0};

    Emitter(KernelBuilder &b, NarrowMatMulOp product, ProductLoops &loops,
            const ProductLoops::Place &place, int64_t panelWidth)
        : b(b), product(product), loops(loops), place(place),
          type(elementOf(product.getResult())),
          vectors(cover(product,
                        place.panel ? panelWidth : loops.columns % panelWidth,
                        b.target)),
          firstColumn(loops.firstColumn(place, panelWidth)),
          bytes(PackedPanels::of(b, product.getW())),
          scales(PackedPanels::of(b, product.getScales())) {
      if (product.getZeros())
        zeros = PackedPanels::of(b, product.getZeros());
      for (int64_t lanes : vectors.lanes)
        offsets.push_back(offsets.back() + lanes);
    }

    void emit() {
      int64_t count = *dimsOf(product.getA()).back().known();
      Tile tile = zeroTile(b, place.count, vectors, type);
      tile.sums = b.loop(Dim(count / int64_t(product.getBlock())), tile.sums,
                         [&](Expr block, ArrayRef<Expr> sums) {
                           named(block, "block");
                           Exprs next(sums);
                           if (place.count == 1)
                             addBlock(block, next);
                           else
                             addFloats(block, next);
                           return next;
                         });
      loops.store(tile, product.getResult(), place, firstColumn);
    }

    /// Loads the scales or zero points of a block of K indices for the columns
    /// of vector `v`. Returns a scalar if all columns have the same value.
    Expr parameter(const std::optional<PackedPanels> &panels, Value from,
                   Expr block, size_t v, StringRef name) {
      Expr loaded = panels ? panels->load(b, place.panel, block, offsets[v],
                                          vectors.lanes[v])
                           : b.loadScalar(from, {block, firstColumn});
      return named(convert(loaded, type), name + "_" + Twine(v));
    }

    /// Returns the zero points of a block of K indices for the columns of vector
    /// `v`; a scalar if all columns have the same value.
    Expr zeroPoints(Expr block, size_t v) {
      if (IntegerAttr zero = product.getZeroAttr())
        return b.constant(double(zero.getInt()), type);
      return parameter(zeros, product.getZeros(), block, v, "zero");
    }

    /// Emits a loop over the K indices of a block. For each K index, `use` gets
    /// the carried values, the left operand's elements in all rows of the tile,
    /// and the unpacked weights. Returns the carried values after the loop.
    Exprs overSteps(
        Expr block, ArrayRef<Expr> carried,
        llvm::function_ref<void(Exprs &, ArrayRef<Expr>, ArrayRef<Expr>)> use) {
      int64_t perByte = product.perByte(),
              rowsOfBytes = int64_t(product.getBlock()) / perByte;
      return b.loop(Dim(rowsOfBytes), carried, [&](Expr i, ArrayRef<Expr> in) {
        Exprs sums(in), words;
        Expr row = named(block * double(rowsOfBytes) +
                             named(i, perByte == 1 ? "step" : "byte"),
                         "row_of_bytes");
        for (size_t v = 0; v < vectors.lanes.size(); ++v)
          words.push_back(
              named(product.wordOf(bytes->load(b, place.panel, row, offsets[v],
                                               vectors.lanes[v])),
                    "bytes_" + Twine(v)));
        for (int64_t place = 0; place < perByte; ++place) {
          Expr step = named(row * double(perByte) + double(place),
                            "step_" + Twine(place));
          Exprs x, numbers;
          for (int64_t r = 0; r < this->place.count; ++r)
            x.push_back(named(
                b.load(product.getA(),
                       loops.operandIndex(product.getA(), this->place,
                                          loops.rowAt(this->place, r), step)),
                "x_" + Twine(r)));
          for (size_t v = 0; v < vectors.lanes.size(); ++v)
            numbers.push_back(
                named(product.numberIn(words[v], place), "number_" + Twine(v)));
          use(sums, x, numbers);
        }
        return sums;
      });
    }

    /// Adds the products of a block of K indices to the sums of a tile with a
    /// single row. The block's scale is applied once, to the sum of the
    /// products.
    void addBlock(Expr block, Exprs &sums) {
      size_t count = sums.size();
      Exprs parts;
      for (size_t v = 0; v < count; ++v)
        parts.push_back(b.broadcast(b.constant(0, type), vectors.lanes[v]));
      if (product.hasZeroPoints())
        parts.push_back(b.constant(0, type));
      parts = overSteps(
          block, parts,
          [&](Exprs &parts, ArrayRef<Expr> x, ArrayRef<Expr> numbers) {
            for (size_t v = 0; v < count; ++v)
              parts[v] =
                  named(fma(x[0], numbers[v], parts[v]), "part_" + Twine(v));
            if (product.hasZeroPoints())
              parts[count] = named(parts[count] + x[0], "sum_of_x");
          });
      for (size_t v = 0; v < count; ++v) {
        if (product.hasZeroPoints())
          parts[v] = parts[v] - parts[count] * zeroPoints(block, v);
        sums[v] =
            named(fma(parameter(scales, product.getScales(), block, v, "scale"),
                      parts[v], sums[v]),
                  "sum_" + Twine(v));
      }
    }

    /// Adds the products of a block of K indices to the sums of a tile with
    /// several rows, which share the dequantized weights.
    void addFloats(Expr block, Exprs &sums) {
      size_t count = vectors.lanes.size();
      Exprs factors, terms;
      for (size_t v = 0; v < count; ++v) {
        factors.push_back(
            parameter(scales, product.getScales(), block, v, "scale"));
        if (product.hasZeroPoints())
          terms.push_back(named(-(zeroPoints(block, v) * factors[v]),
                                "offset_" + Twine(v)));
      }
      sums = overSteps(
          block, sums,
          [&](Exprs &sums, ArrayRef<Expr> x, ArrayRef<Expr> numbers) {
            for (size_t v = 0; v < count; ++v) {
              Expr weight =
                  named(terms.empty() ? numbers[v] * factors[v]
                                      : fma(numbers[v], factors[v], terms[v]),
                        "w_" + Twine(v));
              for (int64_t row = 0; row < place.count; ++row) {
                Expr &sum = sums[row * count + v];
                sum = named(fma(x[row], weight, sum),
                            "sum_" + Twine(row) + "_" + Twine(v));
              }
            }
          });
    }
  };
};

} // namespace

std::unique_ptr<Strategy> createNarrowProductStrategy() {
  return std::make_unique<NarrowProductStrategy>();
}

} // namespace ingot::schedule
