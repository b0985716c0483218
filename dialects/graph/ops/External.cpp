// Custom operators, which call C functions of the user.

#include "dialects/graph/ElementBuilder.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult CallExternalOp::inferTypes(Adaptor op, TypeRule &rule) {
  size_t sizes = op.getSizes() ? dimsOf(*op.getSizes()).size() : 0;
  size_t index = op.getParallel() ? 1 : 0, outputs = rule.statedCount();
  if (index && dimsOf(*op.getParallel()).size() != 1)
    return rule.refuse("has more than one size in 'parallel'");
  size_t parameters = op.getInputs().size() + outputs + sizes + index +
                      op.getConstants().size();
  if (op.getNames().size() != parameters)
    return rule.refuse("has " + Twine(op.getNames().size()) + " names for " +
                       Twine(parameters) + " parameters");
  if (outputs == 0)
    return rule.refuse("has no result");
  for (unsigned i = 0; i < outputs; ++i)
    (void)rule.result(rule.statedDims(i), rule.statedElement(i));
  for (Value input : op.getInputs())
    if (!isCompact(dimsOf(input)))
      return rule.refuse("has an input with gaps in memory");
  for (unsigned i = 0; i < outputs; ++i)
    if (!isCompact(rule.statedDims(i)))
      return rule.refuse("has a result with gaps in memory");
  return success();
}

/// Returns the buffer of an input. A constant that was copied into the kernel
/// has no buffer; it is stored in a new buffer on the stack.
static Value bufferOf(BodyBuilder &b, Value input) {
  if (Value buffer = b.bufferOf(input))
    return buffer;
  Value copy = b.stack(shapeOf(input), elementOf(input));
  b.forEach(shapeOf(input),
            [&](ArrayRef<Expr> at) { b.store(copy, b.load(input, at), at); });
  return copy;
}

void CallExternalOp::emitBody(BodyBuilder &b) {
  SmallVector<Value> inputs, sizes;
  SmallVector<Type> elements;
  for (Value input : getInputs()) {
    inputs.push_back(bufferOf(b, input));
    elements.push_back(elementOf(input));
  }
  for (Value output : getOutputs())
    elements.push_back(elementOf(output));
  for (const Dim &size : getSizes() ? dimsOf(*getSizes()) : Dims())
    sizes.push_back(b.size(size).value);
  auto call = [&] {
    kernel::CallExternalOp::create(b.builder, b.loc, getFunctionAttr(), inputs,
                                   b.outputs, sizes, getConstantsAttr(),
                                   getNamesAttr(),
                                   b.builder.getTypeArrayAttr(elements));
  };
  if (!getParallel())
    return call();
  b.forIndependent(dimsOf(*getParallel()), [&](ArrayRef<Expr> at) {
    sizes.push_back(at[0].value);
    call();
    sizes.pop_back();
  });
}

} // namespace ingot::graph
