// Runs a target's compiler.

#include "codegen/objects/Toolchain.h"

#include "codegen/objects/Interrupts.h"
#include "codegen/objects/TemporaryFolder.h"
#include "targets/ModuleForm.h"
#include "targets/ProgramForm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace ingot {

char MissingProgram::ID;
char MachineFault::ID;

std::vector<std::string> installedCommand(StringRef command) {
  SmallVector<StringRef> words;
  command.split(words, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> result(words.begin(), words.end());
  ErrorOr<std::string> path =
      sys::findProgramByName(words.empty() ? StringRef() : words.front());
  if (!path)
    return {};
  result.front() = *path;
  return result;
}

Expected<std::vector<std::string>>
findCompiler(const TargetDescription &target) {
  for (StringRef command : target.compilers)
    if (auto words = installedCommand(command); !words.empty())
      return words;
  return make_error<MissingProgram>(
      ("no compiler for the target `" + target.name +
       "` is installed; looked for " + join(target.compilers, ", "))
          .str());
}

TargetDescription withCompiler(const TargetDescription &target,
                               StringRef command) {
  TargetDescription result = target;
  if (!command.empty())
    result.compilers = {command};
  return result;
}

/// Returns the line of a program's messages that reports a fault of the machine
/// (full disk, no memory); empty if there is none.
static StringRef machineFaultIn(StringRef messages) {
  static constexpr int codes[] = {ENOSPC, EDQUOT, EFBIG,  EROFS, EACCES,
                                  EIO,    ENOMEM, EMFILE, ENFILE};
  SmallVector<std::string> signs;
  for (int code : codes)
    signs.push_back(std::generic_category().message(code));
  SmallVector<StringRef> lines;
  messages.split(lines, '\n');
  for (StringRef line : lines) {
    // The compiler reports that the system killed one of its processes, usually
    // because memory ran out.
    bool isKilled = line.contains("Killed");
    auto isSign = [&](StringRef sign) {
      return line.contains_insensitive(sign);
    };
    if (isKilled || llvm::any_of(signs, isSign))
      return line.trim();
  }
  return "";
}

/// Starts a command as a process group, so that it can be ended with all of its
/// children. Its messages are in English and go to the file descriptor
/// `output`; its temporary files go to `folder`, since compilers that fail
/// leave some behind. Returns 0 and sets `child`, or returns an error number.
static int start(ArrayRef<std::string> command, StringRef folder, int output,
                 pid_t &child) {
  std::string variables[] = {"LC_ALL=C", ("TMPDIR=" + folder).str()};
  std::vector<char *> words, environment;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  for (char **entry = environ; *entry; ++entry)
    if (!StringRef(*entry).starts_with("LC_ALL=") &&
        !StringRef(*entry).starts_with("TMPDIR="))
      environment.push_back(*entry);
  for (std::string &variable : variables)
    environment.push_back(variable.data());
  words.push_back(nullptr);
  environment.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, output, 2);
  SignalsHeld held;
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setsigmask(&how, &held.before);
  int code = posix_spawn(&child, words.front(), &files, &how, words.data(),
                         environment.data());
  setRunningProgram(code ? 0 : child);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return code;
}

/// Reads a program's output until it ends; returns false if that takes more
/// than `seconds`, unless `seconds` is 0.
static bool readMessages(int input, unsigned seconds, std::string &messages) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::seconds(seconds);
  char buffer[4096];
  while (true) {
    int wait = -1;
    if (seconds)
      wait = std::max<int64_t>(
          0, std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now())
                 .count());
    pollfd ready = {input, POLLIN, 0};
    int count = poll(&ready, 1, wait);
    if (count == 0)
      return false;
    if (count < 0 && errno == EINTR)
      continue;
    ssize_t size = read(input, buffer, sizeof buffer);
    if (size <= 0)
      return true;
    messages.append(buffer, size);
  }
}

