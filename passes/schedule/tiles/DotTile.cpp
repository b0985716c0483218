#include "passes/schedule/tiles/DotTile.h"

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/PairTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

ColumnVectors coverWithDots(int64_t columns, const DotForm &form,
                            const TargetDescription &target, bool padded) {
  ColumnVectors result;
  result.columns = columns;
  int64_t left = columns;
  for (; left >= form.lanes.front(); left -= form.lanes.front())
    result.lanes.push_back(form.lanes.front());
  if (padded) {
    // Add the narrowest vector that holds the remaining columns.
    if (left > 0)
      result.lanes.push_back(
          *llvm::find_if(llvm::reverse(form.lanes),
                         [&](int64_t lanes) { return lanes >= left; }));
    return result;
  }
  for (; left > 0; left -= result.lanes.back())
    result.lanes.push_back(llvm::bit_floor(static_cast<uint64_t>(left)));
  return result;
}

//===----------------------------------------------------------------------===//
// Operands in registers
//===----------------------------------------------------------------------===//

namespace {

/// Builds the vector operations of dot products that `Expr` does not have.
class DotBuilder {
public:
  DotBuilder(KernelBuilder &b, const DotForm &form, const DotOperands &operands)
      : b(b), form(form), aIsUnsigned(operands.aType.isUnsignedInteger()),
        bIsUnsigned(operands.bType.isUnsignedInteger()) {}

  /// An operand of a dot product: one vector, a vector of the even K steps and
  /// one of the odd K steps, or a vector for each group that is summed in 16
  /// bits (DotForm::shortGroups).
  using Parts = SmallVector<Value, 2>;

  /// Returns the elements that one dot product takes, from group number `index`
  /// of the vector `groups`, repeated as often as sums have lanes (`lanes`).
  Parts groupParts(Value groups, int64_t index, int64_t lanes) {
    return {spread(vector::ExtractStridedSliceOp::create(
                       b.builder, b.loc, groups, index * form.group, form.group,
                       /*strides=*/1),
                   lanes)};
  }
  /// Returns `group`, the elements of row `row` that one dot product takes,
  /// repeated as often as sums have lanes (`lanes`).
  Parts rowParts(Value group, int64_t lanes, int64_t row) {
    return parts(spread(group, lanes), lanes, aIsUnsigned, "x_" + Twine(row));
  }
  Parts columnParts(Value vector, int64_t lanes, size_t v) {
    return parts(vector, lanes, bIsUnsigned, "w_" + Twine(v));
  }

  Value dot(const Parts &row, const Parts &column, Value sum,
            const Twine &name) {
    int64_t lanes = lanesOf(sum);
    if (form.shortGroups && llvm::is_contained(form.lanes, lanes))
      return dotInShortSums(row, column, sum, lanes, name);
    bool extended = form.widened && row.size() > 1;
    for (auto [a, w] : llvm::zip(row, column))
      if (a.getType() == sum.getType() && extended)
        sum = kernel::nameValue(
            vector::FMAOp::create(b.builder, b.loc, a, w, sum), name);
      else
        sum = kernel::nameValue(kernel::DotOp::create(b.builder, b.loc,
                                                      sum.getType(), a, w, sum,
                                                      aIsUnsigned && !extended,
                                                      bIsUnsigned && !extended),
                                name);
    return sum;
  }

private:
  static int64_t lanesOf(Value sum) {
    auto vector = dyn_cast<VectorType>(sum.getType());
    return vector ? vector.getNumElements() : 1;
  }

  /// Returns `sum` plus products that are summed in 16 bits: a product with ones
  /// adds pairs of these sums.
  Value dotInShortSums(const Parts &row, const Parts &column, Value sum,
                       int64_t lanes, const Twine &name) {
    auto type = VectorType::get({2 * lanes}, b.builder.getI16Type());
    auto dot = [&](Value a, Value w, Value sum, bool isUnsigned) -> Value {
      return kernel::DotOp::create(b.builder, b.loc, sum.getType(), a, w, sum,
                                   isUnsigned, /*b_unsigned=*/false);
    };
    Value pairs = all(type, 0);
    for (auto [a, w] : llvm::zip(row, column))
      pairs = dot(a, w, pairs, /*isUnsigned=*/true);
    return kernel::nameValue(dot(kernel::nameValue(pairs, "pairs"),
                                 all(type, 1), sum, /*isUnsigned=*/false),
                             name);
  }

