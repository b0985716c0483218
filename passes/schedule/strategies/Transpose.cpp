// The strategy for transposes in square tiles.
//
// If the transpose moves the last axis, rows of the input become columns of the
// result. A loop over single elements would then touch another cache line of
// the input or of the result for each element. Instead, a tile has as many
// input rows as a vector has lanes: its rows are loaded as vectors, transposed
// in registers (LaneShuffles.h), and stored as rows of the result.
//
// A work item is a panel of the input, of one of two kinds:
//
//   - all columns of some rows, as many as a cache line of the result has
//     elements. Each cache line of the result is written once as a whole, and
//     input rows are read sequentially.
//   - all rows of some columns, as many as a cache line of the input has
//     elements. Each cache line of the input is read once, and result rows are
//     written sequentially.
//
// The first kind is chosen if rows of the result map to more sets of the L1
// cache than rows of the input, or to equally many and result rows are closer
// together. If the lines of a panel would not stay in the L1 cache, panels are
// only one tile wide. If sizes are not multiples of a vector, the last tile
// overlaps the previous one in the same work item.
//
// If the number of rows or of columns is dynamic, it is the other number that
// panels divide. Fewer rows or columns than lanes are moved element by element.
//
// If there are few rows (for example the color planes of an image) and their
// columns become the second-to-last axis of the result, there are no square
// tiles. One vector of each row is loaded, and the vectors are interleaved:
//
//   a0 a1 a2 a3
//   b0 b1 b2 b3  ->  a0 b0 c0 a1 | b1 c1 a2 b2 | c2 a3 b3 c3
//   c0 c1 c2 c3
//
// Operators before the transpose that treat all elements alike (such as a
// conversion to int8 with one scale) are then computed on the interleaved
// vectors, since vectors of a narrow result would not fill a register.

#include "dialects/graph/ElementsData.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/CursorTile.h"
#include "passes/schedule/tiles/LaneShuffles.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Returns the only transpose of a group if vectorizable cheap operators
/// compute its input and only elementwise operators follow it. The group must
/// have a single result, with the shape of the transpose's result. Null in
/// other cases.
TransposeOp transposeOf(GroupView group) {
  TransposeOp found;
  llvm::SmallDenseSet<Value> behind;
  for (Operation &op : group.block->without_terminator()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    bool isBehind = llvm::any_of(op.getOperands(),
                                 [&](Value v) { return behind.contains(v); });
    if (auto transpose = dyn_cast<TransposeOp>(op); transpose && !found)
      found = transpose;
    else if (isBehind
                 ? !isa<ElementwiseOpInterface>(op)
                 : !isa<ConstantOp>(op) &&
                       !(element && element.isCheap() && element.passesLanes()))
      return {};
    if (isBehind || &op == found)
      behind.insert_range(op.getResults());
  }
  return found && group.results().size() == 1 &&
                 behind.contains(group.results()[0]) &&
                 dimsOf(group.results()[0]) == dimsOf(found.getResult())
             ? found
             : TransposeOp();
}

constexpr int64_t mostFewRows = 4;

/// Whether the rows of the input are interleaved instead of transposed in
/// square tiles: there are at most mostFewRows rows, and their columns become
/// the second-to-last axis of the result.
bool hasFewRows(TransposeOp op) {
  ArrayRef<int64_t> perm = op.getPerm();
  return shapeOf(op.getX())[perm.back()] <= mostFewRows &&
         perm.end()[-2] == int64_t(perm.size()) - 1;
}

/// Returns the tensor from which elementwise operators compute `v`, if their
/// other operands are scalars, so that they treat all elements alike; `v` if
/// there are no such operators.
Value sourceOf(Value v) {
  while (auto op = v.getDefiningOp<ElementwiseOpInterface>()) {
    auto tensors = llvm::make_filter_range(op->getOperands(), [](Value x) {
      return !tensorType(x).hasStaticShape() ||
             tensorType(x).getNumElements() != 1;
    });
    if (!llvm::hasSingleElement(tensors) ||
        dimsOf(*tensors.begin()) != dimsOf(v))
      break;
    v = *tensors.begin();
  }
  return v;
}

