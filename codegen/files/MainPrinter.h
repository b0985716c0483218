// Prints <name>_run, the function that runs an entry point of the model, as
// C++.

#ifndef INGOT_CODEGEN_FILES_MAINPRINTER_H
#define INGOT_CODEGEN_FILES_MAINPRINTER_H

#include "codegen/files/ControlPrinter.h"

namespace ingot {

/// Prints the code of an entry point, which follows the kernels of a target:
/// the distribution of kernels over threads, the checks of arguments, the
/// buffers, the launches.
class MainPrinter : ControlPrinter {
public:
  MainPrinter(const Interface &interface, const Weights &weights,
              const CodegenOptions &options, SourceContext &context,
              NameScope &names, TextWriter &out)
      : ControlPrinter(interface, weights, options, context, names, out) {
    numberLaunches();
  }
  /// Prints the helper functions that the function of the entry point calls, in
  /// the anonymous namespace of the kernels.
  using ControlPrinter::printHelpers;
  /// Prints the function that executes the entry point. `function` is its
  /// return type and name: "ingot_status run".
  void printRun(llvm::StringRef function);
  /// Prints <name>_run, which calls the function that printRun() printed into
  /// the namespace `inside`.
  static void printPublicRun(const Interface &interface, llvm::StringRef inside,
                             TextWriter &out);
  /// Prints <name>_kernel_name, which returns the description of a kernel,
  /// given the number that the user's trace callback gets.
  void printKernelNames(TextWriter &out);

private:
  void numberLaunches();
  bool usesThreads() const;
  void printChecks();
  void printWeightsBase();
  void printVtcmPointer();
  /// Prints the alignment check of the state (memory for the tensors that
  /// persist between runs), which the caller passes, and pointers to the
  /// tensors in it.
  void printState();
  void printLaunch(kernel::LaunchOp launch) override;
  void beginTeam(kernel::LaunchOp first) override;
  void endTeam() override;
  void printOther(mlir::Operation *op) override;

  /// The number of each launch (call of a kernel), by which the user's trace
  /// callback identifies it.
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_MAINPRINTER_H
