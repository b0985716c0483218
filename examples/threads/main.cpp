// main.cpp: maps weights from a file, runs on a thread pool, and traces.
//
//     usage: classify [THREADS]     default: all cores
//
// Maps the weights of the network into memory, runs the network on one thread
// and on several, and prints its answer and the time of each kernel.

#include "ingot_thread_pool.h"
#include "mnist.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int side = 28, classes = 10;

/// A file mapped into memory; the operating system reads pages when they are
/// first used.
class MappedFile {
public:
  explicit MappedFile(const char *path) {
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0) {
      void *start = mmap(nullptr, static_cast<size_t>(status.st_size),
                         PROT_READ, MAP_SHARED, file, 0);
      if (start != MAP_FAILED) {
        data = start;
        bytes = static_cast<size_t>(status.st_size);
      }
    }
    if (file >= 0)
      close(file);
  }
  ~MappedFile() {
    if (data)
      munmap(data, bytes);
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  void *data = nullptr;
  size_t bytes = 0;
};

using Clock = std::chrono::steady_clock;

/// The time of each kernel in microseconds, in order of execution.
struct Trace {
  std::vector<double> kernels;
  Clock::time_point start;

  /// The trace callback: the network calls it before and after each kernel, on
  /// the thread that called mnist::run.
  static void mark(void *user, int32_t kernel, int32_t finished) {
    Trace &trace = *static_cast<Trace *>(user);
    if (!finished) {
      trace.start = Clock::now();
      return;
    }
    trace.kernels.resize(static_cast<size_t>(kernel) + 1);
    trace.kernels.back() =
        std::chrono::duration<double, std::micro>(Clock::now() - trace.start)
            .count();
  }
};

/// The working memory of a run; concurrent runs would need an arena each.
mnist::arena arena;

} // namespace

int main(int argc, char **argv) {
  MappedFile weights(WEIGHTS_FILE);
  if (!weights.data ||
      mnist_check_weights(weights.data, weights.bytes) != INGOT_OK) {
    std::fprintf(stderr, "classify: %s is not the weights file of this model\n",
                 WEIGHTS_FILE);
    return 1;
  }

  // The input: a ring, which resembles a zero.
  static float image[side * side];
  for (int i = 0; i < side * side; ++i) {
    int x = i % side - side / 2, y = i / side - side / 2, r = x * x + y * y;
    image[i] = r > 40 && r < 90 ? 255.0f : 0.0f;
  }

  float alone[classes], together[classes];
  mnist::io io = {image, alone, weights.data};
  if (mnist::run(io, arena) != INGOT_OK)
    return 1;

  ingot::ThreadPool pool(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1]))
                                  : 0);
  Trace trace;
  ingot_context context = pool.context();
  context.trace = Trace::mark;
  context.trace_user = &trace;
  io.Plus214_Output_0 = together;
  for (int run = 0; run < 100; ++run)
    if (mnist::run(io, arena, &context) != INGOT_OK)
      return 1;

  std::printf("a ring looks like %d\n",
              static_cast<int>(std::max_element(together, together + classes) -
                               together));
  std::printf("the last of 100 runs on %u threads:\n", pool.size());
  for (size_t i = 0; i < trace.kernels.size(); ++i)
    std::printf("  %8.1f us  %s\n", trace.kernels[i],
                mnist_kernel_name(static_cast<int32_t>(i)));
  bool same = std::memcmp(alone, together, sizeof alone) == 0;
  std::printf("one thread and %u give %s\n", pool.size(),
              same ? "the same bits" : "different results");
  return same ? 0 : 1;
}
