// Prints the launches (calls of kernels) of one program (entry point, or body
// of an if or loop) as C++.

#ifndef INGOT_CODEGEN_FILES_PROGRAMPRINTER_H
#define INGOT_CODEGEN_FILES_PROGRAMPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"

namespace ingot {

/// Prints the code that is the same in programs for a CPU and for a GPU: the
/// checks of the caller's arguments, and the buffers and arguments of launches
/// (calls of kernels). The surrounding generated code declares `io`, `memory`
/// (the arena) and the base of the weights.
class ProgramPrinter {
public:
  ProgramPrinter(const Interface &interface, const Weights &weights,
                 const CodegenOptions &options, SourceContext &context,
                 NameScope &names, TextWriter &out)
      : interface(interface), weights(weights), options(options),
        context(context), names(names), out(out),
        symbols(interface.main->getParentOp()) {}

protected:
  /// A pointer in generated code: its text, its C element type, and whether it
  /// is const.
  struct Pointer {
    std::string text, type;
    bool isConst;
  };

  kernel::FuncOp calleeOf(kernel::LaunchOp launch) const;
  void returnIf(const llvm::Twine &condition, llvm::StringRef status);
  /// Prints `call` and, for the case that its status is not INGOT_OK, a return
  /// of this status from the function that contains the call.
  void check(const llvm::Twine &call);
  /// Returns the null check " || !io->x" for each tensor of the caller that has
  /// elements, and for each pointer to which a run writes a data-dependent
  /// size.
  std::string missingTensors() const;
  /// Prints the check that a tensor has the alignment that the target needs,
  /// unless the alignment of its elements suffices.
  void printAlignmentCheck(size_t number);
  /// Prints the checks that dynamic sizes are within their bounds, and equal to
  /// the expressions that the model requires.
  void printSizeChecks();
  void printStringChecks();
  Sign signOf(mlir::Value buffer) const;
  std::string templateArgument(const std::string &type) const;
  std::string constantsAt(const std::string &type, llvm::StringRef base,
                          int64_t offset) const;
  void printArenaValue(kernel::ArenaOp buffer);
  /// Prints declarations of pointers to the weights of a program, which are
  /// stored at offsets from `base`. With `team`: of the weights that only
  /// launches of this worker group (short kernels that the same threads process
  /// in sequence) read. Without `team`: of all other weights.
  void printWeightPointers(kernel::ProgramOp program, llvm::StringRef base,
                           std::optional<uint64_t> team = std::nullopt);
  /// Returns the operations of a program that use a buffer or a slice of it.
  static llvm::SmallVector<mlir::Operation *> stepsThatUse(mlir::Value buffer);
  /// Prints a declaration of a pointer for each tensor in the state, the memory
  /// at `state` for tensors that persist between runs. `phases` is the name of
  /// the array of bytes that select one of two buffers of such a tensor.
  void printStatePointers(llvm::StringRef phases);
  /// Prints code that flips the phase bytes, so that the next run reads what
  /// this run has written. A phase byte selects one of the two buffers of a
  /// tensor that persists between runs.
  void printStateChange(llvm::StringRef phases);
  /// Prints the check that the data at `given` has the value that the input was
  /// bound to by --bind.
  void printRequireEqual(kernel::RequireEqualOp require, llvm::StringRef given);
  Pointer pointer(mlir::Value memref);
  std::string argument(mlir::Value memref, bool readOnly,
                       Sign sign = Sign::Signed);
  llvm::SmallVector<std::string> launchArguments(kernel::LaunchOp launch);
  const Weight &weightOf(mlir::memref::GetGlobalOp op) const;
  /// Whether the generated program declares a pointer to this weight, since the
  /// weight is used and stored at an offset from a base address. There is no
  /// such pointer to a table, an array that kernels read by its global name.
  bool isNamedWeight(mlir::memref::GetGlobalOp op) const;

  const Interface &interface;
  const Weights &weights;
  const CodegenOptions &options;
  SourceContext &context;
  NameScope &names;
  TextWriter &out;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, Pointer> named;
  /// The C++ expression for the start of fast local memory (VTCM) or, for a
  /// GPU, of the host memory for buffers of host kernels.
  std::string secondBase;
  /// The names of pointers to buffers. The key is: name, offset and element
  /// type of the buffer; whether it is in the memory at `secondBase` instead of
  /// the arena, where most intermediate tensors are; its signedness.
  llvm::DenseMap<
      std::tuple<llvm::StringRef, uint64_t, mlir::Type, unsigned, unsigned>,
      std::string>
      arenaNames;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_PROGRAMPRINTER_H
