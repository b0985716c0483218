// <name>_run as C++ text.

#ifndef INGOT_CODEGEN_FILES_MAINPRINTER_H
#define INGOT_CODEGEN_FILES_MAINPRINTER_H

#include "codegen/files/ControlPrinter.h"

namespace ingot {

/// Prints what stands after the kernels of one target for an entry point: how a kernel
/// is spread over threads; the checks of arguments, the
/// buffers, the launches.
class MainPrinter : ControlPrinter {
public:
  MainPrinter(const Interface &interface, const Weights &weights,
              const CodegenOptions &options, SourceContext &context,
              NameScope &names, TextWriter &out)
      : ControlPrinter(interface, weights, options, context, names, out) {
    numberLaunches();
  }
  /// Prints how a kernel is spread over threads, by the function `parallel`, which is
  /// `called` or part of its callers.
  static void printParallel(llvm::StringRef parallel, bool called,
                            TextWriter &out);
  /// Prints what threads are that do several kernels together.
  static void printTeam(TextWriter &out);
  /// Prints what the function of the entry point calls, in the anonymous namespace of
  /// the kernels.
  using ControlPrinter::printHelpers;
  /// `function` is its result and name: "ingot_status run".
  void printRun(llvm::StringRef function);
  /// Prints <name>_run, which calls the former in the namespace `inside`.
  static void printPublicRun(const Interface &interface, llvm::StringRef inside,
                             TextWriter &out);
  /// Prints <name>_kernel_name, which says what the trace hook is called for.
  void printKernelNames(TextWriter &out);

private:
  void numberLaunches();
  bool usesThreads() const;
  void printChecks();
  void printWeightsBase();
  void printNearPointer();
  /// Checks the state that the caller passes, and names what is in it.
  void printState();
  void printLaunch(kernel::LaunchOp launch) override;
  void beginTeam() override;
  void endTeam() override;
  void printOther(mlir::Operation *op) override;

  /// What the trace hook calls each launch.
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_MAINPRINTER_H
