#include "passes/schedule/tiles/ConvolutionLoops.h"

#include "dialects/graph/ops/Window.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/ConvolutionTiles.h"
#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/FlatStore.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/PackedRows.h"
#include "passes/schedule/tiles/PairTile.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/PooledTile.h"
#include "passes/schedule/tiles/RowTiles.h"
#include "passes/schedule/tiles/TileStore.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Emits the loops of a convolution with its pool and epilogue.
class ConvolutionLoops {
public:
  ConvolutionLoops(KernelBuilder &b, ConvOp conv, Operation *pool)
      : b(b), conv(conv), pool(pool), type(elementOf(conv.getX())),
        sumType(elementOf(conv.getResult())), tiles({conv, pool}, b.target),
        form(dotForm(conv, b.target)), byRows(tiles.groupsKernelRows()),
        panels(*PackedPanels::of(b, conv.getW(), form && form->isMixed())),
        x(shapeOf(conv.getX())), w(shapeOf(conv.getW())),
        y(shapeOf(conv.getResult())), spatial(x.size() - 2),
        axes(windowAxes(conv)), columns(axes.back()), channels(w[w.size() - 2]),
        rows(b.plan.number("rows")) {}

  void emit() {
    if (pool)
      return pooled();
    bool isMatrix = ConvolutionAnchor{conv, pool}.isMatrix();
    if (isMatrix || !columns.mayOverlap())
      allowInPlace();
    Dim outer = product(ArrayRef(dimsOf(conv.getResult())).drop_back(2));
    bool panelsOutside = b.plan.word("order") == "panels";
    if (auto block = b.plan.optionalNumber("packed"))
      return packedMatrix(*block);
    if (isMatrix)
      return matrix(ConvolutionAnchor{conv, pool}.positions(), panelsOutside);
    if (panelsOutside)
      return forPanels([&](Panel panel) {
        b.forRange(b.index(0), b.size(outer),
                   [&](Expr row) { window(row, panel); });
      });
    b.parallelFor(outer, [&](Expr row) { window(row, std::nullopt); });
  }

  void emitRow(ArrayRef<Expr> position, ArrayRef<Expr> read,
               ArrayRef<Expr> stored, const PackedMemory &memory) {
    if (!ConvolutionAnchor{conv, nullptr}.isMatrix())
      return windowRow(position, stored, std::nullopt);
    int64_t width = y.end()[-2];
    auto firstOf = [&](Value buffer, ArrayRef<Expr> row) {
      ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
      return b.linearize(row, shape.drop_back(2)) * double(width);
    };
    Expr from = named(firstOf(b.bufferOf(conv.getX()), read), "first_position"),
         to = named(firstOf(b.outputs[0], stored), "first_stored");
    // All tiles of a row have about the same number of columns.
    int64_t ofTile = llvm::divideCeil(width, llvm::divideCeil(width, rows)),
            lanes = b.target.maxLanes(type);
    if (b.plan.optionalNumber("packed") && width >= lanes)
      return packedRow(from, to, width, llvm::alignTo(ofTile, lanes), memory);
    forRowTiles(b, width, ofTile, [&](Expr first, int64_t count) {
      named(first, "column");
      forPanelsHere([&](const Panel &panel) {
        pointwise(named(from + first, "position"), count, panel,
                  named(to + first, "stored"));
      });
    });
  }

private:
  void matrix(const Dim &positions, bool panelsOutside) {
    if (panelsOutside) {
      RowsLeft left = form ? RowsLeft::InOwnTile : RowsLeft::SharedWithLast;
      return forPanels([&](Panel panel) {
        forRowTiles(
            b, positions, rows,
            [&](Expr first, int64_t count) {
              StepChunks chunks;
              if (count == rows)
                chunks = panels.fetchAhead(
                    b, panel.number, b.index(panels.steps), panels.steps,
                    first / double(rows),
                    RowTiling(positions.most(), rows, left, b.target).whole);
              pointwise(named(first, "position"), count, panel, first, chunks);
            },
            left);
      });
    }
    forRowTilesParallel(
        b, positions, rows, panels.fullPanels,
        [&](Expr first, int64_t count, const KernelBuilder::Part &part) {
          named(first, "position");
          forPanelsOf(part, [&](const Panel &panel) {
            pointwise(first, count, panel);
          });
        });
  }

