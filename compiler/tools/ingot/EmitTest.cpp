// The option --emit-test of `ingot MODEL -o FILE`.
//
// The expected outputs are those of the data set. If it has none, they are
// computed by NodeReference, which evaluates the model on this host.
// NodeReference also gives the expected result of each kernel.

#include "compiler/tools/ingot/EmitTest.h"

#include "codegen/files/OutputFiles.h"
#include "compiler/import/TensorData.h"
#include "compiler/report/Progress.h"
#include "compiler/run/NodeReference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;

namespace ingot {

bool EmitTest::read(StringRef folder, CompileOptions &options,
                    MLIRContext &context, Diagnostics &diagnostics) {
  // The test program checks the result of each kernel in the trace hook.
  options.trace = true;
  Compilation compilation(options, context, diagnostics);
  for (const std::string &path : dataSetsIn(folder)) {
    DataSet &set = sets.emplace_back();
    set.folder = path;
    if (!readInputFolder(compilation, path, set.inputs))
      return false;
  }
  std::optional<Tolerance> given = readTolerance(folder, diagnostics);
  if (!given)
    return false;
  tolerance = *given;
  if (options.weights == WeightsMode::File)
    diagnostics.report(DiagnosticId::BadOption,
                       "--emit-test: the test program does not read files",
                       "use --weights source or --weights object");
  if (sets.empty()) {
    diagnostics.reportFile(DiagnosticId::CannotRead, folder,
                           "no test_data_set_* folders in `" +
                               printable(folder) + "`",
                           "--emit-test DIR reads DIR/test_data_set_0/"
                           "input_0.pb and so on");
    return false;
  }
  bindData(compilation, sets.front().inputs);
  options.import = compilation.options.import;
  return diagnostics.empty();
}

bool EmitTest::addCase(const DataSet &set, Compilation &compilation,
                       std::vector<TestCase> &cases) {
  Diagnostics &diagnostics = compilation.getDiagnostics();
  CompileOptions options = compilation.options;
  Compilation decided(options, compilation.context(), diagnostics);
  if (!decided.advance(Stage::Decide))
    return false;
  if (decided.usesStrings()) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--emit-test does not support models with strings",
                       "compare them with `ingot test`");
    return false;
  }
  TestCase &testCase = cases.emplace_back();
  testCase.name = llvm::sys::path::filename(set.folder).str();
  auto main = decided.module().lookupSymbol<func::FuncOp>("main");
  SmallVector<const Tensor *> inputs;
  for (auto [tensor, type] : llvm::zip(set.inputs, main.getArgumentTypes())) {
    if (!tensor || tensor->type != type) {
      diagnostics.report(DiagnosticId::InputMismatch,
                         "an input of the data set `" +
                             printable(testCase.name) + "` is " +
                             (tensor ? describe(tensor->type) : "missing") +
                             ", but the model takes " + describe(type));
      return false;
    }
    inputs.push_back(&*tensor);
    testCase.data.push_back(tensor->bytes);
    testCase.tolerances.push_back({0, 0});
  }
  std::optional<NodeReference> reference =
      NodeReference::evaluate(decided.module(), inputs);
  if (!reference) {
    diagnostics.report(DiagnosticId::Internal,
                       "the reference cannot be evaluated");
    return false;
  }
  for (auto [i, output] : llvm::enumerate(reference->outputs())) {
    std::string error;
    auto given = readTensorProto(outputFile(set.folder, i),
                                 &compilation.context(), error);
    if (!given && !NodeReference::isEvaluated(output)) {
      diagnostics.reportFile(
          DiagnosticId::CannotRead, outputFile(set.folder, i),
          "the expected output " + Twine(i) + " of the data set `" +
              printable(testCase.name) + "`: " + error +
              "; it depends on an if or loop, so it is not computed",
          "`ingot run MODEL DIR --output-dir DIR` or ONNX Runtime computes it");
      return false;
    }
    if (given && given->type != output.type) {
      diagnostics.report(DiagnosticId::InputMismatch,
                         "the expected output " + Twine(i) +
                             " of the data set `" + printable(testCase.name) +
                             "` is " + describe(given->type) +
                             ", but the model gives " + describe(output.type));
      return false;
    }
    StringRef type = testType(output.type.getElementType());
    if (type.empty()) {
      diagnostics.report(DiagnosticId::BadOption,
                         "--emit-test cannot compare the output " + Twine(i) +
                             ", which is " + describe(output.type));
      return false;
    }
    types.resize(inputs.size() + i);
    types.push_back(type);
    // If the data set has no expected outputs, those that NodeReference has
    // evaluated on this host are expected, with a tolerance for rounding errors
    // only.
    Tolerance allowed = tolerance;
    if (!given)
      allowed =
          rangeOf(output) > 0 ? Tolerance{0, 0, 1e-4} : Tolerance{1e-4, 0, 0};
    allowed = allowed.forElementsOf(given ? *given : output);
    testCase.data.push_back(given ? given->bytes : output.bytes);
    testCase.tolerances.push_back({allowed.relative, allowed.absolute});
  }
  nodes.clear();
  reference->find(compilation.module(), nodes, testCase.signatures);
  return true;
}

void EmitTest::write(Compilation &compilation, StringRef output) {
  Diagnostics &diagnostics = compilation.getDiagnostics();
  Progress progress("evaluating the reference");
  std::vector<TestCase> cases;
  for (const DataSet &set : sets)
    if (!addCase(set, compilation, cases))
      return;
  CodegenOptions codegen = compilation.codegenOptions(output);
  Interface interface(compilation.module(), codegen);
  SmallString<128> path(output);
  llvm::sys::path::replace_extension(path, "");
  path += "_test.cpp";
  auto print = [&](llvm::raw_ostream &os) {
    printTest(interface, codegen, types, nodes, cases, os);
  };
  if (llvm::Error error = writeFile(path, print))
    diagnostics.report(DiagnosticId::CannotWrite,
                       llvm::toString(std::move(error)));
}

} // namespace ingot
