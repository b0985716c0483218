// The shape and type of an operand of a C function, as declared.
//
//   x: T[n, c, h + 2]    a type or a letter for several; the size of each axis
//   x: float[s..., c]    any number of axes, then one
//
// In an input, a name that stands alone and is new gets the size of its axis.
// Every other formula must equal it.

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

/// Returns the ONNX element type of this name ("float", "uint8"); 0 if there is
/// none.
int elementTypeOf(llvm::StringRef name);

/// A letter for several element types: "T=float|uint8".
struct TypeLetter {
  std::string letter;
  std::vector<std::string> types;
};
/// Reads letters that are separated by spaces.
llvm::Expected<std::vector<TypeLetter>> parseLetters(llvm::StringRef text);

/// An attribute of the operator: "alpha:float=1", "pads:ints".
struct AttributePattern {
  std::string name, type, byDefault;
  bool hasDefault = false;
};
llvm::Expected<AttributePattern> parseAttribute(llvm::StringRef text);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_CUSTOM_OPERANDPATTERN_H
