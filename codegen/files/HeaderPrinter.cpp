// Prints the .h of a model: C11 with a thin C++17 wrapper. It contains the text
// of runtime_support/ingot.h, under that file's own include guard, so that a
// model needs no other header.

#include "codegen/files/DeviceInterface.h"
#include "codegen/files/Interface.h"
#include "codegen/files/RuntimeHeader.h"
#include "codegen/files/SelectorPrinter.h"
#include "codegen/files/StatePrinter.h"
#include "codegen/kernel/Names.h"
#include "codegen/kernel/TextWriter.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

static void printArenaMacros(const std::string &macro, int64_t bytes,
                             int64_t align, TextWriter &out) {
  out.line("#define " + macro + "_ARENA_BYTES " + Twine(bytes) + "u");
  out.line("#define " + macro + "_ARENA_ALIGN " + Twine(align) + "u");
}

/// Prints the macros that all entry points share.
static void printSharedMacros(ArrayRef<Interface> interfaces,
                              const CodegenOptions &options,
                              const Weights &weights, TextWriter &out) {
  const Interface &interface = interfaces.front();
  const std::string &macro = interface.sharedMacro;
  if (interfaces.size() > 1 && !interface.isDevice) {
    out.blockComment("Scratch memory that is enough for a call of any of the "
                     "functions.");
    printArenaMacros(macro, largestArena(interfaces), interface.arenaAlign,
                     out);
  }
  printStateMacros(interfaces, out);
  if (interface.weightsMode == WeightsMode::File)
    out.line("#define " + macro + "_WEIGHTS_ALIGN " + Twine(kWeightAlign) +
             "u");
  bool isFile = interface.weightsMode == WeightsMode::File;
  int64_t weightBytes =
      isFile ? kWeightsHeaderBytes + weights.payloadBytes() : 0;
  for (const Weight &weight : weights.all())
    weightBytes += isFile ? 0 : weight.bytes;
  out.blockComment(isFile ? "The weights file."
                          : "Constants of the model; they are only read.");
  out.line("#define " + macro + "_WEIGHTS_BYTES " + Twine(weightBytes) + "u");
  if (options.measured) {
    out.blockComment("As measured: code and constants; the stack of a call.");
    out.line("#define " + macro + "_FLASH_BYTES " +
             Twine(options.measured->flash) + "u");
    out.line("#define " + macro + "_STACK_BYTES " +
             Twine(options.measured->stack) + "u");
  }
}

static void printMacros(const Interface &interface, TextWriter &out) {
  const std::string &macro = interface.macro;
  if (!interface.isDevice) {
    out.blockComment("Scratch memory for one call.");
    printArenaMacros(macro, interface.arenaBytes, interface.arenaAlign, out);
  }
  if (interface.nearBytes) {
    out.blockComment("Scratch memory that vectors read fastest, beside the "
                     "arena.");
    out.line("#define " + interface.nearMacro + "_BYTES " +
             Twine(interface.nearBytes) + "u");
    out.line("#define " + interface.nearMacro + "_ALIGN " +
             Twine(interface.arenaAlign) + "u");
  }
  if (interface.tensorAlign > 1) {
    out.blockComment(interface.isDevice
                         ? "Inputs and outputs in the memory of the device are "
                           "at multiples of so many bytes."
                         : "Inputs and outputs are at multiples of so many "
                           "bytes.");
    out.line("#define " + macro + "_TENSOR_ALIGN " +
             Twine(interface.tensorAlign) + "u");
  }
  NameScope names;
  if (!interface.sizes.empty())
    out.blockComment("Bounds of the sizes that differ from run to run.");
  for (const InterfaceSize &size : interface.sizes) {
    std::string field = names.unique(StringRef(size.field).upper());
    out.line("#define " + macro + "_" + field + "_LEAST " +
             Twine(size.symbol.getLeast()));
    out.line("#define " + macro + "_" + field + "_MOST " +
             Twine(size.symbol.getMost()));
  }
  out.blockComment(interface.sizes.empty()
                       ? "Numbers of elements."
                       : "Numbers of elements, at the largest sizes.");
  for (const InterfaceTensor &tensor : interface.tensors)
    out.line("#define " + macro + "_" +
             names.unique(StringRef(tensor.field).upper()) + "_ELEMENTS " +
             Twine(tensor.elements) + "u");
  out.blank();
}

