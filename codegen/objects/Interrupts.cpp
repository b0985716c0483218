#include "codegen/objects/Interrupts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <spawn.h>
#include <sys/wait.h>

using llvm::StringRef;

namespace ingot {

static constexpr int endingSignals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};

/// The temporary folders to remove. They are in a fixed array, since the signal
/// handler must not allocate. A compilation has at most three folders at once.
static std::atomic<char *> folders[16];
static std::atomic<int> runningProgram;

SignalsHeld::SignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (int signal : endingSignals)
    sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &before);
}

SignalsHeld::~SignalsHeld() { sigprocmask(SIG_SETMASK, &before, nullptr); }

void removeFolderOnSignal(StringRef folder) {
  char *copy = strdup(folder.str().c_str());
  for (std::atomic<char *> &slot : folders) {
    char *none = nullptr;
    if (slot.compare_exchange_strong(none, copy))
      return;
  }
  std::free(copy);
}

void forgetFolder(StringRef folder) {
  SignalsHeld held;
  for (std::atomic<char *> &slot : folders)
    if (char *path = slot; path && folder == path) {
      slot = nullptr;
      std::free(path);
    }
}

void setRunningProgram(int group) { runningProgram = group; }

/// Ends the running child process, since it may write into the temporary
/// folders. Sends SIGTERM first, so that the process can remove its own files;
/// if it still runs after two seconds, sends SIGKILL.
static void endRunningProgram() {
  int group = runningProgram.exchange(0);
  if (!group)
    return;
  kill(-group, SIGTERM);
  const timespec pause{0, 10'000'000};
  for (int i = 0; i < 200; ++i) {
    if (waitpid(group, nullptr, WNOHANG) != 0)
      return;
    nanosleep(&pause, nullptr);
  }
  kill(-group, SIGKILL);
}

void cleanUpAfterSignal() {
  endRunningProgram();
  for (std::atomic<char *> &slot : folders) {
    char *path = slot.exchange(nullptr);
    if (!path)
      continue;
    // Listing a folder allocates, which a signal handler must not do, so `rm`
    // is executed.
    char name[] = "rm", flags[] = "-rf", end[] = "--";
    char *arguments[] = {name, flags, end, path, nullptr};
    char *environment[] = {nullptr};
    pid_t child;
    if (posix_spawn(&child, "/bin/rm", nullptr, nullptr, arguments,
                    environment) == 0)
      waitpid(child, nullptr, 0);
  }
}

static void handleSignal(int signal) {
  cleanUpAfterSignal();
  llvm::sys::RunInterruptHandlers();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void installInterruptHandlers() {
  struct sigaction action = {}, before[std::size(endingSignals)] = {};
  for (auto [signal, old] : llvm::zip(endingSignals, before))
    sigaction(signal, nullptr, &old);
  // Makes LLVM install its signal handlers now; later, they would replace the
  // handlers installed below.
  llvm::sys::SetInterruptFunction(nullptr);
  action.sa_handler = handleSignal;
  sigemptyset(&action.sa_mask);
  // A signal that the parent process has set to be ignored (nohup) stays
  // ignored.
  for (auto [signal, old] : llvm::zip(endingSignals, before))
    sigaction(signal, old.sa_handler == SIG_IGN ? &old : &action, nullptr);
  // Exceeding the file size limit becomes a failed write instead of a crash.
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace ingot
