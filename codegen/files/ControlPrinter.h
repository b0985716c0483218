// Prints those ifs and loops of a model that depend on run-time values.

#ifndef INGOT_CODEGEN_FILES_CONTROLPRINTER_H
#define INGOT_CODEGEN_FILES_CONTROLPRINTER_H

#include "codegen/files/ProgramPrinter.h"
#include "dialects/kernel/HostOps.h"
#include "dialects/kernel/KernelModule.h"

namespace ingot {

/// Prints ifs and loops, their bodies (each is a kernel.program), and the
/// operations that read data-dependent sizes. All of this is host code. If
/// kernels run on a GPU, DevicePrinter first copies the values that the host
/// reads from the device.
class ControlPrinter : protected ProgramPrinter {
public:
  ControlPrinter(const Interface &interface, const Weights &weights,
                 const CodegenOptions &options, SourceContext &context,
                 NameScope &names, TextWriter &out)
      : ProgramPrinter(interface, weights, options, context, names, out),
        programs(kernel::programsInOrder(interface.main)) {}
  virtual ~ControlPrinter() = default;

protected:
  /// Which parameters the C++ function of a program (the body of an if or loop)
  /// has besides its buffers.
  struct Needs {
    bool memory = false, weights = false, io = false, made = false,
         context = false;
    /// Whether the program defines data-dependent sizes, and whether it can
    /// return an error.
    bool makesSizes = false, checks = false;
    /// Whether the program uses the stream of a GPU, whether the host reads
    /// branch conditions or loop limits or executes kernels for it, and whether
    /// loops pass variables to their bodies.
    bool stream = false, decides = false, cells = false;
  };

  /// A parameter of the function of a program, and the argument of its calls.
  struct Parameter {
    bool isNeeded;
    std::string text, argument;
  };

  /// Adds what the program needs on the machine on which kernels run.
  virtual void adjust(kernel::ProgramOp program, Needs &needs) const {}
  /// Returns the parameters that only functions for this kind of machine have.
  virtual llvm::SmallVector<Parameter> ownParameters(const Needs &needs) const {
    return {};
  }
  /// Whether weights are stored at offsets from a base address, and are not
  /// arrays in the source.
  virtual bool hasWeightsBase() const {
    return interface.weightsMode != WeightsMode::Source;
  }
  virtual void printLaunch(kernel::LaunchOp launch) = 0;
  /// Called before and after the launches of a worker group (short kernels that
  /// the same threads process in sequence). These launches are printed as one
  /// C++ scope.
  virtual void beginTeam(kernel::LaunchOp first) {}
  virtual void endTeam() {}
  /// Prints an operation that is neither a launch (call of a kernel) nor
  /// control flow.
  virtual void printOther(mlir::Operation *op) = 0;
  /// Called at the beginning of the function of a program: of an entry point,
  /// or of the body of an if or loop.
  virtual void beginProgram(kernel::ProgramOp program) {}
  /// Returns the C++ expression for a pointer through which the host reads the
  /// first `elements` elements of a buffer. On a GPU, first prints a copy of
  /// these elements to the host, if they are not there.
  virtual std::string readable(mlir::Value memref, int64_t elements) {
    return argument(memref, /*readOnly=*/true);
  }
  /// Returns the C++ expression for the address at which the body of a loop
  /// accesses the host variable `variable`, which contains the number of the
  /// iteration or, if `isCondition` is set, the condition for another
  /// iteration.
  virtual std::string cellOf(kernel::LoopOp loop, bool isCondition,
                             const std::string &variable) {
    return "&" + variable;
  }
  /// Print the copy of a host variable to the address that cellOf() returned,
  /// before the body of a loop, and the copy back after it. On a CPU, the body
  /// accesses the variable itself, so nothing is printed.
  virtual void printToCell(const std::string &variable,
                           const std::string &cell) {}
  virtual void printFromCell(const std::string &variable,
                             const std::string &cell) {}
  /// Prints a copy of `count` elements of a loop-carried tensor from `from` to
  /// `to`, the result of the loop.
  virtual void printCarried(const std::string &to, const std::string &from,
                            const std::string &count, mlir::Type element);
  /// Prints a call and, for the case that its status is not INGOT_OK, a return
  /// of this status from the function that contains the call.
  virtual void printChecked(const std::string &call);

  /// Prints the struct of data-dependent sizes, then the functions of the
  /// bodies of ifs and loops.
  void printHelpers();
  void printOperations(kernel::ProgramOp program);
  /// Calls `use` for each launch (call of a kernel) of the entry point and of
  /// the bodies of its ifs and loops.
  void forEachLaunch(llvm::function_ref<void(kernel::LaunchOp)> use) const;
  /// Returns the number of elements that a copy between host and device moves,
  /// with its data-dependent sizes replaced by their upper bounds.
  kernel::Dim copiedElements(kernel::CopyOp copy) const;
  /// Prints the declaration of the variable `made`, the struct with the
  /// data-dependent sizes.
  void printMade();

  /// The bodies of the ifs and loops that the entry point executes (each is a
  /// kernel.program), then the entry point itself.
  llvm::SmallVector<kernel::ProgramOp> programs;
  /// The name of the struct of data-dependent sizes.
  std::string madeSizesType;
  /// The C++ expression, in the function being printed, for the address of the
  /// weights that are not arrays in the source.
  std::string weightsBase;

private:
  Needs needsOf(kernel::ProgramOp program) const;
  void addSizes(const kernel::Dim &size, Needs &needs) const;
  void addSizes(kernel::SizesAttr sizes, Needs &needs) const;
  llvm::SmallVector<Parameter> parametersOf(const Needs &needs);
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

  /// The data-dependent sizes for which the code printed so far has read a
  /// value.
  llvm::SmallDenseSet<mlir::Attribute> known;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_CONTROLPRINTER_H
