// Writes the command that compiled a model, for the first lines of generated
// files. Files are named without their folders, so that the text is the same on
// every machine.

#include "compiler/tools/ingot/Commands.h"
#include "compiler/tools/ingot/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ingot {

namespace {
class CommandText {
public:
  void add(StringRef word) {
    text += text.empty() ? "" : " ";
    bool isPlain = !word.empty() && all_of(word, [](char c) {
      return isAlnum(c) || StringRef("_./:=,@%+-").contains(c);
    });
    text += isPlain ? word.str() : "'" + printable(word, 4000) + "'";
  }
  void add(StringRef name, StringRef value, StringRef placeholder) {
    add((name.size() == 1 ? "-" : "--") + name.str());
    auto [key, file] = value.split('=');
    bool hasKey = placeholder.contains("=FILE");
    if (hasKey && !file.empty())
      add((key + "=" + sys::path::filename(file)).str());
    else
      add(placeholder.starts_with("FILE") || placeholder.starts_with("DIR")
              ? sys::path::filename(value)
              : value);
  }

  void add(StringRef name, const cl::opt<std::string> &option,
           StringRef placeholder) {
    if (option.getNumOccurrences())
      add(name, StringRef(option.getValue()), placeholder);
  }
  void add(StringRef name, const cl::list<std::string> &option,
           StringRef placeholder) {
    for (const std::string &value : option)
      add(name, StringRef(value), placeholder);
  }
  void add(StringRef name, const cl::opt<bool> &option, StringRef) {
    if (option)
      add("--" + name.str());
  }
  template <typename Number>
  void add(StringRef name, const cl::opt<Number> &option, StringRef) {
    if (option.getNumOccurrences())
      add(name, StringRef(std::to_string(option.getValue())), "");
  }

  std::string text;
};
} // namespace

std::string commandText(const Arguments &arguments) {
  const Options &options = *arguments.options;
  CommandText command;
  command.add("ingot");
  command.add(sys::path::filename(arguments.compile.model));
  // If the command does not name the target, adds the target of this machine.
  if (arguments.compile.target &&
      (options.target.empty() || options.target == "native"))
    command.add("target", arguments.compile.target->name.split(':').first, "");
  // Omits options that do not change the source, and --name and -o.
  static constexpr StringLiteral others[] = {"o",         "name",  "evidence",
                                             "emit-test", "force", "json"};
#define INGOT_OPTION(MEMBER, TYPE, NAME, LETTER, GROUP, VALUE, DEFAULT,        \
                     CHOICES, COMMANDS, TEXT)                                  \
  if (StringRef(#GROUP) != "General" && StringRef(#GROUP) != "Debugging" &&    \
      !is_contained(others, StringRef(NAME)) &&                                \
      (StringRef(NAME) != "target" || options.target != "native"))             \
    command.add(NAME, options.MEMBER, VALUE);
#include "compiler/tools/ingot/Options.def"
#undef INGOT_OPTION
  for (const auto &option : options.tcmOptions)
    command.add(option->ArgStr, *option, "");
  return command.text;
}

} // namespace ingot
