// Imports an ONNX file as a module of graph operators.
//
// Turns model.onnx into
//
//   func.func @main(%x: tensor<1x3x8x8xf32> {ingot.onnx_name = "x",
//                                            ingot.type = "float32"})
//       -> (tensor<1x10xf32> {ingot.onnx_name = "y", ingot.type = "float32"})
//
// Shapes are static; a dynamic size has its upper bound as the static size and
// an expression in the type's encoding. Weights are resources that point into
// the file. The module contains only operators of the graph dialect, each with
// the location of its ONNX node. Guarantee: any input file yields either a
// verified module or all diagnostics of one run.

#ifndef INGOT_COMPILER_IMPORT_IMPORTONNX_H
#define INGOT_COMPILER_IMPORT_IMPORTONNX_H

#include "compiler/import/ModelFile.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <memory>

namespace ingot {

class CustomOperators;

/// The size of a dimension from the command line: one number, or a range within
/// which it is dynamic.
struct SizeRange {
  int64_t least, most;

  SizeRange(int64_t size = 1) : SizeRange(size, size) {}
  SizeRange(int64_t least, int64_t most) : least(least), most(most) {}
  bool isOne() const { return least == most; }
  bool has(int64_t size) const { return least <= size && size <= most; }
};

struct ImportOptions {
  /// Sizes of dimensions from the command line. The key is a symbol ("batch"),
  /// an input with an axis ("input:0"), or "*" for all other dimensions.
  std::map<std::string, SizeRange> dims;
  /// If another option than --dim has set a key of `dims`, maps the key to this
  /// option, such as "--entry decode".
  std::map<std::string, std::string> dimOptions;
  /// Returns the option that set a dimension, for diagnostics.
  std::string optionOf(const std::string &dim) const {
    auto it = dimOptions.find(dim);
    return it == dimOptions.end() ? "--dim" : it->second;
  }
  /// Shapes of the inputs for which the user gave data, by name. They also
  /// determine the symbols in the declared shapes.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values of inputs, as written on the command line ("1,2,3"). The input
  /// becomes a constant, and the generated code rejects any other value.
  std::map<std::string, std::string> bind;
  /// Data that the user gave for inputs, by name. An input is replaced by its
  /// data, as by `bind`, only if a shape depends on the values of the input.
  std::map<std::string, mlir::DenseElementsAttr> data;
  /// Operators that the model uses but does not define, and that the user
  /// declares in a file (--custom); null if there are none.
  std::shared_ptr<const CustomOperators> custom;
  /// Evaluates values that depend only on constants; if null, none are
  /// evaluated.
  std::function<mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>>(
      llvm::ArrayRef<mlir::Value>)>
      evaluate;
};

/// An operator that the importer resolves itself, without an import function.
struct ResolvedOperator {
  /// Text that says which uses of the operator are unsupported; empty if all
  /// are supported.
  llvm::StringRef limits;
  /// The operator of the graph dialect that a node becomes if it must be
  /// evaluated at run time; empty if there is none, and "several operators" if
  /// there are several.
  llvm::StringRef graphOperator;
};
/// Returns the description of an operator that the importer resolves itself;
/// nullopt for all other operators.
std::optional<ResolvedOperator> resolvedOperator(llvm::StringRef domain,
                                                 llvm::StringRef name);

/// Imports a model as a module of graph operators; returns null, with
/// diagnostics, if there are errors. Constants of the module point into `file`,
/// which must outlive the module. Loads the dialects of the module into
/// `context`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(ModelFile &file,
                                             const ImportOptions &options,
                                             Diagnostics &diagnostics,
                                             mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_IMPORTONNX_H
