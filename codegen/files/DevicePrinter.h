// The host's part of an entry point whose kernels run on a device, as C++ text.

#ifndef INGOT_CODEGEN_FILES_DEVICEPRINTER_H
#define INGOT_CODEGEN_FILES_DEVICEPRINTER_H

#include "codegen/files/ControlPrinter.h"
#include "codegen/files/DeviceInterface.h"

namespace ingot {

/// Prints the part of an entry point behind the kernels: the function that launches them
/// all on a stream, then <name>_run. What these ask of the driver are functions of the
/// target's opening text.
///
/// Launches are recorded as a graph, unless the host decides anything in between: then they
/// go to the caller's stream one by one, and the host waits for what it reads.
class DevicePrinter : ControlPrinter {
public:
  DevicePrinter(const Interface &interface, const Weights &weights,
                const CodegenOptions &options, SourceContext &context,
                NameScope &names, TextWriter &out)
      : ControlPrinter(interface, weights, options, context, names, out),
        layout(interface), isDecided(interface.isDecided()) {}
  /// In the anonymous namespace of the kernels.
  void printLaunches();
  /// Behind it, or in the namespace of one of several targets.
  void printRun(bool isOne);

private:
  void printLaunch(kernel::LaunchOp launch) override;
  /// Copies between the host and the device. What callers bind is compared before the launches
  /// (printBoundValues).
  void printOther(mlir::Operation *op) override;
  /// Calls a kernel of the host.
  void printOnHost(kernel::LaunchOp launch);
  /// Waits for the device, unless nothing is on the stream since it last did.
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
  /// A call of a program, which leaves something on the stream.
  void printChecked(const std::string &call) override {
    check(call);
    isBusy = isArriving = true;
  }
  void beginProgram(kernel::ProgramOp program) override;
  /// Prints what brings bytes to where the host reads what it decides by.
  void printFetch(const std::string &from, int64_t bytes);
  void printForkBefore(kernel::LaunchOp launch);
  void printMap(kernel::TilesOp tiles, llvm::StringRef name,
                llvm::StringRef tensor);
  void printEnqueue();
  void printInputs();
  void printBoundValues();
  void printRecording();
  void printOutputs();
  /// How many launches run at a time at most; more than one: on as many streams.
  int64_t streams() const { return kernel::mostBranches(interface.main); }
  /// The parameter that has the stream or the streams.
  std::string streamParameter() const {
    return streams() > 1
               ? context.target.device.stream.str() + " *const *streams"
               : streamType() + "stream";
  }
  /// Whether values of the state have two places.
  bool hasPhases() const { return firstPhaseOf(interface).has_value(); }
  /// The state among the parameters of functions that put launches on a stream, and among
  /// their arguments, of which `owner` has it.
  std::string stateParameters() const {
    return std::string(interface.hasState ? "unsigned char *state, " : "") +
           (hasPhases() ? "const unsigned char *phases, " : "");
  }
  std::string stateArguments(const std::string &owner) const {
    return (interface.hasState ? owner + "state, " : "") +
           (hasPhases() ? owner + "phases, " : "");
  }
  /// What the host decides by, among the parameters of such functions, and their arguments
  /// with the places of it.
  std::string decisionParameters() const;
  std::string decisionArguments(const std::string &decisions,
                                const std::string &cells) const;
  /// Whether the caller passes it.
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
  /// Whether anything is on the stream that the host has not waited for, and whether that
  /// brings anything to the host.
  bool isBusy = true, isArriving = true;
  /// Of the fork that is open, its number and how many branches it has.
  std::optional<uint64_t> fork;
  int64_t branches = 0;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEPRINTER_H
