// Places every tensor in memory.
//
// Rewrites programs from tensors to buffers: function results become trailing
// arguments, constants become globals, reshapes and slices become views, and
// every other tensor gets an offset in the arena such that tensors that are
// live at the same time do not overlap.
//
//   %1 = kernel.launch @conv(%x, %w) : (tensor, tensor) -> tensor
//     ->
//   %a = kernel.arena 0 : memref<...>
//   kernel.launch @conv(%x, %w, %a)
//
// Called programs are planned before their callers: the arena of a called
// program (its frame) is one buffer of the caller, live during the call.
//
// Sets the program's arena_bytes, arena_align, arena_lower_bound (the largest
// number of bytes live at one launch) and arena_use (the bytes live at each
// launch).

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/HostOps.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/plan/Buffers.h"
#include "passes/plan/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::plan {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/plan/Passes.h.inc"

namespace {

/// The constants of all programs of a module. Constants with equal bytes share
/// one global.
struct Globals {
  llvm::DenseMap<Attribute, memref::GlobalOp> byValue;
  /// The same globals, found by the hash of their bytes (hashOfSample).
  llvm::DenseMap<uint64_t,
                 SmallVector<std::pair<ElementsAttr, memref::GlobalOp>>>
      byHash;
};

class Planner {
public:
  Planner(ModuleOp module, kernel::ProgramOp main, int64_t alignment,
          Globals &globals)
      : module(module), main(main), alignment(alignment), buffers(main),
        symbols(module), globals(globals) {}

  void run() { rewrite(place()); }

private:
  /// The sizes of the arena (`bytes`) and of VTCM (`secondBytes`), the lower
  /// bound of the size of the arena, and the bytes of the arena that are live
  /// at each launch (`use`). They become attributes of the program.
  struct Arena {
    int64_t bytes, lowerBound;
    std::vector<int64_t> use;
    int64_t secondBytes;
  };

  /// Plans the arena or, with `inSecondMemory`, VTCM (for a device program:
  /// host memory), and stores the offset of each buffer. Returns the requests
  /// and the plan.
  std::pair<std::vector<ArenaRequest>, ArenaPlan> place(bool inSecondMemory) {
    std::vector<unsigned> owners;
    std::vector<ArenaRequest> requests =
        buffers.requests(alignment, &owners, inSecondMemory);
    ArenaPlan plan = planArena(requests, alignment);
    for (auto [owner, offset] : llvm::zip(owners, plan.offsets))
      offsets[owner] = offset;
    return {std::move(requests), std::move(plan)};
  }

  Arena place() {
    auto [requests, plan] = place(/*inSecondMemory=*/false);
    std::vector<int64_t> use;
    for (auto [step, op] : llvm::enumerate(buffers.steps()))
      if (isa<kernel::LaunchOp>(op))
        use.push_back(aliveAt(requests, step));
    return {plan.bytes, plan.lowerBound, std::move(use),
            place(/*inSecondMemory=*/true).second.bytes};
  }

