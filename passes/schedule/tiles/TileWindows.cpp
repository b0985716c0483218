#include "passes/schedule/tiles/TileWindows.h"

#include "passes/schedule/tiles/FlatStore.h"
#include "passes/schedule/tiles/RowTiles.h"
#include "passes/schedule/tiles/TileStore.h"
#include "passes/schedule/tiles/TileWindowModel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

namespace {

/// Emits the loops of one convolution in tile registers.
class TileConvolution {
public:
  TileConvolution(KernelBuilder &b, ConvolutionAnchor anchor)
      : b(b), anchor(anchor), conv(anchor.conv),
        form(*tileForm(anchor, b.target)), windows(conv),
        panels(*PackedPanels::of(b, conv.getW())), type(elementOf(conv.getX())),
        y(shapeOf(conv.getResult())), rows(b.plan.number("rows")),
        lines(b.plan.number("lines")), parts(b.plan.number("parts")) {}

  void emit() {
    allowInPlace();
    if (lines > 0)
      return inWindows();
    Value matrix = asMatrix(b, b.bufferOf(conv.getX()), windows.channels);
    if (matrix)
      return asProduct(matrix);
    // The input is part of a larger tensor: copy its rows, as for larger
    // windows.
    lines = 1;
    form = *TileForm::of(elementOf(conv.getX()), elementOf(conv.getW()),
                         windows.stepsOfRun(), b.target);
    inWindows();
  }

private:
  using Panel = std::optional<Expr>; // number of the panel; none for the tail

  void allowInPlace() {
    for (auto [i, input] : llvm::enumerate(b.group.block->getArguments()))
      if (mayBecomeResult(b.group, input))
        b.allowInPlace(0, i);
  }

  RegisterTiles tilesOf(int64_t count, const Panel &panel) {
    int64_t full = panels.fullPanels * panels.panelWidth;
    return RegisterTiles(
        b, form, count,
        form.cover(panel ? panels.panelWidth : panels.columns - full));
  }
  Expr firstColumn(const Panel &panel) {
    return panel ? named(*panel * double(panels.panelWidth), "channel")
                 : b.index(panels.fullPanels * panels.panelWidth);
  }
  /// Calls `body` for the panels [first, last) of weights. If `last` is the
  /// number of full panels, also calls it for the tail (the columns after the
  /// last full panel).
  void forPanels(Expr first, Expr last,
                 llvm::function_ref<void(const Panel &)> body) {
    if (panels.fullPanels == 0)
      return body(std::nullopt);
    b.forRange(first, last, [&](Expr number) {
      named(number, "panel");
      body(number);
      if (panels.tailWidth > 0)
        b.when(isLast(number, panels.fullPanels), [&] { body(std::nullopt); });
    });
  }

  Expr withBias(Expr sum, Expr column) {
    return conv.getBias() ? sum + b.load(conv.getBias(), {column}) : sum;
  }

  //===------------------------------------------------------------------===//
  // Pointwise
  //===------------------------------------------------------------------===//

  void asProduct(Value matrix) {
    Dim positions = anchor.positions();
    auto whole = [&](const Panel &panel, Expr first, int64_t count) {
      RegisterTiles tiles = tilesOf(count, panel);
      tiles.clear();
      tiles.multiply(
          {matrix,
           [&](Expr row, Expr step) { return Exprs{first + row, step}; },
           pitchOfRows(matrix)},
          panels, panel, b.index(0));
      tiles.store(elementOf(conv.getResult()), /*mostTogether=*/4,
                  [&](Tile &tile, Expr row) {
                    store(tile, first + row, firstColumn(panel));
                  });
    };
    if (b.plan.word("order") == "panels" && panels.fullPanels > 0) {
      b.parallelFor(panels.fullPanels, [&](Expr number) {
        named(number, "panel");
        auto ofPanel = [&](const Panel &panel) {
          if (mayDiffer(positions.floorDiv(rows), 0))
            tilesOf(rows, panel).shape();
          forRowTiles(b, positions, rows, [&](Expr first, int64_t count) {
            if (count != rows)
              tilesOf(count, panel).shape();
            whole(panel, named(first, "position"), count);
          });
        };
        ofPanel(number);
        if (panels.tailWidth > 0)
          b.when(isLast(number, panels.fullPanels),
                 [&] { ofPanel(std::nullopt); });
        RegisterTiles::release(b);
      });
      return;
    }
    forRowTilesParallel(
        b, positions, rows, panels.fullPanels,
        [&](Expr first, int64_t count, const KernelBuilder::Part &part) {
          named(first, "position");
          int64_t each = panels.fullPanels / part.count;
          Expr from = part.number * double(each);
          forPanels(from, from + double(each), [&](const Panel &panel) {
            tilesOf(count, panel).shape();
            whole(panel, first, count);
          });
          RegisterTiles::release(b);
        });
  }

