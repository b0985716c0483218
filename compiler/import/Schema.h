// Queries of ONNX's operator definitions.
//
// Checks whether a node conforms to its operator's schema: arity, attributes,
// operand types and shapes. Wraps the onnx library and catches all its
// exceptions.

#ifndef INGOT_COMPILER_IMPORT_SCHEMA_H
#define INGOT_COMPILER_IMPORT_SCHEMA_H

#include "compiler/import/OperandShapes.h"
#include "compiler/report/Diagnostics.h"
#include "mlir/IR/Value.h"
#include "onnx/defs/schema.h"

namespace ingot {

/// Returns a domain by its canonical name: "" for both names of ONNX's own
/// domain, "" and "ai.onnx".
llvm::StringRef canonicalDomain(llvm::StringRef domain);
/// Returns the newest opset that Ingot knows of a domain; 0 if the domain is
/// unknown.
int64_t newestOpset(llvm::StringRef domain);
/// Whether a domain is a well-known vendor domain: a model that uses its
/// operators is valid, even if Ingot does not know an operator.
bool isVendorDomain(llvm::StringRef domain);

/// The oldest opset of ONNX's own domain that can be imported.
inline constexpr int64_t oldestOpset = 6;

/// Returns the schema that applies to an operator at `opset`; null if there is
/// none.
const onnx::OpSchema *lookupSchema(llvm::StringRef domain, llvm::StringRef name,
                                   int64_t opset);
/// Returns the oldest opset of the domain that has the operator; 0 if there is
/// none.
int64_t firstOpset(llvm::StringRef domain, llvm::StringRef name);

/// Returns the names of all operators of a domain: of those with a schema, from
/// ONNX or from FurtherOperators.def, and of those that have an import
/// function.
std::vector<std::string> operatorNames(llvm::StringRef domain);

struct OperatorInfo {
  std::string domain, name;
  /// Whether ONNX defines the operator as a function of other operators.
  bool isFunction = false;
  /// The opsets that introduced or changed the operator, in order, and the
  /// newest opset of its domain.
  std::vector<int64_t> versions;
  int64_t newest = 0;
  /// The element types that Ingot supports for the operands in the newest
  /// opset, grouped by operands of the same type, such as {"X, Y", "float32,
  /// float64"}.
  std::vector<std::pair<std::string, std::string>> types;
};
/// Returns every operator of ONNX and of FurtherOperators.def except deprecated
/// ones, sorted by domain and name.
std::vector<OperatorInfo> standardOperators();

struct SchemaError {
  DiagnosticId id;
  std::string message, supported;
};

/// Checks the number of inputs and outputs of a node, and its attributes. This
/// needs no types. Returns the first error; nullopt if there is none.
std::optional<SchemaError> checkForm(const onnx::NodeProto &node,
                                     const onnx::OpSchema &schema);
/// Returns an error if an input that the operator requires is not given.
/// `isGiven` has an entry per input.
std::optional<SchemaError> checkGiven(const onnx::OpSchema &schema,
                                      llvm::ArrayRef<bool> isGiven);
/// Returns pairs of sizes that must be equal for the inputs of a node to match
/// the rule in OperandShapes.def; an empty list if the inputs cannot match.
SizePairs neededSizes(const onnx::NodeProto &node, const onnx::OpSchema &schema,
                      llvm::ArrayRef<mlir::Value> inputs);
/// Checks the element types and shapes of a node's inputs, which are null where
/// absent. Stores in `outputs` the types that ONNX infers for the results,
/// empty where it infers none. Returns the first error; nullopt if there is
/// none.
std::optional<SchemaError> checkTypes(const onnx::NodeProto &node,
                                      const onnx::OpSchema &schema,
                                      llvm::ArrayRef<mlir::Value> inputs,
                                      std::vector<onnx::TypeProto> &outputs);

/// Returns the value's type as an ONNX TypeProto.
onnx::TypeProto typeProto(mlir::Value value);
/// Returns the names and types of a node's operands and results for
/// diagnostics, such as "X: f32[1,64,20,20], scales: f32[4] -> Y:
/// f32[1,64,40,40]".
std::string describeOperands(const onnx::OpSchema *schema,
                             llvm::ArrayRef<mlir::Value> inputs,
                             llvm::ArrayRef<mlir::Type> outputs);

/// Returns the function body by which ONNX defines the operator of `node`, for
/// the types of `inputs`; nullopt if ONNX does not define it as a function.
/// `elements` has the element type of each input that is a sequence.
std::optional<onnx::FunctionProto>
functionBody(const onnx::NodeProto &node, const onnx::OpSchema &schema,
             int64_t opset, llvm::ArrayRef<mlir::Value> inputs,
             llvm::ArrayRef<mlir::Type> elements);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_SCHEMA_H
