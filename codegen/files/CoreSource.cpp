// The form of a .cpp or .c file, whose kernels run on the cores of a processor.

#include "codegen/files/MainPrinter.h"
#include "codegen/files/Prologue.h"
#include "codegen/files/SourceForm.h"
#include "codegen/files/StatePrinter.h"
#include "codegen/files/ThreadsPrinter.h"
#include "codegen/files/VariantPrinter.h"
#include "targets/ModuleForm.h"

using namespace mlir;

namespace ingot {

/// Whether a module contains operations on f32 or f64, so that its C++ text
/// contains floating-point arithmetic.
static bool usesFloats(ModuleOp module) {
  auto isFloat = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF32() || element.isF64();
  };
  return module
      .walk([&](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isFloat) ||
                       llvm::any_of(op->getOperandTypes(), isFloat)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

class CoreVariant : VariantPrinter {
public:
  CoreVariant(const Variant &variant, const SourceFile &file,
              const std::vector<std::string> &sharedNames, NameScope names,
              TextWriter &out, SourceMap *map)
      : VariantPrinter(variant, file.options, file.weights, sharedNames,
                       std::move(names), out, map) {
    for (FunctionOpInterface kernel : kernels)
      if (comparesFloats(kernel))
        context.comparesFloats.insert(kernel.getName());
    if (out.language.isC)
      nameBodies();
    namePrograms();
  }

  /// Prints the text of the target into the namespaces `outside` and `inside`;
  /// `inside` is empty if the file has a single target. `isCalled`: whether the
  /// printed `run` is called by a function that queries the machine.
  void print(StringRef outside, StringRef inside, bool isCalled) {
    auto [kernelText, macros] = printStart();
    if (out.language.isC)
      return printC(kernelText, macros);
    out.line("namespace " + outside + " {");
    out.line("namespace {");
    if (!inside.empty())
      out.line("namespace " + inside + " {");
    out.blank();
    if (inside.empty())
      printThreads(module, out);
    printKernels(kernelText);
    std::string kernelNames;
    llvm::raw_string_ostream namesStream(kernelNames);
    TextWriter namesOut(namesStream);
    printPrograms([&](TextWriter &out) {
      printEntries(out, namesOut, /*namesKernels=*/inside.empty());
    });
    if (!inside.empty())
      out.line("} // namespace " + inside);
    out.line("} // namespace");
    out.line("} // namespace " + outside);
    for (const Interface &interface : interfaces)
      if (!isCalled) {
        out.blank();
        MainPrinter::printPublicRun(interface, outside, out);
      }
    out.raw() << kernelNames;
    for (const Interface &interface : interfaces)
      printModule(interface);
    out.raw() << target.closeText;
    for (const std::string &macro : macros)
      out.line("#undef " + macro);
  }

private:
  /// In C: chooses the names of the functions that execute a part of a kernel's
  /// iterations, and of the structs with their arguments.
  void nameBodies() {
    module.walk([&](kernel::LaunchOp launch) {
      std::string &body = context.bodies[launch.getCallee()];
      kernel::FuncOp kernel =
          SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(
              module, launch.getCalleeAttr());
      if (kernel::extentOf(kernel).value_or(1).most() <= 1) {
        context.bodies.erase(launch.getCallee());
      } else if (body.empty()) {
        const std::string &function = context.functions[launch.getCallee()];
        body = names.unique(function + "_body");
        context.arguments[launch.getCallee()] =
            names.unique(function + "_arguments");
      }
    });
  }

  /// Prints the text as C, without namespaces. All functions that the header
  /// does not declare are static.
  void printC(StringRef kernelText, const std::set<std::string> &macros) {
    printThreads(module, out);
    printKernels(kernelText);
    std::string kernelNames;
    llvm::raw_string_ostream namesStream(kernelNames);
    TextWriter namesOut(namesStream, out.language);
    printPrograms([&](TextWriter &out) { printEntries(out, namesOut); });
    out.raw() << kernelNames;
    out.raw() << target.closeText;
    for (const std::string &macro : macros)
      out.line("#undef " + macro);
  }

  /// Prints the bodies of ifs and loops, then the function of each entry point.
  /// The functions that return the names of kernels are printed to `namesOut`.
  void printEntries(TextWriter &out, TextWriter &namesOut,
                    bool namesKernels = true) {
    std::vector<std::unique_ptr<MainPrinter>> entries;
    for (const Interface &interface : interfaces)
      entries.push_back(std::make_unique<MainPrinter>(
          interface, weights, options, context, names, out));
    for (const auto &entry : entries)
      entry->printHelpers();
    for (auto [entry, interface] : llvm::zip(entries, interfaces)) {
      entry->printRun("ingot_status " + (out.language.isC
                                             ? interface.name + "_run"
                                             : interface.localName()));
      out.blank();
      if (namesKernels && options.trace)
        entry->printKernelNames(namesOut);
    }
  }

  /// Prints the exported functions with which the compiled source becomes a
  /// module, such as a .wasm file (ModuleForm).
  void printModule(const Interface &interface) {
    const ModuleForm *form = moduleForm(target);
    StringRef text = form ? form->text : "";
    while (!text.empty()) {
      size_t at = std::min(text.find("{name}"), text.find("{macro}"));
      out.raw() << text.take_front(at);
      text = text.drop_front(std::min(at, text.size()));
      if (text.consume_front("{name}"))
        out.raw() << interface.name;
      else if (text.consume_front("{macro}"))
        out.raw() << interface.macro;
    }
  }

  /// Prints the output of `print`, preceded by the helper functions that the
  /// printed code calls.
  void printPrograms(llvm::function_ref<void(TextWriter &)> print) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    TextWriter programs(stream, out.language);
    print(programs);
    printMemoryFunctions(text, out);
    place();
    out.raw() << text;
  }

  /// Whether a function or one of its callees compares floats. Must be called
  /// for callees before their callers.
  bool comparesFloats(FunctionOpInterface function) {
    return function
        .walk([&](Operation *op) {
          auto call = dyn_cast<func::CallOp>(op);
          return isa<arith::CmpFOp>(op) ||
                         (call &&
                          context.comparesFloats.contains(call.getCallee()))
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void printTables(ArrayRef<memref::GlobalOp> tables) override {
    llvm::for_each(tables, [&](auto global) { printArray(global); });
  }
};

class CoreForm : public SourceForm {
public:
  explicit CoreForm(const SourceFile &file) : SourceForm(file) {}

  bool mayMoveConstants() const override { return true; }
  bool keepsFloats() const override {
    return llvm::any_of(file.variants, [](const Variant &variant) {
      return usesFloats(variant.module);
    });
  }
  void reserveNames(NameScope &names) const override {
    reserveThreadNames(names);
  }
  void printState(TextWriter &out) const override {
    printStateFunctions(file.interfaces, callersState(out.language), out);
  }

  void printOne(const std::vector<std::string> &shared, StringRef outside,
                bool isCalled, NameScope names, TextWriter &out,
                SourceMap *map) const override {
    CoreVariant(file.variants.front(), file, shared, std::move(names), out, map)
        .print(outside, /*inside=*/"", isCalled);
  }

  void printSeveral(const Selector &selector,
                    const std::vector<std::string> &shared, StringRef outside,
                    NameScope names, TextWriter &out,
                    SourceMap *map) const override {
    printThreadsOfAll(outside, out);
    for (auto [variant, inside] :
         llvm::zip(file.variants, selector.namespaces)) {
      CoreVariant(variant, file, shared, names, out, map)
          .print(outside, inside, /*isCalled=*/true);
      out.blank();
    }
    selector.print(out);
  }

private:
  void printThreadsOfAll(StringRef outside, TextWriter &out) const {
    std::string threads;
    llvm::raw_string_ostream stream(threads);
    TextWriter threadsOut(stream);
    printThreads(llvm::map_to_vector(file.variants,
                                     [](const Variant &variant) {
                                       return ModuleOp(variant.module);
                                     }),
                 threadsOut);
    if (threads.empty())
      return;
    out.line("namespace " + outside + " {");
    out.line("namespace {");
    out.blank();
    out.raw() << threads;
    out.line("} // namespace");
    out.line("} // namespace " + outside);
    out.blank();
  }
};

} // namespace

std::unique_ptr<SourceForm> formOfCores(const SourceFile &file) {
  return std::make_unique<CoreForm>(file);
}

} // namespace ingot
