// Timelines in the JSON format of Chrome's trace viewer, which Perfetto reads.

#ifndef INGOT_COMPILER_MEASURE_TIMELINE_H
#define INGOT_COMPILER_MEASURE_TIMELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace ingot {

struct TimelineEvent {
  /// `name`: the name of the kernel or of the run. `category`: "run", "kernel",
  /// or "part" (the part of a kernel that one thread executes).
  std::string name, category;
  /// Microseconds since the start of the timeline.
  double start = 0, duration = 0;
  /// The ONNX nodes of a kernel.
  std::string nodes;
  /// Further numbers, by name.
  std::vector<std::pair<std::string, double>> figures = {};
  /// The track: 0 for runs and kernels, else the number of a thread.
  unsigned thread = 0;
};

/// Prints events as JSON; `process` is the title of the timeline. The events of
/// a track may be nested.
void printTimeline(llvm::StringRef process,
                   llvm::ArrayRef<TimelineEvent> events, llvm::raw_ostream &os);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_TIMELINE_H
