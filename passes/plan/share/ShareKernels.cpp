// Merges kernels for different shapes.
//
//   func @a(%x: memref<8x4xf32>) {              func @k(%x: memref<?xf32>,
//     for %i = 0 to 8 {                                 %count: index) {
//       .. %x[%i, 0] ..                           for %i = 0 to %count {
//   func @b(%x: memref<6x4xf32>) {        ->        .. %x[%i * 4] ..
//     for %i = 0 to 6 {
//       .. %x[%i, 0] ..
//   launch @a(%p)                               launch @k(%p) {values = [8]}
//   launch @b(%q)                               launch @k(%q) {values = [6]}
//
// Kernels that differ in integers only become one kernel with these integers as
// arguments. An integer that is equal in all kernels stays in the code, and so
// does the size of the register tile, which determines the number of
// operations. Integers that are equal to each other in each kernel become one
// argument. An integer is computed in the kernel if it is, for all kernels, a
// fixed multiple of an argument, the product of two arguments, or the sum of an
// argument and a constant.
//
// The left shifts and addends of integer requantization become arguments as
// well, since each kernel has its own. Right shifts and clamp bounds stay in
// the code, where they are immediates of instructions.
//
// This is for targets that need small code. It follows memory planning, when
// the buffers of a launch no longer have to match in shape.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "passes/plan/Passes.h"
#include "passes/plan/share/FlattenBuffers.h"
#include "llvm/ADT/MapVector.h"

#include <deque>

using namespace mlir;
using namespace ingot::kernel;

namespace ingot::plan {
#define GEN_PASS_DEF_SHAREKERNELS
#include "passes/plan/Passes.h.inc"

namespace {

std::optional<int64_t> constantIndex(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantIndexOp>();
  return constant ? std::optional(constant.value()) : std::nullopt;
}

/// Converts the 32-bit constants of shifts and additions, in which kernels may
/// differ, to index constants.
void separateNumbers(FuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<arith::ShLIOp, arith::AddIOp>(op))
      return;
    auto constant = op->getOperand(1).getDefiningOp<arith::ConstantIntOp>();
    if (!constant || !constant.getType().isInteger(32))
      return;
    OpBuilder builder(op);
    Location place =
        named(op->getLoc(), isa<arith::ShLIOp>(op) ? "left_shift" : "addend");
    Value index =
        arith::ConstantIndexOp::create(builder, place, constant.value());
    op->setOperand(1, arith::IndexCastOp::create(builder, place,
                                                 constant.getType(), index));
  });
}

/// Converts index constants back to 32-bit constants (see separateNumbers)
/// where the kernels do not differ.
void joinNumbers(FuncOp function) {
  function.walk([](arith::IndexCastOp cast) {
    std::optional<int64_t> number = constantIndex(cast.getIn());
    if (!number || !cast.getType().isInteger(32))
      return;
    OpBuilder builder(cast);
    cast.replaceAllUsesWith(arith::ConstantIntOp::create(
                                builder, cast.getLoc(), cast.getType(), *number)
                                .getResult());
    cast.erase();
  });
}

/// Compares two functions operation by operation and collects their index
/// constants.
class Comparison {
public:
  SmallVector<OpOperand *> uses; // the integer operands of the first function
  SmallVector<int64_t> first, second;

  bool areAlike(FuncOp a, FuncOp b) {
    return !a.getSizes() && !b.getSizes() &&
           a.getExtentAttr() == b.getExtentAttr() &&
           a.getStrategyAttr() == b.getStrategyAttr() &&
           a.getFunctionType() == b.getFunctionType() &&
           llvm::all_of(llvm::seq(a.getNumArguments()),
                        [&](unsigned i) {
                          return a.getArgAttr(i, kReadAttr) ==
                                 b.getArgAttr(i, kReadAttr);
                        }) &&
           areAlike(a.getBody().front(), b.getBody().front());
  }

private:
  bool areAlike(Block &a, Block &b) {
    if (a.getArgumentTypes() != b.getArgumentTypes())
      return false;
    mapping.map(a.getArguments(), b.getArguments());
    auto isNoConstant = [](Operation &op) {
      return !isa<arith::ConstantOp>(op);
    };
    auto left = llvm::make_filter_range(a, isNoConstant),
         right = llvm::make_filter_range(b, isNoConstant);
    auto i = left.begin(), j = right.begin();
    for (; i != left.end() && j != right.end(); ++i, ++j)
      if (!areAlike(*i, *j))
        return false;
    return i == left.end() && j == right.end();
  }

