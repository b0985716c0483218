// An ONNX file as a module of graph operators.
//
// Turns model.onnx into
//
//   func.func @main(%x: tensor<1x3x8x8xf32> {ingot.onnx_name = "x",
//                                            ingot.type = "float32"})
//       -> (tensor<1x10xf32> {ingot.onnx_name = "y", ingot.type = "float32"})
//
// with graph operators on static shapes; weights are resources that point into
// the file. Afterwards only operators of the graph dialect are left, each with
// the location of its ONNX node. Guarantees: any bytes give either a verified
// module or diagnostics, all of one run.

#ifndef INGOT_COMPILER_IMPORT_IMPORTONNX_H
#define INGOT_COMPILER_IMPORT_IMPORTONNX_H

#include "compiler/import/ModelFile.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>

namespace ingot {

/// What the command line says of the size of a dimension: between two numbers,
/// at run time, or one number.
struct SizeRange {
  int64_t least, most;

  SizeRange(int64_t size = 1) : SizeRange(size, size) {}
  SizeRange(int64_t least, int64_t most) : least(least), most(most) {}
  bool isOne() const { return least == most; }
  bool has(int64_t size) const { return least <= size && size <= most; }
};

struct ImportOptions {
  /// Sizes of dimensions, by symbol ("batch"), place ("input:0"), or of all
  /// others ("*").
  std::map<std::string, SizeRange> dims;
  /// The option that set a dimension, where that is not --dim: "--entry decode".
  std::map<std::string, std::string> dimOptions;
  /// Returns the option that set a dimension, for diagnostics.
  std::string optionOf(const std::string &dim) const {
    auto it = dimOptions.find(dim);
    return it == dimOptions.end() ? "--dim" : it->second;
  }
  /// Shapes of inputs, known from data; they bind symbols, too.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values of inputs, as the command line has them ("1,2,3"): the input
  /// becomes a constant, and the generated code refuses any other value.
  std::map<std::string, std::string> bind;
  /// Data of inputs, bound in the same way but only where a value decides a
  /// shape.
  std::map<std::string, mlir::DenseElementsAttr> data;
  /// Computes values that depend only on constants; null: none are computed.
  std::function<mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>>(
      llvm::ArrayRef<mlir::Value>)>
      evaluate;
};

/// An operator that the importer resolves itself.
struct ResolvedOperator {
  /// What of it is not supported, in words.
  llvm::StringRef limits;
  /// The operator of the graph dialect that it is where the run decides, or empty.
  llvm::StringRef graphOperator;
};
/// None for all others.
std::optional<ResolvedOperator> resolvedOperator(llvm::StringRef domain,
                                                 llvm::StringRef name);

/// Null with diagnostics if there are errors. The module's constants point into
/// `file`. Loads the dialects it needs into `context`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(ModelFile &file,
                                             const ImportOptions &options,
                                             Diagnostics &diagnostics,
                                             mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_IMPORTONNX_H
