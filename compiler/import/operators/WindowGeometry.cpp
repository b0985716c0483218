#include "compiler/import/operators/WindowGeometry.h"

#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ingot::graph {

FailureOr<AutoPad> readAutoPad(OnnxNode &node) {
  std::string name = node.stringAttr("auto_pad", "NOTSET");
  auto kind = llvm::StringSwitch<std::optional<AutoPad>>(name)
                  .Cases({"NOTSET", ""}, AutoPad::No)
                  .Case("VALID", AutoPad::Valid)
                  .Case("SAME_UPPER", AutoPad::SameUpper)
                  .Case("SAME_LOWER", AutoPad::SameLower)
                  .Default(std::nullopt);
  if (!kind)
    return node.invalid("auto_pad `" + name + "` does not exist");
  return *kind;
}

FailureOr<SmallVector<int64_t>> readPads(OnnxNode &node, size_t rank) {
  SmallVector<int64_t> pads =
      node.intsAttr("pads", SmallVector<int64_t>(2 * rank, 0));
  if (pads.size() != 2 * rank)
    return node.invalid("pads must have two entries for each spatial axis (" +
                        Twine(rank) + ")");
  if (llvm::any_of(pads, [](int64_t pad) { return pad < 0; }))
    return node.invalid("pads must not contain negative values");
  return pads;
}

/// Returns the number of windows of `extent` elements, at distances of `stride`
/// elements, in an axis of `size` elements that is padded by `low` and `high`
/// elements. `ceil` is the attribute ceil_mode. Returns nullopt if the number
/// is not a simple expression of the size.
static std::optional<Dim> countWindows(const Dim &size, int64_t low,
                                       int64_t high, const Dim &extent,
                                       int64_t stride, bool ceil) {
  Dim room = size + (low + high) - extent;
  if (!ceil || stride == 1)
    return room.floorDiv(stride) + 1;
  // With ceil_mode, the number is rounded up, but a window that would start in
  // the padding at the end of the axis is dropped.
  Dim count = (room + (stride - 1)).floorDiv(stride) + 1;
  if (count.known())
    return *((count - 1) * stride - size - low).known() >= 0 ? count - 1
                                                             : count;
  // Rounding up adds at most one window, for the last `stride - 1` elements.
  // The additional window starts inside the input if the kernel exceeds the
  // padding at the end by at least the stride.
  if ((extent - high).least() >= stride)
    return count;
  // A window that starts in the padding at the end is dropped, so only the
  // windows that start inside the input or in the padding before it are
  // counted.
  return extent.known() ? std::optional((size + (low - 1)).floorDiv(stride) + 1)
                        : std::nullopt;
}

