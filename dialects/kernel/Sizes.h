// Dynamic sizes.
//
// A `Dim` is the size of one axis: a constant, or an expression of symbols,
// which have bounds. Shape rules compute with it, and the computed sizes are
// part of the tensors' types.
//
// A query about sizes has three answers: yes, no, and unknown (`isEqual`,
// `isLess`, `Dim::is`). Unknown must not be taken for no: code that is wrong
// for a size of 1 asks whether the size is certainly not 1.

#ifndef INGOT_DIALECTS_KERNEL_SIZES_H
#define INGOT_DIALECTS_KERNEL_SIZES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TensorEncoding.h"
#include <optional>

namespace ingot::kernel {

/// The definition of a symbol by its operands x, y (and a, b): min(x, y),
/// max(x, y), x < y ? a : b, x == y ? a : b, x / y rounded down.
enum class SizeChoice { None, Smaller, Larger, IfLess, IfEqual, Quotient };

} // namespace ingot::kernel

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.h.inc"

namespace ingot::kernel {

class Dim {
public:
  Dim(int64_t size = 0) : range{size, size} {}
  explicit Dim(SymbolAttr symbol);

  /// The size, if it is a constant.
  std::optional<int64_t> known() const {
    return value ? std::nullopt : std::optional(range.most);
  }
  /// Lower and upper bound of the size.
  int64_t least() const { return range.least; }
  int64_t most() const { return range.most; }
  /// The symbols s0, s1, ... of `expression`, which is null for a constant.
  llvm::ArrayRef<SymbolAttr> symbols() const { return used; }
  mlir::AffineExpr expression() const { return value; }

  /// Returns the symbols of the expression that are given at run time,
  /// including those that define other symbols.
  llvm::SmallVector<SymbolAttr> given() const;

  /// Whether both are the same expression, and so equal for all values of the symbols.
  /// False does not imply that the sizes differ (there is no operator!=): see isEqual.
  friend bool operator==(const Dim &x, const Dim &y) {
    return x.value == y.value && x.used == y.used &&
           (x.value || x.range.most == y.range.most);
  }
  /// Whether the size equals the number; nothing if that depends on the
  /// symbols.
  std::optional<bool> is(int64_t number) const;
  /// Whether the size may equal the number.
  bool mayBe(int64_t number) const { return is(number).value_or(true); }
  friend Dim operator+(const Dim &x, const Dim &y);
  friend Dim operator-(const Dim &x, const Dim &y);
  friend Dim operator*(const Dim &x, const Dim &y);
  Dim &operator+=(const Dim &y) { return *this = *this + y; }
  Dim &operator*=(const Dim &y) { return *this = *this * y; }
  /// Divides by a positive number, rounding down.
  Dim floorDiv(int64_t divisor) const;
  /// Returns the exact quotient by `divisor`; empty if the size is not known to
  /// be a multiple.
  std::optional<Dim> dividedBy(const Dim &divisor) const;
  /// Returns the largest constant known to divide the size; 0 if the size is 0,
  /// which every number divides.
  int64_t divisor() const;

  /// Returns this size with sizeOf(symbol) in place of each symbol.
  Dim with(llvm::function_ref<Dim(SymbolAttr)> sizeOf) const;
  /// Evaluates the size for given values of the symbols.
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
  /// Substitutes a size for symbol `i`.
  Dim withSymbol(size_t i, const Dim &size) const;
  /// Narrows the range using the operands of the first symbol that is a choice.
  void narrowByChoices();

  mlir::AffineExpr value;
  llvm::SmallVector<SymbolAttr, 1> used;
  Range range;
};

using Dims = llvm::SmallVector<Dim>;

/// Whether x equals y, or x is less than y; nothing if the answer depends on
/// the symbols.
std::optional<bool> isEqual(const Dim &x, const Dim &y);
std::optional<bool> isLess(const Dim &x, const Dim &y);
/// Whether two sizes are not known to be equal.
inline bool mayDiffer(const Dim &x, const Dim &y) { return !(x == y); }
/// Whether two sizes are certainly different.
inline bool surelyDiffer(const Dim &x, const Dim &y) {
  return isEqual(x, y) == false;
}

/// The minimum and the maximum of two sizes.
Dim smallerOf(const Dim &x, const Dim &y);
Dim largerOf(const Dim &x, const Dim &y);
/// `a` if x < y (x == y), otherwise `b`.
Dim ifLess(const Dim &x, const Dim &y, const Dim &a, const Dim &b);
Dim ifEqual(const Dim &x, const Dim &y, const Dim &a, const Dim &b);
/// x / y rounded down; y must be positive at run time.
Dim floorDiv(const Dim &x, const Dim &y);
/// The size that `choice` selects from `operands`.
Dim chosen(SizeChoice choice, llvm::ArrayRef<Dim> operands);

/// Prints a size with the names of its symbols: "batch * 4 + 1", "28".
std::string sizeText(const Dim &size);

/// Returns the sizes of a tensor of this type, constant or dynamic.
Dims dimsOf(mlir::RankedTensorType type);
/// Whether a tensor of these sizes is contiguous in memory that is laid out for
/// the maximum sizes: of the axes whose size is not 1, only the first may be
/// dynamic.
bool isCompact(llvm::ArrayRef<Dim> sizes);
/// Returns the type of a tensor of these sizes.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<Dim> sizes, mlir::Type element);
/// Returns these sizes as one attribute.
SizesAttr sizesAttr(llvm::ArrayRef<Dim> sizes, mlir::MLIRContext *context);
Dims dimsOf(SizesAttr sizes);
/// Rejects `op` unless `sizes` has one size for each of the `integers` integers
/// that `op` reads.
llvm::LogicalResult verifyReadSizes(mlir::Operation *op, int64_t integers,
                                    SizesAttr sizes);
/// Rejects an odd number of sizes.
llvm::LogicalResult verifyPairs(mlir::Operation *op, SizesAttr pairs);
inline bool hasDynamicSizes(mlir::Type type) {
  return static_cast<bool>(SizesAttr::of(type));
}

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZES_H
