// What a signal must not leave behind.
//
// SIGINT, SIGTERM and their like end the program at any place. Before they do,
// the program that is running for us (a compiler) is ended and the folders that
// are registered here are removed, with the single files that
// llvm::sys::RemoveFileOnSignal knows.

#ifndef INGOT_CODEGEN_OBJECTS_INTERRUPTS_H
#define INGOT_CODEGEN_OBJECTS_INTERRUPTS_H

#include "llvm/ADT/StringRef.h"

#include <csignal>

namespace ingot {

/// Sets the handlers; a signal that the caller ignores stays ignored.
void installInterruptHandlers();

/// Ends the running program and removes the folders. Safe in a signal handler.
void cleanUpAfterSignal();

/// Makes signals remove a folder with its contents, until it is forgotten.
void removeFolderOnSignal(llvm::StringRef folder);
void forgetFolder(llvm::StringRef folder);

/// Tells which process group a signal has to end; 0: none.
void setRunningProgram(int group);

/// Holds the signals back while something is made that they have to clean up.
class SignalsHeld {
public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;

  /// What was blocked before.
  sigset_t before;
};

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_INTERRUPTS_H
