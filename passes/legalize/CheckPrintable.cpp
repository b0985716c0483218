// Checks that the printer can print every operation
// (codegen/kernel/Printable.def) with its types; after this pass printing
// cannot fail. A failure is an internal error: unsupported models have been
// diagnosed long before.

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/TileRegisters.h"
#include "dialects/kernel/Warpgroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/legalize/Passes.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_CHECKPRINTABLE
#include "passes/legalize/Passes.h.inc"

/// Returns the reason why `type` cannot be written in C; null if it can.
static const char *refusal(Type type) {
  if (isa<kernel::CursorType, kernel::StringType>(type))
    return nullptr;
  if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    // No element of an empty buffer is ever accessed, so its strides do not
    // matter.
    if (memref.hasStaticShape() && memref.getNumElements() == 0)
      return refusal(memref.getElementType());
    if (failed(memref.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamicShape(strides) || ShapedType::isDynamic(offset))
      return "is a buffer whose strides are not constant";
    return refusal(memref.getElementType());
  }
  Type element = elementOf(type);
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.isScalable() || vector.getRank() > 1)
      return "is not a vector of one constant dimension";
    if (!llvm::isPowerOf2_64(vector.getNumElements()))
      return "is a vector whose lanes are not a power of two";
    if (element.isIndex() && isVector(type))
      return "is a vector of index";
  }
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    if (!integer.isSignless())
      return "has a sign, which operations carry at this level";
    if (width > 8 && width != 16 && width != 32 && width != 64)
      return "has a width that C lacks";
    return nullptr;
  }
  if (auto number = dyn_cast<FloatType>(element))
    return number.getWidth() <= 64 ? nullptr : "is wider than double";
  return element.isIndex() ? nullptr : "is no number";
}

/// Returns the reason why C cannot compute `op` with its operand and result
/// types; null if it can. Constants of floats that are stored as bits (f16 and
/// narrower) are allowed, but not computations with them.
static const char *refusalOfUse(Operation *op,
                                const TargetDescription &target) {
  if (isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp>(op) ||
      op->getName().getDialectNamespace() != "arith")
    return nullptr;
  auto isSmall = [](Type type) { return isBitsFloat(elementOf(type)); };
  if (!isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) &&
      (llvm::any_of(op->getOperandTypes(), isPartOfByte) ||
       llvm::any_of(op->getResultTypes(), isPartOfByte)))
    return "computes with a type that is part of a byte";
  if (llvm::any_of(op->getOperandTypes(), isSmall) ||
      llvm::any_of(op->getResultTypes(), isSmall))
    return "computes with a type that is kept as bits";
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    if (compare.getPredicate() == arith::CmpFPredicate::AlwaysTrue ||
        compare.getPredicate() == arith::CmpFPredicate::AlwaysFalse)
      return "is a constant";
  return nullptr;
}

namespace {

/// Rejects operations that the printer cannot print for the target.
class PrintableCheck {
public:
  PrintableCheck(MLIRContext *context, const TargetDescription &target)
      : target(target) {
#define INGOT_PRINTS(OP)                                                       \
  known.insert(OperationName(OP::getOperationName(), context));
#include "codegen/kernel/Printable.def"
  }

  LogicalResult check(Operation *op) {
    std::string why = refusal(op);
    if (why.empty() || isIntrinsic(op))
      return success();
    return op->emitOpError(why);
  }

private:
  /// Whether the target's intrinsics table has an entry for the operation
  /// `name`. This is for operations with one entry for all types.
  bool isIntrinsic(StringRef name) const {
    return target.intrinsic(name, Type(), Type());
  }

  /// Whether the target's intrinsics table has an entry for the operation.
  bool isIntrinsic(Operation *op) const {
    if (auto dot = dyn_cast<kernel::DotOp>(op))
      return target.intrinsic(kernel::intrinsicName(dot), dot.getA().getType(),
                              dot.getType()) ||
             target.product(dot.getTypeOfA(), dot.getTypeOfB(), dot.getGroup(),
                            dot.getLanes());
    if (auto bits = dyn_cast<kernel::LowBitsOp>(op))
      return target.intrinsic(bits.getIntrinsicName(), bits.getX().getType(),
                              bits.getType());
    if (auto pair = dyn_cast<kernel::RoundPairOp>(op))
      return target.intrinsic(pair.getIntrinsicName(), pair.getLow().getType(),
                              pair.getType());
    if (isa<kernel::CopyAheadOp, kernel::CloseCopiesOp, kernel::AwaitCopiesOp,
            kernel::AwaitInputsOp, kernel::CountOp, kernel::ShapeTilesOp,
            kernel::ReleaseTilesOp, kernel::ClearTileOp, kernel::LoadTileOp,
            kernel::StoreTileOp>(op))
      return isIntrinsic(op->getName().getStringRef());
    if (auto product = dyn_cast<kernel::MultiplyTilesOp>(op))
      return isIntrinsic(product.getIntrinsicName());
    if (std::string name = kernel::warpgroupIntrinsic(op); !name.empty())
      return isIntrinsic(name);
    Type from = op->getNumOperands() ? op->getOperand(0).getType() : Type(),
         to = op->getNumResults() ? op->getResult(0).getType() : Type();
    if (auto load = dyn_cast<kernel::LoadMatricesOp>(op))
      return isIntrinsic(load.getIntrinsicName());
    if (auto store = dyn_cast<kernel::StoreVectorOp>(op))
      return isIntrinsic(store.getIntrinsicName());
    if (auto product = dyn_cast<kernel::WarpProductOp>(op))
      return isIntrinsic(product.getIntrinsicName());
    // Kernels use only the x axis of blocks and threads.
    auto axis = op->getAttrOfType<gpu::DimensionAttr>("dimension");
    return (!axis || axis.getValue() == gpu::Dimension::x) &&
           (to || isa<gpu::BarrierOp>(op)) &&
           target.intrinsic(op->getName().getStringRef(), from, to);
  }

