// Conformance cases that are built together.
//
// A unit is one case in one mode. Each unit is compiled to C++ in this process;
// all texts of a batch become one shared library, and each unit is run on the
// data of its case. Texts that differ only in the name of their model file are
// built once.

#ifndef INGOT_TEST_CONFORMANCE_BATCH_H
#define INGOT_TEST_CONFORMANCE_BATCH_H

#include "compiler/Compile.h"
#include "compiler/run/Compare.h"

#include <functional>

namespace ingot::conformance {

struct Unit {
  /// Kind and name of the case, and its mode: the form of its model (declared,
  /// inferred, symbolic), prefixed with `dynamic-` if it is compiled without
  /// data.
  std::string kind, name, mode;
  Tolerance tolerance;
  /// One letter per output; t is a tensor.
  std::string outputs;
};

struct Settings {
  std::string suite, work;
  const TargetDescription *target = nullptr;
  /// See CompileOptions.
  std::string fast;
  /// The time limit for one run of an emulated program.
  unsigned seconds = 0;
};

enum class Status { Pass, Unsupported, Mismatch, Error, Crash };
llvm::StringRef statusName(Status status);

struct Listener {
  /// Called when an activity starts, so that a crash can be attributed to it.
  /// `unit` is the unit's index, or -1 for the batch.
  std::function<void(int unit, llvm::StringRef what)> begin;
  std::function<void(int unit, Status status, llvm::StringRef reason)> end;
};

/// Calls `listener.end` once for every unit. The units of a case must be
/// adjacent.
void runBatch(llvm::ArrayRef<Unit> units, const Settings &settings,
              llvm::StringRef folder, const Listener &listener);

} // namespace ingot::conformance

#endif // INGOT_TEST_CONFORMANCE_BATCH_H
