// Builds the code of one operator from its definition (the rule that computes
// one element), and verifies the code.

#ifndef INGOT_TEST_UNIT_DEFINITION_H
#define INGOT_TEST_UNIT_DEFINITION_H

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace ingot::graph;

struct Definition {
  Definition() {
    context.loadDialect<GraphDialect, ingot::kernel::KernelDialect,
                        arith::ArithDialect, func::FuncDialect,
                        math::MathDialect, memref::MemRefDialect,
                        scf::SCFDialect, vector::VectorDialect>();
  }

  /// Parses `text`, a function with one graph operator, and builds the code of
  /// the operator, for `lanes` elements at a time. Returns whether the code
  /// passes MLIR's verifier.
  bool builds(const std::string &text, int64_t lanes) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return false;
    Operation *op = nullptr;
    module->walk([&](Operation *inner) {
      if (isa<ElementOpInterface, BodyOpInterface>(inner))
        op = inner;
    });
    OwningOpRef<ModuleOp> target = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockEnd(target->getBody());
    SmallVector<Type> types;
    for (Type type : op->getOperandTypes())
      types.push_back(storageType(cast<RankedTensorType>(type)));
    for (Type type : op->getResultTypes())
      types.push_back(storageType(cast<RankedTensorType>(type)));
    auto func = func::FuncOp::create(builder, builder.getUnknownLoc(), "f",
                                     builder.getFunctionType(types, {}));
    Block *block = func.addEntryBlock();
    builder.setInsertionPointToStart(block);
    BodyBuilder b(builder, builder.getUnknownLoc(),
                  block->getArguments().drop_front(op->getNumOperands()));
    for (auto [operand, argument] :
         llvm::zip(op->getOperands(), block->getArguments()))
      b.bindBuffer(operand, argument);
    if (auto body = dyn_cast<BodyOpInterface>(op)) {
      b.vectorLanes = lanes;
      body.emitBody(b);
    } else {
      Exprs idx(shapeOf(op->getResult(0)).size(), b.index(0));
      (void)b.withLanes(lanes, [&] {
        Expr e = b.load(op->getResult(0), idx);
        b.store(0, e, idx);
        return e;
      });
    }
    func::ReturnOp::create(builder, builder.getUnknownLoc());
    return succeeded(verify(*target));
  }
  bool builds(const std::string &text) {
    return builds(text, 1) && builds(text, 4);
  }

  MLIRContext context;
};

inline std::string module(const std::string &op,
                          const std::vector<std::string> &operands,
                          const std::string &result) {
  std::string arguments, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    arguments += (i ? ", %" : "%") + std::to_string(i) + ": " + operands[i];
    types += (i ? ", " : "") + operands[i];
  }
  std::string names;
  for (size_t i = 0; i < operands.size(); ++i)
    names += (i ? ", %" : "%") + std::to_string(i);
  size_t brace = op.find('{');
  std::string name = op.substr(0, brace),
              attributes =
                  brace == std::string::npos ? "" : " " + op.substr(brace);
  return "func.func @f(" + arguments + ") -> " + result + " { %r = " + name +
         " " + names + attributes + " : (" + types + ") -> " + result +
         " return %r : " + result + " }";
}
inline std::string tensor(const std::string &type) {
  return "tensor<2x8x" + type + ">";
}

#endif // INGOT_TEST_UNIT_DEFINITION_H
