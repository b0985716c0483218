// Measures how long kernel launches take on a GPU of this machine.

#ifndef INGOT_TARGETS_LAUNCHTIMING_H
#define INGOT_TARGETS_LAUNCHTIMING_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// Returns the text of a program that times the kernel launches of a model on a
/// GPU. The caller must replace these placeholders in the text:
///   - SOURCE: the generated source file;
///   - RUNS: the number of runs in which launches are timed, plus one for the
///     first run, which is not timed;
///   - SECONDS: how long to time whole runs afterwards;
///   - LEVEL: the compute capability that the GPU must have;
///   - COLD: whether the L2 cache is cleared before each launch;
///   - CACHE: the size of the L2 cache;
///   - NAME: the prefix of the model;
///   - SIZES: the dynamic sizes of the model, then 0;
///   - BYTES: the sizes of its tensors;
///   - LAUNCH: the function that launches all kernels.
///
/// The program writes lines to the file that its first argument names: "run"
/// where a run begins, "launch <begin> <end>" with microseconds since the first
/// launch of the run, and "whole 0 <time>" with the microseconds of a whole
/// run. If it cannot measure, it writes a single line instead: "no device",
/// "other device" with the compute capability of the GPU, or "failed".
llvm::StringRef launchTimingText();

} // namespace ingot

#endif // INGOT_TARGETS_LAUNCHTIMING_H
