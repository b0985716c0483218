// A model that was compiled and can be run.
//
// Generates the C++ of a model, builds it with the target's compiler, and runs
// it: in this process where the machine has the target's instructions
// (HostModel), else under the target's emulator (EmulatedModel).

#ifndef INGOT_COMPILER_RUN_BUILTMODEL_H
#define INGOT_COMPILER_RUN_BUILTMODEL_H

#include "codegen/files/Interface.h"
#include "compiler/Compile.h"
#include "compiler/import/TensorFile.h"
#include "runtime_support/ingot.h"

namespace ingot {

class BuiltModel {
public:
  /// Null with diagnostics if that fails. `flags` go to the compiler.
  static std::unique_ptr<BuiltModel> build(Compilation &compilation,
                                           llvm::ArrayRef<std::string> flags);
  virtual ~BuiltModel();

  const std::vector<InterfaceTensor> &inputs() const { return inputTensors; }
  const std::vector<InterfaceTensor> &outputs() const { return outputTensors; }
  llvm::ArrayRef<mlir::RankedTensorType> inputTypes() const { return inTypes; }
  llvm::ArrayRef<mlir::RankedTensorType> outputTypes() const {
    return outTypes;
  }
  int64_t arenaBytes() const { return arenaSize; }
  /// The sizes that each run names, first in the io struct.
  llvm::ArrayRef<InterfaceSize> runTimeSizes() const { return sizes; }

  /// For data of the types above; false with diagnostics.
  virtual bool run(llvm::ArrayRef<const Tensor *> inputs,
                   std::vector<Tensor> &outputs, Diagnostics &diagnostics) = 0;

  /// What the inputs were bound to; empty where they were not.
  struct Bound {
    unsigned input;
    std::vector<char> bytes;
  };
  std::vector<Bound> bound;

protected:
  /// Writes the C++ to `source` and reads what it looks like.
  bool generate(Compilation &compilation, llvm::StringRef source);
  /// Outputs of the right types, at these sizes.
  std::vector<Tensor> makeOutputs(llvm::ArrayRef<int64_t> sizes = {}) const;

  std::vector<InterfaceSize> sizes;
  std::vector<InterfaceTensor> inputTensors, outputTensors;
  llvm::SmallVector<mlir::RankedTensorType> inTypes, outTypes;
  std::string name;
  int64_t arenaSize = 0, arenaAlign = 64, nearSize = 0;
};

/// What a status of the generated code means.
llvm::StringRef statusText(ingot_status status);

/// Runs the target's compiler with its own flags, those that executing needs,
/// and `arguments`. Where it fails, our text was wrong.
bool compileGenerated(const TargetDescription &target,
                      llvm::ArrayRef<std::string> arguments,
                      Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_BUILTMODEL_H
