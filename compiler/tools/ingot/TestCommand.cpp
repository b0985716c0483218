//===- TestCommand.cpp - ingot test MODEL [DIR] ---------------------------===//
//
// Runs the test_data_set_<n> folders beside a model, or in DIR, and compares
// with the expected outputs. case.json may give rtol and atol.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/ingot/Commands.h"
#include "compiler/tools/ingot/Compare.h"
#include "compiler/tools/ingot/DataSets.h"

#include "compiler/import/TensorData.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

static std::string inFolder(StringRef folder, const Twine &name) {
  SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// The data sets of a folder, by number; the folder itself if it is one.
static std::vector<std::string> dataSets(StringRef folder) {
  std::vector<std::pair<unsigned, std::string>> sets;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    unsigned number;
    if ((name.consume_front("test_data_set_") ||
         name.consume_front("test_data_")) &&
        !name.getAsInteger(10, number))
      sets.emplace_back(number, it->path());
  }
  llvm::sort(sets);
  std::vector<std::string> paths;
  for (auto &[number, path] : sets)
    paths.push_back(path);
  if (paths.empty() && llvm::sys::fs::exists(inFolder(folder, "output_0.pb")))
    paths.push_back(folder.str());
  return paths;
}

static Tolerance readTolerance(StringRef folder) {
  Tolerance tolerance;
  auto buffer = llvm::MemoryBuffer::getFile(inFolder(folder, "case.json"));
  if (!buffer)
    return tolerance;
  auto json = llvm::json::parse((*buffer)->getBuffer());
  if (!json) {
    llvm::consumeError(json.takeError());
    return tolerance;
  }
  if (const llvm::json::Object *fields = json->getAsObject()) {
    tolerance.relative = fields->getNumber("rtol").value_or(tolerance.relative);
    tolerance.absolute = fields->getNumber("atol").value_or(tolerance.absolute);
  }
  return tolerance;
}

/// One line; false if the output is wrong.
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
               << " elements, first [" << i << "] is "
               << llvm::format("%.9g", got.number(i)) << ", expected "
               << llvm::format("%.9g", want.number(i)) << "\n";
  return false;
}

static bool runSet(DataRunner &runner, StringRef folder,
                   ArrayRef<std::string> names, Tolerance tolerance,
                   Diagnostics &diagnostics) {
  InputData data;
  std::vector<Tensor> outputs;
  if (!readInputFolder(runner.fresh(), folder, data) ||
      !runner.run(data, outputs))
    return false;
  bool good = true;
  for (auto [i, output] : llvm::enumerate(outputs)) {
    std::string error;
    auto want = readTensorProto(inFolder(folder, "output_" + Twine(i) + ".pb"),
                                output.type.getContext(), error);
    if (!want) {
      diagnostics.report(DiagnosticId::CannotRead, "the expected output `" +
                                                       printable(names[i]) +
                                                       "`: " + error);
      return false;
    }
    good &= printComparison(llvm::sys::path::filename(folder), names[i], output,
                            *want, tolerance);
  }
  return good;
}

int testCommand(Arguments &arguments, Diagnostics &diagnostics) {
  const auto &positional = arguments.positional;
  if (positional.empty() || positional.size() > 2) {
    diagnostics.report(DiagnosticId::BadOption,
                       "`ingot test` takes a model and, if it is elsewhere, "
                       "the folder of its data sets",
                       "ingot test MODEL.onnx [DIR]");
    return InvalidInput;
  }
  arguments.compile.model = positional[0];
  std::string folder = positional.size() == 2
                           ? positional[1]
                           : llvm::sys::path::parent_path(positional[0]).str();
  if (folder.empty())
    folder = ".";
  auto context = makeContext();
  DataRunner runner(arguments.compile, *context, diagnostics);
  ModelFile *file = runner.fresh().open();
  if (!file)
    return diagnostics.exitCode();
  std::vector<std::string> names = outputNames(file->model());
  std::vector<std::string> sets = dataSets(folder);
  if (sets.empty()) {
    diagnostics.report(DiagnosticId::CannotRead,
                       "there are no test_data_set_* folders in `" +
                           printable(folder) + "`");
    return InvalidInput;
  }
  size_t wrong = 0;
  for (const std::string &set : sets) {
    wrong += !runSet(runner, set, names, readTolerance(folder), diagnostics);
    if (!diagnostics.empty())
      return diagnostics.exitCode();
  }
  if (wrong)
    diagnostics.report(DiagnosticId::Mismatch,
                       Twine(wrong) + " of " + Twine(sets.size()) +
                           " data sets give other outputs than expected");
  return diagnostics.exitCode();
}

} // namespace ingot
