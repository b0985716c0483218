// Checks that the generated IR grows linearly with the model: twice the
// operators give about twice the operations, also if values have several users.
// Operations are counted, not timed.

#include "compiler/Compile.h"
#include "dialects/graph/ElementBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace ingot;

namespace {

/// A chain of operators in which each step uses the previous value several
/// times.
struct Chain {
  const char *name;
  /// The text of one step: %P is the previous value, %S the number of the step.
  std::string step;
  /// The size of axis 1 before the first step, and how much each step reduces
  /// it.
  int64_t size = 64, shrinks = 0;

  /// Returns a function that applies the step `steps` times to its argument.
  std::string function(int steps) const {
    std::string lines;
    int64_t length = size;
    auto tensor = [&] {
      return "tensor<64x" + std::to_string(length) + "xf32>";
    };
    std::string argument = tensor(), before = "%x";
    for (int i = 0; i < steps; ++i) {
      std::string number = std::to_string(i), line = step, from = tensor();
      length -= shrinks;
      for (auto [mark, text] :
           {std::pair<std::string, std::string>{"$P", before},
            {"$S", number},
            {"$F", from},
            {"$T", tensor()}})
        for (size_t at; (at = line.find(mark)) != std::string::npos;)
          line.replace(at, mark.size(), text);
      lines += line;
      before = "%y" + number;
    }
    return "func.func @main(%x: " + argument + ") -> " + tensor() + " {\n" +
           lines + "return " + before + " : " + tensor() + "\n}";
  }
};

std::string binary(const char *result, const char *op, const char *a,
                   const char *b) {
  return std::string(result) + "$S = graph." + op + " " + a + ", " + b +
         " : ($T, $T) -> $T\n";
}

const Chain chains[] = {
    {"x + x * x * x", binary("%q", "mul", "$P", "$P") +
                          binary("%c", "mul", "%q$S", "$P") +
                          binary("%y", "add", "$P", "%c$S")},
    {"x * sigmoid(x)", "%s$S = graph.sigmoid $P : ($T) -> $T\n" +
                           binary("%y", "mul", "$P", "%s$S")},
    {"x + transpose(x)",
     "%t$S = graph.transpose $P {perm = array<i64: 1, 0>} : ($T) -> $T\n" +
         binary("%y", "add", "$P", "%t$S")},
    {"x[1:] + x[:-1]",
     "%l$S = graph.slice $P {starts = array<i64: 0, 1>, steps = array<i64: 1, "
     "1>} : ($F) -> $T\n"
     "%r$S = graph.slice $P {starts = array<i64: 0, 0>, steps = array<i64: 1, "
     "1>} : ($F) -> $T\n" +
         binary("%y", "add", "%l$S", "%r$S"),
     256, 1},
};

struct Counter : OpBuilder::Listener {
  size_t created = 0;
  void notifyOperationInserted(Operation *, OpBuilder::InsertPoint) override {
    ++created;
  }
};

/// Returns the number of operations created to build one element of the
/// function's result.
size_t createdForOneElement(const std::string &text, int64_t lanes) {
  auto context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, context.get());
  REQUIRE(module);
  auto main = module->lookupSymbol<func::FuncOp>("main");
  Value x = main.getArgument(0);
  Value y = main.getBody().front().getTerminator()->getOperand(0);
  Counter counter;
  OwningOpRef<ModuleOp> target = ModuleOp::create(module->getLoc());
  OpBuilder builder(context.get(), &counter);
  builder.setInsertionPointToEnd(target->getBody());
  auto kernel = func::FuncOp::create(
      builder, module->getLoc(), "f",
      builder.getFunctionType(
          {graph::storageType(cast<RankedTensorType>(x.getType()))}, {}));
  builder.setInsertionPointToStart(kernel.addEntryBlock());
  graph::ElementBuilder b(builder, module->getLoc());
  b.bindBuffer(x, kernel.getArgument(0));
  (void)b.withLanes(lanes, [&] { return b.load(y, {b.index(3), b.index(0)}); });
  return counter.created;
}

/// Returns the number of operations in the function's module after a stage.
size_t countAfter(const std::string &text, Stage stage) {
  auto context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, context.get());
  REQUIRE(module);
  PipelineOptions options;
  options.target = lookupTarget("x86-64-v3");
  REQUIRE(succeeded(runPipeline(*module, options, stage)));
  size_t count = 0;
  module->walk([&](Operation *) { ++count; });
  return count;
}

} // namespace

TEST_CASE("an element with several readers is built once") {
  for (const Chain &chain : chains)
    for (int64_t lanes : {1, 8}) {
      INFO(chain.name << " in " << lanes << " lanes");
      size_t shorter = createdForOneElement(chain.function(10), lanes),
             longer = createdForOneElement(chain.function(20), lanes);
      // If steps shrink axis 1, each element needs more neighbours the longer
      // the chain is.
      CHECK(longer <= (chain.shrinks ? 4.4 : 2.2) * shorter);
    }
}

TEST_CASE("every stage is linear in the length of a chain") {
  for (const Chain &chain : chains)
    for (Stage stage : {Stage::Decide, Stage::Schedule, Stage::Plan}) {
      INFO(chain.name << " after " << stageNames()[static_cast<size_t>(stage)]);
      size_t shorter = countAfter(chain.function(100), stage),
             longer = countAfter(chain.function(200), stage);
      CHECK(longer <= 2.2 * shorter);
    }
}
