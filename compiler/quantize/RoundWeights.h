// Weights as small integers.

#ifndef INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
#define INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H

#include "compiler/quantize/Moments.h"

namespace ingot::quantize {

/// Returns how many numbers of a weight in 4 bits share a scale: at most 32, and
/// a divisor of the row, since not every runtime takes other blocks.
inline int64_t narrowBlock(const Weight &weight) {
  int64_t block = std::min<int64_t>(weight.depth, 32);
  while (weight.depth % block)
    --block;
  return block;
}

/// Whether 4 bits save something: with a few numbers, or a few that share a
/// scale, the scales take what they save.
inline bool canBeNarrow(const Weight &weight) {
  return weight.elements() >= 1024 && weight.depth >= 32 &&
         narrowBlock(weight) >= 8;
}

/// Sets how many bits a weight is to have, and with it what shares a scale.
inline void setBits(Weight &weight, int bits) {
  weight.bits = bits;
  weight.block = bits == 4 ? narrowBlock(weight) : 0;
}

/// Chooses scales and integers for the weight's bits. `numbers` are the rows of
/// the weight. With `moments`, the error of the product is kept small; without
/// (null), that of the weights. Returns what the product loses for each row on
/// average, to be added to a bias.
std::vector<float> roundWeight(Weight &weight, llvm::ArrayRef<float> numbers,
                               const Moments *moments);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