  /// Emits a pointwise convolution whose input is packed in blocks of `block`
  /// positions.
  void packedMatrix(int64_t block) {
    ConvolutionAnchor anchor{conv, pool};
    PackedWork work{*anchor.positions().known(), anchor.channels(), channels,
                    type};
    PackedRows packed(
        b, work,
        {{rows, 0, 1}, block, b.plan.optionalNumber("parts").value_or(1)});
    packed.emit(
        [&](Expr position, Expr k) { return loadPointwise(position, k); },
        [&](PackedRows::ForTiles forTiles) {
          forPanelsHere([&](const Panel &panel) {
            forTiles([&](Expr first, int64_t count, Expr start) {
              named(first, "position");
              packedTile(packed, panel, first, count, start, first);
            });
          });
        });
  }

  /// Emits `width` positions from `from` on, in tiles of `ofTile` positions that
  /// are packed one by one, and stores the results from position `to` on.
  void packedRow(Expr from, Expr to, int64_t width, int64_t ofTile,
                 const PackedMemory &memory) {
    PackedRows packed(b, {width, panels.columns, channels, type},
                      {{ofTile, 0, 1}, ofTile, 1}, memory);
    forRowTiles(b, width, ofTile, [&](Expr first, int64_t count) {
      named(first, "column");
      Expr position = named(from + first, "position"),
           stored = named(to + first, "stored");
      packed.pack(position, count, b.index(0),
                  [&](Expr at, Expr k) { return loadPointwise(at, k); });
      forPanelsHere([&](const Panel &panel) {
        packedTile(packed, panel, position, count, b.index(0), stored);
      });
    });
  }

  /// Loads input channels from `k` on at a position of a pointwise convolution.
  Expr loadPointwise(Expr position, Expr k) {
    if (Value flat = asMatrix(b, b.bufferOf(conv.getX()), channels))
      return b.loadFrom(flat, type, {position, k});
    Exprs at = imagePosition(position, x, 0);
    at.push_back(k);
    return b.load(conv.getX(), at);
  }

  /// Allows the result to overwrite operands of the epilogue.
  void allowInPlace() {
    for (auto [i, input] : llvm::enumerate(b.group.block->getArguments()))
      if (mayBecomeResult(b.group, input))
        b.allowInPlace(0, i);
  }

  //===------------------------------------------------------------------===//
  // Panels
  //===------------------------------------------------------------------===//

  /// A panel of packed weights, for some output channels: its number, its
  /// vectors and its first column. The tail, which has the channels after the
  /// last full panel, has no number.
  struct Panel {
    std::optional<Expr> number;
    ColumnVectors vectors;
    Expr firstColumn;
  };

  Panel full(Expr number) {
    return {named(number, "panel"), tiles.cover(panels.panelWidth),
            named(number * double(panels.panelWidth), "channel")};
  }
  Panel tail() {
    return {std::nullopt,
            tiles.cover(panels.columns - panels.fullPanels * panels.panelWidth),
            b.index(panels.fullPanels * panels.panelWidth)};
  }
  bool hasTail() const { return panels.tailWidth > 0; }

  void forPanelsHere(llvm::function_ref<void(Panel)> body) {
    forPanelsOf({b.index(0), 1}, body);
  }
  /// Calls `body` for those panels of weights that belong to `part`, one of the
  /// equal parts into which threads divide the panels. The tail (the channels
  /// after the last full panel) belongs to the last part.
  void forPanelsOf(const KernelBuilder::Part &part,
                   llvm::function_ref<void(Panel)> body) {
    int64_t count = panels.fullPanels / part.count;
    Expr first = part.number * double(count);
    if (count == 1)
      body(full(first));
    else if (count > 1)
      b.forRange(named(first, "first_panel"),
                 named(first + double(count), "end_panel"),
                 [&](Expr number) { body(full(number)); });
    if (!hasTail())
      return;
    if (part.count == 1)
      body(tail());
    else
      b.when(isLast(part.number, part.count), [&] { body(tail()); });
  }

