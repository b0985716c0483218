#include "passes/schedule/tiles/DepthwiseLoops.h"

#include "dialects/graph/ops/Window.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/NarrowStorage.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Returns the maximum number of output positions of a tile for which its sums,
/// the inputs of one kernel row and one weight fit the registers.
static int64_t mostBesideInputs(const WindowAxis &axis,
                                const TargetDescription &target) {
  int64_t registers = target.vectorRegisters, most = 1;
  while (most < 14 &&
         (most + 1) + most * axis.stride + axis.reach() + 1 + 2 <= registers)
    ++most;
  return most;
}

/// Whether the weights of a kernel row stay in registers instead of its inputs.
/// They do if this leaves more registers for sums.
static bool keepsFilter(const WindowAxis &axis,
                        const TargetDescription &target) {
  return mostBesideInputs(axis, target) < axis.kernel;
}

int64_t mostDepthwiseColumns(const WindowAxis &axis,
                             const TargetDescription &target) {
  int64_t most = mostBesideInputs(axis, target);
  return keepsFilter(axis, target)
             ? std::max(most, int64_t(target.vectorRegisters) - axis.kernel - 2)
             : most;
}

/// Calls `body` for each pair of output position and kernel column of a tile.
/// With `byInput`, pairs are ordered by the input column that they read, else
/// by the kernel column. For each position, the kernel columns are visited in
/// order.
static void forEachTap(const WindowAxis &axis, int64_t count, bool byInput,
                       llvm::function_ref<void(int64_t, int64_t)> body) {
  if (!byInput) {
    for (int64_t k = 0; k < axis.kernel; ++k)
      for (int64_t p = 0; p < count; ++p)
        body(p, k);
    return;
  }
  for (int64_t at = 0; at <= (count - 1) * axis.stride + axis.reach(); ++at)
    for (int64_t p = 0; p < count; ++p)
      if (int64_t from = at - p * axis.stride;
          from >= 0 && from <= axis.reach() && from % axis.dilation == 0)
        body(p, from / axis.dilation);
}

double depthwiseRowCycles(const WindowAxis &axis, int64_t width,
                          const TargetDescription &target) {
  auto ofTile = [&](int64_t n) {
    double multiplies = static_cast<double>(n * axis.kernel),
           loads = static_cast<double>((n - 1) * axis.stride + 1 +
                                       (axis.kernel - 1) * axis.dilation +
                                       axis.kernel);
    return std::max({multiplies / target.rates.multiplyAdds,
                     loads / target.rates.loads,
                     target.rates.multiplyAddLatency}) +
           1;
  };
  double total =
      static_cast<double>(axis.output.most() / width) * ofTile(width);
  if (axis.output.most() % width)
    total += ofTile(axis.output.most() % width) * 1.05;
  return total;
}

/// Returns a vector with a lane for each output channel from `channel` on. Each
/// lane holds the input at input channel `number` of that output channel's
/// group, at the batch and spatial index `at`.
static Expr inputOfGroups(KernelBuilder &b, ConvOp conv, Exprs at, Expr channel,
                          int64_t number) {
  int64_t inputs = inputsOfGroup(conv), outputs = channelsOfGroup(conv),
          lanes = b.lanes(), groups = llvm::divideCeil(lanes, outputs);
  if (inputs == 1 && outputs == 1) {
    at.push_back(channel);
    return b.load(conv.getX(), at);
  }
  Expr first =
      named(channel / double(outputs) * double(inputs), "first_input_channel");
  auto load = [&](int64_t offset, int64_t count) {
    Exprs place = at;
    place.push_back(first + double(offset));
    return b.withLanes(count, [&] { return b.load(conv.getX(), place); });
  };
  auto shuffled = [&](Expr x, Expr y, ArrayRef<int64_t> order) {
    return b.wrap(
        vector::ShuffleOp::create(b.builder, b.loc, x.value, y.value, order),
        x.type);
  };
  if (llvm::is_contained(b.target.lanes(elementOf(conv.getX())),
                         groups * inputs)) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(lane / outputs * inputs + number);
    Expr loaded = load(0, groups * inputs);
    return shuffled(loaded, loaded, order);
  }
  // The target has no vector with as many lanes as these groups have inputs.
  // Load an input of each group as a scalar, and blend the broadcast scalars.
  Expr all = b.broadcast(load(number, 1), lanes);
  for (int64_t group = 1; group < groups; ++group) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(lane / outputs == group ? lanes + lane : lane);
    all = shuffled(all, b.broadcast(load(group * inputs + number, 1), lanes),
                   order);
  }
  return all;
}

