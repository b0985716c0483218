// Converts ONNX names to C identifiers.
//
// The rule is documented for users, and tested:
//   1. every run of characters other than ASCII letters and digits becomes one
//      underscore; underscores at both ends are dropped;
//   2. a name that is then empty or begins with a digit gets the prefix `t`;
//   3. a name longer than 60 characters is truncated;
//   4. keywords of C and C++, and names that the generated files or common
//      system headers use (see Names.cpp), get a trailing underscore;
//   5. within a scope, a name that is taken gets `_2`, `_3`, ... in order of
//      appearance.
// So `Plus214_Output_0` stays, `/head/conv:0` is `head_conv_0`, `0` is `t0`.

#ifndef INGOT_CODEGEN_KERNEL_NAMES_H
#define INGOT_CODEGEN_KERNEL_NAMES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Converts a name by rules 1 to 4 above.
std::string toIdentifier(llvm::StringRef name);

/// Returns an identifier in capitals, as part of a macro name.
std::string toMacroPrefix(llvm::StringRef name);

/// Returns text that is valid in any comment: printable ASCII without comment
/// marks and backslashes; newlines stay.
std::string toCommentText(llvm::StringRef text);

/// Makes names unique (rule 5).
class NameScope {
public:
  /// Returns toIdentifier(name) or, if that is taken, the same with the next
  /// free number: `name_2`.
  std::string unique(llvm::StringRef name);
  /// Does the same with a name that is an identifier already, of any length.
  std::string uniqueIdentifier(llvm::StringRef base);
  /// Returns `base` followed by the next free number: t0, t1, ...
  std::string numbered(llvm::StringRef base);
  void reserve(llvm::StringRef name) { taken[name] = true; }
  /// Reserves the names of functions of the C library, which C compilers know
  /// without a declaration.
  void reserveLibrary();
  bool isTaken(llvm::StringRef name) const { return taken.lookup(name); }

private:
  llvm::StringMap<bool> taken;
  llvm::StringMap<unsigned> nextNumber;
  /// For each name that was taken: the last number that was appended to it.
  llvm::StringMap<unsigned> lastSuffix;
};

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_NAMES_H
