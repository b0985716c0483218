// The language in which a source is printed: C++ or C11.
//
// The printers call these functions for the few constructs that differ between
// the two languages. The text in the descriptions of targets (intrinsics, and
// what precedes the kernels) is written as C++; `spelled` converts it to the
// language of the source.

#ifndef INGOT_CODEGEN_KERNEL_LANGUAGE_H
#define INGOT_CODEGEN_KERNEL_LANGUAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace ingot {

struct Language {
  bool isC = false;

  /// Returns the first word of the declaration of a function that only this
  /// file uses; empty in C++, where an anonymous namespace makes the function
  /// local.
  llvm::StringRef internal() const { return isC ? "static " : ""; }
  /// Returns the first words of the definition of a function that the header
  /// declares.
  llvm::StringRef external() const { return isC ? "" : "extern \"C\" "; }
  llvm::StringRef null() const { return isC ? "NULL" : "nullptr"; }
  llvm::StringRef restrict() const { return isC ? "restrict " : "__restrict "; }
  llvm::StringRef alignas_() const { return isC ? "_Alignas" : "alignas"; }

  /// Returns a conversion of a number or a vector: `T(text)` in C++, `(T)text`
  /// in C.
  std::string cast(const llvm::Twine &type, llvm::StringRef text) const;
  /// Returns a conversion of a pointer to the pointer type `type`.
  std::string reinterpret(const llvm::Twine &type, llvm::StringRef text) const;
  /// Returns a conversion of a pointer to bytes or void to a pointer to
  /// `element`, which may be const. The bytes are aligned for `element`, but
  /// compilers cannot know that.
  std::string elementsAt(const llvm::Twine &element,
                         llvm::StringRef text) const;
  /// Returns a conversion of a void pointer to a pointer to `element`, for use
  /// in an initializer. In C, where the conversion is implicit, returns `text`.
  std::string fromVoid(const llvm::Twine &element, llvm::StringRef text) const;
  /// Return the text of a vector with these lanes, and of a vector of zeros.
  std::string vector(const llvm::Twine &type, llvm::StringRef lanes) const;
  std::string zero(const llvm::Twine &type) const;

  /// Returns `text`, which is C++ from a target's table or a helper function,
  /// in the language of the generated file: unchanged for C++; for C, with
  /// casts, attributes and constants converted.
  std::string spelled(llvm::StringRef text) const;
};

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_LANGUAGE_H
