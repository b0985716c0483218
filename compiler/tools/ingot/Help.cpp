// The commands `ingot help` and `ingot version`, and the option --explain.

#include "compiler/Commit.h"
#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Options.h"

#include "llvm/Support/Process.h"

using namespace llvm;

namespace ingot {

std::string spellingOf(const Options::OptionRow &row) {
  auto &[option, facts] = row;
  std::string text;
  if (facts.letter)
    text = std::string("-") + facts.letter + ", ";
  text += (option->ArgStr.size() == 1 ? "-" : "--") + option->ArgStr.str();
  if (!option->ValueStr.empty())
    text += " " + option->ValueStr.str();
  return text;
}

std::string notesOf(const OptionFacts &facts) {
  std::string text;
  if (!facts.byDefault.empty())
    text = "[default: " + facts.byDefault.str() + "]";
  if (!facts.choices.empty()) {
    SmallVector<StringRef> choices;
    facts.choices.split(choices, ',');
    text +=
        (text.empty() ? "" : " ") + ("[choices: " + join(choices, ", ")) + "]";
  }
  return text;
}

std::string usageOf(const CommandSyntax &command) {
  std::string text = command.shown() + " [OPTIONS]";
  if (!command.takes.empty())
    text += " " + command.takes.str();
  return text;
}

/// Stands for a space at which lines are not broken.
constexpr char unbreakable = '\x1f';

/// Prints `text` in lines of up to `width` columns, indented to the column
/// `indent`, at which the first line begins.
static void printWrapped(raw_ostream &os, StringRef text, size_t indent,
                         size_t width) {
  size_t column = indent;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef given : words) {
    std::string word = given.str();
    std::replace(word.begin(), word.end(), unbreakable, ' ');
    if (column > indent && column + 1 + word.size() > width) {
      os << "\n";
      os.indent(indent);
      column = indent;
    }
    if (column > indent)
      os << " ", ++column;
    os << word;
    column += word.size();
  }
  os << "\n";
}

/// Prints a term in the left column and its description in the right one.
static void printEntry(raw_ostream &os, StringRef term, StringRef text,
                       size_t width) {
  constexpr size_t left = 24;
  os << "  " << term;
  if (term.size() + 4 > left)
    os << "\n" << std::string(left, ' ');
  else
    os.indent(left - 2 - term.size());
  printWrapped(os, text, left, width);
}

static size_t helpWidth() {
  size_t columns = 0;
  std::optional<std::string> given = sys::Process::GetEnv("COLUMNS");
  // StandardOutColumns() returns 0 if the output is not a terminal.
  if (!given || StringRef(*given).getAsInteger(10, columns))
    columns = sys::Process::StandardOutColumns();
  return std::clamp<size_t>(columns ? columns : 80, 60, 100);
}

static constexpr StringLiteral exitCodes = R"(
Exit codes:
  0   success
  1   the model, its data or the environment is at fault
  2   the command line is wrong
  3   the model uses something unsupported
  4   outputs or sizes differ from the expected ones
  70  an error of Ingot itself
)";

static void printHelp(Options &options, const CommandSyntax &command,
                      raw_ostream &os) {
  size_t width = helpWidth();
  bool isGeneral = &command == &options.commands.front();
  os << command.shown() << " - "
     << (isGeneral ? StringRef(programSummary)
                   : command.parser->getDescription())
     << "\n\nUsage: " << usageOf(command) << "\n";
  if (isGeneral) {
    os << "       ingot COMMAND [OPTIONS] ...\n\nCommands:\n";
    for (const CommandSyntax &other : drop_begin(options.commands))
      printEntry(os, other.parser->getName(), other.parser->getDescription(),
                 width);
    os << "\n";
    printWrapped(os,
                 "Without a command Ingot compiles; these are its options. "
                 "`ingot help COMMAND` shows those of a command.",
                 0, width);
  }
  std::vector<Options::OptionRow> rows = options.optionsOf(command);
  for (cl::OptionCategory *group : options.groups()) {
    bool isFirst = true;
    for (auto &row : rows) {
      if (!is_contained(row.first->Categories, group))
        continue;
      if (std::exchange(isFirst, false))
        os << "\n" << group->getName() << " options:\n";
      std::string notes = notesOf(row.second);
      // Keeps each note in brackets on one line, unless one of them is too
      // long.
      SmallVector<StringRef> parts;
      StringRef(notes).split(parts, "] ");
      if (all_of(parts,
                 [&](StringRef part) { return part.size() + 26 < width; }))
        for (size_t i = 0; i + 1 < notes.size(); ++i)
          if (notes[i] == ' ' && notes[i + 1] != '[')
            notes[i] = unbreakable;
      printEntry(
          os, spellingOf(row),
          (row.first->HelpStr + (notes.empty() ? "" : " ") + notes).str(),
          width);
    }
  }
  os << "\nExamples:" << command.examples << exitCodes;
}

int helpCommand(Arguments &arguments, Diagnostics &diagnostics) {
  // Options::groups() cannot be called on a const object.
  auto &options = const_cast<Options &>(*arguments.options);
  const CommandSyntax *command = &options.commands.front();
  if (!arguments.positional.empty()) {
    StringRef wanted = arguments.positional.front();
    command = options.find(wanted);
    if (!command) {
      std::vector<std::string> names{"compile"};
      for (const CommandSyntax &other : drop_begin(options.commands))
        names.push_back(other.parser->getName().str());
      std::string close = didYouMean(wanted, names);
      diagnostics.report(DiagnosticId::BadOption,
                         "unknown command `" + printable(wanted) + "`",
                         close.empty() ? "commands: " + join(names, ", ")
                                       : close);
      return diagnostics.exitCode();
    }
  }
  printHelp(options, *command, outs());
  return Success;
}

int versionCommand(Arguments &, Diagnostics &) {
  outs() << "ingot " << ingotVersion << " (";
  if (!ingotCommit.empty())
    outs() << "commit " << ingotCommit << ", ";
  outs() << "LLVM " << LLVM_VERSION_STRING << ")\n";
  return Success;
}

int explainCommand(Arguments &arguments, Diagnostics &diagnostics) {
  StringRef wanted = *arguments.explain;
  if (wanted.empty()) {
    size_t width = helpWidth();
    for (const DiagnosticInfo &info : allDiagnostics())
      printEntry(outs(), info.name, info.summary(), width);
    return Success;
  }
  std::vector<std::string> names;
  for (const DiagnosticInfo &info : allDiagnostics()) {
    names.push_back(info.name.str());
    if (info.name != wanted)
      continue;
    size_t width = helpWidth();
    auto print = [&](StringRef title, StringRef text) {
      outs() << title;
      printWrapped(outs(), text, title.size(), width);
    };
    outs() << info.name << "\n";
    print("  cause:   ", info.cause);
    print("  example: ", info.example);
    print("  fix:     ", info.fix);
    print("  exit:    ",
          (Twine(exitCodeOf(info.kind)) + ", " + meaningOf(info.kind)).str());
    return Success;
  }
  std::string close = didYouMean(wanted, names);
  diagnostics.report(DiagnosticId::BadOption,
                     "--explain: unknown error id `" + printable(wanted) + "`",
                     close.empty() ? "`ingot --explain` lists all ids" : close);
  return diagnostics.exitCode();
}

} // namespace ingot
