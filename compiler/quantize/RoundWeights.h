// Rounds weights to integers of 8, 7, 6 or 4 bits.

#ifndef INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
#define INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H

#include "compiler/quantize/Moments.h"

namespace ingot::quantize {

/// Returns how many consecutive elements of a row of a 4-bit weight share a
/// scale: at most 32, and a divisor of the row length. Not every runtime
/// supports larger blocks, or a last block that is shorter than the others.
inline int64_t narrowBlock(const Weight &weight) {
  int64_t block = std::min<int64_t>(weight.depth, 32);
  while (weight.depth % block)
    --block;
  return block;
}

/// Whether 4 bits save memory compared with 8: in weights with few elements, or
/// few elements per scale, the scales take the memory that 4 bits save.
inline bool canBeNarrow(const Weight &weight) {
  return weight.elements() >= 1024 && weight.depth >= 32 &&
         narrowBlock(weight) >= 8;
}

/// Returns the largest magnitude of weights of 6 to 8 bits: 32, 64 or 127. The
/// magnitudes of two weights of 7 bits, or of four weights of 6 bits, add up to
/// 128 at most; the sum of their products by uint8 then fits into 16 bits.
inline int largestInteger(int bits) {
  return bits == 8 ? 127 : 1 << (bits - 1);
}

/// Sets the bits of a weight, and its block size.
inline void setBits(Weight &weight, int bits) {
  weight.bits = bits;
  weight.block = bits == 4 ? narrowBlock(weight) : 0;
}

/// Chooses scales and integers for the weight's bits. `numbers` are its
/// elements by rows. With `moments`, the means and covariances of the operand,
/// minimizes the error of the product, and returns the mean error of each row,
/// to be added to a bias. If `moments` is null or empty, minimizes the error of
/// the weights, and returns zeros. Weights of 7 bits may be reduced further, so
/// that sums of the products of four of them fit into 16 bits.
std::vector<float> roundWeight(Weight &weight, llvm::ArrayRef<float> numbers,
                               const Moments *moments);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