/// Returns the lanes of the vectors of a tile: at most 8, or 16 if few rows are
/// interleaved, since larger tiles would take more code and hardly be faster.
/// Returns 0 if the group has an element type that vectors cannot hold.
int64_t lanesOf(GroupOnTarget group) {
  int64_t lanes = hasFewRows(transposeOf(group)) ? 16 : 8;
  for (Operation &op : group.block->without_terminator())
    for (Value v : llvm::concat<Value>(op.getOperands(), op.getResults())) {
      Type type = elementOf(v), stored = storageType(type);
      if (!stored.isIntOrFloat() ||
          !llvm::is_contained({8u, 16u, 32u, 64u},
                              stored.getIntOrFloatBitWidth()))
        return 0;
      lanes = std::min<int64_t>(lanes, group.target.maxLanes(type));
    }
  return lanes;
}

class TransposeTiles {
public:
  TransposeTiles(KernelBuilder &b, TransposeOp op)
      : b(b), op(op), perm(op.getPerm()), lanes(lanesOf(b.group)),
        elementBytes(bytesPerElement(elementOf(op.getX()))),
        x(dimsOf(op.getX())), columnAxis(int64_t(x.size()) - 1),
        rowAxis(perm.back()) {
    int64_t ofRow = pitchOf(op.getX(), rowAxis),
            ofColumn = pitchOf(op.getResult(),
                               llvm::find(perm, columnAxis) - perm.begin());
    if (x[columnAxis].known() && x[rowAxis].known())
      overColumnsFirst = std::pair(setsOf(ofColumn), ofRow) >
                         std::pair(setsOf(ofRow), ofColumn);
    else
      overColumnsFirst = x[rowAxis].known().has_value();
    outerAxis = overColumnsFirst ? rowAxis : columnAxis;
    innerAxis = overColumnsFirst ? columnAxis : rowAxis;
    width = widthOfPanel(overColumnsFirst ? ofRow : ofColumn);
  }

  void emit() {
    // The axes other than the input's rows and columns, in the result's order.
    SmallVector<std::pair<int64_t, std::string>> axes;
    Dims parts;
    for (auto [place, axis] : llvm::enumerate(perm))
      if (axis != columnAxis && axis != rowAxis) {
        axes.push_back({axis, axisName(place, x.size())});
        parts.push_back(x[axis]);
      }
    if (hasFewRows(op)) {
      b.parallelFor(product(ArrayRef<Dim>(parts)), [&](Expr part) {
        named(part, "part");
        Exprs at(x.size());
        for (auto [axis, i] : llvm::zip(axes, b.delinearize(part, parts)))
          at[axis.first] = named(i, axis.second);
        overColumns(at, part);
      });
      return;
    }
    int64_t size = *x[outerAxis].known(), panels = size / width,
            rest = size % width;
    parts.push_back(panels);
    b.parallelFor(product(ArrayRef<Dim>(parts)), [&](Expr part) {
      Exprs outer = b.delinearize(named(part, "part"), parts);
      Expr panel = named(outer.pop_back_val(), "panel");
      Exprs at(x.size());
      for (auto [axis, i] : llvm::zip(axes, outer))
        at[axis.first] = named(i, axis.second);
      StringRef name = overColumnsFirst ? "row" : "column";
      overPanel(at, named(panel * double(width), name), width);
      int64_t last = rest > lanes ? width : lanes;
      auto overRest = [&] { overPanel(at, b.index(size - last), last); };
      if (rest && panels == 1)
        overRest();
      else if (rest)
        b.when(equal(panel, double(panels - 1)), overRest);
    });
  }

private:
  static constexpr int64_t lineBytes = 64;

