// Matrix products [..., M, K] x [K, N] of floats and 2- or 4-bit weights, in
// register tiles. If {graph.multiplied = si8} permits it, the left operand is
// quantized to 8 bits. Each block of steps (K) of a row gets a scale with which
// its largest magnitude becomes 127; `number` is a weight as stored:
//
//   x' = round(x / scale), scale = largest |x| / 127
//   sum += scale * scale of the weights
//          * (sum over the block of x' * number - zero * sum over the block of x')
//
// The sums over a block are exact. A thread quantizes some rows into arrays on
// its stack, then multiplies them by all of its panels of packed weights. The
// rows of all batches form one matrix, unless batches have gaps between them
// (dynamic sizes); then the matrices are multiplied one after the other.
//
// In a panel, four bytes of weights of a column are adjacent: with 4 bits,
// eight steps. The lower halves of the bytes are the even steps, the upper
// halves the odd steps. A dot product, which takes four steps, multiplies the
// even ones, and another one the odd ones. Quantized rows are stored in that
// order.
//
// Without such dot products, pairs of products are summed in 16 bits, for as
// many steps as cannot overflow. With 4-bit weights, these are 32 steps, of
// which each 16-bit sum has 16 products (16 * 15 * 127 < 2^15).

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/ProductLoops.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The most bytes of stack memory for the quantized rows of a thread.
constexpr int64_t mostStackBytes = 56 << 10;
/// The number of adjacent bytes of weights of a column in one 32-bit lane. A
/// dot product takes one weight from each byte.
constexpr int64_t group = 4;

/// The dot products with which a target multiplies 2- or 4-bit weights, each
/// widened to a byte, by signed 8-bit integers.
struct Form {
  /// Whether the bytes of the weights are unsigned operands.
  bool isUnsigned;
  /// Whether products are first summed in 16 bits, for lack of dot products of
  /// bytes with 32-bit sums.
  bool inHalves;
  /// Lanes of a vector of 32-bit sums.
  int64_t lanes;

  static std::optional<Form> of(MLIRContext *context,
                                const TargetDescription &target) {
    if (target.smallCode || target.vectorBytes.empty() || !target.vectorFloats)
      return std::nullopt;
    int64_t bytes = target.vectorBytes.front(), lanes = bytes / group;
    for (bool isUnsigned : {true, false})
      if (target.product(isUnsigned ? "ui8" : "si8", "si8", group,
                         unsigned(lanes)))
        return Form{isUnsigned, false, lanes};
    auto vector = [&](int64_t bits) {
      return VectorType::get({bytes * 8 / bits},
                             IntegerType::get(context, unsigned(bits)));
    };
    if (target.intrinsic(kernel::dotInHalves("ui8", "si8"), vector(8),
                         vector(16)) &&
        target.product("si16", "si16", 2, unsigned(lanes)))
      return Form{true, true, lanes};
    return std::nullopt;
  }
};

/// The sizes of a product and of its blocks.
struct Sizes : ProductSizes {
  int64_t bits, perByte, block, blocks;

  explicit Sizes(NarrowMatMulOp product)
      : ProductSizes(product.getA(), product.getW(), product.getResult()),
        bits(product.getBits()), perByte(product.perByte()),
        block(product.getBlock()),
        blocks(shapeOf(product.getScales()).front()) {}

  /// Returns the number of K steps whose weights are in a group of `group`
  /// bytes.
  int64_t ofGroup() const { return group * perByte; }
  /// Returns how many groups of bytes of a block are summed before the sums are
  /// widened to 32 bits: all of them, unless 16-bit sums could overflow.
  int64_t groupsOfStage(const Form &form) const {
    int64_t all = block / ofGroup(), together = all;
    if (!form.inHalves)
      return all;
    int64_t ofPair = 2 * 127 * ((1 << bits) - 1);
    while (all % together != 0 || together * perByte * ofPair > INT16_MAX)
      --together;
    return together;
  }
  /// Returns the bytes of stack memory for a quantized row: its elements, and a
  /// scale and a sum for each block.
  int64_t rowBytes() const { return blocks * (block + 8); }
};

