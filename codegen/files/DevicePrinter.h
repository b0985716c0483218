// Prints the host code of an entry point whose kernels run on a GPU.

#ifndef INGOT_CODEGEN_FILES_DEVICEPRINTER_H
#define INGOT_CODEGEN_FILES_DEVICEPRINTER_H

#include "codegen/files/ControlPrinter.h"
#include "codegen/files/DeviceInterface.h"

namespace ingot {

/// Prints the part of an entry point after the kernels: the function that
/// launches them all on a stream, then <name>_run. Driver calls are functions
/// of the target's prologue.
///
/// Launches are recorded as a graph, unless the host decides during the
/// run: then they are enqueued on the caller's stream one by one, and the host
/// waits for the values that it reads.
class DevicePrinter : ControlPrinter {
public:
  DevicePrinter(const Interface &interface, const Weights &weights,
                const CodegenOptions &options, SourceContext &context,
                NameScope &names, TextWriter &out)
      : ControlPrinter(interface, weights, options, context, names, out),
        layout(interface), isDecided(interface.isDecided()) {}
  /// Prints into the anonymous namespace of the kernels.
  void printLaunches();
  /// Prints after it, or into the namespace of one of several targets.
  void printRun(bool isOne);

private:
  void printLaunch(kernel::LaunchOp launch) override;
  /// Prints copies between host and device. Inputs that the caller must bind
  /// are compared before the launches (printBoundValues).
  void printOther(mlir::Operation *op) override;
  /// Calls a kernel of the host.
  void printOnHost(kernel::LaunchOp launch);
  /// Waits for the stream, unless it has been idle since the last wait.
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
  /// Prints a call of a program, which leaves work on the stream.
  void printChecked(const std::string &call) override {
    check(call);
    isBusy = isArriving = true;
  }
  void beginProgram(kernel::ProgramOp program) override;
  /// Prints the copy of bytes to the memory in which the host reads values that
  /// it decides by.
  void printFetch(const std::string &from, int64_t bytes);
  void printForkBefore(kernel::LaunchOp launch);
  void printMap(kernel::TilesOp tiles, llvm::StringRef name,
                llvm::StringRef tensor);
  void printEnqueue();
  void printInputs();
  void printBoundValues();
  void printRecording();
  void printOutputs();
  /// Returns how many launches can run concurrently; with more than one, on as
  /// many streams.
  int64_t streams() const { return kernel::mostBranches(interface.main); }
  /// Returns the parameter with the stream or streams.
  std::string streamParameter() const {
    return streams() > 1
               ? context.target.device.stream.str() + " *const *streams"
               : streamType() + "stream";
  }
  /// Whether state values are double-buffered.
  bool hasPhases() const { return firstPhaseOf(interface).has_value(); }
  /// Returns the state as parameters of functions that enqueue launches; the
  /// next function returns the arguments, taken from `owner`.
  std::string stateParameters() const {
    return std::string(interface.hasState ? "unsigned char *state, " : "") +
           (hasPhases() ? "const unsigned char *phases, " : "");
  }
  std::string stateArguments(const std::string &owner) const {
    return (interface.hasState ? owner + "state, " : "") +
           (hasPhases() ? owner + "phases, " : "");
  }
  /// Returns the parameters of such functions for the values that the host
  /// decides by, and the arguments with their addresses.
  std::string decisionParameters() const;
  std::string decisionArguments(const std::string &decisions,
                                const std::string &cells) const;
  /// Whether the caller passes the tensor.
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
  /// Whether the stream has work that the host has not waited for, and whether
  /// that work copies data to the host.
  bool isBusy = true, isArriving = true;
  /// The open fork's number and how many branches it has.
  std::optional<uint64_t> fork;
  int64_t branches = 0;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEPRINTER_H
