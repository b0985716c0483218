// Outlines groups into kernels.
//
//   %y = graph.group "conv" (%x, %w) {...}
//     ->
//   kernel.func @conv_1x14x14x8(tensor, tensor) -> tensor
//       attributes {strategy = "conv"} {...}
//   %y = kernel.launch @conv_1x14x14x8(%x, %w)
//
// Equal groups share one kernel, even if the names and locations of their ONNX
// nodes differ. Functions become programs, and `graph.if` and `graph.loop`
// become `kernel.if` and `kernel.loop`.

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "passes/lower/DescribeGroup.h"
#include "passes/lower/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot::lower {
#define GEN_PASS_DEF_OUTLINEGROUPS
#include "passes/lower/Passes.h.inc"

namespace {

/// Returns the operators of `group`, including the operators of nested groups,
/// in order.
SmallVector<Operation *> operatorsOf(graph::GroupOp group) {
  SmallVector<Operation *> all;
  for (Operation &op : group.getBody().front().without_terminator())
    if (auto stage = dyn_cast<graph::GroupOp>(op))
      llvm::append_range(all, operatorsOf(stage));
    else
      all.push_back(&op);
  return all;
}

/// Whether a group of cheap operators is called a copy: its result is in fast
/// local memory, or its only operator is a reshape to the same type.
bool isCopy(graph::GroupOp group) {
  SmallVector<Operation *> operators = operatorsOf(group);
  return group.getSecondMemory() ||
         (operators.size() == 1 && isa<graph::ReshapeOp>(operators[0]) &&
          operators[0]->getOperandTypes() == operators[0]->getResultTypes());
}

/// Returns a kernel name such as "conv_max_pool_1x14x14x8": the operators of
/// the group without cheap elementwise ones, and the shape of the result.
std::string nameFor(graph::GroupOp group) {
  Block &body = group.getBody().front();
  SmallVector<StringRef> parts;
  for (Operation *op : operatorsOf(group))
    if (auto element = dyn_cast<graph::ElementOpInterface>(op);
        !isa<graph::ConstantOp>(op) && (!element || !element.isCheap()))
      parts.push_back(op->getName().stripDialect());
  if (parts.empty() && isCopy(group))
    parts.push_back("copy");
  if (parts.empty())
    parts.push_back(body.getTerminator()
                        ->getOperand(0)
                        .getDefiningOp()
                        ->getName()
                        .stripDialect());
  std::string name = llvm::join(parts, "_");
  llvm::raw_string_ostream os(name);
  if (group.getNumResults() > 0 &&
      !graph::shapeOf(group.getResult(0)).empty()) {
    os << '_';
    llvm::interleave(graph::shapeOf(group.getResult(0)), os, "x");
  }
  return name;
}

/// Collects the names of the ONNX nodes that a kernel computes, for the comment
/// in the C++.
void collectNames(Location loc, llvm::SetVector<StringRef> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    names.insert(name.getName().getValue());
  }
}

/// Whether the argument `input` holds packed weights, which the group or a
/// nested group unpacks.
bool isPanels(BlockArgument input) {
  return llvm::any_of(input.getUses(), [](OpOperand &use) {
    auto stage = dyn_cast<graph::GroupOp>(use.getOwner());
    return stage ? isPanels(stage.getBody().getArgument(use.getOperandNumber()))
                 : isa<graph::UnpackPanelsOp>(use.getOwner());
  });
}

} // namespace

std::string describe(graph::GroupOp group) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<StringRef> operators;
  for (Operation *op : operatorsOf(group))
    if (!isa<graph::ConstantOp, graph::UnpackPanelsOp, graph::RestoreKernelOp>(
            op))
      operators.push_back(op->getName().stripDialect());
  constexpr size_t mostListed = 16;
  llvm::interleave(ArrayRef(operators).take_front(mostListed), os, " + ");
  if (operators.size() > mostListed)
    os << " + ... (" << operators.size() << " operators)";
  os << " by " << group.getStrategy();
  auto tensor = [&](Type type) {
    auto ranked = cast<RankedTensorType>(type);
    os << ranked.getElementType() << '[';
    llvm::interleave(ranked.getShape(), os, ",");
    os << ']';
  };
  // Packed weights are left out of the list of operands.
  os << ", ";
  bool any = false;
  for (BlockArgument input : group.getBody().front().getArguments()) {
    if (isPanels(input))
      continue;
    os << (any ? ", " : "");
    tensor(input.getType());
    any = true;
  }
  os << " -> ";
  llvm::interleave(group.getResultTypes(), os, tensor, ", ");
  return text;
}

