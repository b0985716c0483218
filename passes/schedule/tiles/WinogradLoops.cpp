#include "passes/schedule/tiles/WinogradLoops.h"

#include "dialects/graph/ops/Winograd.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/TileStore.h"
#include "passes/schedule/tiles/WinogradTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class Emitter {
public:
  Emitter(KernelBuilder &b, ConvolutionAnchor anchor)
      : b(b), conv(anchor.conv), pool(anchor.pool),
        form(sampledWeights(conv).getSize()),
        panels(*PackedPanels::of(b, sampledWeights(conv).getValues())),
        type(elementOf(conv.getX())), sumType(elementOf(conv.getResult())),
        x(dimsOf(conv.getX())), y(dimsOf(conv.getResult())),
        channels(x[3].most()), dots(winogradDots(type, channels, b.target)),
        down((y[1] + (form.size - 1)).floorDiv(form.size)),
        across((y[2] + (form.size - 1)).floorDiv(form.size)),
        tiles(y[0] * down * across), block(b.plan.number("block")),
        rows(b.plan.number("rows")) {}

  void emit() {
    for (auto [i, input] : llvm::enumerate(b.group.block->getArguments()))
      if (!pool && mayBecomeResult(b.group, input))
        b.allowInPlace(0, i);
    Dim blocks = (tiles + (block - 1)).floorDiv(block);
    int64_t parts = b.plan.number("parts");
    int64_t width = std::max(panels.panelWidth, panels.tailWidth);
    if (panels.fullPanels == 0)
      width = panels.tailWidth;
    points = b.scratch({parts, pointCount(), block, channels}, type);
    products =
        b.scratch({parts, pointCount(), block, width}, typeOfProducts(type));
    // If there are fewer blocks of tiles than parts (the shares of threads),
    // threads also divide the panels of weights that each block is multiplied
    // by.
    perBlock =
        blocks.most() >= parts ? 1 : std::max<int64_t>(panels.fullPanels, 1);
    Dim units = blocks * perBlock;
    auto over = [&](Expr first, Expr last) {
      if (blocks == 1)
        return ofBlock(b.index(0), first, last);
      auto ofNumber = [&](Expr number) { ofBlock(number, first, last); };
      if (perBlock == 1)
        return b.forRange(first, last, ofNumber);
      b.forRange(first / double(perBlock),
                 (last + double(perBlock - 1)) / double(perBlock), ofNumber);
    };
    own = b.index(0);
    if (parts == 1)
      return over(b.index(0), b.size(units));
    b.forPart(parts, [&](Expr begin, Expr end) {
      own = begin;
      over(unitOf(begin, units, parts), unitOf(end, units, parts));
    });
  }

