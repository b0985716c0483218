// The command `ingot attach MODEL.onnx -o FILE.onnx`.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/attach/Attach.h"
#include "compiler/tools/ingot/Commands.h"
#include "onnx/onnx_pb.h"

using namespace llvm;

namespace ingot {

int attachCommand(Arguments &arguments, Diagnostics &diagnostics) {
  arguments.compile.model = arguments.positional.front();
  if (arguments.output.empty()) {
    diagnostics.report(DiagnosticId::BadOption, "no file to write is given",
                       "name the new model with -o FILE.onnx");
    return diagnostics.exitCode();
  }
  if (!checkWritable(arguments.output, diagnostics) ||
      !checkReplaceable(arguments, arguments.output, diagnostics))
    return diagnostics.exitCode();
  auto context = makeContext();
  std::string summary;
  auto model = attach::attachTo(arguments.compile, arguments.attach, *context,
                                summary, diagnostics);
  if (!model)
    return diagnostics.exitCode();
  // checkReplaceable recognizes files of Ingot by the producer, and lets later
  // commands overwrite them without --force.
  model->model().set_producer_name("ingot");
  model->model().set_producer_version(ingotVersion.str());
  std::string bytes;
  model->model().SerializeToString(&bytes);
  if (Error error =
          writeFile(arguments.output, [&](raw_ostream &os) { os << bytes; }))
    reportFault(std::move(error), diagnostics);
  else if (arguments.verbose || (!arguments.quiet && errs().is_displayed()))
    errs() << "wrote " << arguments.output << ": " << summary << '\n';
  return diagnostics.exitCode();
}

} // namespace ingot
