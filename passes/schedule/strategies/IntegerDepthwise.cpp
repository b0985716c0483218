// One filter of integers per channel, in whole registers.
//
// Where a product sums groups of neighbouring bytes (kernel.dot with both operands in
// vectors), the group is made of kernel columns: the input at four of them is
// interleaved in registers, the weights are packed that way.
//
//   x at kernel columns 0 to 2, one register each      a0 a1 .. | b0 b1 .. | c0 c1 ..
//   interleaved, missing columns as zeros              a0 b0 c0 0  a1 b1 c1 0  ..
//   times the packed weights, summed in groups         one lane of 32 bits a channel
//
// A row of results is a stream of registers (ChannelStream.h), each of which keeps its
// weights while the loop goes down the rows. Where there are too many weights for that, two
// rows of results are computed together, which share what is interleaved:
//
//   result rows 0, 1:   input row 0 for 0,  1 for 0 and 1,  2 for 0 and 1,  3 for 1
//
// At a stride of 2 a register takes each second position:
//
//   input columns 0 to 3 | 4 to 7  ->  columns 0 2 4 6 at kernel column 0, 1 3 5 7 at 1
//
// and where positions do not fill a register evenly, it is merged from registers that
// each have one of its positions at the right place.
//
// All windows are inside of the input (FormIntegerProducts pads it).

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ChannelStream.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/JoinedRows.h"

#include <map>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Groups of kernel columns in one kernel row.
int64_t groupsOf(const ChannelStream &stream) {
  return llvm::divideCeil(stream.kernel, stream.form.group);
}

/// The vectors of weights of a window that a register of results needs.
int64_t weightVectors(ConvOp conv, const ChannelStream &stream) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  return ShapedType::getNumElements(w.drop_back(3)) * groupsOf(stream) *
         (stream.lanes / stream.form.lanes.front());
}

/// Whether those stay in registers from one row to the next, beside the sums and what is
/// interleaved.
bool keepsWeights(ConvOp conv, const ChannelStream &stream,
                  const TargetDescription &target) {
  return weightVectors(conv, stream) <= int64_t(target.vectorRegisters) / 2;
}

/// Whether windows are of two axes, and few enough vectors of weights to be unrolled.
bool isUnrolled(ConvOp conv, const ChannelStream &stream,
                const TargetDescription &target) {
  return shapeOf(conv.getW()).size() == 4 &&
         weightVectors(conv, stream) <= 2 * int64_t(target.vectorRegisters);
}

/// One group during emission.
class DepthwiseInRegisters {
public:
  DepthwiseInRegisters(KernelBuilder &b, ConvOp conv)
      : b(b), conv(conv), axes(windowAxes(conv)), columns(axes.back()),
        panels(*PackedPanels::of(b, conv.getW())),
        stream(*ChannelStream::of(conv, b.target)),
        wide(stream.form.lanes.front()) {
    ArrayRef<int64_t> x = shapeOf(conv.getX());
    pitch = x.end()[-1] * x.end()[-2];
    input = b.view(b.bufferOf(conv.getX()), {ShapedType::getNumElements(x)});
  }

  void emit() {
    Dims y = dimsOf(conv.getResult());
    if (!isUnrolled(conv, stream, b.target))
      return b.parallelFor(product(ArrayRef(y).drop_back(2)), [&](Expr row) {
        Exprs position = rowPosition(b, row, y);
        hideDistances(1);
        overRegisters([&](const Place &place) { oneRow(position, place); });
      });
    int64_t images = shapeOf(conv.getResult())[0],
            rows = shapeOf(conv.getResult())[1];
    if (images == 1 && rows > 1 && paysToFork(b.group, b.target))
      return b.forPart(rows, [&](Expr begin, Expr end) {
        downRows(b.index(0), begin, end, std::nullopt);
      });
    b.parallelFor(images, [&](Expr image) {
      downRows(named(image, "image"), b.index(0), b.index(rows), rows);
    });
  }

private:
  /// Whether the compiler of the generated code makes loads at any address of aligned
  /// ones, where it knows how far they are apart. At multiples of half a register that is
  /// no loss.
  bool hidesDistances() const {
    Type index = b.builder.getIndexType();
    auto isEven = [&](int64_t bytes) {
      return bytes % (stream.loaded / 2) == 0;
    };
    return (pitch % stream.loaded != 0 ||
            !llvm::all_of(stream.loads(), isEven)) &&
           b.target.intrinsic(vector::VectorScaleOp::getOperationName(), {},
                              index);
  }