  /// Interleaves all columns of a matrix with few rows. `at` holds the indices
  /// of the matrix on the other axes; `part` is the number of the matrix in the
  /// result.
  void overColumns(Exprs &at, Expr part) {
    int64_t count = *x[rowAxis].known(), columns = *x[columnAxis].known();
    // If the result is part of a larger tensor, its rows are not contiguous. In
    // that case, move elements one by one.
    if (!b.isContiguous(0)) {
      forCoveringTiles(b, columns, 1, "column", [&](Expr column) {
        at[columnAxis] = column;
        for (int64_t row = 0; row < count; ++row) {
          at[rowAxis] = b.index(row);
          b.store(0u, b.load(op.getX(), at), inResult(at));
        }
      });
      return;
    }
    int64_t length = columns * count;
    Value all =
        b.view(b.outputs[0],
               {tensorType(op.getX()).getNumElements() / length, length});
    Value saved = std::exchange(b.outputs[0], all);
    forCoveringTiles(b, columns, lanes, "column",
                     [&](Expr column) { interleave(at, column, part); });
    b.outputs[0] = saved;
  }

  /// Interleaves one vector of each of the few rows, which begins at input
  /// column `column`, and stores the result.
  void interleave(Exprs &at, Expr column, Expr part) {
    int64_t count = *x[rowAxis].known();
    Value source = sourceOf(op.getX());
    SmallVector<Value> rows;
    at[columnAxis] = column;
    for (int64_t row = 0; row < count; ++row) {
      at[rowAxis] = b.index(row);
      rows.push_back(
          b.withLanes(lanes, [&] { return b.load(source, at); }).value);
    }
    for (int64_t i = 0; i < count; ++i) {
      Value all = gathered(b, rows, [&](int64_t lane) {
        int64_t element = i * lanes + lane;
        return element % count * lanes + element / count;
      });
      b.bindElement(source, b.wrap(all, elementOf(source)));
      b.withLanes(lanes, [&]() -> Expr {
        b.store(0u, b.load(op.getX(), at),
                {part, column * double(count) + double(i * lanes)});
        return {};
      });
      b.unbindElement(source);
    }
  }

  /// Returns the index in the result of the input element with index `at`.
  Exprs inResult(ArrayRef<Expr> at) {
    Exprs to;
    for (int64_t axis : perm)
      to.push_back(at[axis]);
    return to;
  }

  /// Returns the distance in bytes from one index of an axis to the next.
  static int64_t pitchOf(Value v, int64_t axis) {
    int64_t bytes = bytesPerElement(elementOf(v));
    for (int64_t size : shapeOf(v).drop_front(axis + 1))
      bytes *= size;
    return bytes;
  }

  /// Returns the width of a panel in rows or columns; the cache lines of
  /// adjacent rows or columns are `pitch` bytes apart. A panel is as wide as a
  /// cache line has elements if its lines stay in the L1 cache, else one tile
  /// wide. If these lines are written tile by tile, the cache must also hold as
  /// many lines that are read.
  int64_t widthOfPanel(int64_t pitch) const {
    int64_t ofLine = lineBytes / elementBytes, way = b.target.l1WayBytes;
    if (way == 0 || ofLine % lanes != 0 || ofLine > *x[outerAxis].known())
      return lanes;
    int64_t lines = overColumnsFirst ? ofLine : 2 * ofLine;
    return lines * way <= setsOf(pitch) * b.target.l1Bytes ? ofLine : lanes;
  }

  /// Returns the number of L1 sets to which lines that are `pitch` bytes apart
  /// map.
  int64_t setsOf(int64_t pitch) const {
    int64_t way = b.target.l1WayBytes;
    return way ? std::min(way / std::gcd(pitch, way), way / lineBytes) : 1;
  }

  /// Emits the tiles of a panel: `ofPanel` input rows, from `first` on, with
  /// all columns; or `ofPanel` columns, from `first` on, with all rows.
  void overPanel(Exprs &at, Expr first, int64_t ofPanel) {
    if (x[innerAxis].least() >= lanes)
      return overTiles(at, first, ofPanel);
    b.branch(
        b.size(x[innerAxis]) >= double(lanes),
        [&] { overTiles(at, first, ofPanel); },
        [&] { overElements(at, first, ofPanel); });
  }

  /// Moves the elements of a panel one by one, if it has fewer along innerAxis
  /// than a vector has lanes.
  void overElements(Exprs &at, Expr first, int64_t ofPanel) {
    b.forRange(b.index(0), b.size(x[innerAxis]), [&](Expr i) {
      b.forRange(first, first + double(ofPanel), [&](Expr across) {
        at[innerAxis] = named(i, overColumnsFirst ? "column" : "row");
        at[outerAxis] = named(across, overColumnsFirst ? "row" : "column");
        Exprs to = inResult(at);
        b.store(0u, b.load(b.result(), to), to);
      });
    });
  }