class QuantizedProductStrategy : public Strategy {
public:
  bool matches(GroupOnTarget view) const override {
    auto product = dyn_cast_or_null<NarrowMatMulOp>(view.anchor());
    if (!product || view.results().size() != 1 || view.isStrict() ||
        product.getBits() == 8 || !elementOf(product.getA()).isF32() ||
        !mayBeInPanels(product.getW(), view.packs) ||
        dimsOf(product.getResult()) != dimsOf(view.results()[0]))
      return false;
    auto multiplied = product->getAttrOfType<TypeAttr>(kMultipliedAttr);
    auto form = Form::of(product.getContext(), view.target);
    auto packed = product.getW().getDefiningOp<UnpackPanelsOp>();
    Sizes sizes(product);
    return multiplied && multiplied.getValue().isSignedInteger(8) && form &&
           (!packed || int64_t(packed.getGroup()) == group) &&
           sizes.block % sizes.ofGroup() == 0 &&
           sizes.block % form->lanes == 0 &&
           sizes.ofGroup() <= 2 * form->lanes &&
           sizes.rowBytes() <= mostStackBytes;
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {
        {"block", 1, 1 << 16}, {"columns", 1, 1 << 16}, {"rows", 1, 1 << 16}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget view) const override {
    auto product = cast<NarrowMatMulOp>(view.anchor());
    auto packed = product.getW().getDefiningOp<UnpackPanelsOp>();
    Sizes sizes(product);
    Form form = *Form::of(product.getContext(), view.target);
    std::vector<TileChoice> tiles = fittingPanels(
        ranked(sizes, form, view.target), packed, sizes.columns, form.lanes);
    return plansOf(tiles, [&](const TileChoice &tile) {
      int64_t most = mostStackBytes / sizes.rowBytes();
      if (most > tile.rows)
        most -= most % tile.rows;
      return Plan(
          product.getContext(),
          {{"block", std::max<int64_t>(1, std::min(most, sizes.rows.most()))},
           {"columns", panelOf(packed, tile, form.lanes)},
           {"rows", tile.rows}});
    });
  }

  double cost(GroupOnTarget view, const Plan &plan) const override {
    auto product = cast<NarrowMatMulOp>(view.anchor());
    Form form = *Form::of(product.getContext(), view.target);
    Sizes sizes(product);
    return cycles(sizes, form, tileOf(plan, form), view.target) *
           double(sizes.batches.most());
  }

  std::string refuse(GroupOnTarget view, const Plan &plan) const override {
    auto product = cast<NarrowMatMulOp>(view.anchor());
    Form form = *Form::of(product.getContext(), view.target);
    int64_t columns = plan.number("columns"),
            bytes = plan.number("block") * Sizes(product).rowBytes();
    std::string why =
        refusePanels(columns, llvm::alignTo(columns, form.lanes),
                     product.getW().getDefiningOp<UnpackPanelsOp>());
    if (why.empty())
      why = refuseTile(tileOf(plan, form), 1, view.isStrict());
    if (why.empty() && bytes > mostStackBytes)
      why = "the arrays for " + std::to_string(plan.number("block")) +
            " rows take " + std::to_string(bytes) +
            " bytes, but may use at most " + std::to_string(mostStackBytes) +
            " bytes of the stack";
    return why;
  }

  void pack(GroupOnTarget view, const Plan &plan) const override {
    auto product = cast<NarrowMatMulOp>(view.anchor());
    Form form = *Form::of(product.getContext(), view.target);
    int64_t panel = plan.number("columns"),
            tail = llvm::alignTo(shapeOf(product).back() % panel, form.lanes);
    for (OpOperand &operand : product->getOpOperands().drop_front())
      packPanels(view.op(), operand, panel, tail,
                 operand.get() == product.getW() ? group : 1);
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override { Emitter(b).emit(); }

private:
  static TileChoice tileOf(const Plan &plan, const Form &form) {
    return {plan.number("rows"),
            int64_t(llvm::divideCeil(plan.number("columns"), form.lanes)), 1};
  }

  /// Estimates the cycles of a product in tiles of this shape by the number of
  /// instructions.
  static double cycles(const Sizes &sizes, const Form &form,
                       const TileChoice &tile,
                       const TargetDescription &target) {
    auto ofTile = [&](int64_t rows, int64_t vectors) -> double {
      double sums = double(rows * vectors), each = double(sizes.perByte),
             // Instructions per group of bytes: dot products (and additions of
          // 16-bit sums); loading, shifting and masking weights; broadcasts.
          ofGroup = sums * each * (form.inHalves ? 2 : 1) +
                    double(vectors) * 2 * each + double(rows) * each,
             // Instructions per block of steps: clearing, widening, converting
          // and scaling sums; loading the scales.
          ofBlock = sums * (form.inHalves ? 7 : 5) + double(rows + vectors);
      // Float sums that do not fit the registers are loaded and stored for each
      // block.
      int64_t registers = rows * vectors + vectors + 3,
              free = int64_t(target.vectorRegisters) - registers;
      if (free < 0)
        return INFINITY;
      ofBlock += 2 * std::max(0.0, sums - double(free));
      return double(sizes.blocks) *
             (double(sizes.block / sizes.ofGroup()) * ofGroup + ofBlock) /
             target.rates.instructions;
    };
    int64_t vectors = llvm::divideCeil(sizes.columns, form.lanes),
            rows = sizes.rows.most();
    auto overColumns = [&](int64_t rows) {
      double all = double(vectors / tile.vectors) * ofTile(rows, tile.vectors);
      return vectors % tile.vectors ? all + ofTile(rows, vectors % tile.vectors)
                                    : all;
    };
    double all = double(rows / tile.rows) * overColumns(tile.rows);
    return rows % tile.rows ? all + overColumns(rows % tile.rows) : all;
  }

  static std::vector<TileChoice> ranked(const Sizes &sizes, const Form &form,
                                        const TargetDescription &target) {
    constexpr int64_t mostVectors = 4, mostRows = 8;
    Ranking<TileChoice> ranking(/*tolerance=*/0.001);
    int64_t vectors = llvm::divideCeil(sizes.columns, form.lanes);
    for (int64_t v = 1; v <= std::min(vectors, mostVectors); ++v)
      for (int64_t r = 1; r <= std::min(sizes.rows.most(), mostRows); ++r)
        ranking.add({r, v, 1}, cycles(sizes, form, {r, v, 1}, target));
    return std::move(ranking).ranked({1, 1, 1});
  }

  class Emitter {
  public:
    explicit Emitter(KernelBuilder &b)
        : b(b), product(cast<NarrowMatMulOp>(b.group.anchor())), sizes(product),
          form(*Form::of(product.getContext(), b.target)),
          loops(b, product.getA(), product.getW(), product.getResult()),
          f32(b.builder.getF32Type()),
          si32(b.builder.getIntegerType(32, /*isSigned=*/true)),
          panelWidth(b.plan.number("columns")),
          full(sizes.columns / panelWidth), rest(sizes.columns % panelWidth),
          bytes(*PackedPanels::of(b, product.getW())),
          scales(PackedPanels::of(b, product.getScales())) {
      if (product.getZeros())
        zeros = PackedPanels::of(b, product.getZeros());
      batch.assign(shapeOf(product).size() - 2, b.index(0));
    }

    void emit() {
      if (sizes.columns == 0 || sizes.rows == 0)
        return;
      int64_t rows = std::min(b.plan.number("block"), sizes.rows.most());
      auto array = [&](int64_t columns, Type type, StringRef name) {
        return kernel::nameValue(b.stack({rows, columns}, type), name);
      };
      words = array(sizes.blocks * sizes.block / group, si32, "quantized");
      rowScales = array(sizes.blocks, f32, "row_scales");
      if (product.hasZeroPoints())
        offsets = array(sizes.blocks, si32, "row_offsets");
      auto part = [&](Expr begin, Expr end) {
        if (!mayDiffer(sizes.batches, 1))
          return overBlocksOfRows(rows, begin, end);
        Dims result = dimsOf(product.getResult());
        b.forRange(b.index(0), b.size(sizes.batches), [&](Expr number) {
          batch = b.delinearize(named(number, "batch"),
                                ArrayRef(result).drop_back(2));
          overBlocksOfRows(rows, begin, end);
        });
      };
      if (full <= 1 || !paysToFork(b.group))
        part(b.index(0), b.index(full));
      else
        b.forPart(full, part);
    }

  private:
    /// Some rows that are quantized together: the first row and the number of
    /// rows. `count` is this number, and so is `known` if the number is static.
    struct Rows {
      Expr first, count;
      std::optional<int64_t> known;
    };

    /// Emits the product for the panels [begin, end) of packed weights, in
    /// blocks of `most` rows.
    void overBlocksOfRows(int64_t most, Expr begin, Expr end) {
      const Dim &all = sizes.rows;
      if (all.most() <= most)
        return overPanels({b.index(0), b.size(all), all.known()}, begin, end);
      b.forRange(b.index(0), b.size((all + (most - 1)).floorDiv(most)),
                 [&](Expr number) {
                   named(number, "block_of_rows");
                   Expr first = named(number * double(most), "first_row"),
                        left = named(b.size(all) - first, "rows_left");
                   if (all.divisor() % most == 0)
                     return overPanels({first, b.index(most), most}, begin,
                                       end);
                   overPanels({first, named(min(left, double(most)), "rows"),
                               std::nullopt},
                              begin, end);
                 });
    }

    void overPanels(const Rows &rows, Expr begin, Expr end) {
      b.forRange(b.index(0), rows.count,
                 [&](Expr row) { quantizeRow(rows.first, named(row, "row")); });
      auto panel = [&](std::optional<Expr> number) {
        auto tile = [&](Expr row, int64_t count) {
          multiply(rows.first, named(row, "row"), count, number);
        };
        int64_t tileRows = b.plan.number("rows");
        if (rows.known)
          forRowTiles(b, *rows.known, tileRows, tile);
        else
          forRowTiles(b, rows.count, tileRows, tile);
      };
      if (full == 0)
        return panel(std::nullopt);
      b.forRange(begin, end, [&](Expr number) {
        panel(named(number, "panel"));
        if (rest)
          b.when(isLast(number, full), [&] { panel(std::nullopt); });
      });
    }

    ProductLoops::Place placeOf(Expr row, int64_t count,
                                std::optional<Expr> panel) {
      return {batch, row, count, panel};
    }

    /// Emits the quantization of row number `row` of the rows that begin at row
    /// `first` of the left operand.
    void quantizeRow(Expr first, Expr row) {
      ProductLoops::Place place =
          placeOf(named(first + row, "row_of_all"), 1, std::nullopt);
      b.loop(Dim(sizes.blocks), {}, [&](Expr block, ArrayRef<Expr>) -> Exprs {
        quantizeBlock(place, row, named(block, "block"));
        return {};
      });
    }

    void quantizeBlock(const ProductLoops::Place &place, Expr row, Expr block) {
      Expr step = named(block * double(sizes.block), "first_step");
      Exprs x;
      b.withLanes(form.lanes, [&]() -> Expr {
        for (int64_t i = 0; i < sizes.block; i += form.lanes)
          x.push_back(
              named(b.broadcast(loops.loadLeft(place, place.firstRow,
                                               i ? step + double(i) : step),
                                form.lanes),
                    "x_" + Twine(i)));
        return {};
      });
      // Magnitudes are compared as integers, so that a NaN is larger than any
      // number and becomes the scale.
      auto larger = [](Expr x, Expr y) { return select(y > x, y, x); };
      Expr bits;
      for (Expr some : x) {
        Expr magnitude = graph::bitcast(abs(some), si32);
        bits = named(bits ? larger(bits, magnitude) : magnitude, "bits");
      }
      Expr most =
          named(graph::bitcast(BodyBuilder::mergeLanes(bits, larger), f32),
                "largest");
      Expr factor = named(select(most > 0.0, 127.0 / most, 0.0), "factor");
      b.store(rowScales, most * (1.0 / 127), {row, block});
      SmallVector<Value> numbers;
      Expr sum;
      auto plus = [](Expr x, Expr y) { return named(x + y, "sum"); };
      for (auto [i, some] : llvm::enumerate(x)) {
        Value number = arith::FPToSIOp::create(
            b.builder, b.loc,
            VectorType::get({form.lanes}, b.builder.getI32Type()),
            round(some * factor).value);
        numbers.push_back(kernel::nameValue(number, "number_" + Twine(i)));
        Expr added = b.wrap(numbers.back(), si32);
        sum = sum ? plus(sum, added) : added;
      }
      storeNumbers(numbers, row, block);
      if (!product.hasZeroPoints())
        return;
      Expr offset = -BodyBuilder::mergeLanes(sum, plus);
      if (IntegerAttr zero = product.getZeroAttr())
        offset = offset * b.constantInt(zero.getInt(), si32);
      else if (!zeros)
        offset = offset *
                 convert(b.loadScalar(product.getZeros(), {block, b.index(0)}),
                         si32);
      b.store(offsets, offset, {row, block});
    }

    /// Stores the quantized elements of a block as bytes, in the order in which
    /// dot products take them.
    void storeNumbers(ArrayRef<Value> numbers, Expr row, Expr block) {
      int64_t steps = std::max(form.lanes, sizes.ofGroup());
      SmallVector<int64_t> order;
      for (int64_t first = 0; first < steps; first += sizes.ofGroup())
        for (int64_t place = 0; place < sizes.perByte; ++place)
          for (int64_t i = 0; i < group; ++i)
            order.push_back(first + i * sizes.perByte + place);
      Expr word = named(block * double(sizes.block / group), "first_word");
      for (int64_t at = 0; at < sizes.block; at += steps) {
        auto narrow = [&](int64_t from) -> Value {
          Value all = numbers[from / form.lanes];
          return arith::TruncIOp::create(
              b.builder, b.loc,
              VectorType::get({form.lanes}, b.builder.getI8Type()), all);
        };
        Value low = narrow(at),
              high = steps > form.lanes ? narrow(at + form.lanes) : low,
              ordered =
                  vector::ShuffleOp::create(b.builder, b.loc, low, high, order),
              bits = vector::BitCastOp::create(
                  b.builder, b.loc,
                  VectorType::get({steps / group}, b.builder.getI32Type()),
                  ordered);
        b.store(words, b.wrap(bits, si32),
                {row, at ? named(word + double(at / group),
                                 "word_" + Twine(at / group))
                         : word});
      }
    }

    /// Emits a tile of `count` rows. Its first row is quantized row number
    /// `row`, which is row `first` + `row` of the left operand. The tile has
    /// the columns of panel number `panel`, or those after the last full panel
    /// if `panel` is empty.
    void multiply(Expr first, Expr row, int64_t count,
                  std::optional<Expr> panel) {
      ProductLoops::Place place = placeOf(first + row, count, panel);
      ColumnVectors vectors;
      vectors.columns = panel ? panelWidth : rest;
      vectors.lanes.assign(llvm::divideCeil(vectors.columns, form.lanes),
                           form.lanes);
      Expr column = loops.firstColumn(place, panelWidth);
      Exprs rows;
      for (int64_t i = 0; i < count; ++i)
        rows.push_back(named(i ? row + double(i) : row, "row_" + Twine(i)));
      Tile tile = zeroTile(b, count, vectors, f32);
      tile.sums = b.loop(
          Dim(sizes.blocks), tile.sums, [&](Expr block, ArrayRef<Expr> in) {
            named(block, "block");
            Exprs sums(in), whole = sumsOfBlock(tile, rows, panel, block);
            for (size_t v = 0; v < vectors.lanes.size(); ++v) {
              Expr scale = parameter(scales, product.getScales(), panel, block,
                                     v, "scale");
              for (int64_t i = 0; i < count; ++i) {
                size_t at = i * vectors.lanes.size() + v;
                Expr rowScale = b.loadFrom(rowScales, f32, {rows[i], block});
                sums[at] =
                    named(fma(convert(whole[at], f32),
                              scale * named(rowScale, "row_scale_" + Twine(i)),
                              in[at]),
                          tile.nameAt("sum", i, v));
              }
            }
            return sums;
          });
      loops.store(tile, product.getResult(), place, column);
    }

    /// Returns the integer sums of a tile over the steps (K) of block number
    /// `block`.
    Exprs sumsOfBlock(const Tile &tile, ArrayRef<Expr> rows,
                      std::optional<Expr> panel, Expr block) {
      size_t vectors = tile.columns.lanes.size();
      Exprs whole;
      for (Expr row : rows)
        for (size_t v = 0; v < vectors; ++v)
          whole.push_back(
              b.broadcast(offsetOf(row, panel, block, v), form.lanes));
      int64_t all = sizes.block / sizes.ofGroup(),
              together = sizes.groupsOfStage(form);
      Expr first = named(block * double(all), "first_group");
      if (!form.inHalves)
        return addGroups(tile, rows, panel, first, all, whole);
      auto pairs = VectorType::get({2 * form.lanes}, b.builder.getI16Type());
      auto constant = [&](int64_t number) -> Value {
        return arith::ConstantOp::create(
            b.builder, b.loc,
            DenseElementsAttr::get(pairs, APInt(16, uint64_t(number))));
      };
      return b.loop(
          Dim(all / together), whole, [&](Expr stage, ArrayRef<Expr> in) {
            Exprs halves(
                whole.size(),
                b.wrap(constant(0), b.builder.getIntegerType(16, true)));
            halves = addGroups(
                tile, rows, panel,
                all == together
                    ? first
                    : named(first + named(stage, "stage") * double(together),
                            "first_of_stage"),
                together, halves);
            Exprs sums;
            for (auto [i, half] : llvm::enumerate(halves))
              sums.push_back(
                  b.wrap(dot(half.value, constant(1), in[i].value,
                             /*isUnsigned=*/false,
                             tile.nameAt("whole", i / vectors, i % vectors)),
                         si32));
            return sums;
          });
    }

    /// Returns minus the sum of a row's quantized elements in a block of steps
    /// (K), times the zero points of the weights in vector `v` of the columns;
    /// 0 if the weights have no zero points.
    Expr offsetOf(Expr row, std::optional<Expr> panel, Expr block, size_t v) {
      if (!product.hasZeroPoints())
        return b.constantInt(0, si32);
      Expr offset = named(b.loadFrom(offsets, si32, {row, block}), "offset");
      return zeros ? offset * convert(parameter(zeros, product.getZeros(),
                                                panel, block, v, "zero"),
                                      si32)
                   : offset;
    }

    Expr parameter(const std::optional<PackedPanels> &panels, Value from,
                   std::optional<Expr> panel, Expr block, size_t v,
                   StringRef name) {
      Expr loaded = panels ? panels->load(b, panel, block,
                                          int64_t(v) * form.lanes, form.lanes)
                           : b.loadScalar(from, {block, b.index(0)});
      return named(loaded, name + "_" + Twine(v));
    }

    Value dot(Value a, Value x, Value sum, bool isUnsigned, const Twine &name) {
      return kernel::nameValue(
          kernel::DotOp::create(b.builder, b.loc, sum.getType(), a, x, sum,
                                isUnsigned, /*b_unsigned=*/false),
          name);
    }

    Value bitcast(Value vector, int64_t lanes, Type element) {
      return vector::BitCastOp::create(
          b.builder, b.loc, VectorType::get({lanes}, element), vector);
    }

    /// Returns the sums of a tile plus the products of `count` groups of bytes
    /// of weights, from group `first` on.
    Exprs addGroups(const Tile &tile, ArrayRef<Expr> rows,
                    std::optional<Expr> panel, Expr first, int64_t count,
                    ArrayRef<Expr> sums) {
      size_t vectors = tile.columns.lanes.size();
      Type word = b.builder.getI32Type(), byte = b.builder.getI8Type();
      auto wordsType = VectorType::get({form.lanes}, word);
      // A mask with the lowest bits of each byte of a word.
      uint32_t lowest = ((1u << sizes.bits) - 1) * 0x01010101u;
      auto all = [&](uint32_t number) -> Value {
        return arith::ConstantOp::create(
            b.builder, b.loc,
            DenseElementsAttr::get(wordsType, APInt(32, number)));
      };
      return b.loop(Dim(count), sums, [&](Expr i, ArrayRef<Expr> in) {
        Exprs next(in);
        Expr at = named(first + named(i, "group_of_stage"), "group");
        SmallVector<Value> packed;
        for (size_t v = 0; v < vectors; ++v)
          packed.push_back(kernel::nameValue(
              bitcast(
                  bytes.load(b, panel, at, int64_t(v) * form.lanes, form.lanes)
                      .value,
                  form.lanes, word),
              "bytes_" + Twine(v)));
        for (int64_t place = 0; place < sizes.perByte; ++place) {
          SmallVector<Value> numbers;
          for (size_t v = 0; v < vectors; ++v) {
            Value bits = packed[v];
            if (place)
              bits = arith::ShRUIOp::create(b.builder, b.loc, bits,
                                            all(uint32_t(place * sizes.bits)));
            bits = arith::AndIOp::create(b.builder, b.loc, bits, all(lowest));
            numbers.push_back(
                kernel::nameValue(bitcast(bits, group * form.lanes, byte),
                                  "numbers_" + Twine(place) + "_" + Twine(v)));
          }
          Expr column = named(at * double(sizes.perByte) + double(place),
                              "word_" + Twine(place));
          for (size_t r = 0; r < rows.size(); ++r) {
            Value one = b.loadFrom(words, si32, {rows[r], column}).value,
                  x = kernel::nameValue(
                      bitcast(vector::BroadcastOp::create(b.builder, b.loc,
                                                          wordsType, one),
                              group * form.lanes, byte),
                      "x_" + Twine(r));
            for (size_t v = 0; v < vectors; ++v) {
              Expr &sum = next[r * vectors + v];
              sum.value = dot(numbers[v], x, sum.value, form.isUnsigned,
                              tile.nameAt("part", int64_t(r), v));
            }
          }
        }
        return next;
      });
    }

    KernelBuilder &b;
    NarrowMatMulOp product;
    Sizes sizes;
    Form form;
    ProductLoops loops;
    Type f32, si32;
    int64_t panelWidth, full, rest;
    PackedPanels bytes;
    std::optional<PackedPanels> scales, zeros;
    /// The indices of the matrix that is multiplied. They are not used if the
    /// rows of all batches form one matrix.
    Exprs batch;
    /// Arrays of the quantized rows: their elements in groups of four bytes,
    /// and for each block of steps (K) the row's scale and the summand for zero
    /// points (see offsetOf).
    Value words, rowScales, offsets;
  };
};

} // namespace

std::unique_ptr<Strategy> createQuantizedProductStrategy() {
  return std::make_unique<QuantizedProductStrategy>();
}

} // namespace ingot::schedule
