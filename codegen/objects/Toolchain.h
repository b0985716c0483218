// Runs a target's compiler.

#ifndef INGOT_CODEGEN_OBJECTS_TOOLCHAIN_H
#define INGOT_CODEGEN_OBJECTS_TOOLCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

struct TargetDescription;

/// An error with a message. The class `Kind` distinguishes errors for
/// llvm::handleErrors.
template <typename Kind> class TextError : public llvm::ErrorInfo<Kind> {
public:
  explicit TextError(std::string message) : text(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string text;
};

/// The error that a required program is not installed.
struct MissingProgram : TextError<MissingProgram> {
  static char ID;
  using TextError::TextError;
};

/// The error that a fault of the machine, such as a full disk, prevented a
/// program from working.
struct MachineFault : TextError<MachineFault> {
  static char ID;
  using TextError::TextError;
};

/// Returns the first installed compiler of the target, as the words of a
/// command, or a MissingProgram that lists all candidates.
llvm::Expected<std::vector<std::string>>
findCompiler(const TargetDescription &target);
/// Returns a copy of `target` with `command` as its compiler, or unchanged if
/// `command` is empty.
TargetDescription withCompiler(const TargetDescription &target,
                               llvm::StringRef command);
/// Returns the words of a command, with the first replaced by the path of its
/// program; empty if the program is not installed.
std::vector<std::string> installedCommand(llvm::StringRef command);

/// Compiles `source` to `object`, with `flags` after those of the target.
llvm::Error compileSource(const TargetDescription &target,
                          llvm::StringRef source, llvm::StringRef object,
                          llvm::ArrayRef<llvm::StringRef> flags = {});
/// Returns the compiler flags with which an object also contains code for the
/// GPU architectures among `others`, and PTX, which drivers compile for later
/// architectures.
std::vector<std::string>
flagsForLevels(llvm::ArrayRef<const TargetDescription *> others);

/// Links several objects and libraries (-lNAME) into one relocatable object.
llvm::Error mergeObjects(const TargetDescription &target,
                         llvm::ArrayRef<std::string> objects,
                         llvm::StringRef merged);

/// Links objects into the module file `module` (such as a .wasm file), with the
/// flags of the target's ModuleForm. `stackBytes` is the size of the stack of
/// the module.
llvm::Error linkModule(const TargetDescription &target,
                       llvm::ArrayRef<std::string> objects, int64_t stackBytes,
                       llvm::StringRef module);

/// Runs a command and waits until it ends; fails after `seconds`, unless that
/// is 0. The error has the output of the command as its message; it is a
/// MachineFault if the machine is the cause. A signal that ends Ingot also ends
/// the command.
llvm::Error runProgram(llvm::ArrayRef<std::string> command,
                       unsigned seconds = 0);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_TOOLCHAIN_H
