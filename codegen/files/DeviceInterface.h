#ifndef INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
#define INGOT_CODEGEN_FILES_DEVICEINTERFACE_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Where a run of an entry point has what, in a handle's memory on the device and in its
/// staging memory on the host. Tensors of the host's memory pass through both: all inputs
/// in one copy, all outputs in another.
struct DeviceLayout {
  explicit DeviceLayout(const Interface &interface);

  /// Offsets in staging, by position among the interface's tensors. On the device the
  /// same, behind the arena.
  llvm::SmallVector<int64_t> offsets;
  /// Where outputs begin in staging; where what the host decides by does, behind them; and
  /// the size of all.
  int64_t outputs = 0, decisions = 0, staging = 0;
  /// Where tensors begin on the device, and how much of it a run takes.
  int64_t tensors = 0, device = 0;

  /// Of what the host decides by, a loop has the number of its iteration, and 8 bytes
  /// further whether it goes on, from this byte on. On the device the body reads one and
  /// writes the other.
  int64_t cellOf(kernel::LoopOp loop) const;
  /// Where a program's memory of kernels of the host begins, behind what the host decides by.
  /// Each program has its own: none runs within itself.
  int64_t nearOf(kernel::ProgramOp program) const {
    return near.lookup(program);
  }

private:
  llvm::DenseMap<mlir::Operation *, int64_t> near;
  llvm::SmallVector<kernel::LoopOp> loops;
};

/// Bytes that a handle allocates: what a run of any entry point takes, and what lives from
/// run to run.
struct DeviceMemory {
  explicit DeviceMemory(llvm::ArrayRef<Interface> interfaces);
  int64_t memory = 0, staging = 0, state = 0;
};

/// The byte that says which of two places counts for a value of the state, if the entry point
/// has a value with two.
std::optional<int64_t> firstPhaseOf(const Interface &interface);
/// How many graphs of the entry point a handle keeps: one for each of two places; none where
/// the host decides during a run.
unsigned graphsOf(const Interface &interface);
/// The field of the handle with a recorded graph and what it was recorded for, by its number
/// where there are several.
std::string recordedText(const Interface &interface,
                         llvm::StringRef number = "0");

/// Prints what the header states of memory.
void printDeviceMacros(const Interface &interface, const DeviceMemory &memory,
                       TextWriter &out);
/// Prints the part of the header behind the io structs: the functions of a model whose
/// kernels run on a device.
void printDeviceFunctions(llvm::ArrayRef<Interface> interfaces,
                          llvm::ArrayRef<Variant> variants, TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
