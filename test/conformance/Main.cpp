// ingot-conformance.
//
// usage: ingot-conformance SUITE WORK TARGET JOBS BATCH TIMEOUT MODE... < cases
//
// TARGET may be CODE@MACHINE: the code of target CODE (for example the portable
// code), built and run as for target MACHINE. With the suffix ,c the sources are
// C; with ,fast=KIND, floats are multiplied in reduced precision.
//
// Reads lines of the suite's cases.tsv, runs each case in these modes and prints
// one line per unit (a case in one mode): kind, name, mode, status, reason. Each
// batch runs in a separate process. If that process crashes, only the unit that
// was active is lost. The other units are run again: together if the crash
// happened in a single unit, one by one if it happened while the whole batch was
// built.

#include "Batch.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace ingot;
using namespace ingot::conformance;

namespace {

/// A process that runs a batch, and its output so far.
struct Worker {
  std::vector<Unit> units;
  std::vector<bool> finished;
  pid_t process = 0;
  int pipe = -1;
  std::string folder, unread;
  int unit = -1;
  std::string doing = "start";
  std::chrono::steady_clock::time_point heard;
};

using Queue = std::deque<std::vector<Unit>>;

} // namespace

static std::string oneLine(StringRef text) {
  std::string line = text.take_front(300).str();
  for (char &c : line)
    if (c == '\t' || c == '\n')
      c = ' ';
  return line;
}

static void report(const Unit &unit, StringRef status, StringRef reason) {
  outs() << unit.kind << '\t' << unit.name << '\t' << unit.mode << '\t'
         << status << '\t' << oneLine(reason) << '\n';
  outs().flush();
}

static void start(Worker &worker, const Settings &settings, int number) {
  worker.folder = settings.work + "/batch" + utostr(number);
  sys::fs::create_directories(worker.folder);
  worker.finished.assign(worker.units.size(), false);
  worker.heard = std::chrono::steady_clock::now();
  int ends[2];
  if (pipe(ends))
    report_fatal_error("no pipe");
  worker.process = fork();
  if (worker.process == 0) {
    close(ends[0]);
    int log = open((worker.folder + "/log").c_str(),
                   O_CREAT | O_WRONLY | O_TRUNC, 0644);
    dup2(log, 2);
    raw_fd_ostream pipe(ends[1], /*shouldClose=*/true, /*unbuffered=*/true);
    Listener listener;
    listener.begin = [&](int unit, StringRef what) {
      pipe << ("begin\t" + Twine(unit) + "\t" + what + "\n").str();
    };
    listener.end = [&](int unit, Status status, StringRef reason) {
      pipe << ("end\t" + Twine(unit) + "\t" + statusName(status) + "\t" +
               oneLine(reason) + "\n")
                  .str();
    };
    runBatch(worker.units, settings, worker.folder, listener);
    _exit(0);
  }
  close(ends[1]);
  worker.pipe = ends[0];
}

/// Reads the output that a worker has written so far, and reports finished
/// units; returns false when the worker has closed its output.
static bool listen(Worker &worker) {
  char buffer[65536];
  ssize_t count = read(worker.pipe, buffer, sizeof(buffer));
  if (count <= 0)
    return false;
  worker.heard = std::chrono::steady_clock::now();
  worker.unread.append(buffer, count);
  size_t end;
  while ((end = worker.unread.find('\n')) != std::string::npos) {
    std::string line = worker.unread.substr(0, end);
    worker.unread.erase(0, end + 1);
    SmallVector<StringRef> fields;
    StringRef(line).split(fields, '\t');
    fields[1].getAsInteger(10, worker.unit);
    if (fields[0] == "begin") {
      worker.doing = fields[2].str();
      continue;
    }
    worker.finished[worker.unit] = true;
    report(worker.units[worker.unit], fields[2], fields[3]);
  }
  return true;
}

/// Returns the message of a failed assertion or of LLVM's error handler from
/// the log of a worker that crashed; empty if there is none.
static std::string lastWords(const Worker &worker) {
  auto log = MemoryBuffer::getFile(worker.folder + "/log");
  if (!log)
    return "";
  SmallVector<StringRef> lines;
  (*log)->getBuffer().split(lines, '\n');
  for (StringRef line : reverse(lines))
    if (line.contains("Assertion") || line.contains("LLVM ERROR"))
      return ": " + line.rsplit('/').second.str();
  return "";
}

