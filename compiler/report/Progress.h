// What is being done, on a terminal.

#ifndef INGOT_COMPILER_REPORT_PROGRESS_H
#define INGOT_COMPILER_REPORT_PROGRESS_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// One line on standard error that says what is going on, gone at the end.
/// Nothing where standard error is not a terminal.
class Progress {
public:
  explicit Progress(llvm::StringRef what);
  ~Progress();

private:
  bool shown;
};

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_PROGRESS_H
