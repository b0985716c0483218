// Writes indented, wrapped lines of C++ or C.

#ifndef INGOT_CODEGEN_KERNEL_TEXTWRITER_H
#define INGOT_CODEGEN_KERNEL_TEXTWRITER_H

#include "codegen/kernel/Language.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace ingot {

/// Writes lines at the current indentation. Breaks long lines at a space where
/// C++ allows it: never in a preprocessor directive, a comment or quotes.
class TextWriter {
public:
  explicit TextWriter(llvm::raw_ostream &os, Language language = {})
      : language(language), os(os) {}

  const Language language;

  void line(const llvm::Twine &text);
  void blank() { os << '\n'; }
  /// Writes `text` as // comments, one paragraph for each of its lines.
  void comment(llvm::StringRef text);
  /// Writes `text` as /* */ comments, for headers that C compilers read.
  void blockComment(llvm::StringRef text);
  /// Writes a line that ends in {, and indents.
  void open(const llvm::Twine &text);
  /// Writes a line between two blocks: } else {
  void middle(const llvm::Twine &text);
  /// Unindents, and writes a line that begins with }.
  void close(const llvm::Twine &text = "}");
  llvm::raw_ostream &raw() { return os; }

private:
  static constexpr size_t kColumns = 100;
  /// Returns the number of columns that are left for text after an indentation.
  static size_t room(unsigned indent);

  llvm::raw_ostream &os;
  unsigned depth = 0;
};

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_TEXTWRITER_H
