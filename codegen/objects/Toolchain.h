// Running a target's compiler.

#ifndef INGOT_CODEGEN_OBJECTS_TOOLCHAIN_H
#define INGOT_CODEGEN_OBJECTS_TOOLCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

struct TargetDescription;

/// An error that is a text; its class says of what kind.
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

/// A program that is needed is not installed.
struct MissingProgram : TextError<MissingProgram> {
  static char ID;
  using TextError::TextError;
};

/// The machine kept a program from its work: a full disk, no memory.
struct MachineFault : TextError<MachineFault> {
  static char ID;
  using TextError::TextError;
};

/// How generated sources are compiled, apart from what a target adds.
llvm::ArrayRef<llvm::StringRef> standardCompileFlags();

/// The first of the target's compilers that is installed, as the words of a
/// command, or a MissingProgram that names them all.
llvm::Expected<std::vector<std::string>>
findCompiler(const TargetDescription &target);
/// The target with `command` as its compiler; as it is if that is empty.
TargetDescription withCompiler(const TargetDescription &target,
                               llvm::StringRef command);
/// The words of a command of a description, the first one being the path of its
/// program; empty if that is not installed.
std::vector<std::string> installedCommand(llvm::StringRef command);

/// Compiles `source` to `object`, with `flags` behind those of the target.
llvm::Error compileSource(const TargetDescription &target,
                          llvm::StringRef source, llvm::StringRef object,
                          llvm::ArrayRef<llvm::StringRef> flags = {});
/// What it needs for that an object has code for these levels of a device as well, and what
/// drivers of later ones compile themselves.
std::vector<std::string>
flagsForLevels(llvm::ArrayRef<const TargetDescription *> others);

/// Makes one relocatable object of several objects and libraries (-lNAME).
llvm::Error mergeObjects(const TargetDescription &target,
                         llvm::ArrayRef<std::string> objects,
                         llvm::StringRef merged);

/// Runs a command and waits, for at most `seconds` if that is not 0. What it
/// writes becomes the error; a MachineFault if the machine is the reason. A
/// signal that ends us ends it, too.
llvm::Error runProgram(llvm::ArrayRef<std::string> command,
                       unsigned seconds = 0);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_TOOLCHAIN_H