  /// Returns a vector of equal integers.
  Value all(VectorType type, uint32_t number) {
    return arith::ConstantOp::create(
        b.builder, b.loc,
        DenseElementsAttr::get(type,
                               APInt(type.getElementTypeBitWidth(), number)));
  }

  Value bitcast(Value vector, int64_t lanes, Type element) {
    return vector::BitCastOp::create(b.builder, b.loc,
                                     VectorType::get({lanes}, element), vector);
  }

  /// Broadcasts the elements that one dot product takes, as one integer, to all
  /// lanes.
  Value spread(Value group, int64_t lanes) {
    if (lanes == 1)
      return group;
    auto type = cast<VectorType>(group.getType());
    Type element = type.getElementType(),
         word = b.builder.getIntegerType(type.getNumElements() *
                                         element.getIntOrFloatBitWidth());
    Value whole =
        vector::ExtractOp::create(b.builder, b.loc, bitcast(group, 1, word), 0);
    Value everywhere = vector::BroadcastOp::create(
        b.builder, b.loc, VectorType::get({lanes}, word), whole);
    return bitcast(everywhere, lanes * type.getNumElements(), element);
  }

  /// Returns `vector`; with DotForm::widened, splits it into even and odd K
  /// steps. Each 32-bit lane has two bf16, or each 16-bit lane two int8, with
  /// the even K step in the low half.
  Parts parts(Value vector, int64_t lanes, bool isUnsigned, const Twine &name) {
    if (!form.widened || !llvm::is_contained(form.lanes, lanes))
      return {kernel::nameValue(vector, name)};
    int64_t pairs = lanes * form.group / 2;
    if (getElementTypeOrSelf(vector).isBF16())
      return bfloatParts(bitcast(vector, pairs, b.builder.getI32Type()), name);
    Value both =
        kernel::nameValue(bitcast(vector, pairs, b.builder.getI16Type()), name);
    auto type = cast<VectorType>(both.getType());
    auto named = [&](Value even, Value odd) -> Parts {
      return {kernel::nameValue(even, name + "_even"),
              kernel::nameValue(odd, name + "_odd")};
    };
    if (isUnsigned)
      return named(
          arith::AndIOp::create(b.builder, b.loc, both, all(type, 255)),
          arith::ShRUIOp::create(b.builder, b.loc, both, all(type, 8)));
    Value upper = arith::ShLIOp::create(b.builder, b.loc, both, all(type, 8));
    return named(arith::ShRSIOp::create(b.builder, b.loc, upper, all(type, 8)),
                 arith::ShRSIOp::create(b.builder, b.loc, both, all(type, 8)));
  }

  /// Returns the even and the odd elements of `both` as f32. A bf16 is the
  /// upper half of an f32.
  Parts bfloatParts(Value both, const Twine &name) {
    auto type = cast<VectorType>(both.getType());
    auto asFloats = [&](Value bits, StringRef steps) {
      return kernel::nameValue(
          bitcast(bits, type.getNumElements(), b.builder.getF32Type()),
          name + steps);
    };
    return {
        asFloats(arith::ShLIOp::create(b.builder, b.loc, both, all(type, 16)),
                 "_even"),
        asFloats(arith::AndIOp::create(b.builder, b.loc, both,
                                       all(type, 0xffff0000u)),
                 "_odd")};
  }

  KernelBuilder &b;
  const DotForm &form;
  bool aIsUnsigned, bIsUnsigned;
};

} // namespace

Value loadGroup(KernelBuilder &b, const DotForm &form,
                const DotOperands &operands, int64_t row, Expr step,
                int64_t count) {
  if (count == form.group)
    return asStored(
        b, b.withLanes(form.group, [&] { return operands.a(row, step); }));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < form.group; ++i)
    elements.push_back(asStored(b, i < count ? operands.a(row, step + double(i))
                                             : b.constant(0, operands.aType)));
  auto type = VectorType::get({form.group}, elements[0].getType());
  return vector::FromElementsOp::create(b.builder, b.loc, type, elements);
}

/// Whether a tile has f16 sums (halvesTile), which are not widened to f32.
static bool isOfHalves(const Tile &tile) {
  return getElementTypeOrSelf(tile.sums.front().value).isF16();
}

