#include "dialects/graph/ElementMemo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::graph {

static int64_t identity(const void *pointer) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(pointer));
}

int64_t ElementMemo::baseOf(const Key &key) {
  return bases.try_emplace(key, bases.size() + 1).first->second;
}

ElementMemo::Number ElementMemo::numberOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return {0, constant.getSExtValue()};
  if (auto known = numbers.find(value); known != numbers.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  Number number{0, 0};
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    number = numberOf(op->getOperand(0));
    number.offset += isa<arith::AddIOp>(op) ? constant.getSExtValue()
                                            : -constant.getSExtValue();
  } else if (op && isa<arith::ArithDialect>(op->getDialect())) {
    Key key{identity(op->getName().getAsOpaquePointer()),
            identity(op->getAttrDictionary().getAsOpaquePointer()),
            identity(value.getType().getAsOpaquePointer())};
    for (Value operand : op->getOperands()) {
      Number part = numberOf(operand);
      key.append({part.base, part.offset});
    }
    number.base = baseOf(key);
  } else {
    number.base = baseOf({identity(value.getAsOpaquePointer())});
  }
  numbers[value] = number;
  return number;
}

ElementMemo::Key ElementMemo::keyOf(Value tensor, int64_t lanes,
                                    ArrayRef<Expr> idx) {
  Key key{identity(tensor.getAsOpaquePointer()), lanes};
  for (Expr i : idx) {
    Number number = numberOf(i.value);
    key.append({number.base, number.offset});
  }
  return key;
}

bool ElementMemo::encloses(Block *outer, Block *inner) const {
  while (inner && inner != outer) {
    Operation *parent = inner->getParentOp();
    inner = parent ? parent->getBlock() : outerOfDetached.lookup(inner);
  }
  return inner;
}

Expr ElementMemo::lookup(const Key &key, Block *block) const {
  auto known = elements.find(key);
  return known != elements.end() && encloses(known->second.block, block)
             ? known->second.value
             : Expr();
}

void ElementMemo::remember(const Key &key, Expr element, Block *block) {
  elements[key] = {element, block};
}

void ElementMemo::clear() {
  elements.clear();
  numbers.clear();
  bases.clear();
  outerOfDetached.clear();
}

} // namespace ingot::graph
