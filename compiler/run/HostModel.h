// Runs a compiled model in this process.
//
// Loads a shared library with the generated C++ and calls it as any program
// would.

#ifndef INGOT_COMPILER_RUN_HOSTMODEL_H
#define INGOT_COMPILER_RUN_HOSTMODEL_H

#include "compiler/run/BuiltModel.h"

namespace ingot {

class HostModel : public BuiltModel {
public:
  /// Compiles, builds and loads a model. `flags` are passed to the C++
  /// compiler. Null with diagnostics on failure.
  static std::unique_ptr<HostModel> build(Compilation &compilation,
                                          llvm::ArrayRef<std::string> flags);
  ~HostModel() override;

  /// Runs the model. `io` are the fields of the io struct: the dynamic sizes,
  /// then pointers to all inputs, then to all outputs.
  ingot_status run(llvm::ArrayRef<void *> io, const ingot_context *context);
  bool run(llvm::ArrayRef<const Tensor *> inputs, std::vector<Tensor> &outputs,
           Diagnostics &diagnostics) override;

private:
  HostModel();
  void *library = nullptr;
  void *arena = nullptr;
  using Function = ingot_status (*)(const void *io, void *arena,
                                    const ingot_context *context);
  Function function = nullptr;
};

} // namespace ingot

#endif // INGOT_COMPILER_RUN_HOSTMODEL_H
