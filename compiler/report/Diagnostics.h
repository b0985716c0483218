// Diagnostics for the user.
//
// A diagnostic is data: an id from Diagnostics.def, a sentence, and the file
// and ONNX node that it concerns. Diagnostics are collected, not thrown, so
// that one run lists all errors. They are printed as text or JSON at the end;
// the most severe class determines the exit code. Diagnostics with the same
// text for many nodes are merged into one with a count.

#ifndef INGOT_COMPILER_REPORT_DIAGNOSTICS_H
#define INGOT_COMPILER_REPORT_DIAGNOSTICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>
#include <vector>

namespace ingot {

enum class DiagnosticId {
#define INGOT_DIAGNOSTIC(NAME, ID, CLASS, CAUSE, EXAMPLE, FIX) NAME,
#include "compiler/report/Diagnostics.def"
#undef INGOT_DIAGNOSTIC
};

enum class DiagnosticClass {
  Usage,
  Invalid,
  Unsupported,
  Comparison,
  Internal,
  Warning
};

enum ExitCode : int {
  Success = 0,
  InvalidInput = 1,
  WrongUsage = 2,
  Unsupported = 3,
  ComparisonFailed = 4,
  InternalError = 70
};

struct DiagnosticInfo {
  DiagnosticId id;
  llvm::StringRef name;
  DiagnosticClass kind;
  /// The texts of `ingot --explain ID`.
  llvm::StringRef cause, example, fix;

  /// Returns the first sentence of the cause.
  llvm::StringRef summary() const;
};
const DiagnosticInfo &infoOf(DiagnosticId id);
llvm::ArrayRef<DiagnosticInfo> allDiagnostics();
ExitCode exitCodeOf(DiagnosticClass kind);
/// Returns the meaning of the exit code of this class.
llvm::StringRef meaningOf(DiagnosticClass kind);
/// Returns the name of the class in JSON output.
llvm::StringRef nameOf(DiagnosticClass kind);

struct Diagnostic {
  DiagnosticId id = DiagnosticId::Internal;
  std::string message;
  /// The file at fault. If empty, Diagnostics fills in the current file, except
  /// for errors of the command line.
  std::string file;
  /// The node at fault, for example "node #57 `/backbone/up/Resize` (opset
  /// 18)"; empty if the diagnostic does not concern a node.
  std::string node;
  /// The node's index, name and operator, for JSON output; -1 and empty if the
  /// diagnostic does not concern a node.
  int64_t nodeIndex = -1;
  std::string nodeName, operatorName;
  /// The tensors of the node, for example "X: f32[1,64,20,20] -> Y:
  /// f32[1,64,40,40]".
  std::string operands;
  std::string supported;
  std::vector<std::string> hints;
  /// The number of nodes that the diagnostic concerns; the fields above
  /// describe the first of them.
  size_t count = 1;
};

class Diagnostics {
public:
  /// Sets the current file: the file at fault of diagnostics that name none.
  void setFile(llvm::StringRef file) { currentFile = file.str(); }
  llvm::StringRef file() const { return currentFile; }

  void report(Diagnostic diagnostic);
  void report(DiagnosticId id, const llvm::Twine &message,
              const llvm::Twine &hint = "");
  /// Reports an error in `file`, which need not be the current one.
  void reportFile(DiagnosticId id, llvm::StringRef file,
                  const llvm::Twine &message, const llvm::Twine &hint = "");

  /// Whether nothing except warnings was reported.
  bool empty() const { return all.empty(); }
  /// Returns the number of reported diagnostics without warnings, including
  /// those that list() leaves out.
  size_t size() const { return reported; }
  /// Returns the diagnostics to print: up to 100 with different texts per id.
  llvm::ArrayRef<Diagnostic> list() const { return all; }
  bool has(DiagnosticId id) const;
  void clear();
  /// Returns the first 100 warnings, which do not stop the compilation.
  llvm::ArrayRef<Diagnostic> warnings() const { return odd; }

  /// Returns the exit code of the most severe class among the diagnostics, in
  /// the order 70, 2, 1, 4, 3; 0 if there are none except warnings.
  ExitCode exitCode() const;
  void print(llvm::raw_ostream &os, bool color = false) const;
  void printJson(llvm::raw_ostream &os) const;

private:
  std::vector<Diagnostic> all, odd;
  /// Maps the text of each diagnostic about a node to its index in `all`, so
  /// that equal texts are merged.
  llvm::StringMap<size_t> ofNodes;
  size_t reported = 0;
  /// For an id: the number of its diagnostics in `all`, and the number of those
  /// left out, since a damaged model may have a different error in each of a
  /// million nodes.
  struct Kind {
    size_t kept = 0, left = 0;
  };
  std::map<DiagnosticId, Kind> kinds;
  std::string currentFile;
};

/// Makes `text` safe for a terminal: escapes control characters and invalid
/// UTF-8, and shortens very long names in the middle.
std::string printable(llvm::StringRef text, size_t limit = 120);

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_DIAGNOSTICS_H
