//===- SourcePrinter.cpp - the .cpp of a model ----------------------------===//
//
// From top to bottom: includes, vector types, weights, kernels (all in an
// anonymous namespace, inside the text that enables the target's instructions),
// then <name>_run, which checks its arguments and launches the kernels.
//
//===----------------------------------------------------------------------===//

#include "codegen/Interface.h"
#include "codegen/KernelPrinter.h"
#include "codegen/MainPrinter.h"

#include "dialects/kernel/KernelDialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

static void printVectorTypes(const SourceContext &context, TextWriter &out) {
  std::set<std::string> types = context.vectorTypes;
  // The twin needs no sibling, but a reader expects both.
  for (const std::string &name : context.vectorTypes)
    printVectorTypedef(name, out.raw());
  if (!types.empty())
    out.blank();
  for (const std::string &name : context.splats) {
    StringRef type = name;
    unsigned bits = 0;
    type.drop_front().split('x').first.getAsInteger(10, bits);
    std::string element = type.front() == 'f'
                              ? (bits == 32 ? "float" : "double")
                              : "uint" + llvm::utostr(bits) + "_t";
    // Subtracting zero keeps -0.0, which adding would not.
    out.line("inline " + type + " splat_" + type + "(" + element +
             " x) { return x - " + type + "{}; }");
  }
  for (const auto &[name, row] : context.extrema) {
    StringRef type = StringRef(name).drop_front(4);
    std::string call = row->spelling.str();
    call.replace(call.find("{0}"), 3, "a");
    call.replace(call.find("{1}"), 3, "b");
    // A line of its own: behind a long call it would be wrapped.
    out.line(std::string("// a ") + (name[1] == 'a' ? ">" : "<") +
             " b ? a : b");
    out.line("inline " + type + " " + name + "(" + type + " a, " + type +
             " b) { return (" + type + ")" + call + "; }");
  }
  if (!context.splats.empty() || !context.extrema.empty())
    out.blank();
}

static void printWeight(memref::GlobalOp global, StringRef name,
                        TextWriter &out) {
  MemRefType type = global.getType();
  Type element = type.getElementType();
  int64_t elementSize = kernel::elementBytes(element);
  int64_t count = std::max<int64_t>(type.getNumElements(), 1);
  llvm::raw_ostream &os = out.raw();
  os << "alignas(" << std::max<int64_t>(global.getAlignment().value_or(64), 1)
     << ") const " << storageTypeName(element) << ' ' << name << '[' << count
     << "] = {";
  int64_t column = 0;
  bool first = true;
  forEachPiece(global, [&](ArrayRef<char> piece) {
    for (int64_t at = 0, e = piece.size(); at + elementSize <= e;
         at += elementSize) {
      uint64_t start = os.tell();
      if (column == 0)
        os << (first ? "\n    " : ",\n    ");
      else
        os << ", ";
      first = false;
      printElement(element, piece.data() + at, os);
      column += os.tell() - start;
      if (column > 90)
        column = 0;
    }
  });
  os << (first ? "" : "\n") << "};\n";
}

/// Helpers that kernels call stand before them.
static void collectKernels(func::FuncOp function, ModuleOp module,
                           SmallVectorImpl<func::FuncOp> &order) {
  if (llvm::is_contained(order, function))
    return;
  function.walk([&](func::CallOp call) {
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
      collectKernels(callee, module, order);
  });
  order.push_back(function);
}

void printSource(ModuleOp module, const CodegenOptions &options,
                 llvm::raw_ostream &os) {
  Interface interface(module, options);
  Weights weights(module);
  SourceContext context{*options.target, {}, {}, {}, {}, {}, {}};
  interface.main.walk([&](kernel::LaunchOp launch) {
    context.launched.insert(launch.getCallee());
  });
  TextWriter out(os);

  NameScope names;
  // What the main function calls its own, and what the header declares.
  for (const char *local :
       {"weights", "memory", "io", "arena", "context", "begin", "end"})
    names.reserve(local);
  for (const char *suffix :
       {"", "_io", "_run", "_weights", "_check_weights", "_is_header"})
    names.reserve(interface.name + suffix);
  std::string parallel = names.unique("parallel");
  for (const Weight &weight : weights.all()) {
    memref::GlobalOp global = weight.global;
    context.globals[global.getSymName()] = names.unique(global.getSymName());
  }
  SmallVector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function != interface.main && !function.isDeclaration())
      collectKernels(function, module, kernels);
  for (func::FuncOp kernel : kernels)
    context.functions[kernel.getSymName()] = names.unique(kernel.getSymName());

  // The kernels say which vector types there are, which stand before them.
  std::string kernelText;
  llvm::raw_string_ostream kernelStream(kernelText);
  TextWriter kernelOut(kernelStream);
  for (func::FuncOp kernel : kernels) {
    KernelPrinter(kernel, context, kernelOut).print();
    kernelOut.blank();
  }

  out.comment(interface.model + ", compiled by " + options.producer + " for " +
              options.target->name.str() +
              ".\n\nGenerated; edit the model, not this file.");
  out.blank();
  out.line("#include \"" + options.headerName + "\"");
  out.blank();
  out.line("#include <stddef.h>");
  out.line("#include <stdint.h>");
  for (StringRef include : options.target->includes)
    out.line("#include <" + include + ">");
  out.blank();
  os << options.target->openText;
  if (!options.target->openText.empty())
    out.blank();
  out.line("namespace {");
  out.blank();
  printVectorTypes(context, out);
  for (const Weight &weight : weights.all())
    if (weight.offset < 0 || interface.weightsMode == WeightsMode::Source) {
      memref::GlobalOp global = weight.global;
      printWeight(global, context.globals[global.getSymName()], out);
      out.blank();
    }
  os << kernelText;
  MainPrinter(interface, weights, options, context, names, parallel, out)
      .print();
  os << options.target->closeText;
}

} // namespace ingot
