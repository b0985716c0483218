#include "Trial.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ingot::fuzz {

namespace fs = std::filesystem;

/// The limits in seconds of the CPU time of a compilation, and of its elapsed
/// time, which is longer if other work shares the machine. AddressSanitizer
/// makes the compiler slower, and reserves more address space than any limit.
static constexpr unsigned slowdown = LLVM_ADDRESS_SANITIZER_BUILD ? 4 : 1;
static constexpr unsigned secondsOfWork = 20 * slowdown,
                          secondsInAll = 120 * slowdown;
static constexpr rlim_t memoryAllowed =
    LLVM_ADDRESS_SANITIZER_BUILD ? RLIM_INFINITY : rlim_t(6) << 30;

static volatile sig_atomic_t interrupted = 0;
static volatile pid_t running = 0;

bool Workspace::isInterrupted() { return interrupted; }

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static void chooseTargets(Trial &trial, Random &random) {
  llvm::ArrayRef<TargetDescription> all = allTargets();
  const TargetDescription &target = all[below(random, all.size())];
  llvm::SmallVector<const TargetDescription *, 0> targets;
  if (below(random, 5) == 0)
    for (const TargetDescription &other : all)
      if (&other < &target && canShareOutput(other, target) && below(random, 2))
        targets.push_back(&other);
  targets.push_back(&target);
  trial.commandLine += " --target ";
  for (const TargetDescription *each : targets)
    trial.commandLine +=
        (each == targets.front() ? "" : ",") + each->name.str();
  if (below(random, 3) == 0) {
    for (const TargetDescription *&each : targets)
      each = withSuffix(*each, smallSuffix);
    trial.commandLine += " --optimize=size";
  }
  trial.options.verifyEach = true;
  trial.options.target = targets.pop_back_val();
  trial.options.fallbacks = std::move(targets);
}

static constexpr int64_t sizes[] = {1, 1, 2, 3, 7, 16};

/// Sometimes adds a second entry function for other sizes, and sometimes makes
/// an output of the model the next state of an input (--state).
static void chooseFunctions(Trial &trial, const onnx::ModelProto &model,
                            Random &random) {
  const onnx::GraphProto &graph = model.graph();
  if (below(random, 8) == 0) {
    EntryPoint other{"other", "", {}};
    std::string text;
    for (const auto &input : graph.input())
      for (const auto &dim : input.type().tensor_type().shape().dim())
        if (!dim.dim_param().empty() && below(random, 2))
          other.dims.try_emplace(dim.dim_param(),
                                 sizes[below(random, std::size(sizes))]);
    for (const auto &[name, size] : other.dims)
      text +=
          (text.empty() ? ":" : ",") + name + "=" + std::to_string(size.most);
    trial.options.entries = {{"first", "", {}}, other};
    trial.commandLine += " --entry first --entry 'other" + text + "'";
  }
  if (below(random, 6) == 0 && graph.input_size() && graph.output_size()) {
    auto name = [&](const auto &values) {
      return values[below(random, values.size())].name();
    };
    auto [input, output] = trial.options.states.emplace_back(
        name(graph.input()), name(graph.output()));
    trial.commandLine += " --state '" + input + "=" + output + "'";
  }
}

/// Gives each unknown size of the model a number, or keeps all of them dynamic.
static void bindSymbols(Trial &trial, const onnx::ModelProto &model,
                        Random &random) {
  if (below(random, 3) == 0) {
    int64_t least = below(random, 3),
            most = least + sizes[below(random, std::size(sizes))];
    trial.options.import.dims.insert({"*", SizeRange(least, most)});
    trial.commandLine += " --dim '*=" + std::to_string(least) + ".." +
                         std::to_string(most) + "'";
    return;
  }
  for (const auto &input : model.graph().input()) {
    const auto &shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (shape.dim(axis).has_dim_value())
        continue;
      std::string name = shape.dim(axis).dim_param();
      if (name.empty())
        name = input.name() + ":" + std::to_string(axis);
      int64_t size = sizes[below(random, std::size(sizes))];
      if (trial.options.import.dims.try_emplace(name, size).second)
        trial.commandLine +=
            " --dim '" + name + "=" + std::to_string(size) + "'";
    }
  }
}