  void forPanels(llvm::function_ref<void(Panel)> body) {
    if (panels.fullPanels == 0)
      return body(tail());
    b.parallelFor(panels.fullPanels, [&](Expr number) {
      panels.prefetchNext(b, number);
      body(full(number));
      // The thread with the last panel of weights also computes the tail, the
      // channels after that panel.
      if (hasTail())
        b.when(isLast(number, panels.fullPanels), [&] { body(tail()); });
    });
  }

  /// Returns the bias if it is added to the f32 or f64 sums of a panel when they
  /// are stored; null if lastSums adds it (isInHalves), if the sums start with
  /// it, or if there is none. Sums of dot products of narrow types start with the
  /// bias if each lane has an element of the bias and is the whole sum of a
  /// column. Sums of f32 or f64 do so on targets whose multiply-adds take a lane
  /// of a vector as factor (multiplyByLane), where few other instructions
  /// accompany the multiply-adds; but not in strict mode, which prescribes the
  /// order of terms, and not with a fused pool, beside whose results the bias
  /// would need one more register.
  Value laterBias(const Panel &panel) {
    bool mayStart =
        form || (b.target.multiplyByLane && !pool && !b.group.isStrict());
    bool isFirst = mayStart && !isAcross() &&
                   panel.vectors.width() == panel.vectors.columns &&
                   (!isInHalves(panel) || roundsToHalves(b, conv.getResult()));
    return isFirst ? Value() : conv.getBias();
  }
  /// Whether the products of each kernel row are added up separately, in f16.
  bool rowsAreStages(const Panel &panel) {
    return isInHalves(panel) && stepsOfRow() <= form->stage &&
           ShapedType::getNumElements(w.drop_back()) > form->stage;
  }
  bool isAcross() const { return form && form->acrossLanes; }
  bool isOfPairs() const { return form && form->ofPairs; }
  /// Whether the sums for a panel of weights stay in f16 for all K steps. If
  /// there are more than in a stage, the products of each stage are added up
  /// separately, and then to the total. The bias is added to the complete sums:
  /// in f16 if the epilogue is computed in f16, otherwise after they have been
  /// widened.
  bool isInHalves(const Panel &panel) {
    return form && form->stage && form->group == 1 && !pool &&
           (ShapedType::getNumElements(w.drop_back()) <= form->stage ||
            addsStagesInHalves(conv, *form)) &&
           panel.vectors.width() == panel.vectors.columns;
  }
  /// Returns the number of K steps of a kernel row.
  int64_t stepsOfRow() const {
    return (w.size() > 2 ? w.end()[-3] : 1) * channels;
  }
  Tile firstSums(int64_t count, const Panel &panel) {
    if (isAcross())
      return tileAcrossLanes(b, count, panel.vectors, *form, sumType);
    if (isInHalves(panel))
      return halvesTile(b, count, schedule::inHalves(panel.vectors, b.target));
    Tile tile = conv.getBias() && !laterBias(panel)
                    ? biasTile(b, count, panel.vectors, conv.getBias(),
                               panel.firstColumn)
                    : zeroTile(b, count, panel.vectors, sumType);
    return isOfPairs() ? pairRows(b, tile, *form) : tile;
  }
  /// Returns the final sums of a tile, with one lane per column. Sums of f16
  /// get the bias here.
  Tile lastSums(Tile tile, const Panel &panel) {
    if (isInHalves(panel)) {
      if (conv.getBias() && !laterBias(panel))
        addBiasInHalves(b, tile, conv.getBias(), panel.firstColumn);
      return roundsToHalves(b, conv.getResult())
                 ? widened(b, tile)
                 : widened(b, tile, panel.vectors);
    }
    if (isOfPairs())
      return unpairRows(b, tile, *form);
    return isAcross() ? addLanes(b, tile, panel.vectors) : tile;
  }
  Expr withBias(Expr sum, Expr column, const Panel &panel) {
    Value bias = laterBias(panel);
    return bias ? sum + b.load(bias, {column}) : sum;
  }

  //===------------------------------------------------------------------===//
  // Tiles of positions
  //===------------------------------------------------------------------===//