  /// Adds the bias to the sums of a tile, applies the epilogue and stores the
  /// results. The rows of the tile are result positions from `first` on, its
  /// columns are output channels from `column` on.
  void store(Tile &tile, Expr first, Expr column) {
    auto bias = [&](Expr sum, Expr channel) { return withBias(sum, channel); };
    if (storeFlat(b, tile, conv, first, column, bias))
      return;
    storeTile(
        b, tile, conv.getResult(),
        [&](int64_t row, Expr channel) {
          Exprs at = b.delinearize(named(first + double(row), "position"),
                                   y.drop_back());
          at.push_back(channel);
          return at;
        },
        column, bias);
  }

  //===------------------------------------------------------------------===//
  // Windows
  //===------------------------------------------------------------------===//

  int64_t blocksOfImage() const { return y[1] / lines; }

  void inWindows() {
    int64_t blocks = y[0] * blocksOfImage();
    copy = b.scratch({parts, windows.elements(lines)}, type);
    int64_t elements = parts * windows.elements(lines);
    flat = b.view(copy, {elements});
    // If there are fewer blocks of rows than parts (the shares of threads),
    // threads also divide the panels of weights that each block is multiplied
    // by.
    perBlock = blocks >= parts ? 1 : std::max<int64_t>(panels.fullPanels, 1);
    int64_t units = blocks * perBlock;
    auto over = [&](Expr part, Expr first, Expr last) {
      auto ofNumber = [&](Expr number) { ofBlock(part, number, first, last); };
      if (perBlock == 1)
        b.forRange(first, last, ofNumber);
      else if (blocks == 1)
        ofNumber(b.index(0));
      else
        b.forRange(first / double(perBlock),
                   (last + double(perBlock - 1)) / double(perBlock), ofNumber);
      RegisterTiles::release(b);
    };
    if (parts == 1)
      return over(b.index(0), b.index(0), b.index(units));
    auto unitOf = [&](Expr part) {
      return units == parts ? part : part * double(units) / double(parts);
    };
    b.forPart(parts, [&](Expr begin, Expr end) {
      over(begin, named(unitOf(begin), "first_unit"),
           named(unitOf(end), "last_unit"));
    });
  }

  void ofBlock(Expr part, Expr number, Expr firstUnit, Expr lastUnit) {
    named(number, "block");
    Expr image = named(number / double(blocksOfImage()), "image"),
         line = named(number % double(blocksOfImage()) * double(lines), "line");
    copyInput(part, image, line);
    Expr from = b.index(0), to = b.index(panels.fullPanels);
    if (perBlock > 1) {
      Expr units = number * double(perBlock);
      from = named(max(firstUnit - units, 0), "first_panel");
      to = named(min(lastUnit - units, double(perBlock)), "last_panel");
    }
    int64_t positions = windows.positions(lines);
    Expr base = named(part * double(windows.elements(lines)), "copy_start");
    forPanels(from, to, [&](const Panel &panel) {
      if (positions >= rows)
        tilesOf(rows, panel).shape();
      forRowTiles(b, positions, rows, [&](Expr first, int64_t count) {
        if (count != rows)
          tilesOf(count, panel).shape();
        window(panel, base, named(first, "position"), count, image, line);
      });
    });
  }

  void window(const Panel &panel, Expr base, Expr first, int64_t count,
              Expr image, Expr line) {
    RegisterTiles tiles = tilesOf(count, panel);
    tiles.clear();
    const WindowAxis &down = windows.down, &across = windows.across;
    int64_t bytes = kernel::elementBytes(storageType(type)),
            plane = windows.rows(lines) * windows.columns();
    auto placeOf = [](Expr k, const WindowAxis &axis, int64_t perStride,
                      int64_t perPlane) {
      Expr at = k * double(axis.dilation);
      if (axis.stride == 1 || axis.kernel == 1)
        return at * double(perStride);
      return at / double(axis.stride) * double(perStride) +
             at % double(axis.stride) * double(perPlane);
    };
    auto run = [&](Expr row, std::optional<Expr> column) {
      named(row, "kernel_row");
      int64_t acrossPlanes = TileWindows::planesOf(across);
      Expr place =
          first + placeOf(row, down, windows.columns(), plane * acrossPlanes);
      Expr runNumber = row;
      if (column) {
        named(*column, "kernel_column");
        place = place + placeOf(*column, across, 1, plane);
        runNumber = row * double(across.kernel) + *column;
      }
      Expr start = named(base + place * double(windows.channels), "start");
      tiles.multiply(
          {flat,
           [&](Expr ofTile, Expr step) {
             return Exprs{start + ofTile * double(windows.channels) + step};
           },
           windows.channels * bytes},
          panels, panel,
          named(runNumber * double(windows.stepsOfRun() / form.group),
                "first_group"));
    };
    b.forRange(b.index(0), b.index(down.kernel), [&](Expr row) {
      if (windows.joinsColumns())
        return run(row, std::nullopt);
      b.forRange(b.index(0), b.index(across.kernel),
                 [&](Expr column) { run(row, column); });
    });
    Expr column = firstColumn(panel);
    int64_t width = windows.columns(), inside = y[2];
    // Several positions are stored together, unless the kernel also computes
    // positions between the end of a result row and the start of the next one,
    // which it does not store.
    int64_t together = width == inside ? 4 : 1;
    tiles.store(
        elementOf(conv.getResult()), together, [&](Tile &tile, Expr row) {
          Expr position = named(first + row, "place");
          Expr start =
              named(image * double(y[1]) + line, "row_of_all") * double(inside);
          if (width == inside)
            return store(tile, named(start + position, "stored"), column);
          Expr ofBlock = named(position / double(width), "line_of_block"),
               x = named(position % double(width), "column");
          b.when(x < double(inside), [&] {
            store(tile, named(start + ofBlock * double(inside) + x, "stored"),
                  column);
          });
        });
  }

