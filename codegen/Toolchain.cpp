//===- Toolchain.cpp - running a target's compiler ------------------------===//

#include "codegen/Toolchain.h"

#include "codegen/Interrupts.h"
#include "targets/TargetDescription.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

using namespace llvm;

namespace ingot {

char MissingProgram::ID;
char MachineFault::ID;

ArrayRef<StringRef> standardCompileFlags() {
  static const StringRef flags[] = {"-std=c++17", "-O2", "-fPIC",
                                    "-fno-exceptions", "-fno-rtti"};
  return flags;
}

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

/// Returns the line of a program's messages that blames the machine; empty if
/// none does.
static StringRef machineFaultIn(StringRef messages) {
  static constexpr int codes[] = {ENOSPC, EDQUOT, EFBIG,  EROFS, EACCES,
                                  EIO,    ENOMEM, EMFILE, ENFILE};
  SmallVector<std::string> signs;
  for (int code : codes)
    signs.push_back(std::generic_category().message(code));
  SmallVector<StringRef> lines;
  messages.split(lines, '\n');
  for (StringRef line : lines) {
    // By the system, for want of memory.
    bool isKilled = line.contains("Killed");
    auto isSign = [&](StringRef sign) {
      return line.contains_insensitive(sign);
    };
    if (isKilled || llvm::any_of(signs, isSign))
      return line.trim();
  }
  return "";
}

/// Starts a command as a process group of its own, so that it can be ended with
/// all that it starts. Its messages, in English, go to the file `log`.
static int start(ArrayRef<std::string> command, StringRef log, pid_t &child) {
  std::string logPath = log.str();
  std::vector<char *> words, environment;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  for (char **entry = environ; *entry; ++entry)
    if (!StringRef(*entry).starts_with("LC_ALL="))
      environment.push_back(*entry);
  char english[] = "LC_ALL=C";
  environment.push_back(english);
  words.push_back(nullptr);
  environment.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, logPath.c_str(),
                                   O_WRONLY | O_TRUNC, 0);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
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

Error runProgram(ArrayRef<std::string> command, unsigned seconds) {
  SmallString<128> messages;
  if (std::error_code code =
          sys::fs::createTemporaryFile("ingot", "log", messages)) {
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, messages);
    return createFileError(messages, code);
  }
  FileRemover remover(messages);
  sys::RemoveFileOnSignal(messages);
  scope_exit keep([&] { sys::DontRemoveFileOnSignal(messages); });
  sys::ProcessInfo process;
  if (int code = start(command, messages, process.Pid))
    return make_error<MachineFault>(
        "`" + command.front() +
        "` cannot be run: " + std::generic_category().message(code));
  process.Process = process.Pid;
  std::string problem;
  std::optional<unsigned> limit;
  if (seconds)
    limit = seconds;
  int status = sys::Wait(process, limit, &problem).ReturnCode;
  setRunningProgram(0);
  if (status == 0)
    return Error::success();
  std::string text;
  if (auto buffer = MemoryBuffer::getFile(messages))
    text = (*buffer)->getBuffer().str();
  if (StringRef line = machineFaultIn(problem + "\n" + text); !line.empty())
    return make_error<MachineFault>("`" +
                                    sys::path::filename(command.front()).str() +
                                    "` failed: " + line.str());
  return createStringError("'" + join(command, " ") + "' failed" +
                           (problem.empty() ? "" : ": " + problem) + "\n" +
                           text);
}

Error compileSource(const TargetDescription &target, StringRef source,
                    StringRef object, ArrayRef<StringRef> flags) {
  Expected<std::vector<std::string>> command = findCompiler(target);
  if (!command)
    return command.takeError();
  std::vector<std::string> ours;
  for (StringRef flag : standardCompileFlags())
    ours.push_back(flag.str());
  for (StringRef flag : concat<const StringRef>(target.compilerFlags, flags))
    ours.push_back(flag.str());
  // The command's own flags come last, so that they win: --cxx "g++ -Os".
  auto first = llvm::find_if(
      *command, [](StringRef word) { return word.starts_with("-"); });
  command->insert(first, ours.begin(), ours.end());
  command->insert(command->end(), {"-c", source.str(), "-o", object.str()});
  return runProgram(*command);
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
  // They say which of its libraries.
  for (StringRef flag : target.compilerFlags)
    command.push_back(flag.str());
  command.insert(command.end(), {"-r", "-nostdlib"});
  append_range(command, objects);
  command.insert(command.end(), {"-o", merged.str()});
  return runProgram(command);
}

} // namespace ingot