/// Returns the pointer type of a tensor's field in the io struct.
static std::string fieldType(const InterfaceTensor &tensor) {
  if (tensor.isOfStrings())
    return tensor.isOutput ? "const char **" : "const char *const *";
  return (tensor.isOutput ? "" : "const ") + tensor.cType + " *";
}

static void printIo(const Interface &interface, TextWriter &out) {
  if (llvm::any_of(interface.tensors, [](const InterfaceTensor &tensor) {
        return tensor.isOfStrings();
      }))
    out.blockComment(
        "Strings are UTF-8 and end with a zero. Those of inputs are only read; "
        "those that a run puts into outputs belong to inputs, to the constants "
        "of the model or to the arena, and are valid until that is written "
        "again or given back.");
  out.blockComment("Row-major, without padding. No output may overlap another "
                   "tensor. float16, bfloat16 and float8 are their bits, bool "
                   "is 0 or 1 in a byte, narrower types are the low bits of a "
                   "byte.");
  out.open("typedef struct " + interface.name + "_io {");
  SmallVector<std::pair<std::string, std::string>> fields;
  if (interface.isDevice)
    fields.push_back(
        {"int32_t place;", "of all tensors: INGOT_ON_HOST, INGOT_ON_DEVICE"});
  for (const InterfaceSize &size : interface.sizes)
    fields.push_back(
        {(size.isMade ? "ptrdiff_t *" : "ptrdiff_t ") + size.field + ";",
         (!size.isMade         ? "size: "
          : interface.isDevice ? "out, on the host, size: "
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
      if (tensor.part == kernel::kElementsPart)
        comment += ", a row for each element, which begins it";
      else if (tensor.part == kernel::kShapesPart)
        comment += ", a row for the shape of each element";
      else if (tensor.part == kernel::kPresentPart)
        comment += ", whether the value is there";
      llvm::erase(comment, '\n');
      fields.push_back({fieldType(tensor) + tensor.field + ";",
                        (outputs ? "out: " : "in: ") + comment});
    }
  if (!interface.stateField.empty())
    fields.push_back({"void *" + interface.stateField + ";",
                      "in and out: " + interface.sharedMacro +
                          "_STATE_BYTES that live from run to run"});
  if (interface.nearBytes)
    fields.push_back({"void *" + interface.nearField + ";",
                      "scratch: " + interface.nearMacro +
                          "_BYTES at a multiple of " + interface.nearMacro +
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

static void printFunctions(const Interface &interface,
                           const CodegenOptions &options,
                           ArrayRef<Variant> variants, TextWriter &out) {
  const std::string &name = interface.name;
  bool asks =
      variants.size() == 1 && !variants.front().target->permissionText.empty();
  out.blockComment("Runs the model once. `arena` is " + interface.macro +
                   "_ARENA_BYTES of scratch memory; two threads may run at "
                   "once with an arena each. `context` may be null." +
                   (asks ? " The first run asks the operating system for "
                           "registers that a process may not use otherwise; "
                           "INGOT_ERROR_TARGET where it or the machine has "
                           "none."
                         : ""));
  std::string start = "ingot_status " + name + "_run(";
  out.line(start + "const " + name + "_io *io, void *arena,");
  out.line(std::string(start.size(), ' ') + "const ingot_context *context);");
  if (options.trace && variants.size() == 1) {
    out.blank();
    out.line("/* What the kernel with this number computes, as "
             "ingot_context's trace gets it; null");
    out.line(" * if there is none. */");
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

/// Prints the functions that all entry points share, after their own.
static void printSharedFunctions(const Interface &interface,
                                 ArrayRef<Variant> variants, TextWriter &out) {
  const std::string &name = interface.sharedName;
  if (variants.size() > 1) {
    out.blank();
    out.blockComment("The target whose code " + interface.name +
                     "_run calls on this machine. Null if it runs none of "
                     "them; " +
                     interface.name + "_run then returns INGOT_ERROR_TARGET.");
    out.line("const char *" + name + "_target(void);");
  }
  if (interface.weightsMode == WeightsMode::File) {
    out.blank();
    out.blockComment(
        "Reads all `bytes` of a weights file and compares its checksum with "
        "the one of this model; " +
        interface.name + "_run itself looks at the file's header only.");
    out.line("ingot_status " + name +
             "_check_weights(const void *weights, size_t bytes);");
  }
}

/// Closes the extern "C" block.
static void printEndOfC(TextWriter &out) {
  out.line("#ifdef __cplusplus");
  out.line("} /* extern \"C\" */");
}

static void printWrapper(const Interface &interface, TextWriter &out) {
  const std::string &name = interface.name, &macro = interface.macro;
  out.blank();
  out.line("namespace " + name + " {");
  out.line("using io = ::" + name + "_io;");
  out.line("inline constexpr size_t arena_bytes = " + macro + "_ARENA_BYTES;");
  out.line("inline constexpr size_t arena_align = " + macro + "_ARENA_ALIGN;");
  out.blockComment("Memory for one call at a time, to be placed by the "
                   "caller.");
  out.line("struct alignas(arena_align) arena {");
  out.line("  unsigned char bytes[arena_bytes > 0 ? arena_bytes : 1];");
  out.line("};");
  out.line("inline ingot_status run(const io &tensors, arena &scratch,");
  out.line("                        const ingot_context *context = nullptr) {");
  out.line("  return ::" + name + "_run(&tensors, scratch.bytes, context);");
  out.line("}");
  out.line("} // namespace " + name);
}

/// Returns the memory that a handle allocates so that it suffices for each of
/// several targets.
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

void printHeader(ArrayRef<Variant> variants, const CodegenOptions &options,
                 llvm::raw_ostream &os) {
  Weights weights(variants);
  std::vector<Interface> interfaces =
      interfacesOf(variants.back(), options, weights);
  const Interface &interface = interfaces.front();
  TextWriter out(os);
  auto [file, hash] = StringRef(interface.model).split(" (SHA-256 ");
  out.blockComment(
      file.str() + ", compiled by " + options.producer + " for " +
      targetNames(variants) + "." +
      (hash.empty() ? ""
                    : "\nSHA-256 of the model: " + hash.drop_back().str()) +
      "\n\nGenerated; edit the model, not this file. Text that is not of the "
      "model is Ingot's.\nSPDX-License-Identifier: MIT-0");
  std::string guard = interface.sharedMacro + "_H";
  out.line("#ifndef INGOT_MODEL_" + guard);
  out.line("#define INGOT_MODEL_" + guard);
  out.blank();
  os << kRuntimeHeaderText;
  out.blank();
  out.line("#ifdef __cplusplus");
  out.line("extern \"C\" {");
  out.line("#endif");
  out.blank();
  printSharedMacros(interfaces, options, weights, out);
  if (interface.isDevice)
    printDeviceMacros(interface, largestOf(variants, options, weights), out);
  for (const Interface &entry : interfaces) {
    printMacros(entry, out);
    printIo(entry, out);
    if (entry.isDevice)
      continue;
    if (&entry == &interface)
      printArena(interfaces, options.arenaSection, out);
    printFunctions(entry, options, variants, out);
    if (&entry == &interface) {
      printSharedFunctions(entry, variants, out);
      printStateDeclarations(interfaces, out);
    }
    out.blank();
  }
  if (interface.isDevice) {
    printDeviceFunctions(interfaces, variants, out);
    out.blank();
  }
  printEndOfC(out);
  if (!interface.isDevice)
    for (const Interface &entry : interfaces)
      printWrapper(entry, out);
  out.line("#endif");
  out.line("#endif /* INGOT_MODEL_" + guard + " */");
}

} // namespace ingot
