#include "passes/schedule/tiles/StreamInput.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

StreamInput::StreamInput(KernelBuilder &b, ConvOp conv,
                         const ChannelStream &stream)
    : b(b), stream(stream), type(elementOf(conv.getX())) {
  ArrayRef<int64_t> x = shapeOf(conv.getX());
  pitch = x.end()[-1] * x.end()[-2];
  input = b.view(b.bufferOf(conv.getX()), {ShapedType::getNumElements(x)});
}

/// Whether to hide the distances between loads from the C++ compiler that
/// compiles the generated code. If that compiler knew them, it would implement
/// an unaligned load by two aligned loads. If all distances are multiples of
/// half a register, two aligned loads cost nothing, so the distances are not
/// hidden. Neither are they if the target lacks vector.vscale, from which
/// hidden distances are computed.
bool StreamInput::hidesDistances() const {
  Type index = b.builder.getIndexType();
  auto isEven = [&](int64_t bytes) { return bytes % (stream.loaded / 2) == 0; };
  return (pitch % stream.loaded != 0 ||
          !llvm::all_of(stream.loads(), isEven)) &&
         b.target.intrinsic(vector::VectorScaleOp::getOperationName(), {},
                            index);
}

void StreamInput::hideDistances(int64_t rows) {
  distances.clear();
  int64_t length = stream.length();
  resultsOfRow = b.index(length);
  if (!hidesDistances())
    return;
  one = b.wrap(vector::VectorScaleOp::create(b.builder, b.loc),
               b.builder.getIndexType());
  named(one, "one");
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t bytes : stream.loads())
      if (int64_t all = row * pitch + bytes; all != 0)
        distances[all] = named(one * double(all), "bytes_" + Twine(all));
  int64_t bytes =
      storageType(elementOf(b.result())).getIntOrFloatBitWidth() / 8;
  if (length * bytes % stream.loaded != 0)
    resultsOfRow = named(one * double(length), "results_of_row");
}

void StreamInput::overRegisters(llvm::function_ref<void(StreamPlace)> body) {
  double channels = double(stream.channels), step = double(stream.step());
  bool isWhole = stream.beginsAtPositions();
  b.forRange(b.index(0), b.index(stream.registers()), [&](Expr number) {
    named(number, "register_of_row");
    Expr start = named(number * step, "first_result"),
         column = named(isWhole ? number * (step / channels) : start / channels,
                        "first_column"),
         channel =
             isWhole ? b.index(0) : named(start % channels, "first_channel");
    body(placeOf(start, column, channel, stream.partsAtSteps()));
  });
  if (!stream.hasLast())
    return;
  int64_t start = stream.lastStart(), channel = start % stream.channels;
  body(placeOf(b.index(start), b.index(start / stream.channels),
               b.index(channel), stream.partsFrom(channel)));
}

StreamPlace StreamInput::placeOf(Expr start, Expr column, Expr channel,
                                 int64_t parts) {
  StreamPlace place{start, column, channel, start, {}, {}};
  int64_t more = (stream.stride - 1) * stream.channels;
  if (more != 0)
    place.input = named(start + column * double(more), "first_input");
  if (stream.source() == ChannelStream::Source::Merged)
    for (int64_t part = 1; part < parts; ++part)
      place.isBehind.push_back(isFromPosition(place, part));
  return place;
}

/// Returns a mask of those bytes of a register that belong to position number
/// `part`, counted from the register's first position, or to a later position.
Expr StreamInput::isFromPosition(const StreamPlace &place, int64_t part) {
  Type byte = b.builder.getIntegerType(8, /*isSigned=*/false);
  SmallVector<APInt> numbers;
  for (int64_t lane = 0; lane < stream.loaded; ++lane)
    numbers.push_back(APInt(8, lane));
  auto vector = VectorType::get({stream.loaded}, b.builder.getIntegerType(8));
  Expr lanes =
      b.wrap(arith::ConstantOp::create(b.builder, b.loc,
                                       DenseElementsAttr::get(vector, numbers)),
             byte);
  Expr bound = b.index(part * stream.channels) - place.channel;
  // If the C++ compiler of the generated code knew the mask, it would turn the
  // select by the mask into a permutation.
  if (one && getConstantIntValue(place.channel.value))
    bound = bound * one;
  Expr first = min(bound, double(stream.loaded));
  return named(lanes >= b.broadcast(convert(first, byte), stream.loaded),
               "is_behind_" + Twine(part));
}

SmallVector<Exprs> StreamInput::interleaved(Expr start, int64_t row,
                                            const StreamPlace &place) {
  std::map<int64_t, Expr> loaded;
  // Loads the input register at `bytes` bytes after the start of the first
  // window.
  auto load = [&](int64_t bytes) {
    auto [found, isNew] = loaded.try_emplace(bytes);
    if (isNew) {
      auto hidden = distances.find(row + bytes);
      Expr at = hidden == distances.end() ? start + double(row + bytes)
                                          : start + hidden->second;
      found->second = b.withLanes(
          stream.loaded, [&] { return b.loadFrom(input, type, {at}); });
    }
    return found->second;
  };
  SmallVector<Exprs> groups;
  int64_t group = stream.form.group;
  for (int64_t first = 0; first < stream.kernel; first += group) {
    Exprs taps;
    for (int64_t k = first; k < std::min(stream.kernel, first + group); ++k)
      taps.push_back(
          named(tap(k * stream.dilation, place, load), "x_" + Twine(k)));
    groups.push_back(interleaveInParts(b, taps, group, stream.loaded));
  }
  return groups;
}

/// Returns a register of the input that has, for each result, the element that
/// is `column` columns after the first column of the result's window.
Expr StreamInput::tap(int64_t column, const StreamPlace &place, Load load) {
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
    for (auto [part, isBehind] : llvm::enumerate(place.isBehind)) {
      int64_t columns = column + int64_t(part + 1) * (stream.stride - 1);
      all = select(isBehind, load(columns * channels), all);
    }
    return all;
  }
  }
  llvm_unreachable("no such source");
}

/// Returns the channels of every second position, from position `odd` on, of
/// two concatenated registers.
Expr StreamInput::eachSecond(Expr low, Expr high, int64_t odd) {
  SmallVector<int64_t> order;
  for (int64_t position = odd; position < 2 * stream.loaded / stream.channels;
       position += 2)
    for (int64_t c = 0; c < stream.channels; ++c)
      order.push_back(position * stream.channels + c);
  return b.wrap(
      vector::ShuffleOp::create(b.builder, b.loc, low.value, high.value, order),
      low.type);
}

} // namespace ingot::schedule