static void finish(Worker &worker, Queue &queue, bool timedOut) {
  waitpid(worker.process, nullptr, 0);
  close(worker.pipe);
  std::vector<Unit> rest;
  for (auto [i, unit] : enumerate(worker.units))
    if (!worker.finished[i] && int(i) != worker.unit)
      rest.push_back(unit);
  bool single = worker.units.size() == 1;
  if (worker.unit >= 0 || single) {
    int unit = std::max(worker.unit, 0);
    if (!worker.finished[unit])
      report(worker.units[unit], "crash",
             (timedOut ? "no end to " : "died in ") + worker.doing +
                 lastWords(worker));
  }
  if (worker.unit >= 0 && !rest.empty())
    queue.push_front(rest);
  else if (worker.unit < 0 && !single)
    for (auto [i, unit] : enumerate(worker.units))
      if (!worker.finished[i])
        queue.push_front({unit});
  sys::fs::remove_directories(worker.folder);
}

static Queue readCases(size_t perBatch, ArrayRef<char *> modes) {
  Queue queue;
  auto input = MemoryBuffer::getSTDIN();
  if (!input)
    report_fatal_error("no cases");
  SmallVector<StringRef> lines;
  (*input)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    SmallVector<StringRef> fields;
    line.split(fields, '\t');
    if (fields.size() != 5)
      report_fatal_error("not a case");
    // Each whole network is a batch of its own.
    bool isNetwork = fields[0] == "real";
    if (queue.empty() || isNetwork ||
        queue.back().size() >= modes.size() * perBatch ||
        queue.back().back().kind == "real")
      queue.emplace_back();
    for (StringRef mode : modes) {
      Unit unit{
          fields[0].str(), fields[1].str(), mode.str(), {}, fields[4].str()};
      fields[2].getAsDouble(unit.tolerance.relative);
      fields[3].getAsDouble(unit.tolerance.absolute);
      queue.back().push_back(unit);
    }
  }
  return queue;
}

/// Parses "generic@cortex-m4": the code of the first target, built for the
/// machine of the second.
static const TargetDescription *findTarget(StringRef name) {
  auto [code, machine] = name.split('@');
  const TargetDescription *target = lookupTarget(code);
  if (machine.empty() || !target)
    return target;
  static TargetDescription both;
  const TargetDescription *on = lookupTarget(machine);
  if (!on)
    return nullptr;
  both = *target;
  both.compilers = on->compilers;
  both.compilerFlags = on->compilerFlags;
  both.linker = on->linker;
  both.linkFlags = on->linkFlags;
  both.programText = on->programText;
  both.emulator = on->emulator;
  both.elf = on->elf;
  both.runsOnThisHost = on->runsOnThisHost;
  return &both;
}

int main(int argc, char **argv) {
  if (argc < 8) {
    errs() << "usage: ingot-conformance SUITE WORK TARGET JOBS BATCH TIMEOUT "
              "MODE... < cases\n";
    return 1;
  }
  auto [targetName, fast] = StringRef(argv[3]).split(",fast=");
  bool isC = targetName.consume_back(",c");
  Settings settings{argv[1], argv[2],    findTarget(targetName),
                    isC,     fast.str(), unsigned(atoi(argv[6]))};
  size_t jobs = atoi(argv[4]), perBatch = atoi(argv[5]);
  // The worker itself waits for an emulator until its timeout, so its own
  // timeout is longer.
  std::chrono::seconds timeout(settings.seconds + 10);
  if (!settings.target || !jobs || !perBatch) {
    errs() << "ingot-conformance: wrong argument\n";
    return 1;
  }
  Queue queue = readCases(perBatch, ArrayRef(argv + 7, argc - 7));
  std::vector<std::unique_ptr<Worker>> workers;
  int number = 0;
  while (!queue.empty() || !workers.empty()) {
    while (!queue.empty() && workers.size() < jobs) {
      workers.push_back(std::make_unique<Worker>());
      workers.back()->units = std::move(queue.front());
      queue.pop_front();
      start(*workers.back(), settings, number++);
    }
    std::vector<pollfd> pipes;
    for (auto &worker : workers)
      pipes.push_back({worker->pipe, POLLIN, 0});
    poll(pipes.data(), pipes.size(), 1000);
    for (auto [i, pipe] : enumerate(pipes)) {
      Worker &worker = *workers[i];
      bool late = std::chrono::steady_clock::now() - worker.heard > timeout;
      if (late)
        kill(worker.process, SIGKILL);
      if (!late && (!pipe.revents || listen(worker)))
        continue;
      finish(worker, queue, late);
      workers[i].reset();
    }
    erase_if(workers, [](auto &worker) { return !worker; });
  }
  return 0;
}