/// Emits multiply-adds of f16 vectors of weights by one lane of a vector of a
/// row's elements. Products are accumulated in f16 for a stage
/// (DotForm::stage); then these partial sums are widened and added to the sums
/// of the tile. A vector of weights or of partial sums has the columns of up to
/// two vectors of the tile. If the tile itself has f16 sums (halvesTile), the
/// partial sums of the stages are added in f16, and nothing is widened; without
/// stages, products are added to the sums of the tile at once.
class HalvesByLane {
public:
  HalvesByLane(KernelBuilder &b, Tile &tile, const DotForm &form,
               const DotOperands &operands, int64_t firstRow, int64_t endRow)
      : b(b), tile(tile), form(form), operands(operands),
        dots(b, form, operands), firstRow(firstRow), endRow(endRow) {
    ArrayRef<int64_t> lanes = tile.columns.lanes;
    int64_t column = 0;
    for (size_t v = 0; v < lanes.size();) {
      bool isPair = !isOfHalves(tile) && v + 1 < lanes.size() &&
                    lanes[v] == lanes[v + 1] && lanes[v] == form.lanes.front();
      parts.push_back({v, isPair ? size_t(2) : 1, column,
                       isPair ? 2 * lanes[v] : lanes[v]});
      column += parts.back().lanes;
      v += parts.back().vectors;
    }
  }

  void accumulate(int64_t steps) {
    if (isOfHalves(tile) && !form.stage) {
      auto *sums = tile.sums.begin() + firstRow * parts.size();
      Exprs halves(sums, sums + (endRow - firstRow) * parts.size());
      llvm::copy(addSteps(b.index(0), steps, halves), sums);
      return;
    }
    int64_t stages = steps / form.stage, left = steps % form.stage;
    if (stages)
      tile.sums =
          b.loop(stages, tile.sums, [&](Expr stage, ArrayRef<Expr> sums) {
            return addStage(named(stage, "stage") * double(form.stage),
                            form.stage, sums);
          });
    if (left)
      tile.sums = addStage(b.index(stages * form.stage), left, tile.sums);
  }

private:
  /// Columns of the tile whose partial sums share an f16 register: those of one
  /// or two of the tile's vectors, from vector `first` on.
  struct Part {
    size_t first, vectors;
    int64_t column, lanes;
  };

  Exprs addStage(Expr first, int64_t steps, ArrayRef<Expr> given) {
    Exprs halves;
    for (int64_t row = firstRow; row < endRow; ++row)
      for (const Part &part : parts)
        halves.push_back(zeroHalves(b, part.lanes));
    halves = addSteps(first, steps, halves);
    return isOfHalves(tile) ? added(halves, given) : widened(halves, given);
  }

  /// Returns the f16 sums `halves` plus the products of `steps` K steps, from K
  /// step `first` on.
  Exprs addSteps(Expr first, int64_t steps, Exprs halves) {
    if (operands.packed)
      return addPacked(first, steps, halves);
    int64_t several = form.rowGroups, trips = steps / several,
            left = steps % several;
    // Adds the products of lanes [firstLane, several) of the vectors of the
    // rows at K step `step`.
    auto addLanes = [&](Expr step, int64_t firstLane, ArrayRef<Expr> carried) {
      SmallVector<Value> rows;
      for (int64_t row = firstRow; row < endRow; ++row)
        rows.push_back(kernel::nameValue(
            asStored(
                b, b.withLanes(several, [&] { return operands.a(row, step); })),
            "x_" + Twine(row)));
      Exprs sums(carried.begin(), carried.end());
      for (int64_t lane = firstLane; lane < several; ++lane)
        addStep(named(step + double(lane), "step_" + Twine(lane)), sums,
                [&](int64_t row, int64_t lanes) {
                  return dots.groupParts(rows[row], lane, lanes);
                });
      return sums;
    };
    if (trips)
      halves = b.loop(trips, halves, [&](Expr trip, ArrayRef<Expr> carried) {
        return addLanes(named(first + trip * double(several), "step"), 0,
                        carried);
      });
    // The last vector overlaps the one before it.
    if (trips && left)
      return addLanes(named(first + double(steps - several), "last_step"),
                      several - left, halves);
    for (int64_t step = 0; step < left; ++step)
      addStep(first + double(step), halves, [&](int64_t row, int64_t lanes) {
        Value x = asStored(b, b.withLanes(1, [&] {
          return operands.a(firstRow + row, first + double(step));
        }));
        return DotBuilder::Parts{vector::BroadcastOp::create(
            b.builder, b.loc, VectorType::get({lanes}, operands.aType), x)};
      });
    return halves;
  }