  /// Whether both values are index constants, are equal constants of another
  /// type, or are corresponding results or arguments of the two functions.
  bool fits(Value x, Value y) const {
    bool m = constantIndex(x).has_value(), n = constantIndex(y).has_value();
    if (m || n)
      return m && n;
    auto a = x.getDefiningOp<arith::ConstantOp>(),
         b = y.getDefiningOp<arith::ConstantOp>();
    return a || b ? a && b && a.getValue() == b.getValue()
                  : mapping.lookupOrNull(x) == y;
  }

  bool areAlike(Operation &a, Operation &b) {
    if (a.getName() != b.getName() ||
        a.getAttrDictionary() != b.getAttrDictionary() ||
        a.getResultTypes() != b.getResultTypes() ||
        a.getNumOperands() != b.getNumOperands() ||
        a.getNumRegions() != b.getNumRegions())
      return false;
    SmallVector<Value> operands(b.getOperands());
    if (a.hasTrait<OpTrait::IsCommutative>() && operands.size() == 2 &&
        !(fits(a.getOperand(0), operands[0]) &&
          fits(a.getOperand(1), operands[1])))
      std::swap(operands[0], operands[1]);
    for (auto [x, y] : llvm::zip_equal(a.getOpOperands(), operands)) {
      if (!fits(x.get(), y))
        return false;
      if (std::optional<int64_t> integer = constantIndex(x.get())) {
        uses.push_back(&x);
        first.push_back(*integer);
        second.push_back(*constantIndex(y));
      }
    }
    for (auto [x, y] : llvm::zip_equal(a.getRegions(), b.getRegions())) {
      if (x.empty() != y.empty())
        return false;
      if (!x.empty() && !areAlike(x.front(), y.front()))
        return false;
    }
    mapping.map(a.getResults(), b.getResults());
    return true;
  }

  IRMapping mapping;
};

/// A kernel of the module, and a copy of it with flattened buffers.
struct Kernel {
  FuncOp function;
  OwningOpRef<FuncOp> flat;
};

/// A set of kernels that differ only in integers, the operands in which they
/// differ, and the integers.
struct Group {
  SmallVector<Kernel *> members;
  SmallVector<OpOperand *> uses;
  /// For each operand in `uses`, the integers that the kernels in `members` have
  /// there, in the order of `members`.
  SmallVector<SmallVector<int64_t>> values;

  bool add(Kernel &kernel) {
    Comparison comparison;
    if (!comparison.areAlike(*members.front()->flat, *kernel.flat))
      return false;
    if (members.size() == 1) {
      uses = comparison.uses;
      for (int64_t value : comparison.first)
        values.push_back({value});
    }
    for (auto [list, value] : llvm::zip_equal(values, comparison.second))
      list.push_back(value);
    members.push_back(&kernel);
    return true;
  }
};

/// An integer that differs between the kernels of a group.
struct Parameter {
  SmallVector<int64_t> values;
  SmallVector<OpOperand *> uses;
  /// If `base` is set, the value is computed: factor * parameter[base] +
  /// addend, or parameter[base] * parameter[other] if `other` is set.
  int base = -1, other = -1;
  int64_t factor = 1, addend = 0;
};

SmallVector<Parameter> parametersOf(const Group &group) {
  llvm::MapVector<ArrayRef<int64_t>, SmallVector<OpOperand *>> different;
  for (auto [use, values] : llvm::zip_equal(group.uses, group.values))
    if (!llvm::all_equal(values))
      different[values].push_back(use);
  SmallVector<Parameter> parameters;
  for (auto &[values, uses] : different)
    parameters.push_back({llvm::to_vector(values), uses});
  // Sorts the parameters by their values, since larger ones are computed from
  // smaller ones.
  llvm::stable_sort(parameters, [](const Parameter &a, const Parameter &b) {
    return a.values < b.values;
  });
  for (size_t i = 0; i < parameters.size(); ++i) {
    Parameter &p = parameters[i];
    auto isProduct = [&](const Parameter &a, const Parameter *b, int64_t by) {
      for (auto [m, value] : llvm::enumerate(p.values))
        if (a.values[m] * (b ? b->values[m] : 1) * by != value)
          return false;
      return true;
    };
    for (size_t j = 0; j < i && p.base < 0; ++j) {
      const Parameter &a = parameters[j];
      int64_t by = a.values[0] ? p.values[0] / a.values[0] : 0;
      if (by > 1 && a.base < 0 && isProduct(a, nullptr, by)) {
        p.base = static_cast<int>(j);
        p.factor = by;
      }
      for (size_t k = j; k < i && p.base < 0; ++k)
        if (isProduct(a, &parameters[k], 1)) {
          p.base = static_cast<int>(j);
          p.other = static_cast<int>(k);
        }
    }
    // Looks for a parameter that differs from this one by the same constant in
    // all kernels of the group, such as a size and its padded size.
    for (size_t j = 0; j < i && p.base < 0; ++j) {
      int64_t more = p.values[0] - parameters[j].values[0];
      bool isSum = llvm::all_of(
          llvm::zip_equal(p.values, parameters[j].values), [&](auto pair) {
            return std::get<0>(pair) - std::get<1>(pair) == more;
          });
      if (isSum && p.values.size() > 2) {
        p.base = static_cast<int>(j);
        p.addend = more;
      }
    }
  }
  return parameters;
}

