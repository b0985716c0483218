#include "compiler/Faults.h"

#include "codegen/objects/Toolchain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using llvm::StringRef;

namespace ingot {

std::string firstError(StringRef messages) {
  llvm::SmallVector<StringRef> lines;
  messages.split(lines, '\n');
  // Skips the first line, which is the command and may contain one of the words
  // below. Linkers print the cause, such as an overflowed section, before the
  // line that says "error".
  for (StringRef line : llvm::drop_begin(lines))
    for (StringRef word :
         {"error", "overflowed", "assertion fail", "undefined reference"})
      if (line.contains(word))
        return printable(line, 600);
  return printable(messages.take_back(600), 600);
}

void reportFault(llvm::Error error, Diagnostics &diagnostics, StringRef what,
                 StringRef userCompiler) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const llvm::FileError &fault) {
        diagnostics.reportFile(
            DiagnosticId::CannotWrite, fault.getFileName(),
            "`" + printable(fault.getFileName()) +
                "` cannot be written: " + fault.convertToErrorCode().message());
      },
      [&](const MachineFault &fault) {
        diagnostics.report(DiagnosticId::MachineFault,
                           printable(fault.message(), 600));
      },
      [&](const MissingProgram &fault) {
        diagnostics.report(DiagnosticId::MissingProgram,
                           printable(fault.message(), 600),
                           "install it, or name another compiler with --cxx");
      },
      [&](const llvm::ErrorInfoBase &fault) {
        std::string message = firstError(fault.message());
        if (!userCompiler.empty())
          diagnostics.report(DiagnosticId::CompilerFailed,
                             "--cxx `" + printable(userCompiler) +
                                 "` failed: " + message,
                             "without --cxx Ingot uses the compiler of the "
                             "target");
        else
          diagnostics.report(DiagnosticId::Internal,
                             (what.empty() ? "" : what + ": ") + message);
      });
}

} // namespace ingot
