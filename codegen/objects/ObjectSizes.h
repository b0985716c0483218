// What a compiled model takes of a machine.
//
//   model.o (a section for each function), model.su
//     -> bytes of code and of constants, and for each function its code and the
//        stack that it takes with all that it calls
//
// Functions go by their plain names, without namespaces and parameters; copies
// that a compiler made of one (for constant arguments, say) count with it.

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
    int64_t frame = 0; ///< bytes of stack of its own
    int64_t stack = 0; ///< with the deepest of its calls
  };

  /// Bytes that are executed, only read, written with a first value, and
  /// written but zero at first.
  int64_t code = 0, constants = 0, data = 0, zeroed = 0;
  llvm::StringMap<Function> functions;
  /// What somebody else has to provide.
  std::vector<std::string> undefined;

  int64_t flash() const { return code + constants + data; }
  /// Of the model whose names begin with `name`: the deepest of its entry points.
  MeasuredBytes measured(llvm::StringRef name) const {
    int64_t stack = 0;
    for (const auto &entry : functions)
      if (entry.first().starts_with((name + "_").str()) &&
          entry.first().ends_with("_run"))
        stack = std::max(stack, entry.second.stack);
    return {flash(), stack};
  }
  /// Zeros for what the compiler has inlined.
  Function function(llvm::StringRef name) const {
    return functions.lookup(name);
  }
};

/// `stackUsage` is the file that compilers write for -fstack-usage. What has no
/// line there, functions of the compiler's library, has the frame that it
/// describes to debuggers, if any.
llvm::Expected<ObjectSizes> readObjectSizes(llvm::StringRef object,
                                            llvm::StringRef stackUsage);

/// What compileSource needs for that.
llvm::ArrayRef<llvm::StringRef> measuringFlags();

/// Of several objects together, the first compiled with measuringFlags().
/// Without an operating system the functions of the compiler's library that
/// they call are part of them. Scratch files go to `folder`.
llvm::Expected<ObjectSizes> measureObjects(const TargetDescription &target,
                                           llvm::ArrayRef<std::string> objects,
                                           llvm::StringRef stackUsage,
                                           llvm::StringRef folder);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_OBJECTSIZES_H
