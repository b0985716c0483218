// Replaces the shapes of a kernel's buffers by explicit index arithmetic.
//
//   func @k(%x: memref<6x8xf32>) {              func @k(%x: memref<?xf32>) {
//     %v = memref.load %x[%i, %j]        ->       %at = %i * 8 + %j
//                                                 %v = memref.load %x[%at]
//
// Each access has its own arithmetic, each stride is a separate constant named
// after its buffer, and neither `* 1` nor `+ 0` is omitted. Kernels for two
// shapes then differ only in constants, whatever their strides are. Local
// buffers and constant tables of a kernel are unchanged.

#include "passes/plan/share/FlattenBuffers.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ValueNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot::kernel;

namespace ingot::plan {
namespace {

/// The strides and the offset of a buffer, counted in elements from the
/// beginning of the kernel argument `root` of which it is a view.
struct Layout {
  Value root;
  SmallVector<int64_t> strides;
  int64_t offset = 0;

  /// Computes the layout of `buffer`. Returns nothing if the layout is not
  /// static, the buffer has no elements, views change the element type, or the
  /// buffer does not begin at an element of `root`.
  static std::optional<Layout> of(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    Layout layout{buffer, {}, 0};
    if (type.getNumElements() == 0 ||
        failed(type.getStridesAndOffset(layout.strides, layout.offset)))
      return std::nullopt;
    int64_t bytes = 0, size = elementBytes(type.getElementType());
    while (auto view = layout.root.getDefiningOp<ViewOp>()) {
      bytes += static_cast<int64_t>(view.getOffset());
      layout.root = view.getSource();
    }
    if (cast<MemRefType>(layout.root.getType()).getElementType() !=
            type.getElementType() ||
        bytes % size != 0)
      return std::nullopt;
    layout.offset += bytes / size;
    return layout;
  }
};

class Flattening {
public:
  explicit Flattening(kernel::FuncOp kernel) : kernel(kernel) {}

  bool run() {
    SmallVector<Operation *> accesses, views;
    kernel.walk([&](Operation *op) {
      if (isa<ViewOp>(op))
        views.push_back(op);
      else if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
        accesses.push_back(op);
    });
    if (!llvm::all_of(accesses, [&](Operation *op) { return flatten(op); }))
      return false;
    for (Operation *view : llvm::reverse(views))
      if (view->use_empty())
        view->erase();
    Block &entry = kernel.getBody().front();
    for (BlockArgument argument : entry.getArguments())
      if (auto type = dyn_cast<MemRefType>(argument.getType()))
        argument.setType(
            MemRefType::get({ShapedType::kDynamic}, type.getElementType()));
    kernel.setFunctionType(
        FunctionType::get(kernel.getContext(), entry.getArgumentTypes(), {}));
    return true;
  }

private:
  bool flatten(Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return flatten(op, load.getMemrefMutable(), load.getIndicesMutable());
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return flatten(op, store.getMemrefMutable(), store.getIndicesMutable());
    if (auto load = dyn_cast<vector::LoadOp>(op))
      return flatten(op, load.getBaseMutable(), load.getIndicesMutable());
    if (auto store = dyn_cast<vector::StoreOp>(op))
      return flatten(op, store.getBaseMutable(), store.getIndicesMutable());
    if (auto cursor = dyn_cast<CursorOp>(op))
      return flatten(op, cursor.getSourceMutable(),
                     cursor.getIndicesMutable()) &&
             flattenOtherwise(cursor);
    return false;
  }

  bool flatten(Operation *op, OpOperand &buffer, MutableOperandRange indices) {
    std::optional<Layout> layout = Layout::of(buffer.get());
    if (!layout)
      return false;
    auto argument = dyn_cast<BlockArgument>(layout->root);
    if (!argument)
      return true;
    OpBuilder b(op);
    int64_t offset = layout->offset;
    Value at;
    // The access keeps its name; the index arithmetic gets its own names.
    Location loc = unnamed(op->getLoc()),
             strideLoc = named(loc, nameOf(argument) + "_stride"),
             offsetLoc = named(loc, nameOf(argument) + "_offset");
    for (auto [use, stride] : llvm::zip_equal(indices, layout->strides)) {
      APInt constant;
      if (matchPattern(use.get(), m_ConstantInt(&constant))) {
        offset += constant.getSExtValue() * stride;
        continue;
      }
      StringRef index = kernel::nameOf(use.get());
      Value term = arith::MulIOp::create(
          b, index.empty() ? offsetLoc : named(loc, index + "_offset"),
          use.get(), arith::ConstantIndexOp::create(b, strideLoc, stride));
      at = at ? arith::AddIOp::create(b, offsetLoc, at, term) : term;
    }
    Value rest = arith::ConstantIndexOp::create(b, loc, offset);
    at = at ? arith::AddIOp::create(b, offsetLoc, at, rest) : rest;
    buffer.set(argument);
    indices.assign(at);
    return true;
  }

  /// A cursor reads another buffer (`otherwise`) if its condition is false.
  /// Replaces that buffer, if there is one, by the kernel argument of which it
  /// is a view. Returns false if its layout is not static, or if it does not
  /// begin at the beginning of the argument.
  static bool flattenOtherwise(CursorOp cursor) {
    if (!cursor.getOtherwise())
      return true;
    std::optional<Layout> layout = Layout::of(cursor.getOtherwise());
    if (!layout || layout->offset != 0)
      return false;
    if (isa<BlockArgument>(layout->root))
      cursor.getOtherwiseMutable().assign(layout->root);
    return true;
  }

  std::string nameOf(BlockArgument argument) {
    auto name =
        kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    return name ? name.str() : "buffer";
  }

  kernel::FuncOp kernel;
};

} // namespace

bool flattenBuffers(kernel::FuncOp kernel) { return Flattening(kernel).run(); }

} // namespace ingot::plan
