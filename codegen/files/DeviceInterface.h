#ifndef INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
#define INGOT_CODEGEN_FILES_DEVICEINTERFACE_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// The layout of a handle's device memory, and of its staging memory on the
/// host, for a run of an entry point. Tensors in host memory pass through both:
/// all inputs in one copy, all outputs in another.
struct DeviceLayout {
  explicit DeviceLayout(const Interface &interface);

  /// Offsets in staging memory, by index of the interface's tensors. In device
  /// memory they are the same, relative to `tensors`, after the arena.
  llvm::SmallVector<int64_t> offsets;
  /// In staging memory: the start of the outputs, the start of the values that
  /// the host decides by, and the total size.
  int64_t outputs = 0, decisions = 0, staging = 0;
  /// In device memory: the start of the tensors, and the total size.
  int64_t tensors = 0, device = 0;

  /// Returns the offset, in the values that the host decides by, of a loop's
  /// variables: the number of its iteration and, 8 bytes further, its
  /// condition. On the device, the body reads the first and writes the second.
  int64_t cellOf(kernel::LoopOp loop) const;
  /// Returns the offset of the memory for host kernels of a program, after the
  /// values that the host decides by. Programs are not recursive, so each has
  /// its own.
  int64_t nearOf(kernel::ProgramOp program) const {
    return near.lookup(program);
  }

private:
  llvm::DenseMap<mlir::Operation *, int64_t> near;
  llvm::SmallVector<kernel::LoopOp> loops;
};

/// Bytes that a handle allocates: enough for a run of any entry point, and for
/// the state that persists between runs.
struct DeviceMemory {
  explicit DeviceMemory(llvm::ArrayRef<Interface> interfaces);
  int64_t memory = 0, staging = 0, state = 0;
};

/// Returns the offset of the first phase byte, which selects one of two buffers
/// of a state value, if a state value of the entry point has two.
std::optional<int64_t> firstPhaseOf(const Interface &interface);
/// Returns how many recorded graphs of the entry point a handle keeps: one
/// for each of two phases; 0 if the host decides during a run.
unsigned graphsOf(const Interface &interface);
/// Returns the field of the handle with a recorded graph and the arguments that
/// it was recorded for; `number` distinguishes several graphs.
std::string recordedText(const Interface &interface,
                         llvm::StringRef number = "0");

/// Prints the macros of the header that state memory sizes.
void printDeviceMacros(const Interface &interface, const DeviceMemory &memory,
                       TextWriter &out);
/// Prints the part of the header after the io structs: the functions of a model
/// whose kernels run on a GPU.
void printDeviceFunctions(llvm::ArrayRef<Interface> interfaces,
                          llvm::ArrayRef<Variant> variants, TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
