// Ingot run MODEL ...
//
// Two forms: named NumPy files in and out, and folders of input_<j>.pb and
// output_<j>.pb, which test suites use.

#include "compiler/run/DataSets.h"
#include "compiler/tools/ingot/Commands.h"

#include "codegen/kernel/Names.h"
#include "compiler/import/TensorData.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace ingot {

static void writeOutputs(const Arguments &arguments, StringRef folder,
                         ArrayRef<std::string> names, ArrayRef<Tensor> outputs,
                         Diagnostics &diagnostics) {
  std::string error;
  bool isProto = arguments.inputs.empty() && arguments.positional.size() > 1;
  NameScope files;
  for (auto [i, output] : llvm::enumerate(outputs)) {
    std::string path = isProto
                           ? inFolder(folder, "output_" + Twine(i) + ".pb")
                           : inFolder(folder, files.unique(names[i]) + ".npy");
    bool written = isProto ? writeTensorProto(path, names[i], output, error)
                           : writeNpy(path, output, error);
    if (!written) {
      diagnostics.report(DiagnosticId::CannotWrite, error);
      return;
    }
    if (!isProto)
      llvm::outs() << printable(names[i]) << ": " << describe(output.type)
                   << " -> " << path << "\n";
  }
}

int runCommand(Arguments &arguments, Diagnostics &diagnostics) {
  const auto &positional = arguments.positional;
  bool folders = positional.size() == 3;
  if (folders && !refuseUnused(arguments, {"input", "output-dir"},
                               "beside IN_DIR and OUT_DIR", diagnostics))
    return InvalidInput;
  if (!folders && (positional.size() != 1 || arguments.outputDir.empty())) {
    diagnostics.report(DiagnosticId::BadOption,
                       "`ingot run` takes a model, data, and a folder",
                       "ingot run MODEL --input NAME=FILE.npy ... "
                       "--output-dir DIR, or ingot run MODEL IN_DIR OUT_DIR");
    return InvalidInput;
  }
  arguments.compile.model = positional[0];
  std::string folder = folders ? positional[2] : arguments.outputDir;
  auto context = makeContext();
  DataRunner runner(arguments.compile, arguments.dynamic, *context,
                    diagnostics);
  InputData data;
  bool isRead = folders
                    ? readInputFolder(runner.fresh(), positional[1], data)
                    : readInputFiles(runner.fresh(), arguments.inputs, data);
  if (!isRead)
    return diagnostics.exitCode();
  std::vector<std::string> names = outputNames(runner.fresh().open()->model());
  std::vector<Tensor> outputs;
  if (!runner.run(data, outputs))
    return diagnostics.exitCode();
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    diagnostics.report(DiagnosticId::CannotWrite,
                       "`" + printable(folder) +
                           "` cannot be made: " + error.message());
  else
    writeOutputs(arguments, folder, names, outputs, diagnostics);
  return diagnostics.exitCode();
}

} // namespace ingot