  /// The channels [first, first + count) of a tensor.
  struct ChannelPart {
    Value from;
    int64_t first, count;
  };
  /// Returns the tensors, or ranges of their channels, that the group
  /// concatenates to the input channels of the convolution. Each tensor is read
  /// where it is stored.
  static SmallVector<ChannelPart> channelParts(Value input) {
    SmallVector<Value> joined{input};
    if (auto concat = input.getDefiningOp<ConcatOp>();
        concat && readsByParts(concat))
      joined.assign(concat.getInputs().begin(), concat.getInputs().end());
    SmallVector<ChannelPart> parts;
    for (Value value : joined) {
      int64_t count = shapeOf(value).back();
      auto slice = value.getDefiningOp<SliceOp>();
      if (slice && takesChannels(slice))
        parts.push_back({slice.getX(), slice.getStarts().back(), count});
      else
        parts.push_back({value, 0, count});
    }
    return parts;
  }

  /// Returns the batch and spatial indices of a linear position. In the
  /// generated code, their names contain the number of the tile's row, `row`.
  Exprs imagePosition(Expr position, ArrayRef<int64_t> shape, int64_t row) {
    Exprs at = b.delinearize(position, shape.drop_back());
    for (auto [axis, i] : llvm::enumerate(at))
      named(i, imageAxisName(axis, shape.size()) + "_" + Twine(row));
    return at;
  }

  static Expr rowOfTile(Expr first, int64_t row) {
    return named(first + double(row), "position_" + Twine(row));
  }

  void finish(Tile &tile, const Panel &panel,
              llvm::function_ref<Exprs(int64_t, Expr)> index) {
    storeTile(
        b, tile, conv.getResult(), index, panel.firstColumn,
        [&](Expr sum, Expr column) { return withBias(sum, column, panel); });
  }

  /// Emits a tile of a pointwise convolution as a matrix product. The input is
  /// viewed as a matrix [positions, channels]; the tile has `count` rows of it
  /// from row `first` on. The result rows begin at the same position, or in the
  /// second overload at position `stored`.
  void pointwise(Expr first, int64_t count, const Panel &panel) {
    pointwise(first, count, panel, first);
  }
  void pointwise(Expr first, int64_t count, const Panel &panel, Expr stored,
                 const StepChunks &chunks = {}) {
    Tile tile = firstSums(count, panel);
    fetchForEpilogue(b, {count, panel.vectors, {}}, conv, stored,
                     panel.firstColumn);
    int64_t done = 0;
    SmallVector<ChannelPart> parts = channelParts(conv.getX());
    for (const ChannelPart &part : parts) {
      Value buffer = b.bufferOf(part.from);
      Value flat =
          buffer ? asMatrix(b, buffer, shapeOf(part.from).back()) : Value();
      addProducts(
          tile, 0, count, std::min(part.count, channels), splits(),
          [&](int64_t row, Expr k) {
            Expr position = rowOfTile(first, row);
            if (part.first > 0)
              k = k + double(part.first);
            k = inGroup(k, panel);
            if (flat)
              return b.loadFrom(flat, type, {position, k});
            Exprs at = imagePosition(position, x, row);
            at.push_back(k);
            return b.load(part.from, at);
          },
          panel, b.index(done / panels.group), "input_channel",
          parts.size() == 1 ? chunks : StepChunks());
      done += part.count;
    }
    tile = lastSums(tile, panel);
    finishPointwise(tile, panel, first, stored);
  }

  /// Stores the results of a tile of a pointwise convolution, whose first
  /// position is `first`, from position `stored` of the result on.
  void finishPointwise(Tile &tile, const Panel &panel, Expr first,
                       Expr stored) {
    auto bias = [&](Expr sum, Expr column) {
      return withBias(sum, column, panel);
    };
    if (!storeFlat(b, tile, conv, stored, panel.firstColumn, bias))
      finish(tile, panel, [&](int64_t row, Expr column) {
        Exprs at = imagePosition(rowOfTile(first, row), y, row);
        at.push_back(column);
        return at;
      });
  }

