// One compilation, from file to files.
//
// What the command line, the tests and CMake all call.

#ifndef INGOT_COMPILER_COMPILE_H
#define INGOT_COMPILER_COMPILE_H

#include "codegen/Codegen.h"
#include "compiler/Pipeline.h"
#include "compiler/import/ImportOnnx.h"

namespace ingot {

/// One of several functions of an output, each a model at sizes of its own.
struct EntryPoint {
  /// What the function is called behind the prefix: "decode" for llm_decode_run.
  std::string name;
  /// Its model; empty: that of the options.
  std::string model;
  /// Sizes of its dimensions, before those of ImportOptions.
  std::map<std::string, SizeRange> dims;
};

struct CompileOptions {
  std::string model;
  /// Empty: one that is called after the output alone.
  std::vector<EntryPoint> entries;
  /// Makes the model that is compiled in place of the file `model`; null: that
  /// file is read.
  std::function<std::unique_ptr<ModelFile>()> makeModel;
  /// `model` is not ONNX, but a module that this stage has left behind. Its
  /// target is the module's, where that has one; `target` is null or the same.
  std::optional<Stage> startFrom;
  ImportOptions import;
  const TargetDescription *target = nullptr;
  /// Further targets in the same output, from the least able on, all less able
  /// than `target`; the generated code picks one where it runs.
  llvm::SmallVector<const TargetDescription *, 0> fallbacks;
  /// This is one of the fallbacks, which have one state together with the target.
  bool isFallback = false;
  /// Inputs, with the outputs that the next run gets as these.
  std::vector<std::pair<std::string, std::string>> states;
  /// Prefix of the generated names; empty: from the model's file name.
  std::string name;
  WeightsMode weights = WeightsMode::Auto;
  bool strict = false;
  /// Contract floats as such ones (--fast): "bf16", "f16" or "tf32"; empty: as they are.
  std::string fast;
  /// Print the time of each pass on standard error.
  bool timePasses = false;
  /// Check the IR after each pass, not only after each stage: for tests.
  bool verifyEach = false;
  /// The file with plans that were timed, and that new ones go into; empty: plans
  /// are chosen by what they are estimated to cost.
  std::string tune;
  /// Call the context's trace hook around each kernel.
  bool trace = false;
  /// Limits in bytes: of arena and stack, and of code and constants.
  std::optional<int64_t> maxRam, maxFlash;
  /// Bytes of the target's near memory that the caller lends.
  std::optional<int64_t> nearBytes;
  /// What of maxRam is not for the arena: the stack, where that is known.
  int64_t reservedRam = 0;
  /// Kernels have no memory of their own that others do without, though these take longer.
  bool savesMemory = false;
  /// A command that compiles objects, and code whose size is measured, in place
  /// of the target's compiler.
  std::string compiler;
  /// The section of an arena of the generated code's own; empty: it has none.
  std::string arenaSection;
  /// For the header.
  std::optional<MeasuredBytes> measured;

  /// What maxRam leaves for the arena.
  std::optional<int64_t> maxArena() const;
  /// Whether this machine runs one of the targets.
  bool runsOnThisHost() const;
};

/// With all dialects that a compilation needs.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// A model on its way. The module's constants point into the model's file.
class Compilation {
public:
  /// `context` has to be from makeContext and to outlive this.
  Compilation(CompileOptions options, mlir::MLIRContext &context,
              Diagnostics &diagnostics);
  ~Compilation();

  /// Reads the ONNX file, so that options can depend on it; null with a
  /// diagnostic if it is no model.
  ModelFile *open();
  /// Brings the module to the end of `stage`; false with diagnostics if that
  /// fails.
  bool advance(Stage stage);
  /// Writes .cpp and .h, or .o and .h; advances to Legalize if necessary.
  bool emit(llvm::StringRef output);

  /// That of the target, not of a fallback. Once written, the arena serves all.
  mlir::ModuleOp module() { return *moduleRef; }
  /// Whether the module has strings, which only this process can point at.
  bool usesStrings();
  mlir::MLIRContext &context() { return mlirContext; }
  Diagnostics &getDiagnostics() { return diagnostics; }
  CompileOptions options;
  CodegenOptions codegenOptions(llvm::StringRef output) const;

private:
  bool checkStrings();
  bool checkNear();
  /// Makes the module that the stages begin with.
  bool import();
  bool importEntries();
  bool readModule();

  mlir::MLIRContext &mlirContext;
  Diagnostics &diagnostics;
  std::unique_ptr<ModelFile> file;
  std::vector<std::unique_ptr<ModelFile>> filesOfEntries;
  mlir::OwningOpRef<mlir::ModuleOp> moduleRef;
  /// The last stage that is done; none before import.
  std::optional<Stage> done;
};

/// Whether a file can be written at `output`, else a diagnostic: said at once, not
/// after minutes of work.
bool checkWritable(llvm::StringRef output, Diagnostics &diagnostics);

/// The default of CompileOptions::name.
std::string nameOfModel(llvm::StringRef path);

inline constexpr llvm::StringLiteral ingotVersion = "0.1.0";

} // namespace ingot

#endif // INGOT_COMPILER_COMPILE_H
