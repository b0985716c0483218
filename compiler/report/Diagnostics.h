// What Ingot tells its users.
//
// A diagnostic is data: an id from Diagnostics.def, a sentence, and where it
// happened. They are collected, not thrown, so that one run names all faults;
// printed as text or JSON at the end; the worst class gives the exit code. What
// is said of many nodes in the same words is one diagnostic with a count.

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
/// Returns what an exit code of this class means, in words.
llvm::StringRef meaningOf(DiagnosticClass kind);
/// Returns the name of the class in JSON.
llvm::StringRef nameOf(DiagnosticClass kind);

struct Diagnostic {
  DiagnosticId id = DiagnosticId::Internal;
  std::string message;
  /// The file at fault. If it is empty, Diagnostics sets the current file, except
  /// for faults of the command line.
  std::string file;
  /// "node #57 `/backbone/up/Resize` (opset 18)"; empty if not about a node.
  std::string node;
  /// The parts of `node` for tools; -1 and empty if not about a node.
  int64_t nodeIndex = -1;
  std::string nodeName, operatorName;
  /// "X: f32[1,64,20,20] -> Y: f32[1,64,40,40]".
  std::string operands;
  std::string supported;
  std::vector<std::string> hints;
  /// How many nodes it is about; the parts above show the first of them.
  size_t count = 1;
};

class Diagnostics {
public:
  /// Diagnostics without a file of their own are about this one.
  void setFile(llvm::StringRef file) { currentFile = file.str(); }
  llvm::StringRef file() const { return currentFile; }

  void report(Diagnostic diagnostic);
  void report(DiagnosticId id, const llvm::Twine &message,
              const llvm::Twine &hint = "");
  /// Reports a fault of the file `file`, which need not be the current one.
  void reportFile(DiagnosticId id, llvm::StringRef file,
                  const llvm::Twine &message, const llvm::Twine &hint = "");

  /// Whether nothing was reported but warnings.
  bool empty() const { return all.empty(); }
  /// How many were reported, those that are counted only included, without warnings.
  size_t size() const { return reported; }
  /// Those that are printed: of one id up to 100 that differ in their words.
  llvm::ArrayRef<Diagnostic> list() const { return all; }
  bool has(DiagnosticId id) const;
  void clear();
  /// What is odd about a model that is compiled all the same.
  llvm::ArrayRef<Diagnostic> warnings() const { return odd; }

  /// Returns the first of 70, 2, 1, 4 and 3 that a diagnostic has; 0 if there are
  /// none.
  ExitCode exitCode() const;
  void print(llvm::raw_ostream &os, bool color = false) const;
  void printJson(llvm::raw_ostream &os) const;

private:
  std::vector<Diagnostic> all, odd;
  /// Of each that is about a node: its words, and its index in `all`.
  llvm::StringMap<size_t> ofNodes;
  size_t reported = 0;
  /// How many of an id are in `all`, and how many are not: a damaged model may
  /// have a fault in each of a million nodes, in other words each.
  struct Kind {
    size_t kept = 0, left = 0;
  };
  std::map<DiagnosticId, Kind> kinds;
  std::string currentFile;
};

/// `text` fit for a terminal: control characters and bytes that are no UTF-8
/// escaped, the middle of very long names left out.
std::string printable(llvm::StringRef text, size_t limit = 120);

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_DIAGNOSTICS_H
