// Reading a model file and its external data.
//
// Turns a path into a parsed ModelProto. Nothing about the file is trusted:
// every fault becomes a diagnostic. External data is mapped, and only from
// regular files in or below the model's folder or, where the model is a link,
// the folder of the file that it leads to.

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
  /// Null with a diagnostic if the file is no ONNX model.
  static std::unique_ptr<ModelFile> open(llvm::StringRef path,
                                         Diagnostics &diagnostics);
  /// A model that was made in memory; external data is looked for beside `path`.
  static std::unique_ptr<ModelFile> of(onnx::ModelProto &&proto,
                                       llvm::StringRef path);
  ~ModelFile();

  onnx::ModelProto &model() { return *proto; }
  const onnx::ModelProto &model() const { return *proto; }
  llvm::StringRef path() const { return filePath; }
  /// Lets external data be in this file too, wherever it is: constants whose
  /// location is just its path. For files that we write ourselves.
  void setScratch(llvm::StringRef path) { scratchPath = path.str(); }

  /// The bytes of a tensor with external data, mapped on their own so that they
  /// can go when they have been read. Null with the reason in `error`.
  std::unique_ptr<llvm::MemoryBuffer>
  externalData(const onnx::TensorProto &tensor, std::string &error) const;

  /// Makes `function` live as long as this, since constants may point into it.
  const onnx::FunctionProto &keep(onnx::FunctionProto &&function);

private:
  ModelFile();
  std::string filePath, scratchPath;
  std::unique_ptr<onnx::ModelProto> proto;
  std::vector<std::unique_ptr<onnx::FunctionProto>> kept;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_MODELFILE_H
