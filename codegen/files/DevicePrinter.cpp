#include "codegen/files/DevicePrinter.h"

#include "codegen/files/NodeNames.h"
#include "dialects/kernel/HostOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

void DevicePrinter::printLaunches() {
  printHelpers();
  NameScope outside = names;
  out.comment("Enqueues all kernels on a stream. The tensors of `io` are "
              "in device memory.");
  out.open("ingot_status " + interface.localName("launch") + "(const " +
           interface.name + "_io *io, unsigned char *memory, " +
           stateParameters() + "const unsigned char *constants, " +
           decisionParameters() + streamParameter() + ") {");
  out.line("ingot_status status = INGOT_OK;");
  out.line(std::string("(void)io, (void)memory, ") +
           (interface.hasState ? "(void)state, " : "") +
           (hasPhases() ? "(void)phases, " : "") + "(void)constants, " +
           (isDecided ? "(void)decisions, (void)cells, (void)" : "(void)") +
           (streams() > 1 ? "streams;" : "stream;"));
  weightsBase = "constants";
  beginProgram(interface.main);
  printWeightPointers(interface.main, weightsBase);
  printStatePointers("phases");
  printOperations(interface.main);
  printForkBefore({});
  out.line("return status;");
  out.close();
  out.blank();
  names = std::move(outside);
  printEnqueue();
}

void DevicePrinter::beginProgram(kernel::ProgramOp program) {
  isBusy = isArriving = true;
  secondBase = "decisions + " +
               std::to_string(layout.secondOf(program) - layout.decisions);
}

/// A fork consists of launches in several branches, which run concurrently on
/// several streams. Prints the end of the open fork and the beginning of the
/// fork that contains `launch`, unless both are the same fork.
void DevicePrinter::printForkBefore(kernel::LaunchOp launch) {
  std::optional<uint64_t> next = launch ? launch.getFork() : std::nullopt;
  if (next == fork)
    return;
  if (fork)
    check("device::join(streams, " + llvm::itostr(branches) + ")");
  fork = next;
  if (!fork)
    return;
  branches = 1;
  launch->getParentOp()->walk([&](kernel::LaunchOp other) {
    if (other.getFork() == fork)
      branches = std::max<int64_t>(branches, *other.getBranch() + 1);
  });
  check("device::fork(streams, " + llvm::itostr(branches) + ")");
}

std::string DevicePrinter::decisionParameters() const {
  if (!isDecided)
    return "";
  return (interface.madeSizes.empty() ? "" : madeSizesType + " &made, ") +
         "unsigned char *decisions, unsigned char *cells, ";
}

std::string DevicePrinter::decisionArguments(const std::string &decisions,
                                             const std::string &cells) const {
  if (!isDecided)
    return "";
  return (interface.madeSizes.empty() ? "" : "made, ") + decisions + ", " +
         cells + ", ";
}

void DevicePrinter::printWait() {
  if (isBusy)
    check("device::wait(stream)");
  isBusy = isArriving = false;
}

void DevicePrinter::printFetch(const std::string &from, int64_t bytes) {
  check("device::copy(decisions, " + from + ", " + Twine(bytes) + ", stream)");
  isBusy = true;
  printWait();
}

void DevicePrinter::printOther(Operation *op) {
  auto copy = dyn_cast<kernel::CopyOp>(op);
  if (!copy)
    return;
  auto type = cast<MemRefType>(copy.getTo().getType());
  int64_t bytes = kernel::spanBytes(type);
  if (bytes == 0)
    return;
  std::string text = llvm::itostr(bytes);
  if (kernel::Dim elements = copiedElements(copy); !elements.known())
    text = "(size_t)(" + interface.sizeText(elements, "io->") + ") * " +
           llvm::itostr(kernel::elementBytes(type.getElementType()));
  check("device::copy(" + argument(copy.getTo(), /*readOnly=*/false) + ", " +
        argument(copy.getFrom(), /*readOnly=*/true) + ", " + text +
        ", stream)");
  isBusy = true;
  isArriving |= copy.getSecondMemory();
}

void DevicePrinter::printOnHost(kernel::LaunchOp launch) {
  // The kernel, which runs on the host, reads results of the device and may
  // overwrite memory that the device still reads, so the host first waits for
  // the device.
  printWait();
  if (std::string nodes = nodesText(launch.getLoc()); !nodes.empty())
    out.comment(nodes + ", on the host");
  out.line(context.functions[launch.getCallee()] + "(" +
           llvm::join(launchArguments(launch), ", ") + ");");
}