  //===------------------------------------------------------------------===//
  // The copy of input rows
  //===------------------------------------------------------------------===//

  void copyInput(Expr part, Expr image, Expr line) {
    int64_t acrossPlanes = TileWindows::planesOf(windows.across),
            ofRow = windows.columns() * windows.channels,
            rowsOfPlane = windows.rows(lines);
    const WindowAxis &down = windows.down;
    b.forRange(b.index(0), b.index(windows.planes()), [&](Expr plane) {
      named(plane, "plane");
      Expr remainderDown = plane / double(acrossPlanes),
           remainderAcross = plane % double(acrossPlanes);
      b.forRange(b.index(0), b.index(rowsOfPlane), [&](Expr row) {
        named(row, "copied_row");
        Expr from = named((line + row) * double(down.stride) -
                              double(down.low) + remainderDown,
                          "input_row");
        Expr to = named(part * double(windows.elements(lines)) +
                            (plane * double(rowsOfPlane) + row) * double(ofRow),
                        "to");
        auto copyRow = [&] { copyColumns(image, from, remainderAcross, to); };
        auto clearRow = [&] { clear(to, 0, ofRow); };
        int64_t last = (y[1] - 1 + down.reach() / down.stride) * down.stride -
                       down.low + TileWindows::planesOf(down) - 1;
        std::optional<Expr> isInside;
        if (down.low > 0)
          isInside = from >= 0.0;
        if (last >= *down.input.known()) {
          Expr below = from < double(*down.input.known());
          isInside = isInside ? *isInside & below : below;
        }
        if (isInside)
          b.branch(named(*isInside, "is_inside"), copyRow, clearRow);
        else
          copyRow();
      });
    });
  }

  /// Copies an input row; with a stride, only those of its columns that have
  /// the given remainder modulo the stride.
  void copyColumns(Expr image, Expr row, Expr remainder, Expr to) {
    const WindowAxis &across = windows.across;
    int64_t channels = windows.channels, width = windows.columns(),
            input = *across.input.known();
    Value x = b.bufferOf(conv.getX());
    ArrayRef<int64_t> shape = shapeOf(conv.getX());
    Value joined = b.view(x, {shape[0], shape[1], input * channels});
    if (across.stride == 1 && joined) {
      int64_t count = std::min(input, width - across.low);
      clear(to, 0, across.low * channels);
      b.forLanes(count * channels, type, [&](Expr i, int64_t) {
        named(i, "element");
        b.store(flat, b.loadFrom(joined, type, {image, row, i}),
                {to + double(across.low * channels) + i});
      });
      clear(to, (across.low + count) * channels,
            (width - across.low - count) * channels);
      return;
    }
    b.forRange(b.index(0), b.index(width), [&](Expr column) {
      named(column, "copied_column");
      Expr from =
          named(column * double(across.stride) - double(across.low) + remainder,
                "input_column");
      Expr start = named(to + column * double(channels), "to_column");
      b.branch((from >= 0.0) & (from < double(input)),
               [&] {
                 b.forLanes(channels, type, [&](Expr channel, int64_t) {
                   named(channel, "channel");
                   b.store(flat,
                           b.loadFrom(x, type, {image, row, from, channel}),
                           {start + channel});
                 });
               },
               [&] { clear(start, 0, channels); });
    });
  }

  void clear(Expr to, int64_t first, int64_t count) {
    if (count <= 0)
      return;
    b.forLanes(count, type, [&](Expr i, int64_t lanes) {
      named(i, "element");
      b.store(flat, b.broadcast(b.constant(0, type), lanes),
              {to + double(first) + i});
    });
  }

  KernelBuilder &b;
  ConvolutionAnchor anchor;
  ConvOp conv;
  TileForm form;
  TileWindows windows;
  PackedPanels panels;
  Type type;
  ArrayRef<int64_t> y;
  int64_t rows, lines, parts;
  int64_t perBlock = 1;
  Value copy, flat; // scratch memory, and its one-dimensional view
};

} // namespace

void emitTileConvolution(KernelBuilder &b, ConvolutionAnchor anchor) {
  TileConvolution(b, anchor).emit();
}

} // namespace ingot::schedule
