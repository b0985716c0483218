// Tests dialects/kernel/Sizes.h: the lower and upper bounds of sizes.
#include "dialects/kernel/Sizes.h"
#include "dialects/kernel/KernelDialect.h"

#include <catch2/catch.hpp>
#include <functional>
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
  // The size of the last of four parts is least for n = 1: 1 - 3 * 1.
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

TEST_CASE("a question about sizes has three answers", "[sizes]") {
  Symbols symbols;
  Dim n = symbols.symbol("n", 1, 8), m = symbols.symbol("m", 2, 8);
  CHECK(n.is(1) == std::nullopt);
  CHECK(n.is(9) == false);
  CHECK(m.is(1) == false);
  CHECK(Dim(1).is(1) == true);
  CHECK(n.mayBe(1));
  CHECK_FALSE(m.mayBe(1));
  CHECK(isEqual(n, n) == true);
  CHECK(isEqual(n, n + 1) == false);
  CHECK(isEqual(n, m) == std::nullopt);
  CHECK(isLess(n, m + 8) == true);
  CHECK(isLess(n + 1, m) == std::nullopt);
  CHECK(isLess(n + 1, n) == false);
  CHECK(surelyDiffer(n * 2, n * 2 + 1));
  CHECK_FALSE(surelyDiffer(n, m));
}

TEST_CASE("bounds that no integer holds are the largest ones", "[sizes]") {
  Symbols symbols;
  int64_t large = int64_t(1) << 40;
  Dim a = symbols.symbol("a", 0, large), b = symbols.symbol("b", 1, large);
  CHECK((a * b).most() == INT64_MAX);
  CHECK((a * b).least() == 0);
  CHECK((a * b * -1).least() == -INT64_MAX);
  CHECK((a * b + a * b).most() == INT64_MAX);
  // INT64_MAX means an unknown bound. Dividing it gives INT64_MAX again.
  CHECK((a * b).floorDiv(1024).most() == INT64_MAX);
  // INT64_MAX can still be compared, since Slice uses it for "to the end".
  CHECK(isLess(a, INT64_MAX) == true);
  CHECK(smallerOf(a, INT64_MAX) == a);
  CHECK(largerOf(a, INT64_MIN) == a);
  // Intermediate results above 2^20 are exact.
  Dim n = symbols.symbol("n", 1, 16000);
  CHECK((n * 80 + 440).floorDiv(441).most() == 2903);
}

TEST_CASE("parts of a product are not larger than it", "[sizes]") {
  Symbols symbols;
  Dim a = symbols.symbol("a", 0, 64), b = symbols.symbol("b", 0, 64);
  Dim product = a * b * (a + 1);
  Dim rest = product - product.floorDiv(12) * 12;
  CHECK(rest.least() == 0);
  CHECK(rest.most() == 11);
}

TEST_CASE("a choice is within what it is chosen of", "[sizes]") {
  Symbols symbols;
  Dim n = symbols.symbol("n", 0, 9), m = symbols.symbol("m", 2, 7);
  CHECK(smallerOf(n, 9) == n);
  CHECK(smallerOf(n, 4) == smallerOf(4, n));
  CHECK(largerOf(n, m).least() == 2);
  CHECK(largerOf(n, m).most() == 9);
  // These bounds follow from what a minimum and a maximum are, not from the
  // bounds of n and m.
  CHECK((n - smallerOf(n, m)).least() == 0);
  CHECK((largerOf(n, m) - n).least() == 0);
  CHECK((largerOf(n, m) * 3 - m * 3).least() == 0);
  CHECK((smallerOf(largerOf(n - 4, 0), m) - m).most() == 0);
  CHECK(ifLess(n, m, n, m) == smallerOf(n, m));
  CHECK(ifEqual(n, m, m, n) == n);
  // Comparing the result of a comparison (1 or 0) with a number simplifies to
  // the comparison itself.
  Dim same = ifEqual(n, m, 1, 0);
  CHECK(ifEqual(same, 0, 5, n) == ifEqual(n, m, n, 5));
  CHECK(floorDiv(n * m, m) == n);
  CHECK(floorDiv(n, m).most() == 4);
}

TEST_CASE("choices have the values of their definitions", "[sizes]") {
  Symbols symbols;
  std::mt19937 random(11);
  auto number = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  using Value = std::function<int64_t(int64_t, int64_t)>;
  for (int run = 0; run < 300; ++run) {
    Dim n = symbols.symbol("n", 0, 6), m = symbols.symbol("m", 1, 5);
    std::vector<std::pair<Dim, Value>> sizes{
        {n, [](int64_t i, int64_t) { return i; }},
        {m, [](int64_t, int64_t j) { return j; }},
        {Dim(3), [](int64_t, int64_t) { return 3; }}};
    auto any = [&] { return sizes[number(0, sizes.size() - 1)]; };
    for (int step = 0; step < 5; ++step) {
      auto [x, xValue] = any();
      auto [y, yValue] = any();
      auto [a, aValue] = any();
      switch (number(0, 6)) {
      case 0:
        sizes.push_back({smallerOf(x, y), [=](int64_t i, int64_t j) {
                           return std::min(xValue(i, j), yValue(i, j));
                         }});
        break;
      case 1:
        sizes.push_back({largerOf(x, y), [=](int64_t i, int64_t j) {
                           return std::max(xValue(i, j), yValue(i, j));
                         }});
        break;
      case 2:
        sizes.push_back({ifLess(x, y, a, x), [=](int64_t i, int64_t j) {
                           return xValue(i, j) < yValue(i, j) ? aValue(i, j)
                                                              : xValue(i, j);
                         }});
        break;
      case 3:
        sizes.push_back({ifEqual(x, y, a, y), [=](int64_t i, int64_t j) {
                           return xValue(i, j) == yValue(i, j) ? aValue(i, j)
                                                               : yValue(i, j);
                         }});
        break;
      case 4:
        sizes.push_back({floorDiv(x, m), [=](int64_t i, int64_t j) {
                           int64_t value = xValue(i, j);
                           return value / j - (value % j < 0);
                         }});
        break;
      case 5:
        sizes.push_back({x - y * 2, [=](int64_t i, int64_t j) {
                           return xValue(i, j) - 2 * yValue(i, j);
                         }});
        break;
      default:
        sizes.push_back({x * a, [=](int64_t i, int64_t j) {
                           return xValue(i, j) * aValue(i, j);
                         }});
      }
    }
    for (const auto &[size, value] : sizes) {
      INFO(sizeText(size));
      for (int64_t i = 0; i <= 6; ++i)
        for (int64_t j = 1; j <= 5; ++j) {
          int64_t found = size.at([&](SymbolAttr symbol) {
            return symbol.getName() == "n" ? i : j;
          });
          REQUIRE(found == value(i, j));
          REQUIRE(found >= size.least());
          REQUIRE(found <= size.most());
          Dim fixed = size.with([&](SymbolAttr symbol) {
            return Dim(symbol.getName() == "n" ? i : j);
          });
          REQUIRE(fixed.known() == found);
        }
    }
  }
}