  /// Does the same for packed rows.
  Exprs addPacked(Expr first, int64_t steps, Exprs halves) {
    int64_t lanes = form.rowGroups;
    auto add = [&](Expr step, MutableArrayRef<Expr> sums) {
      SmallVector<Value> rows;
      for (int64_t group = 0; group * lanes < endRow - firstRow; ++group)
        rows.push_back(kernel::nameValue(
            asStored(b, operands.packed(group, step)), "x_" + Twine(group)));
      addStep(step, sums, [&](int64_t row, int64_t count) {
        return dots.groupParts(rows[row / lanes], row % lanes, count);
      });
    };
    constexpr int64_t together = 4;
    if (steps >= together)
      halves = b.loop(
          steps / together, halves, [&](Expr trip, ArrayRef<Expr> carried) {
            named(trip, "iteration");
            Exprs sums(carried.begin(), carried.end());
            for (int64_t k = 0; k < together; ++k)
              add(named(first + (trip * double(together) + double(k)),
                        "step_" + Twine(k)),
                  sums);
            return sums;
          });
    for (int64_t k = steps / together * together; k < steps; ++k)
      add(named(first + double(k), "step"), halves);
    return halves;
  }

  /// Adds the products of K step `step` to the f16 partial sums, row by row.
  /// `x` returns a row's element, broadcast to all lanes.
  void addStep(Expr step, MutableArrayRef<Expr> halves,
               llvm::function_ref<DotBuilder::Parts(int64_t, int64_t)> x) {
    SmallVector<DotBuilder::Parts> weights;
    for (const Part &part : parts)
      weights.push_back(dots.columnParts(
          asStored(b, operands.b(step, 1, part.column, part.lanes)), part.lanes,
          isOfHalves(tile) ? part.first : part.first / 2));
    for (int64_t row = 0; row < endRow - firstRow; ++row)
      for (auto [p, part] : llvm::enumerate(parts)) {
        Expr &sum = halves[row * parts.size() + p];
        sum.value = dots.dot(x(row, part.lanes), weights[p], sum.value,
                             tile.nameAt("half", firstRow + row, p));
      }
  }

  /// Returns the tile's f16 sums `given` plus the f16 partial sums `halves`.
  Exprs added(ArrayRef<Expr> halves, ArrayRef<Expr> given) {
    Exprs sums(given.begin(), given.end());
    for (auto [i, half] : llvm::enumerate(halves)) {
      Expr &sum = sums[firstRow * parts.size() + i];
      sum = named(
          sumOfHalves(b, sum, half),
          tile.nameAt("sum", firstRow + i / parts.size(), i % parts.size()));
    }
    return sums;
  }

  /// Returns the tile's sums `given` plus the f16 partial sums `halves`, which
  /// are widened to f32 first.
  Exprs widened(ArrayRef<Expr> halves, ArrayRef<Expr> given) {
    Exprs sums(given.begin(), given.end());
    size_t columns = tile.columns.lanes.size();
    for (int64_t row = firstRow; row < endRow; ++row)
      for (auto [p, part] : llvm::enumerate(parts))
        for (size_t v = 0; v < part.vectors; ++v) {
          Expr &sum = sums[row * columns + part.first + v];
          int64_t lanes = part.lanes / int64_t(part.vectors);
          Value half = lanesOf(b, halves[(row - firstRow) * parts.size() + p],
                               int64_t(v) * lanes, lanes)
                           .value;
          if (lanes == 1 && isa<VectorType>(half.getType()))
            half = vector::ExtractOp::create(b.builder, b.loc, half, 0);
          Value wide = arith::ExtFOp::create(b.builder, b.loc,
                                             sum.value.getType(), half);
          sum.value = kernel::nameValue(
              arith::AddFOp::create(b.builder, b.loc, sum.value, wide),
              tile.nameAt("sum", row, part.first + v));
        }
    return sums;
  }

