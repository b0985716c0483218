// Prints the state, memory that persists between runs, as C++.
//
// On a CPU, the caller owns the state and passes it in a field of the io
// struct, the argument of a run. On a GPU, the handle (the object with
// which a program runs a model) owns the state; the phase bytes, which select
// one of two buffers of a value, are in host memory. All zeros is a valid
// initial state. For each value, a generated function returns its address, so
// that the caller can set another initial value or save the state.

#ifndef INGOT_CODEGEN_FILES_STATEPRINTER_H
#define INGOT_CODEGEN_FILES_STATEPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Prints the macros <NAME>_STATE_BYTES and <NAME>_STATE_ALIGN of the header,
/// if tensors persist between runs (the state) and the caller passes it.
void printStateMacros(llvm::ArrayRef<Interface> interfaces, TextWriter &out);

/// How a function finds the state (the memory for tensors that persist between
/// runs).
struct StateOwner {
  /// The parameter of the function.
  std::string parameter;
  /// A statement that checks the parameter; empty if there is nothing to check.
  std::string check;
  /// The expressions for the address of the state, and for the array of bytes
  /// that select one of two buffers of a value.
  std::string memory, phases;
  /// A sentence on the address that the function returns, preceded by a space,
  /// or empty.
  std::string note;
};
/// The caller passes the state.
StateOwner callersState(const Language &language);
/// The caller passes the handle (the object with which a program runs a model
/// on a GPU), which owns the state.
StateOwner handlesState(const Interface &interface);

/// Print the declarations and definitions of the functions that return the
/// address of each value of the state.
void printStateDeclarations(llvm::ArrayRef<Interface> interfaces,
                            const StateOwner &owner, TextWriter &out);
void printStateFunctions(llvm::ArrayRef<Interface> interfaces,
                         const StateOwner &owner, TextWriter &out);

/// Returns the C expression for the offset of a tensor in the state, the memory
/// for tensors that persist between runs. `phases` is the name of the array of
/// bytes that select one of two buffers of such a tensor.
std::string slotText(const InterfaceTensor::Slots &slots,
                     llvm::StringRef phases);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_STATEPRINTER_H
