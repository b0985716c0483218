// How vectors of a target compute depthwise convolutions of 8-bit integers.

#ifndef INGOT_TARGETS_DEPTHWISEFORMS_H
#define INGOT_TARGETS_DEPTHWISEFORMS_H

#include "targets/TargetDescription.h"

namespace ingot {

/// Whether a dot product of four taps pays off for inputs of type `x`, weights
/// of type `w` and `channels` channels. This requires at least 16 channels,
/// vectors that multiply unsigned by signed 8-bit integers, and an instruction
/// that narrows several vectors of sums to one.
bool filtersByDots(const TargetDescription &target, mlir::Type x, mlir::Type w,
                   int64_t channels);

/// Whether vectors multiply elements widened to 16 bits, lane by lane, with
/// 32-bit sums, and the channels fill whole vectors of 16-bit elements.
bool filtersByWords(const TargetDescription &target, mlir::Type x, mlir::Type w,
                    int64_t channels);

} // namespace ingot

#endif // INGOT_TARGETS_DEPTHWISEFORMS_H