std::string DevicePrinter::readable(Value memref, int64_t elements) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  auto arena = kernel::bufferRoot(memref).getDefiningOp<kernel::ArenaOp>();
  if (arena && arena.getSecondMemory()) {
    if (isArriving)
      printWait();
    return argument(memref, /*readOnly=*/true);
  }
  printFetch(argument(memref, /*readOnly=*/true),
             elements * kernel::elementBytes(element));
  return "(const " + storageTypeName(element) + " *)decisions";
}

std::string DevicePrinter::cellOf(kernel::LoopOp loop, bool isCondition,
                                  const std::string &) {
  int64_t offset = layout.cellOf(loop) + (isCondition ? 8 : 0);
  return std::string(isCondition ? "(uint8_t *)" : "(int64_t *)") +
         "(cells + " + llvm::itostr(offset) + ")";
}

void DevicePrinter::printToCell(const std::string &variable,
                                const std::string &cell) {
  // The variable is in pageable host memory, which the driver has read when the
  // call returns. So the variable may change after the call.
  check("device::copy(" + cell + ", &" + variable + ", sizeof " + variable +
        ", stream)");
  isBusy = true;
}

void DevicePrinter::printFromCell(const std::string &variable,
                                  const std::string &cell) {
  printFetch(cell, 1);
  out.line(variable + " = *decisions;");
}

void DevicePrinter::printCarried(const std::string &to, const std::string &from,
                                 const std::string &count, Type element) {
  check("device::copy(" + to + ", " + from + ", (size_t)(" + count + ") * " +
        Twine(kernel::elementBytes(element)) + ", stream)");
  isBusy = true;
}

/// Operations on a stream can fail, so a function that contains one returns a
/// status.
void DevicePrinter::adjust(kernel::ProgramOp program, Needs &needs) const {
  needs.decides |= program.getSecondBytes().has_value();
  needs.context = false;
  program.walk([&](Operation *op) {
    if (isa<kernel::LaunchOp, kernel::IfOp, kernel::LoopOp, kernel::CopyOp,
            kernel::ReadSizesOp>(op))
      needs.stream = needs.checks = true;
  });
}

SmallVector<ControlPrinter::Parameter>
DevicePrinter::ownParameters(const Needs &needs) const {
  return {{needs.decides, "unsigned char *decisions", "decisions"},
          {needs.cells, "unsigned char *cells", "cells"},
          {needs.stream, streamType() + "stream", "stream"}};
}

void DevicePrinter::printLaunch(kernel::LaunchOp launch) {
  if (launch.getSecondMemory())
    return printOnHost(launch);
  isBusy = true;
  kernel::FuncOp callee = calleeOf(launch);
  printForkBefore(launch);
  std::string stream =
      streams() > 1
          ? "streams[" + llvm::utostr(launch.getBranch().value_or(0)) + "]"
          : "stream";
  if (std::string nodes = nodesText(launch.getLoc()); !nodes.empty())
    out.comment(nodes);
  int64_t shared = kernel::sharedBytes(callee);
  bool asks = shared > context.target.device.declaredSharedBytes;
  int64_t cluster = callee.getCluster().value_or(1);
  std::string call =
      std::string("device::start") +
      (cluster > 1 ? "_clusters("
       : asks      ? "_sharing("
                   : "(") +
      context.functions[launch.getCallee()] + ", " +
      interface.sizeText(*kernel::extentOf(callee), "io->") + ", " +
      llvm::itostr(*callee.getThreads()) +
      (asks ? ", " + llvm::itostr(shared) : std::string()) +
      (cluster > 1 ? ", " + llvm::itostr(cluster) : std::string()) + ", " +
      stream;
  SmallVector<std::string> arguments = launchArguments(launch);
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    call += ", " + argument;
    if (callee.getArgAttr(index, kernel::kClearedAttr))
      check("device::clear(" + argument + ", " +
            Twine(kernel::spanBytes(
                cast<MemRefType>(callee.getArgument(index).getType()))) +
            ", " + stream + ")");
  }
  SmallVector<kernel::TilesOp> maps;
  callee.walk([&](kernel::TilesOp tiles) { maps.push_back(tiles); });
  if (!maps.empty())
    out.open("{");
  for (auto [number, tiles] : llvm::enumerate(maps)) {
    std::string name = "map" + std::to_string(number);
    out.line("CUtensorMap " + name + ";");
    unsigned argument = cast<BlockArgument>(tiles.getTensor()).getArgNumber();
    printMap(tiles, name, arguments[argument]);
    call += ", " + name;
  }
  check(call + ")");
  if (!maps.empty())
    out.close();
}

