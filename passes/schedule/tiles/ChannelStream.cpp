#include "passes/schedule/tiles/ChannelStream.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

std::optional<ChannelStream>
ChannelStream::of(ConvOp conv, const TargetDescription &target) {
  ArrayRef<int64_t> w = shapeOf(conv.getW()), y = shapeOf(conv.getResult());
  if (!conv.isWidening() || w.end()[-2] != 1 || conv.getGroups() == 1 ||
      int64_t(conv.getGroups()) != w.back() || y.size() < 3)
    return std::nullopt;
  std::optional<DotForm> form = depthwiseForm(conv, target);
  if (!form)
    return std::nullopt;
  ChannelStream stream;
  stream.form = *form;
  stream.channels = w.back();
  stream.positions = y.end()[-2];
  stream.kernel = w.end()[-3];
  stream.stride = conv.getStrides().back();
  stream.dilation = conv.getDilations().back();
  stream.loaded = target.vectorBytes.front();
  if (stream.length() < form->lanes.front())
    return std::nullopt;
  stream.lanes = std::min<int64_t>(stream.loaded,
                                   llvm::bit_floor(uint64_t(stream.length())));
  return stream;
}

int64_t ChannelStream::channelsAgain() const {
  return crossesPositions() ? lanes - std::gcd(channels, lanes) : 0;
}

ChannelStream::Source ChannelStream::source() const {
  if (stride == 1 || !crossesPositions())
    return Source::Direct;
  return stride == 2 && lanes % channels == 0 ? Source::EachSecond
                                              : Source::Merged;
}

int64_t ChannelStream::step() const {
  int64_t whole = lanes / channels * channels;
  // If a register of results could begin at any channel and has two or more
  // whole positions, its input would be merged from three or more registers.
  // Their masks and weights would need too many registers. In this case,
  // registers of results begin at the first channel of a position instead.
  return source() == Source::Merged && whole >= 2 * channels ? whole : lanes;
}

int64_t ChannelStream::registers() const {
  return step() == lanes ? length() / lanes
                         : llvm::divideCeil(lastStart(), step());
}

int64_t ChannelStream::mostParts() const {
  return step() == lanes
             ? partsAtSteps()
             : std::max(partsAtSteps(), partsFrom(lastStart() % channels));
}

int64_t ChannelStream::partsAtSteps() const {
  return step() == lanes ? partsFrom(channels - std::gcd(channels, lanes))
                         : step() / channels;
}

SmallVector<int64_t> ChannelStream::loads() const {
  llvm::SmallSetVector<int64_t, 8> all;
  for (int64_t k = 0; k < kernel; ++k) {
    int64_t column = k * dilation;
    switch (source()) {
    case Source::Direct:
      all.insert(column * channels);
      break;
    case Source::EachSecond:
      all.insert(column / 2 * 2 * channels);
      all.insert(column / 2 * 2 * channels + loaded);
      break;
    case Source::Merged:
      for (int64_t part = 0; part < mostParts(); ++part)
        all.insert((column + part * (stride - 1)) * channels);
      break;
    }
  }
  return all.takeVector();
}

int64_t ChannelStream::overreach() const {
  SmallVector<int64_t> all = loads();
  int64_t furthest = *llvm::max_element(all);
  int64_t start = lastStart() / channels * stride * channels +
                  lastStart() % channels,
          end = start + furthest + loaded,
          windows = (positions - 1) * stride + (kernel - 1) * dilation + 1;
  return std::max<int64_t>(0, llvm::divideCeil(end, channels) - windows);
}

} // namespace ingot::schedule
