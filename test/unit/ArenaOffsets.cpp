// Tests the guarantees of ArenaOffsets.h, which places buffers with live ranges
// in one block of memory, on random and on simple requests.
#include "passes/plan/ArenaOffsets.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace ingot::plan;

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

TEST_CASE("the lower bound is the size of the live ranges at one step",
          "[memory]") {
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

/// Returns a buffer with 1 to 6 parts, each with its own live range.
static ArenaRequest randomLiveRanges(std::mt19937 &random, int64_t first) {
  ArenaRequest request{0, first, first};
  for (unsigned n = 1 + random() % 6; n > 0; --n) {
    int64_t begin = request.bytes, start = first + int64_t(random() % 5);
    request.bytes += 32 * (1 + random() % 8);
    request.liveRanges.push_back(
        {begin, request.bytes, start, start + int64_t(random() % 5)});
    request.last = std::max(request.last, request.liveRanges.back().last);
  }
  request.bytes = (request.bytes + 63) / 64 * 64;
  return request;
}

TEST_CASE("no two ranges live at one step overlap", "[memory]") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    std::vector<ArenaRequest> requests = randomRequests(seed);
    std::mt19937 random(seed);
    for (int64_t step = 0; step < 40; step += 3)
      requests.push_back(randomLiveRanges(random, step));
    ArenaPlan plan = planArena(requests, 64);
    CHECK(plan.bytes >= plan.lowerBound);
    auto liveRangesOf = [](const ArenaRequest &r) {
      return r.liveRanges.empty()
                 ? std::vector<LiveRange>{{0, r.bytes, r.first, r.last}}
                 : r.liveRanges;
    };
    for (size_t i = 0; i < requests.size(); ++i) {
      REQUIRE(plan.offsets[i] >= 0);
      REQUIRE(plan.offsets[i] % 64 == 0);
      REQUIRE(plan.offsets[i] + requests[i].bytes <= plan.bytes);
      for (size_t j = 0; j < i; ++j)
        for (const LiveRange &a : liveRangesOf(requests[i]))
          for (const LiveRange &b : liveRangesOf(requests[j])) {
            bool together = a.first <= b.last && b.first <= a.last;
            bool apart = plan.offsets[i] + a.end <= plan.offsets[j] + b.begin ||
                         plan.offsets[j] + b.end <= plan.offsets[i] + a.begin;
            REQUIRE((!together || apart));
          }
    }
  }
}

TEST_CASE("a chain that creeps to and fro takes little more than one buffer",
          "[memory]") {
  // Six buffers of ten rows. Each row of a buffer is written while a row of the
  // previous buffer is read, alternately from the first and from the last row
  // on.
  constexpr int64_t rows = 10, row = 64;
  std::vector<ArenaRequest> requests;
  for (int64_t n = 0; n < 6; ++n) {
    ArenaRequest request{rows * row, n * rows, (n + 2) * rows - 1};
    for (int64_t r = 0; r < rows; ++r) {
      int64_t written = n % 2 ? r : rows - 1 - r,
              read = n % 2 ? rows - 1 - r : r;
      request.liveRanges.push_back(
          {r * row, (r + 1) * row, n * rows + written, (n + 1) * rows + read});
    }
    requests.push_back(request);
  }
  ArenaPlan plan = planArena(requests, 64);
  CHECK(plan.lowerBound == (rows + 1) * row);
  CHECK(plan.bytes == plan.lowerBound);
}
