// Prints the .h of a model: C11 with a thin C++17 wrapper. It contains the text
// of runtime_support/ingot.h, under that file's own include guard, so that a
// model needs no other header.

#include "codegen/files/DeviceInterface.h"
#include "codegen/files/HeaderText.h"
#include "codegen/files/Interface.h"
#include "codegen/files/RuntimeHeader.h"
#include "codegen/files/SelectorPrinter.h"
#include "codegen/files/StatePrinter.h"
#include "codegen/kernel/Names.h"
#include "codegen/kernel/TextWriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace ingot {

static void printArenaMacros(StringRef comment, const std::string &macro,
                             int64_t bytes, int64_t align, TextWriter &out) {
  out.blockComment(comment.str());
  out.line("#define " + macro + "_ARENA_BYTES " + Twine(bytes) + "u");
  out.line("#define " + macro + "_ARENA_ALIGN " + Twine(align) + "u");
}

/// Prints the macros that all entry points share.
static void printSharedMacros(ArrayRef<Interface> interfaces,
                              const CodegenOptions &options,
                              const Weights &weights, TextWriter &out) {
  const Interface &interface = interfaces.front();
  const std::string &macro = interface.sharedMacro;
  bool isFile = interface.weightsMode == WeightsMode::File;
  int64_t weightBytes =
      isFile ? kWeightsHeaderBytes + weights.payloadBytes() : 0;
  for (const Weight &weight : weights.all())
    weightBytes += isFile ? 0 : weight.bytes;
  out.blockComment(isFile ? "The weights file: its size, and the alignment of "
                            "the memory that has it."
                          : "Constants of the model, which are read only.");
  out.line("#define " + macro + "_WEIGHTS_BYTES " + Twine(weightBytes) + "u");
  if (isFile)
    out.line("#define " + macro + "_WEIGHTS_ALIGN " + Twine(kWeightAlign) +
             "u");
  if (options.measured) {
    out.blockComment("Measured in the compiled object: code and constants; "
                     "stack of a call.");
    out.line("#define " + macro + "_FLASH_BYTES " +
             Twine(options.measured->flash) + "u");
    out.line("#define " + macro + "_STACK_BYTES " +
             Twine(options.measured->stack) + "u");
  }
}

/// Prints the macros of a streamed input (--stream), of which a call takes only
/// new columns: the columns of a call and of the window, and the calls that
/// fill the state.
static void printStream(const Interface &interface,
                        const InterfaceTensor &tensor, TextWriter &out) {
  auto [axis, columns, window] = *tensor.stream;
  int64_t calls = (window + columns - 1) / columns;
  out.blockComment(
      "A call takes the next columns of " + tensor.field + ", along its axis " +
      std::to_string(axis) +
      ". Its results are those of the model for the last " +
      std::to_string(window) + " columns, the window, from call number " +
      std::to_string(calls) +
      " on: that many calls fill the state, which begins as zeros.");
  out.line("#define " + interface.macro + "_STREAM_COLUMNS " + Twine(columns) +
           "u");
  out.line("#define " + interface.macro + "_STREAM_WINDOW " + Twine(window) +
           "u");
  out.line("#define " + interface.macro + "_STREAM_CALLS " + Twine(calls) +
           "u");
}

/// Prints the macros of an entry point. `names` are the names of all macros of
/// the header: those of entry `a` with tensor `x_y` and of entry `a_x` with
/// tensor `y` would be equal.
static void printMacros(const Interface &interface, NameScope &names,
                        TextWriter &out) {
  const std::string &macro = interface.macro;
  if (interface.vtcmBytes) {
    out.blockComment("Scratch memory in the vector memory of the processor, in "
                     "addition to the arena.");
    out.line("#define " + interface.vtcmMacro + "_BYTES " +
             Twine(interface.vtcmBytes) + "u");
    out.line("#define " + interface.vtcmMacro + "_ALIGN " +
             Twine(interface.arenaAlign) + "u");
  }
  if (interface.tensorAlign > 1) {
    out.blockComment(interface.hasHandle()
                         ? "Alignment in bytes of inputs and outputs in device "
                           "memory."
                         : "Alignment in bytes of inputs and outputs.");
    out.line("#define " + macro + "_TENSOR_ALIGN " +
             Twine(interface.tensorAlign) + "u");
  }
  for (const InterfaceTensor &tensor : interface.tensors)
    if (tensor.stream)
      printStream(interface, tensor, out);
  auto macroOf = [&](StringRef field) {
    return names.uniqueIdentifier(macro + "_" + toIdentifier(field.upper()));
  };
  if (!interface.sizes.empty())
    out.blockComment("Bounds of the dynamic sizes.");
  for (const InterfaceSize &size : interface.sizes) {
    std::string prefix = macroOf(size.field);
    out.line("#define " + prefix + "_LEAST " + Twine(size.symbol.getLeast()));
    out.line("#define " + prefix + "_MOST " + Twine(size.symbol.getMost()));
  }
  out.blockComment(interface.sizes.empty()
                       ? "Numbers of elements."
                       : "Numbers of elements, at the largest sizes.");
  for (const InterfaceTensor &tensor : interface.tensors)
    out.line("#define " + macroOf(tensor.field) + "_ELEMENTS " +
             Twine(tensor.elements) + "u");
  out.blank();
}

