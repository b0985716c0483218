#include "passes/schedule/tiles/TileStore.h"

#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/JoinedRows.h"
#include "passes/schedule/tiles/NarrowedResults.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Returns how many vectors of sums form one vector of results, which may have
/// a narrower type; 1 if the target stores partial registers efficiently.
static size_t vectorsOfResult(KernelBuilder &b, Type sum) {
  int64_t results = b.target.maxLanes(computeType(elementOf(b.result()))),
          sums = b.target.maxLanes(sum);
  return b.target.wholeRegisters && sums > 0 && results > sums ? results / sums
                                                               : 1;
}

/// Returns how many vectors of a row, from vector `first` on, form one vector
/// of results: a power of two, at most `most`. The lanes of all these vectors
/// must be used. `column` is the column of vector `first`.
static size_t vectorsTogether(const ColumnVectors &columns, size_t first,
                              int64_t column, size_t most) {
  for (size_t count = most; count > 1; count /= 2) {
    auto vectors = ArrayRef(columns.lanes).drop_front(first);
    if (vectors.size() >= count && llvm::all_equal(vectors.take_front(count)) &&
        column + int64_t(count) * vectors[0] <= columns.columns)
      return count;
  }
  return 1;
}

/// Returns lane number `lane` of a vector. The number is dynamic.
static Expr laneAt(KernelBuilder &b, Expr vector, Expr lane) {
  Value v =
      vector::ExtractOp::create(b.builder, b.loc, vector.value, lane.value);
  return {&b, v, vector.type};
}

/// Returns the sums of a row of a tile as one vector, with a lane for each
/// column. If `pitch` is greater than the number of columns, the lanes after
/// these are not used.
static Expr wholeRow(KernelBuilder &b, Tile &tile, int64_t row, int64_t pitch) {
  Exprs parts;
  for (size_t v = 0; v < tile.columns.lanes.size(); ++v)
    parts.push_back(
        lanesOf(b, tile.at(row, v), 0, std::min(pitch, tile.columns.lanes[v])));
  parts.resize(llvm::bit_ceil(parts.size()), parts.back());
  return joined(b, parts);
}

/// Returns the sums of the last `count` columns of a row, in a tile whose
/// vectors have equal widths.
static Expr lastColumns(KernelBuilder &b, Tile &tile, int64_t row,
                        int64_t count) {
  int64_t lanes = tile.columns.lanes[0], from = tile.columns.columns - count,
          first = from / lanes;
  Exprs vectors;
  for (size_t v = first; v < tile.columns.lanes.size(); ++v)
    vectors.push_back(tile.at(row, v));
  // Fill up to a power of two of vectors; the added lanes are not used.
  while (!llvm::isPowerOf2_64(vectors.size()))
    vectors.push_back(vectors.back());
  return lanesOf(b, joined(b, vectors), from - first * lanes, count);
}

/// Returns how many of the last columns to store at once if `left` columns
/// remain. That is half a register, which overlaps columns that are already
/// stored, since smaller stores are slower. Returns 0 if the remaining columns
/// should be stored as they are, or if the result may overwrite operands of the
/// epilogue.
static int64_t lastTogether(KernelBuilder &b, const Tile &tile, int64_t left,
                            size_t vectorsOfResult) {
  const ColumnVectors &columns = tile.columns;
  int64_t half = columns.lanes[0] * int64_t(vectorsOfResult) / 2;
  return vectorsOfResult > 2 && left < half && half <= columns.columns &&
                 llvm::all_equal(columns.lanes) && !mayBeInPlace(b.group)
             ? half
             : 0;
}

