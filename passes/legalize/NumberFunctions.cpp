#include "passes/legalize/NumberFunctions.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/NumberTypes.h"

using namespace mlir;

namespace ingot::legalize {

func::FuncOp
NumberFunctions::get(StringRef stem, Type type, ArrayRef<StringRef> arguments,
                     const Twine &comment,
                     llvm::function_ref<Value(OpBuilder &, ValueRange)> body,
                     Type resultType) {
  Type element = elementOf(type);
  std::string name = stem.str();
  name += element.isIndex() ? "_index"
                            : ((isa<FloatType>(element) ? "_f" : "_i") +
                               Twine(element.getIntOrFloatBitWidth()))
                                  .str();
  // A one-lane vector prints as a scalar but is another type in the IR, so its
  // function needs another name.
  if (isa<VectorType>(type))
    name += "x" + std::to_string(laneCount(type));
  func::FuncOp &known = made[name];
  if (known)
    return known;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  SmallVector<Type> types(arguments.size(), type);
  known = func::FuncOp::create(
      builder, module.getLoc(), name,
      builder.getFunctionType(types, resultType ? resultType : type));
  known.setPrivate();
  known->setAttr(kernel::kCommentAttr, builder.getStringAttr(comment));
  for (auto [i, argument] : llvm::enumerate(arguments))
    known.setArgAttr(i, kernel::kNameAttr, builder.getStringAttr(argument));
  // Renames the function if the model already has a kernel of this name.
  symbols.insert(known);
  Block *entry = known.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Value result = body(builder, entry->getArguments());
  func::ReturnOp::create(builder, module.getLoc(), result);
  return known;
}

void NumberFunctions::replaceByCall(Operation *op, func::FuncOp function,
                                    ValueRange operands) {
  OpBuilder builder(op);
  auto call = func::CallOp::create(builder, op->getLoc(), function, operands);
  op->replaceAllUsesWith(call);
  op->erase();
}

} // namespace ingot::legalize
