// One generated function on one data set.

#ifndef INGOT_TEST_CONFORMANCE_RUNNER_H
#define INGOT_TEST_CONFORMANCE_RUNNER_H

#include "Batch.h"
#include "compiler/run/DataSets.h"
#include "runtime_support/ingot.h"

namespace ingot::conformance {

using Function = ingot_status (*)(const void *io, void *arena,
                                  const ingot_context *context);

/// What has to be known about a compiled unit to call it.
struct Signature {
  /// The sizes that each run names, first in the io struct.
  std::vector<InterfaceSize> sizes;
  llvm::SmallVector<mlir::RankedTensorType> inputs, outputs;
  /// What these are of values that are more than a tensor.
  std::vector<InterfaceTensor> inputTensors, outputTensors;
  int64_t arenaBytes = 0, arenaAlign = 64;
  /// It has random numbers, which are not those of NumPy.
  bool isRandom = false;

  llvm::SmallVector<int64_t> inputBytes() const;
  llvm::SmallVector<int64_t> outputBytes() const;
};

/// Gives a signature the sizes that `data` have, which fit it; returns those
/// that the run has to name. None if the data contradict each other, as `why` says.
std::vector<int64_t> fixSizes(Signature &signature, const InputData &data,
                              std::string &why);

/// The reason of a case that is not supported because its model broadcasts by sizes
/// named at run time, which Ingot takes to be equal.
std::string equalSizes(llvm::StringRef why);

/// Whether the data are what the unit takes.
bool fitsInputs(const Signature &signature, const InputData &data,
                std::string &reason);

/// Reads the expected outputs and compares; `reason` says what differs.
Status compareOutputs(std::vector<std::vector<char>> outputs,
                      const Signature &signature, const Unit &unit,
                      llvm::StringRef caseFolder, mlir::MLIRContext *context,
                      std::string &reason);

/// Calls the function, with guards around all buffers, and compares.
Status runFunction(Function function, const Signature &signature,
                   const InputData &data, const Unit &unit,
                   llvm::StringRef caseFolder, mlir::MLIRContext *context,
                   std::string &reason);

} // namespace ingot::conformance

#endif // INGOT_TEST_CONFORMANCE_RUNNER_H