/// Stores `count` rows of a tile, from row `row` on, as one joined vector
/// (JoinedRows.h). Each row has all columns of the result.
static void storeJoined(KernelBuilder &b, Tile &tile, Value anchor,
                        JoinedRows &rows, int64_t row, int64_t count,
                        llvm::function_ref<Exprs(int64_t, Expr)> index,
                        Expr firstColumn,
                        llvm::function_ref<Expr(Expr, Expr)> beforeEpilogue) {
  Exprs sums;
  for (int64_t i = 0; i < count; ++i)
    sums.push_back(wholeRow(b, tile, row + i, rows.pitch()));
  Expr sum = joined(b, sums);
  rows.bindRows(count, [&](int64_t i) { return index(row + i, firstColumn); });
  int64_t lanes = count * rows.pitch();
  Expr first;
  if (rows.hasGaps()) {
    first = b.linearize(index(row, firstColumn),
                        cast<MemRefType>(b.outputs[0].getType()).getShape());
    rows.bindWhole(count, first);
  }
  b.withLanes(lanes, [&] {
    Exprs at = rows.hasGaps() ? Exprs() : index(row, firstColumn), from(at);
    rows.bindColumns(count);
    if (beforeEpilogue)
      sum = beforeEpilogue(sum, firstColumn);
    b.bindElement(anchor, sum);
    if (size_t rank = shapeOf(b.result()).size(); from.size() != rank)
      from.assign(rank, b.index(0));
    Expr results = b.broadcast(b.load(b.result(), from), lanes);
    if (rows.hasGaps())
      rows.store(count, results, first);
    else
      b.store(0u, results, at);
    return sum;
  });
  rows.unbind();
}

/// Returns how many scalar columns, from the tile's vector `first` on, form a
/// vector of sums; 1 if too few columns are scalars. Columns are scalars if dot
/// products are accumulated in core registers; the epilogue uses vectors even
/// then.
static size_t scalarsTogether(KernelBuilder &b, const ColumnVectors &columns,
                              size_t first, Type sum) {
  size_t lanes = b.target.maxLanes(sum);
  auto scalars = ArrayRef(columns.lanes).drop_front(first);
  return lanes > 1 && scalars.size() >= lanes &&
                 llvm::all_of(scalars.take_front(lanes),
                              [](int64_t count) { return count == 1; })
             ? lanes
             : 1;
}

/// Returns part number `part` of the `count` parts of a vector. Parts of 32 bits
/// are moved as words, since compilers would move them byte by byte.
static Expr partOf(KernelBuilder &b, Expr vector, int64_t part, int64_t count) {
  auto type = cast<VectorType>(vector.value.getType());
  int64_t lanes = type.getNumElements() / count,
          bits = lanes * type.getElementTypeBitWidth();
  Type word = b.builder.getI32Type();
  if (bits != word.getIntOrFloatBitWidth())
    return lanesOf(b, vector, part * lanes, lanes);
  Value words = vector::BitCastOp::create(
      b.builder, b.loc, VectorType::get({count}, word), vector.value);
  Value one = vector::BroadcastOp::create(
      b.builder, b.loc, VectorType::get({1}, word),
      vector::ExtractOp::create(b.builder, b.loc, words, part));
  return b.wrap(vector::BitCastOp::create(
                    b.builder, b.loc,
                    VectorType::get({lanes}, type.getElementType()), one),
                vector.type);
}

/// Returns how many rows of a tile, at most `left`, are narrowed together; 1
/// unless each row has a single vector of sums that fills a register of the
/// size in which the target narrows.
static size_t rowsNarrowedTogether(KernelBuilder &b, const Tile &tile, Type sum,
                                   int64_t left) {
  constexpr int64_t narrowedBits = 128;
  const ColumnVectors &columns = tile.columns;
  if (columns.lanes.size() != 1 || columns.lanes[0] != columns.columns ||
      b.target.wholeRegisters || columns.lanes[0] != b.target.maxLanes(sum) ||
      columns.columns * sum.getIntOrFloatBitWidth() != narrowedBits)
    return 1;
  return narrowedTogether(b, SmallVector<int64_t>(left, columns.columns));
}

