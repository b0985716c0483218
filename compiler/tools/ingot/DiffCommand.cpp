// The command `ingot diff OLD NEW`.
//
// Compares two reports of `ingot inspect --json`; if a file is a model, it is
// inspected first. Kernel calls are paired by the ONNX nodes that they compute:
// first calls with the same nodes and strategy (way to build loops), then calls
// with a common node, then calls with the same strategy, result and work, since
// an exporter may rename all nodes.

#include "compiler/report/ReadJson.h"
#include "compiler/tools/ingot/Commands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace llvm;

namespace ingot {

namespace {

/// A number in a report or in the entry of a kernel call: its JSON key and its
/// title.
struct Figure {
  StringLiteral key, title;
  /// The option that limits its growth, or its decrease if less is worse;
  /// empty: none.
  StringLiteral option = "";
  bool isLessWorse = false;
};

struct Report {
  std::string file, target;
  json::Object values;
  std::vector<json::Object> kernels;
};

/// A kernel call of the old report, and the call of the new report that it is
/// paired with; null if a report has no such call.
struct Pair {
  const json::Object *before = nullptr, *after = nullptr;
};

} // namespace

static constexpr Figure totals[] = {
    {"kernels", "kernels"},
    {"macs", "MACs", "max-macs-growth"},
    {"parameters", "parameters"},
    {"weight_bytes", "weights"},
    {"arena_bytes", "arena"},
    {"state_bytes", "state"},
    {"code_bytes", "code"},
    {"stack_bytes", "stack"},
    {"tcm_bytes", "on-chip vector memory"},
    {"flash_bytes", "flash", "max-flash-growth"},
    {"ram_bytes", "RAM", "max-ram-growth"},
    {"predicted_cycles", "predicted cycles", "max-time-growth"},
    {"predicted_microseconds", "predicted us", "max-time-growth"},
    {"measured_microseconds", "measured us"},
    {"output_decibels", "accuracy, dB", "max-accuracy-loss", true},
};
static constexpr Figure figuresOfKernels[] = {
    {"macs", "MACs"},
    {"bytes", "moved"},
    {"weight_bytes", "weights"},
    {"arena_bytes", "arena"},
    {"code_bytes", "code"},
    {"stack_bytes", "stack"},
    {"cycles", "cycles"},
    {"microseconds", "us"},
};

/// Formats 1234567 as "1,234,567", and a fraction with one digit.
static std::string numberText(double number, bool hasSign = false) {
  double rounded = std::round(number * 10) / 10;
  std::string digits = std::to_string(int64_t(std::fabs(rounded)));
  for (int at = int(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(size_t(at), ",");
  if (double part = std::fabs(rounded) - std::floor(std::fabs(rounded)))
    digits += "." + std::to_string(std::lround(part * 10));
  return (rounded < 0 ? "-" : hasSign ? "+" : "") + digits;
}

/// Reads the report at `path` if `isReport`, otherwise inspects the model at
/// `path`. Returns nothing, with diagnostics, if the model does not compile or
/// the file is neither a report nor a model.
static std::optional<Report> readReport(Arguments &arguments, StringRef path,
                                        bool isReport,
                                        Diagnostics &diagnostics) {
  Report report;
  report.file = path.str();
  std::string text;
  if (isReport) {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!buffer) {
      diagnostics.reportFile(DiagnosticId::CannotRead, path,
                             "the file cannot be read: " +
                                 buffer.getError().message());
      return std::nullopt;
    }
    text = (*buffer)->getBuffer().str();
  } else {
    arguments.compile.model = path.str();
    text = inspectAsJson(arguments, diagnostics);
    if (!diagnostics.empty())
      return std::nullopt;
  }
  Expected<json::Value> value = readJson(text);
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object || !object->getString("target") ||
      !object->getBoolean("compiles")) {
    consumeError(value.takeError());
    diagnostics.reportFile(DiagnosticId::CannotRead, path,
                           "the file is neither an ONNX model nor a report",
                           "`ingot inspect MODEL.onnx --json` writes a report");
    return std::nullopt;
  }
  if (!*object->getBoolean("compiles")) {
    diagnostics.reportFile(
        DiagnosticId::CannotRead, path,
        "the report has no figures: the model does not compile",
        "`ingot inspect` of the model says why");
    return std::nullopt;
  }
  report.values = *object;
  report.target = report.values.getString("target")->str();
  if (const json::Array *groups = report.values.getArray("groups"))
    for (const json::Value &group : *groups)
      if (const json::Object *kernel = group.getAsObject())
        report.kernels.push_back(*kernel);
  return report;
}

/// Whether a file begins as an object of JSON does.
static bool isJson(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer && (*buffer)->getBuffer().ltrim().starts_with("{");
}

static std::vector<std::string> nodesOf(const json::Object &kernel) {
  std::vector<std::string> names;
  if (const json::Array *nodes = kernel.getArray("nodes"))
    for (const json::Value &node : *nodes)
      if (auto name = node.getAsString())
        names.push_back(name->str());
  return names;
}

static StringRef textOf(const json::Object &kernel, StringRef key) {
  return kernel.getString(key).value_or("");
}

static bool haveCommonNode(const json::Object &before,
                           const json::Object &after) {
  std::vector<std::string> names = nodesOf(before);
  return any_of(nodesOf(after), [&](const std::string &name) {
    return is_contained(names, name);
  });
}

/// Pairs the kernel calls of two reports. The pairs are in the order of the new
/// report; a call that only the old report has precedes all calls that follow
/// it in the old report.
static std::vector<Pair> pairKernels(const Report &before,
                                     const Report &after) {
  std::vector<int> partner(after.kernels.size(), -1);
  std::vector<bool> isTaken(before.kernels.size());
  using Same = function_ref<bool(const json::Object &, const json::Object &)>;
  auto match = [&](Same isSame) {
    for (size_t i = 0; i < after.kernels.size(); ++i)
      for (size_t j = 0; partner[i] < 0 && j < before.kernels.size(); ++j)
        if (!isTaken[j] && isSame(before.kernels[j], after.kernels[i])) {
          partner[i] = int(j);
          isTaken[j] = true;
        }
  };
  match([](const json::Object &a, const json::Object &b) {
    std::vector<std::string> nodes = nodesOf(a);
    return !nodes.empty() && nodes == nodesOf(b) &&
           textOf(a, "strategy") == textOf(b, "strategy");
  });
  match(haveCommonNode);
  match([](const json::Object &a, const json::Object &b) {
    return textOf(a, "strategy") == textOf(b, "strategy") &&
           textOf(a, "result") == textOf(b, "result") &&
           a.getNumber("macs") == b.getNumber("macs");
  });
  std::vector<Pair> pairs;
  size_t next = 0;
  auto addRemoved = [&](size_t end) {
    for (; next < end; ++next)
      if (!isTaken[next])
        pairs.push_back({&before.kernels[next], nullptr});
  };
  for (size_t i = 0; i < after.kernels.size(); ++i) {
    if (partner[i] >= 0)
      addRemoved(size_t(partner[i]));
    pairs.push_back({partner[i] < 0 ? nullptr : &before.kernels[partner[i]],
                     &after.kernels[i]});
  }
  addRemoved(before.kernels.size());
  return pairs;
}

/// Returns descriptions of the values in which a pair differs, for example
/// "weights 8 -> 16".
static std::vector<std::string> changesOf(const Pair &pair) {
  std::vector<std::string> changes;
  for (StringRef key : {"strategy", "result"})
    if (textOf(*pair.before, key) != textOf(*pair.after, key))
      changes.push_back(
          (textOf(*pair.before, key) + " -> " + textOf(*pair.after, key))
              .str());
  for (const Figure &figure : figuresOfKernels) {
    auto before = pair.before->getNumber(figure.key);
    auto after = pair.after->getNumber(figure.key);
    if (before && after && *before != *after)
      changes.push_back((figure.title + " " + numberText(*before) + " -> " +
                         numberText(*after))
                            .str());
  }
  return changes;
}

/// Lists up to four nodes of a kernel call, and the number of others as "+3".
static std::string shortNodes(const json::Object &kernel) {
  std::vector<std::string> names = nodesOf(kernel);
  size_t count = names.size();
  names.resize(std::min<size_t>(count, 4));
  if (count > names.size())
    names.push_back("+" + std::to_string(count - names.size()));
  return printable(join(names, " "), 400);
}

static void printText(const Report &before, const Report &after,
                      ArrayRef<Pair> pairs) {
  raw_ostream &os = outs();
  os << "old: " << printable(before.file, 400) << " for " << before.target
     << "\nnew: " << printable(after.file, 400) << " for " << after.target
     << "\n\n";
  auto line = [&](StringRef title, StringRef a, StringRef b, StringRef change,
                  StringRef percent) {
    std::string text;
    raw_string_ostream(text)
        << left_justify(title, 21) << right_justify(a, 15)
        << right_justify(b, 15) << right_justify(change, 15)
        << right_justify(percent, 10);
    os << StringRef(text).rtrim() << "\n";
  };
  line("", "old", "new", "change", "");
  auto changeText = [](double a, double b) {
    return a == b ? "0" : numberText(b - a, /*hasSign=*/true);
  };
  double calls[] = {double(before.kernels.size()),
                    double(after.kernels.size())};
  line("kernel calls", numberText(calls[0]), numberText(calls[1]),
       changeText(calls[0], calls[1]), "");
  for (const Figure &figure : totals) {
    auto a = before.values.getNumber(figure.key);
    auto b = after.values.getNumber(figure.key);
    if (!a && !b)
      continue;
    std::string percent;
    if (a && b && *a > 0 && *a != *b)
      raw_string_ostream(percent) << format("%+.1f %%", 100 * (*b - *a) / *a);
    line(figure.title, a ? numberText(*a) : "unknown",
         b ? numberText(*b) : "unknown", a && b ? changeText(*a, *b) : "",
         percent);
  }
  size_t same = 0;
  std::string list;
  raw_string_ostream lines(list);
  for (const Pair &pair : pairs) {
    const json::Object &kernel = pair.after ? *pair.after : *pair.before;
    std::vector<std::string> changes;
    if (pair.before && pair.after)
      changes = changesOf(pair);
    if (pair.before && pair.after && changes.empty()) {
      ++same;
      continue;
    }
    if (changes.empty())
      for (const Figure &figure : figuresOfKernels)
        if (auto value = kernel.getNumber(figure.key))
          changes.push_back((figure.title + " " + numberText(*value)).str());
    lines << (!pair.before  ? "+ "
              : !pair.after ? "- "
                            : "~ ")
          << textOf(kernel, "strategy") << " " << textOf(kernel, "result")
          << ": " << join(changes, ", ") << "\n    " << shortNodes(kernel)
          << "\n";
  }
  os << "\n" << same << " kernel calls are the same";
  if (list.empty())
    os << "\n";
  else
    os << ", the others differ:\n" << list;
}

static void printJson(const Report &before, const Report &after,
                      ArrayRef<Pair> pairs, const Diagnostics &diagnostics) {
  json::OStream json(outs(), /*IndentSize=*/2);
  auto text = [](StringRef s) { return json::fixUTF8(s); };
  auto figures = [&](const json::Object &values, ArrayRef<Figure> keys) {
    for (const Figure &figure : keys)
      if (const json::Value *value = values.get(figure.key))
        json.attribute(figure.key, *value);
  };
  auto totalsOf = [&](const Report &report) {
    json.attribute("file", text(report.file));
    json.attribute("target", text(report.target));
    json.attribute("kernel_calls", int64_t(report.kernels.size()));
    figures(report.values, totals);
  };
  json.object([&] {
    json.attributeObject("old", [&] { totalsOf(before); });
    json.attributeObject("new", [&] { totalsOf(after); });
    json.attributeArray("kernels", [&] {
      for (const Pair &pair : pairs) {
        const json::Object &kernel = pair.after ? *pair.after : *pair.before;
        bool isBoth = pair.before && pair.after;
        if (isBoth && changesOf(pair).empty())
          continue;
        json.object([&] {
          json.attribute("change", isBoth        ? "changed"
                                   : pair.before ? "removed"
                                                 : "added");
          json.attributeArray("nodes", [&] {
            for (const std::string &node : nodesOf(kernel))
              json.value(text(node));
          });
          auto side = [&](StringRef name, const json::Object &of) {
            json.attributeObject(name, [&] {
              for (StringRef key : {"strategy", "result"})
                json.attribute(key, text(textOf(of, key)));
              figures(of, figuresOfKernels);
            });
          };
          if (pair.before)
            side("old", *pair.before);
          if (pair.after)
            side("new", *pair.after);
        });
      }
    });
    json.attributeArray("diagnostics", [&] {
      for (const Diagnostic &d : diagnostics.list())
        json.object([&] {
          json.attribute("id", infoOf(d.id).name);
          json.attribute("message", text(d.message));
        });
    });
  });
  outs() << "\n";
}

/// Reports that a figure whose growth is limited is unknown.
static void reportUnknown(const Figure &figure, const Report &report,
                          Diagnostics &diagnostics) {
  std::string option = "--" + figure.option.str() + ": ";
  if (figure.isLessWorse)
    diagnostics.reportFile(
        DiagnosticId::BadOption, report.file,
        option + "the file does not contain the accuracy",
        "`ingot report MODEL.onnx --against FLOAT.onnx --json -o "
        "FILE.json` writes a report that does");
  else if (figure.option == "max-time-growth")
    diagnostics.reportFile(
        DiagnosticId::BadOption, report.file,
        option + "there is no predicted time for the target " + report.target,
        "limit the work by --max-macs-growth");
  else
    diagnostics.reportFile(
        DiagnosticId::MissingProgram, report.file,
        option + "the " + figure.title.str() + " for " + report.target +
            " is not measured",
        "install the compiler of the target, or name one with --cxx; `ingot "
        "targets` lists them");
}

/// Reports each figure that grows (or, if less is worse, falls) by more than
/// its option allows.
static void checkGrowth(const Arguments &arguments, const Report &before,
                        const Report &after, Diagnostics &diagnostics) {
  for (const auto &limit : arguments.growth) {
    const std::string &option = limit.first;
    const Growth &allowed = limit.second;
    // The predicted time is in cycles for processors, in microseconds for GPUs.
    auto isLimited = [&](const Figure &f) { return f.option == option; };
    const Figure *known = find_if(totals, [&](const Figure &f) {
      return isLimited(f) && before.values.get(f.key) &&
             after.values.get(f.key);
    });
    const Figure &figure =
        known != std::end(totals) ? *known : *find_if(totals, isLimited);
    auto a = before.values.getNumber(figure.key);
    auto b = after.values.getNumber(figure.key);
    if (!a || !b) {
      reportUnknown(figure, a ? after : before, diagnostics);
      continue;
    }
    double growth = figure.isLessWorse ? *a - *b : *b - *a;
    double most = allowed.isPercent ? *a * allowed.value / 100 : allowed.value;
    if (growth <= most)
      continue;
    std::string limitText = numberText(most);
    if (allowed.isPercent)
      raw_string_ostream(limitText) << format(" (%g %%)", allowed.value);
    diagnostics.reportFile(
        DiagnosticId::OverGrowth, after.file,
        figure.title + (figure.isLessWorse ? " falls" : " grows") + " from " +
            numberText(*a) + " to " + numberText(*b) + ", by " +
            numberText(growth) + "; --" + option + " allows " + limitText,
        figure.isLessWorse
            ? "`ingot report --against` shows the error of each layer; "
              "quantize fewer layers, or raise --" +
                  option
            : "the list of kernels shows what grew; make the model smaller, "
              "or raise --" +
                  option);
  }
}

int diffCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (!requireOneTarget(arguments, "`ingot diff`", diagnostics))
    return diagnostics.exitCode();
  bool hasTarget = is_contained(arguments.given, "target");
  bool areReports[] = {isJson(arguments.positional[0]),
                       isJson(arguments.positional[1])};
  if (areReports[0] && areReports[1] &&
      !refuseUnused(arguments, {"target"}, "on two reports", diagnostics))
    return diagnostics.exitCode();
  std::vector<std::optional<Report>> read(2);
  // Reads the reports first: without --target, a model is inspected for the
  // target of the report.
  for (bool isReport : {true, false})
    for (size_t i : {0, 1}) {
      if (areReports[i] != isReport)
        continue;
      read[i] =
          readReport(arguments, arguments.positional[i], isReport, diagnostics);
      if (!read[i])
        return diagnostics.exitCode();
      if (isReport && !hasTarget)
        if (auto *target = lookupTarget(read[i]->target))
          arguments.compile.target = target;
    }
  const Report &before = *read[0], &after = *read[1];
  std::vector<Pair> pairs = pairKernels(before, after);
  checkGrowth(arguments, before, after, diagnostics);
  if (arguments.json) {
    printJson(before, after, pairs, diagnostics);
    arguments.json = false; // the diagnostics are printed as JSON already
  } else {
    printText(before, after, pairs);
  }
  return diagnostics.exitCode();
}

} // namespace ingot
