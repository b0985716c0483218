// The program `ingot`.

#include "codegen/objects/Interrupts.h"
#include "compiler/tools/ingot/Commands.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

#include <unistd.h>

/// A crash is our own fault like any other: said so, with where it happened,
/// and the same exit code.
static void reportCrash(void *) {
  ingot::cleanUpAfterSignal();
  llvm::sys::PrintStackTrace(llvm::errs());
  llvm::errs() << "internal error: ingot has crashed; please report this text "
                  "with the model\n";
  _exit(ingot::InternalError);
}

int main(int argc, char **argv) {
  ingot::installInterruptHandlers();
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0],
                                          /*DisableCrashReporting=*/true);
  llvm::sys::AddSignalHandler(reportCrash, nullptr);
  int code = ingot::runCommandLine(argc, argv);
  // What is in memory goes with the process; to free it takes a tenth of the time
  // that a small network is compiled in.
  llvm::sys::Process::Exit(code, /*NoCleanup=*/true);
}
