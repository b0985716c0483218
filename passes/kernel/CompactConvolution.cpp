//===- CompactConvolution.cpp - one loop of tiles, borders included -------===//
//
// A convolution for cores with little memory for code: shapes appear as trip
// counts and strides only, and all output positions are computed by one tile.
// If tiles do not come out even, the last of a row begins earlier and computes
// some positions again. Rows in the padding are cut off by loop bounds; columns
// in it are read from somewhere else:
//
//   - many channels: for each kernel position a row of the tile has a cursor,
//     at the input's channels or, in the padding, at a row of zeros;
//   - few channels: the input rows of one row of results are copied to scratch
//     memory, with their padding, and kernel columns and channels lie there one
//     after the other;
//   - 1x1 kernels: there is none, positions are rows of a matrix.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/CompactConvolution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/ColumnTiles.h"
#include "passes/kernel/CursorTile.h"
#include "passes/kernel/PooledTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::kernel {
namespace {

/// With fewer channels a copy costs less than cursors at each kernel position.
constexpr int64_t fewChannels = 8;

class CompactConvolution {
public:
  CompactConvolution(KernelBuilder &b, ConvOp conv, Operation *pool)
      : b(b), conv(conv), pool(pool), type(elementOf(conv.getX())),
        panels(*PackedPanels::of(b, conv.getW())), axes(windowAxes(conv)),
        columns(axes.back()), channels(shapeOf(conv.getX()).back()),
        buffer(b.bufferOf(conv.getX())) {
    for (size_t i = 0; i < axes.size(); ++i)
      window.push_back(pool ? windowOf(pool)[i] : 1);
    result = shapeOf((pool ? pool : conv.getOperation())->getResult(0));
    columns.output = result[result.size() - 2] * window.back();
  }

  bool emit() {
    isMatrix = buffer && !pool && isPointwise() && epilogueIsFlat();
    isBand = !isMatrix && (!buffer || channels < fewChannels);
    if (isBand && (axes.size() > 2 || columns.dilation != 1))
      return false;
    chooseTile();
    allowInPlace();
    if (isMatrix) {
      matrix();
      return true;
    }
    prepareScratch();
    int64_t outer = ShapedType::getNumElements(result.drop_back(2));
    auto row = [&](Expr number) {
      Exprs position = b.delinearize(number, result.drop_back(2));
      if (isBand)
        fillBand(position);
      forCoveringTiles(b, columns.output, rows, [&](Expr first) {
        forPanels([&](const Panel &panel) { tileAt(position, first, panel); });
      });
    };
    // The scratch memory is one for all rows, so they follow each other.
    if (band)
      b.forRange(b.index(0), b.index(outer), row);
    else
      b.parallelFor(outer, row);
    return true;
  }

private:
  /// A panel of output channels: its number, or none for the tail.
  struct Panel {
    std::optional<Expr> number;
    ColumnVectors vectors;
    Expr firstColumn;
  };

  //===--------------------------------------------------------------------===//
  // Which form
  //===--------------------------------------------------------------------===//

  bool isPointwise() const {
    return llvm::all_of(axes, [](const WindowAxis &a) {
      return a.kernel == 1 && a.stride == 1 && a.low == 0 &&
             a.input == a.output;
    });
  }

  /// What follows the convolution reads tensors of its shape or vectors of
  /// channels.
  bool epilogueIsFlat() {
    for (Operation &op : b.group.block->without_terminator())
      if (!isa<ElementwiseOpInterface, ConstantOp, UnpackPanelsOp>(op) &&
          &op != conv.getOperation())
        return false;
    return llvm::all_of(b.group.block->getArguments(), [&](Value input) {
      return !isEpilogueOperand(input) ||
             input.getType() == b.result().getType() ||
             tensorType(input).getNumElements() ==
                 (shapeOf(input).empty() ? 1 : shapeOf(input).back());
    });
  }
  bool isEpilogueOperand(Value input) {
    return llvm::any_of(input.getUsers(), [&](Operation *user) {
      return user != conv.getOperation() && isa<ElementwiseOpInterface>(user);
    });
  }

