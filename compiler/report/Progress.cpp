#include "compiler/report/Progress.h"

#include "llvm/Support/raw_ostream.h"

namespace ingot {

static constexpr llvm::StringLiteral eraseLine = "\r\033[K";

Progress::Progress(llvm::StringRef what) : shown(llvm::errs().is_displayed()) {
  if (shown)
    llvm::errs() << eraseLine << what << " ...";
}

Progress::~Progress() {
  if (shown)
    llvm::errs() << eraseLine;
}

} // namespace ingot
