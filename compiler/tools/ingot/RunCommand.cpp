// The command `ingot run MODEL ...`.
//
// The command has two forms: inputs and outputs are NumPy files, named on the
// command line; or protobuf files in folders, input_<j>.pb and output_<j>.pb,
// as in the test suites of ONNX.

#include "compiler/run/DataSets.h"
#include "compiler/tools/ingot/Commands.h"

#include "codegen/kernel/Names.h"
#include "compiler/import/TensorData.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace ingot {

/// Writes a protobuf file for each output of the model; false, with the reason
/// in `error`, on failure.
static bool writeProtos(StringRef folder, ArrayRef<std::string> names,
                        ArrayRef<ModelValue> values, std::string &error) {
  for (auto [i, value] : llvm::enumerate(values))
    if (!writeValue(outputFile(folder, i), names[i], value, error))
      return false;
  return true;
}

/// Writes a NumPy file for each output tensor, and prints its path; false, with
/// the reason in `error`, on failure.
static bool writeArrays(StringRef folder, ArrayRef<InterfaceTensor> tensors,
                        ArrayRef<Tensor> outputs, std::string &error) {
  NameScope files;
  for (auto [tensor, output] : llvm::zip(tensors, outputs)) {
    std::string path = inFolder(folder, files.unique(tensor.onnxName) + ".npy");
    if (!writeNpy(path, output, error))
      return false;
    llvm::outs() << printable(tensor.onnxName) << ": " << describe(output.type)
                 << " -> " << path << "\n";
  }
  return true;
}

int runCommand(Arguments &arguments, Diagnostics &diagnostics) {
  const auto &positional = arguments.positional;
  bool folders = positional.size() == 3;
  if (folders && !refuseUnused(arguments, {"input", "output-dir"},
                               "beside IN_DIR and OUT_DIR", diagnostics))
    return diagnostics.exitCode();
  if (!folders && (positional.size() != 1 || arguments.outputDir.empty())) {
    diagnostics.report(DiagnosticId::BadOption,
                       "`ingot run` needs a model, its data, and an output "
                       "folder",
                       "ingot run MODEL --input NAME=FILE.npy ... "
                       "--output-dir DIR, or ingot run MODEL IN_DIR OUT_DIR");
    return diagnostics.exitCode();
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
  if (!runner.run(std::move(data), outputs))
    return diagnostics.exitCode();
  if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
    diagnostics.reportFile(DiagnosticId::CannotWrite, folder,
                           "the folder `" + printable(folder) +
                               "` cannot be created: " + error.message());
    return diagnostics.exitCode();
  }
  std::string error;
  bool written =
      folders ? writeProtos(folder, names,
                            joinOutputs(runner.outputs(), outputs), error)
              : writeArrays(folder, runner.outputs(), outputs, error);
  if (!written)
    diagnostics.report(DiagnosticId::CannotWrite, error);
  return diagnostics.exitCode();
}

} // namespace ingot
