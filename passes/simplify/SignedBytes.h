// Quantized bytes with all that writes and reads them.
//
// Bytes get the other sign where they are quantized, with a zero point that is as far
// away; no result changes:
//
//   %q = quantize(x, s, 116: ui8)         %q = quantize(x, s, -12: si8)
//   dequantize(%q, s, 116: ui8)     ->    dequantize(%q, s, -12: si8)
//
// All that moves such bytes, or takes their maximum, goes along. They have one sign from
// their quantizations to their last readers, so all of these have to allow it.

#ifndef INGOT_PASSES_SIMPLIFY_SIGNEDBYTES_H
#define INGOT_PASSES_SIMPLIFY_SIGNEDBYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::simplify {

/// The one integer that all elements of a constant are, seen through reshapes.
std::optional<int64_t> oneNumberOf(mlir::Value constant);
/// A constant of one number, which may have more bits than its type.
mlir::Value numberAt(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Type type, int64_t value);

class SignedBytes {
public:
  /// All that has the sign of `first`. `allows` is asked for each reader but
  /// dequantizations: whether it can read the other sign.
  SignedBytes(mlir::Value first,
              llvm::function_ref<bool(mlir::OpOperand &)> allows);

  llvm::ArrayRef<mlir::Value> all() const { return values.getArrayRef(); }
  /// Whether all writers and readers allow the other sign.
  bool mayChange() const { return allAllow; }
  mlir::IntegerType other() const { return otherType; }
  /// Gives them the other sign; `change` is called for each reader but dequantizations.
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
