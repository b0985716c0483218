// Prints the state, memory that persists between runs, as C++.
//
// The caller owns it and passes it as a field of the io struct; for a GPU the
// handle owns it, with the phase bytes, which select one of two buffers, on the
// host. All zeros is a valid initial state, in which all numbers are zero. A
// function for each value returns its address, for other initial values, and
// for saving a state.

#ifndef INGOT_CODEGEN_FILES_STATEPRINTER_H
#define INGOT_CODEGEN_FILES_STATEPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Prints <NAME>_STATE_BYTES and its alignment for the header, if there is a state.
void printStateMacros(llvm::ArrayRef<Interface> interfaces, TextWriter &out);
/// Declares the functions that return the address of each value.
void printStateDeclarations(llvm::ArrayRef<Interface> interfaces,
                            TextWriter &out);
/// Defines these functions.
void printStateFunctions(llvm::ArrayRef<Interface> interfaces, TextWriter &out);

/// Returns the offset of a tensor in the state, in C; `state` names its first
/// byte, `phases` the first of the phase bytes.
std::string slotText(const InterfaceTensor::Slots &slots,
                     llvm::StringRef phases);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_STATEPRINTER_H