Trial randomTrial(const onnx::ModelProto &model, Random &random) {
  Trial trial;
  CompileOptions &options = trial.options;
  chooseTargets(trial, random);
  if ((options.strict = below(random, 4) == 0))
    trial.commandLine += " --strict";
  static const std::pair<WeightsMode, const char *> modes[] = {
      {WeightsMode::Auto, ""},
      {WeightsMode::Source, " --weights source"},
      {WeightsMode::Object, " --weights object"},
      {WeightsMode::File, " --weights file"}};
  auto [mode, text] = modes[below(random, std::size(modes))];
  options.weights = mode;
  trial.commandLine += text;
  // For a GPU, the command line rejects --max-ram and --arena-section.
  bool isDevice = options.target->isDevice();
  if (below(random, 6) == 0 && !isDevice) {
    options.maxRam = int64_t(1) << below(random, 20);
    trial.commandLine += " --max-ram " + std::to_string(*options.maxRam);
  }
  if (below(random, 6) == 0 && !isDevice) {
    options.arenaSection = ".bss.arena";
    trial.commandLine += " --arena-section .bss.arena";
  }
  chooseFunctions(trial, model, random);
  if (below(random, 20))
    bindSymbols(trial, model, random);
  return trial;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

static void interrupt(int) {
  interrupted = 1;
  if (running > 0)
    kill(running, SIGKILL);
}

Workspace::Workspace() : context(makeContext()) {
  // Signal handlers are installed before the temporary folder exists, so that
  // the folder is removed even if a signal ends the program.
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, interrupt);
  std::string name = (fs::temp_directory_path() / "ingot-fuzz-XXXXXX").string();
  if (!mkdtemp(name.data())) {
    std::perror(name.c_str());
    exit(1);
  }
  folder = name;
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

static void limit(int resource, rlim_t most) {
  rlimit value{most, most};
  setrlimit(resource, &value);
}

void Workspace::compileInChild(const Trial &trial) {
  // If the parent dies, nobody would remove the files of its child.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, SIG_DFL);
  int log = open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(log, 1);
  dup2(log, 2);
  setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
  limit(RLIMIT_AS, memoryAllowed);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, secondsOfWork);
  alarm(secondsInAll);
  Diagnostics diagnostics;
  Compilation compilation(trial.options, *context, diagnostics);
  bool good = compilation.emit((folder / "net.cpp").string());
  diagnostics.print(llvm::errs());
  // A failure without a diagnostic is a fault, like a crash.
  _exit(good == diagnostics.empty() ? diagnostics.exitCode() : SaidNothing);
}

bool Workspace::clear(int code) {
  bool unexpected = false;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    bool isInput = name == "net.onnx" || name == "log";
    bool isOutput = name == "net.cpp" || name == "net.h" ||
                    name == "net.weights" || name == "net.weights.o" ||
                    name == "net.constants.inc";
    unexpected |= !isInput && !(isOutput && code == Success);
    fs::remove_all(entry.path());
  }
  return unexpected;
}

Outcome Workspace::compile(const std::string &model, const Trial &trial) {
  Trial here = trial;
  here.options.model = (folder / "net.onnx").string();
  std::ofstream(here.options.model, std::ios::binary) << model;
  pid_t child = fork();
  if (child == 0)
    compileInChild(here);
  if (child < 0) {
    std::perror("fork");
    return {Success, ""};
  }
  running = child;
  if (interrupted)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  running = 0;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  std::stringstream said;
  said << std::ifstream(folder / "log").rdbuf();
  // A process that was killed (code < 0) cannot remove its temporary files, so
  // only other processes must leave none.
  if (clear(code) && code >= 0)
    code = OutputLeftBehind;
  return {code, said.str()};
}

} // namespace ingot::fuzz
