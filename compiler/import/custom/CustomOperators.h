// Custom operators, which the user declares in a file (--custom).
//
// Each declared operator is added to the model as a model-local ONNX function,
// so that the importer needs no special case for it. The body of the function
// consists of ONNX operators. If the operator is a C function, the body is one
// node, CallExternal of the domain `ingot`, whose attributes contain the
// declaration (operators/External.cpp imports it).
//
// The format, in YAML (docs/custom-operators.md describes it):
//
//   - name: com.example::Swish          an element expression
//     inputs: [x]
//     outputs: [y]
//     attributes: [alpha:float=1]
//     element: x / (1 + exp(-alpha * x))
//   - definition: swish.onnx            functions of a model, or ONNX text
//   - name: com.example::Blur           a C function
//     types: T=float|uint8
//     inputs: ["x: T[n, h, w]"]
//     outputs: ["y: T[n, h - 2, w - 2]"]
//     function: blur_{T}
//     scratch: 4 * w
//     parallel: n
//     source: [blur.c]

#ifndef INGOT_COMPILER_IMPORT_CUSTOM_CUSTOMOPERATORS_H
#define INGOT_COMPILER_IMPORT_CUSTOM_CUSTOMOPERATORS_H

#include "compiler/report/Diagnostics.h"
#include "onnx/defs/schema.h"

namespace ingot {

class CustomOperators {
public:
  /// Reads a file of declarations. Returns false, with diagnostics, if the file
  /// is invalid.
  bool read(llvm::StringRef path, Diagnostics &diagnostics);

  /// Adds the custom operators to `model` as functions, except those that the
  /// model defines itself. Of several versions of an operator, adds the newest
  /// one that is not newer than the version that the model imports of the
  /// operator's domain.
  void addTo(onnx::ModelProto &model) const;

  /// The source files that define the C functions, for programs that Ingot
  /// builds itself.
  llvm::ArrayRef<std::string> sources() const { return files; }
  /// Whether the result of `function`, which addTo has added, has the same
  /// range of values as its first input, so that both can be quantized with the
  /// same scale.
  static bool keepsScale(const onnx::FunctionProto &function);

private:
  struct Operator {
    onnx::FunctionProto function;
    int64_t version = 1;
  };
  friend class DeclarationReader;

  std::vector<Operator> operators;
  std::vector<std::string> files;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_CUSTOM_CUSTOMOPERATORS_H
