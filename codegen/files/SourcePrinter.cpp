// Prints the .cpp of a model.
//
// From top to bottom, the file contains: includes, vector types, weights,
// kernels, the bodies of ifs and loops (each is a function), then `run`, which
// checks its arguments and launches the kernels. All of this is in an anonymous
// namespace within the namespace <name>_source, so that several such files can
// be one translation unit, and between the pragmas that enable the target's
// instructions. <name>_run comes last and calls `run`; for a GPU, it is in
// <name>_source as well. With several entry points, each has such functions,
// preceded by the bodies that only this entry point uses.
//
// With several targets, the kernels and `run` of each target are in a namespace
// of that target. The weights that the targets share come before these
// namespaces; the selector (SelectorPrinter.h) and the <name>_run that uses it
// come after them.
//
// All macros and pragmas of the file are undone at its end.

#include "codegen/files/DeviceHandlePrinter.h"
#include "codegen/files/DevicePrinter.h"
#include "codegen/files/HeaderText.h"
#include "codegen/files/Interface.h"
#include "codegen/files/MainPrinter.h"
#include "codegen/files/Prologue.h"
#include "codegen/files/RuntimeHeader.h"
#include "codegen/files/SelectorPrinter.h"
#include "codegen/files/StatePrinter.h"
#include "codegen/files/ThreadsPrinter.h"
#include "codegen/files/WeightsPrinter.h"
#include "codegen/kernel/ExternalCalls.h"
#include "codegen/kernel/KernelPrinter.h"
#include "codegen/kernel/PrintedFunctions.h"
#include "targets/ModuleForm.h"

#include "dialects/kernel/KernelDialect.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

/// Returns the part named `part` of precise_floats.inc, the text that disables
/// fast-math options.
static StringRef preciseFloats(StringRef part) {
  StringRef text =
      kPreciseFloatsText.split(("//? " + part + "\n").str()).second;
  return text.take_front(text.find("//? "));
}

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

/// Appends a function to `order`, after the helper functions that it calls.
static void collectKernels(FunctionOpInterface function,
                           const SymbolTable &symbols,
                           llvm::SetVector<FunctionOpInterface> &order) {
  if (order.contains(function))
    return;
  function.walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      collectKernels(callee, symbols, order);
  });
  order.insert(function);
}

namespace {

/// Prints the complete text of one target.
class VariantPrinter {
public:
  /// `names` are the names that the preceding text of the file uses.
  VariantPrinter(const Variant &variant, const CodegenOptions &options,
                 const Weights &weights,
                 const std::vector<std::string> &sharedNames, NameScope names,
                 TextWriter &out, SourceMap *map)
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
      if (!target.isDevice() && comparesFloats(kernel))
        context.comparesFloats.insert(kernel.getName());
    for (FunctionOpInterface kernel : kernels)
      context.functions[kernel.getName()] =
          this->names.unique(kernel.getName());
    if (out.language.isC)
      nameBodies();
    llvm::SetVector<FunctionOpInterface> ofHost;
    for (auto function : module.getOps<kernel::FuncOp>())
      if (target.isDevice() && !function.isExternal() && !function.getThreads())
        collectKernels(function, symbols, ofHost);
    for (FunctionOpInterface function : ofHost)
      if (isa<func::FuncOp>(*function))
        context.onHost.insert(function.getName());
    for (auto program : module.getOps<kernel::ProgramOp>())
      if (!program.isPublic())
        context.functions[program.getName()] =
            this->names.unique(program.getName());
  }

