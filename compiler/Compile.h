// A compilation from the model file to the generated files.
//
// Used by the commands of `ingot` and by tests.

#ifndef INGOT_COMPILER_COMPILE_H
#define INGOT_COMPILER_COMPILE_H

#include "codegen/Codegen.h"
#include "compiler/EntryPoints.h"
#include "compiler/Pipeline.h"
#include "compiler/import/ImportOnnx.h"

namespace ingot {

/// One of several entry functions of an output (--entry): a model with its own
/// sizes.
struct EntryPoint {
  /// The name of the entry point, which follows the prefix: "decode" for
  /// llm_decode_run.
  std::string name;
  /// The model of this entry point; empty: CompileOptions::model.
  std::string model;
  /// Sizes of dynamic dimensions in this entry point; these take precedence
  /// over the sizes in ImportOptions.
  std::map<std::string, SizeRange> dims;
};

struct CompileOptions {
  std::string model;
  /// The entry points; empty: a single one, whose functions have the prefix
  /// `name` alone.
  std::vector<EntryPoint> entries;
  /// Creates the model that is compiled instead of the file `model`; null: the
  /// file is read.
  std::function<std::unique_ptr<ModelFile>()> makeModel;
  /// If set, `model` is not an ONNX file but a module that `--stop-after` wrote
  /// after this stage, and compilation continues with the next stage. If the
  /// module names its target, `target` must be null or that target.
  std::optional<Stage> startFrom;
  ImportOptions import;
  const TargetDescription *target = nullptr;
  /// Targets in the same output besides `target`, all less capable, ordered
  /// from the least capable on. The generated code selects one target at run
  /// time.
  llvm::SmallVector<const TargetDescription *, 0> fallbacks;
  /// Whether these are the options for one of the `fallbacks` of another
  /// compilation. Then states (values kept from run to run) get the layout that
  /// all targets of that compilation share.
  bool isFallback = false;
  /// Pairs of an input and the output that becomes this input in the next run.
  std::vector<std::pair<std::string, std::string>> states;
  /// The streamed input (--stream), if any: a call takes only its new columns.
  std::optional<StreamedInput> stream;
  /// The command without --name and -o, for the first lines of generated files;
  /// may be empty.
  std::string commandLine;
  /// Prefix of the generated names; empty: derived from the model's file name.
  std::string name;
  WeightsMode weights = WeightsMode::Auto;
  bool strict = false;
  /// The type in which floats are multiplied in contractions (--fast): "bf16",
  /// "f16" or "tf32"; empty: their own type.
  std::string fast;
  /// Print the time of each pass on standard error.
  bool timePasses = false;
  /// Verify the IR after each pass, not only after each stage; for tests.
  bool verifyEach = false;
  /// The file that stores the fastest plans, the loop parameters of kernels
  /// (--tune); newly timed plans are added to it. Empty: plans are chosen by
  /// estimated cost.
  std::string tune;
  /// Call the trace hook, ingot_context::trace, before and after each kernel.
  bool trace = false;
  /// Limits in bytes: maxRam for the stack and the arena, the buffer of
  /// intermediate tensors; maxFlash for code and constants.
  std::optional<int64_t> maxRam, maxFlash;
  /// Bytes of the target's fast local memory (VTCM) that the caller provides.
  std::optional<int64_t> vtcmBytes;
  /// Bytes of maxRam reserved for the stack; 0 until the stack has been
  /// measured.
  int64_t reservedRam = 0;
  /// Whether kernels use no optional scratch memory, without which they are
  /// slower.
  bool savesMemory = false;
  /// The command of a compiler that is used instead of the target's own, for
  /// object files and for the code whose size is measured.
  std::string compiler;
  /// The linker section of the arena, the buffer of intermediate tensors. If it
  /// is given, the generated code defines the arena; empty: the caller provides
  /// it.
  std::string arenaSection;
  /// The measured sizes of code and stack, which the header states.
  std::optional<MeasuredBytes> measured;

  /// Returns maxRam less the bytes that are reserved for the stack: the limit
  /// of the arena (the memory of intermediate tensors); no value if maxRam is
  /// not set.
  std::optional<int64_t> maxArena() const;
  /// Whether this machine can run the code of `target` or of one of
  /// `fallbacks`.
  bool runsOnThisHost() const;
};

/// Creates a context with all dialects that a compilation needs.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// A model during its compilation. The constants of the module point into the
/// model's file.
class Compilation {
public:
  /// `context` must come from makeContext and outlive this object.
  Compilation(CompileOptions options, mlir::MLIRContext &context,
              Diagnostics &diagnostics);
  ~Compilation();

  /// At the first call, opens the ONNX file (or calls makeModel), so that
  /// options can depend on its content; later calls return the same file.
  /// Returns null if there are diagnostics, for example because the file is not
  /// a model.
  ModelFile *open();
  /// Compiles to the end of `stage`; false with diagnostics on failure.
  bool advance(Stage stage);
  /// Writes the output file `output` (.cpp, .c, .cu, .o or a WebAssembly
  /// module), its header, and the file of weights if there is one; advances to
  /// Legalize if necessary. Returns false with diagnostics on failure.
  bool emit(llvm::StringRef output);

  /// Returns the module of the target, not of a fallback. After emit, the size
  /// of the arena (the memory of intermediate tensors) in the module is the
  /// largest one that the target and its fallbacks need.
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
  /// Imports the model: creates the module that is the result of Stage::Import.
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

/// Whether a file can be written at `output`; otherwise reports a diagnostic,
/// at once instead of after minutes of compilation.
bool checkWritable(llvm::StringRef output, Diagnostics &diagnostics);

/// Returns the default of CompileOptions::name for a model file.
std::string nameOfModel(llvm::StringRef path);

inline constexpr llvm::StringLiteral ingotVersion = "0.1.0";

} // namespace ingot

#endif // INGOT_COMPILER_COMPILE_H