/// Whether a tile of `count` positions loops over kernel columns. It does if
/// there are many kernel columns and the tile has a single position, which
/// cannot reuse inputs from registers.
static bool loopsOverTaps(const WindowAxis &axis, int64_t count) {
  constexpr int64_t leastInLoop = 32;
  return count == 1 && axis.kernel >= leastInLoop;
}

/// Returns the range of kernel columns of a single window that are inside of
/// the input.
static std::pair<Expr, Expr> tapsInside(KernelBuilder &b,
                                        const WindowAxis &axis,
                                        const TilePlace &place, Expr start) {
  if (place.isAnywhere)
    return insideWindow(start, axis.kernel, axis.dilation, axis.input);
  auto at = [&](std::optional<int64_t> from, int64_t otherwise) {
    if (!from)
      return b.index(otherwise);
    int64_t k = llvm::divideCeilSigned(-*from, axis.dilation);
    return place.shift ? *place.shift + double(k)
                       : b.index(std::clamp<int64_t>(k, 0, axis.kernel));
  };
  return {at(place.fromStart, 0), at(place.fromEnd, axis.kernel)};
}

/// Emits one kernel row of a tile. Returns the sums `carried` plus the products
/// of that kernel row. For each input channel of a group, input vectors are
/// loaded once and used for all kernel columns that read them.
static Exprs rowOfTaps(KernelBuilder &b, ConvOp conv, const WindowAxis &columns,
                       Expr kernelRow, ArrayRef<Expr> at, Expr first,
                       const TilePlace &place, Expr channel,
                       ArrayRef<Expr> carried) {
  Exprs sums(carried.begin(), carried.end());
  int64_t count = sums.size(), inputs = inputsOfGroup(conv);
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  int64_t ofRow = columns.kernel * inputs,
          rows = tensorType(conv.getW()).getNumElements() / (w.back() * ofRow);
  StoredOperand weights(b, conv.getW(), {rows, ofRow, w.back()});
  Expr start = named(first * double(columns.stride) - double(columns.low),
                     "first_input_column");
  auto multiplyAdd = [&](Expr x, Expr weight, Expr sum) {
    return sumsHalves(conv) ? fmaOfHalves(b, x, weight, sum)
                            : fma(x, weight, sum);
  };
  // With several inputs per group, names in the generated code contain the
  // input's number.
  auto inputName = [&](const Twine &name, int64_t input) {
    return inputs == 1 ? name.str() : (name + "_" + Twine(input)).str();
  };
  if (place.isAnywhere || loopsOverTaps(columns, count)) {
    auto [lo, hi] = tapsInside(b, columns, place, start);
    return b.loop(
        named(lo, "first_kernel_column"), named(hi, "end_kernel_column"), 1,
        carried, [&](Expr k, ArrayRef<Expr> sums) -> Exprs {
          named(k, "kernel_column");
          Exprs position(at.begin(), at.end());
          position.push_back(
              named(start + k * double(columns.dilation), "input_column"));
          Expr sum = sums[0];
          for (int64_t input = 0; input < inputs; ++input)
            sum = multiplyAdd(
                inputOfGroups(b, conv, position, channel, input),
                weights.load(
                    {kernelRow,
                     inputs == 1 ? k : k * double(inputs) + double(input),
                     channel}),
                sum);
          return {sum};
        });
  }
  for (int64_t input = 0; input < inputs; ++input) {
    auto xAt = [&](int64_t offset) {
      Exprs position(at.begin(), at.end());
      position.push_back(
          named(start + double(offset), "input_column_" + Twine(offset)));
      return named(inputOfGroups(b, conv, position, channel, input),
                   inputName("x_" + Twine(offset), input));
    };
    auto weightAt = [&](int64_t k) {
      return named(
          weights.load({kernelRow, b.index(k * inputs + input), channel}),
          inputName("w_" + Twine(k), input));
    };
    // Inputs and weights are loaded when they are first used, and stay in
    // registers until the kernel row is done.
    std::map<int64_t, Expr> loaded, filter;
    auto add = [&](int64_t p, int64_t k) {
      int64_t offset = p * columns.stride + k * columns.dilation;
      Expr &x = loaded[offset], &weight = filter[k];
      if (!weight)
        weight = weightAt(k);
      if (!x)
        x = xAt(offset);
      sums[p] = named(multiplyAdd(x, weight, sums[p]),
                      count == 1 ? "sum" : "sum_" + Twine(p));
    };
    forEachTap(columns, count, keepsFilter(columns, b.target),
               [&](int64_t p, int64_t k) {
                 auto [lo, hi] = columns.inside(k, place, count);
                 if (p >= lo && p < hi)
                   add(p, k);
               });
  }
  return sums;
}

