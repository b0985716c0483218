// What types an operator's operands and results have: the vocabulary of
// `inferTypes`, which each operator has next to its definition.
//
//   LogicalResult SoftmaxOp::inferTypes(Adaptor op, TypeRule &rule) {
//     if (failed(rule.axis(op.getAxis(), op.getInput())))
//       return failure();
//     return rule.result(op.getInput());
//   }
//
// One function serves the verifier, which compares its results with those of
// the operator, and the builders that take no result types. Where a result says
// what the operands do not (the shape of a reshape), the function reads it with
// `stated`, and the builder is given it.

#ifndef INGOT_GRAPH_TYPERULE_H
#define INGOT_GRAPH_TYPERULE_H

#include "dialects/graph/Dim.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot::graph {

inline mlir::RankedTensorType tensorType(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}
/// The sizes of a tensor: of one whose sizes are known only at run time, the
/// most that they can be, and the stride of its memory.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value v) {
  return tensorType(v).getShape();
}
/// The sizes of a tensor as they are at run time.
inline Dims dimsOf(mlir::Value v) { return dimsOf(tensorType(v)); }
inline mlir::Type elementOf(mlir::Value v) {
  return tensorType(v).getElementType();
}

class TypeRule {
public:
  /// The rule of operator `name`; `stated` are the results' types if it has
  /// any yet. Without a location, nothing is said about refusals.
  TypeRule(llvm::StringRef name, std::optional<mlir::Location> loc,
           mlir::TypeRange stated = {})
      : name(name), loc(loc), statedTypes(stated) {}

  /// The shape and the element type that the operator itself has for a result.
  llvm::ArrayRef<int64_t> stated(unsigned result = 0) const {
    return type(result).getShape();
  }
  Dims statedDims(unsigned result = 0) const { return dimsOf(type(result)); }
  mlir::Type statedElement(unsigned result = 0) const {
    return type(result).getElementType();
  }

  /// Adds the type of the next result; returns success.
  llvm::LogicalResult result(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  llvm::LogicalResult result(std::initializer_list<int64_t> shape,
                             mlir::Type element) {
    return result(llvm::ArrayRef<int64_t>(shape), element);
  }
  llvm::LogicalResult result(llvm::ArrayRef<Dim> sizes, mlir::Type element);
  llvm::LogicalResult result(mlir::Value like) {
    types.push_back(like.getType());
    return llvm::success();
  }

  /// Reports what is wrong with operands or attributes; returns failure.
  llvm::LogicalResult refuse(const llvm::Twine &why) const;
  llvm::LogicalResult require(bool holds, const llvm::Twine &why) const {
    return holds ? llvm::success() : refuse(why);
  }
  /// Has the verifier refuse an operator unless the size is a number. Its type
  /// is known all the same, and builders yield it: the importer verifies what
  /// it has built of tensors whose sizes are known only at run time.
  void needKnown(const Dim &size, const llvm::Twine &why) {
    if (!size.known())
      unmet = why.str();
  }
  /// Refuses an axis that `x` does not have.
  llvm::LogicalResult axis(uint64_t axis, mlir::Value x) const;
  /// Refuses axes that `x` does not have, or that do not ascend.
  llvm::LogicalResult axes(llvm::ArrayRef<int64_t> axes, mlir::Value x) const;
  /// Refuses tensors of different element types; null is an absent operand.
  llvm::LogicalResult alike(mlir::ValueRange tensors) const;
  /// Refuses `x` unless it has this shape; null is an absent operand. Sizes that
  /// are known only at run time are refused as needKnown does.
  llvm::LogicalResult shape(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                            llvm::StringRef what);
  /// The same of sizes that may be known only at run time.
  llvm::LogicalResult shape(mlir::Value x, llvm::ArrayRef<Dim> sizes,
                            llvm::StringRef what) const;
  /// The rule of elementwise operators: operands broadcast, those in `alike`
  /// have one element type, and `element` is the one of the result.
  llvm::LogicalResult elementwise(mlir::ValueRange operands,
                                  mlir::ValueRange alike, mlir::Type element);

  /// The rule of operators that work along an axis and keep the shape.
  llvm::LogicalResult along(uint64_t axis, mlir::Value x);
  /// The rule of reductions: `axes` keep size 1.
  llvm::LogicalResult reduction(mlir::Value x, llvm::ArrayRef<int64_t> axes,
                                mlir::Type element);
  /// The rule of windows over x [N, spatial..., C]: `kernel`, strides,
  /// dilations and each of `pads` have an entry for each spatial axis. The
  /// result [N, stated..., channels] states its spatial sizes; it has the
  /// channels of `x` unless others are given.
  llvm::LogicalResult window(mlir::Value x, llvm::ArrayRef<Dim> kernel,
                             llvm::ArrayRef<int64_t> strides,
                             llvm::ArrayRef<int64_t> dilations,
                             llvm::ArrayRef<llvm::ArrayRef<int64_t>> pads,
                             mlir::Type element,
                             std::optional<Dim> channels = std::nullopt);
  llvm::LogicalResult window(mlir::Value x, llvm::ArrayRef<int64_t> kernel,
                             llvm::ArrayRef<int64_t> strides,
                             llvm::ArrayRef<int64_t> dilations,
                             llvm::ArrayRef<llvm::ArrayRef<int64_t>> pads,
                             mlir::Type element) {
    return window(x, Dims(kernel.begin(), kernel.end()), strides, dilations,
                  pads, element);
  }

  llvm::ArrayRef<mlir::Type> results() const { return types; }
  /// Compares the results with the stated ones.
  llvm::LogicalResult check() const;

private:
  mlir::RankedTensorType type(unsigned result) const {
    return mlir::cast<mlir::RankedTensorType>(statedTypes[result]);
  }

  llvm::StringRef name;
  std::optional<mlir::Location> loc;
  mlir::TypeRange statedTypes;
  llvm::SmallVector<mlir::Type, 4> types;
  /// Why the verifier refuses the operator whatever its types are; or empty.
  std::string unmet;
};

/// An operator whose type rule and definition hold for sizes that are known
/// only at run time.
template <typename OpT>
class RunTimeSizes : public mlir::OpTrait::TraitBase<OpT, RunTimeSizes> {};

/// Returns the sizes, known only at run time, of an operator's operands and results
/// and those that it has the values of, each once.
llvm::SmallVector<kernel::SymbolAttr> runTimeSizes(mlir::Operation *op);
inline bool hasRunTimeSizes(mlir::Operation *op) {
  return !runTimeSizes(op).empty();
}

/// Verifies an operator by its `inferTypes`.
template <typename OpT>
class TypedByRule : public mlir::OpTrait::TraitBase<OpT, TypedByRule> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    if (!OpT::template hasTrait<RunTimeSizes>() && hasRunTimeSizes(op))
      return op->emitOpError("needs sizes that are known when compiling");
    TypeRule rule(OpT::getOperationName(), op->getLoc(), op->getResultTypes());
    if (failed(
            OpT::inferTypes(typename OpT::Adaptor(mlir::cast<OpT>(op)), rule)))
      return llvm::failure();
    return rule.check();
  }
};

/// An operator whose `inferTypes` needs no stated results.
template <typename OpT>
class InfersTypes : public mlir::OpTrait::TraitBase<OpT, InfersTypes> {};

} // namespace ingot::graph

#endif // INGOT_GRAPH_TYPERULE_H
