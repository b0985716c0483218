// Prints the launches of one program as C++.

#ifndef INGOT_CODEGEN_FILES_PROGRAMPRINTER_H
#define INGOT_CODEGEN_FILES_PROGRAMPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"

namespace ingot {

/// Prints the code that programs of CPU and GPU outputs share: the checks of
/// the caller's arguments, and the buffers and arguments of launches. The
/// surrounding text declares `io`, `memory` (the arena) and the base of the
/// weights.
class ProgramPrinter {
public:
  ProgramPrinter(const Interface &interface, const Weights &weights,
                 const CodegenOptions &options, SourceContext &context,
                 NameScope &names, TextWriter &out)
      : interface(interface), weights(weights), options(options),
        context(context), names(names), out(out),
        symbols(interface.main->getParentOp()) {}

protected:
  /// A pointer: its text, its C element type, and whether it is const.
  struct Pointer {
    std::string text, type;
    bool isConst;
  };

  kernel::FuncOp calleeOf(kernel::LaunchOp launch) const;
  void returnIf(const llvm::Twine &condition, llvm::StringRef status);
  /// Returns from the function with the status of `call` unless it is INGOT_OK.
  void check(const llvm::Twine &call);
  /// Returns " || !io->x" for each tensor that has elements.
  std::string missingTensors() const;
  /// Prints the check that a tensor has the alignment that the target needs.
  void printAlignmentCheck(size_t number);
  /// Prints the checks that sizes are within their bounds, and equal where they
  /// must be.
  void printSizeChecks();
  void printStringChecks();
  void printArenaValue(kernel::ArenaOp buffer);
  /// Declares a pointer for each weight of a program that is stored relative to
  /// `base` and read by launches of this team only; without a team, for each
  /// other weight.
  void printWeightPointers(kernel::ProgramOp program, llvm::StringRef base,
                           std::optional<uint64_t> team = std::nullopt);
  /// Returns the operations of a program that use a buffer or a slice of it.
  static llvm::SmallVector<mlir::Operation *> stepsThatUse(mlir::Value buffer);
  /// Declares a pointer for each tensor in the state, which begins at `state`;
  /// `phases` are the bytes that select one of two buffers of a value.
  void printStatePointers(llvm::StringRef phases);
  /// Flips the phases: the next run reads the values written by this one.
  void printStateChange(llvm::StringRef phases);
  /// Prints the check that the data at `given` has the value that the input was
  /// bound to.
  void printRequireEqual(kernel::RequireEqualOp require, llvm::StringRef given);
  Pointer pointer(mlir::Value memref);
  std::string argument(mlir::Value memref, bool readOnly);
  llvm::SmallVector<std::string> launchArguments(kernel::LaunchOp launch);
  const Weight &weightOf(mlir::memref::GetGlobalOp op) const;
  /// Whether the program's text declares a pointer for this weight, relative to
  /// a base.
  bool isNamedWeight(mlir::memref::GetGlobalOp op) const;

  const Interface &interface;
  const Weights &weights;
  const CodegenOptions &options;
  SourceContext &context;
  NameScope &names;
  TextWriter &out;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, Pointer> named;
  /// The name of the pointer to near memory.
  std::string nearBase;
  /// The variables for buffers in the arena: by name, offset, element type, and
  /// whether they are in near memory instead.
  llvm::DenseMap<std::tuple<llvm::StringRef, uint64_t, mlir::Type, unsigned>,
                 std::string>
      arenaNames;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_PROGRAMPRINTER_H
