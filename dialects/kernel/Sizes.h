// Sizes that are known only at run time.
//
// A `Dim` is the size of one axis: a number, or an expression of symbols, which
// have bounds. Shape rules compute with it; what they compute is part of the
// tensors' types.
//
// A question about sizes has three answers: yes, no, and unknown (`isEqual`, `isLess`,
// `Dim::is`). Unknown is never no: code that must not go wrong where a size may be 1
// asks whether it is surely not 1.

#ifndef INGOT_DIALECTS_KERNEL_SIZES_H
#define INGOT_DIALECTS_KERNEL_SIZES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TensorEncoding.h"
#include <optional>

namespace ingot::kernel {

/// How a symbol follows from its operands x, y (and a, b): the smaller, the larger,
/// x < y ? a : b, x == y ? a : b, x / y rounded down.
enum class SizeChoice { None, Smaller, Larger, IfLess, IfEqual, Quotient };

} // namespace ingot::kernel

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

  /// The symbols of the expression that are given to the run, also those that other
  /// symbols follow from.
  llvm::SmallVector<SymbolAttr> given() const;

  /// Whether both are the same expression: equal whatever the symbols are. That they
  /// are not does not say that the sizes differ (there is no operator!=): see isEqual.
  friend bool operator==(const Dim &x, const Dim &y) {
    return x.value == y.value && x.used == y.used &&
           (x.value || x.range.most == y.range.most);
  }
  /// Whether the size is a number; none where that depends on the run.
  std::optional<bool> is(int64_t number) const;
  /// Whether the size is the number in some run.
  bool mayBe(int64_t number) const { return is(number).value_or(true); }
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
  friend Dim chosen(SizeChoice choice, llvm::ArrayRef<Dim> operands);
  struct Range {
    int64_t least, most;
  };

  Dim(mlir::AffineExpr value, llvm::ArrayRef<SymbolAttr> symbols);
  static Range rangeOf(mlir::AffineExpr value,
                       llvm::ArrayRef<SymbolAttr> symbols);
  static Dim combine(const Dim &x, const Dim &y, mlir::AffineExprKind kind);
  /// The size with another one in the place of symbol `i`.
  Dim withSymbol(size_t i, const Dim &size) const;
  /// Narrows the range by what the first symbol that is a choice is chosen of.
  void narrowByChoices();

  mlir::AffineExpr value;
  llvm::SmallVector<SymbolAttr, 1> used;
  Range range;
};

using Dims = llvm::SmallVector<Dim>;

/// Whether two sizes are equal, and whether one is less; none where that depends on the
/// run.
std::optional<bool> isEqual(const Dim &x, const Dim &y);
std::optional<bool> isLess(const Dim &x, const Dim &y);
/// Whether nothing shows that two sizes are equal.
inline bool mayDiffer(const Dim &x, const Dim &y) { return !(x == y); }
/// Whether two sizes are equal in no run.
inline bool surelyDiffer(const Dim &x, const Dim &y) {
  return isEqual(x, y) == false;
}

/// The smaller and the larger of two sizes.
Dim smallerOf(const Dim &x, const Dim &y);
Dim largerOf(const Dim &x, const Dim &y);
/// `a` where x < y (x == y), else `b`.
Dim ifLess(const Dim &x, const Dim &y, const Dim &a, const Dim &b);
Dim ifEqual(const Dim &x, const Dim &y, const Dim &a, const Dim &b);
/// x / y rounded down; y is positive in each run.
Dim floorDiv(const Dim &x, const Dim &y);
/// The size that a choice of these operands is.
Dim chosen(SizeChoice choice, llvm::ArrayRef<Dim> operands);

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
