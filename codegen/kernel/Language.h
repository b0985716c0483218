// The language in which a source is printed: C++11, or C11.
//
// The printers ask for the few forms that differ. Text of targets' tables
// (prologues, intrinsics) is written as C++; `spelled` returns it in the
// language.

#ifndef INGOT_CODEGEN_KERNEL_LANGUAGE_H
#define INGOT_CODEGEN_KERNEL_LANGUAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace ingot {

struct Language {
  bool isC = false;

  /// Begins the declaration of what only this file uses: in C++, an anonymous
  /// namespace makes it local.
  llvm::StringRef internal() const { return isC ? "static " : ""; }
  /// Begins the definition of what the header declares.
  llvm::StringRef external() const { return isC ? "" : "extern \"C\" "; }
  llvm::StringRef null() const { return isC ? "NULL" : "nullptr"; }
  llvm::StringRef restrict() const { return isC ? "restrict " : "__restrict "; }
  llvm::StringRef alignas_() const { return isC ? "_Alignas" : "alignas"; }

  /// Returns a conversion of a number or a vector: `T(text)` or `(T)text`.
  std::string cast(const llvm::Twine &type, llvm::StringRef text) const;
  /// Returns a conversion of a pointer to the pointer type `type`.
  std::string reinterpret(const llvm::Twine &type, llvm::StringRef text) const;
  /// Returns a pointer to bytes or void as a pointer to `element` (which may be
  /// const). The bytes are aligned for it, which compilers cannot see.
  std::string elementsAt(const llvm::Twine &element,
                         llvm::StringRef text) const;
  /// Returns a void pointer as a pointer to `element`, in an initializer.
  std::string fromVoid(const llvm::Twine &element, llvm::StringRef text) const;
  /// Returns the vector of these lanes, or of zeros.
  std::string vector(const llvm::Twine &type, llvm::StringRef lanes) const;
  std::string zero(const llvm::Twine &type) const;

  /// Returns C++ text of a target's table, or of a helper, in the language:
  /// casts, attributes and constants are converted.
  std::string spelled(llvm::StringRef text) const;
};

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_LANGUAGE_H