void emitDepthwiseRow(KernelBuilder &b, ConvOp conv, const DepthwiseRow &row,
                      const KernelBuilder::Part &part) {
  ArrayRef<int64_t> y = shapeOf(conv.getResult());
  SmallVector<WindowAxis> axes = windowAxes(conv);
  WindowAxis columns = axes.back();
  Type type = elementOf(conv.getX());
  // Sums of f16 have as many lanes as any vector of 16-bit elements. If the
  // epilogue needs more precision than f16 has, it is computed in vectors of
  // f32.
  bool inHalves = sumsHalves(conv);
  if (inHalves)
    type = b.builder.getI16Type();
  bool endsInHalves = inHalves && roundsToHalves(b, conv.getResult());
  int64_t mostTogether = inHalves && !endsInHalves
                             ? b.target.maxLanes(b.builder.getF32Type())
                             : std::numeric_limits<int64_t>::max();
  // Unless strict mode prescribes the order of terms, sums start with the bias.
  // Sums of f16 do not, since f16 would drop products that are small beside it.
  Value bias = conv.getBias();
  bool startsWithBias = bias && !inHalves && !b.group.isStrict();
  int64_t width = b.plan.number("columns");
  forColumnTiles(
      b, columns, width,
      [&](Expr first, TilePlace place, int64_t count) {
        b.forLanes(part, y.back(), type, [&](Expr channel, int64_t lanes) {
          named(channel, "channel");
          Expr start = inHalves         ? zeroHalves(b, lanes)
                       : startsWithBias ? named(b.load(bias, {channel}), "bias")
                                        : b.constant(0, type);
          Exprs sums(count, b.broadcast(start, lanes));
          sums = overKernel(
              b, ArrayRef(axes).drop_back(), row.position, sums,
              [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
                return rowOfTaps(b, conv, columns, kernelRow,
                                 row.placeOfInput ? row.placeOfInput(at)
                                                  : Exprs(at.begin(), at.end()),
                                 first, place, channel, carried);
              });
          Expr lastHalves;
          if (bias && endsInHalves)
            lastHalves = biasHalves(b, bias, channel, lanes);
          for (int64_t p = 0; p < count; ++p) {
            Expr sum = sums[p];
            if (lastHalves)
              sum = sumOfHalves(b, sum, lastHalves);
            else if (bias && !inHalves && !startsWithBias)
              sum = sum + b.load(bias, {channel});
            if (sum.value != sums[p].value)
              named(sum, count == 1 ? "conv" : "conv_" + Twine(p));
            Expr column = named(first + double(p), "column_" + Twine(p));
            int64_t together = std::min(lanes, mostTogether);
            for (int64_t done = 0; done < lanes; done += together)
              b.withLanes(together, [&] {
                Expr from = done ? channel + double(done) : channel;
                Expr convolved =
                    inHalves ? widened(b, lanesOf(b, sum, done, together))
                             : sum;
                if (bias && inHalves && !endsInHalves)
                  convolved = convolved + b.load(bias, {from});
                b.bindElement(conv.getResult(), convolved);
                Exprs at(row.stored.begin(), row.stored.end());
                at.push_back(column);
                at.push_back(from);
                b.store(0u, b.broadcast(b.load(b.result(), at), together), at);
                return sum;
              });
          }
          b.unbindElement(conv.getResult());
        });
      },
      loopsOverTaps(columns, width) ? BorderTiles::InLoops
                                    : BorderTiles::Apart);
}

} // namespace ingot::schedule