/// Prints the creation of the tensor map (TMA descriptor) of a tensor. The
/// driver takes the sizes, the strides and the sizes of the box in the order
/// from the innermost to the outermost axis.
void DevicePrinter::printMap(kernel::TilesOp tiles, StringRef name,
                             StringRef tensor) {
  int64_t element = kernel::elementBytes(
      cast<MemRefType>(tiles.getTensor().getType()).getElementType());
  auto list = [](const SmallVector<std::string> &texts) {
    return ", {" + llvm::join(llvm::reverse(texts), ", ") + "}";
  };
  auto numbers = [&](ArrayRef<int64_t> values, int64_t factor = 1) {
    return list(llvm::map_to_vector(
        values, [&](int64_t value) { return std::to_string(value * factor); }));
  };
  SmallVector<std::string> sizes;
  for (const kernel::Dim &size : kernel::dimsOf(tiles.getSizes())) {
    std::string text = interface.sizeText(size, "io->");
    sizes.push_back(size.known() ? text
                                 : "static_cast<cuuint64_t>(" + text + ")");
  }
  std::string text =
      (tiles.areWindows() ? "device::map_windows<" : "device::map_tiles<") +
      std::to_string(sizes.size()) + ">(&" + name.str() + ", " +
      std::to_string(element) + ", " + tensor.str() + list(sizes) +
      numbers(tiles.getStrides(), element);
  if (!tiles.areWindows())
    return check(text + numbers(tiles.getBox()) + ")");
  SmallVector<int64_t> steps = {1};
  llvm::append_range(steps, tiles.getSteps());
  steps.push_back(1);
  SmallVector<int64_t> high;
  for (auto [last, size] : llvm::zip_equal(
           tiles.getHigh(),
           ArrayRef(kernel::dimsOf(tiles.getSizes())).drop_front().drop_back()))
    high.push_back(last - (size.most() - 1));
  check(text + numbers(tiles.getLow()) + numbers(high) + numbers(steps) + ", " +
        Twine(tiles.getBox()[1]) + ", " + Twine(tiles.getBox()[0]) + ")");
}

/// Whether the tensor has dynamic sizes and the caller gives all of them, so
/// that none is data-dependent.
bool DevicePrinter::isSizedByCaller(const InterfaceTensor &tensor) const {
  bool isSized = false;
  for (const kernel::Dim &size : tensor.sizes)
    for (kernel::SymbolAttr symbol : size.given()) {
      auto own = llvm::find_if(interface.sizes, [&](const InterfaceSize &own) {
        return own.symbol == symbol;
      });
      if (own == interface.sizes.end() || own->isMade)
        return false;
      isSized = true;
    }
  return isSized;
}

/// Prints the function that is recorded as a graph: the launches and, for
/// tensors in host memory, the copies from and to staging memory, a buffer on
/// the host.
void DevicePrinter::printEnqueue() {
  out.comment("Enqueues a whole run on a stream. `staging` is null if the "
              "caller's tensors are in device memory.");
  out.open("ingot_status " + interface.localName("enqueue") + "(const " +
           interface.name +
           "_io *io, unsigned char *memory, unsigned char *staging, " +
           stateParameters() + "const unsigned char *constants, " +
           decisionParameters() + streamParameter() + ") {");
  out.line("ingot_status status = INGOT_OK;");
  std::string streamsText = streams() > 1 ? "streams" : "stream",
              first = streams() > 1 ? "streams[0]" : "stream";
  kernel::ProgramOp main = interface.main;
  // Prints one copy of all inputs or, if `isOutput`, of all outputs. If the
  // caller gives a dynamic size of any of these tensors, prints a copy for each
  // tensor instead.
  auto copy = [&](bool isOutput, int64_t from, int64_t to) {
    if (from == to)
      return;
    auto part = [&](int64_t offset, const std::string &bytes) {
      std::string host = "staging + " + llvm::itostr(offset),
                  device = "memory + " + llvm::itostr(layout.tensors + offset);
      check("device::copy(" +
            (isOutput ? host + ", " + device : device + ", " + host) + ", " +
            bytes + ", " + first + ")");
    };
    SmallVector<unsigned> tensors;
    for (auto [number, tensor] : llvm::enumerate(interface.tensors))
      if (tensor.isOutput == isOutput && isOfCaller(tensor))
        tensors.push_back(number);
    out.open("if (staging) {");
    if (llvm::any_of(tensors, [&](unsigned number) {
          return isSizedByCaller(interface.tensors[number]);
        }))
      for (unsigned number : tensors)
        part(layout.offsets[number],
             isSizedByCaller(interface.tensors[number])
                 ? bytesOf(number)
                 : llvm::itostr(kernel::spanBytes(
                       cast<MemRefType>(main.getArgument(number).getType()))));
    else
      part(from, llvm::itostr(to - from));
    out.close();
  };
  copy(false, 0, layout.outputs);
  check(interface.localName("launch") + "(io, memory, " + stateArguments("") +
        "constants, " + decisionArguments("decisions", "cells") + streamsText +
        ")");
  copy(true, layout.outputs, layout.decisions);
  out.line("return status;");
  out.close();
  out.blank();
}

