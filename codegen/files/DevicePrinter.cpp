#include "codegen/files/DevicePrinter.h"

#include "codegen/files/NodeNames.h"
#include "dialects/kernel/KernelModule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

/// Ends the function with the status of `call` unless that is INGOT_OK.
void DevicePrinter::check(const Twine &call) {
  out.line("status = " + call + ";");
  out.line("if (status != INGOT_OK) return status;");
}

void DevicePrinter::printLaunches() {
  out.comment("Puts all kernels on a stream. Tensors of `io` are in the "
              "memory of the device.");
  out.open("ingot_status launch(const " + interface.name +
           "_io *io, unsigned char *memory, const unsigned char *constants, " +
           streamType() + "stream) {");
  out.line("ingot_status status = INGOT_OK;");
  out.line("(void)io, (void)memory, (void)constants, (void)stream;");
  printWeightPointers(interface.main, "constants");
  for (Operation &op : interface.main->getRegion(0).front()) {
    if (auto launch = dyn_cast<kernel::LaunchOp>(op))
      printLaunch(launch);
    else if (auto buffer = dyn_cast<kernel::ArenaOp>(op);
             buffer && !buffer->use_empty())
      printArenaValue(buffer);
  }
  out.line("return status;");
  out.close();
  out.blank();
  printEnqueue();
}

