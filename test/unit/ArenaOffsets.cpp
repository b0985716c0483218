// What passes/memory/ArenaOffsets.h promises, on random and on simple requests.
#include "passes/memory/ArenaOffsets.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace ingot::memory;

static std::vector<ArenaRequest> randomRequests(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ArenaRequest> requests(1 + random() % 60);
  for (ArenaRequest &request : requests) {
    request.bytes = 64 * (1 + random() % 50);
    request.first = random() % 40;
    request.last = request.first + random() % 8;
  }
  return requests;
}

TEST_CASE("no two buffers alive at one step overlap", "[memory]") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    std::vector<ArenaRequest> requests = randomRequests(seed);
    ArenaPlan plan = planArena(requests);
    REQUIRE(plan.offsets.size() == requests.size());
    int64_t end = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      const ArenaRequest &a = requests[i];
      REQUIRE(plan.offsets[i] >= 0);
      REQUIRE(plan.offsets[i] % 64 == 0);
      end = std::max(end, plan.offsets[i] + a.bytes);
      for (size_t j = 0; j < i; ++j) {
        const ArenaRequest &b = requests[j];
        bool together = a.first <= b.last && b.first <= a.last;
        bool apart = plan.offsets[i] + a.bytes <= plan.offsets[j] ||
                     plan.offsets[j] + b.bytes <= plan.offsets[i];
        REQUIRE((!together || apart));
      }
    }
    CHECK(plan.bytes == end);
  }
}

TEST_CASE("the lower bound is what is alive at one step", "[memory]") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    std::vector<ArenaRequest> requests = randomRequests(seed);
    int64_t most = 0;
    for (int64_t step = 0; step < 50; ++step) {
      int64_t bytes = 0;
      for (const ArenaRequest &r : requests)
        bytes += r.first <= step && step <= r.last ? r.bytes : 0;
      most = std::max(most, bytes);
    }
    ArenaPlan plan = planArena(requests);
    CHECK(plan.lowerBound == most);
    CHECK(plan.bytes >= plan.lowerBound);
    CHECK(plan.bytes <= 1.05 * static_cast<double>(plan.lowerBound));
  }
}

TEST_CASE("chains and residual chains reach the lower bound", "[memory]") {
  std::mt19937 random(7);
  for (int64_t skip : {0, 2, 5}) {
    INFO("alive for " << skip << " more steps");
    std::vector<ArenaRequest> requests;
    for (int64_t step = 0; step < 100; ++step)
      requests.push_back({int64_t(64 * (1 + random() % 100)), step,
                          step + 1 + (step % 4 == 0 ? skip : 0)});
    ArenaPlan plan = planArena(requests);
    CHECK(plan.bytes == plan.lowerBound);
  }
}

TEST_CASE("the same requests give the same offsets", "[memory]") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::vector<ArenaRequest> requests = randomRequests(seed);
    CHECK(planArena(requests).offsets == planArena(requests).offsets);
  }
}

TEST_CASE("nothing to place needs nothing", "[memory]") {
  ArenaPlan plan = planArena({});
  CHECK(plan.bytes == 0);
  CHECK(plan.lowerBound == 0);
}