/// Returns the pointer type of a tensor's field in the io struct, the argument
/// of <name>_run.
static std::string fieldType(const InterfaceTensor &tensor) {
  if (tensor.isOfStrings())
    return tensor.isOutput ? "const char **" : "const char *const *";
  return (tensor.isOutput ? "" : "const ") + tensor.cType + " *";
}

/// Whether a tensor of the caller has an ONNX element type whose name begins
/// with one of `names`.
static bool hasElements(const Interface &interface,
                        std::initializer_list<StringRef> names) {
  return llvm::any_of(interface.tensors, [&](const InterfaceTensor &tensor) {
    return !tensor.slots && llvm::any_of(names, [&](StringRef name) {
      return StringRef(tensor.type).starts_with(name);
    });
  });
}

static void printIo(const Interface &interface, TextWriter &out) {
  std::string text = "The tensors of a call: row-major, without padding, "
                     "owned by the caller.";
  if (hasElements(interface, {"float16", "bfloat16", "float8"}))
    text += " Elements of float16, bfloat16 and float8 are their bits.";
  if (hasElements(interface, {"bool"}))
    text += " An element of bool is a byte with the value 0 or 1.";
  if (hasElements(interface, {"int4", "uint4", "int2", "uint2", "float4"}))
    text += " An element of less than 8 bits is in the low bits of a byte.";
  if (hasElements(interface, {"string"}))
    text += " A string is UTF-8 and ends with a zero byte. Strings of outputs "
            "belong to the inputs, to the constants of the model or to the "
            "arena: they are valid until that memory is written or freed.";
  out.blockComment(text);
  out.open("typedef struct " + interface.name + "_io {");
  SmallVector<std::pair<std::string, std::string>> fields;
  if (interface.hasHandle())
    fields.push_back({"int32_t " + interface.placeField + ";",
                      "of all tensors: INGOT_ON_HOST, INGOT_ON_DEVICE"});
  for (const InterfaceSize &size : interface.sizes)
    fields.push_back(
        {(size.isMade ? "ptrdiff_t *" : "ptrdiff_t ") + size.field + ";",
         (!size.isMade            ? "size: "
          : interface.hasHandle() ? "out, on the host, size: "
                                  : "out, size: ") +
             std::to_string(size.symbol.getLeast()) + " to " +
             std::to_string(size.symbol.getMost())});
  for (bool outputs : {false, true})
    for (const InterfaceTensor &tensor : interface.tensors) {
      if (tensor.isOutput != outputs || tensor.slots)
        continue;
      std::string comment =
          tensor.type + " " + interface.shapeText(tensor.sizes);
      if (tensor.onnxName != tensor.field)
        comment += ", \"" +
                   toCommentText(StringRef(tensor.onnxName).take_front(200)) +
                   "\"";
      if (tensor.part == kernel::kElementsPart && tensor.element)
        comment += ", a row for each element of shape " +
                   interface.shapeText(kernel::Dims(tensor.element->begin(),
                                                    tensor.element->end()));
      else if (tensor.part == kernel::kElementsPart)
        comment += ", a row for each element, which begins it";
      else if (tensor.part == kernel::kShapesPart)
        comment += ", a row for the shape of each element";
      else if (tensor.part == kernel::kPresentPart)
        comment += ", whether the value is there";
      if (!tensor.note.empty())
        comment += "; " + toCommentText(StringRef(tensor.note).take_front(400));
      llvm::replace(comment, '\n', ' ');
      fields.push_back({fieldType(tensor) + tensor.field + ";",
                        (outputs ? "out: " : "in: ") + comment});
    }
  if (!interface.stateField.empty())
    fields.push_back({"void *" + interface.stateField + ";",
                      "in and out: " + interface.sharedMacro +
                          "_STATE_BYTES that live from run to run"});
  if (interface.vtcmBytes)
    fields.push_back({"void *" + interface.vtcmField + ";",
                      "scratch: " + interface.vtcmMacro +
                          "_BYTES at a multiple of " + interface.vtcmMacro +
                          "_ALIGN"});
  if (!interface.weightsField.empty())
    fields.push_back({"const void *" + interface.weightsField + ";",
                      "the weights file, mapped or read"});
  // Aligns the comments in one column, unless a name is very long. Lines are
  // not wrapped, since users read them as a table.
  size_t width = 0;
  for (const auto &[field, comment] : fields)
    width = std::max(width, field.size());
  if (width > 48)
    width = 0;
  for (const auto &[field, comment] : fields)
    out.raw() << "  " << llvm::left_justify(field, width) << " /* " << comment
              << " */\n";
  if (fields.empty())
    out.line("const void *unused; /* this model has no tensors */");
  out.close("} " + interface.name + "_io;");
  out.blank();
}

