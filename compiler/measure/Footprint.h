// The memory footprint of a compiled model.
//
// The weights and the arena (the memory of intermediate tensors) are known once
// memory is planned; code and stack are measured after the target's compiler has
// compiled the generated C++. The state is kept from run to run.
//
//   flash = code + constants (weights among them, unless they are a file)
//   RAM   = arena + state + stack + variables (generated code has none)
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
  /// One kernel call. Weights or code that several calls share count for the
  /// first of these calls.
  struct Launch {
    mlir::Location location;
    std::string kernel, strategy;
    bool isFirst = true; ///< whether this is the first call of its kernel
    int64_t weights = 0, code = 0, stack = 0, arena = 0;
    /// The work of a GPU kernel, from which its time is predicted.
    schedule::DeviceWork device;
    /// Whether this kernel runs on the host although the target is a GPU.
    bool onHost = false;
    /// For kernel calls that run concurrently: the number of the fork (a set of
    /// concurrent branches), and the number of the branch in it.
    std::optional<int64_t> fork, branch;
  };

  std::vector<Launch> launches;
  int64_t kernels = 0, weights = 0, arena = 0, arenaLowerBound = 0;
  /// The number of points in a run at which the host reads results of kernels
  /// to decide which kernels to run next.
  int64_t decisions = 0;
  /// Bytes of the state, which is kept from run to run, and of fast local
  /// memory (VTCM).
  int64_t state = 0, second = 0;
  /// MACs that are recomputed to meet maxRam.
  int64_t macsRecomputed = 0;
  /// The measured sizes; set once the generated C++ has been compiled.
  std::optional<ObjectSizes> object;
  /// Stack bytes of the entry function, including all functions that it calls.
  int64_t stack = 0;
  /// Bytes of writable variables, except an arena (the memory of intermediate
  /// tensors) that the generated code defines.
  int64_t variables = 0;

  int64_t flash() const { return object ? object->flash() : weights; }
  int64_t ram() const { return arena + state + stack + variables; }
};

/// Returns the compiler for measuring: the command in CompileOptions::compiler,
/// or the target's; an error that names the missing programs if none is
/// installed.
llvm::Expected<std::vector<std::string>>
findMeasuringCompiler(const CompileOptions &options);

/// Plans the memory of the model, and measures code and stack if
/// findMeasuringCompiler finds a compiler. If the RAM exceeds
/// CompileOptions::maxRam, planning is repeated a few times with less memory
/// for intermediate tensors (the arena), then also without optional scratch
/// memory; the best result counts. Null with diagnostics on failure.
std::unique_ptr<Compilation> planAndMeasure(const CompileOptions &options,
                                            mlir::MLIRContext &context,
                                            Footprint &footprint,
                                            Diagnostics &diagnostics);

/// Compares the footprint with CompileOptions::maxFlash and maxRam; false with
/// diagnostics that list the largest contributors. To state which sizes are
/// possible, the model is compiled again with other options.
bool checkBudget(const CompileOptions &options, const Footprint &footprint,
                 mlir::MLIRContext &context, Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_FOOTPRINT_H
