// Programs that the run itself decides about, as C++ text.

#ifndef INGOT_CODEGEN_FILES_CONTROLPRINTER_H
#define INGOT_CODEGEN_FILES_CONTROLPRINTER_H

#include "codegen/files/ProgramPrinter.h"
#include "dialects/kernel/HostOps.h"
#include "dialects/kernel/KernelModule.h"

namespace ingot {

/// Prints programs that others run, the ifs and loops that run them, and what reads sizes
/// that the run makes. All of this is code of the host. Where kernels run on a device, what
/// the host reads is brought to it first (DevicePrinter).
class ControlPrinter : protected ProgramPrinter {
public:
  ControlPrinter(const Interface &interface, const Weights &weights,
                 const CodegenOptions &options, SourceContext &context,
                 NameScope &names, TextWriter &out)
      : ProgramPrinter(interface, weights, options, context, names, out),
        programs(kernel::programsInOrder(interface.main)) {}
  virtual ~ControlPrinter() = default;

protected:
  virtual void printLaunch(kernel::LaunchOp launch) = 0;
  /// Are called around the launches of a team, which are a scope.
  virtual void beginTeam() {}
  virtual void endTeam() {}
  /// Prints what is neither a launch nor decided by the run.
  virtual void printOther(mlir::Operation *op) = 0;
  /// Is called at the begin of a program's function.
  virtual void beginProgram(kernel::ProgramOp program) {}
  /// Returns a pointer by which the host reads elements of a buffer.
  virtual std::string readable(mlir::Value memref, int64_t elements) {
    return argument(memref, /*readOnly=*/true);
  }
  /// Returns where the body of a loop finds a variable of the host: its iteration, or
  /// whether it goes on.
  virtual std::string cellOf(kernel::LoopOp loop, bool isCondition,
                             const std::string &variable) {
    return "&" + variable;
  }
  /// Print what brings such a variable to the body, and back.
  virtual void printToCell(const std::string &variable,
                           const std::string &cell) {}
  virtual void printFromCell(const std::string &variable,
                             const std::string &cell) {}
  /// Copies what a loop carries to its result.
  virtual void printCarried(const std::string &to, const std::string &from,
                            const std::string &count, mlir::Type element);
  /// Ends the function with the status of a call unless that is INGOT_OK.
  virtual void printChecked(const std::string &call);

  /// Prints the structure of sizes that a run makes, then the programs that others run.
  void printHelpers();
  void printOperations(kernel::ProgramOp program);
  /// Calls `use` for each launch of the entry point and of what it runs.
  void forEachLaunch(llvm::function_ref<void(kernel::LaunchOp)> use) const;
  /// Elements that a copy between host and device moves: of those whose number the run makes,
  /// as many as there is room for.
  kernel::Dim copiedElements(kernel::CopyOp copy) const;
  /// Declares the sizes that the run makes.
  void printMade();

  /// The entry point, behind all programs that it runs.
  llvm::SmallVector<kernel::ProgramOp> programs;
  /// The structure of sizes that a run makes.
  std::string madeSizesType;
  /// Where weights outside of the source begin, in the function that is printed.
  std::string weightsBase;

private:
  /// What a program takes besides its buffers.
  struct Needs {
    bool memory = false, weights = false, io = false, made = false,
         context = false;
    /// Whether it makes sizes, and whether it may end the run with an error.
    bool makesSizes = false, checks = false;
    /// Of a device: whether it puts anything on the stream, whether the host reads what it
    /// decides by, or has kernels of its own, and whether loops tell their bodies anything.
    bool stream = false, decides = false, cells = false;
  };

  Needs needsOf(kernel::ProgramOp program) const;
  void addSizes(const kernel::Dim &size, Needs &needs) const;
  void addSizes(kernel::SizesAttr sizes, Needs &needs) const;
  bool hasWeightsBase() const;
  bool readsMadeSizes() const;
  mlir::Operation *printTeam(kernel::LaunchOp first);
  void printOperation(mlir::Operation &op);
  void printProgram(kernel::ProgramOp program);
  std::string nameOfArgument(kernel::ProgramOp program, unsigned argument);
  void printCall(kernel::ProgramOp program, std::string buffers,
                 mlir::ValueRange outputs, size_t count);
  std::string valueAt(mlir::Value memref);
  void printIf(kernel::IfOp choice);
  void printLoop(kernel::LoopOp loop);
  void printReadSizes(kernel::ReadSizesOp read);
  void printCheckSizes(kernel::CheckSizesOp check);

  /// Sizes that the run has read so far.
  llvm::SmallDenseSet<mlir::Attribute> known;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_CONTROLPRINTER_H
