// dialects/kernel/Sizes.h: what a size is at least and at most.
#include "dialects/kernel/Sizes.h"
#include "dialects/kernel/KernelDialect.h"

#include <catch2/catch.hpp>
#include <random>

using namespace ingot::kernel;

namespace {
struct Symbols {
  Symbols() { context.loadDialect<KernelDialect>(); }
  Dim symbol(llvm::StringRef name, int64_t least, int64_t most) {
    return Dim(SymbolAttr::get(&context, mlir::StringAttr::get(&context, name),
                               least, most));
  }
  mlir::MLIRContext context;
};
} // namespace

TEST_CASE("parts of a size are not larger than it", "[sizes]") {
  Symbols symbols;
  Dim n = symbols.symbol("n", 0, 1000);
  CHECK((n - n.floorDiv(2)).least() == 0);
  CHECK((n - (n + 1).floorDiv(2)).least() == 0);
  CHECK((n - (n + 1).floorDiv(2)).most() == 500);
  // The last of four parts: 1 - 3 * 1 is the least.
  CHECK((n - (n + 3).floorDiv(4) * 3).least() == -2);
  CHECK((n - n.floorDiv(8) * 8).most() == 7);
  Dim m = symbols.symbol("m", 0, 10);
  CHECK(((n - n.floorDiv(2)) * m).most() == 5000);
}

TEST_CASE("a product is the same in any order", "[sizes]") {
  Symbols symbols;
  Dim n = symbols.symbol("n", 0, 100), m = symbols.symbol("m", 0, 100);
  for (Dim other : {m, n}) {
    Dim rows = n + 1, columns = (other - 1).floorDiv(2) + 1;
    CHECK(rows * 112 * columns == rows * columns * 112);
    CHECK((rows * 4) * (columns * 28) == columns * 112 * rows);
    CHECK((rows * columns * 112).dividedBy(rows * 56) == columns * 2);
  }
}

TEST_CASE("many sizes add up in any order", "[sizes]") {
  Symbols symbols;
  constexpr int64_t count = 100;
  Dim up = 0, down = 0;
  for (int64_t i = 0; i < count; ++i) {
    up += symbols.symbol("n" + std::to_string(i), i, 2 * i + 1);
    int64_t j = count - 1 - i;
    down += symbols.symbol("n" + std::to_string(j), j, 2 * j + 1);
  }
  CHECK(up == down);
  CHECK(up.least() == 4950);
  CHECK(up.most() == 10000);
  CHECK((up - up.floorDiv(2) * 2).most() == 1);
}

TEST_CASE("a size is within its bounds", "[sizes]") {
  Symbols symbols;
  std::mt19937 random(7);
  auto number = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int run = 0; run < 300; ++run) {
    int64_t low = number(0, 3), high = low + number(1, 6);
    Dim n = symbols.symbol("n", low, high), m = symbols.symbol("m", 1, 5);
    Dim size = n;
    for (int step = 0; step < 5; ++step) {
      int64_t by = number(1, 4);
      switch (number(0, 4)) {
      case 0:
        size = size.floorDiv(by);
        break;
      case 1:
        size = size * (by - 3);
        break;
      case 2:
        size = size + m * (by - 2);
        break;
      case 3:
        size = n - size;
        break;
      default:
        size = size * m + by;
      }
    }
    INFO(sizeText(size));
    for (int64_t i = low; i <= high; ++i)
      for (int64_t j = 1; j <= 5; ++j) {
        int64_t value = size.at(
            [&](SymbolAttr symbol) { return symbol.getName() == "n" ? i : j; });
        REQUIRE(value >= size.least());
        REQUIRE(value <= size.most());
      }
  }
}
