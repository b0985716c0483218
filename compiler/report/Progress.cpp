#include "compiler/report/Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

namespace ingot {

static constexpr llvm::StringLiteral eraseLine = "\r\033[K";
static Verbosity chosenVerbosity = Verbosity::Normal;

/// The line on the terminal that names the work in progress; a thread updates
/// the elapsed seconds.
class Progress::Line {
public:
  explicit Line(const std::string &what) : what(what) {
    llvm::errs() << eraseLine << what << " ...";
    // Blocks signals in the new thread, so that the main thread handles them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    clock = std::thread([this] { count(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Line() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isDone = true;
    }
    changed.notify_one();
    clock.join();
    llvm::errs() << eraseLine;
  }

private:
  void count() {
    std::unique_lock<std::mutex> lock(mutex);
    for (int seconds = 1;; ++seconds) {
      if (changed.wait_for(lock, std::chrono::seconds(1),
                           [&] { return isDone; }))
        return;
      if (seconds >= 2)
        llvm::errs() << eraseLine << what << " ... " << seconds << " s";
    }
  }

  std::string what;
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  std::thread clock;
};

void Progress::setVerbosity(Verbosity verbosity) {
  chosenVerbosity = verbosity;
}

Progress::Progress(llvm::StringRef what)
    : what(what), start(std::chrono::steady_clock::now()) {
  if (chosenVerbosity == Verbosity::Normal && llvm::errs().is_displayed())
    line = std::make_unique<Line>(this->what);
}

Progress::~Progress() {
  line.reset();
  if (chosenVerbosity != Verbosity::Verbose)
    return;
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  llvm::errs() << what << llvm::format(": %.2f s\n", taken.count());
}

} // namespace ingot
