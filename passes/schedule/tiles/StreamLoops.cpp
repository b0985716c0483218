#include "passes/schedule/tiles/StreamLoops.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/JoinedRows.h"
#include "passes/schedule/tiles/StreamInput.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Returns the number of groups of kernel columns, each of which one dot
/// product takes, in one kernel row.
static int64_t groupsOf(const ChannelStream &stream) {
  return llvm::divideCeil(stream.kernel, stream.form.group);
}

/// Returns how many vectors of weights a register of results needs for the
/// whole window.
static int64_t weightVectors(ConvOp conv, const ChannelStream &stream) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  return ShapedType::getNumElements(w.drop_back(3)) * groupsOf(stream) *
         (stream.lanes / stream.form.lanes.front());
}

bool keepsWeights(ConvOp conv, const ChannelStream &stream,
                  const TargetDescription &target) {
  return weightVectors(conv, stream) <= int64_t(target.vectorRegisters) / 2;
}

bool isUnrolled(ConvOp conv, const ChannelStream &stream,
                const TargetDescription &target) {
  return shapeOf(conv.getW()).size() == 4 &&
         weightVectors(conv, stream) <= 2 * int64_t(target.vectorRegisters);
}

namespace {

/// Emits the loops of an integer depthwise convolution in whole registers.
class DepthwiseInRegisters {
public:
  DepthwiseInRegisters(KernelBuilder &b, ConvOp conv)
      : b(b), conv(conv), axes(windowAxes(conv)), columns(axes.back()),
        panels(*PackedPanels::of(b, conv.getW())),
        stream(*ChannelStream::of(conv, b.target)),
        wide(stream.form.lanes.front()), input(b, conv, stream) {}

  void emit() {
    Dims y = dimsOf(conv.getResult());
    if (!isUnrolled(conv, stream, b.target))
      return b.parallelFor(product(ArrayRef(y).drop_back(2)), [&](Expr row) {
        Exprs position = rowPosition(b, row, y);
        input.hideDistances(1);
        input.overRegisters([&](StreamPlace place) {
          loadWeights(place);
          oneRow(position, place);
        });
      });
    int64_t images = shapeOf(conv.getResult())[0],
            rows = shapeOf(conv.getResult())[1];
    if (images == 1 && rows > 1 && paysToFork(b.group))
      return b.forPart(rows, [&](Expr begin, Expr end) {
        downRows(b.index(0), begin, end, std::nullopt);
      });
    b.parallelFor(images, [&](Expr image) {
      downRows(named(image, "image"), b.index(0), b.index(rows), rows);
    });
  }

private:
  /// Returns a one-dimensional view of a buffer; null if it is not contiguous.
  Value flat(Value buffer) {
    return b.view(buffer,
                  {cast<MemRefType>(buffer.getType()).getNumElements()});
  }

  /// Emits result rows [begin, end) of an image; `known` is their number if it
  /// is static.
  void downRows(Expr image, Expr begin, Expr end,
                std::optional<int64_t> known) {
    int64_t together = b.plan.number("rows");
    const WindowAxis &rows = axes.front();
    input.hideDistances((together - 1) * rows.stride + rows.reach() + 1);
    input.overRegisters([&](StreamPlace place) {
      loadWeights(place);
      if (carriedRows() > 0)
        return withCarriedSums(image, begin, end, place);
      auto tile = [&](int64_t count) {
        return [&, count](Expr row, ArrayRef<Expr>) -> Exprs {
          rowsTogether(image, named(row, "row"), count, place);
          return {};
        };
      };
      Expr whole = together == 1 ? end
                   : known       ? b.index(*known / together * together)
                                 : named(end - (end - begin) % double(together),
                                         "end_of_tiles");
      b.loop(begin, whole, together, {}, tile(together));
      if (together > 1 && (!known || *known % together != 0))
        b.loop(whole, end, 1, {}, tile(1));
    });
  }

