// Modules: what a compiler makes of a source alone for programs in other
// languages, which load it.

#ifndef INGOT_TARGETS_MODULEFORM_H
#define INGOT_TARGETS_MODULEFORM_H

#include "targets/TargetDescription.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {

struct ModuleForm {
  /// The file extension of modules.
  llvm::StringRef extension;
  /// The C++ text of the exports, after the functions of a source. {name} and
  /// {macro} are the prefixes of the functions and macros of an entry point.
  llvm::StringRef text;
  /// The flags that link objects; {stack} is the bytes of stack.
  llvm::SmallVector<llvm::StringRef, 4> flags;
  /// Writes an object with `bytes` bytes that `payload` writes, aligned to
  /// `align`, and one hidden symbol: objects are not ELF files, and are not
  /// measured.
  void (*writeDataObject)(
      llvm::StringRef symbol, int64_t bytes, uint32_t align,
      llvm::raw_ostream &os,
      llvm::function_ref<void(llvm::raw_ostream &)> payload);
};

/// Returns the form of the modules of a target, or null if there is none.
const ModuleForm *moduleForm(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_MODULEFORM_H
