// Shows progress on a terminal.

#ifndef INGOT_COMPILER_REPORT_PROGRESS_H
#define INGOT_COMPILER_REPORT_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <memory>
#include <string>

namespace ingot {

/// How much is printed while a step is running.
enum class Verbosity {
  Quiet,  ///< nothing
  Normal, ///< a line on a terminal; after one second it shows the elapsed
          ///< seconds
  Verbose ///< a line with the time of each step, also if not on a terminal
};

/// Prints a line about the work in progress on standard error, and erases the
/// line when the object is destroyed.
class Progress {
public:
  explicit Progress(llvm::StringRef what);
  ~Progress();

  /// Sets the verbosity of all later objects; called once, by the command line.
  static void setVerbosity(Verbosity verbosity);

private:
  class Line;
  std::string what;
  std::chrono::steady_clock::time_point start;
  std::unique_ptr<Line> line;
};

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_PROGRESS_H