  /// Returns how many result rows after the current one already have partial
  /// sums. If it is not 0, each input row is loaded and interleaved only once,
  /// for all result rows that read it. It is 0 unless weights stay in
  /// registers, since only then the sums of these rows fit as well.
  int64_t carriedRows() const {
    const WindowAxis &rows = axes.front();
    return keepsWeights(conv, stream, b.target) && rows.dilation == 1 &&
                   b.plan.number("rows") == 1
               ? std::max<int64_t>(
                     0, llvm::divideCeil(rows.kernel, rows.stride) - 1)
               : 0;
  }

  /// Emits the result rows [begin, end) such that each input row is read once.
  /// When a result row is computed, the input rows that no earlier window has
  /// read are also multiplied for the sums of the following result rows.
  void withCarriedSums(Expr image, Expr begin, Expr end,
                       const StreamPlace &place) {
    const WindowAxis &rows = axes.front();
    int64_t vectors = stream.lanes / wide, fresh = rows.kernel - rows.stride;
    // Takes the input rows [from, to) of the window of result row `row`. Adds
    // their products to the sums of that row, `sums[0]`, and to the sums of the
    // following result rows.
    auto addRows = [&](Expr row, int64_t from, int64_t to,
                       SmallVector<Exprs> &sums) {
      Expr start = windowStart(image, row, place);
      for (int64_t at = from; at < to; ++at)
        for (auto [g, parts] :
             llvm::enumerate(input.interleaved(start, at * input.pitch, place)))
          for (int64_t later = 0; later < int64_t(sums.size()); ++later)
            if (int64_t k = at - later * rows.stride; k >= 0 && k < rows.kernel)
              addProducts(sums[later], parts,
                          b.index(k * groupsOf(stream) + int64_t(g)), place);
    };
    SmallVector<Exprs> begun(carriedRows(), zeros());
    addRows(begin, 0, fresh, begun);
    Exprs carried;
    for (auto [later, sums] : llvm::enumerate(begun))
      for (auto [v, sum] : llvm::enumerate(sums))
        carried.push_back(named(sum, "sum_" + Twine(later) + "_" + Twine(v)));
    b.loop(begin, end, 1, carried, [&](Expr row, ArrayRef<Expr> carried) {
      // Unrolling this loop twice would spill registers.
      b.builder.getInsertionBlock()->getParentOp()->setAttr(
          kernel::kUnrolledAttr, b.builder.getBoolAttr(false));
      named(row, "row");
      SmallVector<Exprs> sums;
      for (; !carried.empty(); carried = carried.drop_front(vectors))
        sums.emplace_back(carried.take_front(vectors));
      sums.push_back(zeros());
      addRows(row, fresh, rows.kernel, sums);
      store({image, row}, place, sums.front());
      Exprs next;
      for (const Exprs &later : ArrayRef(sums).drop_front())
        llvm::append_range(next, later);
      return next;
    });
  }

  Expr windowStart(Expr image, Expr row, const StreamPlace &place) {
    Expr first = row * double(axes.front().stride);
    if (shapeOf(conv.getX())[0] > 1)
      first = first + image * double(shapeOf(conv.getX())[1]);
    return named(first * double(input.pitch) + place.input, "first_of_window");
  }