  KernelBuilder &b;
  Tile &tile;
  const DotForm &form;
  const DotOperands &operands;
  DotBuilder dots;
  int64_t firstRow, endRow;
  SmallVector<Part> parts;
};

/// Emits a tile in which each sum is a vector whose lanes add the products of
/// different K steps. The emitted code multiplies a register of a row by a
/// register of a column; the last K steps may fill only half a register.
static void accumulateAcross(KernelBuilder &b, Tile &tile, const DotForm &form,
                             int64_t steps, const DotOperands &operands,
                             int64_t firstRow, int64_t endRow) {
  bool aIsUnsigned = operands.aType.isUnsignedInteger(),
       bIsUnsigned = operands.bType.isUnsignedInteger();
  size_t columns = tile.columns.lanes.size();
  auto addGroup = [&](Expr group, int64_t count, ArrayRef<Expr> given) {
    Exprs sums(given.begin(), given.end());
    Expr step = named(group * double(form.group), "step");
    Exprs weights;
    for (size_t v = 0; v < columns; ++v)
      weights.push_back(
          named(lanesOf(b, operands.b(group, count, v, 1), 0, count),
                "w_" + Twine(v)));
    for (int64_t row = firstRow; row < endRow; ++row) {
      Expr x = b.withLanes(count, [&] {
        return named(operands.a(row, step), "x_" + Twine(row));
      });
      for (size_t v = 0; v < columns; ++v) {
        Expr &sum = sums[row * columns + v];
        auto dot = kernel::DotOp::create(b.builder, b.loc, sum.value.getType(),
                                         x.value, weights[v].value, sum.value,
                                         aIsUnsigned, bIsUnsigned);
        if (count == form.group)
          dot->setAttr(kernel::kAcrossLanesAttr, b.builder.getUnitAttr());
        sum.value =
            kernel::nameValue(dot.getResult(), tile.nameAt("sum", row, v));
      }
    }
    return sums;
  };
  int64_t groups = steps / form.group, left = steps % form.group;
  if (groups)
    tile.sums =
        loopInChunks(b, groups, tile.sums, operands.chunks,
                     [&](Expr group, ArrayRef<Expr> sums) {
                       return addGroup(named(group, "group"), form.group, sums);
                     });
  if (left)
    tile.sums = addGroup(b.index(groups), left, tile.sums);
}

Tile tileAcrossLanes(KernelBuilder &b, int64_t rows,
                     const ColumnVectors &columns, const DotForm &form,
                     Type sum) {
  Tile tile{rows, {}, {}};
  tile.columns.columns = columns.width();
  tile.columns.lanes.assign(columns.width(), 1);
  for (int64_t i = 0; i < rows * columns.width(); ++i)
    tile.sums.push_back(b.broadcast(b.constant(0, sum), form.lanes.front()));
  return tile;
}

/// Returns the sums of pairs of adjacent lanes of `x`, followed by those of
/// `y`.
static Value addPairs(KernelBuilder &b, Value x, Value y) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  auto every = [&](int64_t first) -> Value {
    SmallVector<int64_t> order;
    for (int64_t lane = first; lane < 2 * lanes; lane += 2)
      order.push_back(lane);
    return vector::ShuffleOp::create(b.builder, b.loc, x, y, order);
  };
  Value even = every(0), odd = every(1);
  return arith::AddIOp::create(b.builder, b.loc, even, odd);
}

Tile addLanes(KernelBuilder &b, Tile &tile, const ColumnVectors &columns) {
  Tile result{tile.rows, columns, {}};
  size_t next = 0;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (auto [v, lanes] : llvm::enumerate(columns.lanes)) {
      SmallVector<Value> sums;
      for (int64_t lane = 0; lane < lanes; ++lane)
        sums.push_back(tile.sums[next++].value);
      Type type = tile.sums.front().type;
      for (; sums.size() > 1; sums.truncate(sums.size() / 2))
        for (size_t i = 0; i < sums.size(); i += 2)
          sums[i / 2] = addPairs(b, sums[i], sums[i + 1]);
      result.sums.push_back(
          named(b.wrap(sums[0], type), result.nameAt("sum", row, v)));
    }
  return result;
}

