// Tests the estimates of how many bytes groups of operators read.
#include "passes/schedule/GroupCost.h"

#include "compiler/Compile.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace ingot;

/// Returns how many bytes a group of these operators is estimated to read of
/// %table, its first operand, which has 1000 x 64 elements of 4 bytes. The
/// other operands are a 2 x 1000 matrix and %at, 3 positions.
static int64_t bytesOfTable(const std::string &operators,
                            const std::string &table) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string text =
      "func.func @main(%t: " + table +
      ", %x: tensor<2x1000xf32>, %i: tensor<3xsi64>) -> tensor<3x64xf32> {\n"
      "  %y = graph.group \"loop-nest\"(%t, %x, %i) : (" +
      table + ", tensor<2x1000xf32>, tensor<3xsi64>) -> tensor<3x64xf32> {\n" +
      "  ^bb0(%table: " + table +
      ", %rows: tensor<2x1000xf32>, %at: tensor<3xsi64>):\n" + operators +
      "    graph.yield %y : tensor<3x64xf32>\n  }\n"
      "  return %y : tensor<3x64xf32>\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      text, ParserConfig(context.get(), /*verifyAfterParse=*/true));
  REQUIRE(module);
  int64_t bytes = -1;
  module->walk([&](graph::GroupOp group) {
    bytes = schedule::bytesRead(group.getBody().getArgument(0));
  });
  return bytes;
}

TEST_CASE("of what is gathered from a table its rows are read") {
  const std::string table = "tensor<1000x64xf32>", packed = "tensor<64000xf32>",
                    gather = "    %y = graph.gather %u, %at {axis = 0 : i64} : "
                             "(tensor<1000x64xf32>, tensor<3xsi64>) -> "
                             "tensor<3x64xf32>\n";
  CHECK(bytesOfTable("    %y = graph.gather %table, %at {axis = 0 : i64} : "
                     "(tensor<1000x64xf32>, tensor<3xsi64>) -> "
                     "tensor<3x64xf32>\n",
                     table) == 3 * 64 * 4);
  // If the table is stored in panels (packed columns), because a matmul uses it
  // too, still only the gathered rows are read.
  CHECK(bytesOfTable(
            "    %p = graph.unpack_panels %table {panel = 1 : i64, tail = 0 : "
            "i64, group = 4 : i64} : (tensor<64000xf32>) -> "
            "tensor<64x1000xf32>\n"
            "    %u = graph.transpose %p {perm = array<i64: 1, 0>} : "
            "(tensor<64x1000xf32>) -> tensor<1000x64xf32>\n" +
                gather,
            packed) == 3 * 64 * 4);
  // If another operator reads the whole table, all of it counts.
  CHECK(bytesOfTable(
            "    %u = graph.reshape %table : (tensor<64000xf32>) -> "
            "tensor<1000x64xf32>\n"
            "    %g = graph.gather %u, %at {axis = 0 : i64} : "
            "(tensor<1000x64xf32>, tensor<3xsi64>) -> tensor<3x64xf32>\n"
            "    %r = graph.reduce_sum %u {axes = array<i64: 0>} : "
            "(tensor<1000x64xf32>) -> tensor<1x64xf32>\n"
            "    %y = graph.add %g, %r : (tensor<3x64xf32>, tensor<1x64xf32>) "
            "-> tensor<3x64xf32>\n",
            packed) == 64000 * 4);
}
