// How programs of a target are called, built and measured.

#ifndef INGOT_TARGETS_PROGRAMFORM_H
#define INGOT_TARGETS_PROGRAMFORM_H

#include "targets/TargetDescription.h"

namespace ingot {

struct ProgramForm {
  /// Whether kernels have memory of their own, which a handle owns: the host
  /// copies tensors there, launches kernels, and waits for them. Otherwise the
  /// caller owns all memory, and a run is a call.
  bool hasHandle = false;
  /// The words before functions that kernels call, if kernels are compiled for
  /// another processor than the functions of the source; else empty. Such
  /// kernels call builtins of the compiler.
  llvm::StringRef functionWords;
  /// The alignment in bytes of local arrays, if not that of buffers.
  unsigned localAlign = 0;

  /// Flags for compiling a source to an object, and flags for compiling a
  /// program that runs on this machine, in addition to those of the target.
  llvm::SmallVector<llvm::StringRef, 5> objectFlags = {
      "-std=c++17", "-O2", "-fPIC", "-fno-exceptions", "-fno-rtti"};
  llvm::SmallVector<llvm::StringRef, 2> programFlags = {"-fno-exceptions",
                                                        "-fno-rtti"};
  /// Whether the code and the stack of kernels are measured in objects.
  bool measuresObjects = true;
  /// Whether times are predicted in cycles; else in microseconds.
  bool predictsCycles = true;
  /// Whether kernels are timed one by one in a program that the target's
  /// compiler builds; else within Ingot.
  bool timesLaunches = false;
  /// Options of `ingot` that have no meaning.
  llvm::SmallVector<llvm::StringRef, 6> lacks;
};

const ProgramForm &programForm(const TargetDescription &target);

/// Whether tensors can hold strings, which are 64-bit pointers of the host.
inline bool holdsStrings(const TargetDescription &target) {
  return !programForm(target).hasHandle && target.pointerBytes == 8;
}

} // namespace ingot

#endif // INGOT_TARGETS_PROGRAMFORM_H
