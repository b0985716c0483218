// Convolutions for cores with little code memory: a single tile loop, borders
// included.
//
// Shapes appear only as trip counts and strides, and the code of one tile
// computes all output positions. If tiles do not divide a row, the last tile of
// the row begins earlier and recomputes some positions. Loop bounds skip kernel
// rows in the padding. How the kernel reads columns in the padding depends on
// the operands:
//
//   - integers: the windows of a tile are copied to scratch memory, each window
//     contiguous and padded to a multiple of the elements of a dot product;
//   - many channels: for each kernel position, each row of the tile has a
//     cursor (a pointer) to the input's channels or, in the padding, to a row
//     of padding;
//   - few channels: the input rows for one row of results are copied to
//     scratch memory with their padding, so that kernel columns and channels
//     are contiguous;
//   - 1x1 kernels: there is no padding, positions are rows of a matrix.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/CompactPanels.h"
#include "passes/schedule/tiles/PooledTile.h"
#include "passes/schedule/tiles/TileStore.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Whether the input is copied to scratch memory. It is copied in two cases: if
/// the group computes it, since it is then not in memory, and if it has few
/// channels, since the copy then costs less than setting cursors (pointers to
/// the rows of a tile) for each kernel position.
bool isCopied(ConvolutionAnchor anchor) {
  return !isa<BlockArgument>(anchor.conv.getX()) ||
         readsKernelRows(anchor.conv);
}

/// Whether the convolution is one matrix product whose rows are all positions,
/// its input is an argument of the group, and the epilogue can treat the result
/// as a matrix.
bool isFlatMatrix(GroupView group, ConvolutionAnchor anchor) {
  return anchor.isMatrix() && isa<BlockArgument>(anchor.conv.getX()) &&
         hasFlatEpilogue(group, anchor.conv);
}

/// Returns the number of products per output of an integer convolution, rounded
/// up to whole groups: the products that a dot-product instruction sums.
int64_t filledSteps(ConvolutionAnchor anchor, const CursorTerms &terms) {
  return llvm::alignTo(anchor.steps(), terms.form->group);
}

/// Whether the windows of each tile are copied to scratch memory. That is so in
/// integer convolutions without a pool (copiesWindows), unless the input can be
/// read as a matrix whose rows are whole groups (the elements that a
/// dot-product instruction multiplies).
bool areWindowsCopied(GroupOnTarget group, ConvolutionAnchor anchor) {
  return copiesWindows(anchor.conv, group.target) &&
         !(isFlatMatrix(group, anchor) &&
           anchor.steps() %
                   CursorTerms::of(anchor.conv, group.target).form->group ==
               0);
}

/// Returns the work of the tiles of one result row. Each tile reads the input
/// in contiguous stretches: whole kernel rows if the input is copied, else the
/// channels of one kernel column.
TileWork windowWork(ConvolutionAnchor anchor, bool isCopied) {
  ArrayRef<int64_t> w = shapeOf(anchor.conv.getW());
  int64_t stretch = w[w.size() - 2] * (isCopied ? w[w.size() - 3] : 1);
  return {anchor.columns(), anchor.channels(), stretch,
          anchor.steps() / stretch, anchor.across()};
}

class CompactConvolution {
public:
  CompactConvolution(KernelBuilder &b, ConvOp conv, Operation *pool)
      : b(b), conv(conv), pool(pool), type(elementOf(conv.getX())),
        panels(b, *PackedPanels::of(b, conv.getW()),
               CursorTerms::of(conv, b.target), conv.getBias()),
        axes(windowAxes(conv)), columns(axes.back()),
        channels(shapeOf(conv.getX()).back()), buffer(b.bufferOf(conv.getX())),
        choice(compactTile(b.plan)), rows(choice.rows) {
    for (size_t i = 0; i < axes.size(); ++i)
      window.push_back(pool ? windowOf(pool)[i] : 1);
    result = shapeOf((pool ? pool : conv.getOperation())->getResult(0));
    columns.output = result[result.size() - 2] * window.back();
  }

