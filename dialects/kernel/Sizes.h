// Dynamic sizes.
//
// A `Dim` is the size of one axis: a constant, or an expression of symbols,
// which have bounds. Shape rules compute with it, and the computed sizes are
// stored in the types of tensors.
//
// A comparison of sizes has three results: yes, no, and unknown (`isEqual`,
// `isLess`, `Dim::is`). Unknown must not be treated like no: code that is wrong
// for a size of 1 has to check that the size is certainly not 1.

#ifndef INGOT_DIALECTS_KERNEL_SIZES_H
#define INGOT_DIALECTS_KERNEL_SIZES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TensorEncoding.h"
#include <optional>

namespace ingot::kernel {

/// How a symbol is computed from its operands x, y (and a, b). In order: not at
/// all (it is given at run time); min(x, y); max(x, y); x < y ? a : b; x == y ?
/// a : b; x / y rounded down.
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
  /// The symbols that `expression` refers to as s0, s1, ...; `expression` is
  /// null for a constant size.
  llvm::ArrayRef<SymbolAttr> symbols() const { return used; }
  mlir::AffineExpr expression() const { return value; }

  /// Returns the symbols given at run time on which the size depends, including
  /// those from which other symbols are computed.
  llvm::SmallVector<SymbolAttr> given() const;

  /// Whether both are the same expression, so that the sizes are equal for all
  /// values of the symbols. If this is false, the sizes may still be equal (so
  /// there is no operator!=): see isEqual.
  friend bool operator==(const Dim &x, const Dim &y) {
    return x.value == y.value && x.used == y.used &&
           (x.value || x.range.most == y.range.most);
  }
  /// Whether the size equals the number; nullopt if that depends on the values
  /// of the symbols.
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
  /// Returns the exact quotient by `divisor`; nullopt if the size is not known
  /// to be a multiple.
  std::optional<Dim> dividedBy(const Dim &divisor) const;
  /// Returns the largest constant that is known to divide the size; 0 if the
  /// size is 0.
  int64_t divisor() const;

  /// Returns this size with sizeOf(symbol) in place of each symbol that is
  /// given at run time, also within symbols that are computed from other sizes.
  Dim with(llvm::function_ref<Dim(SymbolAttr)> sizeOf) const;
  /// Evaluates the size. `valueOf` returns the value of a symbol that is given
  /// at run time.
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
  /// Returns this size with `size` in place of symbol `i`.
  Dim withSymbol(size_t i, const Dim &size) const;
  /// Narrows `range` if a symbol is a choice between two sizes, such as min(n,
  /// m): substitutes each of the two sizes for the symbol, and limits `range`
  /// to the union of the ranges of the two resulting expressions.
  void narrowByChoices();

  mlir::AffineExpr value;
  llvm::SmallVector<SymbolAttr, 1> used;
  Range range;
};

using Dims = llvm::SmallVector<Dim>;

/// Whether x equals y, and whether x is less than y; nullopt if that depends on
/// the values of the symbols.
std::optional<bool> isEqual(const Dim &x, const Dim &y);
std::optional<bool> isLess(const Dim &x, const Dim &y);
/// Whether two sizes are not known to be equal.
inline bool mayDiffer(const Dim &x, const Dim &y) { return !(x == y); }
/// Whether two sizes are certainly different.
inline bool surelyDiffer(const Dim &x, const Dim &y) {
  return isEqual(x, y) == false;
}

/// Return the minimum and the maximum of two sizes.
Dim smallerOf(const Dim &x, const Dim &y);
Dim largerOf(const Dim &x, const Dim &y);
/// Return `a` if x < y (or x == y), otherwise `b`.
Dim ifLess(const Dim &x, const Dim &y, const Dim &a, const Dim &b);
Dim ifEqual(const Dim &x, const Dim &y, const Dim &a, const Dim &b);
/// Returns x / y rounded down; y must be positive at run time.
Dim floorDiv(const Dim &x, const Dim &y);
/// Returns the size that `choice` (other than None) computes from `operands`.
Dim chosen(SizeChoice choice, llvm::ArrayRef<Dim> operands);

/// Returns a size as text, with the names of its symbols: "batch * 4 + 1",
/// "28".
std::string sizeText(const Dim &size);

/// Returns the sizes of a tensor of this type, constant or dynamic.
Dims dimsOf(mlir::RankedTensorType type);
/// Whether a tensor of these sizes is contiguous, although memory is laid out
/// for the maximum sizes. This is the case if among the axes whose size is not
/// 1, only the first may be dynamic.
bool isCompact(llvm::ArrayRef<Dim> sizes);
/// Returns the type of a tensor of these sizes.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<Dim> sizes, mlir::Type element);
/// Returns these sizes as one attribute.
SizesAttr sizesAttr(llvm::ArrayRef<Dim> sizes, mlir::MLIRContext *context);
Dims dimsOf(SizesAttr sizes);
/// Verifies an operation that reads `sizes` from a buffer of integers: rejects
/// `op` unless the buffer has one integer for each size.
llvm::LogicalResult verifyReadSizes(mlir::Operation *op, int64_t integers,
                                    SizesAttr sizes);
/// Rejects `op` if `pairs`, a flat list of pairs of sizes, has an odd length.
llvm::LogicalResult verifyPairs(mlir::Operation *op, SizesAttr pairs);
inline bool hasDynamicSizes(mlir::Type type) {
  return static_cast<bool>(SizesAttr::of(type));
}

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZES_H