  void overTiles(Exprs &at, Expr first, int64_t ofPanel) {
    StringRef name = overColumnsFirst ? "column" : "row",
              other = overColumnsFirst ? "row" : "column";
    forCoveringTiles(b, x[innerAxis], lanes, name, [&](Expr i) {
      auto tileAt = [&](Expr across) {
        overColumnsFirst ? tile(at, across, i) : tile(at, i, across);
      };
      if (ofPanel == lanes)
        return tileAt(first);
      forCoveringTiles(
          b, ofPanel, lanes, (other + "_of_panel").str(),
          [&](Expr inPanel) { tileAt(named(first + inPanel, other)); });
    });
  }

  /// Emits the tile at (row, column) of the input. `at` holds the indices on
  /// the other axes.
  void tile(Exprs &at, Expr row, Expr column) {
    Type type = elementOf(op.getX());
    SmallVector<Value> rows;
    Type computed;
    for (int64_t i = 0; i < lanes; ++i) {
      at[rowAxis] = named(row + double(i), "row_" + Twine(i));
      at[columnAxis] = column;
      Value v = b.withLanes(lanes, [&] { return b.load(op.getX(), at); }).value;
      computed = v.getType();
      // Narrow floats are widened when they are loaded for computation. Move
      // them in their stored type, and widen them after the move.
      auto widened = v.getDefiningOp<arith::ExtFOp>();
      rows.push_back(widened ? widened.getIn() : v);
    }
    rows = turned(b, std::move(rows));
    for (int64_t i = 0; i < lanes; ++i) {
      Value v = rows[i];
      if (v.getType() != computed)
        v = arith::ExtFOp::create(b.builder, b.loc, computed, v);
      at[rowAxis] = row;
      at[columnAxis] = named(column + double(i), "column_" + Twine(i));
      Exprs to = inResult(at);
      b.bindElement(op.getResult(), b.wrap(v, type));
      b.withLanes(lanes, [&]() -> Expr {
        b.store(0u, b.load(b.result(), to), to);
        return {};
      });
    }
    b.unbindElement(op.getResult());
  }

  KernelBuilder &b;
  TransposeOp op;
  ArrayRef<int64_t> perm;
  int64_t lanes, elementBytes;
  Dims x;
  /// `columnAxis` is the input axis that is contiguous in the input; `rowAxis`
  /// is the input axis that is contiguous in the result.
  int64_t columnAxis, rowAxis;
  /// Whether a work item has all columns of some input rows (else all rows of
  /// some columns). `outerAxis` is the axis that work items divide, and `width`
  /// is the size of a work item along it; `innerAxis` is the other one of the
  /// row axis and the column axis.
  bool overColumnsFirst;
  int64_t outerAxis, innerAxis, width;
};

class TransposeStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    TransposeOp op = transposeOf(group);
    if (!op || group.target.smallCode || group.target.wholeRegisters)
      return false;
    ArrayRef<int64_t> x = shapeOf(op.getX());
    int64_t lanes = lanesOf(group), rowAxis = op.getPerm().back();
    if (lanes < 4 || rowAxis + 1 == int64_t(x.size()) || x.back() < lanes)
      return false;
    if (!hasFewRows(op)) {
      Dims sizes = dimsOf(op.getX());
      return x[rowAxis] >= lanes &&
             (sizes[rowAxis].known() || sizes.back().known());
    }
    if (group.hasDynamicSizes())
      return false;
    // Registers of less than 16 bytes cannot be shuffled.
    return x[rowAxis] > 1 && group.results()[0] == op.getResult() &&
           lanes * storageType(elementOf(sourceOf(op.getX())))
                       .getIntOrFloatBitWidth() >=
               128;
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override {
    TransposeTiles(b, transposeOf(b.group)).emit();
  }
};

} // namespace

std::unique_ptr<Strategy> createTransposeStrategy() {
  return std::make_unique<TransposeStrategy>();
}

} // namespace ingot::schedule
