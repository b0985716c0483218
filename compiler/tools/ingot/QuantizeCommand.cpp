// The command `ingot quantize MODEL --calibrate DATA -o FILE`.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/quantize/Quantize.h"
#include "compiler/tools/ingot/Commands.h"
#include "onnx/onnx_pb.h"

using namespace mlir;

namespace ingot {

int quantizeCommand(Arguments &arguments, Diagnostics &diagnostics) {
  arguments.compile.model = arguments.positional.front();
  auto context = makeContext();
  quantize::QuantizeReport report;
  if (!arguments.output.empty() &&
      (!checkWritable(arguments.output, diagnostics) ||
       !checkReplaceable(arguments, arguments.output, diagnostics)))
    return diagnostics.exitCode();
  std::unique_ptr<ModelFile> model = quantize::quantizeModel(
      arguments.compile, arguments.quantize, *context, report, diagnostics);
  if (!model)
    return diagnostics.exitCode();
  arguments.json ? report.printJson(llvm::outs()) : report.print(llvm::outs());
  if (arguments.output.empty()) {
    if (!arguments.json && !arguments.quiet)
      llvm::outs() << "nothing written; name a file with -o\n";
    return diagnostics.exitCode();
  }
  // Ingot may replace a file that it has written itself, which it recognizes by
  // the producer.
  model->model().set_producer_name("ingot");
  model->model().set_producer_version(ingotVersion.str());
  std::string bytes;
  model->model().SerializeToString(&bytes);
  if (llvm::Error error = writeFile(
          arguments.output, [&](llvm::raw_ostream &os) { os << bytes; }))
    reportFault(std::move(error), diagnostics);
  return diagnostics.exitCode();
}

} // namespace ingot
