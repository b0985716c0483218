// Verifiers of the kernel dialect's discardable attributes, which operations of
// any dialect can carry.

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/LoopAttributes.h"
#include "dialects/kernel/Notes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace ingot::kernel;

/// Checks an attribute of the kernel dialect on an argument or a result of the
/// function `op`.
static LogicalResult verifyValueAttribute(Operation *op, Type type,
                                          NamedAttribute attr) {
  StringRef name = attr.getName();
  auto refuse = [&](StringRef what) {
    return op->emitOpError()
           << "attribute '" << name << "' " << what << ", but is "
           << attr.getValue() << " on a value of type " << type;
  };
  if (name == kNameAttr || name == kOnnxNameAttr || name == kOnnxTypeAttr ||
      name == kStateAttr || name == kCommentAttr)
    return isa<StringAttr>(attr.getValue()) ? success()
                                            : refuse("must be a string");
  if (name == kReadAttr || name == kUnsignedAttr || name == kMayAliasAttr ||
      name == kOutputAttr || name == kClearedAttr || name == kAppendedAttr) {
    if (!isa<UnitAttr>(attr.getValue()))
      return refuse("has no value");
    return isa<ShapedType>(type) ? success() : refuse("is for buffers");
  }
  if (name == kAlignAttr) {
    auto bytes = dyn_cast<IntegerAttr>(attr.getValue());
    return bytes && isa<MemRefType>(type) &&
                   llvm::isPowerOf2_64(bytes.getValue().getZExtValue())
               ? success()
               : refuse("must be the power of two that a buffer is aligned to");
  }
  if (name == kSizesAttr) {
    auto sizes = dyn_cast<SizesAttr>(attr.getValue());
    auto shaped = dyn_cast<ShapedType>(type);
    int64_t elements = 1;
    for (const Dim &size : sizes ? dimsOf(sizes) : Dims())
      elements *= size.most();
    // A buffer may have more elements than the product of the maximum sizes:
    // the maximum of a product of dynamic sizes can be less than the product of
    // their maxima.
    return sizes && shaped && shaped.getNumElements() >= elements
               ? success()
               : refuse("must be the sizes of a buffer");
  }
  if (name == kBoundAttr) {
    auto bound = dyn_cast<DenseElementsAttr>(attr.getValue());
    auto shaped = dyn_cast<ShapedType>(type);
    return bound && shaped && bound.getType().getShape() == shaped.getShape()
               ? success()
               : refuse("must have the shape of what it is the value of");
  }
  if (name == kPartAttr) {
    auto part = dyn_cast<StringAttr>(attr.getValue());
    return part && llvm::is_contained(
                       {kElementsPart, kShapesPart, kPresentPart}, part)
               ? success()
               : refuse("must be `elements`, `shapes` or `present`");
  }
  if (name == kSlotsAttr) {
    auto slots = dyn_cast<DenseI64ArrayAttr>(attr.getValue());
    return slots && slots.size() == 2 && slots[0] >= 0 && slots[1] >= 0
               ? success()
               : refuse("must be two places");
  }
  if (name == kStreamAttr || name == kStreamedAttr) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attr.getValue());
    auto shaped = dyn_cast<ShapedType>(type);
    bool isRequest = name == kStreamAttr;
    return numbers && shaped && numbers.size() == (isRequest ? 2 : 5) &&
                   llvm::all_of(numbers.asArrayRef(),
                                [](int64_t x) { return x >= 0; }) &&
                   numbers[0] < shaped.getRank()
               ? success()
               : refuse(isRequest ? "must be an axis and a number of columns"
                                  : "must be an axis and four numbers");
  }
  if (name == kPhaseAttr) {
    auto phase = dyn_cast<IntegerAttr>(attr.getValue());
    return phase && phase.getInt() >= 0 ? success()
                                        : refuse("must be the place of a byte");
  }
  if (name == kElementAttr)
    return isa<SizesAttr>(attr.getValue()) ? success()
                                           : refuse("must be sizes");
  return refuse("is unknown on an argument or result");
}

LogicalResult KernelDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                      unsigned argument,
                                                      NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "has no arguments to describe";
  return verifyValueAttribute(op, function.getArgumentTypes()[argument], attr);
}

