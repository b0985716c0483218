// Builds a program that includes the generated source and times each launch
// (launchTimingText). The program writes the times, or the reason for its
// failure, to a file.

#include "compiler/measure/DeviceTiming.h"

#include "codegen/files/OutputFiles.h"
#include "codegen/objects/TemporaryFolder.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/import/TensorData.h"
#include "compiler/run/BuiltModel.h"
#include "compiler/run/DynamicSizes.h"
#include "targets/LaunchTiming.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

using namespace llvm;

namespace ingot {
namespace {

/// The texts that the timing program writes instead of times: if this machine
/// has no GPU; if its GPU is not the target (followed by the compute capability
/// of the GPU); if the program fails otherwise.
constexpr StringLiteral noDevice = "no device", otherDevice = "other device",
                        failed = "failed";

/// A model that is only timed, so it cannot be run on tensors.
class TimedModel : public BuiltModel {
public:
  using BuiltModel::generate;
  bool run(ArrayRef<const Tensor *>, std::vector<Tensor> &,
           Diagnostics &) override {
    return false;
  }

  /// Returns the text of the timing program, which includes the generated
  /// `source` and times whole runs for `seconds`. If `isCold`, caches are cold
  /// before each launch.
  std::string program(StringRef source, const TargetDescription &target,
                      double seconds, bool isCold) const {
    std::vector<std::string> bytes;
    for (ArrayRef<mlir::RankedTensorType> types : {inTypes, outTypes})
      for (mlir::RankedTensorType type : types)
        bytes.push_back(std::to_string(std::max<int64_t>(
            type.getNumElements() * ingot::elementBytes(type.getElementType()),
            1)));
    constexpr int64_t leastCache = 1 << 20;
    std::string text = launchTimingText().str(), values;
    for (int64_t value : largestValues(sizes))
      values += std::to_string(value) + ", ";
    auto put = [&](StringRef what, const std::string &by) {
      for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
           at += by.size())
        text.replace(at, what.size(), by);
    };
    put("CACHE", std::to_string(std::max(target.l2Bytes, leastCache)));
    put("SOURCE", source.str());
    put("LEVEL", std::to_string(target.device.level));
    put("BYTES", join(bytes, ", "));
    put("SIZES", values + "0");
    put("COLD", isCold ? "true" : "false");
    put("SECONDS", std::to_string(seconds));
    put("RUNS", "16");
    put("LAUNCH", "launch");
    put("NAME", name);
    return text;
  }
};

} // namespace

/// Reads the lines that the program has written. Returns nullopt if a line is
/// malformed or there is no run.
static std::optional<DeviceTimes> readTimes(StringRef text) {
  DeviceTimes times;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (line == "run") {
      times.runs.emplace_back();
      continue;
    }
    auto [word, numbers] = line.split(' ');
    auto [first, second] = numbers.split(' ');
    double begin = 0, end = 0;
    if (first.getAsDouble(begin) || second.getAsDouble(end))
      return std::nullopt;
    if (word == "whole")
      times.wholeRuns.push_back(end);
    else if (word == "launch" && !times.runs.empty())
      times.runs.back().push_back({begin, end});
    else
      return std::nullopt;
  }
  if (times.runs.empty())
    return std::nullopt;
  return times;
}

static std::optional<DeviceTimes> runProgramOf(Compilation &compilation,
                                               double seconds, bool isCold,
                                               StringRef what, StringRef hint) {
  Diagnostics &diagnostics = compilation.getDiagnostics();
  const TargetDescription &target = *compilation.options.target;
  auto folder = TemporaryFolder::create();
  if (!folder) {
    reportFault(folder.takeError(), diagnostics);
    return {};
  }
  std::string source = folder->file(("model" + target.sourceExtension).str()),
              weights = folder->file("model.weights.o"),
              main = folder->file(("main" + target.sourceExtension).str()),
              program = folder->file("program"), times = folder->file("times");
  TimedModel model;
  if (!model.generate(compilation, source))
    return {};
  if (Interface(compilation.module(), compilation.codegenOptions(source))
          .isDecided()) {
    diagnostics.report(DiagnosticId::RunFailed,
                       what + ": the host decides during a run which kernels " +
                           "are launched");
    return {};
  }
  const std::string &named = compilation.options.compiler;
  auto command = findCompiler(withCompiler(target, named));
  Error error = command ? Error::success() : command.takeError();
  if (!error)
    error = writeFile(main, [&](raw_ostream &os) {
      os << model.program(source, target, seconds, isCold);
    });
  if (error) {
    reportFault(std::move(error), diagnostics);
    return {};
  }
  command->insert(command->end(),
                  {"-std=c++17", "-O2", "-w", main, "-o", program});
  // Passes the weights as an option of the linker, since some compilers take
  // each file on the command line for a source.
  if (sys::fs::exists(weights))
    command->insert(command->end(), {"-Xlinker", weights});
  if (Error failure = runProgram(*command)) {
    reportFault(std::move(failure), diagnostics,
                "the generated C++ did not compile", named);
    return {};
  }
  if (Error failure = runProgram({program, times})) {
    reportFault(std::move(failure), diagnostics,
                "the program that times launches failed");
    return {};
  }
  auto buffer = MemoryBuffer::getFile(times);
  StringRef text = buffer ? (*buffer)->getBuffer() : StringRef(failed);
  auto refuse = [&](const Twine &why) -> std::optional<DeviceTimes> {
    diagnostics.report(DiagnosticId::RunFailed,
                       what + " for " + target.name + ": " + why, hint);
    return std::nullopt;
  };
  if (text == noDevice)
    return refuse("this machine has no GPU");
  if (text.consume_front(otherDevice))
    return refuse("the GPU of this machine has compute capability" + text);
  std::optional<DeviceTimes> read = readTimes(text);
  return read ? read : refuse("the program failed on the GPU");
}

std::optional<DeviceTimes> timeOnDevice(Compilation &compilation,
                                        double seconds, StringRef what,
                                        StringRef hint) {
  return runProgramOf(compilation, seconds, /*isCold=*/false, what, hint);
}

std::vector<double> timeLaunches(Compilation &compilation) {
  std::optional<DeviceTimes> times = runProgramOf(
      compilation, /*seconds=*/0, /*isCold=*/true, "--tune cannot time plans",
      "run --tune on a machine with such a GPU, or pass a file that contains "
      "all plans");
  std::vector<double> medians;
  for (size_t i = 0; times && i < times->runs.front().size(); ++i) {
    std::vector<double> ofLaunch;
    for (const DeviceTimes::Run &run : times->runs)
      ofLaunch.push_back(run[i].second - run[i].first);
    auto middle = ofLaunch.begin() + ofLaunch.size() / 2;
    std::nth_element(ofLaunch.begin(), middle, ofLaunch.end());
    medians.push_back(*middle);
  }
  return medians;
}

} // namespace ingot