  /// Names the distances of what `rows` rows of the input load, in front of the loops.
  void hideDistances(int64_t rows) {
    distances.clear();
    if (!hidesDistances())
      return;
    Expr one = b.wrap(vector::VectorScaleOp::create(b.builder, b.loc),
                      b.builder.getIndexType());
    named(one, "one");
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t bytes : stream.loads())
        if (int64_t all = row * pitch + bytes; all != 0)
          distances[all] = named(one * double(all), "bytes_" + Twine(all));
  }

  /// A register of a row: where it begins among the row's results, at which position and
  /// channel, and where in a row of the input its first window begins. For registers that
  /// are merged, which of their bytes belong to which later position, or one behind it.
  struct Place {
    Expr start, column, channel, input;
    Exprs isBehind;
    std::map<int64_t, Expr> weights;
  };

  /// The elements of a tensor, row by row of its images. Null if they do not follow one
  /// another.
  Value rowsOf(Value buffer, ArrayRef<int64_t> shape) {
    int64_t length = shape.end()[-1] * shape.end()[-2];
    return b.view(buffer, {ShapedType::getNumElements(shape) / length, length});
  }

  /// Calls `body` for each register of a row.
  void overRegisters(llvm::function_ref<void(const Place &)> body) {
    int64_t whole = stream.length() / stream.lanes;
    b.forRange(b.index(0), b.index(whole), [&](Expr number) {
      named(number, "register_of_row");
      body(placeOf(number * double(stream.lanes)));
    });
    if (stream.length() % stream.lanes != 0)
      body(placeOf(b.index(stream.lastStart())));
  }

  Place placeOf(Expr start) {
    Place place;
    int64_t channels = stream.channels;
    place.start = named(start, "first_result");
    place.column = named(place.start / double(channels), "first_column");
    bool isWhole = stream.lanes % channels == 0;
    place.channel =
        isWhole ? b.index(0)
                : named(place.start % double(channels), "first_channel");
    place.input =
        stream.stride == 1 ? place.start
        : isWhole ? place.start * double(stream.stride)
                  : place.start +
                        place.column * double((stream.stride - 1) * channels);
    named(place.input, "first_input");
    if (stream.source() == ChannelStream::Source::Merged)
      for (int64_t part = 1; part < stream.parts(); ++part)
        place.isBehind.push_back(isFromPosition(place, part));
    if (isUnrolled(conv, stream, b.target) &&
        keepsWeights(conv, stream, b.target))
      for (int64_t step = 0; step < axes.front().kernel * groupsOf(stream);
           ++step)
        for (int64_t v = 0; v < stream.lanes / wide; ++v)
          place.weights[step * stream.lanes + v] =
              weightsAt(b.index(step), place, v);
    return place;
  }

  /// Which bytes of a register are of the position so many behind its first one, or of one
  /// behind that.
  Expr isFromPosition(const Place &place, int64_t part) {
    Type byte = b.builder.getIntegerType(8, /*isSigned=*/false);
    SmallVector<APInt> numbers;
    for (int64_t lane = 0; lane < stream.loaded; ++lane)
      numbers.push_back(APInt(8, lane));
    auto type = VectorType::get({stream.loaded}, b.builder.getIntegerType(8));
    Expr lanes =
        b.wrap(arith::ConstantOp::create(b.builder, b.loc,
                                         DenseElementsAttr::get(type, numbers)),
               byte);
    Expr first = min(b.index(part * stream.channels) - place.channel,
                     double(stream.loaded));
    return named(lanes >= b.broadcast(convert(first, byte), stream.loaded),
                 "is_behind_" + Twine(part));
  }

  /// Rows [begin, end) of an image, of which there are `known`.
  void downRows(Expr image, Expr begin, Expr end,
                std::optional<int64_t> known) {
    int64_t together = b.plan.number("rows");
    const WindowAxis &rows = axes.front();
    hideDistances((together - 1) * rows.stride + rows.reach() + 1);
    overRegisters([&](const Place &place) {
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

  /// `count` rows of one register.
  void rowsTogether(Expr image, Expr row, int64_t count, const Place &place) {
    const WindowAxis &rows = axes.front();
    SmallVector<Exprs> sums(count, zeros());
    Expr first = row * double(rows.stride);
    if (shapeOf(conv.getX())[0] > 1)
      first = first + image * double(shapeOf(conv.getX())[1]);
    Expr start = named(first * double(pitch) + place.input, "first_of_window");
    for (int64_t at = 0; at <= (count - 1) * rows.stride + rows.reach(); ++at) {
      // Which kernel row it is for each row of results.
      SmallVector<std::pair<int64_t, int64_t>> readers;
      for (int64_t r = 0; r < count; ++r)
        for (int64_t k = 0; k < rows.kernel; ++k)
          if (r * rows.stride + k * rows.dilation == at)
            readers.push_back({r, k});
      if (readers.empty())
        continue;
      for (auto [g, parts] :
           llvm::enumerate(interleaved(start, at * pitch, place)))
        for (auto [r, k] : readers)
          addProducts(sums[r], parts,
                      b.index(k * groupsOf(stream) + int64_t(g)), place);
    }
    for (int64_t r = 0; r < count; ++r)
      store({image, named(row + double(r), "row_" + Twine(r))}, place, sums[r]);
  }

  /// One row of one register, whose kernel rows are a loop.
  void oneRow(ArrayRef<Expr> position, const Place &place) {
    Dims sizes = dimsOf(conv.getX());
    Exprs sums = overKernel(
        b, ArrayRef(axes).drop_back(), position, zeros(),
        [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
          Exprs sums(carried.begin(), carried.end());
          Expr row = b.linearize(at, ArrayRef(sizes).drop_back(2)),
               start =
                   named(row * double(pitch) + place.input, "first_of_window");
          for (auto [g, parts] : llvm::enumerate(interleaved(start, 0, place)))
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
                   const Place &place) {
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

  static std::optional<int64_t> constantOf(Expr index) {
    return getConstantIntValue(index.value);
  }

  /// The weights of the channels of vector `v` of a register.
  Expr weightsAt(Expr step, const Place &place, int64_t v) {
    int64_t group = stream.form.group;
    Expr at =
        step * double((stream.channels + stream.channelsAgain()) * group) +
        (place.channel + double(v * wide)) * double(group);
    return b.withLanes(wide * group, [&] {
      return b.loadFrom(panels.buffer, panels.type, {named(at, "at_step")});
    });
  }

  /// The row of the input that is `row` bytes behind `start`, at all kernel columns, in
  /// groups of these, each of them in parts for one vector of sums.
  SmallVector<Exprs> interleaved(Expr start, int64_t row, const Place &place) {
    std::map<int64_t, Expr> loaded;
    // From so many bytes behind the first window on.
    auto load = [&](int64_t bytes) {
      auto [found, isNew] = loaded.try_emplace(bytes);
      if (isNew) {
        auto hidden = distances.find(row + bytes);
        Expr at = hidden == distances.end() ? start + double(row + bytes)
                                            : start + hidden->second;
        found->second = b.withLanes(stream.loaded, [&] {
          return b.loadFrom(input, elementOf(conv.getX()), {at});
        });
      }
      return found->second;
    };
    SmallVector<Exprs> groups;
    for (int64_t g = 0; g < groupsOf(stream); ++g) {
      Exprs taps;
      int64_t group = stream.form.group;
      for (int64_t k = g * group; k < std::min(stream.kernel, (g + 1) * group);
           ++k)
        taps.push_back(
            named(tap(k * stream.dilation, place, load), "x_" + Twine(k)));
      groups.push_back(interleaveInParts(b, taps, group, stream.loaded));
    }
    return groups;
  }

  /// The input so many columns behind the first ones of the windows.
  Expr tap(int64_t column, const Place &place,
           llvm::function_ref<Expr(int64_t)> load) {
    int64_t channels = stream.channels;
    switch (stream.source()) {
    case ChannelStream::Source::Direct:
      return load(column * channels);
    case ChannelStream::Source::EachSecond: {
      int64_t even = column / 2 * 2 * channels;
      return eachSecond(load(even), load(even + stream.loaded), column % 2);
    }
    case ChannelStream::Source::Merged: {
      Expr all = load(column * channels);
      for (int64_t part = 1; part < stream.parts(); ++part)
        all =
            select(place.isBehind[part - 1],
                   load((column + part * (stream.stride - 1)) * channels), all);
      return all;
    }
    }
    llvm_unreachable("no such source");
  }

  /// The channels of positions `odd`, `odd` + 2, ... of two registers.
  Expr eachSecond(Expr low, Expr high, int64_t odd) {
    SmallVector<int64_t> order;
    for (int64_t position = odd; position < 2 * stream.loaded / stream.channels;
         position += 2)
      for (int64_t c = 0; c < stream.channels; ++c)
        order.push_back(position * stream.channels + c);
    return b.wrap(vector::ShuffleOp::create(b.builder, b.loc, low.value,
                                            high.value, order),
                  low.type);
  }

  /// Passes sums through what follows the convolution, and stores them.
  void store(ArrayRef<Expr> position, const Place &place, ArrayRef<Expr> sums) {
    Value anchor = conv.getResult(),
          output = rowsOf(b.outputs[0], shapeOf(b.result()));
    Expr row = b.linearize(position, ArrayRef(dimsOf(anchor)).drop_back(2));
    if (!epilogueIsInVectors(b) || !bindEpilogue(row, place) ||
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
        b.store(output, results, {row, place.start});
      else
        b.store(0u, results, at);
      return results;
    });
    for (Value operand : bound)
      b.unbindElement(operand);
    bound.clear();
    b.unbindElement(anchor);
  }

  /// Binds what the operators behind the convolution read to its elements at a register of
  /// results; false if some of it has another shape.
  bool bindEpilogue(Expr row, const Place &place) {
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
        buffer = b.view(buffer, {tensorType(argument).getNumElements()});
        at = {place.channel};
      } else if (shapeOf(operand) == shapeOf(conv.getResult())) {
        buffer = rowsOf(buffer, shapeOf(operand));
        at = {row, place.start};
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

  /// The same element by element: floats, and what is not stored as it is computed.
  void storeLanes(ArrayRef<Expr> position, const Place &place,
                  ArrayRef<Expr> sums) {
    for (Value operand : bound)
      b.unbindElement(operand);
    bound.clear();
    for (auto [v, sum] : llvm::enumerate(sums))
      b.forRange(b.index(0), b.index(wide), [&](Expr lane) {
        named(lane, "lane");
        Expr at = place.start + double(int64_t(v) * wide) + lane,
             channel = named(at % double(stream.channels), "channel");
        Exprs place(position);
        place.append({named(at / double(stream.channels), "column"), channel});
        Expr one = b.wrap(
            vector::ExtractOp::create(b.builder, b.loc, sum.value, lane.value),
            sum.type);
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
  /// Lanes of a vector of sums.
  int64_t wide;
  /// The input's bytes, and how many are in a row.
  Value input;
  int64_t pitch;
  /// Numbers of bytes that the compiler of the generated code does not see.
  std::map<int64_t, Expr> distances;
  /// What is bound to its elements at a register.
  SmallVector<Value> bound;
};

class IntegerDepthwiseStrategy : public Strategy {
public:
  bool matches(GroupView group,
               const TargetDescription &target) const override {
    ConvOp conv = integerFiltersOf(group);
    return conv && ChannelStream::of(conv, target) &&
           llvm::all_of(
               windowAxes(conv),
               [](const WindowAxis &axis) { return axis.hasNoBorders(); }) &&
           reachesInside(conv, target);
  }

  /// Whether the input has what is loaded beside the last window of a row.
  static bool reachesInside(ConvOp conv, const TargetDescription &target) {
    WindowAxis columns = windowAxes(conv).back();
    int64_t reach = (columns.kernel - 1) * columns.dilation + 1;
    return ((columns.output - 1) * columns.stride + reach +
            ChannelStream::of(conv, target)->overreach() - columns.input)
               .most() <= 0;
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 1 << 16}, {"rows", 1, 2}};
    return keys;
  }
  /// Weights that are loaded serve two rows, which also share half of what they
  /// interleave.
  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    auto conv = cast<ConvOp>(group.anchor());
    ChannelStream stream = *ChannelStream::of(conv, target);
    bool sharesRows = isUnrolled(conv, stream, target) &&
                      !keepsWeights(conv, stream, target) &&
                      shapeOf(conv.getResult())[1] > 1;
    return {Plan(conv.getContext(),
                 {{"columns", stream.lanes}, {"rows", sharesRows ? 2 : 1}})};
  }
  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override {
    auto conv = cast<ConvOp>(group.anchor());
    ChannelStream stream = *ChannelStream::of(conv, target);
    if (plan.number("columns") != stream.lanes)
      return "its plan has " + std::to_string(plan.number("columns")) +
             " columns, not " + std::to_string(stream.lanes);
    if (plan.number("rows") > 1 && !isUnrolled(conv, stream, target))
      return "its plan has several rows, but its window is a loop";
    return "";
  }
  void pack(GroupOp group, const Plan &,
            const TargetDescription &target) const override {
    auto conv = cast<ConvOp>(GroupView{&group.getBody().front()}.anchor());
    ChannelStream stream = *ChannelStream::of(conv, target);
    if (!isa<BlockArgument>(conv.getW()) ||
        !mayBeInPanels(conv.getW(), /*packs=*/true))
      return;
    packWithMore(group, conv->getOpOperand(1), stream, stream.form.group,
                 /*axes=*/2);
    if (!stream.crossesPositions())
      return;
    addBiasBehind(conv);
    // What else is read channel by channel.
    SmallVector<OpOperand *> uses;
    for (BlockArgument argument : group.getBody().getArguments())
      if (tensorType(argument).getNumElements() == stream.channels &&
          shapeOf(argument).size() > 1 &&
          shapeOf(argument).back() == stream.channels &&
          mayBeInPanels(argument, /*packs=*/true))
        for (OpOperand &use : argument.getUses())
          if (isa<ElementwiseOpInterface>(use.getOwner()))
            uses.push_back(&use);
    for (OpOperand *use : uses)
      packWithMore(group, *use, stream, /*group=*/1, /*axes=*/1);
  }
  void emit(KernelBuilder &b) const override {
    DepthwiseInRegisters(b, cast<ConvOp>(b.group.anchor())).emit();
  }

private:
  /// Packs what `use` reads, with its first channels once more behind the last one. For
  /// the group that is a last panel, wider than the channels that it has.
  static void packWithMore(GroupOp group, OpOperand &use,
                           const ChannelStream &stream, int64_t together,
                           int64_t axes) {
    Value given =
        group.getInputs()[cast<BlockArgument>(use.get()).getArgNumber()];
    Location loc = use.getOwner()->getLoc();
    OpBuilder builder(group);
    int64_t width = stream.channels + stream.channelsAgain();
    Value all = given;
    if (width > stream.channels) {
      SmallVector<int64_t> none(shapeOf(given).size()), more(none);
      more.back() = stream.channelsAgain();
      Type element = elementOf(given);
      auto zero = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                         builder.getZeroAttr(element));
      all = PadOp::create(
          builder, loc, given,
          ConstantOp::create(builder, loc, cast<ElementsAttr>(zero)), none,
          more, "wrap");
    }
    Value packed = PackPanelsOp::create(builder, loc, all, width, /*tail=*/0,
                                        together, axes);
    Value argument = replaceInput(group, use, packed);
    builder.setInsertionPoint(use.getOwner());
    use.set(UnpackPanelsOp::create(builder, loc, given.getType(), argument,
                                   width, width > stream.channels ? width : 0,
                                   together, axes));
  }

  /// Adds the bias by an operator of its own, as others read what they have for each
  /// channel.
  static void addBiasBehind(ConvOp conv) {
    Value bias = conv.getBias();
    auto argument = dyn_cast_or_null<BlockArgument>(bias);
    if (!argument || !argument.hasOneUse())
      return;
    auto group = cast<GroupOp>(conv->getParentOp());
    OpBuilder builder(group);
    int64_t channels = shapeOf(bias).back();
    auto row = RankedTensorType::get({1, channels}, elementOf(bias));
    Value asRow = ReshapeOp::create(builder, conv.getLoc(), row,
                                    group.getInputs()[argument.getArgNumber()]);
    replaceInput(group, conv.getBiasMutable()[0], asRow);
    conv.getBiasMutable().clear();
    builder.setInsertionPointAfter(conv);
    auto sum = AddOp::create(builder, conv.getLoc(), conv.getType(),
                             conv.getResult(), argument);
    conv.getResult().replaceAllUsesExcept(sum, sum);
  }
};

} // namespace

std::unique_ptr<Strategy> createIntegerDepthwiseStrategy() {
  return std::make_unique<IntegerDepthwiseStrategy>();
}

} // namespace ingot::schedule
