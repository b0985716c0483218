// Prints the host code of an entry point whose kernels run on a GPU.

#ifndef INGOT_CODEGEN_FILES_DEVICEPRINTER_H
#define INGOT_CODEGEN_FILES_DEVICEPRINTER_H

#include "codegen/files/ControlPrinter.h"
#include "codegen/files/DeviceInterface.h"

namespace ingot {

/// Prints the host functions of an entry point: the function that launches all
/// kernels on a stream, then <name>_run. The printed code calls the driver
/// through functions of the target's prologue, the text before the kernels.
///
/// Launches are recorded as a launch graph. If the host decides during the run
/// which kernels to launch, launches are enqueued on the caller's stream one by
/// one instead, and the host waits for the values that it reads.
class DevicePrinter : ControlPrinter {
public:
  DevicePrinter(const Interface &interface, const Weights &weights,
                const CodegenOptions &options, SourceContext &context,
                NameScope &names, TextWriter &out)
      : ControlPrinter(interface, weights, options, context, names, out),
        layout(interface), isDecided(interface.isDecided()) {}
  /// Prints the functions that launch kernels, into the anonymous namespace of
  /// the kernels.
  void printLaunches();
  /// Prints <name>_run after the anonymous namespace of the kernels. If this
  /// target is one of several in the output (`isOne`), prints a function `run`
  /// into the namespace of the target instead.
  void printRun(bool isOne);

private:
  void adjust(kernel::ProgramOp program, Needs &needs) const override;
  llvm::SmallVector<Parameter> ownParameters(const Needs &needs) const override;
  bool hasWeightsBase() const override { return true; }
  void printLaunch(kernel::LaunchOp launch) override;
  /// Prints `op` if it is a copy between host and device. Prints nothing for
  /// the comparison of a specialized input (fixed by --bind), which
  /// printBoundValues prints before the launches.
  void printOther(mlir::Operation *op) override;
  /// Prints the call of a kernel that the host executes.
  void printOnHost(kernel::LaunchOp launch);
  /// Prints a wait for the stream, unless the stream has been idle since the
  /// last wait.
  void printWait();
  std::string readable(mlir::Value memref, int64_t elements) override;
  std::string cellOf(kernel::LoopOp loop, bool isCondition,
                     const std::string &variable) override;
  void printToCell(const std::string &variable,
                   const std::string &cell) override;
  void printFromCell(const std::string &variable,
                     const std::string &cell) override;
  void printCarried(const std::string &to, const std::string &from,
                    const std::string &count, mlir::Type element) override;
  /// Prints a call of the function of a program, and a check of its status.
  /// After the call, the stream may have unfinished work.
  void printChecked(const std::string &call) override {
    check(call);
    isBusy = isArriving = true;
  }
  void beginProgram(kernel::ProgramOp program) override;
  /// Prints a copy of `bytes` bytes from device memory to the start of
  /// `decisions` (host memory for the values that the host reads during a run),
  /// and a wait for the copy.
  void printFetch(const std::string &from, int64_t bytes);
  void printForkBefore(kernel::LaunchOp launch);
  void printMap(kernel::TilesOp tiles, llvm::StringRef name,
                llvm::StringRef tensor);
  void printEnqueue();
  void printInputs();
  void printBoundValues();
  void printRecording();
  void printOutputs();
  /// Returns the number of streams, which is the largest number of kernels that
  /// can run concurrently.
  int64_t streams() const { return kernel::mostBranches(interface.main); }
  /// Returns the parameter with the stream, or with an array of streams.
  std::string streamParameter() const {
    return streams() > 1
               ? context.target.device.stream.str() + " *const *streams"
               : streamType() + "stream";
  }
  /// Whether state values (tensors that persist between runs) are
  /// double-buffered. If so, phase bytes select the buffer that the next run
  /// reads.
  bool hasPhases() const { return firstPhaseOf(interface).has_value(); }
  /// Returns the parameters, each followed by a comma, through which functions
  /// that enqueue launches take the state (the tensors that persist between
  /// runs). stateArguments returns the arguments: fields of `owner`, such as
  /// "handle->".
  std::string stateParameters() const {
    return std::string(interface.hasState ? "unsigned char *state, " : "") +
           (hasPhases() ? "const unsigned char *phases, " : "");
  }
  std::string stateArguments(const std::string &owner) const {
    return (interface.hasState ? owner + "state, " : "") +
           (hasPhases() ? owner + "phases, " : "");
  }
  /// Return the parameters and arguments through which functions that enqueue
  /// launches take data-dependent sizes, `decisions` (host memory for the
  /// values that the host reads during a run) and `cells` (device memory for
  /// the variables of loops). Empty if the host decides nothing.
  std::string decisionParameters() const;
  std::string decisionArguments(const std::string &decisions,
                                const std::string &cells) const;
  /// Whether the caller passes the tensor: it is neither empty nor part of the
  /// state.
  static bool isOfCaller(const InterfaceTensor &tensor) {
    return tensor.elements > 0 && !tensor.slots;
  }
  std::string bytesOf(unsigned tensor) const;
  bool isSizedByCaller(const InterfaceTensor &tensor) const;
  std::string streamType() const {
    return (context.target.device.stream + " *").str();
  }

  DeviceLayout layout;
  bool isDecided;
  /// Whether the stream has work for which the host has not waited, and whether
  /// that work copies data to the host.
  bool isBusy = true, isArriving = true;
  /// The number of the open fork (launches that run concurrently), and how many
  /// branches the fork has.
  std::optional<uint64_t> fork;
  int64_t branches = 0;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEPRINTER_H
