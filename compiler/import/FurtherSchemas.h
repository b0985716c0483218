// Definitions of operators that ONNX's library does not have.
//
// FurtherOperators.def has a line for each. Its operands, types and attributes
// become a schema in the registry of ONNX's library, so that one place checks the
// nodes of all operators. A line is written as
//
//   INGOT_OPERATOR("com.microsoft", "FusedGemm",   domain and name
//     "A:T B:T C?:T -> Y:T",                       operands and results
//     "T=float16|float",                           element types
//     "alpha:float=1 transA:int=0 num_heads:int! activation:string")
//
// An operand is `name:type`, or `name?:type` where it may be left out; the last input
// is `name...:type` where there may be any number of it, each of a type of its own. A
// type is a letter with a list of element types, or an element type. An attribute has
// a default, or must be given (`!`), or may be left out.

#ifndef INGOT_COMPILER_IMPORT_FURTHERSCHEMAS_H
#define INGOT_COMPILER_IMPORT_FURTHERSCHEMAS_H

namespace ingot {

/// Adds the schemas to the registry of ONNX's library, at the first call.
void registerFurtherSchemas();

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_FURTHERSCHEMAS_H
