//===- PlanMemory.cpp - every tensor gets a place -------------------------===//
//
// Rewrites @main from tensors to buffers: function results become trailing
// arguments, constants become globals, reshapes become views, and every other
// tensor gets an offset in the arena such that tensors alive at the same time
// do not overlap. A result takes over its operand's bytes where the kernel
// allows it and the operand is read for the last time.
//
//   %1 = kernel.launch @conv(%x, %w) : (tensor, tensor) -> tensor
//   return %2
//     ->
//   %a = kernel.arena 0 : memref<...>
//   kernel.launch @conv(%x, %w, %a)
//
// The module gets ingot.arena_bytes, ingot.arena_align and
// ingot.arena_lower_bound (the largest sum of bytes alive at one launch).
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/memory/ArenaOffsets.h"
#include "passes/memory/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::memory {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/memory/Passes.h.inc"

namespace {

int64_t bytesOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.getNumElements() *
         llvm::divideCeil(
             storageType(shaped.getElementType()).getIntOrFloatBitWidth(), 8);
}

class Planner {
public:
  Planner(ModuleOp module, func::FuncOp main, int64_t alignment)
      : module(module), main(main), alignment(alignment) {}

  void run() {
    findBuffers();
    mergeInPlace();
    place();
    rewrite();
  }

private:
  /// One piece of memory: the values that share its bytes, and when it is
  /// written first and read last (positions of launches in @main).
  struct Buffer {
    enum Kind { Arena, Input, Output, Constant } kind = Arena;
    unsigned argument = 0; // of the new main, for Input and Output
    int64_t bytes = 0, first = -1, last = -1, offset = 0;
    bool dead = false; // merged into another
  };

  unsigned newBuffer(Buffer buffer) {
    buffers.push_back(buffer);
    return buffers.size() - 1;
  }

  void findBuffers() {
    for (BlockArgument argument : main.getArguments())
      bufferOf[argument] = newBuffer({Buffer::Input, argument.getArgNumber(),
                                      bytesOf(argument.getType())});
    int64_t time = 0;
    for (Operation &op : main.getBody().front()) {
      for (Value operand : op.getOperands())
        buffers[bufferOf.lookup(operand)].last = time;
      if (isa<ReshapeOp>(op)) {
        bufferOf[op.getResult(0)] = bufferOf.lookup(op.getOperand(0));
        continue;
      }
      if (auto concat = dyn_cast<ConcatOp>(op)) {
        placeParts(concat, time++);
        continue;
      }
      for (Value result : op.getResults())
        bufferOf[result] =
            newBuffer({isa<ConstantOp>(op) ? Buffer::Constant : Buffer::Arena,
                       0, bytesOf(result.getType()), time, time});
      ++time;
    }
    for (OpOperand &operand :
         main.getBody().front().getTerminator()->getOpOperands()) {
      if (tensorType(operand.get()).getNumElements() == 0)
        continue;
      Buffer &buffer = buffers[bufferOf.lookup(operand.get())];
      assert(buffer.kind == Buffer::Arena &&
             "outputs were separated when groups were formed");
      buffer.kind = Buffer::Output;
      buffer.argument = main.getNumArguments() + operand.getOperandNumber();
    }
  }

  /// The parts of a concatenation are pieces of its buffer.
  void placeParts(ConcatOp concat, int64_t time) {
    Buffer whole{Buffer::Arena, 0, bytesOf(concat.getType()), time, time};
    int64_t offset = 0, axis = concat.getAxis();
    ArrayRef<int64_t> shape = shapeOf(concat.getResult());
    int64_t stride = std::accumulate(shape.begin() + axis + 1, shape.end(),
                                     bytesPerElement(elementOf(concat)),
                                     std::multiplies<>());
    unsigned id = newBuffer(whole);
    for (Value part : concat.getInputs()) {
      Buffer &piece = buffers[bufferOf.lookup(part)];
      buffers[id].first = std::min(buffers[id].first, piece.first);
      piece.dead = true;
      bufferOf[part] = id;
      partOffset[part] = offset;
      offset += shapeOf(part)[axis] * stride;
    }
    bufferOf[concat.getResult()] = id;
  }

