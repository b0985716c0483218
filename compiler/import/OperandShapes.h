// Rules for the shapes of an operator's inputs.
//
// ONNX's own shape rules infer result shapes; most of these rules look at one
// input and do not check the others. For such operators, OperandShapes.def
// specifies the shapes of all inputs, one line per operator:
//
//   INGOT_OPERANDS("", "Conv", "X[N,group*C,...] W[M,C,...] B[M]")
//
// The importer checks the rule before it calls the import function, which can
// then use ranks and sizes without checking them.
//
// An input is written as its name in ONNX's schema and a list of sizes:
//
//   N       a size: the same wherever the letter occurs in the rule
//   3       this size
//   _       any size
//   4*H     a product; a lowercase name is an attribute of the node
//           (any size if the attribute has neither a value nor a default)
//   ...     any number of further axes
//   R...    any number of axes, the same wherever R... occurs
//
// Shapes separated by | are alternatives for one input; rules separated by ;
// are alternatives for all inputs. A rule that begins with `name=number:`
// applies to nodes whose attribute has this value (an attribute without a value
// counts as 0). A value for which there is no rule is an error. Absent inputs
// match everything.

#ifndef INGOT_COMPILER_IMPORT_OPERANDSHAPES_H
#define INGOT_COMPILER_IMPORT_OPERANDSHAPES_H

#include "dialects/kernel/Sizes.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// The name and shape of one input of a node. Absent inputs have no entry.
struct OperandShape {
  llvm::StringRef name;
  kernel::Dims shape;
};

/// Pairs of sizes that a rule requires to be equal, where at least one is
/// dynamic.
using SizePairs = std::vector<std::pair<kernel::Dim, kernel::Dim>>;

/// Returns the value of an attribute; nullopt if it has neither a value nor a
/// default.
using AttributeValue =
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef name)>;

/// Returns the rule for the operand shapes of an operator; empty if there is
/// none.
llvm::StringRef operandRule(llvm::StringRef domain, llvm::StringRef name);

struct OperandMismatch {
  /// The text of the diagnostic, such as "the input `B` has the shape [1,6,8],
  /// but must be [D,8*H] with D=1, H=4".
  std::string message;
  /// The alternative of the rule that matches the most inputs, as text.
  std::string rule;
};

/// Returns how the inputs violate `rule`; nullopt if they match it. If `needed`
/// is given, dynamic sizes that may match are accepted, and the pairs of sizes
/// that must be equal for a match are stored in `needed`.
std::optional<OperandMismatch>
checkOperandShapes(llvm::StringRef rule, llvm::ArrayRef<OperandShape> inputs,
                   AttributeValue attribute, SizePairs *needed = nullptr);

/// Returns a description of an error in the text of a rule, or an empty string.
/// `names` are the inputs of the operator, `attributes` its attributes.
std::string checkRuleText(llvm::StringRef rule,
                          llvm::ArrayRef<std::string> names,
                          llvm::ArrayRef<std::string> attributes);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_OPERANDSHAPES_H
