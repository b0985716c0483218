// A compiled model that can be run.
//
// Generates the C++ of a model, builds it with the target's compiler, and runs
// it: in this process if the machine supports the target's instructions
// (HostModel), else under the target's emulator (EmulatedModel).

#ifndef INGOT_COMPILER_RUN_BUILTMODEL_H
#define INGOT_COMPILER_RUN_BUILTMODEL_H

#include "codegen/files/Interface.h"
#include "codegen/objects/TemporaryFolder.h"
#include "compiler/Compile.h"
#include "compiler/import/TensorFile.h"
#include "runtime_support/ingot.h"

namespace ingot {

class BuiltModel {
public:
  /// Compiles and builds a model. `flags` are passed to the C++ compiler. Null
  /// with diagnostics on failure.
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
  /// The dynamic sizes that a caller passes in each run: the first fields of
  /// the io struct, which also holds pointers to the inputs and outputs.
  llvm::ArrayRef<InterfaceSize> dynamicSizes() const { return sizes; }

  /// Runs the model on data of the types inputTypes(); false with diagnostics
  /// on failure.
  virtual bool run(llvm::ArrayRef<const Tensor *> inputs,
                   std::vector<Tensor> &outputs, Diagnostics &diagnostics) = 0;

  /// A specialized input and its values. They were fixed when the model was
  /// compiled: by --bind, or from the data because a shape depends on them.
  struct Bound {
    unsigned input;
    std::vector<char> bytes;
  };
  std::vector<Bound> bound;

protected:
  /// Writes the C++ of the model to `source`, and sets the members below from
  /// its interface.
  bool generate(Compilation &compilation, llvm::StringRef source);
  /// Creates output tensors of the types outputTypes(). `sizes` are the values
  /// of dynamicSizes(); without them, dynamic sizes have their largest values.
  std::vector<Tensor> makeOutputs(llvm::ArrayRef<int64_t> sizes = {}) const;

  std::vector<InterfaceSize> sizes;
  std::vector<InterfaceTensor> inputTensors, outputTensors;
  llvm::SmallVector<mlir::RankedTensorType> inTypes, outTypes;
  std::string name;
  int64_t arenaSize = 0, arenaAlign = 64, vtcmSize = 0;
};

/// Returns the meaning of a status that generated code has returned.
llvm::StringRef statusText(ingot_status status);

/// Runs the target's compiler with the target's flags and `arguments`. A
/// failure is reported as an error in the generated code.
bool compileGenerated(const TargetDescription &target,
                      llvm::ArrayRef<std::string> arguments,
                      Diagnostics &diagnostics);

/// Compiles the sources of custom operators as C++ for `target`, and appends
/// their objects to `objects`. A failure is an error in such a source.
bool compileCustom(const CompileOptions &options,
                   const TargetDescription &target, TemporaryFolder &folder,
                   llvm::ArrayRef<std::string> flags,
                   std::vector<std::string> &objects, Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_BUILTMODEL_H
