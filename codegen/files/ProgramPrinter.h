// Launches of one program as C++ text.

#ifndef INGOT_CODEGEN_FILES_PROGRAMPRINTER_H
#define INGOT_CODEGEN_FILES_PROGRAMPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"

namespace ingot {

/// Prints what a program on the host and one for a device have in common: the checks
/// of what the caller passes, and the buffers and arguments of launches. The text that
/// it is in has `io`, `memory` (the arena) and what weights are relative to.
class ProgramPrinter {
public:
  ProgramPrinter(const Interface &interface, const Weights &weights,
                 const CodegenOptions &options, SourceContext &context,
                 NameScope &names, TextWriter &out)
      : interface(interface), weights(weights), options(options),
        context(context), names(names), out(out),
        symbols(interface.main->getParentOp()) {}

protected:
  /// A pointer: its text, its C element type, what it points into.
  struct Pointer {
    std::string text, type;
    bool isConst;
  };

  kernel::FuncOp calleeOf(kernel::LaunchOp launch) const;
  void returnIf(const llvm::Twine &condition, llvm::StringRef status);
  /// Ends the function with the status of `call` unless that is INGOT_OK.
  void check(const llvm::Twine &call);
  /// " || !io->x" for each tensor that has elements.
  std::string missingTensors() const;
  /// Refuses tensors that are not where the target reads them.
  void printAlignmentCheck(size_t number);
  /// Refuses sizes out of their bounds, and those that differ where they must not.
  void printSizeChecks();
  void printStringChecks();
  void printArenaValue(kernel::ArenaOp buffer);
  /// Declares a pointer for each weight of a program that lies behind `base` and that
  /// launches of this team alone read; without a team, for each other one.
  void printWeightPointers(kernel::ProgramOp program, llvm::StringRef base,
                           std::optional<uint64_t> team = std::nullopt);
  /// The operations of a program that use a buffer, or a part of it.
  static llvm::SmallVector<mlir::Operation *> stepsThatUse(mlir::Value buffer);
  /// Declares a pointer for each tensor in the state, which begins at `state`; `phases` is
  /// where the bytes are that say which of two places counts.
  void printStatePointers(llvm::StringRef phases);
  /// What was written is what the next run reads.
  void printStateChange(llvm::StringRef phases);
  /// Refuses to run unless what `given` points at is what it was bound to.
  void printRequireEqual(kernel::RequireEqualOp require, llvm::StringRef given);
  Pointer pointer(mlir::Value memref);
  std::string argument(mlir::Value memref, bool readOnly);
  llvm::SmallVector<std::string> launchArguments(kernel::LaunchOp launch);
  const Weight &weightOf(mlir::memref::GetGlobalOp op) const;
  /// Whether the text of the program names this weight, which lies behind a base.
  bool isNamedWeight(mlir::memref::GetGlobalOp op) const;

  const Interface &interface;
  const Weights &weights;
  const CodegenOptions &options;
  SourceContext &context;
  NameScope &names;
  TextWriter &out;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, Pointer> named;
  /// What near memory is called.
  std::string nearBase;
  /// Variables for values in the arena: by name, offset, element type and whether they are
  /// in near memory instead.
  llvm::DenseMap<std::tuple<llvm::StringRef, uint64_t, mlir::Type, unsigned>,
                 std::string>
      arenaNames;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_PROGRAMPRINTER_H
