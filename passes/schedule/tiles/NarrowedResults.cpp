#include "passes/schedule/tiles/NarrowedResults.h"

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Whether the target can narrow two vectors of `lanes` integers of `bits` bits
/// into one vector of integers of half the width.
static bool narrows(KernelBuilder &b, unsigned bits, int64_t lanes,
                    bool toUnsigned) {
  auto from = VectorType::get({lanes}, b.builder.getIntegerType(bits)),
       to = VectorType::get({2 * lanes}, b.builder.getIntegerType(bits / 2));
  return b.target.intrinsic(toUnsigned
                                ? kernel::NarrowUnsignedOp::getOperationName()
                                : kernel::NarrowSignedOp::getOperationName(),
                            from, to);
}

size_t narrowedTogether(KernelBuilder &b, ArrayRef<int64_t> lanes) {
  auto type = dyn_cast<IntegerType>(elementOf(b.result()));
  if (!type || type.isSignless() || lanes.empty())
    return 1;
  bool toUnsigned = type.isUnsigned();
  size_t count = 1;
  if (type.getWidth() == 16 && narrows(b, 32, lanes[0], toUnsigned))
    count = 2;
  if (type.getWidth() == 8 && narrows(b, 32, lanes[0], /*toUnsigned=*/false) &&
      narrows(b, 16, 2 * lanes[0], toUnsigned))
    count = 4;
  size_t alike = 0;
  while (alike < lanes.size() && lanes[alike] == lanes[0])
    ++alike;
  return llvm::bit_floor(std::min(count, alike));
}

static Value pair(KernelBuilder &b, Value x, Value y, bool toUnsigned) {
  auto from = cast<VectorType>(x.getType());
  auto to = VectorType::get(
      {2 * from.getNumElements()},
      b.builder.getIntegerType(from.getElementTypeBitWidth() / 2));
  if (toUnsigned)
    return kernel::NarrowUnsignedOp::create(b.builder, b.loc, to, x, y);
  return kernel::NarrowSignedOp::create(b.builder, b.loc, to, x, y);
}

/// Returns 16-bit integers that saturate to the 8-bit integers `results`, one
/// vector for two of `results`. Returns nothing if the target has no instruction
/// that rounds or adds with saturation, or if quantization is not the last
/// operation of each result.
static std::optional<SmallVector<Value>>
roundedInPairs(KernelBuilder &b, ArrayRef<Expr> results) {
  SmallVector<Value> numbers, pairs;
  int64_t zero = 0;
  for (const Expr &result : results) {
    auto number = beforeRounding(result);
    if (!number)
      return std::nullopt;
    zero = number->second;
    numbers.push_back(number->first.value);
  }
  auto from = cast<VectorType>(numbers[0].getType());
  VectorType integers = from.clone(b.builder.getI32Type()),
             sums = VectorType::get({2 * from.getNumElements()},
                                    b.builder.getI16Type());
  if (!b.target.intrinsic(kernel::RoundSaturatedOp::getOperationName(), from,
                          integers) ||
      !b.target.intrinsic(kernel::AddSaturatedOp::getOperationName(), sums,
                          sums))
    return std::nullopt;
  auto rounded = [&](Value x) -> Value {
    return kernel::RoundSaturatedOp::create(b.builder, b.loc, integers, x);
  };
  Value zeros = arith::ConstantOp::create(
      b.builder, b.loc,
      DenseElementsAttr::get(sums, b.builder.getI16IntegerAttr(zero)));
  for (size_t i = 0; i < numbers.size(); i += 2) {
    Value sum = pair(b, rounded(numbers[i]), rounded(numbers[i + 1]),
                     /*toUnsigned=*/false);
    if (zero != 0)
      sum = kernel::AddSaturatedOp::create(b.builder, b.loc, sums, sum, zeros);
    pairs.push_back(sum);
  }
  return pairs;
}

/// The same for all targets, and for `results` of 16 bits, which are returned
/// in pairs. `toUnsigned` says that such results are unsigned.
static std::optional<SmallVector<Value>>
narrowedInPairs(KernelBuilder &b, ArrayRef<Expr> results, bool toUnsigned) {
  SmallVector<Value> parts, pairs;
  for (const Expr &result : results) {
    std::optional<Expr> number = beforeSaturation(result);
    if (!number)
      return std::nullopt;
    parts.push_back(number->value);
  }
  for (size_t i = 0; i < parts.size(); i += 2)
    pairs.push_back(pair(b, parts[i], parts[i + 1], toUnsigned));
  return pairs;
}

std::optional<Expr> narrowed(KernelBuilder &b, ArrayRef<Expr> results) {
  Type type = results[0].type;
  bool isByte = type.getIntOrFloatBitWidth() == 8,
       toUnsigned = type.isUnsignedInteger();
  auto lanes = cast<VectorType>(results[0].value.getType()).getNumElements();
  auto pairs = isByte ? roundedInPairs(b, results) : std::nullopt;
  if (!pairs)
    pairs = narrowedInPairs(b, results, toUnsigned && !isByte);
  if (!pairs)
    return std::nullopt;
  for (auto [i, two] : llvm::enumerate(*pairs))
    kernel::nameValue(two, ("pair_" + Twine(i)).str());
  Value all = pairs->front();
  if (isByte)
    all = pair(b, pairs->front(), pairs->back(), toUnsigned);
  // Narrowing interleaves the vectors within each block of 128 bits. A block
  // has four results from each vector, in one or two 32-bit words. Restore the
  // order of the vectors.
  constexpr int64_t block = 4;
  int64_t words = isByte ? 1 : 2, ofBlock = isByte ? 4 : 2 * words;
  SmallVector<int64_t> order;
  for (int64_t part = 0; part < int64_t(results.size()); ++part)
    for (int64_t first = 0; first < lanes; first += block)
      for (int64_t word = 0; word < words; ++word)
        order.push_back(first / block * ofBlock + part * words + word);
  auto whole = cast<VectorType>(all.getType());
  auto inWords = VectorType::get({lanes}, b.builder.getI32Type());
  auto count = int64_t(order.size());
  if (!llvm::equal(order, llvm::seq<int64_t>(0, lanes))) {
    all = vector::BitCastOp::create(b.builder, b.loc, inWords, all);
    all = vector::ShuffleOp::create(b.builder, b.loc, all, all, order);
    all = vector::BitCastOp::create(
        b.builder, b.loc,
        VectorType::get({whole.getNumElements() * count / lanes},
                        whole.getElementType()),
        all);
  }
  return b.wrap(all, type);
}

} // namespace ingot::schedule
