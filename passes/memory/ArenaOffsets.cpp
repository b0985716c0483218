//===- ArenaOffsets.cpp ---------------------------------------------------===//

#include "passes/memory/ArenaOffsets.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace ingot::memory {
namespace {

bool alive(const ArenaRequest &a, const ArenaRequest &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// First fit in the given order: each buffer at the lowest offset where it
/// overlaps none placed before that is alive with it.
int64_t firstFit(const std::vector<ArenaRequest> &requests,
                 const std::vector<unsigned> &order,
                 std::vector<int64_t> &offsets) {
  int64_t peak = 0;
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t n = 0; n < order.size(); ++n) {
    const ArenaRequest &request = requests[order[n]];
    taken.clear();
    for (size_t m = 0; m < n; ++m)
      if (alive(request, requests[order[m]]))
        taken.push_back(
            {offsets[order[m]], offsets[order[m]] + requests[order[m]].bytes});
    std::sort(taken.begin(), taken.end());
    int64_t at = 0;
    for (auto [begin, end] : taken) {
      if (at + request.bytes <= begin)
        break;
      at = std::max(at, end);
    }
    offsets[order[n]] = at;
    peak = std::max(peak, at + request.bytes);
  }
  return peak;
}

/// In order of time, every other buffer at the lowest offset and the others at
/// the highest below `size`: what a chain needs, where each buffer is alive
/// with its neighbours only. False if that does not fit.
bool fromBothEnds(const std::vector<ArenaRequest> &requests, int64_t size,
                  std::vector<int64_t> &offsets) {
  std::vector<unsigned> order(requests.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return std::make_pair(requests[a].first, a) <
           std::make_pair(requests[b].first, b);
  });
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t n = 0; n < order.size(); ++n) {
    const ArenaRequest &request = requests[order[n]];
    bool fromTop = n % 2;
    taken.clear();
    for (size_t m = 0; m < n; ++m) {
      const ArenaRequest &other = requests[order[m]];
      int64_t begin = offsets[order[m]], end = begin + other.bytes;
      if (alive(request, other))
        taken.push_back(fromTop ? std::make_pair(size - end, size - begin)
                                : std::make_pair(begin, end));
    }
    std::sort(taken.begin(), taken.end());
    int64_t at = 0;
    for (auto [begin, end] : taken) {
      if (at + request.bytes <= begin)
        break;
      at = std::max(at, end);
    }
    if (at + request.bytes > size)
      return false;
    offsets[order[n]] = fromTop ? size - at - request.bytes : at;
  }
  return true;
}

int64_t lowerBound(const std::vector<ArenaRequest> &requests) {
  std::vector<std::pair<int64_t, int64_t>> changes; // step, bytes
  for (const ArenaRequest &r : requests) {
    changes.push_back({2 * r.first, r.bytes});
    changes.push_back({2 * r.last + 1, -r.bytes});
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0;
  for (auto [step, bytes] : changes)
    most = std::max(most, now += bytes);
  return most;
}

} // namespace

ArenaPlan planArena(const std::vector<ArenaRequest> &requests) {
  ArenaPlan plan;
  plan.lowerBound = lowerBound(requests);
  plan.offsets.resize(requests.size());
  if (requests.empty())
    return plan;
  std::vector<unsigned> best(requests.size());
  std::iota(best.begin(), best.end(), 0u);
  std::vector<int64_t> offsets(requests.size());
  plan.bytes = firstFit(requests, best, plan.offsets);
  auto attempt = [&](const std::vector<unsigned> &order) {
    int64_t bytes = firstFit(requests, order, offsets);
    if (bytes > plan.bytes)
      return false;
    best = order;
    plan.bytes = bytes;
    plan.offsets = offsets;
    return true;
  };
  auto tryBy = [&](auto key) {
    std::vector<unsigned> order(requests.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      return std::make_pair(-static_cast<double>(key(requests[a])), a) <
             std::make_pair(-static_cast<double>(key(requests[b])), b);
    });
    attempt(order);
  };
  tryBy([](const ArenaRequest &r) { return r.bytes; });
  tryBy([](const ArenaRequest &r) { return r.last - r.first; });
  tryBy([](const ArenaRequest &r) { return r.bytes * (r.last - r.first + 1); });
  if (plan.bytes > plan.lowerBound &&
      fromBothEnds(requests, plan.lowerBound, offsets)) {
    plan.bytes = plan.lowerBound;
    plan.offsets = offsets;
  }
  // The effort is bounded by placements, so that large models stay fast.
  std::mt19937 random(1);
  int64_t effort =
      20'000'000 / static_cast<int64_t>(requests.size() * requests.size());
  for (int64_t i = 0;
       i < std::min<int64_t>(effort, 2000) && plan.bytes > plan.lowerBound;
       ++i) {
    std::vector<unsigned> order = best;
    unsigned a = random() % order.size(), b = random() % order.size();
    unsigned moved = order[a];
    order.erase(order.begin() + a);
    order.insert(order.begin() + std::min<size_t>(b, order.size()), moved);
    attempt(order);
  }
  return plan;
}

} // namespace ingot::memory
