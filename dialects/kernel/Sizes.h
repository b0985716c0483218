// Sizes that are known only at run time.
//
// A `Dim` is the size of one axis: a number, or an expression of symbols, which
// have bounds. Shape rules compute with it; what they compute is part of the
// tensors' types.

#ifndef INGOT_DIALECTS_KERNEL_SIZES_H
#define INGOT_DIALECTS_KERNEL_SIZES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TensorEncoding.h"
#include <optional>

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.h.inc"

namespace ingot::kernel {

class Dim {
public:
  Dim(int64_t size = 0) : range{size, size} {}
  explicit Dim(SymbolAttr symbol);

  /// The size, if it is a number.
  std::optional<int64_t> known() const {
    return value ? std::nullopt : std::optional(range.most);
  }
  /// What the size is at least and at most.
  int64_t least() const { return range.least; }
  int64_t most() const { return range.most; }
  /// Symbols s0, s1, ... of `expression`, which is null for a number.
  llvm::ArrayRef<SymbolAttr> symbols() const { return used; }
  mlir::AffineExpr expression() const { return value; }

  /// Equal whatever the symbols are.
  friend bool operator==(const Dim &x, const Dim &y) {
    return x.value == y.value && x.used == y.used &&
           (x.value || x.range.most == y.range.most);
  }
  friend bool operator!=(const Dim &x, const Dim &y) { return !(x == y); }
  friend Dim operator+(const Dim &x, const Dim &y);
  friend Dim operator-(const Dim &x, const Dim &y);
  friend Dim operator*(const Dim &x, const Dim &y);
  Dim &operator+=(const Dim &y) { return *this = *this + y; }
  Dim &operator*=(const Dim &y) { return *this = *this * y; }
  /// Divided by a positive number, rounded down.
  Dim floorDiv(int64_t divisor) const;
  /// The size that times `divisor` is this one; empty where none is known to be.
  std::optional<Dim> dividedBy(const Dim &divisor) const;
  /// The largest number that is known to divide it; 0 divides by any.
  int64_t divisor() const;

  /// The size that it is where symbols are these sizes.
  Dim with(llvm::function_ref<Dim(SymbolAttr)> sizeOf) const;
  /// The number that it is where symbols have these values.
  int64_t at(llvm::function_ref<int64_t(SymbolAttr)> valueOf) const;

private:
  friend class Sizes;
  struct Range {
    int64_t least, most;
  };

  Dim(mlir::AffineExpr value, llvm::ArrayRef<SymbolAttr> symbols);
  static Range rangeOf(mlir::AffineExpr value,
                       llvm::ArrayRef<SymbolAttr> symbols);
  static Dim combine(const Dim &x, const Dim &y, mlir::AffineExprKind kind);

  mlir::AffineExpr value;
  llvm::SmallVector<SymbolAttr, 1> used;
  Range range;
};

using Dims = llvm::SmallVector<Dim>;

/// "batch * 4 + 1", with the names of the symbols; "28".
std::string sizeText(const Dim &size);

/// The sizes of a tensor of this type, numbers or not.
Dims dimsOf(mlir::RankedTensorType type);
/// Whether a tensor of these sizes has no gaps in memory that is planned for the
/// most: of the axes that are not 1, the first alone has a size at run time.
bool isCompact(llvm::ArrayRef<Dim> sizes);
/// The type of a tensor of these sizes.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<Dim> sizes, mlir::Type element);
/// These sizes as one attribute.
SizesAttr sizesAttr(llvm::ArrayRef<Dim> sizes, mlir::MLIRContext *context);
Dims dimsOf(SizesAttr sizes);
/// Refuses sizes that integers cannot be read as, since there are not as many.
llvm::LogicalResult verifyReadSizes(mlir::Operation *op, int64_t integers,
                                    SizesAttr sizes);
/// Refuses sizes that are no pairs.
llvm::LogicalResult verifyPairs(mlir::Operation *op, SizesAttr pairs);
inline bool hasRunTimeSizes(mlir::Type type) {
  return static_cast<bool>(SizesAttr::of(type));
}

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZES_H
