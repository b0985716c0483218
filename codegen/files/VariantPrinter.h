// Prints the text of one target in a source file: the kernels, and the
// functions that launch them.

#ifndef INGOT_CODEGEN_FILES_VARIANTPRINTER_H
#define INGOT_CODEGEN_FILES_VARIANTPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/KernelPrinter.h"
#include "codegen/kernel/Names.h"

#include "llvm/ADT/SetVector.h"

#include <set>

namespace ingot {

/// Appends a function to `order`, after the helper functions that it calls.
void collectKernels(mlir::FunctionOpInterface function,
                    const mlir::SymbolTable &symbols,
                    llvm::SetVector<mlir::FunctionOpInterface> &order);

/// What the texts of all targets have in common: names, kernels and constants.
class VariantPrinter {
public:
  virtual ~VariantPrinter() = default;

protected:
  /// Chooses the names of constants and kernels. `sharedNames` are the names of
  /// the weights that targets share, by index in Weights::all(); `names` are
  /// the names that the preceding text of the file uses.
  VariantPrinter(const Variant &variant, const CodegenOptions &options,
                 const Weights &weights,
                 const std::vector<std::string> &sharedNames, NameScope names,
                 TextWriter &out, SourceMap *map);
  /// Chooses the names of the functions of the bodies of ifs and loops. The
  /// constructor of a derived class calls it after it has chosen its own names.
  void namePrograms();
  /// Returns the text of the kernels. They are printed to a string first, since
  /// they determine which vector types and macros have to be declared before
  /// them.
  std::string textOfKernels();
  /// Returns the text of the target's prologue that launches use for prefetches.
  std::string textOfPrefetches();
  /// Prints the first part of the target's prologue. Returns the text of the
  /// kernels, and the names of the macros that were printed.
  std::pair<std::string, std::set<std::string>> printStart();
  /// Prints vector types, constants and helper functions, then `text`, the text
  /// of the kernels.
  void printKernels(llvm::StringRef text);
  /// Prints the constants that are arrays in the text of this target.
  virtual void printTables(llvm::ArrayRef<mlir::memref::GlobalOp> tables) = 0;
  void printArray(mlir::memref::GlobalOp global);
  /// Records in the source map that the text that was printed to a string
  /// before begins at the current position of the file.
  void place();

  mlir::ModuleOp module;
  const TargetDescription &target;
  std::vector<Interface> interfaces;
  const CodegenOptions &options;
  const Weights &weights;
  NameScope names;
  TextWriter &out;
  SourceContext context;
  llvm::SetVector<mlir::FunctionOpInterface> kernels;

private:
  bool isInSource(mlir::memref::GlobalOp global) const;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_VARIANTPRINTER_H
