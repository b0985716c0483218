// Reads the options that name tensors and dimensions of the model.

#include "compiler/tools/ingot/Options.h"

#include "codegen/kernel/Names.h"
#include "dialects/kernel/KernelModule.h"

using namespace llvm;

namespace ingot {

/// Splits NAME=VALUE at the first `=`; false with a diagnostic if the text has
/// another form.
static bool splitPair(StringRef text, StringRef option,
                      std::pair<std::string, std::string> &pair,
                      Diagnostics &diagnostics) {
  auto [key, value] = text.split('=');
  if (key.empty() || value.empty() || key.size() == text.size()) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--" + option + ": `" + printable(text) +
                           "` does not have the form NAME=VALUE");
    return false;
  }
  pair = {key.str(), value.str()};
  return true;
}

std::vector<std::pair<std::string, std::string>>
readPairs(const cl::list<std::string> &option, Diagnostics &diagnostics) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string &text : option) {
    std::pair<std::string, std::string> pair;
    if (!splitPair(text, option.ArgStr, pair, diagnostics))
      continue;
    auto first = llvm::find_if(
        pairs, [&](const auto &other) { return other.first == pair.first; });
    if (first != pairs.end())
      diagnostics.report(DiagnosticId::BadOption,
                         "--" + option.ArgStr + ": `" + printable(pair.first) +
                             "` is given twice: `" + printable(first->second) +
                             "` and `" + printable(pair.second) + "`");
    else
      pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// Reads the size of the dimension `name` given by `option`: "8", "1..8", or
/// "..8" for 1..8. Returns nullopt with a diagnostic for other texts.
static std::optional<SizeRange> readSize(StringRef option, StringRef name,
                                         StringRef text,
                                         Diagnostics &diagnostics) {
  auto [first, last] = text.split("..");
  bool isRange = text.contains("..");
  int64_t least = 1, most;
  if ((!(isRange && first.empty()) && first.getAsInteger(10, least)) ||
      (isRange ? last.getAsInteger(10, most) : (most = least, false)) ||
      least < 0 || least > most)
    diagnostics.report(DiagnosticId::BadOption,
                       "--" + option + ": cannot parse `" + printable(text) +
                           "` as the size of `" + printable(name) +
                           "` (examples: 8, 1..64, ..64)");
  else
    return SizeRange(least, most);
  return std::nullopt;
}

static void readDims(const Options &options, Arguments &arguments,
                     Diagnostics &diagnostics) {
  for (const auto &[name, text] : readPairs(options.dims, diagnostics))
    if (auto size = readSize("dim", name, text, diagnostics))
      arguments.compile.import.dims[name] = *size;
}

/// Reads an --entry of the form NAME[=FILE][:DIM=SIZE,...].
static void readEntry(StringRef text, std::vector<EntryPoint> &entries,
                      Diagnostics &diagnostics) {
  auto [head, sizes] = text.split(':');
  auto [name, model] = head.split('=');
  EntryPoint entry{name.str(), model.str(), {}};
  auto complain = [&](const Twine &what, StringRef hint) {
    diagnostics.report(DiagnosticId::BadOption, "--entry: " + what, hint.str());
  };
  if (toIdentifier(name) != name || name == kernel::kMainName)
    return complain("`" + printable(name) +
                        "` cannot be used as a function name",
                    "use letters, digits and `_`, and no C++ keyword, for "
                    "example --entry decode:seq=1");
  if (head.contains('=') && model.empty())
    return complain("a model file is missing after `" + printable(name) + "=`",
                    "write NAME=FILE.onnx, or NAME alone for the model of the "
                    "command line");
  // Names that differ in case only are rejected, since the prefixes of macros
  // are in capitals.
  for (const EntryPoint &other : entries)
    if (StringRef(other.name).equals_insensitive(name))
      return complain("the name `" + printable(name) +
                          "` is used twice; entry names must differ",
                      "");
  SmallVector<StringRef> pairs;
  sizes.split(pairs, ',', -1, /*KeepEmpty=*/false);
  for (StringRef pair : pairs) {
    auto [dim, size] = pair.rsplit('=');
    if (dim.empty() || size.empty())
      return complain("cannot parse `" + printable(pair) +
                          "` as DIM=SIZE (examples: seq=1, seq=1..64)",
                      "");
    auto range = readSize("entry " + name.str(), dim, size, diagnostics);
    if (!range)
      return;
    if (!entry.dims.insert({dim.str(), *range}).second)
      return complain(
          "the dimension `" + printable(dim) + "` is given two sizes", "");
  }
  entries.push_back(std::move(entry));
}

/// Reads --stream of the form [INPUT:]AXIS[=COLUMNS].
static void readStream(StringRef text, Arguments &arguments,
                       Diagnostics &diagnostics) {
  StreamedInput stream;
  StringRef rest = text;
  bool isValid = true;
  if (auto [before, columns] = rest.rsplit('='); before.size() < rest.size()) {
    isValid = !columns.getAsInteger(10, stream.columns) && stream.columns > 0;
    rest = before;
  }
  auto [input, axis] = rest.rsplit(':');
  if (input.size() == rest.size())
    std::swap(input, axis);
  isValid &= !axis.getAsInteger(10, stream.axis) &&
             (!rest.contains(':') || !input.empty());
  if (!isValid)
    return diagnostics.report(
        DiagnosticId::BadOption,
        "--stream: cannot parse `" + printable(text) +
            "` as [INPUT:]AXIS[=COLUMNS] (examples: 1, features:1, 2=4)");
  stream.input = input.str();
  arguments.compile.stream = stream;
}

void readTensors(const Options &options, Arguments &arguments,
                 Diagnostics &diagnostics) {
  readDims(options, arguments, diagnostics);
  arguments.compile.states = readPairs(options.states, diagnostics);
  if (!options.stream.empty())
    readStream(options.stream, arguments, diagnostics);
  for (const std::string &text : options.entries)
    readEntry(text, arguments.compile.entries, diagnostics);
  for (auto &[name, values] : readPairs(options.binds, diagnostics))
    arguments.compile.import.bind[name] = values;
  arguments.inputs = readPairs(options.inputs, diagnostics);
}

} // namespace ingot
