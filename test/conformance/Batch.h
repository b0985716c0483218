// Conformance cases that are built together.
//
// A unit is one case in one mode. Each is compiled to C++ in this process; all
// texts of a batch then become one shared library, and each unit is run on its
// case's data. Texts that are equal but for the file they came from are built
// once.

#ifndef INGOT_TEST_CONFORMANCE_BATCH_H
#define INGOT_TEST_CONFORMANCE_BATCH_H

#include "compiler/Compile.h"
#include "compiler/run/Compare.h"

#include <functional>

namespace ingot::conformance {

struct Unit {
  /// Kind and name of the case, and its mode: the form of its model (declared,
  /// inferred, symbolic), after `dynamic-` where it is compiled without data.
  std::string kind, name, mode;
  Tolerance tolerance;
  /// A letter an output; t for a tensor.
  std::string outputs;
};

struct Settings {
  std::string suite, work;
  const TargetDescription *target = nullptr;
  /// As in CompileOptions.
  std::string fast;
  /// For one run of an emulated program.
  unsigned seconds = 0;
};

enum class Status { Pass, Unsupported, Mismatch, Error, Crash };
llvm::StringRef statusName(Status status);

struct Listener {
  /// What is being done now, so that a crash can be told whose it is. A unit's
  /// number, or -1 for the batch.
  std::function<void(int unit, llvm::StringRef what)> begin;
  std::function<void(int unit, Status status, llvm::StringRef reason)> end;
};

/// Calls `listener.end` once for every unit. Units of one case have to stand
/// together.
void runBatch(llvm::ArrayRef<Unit> units, const Settings &settings,
              llvm::StringRef folder, const Listener &listener);

} // namespace ingot::conformance

#endif // INGOT_TEST_CONFORMANCE_BATCH_H
