// Definitions of operators that ONNX's library does not define.
//
// FurtherOperators.def has one line for each of these operators. The operands,
// types and attributes in the line become a schema in the registry of ONNX's
// library, so that the nodes of all operators are checked in one place. The
// format of a line:
//
//   INGOT_OPERATOR("com.microsoft", "FusedGemm",   domain and name
//     "A:T B:T C?:T -> Y:T",                       operands and results
//     "T=float16|float",                           element types
//     "alpha:float=1 transA:int=0 num_heads:int! activation:string")
//
// An operand is written as `name:type`, or `name?:type` if it is optional.
// `name...:type` as the last input stands for any number of inputs, each with
// its own type. A type is either a letter that stands for a list of element
// types, or one element type. An attribute is written as `name:type=default`,
// `name:type!` if it is required, or `name:type` if it is optional and has no
// default.

#ifndef INGOT_COMPILER_IMPORT_FURTHERSCHEMAS_H
#define INGOT_COMPILER_IMPORT_FURTHERSCHEMAS_H

namespace ingot {

/// Adds the schemas of the operators in FurtherOperators.def to the registry of
/// ONNX's library; later calls do nothing.
void registerFurtherSchemas();

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_FURTHERSCHEMAS_H
