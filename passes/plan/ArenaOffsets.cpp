#include "passes/plan/ArenaOffsets.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>

namespace ingot::plan {
namespace {

template <typename A, typename B> bool alive(const A &a, const B &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Places the buffers of `requests` in an arena by several heuristics.
class Placement {
public:
  Placement(const std::vector<ArenaRequest> &requests, int64_t alignment)
      : requests(requests), rows(requests.size()), neighbours(requests.size()),
        turns(requests.size()) {
    for (unsigned i = 0; i < requests.size(); ++i)
      for (unsigned j = 0; j < requests.size(); ++j)
        if (i != j && alive(requests[i], requests[j]))
          neighbours[i].push_back(j);
    for (size_t i = 0; i < requests.size(); ++i)
      if (!requests[i].liveRanges.empty())
        for (size_t j = 0; j < requests.size(); ++j)
          rows[i].push_back({distance(i, j, alignment), //
                             distance(j, i, alignment)});
  }

  using Offsets = std::vector<int64_t>;
  using Order = std::vector<unsigned>;

  /// Places each buffer, in the order `order`, at the lowest offset that the
  /// previous buffers leave free (first fit). Returns the size of the arena.
  int64_t firstFit(const Order &order, Offsets &offsets) {
    int64_t peak = 0;
    number(order);
    for (size_t n = 0; n < order.size(); ++n) {
      block(order, n, offsets);
      int64_t at = 0;
      for (auto [begin, end] : taken) {
        if (at <= begin)
          break;
        at = std::max(at, end);
      }
      offsets[order[n]] = at;
      peak = std::max(peak, at + requests[order[n]].bytes);
    }
    return peak;
  }

  /// Places each buffer, in the order `order`, where the total extent of all
  /// buffers grows least. Returns this extent. A buffer may get a lower offset
  /// than all previous ones: if buffer a is written from its low end while
  /// buffer b is read from its low end, a can begin slightly below b.
  int64_t leastGrowth(const Order &order, Offsets &offsets) {
    int64_t low = 0, high = 0;
    number(order);
    for (size_t n = 0; n < order.size(); ++n) {
      block(order, n, offsets);
      int64_t bytes = requests[order[n]].bytes, best = 0;
      int64_t least = std::numeric_limits<int64_t>::max();
      auto consider = [&](int64_t at) {
        int64_t size = std::max(high, at + bytes) - std::min(low, at);
        if (size < least) {
          least = size;
          best = at;
        }
      };
      // In each free range, only the offset nearest to `low` is considered.
      int64_t free = std::numeric_limits<int64_t>::min();
      for (auto [begin, end] : taken) {
        if (free <= begin)
          consider(std::clamp(low, free, begin));
        free = std::max(free, end);
      }
      consider(std::max(free, low));
      offsets[order[n]] = best;
      low = n ? std::min(low, best) : best;
      high = n ? std::max(high, best + bytes) : best + bytes;
    }
    for (int64_t &offset : offsets)
      offset -= low;
    return high - low;
  }

  /// Places buffers in the order of their first step, alternately at the lowest
  /// and at the highest free offset of an arena of `size` bytes. This is
  /// optimal for a chain, in which only neighbouring buffers are live at the
  /// same time. Returns false if the buffers do not fit.
  bool fromBothEnds(int64_t size, Offsets &offsets) {
    Order order = sorted([](const ArenaRequest &r) { return r.first; });
    number(order);
    for (size_t n = 0; n < order.size(); ++n) {
      block(order, n, offsets);
      int64_t bytes = requests[order[n]].bytes, at;
      if (n % 2) {
        at = size - bytes;
        for (auto it = taken.rbegin(); it != taken.rend(); ++it)
          if (at > it->first && at < it->second)
            at = it->first;
      } else {
        at = 0;
        for (auto [begin, end] : taken)
          if (at > begin && at < end)
            at = end;
      }
      if (at < 0 || at + bytes > size)
        return false;
      offsets[order[n]] = at;
    }
    return true;
  }

  template <typename Key> Order sorted(Key key) const {
    Order order(requests.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      return std::make_pair(key(requests[a]), a) <
             std::make_pair(key(requests[b]), b);
    });
    return order;
  }

private:
  /// Returns the smallest offset of buffer `above` relative to buffer `below`,
  /// if `above` has the higher offset; nothing if the two are never live at the
  /// same time.
  std::optional<int64_t> distance(size_t below, size_t above,
                                  int64_t alignment) const {
    const ArenaRequest &a = requests[below], &b = requests[above];
    if (!alive(a, b))
      return std::nullopt;
    auto liveRangesOf = [](const ArenaRequest &r) {
      return r.liveRanges.empty()
                 ? std::vector<LiveRange>{{0, r.bytes, r.first, r.last}}
                 : r.liveRanges;
    };
    std::optional<int64_t> most;
    std::vector<LiveRange> liveRanges = liveRangesOf(b);
    for (const LiveRange &p : liveRangesOf(a))
      for (const LiveRange &q : liveRanges)
        if (alive(p, q))
          most = std::max(most.value_or(p.end - q.begin), p.end - q.begin);
    if (most && *most % alignment)
      *most += (*most > 0 ? alignment : 0) - *most % alignment;
    return most;
  }

  /// Stores in `turns` the position of each request within `order`; `block`
  /// reads the positions.
  void number(const Order &order) {
    for (size_t n = 0; n < order.size(); ++n)
      turns[order[n]] = n;
  }

  /// Collects in `taken` the open ranges of offsets at which buffer order[n]
  /// would overlap one of the first `n` buffers of `order`, which are placed
  /// already.
  void block(const Order &order, size_t n, const Offsets &offsets) {
    taken.clear();
    unsigned next = order[n];
    const ArenaRequest &request = requests[next];
    for (unsigned other : neighbours[next]) {
      if (turns[other] >= n)
        continue;
      std::optional<int64_t> below = request.bytes,
                             above = requests[other].bytes;
      if (!rows[next].empty())
        std::tie(below, above) = rows[next][other];
      else if (!rows[other].empty())
        std::tie(above, below) = rows[other][next];
      if (below && above)
        taken.push_back({offsets[other] - *below, offsets[other] + *above});
    }
    std::sort(taken.begin(), taken.end());
  }

  const std::vector<ArenaRequest> &requests;
  /// rows[i][j], for a request i with live ranges and any request j: the
  /// smallest offset of j relative to i if j is placed above i, and the
  /// smallest offset of i relative to j if i is placed above j. The vector
  /// rows[i] is empty if request i has no live ranges.
  std::vector<
      std::vector<std::pair<std::optional<int64_t>, std::optional<int64_t>>>>
      rows;
  /// For each request, the other requests that are live at the same time.
  std::vector<std::vector<unsigned>> neighbours;
  /// The position of each request in the order given to number().
  std::vector<size_t> turns;
  std::vector<std::pair<int64_t, int64_t>> taken;
};

} // namespace

std::pair<int64_t, int64_t>
lowerBound(const std::vector<ArenaRequest> &requests) {
  std::vector<std::pair<int64_t, int64_t>> changes; // (2 * step, bytes)
  auto add = [&](int64_t first, int64_t last, int64_t bytes) {
    changes.push_back({2 * first, bytes});
    changes.push_back({2 * last + 1, -bytes});
  };
  for (const ArenaRequest &r : requests) {
    if (r.liveRanges.empty())
      add(r.first, r.last, r.bytes);
    for (const LiveRange &p : r.liveRanges)
      add(p.first, p.last, p.end - p.begin);
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0, at = 0;
  for (auto [step, bytes] : changes)
    if (now += bytes; now > most) {
      most = now;
      at = step / 2;
    }
  return {most, at};
}

int64_t aliveAt(const std::vector<ArenaRequest> &requests, int64_t step) {
  int64_t sum = 0;
  for (const ArenaRequest &r : requests) {
    if (r.liveRanges.empty() && r.first <= step && step <= r.last)
      sum += r.bytes;
    for (const LiveRange &p : r.liveRanges)
      if (p.first <= step && step <= p.last)
        sum += p.end - p.begin;
  }
  return sum;
}

ArenaPlan planArena(const std::vector<ArenaRequest> &requests,
                    int64_t alignment) {
  ArenaPlan plan;
  plan.lowerBound = lowerBound(requests).first;
  plan.offsets.resize(requests.size());
  if (requests.empty())
    return plan;
  Placement placement(requests, alignment);
  bool hasLiveRanges =
      std::any_of(requests.begin(), requests.end(),
                  [](auto &r) { return !r.liveRanges.empty(); });
  Placement::Order best;
  std::vector<int64_t> offsets(requests.size());
  plan.bytes = std::numeric_limits<int64_t>::max();
  bool growing = false;
  auto attempt = [&](const Placement::Order &order, bool growth) {
    int64_t bytes = growth ? placement.leastGrowth(order, offsets)
                           : placement.firstFit(order, offsets);
    if (bytes > plan.bytes || (bytes == plan.bytes && growth != growing))
      return;
    best = order;
    growing = growth;
    plan.bytes = bytes;
    plan.offsets = offsets;
  };
  for (bool growth : {false, true}) {
    if (growth && !hasLiveRanges)
      break;
    auto tryBy = [&](auto key) { attempt(placement.sorted(key), growth); };
    tryBy([](const ArenaRequest &) { return 0; });
    tryBy([](const ArenaRequest &r) { return -r.bytes; });
    tryBy([](const ArenaRequest &r) { return r.first - r.last; });
    tryBy([](const ArenaRequest &r) {
      return -static_cast<double>(r.bytes) *
             static_cast<double>(r.last - r.first + 1);
    });
  }
  int64_t least = (plan.lowerBound + alignment - 1) / alignment * alignment;
  if (plan.bytes > least && placement.fromBothEnds(least, offsets)) {
    plan.bytes = least;
    plan.offsets = offsets;
  }
  // The number of attempts is limited, so that large models still compile fast.
  std::mt19937 random(1);
  int64_t effort =
      20'000'000 / static_cast<int64_t>(requests.size() * requests.size());
  for (int64_t i = 0; i < std::min<int64_t>(effort, 2000) && plan.bytes > least;
       ++i) {
    Placement::Order order = best;
    unsigned a = random() % order.size(), b = random() % order.size();
    unsigned moved = order[a];
    order.erase(order.begin() + a);
    order.insert(order.begin() + std::min<size_t>(b, order.size()), moved);
    attempt(order, growing);
  }
  return plan;
}

} // namespace ingot::plan
