#include "codegen/files/VariantPrinter.h"

#include "codegen/files/Prologue.h"
#include "codegen/files/WeightsPrinter.h"
#include "codegen/kernel/PrintedFunctions.h"

#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace ingot {

void collectKernels(FunctionOpInterface function, const SymbolTable &symbols,
                    llvm::SetVector<FunctionOpInterface> &order) {
  if (order.contains(function))
    return;
  function.walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      collectKernels(callee, symbols, order);
  });
  order.insert(function);
}

VariantPrinter::VariantPrinter(const Variant &variant,
                               const CodegenOptions &options,
                               const Weights &weights,
                               const std::vector<std::string> &sharedNames,
                               NameScope names, TextWriter &out, SourceMap *map)
    : module(variant.module), target(*variant.target),
      interfaces(interfacesOf(variant, options, weights)), options(options),
      weights(weights), names(std::move(names)), out(out),
      context(*variant.target) {
  context.map = map;
  module.walk([&](kernel::LaunchOp launch) {
    context.launched.insert(launch.getCallee());
  });
  for (auto global : module.getOps<memref::GlobalOp>()) {
    size_t index = weights.indexOf(global);
    context.globals[global.getSymName()] =
        weights.all()[index].shared ? sharedNames[index]
                                    : this->names.unique(global.getSymName());
  }
  SymbolTable symbols(module);
  for (auto function : module.getOps<kernel::FuncOp>())
    if (!function.isExternal())
      collectKernels(function, symbols, kernels);
  for (FunctionOpInterface kernel : kernels)
    context.functions[kernel.getName()] = this->names.unique(kernel.getName());
}

void VariantPrinter::namePrograms() {
  for (auto program : module.getOps<kernel::ProgramOp>())
    if (!program.isPublic())
      context.functions[program.getName()] = names.unique(program.getName());
}

std::string VariantPrinter::textOfKernels() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  TextWriter kernelOut(stream, out.language);
  for (FunctionOpInterface kernel : kernels) {
    KernelPrinter(kernel, context, kernelOut).print();
    kernelOut.blank();
  }
  return text;
}

std::string VariantPrinter::textOfPrefetches() {
  std::string text;
  module.walk([&](kernel::PrefetchOp) { text += target.prefetchText; });
  return text;
}

std::pair<std::string, std::set<std::string>> VariantPrinter::printStart() {
  if (context.map) {
    context.map->functions = context.functions;
    context.map->globals = context.globals;
  }
  std::string text = textOfKernels();
  // The functions that launch the kernels are printed later. Of the target's
  // prologue (the text before the kernels), these functions use only what
  // prefetches need.
  std::set<std::string> macros =
      printOpening(target.openText, text + textOfPrefetches(), out);
  if (!target.openText.empty())
    out.blank();
  return {text, macros};
}

void VariantPrinter::printKernels(StringRef text) {
  printVectorTypes(context, out);
  if (text.contains(kStringTypeName)) {
    out.line("typedef const char *" + kStringTypeName + ";");
    out.blank();
  }
  printTables(llvm::filter_to_vector(
      module.getOps<memref::GlobalOp>(),
      [&](memref::GlobalOp global) { return isInSource(global); }));
  printHelpers(context, out);
  place();
  out.raw() << text;
}

void VariantPrinter::printArray(memref::GlobalOp global) {
  printWeightArray(weights.all()[weights.indexOf(global)],
                   context.globals[global.getSymName()], out);
}

void VariantPrinter::place() {
  if (context.map)
    context.map->place(out.raw().tell());
}

/// Whether the constant is an array in the text of this target, and not a
/// weight that targets share or that is in a weights object or file.
bool VariantPrinter::isInSource(memref::GlobalOp global) const {
  const Weight &weight = weights.all()[weights.indexOf(global)];
  return !weight.shared &&
         (weight.offset < 0 ||
          interfaces.front().weightsMode == WeightsMode::Source);
}

} // namespace ingot
