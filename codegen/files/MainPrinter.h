// <name>_run as C++ text.

#ifndef INGOT_CODEGEN_FILES_MAINPRINTER_H
#define INGOT_CODEGEN_FILES_MAINPRINTER_H

#include "codegen/files/ProgramPrinter.h"
#include "dialects/kernel/KernelModule.h"

namespace ingot {

/// Prints what stands after the kernels of one target for an entry point: how a kernel
/// is spread over threads; programs that others run; the checks of arguments, the
/// buffers, the launches.
class MainPrinter : ProgramPrinter {
public:
  MainPrinter(const Interface &interface, const Weights &weights,
              const CodegenOptions &options, SourceContext &context,
              NameScope &names, TextWriter &out)
      : ProgramPrinter(interface, weights, options, context, names, out),
        programs(kernel::programsInOrder(interface.main)) {
    numberLaunches();
  }
  /// Prints how a kernel is spread over threads, by the function `parallel`.
  static void printParallel(llvm::StringRef parallel, TextWriter &out);
  /// Prints what the function of the entry point calls, in the anonymous namespace of
  /// the kernels.
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
  /// Calls `use` for each launch of the entry point and of what it runs.
  void forEachLaunch(llvm::function_ref<void(kernel::LaunchOp)> use) const;
  bool usesThreads() const;
  bool readsMadeSizes() const;
  void printMadeSizes();
  void printChecks();
  void printWeightsBase();
  void printNearPointer();
  /// Checks the state that the caller passes, and names what is in it.
  void printState();
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

  /// The entry point, behind all programs that it runs.
  llvm::SmallVector<kernel::ProgramOp> programs;
  /// The structure of sizes that a run makes.
  std::string madeSizesType;
  /// Where weights outside of the source begin, in the function that is printed.
  std::string weightsBase;
  /// What the trace hook calls each launch.
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_MAINPRINTER_H