/// Emits `then` if `condition` holds, else `otherwise`; each returns new values
/// of `sums`. Returns these values.
static Exprs eitherSums(KernelBuilder &b, Expr condition, ArrayRef<Expr> sums,
                        llvm::function_ref<Exprs()> then,
                        llvm::function_ref<Exprs()> otherwise) {
  auto types =
      llvm::map_to_vector(sums, [](Expr sum) { return sum.value.getType(); });
  auto branch = scf::IfOp::create(b.builder, b.loc, types, condition.value,
                                  /*withElseRegion=*/true);
  auto emit = [&](Region &region, llvm::function_ref<Exprs()> arm) {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(&region.front());
    scf::YieldOp::create(
        b.builder, b.loc,
        llvm::map_to_vector(arm(), [](Expr sum) { return sum.value; }));
  };
  emit(branch.getThenRegion(), then);
  emit(branch.getElseRegion(), otherwise);
  Exprs results;
  for (auto [sum, result] : llvm::zip(sums, branch.getResults()))
    results.push_back(b.wrap(result, sum.type));
  return results;
}

void accumulateDots(KernelBuilder &b, Tile &tile, const DotForm &form,
                    int64_t steps, const DotOperands &operands,
                    int64_t firstRow, std::optional<int64_t> lastRow) {
  if (form.acrossLanes)
    return accumulateAcross(b, tile, form, steps, operands, firstRow,
                            lastRow.value_or(tile.rows));
  int64_t endRow = lastRow.value_or(tile.rows);
  if (form.ofPairs)
    return accumulatePairs(b, tile, form, steps, operands, firstRow, endRow);
  if (isOfHalves(tile) || (form.stage && form.group == 1))
    return HalvesByLane(b, tile, form, operands, firstRow, endRow)
        .accumulate(steps);
  DotForm narrowForm = form, wideForm = form;
  if (form.isMixed()) {
    narrowForm.widened = false;
    wideForm.shortGroups = 0;
  }
  DotBuilder narrowDots(b, narrowForm, operands),
      wideDots(b, wideForm, operands);
  ArrayRef<int64_t> lanes = tile.columns.lanes;
  auto weightsOf = [&](DotBuilder &dots, ArrayRef<Expr> groups, int64_t count) {
    SmallVector<DotBuilder::Parts> columns(lanes.size());
    for (Expr group : groups) {
      int64_t column = 0;
      for (auto [v, lanesOfVector] : llvm::enumerate(lanes)) {
        llvm::append_range(
            columns[v],
            dots.columnParts(
                asStored(b, operands.b(group, count, column, lanesOfVector)),
                lanesOfVector, v));
        column += lanesOfVector;
      }
    }
    return columns;
  };
  auto addBy = [&](DotBuilder &dots, ArrayRef<Expr> groups, int64_t count,
                   Exprs sums) {
    SmallVector<DotBuilder::Parts> columns = weightsOf(dots, groups, count);
    for (int64_t row = firstRow; row < endRow; ++row) {
      SmallVector<Value, 2> elements;
      for (Expr group : groups)
        elements.push_back(loadGroup(b, form, operands, row,
                                     named(group * double(form.group), "step"),
                                     count));
      DotBuilder::Parts spread;
      for (auto [v, column] : llvm::enumerate(columns)) {
        // Vectors of the same width share the broadcast of the row's elements.
        if (v == 0 || lanes[v] != lanes[v - 1]) {
          spread.clear();
          for (Value group : elements)
            llvm::append_range(spread, dots.rowParts(group, lanes[v], row));
        }
        Expr &sum = sums[row * lanes.size() + v];
        sum.value =
            dots.dot(spread, column, sum.value, tile.nameAt("sum", row, v));
      }
    }
    return sums;
  };
  auto add = [&](ArrayRef<Expr> groups, int64_t count, Exprs sums) {
    if (!form.isMixed())
      return addBy(narrowDots, groups, count, std::move(sums));
    Exprs added = eitherSums(
        b, named(operands.isWide(groups[0]), "is_wide"), sums,
        [&] { return addBy(wideDots, groups, count, sums); },
        [&] { return addBy(narrowDots, groups, count, sums); });
    for (auto [i, sum] : llvm::enumerate(added))
      named(sum,
            tile.nameAt("sum", int64_t(i / lanes.size()), i % lanes.size()));
    return added;
  };
  auto addGroup = [&](Expr group, int64_t count, Exprs sums) {
    return add(group, count, std::move(sums));
  };
  int64_t groups = steps / form.group, left = steps % form.group;
  if (form.stage) {
    auto addStage = [&](Expr first, int64_t count, int64_t rest,
                        ArrayRef<Expr> given) {
      Exprs sums(given.begin(), given.end()), halves;
      for (Expr sum : sums)
        halves.push_back(
            zeroHalves(b, laneCount(sum.value.getType()) * form.group));
      halves = b.loop(count, halves, [&](Expr trip, ArrayRef<Expr> carried) {
        Expr group = named(first + trip, "group");
        return addGroup(group, form.group,
                        Exprs(carried.begin(), carried.end()));
      });
      if (rest)
        halves = addGroup(named(first + double(count), "group"), rest, halves);
      for (size_t i = firstRow * lanes.size(); i < endRow * lanes.size(); ++i)
        sums[i].value =
            addHalves(b, sums[i].value, halves[i].value, form.group);
      return sums;
    };
    int64_t perStage = form.stage / form.group, whole = groups / perStage;
    if (whole)
      tile.sums = b.loop(whole, tile.sums, [&](Expr trip, ArrayRef<Expr> sums) {
        Expr stage = named(trip, "stage");
        return addStage(stage * double(perStage), perStage, 0, sums);
      });
    if (int64_t last = groups % perStage; last || left)
      tile.sums = addStage(b.index(whole * perStage), last, left, tile.sums);
    return;
  }
  int64_t several = form.rowGroups;
  auto addGroups = [&](Expr trip, ArrayRef<Expr> given) {
    Exprs sums(given.begin(), given.end());
    Expr step = named(trip * double(several * form.group), "step");
    SmallVector<Value> rows;
    for (int64_t row = firstRow; row < endRow; ++row)
      rows.push_back(kernel::nameValue(
          asStored(b, b.withLanes(several * form.group,
                                  [&] { return operands.a(row, step); })),
          "x_" + Twine(row)));
    for (int64_t g = 0; g < several; ++g) {
      Expr group = named(trip * double(several) + double(g), "group");
      SmallVector<DotBuilder::Parts> columns =
          weightsOf(narrowDots, group, form.group);
      for (auto [r, elements] : llvm::enumerate(rows))
        for (auto [v, column] : llvm::enumerate(columns)) {
          int64_t row = firstRow + r;
          Expr &sum = sums[row * lanes.size() + v];
          sum.value =
              narrowDots.dot(narrowDots.groupParts(elements, g, lanes[v]),
                             column, sum.value, tile.nameAt("sum", row, v));
        }
    }
    return sums;
  };
  if (several > 1 && groups >= several) {
    tile.sums = b.loop(groups / several, tile.sums, addGroups);
    for (int64_t done = groups / several * several; done < groups; ++done)
      tile.sums = addGroup(b.index(done), form.group, tile.sums);
    if (left)
      tile.sums = addGroup(b.index(groups), left, tile.sums);
    return;
  }
  int64_t together = std::max<int64_t>(form.shortGroups, 1),
          trips = groups / together;
  StepChunks chunks;
  if (operands.chunks.steps % together == 0)
    chunks = {operands.chunks.steps / together, operands.chunks.begin};
  tile.sums = loopInChunks(
      b, trips, tile.sums, chunks, [&](Expr trip, ArrayRef<Expr> sums) {
        Exprs several;
        for (int64_t g = 0; g < together; ++g)
          several.push_back(
              named(trip * double(together) + double(g), "group"));
        return add(several, form.group, Exprs(sums.begin(), sums.end()));
      });
  for (int64_t done = trips * together; done < groups; ++done)
    tile.sums = addGroup(b.index(done), form.group, tile.sums);
  if (left)
    tile.sums = addGroup(b.index(groups), left, tile.sums);
}

