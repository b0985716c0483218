#include "compiler/import/ImportOnnx.h"

#include "compiler/import/GraphImporter.h"
#include "compiler/import/custom/CustomOperators.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot {

OwningOpRef<ModuleOp> importOnnx(ModelFile &file, const ImportOptions &options,
                                 Diagnostics &diagnostics,
                                 MLIRContext &context) {
  context.loadDialect<func::FuncDialect, graph::GraphDialect,
                      kernel::KernelDialect>();
  diagnostics.setFile(file.path());
  // MLIR's own diagnostics indicate a defect of the importer, never of the
  // model.
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &fault) {
    if (fault.getSeverity() != DiagnosticSeverity::Error)
      return success();
    ingot::Diagnostic diagnostic;
    diagnostic.message = "import: " + printable(fault.str(), 600);
    if (auto node = dyn_cast<NameLoc>(fault.getLocation())) {
      diagnostic.nodeName = node.getName().str();
      diagnostic.node = "node `" + diagnostic.nodeName + "`";
    }
    diagnostics.report(std::move(diagnostic));
    return success();
  });
  OwningOpRef<ModuleOp> module;
  try {
    if (options.custom)
      options.custom->addTo(file.model());
    if (!validate(file.model(), diagnostics))
      return nullptr;
    module = GraphImporter(file, options, diagnostics, context).run();
    if (module && failed(verify(*module)))
      module = nullptr;
  } catch (const std::exception &error) {
    diagnostics.report(DiagnosticId::Internal,
                       "import: " + Twine(printable(error.what())));
  }
  if (!module && diagnostics.empty())
    diagnostics.report(DiagnosticId::Internal,
                       "the import failed without a message");
  return diagnostics.empty() ? std::move(module) : nullptr;
}

} // namespace ingot
