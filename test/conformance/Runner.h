// Runs one generated function on one data set.

#ifndef INGOT_TEST_CONFORMANCE_RUNNER_H
#define INGOT_TEST_CONFORMANCE_RUNNER_H

#include "Batch.h"
#include "compiler/run/DataSets.h"
#include "runtime_support/ingot.h"

namespace ingot::conformance {

using Function = ingot_status (*)(const void *io, void *arena,
                                  const ingot_context *context);

/// The types and sizes that a caller of a compiled unit (a case in one mode)
/// must know.
struct Signature {
  /// The dynamic sizes, which are the first fields of the io struct (sizes,
  /// then pointers to inputs and outputs).
  std::vector<InterfaceSize> sizes;
  llvm::SmallVector<mlir::RankedTensorType> inputs, outputs;
  /// For inputs and outputs that are sequences, optionals or maps: the role of
  /// each of their tensors.
  std::vector<InterfaceTensor> inputTensors, outputTensors;
  int64_t arenaBytes = 0, arenaAlign = 64;
  /// Whether the model has random numbers, which differ from those of NumPy.
  bool isRandom = false;

  llvm::SmallVector<int64_t> inputBytes() const;
  llvm::SmallVector<int64_t> outputBytes() const;
};

/// Replaces the dynamic sizes in a signature by those of `data`. Returns the
/// values of the sizes that the caller must set; empty with the reason in `why`
/// if the data contradict each other.
std::vector<int64_t> fixSizes(Signature &signature, const InputData &data,
                              std::string &why);

/// Returns the reason for cases that are unsupported because the model
/// broadcasts along dynamic sizes that Ingot assumes to be equal.
std::string equalSizes(llvm::StringRef why);

/// Whether the data have the types and shapes of the inputs of the unit (a case
/// in one mode).
bool fitsInputs(const Signature &signature, const InputData &data,
                std::string &reason);

/// Compares `outputs` with the expected outputs of the unit's case, which are
/// read from files in `caseFolder`; `reason` describes differences.
Status compareOutputs(std::vector<std::vector<char>> outputs,
                      const Signature &signature, const Unit &unit,
                      llvm::StringRef caseFolder, mlir::MLIRContext *context,
                      std::string &reason);

/// Calls a generated function with guards around all buffers, and compares the
/// outputs with the expected outputs of the unit's case.
Status runFunction(Function function, const Signature &signature,
                   const InputData &data, const Unit &unit,
                   llvm::StringRef caseFolder, mlir::MLIRContext *context,
                   std::string &reason);

} // namespace ingot::conformance

#endif // INGOT_TEST_CONFORMANCE_RUNNER_H
