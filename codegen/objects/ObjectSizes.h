// Measures the memory that a compiled model needs:
//
//   model.o (a section for each function), model.su
//     -> bytes of code and of constants, and for each function its code and its
//        stack including all functions that it calls
//
// Functions have plain names, without namespaces and parameters. A compiler's
// clones of a function (for constant arguments, for example) count as that
// function.

#ifndef INGOT_CODEGEN_OBJECTS_OBJECTSIZES_H
#define INGOT_CODEGEN_OBJECTS_OBJECTSIZES_H

#include "codegen/Codegen.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

struct ObjectSizes {
  struct Function {
    int64_t code = 0;  ///< bytes, literals included
    int64_t frame = 0; ///< bytes of the function's own stack frame
    int64_t stack = 0; ///< bytes of stack, including the deepest chain of calls
  };

  /// Bytes of code, of read-only data, of initialized and of zero-initialized
  /// writable data.
  int64_t code = 0, constants = 0, data = 0, zeroed = 0;
  llvm::StringMap<Function> functions;
  /// Symbols that the object uses but does not define.
  std::vector<std::string> undefined;

  int64_t flash() const { return code + constants + data; }
  /// Returns the flash bytes of the object, and the stack bytes of the entry
  /// point of the model `name` that needs the most stack.
  MeasuredBytes measured(llvm::StringRef name) const {
    int64_t stack = 0;
    for (const auto &entry : functions)
      if (entry.first().starts_with((name + "_").str()) &&
          entry.first().ends_with("_run"))
        stack = std::max(stack, entry.second.stack);
    return {flash(), stack};
  }
  /// Returns the sizes of a function; zeros if the function was inlined.
  Function function(llvm::StringRef name) const {
    return functions.lookup(name);
  }
};

/// Reads the sizes of an object. `stackUsage` is the file that compilers write
/// for -fstack-usage. Functions that it does not list, such as those of the
/// compiler's library, have the frame size that the object's debug frame tables
/// state, if any.
llvm::Expected<ObjectSizes> readObjectSizes(llvm::StringRef object,
                                            llvm::StringRef stackUsage);

/// Returns the bytes of the stack frames of all functions together. This is an
/// upper bound of the stack, since no generated function is recursive.
llvm::Expected<int64_t> readFrameSum(llvm::StringRef stackUsage);

/// Returns the compiler flags that make an object and a stack usage file
/// suitable for readObjectSizes.
llvm::ArrayRef<llvm::StringRef> measuringFlags();

/// Measures several objects together. The first of `objects` was compiled with
/// measuringFlags(), and `stackUsage` is its stack usage file. If the target
/// has no operating system, the measurement includes the functions of the C
/// library and of the compiler's library that the objects call. Temporary files
/// are written to `folder`.
llvm::Expected<ObjectSizes> measureObjects(const TargetDescription &target,
                                           llvm::ArrayRef<std::string> objects,
                                           llvm::StringRef stackUsage,
                                           llvm::StringRef folder);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_OBJECTSIZES_H
