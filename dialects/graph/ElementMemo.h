// Remembers the elements that one `ElementBuilder::load` has built on the way
// through the operators of a fusion group, so that an element with several
// readers is built once, however long the chain:
//
//   y = x * sigmoid(x), z = y * sigmoid(y), ...    z reads y twice, y reads x
//                                                  twice: without the memo the
//                                                  code doubles with each step
//
// The key of an element consists of the tensor, the number of lanes and the
// index. Two indices are equal if they are the same constant, the same value
// plus the same constant, or the same operation on equal operands.

#ifndef INGOT_GRAPH_ELEMENTMEMO_H
#define INGOT_GRAPH_ELEMENTMEMO_H

#include "dialects/graph/Expr.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::graph {

class ElementMemo {
public:
  using Key = llvm::SmallVector<int64_t, 8>;

  Key keyOf(mlir::Value tensor, int64_t lanes, llvm::ArrayRef<Expr> idx);
  /// Returns the element with this key (tensor, number of lanes and index) if
  /// it was built in `block` or in an enclosing block; otherwise an empty
  /// expression.
  Expr lookup(const Key &key, mlir::Block *block) const;
  void remember(const Key &key, Expr element, mlir::Block *block);
  /// States that the detached block `inner` will be nested in `outer`.
  void nest(mlir::Block *inner, mlir::Block *outer) {
    outerOfDetached[inner] = outer;
  }
  void clear();

private:
  /// An index, represented as a value plus the constant `offset`. `base` is the
  /// number that baseOf has given to the value: the same value, or the same
  /// operation on equal operands, gets the same number. If the index is just
  /// the constant `offset`, `base` is 0.
  struct Number {
    int64_t base, offset;
  };
  Number numberOf(mlir::Value value);
  /// Returns the number (at least 1) of a key; equal keys have the same number.
  int64_t baseOf(const Key &key);
  bool encloses(mlir::Block *outer, mlir::Block *inner) const;

  struct Element {
    Expr value;
    mlir::Block *block;
  };
  llvm::DenseMap<Key, Element> elements;
  llvm::DenseMap<mlir::Value, Number> numbers;
  llvm::DenseMap<Key, int64_t> bases;
  llvm::DenseMap<mlir::Block *, mlir::Block *> outerOfDetached;
};

} // namespace ingot::graph

#endif // INGOT_GRAPH_ELEMENTMEMO_H
