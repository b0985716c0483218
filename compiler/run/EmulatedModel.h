// A compiled model under an emulator.
//
// What HostModel is for a target that this machine is not: a program of the
// generated C++, which each run starts anew.

#ifndef INGOT_COMPILER_RUN_EMULATEDMODEL_H
#define INGOT_COMPILER_RUN_EMULATEDMODEL_H

#include "codegen/objects/TemporaryFolder.h"
#include "compiler/run/BuiltModel.h"
#include "compiler/run/EmulatedProgram.h"

namespace ingot {

class EmulatedModel : public BuiltModel {
public:
  /// Null with diagnostics if that fails. `flags` go to the compiler.
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
