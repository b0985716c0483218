// Outlines operations on strings into functions.
//
//   %n = kernel.string_length %s
//     ->
//   %n = call @string_length(%s) : (!kernel.string) -> index
//
//   func.func private @string_length(%s: !kernel.string) -> index {
//     %n = scf.while (%i = %c0) ... until kernel.character %s[%i] is zero
//     return %n : index
//   }
//
// Each of these loops is printed once, and generated code does not need strlen
// and strcmp.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/legalize/Passes.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_OUTLINESTRINGS
#include "passes/legalize/Passes.h.inc"

namespace {

class StringFunctions {
public:
  explicit StringFunctions(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}

  /// Replaces `op` by a call of its function. Creates the function on first
  /// use.
  void outline(Operation *op) {
    bool isLength = isa<kernel::StringLengthOp>(op);
    func::FuncOp &function = isLength ? length : same;
    if (!function && isLength)
      function = make(
          "string_length",
          "The bytes before the zero; no string has more than 2^31 - 1.",
          {"string"}, builder.getIndexType(), &StringFunctions::buildLength);
    else if (!function)
      function =
          make("same_string", "Whether two strings have the same bytes.",
               {"x", "y"}, builder.getI1Type(), &StringFunctions::buildSame);
    OpBuilder at(op);
    auto call =
        func::CallOp::create(at, op->getLoc(), function, op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }

private:
  func::FuncOp make(StringRef name, StringRef comment,
                    ArrayRef<StringRef> arguments, Type result,
                    Value (StringFunctions::*body)(ValueRange)) {
    builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> types(arguments.size(),
                            kernel::StringType::get(module.getContext()));
    auto function = func::FuncOp::create(
        builder, module.getLoc(), name, builder.getFunctionType(types, result));
    function.setPrivate();
    function->setAttr(kernel::kCommentAttr, builder.getStringAttr(comment));
    for (auto [i, argument] : llvm::enumerate(arguments))
      function.setArgAttr(i, kernel::kNameAttr,
                          builder.getStringAttr(argument));
    // Renames the function if the model already has a kernel of this name.
    symbols.insert(function);
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    Value value = (this->*body)(entry->getArguments());
    func::ReturnOp::create(builder, module.getLoc(), value);
    return function;
  }

  Value character(Value string, Value position) {
    return kernel::CharacterOp::create(builder, module.getLoc(),
                                       builder.getI8Type(), string, position);
  }

  /// Builds a loop that returns the first position in a string for which
  /// `stays` is false.
  Value firstWhere(llvm::function_ref<Value(Value)> stays) {
    Location loc = module.getLoc();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    auto loop = scf::WhileOp::create(
        builder, loc, TypeRange{builder.getIndexType()}, ValueRange{zero},
        [&](OpBuilder &inside, Location, ValueRange carried) {
          OpBuilder::InsertionGuard guard(builder);
          builder.restoreInsertionPoint(inside.saveInsertionPoint());
          kernel::nameValue(carried[0], "position");
          Value goesOn = stays(carried[0]);
          scf::ConditionOp::create(builder, loc, goesOn, carried);
        },
        [&](OpBuilder &inside, Location, ValueRange carried) {
          Value one = arith::ConstantIndexOp::create(inside, loc, 1);
          Value next = arith::AddIOp::create(inside, loc, carried[0], one);
          scf::YieldOp::create(inside, loc, next);
        });
    builder.setInsertionPointAfter(loop);
    return loop.getResult(0);
  }

  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(builder, module.getLoc(), predicate, x, y);
  }
  Value isNotZero(Value byte) {
    Value zero =
        arith::ConstantIntOp::create(builder, module.getLoc(), 0, /*width=*/8);
    return compare(arith::CmpIPredicate::ne, byte, zero);
  }

  Value buildLength(ValueRange arguments) {
    // The loop has an upper bound, since compilers recognize a loop without one
    // as strlen and would call strlen.
    Location loc = module.getLoc();
    Value most = arith::ConstantIndexOp::create(builder, loc, INT32_MAX);
    return firstWhere([&](Value position) {
      Value isInside = compare(arith::CmpIPredicate::slt, position, most);
      return arith::AndIOp::create(builder, loc, isInside,
                                   isNotZero(character(arguments[0], position)))
          .getResult();
    });
  }

  Value buildSame(ValueRange arguments) {
    Value end = firstWhere([&](Value position) {
      Value x = character(arguments[0], position),
            y = character(arguments[1], position);
      Value same = compare(arith::CmpIPredicate::eq, x, y);
      return arith::AndIOp::create(builder, module.getLoc(), same, isNotZero(x))
          .getResult();
    });
    return compare(arith::CmpIPredicate::eq, character(arguments[0], end),
                   character(arguments[1], end));
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  func::FuncOp length, same;
};

struct OutlineStringsPass : impl::OutlineStringsBase<OutlineStringsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> work;
    getOperation().walk([&](Operation *op) {
      if (isa<kernel::SameStringOp, kernel::StringLengthOp>(op))
        work.push_back(op);
    });
    if (work.empty())
      return;
    StringFunctions functions(getOperation());
    for (Operation *op : work)
      functions.outline(op);
  }
};

} // namespace
} // namespace ingot::legalize