  void chooseTile() {
    int64_t positions = isMatrix
                            ? ShapedType::getNumElements(result.drop_back())
                            : columns.output;
    TileWork work{
        positions,
        panels.columns,
        channels,
        1,
        window.back(),
        /*exact=*/llvm::any_of(b.group.block->getArguments(), [&](Value input) {
          return mayBeResult(input);
        })};
    work.stretches = panels.steps / channels;
    if (isBand) {
      work.steps = columns.kernel * channels;
      work.stretches = panels.steps / work.steps;
    }
    if (b.target.maxLanes(type) == 1) {
      CursorTileChoice choice =
          chooseCursorTile(work, b.target, type, panels.panelWidth);
      rows = choice.rows;
      together = choice.together;
    } else {
      rows = kernel::chooseTile(positions, panels.columns, panels.steps,
                                b.target, type)
                 .rows;
      rows = std::max(work.multiple, rows / work.multiple * work.multiple);
      while (work.exact && positions % rows != 0)
        rows -= work.multiple;
    }
  }

  /// Read by the epilogue, where the result is written: they may be one.
  bool mayBeResult(Value input) const {
    return input.getType() == b.result().getType() &&
           llvm::all_of(input.getUsers(), [&](Operation *user) {
             return isa<ElementwiseOpInterface>(user);
           });
  }

  void allowInPlace() {
    for (auto [i, input] : llvm::enumerate(b.group.block->getArguments()))
      if (mayBeResult(input))
        b.allowInPlace(0, i);
  }

  //===--------------------------------------------------------------------===//
  // Panels and tiles
  //===--------------------------------------------------------------------===//

  Panel panelOf(std::optional<Expr> number) const {
    int64_t before = panels.fullPanels * panels.panelWidth;
    return {number,
            ColumnVectors::cover(number ? panels.panelWidth
                                        : panels.columns - before,
                                 b.target, type, /*padded=*/true),
            number ? *number * double(panels.panelWidth) : b.index(before)};
  }

  void forPanels(llvm::function_ref<void(const Panel &)> body) {
    if (panels.fullPanels > 0)
      b.loop(panels.fullPanels, {}, [&](Expr number, ArrayRef<Expr>) -> Exprs {
        body(panelOf(number));
        return {};
      });
    if (panels.tailWidth > 0)
      body(panelOf(std::nullopt));
  }

  /// The bias where all lanes have one, or zeros.
  Tile firstSums(const Panel &panel) {
    Tile tile{rows, panel.vectors, {}};
    if (!startsFromBias(panel))
      return zeroTile(b, rows, panel.vectors, type);
    Exprs bias;
    int64_t column = 0;
    for (int64_t lanes : panel.vectors.lanes) {
      bias.push_back(b.withLanes(lanes, [&] {
        return b.load(conv.getBias(), {panel.firstColumn + double(column)});
      }));
      column += lanes;
    }
    for (int64_t row = 0; row < rows; ++row)
      llvm::append_range(tile.sums, bias);
    return tile;
  }
  bool startsFromBias(const Panel &panel) {
    return conv.getBias() && panel.vectors.width() == panel.vectors.columns;
  }

  Expr withBias(Expr sum, Expr column, const Panel &panel) {
    return conv.getBias() && !startsFromBias(panel)
               ? sum + b.load(conv.getBias(), {column})
               : sum;
  }

  /// The weights of a panel from a kernel position on.
  Value weightsFrom(const Panel &panel, Expr step) {
    Expr at =
        panel.number
            ? *panel.number * double(panels.steps * panels.panelWidth) +
                  step * double(panels.panelWidth)
            : step * double(panels.tailWidth) +
                  double(panels.fullPanels * panels.steps * panels.panelWidth);
    return cursorAt(b, panels.buffer, {at}, "w");
  }

