# Writes OUTPUT, which defines ingot::ingotCommit, if the commit of SOURCE has
# changed.
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[// Written by the build.
#include "compiler/Commit.h"

const llvm::StringRef ingot::ingotCommit = "@commit@";
]] @ONLY)