/// Returns the C++ expression for the number of bytes of a tensor of the
/// caller, given its dynamic sizes.
std::string DevicePrinter::bytesOf(unsigned number) const {
  kernel::ProgramOp main = interface.main;
  const InterfaceTensor &tensor = interface.tensors[number];
  int64_t factor = kernel::elementBytes(
      cast<MemRefType>(main.getArgument(number).getType()).getElementType());
  std::string text;
  for (const kernel::Dim &size : tensor.sizes) {
    if (auto known = size.known())
      factor *= *known;
    else
      text += "(size_t)(" + interface.sizeText(size, "io->") + ") * ";
  }
  return text + llvm::itostr(factor);
}

void DevicePrinter::printInputs() {
  out.comment("Copies through the handle's own memory, where the kernels "
              "read and write it.");
  out.line("staging = handle->staging;");
  for (auto [number, tensor] : llvm::enumerate(interface.tensors)) {
    if (!isOfCaller(tensor))
      continue;
    std::string offset = llvm::itostr(layout.offsets[number]);
    returnIf("device::holds(io->" + tensor.field + ")", "INGOT_ERROR_PLACE");
    if (!tensor.isOutput)
      out.line("memcpy(staging + " + offset + ", io->" + tensor.field + ", " +
               bytesOf(number) + ");");
    out.line("inside." + tensor.field + " = (" + tensor.cType +
             " *)(handle->memory + " +
             Twine(layout.tensors + layout.offsets[number]) + ");");
  }
}

/// Prints the comparison, on the host, of specialized inputs (those fixed by
/// --bind) with the values that they were bound to.
void DevicePrinter::printBoundValues() {
  for (auto require :
       interface.main->getRegion(0).getOps<kernel::RequireEqualOp>()) {
    auto type = cast<MemRefType>(require.getInput().getType());
    auto input =
        dyn_cast<BlockArgument>(kernel::bufferRoot(require.getInput()));
    if (!input || type.getNumElements() == 0)
      continue;
    unsigned number = input.getArgNumber();
    std::string place =
        "(handle->staging + " + llvm::itostr(layout.offsets[number]) + ")";
    out.open("if (!staging) {");
    check("device::copy(" + place + ", io->" + interface.tensors[number].field +
          ", " + bytesOf(number) + ", stream)");
    check("device::wait(stream)");
    out.close();
    printRequireEqual(require, place);
  }
}

void DevicePrinter::printOutputs() {
  out.open("if (staging) {");
  check("device::wait(stream)");
  for (auto [number, tensor] : llvm::enumerate(interface.tensors))
    if (tensor.isOutput && isOfCaller(tensor))
      out.line("memcpy(io->" + tensor.field + ", staging + " +
               Twine(layout.offsets[number]) + ", " + bytesOf(number) + ");");
  out.close();
}

