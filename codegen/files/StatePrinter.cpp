#include "codegen/files/StatePrinter.h"

#include "codegen/kernel/Names.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {

namespace {
/// A value that persists between runs: a tensor that holds it, the entry point
/// of this tensor, and the function that returns the value's address.
struct StateValue {
  const Interface *interface;
  const InterfaceTensor *tensor;
  std::string function;

  /// Returns the slots of the tensor, such that their `even` and `odd` offsets
  /// (InterfaceTensor::Slots) denote the buffer from which the next run reads
  /// the value.
  InterfaceTensor::Slots slots() const {
    InterfaceTensor::Slots slots = *tensor->slots;
    if (tensor->isOutput && !slots.isAppended)
      std::swap(slots.even, slots.odd);
    return slots;
  }
};
} // namespace

/// Returns each value of the state (the tensors that persist between runs)
/// once: as an input tensor if an entry point reads the value, otherwise as an
/// output tensor.
static std::vector<StateValue> valuesOf(ArrayRef<Interface> interfaces) {
  std::vector<StateValue> values;
  llvm::StringSet<> seen;
  NameScope functions;
  for (bool outputs : {false, true})
    for (const Interface &interface : interfaces)
      for (const InterfaceTensor &tensor : interface.tensors)
        if (tensor.slots && tensor.isOutput == outputs &&
            seen.insert(tensor.slots->state).second)
          values.push_back(
              {&interface, &tensor,
               functions.unique(interface.sharedName + "_" +
                                toIdentifier(tensor.slots->state) + "_state")});
  return values;
}

StateOwner callersState(const Language &language) {
  return {"void *state", "", language.fromVoid("unsigned char", "state"),
          "bytes", ""};
}

StateOwner handlesState(const Interface &interface) {
  return {"const " + interface.sharedName + "_handle *handle",
          "if (!handle || !handle->state) return nullptr;", "handle->state",
          "handle->phases",
          " It is in device memory, and valid when the stream has completed "
          "the previous run."};
}

void printStateMacros(ArrayRef<Interface> interfaces, TextWriter &out) {
  const Interface &interface = interfaces.front();
  if (interface.stateBytes == 0)
    return;
  out.blockComment(
      "The state: memory that keeps values between calls. One call "
      "at a time may use it. All zeros is a valid initial state.");
  out.line("#define " + interface.sharedMacro + "_STATE_BYTES " +
           Twine(interface.stateBytes) + "u");
  out.line("#define " + interface.sharedMacro + "_STATE_ALIGN " +
           Twine(interface.arenaAlign) + "u");
}

void printStateDeclarations(ArrayRef<Interface> interfaces,
                            const StateOwner &owner, TextWriter &out) {
  for (const StateValue &value : valuesOf(interfaces)) {
    const InterfaceTensor &tensor = *value.tensor;
    out.blank();
    out.blockComment(
        "Returns the value that the next call reads as \"" +
        toCommentText(StringRef(tensor.slots->state).take_front(200)) +
        "\": " + tensor.type + " " + value.interface->shapeText(tensor.sizes) +
        (tensor.inMemory ? ", at the beginning of each axis of memory for " +
                               value.interface->shapeText(*tensor.inMemory)
                         : "") +
        "." + owner.note);
    out.line(tensor.cType + " *" + value.function + "(" + owner.parameter +
             ");");
  }
}

void printStateFunctions(ArrayRef<Interface> interfaces,
                         const StateOwner &owner, TextWriter &out) {
  for (const StateValue &value : valuesOf(interfaces)) {
    const std::string &type = value.tensor->cType;
    out.open(out.language.external() + type + " *" + value.function + "(" +
             owner.parameter + ") {");
    if (!owner.check.empty())
      out.line(owner.check);
    out.line("unsigned char *const bytes = " + owner.memory + ";");
    out.line("return " +
             out.language.elementsAt(
                 type, "bytes + " + slotText(value.slots(), owner.phases)) +
             ";");
    out.close();
    out.blank();
  }
}

std::string slotText(const InterfaceTensor::Slots &slots, StringRef phases) {
  if (!slots.phase)
    return llvm::itostr(slots.even);
  return ("(" + phases + "[" + Twine(*slots.phase) + "] & 1 ? " +
          Twine(slots.odd) + " : " + Twine(slots.even) + ")")
      .str();
}

} // namespace ingot
