// Memory that lives from run to run, as C.
//
// The caller owns it and passes it as a field of the io struct; on a device the handle has
// it, and on the host the bytes that say which of two places counts. All zeros are a state:
// that of numbers that are zero. A function for each value says where it is, for other
// values to begin with, and for whoever wants to keep one.

#ifndef INGOT_CODEGEN_FILES_STATEPRINTER_H
#define INGOT_CODEGEN_FILES_STATEPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Prints <NAME>_STATE_BYTES and its alignment for the header, if there is a state.
void printStateMacros(llvm::ArrayRef<Interface> interfaces, TextWriter &out);
/// Declares the functions that say where each value is.
void printStateDeclarations(llvm::ArrayRef<Interface> interfaces,
                            TextWriter &out);
/// Defines them.
void printStateFunctions(llvm::ArrayRef<Interface> interfaces, TextWriter &out);

/// Where a tensor is in the state, in C; `state` names its first byte, `phases` the first of
/// the bytes that say which of two places counts.
std::string slotText(const InterfaceTensor::Slots &slots,
                     llvm::StringRef phases);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_STATEPRINTER_H