/// Prints code that records the run as a launch graph, unless the recorded
/// graph has the same arguments. If state values (tensors that persist between
/// runs) are double-buffered, runs alternate between two graphs.
void DevicePrinter::printRecording() {
  std::string recorded = "handle->" + recordedText(interface), changed;
  if (hasPhases()) {
    out.line("auto &recorded = handle->" +
             recordedText(interface,
                          "handle->phases[" +
                              std::to_string(*firstPhaseOf(interface)) + "]") +
             ";");
    recorded = "recorded";
    changed = " || memcmp(recorded.phases, handle->phases, sizeof "
              "recorded.phases) != 0";
  }
  out.open("if (!" + recorded + ".graph || memcmp(&" + recorded +
           ".io, &inside, sizeof inside) != 0" + changed + ") {");
  bool isForked = streams() > 1;
  out.open("const auto record = [&](" +
           (isForked ? context.target.device.stream.str() + " *const *"
                     : streamType()) +
           "capturing) {");
  out.line("return " + interface.localName("enqueue") +
           "(&inside, handle->memory, staging, " + stateArguments("handle->") +
           "handle->constants, capturing);");
  out.close("};");
  check((isForked ? "device::record_branches<" + llvm::itostr(streams()) + ">(&"
                  : std::string("device::record(&")) +
        recorded + ".graph, record)");
  out.line("memcpy(&" + recorded + ".io, &inside, sizeof inside);");
  if (hasPhases())
    out.line(
        "memcpy(recorded.phases, handle->phases, sizeof recorded.phases);");
  out.close();
}

void DevicePrinter::printRun(bool isOne) {
  const std::string &name = interface.name;
  out.open((isOne ? "ingot_status " : "static ingot_status ") + name +
           "_run_alone(" + interface.sharedName + "_handle *handle, const " +
           name + "_io *io, " + streamType() + "stream) {");
  out.line("int device = 0;");
  out.line("ingot_status status = device::current(&device);");
  out.line("if (status != INGOT_OK) return status;");
  returnIf("device != handle->device", "INGOT_ERROR_DEVICE");
  out.comment(isDecided ? "The same for the kernels."
                        : "The same for the kernels: what is recorded is "
                          "compared with it, to the last byte.");
  out.line(name + "_io inside;");
  out.line("memset(&inside, 0, sizeof inside);");
  out.line("inside.place = io->place;");
  for (const InterfaceSize &size : interface.sizes)
    out.line("inside." + size.field + " = io->" + size.field + ";");
  out.line("unsigned char *staging = nullptr;");
  out.open("if (io->place == INGOT_ON_HOST) {");
  printInputs();
  out.middle("} else {");
  for (auto [number, tensor] : llvm::enumerate(interface.tensors))
    if (isOfCaller(tensor)) {
      returnIf("!device::holds(io->" + tensor.field + ")", "INGOT_ERROR_PLACE");
      printAlignmentCheck(number);
      out.line("inside." + tensor.field + " = io->" + tensor.field + ";");
    }
  out.close();
  printBoundValues();
  if (isDecided) {
    printMade();
    std::string at = llvm::itostr(layout.decisions),
                onDevice = llvm::itostr(layout.tensors + layout.decisions);
    check(interface.localName("enqueue") +
          "(&inside, handle->memory, staging, " + stateArguments("handle->") +
          "handle->constants, " +
          decisionArguments("handle->staging + " + at,
                            "handle->memory + " + onDevice) +
          "stream)");
  } else {
    printRecording();
    check("device::replay(" +
          (hasPhases() ? "recorded" : "handle->" + recordedText(interface)) +
          ".graph, stream)");
  }
  printStateChange("handle->phases");
  printOutputs();
  out.line("return status;");
  out.close();
  out.blank();

  out.open((isOne ? "ingot_status " + interface.localName()
                  : "extern \"C\" ingot_status " + name + "_run") +
           "(" + interface.sharedName + "_handle *handle, const " + name +
           "_io *io, " + streamType() + "stream) {");
  returnIf("!handle || !io" + missingTensors(), "INGOT_ERROR_NULL");
  returnIf("io->place != INGOT_ON_HOST && io->place != INGOT_ON_DEVICE",
           "INGOT_ERROR_PLACE");
  printSizeChecks();
  if (layout.device > 0)
    returnIf("!handle->memory", "INGOT_ERROR_NULL");
  if (interface.hasState)
    returnIf("!handle->state", "INGOT_ERROR_NULL");
  returnIf("__atomic_exchange_n(&handle->busy, 1, __ATOMIC_ACQUIRE)",
           "INGOT_ERROR_BUSY");
  out.line("ingot_status status = " + name + "_run_alone(handle, io, stream);");
  out.line("__atomic_store_n(&handle->busy, 0, __ATOMIC_RELEASE);");
  out.line("return status;");
  out.close();
}

} // namespace ingot
