// The command `ingot completion SHELL`: prints a script that completes
// commands, options and choices of option values; other words are completed as
// files.

#include "compiler/tools/ingot/Options.h"

using namespace llvm;

namespace ingot {

/// Returns the possible values of an option, separated by blanks; empty if they
/// are files or arbitrary.
static std::string valuesOf(const cl::Option &option,
                            const OptionFacts &facts) {
  if (option.ArgStr == "target")
    return "native " + join(map_range(allTargets(),
                                      [](const TargetDescription &target) {
                                        return target.name.str();
                                      }),
                            " ");
  if (option.ArgStr == "explain")
    return join(
        map_range(allDiagnostics(),
                  [](const DiagnosticInfo &info) { return info.name.str(); }),
        " ");
  std::string values = facts.choices.str();
  std::replace(values.begin(), values.end(), ',', ' ');
  return values;
}

/// Returns the possible arguments of a command, separated by blanks; empty if
/// they are files.
static std::string argumentsOf(const Options &options,
                               const CommandSyntax &command) {
  if (command.parser == &options.helpCommand)
    return join(map_range(drop_begin(options.commands),
                          [](const CommandSyntax &other) {
                            return other.parser->getName().str();
                          }),
                " ");
  std::string words = command.takes.str();
  if (!StringRef(words).contains('|'))
    return "";
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

static std::string commandWords(const Options &options) {
  return join(map_range(drop_begin(options.commands),
                        [](const CommandSyntax &command) {
                          return command.parser->getName().str();
                        }),
              " ");
}

static void printBash(const Options &options, raw_ostream &os) {
  os << "_ingot() {\n"
        "  local current=${COMP_WORDS[COMP_CWORD]}\n"
        "  local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "  local command=compile options= words=\n"
        "  if [[ $COMP_CWORD -gt 1 ]]; then\n"
        "    case ${COMP_WORDS[1]} in "
     << join(split(commandWords(options), ' '), "|")
     << ") command=${COMP_WORDS[1]} ;; esac\n"
        "  fi\n"
        "  case $before in\n";
  std::vector<StringRef> seen;
  for (auto &[option, facts] : options.table) {
    std::string values = valuesOf(*option, facts);
    if (values.empty() || is_contained(seen, option->ArgStr))
      continue;
    seen.push_back(option->ArgStr);
    os << "    --" << option->ArgStr << ") COMPREPLY=($(compgen -W '" << values
       << "' -- \"$current\")); return ;;\n";
  }
  os << "  esac\n"
        "  case $command in\n";
  for (const CommandSyntax &command : options.commands) {
    StringRef name = command.parser->getName();
    os << "    " << (name.empty() ? "compile" : name) << ") options='"
       << join(options.names(command), " ") << "'";
    if (std::string words = argumentsOf(options, command); !words.empty())
      os << " words='" << words << "'";
    os << " ;;\n";
  }
  os << "  esac\n"
        "  if [[ $COMP_CWORD -eq 1 ]]; then words='"
     << commandWords(options)
     << "'; fi\n"
        "  if [[ $current == -* ]]; then\n"
        "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
        "  else\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\") "
        "$(compgen -f -- \"$current\"))\n"
        "  fi\n"
        "}\n"
        "complete -o filenames -F _ingot ingot\n";
}

static void printZsh(const Options &options, raw_ostream &os) {
  // Escapes quotes, and the brackets and colons that are special in the
  // arguments of zsh's function _arguments.
  auto quoted = [](StringRef text) {
    std::string out;
    for (char c : text)
      if (c == '\'')
        out += "'\\''";
      else if (StringRef("[]:").contains(c))
        out += std::string("\\") + c;
      else
        out += c;
    return out;
  };
  os << "#compdef ingot\n"
        "_ingot() {\n"
        "  local command=compile\n"
        "  case ${words[2]} in "
     << join(split(commandWords(options), ' '), "|")
     << ") command=${words[2]} ;; esac\n"
        "  if (( CURRENT == 2 )); then\n"
        "    local -a commands=(\n";
  for (const CommandSyntax &command : drop_begin(options.commands))
    os << "      '" << command.parser->getName() << ":"
       << quoted(command.parser->getDescription()) << "'\n";
  os << "    )\n"
        "    _describe command commands\n"
        "  fi\n"
        "  case $command in\n";
  for (const CommandSyntax &command : options.commands) {
    StringRef name = command.parser->getName();
    os << "    " << (name.empty() ? "compile" : name) << ") _arguments";
    for (auto &[option, facts] : options.optionsOf(command)) {
      os << " \\\n      '"
         << (option->getNumOccurrencesFlag() == cl::ZeroOrMore ? "*" : "")
         << (option->ArgStr.size() == 1 ? "-" : "--") << option->ArgStr << "["
         << quoted(option->HelpStr) << "]";
      if (!option->ValueStr.empty()) {
        std::string values = valuesOf(*option, facts);
        os << ":" << quoted(option->ValueStr) << ":"
           << (values.empty() ? "_files" : "(" + values + ")");
      }
      os << "'";
    }
    std::string words = argumentsOf(options, command);
    os << " \\\n      '*:argument:"
       << (words.empty() ? "_files" : "(" + words + ")") << "' ;;\n";
  }
  os << "  esac\n"
        "}\n"
        "if [ \"$funcstack[1]\" = _ingot ]; then _ingot \"$@\"; else compdef "
        "_ingot ingot; fi\n";
}

static void printFish(const Options &options, raw_ostream &os) {
  auto quoted = [](StringRef text) {
    std::string out;
    for (char c : text)
      out += c == '\'' ? "\\'" : std::string(1, c);
    return "'" + out + "'";
  };
  std::string all = commandWords(options);
  for (const CommandSyntax &command : drop_begin(options.commands))
    os << "complete -c ingot -n __fish_use_subcommand -a "
       << command.parser->getName() << " -d "
       << quoted(command.parser->getDescription()) << "\n";
  for (const CommandSyntax &command : options.commands) {
    StringRef name = command.parser->getName();
    std::string when =
        name.empty() ? "'not __fish_seen_subcommand_from " + all + "'"
                     : ("'__fish_seen_subcommand_from " + name + "'").str();
    for (auto &[option, facts] : options.optionsOf(command)) {
      os << "complete -c ingot -n " << when
         << (option->ArgStr.size() == 1 ? " -s " : " -l ") << option->ArgStr;
      if (facts.letter)
        os << " -s " << facts.letter;
      if (std::string values = valuesOf(*option, facts); !values.empty())
        os << " -x -a '" << values << "'";
      else if (!option->ValueStr.empty())
        os << " -r";
      os << " -d " << quoted(option->HelpStr) << "\n";
    }
    if (std::string words = argumentsOf(options, command); !words.empty())
      os << "complete -c ingot -n " << when << " -x -a '" << words << "'\n";
  }
}

int completionCommand(Arguments &arguments, Diagnostics &diagnostics) {
  static constexpr std::pair<StringLiteral,
                             void (*)(const Options &, raw_ostream &)>
      shells[] = {{"bash", printBash}, {"zsh", printZsh}, {"fish", printFish}};
  StringRef wanted = arguments.positional.front();
  for (auto &[shell, print] : shells)
    if (shell == wanted) {
      print(*arguments.options, outs());
      return Success;
    }
  diagnostics.report(DiagnosticId::BadOption,
                     "unknown shell `" + printable(wanted) +
                         "` (choose bash, zsh or fish)");
  return diagnostics.exitCode();
}

} // namespace ingot
