// Parses the command line and runs a command.

#include "compiler/report/Progress.h"
#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Options.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace ingot {

/// Removes the options registered by libraries: some have the same names as
/// Ingot's, and none is meant for users.
static void removeForeignOptions() {
  SmallVector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions())
    foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

/// Returns the command whose name is `first`, the first word of the command
/// line; `compile` if there is no such command.
static const CommandSyntax &wantedCommand(const Options &options,
                                          StringRef first) {
  for (const CommandSyntax &command : options.commands)
    if (!first.empty() && command.parser->getName() == first)
      return command;
  return options.commands.front();
}

/// Reports a first word that is neither a command nor a file, if it is similar
/// to the name of a command.
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
                     "unknown command `" + printable(first) + "`",
                     close.front() == "compile"
                         ? "to compile, leave the word out: ingot MODEL.onnx "
                           "-o FILE"
                         : didYouMean(first, close));
}

/// Reports an option that does not exist for the given command.
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
                     "`" + command.shown() + "` does not have the option `" +
                         printable(shown) + "`",
                     hint);
}

/// Reports words with two dashes that are not options: LLVM's parser would
/// report some of them as a group of short options.
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

/// Reports the errors of LLVM's command line parser, one per line of
/// `problems`, as diagnostics.
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

/// Whether diagnostics are colored: determined by --color, then by NO_COLOR,
/// then by whether standard error is a terminal.
static bool wantsColor(StringRef when) {
  if (when != "auto")
    return when == "always";
  std::optional<std::string> forbidden = sys::Process::GetEnv("NO_COLOR");
  return (!forbidden || forbidden->empty()) && errs().has_colors();
}

/// Prints all diagnostics; returns their exit code, or `code` if there are
/// none.
static int finish(int code, const Arguments &arguments, const Options &options,
                  Diagnostics &diagnostics) {
  if (!diagnostics.empty() && arguments.json)
    diagnostics.printJson(outs());
  outs().flush();
  if (outs().has_error()) {
    diagnostics.reportFile(DiagnosticId::CannotWrite, "standard output",
                           "standard output cannot be written: " +
                               outs().error().message());
    outs().clear_error();
  }
  bool hasColor = wantsColor(options.color);
  if (hasColor)
    errs().enable_colors(true);
  diagnostics.print(errs(), hasColor);
  return diagnostics.empty() ? code : diagnostics.exitCode();
}

int runCommandLine(int argc, char **argv) {
  removeForeignOptions();
  // The options are never destroyed, since LLVM's parser keeps pointers to
  // them.
  Options &options = *new Options;
  // The value of --color if the option is not given.
  options.color.setInitialValue("auto");
  StringRef first = argc > 1 ? argv[1] : "";
  const CommandSyntax &wanted = wantedCommand(options, first);

  Diagnostics diagnostics;
  Arguments arguments;
  arguments.options = &options;
  checkCommand(options, first, diagnostics);
  checkOptions(options, wanted, ArrayRef(argv, argc).drop_front(), diagnostics);
  if (!diagnostics.empty())
    return finish(WrongUsage, arguments, options, diagnostics);
  std::string problems;
  raw_string_ostream problemStream(problems);
  if (!cl::ParseCommandLineOptions(argc, argv, "", &problemStream)) {
    reportProblems(options, wanted, sys::path::filename(argv[0]), problems,
                   diagnostics);
    // LLVM's parser has printed some errors itself instead of returning them.
    // If these are the only ones, a diagnostic is added.
    if (diagnostics.empty())
      diagnostics.report(DiagnosticId::BadOption,
                         "the value of an option is not valid",
                         "see `" + wanted.shown() + " --help`");
  }
  if (diagnostics.empty() && options.version)
    return finish(versionCommand(arguments, diagnostics), arguments, options,
                  diagnostics);
  if (diagnostics.empty() && options.help) {
    arguments.positional.clear();
    if (&wanted != &options.commands.front())
      arguments.positional.push_back(wanted.parser->getName().str());
    return finish(helpCommand(arguments, diagnostics), arguments, options,
                  diagnostics);
  }
  if (diagnostics.empty())
    readArguments(options, arguments, diagnostics);
  Progress::setVerbosity(arguments.quiet     ? Verbosity::Quiet
                         : arguments.verbose ? Verbosity::Verbose
                                             : Verbosity::Normal);
  int code = WrongUsage;
  if (diagnostics.empty())
    code = wanted.run(arguments, diagnostics);
  return finish(code, arguments, options, diagnostics);
}

} // namespace ingot
