// A program around the generated source times its launches: calls of the run time that
// start a kernel, or clear memory for one, are calls of its own functions, which put an
// event in front of a launch and another one behind. All of them are on one stream. Before
// each launch as much memory is written as the second cache holds, so that weights come
// from where they come from in a network, and so that the device has something to do until
// the launch is on the stream.

#include "compiler/measure/DeviceRace.h"

#include "codegen/files/OutputFiles.h"
#include "codegen/objects/TemporaryFolder.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/import/TensorData.h"
#include "compiler/run/BuiltModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace ingot {
namespace {

/// What the program ends with where the device is not one to time on.
constexpr StringLiteral noDevice = "no device", otherDevice = "other device",
                        failed = "failed";

constexpr StringLiteral timing = R"(#include "cuda_runtime.h"
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

/// A model that is timed, not run.
class TimedModel : public BuiltModel {
public:
  using BuiltModel::generate;
  bool run(ArrayRef<const Tensor *>, std::vector<Tensor> &,
           Diagnostics &) override {
    return false;
  }

  /// The program around the source of that name.
  std::string program(StringRef source, const TargetDescription &target) const {
    std::vector<std::string> bytes;
    for (ArrayRef<mlir::RankedTensorType> types : {inTypes, outTypes})
      for (mlir::RankedTensorType type : types)
        bytes.push_back(std::to_string(std::max<int64_t>(
            type.getNumElements() * ingot::elementBytes(type.getElementType()),
            1)));
    constexpr int64_t leastCache = 1 << 20;
    std::string text = timing.str();
    auto put = [&](StringRef what, const std::string &by) {
      for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
           at += by.size())
        text.replace(at, what.size(), by);
    };
    put("CACHE", std::to_string(std::max(target.l2Bytes, leastCache)));
    put("SOURCE", source.str());
    put("LEVEL", std::to_string(target.device.level));
    put("BYTES", join(bytes, ", "));
    put("RUNS", "16");
    put("LAUNCH", "launch");
    put("NAME", name);
    return text;
  }
};

} // namespace

std::vector<double> timeLaunches(Compilation &compilation) {
  Diagnostics &diagnostics = compilation.getDiagnostics();
  const TargetDescription &target = *compilation.options.target;
  auto folder = TemporaryFolder::create();
  if (!folder) {
    reportFault(folder.takeError(), diagnostics);
    return {};
  }
  std::string source = folder->file("model.cu"), main = folder->file("main.cu"),
              program = folder->file("program"), times = folder->file("times");
  TimedModel model;
  if (!model.generate(compilation, source))
    return {};
  const std::string &named = compilation.options.compiler;
  auto command = findCompiler(withCompiler(target, named));
  Error error = command ? Error::success() : command.takeError();
  if (!error)
    error = writeFile(
        main, [&](raw_ostream &os) { os << model.program(source, target); });
  if (error) {
    reportFault(std::move(error), diagnostics);
    return {};
  }
  command->insert(command->end(),
                  {"-std=c++17", "-O2", "-w", main, "-o", program});
  if (Error failure = runProgram(*command)) {
    reportFault(std::move(failure), diagnostics,
                "the generated C++ did not compile", named);
    return {};
  }
  if (Error failure = runProgram({program, times})) {
    reportFault(std::move(failure), diagnostics,
                "the program that times plans failed");
    return {};
  }
  auto buffer = MemoryBuffer::getFile(times);
  StringRef text = buffer ? (*buffer)->getBuffer() : StringRef(failed);
  auto refuse = [&](const Twine &what) {
    diagnostics.report(DiagnosticId::RunFailed,
                       "--tune times plans for the target " + target.name +
                           " on a GPU of this machine, " + what,
                       "compile on a machine that has such a GPU, or give a "
                       "file in which all plans are");
    return std::vector<double>();
  };
  if (text == noDevice)
    return refuse("but there is none");
  if (text.consume_front(otherDevice))
    return refuse("which has one of compute capability" + text);
  std::vector<double> microseconds;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (line.getAsDouble(microseconds.emplace_back()))
      return refuse("where they failed to run");
  return microseconds;
}

} // namespace ingot
