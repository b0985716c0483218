// The text of the program that times the launches of a generated .cu.
//
// The program redirects the runtime calls that launch a kernel, or clear memory
// for one, to functions that record an event before and after the launch. All
// launches are on one stream. With COLD, as much memory as the L2 cache holds
// is written before each launch, so that weights are as cold as in a network,
// and so that the GPU is busy until the launch is on the stream. Afterwards,
// whole runs are timed for SECONDS. In these runs, the launches form one CUDA
// graph, as when an application runs the model.

#include "targets/LaunchTiming.h"

namespace ingot {

llvm::StringRef launchTimingText() {
  return R"(#include "cuda_runtime.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <string>
#include <vector>

namespace timing {
struct Launch {
  cudaEvent_t begin, end;
};
// Of one run: the launches so far, and whether the next one has begun already.
// Without `is_on`, nothing is recorded.
std::vector<Launch> launches;
bool has_begun = false, is_on = true;
unsigned char *cache = nullptr;
constexpr size_t cache_bytes = CACHE;

inline cudaEvent_t event(cudaStream_t stream) {
  cudaEvent_t made = nullptr;
  (void)cudaEventCreateWithFlags(&made, 0);
  (void)cudaEventRecord(made, stream);
  return made;
}
inline void begin(cudaStream_t stream) {
  if (has_begun || !is_on) return;
  if (COLD) (void)cudaMemsetAsync(cache, 1, cache_bytes, stream);
  launches.push_back({event(stream), nullptr});
  has_begun = true;
}
inline cudaError_t clear(void *memory, int value, size_t bytes, cudaStream_t stream) {
  begin(stream);
  return cudaMemsetAsync(memory, value, bytes, stream);
}
template <typename... Parameters, typename... Arguments>
cudaError_t start(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                  Arguments... arguments) {
  begin(config->stream);
  cudaError_t result = cudaLaunchKernelEx(config, kernel, arguments...);
  if (!is_on) return result;
  launches.back().end = event(config->stream);
  has_begun = false;
  return result;
}
} // namespace timing
#define cudaLaunchKernelEx timing::start
#define cudaMemsetAsync timing::clear
#include "SOURCE"
#undef cudaLaunchKernelEx
#undef cudaMemsetAsync
using namespace NAME_source;

// The streams of all branches are the default stream, so that launches do not overlap.
struct one_stream {
  cudaStream_t all[8];
  operator cudaStream_t() const { return all[0]; }
  operator const cudaStream_t *() const { return all; }
};

static int finish(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  if (!file) return 1;
  fputs(text, file);
  return fclose(file);
}

int main(int, char **arguments) {
  const char *path = arguments[1];
  int number = 0, level = 0;
  ingot_status status = device::current(&number, &level);
  if (status != INGOT_OK) return finish(path, "no device");
#ifndef INGOT_EMULATED_CUDA_RUNTIME_H
  if (level != LEVEL) {
    char text[64];
    snprintf(text, sizeof text, "other device %d.%d", level / 10, level % 10);
    return finish(path, text);
  }
#endif
  NAME_constants constants;
  NAME_handle handle;
  NAME_io io = {};
  io.place = INGOT_ON_DEVICE;
  const ptrdiff_t sizes[] = {SIZES};
  constexpr size_t dynamic = sizeof sizes / sizeof *sizes - 1;
  void **fields = reinterpret_cast<void **>(&io) + 1, **tensors = fields + dynamic;
  memcpy(fields, sizes, dynamic * sizeof *sizes);
  const size_t bytes[] = {BYTES};
  void *memory = nullptr;
  status = NAME_upload(&constants, nullptr);
  if (status == INGOT_OK) status = NAME_create(&handle, &constants, nullptr);
  if (status == INGOT_OK) status = device::allocate(&timing::cache, timing::cache_bytes);
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes && status == INGOT_OK; ++i) {
    status = device::status(cudaMalloc(&memory, bytes[i]));
    // As floats of 8, 16 and 32 bits these are numbers of medium size.
    if (status == INGOT_OK) status = device::status(cudaMemsetAsync(memory, 0x3c, bytes[i], nullptr));
    tensors[i] = memory;
  }
  one_stream streams = {};
  std::string text;
  auto microseconds = [](cudaEvent_t begin, cudaEvent_t end) {
    float milliseconds = 0;
    (void)cudaEventElapsedTime(&milliseconds, begin, end);
    return 1e3 * milliseconds;
  };
  auto print = [&](const char *word, double first, double second) {
    char line[64];
    snprintf(line, sizeof line, "%s %.3f %.3f\n", word, first, second);
    text += line;
  };
  // The first run loads the code.
  for (int run = 0; run < RUNS && status == INGOT_OK; ++run) {
    timing::launches.clear();
    status = LAUNCH(&io, handle.memory, constants.memory, streams);
    if (status == INGOT_OK) status = device::wait(nullptr);
    if (run > 0) text += "run\n";
    for (const timing::Launch &launch : timing::launches)
      if (run > 0)
        print("launch", microseconds(timing::launches.front().begin, launch.begin),
              microseconds(timing::launches.front().begin, launch.end));
    for (const timing::Launch &launch : timing::launches) {
      (void)cudaEventDestroy(launch.begin);
      (void)cudaEventDestroy(launch.end);
    }
  }
  timing::is_on = false;
  double elapsed = 0;
  // The first run records the graph.
  for (int run = 0; (run < 2 || elapsed < SECONDS) && status == INGOT_OK; ++run) {
    cudaEvent_t begin = timing::event(nullptr);
    status = NAME_run(&handle, &io, nullptr);
    cudaEvent_t end = timing::event(nullptr);
    if (status == INGOT_OK) status = device::wait(nullptr);
    double time = microseconds(begin, end);
    elapsed += 1e-6 * time;
    if (run > 0) print("whole", 0, time);
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
  }
  return finish(path, status == INGOT_OK ? text.c_str() : "failed");
}
)";
}

} // namespace ingot