/// Joins `parts` to "A", "A and B" or "A, B and C".
static std::string listed(ArrayRef<std::string> parts) {
  if (parts.size() < 2)
    return parts.empty() ? "" : parts.front();
  return llvm::join(parts.drop_back(), ", ") + " and " + parts.back();
}

/// Whether a run checks data-dependent sizes when some kernels have already
/// run, so that it may fail after outputs were written.
static bool checksSizesLate(const Interface &interface) {
  return interface.main
      ->walk([](Operation *op) {
        return isa<kernel::ReadSizesOp, kernel::CheckSizesOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the errors that <name>_run can return, as a list for the header.
static std::string errorsOf(const Interface &interface,
                            ArrayRef<Variant> variants) {
  bool isFile = interface.weightsMode == WeightsMode::File;
  bool selects =
      variants.size() > 1 || !variants.front().target->permissionText.empty();
  SmallVector<std::string> errors{"INGOT_ERROR_NULL"};
  if (interface.arenaBytes > 0 || interface.vtcmBytes || isFile ||
      interface.tensorAlign > 1 || !interface.stateField.empty())
    errors.push_back("INGOT_ERROR_ALIGNMENT");
  if (interface.main
          ->walk([](kernel::RequireEqualOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    errors.push_back("INGOT_ERROR_SPECIALIZED");
  if (isFile)
    errors.push_back("INGOT_ERROR_WEIGHTS");
  if (selects)
    errors.push_back("INGOT_ERROR_TARGET");
  if (!interface.sizes.empty() || checksSizesLate(interface))
    errors.push_back("INGOT_ERROR_SHAPE");
  return listed(errors);
}

/// Prints the comment on <name>_run: all that a caller has to know and to
/// guarantee.
static void printRunContract(const Interface &interface,
                             const CodegenOptions &options,
                             ArrayRef<Variant> variants, TextWriter &out) {
  const std::string &macro = interface.macro;
  bool hasArena = interface.arenaBytes > 0;
  std::string text = "Runs the model once.\n\n";
  text += "io: the tensors; not null. Inputs may overlap each other; an output "
          "may not overlap any other tensor. ";
  text += interface.tensorAlign > 1
              ? "Tensors are at multiples of " + macro + "_TENSOR_ALIGN bytes."
              : "Each tensor is aligned as its element type.";
  text += "\narena: ";
  text += hasArena ? "scratch memory of " + macro +
                         "_ARENA_BYTES at a multiple of " + macro +
                         "_ARENA_ALIGN. It needs no initialization, and its "
                         "contents mean nothing after the call."
                   : "not used; may be null.";
  bool hasThreads = llvm::any_of(variants, [](const Variant &variant) {
    return variant.target->hasThreads;
  });
  text += "\ncontext: ";
  text += hasThreads      ? "threads and hooks of the caller"
          : options.trace ? "hooks of the caller"
                          : "not used";
  text += "; may be null.\n\n";
  text += "Returns INGOT_OK, or one of " + errorsOf(interface, variants) + ". ";
  text += checksSizesLate(interface)
              ? "After INGOT_ERROR_SHAPE, outputs may be partly written; after "
                "any other error they are unchanged."
              : "After an error, outputs are unchanged.";
  if (!variants.front().target->permissionText.empty() && variants.size() == 1)
    text += " The first call requests the use of special registers from the "
            "operating system; INGOT_ERROR_TARGET means that the system or "
            "the machine does not provide them.";
  text += "\n\nConcurrent calls are safe if each has its own ";
  SmallVector<std::string> own;
  if (hasArena)
    own.push_back("arena");
  if (interface.hasState)
    own.push_back("state");
  own.push_back("outputs");
  text += listed(own) + ". Equal inputs give equal outputs";
  text += hasThreads ? ", with any number of threads." : ".";
  out.blockComment(text);
}

static void printFunctions(const Interface &interface,
                           const CodegenOptions &options,
                           ArrayRef<Variant> variants, TextWriter &out) {
  const std::string &name = interface.name;
  printRunContract(interface, options, variants, out);
  std::string start = "ingot_status " + name + "_run(";
  out.line(start + "const " + name + "_io *io, void *arena,");
  out.line(std::string(start.size(), ' ') + "const ingot_context *context);");
  if (options.trace && variants.size() == 1) {
    out.blank();
    out.blockComment("Returns what the kernel with the number that "
                     "ingot_context's trace receives computes; null if there "
                     "is no such kernel.");
    out.line("const char *" + name + "_kernel_name(int32_t kernel);");
  }
}

static void printArena(ArrayRef<Interface> interfaces, StringRef section,
                       TextWriter &out) {
  if (section.empty())
    return;
  out.blockComment(("An arena, in the section \"" + section + "\".").str());
  out.line("extern unsigned char " + interfaces.front().sharedName + "_arena[" +
           Twine(std::max<int64_t>(largestArena(interfaces), 1)) + "];");
  out.blank();
}

/// Prints the functions that all entry points share; they follow the functions
/// of the entry points.
static void printSharedFunctions(const Interface &interface,
                                 ArrayRef<Variant> variants, TextWriter &out) {
  const std::string &name = interface.sharedName;
  if (variants.size() > 1) {
    out.blank();
    out.blockComment("Returns the name of the target whose code " +
                     interface.name +
                     "_run executes on this machine; null if the machine "
                     "supports none of them, and " +
                     interface.name + "_run returns INGOT_ERROR_TARGET.");
    out.line("const char *" + name + "_target(void);");
  }
  if (interface.weightsMode == WeightsMode::File) {
    out.blank();
    out.blockComment(
        "Compares the checksum of all `bytes` of a weights file with the one "
        "of this model: INGOT_OK, or INGOT_ERROR_WEIGHTS. " +
        interface.name + "_run itself checks the header of the file only.");
    out.line("ingot_status " + name +
             "_check_weights(const void *weights, size_t bytes);");
  }
}

/// Whether the C library declares a function `name`, so that no namespace can
/// have this name. Headers of vector instructions include <stdlib.h>.
static bool isOfLibrary(StringRef name) {
  static const llvm::StringSet<> declared = {
      "a64l",        "aligned_alloc", "arc4random",     "at_quick_exit",
      "atexit",      "atof",          "atoi",           "atol",
      "atoll",       "bsearch",       "clearenv",       "drand48",
      "ecvt",        "erand48",       "explicit_bzero", "fcvt",
      "ffsl",        "ffsll",         "gcvt",           "getenv",
      "getloadavg",  "getsubopt",     "initstate",      "jrand48",
      "l64a",        "lcong48",       "ldiv",           "lldiv",
      "lrand48",     "mblen",         "mbstowcs",       "mbtowc",
      "memccpy",     "mkdtemp",       "mkstemp",        "mktemp",
      "mrand48",     "nrand48",       "on_exit",        "posix_memalign",
      "pselect",     "putenv",        "qsort",          "quick_exit",
      "rand",        "random",        "reallocarray",   "realpath",
      "rpmatch",     "seed48",        "select",         "setenv",
      "setstate",    "srand",         "srand48",        "srandom",
      "stpncpy",     "strcasecmp",    "strcoll",        "strerror",
      "strncasecmp", "strndup",       "strnlen",        "strsep",
      "strsignal",   "strtod",        "strtof",         "strtok",
      "strtol",      "strtold",       "strtoll",        "strtoul",
      "strtoull",    "strxfrm",       "system",         "unsetenv",
      "valloc",      "wcstombs",      "wctomb"};
  NameScope library;
  library.reserveLibrary();
  return library.isTaken(name) || declared.contains(name);
}

static void printWrapper(const Interface &interface, TextWriter &out) {
  const std::string &name = interface.name, &macro = interface.macro;
  // The functions of an entry point are in a namespace inside the namespace of
  // the model.
  std::string space = interface.sharedName;
  StringRef entry = name;
  bool isEntry = entry.consume_front(space) && !entry.empty();
  if (isOfLibrary(space))
    space += "_";
  if (isEntry)
    space += "::" + toIdentifier(entry.ltrim('_'));
  out.blank();
  out.line("namespace " + space + " {");
  out.line("using io = ::" + name + "_io;");
  out.line("inline constexpr size_t arena_bytes = " + macro + "_ARENA_BYTES;");
  out.line("inline constexpr size_t arena_align = " + macro + "_ARENA_ALIGN;");
  out.blockComment("The scratch memory of a call.");
  out.line("struct alignas(arena_align) arena {");
  out.line("  unsigned char bytes[arena_bytes > 0 ? arena_bytes : 1];");
  out.line("};");
  out.line("inline ingot_status run(const io &tensors, arena &scratch,");
  out.line("                        const ingot_context *context = nullptr) {");
  out.line("  return ::" + name + "_run(&tensors, scratch.bytes, context);");
  out.line("}");
  out.line("} // namespace " + space);
}

/// Returns the bytes of memory that a handle (the object with which a program
/// runs a model on a GPU) has to allocate so that it can run the code of any of
/// the targets.
static DeviceMemory largestOf(ArrayRef<Variant> variants,
                              const CodegenOptions &options,
                              const Weights &weights) {
  DeviceMemory largest(interfacesOf(variants.back(), options, weights));
  for (const Variant &variant : variants.drop_back())
    largest.memory =
        std::max(largest.memory,
                 DeviceMemory(interfacesOf(variant, options, weights)).memory);
  return largest;
}

static void printWrappers(ArrayRef<Interface> interfaces, TextWriter &out) {
  out.blank();
  out.blockComment(
      "The same functions for C++17; define INGOT_NO_NAMESPACES to "
      "leave them out.");
  out.line("#if !defined(INGOT_NO_NAMESPACES) && defined(__cplusplus) && \\");
  out.line("    (__cplusplus >= 201703L || (defined(_MSVC_LANG) && "
           "_MSVC_LANG >= 201703L))");
  for (const Interface &entry : interfaces)
    printWrapper(entry, out);
  out.line("#endif");
}

/// Prints the macros, structs and functions of a model for cores.
static void printForCores(ArrayRef<Variant> variants,
                          ArrayRef<Interface> interfaces,
                          const CodegenOptions &options, const Weights &weights,
                          TextWriter &out) {
  const Interface &interface = interfaces.front();
  if (interfaces.size() > 1)
    printArenaMacros("Scratch memory that suffices for a call of any of the "
                     "functions.",
                     interface.sharedMacro, largestArena(interfaces),
                     interface.arenaAlign, out);
  printStateMacros(interfaces, out);
  printSharedMacros(interfaces, options, weights, out);
  NameScope macros;
  for (const Interface &entry : interfaces) {
    printArenaMacros("Scratch memory for one call.", entry.macro,
                     entry.arenaBytes, entry.arenaAlign, out);
    printMacros(entry, macros, out);
    printIo(entry, out);
    if (&entry == &interface)
      printArena(interfaces, options.arenaSection, out);
    printFunctions(entry, options, variants, out);
    if (&entry == &interface) {
      printSharedFunctions(entry, variants, out);
      printStateDeclarations(interfaces, callersState(options.language), out);
    }
    out.blank();
  }
}

/// Prints the macros, structs and functions of a model for GPUs.
static void printForDevices(ArrayRef<Variant> variants,
                            ArrayRef<Interface> interfaces,
                            const CodegenOptions &options,
                            const Weights &weights, TextWriter &out) {
  printSharedMacros(interfaces, options, weights, out);
  printDeviceMacros(interfaces.front(), largestOf(variants, options, weights),
                    out);
  NameScope macros;
  for (const Interface &entry : interfaces) {
    printMacros(entry, macros, out);
    printIo(entry, out);
  }
  printDeviceFunctions(interfaces, variants, out);
  out.blank();
}

/// Returns the declarations of the header: its text after that of ingot.h and
/// the macros that state the versions, up to the end of the include guard.
static std::string declarations(ArrayRef<Variant> variants,
                                ArrayRef<Interface> interfaces,
                                const CodegenOptions &options,
                                const Weights &weights) {
  std::string text;
  llvm::raw_string_ostream os(text);
  TextWriter out(os);
  out.line("#ifdef __cplusplus");
  out.line("extern \"C\" {");
  out.line("#endif");
  out.blank();
  bool hasHandle = interfaces.front().hasHandle();
  (hasHandle ? printForDevices : printForCores)(variants, interfaces, options,
                                                weights, out);
  out.line("#ifdef __cplusplus");
  out.line("} /* extern \"C\" */");
  out.line("#endif");
  if (!hasHandle)
    printWrappers(interfaces, out);
  return text;
}

static std::string idOf(StringRef declarations) {
  return "0x" +
         llvm::utohexstr(uint32_t(llvm::xxh3_64bits(declarations)),
                         /*LowerCase=*/true, /*Width=*/8) +
         "u";
}

std::string headerId(ArrayRef<Variant> variants, ArrayRef<Interface> interfaces,
                     const CodegenOptions &options, const Weights &weights) {
  return idOf(declarations(variants, interfaces, options, weights));
}

/// Splits `interface.model`, such as "mnist.onnx (SHA-256 1f3a...)", into the
/// file name and the hash.
static std::pair<StringRef, StringRef> fileAndHash(const Interface &interface) {
  auto [file, hash] = StringRef(interface.model).split(" (SHA-256 ");
  return {file, hash.empty() ? hash : hash.drop_back()};
}

std::string fileComment(const Interface &interface, ArrayRef<Variant> variants,
                        const CodegenOptions &options) {
  auto [file, hash] = fileAndHash(interface);
  return file.str() + ", compiled by " + options.producer + " for " +
         targetNames(variants) + "." +
         (hash.empty() ? "" : "\nSHA-256 of the model: " + hash.str()) +
         (options.commandLine.empty() ? ""
                                      : "\nCommand: " + options.commandLine) +
         "\n\nGenerated file: edit the model instead. The license covers all "
         "text that does not come from the model.\n"
         "SPDX-License-Identifier: MIT-0";
}

void printHeader(ArrayRef<Variant> variants, const CodegenOptions &options,
                 llvm::raw_ostream &os) {
  Weights weights(variants);
  std::vector<Interface> interfaces =
      interfacesOf(variants.back(), options, weights);
  const Interface &interface = interfaces.front();
  const std::string &macro = interface.sharedMacro;
  std::string text = declarations(variants, interfaces, options, weights);
  TextWriter out(os);
  out.blockComment(fileComment(interface, variants, options));
  if (!options.description.empty())
    out.blockComment("Description of the model: " +
                     toCommentText(options.description));
  out.line("#ifndef INGOT_MODEL_" + macro + "_H");
  out.line("#define INGOT_MODEL_" + macro + "_H");
  out.blank();
  os << kRuntimeHeaderText;
  out.blank();
  out.blockComment("The compiler, the model, and a number that the source "
                   "compares: it does not compile with another header.");
  out.line("#define " + macro + "_INGOT_VERSION \"" +
           StringRef(options.producer).split(" (").first + "\"");
  if (StringRef hash = fileAndHash(interface).second; !hash.empty())
    out.line("#define " + macro + "_MODEL_SHA256 \\\n  \"" + hash + "\"");
  out.line("#define " + macro + "_HEADER_ID " + idOf(text));
  out.blank();
  os << text;
  out.line("#endif /* INGOT_MODEL_" + macro + "_H */");
}

} // namespace ingot