  void rewrite(const Arena &arena) {
    OpBuilder builder(main);
    SmallVector<Type> types;
    for (Type type : llvm::concat<const Type>(main.getArgumentTypes(),
                                              main.getResultTypes()))
      types.push_back(storageType(cast<RankedTensorType>(type)));
    auto planned =
        kernel::ProgramOp::create(builder, main.getLoc(), main.getName(),
                                  builder.getFunctionType(types, {}));
    planned.setSymVisibilityAttr(main.getSymVisibilityAttr());
    planned->setDiscardableAttrs(main->getDiscardableAttrDictionary());
    planned.setArenaBytes(arena.bytes);
    planned.setArenaAlign(alignment);
    planned.setArenaLowerBound(arena.lowerBound);
    planned.setArenaUse(arena.use);
    if (arena.secondBytes)
      planned.setSecondBytes(arena.secondBytes);
    Block *entry = planned.addEntryBlock();
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (DictionaryAttr attrs = main.getArgAttrDict(i))
        planned.setArgAttrs(i, attrs);
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      unsigned argument = main.getNumArguments() + i;
      if (DictionaryAttr attrs = main.getResultAttrDict(i))
        planned.setArgAttrs(argument, attrs);
      planned.setArgAttr(argument, kernel::kOutputAttr, builder.getUnitAttr());
      if (buffers.isAppended(i))
        planned.setArgAttr(argument, kernel::kAppendedAttr,
                           builder.getUnitAttr());
    }
    for (auto [i, type] : llvm::enumerate(llvm::concat<const Type>(
             main.getArgumentTypes(), main.getResultTypes())))
      if (auto sizes = kernel::SizesAttr::of(type);
          sizes && !planned.getArgAttr(i, kernel::kSizesAttr))
        planned.setArgAttr(i, kernel::kSizesAttr, sizes);
    builder.setInsertionPointToStart(entry);
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (auto bound = planned.getArgAttrOfType<DenseElementsAttr>(
              i, kernel::kBoundAttr)) {
        auto name =
            planned.getArgAttrOfType<StringAttr>(i, kernel::kOnnxNameAttr);
        // Buffers have signless element types, and so must the expected value.
        bound = bound.bitcast(storageType(bound.getElementType()));
        kernel::RequireEqualOp::create(builder, main.getLoc(),
                                       entry->getArgument(i), bound,
                                       name ? name : builder.getStringAttr(""));
        planned.removeArgAttr(i, kernel::kBoundAttr);
      }

    llvm::DenseMap<std::tuple<unsigned, int64_t, Type>, Value> made;
    auto place = [&](Value tensor, Type type, StringRef role) -> Value {
      auto [id, offset] = buffers.placeOf(tensor);
      Value &known = made[{id, offset, type}];
      if (known)
        return known;
      OpBuilder::InsertionGuard guard(builder);
      const Buffers::Buffer &buffer = buffers[id];
      switch (buffer.kind) {
      case Buffers::Input:
      case Buffers::Output: {
        Value argument = entry->getArgument(buffer.argument);
        known = argument.getType() == type && offset == 0
                    ? argument
                    : kernel::ViewOp::create(builder, tensor.getLoc(), type,
                                             argument, offset)
                          .getResult();
        break;
      }
      case Buffers::Arena:
        known = kernel::ArenaOp::create(
            builder, kernel::named(tensor.getLoc(), nameOfResult(tensor)), type,
            offsets.lookup(id) + offset, buffer.isInSecondMemory);
        break;
      case Buffers::Constant:
        known = global(builder, tensor, type, offset, role);
        break;
      }
      return known;
    };
    for (Operation &op : main.getBody().front()) {
      if (isa<kernel::IfOp, kernel::LoopOp>(op)) {
        auto placeWhole = [&](Value tensor) {
          return place(tensor, storageType(tensorType(tensor)), "");
        };
        auto operands = llvm::map_to_vector(op.getOperands(), placeWhole),
             results = llvm::map_to_vector(op.getResults(), placeWhole);
        runOnBuffers(builder, &op, operands, results);
        continue;
      }
      if (auto read = dyn_cast<kernel::ReadSizesOp>(op)) {
        Value counts = read.getCounts();
        kernel::ReadSizesOp::create(
            builder, op.getLoc(),
            place(counts, storageType(tensorType(counts)), ""),
            read.getSizesAttr());
        continue;
      }
      if (isa<kernel::CheckSizesOp>(op)) {
        builder.clone(op);
        continue;
      }
      if (auto copy = dyn_cast<kernel::CopyOp>(op)) {
        Type type = storageType(tensorType(copy.getFrom()));
        kernel::Dims sizes = kernel::dimsOf(tensorType(copy.getFrom()));
        Value from = place(copy.getFrom(), type, "");
        auto planned = kernel::CopyOp::create(
            builder, op.getLoc(), Type(), from,
            place(copy.getResult(), type, ""), copy.getSecondMemory(), {});
        if (kernel::hasDynamicSizes(copy.getFrom().getType()) &&
            kernel::isCompact(sizes))
          planned.setElementsAttr(
              kernel::sizesAttr(product(sizes), builder.getContext()));
        continue;
      }
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      if (!launch)
        continue;
      SmallVector<Value> operands;
      auto callee = symbols.lookup<kernel::FuncOp>(launch.getCallee());
      for (auto [i, v] : llvm::enumerate(
               llvm::concat<Value>(launch.getOperands(), launch.getResults())))
        operands.push_back(
            place(v, callee.getArgumentTypes()[i], roleOf(callee, i)));
      auto planned = kernel::LaunchOp::create(
          builder, launch.getLoc(), TypeRange{}, launch.getCalleeAttr(),
          operands, DenseI64ArrayAttr());
      planned.setForkAttr(launch.getForkAttr());
      planned.setBranchAttr(launch.getBranchAttr());
      // A host kernel of a device program is marked with `second_memory`: all
      // of its buffers are in host memory.
      if (launch.getSecondMemory() &&
          llvm::all_of(operands, kernel::isInSecondMemory))
        planned.setSecondMemory(true);
    }
    kernel::ReturnOp::create(builder, main.getLoc());
    main.erase();
  }