  void mergeInPlace() {
    int64_t time = 0;
    for (Operation &op : main.getBody().front()) {
      if (isa<ReshapeOp>(op))
        continue;
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      if (launch && launch.getInplace()) {
        ArrayRef<int64_t> pairs = *launch.getInplace();
        for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
          unsigned to = bufferOf.lookup(launch.getResult(pairs[i]));
          unsigned from = bufferOf.lookup(launch.getOperand(pairs[i + 1]));
          Buffer &source = buffers[from], &result = buffers[to];
          bool readElsewhere =
              llvm::count_if(launch.getOperands(), [&](Value v) {
                return bufferOf.lookup(v) == from;
              }) > 1;
          if (partOffset.contains(launch.getResult(pairs[i])) || from == to ||
              result.kind != Buffer::Arena || source.kind != Buffer::Arena ||
              source.last != time || source.bytes < result.bytes ||
              result.first != time || readElsewhere)
            continue;
          source.last = std::max(source.last, result.last);
          result.dead = true;
          for (auto &entry : bufferOf)
            if (entry.second == to)
              entry.second = from;
          break;
        }
      }
      ++time;
    }
  }

  void place() {
    std::vector<ArenaRequest> requests;
    std::vector<unsigned> owners;
    for (auto [i, buffer] : llvm::enumerate(buffers)) {
      if (buffer.kind != Buffer::Arena || buffer.dead)
        continue;
      requests.push_back({static_cast<int64_t>(llvm::alignTo(
                              std::max<int64_t>(buffer.bytes, 1), alignment)),
                          buffer.first, buffer.last});
      owners.push_back(i);
    }
    ArenaPlan plan = planArena(requests);
    for (auto [i, offset] : llvm::enumerate(plan.offsets))
      buffers[owners[i]].offset = offset;
    Builder b(module.getContext());
    module->setAttr("ingot.arena_bytes", b.getI64IntegerAttr(plan.bytes));
    module->setAttr("ingot.arena_align", b.getI64IntegerAttr(alignment));
    module->setAttr("ingot.arena_lower_bound",
                    b.getI64IntegerAttr(plan.lowerBound));
  }

  void rewrite() {
    OpBuilder builder(main);
    SmallVector<Type> types;
    for (Type type : llvm::concat<const Type>(main.getArgumentTypes(),
                                              main.getResultTypes()))
      types.push_back(storageType(cast<RankedTensorType>(type)));
    auto planned = func::FuncOp::create(builder, main.getLoc(), main.getName(),
                                        builder.getFunctionType(types, {}));
    Block *entry = planned.addEntryBlock();
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (DictionaryAttr attrs = main.getArgAttrDict(i))
        planned.setArgAttrs(i, attrs);
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      unsigned argument = main.getNumArguments() + i;
      if (DictionaryAttr attrs = main.getResultAttrDict(i))
        planned.setArgAttrs(argument, attrs);
      planned.setArgAttr(argument, "ingot.output", builder.getUnitAttr());
    }
    builder.setInsertionPointToStart(entry);
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (auto bound =
              planned.getArgAttrOfType<DenseElementsAttr>(i, "ingot.bound")) {
        auto name = planned.getArgAttrOfType<StringAttr>(i, "ingot.onnx_name");
        // Memory knows no signs.
        bound = bound.bitcast(storageType(bound.getElementType()));
        kernel::RequireEqualOp::create(builder, main.getLoc(),
                                       entry->getArgument(i), bound,
                                       name ? name : builder.getStringAttr(""));
        planned.removeArgAttr(i, "ingot.bound");
      }

    llvm::DenseMap<std::tuple<unsigned, int64_t, Type>, Value> made;
    auto place = [&](Value tensor, Type type) -> Value {
      unsigned id = bufferOf.lookup(tensor);
      int64_t offset = partOffset.lookup(tensor);
      Value &known = made[{id, offset, type}];
      if (known)
        return known;
      OpBuilder::InsertionGuard guard(builder);
      const Buffer &buffer = buffers[id];
      switch (buffer.kind) {
      case Buffer::Input:
      case Buffer::Output: {
        Value argument = entry->getArgument(buffer.argument);
        known = argument.getType() == type
                    ? argument
                    : kernel::ViewOp::create(builder, tensor.getLoc(), type,
                                             argument, offset)
                          .getResult();
        break;
      }
      case Buffer::Arena:
        known = kernel::ArenaOp::create(builder, tensor.getLoc(), type,
                                        buffer.offset + offset);
        break;
      case Buffer::Constant:
        known = global(builder, tensor, type);
        break;
      }
      return known;
    };
    for (Operation &op : main.getBody().front()) {
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      if (!launch)
        continue;
      SmallVector<Value> operands;
      auto callee = module.lookupSymbol<func::FuncOp>(launch.getCallee());
      for (auto [i, v] : llvm::enumerate(
               llvm::concat<Value>(launch.getOperands(), launch.getResults())))
        operands.push_back(place(v, callee.getArgumentTypes()[i]));
      kernel::LaunchOp::create(builder, launch.getLoc(), TypeRange{},
                               launch.getCalleeAttr(), operands,
                               DenseI64ArrayAttr());
    }
    func::ReturnOp::create(builder, main.getLoc());
    main.erase();
  }

  /// The global that holds a constant, under the type asked for.
  Value global(OpBuilder &builder, Value tensor, Type type) {
    Value root = tensor;
    while (auto reshape = root.getDefiningOp<ReshapeOp>())
      root = reshape.getOperand();
    auto constant = root.getDefiningOp<ConstantOp>();
    auto memref = storageType(tensorType(root));
    memref::GlobalOp &known = globals[constant.getValue()];
    if (!known) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      ElementsAttr value = signless(constant.getValue());
      std::string name = "constant_" + std::to_string(globals.size() - 1);
      known = memref::GlobalOp::create(
          builder, constant.getLoc(), name, builder.getStringAttr("private"),
          memref, value,
          /*constant=*/true, builder.getI64IntegerAttr(alignment));
    }
    Value v = memref::GetGlobalOp::create(builder, tensor.getLoc(),
                                          known.getType(), known.getSymName());
    return v.getType() == type
               ? v
               : kernel::ViewOp::create(builder, tensor.getLoc(), type, v)
                     .getResult();
  }

  static ElementsAttr signless(ElementsAttr value) {
    auto type = cast<RankedTensorType>(value.getShapedType());
    auto to = RankedTensorType::get(type.getShape(),
                                    storageType(type.getElementType()));
    if (type == to)
      return value;
    if (auto dense = dyn_cast<DenseElementsAttr>(value))
      return dense.bitcast(to.getElementType());
    return DenseResourceElementsAttr::get(
        to, cast<DenseResourceElementsAttr>(value).getRawHandle());
  }

  ModuleOp module;
  func::FuncOp main;
  int64_t alignment;
  std::vector<Buffer> buffers;
  llvm::DenseMap<Value, unsigned> bufferOf;
  /// Bytes from the start of the buffer, for parts of concatenations.
  llvm::DenseMap<Value, int64_t> partOffset;
  llvm::DenseMap<Attribute, memref::GlobalOp> globals;
};

struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using Base::Base;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    Planner(getOperation(), main, alignment).run();
  }
};

} // namespace
} // namespace ingot::memory
