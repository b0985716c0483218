// Cleans up when a signal ends Ingot.
//
// SIGINT, SIGTERM and similar signals can end Ingot at any point. Before that,
// the child process that is running (a compiler) is ended, and the folders
// registered here are removed, as well as the files registered with
// llvm::sys::RemoveFileOnSignal.

#ifndef INGOT_CODEGEN_OBJECTS_INTERRUPTS_H
#define INGOT_CODEGEN_OBJECTS_INTERRUPTS_H

#include "llvm/ADT/StringRef.h"

#include <csignal>

namespace ingot {

/// Installs the signal handlers. A signal that the process ignores stays
/// ignored.
void installInterruptHandlers();

/// Ends the running child process and removes the registered folders. Safe in a
/// signal handler.
void cleanUpAfterSignal();

/// Registers a folder that a signal removes with its contents, until
/// forgetFolder() is called.
void removeFolderOnSignal(llvm::StringRef folder);
void forgetFolder(llvm::StringRef folder);

/// Sets the process group of the running child process, which a signal to Ingot
/// ends; 0 if none is running.
void setRunningProgram(int group);

/// While this object exists, signals are blocked. To be used while creating a
/// file or process that a signal handler must remove or end.
class SignalsHeld {
public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;

  /// The signal mask before construction, which the destructor restores.
  sigset_t before;
};

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_INTERRUPTS_H
