// Runs a compiled model under an emulator.
//
// Like HostModel, but for targets that this machine cannot run: each run starts
// a program that contains the generated C++.

#ifndef INGOT_COMPILER_RUN_EMULATEDMODEL_H
#define INGOT_COMPILER_RUN_EMULATEDMODEL_H

#include "codegen/objects/TemporaryFolder.h"
#include "compiler/run/BuiltModel.h"
#include "compiler/run/EmulatedProgram.h"

namespace ingot {

class EmulatedModel : public BuiltModel {
public:
  /// Compiles and builds a model. `flags` are passed to the C++ compiler. Null
  /// with diagnostics on failure.
  static std::unique_ptr<EmulatedModel>
  build(Compilation &compilation, llvm::ArrayRef<std::string> flags);

  bool run(llvm::ArrayRef<const Tensor *> inputs, std::vector<Tensor> &outputs,
           Diagnostics &diagnostics) override;

private:
  EmulatedModel(const TargetDescription &target, TemporaryFolder scratch)
      : folder(std::move(scratch)), program(target, folder.path()) {}

  TemporaryFolder folder;
  EmulatedProgram program;
};

} // namespace ingot

#endif // INGOT_COMPILER_RUN_EMULATEDMODEL_H
