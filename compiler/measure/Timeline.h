// Timelines in the JSON format of Chrome's trace viewer, which Perfetto reads.

#ifndef INGOT_COMPILER_MEASURE_TIMELINE_H
#define INGOT_COMPILER_MEASURE_TIMELINE_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace ingot {

struct TimelineEvent {
  /// The name of the kernel or of the run, and "kernel" or "run".
  std::string name, category;
  /// Microseconds since the start of the timeline.
  double start = 0, duration = 0;
  /// The ONNX nodes of a kernel.
  std::string nodes;
};

/// Prints events, which may be nested, as those of one thread.
void printTimeline(llvm::StringRef process,
                   const std::vector<TimelineEvent> &events,
                   llvm::raw_ostream &os);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_TIMELINE_H
