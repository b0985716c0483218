#include "passes/schedule/tiles/PositionLoops.h"

#include "passes/schedule/ContiguousRows.h"
#include "passes/schedule/tiles/CursorTile.h"
#include "passes/schedule/tiles/LaneShuffles.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/PositionTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class PositionLoops {
public:
  PositionLoops(KernelBuilder &b, ConvolutionAnchor anchor)
      : b(b), anchor(anchor), conv(anchor.conv), pool(anchor.pool),
        type(anchor.type()), tiles(anchor, b.target), copied(tiles.copied),
        lines(b.plan.number("lines")), parts(b.plan.number("parts")),
        ofTile(b.plan.number("channels")), ofRow(b.plan.number("vectors")),
        isFlat(shapeOf(conv.getX()).size() == 3), axes(windowAxes(conv)),
        columnsIn(ColumnsInMemory::of(conv)) {}

  void emit() {
    int64_t elements = tiles.elements(lines),
            blocks = copied.images * blocksOfImage();
    copy = b.scratch({parts * elements}, type);
    auto over = [&](Expr part, Expr first, Expr last) {
      base = named(part * double(elements), "copy_start");
      clearZeros();
      b.forRange(first, last, [&](Expr number) { block(number); });
    };
    if (parts == 1)
      return over(b.index(0), b.index(0), b.index(blocks));
    auto blockOf = [&](Expr part) {
      return blocks == parts ? part : part * double(blocks) / double(parts);
    };
    b.forPart(parts, [&](Expr begin, Expr end) {
      over(begin, named(blockOf(begin), "first_block"),
           named(blockOf(end), "last_block"));
    });
  }

