// Which target, at run time.
//
// The end of a source file with the code of several targets: <name>_run asks
// the machine once and calls the ablest of them that it runs.

#ifndef INGOT_CODEGEN_FILES_SELECTORPRINTER_H
#define INGOT_CODEGEN_FILES_SELECTORPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/Names.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Their names with commas, for comments.
std::string targetNames(llvm::ArrayRef<Variant> variants);

class Selector {
public:
  /// Takes its names out of `names`. `outside` is the namespace of the source; empty on a
  /// device.
  Selector(llvm::ArrayRef<Variant> variants,
           llvm::ArrayRef<Interface> interfaces, llvm::StringRef outside,
           NameScope &names);
  void print(TextWriter &out) const;
  /// Of a target that has to be asked for alone: the end of its source.
  void printQuestion(TextWriter &out) const;
  /// Of targets of a device: which functions of the model are called for the device of the
  /// thread, or for the target that constants and handle are for.
  void printDevice(TextWriter &out) const;
  /// When the compiler's pass for a level is that of a variant: it would be chosen there.
  std::string passCondition(size_t number) const;

  /// Where the functions of each variant's entry points stand.
  std::vector<std::string> namespaces;

private:
  void printNumber(TextWriter &out) const;
  void printNumberInside(TextWriter &out) const;
  /// A function of the source, called from outside of its namespace.
  std::string ofSource(llvm::StringRef function) const;
  /// <name>_run, which calls `functionOf` the target that was chosen.
  void
  printRun(const Interface &interface, TextWriter &out,
           llvm::function_ref<std::string(size_t number)> functionOf) const;
  void printDeviceNumber(TextWriter &out) const;

  llvm::ArrayRef<Variant> variants;
  llvm::ArrayRef<Interface> interfaces;
  /// The namespace of the source, and its own within that.
  std::string outside, inside;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_SELECTORPRINTER_H
