// The shape and type of an operand of a custom operator that is a C function.
//
//   x: T[n, c, h + 2]    a type, or a letter for several; the size of each axis
//   x: float[s..., c]    any number of axes `s`, then one axis
//
// In an input, a size that is just a new name defines the name as the size of
// the axis. Every other formula must equal the size of its axis.

#ifndef INGOT_COMPILER_IMPORT_CUSTOM_OPERANDPATTERN_H
#define INGOT_COMPILER_IMPORT_CUSTOM_OPERANDPATTERN_H

#include "compiler/import/custom/Formula.h"

namespace ingot {

struct OperandPattern {
  std::string name, type;
  struct Axis {
    Formula size;
    /// Whether `size` is a name that stands for any number of axes.
    bool isList = false;
  };
  std::vector<Axis> axes;
};

llvm::Expected<OperandPattern> parseOperand(llvm::StringRef text);

/// Returns the number of an element type in TensorProto.DataType, given its
/// name in ONNX ("float", "uint8"); 0 if there is none.
int elementTypeOf(llvm::StringRef name);

/// A letter that stands for several element types, as in "T=float|uint8".
struct TypeLetter {
  std::string letter;
  std::vector<std::string> types;
};
/// Parses definitions of letters, separated by spaces: "T=float|uint8 I=int32".
llvm::Expected<std::vector<TypeLetter>> parseLetters(llvm::StringRef text);

/// The declaration of an attribute, such as "alpha:float=1" or "pads:ints".
struct AttributePattern {
  std::string name, type, byDefault;
  bool hasDefault = false;
};
llvm::Expected<AttributePattern> parseAttribute(llvm::StringRef text);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_CUSTOM_OPERANDPATTERN_H
