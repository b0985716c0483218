// Prints the selection of a target at run time: the end of a source file with
// code for several targets. <name>_run queries the machine once and calls the
// code of the most capable target that the machine supports.

#ifndef INGOT_CODEGEN_FILES_SELECTORPRINTER_H
#define INGOT_CODEGEN_FILES_SELECTORPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/Names.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Returns the names of the targets, separated by commas, for comments.
std::string targetNames(llvm::ArrayRef<Variant> variants);

class Selector {
public:
  /// Reserves, in `names`, the names that the selector prints. `outside` is the
  /// namespace of the source; empty for a GPU.
  Selector(llvm::ArrayRef<Variant> variants,
           llvm::ArrayRef<Interface> interfaces, llvm::StringRef outside,
           NameScope &names);
  void print(TextWriter &out) const;
  /// For a single target whose support is queried at run time: prints the query
  /// and the functions <name>_run, which call the code of the target if the
  /// machine supports it.
  void printQuestion(TextWriter &out) const;
  /// For GPU targets: prints those functions of the model that call a function
  /// of one target. <name>_upload selects the target of the current device and
  /// stores its number in the constants; <name>_create copies the number to the
  /// handle (the object with which a program runs the model), in which
  /// <name>_run finds it.
  void printDevice(TextWriter &out) const;
  /// Returns the preprocessor condition under which the GPU compiler compiles
  /// for the host, or for an architecture for which variant number `number`
  /// would be selected.
  std::string passCondition(size_t number) const;

  /// For each variant: the namespace that contains the functions of its entry
  /// points.
  std::vector<std::string> namespaces;

private:
  void printNumber(TextWriter &out) const;
  void printNumberInside(TextWriter &out) const;
  /// Returns the name of a function in the namespace of the source, qualified
  /// for a call from outside of that namespace.
  std::string ofSource(llvm::StringRef function) const;
  /// Prints <name>_run, which calls the function `functionOf(number)` of the
  /// selected target.
  void
  printRun(const Interface &interface, TextWriter &out,
           llvm::function_ref<std::string(size_t number)> functionOf) const;
  void printDeviceNumber(TextWriter &out) const;

  llvm::ArrayRef<Variant> variants;
  llvm::ArrayRef<Interface> interfaces;
  /// The names of the namespace of the source, and of the selector's namespace
  /// within it.
  std::string outside, inside;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_SELECTORPRINTER_H
