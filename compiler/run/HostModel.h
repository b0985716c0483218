// A compiled model, loaded into this process.
//
// A shared library with the generated C++, called as any program would.

#ifndef INGOT_COMPILER_RUN_HOSTMODEL_H
#define INGOT_COMPILER_RUN_HOSTMODEL_H

#include "compiler/run/BuiltModel.h"

namespace ingot {

class HostModel : public BuiltModel {
public:
  /// Null with diagnostics if that fails. `flags` go to the compiler.
  static std::unique_ptr<HostModel> build(Compilation &compilation,
                                          llvm::ArrayRef<std::string> flags);
  ~HostModel() override;

  /// Pointers to all inputs, then to all outputs.
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
