// Modules: files that a compiler makes of a generated source alone, and that
// programs in other languages load.

#ifndef INGOT_TARGETS_MODULEFORM_H
#define INGOT_TARGETS_MODULEFORM_H

#include "targets/TargetDescription.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {

struct ModuleForm {
  /// The file extension of modules.
  llvm::StringRef extension;
  /// The C++ text of the exported functions, which is printed after the
  /// functions of a source. {name} and {macro} stand for the prefixes of the
  /// functions and macros of an entry point.
  llvm::StringRef text;
  /// The flags for linking objects into a module. {stack} stands for the stack
  /// size in bytes.
  llvm::SmallVector<llvm::StringRef, 4> flags;
  /// Writes an object file that contains `bytes` bytes, aligned to `align`, and
  /// the hidden symbol `symbol` at their beginning; `payload` writes the bytes.
  /// Objects of these targets are not ELF files, so their sizes are not
  /// measured.
  void (*writeDataObject)(
      llvm::StringRef symbol, int64_t bytes, uint32_t align,
      llvm::raw_ostream &os,
      llvm::function_ref<void(llvm::raw_ostream &)> payload);
};

/// Returns how a target's sources become modules (files that programs in other
/// languages load); null if the target has no modules.
const ModuleForm *moduleForm(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_MODULEFORM_H
