// ONNX's operator definitions, asked.
//
// Whether a node is what its operator's schema allows: arity, attributes,
// operand types, shapes. Wraps the onnx library: no exception leaves here.

#ifndef INGOT_COMPILER_IMPORT_SCHEMA_H
#define INGOT_COMPILER_IMPORT_SCHEMA_H

#include "compiler/import/OperandShapes.h"
#include "compiler/report/Diagnostics.h"
#include "mlir/IR/Value.h"
#include "onnx/defs/schema.h"

namespace ingot {

/// "" for ONNX's own domain, under both its names.
llvm::StringRef canonicalDomain(llvm::StringRef domain);
/// The newest opset of a domain that is known; 0 if the domain is unknown.
int64_t newestOpset(llvm::StringRef domain);
/// Domains whose operators are not ONNX's, but well known: what uses them is a
/// valid model.
bool isVendorDomain(llvm::StringRef domain);

/// The oldest opset of ONNX itself whose operators are imported.
inline constexpr int64_t oldestOpset = 6;

/// The definition in force at `opset`; null if there is none.
const onnx::OpSchema *lookupSchema(llvm::StringRef domain, llvm::StringRef name,
                                   int64_t opset);
/// The oldest opset of the domain that has the operator; 0 if none has.
int64_t firstOpset(llvm::StringRef domain, llvm::StringRef name);

/// All operators of a domain, ONNX's and ours.
std::vector<std::string> operatorNames(llvm::StringRef domain);

struct OperatorInfo {
  std::string domain, name;
  /// ONNX defines it by others.
  bool isFunction = false;
  /// The opsets that changed it, from the first on, and the newest that has it.
  std::vector<int64_t> versions;
  int64_t newest = 0;
  /// Operands that have one type, with the element types that ONNX allows and
  /// Ingot has, as in the newest opset: {"X, Y", "float32, float64"}.
  std::vector<std::pair<std::string, std::string>> types;
};
/// Every operator of ONNX and of FurtherOperators.def, deprecated ones left out; sorted
/// by domain and name.
std::vector<OperatorInfo> standardOperators();

struct SchemaError {
  DiagnosticId id;
  std::string message, supported;
};

/// Arity and attributes; these need no types.
std::optional<SchemaError> checkForm(const onnx::NodeProto &node,
                                     const onnx::OpSchema &schema);
/// Refuses a node without an operand that its operator requires.
std::optional<SchemaError> checkGiven(const onnx::OpSchema &schema,
                                      llvm::ArrayRef<bool> isGiven);
/// What sizes known only at run time have to be, so that the inputs of a node fit
/// OperandShapes.def.
SizePairs neededSizes(const onnx::NodeProto &node, const onnx::OpSchema &schema,
                      llvm::ArrayRef<mlir::Value> inputs);
/// Element types and shapes. `inputs` are null where absent. `outputs` gets the
/// types that ONNX infers, empty ones where it infers none.
std::optional<SchemaError> checkTypes(const onnx::NodeProto &node,
                                      const onnx::OpSchema &schema,
                                      llvm::ArrayRef<mlir::Value> inputs,
                                      std::vector<onnx::TypeProto> &outputs);

/// The value's type as ONNX has it.
onnx::TypeProto typeProto(mlir::Value value);
/// "X: f32[1,64,20,20], scales: f32[4] -> Y: f32[1,64,40,40]".
std::string describeOperands(const onnx::OpSchema *schema,
                             llvm::ArrayRef<mlir::Value> inputs,
                             llvm::ArrayRef<mlir::Type> outputs);

/// The body of a function operator, for inputs of these types, or sequences of tensors
/// of these elements; nullopt if it has none.
std::optional<onnx::FunctionProto>
functionBody(const onnx::NodeProto &node, const onnx::OpSchema &schema,
             int64_t opset, llvm::ArrayRef<mlir::Value> inputs,
             llvm::ArrayRef<mlir::Type> elements);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_SCHEMA_H
