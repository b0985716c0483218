// TypeRule, with which each operator's `inferTypes` states the types of its
// operands and results:
//
//   LogicalResult SoftmaxOp::inferTypes(Adaptor op, TypeRule &rule) {
//     if (failed(rule.axis(op.getAxis(), op.getInput())))
//       return failure();
//     return rule.result(op.getInput());
//   }
//
// One function serves the verifier, which compares the inferred types with
// those of the operator, and the builders that take no result types. If
// operands do not determine the shape of a result, such as that of a reshape,
// the function gets it from `stated`; the builder then takes the type as an
// argument.

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
/// Returns the static sizes of a tensor. For dynamic sizes these are the
/// maxima, which also determine the strides in memory.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value v) {
  return tensorType(v).getShape();
}
/// Returns the sizes of a tensor, including dynamic ones.
inline Dims dimsOf(mlir::Value v) { return dimsOf(tensorType(v)); }
inline mlir::Type elementOf(mlir::Value v) {
  return tensorType(v).getElementType();
}

class TypeRule {
public:
  /// Creates the rule of the operator with the given name. `stated` are the
  /// result types that an existing operator has or that its builder is given.
  /// Without a location, errors are not reported.
  TypeRule(llvm::StringRef name, std::optional<mlir::Location> loc,
           mlir::TypeRange stated = {})
      : name(name), loc(loc), statedTypes(stated) {}

  /// Returns the shape of a result as stated by the operator or its builder.
  llvm::ArrayRef<int64_t> stated(unsigned result = 0) const {
    return type(result).getShape();
  }
  Dims statedDims(unsigned result = 0) const { return dimsOf(type(result)); }
  mlir::Type statedElement(unsigned result = 0) const {
    return type(result).getElementType();
  }

  /// Returns the number of results that the operator or its builder states.
  size_t statedCount() const { return statedTypes.size(); }

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

  /// Reports an error about operands or attributes; returns failure.
  llvm::LogicalResult refuse(const llvm::Twine &why) const;
  llvm::LogicalResult require(bool holds, const llvm::Twine &why) const {
    return holds ? llvm::success() : refuse(why);
  }
  /// Makes the verifier reject the operator unless `size` is constant. Does not
  /// fail the inference of types, so that builders work: the importer builds
  /// operators on dynamic sizes first and verifies them itself.
  void needKnown(const Dim &size, const llvm::Twine &why) {
    if (!size.known())
      unmet = why.str();
  }
  /// Fails unless `x` has the axis `axis`.
  llvm::LogicalResult axis(uint64_t axis, mlir::Value x) const;
  /// Fails unless `x` has all of `axes` and they are ascending.
  llvm::LogicalResult axes(llvm::ArrayRef<int64_t> axes, mlir::Value x) const;
  /// Fails unless all tensors have the same element type. Null stands for an
  /// absent operand and is ignored.
  llvm::LogicalResult alike(mlir::ValueRange tensors) const;
  /// Fails unless `x` has this shape; an absent operand (null) has any shape.
  /// If a size of `x` is dynamic, the verifier rejects the operator (see
  /// needKnown). `what` names the operand in errors.
  llvm::LogicalResult shape(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                            llvm::StringRef what);
  /// Fails unless `x` has these sizes, which may be dynamic; succeeds if `x` is
  /// null (an absent operand).
  llvm::LogicalResult shape(mlir::Value x, llvm::ArrayRef<Dim> sizes,
                            llvm::StringRef what) const;
  /// The rule of elementwise operators: `operands` broadcast to the shape of
  /// the result, those in `alike` have the same element type, and the element
  /// type of the result is `element`.
  llvm::LogicalResult elementwise(mlir::ValueRange operands,
                                  mlir::ValueRange alike, mlir::Type element);

  /// The rule of operators that process each row along one axis; the result has
  /// the type of `x`.
  llvm::LogicalResult along(uint64_t axis, mlir::Value x);
  /// The rule of reductions: in the result, each of `axes` has size 1.
  llvm::LogicalResult reduction(mlir::Value x, llvm::ArrayRef<int64_t> axes,
                                mlir::Type element);
  /// The type rule of window operators (convolutions and pools) on x [N,
  /// spatial..., C]. `kernel`, strides, dilations and each of `pads` have an
  /// entry for each spatial axis. The result is [N, spatial..., channels]: its
  /// spatial sizes are the stated ones; `channels` defaults to the channels of
  /// `x`.
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
  /// Fails if an inferred result type differs from the stated one, or if
  /// needKnown or `shape` met a dynamic size that must be constant.
  llvm::LogicalResult check() const;

private:
  mlir::RankedTensorType type(unsigned result) const {
    return mlir::cast<mlir::RankedTensorType>(statedTypes[result]);
  }

  llvm::StringRef name;
  std::optional<mlir::Location> loc;
  mlir::TypeRange statedTypes;
  llvm::SmallVector<mlir::Type, 4> types;
  /// The reason for which the verifier rejects the operator even if its types
  /// match; empty if there is none.
  std::string unmet;
};

/// An operator whose type rule and definition (the code that computes its
/// elements) support dynamic sizes.
template <typename OpT>
class DynamicSizes : public mlir::OpTrait::TraitBase<OpT, DynamicSizes> {};

/// An operator whose result is stored in the memory of its first operand.
template <typename OpT>
class InPlace : public mlir::OpTrait::TraitBase<OpT, InPlace> {};

/// Returns the symbols of dynamic sizes in the types of an operator's operands
/// and results and in its attributes, each symbol once.
llvm::SmallVector<kernel::SymbolAttr> dynamicSizes(mlir::Operation *op);
inline bool hasDynamicSizes(mlir::Operation *op) {
  return !dynamicSizes(op).empty();
}

/// Verifies an operator by its `inferTypes`.
template <typename OpT>
class TypedByRule : public mlir::OpTrait::TraitBase<OpT, TypedByRule> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    if (!OpT::template hasTrait<DynamicSizes>() && hasDynamicSizes(op))
      return op->emitOpError("needs sizes that are known when compiling");
    TypeRule rule(OpT::getOperationName(), op->getLoc(), op->getResultTypes());
    if (failed(
            OpT::inferTypes(typename OpT::Adaptor(mlir::cast<OpT>(op)), rule)))
      return llvm::failure();
    return rule.check();
  }
};

/// Marks operators whose `inferTypes` derives all result types from operands
/// and attributes.
template <typename OpT>
class InfersTypes : public mlir::OpTrait::TraitBase<OpT, InfersTypes> {};

} // namespace ingot::graph

#endif // INGOT_GRAPH_TYPERULE_H