namespace {

struct OutlineGroupsPass : impl::OutlineGroupsBase<OutlineGroupsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringSet<> used;
    for (auto function : module.getOps<func::FuncOp>())
      used.insert(function.getName());
    // `known` maps hashes to groups and the kernels made from them. These
    // groups stay in the IR until all other groups have been compared with
    // them.
    llvm::DenseMap<uint64_t,
                   SmallVector<std::pair<Operation *, kernel::FuncOp>>>
        known;
    SmallVector<graph::GroupOp> groups;
    for (auto function : module.getOps<func::FuncOp>())
      llvm::append_range(groups, function.getOps<graph::GroupOp>());
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToStart(module.getBody());
    llvm::DenseMap<Operation *, llvm::SetVector<StringRef>> names;
    // A new kernel gets its base name plus a number if the base name is taken.
    // `numbered` counts these kernels for each base name.
    llvm::StringMap<unsigned> numbered;
    for (graph::GroupOp group : groups) {
      uint64_t hash = hashOf(group);
      kernel::FuncOp function;
      for (auto &[representative, candidate] : known[hash])
        if (!function &&
            group.getStrategyAttr() == candidate.getStrategyAttr() &&
            group.getPlanAttr() == candidate.getPlanAttr() &&
            group.getOutputStridesAttr() == candidate.getOutputStridesAttr() &&
            group.getInputStridesAttr() == candidate.getInputStridesAttr() &&
            OperationEquivalence::isRegionEquivalentTo(
                &representative->getRegion(0), &group.getBody(),
                OperationEquivalence::IgnoreLocations))
          function = candidate;
      if (!function) {
        std::string base = nameFor(group), name = base;
        while (!used.insert(name).second)
          name = base + "_" + std::to_string(++numbered[base] + 1);
        auto type = builder.getFunctionType(group.getOperandTypes(),
                                            group.getResultTypes());
        function = kernel::FuncOp::create(builder, group.getLoc(), name, type);
        function.setCommentAttr(builder.getStringAttr(describe(group)));
        function.setStrategyAttr(group.getStrategyAttr());
        if (DictionaryAttr plan = group.getPlanAttr())
          function.setPlanAttr(plan);
        if (auto strides = group.getOutputStridesAttr())
          function.setOutputStridesAttr(strides);
        if (auto strides = group.getInputStridesAttr())
          function.setInputStridesAttr(strides);
        IRMapping mapping;
        group.getBody().cloneInto(&function.getBody(), mapping);
        Operation *yield = function.getBody().front().getTerminator();
        replaceTerminator(yield);
        known[hash].push_back({group, function});
      }
      collectNames(group.getLoc(), names[function]);
      OpBuilder at(group);
      auto launch = kernel::LaunchOp::create(
          at, group.getLoc(), group.getResultTypes(),
          FlatSymbolRefAttr::get(function.getSymNameAttr()), group.getInputs(),
          DenseI64ArrayAttr());
      launch.setSecondMemory(group.getSecondMemory());
      launch.setAppends(graph::storesInPlace(group));
      group->replaceAllUsesWith(launch);
    }
    for (graph::GroupOp group : groups)
      group->erase();
    for (auto &[function, list] : names) {
      std::string comment;
      size_t listed = 0;
      for (StringRef name : list) {
        if (listed++ == 6) {
          comment += ", ... (" + std::to_string(list.size()) + " in all)";
          break;
        }
        comment += (comment.empty() ? "" : ", ") + name.str();
      }
      auto kernel = cast<kernel::FuncOp>(function);
      kernel.setComment(comment + ": " + kernel.getComment()->str());
    }
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      makeProgram(function);
  }

  static void replaceTerminator(Operation *terminator) {
    OpBuilder builder(terminator);
    kernel::ReturnOp::create(builder, terminator->getLoc(),
                             terminator->getOperands());
    terminator->erase();
  }

  /// Returns the numbers of elements of the tensors `carried` by a loop; null
  /// if all are static.
  static kernel::SizesAttr elementsOf(ValueRange carried) {
    kernel::Dims counts;
    for (Value v : carried) {
      kernel::Dims sizes = kernel::dimsOf(cast<RankedTensorType>(v.getType()));
      // The memory of a tensor with gaps between its elements is planned for
      // the largest size of the tensor.
      counts.push_back(kernel::isCompact(sizes)
                           ? graph::product(ArrayRef<kernel::Dim>(sizes))
                           : graph::tensorType(v).getNumElements());
    }
    return llvm::all_of(counts, [](const auto &n) { return n.known(); })
               ? kernel::SizesAttr()
               : kernel::sizesAttr(counts, carried[0].getContext());
  }

  static bool holdsAlways(graph::CheckSizesOp check) {
    kernel::Dims pairs = kernel::dimsOf(check.getPairs());
    for (size_t i = 0; i < pairs.size(); i += 2)
      if (kernel::mayDiffer(pairs[i], pairs[i + 1]))
        return false;
    return true;
  }

  /// Replaces ifs, loops, and operators that read or check sizes by the
  /// operations of the kernel dialect with the same operands. Erases checks
  /// that always hold.
  static void replaceControl(kernel::ProgramOp program) {
    for (Operation &op :
         llvm::make_early_inc_range(program.getBody().front())) {
      OpBuilder builder(&op);
      Operation *made = nullptr;
      if (auto check = dyn_cast<graph::CheckSizesOp>(op)) {
        if (!holdsAlways(check))
          kernel::CheckSizesOp::create(builder, op.getLoc(), check.getPairs());
        check.erase();
        continue;
      }
      if (auto choice = dyn_cast<graph::IfOp>(op))
        made = kernel::IfOp::create(builder, op.getLoc(), op.getResultTypes(),
                                    choice.getCondition(), choice.getThenBody(),
                                    choice.getElseBody(), choice.getCaptures(),
                                    /*outputs=*/ValueRange());
      else if (auto loop = dyn_cast<graph::LoopOp>(op))
        made = kernel::LoopOp::create(
            builder, op.getLoc(), op.getResultTypes(), loop.getBodyAttr(),
            loop.getCountAttr(), loop.getCountedAttr(),
            loop.getConditionalAttr(), loop.getReversedAttr(), loop.getLimit(),
            loop.getCondition(), loop.getCarried(), loop.getSliced(),
            loop.getShared(), /*outputs=*/ValueRange(),
            elementsOf(loop.getCarried()));
      else if (auto read = dyn_cast<graph::ReadSizesOp>(op))
        made = kernel::ReadSizesOp::create(
            builder, op.getLoc(), read.getCounts(), read.getSizesAttr());
      if (!made)
        continue;
      op.replaceAllUsesWith(made);
      op.erase();
    }
  }

  /// Replaces a function, which now consists of launches, by a program.
  static void makeProgram(func::FuncOp function) {
    OpBuilder builder(function);
    auto program = kernel::ProgramOp::create(builder, function.getLoc(),
                                             function.getName(),
                                             function.getFunctionType());
    program.setSymVisibilityAttr(function.getSymVisibilityAttr());
    program.setArgAttrsAttr(function.getArgAttrsAttr());
    program.setResAttrsAttr(function.getResAttrsAttr());
    program->setDiscardableAttrs(function->getDiscardableAttrDictionary());
    program.getBody().takeBody(function.getBody());
    if (!program.isExternal()) {
      replaceTerminator(program.getBody().front().getTerminator());
      replaceControl(program);
    }
    function.erase();
  }

  /// Returns a hash of all that makes kernels differ, except which values the
  /// operators read. It is only used to find equal groups, since it depends on
  /// addresses.
  static uint64_t hashOf(graph::GroupOp group) {
    auto addressOf = [](Attribute attribute) {
      return attribute.getAsOpaquePointer();
    };
    llvm::hash_code hash = llvm::hash_combine(
        addressOf(group.getStrategyAttr()), addressOf(group.getPlanAttr()),
        addressOf(group.getOutputStridesAttr()),
        addressOf(group.getInputStridesAttr()));
    for (Operation *op : operatorsOf(group))
      hash = llvm::hash_combine(hash,
                                OperationEquivalence::computeHash(
                                    op, OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::IgnoreLocations));
    for (Type type : llvm::concat<const Type>(group.getOperandTypes(),
                                              group.getResultTypes()))
      hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
    return hash;
  }
};

} // namespace
} // namespace ingot::lower
