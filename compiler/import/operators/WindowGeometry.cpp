#include "compiler/import/operators/WindowGeometry.h"

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

FailureOr<WindowGeometry> WindowGeometry::read(OnnxNode &node,
                                               ArrayRef<int64_t> spatial,
                                               ArrayRef<int64_t> kernel) {
  size_t rank = spatial.size();
  WindowGeometry g;
  g.kernel.assign(kernel.begin(), kernel.end());
  g.strides = node.intsAttr("strides", SmallVector<int64_t>(rank, 1));
  g.dilations = node.intsAttr("dilations", SmallVector<int64_t>(rank, 1));
  SmallVector<int64_t> pads =
      node.intsAttr("pads", SmallVector<int64_t>(2 * rank, 0));
  if (kernel.size() != rank || g.strides.size() != rank ||
      g.dilations.size() != rank || pads.size() != 2 * rank)
    return node.invalid("kernel_shape, strides, dilations or pads do not have "
                        "one entry per spatial axis (" +
                        Twine(rank) + ")");
  auto autoPad = readAutoPad(node);
  if (failed(autoPad))
    return failure();
  int64_t ceil = node.intAttr("ceil_mode", 0);
  if (ceil != 0 && ceil != 1)
    return node.invalid("ceil_mode must be 0 or 1, not " + Twine(ceil));
  for (size_t i = 0; i < rank; ++i) {
    if (g.strides[i] < 1 || g.dilations[i] < 1 || kernel[i] < 1)
      return node.invalid(
          "strides, dilations and kernel sizes must be positive");
    if (g.strides[i] > (int64_t(1) << 31) ||
        g.dilations[i] > (int64_t(1) << 31) || kernel[i] > (int64_t(1) << 31))
      return node.invalid("strides, dilations or kernel sizes are absurd");
    int64_t extent = (kernel[i] - 1) * g.dilations[i] + 1;
    int64_t low = pads[i], high = pads[rank + i], output;
    if (std::abs(low) > (int64_t(1) << 31) ||
        std::abs(high) > (int64_t(1) << 31))
      return node.invalid("pads are absurd");
    if (*autoPad == AutoPad::SameUpper || *autoPad == AutoPad::SameLower) {
      output = (spatial[i] + g.strides[i] - 1) / g.strides[i];
      int64_t total = std::max<int64_t>(0, (output - 1) * g.strides[i] +
                                               extent - spatial[i]);
      low = *autoPad == AutoPad::SameUpper ? total / 2 : total - total / 2;
      high = total - low;
    } else {
      if (*autoPad == AutoPad::Valid)
        low = high = 0;
      int64_t room = spatial[i] + low + high - extent;
      if (room < 0)
        return node.invalid("the kernel (" + Twine(extent) +
                            ") is larger than the padded input (" +
                            Twine(spatial[i] + low + high) +
                            ") on spatial axis " + Twine(i));
      output = (ceil ? (room + g.strides[i] - 1) / g.strides[i]
                     : room / g.strides[i]) +
               1;
      // A window that would start in the padding at the high end is dropped.
      if (ceil && (output - 1) * g.strides[i] >= spatial[i] + low)
        --output;
    }
    // ONNX's shape rule goes by the pads, its text by auto_pad.
    int64_t given = spatial[i] + pads[i] + pads[rank + i] - extent;
    if (*autoPad != AutoPad::No && node.hasAttr("pads") &&
        (given < 0 || given / g.strides[i] + 1 != output))
      return node.invalid("pads contradicts auto_pad");
    g.low.push_back(low);
    g.high.push_back(high);
    g.output.push_back(output);
  }
  return g;
}

Value toChannelsLast(OnnxNode &node, Value x) {
  SmallVector<int64_t> perm{0};
  for (size_t i = 2; i < shapeOf(x).size(); ++i)
    perm.push_back(i);
  perm.push_back(1);
  return buildTranspose(node.builder, node.loc, x, perm);
}

Value toChannelsFirst(OnnxNode &node, Value x) {
  int64_t rank = shapeOf(x).size();
  SmallVector<int64_t> perm{0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    perm.push_back(i);
  return buildTranspose(node.builder, node.loc, x, perm);
}

} // namespace ingot::graph
