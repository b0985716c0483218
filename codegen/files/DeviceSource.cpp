// The form of a .cu file, whose kernels run on a GPU.

#include "codegen/files/DeviceHandlePrinter.h"
#include "codegen/files/DevicePrinter.h"
#include "codegen/files/Prologue.h"
#include "codegen/files/SourceForm.h"
#include "codegen/files/VariantPrinter.h"

using namespace mlir;

namespace ingot {

namespace {

/// The qualifier of functions and tables that kernels use.
constexpr StringLiteral kQualifier = "__device__ ";

class DeviceVariant : VariantPrinter {
public:
  DeviceVariant(const Variant &variant, const SourceFile &file,
                const std::vector<std::string> &sharedNames, NameScope names,
                TextWriter &out, SourceMap *map)
      : VariantPrinter(variant, file.options, file.weights, sharedNames,
                       std::move(names), out, map) {
    SymbolTable symbols(module);
    llvm::SetVector<FunctionOpInterface> ofHost;
    for (auto function : module.getOps<kernel::FuncOp>())
      if (!function.isExternal() && !function.getThreads())
        collectKernels(function, symbols, ofHost);
    for (FunctionOpInterface function : ofHost)
      if (isa<func::FuncOp>(*function))
        context.onHost.insert(function.getName());
    namePrograms();
  }

  /// Prints the text of one of several targets into the namespaces
  /// `outside` and `inside`. The bodies of kernels are compiled only if the
  /// preprocessor condition `condition` holds. Returns the printer of the
  /// functions that do not depend on the target.
  std::unique_ptr<DeviceHandlePrinter>
  printOneOfSeveral(StringRef outside, StringRef inside, StringRef condition) {
    context.passCondition = condition;
    std::string kernelText = textOfKernels();
    printOpening(target.openText, kernelText, out);
    out.blank();
    out.line("namespace " + outside + " {");
    out.line("namespace {");
    out.line("namespace " + inside + " {");
    out.blank();
    printOpening(target.functionsText, kernelText, out);
    out.blank();
    printKernels(kernelText);
    printMemoryFunctions("buffer_at< constants_at<", out);
    auto entries = printLaunches();
    auto handle = std::make_unique<DeviceHandlePrinter>(
        interfaces, weights, options, context, names, out);
    handle->printOwnFunctions();
    for (const auto &entry : entries)
      entry->printRun(/*isOne=*/true);
    out.line("} // namespace " + inside);
    out.line("} // namespace");
    out.line("} // namespace " + outside);
    return handle;
  }

  /// Prints the text of a single target into the namespace `outside`.
  void print(StringRef outside) {
    std::string kernelText = printStart().first;
    out.line("namespace " + outside + " {");
    out.line("namespace {");
    out.blank();
    printOpening(target.functionsText, kernelText + textOfPrefetches(), out);
    out.blank();
    printKernels(kernelText);
    printProgram();
    out.line("} // namespace " + outside);
    out.raw() << target.closeText;
  }

private:
  /// Prints, for each entry point, the function that launches its
  /// kernels. Returns the printers of the entry points.
  std::vector<std::unique_ptr<DevicePrinter>> printLaunches() {
    std::vector<std::unique_ptr<DevicePrinter>> entries;
    for (const Interface &interface : interfaces) {
      entries.push_back(std::make_unique<DevicePrinter>(
          interface, weights, options, context, names, out));
      entries.back()->printLaunches();
    }
    return entries;
  }

  void printProgram() {
    printMemoryFunctions("buffer_at< constants_at<", out);
    auto entries = printLaunches();
    out.line("} // namespace");
    out.blank();
    DeviceHandlePrinter(interfaces, weights, options, context, names, out)
        .printFunctions();
    for (const auto &entry : entries) {
      if (entry != entries.front())
        out.blank();
      entry->printRun(/*isOne=*/false);
    }
  }

  /// Kernels read tables (weights without an offset) directly, as __device__
  /// arrays; the host copies other weights to the device.
  void printTables(ArrayRef<memref::GlobalOp> inSource) override {
    SmallVector<memref::GlobalOp> payload;
    for (memref::GlobalOp global : inSource)
      if (weights.all()[weights.indexOf(global)].offset < 0) {
        out.raw() << kQualifier;
        printArray(global);
      } else {
        payload.push_back(global);
      }
    if (payload.empty())
      return;
    out.line("namespace payload {");
    for (memref::GlobalOp weight : payload)
      printArray(weight);
    out.line("} // namespace payload");
    out.blank();
  }
};

class DeviceForm : public SourceForm {
public:
  explicit DeviceForm(const SourceFile &file) : SourceForm(file) {}

  StringRef qualifier() const override { return kQualifier; }
  bool mayMoveConstants() const override { return false; }
  // GPU compilers have their own floating-point options.
  bool keepsFloats() const override { return false; }

  void reserveNames(NameScope &names) const override {
    for (const char *local :
         {"device", "device_functions", "handle", "constants", "staging",
          "stream", "status", "payload", "inside", "record", "recorded",
          "capturing", "phases", "decisions", "cells"})
      names.reserve(local);
    for (const Interface &entry : file.interfaces)
      for (const char *local : {"launch", "enqueue"})
        names.reserve(entry.localName(local));
  }

  std::vector<StringRef> printMacros(TextWriter &out) const override {
    if (file.variants.size() == 1)
      return {};
    out.comment("Each kernel has a body only in the compilation pass of its "
                "own target.");
    out.line("#define INGOT_CHOOSES_TARGET 1");
    return {"INGOT_CHOOSES_TARGET"};
  }

  void printOne(const std::vector<std::string> &shared, StringRef outside,
                bool isCalled, NameScope names, TextWriter &out,
                SourceMap *map) const override {
    DeviceVariant(file.variants.front(), file, shared, std::move(names), out,
                  map)
        .print(outside);
  }

  void printSeveral(const Selector &selector,
                    const std::vector<std::string> &shared, StringRef outside,
                    NameScope names, TextWriter &out,
                    SourceMap *map) const override {
    std::unique_ptr<DeviceVariant> last;
    std::unique_ptr<DeviceHandlePrinter> handle;
    for (auto [number, variant] : llvm::enumerate(file.variants)) {
      last = std::make_unique<DeviceVariant>(variant, file, shared, names, out,
                                             map);
      handle = last->printOneOfSeveral(outside, selector.namespaces[number],
                                       selector.passCondition(number));
      out.blank();
    }
    out.line("namespace " + outside + " {");
    selector.printDevice(out);
    handle->printCommonFunctions();
    out.line("} // namespace " + outside);
    out.raw() << file.variants.back().target->closeText;
  }
};

} // namespace

std::unique_ptr<SourceForm> formOfDevices(const SourceFile &file) {
  return std::make_unique<DeviceForm>(file);
}

} // namespace ingot
