// <name>_run as C++ text.

#ifndef INGOT_CODEGEN_FILES_MAINPRINTER_H
#define INGOT_CODEGEN_FILES_MAINPRINTER_H

#include "codegen/files/ProgramPrinter.h"

namespace ingot {

/// Prints what stands after the kernels of one target: how a kernel is spread
/// over threads; programs that others run; the checks of arguments, the buffers,
/// the launches.
class MainPrinter : ProgramPrinter {
public:
  /// `parallel` names the function that spreads a kernel over threads.
  MainPrinter(const Interface &interface, const Weights &weights,
              const CodegenOptions &options, SourceContext &context,
              NameScope &names, const std::string &parallel, TextWriter &out)
      : ProgramPrinter(interface, weights, options, context, names, out),
        parallel(parallel) {
    numberLaunches();
  }
  /// In the anonymous namespace of the kernels.
  void printHelpers();
  /// `function` is its result and name: "extern "C" ingot_status mnist_run".
  void printRun(llvm::StringRef function);
  /// Prints <name>_kernel_name, which says what the trace hook is called for.
  void printKernelNames();

private:
  /// What a program takes besides its buffers.
  struct Needs {
    bool memory = false, weights = false, io = false, made = false,
         context = false;
    /// Whether it makes sizes, and whether it may end the run with an error.
    bool makesSizes = false, checks = false;
  };

  void numberLaunches();
  mlir::ModuleOp moduleOf() const;
  bool usesThreads() const;
  bool readsMadeSizes() const;
  void printParallel();
  void printMadeSizes();
  void printChecks();
  void printWeightsBase();
  void printOperations(kernel::ProgramOp program);
  void printLaunch(kernel::LaunchOp launch);

  // ControlPrinter.cpp: programs that others run.
  Needs needsOf(kernel::ProgramOp program) const;
  void addSizes(const kernel::Dim &size, Needs &needs) const;
  void addSizes(kernel::SizesAttr sizes, Needs &needs) const;
  void printProgram(kernel::ProgramOp program);
  std::string nameOfArgument(kernel::ProgramOp program, unsigned argument);
  std::string callOf(kernel::ProgramOp program, std::string buffers,
                     mlir::ValueRange outputs, size_t count);
  std::string valueAt(mlir::Value memref);
  void printIf(kernel::IfOp choice);
  void printLoop(kernel::LoopOp loop);

  const std::string &parallel;
  /// Where weights outside of the source begin, in the function that is printed.
  std::string weightsBase;
  /// What the trace hook calls each launch.
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_MAINPRINTER_H
