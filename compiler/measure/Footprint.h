// The memory footprint of a compiled model.
//
// In two steps: weights and arena are known from the planned module; code and
// stack from the target's compiler.
//
//   flash = code + constants (weights among them, unless they are a file)
//   RAM   = arena + state + stack + writable variables, of which there are none
//
// Buffers for inputs and outputs belong to the calling program and do not
// count.

#ifndef INGOT_COMPILER_MEASURE_FOOTPRINT_H
#define INGOT_COMPILER_MEASURE_FOOTPRINT_H

#include "codegen/objects/ObjectSizes.h"
#include "compiler/Compile.h"
#include "passes/schedule/DeviceTime.h"

namespace ingot {

struct Footprint {
  /// One kernel call. Weights or code shared by several calls count for the
  /// first of them.
  struct Launch {
    mlir::Location location;
    std::string kernel, strategy;
    bool isFirst = true; ///< whether it is the first call of its kernel
    int64_t weights = 0, code = 0, stack = 0, arena = 0;
    /// The work of a kernel with threads on a device.
    schedule::DeviceWork device;
    /// Whether this kernel of a device program runs on the host.
    bool onHost = false;
    /// The fork and branch of launches that run concurrently.
    std::optional<int64_t> fork, branch;
  };

  std::vector<Launch> launches;
  int64_t kernels = 0, weights = 0, arena = 0, arenaLowerBound = 0;
  /// The number of points at which the host decides what to run next, based on
  /// results.
  int64_t decisions = 0;
  /// Bytes of the state, and of near memory (VTCM).
  int64_t state = 0, near = 0;
  /// MACs that are recomputed to meet maxRam.
  int64_t macsRecomputed = 0;
  /// Set once the code has been compiled.
  std::optional<ObjectSizes> object;
  /// The stack of the entry function, including all functions that it calls.
  int64_t stack = 0;
  /// Bytes of writable variables, except an arena that the code defines.
  int64_t variables = 0;

  int64_t flash() const { return object ? object->flash() : weights; }
  int64_t ram() const { return arena + state + stack + variables; }
};

/// Returns the compiler for measuring: the command in CompileOptions::compiler,
/// or the target's; an error that names the missing programs if none is
/// installed.
llvm::Expected<std::vector<std::string>>
findMeasuringCompiler(const CompileOptions &options);

/// Plans the model, and measures it if the compiler above is installed. A plan
/// that exceeds CompileOptions::maxRam is repeated a few times with less for
/// the arena; the best result counts. Null with diagnostics on failure.
std::unique_ptr<Compilation> planAndMeasure(const CompileOptions &options,
                                            mlir::MLIRContext &context,
                                            Footprint &footprint,
                                            Diagnostics &diagnostics);

/// Compares the footprint with CompileOptions::maxFlash and maxRam; false with
/// diagnostics that list the largest contributors and the sizes that can be
/// reached, for which the model is compiled again.
bool checkBudget(const CompileOptions &options, const Footprint &footprint,
                 mlir::MLIRContext &context, Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_FOOTPRINT_H
