// What shapes an operator's inputs have.
//
// ONNX's own shape rules infer results; most of them look at one input and
// trust the others. OperandShapes.def says for such operators what shapes all
// inputs must have, one line an operator:
//
//   INGOT_OPERANDS("", "Conv", "X[N,group*C,...] W[M,C,...] B[M]")
//
// The importer asks before it calls an import function, which can then read
// ranks and sizes without checking them.
//
// An input is named as in ONNX's schema and has a list of sizes:
//
//   N       a size: the same wherever the letter stands in the rule
//   3       this size
//   _       any size
//   4*H     a product; a name in small letters is an attribute of the node
//           (unless it has neither a value nor a default: then any size)
//   ...     any number of further axes
//   R...    the same: the same axes wherever R... stands
//
// Shapes separated by | are alternatives for one input; rules separated by ;
// are alternatives for all of them. A rule that begins with `name=number:` is
// for nodes whose attribute has this value, or has none and the number is 0; a value
// that no rule is for is an error.
// Absent inputs fit everything.

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

/// An input that a node has.
struct OperandShape {
  llvm::StringRef name;
  kernel::Dims shape;
};

/// Two sizes that a rule needs to be equal, of which one is known only at run time.
using SizePairs = std::vector<std::pair<kernel::Dim, kernel::Dim>>;

/// Returns the value of an attribute, none if it has neither value nor default.
using AttributeValue =
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef name)>;

/// Returns the rule of an operator; empty if it has none.
llvm::StringRef operandRule(llvm::StringRef domain, llvm::StringRef name);

struct OperandMismatch {
  /// "the input `B` has the shape [1,6,8], but must be [D,8*H] with D=1, H=4".
  std::string message;
  /// All inputs of the rule that comes closest.
  std::string rule;
};

/// Returns how the inputs contradict `rule`, none if they fit it. With `needed`, sizes
/// known only at run time that would fit if they were something else are no
/// contradiction: what they have to be is added to it.
std::optional<OperandMismatch>
checkOperandShapes(llvm::StringRef rule, llvm::ArrayRef<OperandShape> inputs,
                   AttributeValue attribute, SizePairs *needed = nullptr);

/// Returns what is wrong with the text of a rule, or nothing. `names` are the
/// inputs of the operator, `attributes` its attributes.
std::string checkRuleText(llvm::StringRef rule,
                          llvm::ArrayRef<std::string> names,
                          llvm::ArrayRef<std::string> attributes);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_OPERANDSHAPES_H