  void emit() {
    hasPatch = areWindowsCopied(b.group, {conv, pool});
    if (!hasPatch && isFlatMatrix(b.group, {conv, pool}))
      return emitCompactMatrix(b, conv, panels);
    isBand = !hasPatch && isCopied({conv, pool});
    for (auto [i, input] : llvm::enumerate(b.group.block->getArguments()))
      if (mayBecomeResult(b.group, input))
        b.allowInPlace(0, i);
    prepareScratch();
    int64_t outer = ShapedType::getNumElements(result.drop_back(2));
    auto row = [&](Expr number) {
      Exprs position =
          rowPosition(b, number, Dims(result.begin(), result.end()));
      if (isBand)
        fillBand(position);
      forCoveringTiles(b, columns.output.most(), positionsTogether(), "column",
                       [&](Expr first) {
                         if (hasPatch)
                           fillPatch(position, first);
                         panels.forEach([&](const Panel &panel) {
                           tileAt(position, first, panel);
                         });
                       });
    };
    // If there is scratch memory, all result rows use the same, so they are
    // computed sequentially.
    if (isBand || hasPatch)
      b.forRange(b.index(0), b.index(outer), row);
    else
      b.parallelFor(outer, row);
  }

private:
  using Panel = CompactPanels::Panel;

  //===--------------------------------------------------------------------===//
  // Windows
  //===--------------------------------------------------------------------===//

  /// Returns how many input rows, with padding, are read for one row of the
  /// pool's result, or of the convolution's result if there is no pool.
  int64_t bandRows() const {
    if (axes.size() == 1)
      return 1;
    return (window[0] - 1) * axes[0].stride +
           (axes[0].kernel - 1) * axes[0].dilation + 1;
  }
  int64_t bandColumns() const {
    return (columns.output.most() - 1) * columns.stride + columns.kernel;
  }

  void prepareScratch() {
    if (isBand) {
      int64_t width = bandColumns() * channels;
      band = b.scratch({bandRows(), width}, type);
      b.forEach({bandRows(), width}, [&](ArrayRef<Expr> at) {
        named(at[0], "band_row");
        named(at[1], "band_column");
        b.store(band, outside(), at);
      });
      return;
    }
    if (hasPatch) {
      int64_t steps = panels.steps();
      patch = b.scratch({rows, steps}, type);
      // Windows are padded to whole groups of the elements that a dot-product
      // instruction multiplies, and the weights of this padding are zero. The
      // elements that these weights multiply are cleared once and never written
      // again.
      b.forEach({rows, steps}, [&](ArrayRef<Expr> at) {
        named(at[0], "position");
        named(at[1], "step");
        b.store(patch, b.constant(0, type), at);
      });
    }
    around = b.scratch({channels}, type);
    b.forRange(b.index(0), b.index(channels), [&](Expr c) {
      b.store(around, outside(), {named(c, "channel")});
    });
  }

  /// Returns the value of the padding.
  Expr outside() { return b.constantInt(int64_t(conv.getXOutside()), type); }

  /// Returns the first input row that result row `row` depends on: the one that
  /// kernel row 0 reads for the first row of the pool's window. It is negative
  /// if that row is padding.
  Expr topOf(Expr row) const {
    return row * double(window[0] * axes[0].stride) - double(axes[0].low);
  }