  /// Emits a tile of packed rows, which begin at element `start`, and stores the
  /// results from position `stored` on.
  void packedTile(PackedRows &packed, const Panel &panel, Expr first,
                  int64_t count, Expr start, Expr stored) {
    Tile tile = firstSums(count, panel);
    auto weights = [&](Expr k, int64_t, int64_t column, int64_t lanes) {
      return panels.load(b, panel.number, k, column, lanes);
    };
    auto rowsAt = [&](int64_t group, Expr k) {
      return packed.load(start, count, k, group);
    };
    DotOperands operands{nullptr,      weights, type,  elementOf(conv.getW()),
                         StepChunks(), nullptr, rowsAt};
    auto ofVector = [&](Expr k, size_t v) {
      ArrayRef<int64_t> lanes = tile.columns.lanes;
      return weights(k, 1, columnOf(lanes, v), lanes[v]);
    };
    if (form)
      accumulateDots(b, tile, formOf(panel), channels, operands);
    else
      packed.accumulate(tile, start, ofVector, "input_channel");
    tile = lastSums(tile, panel);
    finishPointwise(tile, panel, first, stored);
  }

  DotForm formOf(const Panel &panel) {
    return isInHalves(panel) ? stagesOf(*form, stepsOfRow()) : *form;
  }
  /// Returns the first column of vector `v` of a tile.
  static int64_t columnOf(ArrayRef<int64_t> lanes, size_t v) {
    return std::accumulate(lanes.begin(), lanes.begin() + v, int64_t(0));
  }

  /// Returns the index, among all input channels, of input channel `c` of the
  /// group of channels to which the panel of weights belongs.
  Expr inGroup(Expr c, const Panel &panel) {
    if (conv.getGroups() == 1)
      return c;
    Expr group = named(panel.firstColumn / double(channelsOfGroup(conv)),
                       "group_of_channels");
    return named(group * double(channels), "first_of_group") + c;
  }
  /// Returns the number of independent partial sums into which each sum is
  /// split.
  int64_t splits() {
    return conv.getGroups() == 1 ? b.plan.number("splits") : 1;
  }

  /// Returns the number of K steps at each kernel position: input channels, or
  /// groups of input channels that one dot product takes.
  int64_t groupsOfChannels() const {
    return llvm::divideCeil(channels, panels.group);
  }
  StringRef firstName() const { return form ? "first_group" : "first_step"; }

  /// Adds the products of `steps` K steps to rows [firstRow, lastRow) of a
  /// tile: x(row, step) times the weights of `panel` from K step (or group of K
  /// steps) `first` on.
  void addProducts(Tile &tile, int64_t firstRow, int64_t lastRow, int64_t steps,
                   int64_t splits, llvm::function_ref<Expr(int64_t, Expr)> x,
                   const Panel &panel, Expr first, StringRef stepName,
                   const StepChunks &chunks = {}) {
    auto weights = [&](Expr step, int64_t column, int64_t lanes) {
      return panels.load(b, panel.number,
                         named(first + step, form ? "group" : "step"), column,
                         lanes);
    };
    if (!form)
      return accumulate(
          b, tile, firstRow, lastRow, steps, splits, x,
          [&](Expr step, size_t v) {
            ArrayRef<int64_t> lanes = tile.columns.lanes;
            return weights(step, columnOf(lanes, v), lanes[v]);
          },
          stepName, chunks);
    auto weightsOfGroup = [&](Expr group, int64_t, int64_t column,
                              int64_t lanes) {
      return weights(group, column, lanes);
    };
    auto isWide = [&](Expr group) {
      return panels.isWide(b, panel.number, named(first + group, "group"));
    };
    DotOperands operands{x,      weightsOfGroup, type, elementOf(conv.getW()),
                         chunks, isWide};
    if (isOfPairs())
      return accumulatePaired(b, tile, *form, steps, operands, firstRow,
                              lastRow);
    accumulateDots(b, tile, formOf(panel), steps, operands, firstRow, lastRow);
  }

  /// Emits the result row with number `row`, for all panels of weights or only
  /// for panel `only`. The rows of all images are numbered consecutively.
  void window(Expr row, std::optional<Panel> only) {
    Exprs outer = rowPosition(b, row, dimsOf(conv.getResult()));
    windowRow(outer, outer, only);
  }
  void windowRow(ArrayRef<Expr> outer, ArrayRef<Expr> stored,
                 std::optional<Panel> only) {
    forColumnTiles(
        b, columns, rows,
        [&](Expr first, TilePlace place, int64_t count) {
          auto one = [&](const Panel &panel) {
            windowTile(outer, stored, first, place, count, panel);
          };
          if (only)
            one(*only);
          else
            forPanelsHere(one);
        },
        BorderTiles::InLoops);
  }

