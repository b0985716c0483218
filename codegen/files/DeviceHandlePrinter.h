// Prints those functions of a generated GPU source that all entry points of a
// model share.

#ifndef INGOT_CODEGEN_FILES_DEVICEHANDLEPRINTER_H
#define INGOT_CODEGEN_FILES_DEVICEHANDLEPRINTER_H

#include "codegen/files/DeviceInterface.h"
#include "codegen/files/ProgramPrinter.h"

namespace ingot {

/// Prints <name>_upload, _create, _reset, _destroy and _release, and the
/// functions that return the address of a state value (a tensor that persists
/// between runs). A handle is the object with which a program runs a model on a
/// GPU. The printed code calls the driver through functions of the target's
/// prologue, the text before the kernels.
class DeviceHandlePrinter : ProgramPrinter {
public:
  DeviceHandlePrinter(llvm::ArrayRef<Interface> interfaces,
                      const Weights &weights, const CodegenOptions &options,
                      SourceContext &context, NameScope &names, TextWriter &out)
      : ProgramPrinter(interfaces.front(), weights, options, context, names,
                       out),
        interfaces(interfaces), sizes(interfaces) {}
  void printFunctions();
  /// With several targets: prints the functions that differ between targets
  /// (upload and create) into the namespace of one target.
  void printOwnFunctions();
  /// Prints the functions that are the same for all targets: release, destroy,
  /// reset, and those that return the address of a state value (a tensor that
  /// persists between runs).
  void printCommonFunctions();

private:
  /// Returns the beginning of a function definition: the return type and the
  /// name. The name is <name>_`function` if there is a single target; otherwise
  /// it is `function`, in the namespace of the target.
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
  /// Whether the functions are printed for one of several targets.
  bool isOne = false;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEHANDLEPRINTER_H