/// Returns a name for a bound of `loop`, for example "rows" for the upper bound
/// of a loop over `row`.
std::string nameOfBound(scf::ForOp loop, unsigned operand) {
  std::string counter = nameOf(loop.getInductionVar()).str();
  if (counter.empty())
    return operand == 0 ? "first" : operand == 1 ? "count" : "step";
  if (operand == 1)
    return counter + (StringRef(counter).ends_with("ch") ? "es" : "s");
  return (operand == 0 ? "first_" : "step_of_") + counter;
}

/// Returns a name for a parameter based on its uses. Each use offers a name
/// with a rank; the name with the lowest rank is the most informative.
std::string nameFor(const Parameter &parameter) {
  int bestRank = 9;
  std::string best;
  auto offer = [&](int rank, StringRef name) {
    if (rank < bestRank) {
      bestRank = rank;
      best = name.str();
    }
  };
  for (OpOperand *use : parameter.uses) {
    Operation *user = use->getOwner();
    if (StringRef name = nameOf(use->get()); !name.empty())
      offer(1, name);
    else if (auto loop = dyn_cast<scf::ForOp>(user))
      offer(use->getOperandNumber() == 1 ? 0 : 2,
            nameOfBound(loop, use->getOperandNumber()));
    else
      offer(isa<arith::DivSIOp, arith::RemSIOp>(user) ? 3 : 4,
            isa<arith::AddIOp, arith::SubIOp>(user) ? "shift"
            : isa<arith::MulIOp>(user)              ? "factor"
                                                    : "size");
  }
  return best;
}

/// Returns the common prefix of the names of a group's kernels: "conv" for
/// conv_1x6x8 and conv_1x4x8_2.
std::string commonName(const Group &group) {
  SmallVector<StringRef> common;
  group.members.front()->function.getName().split(common, '_');
  for (Kernel *kernel : group.members) {
    SmallVector<StringRef> parts;
    kernel->function.getName().split(parts, '_');
    size_t same = 0;
    while (same < std::min(parts.size(), common.size()) &&
           parts[same] == common[same])
      ++same;
    common.truncate(same);
  }
  return common.empty() ? group.members.front()->function.getName().str()
                        : llvm::join(common, "_");
}

struct ShareKernelsPass : impl::ShareKernelsBase<ShareKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<StringRef, SmallVector<LaunchOp>> launches;
    module.walk([&](LaunchOp launch) {
      launches[launch.getCallee()].push_back(launch);
    });
    SymbolTable symbols(module);
    std::deque<Kernel> kernels;
    llvm::MapVector<uint64_t, SmallVector<Group>> groups;
    for (auto function : module.getOps<FuncOp>()) {
      if (!launches.contains(function.getName()) || function.isDeclaration())
        continue;
      Kernel kernel{function, function.clone()};
      if (!flattenBuffers(*kernel.flat))
        continue;
      separateNumbers(*kernel.flat);
      kernels.push_back(std::move(kernel));
      SmallVector<Group> &alike = groups[hashOf(*kernels.back().flat)];
      if (llvm::none_of(
              alike, [&](Group &group) { return group.add(kernels.back()); }))
        alike.push_back({{&kernels.back()}, {}, {}});
    }
    for (auto &[hash, alike] : groups)
      for (Group &group : alike) {
        SmallVector<Parameter> parameters = parametersOf(group);
        if (isWorthIt(group, parameters))
          share(group, parameters, symbols, launches);
      }
  }

