//===- HostModel.h - a compiled model, loaded into this process -*- C++ -*-===//
//
// Generates the C++ of a model, builds it into a shared library with the
// target's compiler, and calls it as any program would.
//
//===----------------------------------------------------------------------===//

#ifndef INGOT_COMPILER_HOSTMODEL_H
#define INGOT_COMPILER_HOSTMODEL_H

#include "codegen/Interface.h"
#include "compiler/Compile.h"
#include "compiler/import/TensorFile.h"
#include "runtime_support/ingot.h"

namespace ingot {

class HostModel {
public:
  /// Null with diagnostics if that fails. `flags` go to the compiler.
  static std::unique_ptr<HostModel> build(Compilation &compilation,
                                          llvm::ArrayRef<std::string> flags);
  ~HostModel();

  const std::vector<InterfaceTensor> &inputs() const { return inputTensors; }
  const std::vector<InterfaceTensor> &outputs() const { return outputTensors; }
  llvm::ArrayRef<mlir::RankedTensorType> inputTypes() const { return inTypes; }
  llvm::ArrayRef<mlir::RankedTensorType> outputTypes() const {
    return outTypes;
  }
  int64_t arenaBytes() const { return arenaSize; }

  /// Pointers to all inputs, then to all outputs.
  ingot_status run(llvm::ArrayRef<void *> io, const ingot_context *context);
  /// For data of the types above.
  ingot_status run(llvm::ArrayRef<const Tensor *> inputs,
                   std::vector<Tensor> &outputs);

  /// What the inputs were bound to; empty where they were not.
  struct Bound {
    unsigned input;
    std::vector<char> bytes;
  };
  std::vector<Bound> bound;

private:
  HostModel();
  std::vector<InterfaceTensor> inputTensors, outputTensors;
  llvm::SmallVector<mlir::RankedTensorType> inTypes, outTypes;
  int64_t arenaSize = 0, arenaAlign = 64;
  void *library = nullptr;
  void *arena = nullptr;
  using Function = ingot_status (*)(const void *io, void *arena,
                                    const ingot_context *context);
  Function function = nullptr;
};

/// What a status of the generated code means.
llvm::StringRef statusText(ingot_status status);

/// A folder that is removed with its contents at the end.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  bool valid() const { return !folder.empty(); }
  std::string file(llvm::StringRef name) const;

private:
  std::string folder;
};

} // namespace ingot

#endif // INGOT_COMPILER_HOSTMODEL_H