  void windowTile(ArrayRef<Expr> outer, ArrayRef<Expr> stored, Expr first,
                  const TilePlace &place, int64_t count, const Panel &panel) {
    Tile tile = sumsOf(outer, first, place, count, panel);
    finish(tile, panel, [&](int64_t column, Expr channel) {
      return tilePosition(stored, first, column, channel);
    });
  }

  Tile sumsOf(ArrayRef<Expr> outer, Expr first, const TilePlace &place,
              int64_t count, const Panel &panel) {
    Tile tile = firstSums(count, panel);
    tile.sums =
        overKernel(b, ArrayRef(axes).drop_back(), outer, tile.sums,
                   [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> sums) {
                     Tile part = tile;
                     part.sums.assign(sums.begin(), sums.end());
                     if (!rowsAreStages(panel)) {
                       kernelColumns(part, kernelRow, at, first, place, panel);
                       return part.sums;
                     }
                     Tile ofRow = halvesTile(b, count, tile.columns);
                     kernelColumns(ofRow, kernelRow, at, first, place, panel);
                     addInHalves(b, part, ofRow);
                     return part.sums;
                   });
    return lastSums(tile, panel);
  }

  //===------------------------------------------------------------------===//
  // A pool after the convolution
  //===------------------------------------------------------------------===//

  void pooled() {
    Dims out = dimsOf(pool->getResult(0));
    columns.output = out.end()[-2] * windowOf(pool).back();
    // Threads divide the rows of the pool's result. If there is a single row,
    // they divide its channels instead, by panels of weights.
    Dim rowsOfPool = product(ArrayRef(out).drop_back(2));
    b.parallelFor(rowsOfPool, rowsOfPool == 1 ? panels.fullPanels : 1,
                  [&](Expr row, const KernelBuilder::Part &part) {
                    Exprs position = rowPosition(b, row, out);
                    forColumnTiles(
                        b, columns, rows,
                        [&](Expr first, TilePlace place, int64_t count) {
                          forPanelsOf(part, [&](const Panel &panel) {
                            pooledTile(position, first, place, count, panel);
                          });
                        },
                        BorderTiles::InLoops);
                  });
  }

  void pooledTile(ArrayRef<Expr> position, Expr first, const TilePlace &place,
                  int64_t count, const Panel &panel) {
    emitPooledTile(
        b, conv, pool, position, first, count, panel.vectors, panel.firstColumn,
        [&](ArrayRef<Expr> outer, Expr start) {
          return sumsOf(outer, start, place, count, panel);
        },
        laterBias(panel));
  }

