#include "codegen/files/DeviceInterface.h"

#include "codegen/files/StatePrinter.h"
#include "dialects/kernel/KernelModule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot {

/// Bytes for the two variables that a loop and its body exchange: the number of
/// the iteration (8 bytes) and the condition for another iteration.
static constexpr int64_t cellBytes = 16;

DeviceLayout::DeviceLayout(const Interface &interface) {
  // Tensors are aligned like allocations of the driver.
  constexpr int64_t align = 256;
  kernel::ProgramOp main = interface.main;
  auto place = [&](bool isOutput) {
    for (auto [offset, argument, tensor] :
         llvm::zip(offsets, main.getArguments(), interface.tensors)) {
      if (tensor.isOutput != isOutput || tensor.slots)
        continue;
      offset = staging;
      staging += llvm::alignTo(
          kernel::spanBytes(cast<MemRefType>(argument.getType())), align);
    }
  };
  offsets.resize(main.getNumArguments());
  place(/*isOutput=*/false);
  outputs = staging;
  place(/*isOutput=*/true);
  decisions = staging;
  if (interface.isDecided()) {
    // The largest number of values that the host reads at once. Each takes at
    // most 8 bytes: a dynamic size is an int64_t, a condition is a single byte.
    int64_t most = 1;
    for (kernel::ProgramOp program : kernel::programsInOrder(main))
      program.walk([&](Operation *op) {
        if (auto read = dyn_cast<kernel::ReadSizesOp>(op))
          most =
              std::max<int64_t>(most, kernel::dimsOf(read.getSizes()).size());
        else if (auto loop = dyn_cast<kernel::LoopOp>(op))
          loops.push_back(loop);
      });
    staging += llvm::alignTo(
        std::max<int64_t>(8 * most, cellBytes * loops.size()), align);
    for (kernel::ProgramOp program : kernel::programsInOrder(main)) {
      secondOffsets[program] = staging;
      staging += llvm::alignTo(program.getSecondBytes().value_or(0), align);
    }
  }
  tensors = llvm::alignTo(interface.arenaBytes, align);
  device = tensors + staging;
}

int64_t DeviceLayout::cellOf(kernel::LoopOp loop) const {
  return cellBytes * (llvm::find(loops, loop) - loops.begin());
}

DeviceMemory::DeviceMemory(ArrayRef<Interface> interfaces)
    : state(interfaces.front().stateBytes) {
  for (const Interface &interface : interfaces) {
    DeviceLayout layout(interface);
    memory = std::max(memory, layout.device);
    staging = std::max(staging, layout.staging);
  }
}

std::optional<int64_t> firstPhaseOf(const Interface &interface) {
  for (const InterfaceTensor &tensor : interface.tensors)
    if (tensor.slots && tensor.slots->phase)
      return tensor.slots->phase;
  return std::nullopt;
}

unsigned graphsOf(const Interface &interface) {
  if (interface.isDecided())
    return 0;
  return firstPhaseOf(interface) ? 2 : 1;
}

std::string recordedText(const Interface &interface, StringRef number) {
  std::string field = interface.localName("recorded");
  return graphsOf(interface) > 1 ? field + "[" + number.str() + "]" : field;
}

void printDeviceMacros(const Interface &interface, const DeviceMemory &memory,
                       TextWriter &out) {
  const std::string &macro = interface.sharedMacro;
  out.blockComment("Device memory and page-locked host memory that a handle "
                   "allocates.");
  out.line("#define " + macro + "_DEVICE_BYTES " +
           Twine(memory.memory + memory.state) + "u");
  out.line("#define " + macro + "_STAGING_BYTES " + Twine(memory.staging) +
           "u");
  if (memory.state == 0)
    return;
  out.blockComment("The part of the device memory that keeps values between "
                   "runs.");
  out.line("#define " + macro + "_STATE_BYTES " + Twine(memory.state) + "u");
}

/// Returns the number of phase bytes. A phase byte belongs to a double-buffered
/// state value (a tensor that persists between runs), and selects the one of
/// its two buffers that the next run reads.
static int64_t phasesOf(ArrayRef<Interface> interfaces) {
  int64_t phases = 0;
  for (const Interface &interface : interfaces)
    for (const InterfaceTensor &tensor : interface.tensors)
      if (tensor.slots && tensor.slots->phase)
        phases = std::max(phases, *tensor.slots->phase + 1);
  return phases;
}

