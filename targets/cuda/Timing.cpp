// The text of the program that times the launches of a generated .cu.
//
// The program replaces the runtime calls that launch a kernel, or that clear
// memory for a kernel, by functions that record an event before and after the
// launch. All launches are on one stream. Before each launch, the program
// writes as much memory as the L2 cache holds. So weights are not in the cache,
// as in a run of the network, and the GPU is busy until the launch is on the
// stream.

#include "targets/LaunchTiming.h"

namespace ingot {

llvm::StringRef launchTimingText(const TargetDescription &target) {
  if (!target.isDevice())
    return {};
  return R"(#include "cuda_runtime.h"
#include <algorithm>
#include <stdint.h>
#include <stdio.h>
#include <vector>

namespace timing {
struct Launch {
  cudaEvent_t begin, end;
};
// Of one run: the launches so far, and whether the next one has begun already.
std::vector<Launch> launches;
bool has_begun = false;
unsigned char *cache = nullptr;
constexpr size_t cache_bytes = CACHE;

inline cudaEvent_t event(cudaStream_t stream) {
  cudaEvent_t made = nullptr;
  (void)cudaEventCreateWithFlags(&made, 0);
  (void)cudaEventRecord(made, stream);
  return made;
}
inline void begin(cudaStream_t stream) {
  if (has_begun) return;
  (void)cudaMemsetAsync(cache, 1, cache_bytes, stream);
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

// Launches of branches follow each other as well.
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
  void **tensors = reinterpret_cast<void **>(&io) + 1;
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
  std::vector<std::vector<float>> times;
  // The first run loads the code.
  for (int run = 0; run < RUNS && status == INGOT_OK; ++run) {
    timing::launches.clear();
    status = LAUNCH(&io, handle.memory, constants.memory, streams);
    if (status == INGOT_OK) status = device::wait(nullptr);
    times.resize(timing::launches.size());
    for (size_t i = 0; i < times.size(); ++i) {
      float milliseconds = 0;
      const timing::Launch &launch = timing::launches[i];
      (void)cudaEventElapsedTime(&milliseconds, launch.begin, launch.end);
      if (run > 0) times[i].push_back(milliseconds);
      (void)cudaEventDestroy(launch.begin);
      (void)cudaEventDestroy(launch.end);
    }
  }
  if (status != INGOT_OK) return finish(path, "failed");
  FILE *file = fopen(path, "w");
  if (!file) return 1;
  for (std::vector<float> &of : times) {
    std::nth_element(of.begin(), of.begin() + of.size() / 2, of.end());
    fprintf(file, "%.3f\n", 1e3 * of[of.size() / 2]);
  }
  return fclose(file);
}
)";
}

} // namespace ingot
