// The command `ingot test MODEL [DIR]`.
//
// Runs the test_data_set_<n> folders beside the model, or in DIR, and compares
// with the expected outputs. case.json may set rtol and atol; the default
// tolerance of floats is 1e-3 of the value plus 1e-5 of the output's range.

#include "compiler/run/Compare.h"
#include "compiler/run/DataSets.h"
#include "compiler/tools/ingot/Commands.h"

#include "compiler/import/TensorData.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

/// Compares an output tensor with the expected one and prints a line about it;
/// false if the output is wrong.
static bool printComparison(StringRef set, StringRef name, const Tensor &got,
                            const Tensor &want, Tolerance tolerance) {
  Difference difference = compare(got, want, tolerance);
  llvm::outs() << set << ": " << printable(name) << " " << describe(want.type)
               << ": ";
  if (difference.wrong < 0) {
    llvm::outs() << "WRONG, it is " << describe(got.type) << "\n";
    return false;
  }
  llvm::outs() << "max error " << llvm::format("%.3g", difference.maxError);
  if (difference.range > 0)
    llvm::outs() << llvm::format(" (%.2g of the range %.4g)",
                                 difference.maxError / difference.range,
                                 difference.range);
  if (difference.same()) {
    llvm::outs() << ", ok\n";
    return true;
  }
  int64_t i = difference.firstWrong;
  llvm::outs() << ", WRONG: " << difference.wrong << " of " << want.elements()
               << " elements, first [" << i << "] is " << got.text(i)
               << ", expected " << want.text(i) << "\n";
  return false;
}

/// Compares an output value with the expected one and prints a line for each of
/// its tensors; false if one is wrong.
static bool printComparisons(StringRef set, const std::string &name,
                             const ModelValue &got, const ModelValue &want,
                             Tolerance tolerance) {
  if (!got.isSequence && !want.isSequence && got.isPresent && want.isPresent)
    return printComparison(set, name, got.tensors[0], want.tensors[0],
                           tolerance);
  if (!got.matches(want)) {
    auto text = [](const ModelValue &value) {
      return !value.isPresent ? std::string("nothing")
             : value.isSequence
                 ? "a sequence of " + std::to_string(value.tensors.size())
                 : std::string("a tensor");
    };
    llvm::outs() << set << ": " << printable(name) << " " << text(want)
                 << ": WRONG, it is " << text(got) << "\n";
    return false;
  }
  bool good = true;
  size_t count = got.isPresent ? got.tensors.size() : 0;
  for (size_t i = 0; i < count; ++i)
    good &= printComparison(set, name + "[" + std::to_string(i) + "]",
                            got.tensors[i], want.tensors[i], tolerance);
  if (count == 0)
    llvm::outs() << set << ": " << printable(name) << " "
                 << (got.isPresent ? "without elements" : "absent") << ": ok\n";
  return good;
}

static bool runSet(DataRunner &runner, StringRef folder,
                   ArrayRef<std::string> names, Tolerance tolerance,
                   Diagnostics &diagnostics) {
  InputData data;
  std::vector<Tensor> outputs;
  if (!readInputFolder(runner.fresh(), folder, data) ||
      !runner.run(std::move(data), outputs))
    return false;
  bool good = true;
  for (auto [i, output] :
       llvm::enumerate(joinOutputs(runner.outputs(), outputs))) {
    std::string error;
    auto want = readValue(outputFile(folder, i), output,
                          &runner.fresh().context(), error);
    if (!want) {
      diagnostics.reportFile(DiagnosticId::CannotRead, outputFile(folder, i),
                             "expected output `" + printable(names[i]) +
                                 "`: " + error);
      return false;
    }
    good &= printComparisons(llvm::sys::path::filename(folder), names[i],
                             output, *want, tolerance);
  }
  return good;
}

int testCommand(Arguments &arguments, Diagnostics &diagnostics) {
  const auto &positional = arguments.positional;
  arguments.compile.model = positional[0];
  std::string folder = positional.size() == 2
                           ? positional[1]
                           : llvm::sys::path::parent_path(positional[0]).str();
  if (folder.empty())
    folder = ".";
  auto context = makeContext();
  DataRunner runner(arguments.compile, arguments.dynamic, *context,
                    diagnostics);
  ModelFile *file = runner.fresh().open();
  if (!file)
    return diagnostics.exitCode();
  std::vector<std::string> names = outputNames(file->model());
  std::vector<std::string> sets = dataSetsIn(folder);
  if (sets.empty()) {
    diagnostics.reportFile(
        DiagnosticId::CannotRead, folder,
        "no test_data_set_* folders in `" + printable(folder) + "`",
        "`ingot verify MODEL` needs no data; `ingot run MODEL --input "
        "NAME=FILE.npy --output-dir DIR` runs your own");
    return diagnostics.exitCode();
  }
  std::optional<Tolerance> tolerance = readTolerance(folder, diagnostics);
  if (!tolerance)
    return diagnostics.exitCode();
  size_t wrong = 0;
  for (const std::string &set : sets) {
    size_t before = diagnostics.size();
    bool good = runSet(runner, set, names, *tolerance, diagnostics);
    if (diagnostics.size() == before)
      wrong += !good;
    else if (diagnostics.list().back().id == DiagnosticId::InputMismatch)
      // Continues, since other data sets may contain data that the model
      // accepts.
      llvm::outs() << llvm::sys::path::filename(set) << ": REJECTED\n";
    else
      return diagnostics.exitCode();
  }
  if (wrong)
    diagnostics.report(DiagnosticId::Mismatch,
                       Twine(wrong) + " of " + Twine(sets.size()) +
                           " data sets differ from the expected outputs");
  return diagnostics.exitCode();
}

} // namespace ingot
