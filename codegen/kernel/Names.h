// From ONNX names to C identifiers.
//
// The rule, promised to users (a test holds it):
//   1. every run of characters other than ASCII letters and digits becomes one
//      underscore; underscores at both ends go;
//   2. a name that is then empty or begins with a digit gets the prefix `t`;
//   3. what is longer than 60 characters is cut there;
//   4. keywords of C and C++, and names that the generated files or usual
//   system
//      headers take (see Names.cpp), get a trailing underscore;
//   5. within a scope a name that is taken gets `_2`, `_3`, ... in the order of
//      appearance.
// So `Plus214_Output_0` stays, `/head/conv:0` is `head_conv_0`, `0` is `t0`.

#ifndef INGOT_CODEGEN_KERNEL_NAMES_H
#define INGOT_CODEGEN_KERNEL_NAMES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Rules 1 to 4.
std::string toIdentifier(llvm::StringRef name);

/// As part of a macro: an identifier in capitals.
std::string toMacroPrefix(llvm::StringRef name);

/// Text that may stand in any comment: printable ASCII, no comment marks, no
/// backslash; newlines stay.
std::string toCommentText(llvm::StringRef text);

/// Gives each name once (rule 5).
class NameScope {
public:
  /// `name` or, when taken, the next free numbered form of it. The name is
  /// passed through toIdentifier.
  std::string unique(llvm::StringRef name);
  /// `base` followed by the next free number: t0, t1, ...
  std::string numbered(llvm::StringRef base);
  void reserve(llvm::StringRef name) { taken[name] = true; }
  bool isTaken(llvm::StringRef name) const { return taken.lookup(name); }

private:
  llvm::StringMap<bool> taken;
  llvm::StringMap<unsigned> nextNumber;
  /// The last number behind a name that others had already.
  llvm::StringMap<unsigned> lastSuffix;
};

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_NAMES_H
