#ifndef INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
#define INGOT_CODEGEN_FILES_DEVICEINTERFACE_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// The layout, for a run of an entry point, of the device memory of a handle
/// (the object with which a program runs a model on a GPU) and of its staging
/// memory, a buffer on the host. Tensors of the caller that are in host memory
/// are copied through staging memory: all inputs in one copy, all outputs in
/// another.
struct DeviceLayout {
  explicit DeviceLayout(const Interface &interface);

  /// The offset of each tensor of the interface in staging memory, the buffer
  /// on the host through which tensors are copied. In device memory tensors
  /// have the same offsets, counted from `tensors`.
  llvm::SmallVector<int64_t> offsets;
  /// In staging memory, the buffer on the host through which data is copied:
  /// the start of the outputs, the start of the values that the host reads
  /// during a run (branch conditions, loop limits, sizes), and the total size.
  int64_t outputs = 0, decisions = 0, staging = 0;
  /// In device memory: the start of the tensors, and the total size.
  int64_t tensors = 0, device = 0;

  /// Returns the offset, from `decisions`, of the variables of a loop: the
  /// number of the iteration, which the body reads on the device, and, 8 bytes
  /// further, the condition for another iteration, which the body writes.
  int64_t cellOf(kernel::LoopOp loop) const;
  /// Returns the offset, in staging memory on the host, of the buffers of the
  /// kernels that the host executes for a program. Programs (the entry point,
  /// and the bodies of ifs and loops) are not recursive, so each has its own
  /// buffers.
  int64_t secondOf(kernel::ProgramOp program) const {
    return secondOffsets.lookup(program);
  }

private:
  llvm::DenseMap<mlir::Operation *, int64_t> secondOffsets;
  llvm::SmallVector<kernel::LoopOp> loops;
};

/// Bytes of memory that a handle (the object with which a program runs a model
/// on a GPU) allocates: enough for a run of any entry point, and for the state,
/// the tensors that persist between runs.
struct DeviceMemory {
  explicit DeviceMemory(llvm::ArrayRef<Interface> interfaces);
  int64_t memory = 0, staging = 0, state = 0;
};

/// Returns the offset of the first phase byte of an entry point. A phase byte
/// selects the one of the two buffers of a state value (a tensor that persists
/// between runs) that the next run reads. Returns nullopt if each state value
/// of the entry point has a single buffer.
std::optional<int64_t> firstPhaseOf(const Interface &interface);
/// Returns how many recorded launch graphs of the entry point a handle (the
/// object with which a program runs a model on a GPU) keeps: two if a state
/// value (a tensor that persists between runs) has two buffers, otherwise one.
/// Returns 0 if the host decides during a run which kernels to launch.
unsigned graphsOf(const Interface &interface);
/// Returns the name of the field of the handle (the object with which a program
/// runs a model on a GPU) that holds a recorded graph and the arguments that
/// the graph was recorded for; `number` is the index of the graph if there are
/// two.
std::string recordedText(const Interface &interface,
                         llvm::StringRef number = "0");

/// Prints those macros of the header that state the sizes of memory.
void printDeviceMacros(const Interface &interface, const DeviceMemory &memory,
                       TextWriter &out);
/// Prints the part of the header after the io structs (the arguments of runs):
/// the functions of a model whose kernels run on a GPU.
void printDeviceFunctions(llvm::ArrayRef<Interface> interfaces,
                          llvm::ArrayRef<Variant> variants, TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
