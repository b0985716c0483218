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

#include "codegen/files/HeaderText.h"
#include "codegen/files/RuntimeHeader.h"
#include "codegen/files/SourceForm.h"
#include "codegen/files/WeightsPrinter.h"
#include "codegen/kernel/ExternalCalls.h"
#include "codegen/kernel/KernelPrinter.h"
#include "codegen/kernel/PrintedFunctions.h"

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
static void printExternals(ArrayRef<Variant> variants, StringRef qualifier,
                           TextWriter &out) {
  std::set<std::string> declarations;
  for (const Variant &variant : variants)
    ModuleOp(variant.module).walk([&](kernel::CallExternalOp call) {
      declarations.insert((qualifier + declarationOf(call) + ";").str());
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
                   StringRef outside, StringRef qualifier,
                   const CodegenOptions &options, TextWriter *constants,
                   NameScope &names, TextWriter &out) {
  std::vector<std::string> result;
  bool any = false;
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
    // Kernels read tables (weights without an offset) directly.
    if (weight.offset < 0)
      out.raw() << qualifier;
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
static void printBody(const SourceFile &file, const SourceForm &form,
                      bool keepsFloats, TextWriter *constants, NameScope names,
                      TextWriter &out, SourceMap *map) {
  const auto &[variants, options, weights, interfaces] = file;
  const Interface &interface = interfaces.front();
  printExternals(variants, form.qualifier(), out);
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
  llvm::scope_exit end([&] {
    if (keepsFloats)
      out.raw() << preciseFloats("end");
  });
  printArena(interfaces, options.arenaSection, out);
  form.printState(out);
  std::string outside;
  if (!out.language.isC) {
    outside = interface.sharedName + "_source";
    names.reserve(outside);
    for (const Interface &entry : interfaces)
      names.reserve(entry.localName());
  }
  // A single target has a selector if its instructions need a permission.
  std::optional<Selector> selector;
  if (!out.language.isC &&
      (variants.size() > 1 || !variants.front().target->permissionText.empty()))
    selector.emplace(variants, interfaces, outside, names);
  printWeightsElsewhere(interface, weights, out);
  std::vector<std::string> shared =
      printSharedWeights(weights, interface, outside, form.qualifier(), options,
                         constants, names, out);
  if (variants.size() > 1)
    return form.printSeveral(*selector, shared, outside, std::move(names), out,
                             map);
  form.printOne(shared, outside, /*isCalled=*/selector.has_value(),
                std::move(names), out, map);
  // The function that queries the machine must run on any machine, so it
  // follows the pragmas that disable the target's instructions again.
  if (selector)
    selector->printQuestion(out);
}

std::unique_ptr<SourceForm> SourceForm::of(const SourceFile &file) {
  return file.interfaces.front().hasHandle() ? formOfDevices(file)
                                             : formOfCores(file);
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
  SourceFile file{variants, options, weights, interfaces};
  std::unique_ptr<SourceForm> form = SourceForm::of(file);
  bool splits = !options.constantsName.empty() && form->mayMoveConstants() &&
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
  form->reserveNames(names);
  // The names of local variables in the main function, and names that the
  // header declares.
  for (const char *local :
       {"weights", "memory", "state", "io", "arena", "context", "begin", "end",
        "buffer_at", "constants_at"})
    names.reserve(local);
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
  std::vector<StringRef> formMacros = form->printMacros(out);
  bool keepsFloats = form->keepsFloats();
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
  printBody(file, *form, keepsFloats, splits ? &constantsOut : nullptr,
            std::move(names), body, map);
  bool comparesFloats = StringRef(text).contains("INGOT_IEEE");
  if (comparesFloats) {
    out.raw() << options.language.spelled(preciseFloats("comparisons"));
    out.blank();
  }
  std::vector<StringRef> macros = printCompilerMacros(text, out);
  if (comparesFloats)
    macros.push_back("INGOT_IEEE");
  llvm::append_range(macros, formMacros);
  if (map)
    map->move(os.tell());
  os << text;
  for (StringRef macro : macros)
    out.line("#undef " + macro);
}

} // namespace ingot
