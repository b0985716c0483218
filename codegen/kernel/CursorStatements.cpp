// Prints cursors (pointers that advance with each load) and prefetches;
// converts predicted cycles to time.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ValueNames.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;

namespace ingot {

/// Prints declarations of variables that are bound to fixed registers, for the
/// results of instructions that load several registers.
void KernelPrinter::declareLoadRegisters() {
  // If all loads into a register are from the same argument, the register is
  // named after that argument.
  kernel.walk([&](kernel::LoadNextOp load) {
    if (auto first = load.getFirst())
      for (unsigned i = 0; i < load.getNumResults(); ++i) {
        StringRef source = kernel::nameOf(load.getCursor());
        source.consume_front("next_");
        std::string name = (source + "_" + Twine(i)).str();
        auto [known, isNew] = loadRegisters.try_emplace(*first + i, name);
        if (known->second != name)
          known->second = "loaded_" + std::to_string(known->first);
      }
  });
  std::string text;
  for (auto &[number, name] : loadRegisters) {
    name = names.unique(name);
    text += text.empty() ? "register float " : ", ";
    text += (name + Twine(" __asm__(\"") + context.target.loadRegisters +
             Twine(number) + "\")")
                .str();
  }
  if (!text.empty())
    out.line(text + ";");
}

int64_t SourceContext::nanoseconds(std::optional<uint64_t> cycles,
                                   int64_t parts) const {
  double time = double(cycles.value_or(0)) / target.gigahertz / double(parts);
  return static_cast<int64_t>(std::ceil(time));
}

std::string SourceContext::prefetch(StringRef pointer, int64_t bytes) const {
  std::string text = target.prefetchText.str();
  text.replace(text.find("{0}"), 3, pointer.str());
  if (size_t at = text.find("{1}"); at != std::string::npos)
    text.replace(at, 3, std::to_string(bytes));
  return text;
}

void KernelPrinter::printCursor(kernel::CursorOp cursor) {
  auto type = cast<MemRefType>(cursor.getSource().getType());
  std::string hint = nameHint(cursor);
  std::string text = pointerTo(cursor.getSource(), cursor.getIndices());
  Sign sign = signOfElements(cursor.getSource());
  std::string element = "const " + storageTypeName(type.getElementType(), sign);
  if (cursor.getCondition()) {
    std::string otherwise = pointer(cursor.getOtherwise());
    if (signOfElements(cursor.getOtherwise()) != sign)
      otherwise = out.language.reinterpret(element + " *", otherwise);
    text = within(value(cursor.getCondition()), Binding::Compare) + " ? " +
           text + " : " + otherwise;
  }
  std::string name = names.unique(hint.empty() ? "next" : hint);
  variables[cursor] = {name, sign};
  out.line(element + " *" + name + " = " + text + ";");
  // The target's table may give a statement to print after the declaration of a
  // cursor, such as an asm barrier.
  if (const Intrinsic *row = context.target.intrinsic(
          cursor->getName().getStringRef(), type.getElementType(),
          type.getElementType())) {
    std::string statement = out.language.spelled(row->spelling);
    out.line(statement.replace(statement.find("{0}"), 3, name) + ";");
  }
}

void KernelPrinter::printPrefetch(kernel::PrefetchOp prefetch) {
  Value buffer = prefetch.getBuffer();
  out.line(context.prefetch(prefetch.getIndices().empty()
                                ? pointer(buffer)
                                : pointerTo(buffer, prefetch.getIndices()),
                            prefetch.getBytes()));
}

void KernelPrinter::printLoadNext(kernel::LoadNextOp load) {
  std::string cursor = variables.at(load.getCursor()).name;
  Value first = load.getResult(0);
  auto vector = dyn_cast<VectorType>(first.getType());
  // The operands that the text in the target's table refers to as {0}, {1},
  // ...: the cursor, then named registers or variables.
  std::vector<std::string> places{cursor};
  auto spelled = [&](llvm::StringRef rest) {
    std::string text;
    while (!rest.empty()) {
      unsigned operand = 0;
      if (!rest.consume_front("{")) {
        text += rest.front();
        rest = rest.drop_front();
        continue;
      }
      rest.consumeInteger(10, operand);
      rest.consume_front("}");
      text += places[operand];
    }
    return text;
  };
  if (load.getNumResults() == 1) {
    const Intrinsic *row =
        vector ? context.target.intrinsic(load->getName().getStringRef(),
                                          vector.getElementType(), vector)
               : nullptr;
    if (!vector) {
      define(first, {"*" + cursor + "++", Binding::Unary,
                     variables.at(load.getCursor()).sign});
    } else if (row) {
      std::string name = useVector(typeName(vector, Sign::Unsigned));
      define(first, castTo(name, {spelled(out.language.spelled(row->spelling)),
                                  Binding::Primary, Sign::Unsigned}));
    } else {
      std::string name = typeName(vector, Sign::Unsigned);
      define(first, {loadOf(useVector(name + "_u"), cursor), Binding::Unary,
                     Sign::Unsigned});
      out.line(cursor + " += " + Twine(vector.getNumElements()) + ";");
    }
    return;
  }
  Sign sign = vector ? Sign::Unsigned : Sign::Signed;
  for (auto [i, result] : llvm::enumerate(load.getResults())) {
    std::string name =
        load.getFirst()
            ? loadRegisters.at(*load.getFirst() + int64_t(i))
            : names.unique(
                  (kernel::nameIn(load.getLoc()) + "_" + Twine(i)).str());
    variables[result] = {name, sign};
    places.push_back(name);
  }
  if (!load.getFirst())
    out.line(useVector(typeName(vector, sign)) + " " +
             llvm::join(llvm::drop_begin(places), ", ") + ";");
  out.line(
      spelled(out.language.spelled(
          context.target.loadOfSeveral(first.getType(), load.getNumResults())
              ->spelling)) +
      ";");
}

} // namespace ingot
