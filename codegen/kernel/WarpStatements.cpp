// Prints operations of a GPU thread block or warp: each is a call of the
// function that the target's table of intrinsics names.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/ValueNames.h"

using namespace mlir;

namespace ingot {

std::string KernelPrinter::calledBy(llvm::StringRef name) {
  return context.target.intrinsic(name, Type(), Type())->spelling.str();
}

/// Prints an operation without operands, such as a barrier.
void KernelPrinter::printMoment(Operation *op) {
  out.line(calledBy(op->getName().getStringRef()) + ";");
}

void KernelPrinter::printAwait(kernel::AwaitCopiesOp await) {
  out.line(calledBy(await->getName().getStringRef()) + "<" +
           llvm::itostr(await.getNewest()) + ">();");
}

void KernelPrinter::printLoadMatrices(kernel::LoadMatricesOp load) {
  std::string names;
  for (Value part : load.getParts()) {
    names += names.empty() ? "" : ", ";
    names += newVariable(part, Sign::Unsigned).name;
  }
  out.line(typeName(load.getParts()[0].getType(), Sign::Unsigned) + " " +
           names + ";");
  out.line(calledBy(load.getIntrinsicName()) + "(" + names + ", &" +
           address(load.getTile(), load.getIndices()) + ");");
}

/// Prints a matrix multiplication of a warp as a call. The called function
/// updates the accumulators, which are variables. If an accumulator is not in
/// the variable of its result, a copy of it is assigned to that variable before
/// the call.
void KernelPrinter::printWarpProduct(kernel::WarpProductOp product) {
  std::string text;
  for (auto [sum, result] :
       llvm::zip_equal(product.getSums(), product.getResults())) {
    if (placement.variable(sum) != placement.variable(result)) {
      std::string copy = initializer(sum, Sign::Signed).text;
      if (variables.count(placement.variable(result))) {
        out.line(variables[placement.variable(result)].name + " = " + copy +
                 ";");
      } else {
        std::string type = declaredType(result, Sign::Signed);
        out.line(type + " " + newVariable(result, Sign::Signed).name + " = " +
                 copy + ";");
      }
    }
    text += (text.empty() ? "" : ", ") +
            variables.at(placement.variable(result)).name;
  }
  for (ValueRange operand : {product.getA(), product.getB()})
    for (Value part : operand)
      text += ", " + integer(part, Sign::Unsigned).text;
  out.line(calledBy(product.getIntrinsicName()) + "(" + text + ");");
}

void KernelPrinter::printCopyAhead(kernel::CopyAheadOp copy) {
  std::string condition =
      copy.getCondition() ? value(copy.getCondition()).text : "true";
  out.line(calledBy(copy->getName().getStringRef()) + "(&" +
           address(copy.getTo(), copy.getToIndices()) + ", &" +
           address(copy.getFrom(), copy.getFromIndices()) + ", " + condition +
           ");");
}

void KernelPrinter::printStoreVector(kernel::StoreVectorOp store) {
  std::string text = calledBy(store.getIntrinsicName()) + "(&" +
                     address(store.getTo(), store.getIndices());
  for (Value part : store.getValues())
    text += ", " + value(part).text;
  out.line(text + ");");
}

void KernelPrinter::printCount(kernel::CountOp count) {
  std::string amount = value(count.getAmount()).text;
  Value at = count.getAt();
  std::string call = calledBy(count->getName().getStringRef()) + "(&" +
                     address(count.getCounts(), at) + ", " + amount + ");";
  out.line(typeName(count.getTotal().getType(), Sign::Signed) + " " +
           newVariable(count.getTotal(), Sign::Signed).name + " = " + call);
}

} // namespace ingot
