#ifndef INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
#define INGOT_CODEGEN_FILES_DEVICEINTERFACE_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Where a handle has what, in its memory on the device and in its staging memory on the
/// host. Tensors of the host's memory pass through both: all inputs in one copy, all
/// outputs in another.
struct DeviceLayout {
  explicit DeviceLayout(const Interface &interface);

  /// Offsets in staging, by position among the interface's tensors. On the device the
  /// same, behind the arena.
  llvm::SmallVector<int64_t> offsets;
  /// Where outputs begin in staging, and its size.
  int64_t outputs = 0, staging = 0;
  /// Where tensors begin on the device, and how much of it a handle takes.
  int64_t tensors = 0, device = 0;
};

/// The part of the header between the io struct and the C++ wrapper: what is stated of
/// memory, and the functions of a model whose kernels run on a device.
void printDeviceMacros(const Interface &interface, const DeviceLayout &layout,
                       TextWriter &out);
void printDeviceFunctions(const Interface &interface,
                          llvm::ArrayRef<Variant> variants, TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_DEVICEINTERFACE_H
