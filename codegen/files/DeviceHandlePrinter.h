// What all entry points of a model on a device have together, as C++ text.

#ifndef INGOT_CODEGEN_FILES_DEVICEHANDLEPRINTER_H
#define INGOT_CODEGEN_FILES_DEVICEHANDLEPRINTER_H

#include "codegen/files/DeviceInterface.h"
#include "codegen/files/ProgramPrinter.h"

namespace ingot {

/// Prints <name>_upload, _create, _reset, _destroy and _release, and where a handle has the
/// values that live from run to run. What these ask of the driver are functions of the
/// target's opening text.
class DeviceHandlePrinter : ProgramPrinter {
public:
  DeviceHandlePrinter(llvm::ArrayRef<Interface> interfaces,
                      const Weights &weights, const CodegenOptions &options,
                      SourceContext &context, NameScope &names, TextWriter &out)
      : ProgramPrinter(interfaces.front(), weights, options, context, names,
                       out),
        interfaces(interfaces), sizes(interfaces) {}
  void printFunctions();
  /// In the namespace of one of several targets: what is not the same for all of them.
  void printOwnFunctions();
  /// What is the same for all targets, by the functions of one of them.
  void printCommonFunctions();

private:
  /// The beginning of a function of the model, for all or for one of several targets.
  std::string functionOf(llvm::StringRef function) const;
  void printUpload();
  void printCreate();
  void printReset();
  void printRelease(llvm::StringRef function, llvm::StringRef object,
                    llvm::ArrayRef<std::string> parts);
  std::string streamType() const {
    return (context.target.device.stream + " *").str();
  }

  llvm::ArrayRef<Interface> interfaces;
  DeviceMemory sizes;
  /// Of several targets.
  bool isOne = false;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEHANDLEPRINTER_H