void DevicePrinter::printLaunch(kernel::LaunchOp launch) {
  kernel::FuncOp callee = calleeOf(launch);
  if (std::string nodes = nodesText(launch.getLoc()); !nodes.empty())
    out.comment(nodes);
  int64_t shared = kernel::sharedBytes(callee);
  bool asks = shared > context.target.device.declaredSharedBytes;
  std::string call = std::string("device::start") + (asks ? "_sharing(" : "(") +
                     context.functions[launch.getCallee()] + ", " +
                     interface.sizeText(*kernel::extentOf(callee), "io->") +
                     ", " + llvm::itostr(*callee.getThreads()) +
                     (asks ? ", " + llvm::itostr(shared) : std::string()) +
                     ", stream";
  SmallVector<std::string> arguments = launchArguments(launch);
  for (const std::string &argument : arguments)
    call += ", " + argument;
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

/// Makes a map of a tensor; everything in it is innermost first.
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

/// What is recorded as a graph: the launches, and with tensors of the host's memory the
/// copies from and to staging.
void DevicePrinter::printEnqueue() {
  out.comment(
      "Puts a whole run on a stream. `staging` is null where the caller's "
      "tensors are in the memory of the device already.");
  out.open("ingot_status enqueue(const " + interface.name +
           "_io *io, unsigned char *memory, unsigned char *staging, const "
           "unsigned char *constants, " +
           streamType() + "stream) {");
  out.line("ingot_status status = INGOT_OK;");
  auto copy = [&](bool isOutput, int64_t from, int64_t to) {
    if (from == to)
      return;
    std::string host = "staging + " + llvm::itostr(from),
                device = "memory + " + llvm::itostr(layout.tensors + from);
    out.open("if (staging) {");
    check("device::copy(" +
          (isOutput ? host + ", " + device : device + ", " + host) + ", " +
          llvm::itostr(to - from) + ", stream)");
    out.close();
  };
  copy(false, 0, layout.outputs);
  check("launch(io, memory, constants, stream)");
  copy(true, layout.outputs, layout.staging);
  out.line("return status;");
  out.close();
  out.blank();
}

void DevicePrinter::printFunctions() {
  printUpload();
  printCommonFunctions();
  printCreate();
  printRun();
}

void DevicePrinter::printOwnFunctions() {
  isOne = true;
  printUpload();
  printCreate();
  printRun();
}

void DevicePrinter::printCommonFunctions() {
  printRelease("release", "constants", {"release(constants->memory)"});
  printRelease("destroy", "handle",
               {"release_graph(handle->graph)", "release(handle->memory)",
                "release_staging(handle->staging)"});
}

void DevicePrinter::printUpload() {
  const std::string &name = interface.name;
  bool isFile = interface.weightsMode == WeightsMode::File;
  int64_t bytes = weights.payloadBytes();
  out.open(functionOf("upload") + "(" + name + "_constants *constants, " +
           (isFile ? "const void *file, " : "") + streamType() + "stream) {");
  returnIf(isFile ? "!constants || !file" : "!constants", "INGOT_ERROR_NULL");
  out.line("*constants = " + name + "_constants();");
  if (isFile) {
    returnIf("(uintptr_t)file % " + interface.macro + "_WEIGHTS_ALIGN != 0",
             "INGOT_ERROR_ALIGNMENT");
    returnIf("!" + name + "_is_header(file)", "INGOT_ERROR_WEIGHTS");
  }
  out.line("ingot_status status = device::current(&constants->device);");
  out.line("if (status != INGOT_OK) return status;");
  if (bytes == 0) {
    out.line("return device::wait(stream);");
    out.close();
    out.blank();
    return;
  }
  check("device::allocate(&constants->memory, " + Twine(bytes) + ")");
  auto copy = [&](int64_t to, const Twine &from, int64_t size) {
    out.line(
        "if (status == INGOT_OK) status = device::copy(constants->memory + " +
        Twine(to) + ", " + from + ", " + Twine(size) + ", stream);");
  };
  if (isFile)
    copy(0, "(const unsigned char *)file + " + Twine(kWeightsHeaderBytes),
         bytes);
  else if (interface.weightsMode == WeightsMode::Object)
    copy(0, name + "_weights", bytes);
  else
    // Those that several targets have are in front of all of them.
    for (auto global :
         interface.main->getParentOfType<ModuleOp>().getOps<memref::GlobalOp>())
      if (const Weight &weight = weights.all()[weights.indexOf(global)];
          weight.offset >= 0 && weight.bytes > 0)
        copy(weight.offset,
             (weight.shared ? "" : "payload::") +
                 context.globals[global.getSymName()],
             weight.bytes);
  out.line("if (status == INGOT_OK) status = device::wait(stream);");
  out.line("if (status != INGOT_OK) " + name + "_release(constants);");
  out.line("return status;");
  out.close();
  out.blank();
}

void DevicePrinter::printRelease(StringRef function, StringRef object,
                                 ArrayRef<StringRef> parts) {
  std::string type = (interface.name + "_" + object).str();
  out.open("extern \"C\" ingot_status " + interface.name + "_" + function +
           "(" + type + " *" + object + ") {");
  returnIf("!" + object, "INGOT_ERROR_NULL");
  out.line("ingot_status status = INGOT_OK, part = INGOT_OK;");
  for (StringRef part : parts) {
    StringRef field = part.split('(').second.drop_back();
    out.open("if (" + field + ") {");
    out.line("part = device::" + part + ";");
    out.line("if (status == INGOT_OK) status = part;");
    out.close();
  }
  out.line("*" + object + " = " + type + "();");
  out.line("return status;");
  out.close();
  out.blank();
}

void DevicePrinter::printCreate() {
  const std::string &name = interface.name;
  out.open(functionOf("create") + "(" + name + "_handle *handle, const " +
           name + "_constants *constants, " + streamType() + "stream) {");
  returnIf("!handle || !constants", "INGOT_ERROR_NULL");
  out.line("*handle = " + name + "_handle();");
  if (weights.payloadBytes() > 0)
    returnIf("!constants->memory", "INGOT_ERROR_NULL");
  out.line("handle->constants = constants->memory;");
  out.line("ingot_status status = device::current(&handle->device);");
  out.line("if (status != INGOT_OK) return status;");
  returnIf("handle->device != constants->device", "INGOT_ERROR_DEVICE");
  if (layout.device > 0)
    out.line("status = device::allocate(&handle->memory, " +
             Twine(layout.device) + ");");
  if (layout.staging > 0)
    out.line("if (status == INGOT_OK) status = "
             "device::allocate_staging(&handle->staging, " +
             Twine(layout.staging) + ");");
  out.line("if (status == INGOT_OK) status = device::wait(stream);");
  out.line("if (status != INGOT_OK) " + name + "_destroy(handle);");
  out.line("return status;");
  out.close();
  out.blank();
}

/// The bytes of a tensor of the caller, at the sizes of the run.
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
  out.comment("Through the handle's own memory, and where kernels find it.");
  out.line("staging = handle->staging;");
  for (auto [number, tensor] : llvm::enumerate(interface.tensors)) {
    if (tensor.elements == 0)
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

/// Inputs that shapes depend on are compared on the host.
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
    if (tensor.isOutput && tensor.elements > 0)
      out.line("memcpy(io->" + tensor.field + ", staging + " +
               Twine(layout.offsets[number]) + ", " + bytesOf(number) + ");");
  out.close();
}

void DevicePrinter::printRun() {
  const std::string &name = interface.name;
  out.open((isOne ? "ingot_status " : "static ingot_status ") + name +
           "_run_alone(" + name + "_handle *handle, const " + name +
           "_io *io, " + streamType() + "stream) {");
  out.line("int device = 0;");
  out.line("ingot_status status = device::current(&device);");
  out.line("if (status != INGOT_OK) return status;");
  returnIf("device != handle->device", "INGOT_ERROR_DEVICE");
  out.comment("The same for the kernels: what is recorded is compared with it, "
              "to the last byte.");
  out.line(name + "_io inside;");
  out.line("memset(&inside, 0, sizeof inside);");
  out.line("inside.place = io->place;");
  for (const InterfaceSize &size : interface.sizes)
    out.line("inside." + size.field + " = io->" + size.field + ";");
  out.line("unsigned char *staging = nullptr;");
  out.open("if (io->place == INGOT_ON_HOST) {");
  printInputs();
  out.middle("} else {");
  for (const InterfaceTensor &tensor : interface.tensors)
    if (tensor.elements > 0) {
      returnIf("!device::holds(io->" + tensor.field + ")", "INGOT_ERROR_PLACE");
      out.line("inside." + tensor.field + " = io->" + tensor.field + ";");
    }
  out.close();
  printBoundValues();
  out.open("if (!handle->graph || memcmp(&handle->recorded, &inside, sizeof "
           "inside) != 0) {");
  out.open("const auto record = [&](" + streamType() + "recorded) {");
  out.line("return enqueue(&inside, handle->memory, staging, "
           "handle->constants, recorded);");
  out.close("};");
  check("device::record(&handle->graph, record)");
  out.line("memcpy(&handle->recorded, &inside, sizeof inside);");
  out.close();
  check("device::replay(handle->graph, stream)");
  printOutputs();
  out.line("return status;");
  out.close();
  out.blank();

  out.open(functionOf("run") + "(" + name + "_handle *handle, const " + name +
           "_io *io, " + streamType() + "stream) {");
  returnIf("!handle || !io" + missingTensors(), "INGOT_ERROR_NULL");
  returnIf("io->place != INGOT_ON_HOST && io->place != INGOT_ON_DEVICE",
           "INGOT_ERROR_PLACE");
  printSizeChecks();
  if (layout.device > 0)
    returnIf("!handle->memory", "INGOT_ERROR_NULL");
  returnIf("__atomic_exchange_n(&handle->busy, 1, __ATOMIC_ACQUIRE)",
           "INGOT_ERROR_BUSY");
  out.line("ingot_status status = " + name + "_run_alone(handle, io, stream);");
  out.line("__atomic_store_n(&handle->busy, 0, __ATOMIC_RELEASE);");
  out.line("return status;");
  out.close();
}

} // namespace ingot