static void printHandle(ArrayRef<Interface> interfaces, const Device &device,
                        StringRef target, TextWriter &out) {
  const std::string &name = interfaces.front().sharedName;
  int64_t phases = phasesOf(interfaces);
  bool hasState = interfaces.front().stateBytes > 0;
  out.blockComment(
      "The resources of a run; one run at a time may use them. The "
      "fields are private.");
  out.open("typedef struct " + name + "_handle {");
  out.line("const unsigned char *constants;");
  out.line(std::string("unsigned char *memory, *staging") +
           (hasState ? ", *state;" : ";"));
  if (phases)
    out.line("unsigned char phases[" + Twine(phases) +
             "]; /* which of two places has a value of the state */");
  for (const Interface &interface : interfaces) {
    unsigned graphs = graphsOf(interface);
    if (graphs == 0)
      continue;
    out.open("struct {");
    out.line(device.graph + " *graph;");
    out.line(interface.name + "_io io;");
    if (graphs > 1)
      out.line("unsigned char phases[" + Twine(phases) + "];");
    out.close("} " + recordedText(interface, std::to_string(graphs)) +
              "; /* what " + interface.name + "_run recorded, and what for */");
  }
  out.line("int device, busy" + target);
  out.close("} " + name + "_handle;");
}

void printDeviceFunctions(ArrayRef<Interface> interfaces,
                          ArrayRef<Variant> variants, TextWriter &out) {
  const Interface &interface = interfaces.front();
  const Device &device = variants.back().target->device;
  std::string target = variants.size() > 1
                           ? ", target; /* the number of the one chosen */"
                           : ";";
  const std::string &name = interface.sharedName;
  bool isFile = interface.weightsMode == WeightsMode::File;
  std::string stream = (device.stream + " *stream").str();
  out.line(device.stream + "; /* A stream of the driver; null is its default "
                           "one. */");
  if (llvm::any_of(interfaces, graphsOf))
    out.line(device.graph + ";");
  out.blank();
  out.blockComment("The constants of the model in device memory. Any number of "
                   "handles may share them; they must exist longer than the "
                   "handles.");
  out.open("typedef struct " + name + "_constants {");
  out.line("unsigned char *memory;");
  out.line("int device" + target);
  out.close("} " + name + "_constants;");
  out.blank();
  printHandle(interfaces, device, target, out);
  out.blank();
  out.blockComment(
      "Copies the constants to the current device" +
      std::string(isFile ? ", from a weights file that was mapped or read"
                         : "") +
      ". The copy is complete when the function returns. After an "
      "error, nothing is left allocated.");
  out.line("ingot_status " + name + "_upload(" + name +
           "_constants *constants, " + (isFile ? "const void *file, " : "") +
           stream + ");");
  out.blockComment("Frees the constants. No handle may use them any more.");
  out.line("ingot_status " + name + "_release(" + name +
           "_constants *constants);");
  out.blank();
  out.blockComment("Allocates the resources of a run on the device of the "
                   "constants, which must be the current device. After an "
                   "error, nothing is left allocated.");
  out.line("ingot_status " + name + "_create(" + name +
           "_handle *handle, const " + name + "_constants *constants, " +
           stream + ");");
  out.blockComment("Frees the handle. Its last run must be complete.");
  out.line("ingot_status " + name + "_destroy(" + name + "_handle *handle);");
  if (interface.stateBytes > 0) {
    out.blockComment("Enqueues the reset of the state to zeros, the state of a "
                     "new handle.");
    out.line("ingot_status " + name + "_reset(" + name + "_handle *handle, " +
             stream + ");");
    printStateDeclarations(interfaces, handlesState(interface), out);
  }
  for (const Interface &entry : interfaces) {
    out.blank();
    std::string device =
        entry.isDecided()
            ? "Waits wherever what comes next depends on what it has computed; "
              "with tensors in the memory of the device it returns when the "
              "rest is on the stream, until which is done they have to stay "
              "where they are."
            : "With those of the device it returns at once; they have to stay "
              "where they are until the stream is done.";
    if (&entry == &interface || entry.isDecided())
      out.blockComment(
          "Enqueues one run of the model on the stream. If the tensors "
          "are in host memory, the function returns when the outputs "
          "are complete. " +
          device +
          " The handle serves one stream at a time. Several handles may run at "
          "once.");
    out.line("ingot_status " + entry.name + "_run(" + name +
             "_handle *handle, const " + entry.name + "_io *io, " + stream +
             ");");
  }
  if (isFile) {
    out.blank();
    out.blockComment(
        "Compares the checksum of all `bytes` of a weights file with "
        "the one of this model: INGOT_OK, or INGOT_ERROR_WEIGHTS. " +
        name + "_upload itself checks the header of the file only.");
    out.line("ingot_status " + name +
             "_check_weights(const void *weights, size_t bytes);");
  }
}

} // namespace ingot