  /// Emits the computation of one register of results in each of `count`
  /// adjacent result rows, from row `row` on.
  void rowsTogether(Expr image, Expr row, int64_t count,
                    const StreamPlace &place) {
    const WindowAxis &rows = axes.front();
    SmallVector<Exprs> sums(count, zeros());
    Expr start = windowStart(image, row, place);
    for (int64_t at = 0; at <= (count - 1) * rows.stride + rows.reach(); ++at) {
      // The result rows that read this input row, each with the kernel row by
      // which it is multiplied.
      SmallVector<std::pair<int64_t, int64_t>> readers;
      for (int64_t r = 0; r < count; ++r)
        for (int64_t k = 0; k < rows.kernel; ++k)
          if (r * rows.stride + k * rows.dilation == at)
            readers.push_back({r, k});
      if (readers.empty())
        continue;
      for (auto [g, parts] :
           llvm::enumerate(input.interleaved(start, at * input.pitch, place)))
        for (auto [r, k] : readers)
          addProducts(sums[r], parts,
                      b.index(k * groupsOf(stream) + int64_t(g)), place);
    }
    for (int64_t r = 0; r < count; ++r)
      store({image, named(row + double(r), "row_" + Twine(r))}, place, sums[r]);
  }

  /// Emits the computation of one register of results of a row, in a loop over
  /// the kernel rows.
  void oneRow(ArrayRef<Expr> position, const StreamPlace &place) {
    Dims sizes = dimsOf(conv.getX());
    Exprs sums = overKernel(
        b, ArrayRef(axes).drop_back(), position, zeros(),
        [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
          Exprs sums(carried.begin(), carried.end());
          Expr row = b.linearize(at, ArrayRef(sizes).drop_back(2)),
               start = named(row * double(input.pitch) + place.input,
                             "first_of_window");
          for (auto [g, parts] :
               llvm::enumerate(input.interleaved(start, 0, place)))
            addProducts(sums, parts,
                        named(kernelRow * double(groupsOf(stream)) + double(g),
                              "group"),
                        place);
          return sums;
        });
    store(position, place, sums);
  }

  Exprs zeros() {
    Expr zero = b.constant(0, elementOf(conv.getResult()));
    return Exprs(stream.lanes / wide, b.broadcast(zero, wide));
  }

  void addProducts(Exprs &sums, ArrayRef<Expr> parts, Expr step,
                   const StreamPlace &place) {
    for (auto [v, sum] : llvm::enumerate(sums)) {
      Expr weights =
          place.weights.empty()
              ? weightsAt(step, place, int64_t(v))
              : place.weights.at(*constantOf(step) * stream.lanes + int64_t(v));
      sum.value = kernel::DotOp::create(
          b.builder, b.loc, sum.value.getType(), parts[v].value, weights.value,
          sum.value, elementOf(conv.getX()).isUnsignedInteger(),
          elementOf(conv.getW()).isUnsignedInteger());
    }
  }

  /// Loads the weights for a register of results before the loop over rows, if
  /// they are few enough to stay in registers.
  void loadWeights(StreamPlace &place) {
    if (!isUnrolled(conv, stream, b.target) ||
        !keepsWeights(conv, stream, b.target))
      return;
    for (int64_t step = 0; step < axes.front().kernel * groupsOf(stream);
         ++step)
      for (int64_t v = 0; v < stream.lanes / wide; ++v)
        place.weights[step * stream.lanes + v] =
            weightsAt(b.index(step), place, v);
  }

  static std::optional<int64_t> constantOf(Expr index) {
    return getConstantIntValue(index.value);
  }

  /// Loads the weights of the group of kernel columns with number `step`, for
  /// the channels of vector `v` of a register's sums.
  Expr weightsAt(Expr step, const StreamPlace &place, int64_t v) {
    int64_t group = stream.form.group;
    Expr at =
        step * double((stream.channels + stream.channelsAgain()) * group) +
        (place.channel + double(v * wide)) * double(group);
    return b.withLanes(wide * group, [&] {
      return b.loadFrom(panels.buffer, panels.type, {named(at, "at_step")});
    });
  }