LogicalResult KernelDialect::verifyRegionResultAttribute(Operation *op,
                                                         unsigned,
                                                         unsigned result,
                                                         NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "has no results to describe";
  return verifyValueAttribute(op, function.getResultTypes()[result], attr);
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  if (attr.getName() == kMacsRecomputedAttr || attr.getName() == kVtcmLeastAttr)
    return isa<FunctionOpInterface>(op) && isa<IntegerAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << "attribute '" << attr.getName().getValue()
                                   << "' is an integer of programs";
  if (attr.getName() == kEqualSizesAttr) {
    auto sizes = dyn_cast<SizesAttr>(attr.getValue());
    return isa<FunctionOpInterface>(op) && sizes &&
                   sizes.getSizes().size() % 2 == 0
               ? success()
               : op->emitOpError() << "attribute '" << kEqualSizesAttr
                                   << "' is pairs of sizes of programs";
  }
  if (attr.getName() == kStateBytesAttr) {
    auto bytes = dyn_cast<IntegerAttr>(attr.getValue());
    return isa<ModuleOp>(op) && bytes && bytes.getInt() >= 0
               ? success()
               : op->emitOpError() << "attribute '" << kStateBytesAttr
                                   << "' is a number of bytes of modules";
  }
  if (attr.getName() == kCommentAttr)
    return isa<FunctionOpInterface, ModuleOp>(op) &&
                   isa<StringAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << "attribute '" << kCommentAttr
                                   << "' is a string of functions and modules";
  if (attr.getName() == kTargetAttr || attr.getName() == kModelAttr ||
      attr.getName() == kCommandAttr)
    return isa<ModuleOp>(op) && isa<StringAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << "attribute '" << attr.getName().getValue()
                                   << "' is a string of modules";
  if (attr.getName() == kNamesAttr) {
    auto names = dyn_cast<ArrayAttr>(attr.getValue());
    return names && llvm::all_of(names, llvm::IsaPred<StringAttr>)
               ? success()
               : op->emitOpError()
                     << "attribute '" << kNamesAttr << "' is a list of strings";
  }
  if (attr.getName() == kAcrossLanesAttr) {
    auto dot = dyn_cast<DotOp>(op);
    return dot && isa<UnitAttr>(attr.getValue()) && dot.getTypeOfA() == "si8" &&
                   dot.getTypeOfB() == "si8"
               ? success()
               : op->emitOpError() << "attribute '" << kAcrossLanesAttr
                                   << "' is for products of signed bytes";
  }
  if (attr.getName() == kOfPairsAttr) {
    auto dot = dyn_cast<DotOp>(op);
    return dot && isa<UnitAttr>(attr.getValue()) && dot.getLanes() == 4
               ? success()
               : op->emitOpError() << "attribute '" << kOfPairsAttr
                                   << "' is for products with four sums";
  }
  if (attr.getName() == kUpperHalfAttr) {
    auto dot = dyn_cast<DotOp>(op);
    return dot && isa<BoolAttr>(attr.getValue()) && dot.getGroup() == 2 &&
                   dot.getTypeOfA().substr(2) == "16"
               ? success()
               : op->emitOpError()
                     << "attribute '" << kUpperHalfAttr
                     << "' is for products of 16-bit integers with half as "
                        "many sums as lanes";
  }
  if (attr.getName() == kUnrolledAttr)
    return op->getName().getStringRef() == "scf.for" &&
                   isa<BoolAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << "attribute '" << kUnrolledAttr
                                   << "' says true or false of loops";
  if (attr.getName() == kUnrollCountAttr ||
      attr.getName() == kClangUnrollCountAttr) {
    auto count = dyn_cast<IntegerAttr>(attr.getValue());
    return op->getName().getStringRef() == "scf.for" && count &&
                   count.getType().isInteger(64) && count.getInt() > 1
               ? success()
               : op->emitOpError() << "attribute " << attr.getName()
                                   << " is a number above 1, of loops";
  }
  if (attr.getName() == kScalarAttr)
    return op->getName().getStringRef() == "scf.for" &&
                   isa<UnitAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << "attribute '" << kScalarAttr
                                   << "' is one of loops, without a value";
  if (attr.getName() == kSideBySideAttr)
    return op->getName().getStringRef() == "memref.load" &&
                   isa<UnitAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << "attribute '" << kSideBySideAttr
                                   << "' is one of loads, without a value";
  if (attr.getName() != kStrictAttr)
    return op->emitOpError()
           << "attribute '" << attr.getName().getValue() << "' is unknown";
  if (!isa<ModuleOp>(op) || !isa<UnitAttr>(attr.getValue()))
    return op->emitOpError() << "attribute '" << kStrictAttr
                             << "' is one of modules, without a value";
  return success();
}