  //===--------------------------------------------------------------------===//
  // Matrices
  //===--------------------------------------------------------------------===//

  void matrix() {
    int64_t positions = ShapedType::getNumElements(result.drop_back());
    Value x = b.view(buffer, {positions, channels});
    // Everything else is a matrix as well: what the epilogue reads is bound.
    SmallVector<std::pair<Value, Value>> operands;
    for (Value input : b.group.block->getArguments()) {
      if (!isEpilogueOperand(input) || tensorType(input).getNumElements() == 1)
        continue;
      int64_t size = shapeOf(input).back(),
              count = tensorType(input).getNumElements() / size;
      operands.push_back({input, b.view(b.bufferOf(input), {count, size})});
    }
    Value whole = b.outputs[0];
    b.outputs[0] = b.view(whole, {positions, panels.columns});
    forCoveringTiles(b, positions, rows, [&](Expr first) {
      forPanels([&](const Panel &panel) {
        Tile tile = firstSums(panel);
        SmallVector<Value> cursors;
        for (int64_t row = 0; row < rows; ++row)
          cursors.push_back(
              cursorAt(b, x, {first + double(row), b.index(0)}, "x"));
        accumulateNext(b, tile, type, channels, together, cursors,
                       weightsFrom(panel, b.index(0)));
        storeTile(
            b, tile, conv.getResult(),
            [&](int64_t row, Expr column) {
              for (auto [input, matrix] : operands) {
                bool isVector =
                    cast<MemRefType>(matrix.getType()).getDimSize(0) == 1;
                Exprs at{isVector ? b.index(0) : first + double(row), column};
                b.bindElement(input, b.loadFrom(matrix, elementOf(input), at));
              }
              return Exprs{first + double(row), column};
            },
            panel.firstColumn,
            [&](Expr sum, Expr column) {
              return withBias(sum, column, panel);
            });
        for (auto [input, matrix] : operands)
          b.unbindElement(input);
      });
    });
    b.outputs[0] = whole;
  }

  //===--------------------------------------------------------------------===//
  // Windows
  //===--------------------------------------------------------------------===//

  /// The rows of the input that one row of results needs, and their padding.
  int64_t bandRows() const {
    if (axes.size() == 1)
      return 1;
    return (window[0] - 1) * axes[0].stride +
           (axes[0].kernel - 1) * axes[0].dilation + 1;
  }
  int64_t bandColumns() const {
    return (columns.output - 1) * columns.stride + columns.kernel;
  }

  void prepareScratch() {
    if (isBand) {
      band = b.scratch({bandRows(), bandColumns() * channels}, type);
      return;
    }
    if (columns.isInterior(0, columns.output))
      return;
    zeros = b.scratch({channels}, type);
    b.forRange(b.index(0), b.index(channels),
               [&](Expr c) { b.store(zeros, b.constant(0, type), {c}); });
  }

  /// The input row at kernel row 0 of the first row of a pool's window.
  Expr topOf(Expr row) const {
    return row * double(window[0] * axes[0].stride) - double(axes[0].low);
  }

  Value isInside(Expr position, int64_t size) {
    return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ult,
                                 position.value, b.index(size).value);
  }

  void fillBand(ArrayRef<Expr> position) {
    int64_t height = bandRows();
    b.forEach({height, bandColumns()}, [&](ArrayRef<Expr> i) {
      Expr column = i[1] - double(columns.low);
      Value inside = isInside(column, columns.input);
      Exprs at{position[0]};
      if (axes.size() == 2) {
        at.push_back(topOf(position[1]) + i[0]);
        inside = arith::AndIOp::create(b.builder, b.loc, inside,
                                       isInside(at[1], axes[0].input));
      }
      at.push_back(column);
      b.forRange(b.index(0), b.index(channels), [&](Expr c) {
        at.push_back(c);
        Expr x = b.ifElse(
            b.wrap(inside, b.builder.getI1Type()),
            [&] { return b.load(conv.getX(), at); },
            [&] { return b.constant(0, type); });
        b.store(band, x, {i[0], i[1] * double(channels) + c});
        at.pop_back();
      });
    });
  }