void storeTile(KernelBuilder &b, Tile &tile, Value anchor,
               llvm::function_ref<Exprs(int64_t, Expr)> index, Expr firstColumn,
               llvm::function_ref<Expr(Expr, Expr)> beforeEpilogue) {
  StringRef given = kernel::nameOf(firstColumn.value);
  std::string columnName = given.empty() ? "column" : given.str();
  // Applies the epilogue to `sum`, some sums of row `row` from column `column`
  // on. Returns the results and their index.
  auto resultOf = [&](Expr sum, int64_t row, size_t vector, Expr column) {
    auto nameOfPlace = [&](StringRef stem) {
      return tile.nameAt(stem, row, vector);
    };
    if (beforeEpilogue)
      sum =
          named(beforeEpilogue(sum, column),
                nameOfPlace(anchor.getDefiningOp()->getName().stripDialect()));
    b.bindElement(anchor, sum);
    Exprs at = index(row, column);
    // If the result is stored in another shape, all operands of the epilogue
    // are already bound, and this index is ignored.
    Exprs from(at);
    if (size_t rank = shapeOf(b.result()).size(); from.size() != rank)
      from.assign(rank, b.index(0));
    Expr result = b.load(b.result(), from);
    if (StringRef name = kernel::nameOf(result.value);
        result.value != sum.value && !name.empty())
      kernel::renameValue(result.value, nameOfPlace(name));
    return std::pair(result, at);
  };
  auto storePart = [&](Expr sum, int64_t row, size_t vector, Expr column,
                       int64_t lanes) {
    b.withLanes(lanes, [&] {
      auto [result, at] = resultOf(sum, row, vector, column);
      b.store(0u, b.broadcast(result, lanes), at);
      return sum;
    });
  };
  // Stores the results of `count` vectors of a row, from vector `vector` on: as
  // one vector if they can be narrowed together, else separately.
  auto storeNarrowed = [&](int64_t row, size_t vector, size_t count,
                           int64_t column) {
    int64_t lanes = tile.columns.lanes[vector];
    Exprs results;
    SmallVector<Exprs> places;
    for (size_t i = 0; i < count; ++i)
      b.withLanes(lanes, [&] {
        int64_t from = column + int64_t(i) * lanes;
        auto [result, at] = resultOf(
            tile.at(row, vector + i), row, vector + i,
            named(firstColumn + double(from), columnName + "_" + Twine(from)));
        results.push_back(b.broadcast(result, lanes));
        places.push_back(at);
        return result;
      });
    std::optional<Expr> all = narrowed(b, results);
    int64_t together = all ? lanes * int64_t(count) : lanes;
    for (size_t i = 0; i < (all ? 1 : count); ++i)
      b.withLanes(together, [&] {
        b.store(0u, all ? *all : results[i], places[i]);
        return results[i];
      });
  };
  // Stores the results of `count` rows from `row` on, which have one vector
  // each: narrows them as one vector if possible.
  auto storeRows = [&](int64_t row, size_t count) {
    int64_t lanes = tile.columns.columns;
    Exprs results;
    SmallVector<Exprs> places;
    for (size_t i = 0; i < count; ++i)
      b.withLanes(lanes, [&] {
        auto [result, at] =
            resultOf(tile.at(row + i, 0), row + i, 0, firstColumn);
        results.push_back(b.broadcast(result, lanes));
        places.push_back(at);
        return result;
      });
    std::optional<Expr> all = narrowed(b, results);
    for (size_t i = 0; i < count; ++i)
      b.withLanes(lanes, [&] {
        Expr part = all ? partOf(b, *all, i, count) : results[i];
        b.store(0u, part, places[i]);
        return part;
      });
  };
  bool isInVectors = epilogueIsInVectors(b);
  size_t most = isInVectors ? vectorsOfResult(b, elementOf(anchor)) : size_t(1);
  JoinedRows together(b, anchor);
  bool joins = tile.columns.columns == together.columns() &&
               (!together.hasGaps() || llvm::all_equal(tile.columns.lanes));
  for (int64_t row = 0; row < tile.rows; ++row) {
    if (int64_t count = joins ? together.most(tile.rows - row) : 0; count > 0) {
      storeJoined(b, tile, anchor, together, row, count, index, firstColumn,
                  beforeEpilogue);
      row += count - 1;
      continue;
    }
    if (size_t count =
            isInVectors
                ? rowsNarrowedTogether(b, tile, computeType(elementOf(anchor)),
                                       tile.rows - row)
                : size_t(1);
        count > 1) {
      storeRows(row, count);
      row += int64_t(count) - 1;
      continue;
    }
    int64_t column = 0;
    for (size_t v = 0; v < tile.columns.lanes.size(); ++v) {
      int64_t lanes = tile.columns.lanes[v];
      if (int64_t last =
              lastTogether(b, tile, tile.columns.columns - column, most)) {
        storePart(lastColumns(b, tile, row, last), row, v,
                  named(firstColumn + double(tile.columns.columns - last),
                        "last_" + columnName),
                  last);
        break;
      }
      if (size_t count = vectorsTogether(tile.columns, v, column, most);
          count > 1) {
        Exprs sums;
        for (size_t i = 0; i < count; ++i)
          sums.push_back(tile.at(row, v + i));
        storePart(joined(b, sums), row, v,
                  named(firstColumn + double(column),
                        columnName + "_" + Twine(column)),
                  int64_t(count) * lanes);
        column += int64_t(count) * lanes;
        v += count - 1;
        continue;
      }
      size_t count =
          isInVectors
              ? narrowedTogether(b, ArrayRef(tile.columns.lanes).drop_front(v))
              : size_t(1);
      while (column + int64_t(count) * lanes > tile.columns.columns)
        count /= 2;
      if (count > 1) {
        storeNarrowed(row, v, count, column);
        column += int64_t(count) * lanes;
        v += count - 1;
        continue;
      }
      if (size_t scalars = isInVectors
                               ? scalarsTogether(b, tile.columns, v,
                                                 computeType(elementOf(anchor)))
                               : 1;
          scalars > 1) {
        SmallVector<Value> sums;
        for (size_t i = 0; i < scalars; ++i)
          sums.push_back(tile.at(row, v + i).value);
        Expr all = b.wrap(
            vector::FromElementsOp::create(
                b.builder, b.loc,
                VectorType::get(int64_t(scalars), sums[0].getType()), sums),
            tile.at(row, v).type);
        storePart(named(all, "sums_" + Twine(row)), row, v,
                  named(firstColumn + double(column),
                        columnName + "_" + Twine(column)),
                  int64_t(scalars));
        column += int64_t(scalars);
        v += scalars - 1;
        continue;
      }
      int64_t valid = std::min(lanes, tile.columns.columns - column);
      if (lanes > 1 && !isInVectors) {
        // The epilogue cannot be computed in vectors: process the lanes one by
        // one, in a loop, since a vector has many lanes.
        b.forRange(b.index(0), b.index(valid), [&](Expr lane) {
          named(lane, "lane");
          storePart(laneAt(b, tile.at(row, v), lane), row, v,
                    named(firstColumn + double(column) + lane, columnName), 1);
        });
        column += lanes;
        continue;
      }
      // A partly used vector is stored in narrower vectors.
      for (int64_t done = 0; done < valid;) {
        int64_t narrower = llvm::bit_floor(static_cast<uint64_t>(valid - done));
        storePart(lanesOf(b, tile.at(row, v), done, narrower), row, v,
                  named(firstColumn + double(column + done),
                        columnName + "_" + Twine(column + done)),
                  narrower);
        done += narrower;
      }
      column += lanes;
    }
  }
  b.unbindElement(anchor);
}

} // namespace ingot::schedule
