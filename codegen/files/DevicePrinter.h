// The host's part of a model whose kernels run on a device, as C++ text.

#ifndef INGOT_CODEGEN_FILES_DEVICEPRINTER_H
#define INGOT_CODEGEN_FILES_DEVICEPRINTER_H

#include "codegen/files/DeviceInterface.h"
#include "codegen/files/ProgramPrinter.h"

namespace ingot {

/// Prints what stands after the kernels: the function that launches them all on a
/// stream, then <name>_upload, _create, _run, _destroy and _release. What these ask of
/// the driver are functions of the target's opening text.
class DevicePrinter : ProgramPrinter {
public:
  DevicePrinter(const Interface &interface, const Weights &weights,
                const CodegenOptions &options, SourceContext &context,
                NameScope &names, TextWriter &out)
      : ProgramPrinter(interface, weights, options, context, names, out),
        layout(interface) {}
  /// In the anonymous namespace of the kernels.
  void printLaunches();
  /// Behind it.
  void printFunctions();
  /// In the namespace of one of several targets: what is not the same for all of them.
  void printOwnFunctions();
  /// What is the same for all targets, by the functions of one of them.
  void printCommonFunctions();

private:
  void printLaunch(kernel::LaunchOp launch);
  void printMap(kernel::TilesOp tiles, llvm::StringRef name,
                llvm::StringRef tensor);
  void printEnqueue();
  /// The beginning of a function of the model, for all or for one of several targets.
  std::string functionOf(llvm::StringRef function) const {
    return isOne ? "ingot_status " + function.str()
                 : "extern \"C\" ingot_status " + interface.name + "_" +
                       function.str();
  }
  void printUpload();
  void printCreate();
  void printRelease(llvm::StringRef function, llvm::StringRef object,
                    llvm::ArrayRef<llvm::StringRef> parts);
  void printRun();
  void printInputs();
  void printBoundValues();
  void printOutputs();
  void check(const llvm::Twine &call);
  std::string bytesOf(unsigned tensor) const;
  std::string streamType() const {
    return (context.target.device.stream + " *").str();
  }

  DeviceLayout layout;
  /// Of several targets.
  bool isOne = false;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEPRINTER_H
