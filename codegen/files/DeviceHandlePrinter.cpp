#include "codegen/files/DeviceHandlePrinter.h"

#include "codegen/files/StatePrinter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ingot {

std::string DeviceHandlePrinter::functionOf(StringRef function) const {
  return isOne ? "ingot_status " + function.str()
               : "extern \"C\" ingot_status " + interface.sharedName + "_" +
                     function.str();
}

void DeviceHandlePrinter::printFunctions() {
  printUpload();
  printCommonFunctions();
  printCreate();
}

void DeviceHandlePrinter::printOwnFunctions() {
  isOne = true;
  printUpload();
  printCreate();
}

void DeviceHandlePrinter::printCommonFunctions() {
  printRelease("release", "constants", {"release(constants->memory)"});
  SmallVector<std::string> parts;
  for (const Interface &entry : interfaces)
    for (unsigned i = 0; i < graphsOf(entry); ++i)
      parts.push_back("release_graph(handle->" +
                      recordedText(entry, std::to_string(i)) + ".graph)");
  parts.push_back("release(handle->memory)");
  if (sizes.state > 0)
    parts.push_back("release(handle->state)");
  parts.push_back("release_staging(handle->staging)");
  printRelease("destroy", "handle", parts);
  if (sizes.state == 0)
    return;
  printReset();
  printStateFunctions(interfaces, handlesState(interface), out);
}

void DeviceHandlePrinter::printUpload() {
  const std::string &name = interface.sharedName;
  bool isFile = interface.weightsMode == WeightsMode::File;
  int64_t bytes = weights.payloadBytes();
  out.open(functionOf("upload") + "(" + name + "_constants *constants, " +
           (isFile ? "const void *file, " : "") + streamType() + "stream) {");
  returnIf(isFile ? "!constants || !file" : "!constants", "INGOT_ERROR_NULL");
  out.line("*constants = " + name + "_constants();");
  if (isFile) {
    returnIf("(uintptr_t)file % " + interface.sharedMacro +
                 "_WEIGHTS_ALIGN != 0",
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
    // Weights that several targets share are declared before the namespaces of
    // the targets; other weights are declared in the namespace `payload`.
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

void DeviceHandlePrinter::printRelease(StringRef function, StringRef object,
                                       ArrayRef<std::string> parts) {
  std::string type = (interface.sharedName + "_" + object).str();
  out.open("extern \"C\" ingot_status " + interface.sharedName + "_" +
           function + "(" + type + " *" + object + ") {");
  returnIf("!" + object, "INGOT_ERROR_NULL");
  out.line("ingot_status status = INGOT_OK, part = INGOT_OK;");
  for (const std::string &part : parts) {
    StringRef field = StringRef(part).split('(').second.drop_back();
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

void DeviceHandlePrinter::printCreate() {
  const std::string &name = interface.sharedName;
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
  auto allocate = [&](StringRef function, StringRef field, int64_t bytes) {
    if (bytes > 0)
      out.line("if (status == INGOT_OK) status = device::" + function +
               "(&handle->" + field + ", " + Twine(bytes) + ");");
  };
  allocate("allocate", "memory", sizes.memory);
  allocate("allocate_staging", "staging", sizes.staging);
  allocate("allocate", "state", sizes.state);
  if (sizes.state > 0)
    out.line("if (status == INGOT_OK) status = device::clear(handle->state, " +
             Twine(sizes.state) + ", stream);");
  out.line("if (status == INGOT_OK) status = device::wait(stream);");
  out.line("if (status != INGOT_OK) " + name + "_destroy(handle);");
  out.line("return status;");
  out.close();
  out.blank();
}

void DeviceHandlePrinter::printReset() {
  const std::string &name = interface.sharedName;
  out.open("extern \"C\" ingot_status " + name + "_reset(" + name +
           "_handle *handle, " + streamType() + "stream) {");
  returnIf("!handle || !handle->state", "INGOT_ERROR_NULL");
  out.line("int device = 0;");
  out.line("ingot_status status = device::current(&device);");
  out.line("if (status != INGOT_OK) return status;");
  returnIf("device != handle->device", "INGOT_ERROR_DEVICE");
  returnIf("__atomic_exchange_n(&handle->busy, 1, __ATOMIC_ACQUIRE)",
           "INGOT_ERROR_BUSY");
  out.line("status = device::clear(handle->state, " + Twine(sizes.state) +
           ", stream);");
  out.line("__atomic_store_n(&handle->busy, 0, __ATOMIC_RELEASE);");
  out.line("return status;");
  out.close();
  out.blank();
}

} // namespace ingot