  void kernelColumns(Tile &tile, Expr kernelRow, ArrayRef<Expr> at, Expr first,
                     const TilePlace &place, const Panel &panel) {
    Expr start = named(first * double(columns.stride) - double(columns.low),
                       "first_input_column");
    Value buffer = b.bufferOf(conv.getX());
    auto column = [&](Tile &t, Expr k, int64_t lo, int64_t hi) {
      addProducts(
          t, lo, hi, channels, 1,
          [&](int64_t position, Expr c) {
            Exprs xAt(at.begin(), at.end());
            xAt.push_back(named(start + double(position * columns.stride) +
                                    k * double(columns.dilation),
                                "input_column_" + Twine(position)));
            xAt.push_back(inGroup(c, panel));
            Expr x = b.load(conv.getX(), xAt);
            // Name the element after its input column, since adjacent positions
            // read the same input columns.
            APInt known;
            return matchPattern(k.value, m_ConstantInt(&known))
                       ? named(x, "x_" + Twine(position * columns.stride +
                                               known.getSExtValue() *
                                                   columns.dilation))
                       : x;
          },
          panel,
          named(
              (named(kernelRow * double(columns.kernel), "row_of_kernel") + k) *
                  double(groupsOfChannels()),
              firstName()),
          "input_channel");
    };
    // Emits a loop over the kernel columns [from, end) for the windows [lo, hi)
    // of the tile.
    auto loop = [&](Expr from, Expr end, int64_t lo, int64_t hi) {
      tile.sums =
          b.loop(from, end, 1, tile.sums, [&](Expr k, ArrayRef<Expr> carried) {
            named(k, "kernel_column");
            Tile part = tile;
            part.sums.assign(carried.begin(), carried.end());
            column(part, k, lo, hi);
            return part.sums;
          });
    };
    // Adjacent kernel columns that are inside of the input for the same windows
    // share a loop if there are at least this many. The kernels of common image
    // networks have fewer columns.
    constexpr int64_t leastInLoop = 16;
    auto apart = [&](int64_t first, int64_t last,
                     llvm::function_ref<Expr(int64_t)> at) {
      for (int64_t k = first, end = first; k < last; k = end) {
        auto [lo, hi] = columns.inside(k, place, tile.rows);
        for (end = k + 1; end < last && columns.inside(end, place, tile.rows) ==
                                            std::make_pair(lo, hi);)
          ++end;
        if (lo == hi)
          continue;
        if (end - k >= leastInLoop)
          loop(named(at(k), "first_kernel_column"),
               named(at(end), "end_kernel_column"), lo, hi);
        else
          for (int64_t each = k; each < end; ++each)
            column(tile, at(each), lo, hi);
      }
    };
    if (place.shift) {
      auto [from, end] = columns.partlyInside(place, tile.rows);
      auto shifted = [&](int64_t k) {
        return named(*place.shift + double(k), "kernel_column");
      };
      if (place.fromEnd)
        loop(b.index(0), named(shifted(from), "end_kernel_column"), 0,
             tile.rows);
      apart(from, end, shifted);
      if (place.fromStart)
        loop(named(shifted(end), "first_kernel_column"),
             b.index(columns.kernel), 0, tile.rows);
      return;
    }
    if (place.isBorder())
      return apart(0, columns.kernel, [&](int64_t k) { return b.index(k); });
    if (byRows || (buffer && !place.isAnywhere && columns.dilation == 1 &&
                   columns.kernel > 1 && channels < 16 && !isAcross() &&
                   conv.getGroups() == 1)) {
      // Kernel columns and channels are contiguous in the input and in the
      // weights: emit one loop.
      SmallVector<int64_t> flatShape(x.begin(), x.end() - 2);
      flatShape.push_back(x[x.size() - 2] * channels);
      Value flat = b.view(buffer, flatShape);
      addProducts(
          tile, 0, tile.rows, columns.kernel * channels, 1,
          [&](int64_t position, Expr k) {
            Exprs xAt(at.begin(), at.end());
            xAt.push_back((start + double(position * columns.stride)) *
                              double(channels) +
                          k);
            return b.loadFrom(flat, type, xAt);
          },
          panel,
          named(kernelRow * double(columns.kernel * channels / panels.group),
                firstName()),
          "tap");
      return;
    }
    auto oneColumn = [&](Expr k, ArrayRef<Expr> carried) {
      named(k, "kernel_column");
      Tile part = tile;
      part.sums.assign(carried.begin(), carried.end());
      column(part, k, 0, tile.rows);
      return part.sums;
    };
    if (TransposeOp image = imageOfColumns(conv, b.group.isStrict(), b.target);
        image && !place.isAnywhere &&
        columnsOfTile(tile.rows) >= b.target.maxLanes(type))
      return columnsOfImage(tile, kernelRow, at, start, panel, image);
    if (!place.isAnywhere) {
      tile.sums = b.loop(columns.kernel, tile.sums, oneColumn);
      return;
    }
    auto [lo, hi] =
        insideWindow(start, columns.kernel, columns.dilation, columns.input);
    tile.sums = b.loop(lo, hi, 1, tile.sums, oneColumn);
  }

  /// Returns the number of adjacent input columns that `windows` windows read.
  int64_t columnsOfTile(int64_t windows) const {
    return (windows - 1) * columns.stride + columns.kernel;
  }

