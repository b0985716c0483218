// From the command line to a command.

#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Options.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ingot {

static constexpr StringLiteral exitCodes = R"(
Exit codes: 0; 1 the model, the command line or the machine (its disk, its
compiler) is at fault; 3 the model uses something unsupported; 70 a fault of
ingot's own.
)";

/// Removes the options of the libraries: some have the names of ours, none is
/// meant for users.
static void removeForeignOptions() {
  SmallVector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions())
    if (entry.first != "help" && entry.first != "version")
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

/// Returns the command that the first word names; compiling if it names none.
static const CommandSyntax &wantedCommand(const Options &options,
                                          StringRef first) {
  for (const CommandSyntax &command : options.commands)
    if (!first.empty() && command.parser->getName() == first)
      return command;
  return options.commands.front();
}

/// Complains about a first word that is no command and no file.
static void checkCommand(const Options &options, StringRef first,
                         Diagnostics &diagnostics) {
  if (first.empty() || first.contains('.') || first.contains('/') ||
      first.starts_with("-") || sys::fs::exists(first) ||
      &wantedCommand(options, first) != &options.commands.front())
    return;
  std::vector<std::string> names{"compile"};
  for (const CommandSyntax &command : drop_begin(options.commands))
    names.push_back(command.parser->getName().str());
  std::vector<std::string> close = suggestions(first, names);
  if (close.empty())
    return;
  diagnostics.report(DiagnosticId::BadOption,
                     "there is no command `" + printable(first) + "`",
                     close.front() == "compile"
                         ? "to compile, leave the word out: ingot MODEL.onnx "
                           "-o FILE"
                         : didYouMean(first, close));
}

/// Complains about an option that the command does not have.
static void reportUnknownOption(const Options &options,
                                const CommandSyntax &command, StringRef given,
                                Diagnostics &diagnostics) {
  StringRef shown = given.split('=').first;
  std::string option = "--" + shown.ltrim('-').str();
  std::vector<std::string> others;
  for (const CommandSyntax &other : options.commands)
    if (is_contained(options.names(other), option))
      others.push_back("`" + other.shown() + "`");
  std::string hint = didYouMean(option, options.names(command));
  if (!others.empty())
    hint = "it is an option of " + join(others, ", ");
  else if (hint.empty())
    hint = "see `" + command.shown() + " --help`";
  diagnostics.report(DiagnosticId::BadOption,
                     "`" + command.shown() + "` has no option `" +
                         printable(shown) + "`",
                     hint);
}

/// Complains about words with two dashes that are no option: LLVM's parser
/// takes some of them for a group of short ones, and says so.
static void checkOptions(const Options &options, const CommandSyntax &command,
                         ArrayRef<char *> words, Diagnostics &diagnostics) {
  const auto &known = cl::getRegisteredOptions(*command.parser);
  for (StringRef word : words) {
    if (word == "--")
      return;
    if (word.starts_with("--") &&
        !known.contains(word.drop_front(2).split('=').first))
      reportUnknownOption(options, command, word, diagnostics);
  }
}

/// Reports what LLVM's parser complains about, a line each.
static void reportProblems(const Options &options, const CommandSyntax &command,
                           StringRef program, StringRef problems,
                           Diagnostics &diagnostics) {
  SmallVector<StringRef> lines;
  problems.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    line.consume_front((program + ": ").str());
    if (line.consume_front("Unknown command line argument '"))
      reportUnknownOption(options, command, line.split("'.").first,
                          diagnostics);
    else if (!line.starts_with("Did you mean"))
      diagnostics.report(DiagnosticId::BadOption, printable(line, 600),
                         "see `" + command.shown() + " --help`");
  }
}

/// Prints all diagnostics; returns the exit code.
static int finish(int code, const Arguments &arguments,
                  Diagnostics &diagnostics) {
  if (!diagnostics.empty() && arguments.json)
    diagnostics.printJson(outs());
  outs().flush();
  if (outs().has_error()) {
    diagnostics.report(DiagnosticId::CannotWrite,
                       "the standard output cannot be written: " +
                           outs().error().message());
    outs().clear_error();
  }
  diagnostics.print(errs(), errs().has_colors());
  return std::max<int>(code, diagnostics.exitCode());
}

int runCommandLine(int argc, char **argv) {
  removeForeignOptions();
  // Never destroyed: the parser keeps pointers to it.
  Options &options = *new Options;
  for (const CommandSyntax &command : options.commands)
    cl::HideUnrelatedOptions(options.category, *command.parser);
  cl::SetVersionPrinter([](raw_ostream &os) {
    os << "ingot " << ingotVersion << " (LLVM " << LLVM_VERSION_STRING << ")\n";
  });
  StringRef first = argc > 1 ? argv[1] : "";
  const CommandSyntax &wanted = wantedCommand(options, first);
  std::string text = ("\nEXAMPLES:" + wanted.examples + exitCodes).str();
  cl::extrahelp help(text);

  Diagnostics diagnostics;
  Arguments arguments;
  checkCommand(options, first, diagnostics);
  checkOptions(options, wanted, ArrayRef(argv, argc).drop_front(), diagnostics);
  if (!diagnostics.empty())
    return finish(InvalidInput, arguments, diagnostics);
  std::string problems;
  raw_string_ostream problemStream(problems);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "ONNX models become standalone C++\n", &problemStream))
    reportProblems(options, wanted, sys::path::filename(argv[0]), problems,
                   diagnostics);
  if (diagnostics.empty())
    readArguments(options, arguments, diagnostics);
  int code = InvalidInput;
  if (diagnostics.empty())
    code = wanted.run(arguments, diagnostics);
  return finish(code, arguments, diagnostics);
}

} // namespace ingot
