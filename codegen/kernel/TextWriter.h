// Indented, wrapped lines of C.

#ifndef INGOT_CODEGEN_KERNEL_TEXTWRITER_H
#define INGOT_CODEGEN_KERNEL_TEXTWRITER_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace ingot {

/// Writes lines at the current indentation. What is too long is broken at a
/// space where C allows that: never in a directive of the preprocessor, in a
/// comment or in quotes.
class TextWriter {
public:
  explicit TextWriter(llvm::raw_ostream &os) : os(os) {}

  void line(const llvm::Twine &text);
  void blank() { os << '\n'; }
  /// `text` as // comments, one paragraph for each of its lines.
  void comment(llvm::StringRef text);
  /// The same between the marks that C had before C99, as headers have them.
  void blockComment(llvm::StringRef text);
  /// A line that ends in {, then deeper.
  void open(const llvm::Twine &text);
  /// A line between: } else {
  void middle(const llvm::Twine &text);
  /// Back, and a line that begins with }.
  void close(const llvm::Twine &text = "}");
  llvm::raw_ostream &raw() { return os; }

private:
  static constexpr size_t kColumns = 100;
  /// Columns behind an indentation.
  static size_t room(unsigned indent);

  llvm::raw_ostream &os;
  unsigned depth = 0;
};

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_TEXTWRITER_H