  /// Applies the epilogue to the sums of a register and stores the results.
  void store(ArrayRef<Expr> position, const StreamPlace &place,
             ArrayRef<Expr> sums) {
    Value anchor = conv.getResult(), output = flat(b.outputs[0]);
    Expr row = b.linearize(position, ArrayRef(dimsOf(anchor)).drop_back(2));
    Expr first = row * input.resultsOfRow + place.start;
    if (!epilogueIsInVectors(b) || !bindEpilogue(first, place) ||
        (!output && stream.crossesPositions()))
      return storeLanes(position, place, sums);
    b.withLanes(stream.lanes, [&] {
      Exprs at(position);
      at.append({place.column, place.channel});
      Expr sum = joined(b, Exprs(sums.begin(), sums.end()));
      if (conv.getBias())
        sum = sum + b.load(conv.getBias(), {place.channel});
      b.bindElement(anchor, sum);
      Expr results = b.broadcast(b.load(b.result(), at), stream.lanes);
      if (output)
        b.store(output, results, {named(first, "first_of_results")});
      else
        b.store(0u, results, at);
      return results;
    });
    for (Value operand : bound)
      b.unbindElement(operand);
    bound.clear();
    b.unbindElement(anchor);
  }

  /// Binds the epilogue's operands to the elements that a register of results
  /// needs. Returns false if an operand has a shape that cannot be loaded in
  /// vectors.
  bool bindEpilogue(Expr first, const StreamPlace &place) {
    for (BlockArgument argument : b.group.block->getArguments()) {
      if (argument == conv.getX())
        continue;
      Value operand = argument;
      Operation *reader = *argument.user_begin();
      if (auto unpack = dyn_cast<UnpackPanelsOp>(reader)) {
        if (unpack.getResult() == conv.getW())
          continue;
        operand = unpack.getResult();
      }
      int64_t count = tensorType(operand).getNumElements();
      Value buffer = b.bufferOf(argument);
      Exprs at;
      if (operand != argument ||
          (count == stream.channels && shapeOf(operand).back() == count &&
           !stream.crossesPositions())) {
        buffer = flat(buffer);
        at = {place.channel};
      } else if (shapeOf(operand) == shapeOf(conv.getResult())) {
        buffer = flat(buffer);
        at = {first};
      } else if (count == 1) {
        continue;
      } else {
        return false;
      }
      b.bindElement(operand, b.withLanes(stream.lanes, [&] {
        return b.loadFrom(buffer, elementOf(operand), at);
      }));
      bound.push_back(operand);
    }
    return true;
  }

  /// Applies the epilogue and stores the results element by element. Used if
  /// the epilogue cannot be computed in vectors, or if the results are not
  /// contiguous.
  void storeLanes(ArrayRef<Expr> position, const StreamPlace &place,
                  ArrayRef<Expr> sums) {
    for (Value operand : bound)
      b.unbindElement(operand);
    bound.clear();
    for (int64_t v = 0; v < int64_t(sums.size()); ++v)
      b.forRange(b.index(0), b.index(wide), [&](Expr lane) {
        named(lane, "lane");
        Expr at = place.start + double(v * wide) + lane,
             channel = named(at % double(stream.channels), "channel");
        Exprs place(position);
        place.append({named(at / double(stream.channels), "column"), channel});
        Expr one = b.wrap(vector::ExtractOp::create(b.builder, b.loc,
                                                    sums[v].value, lane.value),
                          sums[v].type);
        if (conv.getBias())
          one = one + b.load(conv.getBias(), {channel});
        b.bindElement(conv.getResult(), one);
        b.store(0u, b.load(b.result(), place), place);
      });
    b.unbindElement(conv.getResult());
  }

  KernelBuilder &b;
  ConvOp conv;
  SmallVector<WindowAxis> axes;
  WindowAxis columns;
  PackedPanels panels;
  ChannelStream stream;
  /// The number of lanes of a vector of sums.
  int64_t wide;
  StreamInput input;
  /// The operands of the epilogue that are bound for the current register.
  SmallVector<Value> bound;
};

} // namespace

void emitStream(KernelBuilder &b, ConvOp conv) {
  DepthwiseInRegisters(b, conv).emit();
}

} // namespace ingot::schedule
