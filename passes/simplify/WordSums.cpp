#include "passes/simplify/WordSums.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {

constexpr int64_t wordRange = int64_t(1) << 31;

bool fitsWord(int64_t terms) { return terms < wordRange / (255 * 255); }

Value biasInWords(OpBuilder &builder, Value bias, int64_t terms) {
  auto constant = bias ? bias.getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant || !elementOf(bias).isF32() || !hasData(constant.getValue()))
    return {};
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(constant.getValue(), storage);
  int64_t room = wordRange - 1 - terms * 255 * 255;
  SmallVector<int32_t> words;
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    if (!(std::abs(number) <= double(room)) || number != std::trunc(number))
      return {};
    words.push_back(static_cast<int32_t>(number));
  }
  auto type = RankedTensorType::get(
      shapeOf(bias), builder.getIntegerType(32, /*isSigned=*/true));
  auto elements = DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef(reinterpret_cast<const char *>(words.data()),
                     words.size() * sizeof(int32_t)));
  return ConstantOp::create(builder, bias.getLoc(), elements);
}

} // namespace ingot::simplify