  /// Builds a copy of `op`, an if or a loop, that has the buffers of its
  /// results as additional operands.
  static void runOnBuffers(OpBuilder &builder, Operation *op,
                           ArrayRef<Value> operands, ArrayRef<Value> results) {
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addOperands(results);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *made = builder.create(state);
    if (auto choice = dyn_cast<kernel::IfOp>(made))
      choice.getProperties().operandSegmentSizes.back() = results.size();
    else
      cast<kernel::LoopOp>(made).getProperties().operandSegmentSizes.back() =
          results.size();
  }

  /// Returns the name that a kernel gives to an argument, such as "weights" or
  /// "scratch0"; empty if it gives none.
  static StringRef roleOf(kernel::FuncOp callee, unsigned argument) {
    auto name =
        callee.getArgAttrOfType<StringAttr>(argument, kernel::kNameAttr);
    return name ? name.getValue() : "";
  }

  /// Returns the tensor of which `tensor` is a view.
  static Value rootOf(Value tensor) {
    while (isa_and_nonnull<ReshapeOp, SliceOp>(tensor.getDefiningOp()))
      tensor = tensor.getDefiningOp()->getOperand(0);
    return tensor;
  }

  /// Returns the last name in `location`; empty if there is none. For a launch,
  /// this is the name of the ONNX node whose result the kernel stores.
  static StringRef lastNameIn(Location location) {
    StringRef last;
    location->walk([&](Location part) {
      if (auto name = dyn_cast<NameLoc>(part))
        last = name.getName().getValue();
      return WalkResult::advance();
    });
    return last;
  }

  /// Returns `name` followed by `role`. `name` is shortened, so that `role`
  /// remains if the printer truncates the result (codegen/kernel/Names.h).
  static std::string withRole(StringRef name, StringRef role) {
    constexpr size_t longest = 48;
    return (name.take_front(longest) + "_" + role).str();
  }

  /// Returns the name of the arena buffer of `tensor`: the ONNX node that
  /// computes it, followed by the kernel's name for the result if that name is
  /// informative.
  std::string nameOfResult(Value tensor) const {
    Value root = rootOf(tensor);
    std::string name = lastNameIn(root.getLoc()).str();
    auto launch = root.getDefiningOp<kernel::LaunchOp>();
    if (!launch)
      return name.empty() ? "value" : name;
    auto callee = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    if (name.empty())
      name = launch.getCallee().str();
    StringRef role = roleOf(callee, launch.getNumOperands() +
                                        cast<OpResult>(root).getResultNumber());
    return role.empty() || role == "y" ? name : withRole(name, role);
  }

  /// Returns the name of a constant: its name in the model or, if it was
  /// computed at compile time, the name of the first node that uses it. `role`,
  /// the constant's name in the kernel, is appended if it is informative.
  std::string nameOfConstant(ConstantOp constant, StringRef role) const {
    std::string name;
    constant.getLoc()->walk([&](Location part) {
      auto found = dyn_cast<NameLoc>(part);
      if (found && name.empty())
        name = found.getName().getValue().str();
      return WalkResult::advance();
    });
    if (name.empty())
      return "constant";
    bool isRole = role.size() > 1 && !llvm::isDigit(role.back());
    if (isRole && !StringRef(name).ends_with_insensitive(role) &&
        !StringRef(name).ends_with_insensitive("weight"))
      return withRole(name, role);
    return name;
  }