Error runProgram(ArrayRef<std::string> command, unsigned seconds) {
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  auto fault = [&](const Twine &what) {
    return make_error<MachineFault>(
        ("`" + sys::path::filename(command.front()) + "` " + what).str());
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return fault("cannot be run: " + std::generic_category().message(errno));
  pid_t child = 0;
  int code = start(command, folder->path(), ends[1], child);
  close(ends[1]);
  auto done = scope_exit([&] { close(ends[0]); });
  if (code)
    return fault("cannot be run: " + std::generic_category().message(code));
  std::string messages;
  bool isInTime = readMessages(ends[0], seconds, messages);
  if (!isInTime)
    kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  setRunningProgram(0);
  if (isInTime && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return Error::success();
  if (StringRef line = machineFaultIn(messages); isInTime && !line.empty())
    return fault("failed: " + line);
  if (isInTime && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return fault("was killed by the system, as for want of memory");
  std::string how;
  if (!isInTime)
    how = " after " + std::to_string(seconds) + " seconds";
  else if (WIFSIGNALED(status))
    how = std::string(": ") + strsignal(WTERMSIG(status));
  return createStringError("'" + join(command, " ") + "' failed" + how + "\n" +
                           messages);
}

Error compileSource(const TargetDescription &target, StringRef source,
                    StringRef object, ArrayRef<StringRef> flags) {
  Expected<std::vector<std::string>> command = findCompiler(target);
  if (!command)
    return command.takeError();
  std::vector<std::string> ours;
  for (StringRef flag : concat<const StringRef>(programForm(target).objectFlags,
                                                target.compilerFlags, flags))
    ours.push_back(flag.str());
  // Flags in the command follow Ingot's, so that they take precedence: -Os in
  // --cxx "g++ -Os", for example, replaces Ingot's -O2.
  auto first = llvm::find_if(
      *command, [](StringRef word) { return word.starts_with("-"); });
  command->insert(first, ours.begin(), ours.end());
  command->insert(command->end(), {"-c", source.str(), "-o", object.str()});
  return runProgram(*command);
}

std::vector<std::string>
flagsForLevels(ArrayRef<const TargetDescription *> others) {
  std::vector<std::string> flags;
  for (const TargetDescription *other : others) {
    if (other->device.level == 0)
      continue;
    std::string level = std::to_string(other->device.level);
    flags.insert(flags.end(),
                 {"-gencode", "arch=compute_" + level + ",code=[sm_" + level +
                                  ",compute_" + level + "]"});
  }
  return flags;
}

Error mergeObjects(const TargetDescription &target,
                   ArrayRef<std::string> objects, StringRef merged) {
  std::vector<std::string> command = installedCommand(target.linker);
  if (target.linker.empty()) {
    Expected<std::vector<std::string>> compiler = findCompiler(target);
    if (!compiler)
      return compiler.takeError();
    command = std::move(*compiler);
  } else if (command.empty()) {
    return make_error<MissingProgram>(
        ("the linker `" + target.linker + "` is not installed").str());
  }
  // With the target's flags, the compiler links the variant of its library for
  // this target.
  for (StringRef flag : target.compilerFlags)
    command.push_back(flag.str());
  command.insert(command.end(), {"-r", "-nostdlib"});
  append_range(command, objects);
  command.insert(command.end(), {"-o", merged.str()});
  return runProgram(command);
}

Error linkModule(const TargetDescription &target, ArrayRef<std::string> objects,
                 int64_t stackBytes, StringRef module) {
  Expected<std::vector<std::string>> command = findCompiler(target);
  if (!command)
    return command.takeError();
  append_range(*command, objects);
  for (StringRef flag : moduleForm(target)->flags) {
    auto [before, after] = flag.split("{stack}");
    command->push_back(before == flag
                           ? flag.str()
                           : (before + Twine(stackBytes) + after).str());
  }
  command->insert(command->end(), {"-o", module.str()});
  return runProgram(*command);
}

} // namespace ingot
