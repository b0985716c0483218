// Conformance cases that are built together.
//
// A unit is one case in one mode. Each unit is compiled to C++ in this process;
// the C++ of all units of a batch becomes one shared library, and each unit is
// run on the data of its case. C++ that differs only in the name of the model
// file is built once.

#ifndef INGOT_TEST_CONFORMANCE_BATCH_H
#define INGOT_TEST_CONFORMANCE_BATCH_H

#include "compiler/Compile.h"
#include "compiler/run/Compare.h"

#include <functional>

namespace ingot::conformance {

struct Unit {
  /// Kind and name of the case; and its mode: the form of its model (declared,
  /// inferred or symbolic), prefixed with `dynamic-` if it is compiled without
  /// data.
  std::string kind, name, mode;
  Tolerance tolerance;
  /// One letter per output: t for a tensor, s for a sequence, o for an
  /// optional, m for a map.
  std::string outputs;
};

struct Settings {
  std::string suite, work;
  const TargetDescription *target = nullptr;
  /// Whether sources are C.
  bool isC = false;
  /// The reduced precision of CompileOptions::fast; empty for none.
  std::string fast;
  /// The time limit for one run of an emulated program.
  unsigned seconds = 0;
};

enum class Status { Pass, Unsupported, Mismatch, Error, Crash };
llvm::StringRef statusName(Status status);

struct Listener {
  /// Called when a step starts, so that a crash can be attributed to it. `unit`
  /// is the index of the unit, or -1 if the step concerns the whole batch.
  std::function<void(int unit, llvm::StringRef what)> begin;
  std::function<void(int unit, Status status, llvm::StringRef reason)> end;
};

/// Calls `listener.end` once for every unit. The units of a case must be
/// adjacent.
void runBatch(llvm::ArrayRef<Unit> units, const Settings &settings,
              llvm::StringRef folder, const Listener &listener);

} // namespace ingot::conformance

#endif // INGOT_TEST_CONFORMANCE_BATCH_H
