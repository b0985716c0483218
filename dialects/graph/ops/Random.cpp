// Definitions of the operators that generate pseudo-random numbers.

#include "dialects/graph/ElementBuilder.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult RandomBitsOp::inferTypes(Adaptor op, TypeRule &rule) {
  Type element = rule.statedElement();
  if (!element.isUnsignedInteger(32) && !element.isUnsignedInteger(64))
    return rule.refuse("is no tensor of unsigned integers of 32 or 64 bits");
  int64_t bits = static_cast<int64_t>(op.getBits());
  if (bits < 1 || bits > element.getIntOrFloatBitWidth())
    return rule.refuse("has elements of more bits than their type, or of none");
  if (!shapeOf(op.getKey()).empty())
    return rule.refuse("has a key that is no scalar");
  return rule.result(ArrayRef<Dim>(rule.statedDims()), element);
}

namespace {
/// Builds Philox 4x32-10 (Salmon et al., SC 2011) from expressions, with the
/// names of the paper.
class Philox {
public:
  Philox(ElementBuilder &b, Expr key)
      : b(b), word(b.builder.getIntegerType(32, /*isSigned=*/false)),
        wide(b.builder.getIntegerType(64, /*isSigned=*/false)), low(lowOf(key)),
        high(highOf(key)) {}

  Expr lowOf(Expr x) { return convert(x, word); }
  Expr highOf(Expr x) { return convert(x >> b.constantInt(32, wide), word); }

  /// Returns the first two of the four 32-bit words that Philox generates for
  /// the counter (`position`, `stream`), as one 64-bit word with the first word
  /// in the upper half.
  Expr block(Expr position, uint64_t stream) {
    Exprs counter{lowOf(position), highOf(position),
                  b.constantInt(static_cast<uint32_t>(stream), word),
                  b.constantInt(static_cast<uint32_t>(stream >> 32), word)};
    for (int round = 0; round < 10; ++round) {
      if (round > 0) {
        low = low + b.constantInt(0x9E3779B9, word);
        high = high + b.constantInt(0xBB67AE85, word);
      }
      Expr first = product(counter[0], 0xD2511F53),
           second = product(counter[2], 0xCD9E8D57);
      counter = {highOf(second) ^ counter[1] ^ low, lowOf(second),
                 highOf(first) ^ counter[3] ^ high, lowOf(first)};
    }
    Expr upper = convert(counter[0], wide) << b.constantInt(32, wide);
    return upper | convert(counter[1], wide);
  }

private:
  Expr product(Expr x, uint32_t factor) {
    return convert(x, wide) * b.constantInt(factor, wide);
  }

  ElementBuilder &b;
  Type word, wide;
  Expr low, high;
};
} // namespace

Expr RandomBitsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Type type = elementOf(getResult()),
       wide = b.builder.getIntegerType(64, /*isSigned=*/false);
  Expr position =
      convert(b.linearize(idx, ArrayRef<Dim>(dimsOf(getResult()))), wide);
  Expr block =
      Philox(b, b.loadScalar(getKey(), {})).block(position, getStream());
  int64_t unused = 64 - static_cast<int64_t>(getBits());
  return unused ? convert(block >> b.constantInt(unused, wide), type)
                : convert(block, type);
}

bool RandomBitsOp::passesLanes() { return false; }
bool RandomBitsOp::isCheap() { return false; }

} // namespace ingot::graph
