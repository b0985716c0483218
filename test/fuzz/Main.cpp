//===- Main.cpp - ingot-fuzz ----------------------------------------------===//
//
// usage: ingot-fuzz [--seconds S] [--seed N] [--keep DIR] MODEL...
//
// Compiles mutated models up to the text, for each target in turn, each in a
// process of its own.
// A crash or a hang is a failure, its model is kept; so is an exit without a
// diagnostic, or one that leaves output behind. Models that only make us report
// an internal error are counted and the first ones named.
//
//===----------------------------------------------------------------------===//

#include "Mutate.h"
#include "compiler/Compile.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;

static constexpr unsigned secondsAllowed = 20;

/// Beside the exit codes: what counts as a crash.
static constexpr int saidNothing = 99, outputLeftBehind = 98;

/// What a child does; never returns.
[[noreturn]] static void compileIn(const std::string &path,
                                   const std::string &log,
                                   const TargetDescription &target) {
  int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, 1);
  dup2(file, 2);
  rlimit memory{rlim_t(6) << 30, rlim_t(6) << 30};
  setrlimit(RLIMIT_AS, &memory);
  rlimit core{0, 0};
  setrlimit(RLIMIT_CORE, &core);
  alarm(secondsAllowed);
  Diagnostics diagnostics;
  auto context = makeContext();
  CompileOptions options;
  options.model = path;
  options.target = &target;
  Compilation compilation(options, *context, diagnostics);
  bool good = compilation.emit(path + ".cpp");
  diagnostics.print(llvm::errs());
  // Failure without a word is as bad as a crash.
  _exit(good == diagnostics.empty() ? diagnostics.exitCode() : saidNothing);
}

static std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

int main(int argc, char **argv) {
  double seconds = 10;
  uint64_t seed = 1;
  std::string keep = ".";
  std::vector<std::string> seeds;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (argument == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--keep" && i + 1 < argc)
      keep = argv[++i];
    else
      seeds.push_back(readFile(argument));
  }
  std::cout << "seed " << seed << "\n";
  fuzz::Random random(seed);
  std::string path = keep + "/fuzz-" + std::to_string(getpid()) + ".onnx";
  std::string log = path + ".log";
  llvm::ArrayRef<TargetDescription> targets = allTargets();
  std::map<int, size_t> codes;
  size_t failures = 0, internal = 0, count = 0;
  time_t end = time(nullptr) + time_t(seconds);
  for (; time(nullptr) < end && failures < 20; ++count) {
    std::string bytes;
    size_t kind = random() % 4;
    onnx::ModelProto model;
    if (kind < 2 || seeds.empty()) {
      model = fuzz::randomNode(random);
      if (kind == 1)
        fuzz::mutateModel(model, random);
      bytes = model.SerializeAsString();
    } else {
      bytes = seeds[random() % seeds.size()];
      if (kind == 2 && model.ParseFromString(bytes)) {
        fuzz::mutateModel(model, random);
        bytes = model.SerializeAsString();
      } else {
        fuzz::mutateBytes(bytes, random);
      }
    }
    std::ofstream(path, std::ios::binary) << bytes;
    std::cout.flush();
    pid_t child = fork();
    if (child == 0)
      compileIn(path, log, targets[count % targets.size()]);
    int status = 0;
    waitpid(child, &status, 0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    bool wrote = false;
    for (const char *output : {".cpp", ".h"})
      wrote |= unlink((path + output).c_str()) == 0;
    if (wrote && code != Success)
      code = outputLeftBehind;
    ++codes[code];
    bool isKnown =
        code == Success || code == InvalidInput || code == Unsupported;
    if (isKnown)
      continue;
    bool bad = code != InternalError;
    failures += bad;
    internal += !bad;
    if (!bad && internal > 20)
      continue;
    std::string kept = keep + "/" + (bad ? "crash-" : "internal-") +
                       std::to_string(seed) + "-" + std::to_string(count) +
                       ".onnx";
    std::ofstream(kept, std::ios::binary) << bytes;
    std::string said = readFile(log);
    size_t line = said.find("Assertion");
    said = said.substr(line == std::string::npos ? 0 : line, 300);
    std::cout << kept << ": "
              << (code == -SIGALRM ? "takes too long"
                                   : "code " + std::to_string(code))
              << ": " << said.substr(0, said.find('\n')) << "\n";
  }
  unlink(path.c_str());
  unlink(log.c_str());
  std::cout << count << " models:";
  for (auto [code, n] : codes)
    std::cout << " code " << code << " x" << n;
  std::cout << "; " << failures << " crashes\n";
  return failures != 0;
}
