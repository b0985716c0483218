// <name>_run as C++ text.

#ifndef INGOT_CODEGEN_FILES_MAINPRINTER_H
#define INGOT_CODEGEN_FILES_MAINPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"

namespace ingot {

/// Prints what stands after the kernels of one target: how a kernel is spread
/// over threads; the checks of arguments, the buffers, the launches.
class MainPrinter {
public:
  MainPrinter(const Interface &interface, const Weights &weights,
              const CodegenOptions &options, SourceContext &context,
              NameScope &names, const std::string &parallel, TextWriter &out)
      : interface(interface), weights(weights), options(options),
        context(context), names(names), parallel(parallel), out(out),
        symbols(interface.main->getParentOp()) {}
  /// In the anonymous namespace of the kernels.
  void printHelpers();
  /// `function` is its result and name: "extern "C" ingot_status mnist_run".
  void printRun(llvm::StringRef function);
  /// Prints <name>_kernel_name, which says what the trace hook is called for.
  void printKernelNames();

private:
  /// A pointer: its text, its C element type, what it points into.
  struct Pointer {
    std::string text, type;
    bool isConst;
  };

  kernel::FuncOp calleeOf(kernel::LaunchOp launch) const;
  bool usesThreads() const;
  void printParallel();
  void returnIf(const llvm::Twine &condition, llvm::StringRef status);
  void printChecks();
  void printWeightsBase();
  void printArenaValue(kernel::ArenaOp buffer);
  void printLaunch(kernel::LaunchOp launch, unsigned number);
  void printRequireEqual(kernel::RequireEqualOp require);
  Pointer pointer(mlir::Value memref);
  std::string argument(mlir::Value memref, bool readOnly);
  const Weight &weightOf(mlir::memref::GetGlobalOp op) const;

  const Interface &interface;
  const Weights &weights;
  const CodegenOptions &options;
  SourceContext &context;
  NameScope &names;
  /// The function that spreads a kernel over threads.
  std::string parallel;
  TextWriter &out;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, Pointer> named;
  /// Variables for values in the arena: by name, offset and element type.
  llvm::DenseMap<std::tuple<llvm::StringRef, uint64_t, mlir::Type>, std::string>
      arenaNames;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_MAINPRINTER_H