  /// For one of several GPU targets: prints its text into the namespaces
  /// `outside` and `inside`. The bodies of kernels are compiled only if the
  /// preprocessor condition `condition` holds. Returns the printer of the
  /// functions that do not depend on the target.
  std::unique_ptr<DeviceHandlePrinter>
  printDevice(StringRef outside, StringRef inside, StringRef condition) {
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
    auto entries = printDeviceLaunches();
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

  /// Prints the text of the target into the namespaces `outside` and `inside`;
  /// `inside` is empty if the file has a single target. `isCalled`: whether the
  /// printed `run` is called by a function that queries the machine.
  void print(StringRef outside, StringRef inside, bool isCalled) {
    if (context.map) {
      context.map->functions = context.functions;
      context.map->globals = context.globals;
    }
    std::string kernelText = textOfKernels();
    // The functions that launch the kernels are printed later. Of the target's
    // prologue (the text before the kernels), these functions use only what
    // prefetches need.
    std::string used = kernelText;
    module.walk([&](kernel::PrefetchOp) { used += target.prefetchText; });
    std::set<std::string> macros = printOpening(target.openText, used, out);
    if (!target.openText.empty())
      out.blank();
    if (out.language.isC)
      return printC(kernelText, macros);
    out.line("namespace " + outside + " {");
    out.line("namespace {");
    if (target.isDevice()) {
      out.blank();
      printOpening(target.functionsText, used, out);
      out.blank();
      printKernels(kernelText);
      printDeviceProgram();
      out.line("} // namespace " + outside);
      out.raw() << target.closeText;
      return;
    }
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

  /// For a GPU: prints, for each entry point, the function that launches its
  /// kernels. Returns the printers of the entry points.
  std::vector<std::unique_ptr<DevicePrinter>> printDeviceLaunches() {
    std::vector<std::unique_ptr<DevicePrinter>> entries;
    for (const Interface &interface : interfaces) {
      entries.push_back(std::make_unique<DevicePrinter>(
          interface, weights, options, context, names, out));
      entries.back()->printLaunches();
    }
    return entries;
  }

  void printDeviceProgram() {
    printMemoryFunctions("buffer_at< constants_at<", out);
    auto entries = printDeviceLaunches();
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

  /// Returns the text of the kernels. They are printed to a string first, since
  /// they determine which vector types and macros have to be declared before
  /// them.
  std::string textOfKernels() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    TextWriter kernelOut(stream, out.language);
    for (FunctionOpInterface kernel : kernels) {
      KernelPrinter(kernel, context, kernelOut).print();
      kernelOut.blank();
    }
    return text;
  }

  void printKernels(StringRef text) {
    printVectorTypes(context, out);
    if (text.contains(kStringTypeName)) {
      out.line("typedef const char *" + kStringTypeName + ";");
      out.blank();
    }
    printTables();
    printHelpers(context, out);
    place();
    out.raw() << text;
  }

  /// Records in the source map that the text of the kernels, which was printed
  /// to a string before, begins at the current position of the file.
  void place() {
    if (context.map)
      context.map->place(out.raw().tell());
  }

  /// Whether the constant is an array in the text of this target, and not a
  /// weight that targets share or that is in a weights object or file.
  bool isInSource(memref::GlobalOp global) const {
    const Weight &weight = weights.all()[weights.indexOf(global)];
    return !weight.shared &&
           (weight.offset < 0 ||
            interfaces.front().weightsMode == WeightsMode::Source);
  }

  void printArray(memref::GlobalOp global) {
    printWeightArray(weights.all()[weights.indexOf(global)],
                     context.globals[global.getSymName()], out);
  }

  void printTables() {
    auto inSource = llvm::filter_to_vector(
        module.getOps<memref::GlobalOp>(),
        [&](memref::GlobalOp global) { return isInSource(global); });
    if (!target.isDevice()) {
      llvm::for_each(inSource, [&](auto global) { printArray(global); });
      return;
    }
    // GPU kernels read tables (weights without an offset) directly, as
    // __device__ arrays; the host copies other weights to the device.
    auto payload = std::stable_partition(
        inSource.begin(), inSource.end(), [&](auto global) {
          return weights.all()[weights.indexOf(global)].offset < 0;
        });
    for (memref::GlobalOp table : llvm::make_range(inSource.begin(), payload)) {
      out.raw() << "__device__ ";
      printArray(table);
    }
    if (payload == inSource.end())
      return;
    out.line("namespace payload {");
    for (memref::GlobalOp weight : llvm::make_range(payload, inSource.end()))
      printArray(weight);
    out.line("} // namespace payload");
    out.blank();
  }

  ModuleOp module;
  const TargetDescription &target;
  std::vector<Interface> interfaces;
  const CodegenOptions &options;
  const Weights &weights;
  NameScope names;
  TextWriter &out;
  SourceContext context;
  llvm::SetVector<FunctionOpInterface> kernels;
};

} // namespace

static void printIncludes(ArrayRef<Variant> variants, StringRef header,
                          TextWriter &out) {
  out.line("#include \"" + header + "\"");
  out.blank();
  llvm::SetVector<StringRef> includes;
  if (out.language.isC)
    includes.insert("stdbool.h");
  for (StringRef standard : {"stddef.h", "stdint.h"})
    includes.insert(standard);
  for (const Variant &variant : variants)
    includes.insert_range(variant.target->includes);
  for (StringRef include : includes)
    out.line("#include <" + include + ">");
  out.blank();
}

/// Prints declarations of the C functions of custom operators.
static void printExternals(ArrayRef<Variant> variants, TextWriter &out) {
  std::set<std::string> declarations;
  for (const Variant &variant : variants)
    ModuleOp(variant.module).walk([&](kernel::CallExternalOp call) {
      declarations.insert((variant.target->isDevice() ? "__device__ " : "") +
                          declarationOf(call) + ";");
    });
  if (declarations.empty())
    return;
  out.line("// Functions of custom operators: the program that contains this "
           "file defines them.");
  if (!out.language.isC)
    out.line("extern \"C\" {");
  for (const std::string &declaration : declarations)
    out.line(declaration);
  if (!out.language.isC)
    out.line("}");
  out.blank();
}

/// Prints the definition of the arena, the buffer for all intermediate tensors.
/// It is zero-initialized, so that it takes no flash in a section such as .bss.
static void printArena(ArrayRef<Interface> interfaces, StringRef section,
                       TextWriter &out) {
  if (section.empty())
    return;
  const Interface &interface = interfaces.front();
  if (!out.language.isC)
    out.line("extern \"C\" {");
  out.line(out.language.alignas_() + "(" + interface.macro +
           "_ARENA_ALIGN) unsigned char " + interface.sharedName + "_arena[" +
           Twine(std::max<int64_t>(largestArena(interfaces), 1)) + "]");
  out.line("    __attribute__((section(\"" + section + "\")));");
  if (!out.language.isC)
    out.line("}");
  out.blank();
}

/// Prints the weights that several targets share, in an anonymous namespace
/// (inside the namespace `outside` unless that is empty), before the text of
/// the targets. If `constants` is not null, it is the content of a file that
/// the source includes, and the weights are printed to it. Returns the names of
/// these weights, by index in Weights::all().
static std::vector<std::string>
printSharedWeights(const Weights &weights, const Interface &interface,
                   StringRef outside, const CodegenOptions &options,
                   TextWriter *constants, NameScope &names, TextWriter &out) {
  std::vector<std::string> result;
  bool any = false, isDevice = interface.isDevice;
  for (const Weight &weight : weights.all()) {
    memref::GlobalOp global = weight.global;
    result.push_back(weight.shared ? names.unique(global.getSymName()) : "");
    if (!weight.shared ||
        (weight.offset >= 0 && interface.weightsMode != WeightsMode::Source))
      continue;
    if (!any) {
      if (!outside.empty())
        out.line("namespace " + outside + " {");
      if (!out.language.isC)
        out.line("namespace {");
      if (constants)
        out.line("#include \"" + options.constantsName + "\"");
      else
        out.blank();
    }
    any = true;
    // GPU kernels read tables (weights without an offset) directly, as
    // __device__ arrays.
    if (isDevice && weight.offset < 0)
      out.raw() << "__device__ ";
    printWeightArray(weight, result.back(), constants ? *constants : out);
  }
  if (any) {
    if (!out.language.isC)
      out.line("} // namespace");
    if (!outside.empty())
      out.line("} // namespace " + outside);
    out.blank();
  }
  return result;
}

/// In C, reserves the names of functions of the C library and of custom
/// operators.
static void reserveFunctions(ArrayRef<Variant> variants, NameScope &names) {
  names.reserveLibrary();
  for (const Variant &variant : variants)
    ModuleOp(variant.module).walk([&](kernel::CallExternalOp call) {
      names.reserve(call.getFunction());
    });
}

/// Prints the source from the first line after the includes.
static void printBody(ArrayRef<Variant> variants, const CodegenOptions &options,
                      const Weights &weights,
                      const std::vector<Interface> &interfaces,
                      bool keepsFloats, TextWriter *constants, NameScope names,
                      TextWriter &out, SourceMap *map) {
  const Interface &interface = interfaces.front();
  printExternals(variants, out);
  std::string id = interface.sharedMacro + "_HEADER_ID";
  out.line("#if !defined(" + id + ") || " + id +
           " != " + headerId(variants, interfaces, options, weights));
  out.line("#error \"" + options.headerName +
           " was generated for another version of this file\"");
  out.line("#endif");
  out.blank();
  // The pragmas that disable fast-math for single functions follow the
  // includes: a function of the target's headers must be compiled in the same
  // way in all sources of the program.
  if (keepsFloats) {
    out.raw() << out.language.spelled(preciseFloats("functions"));
    out.blank();
  }
  auto end = llvm::make_scope_exit([&] {
    if (keepsFloats)
      out.raw() << preciseFloats("end");
  });
  printArena(interfaces, options.arenaSection, out);
  if (!interface.isDevice)
    printStateFunctions(interfaces, out);
  std::string outside = interface.sharedName + "_source";
  auto printShared = [&] {
    return printSharedWeights(weights, interface, outside, options, constants,
                              names, out);
  };
  if (out.language.isC) {
    printWeightsElsewhere(interface, weights, out);
    outside.clear();
    std::vector<std::string> shared = printShared();
    VariantPrinter(variants.front(), options, weights, shared, std::move(names),
                   out, map)
        .print("", "", /*isCalled=*/false);
    return;
  }
  names.reserve(outside);
  for (const Interface &entry : interfaces)
    names.reserve(entry.localName());
  if (variants.size() == 1) {
    std::optional<Selector> selector;
    if (!variants.front().target->permissionText.empty())
      selector.emplace(variants, interfaces, outside, names);
    printWeightsElsewhere(interface, weights, out);
    std::vector<std::string> shared = printShared();
    VariantPrinter(variants.front(), options, weights, shared, names, out, map)
        .print(outside, /*inside=*/"", /*isCalled=*/selector.has_value());
    // The function that queries the machine must run on any machine, so it
    // follows the pragmas that disable the target's instructions again.
    if (selector)
      selector->printQuestion(out);
    return;
  }

  Selector selector(variants, interfaces, outside, names);
  printWeightsElsewhere(interface, weights, out);
  std::vector<std::string> shared = printShared();
  if (interface.isDevice) {
    std::unique_ptr<VariantPrinter> last;
    std::unique_ptr<DeviceHandlePrinter> handle;
    for (auto [number, variant] : llvm::enumerate(variants)) {
      last = std::make_unique<VariantPrinter>(variant, options, weights, shared,
                                              names, out, map);
      handle = last->printDevice(outside, selector.namespaces[number],
                                 selector.passCondition(number));
      out.blank();
    }
    out.line("namespace " + outside + " {");
    selector.printDevice(out);
    handle->printCommonFunctions();
    out.line("} // namespace " + outside);
    out.raw() << variants.back().target->closeText;
    return;
  }
  std::string threads;
  llvm::raw_string_ostream stream(threads);
  TextWriter threadsOut(stream);
  printThreads(llvm::map_to_vector(variants,
                                   [](const Variant &variant) {
                                     return ModuleOp(variant.module);
                                   }),
               threadsOut);
  if (!threads.empty()) {
    out.line("namespace " + outside + " {");
    out.line("namespace {");
    out.blank();
    out.raw() << threads;
    out.line("} // namespace");
    out.line("} // namespace " + outside);
    out.blank();
  }
  for (auto [variant, inside] : llvm::zip(variants, selector.namespaces)) {
    VariantPrinter(variant, options, weights, shared, names, out, map)
        .print(outside, inside, /*isCalled=*/true);
    out.blank();
  }
  selector.print(out);
}

void printSource(ArrayRef<Variant> variants, const CodegenOptions &options,
                 llvm::raw_ostream &os, std::string *constants) {
  printSource(variants, options, os, nullptr, constants);
}

void printSource(ArrayRef<Variant> variants, const CodegenOptions &options,
                 llvm::raw_ostream &os, SourceMap *map,
                 std::string *constants) {
  // If all constants together have more bytes than this, they are in a separate
  // file, so that the source shows code.
  constexpr int64_t mostInSource = 16 << 10;
  Weights weights(variants);
  std::vector<Interface> interfaces =
      interfacesOf(variants.back(), options, weights);
  const Interface &interface = interfaces.front();
  bool splits = !options.constantsName.empty() && !interface.isDevice &&
                interface.weightsMode == WeightsMode::Source &&
                weights.payloadBytes() > mostInSource;
  if (splits)
    weights.shareAll();
  std::string constantsText;
  llvm::raw_string_ostream constantsStream(constants ? *constants
                                                     : constantsText);
  TextWriter constantsOut(constantsStream, options.language);
  TextWriter out(os, options.language);

  NameScope names;
  if (interface.isDevice)
    for (const char *local :
         {"device", "device_functions", "handle", "constants", "staging",
          "stream", "status", "payload", "inside", "record", "recorded",
          "capturing", "phases", "decisions", "cells"})
      names.reserve(local);
  if (interface.isDevice)
    for (const Interface &entry : interfaces)
      for (const char *local : {"launch", "enqueue"})
        names.reserve(entry.localName(local));
  // The names of local variables in the main function, and names that the
  // header declares.
  for (const char *local :
       {"weights", "memory", "state", "io", "arena", "context", "begin", "end",
        "buffer_at", "constants_at"})
    names.reserve(local);
  if (!interface.isDevice)
    reserveThreadNames(names);
  if (options.language.isC)
    reserveFunctions(variants, names);
  for (const Interface &entry : interfaces)
    if (!entry.madeSizes.empty())
      names.reserve("made");
  for (const Interface &entry : interfaces)
    for (const char *suffix : {"_io", "_run", "_run_alone", "_kernel_name"})
      names.reserve(entry.name + suffix);
  for (const char *suffix :
       {"", "_io", "_run", "_arena", "_weights", "_check_weights", "_is_header",
        "_target", "_kernel_name", "_constants", "_handle", "_upload",
        "_release", "_create", "_destroy", "_reset"})
    names.reserve(interface.sharedName + suffix);

  std::string comment = fileComment(interface, variants, options);
  out.comment(comment);
  out.blank();
  if (splits) {
    constantsOut.comment("The constants of a source file, which includes this "
                         "file.\n" +
                         comment);
    constantsOut.blank();
  }
  bool choosesTarget = interface.isDevice && variants.size() > 1;
  if (choosesTarget) {
    out.comment("Each kernel has a body only in the compilation pass of its "
                "own target.");
    out.line("#define INGOT_CHOOSES_TARGET 1");
  }
  // GPU compilers have their own floating-point options, so the text that
  // disables fast-math is printed for CPUs only.
  bool keepsFloats =
      !interface.isDevice && llvm::any_of(variants, [](const Variant &variant) {
        return usesFloats(variant.module);
      });
  // Fast-math is disabled before the target's headers are included, since their
  // functions are inlined into kernels.
  if (keepsFloats) {
    out.raw() << preciseFloats("begin");
    out.blank();
  }
  printIncludes(variants, options.headerName, out);
  // Prints the rest of the source to a string first: its text determines which
  // macros are printed before it.
  std::string text;
  llvm::raw_string_ostream stream(text);
  TextWriter body(stream, options.language);
  printBody(variants, options, weights, interfaces, keepsFloats,
            splits ? &constantsOut : nullptr, std::move(names), body, map);
  bool comparesFloats = StringRef(text).contains("INGOT_IEEE");
  if (comparesFloats) {
    out.raw() << options.language.spelled(preciseFloats("comparisons"));
    out.blank();
  }
  std::vector<StringRef> macros = printCompilerMacros(text, out);
  if (comparesFloats)
    macros.push_back("INGOT_IEEE");
  if (choosesTarget)
    macros.push_back("INGOT_CHOOSES_TARGET");
  if (map)
    map->move(os.tell());
  os << text;
  for (StringRef macro : macros)
    out.line("#undef " + macro);
}

} // namespace ingot
