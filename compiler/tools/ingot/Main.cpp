// The program `ingot`.

#include "codegen/objects/Interrupts.h"
#include "compiler/tools/ingot/Commands.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

#include <unistd.h>

/// Reports a crash as an internal error, with a stack trace and the
/// corresponding exit code.
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
  // Exit without freeing memory, which would take a tenth of the time in which
  // a small network is compiled.
  llvm::sys::Process::Exit(code, /*NoCleanup=*/true);
}
