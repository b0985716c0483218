// Times each launch (kernel call) of a model in a program that includes the
// generated source (launchTimingText). The last lines that the program prints
// are the microseconds of each launch, or the reason for its failure.

#include "compiler/measure/DeviceTiming.h"

#include "codegen/files/OutputFiles.h"
#include "codegen/objects/TemporaryFolder.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/import/TensorData.h"
#include "compiler/run/BuiltModel.h"
#include "targets/LaunchTiming.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace ingot {
namespace {

/// The last line that the timing program prints if it cannot time the model on
/// this machine's GPU.
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
  /// `source`.
  std::string program(StringRef source, const TargetDescription &target) const {
    std::vector<std::string> bytes;
    for (ArrayRef<mlir::RankedTensorType> types : {inTypes, outTypes})
      for (mlir::RankedTensorType type : types)
        bytes.push_back(std::to_string(std::max<int64_t>(
            type.getNumElements() * ingot::elementBytes(type.getElementType()),
            1)));
    constexpr int64_t leastCache = 1 << 20;
    std::string text = launchTimingText(target).str();
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
  std::string source = folder->file(("model" + target.sourceExtension).str()),
              main = folder->file(("main" + target.sourceExtension).str()),
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
                       "--tune cannot time plans for " + target.name + ": " +
                           what,
                       "run --tune on a machine with such a GPU, or pass a "
                       "file that contains all plans");
    return std::vector<double>();
  };
  if (text == noDevice)
    return refuse("this machine has no GPU");
  if (text.consume_front(otherDevice))
    return refuse("the GPU of this machine has compute capability" + text);
  std::vector<double> microseconds;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (line.getAsDouble(microseconds.emplace_back()))
      return refuse("the program failed on the GPU");
  return microseconds;
}

} // namespace ingot
