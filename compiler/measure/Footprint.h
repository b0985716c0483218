// The memory that a compiled model takes.
//
// In two steps: the planned module knows weights and arena, the target's
// compiler code and stack.
//
//   flash = code + constants (weights among them, unless they are a file)
//   RAM   = arena + stack + what else the code writes, which is nothing
//
// Inputs, outputs and the rest of a program are its own affair.

#ifndef INGOT_COMPILER_MEASURE_FOOTPRINT_H
#define INGOT_COMPILER_MEASURE_FOOTPRINT_H

#include "codegen/objects/ObjectSizes.h"
#include "compiler/Compile.h"
#include "passes/schedule/DeviceTime.h"

namespace ingot {

struct Footprint {
  /// One kernel call. What several calls share, weights or code, counts with
  /// the first of them.
  struct Launch {
    mlir::Location location;
    std::string kernel, strategy;
    bool isFirst = true; ///< of its kernel
    int64_t weights = 0, code = 0, stack = 0, arena = 0;
    /// On a device, where a kernel has threads.
    schedule::DeviceWork device;
    /// Whether the kernel runs on the host beside a device.
    bool onHost = false;
    /// Of launches in branches that run at the same time.
    std::optional<int64_t> fork, branch;
  };

  std::vector<Launch> launches;
  int64_t kernels = 0, weights = 0, arena = 0, arenaLowerBound = 0;
  /// Places at which the host decides what comes next, by what kernels have computed.
  int64_t decisions = 0;
  /// Memory that lives from run to run, and what vectors read fastest.
  int64_t state = 0, near = 0;
  /// Multiply-adds that maxRam costs.
  int64_t macsRecomputed = 0;
  /// After measure().
  std::optional<ObjectSizes> object;
  /// Of the model's function, with all that it calls.
  int64_t stack = 0;
  /// What variables take, apart from the arena if it is one of them.
  int64_t variables = 0;

  int64_t flash() const { return object ? object->flash() : weights; }
  int64_t ram() const { return arena + state + stack + variables; }
};

/// The compiler that measures: the command in CompileOptions::compiler, or
/// the target's; an error that names those that are not installed.
llvm::Expected<std::vector<std::string>>
findMeasuringCompiler(const CompileOptions &options);

/// Plans the model; measures it where the compiler above is installed. A plan
/// that takes more than CompileOptions::maxRam is made again with less for the
/// arena, a few times; then the best counts. Null with diagnostics if a step
/// fails.
std::unique_ptr<Compilation> planAndMeasure(const CompileOptions &options,
                                            mlir::MLIRContext &context,
                                            Footprint &footprint,
                                            Diagnostics &diagnostics);

/// Compares with CompileOptions::maxFlash and maxRam; false with diagnostics
/// that name what weighs most and say what can be reached, for which the model
/// is compiled again.
bool checkBudget(const CompileOptions &options, const Footprint &footprint,
                 mlir::MLIRContext &context, Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_FOOTPRINT_H