private:
  int64_t blocksOfImage() const {
    return llvm::divideCeil(copied.resultRows, lines);
  }

  void block(Expr number) {
    named(number, "block");
    image = named(number / double(blocksOfImage()), "image");
    Expr line = named(number % double(blocksOfImage()) * double(lines),
                      "first_line"),
         end = line + double(lines);
    if (copied.resultRows % lines)
      end = min(end, double(copied.resultRows));
    named(end, "end_of_lines");
    firstRow = named(line * double(copied.poolRows * copied.down.stride) -
                         double(copied.down.low),
                     "first_copied_row");
    copyRows(end);
    b.forRange(line, end, [&](Expr row) {
      named(row, "row");
      int64_t full = tiles.channels / ofTile, left = tiles.channels % ofTile;
      b.forRange(b.index(0), b.index(full), [&](Expr part) {
        overRow(row, named(part * double(ofTile), "channel"), ofTile);
      });
      if (left)
        overRow(row, b.index(full * ofTile), left);
    });
  }

  //===------------------------------------------------------------------===//
  // The copy of input rows
  //===------------------------------------------------------------------===//

  /// Clears those elements in the copy of input rows to which nothing is
  /// copied. Once is enough, since the copies for all blocks of result rows
  /// have the same layout.
  void clearZeros() {
    if (copied.zeros() == 0 && copied.whole() == copied.most())
      return;
    int64_t lanes = tiles.lanes(), pitch = tiles.pitch(),
            from = copied.whole() / lanes * lanes;
    auto clear = [&](Expr start, int64_t count) {
      for (int64_t i = 0; i < count; i += lanes)
        b.store(copy, b.broadcast(b.constant(0, type), lanes),
                {start + double(i)});
    };
    clear(base, tiles.start());
    b.forRange(b.index(0), b.index(tiles.copies(lines)), [&](Expr row) {
      named(row, "copied_row");
      clear(base + double(tiles.start() + from) + row * double(pitch),
            pitch - from);
    });
  }

  void copyRows(Expr endOfLines) {
    const WindowAxis &down = copied.down;
    int64_t rows = copied.inputRows();
    Expr end =
        (endOfLines * double(copied.poolRows) - 1.0) * double(down.stride) +
        double(down.reach() + 1 - down.low);
    b.forRange(
        named(max(firstRow, 0), "first_inside"),
        named(min(named(end, "end_of_windows"), double(rows)), "end_inside"),
        [&](Expr row) {
          named(row, "input_row");
          b.forRange(b.index(0), b.index(copied.channels), [&](Expr channel) {
            named(channel, "input_channel");
            copyRow(row, channel, startOf(row, channel));
          });
        });
  }

  /// Returns the index in the copy of input rows at which channel `channel` of
  /// input row `row` begins.
  Expr startOf(Expr row, Expr channel) {
    int64_t ofChannel = copied.stride() * tiles.pitch();
    return named(base + double(tiles.start()) +
                     ((row - firstRow) * double(copied.channels) + channel) *
                         double(ofChannel),
                 "start");
  }

  void copyRow(Expr row, Expr channel, Expr start) {
    int64_t columns = copied.inputColumns(), stride = copied.stride(),
            pitch = tiles.pitch(), whole = copied.whole();
    auto one = [&](Expr column, Expr remainder, Expr number) {
      b.store(copy, loadInput(row, column, channel),
              {start + remainder * double(pitch) + number});
    };
    if (!columnsIn || stride > mostInVectors || whole < 4) {
      b.forRange(b.index(0), b.index(columns), [&](Expr column) {
        named(column, "input_column");
        one(column, column % double(stride), column / double(stride));
      });
      return;
    }
    int64_t lanes = 1;
    SmallVector<int64_t> widths = b.target.lanes(type);
    for (int64_t width : llvm::reverse(widths))
      if (width <= whole)
        lanes = width;
    forCoveringTiles(b, whole, lanes, "number", [&](Expr number) {
      SmallVector<Value> read;
      for (int64_t i = 0; i < stride; ++i)
        b.withLanes(lanes, [&] {
          Expr at = named(number * double(stride), "first_column") +
                    double(i * lanes);
          read.push_back(loadColumns(row, at, channel).value);
          return Expr();
        });
      for (int64_t remainder = 0; remainder < stride; ++remainder) {
        Value row = gathered(
            b, read, [&](int64_t lane) { return lane * stride + remainder; });
        b.store(copy, b.wrap(row, type),
                {start + double(remainder * pitch) + number});
      }
    });
    for (int64_t column = whole * stride; column < columns; ++column)
      one(b.index(column), b.index(column % stride), b.index(column / stride));
  }

  Exprs inputAt(Expr row, Expr column, Expr channel) {
    return isFlat ? Exprs{image, column, channel}
                  : Exprs{image, row, column, channel};
  }
  Expr loadInput(Expr row, Expr column, Expr channel) {
    return b.load(conv.getX(), inputAt(row, column, channel));
  }
  Expr loadColumns(Expr row, Expr column, Expr channel) {
    Exprs at = inputAt(row, column, channel);
    Value buffer = b.bufferOf(columnsIn->tensor);
    if (columnsIn->axes.empty()) {
      at.pop_back();
      return b.loadFrom(b.view(buffer, shapeOf(columnsIn->tensor).drop_back()),
                        type, at);
    }
    Exprs stored(at.size());
    for (auto [i, axis] : llvm::enumerate(columnsIn->axes))
      stored[axis] = at[i];
    return b.loadFrom(buffer, type, stored);
  }

  //===------------------------------------------------------------------===//
  // Tiles
  //===------------------------------------------------------------------===//

  /// Emits the results at all positions of result row `row`, in the `count`
  /// channels from `channel` on.
  void overRow(Expr row, Expr channel, int64_t count) {
    ArrayRef<int64_t> all = tiles.vectors;
    auto width = int64_t(all.front());
    // Tiles of whole vectors come first. One more tile has the remaining
    // columns.
    int64_t whole = copied.resultColumns / width / ofRow,
            ofFull = ofRow * width;
    auto full = [&](Expr first) {
      tile(row, first, all.take_front(ofRow), ofFull, channel, count);
    };
    if (whole == 1)
      full(b.index(0));
    else if (whole > 1)
      b.loop(b.index(0), b.index(whole * ofFull), ofFull, {},
             [&](Expr first, ArrayRef<Expr>) -> Exprs {
               full(named(first, "column"));
               return {};
             });
    if (int64_t done = whole * ofFull; done < copied.resultColumns)
      tile(row, b.index(done), all.drop_front(whole * ofRow),
           copied.resultColumns - done, channel, count);
  }

  /// Emits the results at `positions` positions of a row from position `first`
  /// on, in vectors of `lanes` lanes each, and in the `count` channels from
  /// `channel` on.
  void tile(Expr row, Expr first, ArrayRef<int64_t> lanes, int64_t positions,
            Expr channel, int64_t count) {
    auto ofChannel = [&](int64_t c) {
      return named(channel + double(c), "channel_" + Twine(c));
    };
    Exprs results = pool ? pooled(row, first, lanes, ofChannel, count)
                         : finished(row, first, lanes, ofChannel, count);
    Exprs at = resultAt(row, first);
    int64_t done = 0;
    for (auto [v, width] : llvm::enumerate(lanes)) {
      SmallVector<Value> vectors;
      for (int64_t c = 0; c < count; ++c)
        vectors.push_back(results[c * lanes.size() + v].value);
      at.back() = named(first + double(done), "column_" + Twine(done));
      store(vectors, width, std::min(width, positions - done), at, channel);
      done += width;
    }
  }

  Exprs resultAt(Expr row, Expr column) {
    return isFlat ? Exprs{image, column} : Exprs{image, row, column};
  }
  static std::string nameAt(StringRef stem, int64_t c, size_t v) {
    return (stem + "_" + Twine(c) + "_" + Twine(v)).str();
  }

  using ChannelOf = llvm::function_ref<Expr(int64_t)>;

  /// Returns the results of a convolution without a pool, at the positions of a
  /// tile.
  Exprs finished(Expr row, Expr first, ArrayRef<int64_t> lanes,
                 ChannelOf channel, int64_t count) {
    Exprs sums = sumsOf(row, first, lanes, channel, count);
    Exprs results;
    for (int64_t c = 0; c < count; ++c)
      for (size_t v = 0; v < lanes.size(); ++v) {
        Exprs at = resultAt(row, first);
        at.push_back(channel(c));
        results.push_back(behindSum(sums[c * lanes.size() + v], b.result(), at,
                                    lanes[v], nameAt("result", c, v)));
      }
    return results;
  }

  /// Whether sums start with the bias. They do unless strict mode prescribes
  /// the order of terms, in which the bias comes last.
  bool startsWithBias() { return conv.getBias() && !b.group.isStrict(); }

  /// Completes a vector of sums: adds the bias unless the sums start with it,
  /// and applies the operators after the convolution, up to the one that
  /// computes `value`.
  Expr behindSum(Expr sum, Value value, const Exprs &at, int64_t lanes,
                 StringRef name) {
    if (conv.getBias() && !startsWithBias())
      sum = sum + b.load(conv.getBias(), {at.back()});
    b.bindElement(conv.getResult(), sum);
    Expr result = b.broadcast(b.load(value, at), lanes);
    b.unbindElement(conv.getResult());
    return named(result, name);
  }

  Exprs pooled(Expr row, Expr first, ArrayRef<int64_t> lanes, ChannelOf channel,
               int64_t count) {
    size_t vectors = lanes.size();
    bool isMax = isa<MaxPoolOp>(pool);
    Exprs start;
    for (int64_t c = 0; c < count; ++c)
      for (int64_t width : lanes)
        start.push_back(
            b.broadcast(isMax ? lowest(b, type) : b.constant(0, type), width));
    Exprs best = b.loop(
        copied.poolRows, start, [&](Expr poolRow, ArrayRef<Expr> carried) {
          named(poolRow, "pool_row");
          Expr line =
              named(row * double(copied.poolRows) + poolRow, "conv_row");
          Exprs sums = sumsOf(line, first, lanes, channel, count);
          Exprs next(carried);
          for (int64_t c = 0; c < count; ++c)
            for (int64_t p = 0; p < copied.poolColumns; ++p)
              for (size_t v = 0; v < vectors; ++v) {
                Exprs at = resultAt(line, first);
                at.push_back(channel(c));
                Expr x =
                    behindSum(sums[(c * copied.poolColumns + p) * vectors + v],
                              pool->getOperand(0), at, lanes[v],
                              nameAt("conv_" + std::to_string(c), p, v));
                Expr &into = next[c * vectors + v];
                into = named(isMax ? select(x > into, x, into) : into + x,
                             nameAt(isMax ? "best" : "total", c, v));
              }
          return next;
        });
    auto window = double(copied.poolRows * copied.poolColumns);
    Exprs results;
    for (int64_t c = 0; c < count; ++c)
      for (size_t v = 0; v < vectors; ++v) {
        Expr value = best[c * vectors + v];
        if (!isMax)
          value = value * b.constant(1.0 / window, type);
        b.bindElement(pool->getResult(0), value);
        Exprs at = resultAt(row, first);
        at.push_back(channel(c));
        results.push_back(named(b.broadcast(b.load(b.result(), at), lanes[v]),
                                nameAt("result", c, v)));
      }
    b.unbindElement(pool->getResult(0));
    return results;
  }

  /// Returns the sums of a tile in row `line` of the convolution's result: for
  /// each channel, for each column of the pool's window, and for each vector.
  Exprs sumsOf(Expr line, Expr first, ArrayRef<int64_t> lanes,
               ChannelOf channel, int64_t count) {
    Exprs start;
    for (int64_t c = 0; c < count; ++c) {
      Expr first =
          startsWithBias()
              ? named(b.load(conv.getBias(), {channel(c)}), "bias_" + Twine(c))
              : b.constant(0, type);
      for (int64_t p = 0; p < copied.poolColumns; ++p)
        for (int64_t width : lanes)
          start.push_back(b.broadcast(first, width));
    }
    Exprs outer{image};
    if (!isFlat)
      outer.push_back(line);
    return overKernel(
        b, ArrayRef(axes).drop_back(), outer, start,
        [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
          Expr inputRow = isFlat ? b.index(0) : at.back();
          return b.loop(copied.channels, carried,
                        [&](Expr inputChannel, ArrayRef<Expr> sums) {
                          named(inputChannel, "input_channel");
                          Expr from = startOf(inputRow, inputChannel) + first;
                          return kernelRowOf(kernelRow, inputChannel, from,
                                             sums, lanes, channel, count);
                        });
        });
  }

  /// Returns the sums of a tile plus the products of one kernel row and one
  /// input channel.
  Exprs kernelRowOf(Expr kernelRow, Expr inputChannel, Expr from,
                    ArrayRef<Expr> carried, ArrayRef<int64_t> lanes,
                    ChannelOf channel, int64_t count) {
    Exprs sums(carried);
    int64_t columns = copied.poolColumns;
    for (int64_t k = 0; k < copied.across.kernel; ++k) {
      Exprs x;
      for (int64_t p = 0; p < columns; ++p) {
        CopiedRows::Place place = copied.placeOf(p, k);
        int64_t at = place.remainder * tiles.pitch() + place.number;
        for (auto [v, width] : llvm::enumerate(lanes)) {
          x.push_back(b.withLanes(width, [&] {
            return b.loadFrom(copy, type, {from + double(at)});
          }));
          named(x.back(), nameAt("x", p, v));
          at += width;
        }
      }
      for (int64_t c = 0; c < count; ++c) {
        Exprs of{b.index(k), inputChannel, channel(c)};
        if (!isFlat)
          of.insert(of.begin(), kernelRow);
        Expr w = named(b.load(conv.getW(), of), "w_" + Twine(c));
        for (auto [i, read] : llvm::enumerate(x)) {
          Expr &sum = sums[c * x.size() + i];
          sum = named(fma(read, w, sum), nameAt("sum", c, i));
        }
      }
    }
    return sums;
  }

  //===------------------------------------------------------------------===//
  // Results
  //===------------------------------------------------------------------===//

  /// Transposes `vectors`, one for each channel of a tile with a lane for each
  /// position, to channels-last and stores the first `positions` positions.
  void store(SmallVector<Value> vectors, int64_t lanes, int64_t positions,
             const Exprs &at, Expr channel) {
    auto count = int64_t(vectors.size());
    int64_t pitch = int64_t(llvm::PowerOf2Ceil(count));
    vectors.resize(pitch, vectors.back());
    vectors = turned(b, std::move(vectors));
    int64_t all = shapeOf(b.result()).back(),
            rows = tensorType(b.result()).getNumElements() /
                   (all * copied.resultColumns);
    Value flat = count == all
                     ? b.view(b.outputs[0], {rows, copied.resultColumns * all})
                     : Value();
    auto storePart = [&](Value from, int64_t lane, int64_t width,
                         llvm::function_ref<void(Expr)> to) {
      b.withLanes(width, [&] {
        to(lanesOf(b, b.wrap(from, type), lane, width));
        return Expr();
      });
    };
    if (hasContiguousRows(flat)) {
      // The tile has all channels of the result, so its positions are
      // contiguous in memory.
      Expr row = isFlat ? at[0] : at[0] * double(copied.resultRows) + at[1];
      Expr first = at.back() * double(all);
      int64_t elements = positions * count;
      for (int64_t done = 0; done < elements; done += lanes) {
        Value next = gathered(b, vectors, [&](int64_t lane) {
          int64_t element = done + lane;
          return element < elements ? element / count * pitch + element % count
                                    : -1;
        });
        int64_t left = std::min(lanes, elements - done);
        for (int64_t lane = 0; lane < left;) {
          auto width = int64_t(llvm::bit_floor(uint64_t(left - lane)));
          storePart(next, lane, width, [&](Expr part) {
            b.store(flat, part, {row, first + double(done + lane)});
          });
          lane += width;
        }
      }
      return;
    }
    for (int64_t position = 0; position < positions; ++position)
      for (int64_t c = 0; c < count;) {
        int64_t width = std::min(lanes,
                                 int64_t(llvm::bit_floor(uint64_t(count - c)))),
                place = position * pitch + c;
        Exprs to(at);
        to.back() = to.back() + double(position);
        to.push_back(channel + double(c));
        storePart(vectors[place / lanes], place % lanes, width,
                  [&](Expr part) { b.store(0u, part, to); });
        c += width;
      }
  }

  KernelBuilder &b;
  ConvolutionAnchor anchor;
  ConvOp conv;
  Operation *pool;
  Type type;
  PositionTiles tiles;
  const CopiedRows &copied;
  /// From the plan: the number of result rows that share a copy of input rows,
  /// the number of such copies, and the channels and the vectors of a tile.
  int64_t lines, parts, ofTile, ofRow;
  /// Whether an image has a single spatial axis.
  bool isFlat;
  SmallVector<WindowAxis> axes;
  std::optional<ColumnsInMemory> columnsIn;
  Value copy;
  /// Of the current block of result rows: the start of its copy of input rows
  /// in the scratch memory, its image, and the first input row that is copied
  /// for it.
  Expr base, image, firstRow;
};

} // namespace

void emitPositionConvolution(KernelBuilder &b, ConvolutionAnchor anchor) {
  PositionLoops(b, anchor).emit();
}

} // namespace ingot::schedule