  Value isInside(Expr position, int64_t size) {
    return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ult,
                                 position.value, b.index(size).value);
  }

  /// Copies the input rows for one row of results into `band` (scratch memory),
  /// with the channels as the last axis whatever the layout of the input. The
  /// columns in the padding keep their initial value.
  void fillBand(ArrayRef<Expr> position) {
    int64_t width = bandColumns() * channels;
    // A negative padding leaves out the first columns of the input.
    int64_t skipped = std::max<int64_t>(-columns.low, 0),
            count =
                std::min(columns.input.most(), bandColumns() - columns.low) -
                skipped;
    b.loop(bandRows(), {}, [&](Expr i, ArrayRef<Expr>) -> Exprs {
      named(i, "band_row");
      Exprs at{position[0]};
      if (axes.size() == 2)
        at.push_back(named(topOf(position[1]) + i, "input_row"));
      auto copy = [&] {
        b.forEach({channels, count}, [&](ArrayRef<Expr> j) {
          named(j[0], "input_channel");
          Expr column = named(j[1] + double(skipped), "input_column");
          Exprs from(at);
          from.append({column, j[0]});
          b.store(
              band, b.load(conv.getX(), from),
              {i, (column + double(columns.low)) * double(channels) + j[0]});
        });
      };
      if (axes.size() == 1) {
        copy();
        return {};
      }
      b.branch(
          b.wrap(isInside(at[1], axes[0].input.most()), b.builder.getI1Type()),
          copy, [&] {
            b.forRange(b.index(0), b.index(width), [&](Expr j) {
              b.store(band, outside(), {i, named(j, "band_column")});
            });
          });
      return {};
    });
  }

  /// Copies `count` contiguous elements of `from`, from `start` on, into the
  /// scratch memory: into the window of `position`, from its element `step` on.
  /// Copies vectors; the last one may overlap the previous one.
  void copyRun(Value from, Expr start, Expr position, Expr step,
               int64_t count) {
    constexpr int64_t word = 4;
    int64_t lanes = 1;
    for (int64_t wide : {b.target.maxLanes(type), word})
      if (lanes == 1 && wide <= count)
        lanes = wide;
    auto copy = [&](Expr at) {
      b.withLanes(lanes, [&] {
        Expr vector = named(b.loadFrom(from, type, {start + at}), "piece");
        b.store(patch, vector, {position, step + at});
        return vector;
      });
    };
    // Copy several vectors per iteration: the loop overhead costs as much as
    // two copies, and compilers would replace a loop of single copies by a call
    // of memcpy.
    int64_t vectors = count / lanes,
            together =
                b.target.smallestCode ? 1 : std::min<int64_t>(vectors, 4);
    while (vectors % together != 0)
      --together;
    forAlways(b, vectors / together, [&](Expr i) {
      Expr begin = named(i, "number") * double(together * lanes);
      for (int64_t n = 0; n < together; ++n)
        copy(begin + double(n * lanes));
    });
    if (count % lanes != 0)
      copy(b.index(count - lanes));
  }

  /// Copies the windows of a tile to the scratch memory. The tile begins at
  /// output column `first`.
  void fillPatch(ArrayRef<Expr> position, Expr first) {
    Value input = b.view(buffer, {tensorType(conv.getX()).getNumElements()});
    forAlways(b, rows, [&](Expr row) {
      named(row, "position");
      Expr start = named(
          shifted(b, scaled(b, first + row, columns.stride), -columns.low),
          "first_input_column");
      fillWindow(position, input, start, row, 0, b.index(0), position[0],
                 b.wrap(arith::ConstantOp::create(b.builder, b.loc,
                                                  b.builder.getBoolAttr(true)),
                        b.builder.getI1Type()));
    });
  }

  /// Copies a window with loops over kernel axis `i` and the axes after it.
  /// `at` is the linear index of the current element on the axes of the input
  /// before `i`, and `kernel` that of the current kernel position; `inside`
  /// says whether the element is inside of the input. `start` is the first
  /// input column of the window, `row` the row of the tile.
  void fillWindow(ArrayRef<Expr> position, Value input, Expr start, Expr row,
                  size_t i, Expr kernel, Expr at, Expr inside) {
    if (i + 1 == axes.size())
      return fillKernelRow(input, start, row, kernel, at, inside);
    const WindowAxis &axis = axes[i];
    std::string name = spatialAxisName(i, axes.size());
    Expr begin =
        named(shifted(b, scaled(b, position[1 + i], axis.stride), -axis.low),
              "first_input_" + name);
    forAlways(b, axis.kernel, [&](Expr k) {
      named(k, "kernel_" + name);
      Expr place = named(begin + k * double(axis.dilation), "input_" + name);
      Expr isHere = b.wrap(isInside(place, axis.input.most()), inside.type);
      fillWindow(position, input, start, row, i + 1,
                 kernel * double(axis.kernel) + k,
                 at * double(axis.input.most()) + place,
                 i == 0 ? isHere : inside & isHere);
    });
  }

  void fillKernelRow(Value input, Expr start, Expr row, Expr kernel, Expr at,
                     Expr inside) {
    int64_t width = columns.input.most(), count = columns.kernel;
    Expr step = named(kernel * double(count * channels), "step");
    auto from = [&](Expr column) {
      return (at * double(width) + column) * double(channels);
    };
    auto eachColumn = [&] {
      forAlways(b, count, [&](Expr k) {
        Expr column =
            named(start + named(k, "kernel_column") * double(columns.dilation),
                  "input_column");
        Expr isHere = b.wrap(isInside(column, width), inside.type),
             to = named(step + k * double(channels), "column_step");
        if (axes.size() > 1)
          isHere = inside & isHere;
        b.branch(
            named(isHere, "is_inside"),
            [&] { copyRun(input, from(column), row, to, channels); },
            [&] { copyRun(around, b.index(0), row, to, channels); });
      });
    };
    if (columns.dilation != 1 || count > width)
      return eachColumn();
    Expr isWhole = b.wrap(isInside(start, width - count + 1), inside.type);
    if (axes.size() > 1)
      isWhole = inside & isWhole;
    b.branch(
        named(isWhole, "is_whole"),
        [&] { copyRun(input, from(start), row, step, count * channels); },
        eachColumn);
  }

  void sumPatch(Tile &tile, const Panel &panel) {
    SmallVector<Value> cursors;
    for (int64_t row = 0; row < rows; ++row)
      cursors.push_back(cursorAt(b, patch, {b.index(row), b.index(0)},
                                 "next_x_" + std::to_string(row)));
    accumulateNext(b, tile, panels.terms, panels.steps(), choice, cursors,
                   panels.weightsFrom(panel, b.index(0)));
  }

  /// Returns how many columns of the convolution's result are computed
  /// together: as many as a tile has, but at least the width of the pool's
  /// window.
  int64_t positionsTogether() const { return std::max(rows, window.back()); }

  void tileAt(ArrayRef<Expr> position, Expr first, const Panel &panel) {
    auto sums = [&](ArrayRef<Expr> outer, Expr first) {
      Tile tile = panels.firstSums(rows, panel);
      if (hasPatch)
        sumPatch(tile, panel);
      else if (isBand)
        sumBand(tile, position, outer, first, panel);
      else
        sumDirectly(tile, outer, first, panel);
      return tile;
    };
    if (pool)
      return emitPooledTile(b, conv, pool, position, first, rows, panel.vectors,
                            panel.firstColumn, sums, panels.laterBias(panel));
    Tile tile = sums(position, first);
    storeTile(
        b, tile, conv.getResult(),
        [&](int64_t column, Expr channel) {
          return tilePosition(position, first, column, channel);
        },
        panel.firstColumn,
        [&](Expr sum, Expr column) {
          return panels.withBias(sum, column, panel);
        });
  }

  void sumBand(Tile &tile, ArrayRef<Expr> position, ArrayRef<Expr> outer,
               Expr first, const Panel &panel) {
    int64_t steps = columns.kernel * channels;
    Expr top = b.index(0);
    if (axes.size() == 2)
      top = named(outer[1] * double(axes[0].stride) -
                      position[1] * double(window[0] * axes[0].stride),
                  "first_band_row");
    Value weights = panels.weightsFrom(panel, b.index(0));
    tile.sums = b.loop(
        panels.steps() / steps, tile.sums, [&](Expr k, ArrayRef<Expr> carried) {
          Tile part = tile;
          part.sums.assign(carried.begin(), carried.end());
          named(k, "kernel_row");
          Expr bandRow = named(top + k * double(axes[0].dilation), "band_row");
          SmallVector<Value> cursors;
          for (int64_t row = 0; row < rows; ++row)
            cursors.push_back(
                cursorAt(b, band,
                         {axes.size() == 2 ? bandRow : b.index(0),
                          named(first + double(row), "column_" + Twine(row)) *
                              double(columns.stride * channels)},
                         "next_x_" + std::to_string(row)));
          accumulateNext(b, part, panels.terms, steps, choice, cursors,
                         weights);
          return part.sums;
        });
  }

  void sumDirectly(Tile &tile, ArrayRef<Expr> outer, Expr first,
                   const Panel &panel) {
    Expr start =
        named(shifted(b, scaled(b, first, columns.stride), -columns.low),
              "first_input_column");
    tile.sums = overKernel(
        b, ArrayRef(axes).drop_back(), outer, tile.sums,
        [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> sums) {
          Value weights = panels.weightsFrom(
              panel, kernelRow * double(columns.kernel * channels));
          auto [count, trips] = stretches(start);
          return b.loop(
              b.index(0), count, 1, sums,
              [&, trips = trips](Expr k, ArrayRef<Expr> carried) {
                named(k, "stretch");
                Tile part = tile;
                part.sums.assign(carried.begin(), carried.end());
                SmallVector<Value> cursors;
                for (int64_t row = 0; row < rows; ++row) {
                  Expr column = named(start + scaled(b, k, columns.dilation),
                                      "input_column") +
                                double(row * columns.stride);
                  named(column, "input_column_" + Twine(row));
                  Exprs from(at);
                  from.append({column, b.index(0)});
                  cursors.push_back(
                      cursorAt(b, buffer, from, "next_x_" + std::to_string(row),
                               isInside(column, columns.input.most()), around));
                }
                accumulateNext(b, part, panels.terms, trips, choice, cursors,
                               weights);
                return part.sums;
              });
        },
        /*alike=*/true);
  }

  /// Returns how many stretches of a kernel row are read separately, and the
  /// trips of the inner loop for each stretch, for the tile whose first input
  /// column is `start`. A stretch is one kernel column, or the whole kernel row
  /// if none of it is padding, since its columns are contiguous.
  std::pair<Expr, Expr> stretches(Expr start) {
    int64_t trips = channels / choice.stepsOfTrip();
    std::pair<Expr, Expr> one{b.index(1), b.index(columns.kernel * trips)},
        each{b.index(columns.kernel), b.index(trips)};
    int64_t last =
        columns.input.most() - columns.kernel - (rows - 1) * columns.stride;
    if (columns.dilation != 1 || last < 0)
      return each;
    Expr inside = named(
        b.wrap(isInside(start, last + 1), b.builder.getI1Type()), "is_inside");
    // Emit the select even if both values are equal, as for a single kernel
    // column, so that convolutions of different shapes can share the kernel.
    auto choose = [&](Expr x, Expr y) {
      return b.wrap(arith::SelectOp::create(b.builder, b.loc, inside.value,
                                            x.value, y.value),
                    x.type);
    };
    return {named(choose(one.first, each.first), "stretches"),
            named(choose(one.second, each.second), "trips")};
  }

  KernelBuilder &b;
  ConvOp conv;
  Operation *pool;
  Type type;
  CompactPanels panels;
  SmallVector<WindowAxis> axes;
  /// The last spatial axis, with only the output columns that the pool reads.
  WindowAxis columns;
  int64_t channels;
  Value buffer; // buffer of the input; null if the group computes it
  SmallVector<int64_t> window;
  CursorTileChoice choice;
  int64_t rows;
  ArrayRef<int64_t> result; // shape of the pool's or the convolution's result
  bool hasPatch = false, isBand = false;
  /// Scratch memory: the windows of a tile, the copied input rows, and a row of
  /// padding.
  Value patch, band, around;
};

class CompactConvolutionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    auto anchor = ConvolutionAnchor::of(group);
    if (!group.target.smallCode || !anchor.conv ||
        !CursorTerms::of(anchor.conv, group.target).arePossible())
      return false;
    ArrayRef<int64_t> dilations = anchor.conv.getDilations();
    if (copiesWindows(anchor.conv, group.target))
      return isa<BlockArgument>(anchor.conv.getX());
    return isFlatMatrix(group, anchor) || !isCopied(anchor) ||
           (dilations.size() <= 2 && dilations.back() == 1);
  }

  ArrayRef<PlanKey> planKeys() const override { return compactPlanKeys(); }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto anchor = ConvolutionAnchor::of(group);
    return compactPlans(workOf(group), anchor.conv.getW(),
                        CursorTerms::of(anchor.conv, group.target),
                        group.target);
  }
  double cost(GroupOnTarget group, const Plan &plan) const override {
    auto anchor = ConvolutionAnchor::of(group);
    TileWork work = workOf(group);
    return compactTileCost(work, group.target,
                           CursorTerms::of(anchor.conv, group.target),
                           compactTile(plan)) *
           double(ShapedType::getNumElements(
                      shapeOf(anchor.result()).drop_back()) *
                  anchor.across()) /
           double(work.positions);
  }
  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    auto anchor = ConvolutionAnchor::of(group);
    return refuseCompactTile(plan, workOf(group), anchor.conv.getW(),
                             CursorTerms::of(anchor.conv, group.target),
                             group.target);
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    auto anchor = ConvolutionAnchor::of(group);
    packCompactPanels(group.op(), anchor.conv->getOpOperand(1), plan,
                      CursorTerms::of(anchor.conv, group.target), group.target);
  }

  void emit(KernelBuilder &b) const override {
    auto anchor = ConvolutionAnchor::of(b.group);
    CompactConvolution(b, anchor.conv, anchor.pool).emit();
  }

private:
  static TileWork workOf(GroupOnTarget group) {
    auto anchor = ConvolutionAnchor::of(group);
    if (areWindowsCopied(group, anchor)) {
      TileWork work{
          anchor.columns(), anchor.channels(),
          filledSteps(anchor, CursorTerms::of(anchor.conv, group.target))};
      work.exact = mayBeInPlace(group);
      return work;
    }
    if (isFlatMatrix(group, anchor))
      return matrixWork(
          group,
          ShapedType::getNumElements(shapeOf(anchor.result()).drop_back()),
          anchor.channels(), anchor.steps());
    TileWork work = windowWork(anchor, isCopied(anchor));
    work.exact = mayBeInPlace(group);
    return work;
  }
};

} // namespace

std::unique_ptr<Strategy> createCompactConvolutionStrategy() {
  return std::make_unique<CompactConvolutionStrategy>();
}

} // namespace ingot::schedule
