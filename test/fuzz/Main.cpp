// ingot-fuzz.
//
// usage: ingot-fuzz [--seconds S] [--seed N] [--keep DIR] [MODEL|FOLDER...]
//
// Compiles models that are nearly valid to C++, with random options, each in a
// process of its own:
//
//   nodes    one node of any operator, with random operands
//   parts    of the given models, with one operator changed
//   models   as given, with changes to their structure or their bytes
//
// A crash, a hang, an internal error, a failure without a diagnostic, and
// output files left after a failure are faults. Each kind of fault is reported
// once, with the options that reproduce it and, with --keep, its model.

#include "Seeds.h"
#include "Trial.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>

using namespace ingot;
using namespace ingot::fuzz;

namespace {
struct Arguments {
  double seconds = 10;
  uint64_t seed = 1;
  std::filesystem::path keep;
  Seeds seeds;
};

/// A model to compile, valid or not, and the bytes of its file.
struct Subject {
  onnx::ModelProto model;
  std::string bytes;
};
} // namespace

static bool readArguments(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    bool hasValue = i + 1 < argc;
    if (argument == "--seconds" && hasValue)
      arguments.seconds = std::atof(argv[++i]);
    else if (argument == "--seed" && hasValue)
      arguments.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--keep" && hasValue)
      arguments.keep = argv[++i];
    else if (!arguments.seeds.add(argument)) {
      std::cerr << "ingot-fuzz: no models in `" << argument << "`\n";
      return false;
    }
  }
  return true;
}

static Subject randomSubject(Seeds &seeds, Random &random) {
  size_t kind = below(random, 100);
  std::optional<onnx::ModelProto> model;
  if (kind < 70 && !seeds.empty())
    model = seeds.part(random);
  else if (kind < 80 && !seeds.empty())
    model = seeds.whole(random);
  bool isGiven = model.has_value();
  if (!model)
    model = randomNode(random);
  size_t change = below(random, 20);
  if (change < (isGiven ? 13 : 4)) {
    for (size_t changes = 1 + below(random, 2); changes; --changes)
      mutateOperator(*model, random);
  } else if (change < 17 && change >= (isGiven ? 13 : 10)) {
    mutateModel(*model, random);
  }
  if (below(random, 5) == 0)
    makeConstant(*model->mutable_graph(), random);
  std::string bytes = model->SerializeAsString();
  if (change == 19)
    mutateBytes(bytes, random);
  return {std::move(*model), std::move(bytes)};
}

/// Returns a key for faults of one kind: the exit code and the first line of
/// the error message, without quoted names and without numbers.
static std::string kindOf(const Outcome &outcome) {
  std::string text = std::to_string(outcome.code) + " ";
  size_t line = 0;
  for (const char *mark : {"Assertion", "internal-error", "error"})
    if (size_t at = outcome.said.find(mark); at != std::string::npos) {
      line = at;
      break;
    }
  bool quoted = false;
  for (char c : outcome.said.substr(line, outcome.said.find('\n', line) - line))
    if (c == '`')
      quoted = !quoted;
    else if (!quoted && !(c >= '0' && c <= '9'))
      text += c;
  return text;
}

static std::string describe(const Outcome &outcome) {
  std::string what = outcome.code == -SIGXCPU || outcome.code == -SIGALRM ||
                             outcome.code == -SIGKILL
                         ? "takes too long"
                     : outcome.code < 0 ? strsignal(-outcome.code)
                     : outcome.code == SaidNothing
                         ? "fails without a diagnostic"
                     : outcome.code == OutputLeftBehind
                         ? "leaves files behind"
                         : "exit code " + std::to_string(outcome.code);
  size_t line = outcome.said.find("Assertion");
  std::string said =
      outcome.said.substr(line == std::string::npos ? 0 : line, 400);
  return what + ": " + said;
}

int main(int argc, char **argv) {
  Arguments arguments;
  if (!readArguments(argc, argv, arguments))
    return 2;
  std::cout << "seed " << arguments.seed << std::endl;
  Random random(arguments.seed);
  Workspace workspace;
  std::map<int, size_t> codes;
  std::map<std::string, size_t> faults;
  constexpr size_t mostFaults = 40;
  size_t count = 0;
  time_t end = time(nullptr) + static_cast<time_t>(arguments.seconds);
  for (; time(nullptr) < end && faults.size() < mostFaults; ++count) {
    Subject subject = randomSubject(arguments.seeds, random);
    Trial trial = randomTrial(subject.model, random);
    Outcome outcome = workspace.compile(subject.bytes, trial);
    if (Workspace::isInterrupted())
      break;
    ++codes[outcome.code];
    if (!isFault(outcome.code) || faults[kindOf(outcome)]++)
      continue;
    std::string name = "fault-" + std::to_string(arguments.seed) + "-" +
                       std::to_string(count) + ".onnx";
    if (!arguments.keep.empty())
      std::ofstream(arguments.keep / name, std::ios::binary) << subject.bytes;
    std::cout << name << trial.commandLine << "\n  " << describe(outcome)
              << std::endl;
  }
  std::cout << count << " models:";
  for (auto [code, n] : codes)
    std::cout << " code " << code << " x" << n;
  std::cout << "; " << faults.size() << " kinds of fault\n";
  if (Workspace::isInterrupted())
    return 2;
  return !faults.empty();
}
