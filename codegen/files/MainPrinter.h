// <name>_run as C++ text.

#ifndef INGOT_CODEGEN_FILES_MAINPRINTER_H
#define INGOT_CODEGEN_FILES_MAINPRINTER_H

#include "codegen/files/ProgramPrinter.h"

namespace ingot {

/// Prints what stands after the kernels of one target: how a kernel is spread
/// over threads; the checks of arguments, the buffers, the launches.
class MainPrinter : ProgramPrinter {
public:
  /// `parallel` names the function that spreads a kernel over threads.
  MainPrinter(const Interface &interface, const Weights &weights,
              const CodegenOptions &options, SourceContext &context,
              NameScope &names, const std::string &parallel, TextWriter &out)
      : ProgramPrinter(interface, weights, options, context, names, out),
        parallel(parallel) {}
  /// In the anonymous namespace of the kernels.
  void printHelpers();
  /// `function` is its result and name: "extern "C" ingot_status mnist_run".
  void printRun(llvm::StringRef function);
  /// Prints <name>_kernel_name, which says what the trace hook is called for.
  void printKernelNames();

private:
  bool usesThreads() const;
  void printParallel();
  void printChecks();
  void printWeightsBase();
  void printLaunch(kernel::LaunchOp launch, unsigned number);

  const std::string &parallel;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_MAINPRINTER_H
