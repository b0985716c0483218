// Changes int8 tensors to uint8 or back, with all operations that use them.
//
// Quantized 8-bit integers get the other signedness, and their zero point moves
// by 128; no result of the network changes:
//
//   %q = quantize(x, s, 116: ui8)         %q = quantize(x, s, -12: si8)
//   dequantize(%q, s, 116: ui8)     ->    dequantize(%q, s, -12: si8)
//
// Operations that move such tensors, or take their maximum, change as well. A
// change is possible only if all quantizations that write such tensors, and all
// other operations that read them, allow it.

#ifndef INGOT_PASSES_SIMPLIFY_SIGNEDBYTES_H
#define INGOT_PASSES_SIMPLIFY_SIGNEDBYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::simplify {

/// Returns the integer that all elements of a constant equal; reshapes and
/// expansions may follow the constant. Returns nothing for other values.
std::optional<int64_t> oneNumberOf(mlir::Value constant);
/// Builds a scalar constant; `value` is truncated to the width of `type`.
mlir::Value numberAt(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Type type, int64_t value);

class SignedBytes {
public:
  /// Collects all values that must have the same signedness as `first`. Calls
  /// `allows` for each use of such a value by an operation that neither moves
  /// nor dequantizes it; `allows` tells whether the use accepts the other
  /// signedness.
  SignedBytes(mlir::Value first,
              llvm::function_ref<bool(mlir::OpOperand &)> allows);

  llvm::ArrayRef<mlir::Value> all() const { return values.getArrayRef(); }
  /// Whether all operations that write or read the values allow the change.
  bool mayChange() const { return allAllow; }
  mlir::IntegerType other() const { return otherType; }
  /// Changes the signedness of all collected values. Calls `change` for each
  /// use of a collected value by an operation that neither moves nor
  /// dequantizes the value.
  void change(llvm::function_ref<void(mlir::OpOperand &)> change);

private:
  bool addWriter(mlir::Value v);
  bool addReaders(mlir::Value v,
                  llvm::function_ref<bool(mlir::OpOperand &)> allows);

  mlir::IntegerType otherType;
  llvm::SetVector<mlir::Value> values;
  bool allAllow = true;
};

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_SIGNEDBYTES_H