  /// Adds the products of a kernel row to a tile whose windows are inside of the
  /// input. Loads adjacent columns of `image`, from `start` on, in vectors.
  void columnsOfImage(Tile &tile, Expr kernelRow, ArrayRef<Expr> at, Expr start,
                      const Panel &panel, TransposeOp image) {
    int64_t lanes = b.target.maxLanes(type), count = columnsOfTile(tile.rows);
    // The last vector overlaps the previous one.
    auto firstOf = [&](int64_t vector) {
      return std::min(vector * lanes, count - lanes);
    };
    auto load = [&](Expr channel, int64_t first) {
      Exprs index(at.begin(), at.end()), from(x.size());
      index.push_back(
          named(start + double(first), "input_column_" + Twine(first)));
      index.push_back(channel);
      for (auto [axis, i] : llvm::zip(image.getPerm(), index))
        from[axis] = i;
      return b.withLanes(lanes, [&] {
        return named(b.load(image.getX(), from), "x_" + Twine(first));
      });
    };
    Expr before =
        named(kernelRow * double(columns.kernel * channels), "first_step");
    tile.sums =
        b.loop(channels, tile.sums, [&](Expr channel, ArrayRef<Expr> carried) {
          named(channel, "input_channel");
          Tile part = tile;
          part.sums.assign(carried.begin(), carried.end());
          Exprs loaded;
          for (int64_t first = 0; first < count; first += lanes)
            loaded.push_back(load(channel, firstOf(first / lanes)));
          for (int64_t k = 0; k < columns.kernel; ++k) {
            Expr step = named(before + channel + double(k * channels), "step");
            int64_t offset = 0;
            for (auto [v, width] : llvm::enumerate(tile.columns.lanes)) {
              Expr w = named(panels.load(b, panel.number, step, offset, width),
                             "w_" + Twine(v));
              offset += width;
              for (int64_t row = 0; row < tile.rows; ++row) {
                int64_t read = row * columns.stride + k, vector = read / lanes;
                Expr factor =
                    lanesOf(b, loaded[vector], read - firstOf(vector), 1);
                Expr &sum = part.at(row, v);
                sum = named(fma(factor, w, sum), part.nameAt("sum", row, v));
              }
            }
          }
          return part.sums;
        });
  }

  KernelBuilder &b;
  ConvOp conv;
  Operation *pool;
  Type type, sumType;
  ConvolutionTiles tiles;
  std::optional<DotForm> form; // nothing for f32 and f64
  bool byRows;                 // whether dot products take kernel columns
  PackedPanels panels;
  ArrayRef<int64_t> x, w, y;
  size_t spatial;
  SmallVector<WindowAxis> axes;
  WindowAxis columns; // the last spatial axis
  int64_t channels;
  int64_t rows; // rows of a tile
};

} // namespace

TransposeOp imageOfColumns(ConvOp conv, bool isStrict,
                           const TargetDescription &target) {
  auto transpose = conv.getX().getDefiningOp<TransposeOp>();
  ArrayRef<int64_t> x = shapeOf(conv.getX());
  Type type = elementOf(conv.getX());
  // Strides above the number of lanes would leave lanes unused.
  bool suits = transpose && isa<BlockArgument>(transpose.getX()) &&
               isa<Float32Type>(type) && target.multiplyByLane && !isStrict &&
               target.vectorRegisters >= 32 && conv.getGroups() == 1 &&
               x.back() < target.maxLanes(type) &&
               shapeOf(conv.getW()).size() > 2 &&
               conv.getStrides().back() < target.maxLanes(type) &&
               conv.getDilations().back() == 1;
  return suits && transpose.getPerm()[x.size() - 2] == int64_t(x.size()) - 1
             ? transpose
             : TransposeOp();
}

void emitConvolution(KernelBuilder &b, ConvOp conv, Operation *pool) {
  ConvolutionLoops(b, conv, pool).emit();
}

void emitConvolutionRow(KernelBuilder &b, ConvOp conv, ArrayRef<Expr> position,
                        ArrayRef<Expr> read, ArrayRef<Expr> stored,
                        const PackedMemory &packed) {
  ConvolutionLoops(b, conv, nullptr).emitRow(position, read, stored, packed);
}

} // namespace ingot::schedule