private:
  struct Panel {
    std::optional<Expr> number;
    int64_t columns;
    Expr firstColumn;
  };
  /// The place of a tile: its image, and the row and column of its first
  /// output.
  struct Place {
    Expr image, row, column;
  };

  int64_t pointCount() const { return form.points * form.points; }

  Expr unitOf(Expr part, const Dim &units, int64_t parts) {
    return units == parts ? part : part * b.size(units) / double(parts);
  }
  /// Whether the number of tiles is a multiple of `group`.
  bool comesIn(int64_t group) const { return tiles.divisor() % group == 0; }

  void ofBlock(Expr number, Expr firstUnit, Expr lastUnit) {
    named(number, "block");
    Expr first = named(number * double(block), "first_tile");
    Expr count = b.index(block), sampledCount = count;
    if (!comesIn(block)) {
      count = named(min(b.size(tiles) - first, double(block)), "tiles");
      sampledCount =
          named((count + double(rows - 1)) / double(rows) * double(rows),
                "tiles_with_rest");
    }
    b.forRange(b.index(0), sampledCount, [&](Expr tile) {
      named(tile, "tile");
      sample(named(first + tile, "tile_of_all"), tile);
    });
    auto both = [&](const Panel &panel) {
      multiply(panel, sampledCount);
      b.forRange(b.index(0), count, [&](Expr tile) {
        named(tile, "tile");
        finish(placeOf(named(first + tile, "tile_of_all")), tile, panel);
      });
    };
    Panel tail{std::nullopt,
               panels.columns - panels.fullPanels * panels.panelWidth,
               b.index(panels.fullPanels * panels.panelWidth)};
    if (panels.fullPanels == 0)
      return both(tail);
    Expr from = b.index(0), to = b.index(panels.fullPanels);
    if (perBlock > 1) {
      Expr units = named(number * double(perBlock), "first_unit");
      from = max(firstUnit - units, 0);
      to = min(lastUnit - units, double(perBlock));
    }
    b.forRange(from, to, [&](Expr panel) {
      named(panel, "panel");
      both({panel, panels.panelWidth,
            named(panel * double(panels.panelWidth), "channel")});
      if (tail.columns > 0)
        b.when(equal(panel, double(panels.fullPanels - 1)),
               [&] { both(tail); });
    });
  }

  Place placeOf(Expr tile) {
    Exprs at = b.delinearize(tile, ArrayRef<Dim>{y[0], down, across});
    return {named(at[0], "image"),
            named(at[1] * double(form.size), "first_row"),
            named(at[2] * double(form.size), "first_column")};
  }

  //===--------------------------------------------------------------------===//
  // Inputs
  //===--------------------------------------------------------------------===//

  /// Whether a tile reads only inside of the input along spatial axis `axis`.
  /// `first` is the index of the tile's first output on that axis.
  bool isInside(int64_t first, size_t axis) {
    int64_t start = first - conv.getLow()[axis];
    return start >= 0 && start + form.points <= x[1 + axis].most();
  }
  /// Returns whether all of the `count` tiles along spatial axis `axis` read
  /// only inside of the input, and whether none of them does. Both are false if
  /// sizes are dynamic.
  std::pair<bool, bool> insideAlong(size_t axis, const Dim &count) {
    if (!count.known() || !x[1 + axis].known())
      return {false, false};
    int64_t inside = 0;
    for (int64_t tile = 0; tile < count.most(); ++tile)
      inside += isInside(tile * form.size, axis);
    return {inside == count.most(), inside == 0};
  }

  void sample(Expr tile, Expr inBlock) {
    // Tiles after the last one only fill up the register tiles of the matrix
    // products. Their inputs are zeros.
    bool mayBeBeyond = !comesIn(rows);
    Expr isThere;
    Expr image = tile;
    if (mayBeBeyond) {
      isThere = named(tile < b.size(tiles), "is_there");
      image = select(isThere, tile, 0);
    }
    Place place = placeOf(image);
    auto [allDown, noneDown] = insideAlong(0, down);
    auto [allAcross, noneAcross] = insideAlong(1, across);
    Expr row = named(place.row - double(conv.getLow()[0]), "first_input_row"),
         column = named(place.column - double(conv.getLow()[1]),
                        "first_input_column");
    auto fast = [&] {
      transform(inBlock, [&](int64_t i, int64_t j, Expr channel) {
        return load(
            {place.image, inputRow(row, i), inputColumn(column, j), channel});
      });
    };
    auto safe = [&] {
      sampleAtEdge(place.image, row, column, isThere, inBlock);
    };
    if (allDown && allAcross && !mayBeBeyond)
      return fast();
    if (noneDown || noneAcross)
      return safe();
    auto within = [&](Expr start, size_t axis) {
      return (start >= 0) & (start <= b.size(x[1 + axis] - form.points));
    };
    Expr inside = within(row, 0) & within(column, 1);
    if (mayBeBeyond)
      inside = inside & isThere;
    b.branch(named(inside, "is_inside"), fast, safe);
  }

  /// Returns the input at an index, in the type of the transformed inputs.
  Expr load(ArrayRef<Expr> at) {
    Expr value = b.broadcast(b.load(conv.getX(), at), b.lanes());
    return isInHalves() ? b.wrap(asStored(b, value), type) : value;
  }

  static Expr inputRow(Expr first, int64_t i) {
    return named(first + double(i), "input_row_" + Twine(i));
  }
  static Expr inputColumn(Expr first, int64_t j) {
    return named(first + double(j), "input_column_" + Twine(j));
  }

  /// Transforms the inputs of a tile at the border; inputs outside of the image
  /// are zeros.
  void sampleAtEdge(Expr image, Expr row, Expr column, Expr isThere,
                    Expr inBlock) {
    struct Position {
      Expr at, isInside;
    };
    auto positions = [&](Expr first, size_t axis) {
      SmallVector<Position> found;
      for (int64_t i = 0; i < form.points; ++i) {
        Expr at = axis == 0 ? inputRow(first, i) : inputColumn(first, i);
        Expr inside = (at >= 0) & (at < b.size(x[1 + axis]));
        if (isThere && axis == 0)
          inside = inside & isThere;
        found.push_back(
            {named(min(max(at, 0), b.size(x[1 + axis] - 1)),
                   (axis ? "near_column_" : "near_row_") + Twine(i)),
             named(inside, (axis ? "has_column_" : "has_row_") + Twine(i))});
      }
      return found;
    };
    SmallVector<Position> downwards = positions(row, 0),
                          sideways = positions(column, 1);
    transform(inBlock, [&](int64_t i, int64_t j, Expr channel) {
      Expr value = load({image, downwards[i].at, sideways[j].at, channel});
      Expr zero = isInHalves() ? zeroHalves(b, b.lanes())
                               : b.broadcast(b.constant(0, type), b.lanes());
      return select(downwards[i].isInside & sideways[j].isInside, value, zero);
    });
  }

  static std::string nameOf(StringRef stem, int64_t i, int64_t j) {
    return (stem + "_" + Twine(i) + "_" + Twine(j)).str();
  }

  /// Transforms the inputs of a tile in all channels and stores the results,
  /// the elements of the transformed tile, in `points`. `input` returns the
  /// input at a row and a column of the tile.
  void transform(Expr inBlock,
                 llvm::function_ref<Expr(int64_t, int64_t, Expr)> input) {
    b.forLanes(
        channels, laneTypeOfTransforms(type), [&](Expr channel, int64_t) {
          named(channel, "input_channel");
          // Transform the columns of the tile first, then the rows of the matrix
          // that results from that.
          SmallVector<Exprs> halves;
          for (int64_t j = 0; j < form.points; ++j) {
            Exprs column;
            for (int64_t i = 0; i < form.points; ++i) {
              Expr x = input(i, j, channel);
              if (isInHalves())
                x = Winograd::scaled(x, form.inputScale());
              column.push_back(named(x, nameOf("x", i, j)));
            }
            halves.push_back(form.sampled(column));
            for (auto [i, half] : llvm::enumerate(halves.back()))
              named(half, nameOf("half", i, j));
          }
          for (int64_t i = 0; i < form.points; ++i) {
            Exprs row;
            for (int64_t j = 0; j < form.points; ++j)
              row.push_back(halves[j][i]);
            for (auto [j, value] : llvm::enumerate(form.sampled(row)))
              b.store(points, named(value, nameOf("value", i, j)),
                      {own, b.index(i * form.points + j), inBlock, channel});
          }
        });
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// Returns the vectors of products for a panel of weights.
  ColumnVectors vectorsOf(const Panel &panel) {
    ColumnVectors vectors = winogradVectors(conv, panel.columns, b.target);
    return isInHalves() ? inHalves(vectors, b.target) : vectors;
  }

  void multiply(const Panel &panel, Expr count) {
    ColumnVectors vectors = vectorsOf(panel);
    SmallVector<int64_t> offsets{0};
    for (int64_t lanes : vectors.lanes)
      offsets.push_back(offsets.back() + lanes);
    b.forRange(b.index(0), b.index(pointCount()), [&](Expr point) {
      named(point, "point");
      Expr firstStep = named(point * double(channels / panels.group),
                             panels.group > 1 ? "first_group" : "first_step");
      b.loop(b.index(0), count, rows, {},
             [&](Expr first, ArrayRef<Expr>) -> Exprs {
               named(first, "tile");
               ofPoint(panel, vectors, offsets, point, firstStep, first);
               return {};
             });
    });
  }

  void ofPoint(const Panel &panel, const ColumnVectors &vectors,
               ArrayRef<int64_t> offsets, Expr point, Expr firstStep,
               Expr first) {
    auto tileAt = [&](int64_t row) {
      return named(first + double(row), "tile_" + Twine(row));
    };
    Tile tile = isInHalves() ? halvesTile(b, rows, vectors)
                             : zeroTile(b, rows, vectors, sumType);
    auto x = [&](int64_t row, Expr k) {
      return b.loadFrom(points, type, {own, point, tileAt(row), k});
    };
    auto w = [&](Expr k, int64_t offset, int64_t lanes) {
      return panels.load(
          b, panel.number,
          named(firstStep + k, panels.group > 1 ? "group" : "step"), offset,
          lanes);
    };
    if (dots)
      accumulateDots(b, tile, isInHalves() ? stagesOf(*dots, channels) : *dots,
                     channels,
                     {x,
                      [&](Expr k, int64_t, int64_t column, int64_t lanes) {
                        return w(k, column, lanes);
                      },
                      type,
                      type,
                      {}});
    else
      accumulate(
          b, tile, 0, rows, channels, 1, x,
          [&](Expr k, size_t v) { return w(k, offsets[v], vectors.lanes[v]); },
          "input_channel",
          panels.fetchAhead(b, panel.number,
                            named(firstStep + double(channels), "next_point"),
                            channels, first / double(rows), block / rows));
    for (int64_t row = 0; row < rows; ++row)
      for (size_t v = 0; v < vectors.lanes.size(); ++v)
        b.store(products, tile.at(row, v),
                {own, point, tileAt(row), b.index(offsets[v])});
  }

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  /// Computes the outputs of a tile from its products with the weights, for all
  /// columns of a panel of weights.
  void finish(const Place &place, Expr inBlock, const Panel &panel) {
    ColumnVectors all = vectorsOf(panel);
    bool alike = llvm::all_equal(all.lanes) && all.width() == panel.columns;
    if (alike && all.lanes.size() > 1) {
      int64_t lanes = all.lanes.front();
      b.loop(b.index(0), b.index(panel.columns), lanes, {},
             [&](Expr offset, ArrayRef<Expr>) -> Exprs {
               named(offset, "column_of_panel");
               finishVector(place, inBlock, panel, offset, {{lanes}, lanes});
               return {};
             });
      return;
    }
    int64_t offset = 0;
    for (int64_t lanes : all.lanes) {
      finishVector(place, inBlock, panel, b.index(offset),
                   {{lanes}, std::min(lanes, panel.columns - offset)});
      offset += lanes;
    }
  }

  void finishVector(const Place &place, Expr inBlock, const Panel &panel,
                    Expr offset, const ColumnVectors &vector) {
    Expr channel = named(panel.firstColumn + offset, "output_channel");
    int64_t lanes = vector.lanes.front();
    SmallVector<Exprs> outputs = outputsOf(inBlock, offset, lanes);
    if (!isInHalves())
      return storeOutputs(place, outputs, channel, vector, conv.getBias());
    // An epilogue that needs more precision than f16 has is computed in vectors
    // of f32. Otherwise, the bias is added in f16, too.
    bool endsInHalves =
        !pool && vector.columns == lanes && roundsToHalves(b, conv.getResult());
    Value bias = conv.getBias();
    if (bias && endsInHalves) {
      Expr rounded = biasHalves(b, bias, channel, lanes);
      for (Exprs &row : outputs)
        for (Expr &output : row)
          output = sumOfHalves(b, output, rounded);
      bias = {};
    }
    int64_t together =
        endsInHalves ? lanes : std::min(lanes, b.target.maxLanes(sumType));
    for (int64_t done = 0; done < vector.columns; done += together) {
      SmallVector<Exprs> wide;
      for (ArrayRef<Expr> row : outputs) {
        wide.emplace_back();
        for (Expr output : row)
          wide.back().push_back(widened(b, lanesOf(b, output, done, together)));
      }
      storeOutputs(place, wide, done ? channel + double(done) : channel,
                   {{together}, std::min(together, vector.columns - done)},
                   bias);
    }
  }

  /// Stores the outputs of a tile for one vector of columns, which begins at
  /// `channel`, after adding the bias (unless it is null) and applying the pool
  /// and the epilogue.
  void storeOutputs(const Place &place, SmallVector<Exprs> &outputs,
                    Expr channel, const ColumnVectors &vector, Value bias) {
    // A vector that is only partly used must not read the bias beyond the last
    // column.
    bool isWhole = vector.columns == vector.lanes.front();
    if (bias && isWhole) {
      Expr first = b.withLanes(vector.lanes.front(), [&] {
        return named(b.load(bias, {channel}), "bias");
      });
      for (Exprs &row : outputs)
        for (Expr &output : row)
          output = output + first;
    }
    if (pool)
      return storePooled(place, outputs, vector, channel,
                         isWhole ? Value() : bias);
    for (int64_t i = 0; i < form.size; ++i) {
      Expr row = named(place.row + double(i), "row_" + Twine(i));
      whenThere(row, i, y[1], [&] {
        for (int64_t j = 0; j < form.size; ++j) {
          Expr column = named(place.column + double(j), "column_" + Twine(j));
          whenThere(column, j, y[2], [&] {
            Tile tile{1, vector, {named(outputs[i][j], nameOf("sum", i, j))}};
            storeTile(
                b, tile, conv.getResult(),
                [&](int64_t, Expr at) {
                  return Exprs{place.image, row, column, at};
                },
                channel,
                [&](Expr sum, Expr at) {
                  return bias && !isWhole ? sum + b.load(bias, {at}) : sum;
                });
          });
        }
      });
    }
  }

  /// Emits `body` for output number `i` of a tile along an axis with `size`
  /// outputs. `at` is that output's index on the axis; `body` is under a
  /// condition if that index may be beyond the last output, and is not emitted
  /// if it always is.
  void whenThere(Expr at, int64_t i, const Dim &size,
                 llvm::function_ref<void()> body) {
    int64_t left = size.known() ? size.most() % form.size : 1;
    if (size.divisor() % form.size == 0 || i < left)
      return body();
    if (size.most() > form.size || !size.known())
      b.when(at < b.size(size), body);
  }

  /// Combines the outputs of a tile in each window of the pool, applies the
  /// epilogue, and stores the results.
  void storePooled(const Place &place, ArrayRef<Exprs> outputs,
                   const ColumnVectors &vector, Expr channel, Value bias) {
    ArrayRef<int64_t> window = windowOf(pool), z = shapeOf(pool->getResult(0));
    int64_t down = form.size / window[0], across = form.size / window[1];
    for (int64_t i = 0; i < down; ++i) {
      Expr row = named(place.row / double(window[0]) + double(i),
                       "pooled_row_" + Twine(i));
      b.when(row < double(z[1]), [&] {
        for (int64_t j = 0; j < across; ++j) {
          Expr column = named(place.column / double(window[1]) + double(j),
                              "pooled_column_" + Twine(j));
          b.when(column < double(z[2]), [&] {
            // A partly used vector is stored in narrower vectors.
            for (int64_t done = 0; done < vector.columns;) {
              int64_t lanes = llvm::bit_floor(uint64_t(vector.columns - done));
              storeWindow(place, outputs,
                          {place.image, row, column,
                           done ? channel + double(done) : channel},
                          i * window[0], j * window[1], done, lanes, bias);
              done += lanes;
            }
          });
        }
      });
    }
  }

  /// Combines the outputs of a tile in the pool window at (top, left), for
  /// `lanes` lanes from lane `first` on, and stores the pool's result at index
  /// `at`.
  void storeWindow(const Place &place, ArrayRef<Exprs> outputs, const Exprs &at,
                   int64_t top, int64_t left, int64_t first, int64_t lanes,
                   Value bias) {
    ArrayRef<int64_t> window = windowOf(pool);
    bool isMax = isa<MaxPoolOp>(pool);
    b.withLanes(lanes, [&] {
      // A maximum starts with the neutral element, so that NaN is ignored.
      Expr result;
      if (isMax)
        result = b.broadcast(lowest(b, sumType), lanes);
      for (int64_t i = top; i < top + window[0]; ++i)
        for (int64_t j = left; j < left + window[1]; ++j) {
          Expr sum = lanesOf(b, outputs[i][j], first, lanes);
          if (bias)
            sum = sum + b.load(bias, {at[3]});
          b.bindElement(conv.getResult(), named(sum, nameOf("sum", i, j)));
          Expr x = b.broadcast(
              b.load(pool->getOperand(0), {place.image, place.row + double(i),
                                           place.column + double(j), at[3]}),
              lanes);
          result = isMax    ? select(x > result, x, result)
                   : result ? result + x
                            : x;
          named(result, isMax ? "best" : "total");
        }
      b.unbindElement(conv.getResult());
      if (!isMax)
        result =
            result * b.constant(1.0 / double(window[0] * window[1]), sumType);
      b.bindElement(pool->getResult(0), result);
      b.store(0u, b.broadcast(b.load(b.result(), at), lanes), at);
      b.unbindElement(pool->getResult(0));
      return result;
    });
  }

  SmallVector<Exprs> outputsOf(Expr inBlock, Expr offset, int64_t lanes) {
    SmallVector<Exprs> halves, outputs;
    b.withLanes(lanes, [&] {
      for (int64_t j = 0; j < form.points; ++j) {
        Exprs column;
        for (int64_t i = 0; i < form.points; ++i)
          column.push_back(named(
              product({own, b.index(i * form.points + j), inBlock, offset}),
              nameOf("product", i, j)));
        halves.push_back(form.outputsOf(column));
        for (auto [i, half] : llvm::enumerate(halves.back()))
          named(half, nameOf("half", i, j));
      }
      return halves.front().front();
    });
    for (int64_t i = 0; i < form.size; ++i) {
      Exprs row;
      for (int64_t j = 0; j < form.points; ++j)
        row.push_back(halves[j][i]);
      outputs.push_back(
          form.outputsOf(row, isInHalves() ? form.outputScale() : 1));
    }
    return outputs;
  }

  Expr product(ArrayRef<Expr> at) {
    Expr value = b.loadFrom(products, typeOfProducts(type), at);
    return isInHalves() ? b.wrap(asStored(b, value), type) : value;
  }

  /// Whether everything up to the outputs is computed in f16. Transformed
  /// inputs would overflow beyond 16,376 in tiles of 2 x 2 outputs, beyond
  /// 2,025 in tiles of 4 x 4, so inputs are scaled down (inputScale), which is
  /// made up for in the weights and the outputs.
  bool isInHalves() const { return type.isF16(); }

  KernelBuilder &b;
  ConvOp conv;
  Operation *pool;
  Winograd form;
  PackedPanels panels;
  /// The type of the transformed inputs and weights, and that of the
  /// convolution's result.
  Type type, sumType;
  Dims x, y;
  int64_t channels;
  /// How transformed inputs and weights of f16 or bf16 are multiplied.
  std::optional<DotForm> dots;
  Dim down, across, tiles;
  int64_t block, rows;
  /// The number of work items per block of tiles: the number of full panels of
  /// weights if threads also divide the panels for a block, else 1.
  int64_t perBlock = 1;
  /// Scratch buffers for the transformed inputs and for their products with the
  /// weights, divided among the parts of the work (one per thread), and the
  /// index of the current part in them (`own`).
  Value points, products;
  Expr own;
};

} // namespace

void emitWinograd(KernelBuilder &b, ConvolutionAnchor anchor) {
  Emitter(b, anchor).emit();
}

} // namespace ingot::schedule
