// A compilation from the model file to the generated files.
//
// Used by the command line, the tests and CMake.

#ifndef INGOT_COMPILER_COMPILE_H
#define INGOT_COMPILER_COMPILE_H

#include "codegen/Codegen.h"
#include "compiler/Pipeline.h"
#include "compiler/import/ImportOnnx.h"

namespace ingot {

/// One of several functions of an output: a model with its own sizes.
struct EntryPoint {
  /// The function's name after the prefix: "decode" for llm_decode_run.
  std::string name;
  /// The model of this entry point; empty: CompileOptions::model.
  std::string model;
  /// Sizes of its dimensions; these take precedence over ImportOptions.
  std::map<std::string, SizeRange> dims;
};

struct CompileOptions {
  std::string model;
  /// Empty: a single entry point named after the output.
  std::vector<EntryPoint> entries;
  /// Creates the model that is compiled instead of the file `model`; null: the
  /// file is read.
  std::function<std::unique_ptr<ModelFile>()> makeModel;
  /// If set, `model` is not ONNX but a module that this stage has produced. If
  /// the module names its target, `target` is null or the same.
  std::optional<Stage> startFrom;
  ImportOptions import;
  const TargetDescription *target = nullptr;
  /// Further targets in the same output, from the least capable on, all less
  /// capable than `target`; the generated code selects one at run time.
  llvm::SmallVector<const TargetDescription *, 0> fallbacks;
  /// Whether this compiles a fallback, which shares its state with the target.
  bool isFallback = false;
  /// Pairs of an input and the output that becomes this input in the next run.
  std::vector<std::pair<std::string, std::string>> states;
  /// Prefix of the generated names; empty: from the model's file name.
  std::string name;
  WeightsMode weights = WeightsMode::Auto;
  bool strict = false;
  /// Contract floats in this type (--fast): "bf16", "f16" or "tf32"; empty: in
  /// their own type.
  std::string fast;
  /// Print the time of each pass on standard error.
  bool timePasses = false;
  /// Verify the IR after each pass, not only after each stage; for tests.
  bool verifyEach = false;
  /// The file with timed plans, to which new ones are added; empty: plans are
  /// chosen by estimated cost.
  std::string tune;
  /// Call the trace hook of the context around each kernel.
  bool trace = false;
  /// Limits in bytes: maxRam for arena and stack, maxFlash for code and
  /// constants.
  std::optional<int64_t> maxRam, maxFlash;
  /// Bytes of the target's near memory (VTCM) that the caller provides.
  std::optional<int64_t> vtcmBytes;
  /// Bytes of maxRam reserved for the stack; 0 until the stack has been
  /// measured.
  int64_t reservedRam = 0;
  /// Kernels use no optional scratch memory, although they are slower without.
  bool savesMemory = false;
  /// A command that compiles objects, and code whose size is measured, instead
  /// of the target's compiler.
  std::string compiler;
  /// The section of an arena that the generated code defines; empty: the caller
  /// provides the arena.
  std::string arenaSection;
  /// Measured sizes for the header.
  std::optional<MeasuredBytes> measured;

  /// Returns the bytes of maxRam that remain for the arena.
  std::optional<int64_t> maxArena() const;
  /// Whether this machine can run one of the targets.
  bool runsOnThisHost() const;
};

/// Creates a context with all dialects that a compilation needs.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// A model during compilation. The module's constants point into the model's
/// file.
class Compilation {
public:
  /// `context` must come from makeContext and outlive this object.
  Compilation(CompileOptions options, mlir::MLIRContext &context,
              Diagnostics &diagnostics);
  ~Compilation();

  /// Opens the ONNX file, so that options can depend on its content; null with
  /// a diagnostic if it is not a model.
  ModelFile *open();
  /// Compiles to the end of `stage`; false with diagnostics on failure.
  bool advance(Stage stage);
  /// Writes .cpp and .h, or .o and .h; advances to Legalize if necessary.
  bool emit(llvm::StringRef output);

  /// Returns the module of the target, not of a fallback. After emit its arena
  /// size is that of the largest variant.
  mlir::ModuleOp module() { return *moduleRef; }
  /// Whether the module has string tensors, which hold pointers of this
  /// process.
  bool usesStrings();
  mlir::MLIRContext &context() { return mlirContext; }
  Diagnostics &getDiagnostics() { return diagnostics; }
  CompileOptions options;
  CodegenOptions codegenOptions(llvm::StringRef output) const;

private:
  bool checkStrings();
  bool checkVtcm();
  /// Creates the module for the first stage.
  bool import();
  bool importEntries();
  bool readModule();

  mlir::MLIRContext &mlirContext;
  Diagnostics &diagnostics;
  std::unique_ptr<ModelFile> file;
  std::vector<std::unique_ptr<ModelFile>> filesOfEntries;
  mlir::OwningOpRef<mlir::ModuleOp> moduleRef;
  /// The last completed stage; none before import.
  std::optional<Stage> done;
};

/// Whether a file can be written at `output`; else reports a diagnostic at once
/// instead of after minutes of compilation.
bool checkWritable(llvm::StringRef output, Diagnostics &diagnostics);

/// Returns the default of CompileOptions::name.
std::string nameOfModel(llvm::StringRef path);

inline constexpr llvm::StringLiteral ingotVersion = "0.1.0";

} // namespace ingot

#endif // INGOT_COMPILER_COMPILE_H