  void tileAt(ArrayRef<Expr> position, Expr first, const Panel &panel) {
    auto sums = [&](ArrayRef<Expr> outer) {
      Tile tile = firstSums(panel);
      isBand ? sumBand(tile, position, outer, first, panel)
             : sumDirectly(tile, outer, first, panel);
      return tile;
    };
    if (pool)
      return emitPooledTile(b, conv, pool, position, first, rows, panel.vectors,
                            panel.firstColumn, sums,
                            startsFromBias(panel) ? Value() : conv.getBias());
    Tile tile = sums(position);
    storeTile(
        b, tile, conv.getResult(),
        [&](int64_t row, Expr column) {
          Exprs at(position);
          at.push_back(first + double(row));
          at.push_back(column);
          return at;
        },
        panel.firstColumn,
        [&](Expr sum, Expr column) { return withBias(sum, column, panel); });
  }

  void sumBand(Tile &tile, ArrayRef<Expr> position, ArrayRef<Expr> outer,
               Expr first, const Panel &panel) {
    int64_t steps = columns.kernel * channels;
    Expr top = b.index(0);
    if (axes.size() == 2)
      top = outer[1] * double(axes[0].stride) -
            position[1] * double(window[0] * axes[0].stride);
    Value weights = weightsFrom(panel, b.index(0));
    tile.sums = b.loop(
        panels.steps / steps, tile.sums, [&](Expr k, ArrayRef<Expr> carried) {
          Tile part = tile;
          part.sums.assign(carried.begin(), carried.end());
          Expr bandRow = top + k * double(axes[0].dilation);
          SmallVector<Value> cursors;
          for (int64_t row = 0; row < rows; ++row)
            cursors.push_back(cursorAt(
                b, band,
                {axes.size() == 2 ? bandRow : b.index(0),
                 (first + double(row)) * double(columns.stride * channels)},
                "x"));
          accumulateNext(b, part, type, steps, together, cursors, weights);
          return part.sums;
        });
  }

  void sumDirectly(Tile &tile, ArrayRef<Expr> outer, Expr first,
                   const Panel &panel) {
    Expr start = first * double(columns.stride) - double(columns.low);
    tile.sums = overKernel(
        b, ArrayRef(axes).drop_back(), outer, tile.sums,
        [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> sums) {
          Value weights =
              weightsFrom(panel, kernelRow * double(columns.kernel * channels));
          return b.loop(
              columns.kernel, sums, [&](Expr k, ArrayRef<Expr> carried) {
                Tile part = tile;
                part.sums.assign(carried.begin(), carried.end());
                SmallVector<Value> cursors;
                for (int64_t row = 0; row < rows; ++row) {
                  Expr column = start + k * double(columns.dilation) +
                                double(row * columns.stride);
                  Exprs from(at);
                  from.append({column, b.index(0)});
                  cursors.push_back(cursorAt(
                      b, buffer, from, "x",
                      zeros ? isInside(column, columns.input) : Value(),
                      zeros));
                }
                accumulateNext(b, part, type, channels, together, cursors,
                               weights);
                return part.sums;
              });
        });
  }

  KernelBuilder &b;
  ConvOp conv;
  Operation *pool;
  Type type;
  PackedPanels panels;
  SmallVector<WindowAxis> axes;
  WindowAxis columns; // the last of them, as far as the pool reads
  int64_t channels;
  Value buffer; // of the input, if it lies in one
  SmallVector<int64_t> window;
  ArrayRef<int64_t> result; // shape of the pool or the convolution
  bool isMatrix = false, isBand = false;
  int64_t rows = 1, together = 1;
  Value band, zeros; // scratch
};

} // namespace

bool emitCompactConvolution(KernelBuilder &b, ConvOp conv, Operation *pool) {
  return CompactConvolution(b, conv, pool).emit();
}

} // namespace ingot::kernel