Expr interleaveRows(KernelBuilder &b, ArrayRef<Expr> rows, int64_t group) {
  SmallVector<Value> parts;
  for (Expr row : rows)
    parts.push_back(asStored(b, row));
  Type rowType = parts[0].getType();
  // The other operand is zero where rows are missing, so the first row may
  // stand for them unless it can have NaNs or infinities. With constant zeros,
  // clang 22 crashes on some of these shuffles.
  Value missing = isa<FloatType>(rows[0].type)
                      ? arith::ConstantOp::create(
                            b.builder, b.loc,
                            cast<TypedAttr>(b.builder.getZeroAttr(rowType)))
                            .getResult()
                      : parts[0];
  while (static_cast<int64_t>(parts.size()) < group)
    parts.push_back(missing);
  auto vector = dyn_cast<VectorType>(rowType);
  if (!vector)
    return b.wrap(
        vector::FromElementsOp::create(
            b.builder, b.loc, VectorType::get({group}, rowType), parts),
        rows[0].type);
  // Interleave pairs of rows lane by lane, then pairs of these results two
  // lanes at a time, and so on.
  for (int64_t width = 1; parts.size() > 1; width *= 2) {
    SmallVector<Value> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      int64_t lanes = cast<VectorType>(parts[i].getType()).getNumElements();
      SmallVector<int64_t> order;
      for (int64_t first = 0; first < lanes; first += width)
        for (int64_t from : {first, lanes + first})
          for (int64_t lane = 0; lane < width; ++lane)
            order.push_back(from + lane);
      joined.push_back(vector::ShuffleOp::create(b.builder, b.loc, parts[i],
                                                 parts[i + 1], order));
    }
    parts = joined;
  }
  return b.wrap(parts[0], rows[0].type);
}