private:
  static uint64_t hashOf(FuncOp function) {
    llvm::hash_code hash = 0;
    function.walk([&](Operation *op) {
      if (!isa<arith::ConstantOp>(op))
        hash = llvm::hash_combine(hash, op->getName().getAsOpaquePointer());
    });
    return hash;
  }

  /// Whether sharing saves code: it removes all kernels of the group except
  /// one, but passing an argument takes about two instructions at each launch.
  static bool isWorthIt(const Group &group, ArrayRef<Parameter> parameters) {
    if (group.members.size() < 2)
      return false;
    size_t operations = 0;
    group.members.front()->flat->walk(
        [&](Operation *op) { operations += !isa<arith::ConstantIndexOp>(op); });
    size_t passed = llvm::count_if(
        parameters, [](const Parameter &p) { return p.base < 0; });
    return operations * (group.members.size() - 1) >
           2 * passed * group.members.size();
  }

  static void
  share(Group &group, MutableArrayRef<Parameter> parameters,
        SymbolTable &symbols,
        llvm::MapVector<StringRef, SmallVector<LaunchOp>> &launches) {
    FuncOp first = group.members.front()->function;
    FuncOp shared = group.members.front()->flat.release();
    std::string base = commonName(group), name = base, comment;
    for (unsigned n = 2; symbols.lookup(name); ++n)
      name = base + "_" + std::to_string(n);
    shared.setName(name);
    symbols.insert(shared, Block::iterator(first));
    for (Kernel *kernel : group.members) {
      if (std::optional<StringRef> text = kernel->function.getComment())
        comment += (comment.empty() ? "" : "\n") + text->str();
      for (unsigned i = 0; i < kernel->function.getNumArguments(); ++i)
        if (Attribute alias = kernel->function.getArgAttr(i, kMayAliasAttr))
          shared.setArgAttr(i, kMayAliasAttr, alias);
    }
    Builder b(shared.getContext());
    if (!comment.empty())
      shared.setComment(comment);
    addArguments(shared, parameters);
    for (auto [m, kernel] : llvm::enumerate(group.members)) {
      SmallVector<int64_t> values;
      for (const Parameter &p : parameters)
        if (p.base < 0)
          values.push_back(p.values[m]);
      for (LaunchOp launch : launches[kernel->function.getName()]) {
        launch.setCallee(name);
        if (!values.empty())
          launch.setValues(values);
      }
    }
    for (Kernel *kernel : group.members)
      symbols.erase(kernel->function);
    dropNeutral(shared);
    joinNumbers(shared);
    KeepNames names;
    IRRewriter rewriter(shared.getContext(), &names);
    DominanceInfo dominance(shared);
    eliminateCommonSubExpressions(rewriter, dominance, shared);
  }

  /// Drops multiplications by 1 and additions of 0, which flattening inserts.
  static void dropNeutral(FuncOp function) {
    function.walk([](Operation *op) {
      bool product = isa<arith::MulIOp>(op);
      if ((product || isa<arith::AddIOp>(op)) &&
          constantIndex(op->getOperand(1)) == (product ? 1 : 0)) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        op->erase();
      }
    });
  }

  /// Adds an argument for each parameter that is not computed from others, and
  /// replaces the integers by the parameters. The new arguments follow the
  /// buffers and precede the bounds of the range that a thread of a parallel
  /// kernel gets.
  static void addArguments(FuncOp function,
                           MutableArrayRef<Parameter> parameters) {
    Builder b(function.getContext());
    Location loc = function.getLoc();
    unsigned at = function.getNumArguments() - partArguments(function);
    SmallVector<Value> values;
    auto inside = OpBuilder::atBlockBegin(&function.getBody().front());
    for (Parameter &p : parameters) {
      std::string name = nameFor(p);
      Value value;
      if (p.base < 0) {
        NamedAttribute named(b.getStringAttr(kNameAttr), b.getStringAttr(name));
        (void)function.insertArgument(at, b.getIndexType(),
                                      b.getDictionaryAttr(named), loc);
        value = function.getArgument(at++);
      } else {
        Location place = named(loc, name);
        Value by = p.other < 0
                       ? arith::ConstantIndexOp::create(inside, loc, p.factor)
                             .getResult()
                       : values[p.other];
        value = p.addend
                    ? arith::AddIOp::create(
                          inside, place, values[p.base],
                          arith::ConstantIndexOp::create(inside, loc, p.addend))
                          .getResult()
                    : arith::MulIOp::create(inside, place, values[p.base], by)
                          .getResult();
      }
      values.push_back(value);
      for (OpOperand *use : p.uses)
        use->set(value);
    }
  }
};

} // namespace
} // namespace ingot::plan