  /// Returns a name that no symbol of the module has.
  std::string freeSymbol(const std::string &name) const {
    std::string result = name;
    for (unsigned n = 2; symbols.lookup(result); ++n)
      result = name + "_" + std::to_string(n);
    return result;
  }

  /// Returns the global that holds the constant `tensor`, viewed as `type` at
  /// the byte `offset`. `role` is the name of the corresponding argument of the
  /// kernel that reads it.
  Value global(OpBuilder &builder, Value tensor, Type type, int64_t offset,
               StringRef role) {
    Value root = rootOf(tensor);
    auto constant = root.getDefiningOp<ConstantOp>();
    auto memref = storageType(tensorType(root));
    memref::GlobalOp &known = globals.byValue[constant.getValue()];
    if (!known)
      known = equalGlobal(constant.getValue(), memref.getElementType());
    if (!known) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      ElementsAttr value = signless(constant.getValue());
      std::string name = freeSymbol(nameOfConstant(constant, role));
      known = memref::GlobalOp::create(
          builder, constant.getLoc(), name, builder.getStringAttr("private"),
          memref, value,
          /*constant=*/true, builder.getI64IntegerAttr(alignment));
      symbols.insert(known);
      if (hasData(constant.getValue()))
        globals.byHash[hashOfSample(constant.getValue())].push_back(
            {constant.getValue(), known});
    }
    Value v = memref::GetGlobalOp::create(builder, tensor.getLoc(),
                                          known.getType(), known.getSymName());
    return v.getType() == type && offset == 0
               ? v
               : kernel::ViewOp::create(builder, tensor.getLoc(), type, v,
                                        offset)
                     .getResult();
  }

  /// Returns a global with the bytes of `value` and the element type
  /// `elementType`, in any shape; null if there is none, or if `value` has no
  /// data.
  memref::GlobalOp equalGlobal(ElementsAttr value, Type elementType) {
    if (!hasData(value))
      return {};
    for (auto &[other, global] : globals.byHash.lookup(hashOfSample(value)))
      if (global.getType().getElementType() == elementType &&
          haveSameBytes(other, value))
        return global;
    return {};
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
  kernel::ProgramOp main;
  int64_t alignment;
  Buffers buffers;
  SymbolTable symbols;
  /// Maps the buffers that are not part of other buffers to offsets in the
  /// arena or in VTCM.
  llvm::DenseMap<unsigned, int64_t> offsets;
  Globals &globals;
};

/// Adds results to `op`, an if or a loop, for further memory that it needs: a
/// second buffer for each tensor carried by a loop, and the frame (the part of
/// the arena that the called programs use as their arena).
static void addFurtherResults(Operation *op) {
  SmallVector<Type> types(op->getResultTypes());
  if (auto loop = dyn_cast<kernel::LoopOp>(op))
    llvm::append_range(types, loop.getCarried().getTypes());
  int64_t frame = 0;
  for (kernel::ProgramOp program : kernel::programsRunBy(op))
    frame = std::max<int64_t>(frame, program.getArenaBytes().value_or(0));
  OpBuilder builder(op);
  if (frame > 0)
    types.push_back(RankedTensorType::get({frame}, builder.getI8Type()));
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *made = builder.create(state);
  op->replaceAllUsesWith(made->getResults().take_front(op->getNumResults()));
  op->erase();
}

struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using Base::Base;
  void runOnOperation() override {
    Globals globals;
    for (kernel::ProgramOp program : kernel::programsInOrder(getOperation())) {
      for (Operation &op :
           llvm::make_early_inc_range(program.getBody().front()))
        if (isa<kernel::IfOp, kernel::LoopOp>(op))
          addFurtherResults(&op);
      Planner(getOperation(), program, alignment, globals).run();
    }
  }
};

} // namespace
} // namespace ingot::plan