LogicalResult WindowGeometry::readAxis(OnnxNode &node, Value x, size_t axis,
                                       AutoPad autoPad, int64_t before,
                                       int64_t after, bool pads) {
  constexpr int64_t most = int64_t(1) << 31;
  int64_t stride = strides[axis], dilation = dilations[axis];
  if (stride < 1 || dilation < 1 || kernel[axis].least() < 1)
    return node.invalid("strides, dilations and kernel sizes must be positive");
  if (stride > most || dilation > most || kernel[axis].most() > most)
    return node.invalid("a stride, dilation or kernel size is too large");
  Dim extent = (kernel[axis] - 1) * dilation + 1;
  int64_t behind = after, ahead = before;
  if (before > most || after > most)
    return node.invalid("an entry of pads is too large");
  auto size = [&] { return dimsOf(x)[2 + axis]; };
  Dim count;
  if (autoPad == AutoPad::SameUpper || autoPad == AutoPad::SameLower) {
    count = (size() + (stride - 1)).floorDiv(stride);
    // With a stride of 1, the padding that auto_pad requires does not depend on
    // the size of the axis.
    bool isUpper = autoPad == AutoPad::SameUpper;
    auto missing = ((count - 1) * stride + extent - size()).known();
    if (!missing && !pads)
      return node.unsupported("auto_pad with a stride is not supported for a "
                              "size that is known only at run time");
    if (!missing) {
      if (!node.requireAtLeast(size(), 1))
        return node.invalid("auto_pad requires spatial axes of size 1 or more");
      count = (size() + (stride - 1)).floorDiv(stride);
      padded.push_back({2 + axis, (count - 1) * stride + extent, isUpper});
      missing = 0;
    }
    int64_t total = std::max<int64_t>(0, *missing);
    ahead = autoPad == AutoPad::SameUpper ? total / 2 : total - total / 2;
    behind = total - ahead;
  } else {
    if (autoPad == AutoPad::Valid)
      ahead = behind = 0;
    // With ceil_mode, the last window may exceed the padded input by up to
    // stride - 1 elements.
    bool ceil = node.intAttr("ceil_mode", 0) != 0;
    int64_t excess = ceil ? stride - 1 : 0;
    auto room = [&] { return size() + (ahead + behind + excess) - extent; };
    // If the axis cannot be assumed to be long enough for a window, the
    // generated program checks that the number of windows is not negative.
    auto needed = (extent - (ahead + behind + excess)).known();
    if (needed)
      (void)node.requireAtLeast(size(), *needed);
    if (room().most() < 0) {
      std::string reason = "the kernel (" + kernel::sizeText(extent) +
                           ") is larger than the padded input (" +
                           kernel::sizeText(size() + (ahead + behind)) +
                           ") on spatial axis " + std::to_string(axis);
      auto given = size().given();
      if (given.size() == 1 && size() == Dim(given.front()) && needed)
        return node.unsupported(
            reason + " for all sizes within the bounds",
            "allow sizes from " + std::to_string(*needed) + " on: --dim " +
                given.front().getName().str() + "=" + std::to_string(*needed) +
                ".." + std::to_string(2 * *needed));
      return node.invalid(reason);
    }
    auto windows = countWindows(size(), ahead, behind, extent, stride, ceil);
    if (!windows)
      return node.unsupported(
          "ceil_mode is not supported for a size that is known only at run "
          "time if windows may start in the padding");
    count = *windows;
    if (count.least() < 0) {
      auto checked = checkedSize(node, count);
      if (failed(checked))
        return failure();
      count = *checked;
    }
  }
  // If a node has both pads and auto_pad, ONNX's shape rule uses pads, but
  // ONNX's specification uses auto_pad. The node is accepted if both give the
  // same size.
  Dim given = size() + (before + after) - extent;
  if (autoPad != AutoPad::No && node.hasAttr("pads") &&
      (given.least() < 0 || !(given.floorDiv(stride) + 1 == count)))
    return node.invalid("pads contradicts auto_pad");
  low.push_back(ahead);
  high.push_back(behind);
  output.push_back(count);
  return success();
}

FailureOr<WindowGeometry> WindowGeometry::read(OnnxNode &node, Value x,
                                               ArrayRef<Dim> kernel,
                                               bool mayPad) {
  size_t rank = shapeOf(x).size() - 2;
  WindowGeometry g;
  g.kernel.assign(kernel.begin(), kernel.end());
  g.strides = node.intsAttr("strides", SmallVector<int64_t>(rank, 1));
  g.dilations = node.intsAttr("dilations", SmallVector<int64_t>(rank, 1));
  auto pads = readPads(node, rank);
  if (failed(pads))
    return failure();
  if (kernel.size() != rank || g.strides.size() != rank ||
      g.dilations.size() != rank)
    return node.invalid("kernel_shape, strides and dilations must have one "
                        "entry for each spatial axis (" +
                        Twine(rank) + ")");
  auto autoPad = readAutoPad(node);
  if (failed(autoPad))
    return failure();
  int64_t ceil = node.intAttr("ceil_mode", 0);
  if (ceil != 0 && ceil != 1)
    return node.invalid("ceil_mode must be 0 or 1, not " + Twine(ceil));
  for (size_t i = 0; i < rank; ++i)
    if (failed(g.readAxis(node, x, i, *autoPad, (*pads)[i], (*pads)[rank + i],
                          mayPad)))
      return failure();
  return g;
}

Value WindowGeometry::before(OnnxNode &node, Value x,
                             const Padded &each) const {
  RunTimeInts ints(node);
  Value missing = node.max(
      0, node.sub(ints.sizes(each.size), ints.sizes(dimsOf(x)[each.axis])));
  // If the number of padding elements is odd, the additional one is at the end
  // (SAME_UPPER) or at the start (SAME_LOWER) of the axis.
  return ints.div(node.add(missing, each.isUpper ? 0 : 1), 2);
}

Value WindowGeometry::pad(OnnxNode &node, Value x, double fill) const {
  for (const Padded &each : padded)
    x = padAlong(node, x, each.axis, before(node, x, each), each.size,
                 "constant", node.scalarConstant(fill, elementOf(x)));
  return x;
}

Value toChannelsLast(OnnxNode &node, Value x) {
  SmallVector<int64_t> perm{0};
  for (size_t i = 2; i < shapeOf(x).size(); ++i)
    perm.push_back(i);
  perm.push_back(1);
  return node.transpose(x, perm);
}

Value toChannelsFirst(OnnxNode &node, Value x) {
  int64_t rank = shapeOf(x).size();
  SmallVector<int64_t> perm{0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    perm.push_back(i);
  return node.transpose(x, perm);
}

} // namespace ingot::graph
