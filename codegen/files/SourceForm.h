// How a source file is arranged for the kind of its targets: cores, or GPUs.

#ifndef INGOT_CODEGEN_FILES_SOURCEFORM_H
#define INGOT_CODEGEN_FILES_SOURCEFORM_H

#include "codegen/files/Interface.h"
#include "codegen/files/SelectorPrinter.h"
#include "codegen/kernel/Names.h"
#include "codegen/kernel/SourceMap.h"
#include "codegen/kernel/TextWriter.h"

#include <memory>

namespace ingot {

/// The targets of a file, and what they share.
struct SourceFile {
  llvm::ArrayRef<Variant> variants;
  const CodegenOptions &options;
  const Weights &weights;
  llvm::ArrayRef<Interface> interfaces;
};

/// The parts of a source file that differ between cores and GPUs.
class SourceForm {
public:
  virtual ~SourceForm() = default;
  /// Returns the form of `file`, whose targets are of one kind.
  static std::unique_ptr<SourceForm> of(const SourceFile &file);

  /// Returns what precedes the declarations of functions and tables that
  /// kernels use: empty, or a word and a space.
  virtual llvm::StringRef qualifier() const { return ""; }
  /// Whether large constants may be in a file of their own.
  virtual bool mayMoveConstants() const = 0;
  /// Whether the file disables fast-math options.
  virtual bool keepsFloats() const = 0;
  /// Reserves the names of functions and local variables that this form prints.
  virtual void reserveNames(NameScope &names) const = 0;
  /// Prints definitions of macros that precede the includes. Returns their
  /// names.
  virtual std::vector<llvm::StringRef> printMacros(TextWriter &out) const {
    return {};
  }
  /// Prints the functions that return the addresses of state values (tensors
  /// that persist between runs), unless a later part of the file contains them.
  virtual void printState(TextWriter &out) const {}
  /// Prints the text of a single target into the namespace `outside`, which is
  /// empty in C. `shared`: the names of weights by index in Weights::all().
  /// `isCalled`: whether a function that queries the machine calls `run`.
  virtual void printOne(const std::vector<std::string> &shared,
                        llvm::StringRef outside, bool isCalled, NameScope names,
                        TextWriter &out, SourceMap *map) const = 0;
  /// Prints the texts of several targets, and the selection of one of them.
  virtual void printSeveral(const Selector &selector,
                            const std::vector<std::string> &shared,
                            llvm::StringRef outside, NameScope names,
                            TextWriter &out, SourceMap *map) const = 0;

protected:
  explicit SourceForm(const SourceFile &file) : file(file) {}

  SourceFile file;
};

std::unique_ptr<SourceForm> formOfCores(const SourceFile &file);
std::unique_ptr<SourceForm> formOfDevices(const SourceFile &file);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_SOURCEFORM_H