/// Interleaves the lanes of two vectors, viewed as integers of `bits` bits.
static Value inTurn(KernelBuilder &b, Value x, Value y, unsigned bits) {
  auto own = cast<VectorType>(x.getType());
  int64_t lanes = own.getNumElements();
  auto type = VectorType::get({lanes * own.getElementTypeBitWidth() / bits},
                              b.builder.getIntegerType(bits));
  auto cast = [&](Value v, VectorType to) -> Value {
    return v.getType() == to
               ? v
               : vector::BitCastOp::create(b.builder, b.loc, to, v).getResult();
  };
  Value both = vector::InterleaveOp::create(b.builder, b.loc, cast(x, type),
                                            cast(y, type));
  return cast(both, VectorType::get({2 * lanes}, own.getElementType()));
}

Exprs interleaveInParts(KernelBuilder &b, ArrayRef<Expr> rows, int64_t group,
                        int64_t lanes) {
  auto type = dyn_cast<VectorType>(rows[0].value.getType());
  unsigned bits = type ? type.getElementTypeBitWidth() : 0;
  auto isKnown = [&](int64_t count) {
    Type element = b.builder.getIntegerType(bits * count);
    return b.target.intrinsic(vector::InterleaveOp::getOperationName(),
                              VectorType::get({lanes / count}, element),
                              VectorType::get({2 * lanes / count}, element));
  };
  bool hasAll = type && type.getNumElements() == lanes;
  for (int64_t count = 1; hasAll && count < group; count *= 2)
    hasAll = isKnown(count);
  if (!hasAll) {
    Expr all = interleaveRows(b, rows, group);
    int64_t count = cast<VectorType>(all.value.getType()).getNumElements();
    Exprs parts;
    for (int64_t at = 0; at < count; at += lanes)
      parts.push_back(lanesOf(b, all, at, lanes));
    return parts;
  }
  SmallVector<Exprs> all;
  for (Expr row : rows)
    all.push_back({row});
  while (static_cast<int64_t>(all.size()) < group)
    all.push_back({b.wrap(
        arith::ConstantOp::create(b.builder, b.loc,
                                  cast<TypedAttr>(b.builder.getZeroAttr(type))),
        rows[0].type)});
  for (; all.size() > 1; bits *= 2) {
    SmallVector<Exprs> pairs;
    for (size_t i = 0; i < all.size(); i += 2) {
      Exprs parts;
      for (auto [x, y] : llvm::zip(all[i], all[i + 1])) {
        Expr both = b.wrap(inTurn(b, x.value, y.value, bits), rows[0].type);
        parts.push_back(lanesOf(b, both, 0, lanes));
        parts.push_back(lanesOf(b, both, lanes, lanes));
      }
      pairs.push_back(std::move(parts));
    }
    all = std::move(pairs);
  }
  return all[0];
}

} // namespace ingot::schedule
