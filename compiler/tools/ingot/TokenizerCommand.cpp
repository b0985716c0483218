// The command `ingot tokenizer TOKENIZER.json -o FILE.cpp`.

#include "codegen/files/OutputFiles.h"
#include "codegen/kernel/Names.h"
#include "compiler/Faults.h"
#include "compiler/llm/Tokenizer.h"
#include "compiler/tools/ingot/Commands.h"

#include "llvm/Support/Path.h"

using namespace llvm;

namespace ingot {

int tokenizerCommand(Arguments &arguments, Diagnostics &diagnostics) {
  std::string output =
      arguments.output.empty() ? "tokenizer.cpp" : arguments.output;
  StringRef stem = sys::path::stem(output);
  if (sys::path::extension(output) != ".cpp" || toIdentifier(stem) != stem) {
    diagnostics.report(DiagnosticId::BadOption,
                       "-o: `" + printable(output) +
                           "` is not a .cpp file whose name is a C++ name",
                       "the name becomes the namespace: -o tok.cpp");
    return diagnostics.exitCode();
  }
  SmallString<128> header(output);
  sys::path::replace_extension(header, ".h");
  if (!checkWritable(output, diagnostics) ||
      !checkReplaceable(arguments, output, diagnostics) ||
      !checkReplaceable(arguments, header, diagnostics))
    return diagnostics.exitCode();
  std::string path = arguments.positional.front();
  auto tokenizer = llm::readTokenizer(path, diagnostics);
  if (!tokenizer)
    return diagnostics.exitCode();
  StringRef source = sys::path::filename(path);
  OutputFiles files;
  Error error = files.write(header, [&](raw_ostream &os) {
    llm::printTokenizerHeader(*tokenizer, stem, source, os);
  });
  if (!error)
    error = files.write(output, [&](raw_ostream &os) {
      llm::printTokenizerSource(*tokenizer, stem, source, os);
    });
  if (!error)
    error = files.commit();
  if (error)
    reportFault(std::move(error), diagnostics);
  else if (arguments.verbose || (!arguments.quiet && errs().is_displayed()))
    errs() << "wrote " << output << ", " << header << ": "
           << tokenizer->texts.size() << " tokens\n";
  return diagnostics.exitCode();
}

} // namespace ingot
