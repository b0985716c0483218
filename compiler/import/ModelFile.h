// Reads a model file and its external data.
//
// Turns a path into a parsed ModelProto. The file is untrusted: every fault
// becomes a diagnostic. External data is memory-mapped, and only from regular
// files in or below the model's folder or, if the model is a symbolic link, the
// folder of the link's target.

#ifndef INGOT_COMPILER_IMPORT_MODELFILE_H
#define INGOT_COMPILER_IMPORT_MODELFILE_H

#include "compiler/report/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace onnx {
class FunctionProto;
class ModelProto;
class TensorProto;
} // namespace onnx

namespace ingot {

class ModelFile {
public:
  /// Opens and parses a model file. Returns null, with a diagnostic, if the
  /// file cannot be read or is not an ONNX model.
  static std::unique_ptr<ModelFile> open(llvm::StringRef path,
                                         Diagnostics &diagnostics);
  /// Wraps a model that was created in memory; external data is looked up
  /// relative to `path`.
  static std::unique_ptr<ModelFile> of(onnx::ModelProto &&proto,
                                       llvm::StringRef path);
  ~ModelFile();

  onnx::ModelProto &model() { return *proto; }
  const onnx::ModelProto &model() const { return *proto; }
  llvm::StringRef path() const { return filePath; }
  /// Returns the description (doc_string) of the model or, if it has none, of
  /// its main graph.
  llvm::StringRef description() const;
  /// Allows external data in the file at `path`, which Ingot has written
  /// itself, even if the file is outside of the model's folder. Applies to
  /// constants whose location is exactly `path`.
  void setScratch(llvm::StringRef path) { scratchPath = path.str(); }

  /// Maps the data of a tensor with external data. Each tensor has its own
  /// mapping, so that it can be released when it has been read. If the data
  /// cannot be mapped, returns null and stores the reason in `error`.
  std::unique_ptr<llvm::MemoryBuffer>
  externalData(const onnx::TensorProto &tensor, std::string &error) const;

  /// Takes ownership of `function`, since constants of the module may point
  /// into its data.
  const onnx::FunctionProto &keep(onnx::FunctionProto &&function);

private:
  ModelFile();
  std::string filePath, scratchPath;
  std::unique_ptr<onnx::ModelProto> proto;
  std::vector<std::unique_ptr<onnx::FunctionProto>> kept;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_MODELFILE_H