  /// Returns the reason why `op` cannot be written in C; empty if it can.
  std::string refusal(Operation *op) {
    if (!known.contains(op->getName()))
      return ("has no spelling in C for target " + target.name).str();
    if (const char *why = refusalOfUse(op, target))
      return why;
    if (auto load = dyn_cast<kernel::LoadNextOp>(op);
        load && load.getNumResults() > 1 &&
        (!target.loadOfSeveral(load.getResult(0).getType(),
                               load.getNumResults()) ||
         load.getFirst().value_or(0) + load.getNumResults() >
             std::max<uint64_t>(target.loadRegisterCount,
                                load.getFirst() ? 0 : load.getNumResults())))
      return ("loads more at once than target " + target.name + " can").str();
    if (isa<func::CallOp>(op) && op->getNumResults() > 1)
      return "returns more than one value";
    const TileRegisters &tiles = target.tiles;
    if (auto shapes = dyn_cast<kernel::ShapeTilesOp>(op);
        shapes && (shapes.getRows().size() > tiles.count ||
                   *llvm::max_element(shapes.getRows()) > tiles.rows ||
                   *llvm::max_element(shapes.getBytes()) > tiles.bytes))
      return ("shapes tiles that target " + target.name + " does not have")
          .str();
    std::string why;
    auto note = [&](Type type) {
      const char *reason = why.empty() ? refusalOf(type) : nullptr;
      if (reason)
        llvm::raw_string_ostream(why)
            << "has a type that does not print: " << type << ' ' << reason;
    };
    llvm::for_each(op->getOperandTypes(), note);
    llvm::for_each(op->getResultTypes(), note);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArgumentTypes(), note);
    return why;
  }

  /// Returns the result of ingot::legalize::refusal, cached per type.
  const char *refusalOf(Type type) {
    auto [known, isNew] = types.try_emplace(type, nullptr);
    if (isNew)
      known->second = legalize::refusal(type);
    return known->second;
  }

  const TargetDescription &target;
  llvm::DenseSet<OperationName> known;
  llvm::DenseMap<Type, const char *> types;
};

} // namespace

/// Checks that no launch writes to a weight or an input.
static LogicalResult checkProgram(kernel::ProgramOp program, ModuleOp module,
                                  const SymbolTable &symbols) {
  bool valid = true;
  for (auto launch : program.getOps<kernel::LaunchOp>()) {
    auto callee = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    for (auto [index, operand] : llvm::enumerate(launch.getOperands())) {
      Value root = kernel::bufferRoot(operand);
      auto argument = dyn_cast<BlockArgument>(root);
      bool isConst = root.getDefiningOp<memref::GetGlobalOp>() ||
                     (argument && !program.getArgAttr(argument.getArgNumber(),
                                                      kernel::kOutputAttr));
      if (isConst && !callee.getArgAttr(index, kernel::kReadAttr)) {
        launch.emitOpError("writes to operand ")
            << index << ", which is constant";
        valid = false;
      }
    }
  }
  return success(valid);
}

namespace {
struct CheckPrintablePass : impl::CheckPrintableBase<CheckPrintablePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!kernel::mainProgram(module)) {
      module.emitError("has no program to run");
      return signalPassFailure();
    }
    PrintableCheck printable(&getContext(), *lookupTarget(targetName));
    SymbolTable symbols(module);
    bool valid = true;
    for (Operation &op : module.getOps()) {
      if (auto program = dyn_cast<kernel::ProgramOp>(op))
        valid &= succeeded(checkProgram(program, module, symbols));
      else if (auto function = dyn_cast<FunctionOpInterface>(op))
        function.getFunctionBody().walk([&](Operation *inside) {
          valid &= succeeded(printable.check(inside));
        });
      else if (auto global = dyn_cast<memref::GlobalOp>(op);
               global && !kernel::forEachChunk(global, [](ArrayRef<char>) {})) {
        global.emitError("the constant has no value");
        valid = false;
      }
    }
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace ingot::legalize
