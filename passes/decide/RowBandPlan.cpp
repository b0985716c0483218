// Chooses chains of groups and the heights of their row bands by dynamic
// programming over the order of groups. best[j + 1], the least cost of the
// groups 0 .. j, is the minimum of best[i] + cost(i, j) over all chains of
// groups i .. j that stay within the memory limit. A group that is computed as
// a whole costs 0.
//
// While the chain of groups i .. j runs, these tensors are live: tensors that
// are live before and after the chain, the chain's input and result, and one
// band of each intermediate result. If no later group reads the input, the
// result may overwrite rows of the input that have been read, so that both
// together take little more memory than the larger one.

#include "passes/decide/RowBandPlan.h"

#include "passes/decide/RowBandCosts.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/Strategy.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <set>
#include <tuple>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

namespace {

/// The largest number of groups in a chain: longer chains recompute too many
/// rows, or keep too many rows in memory.
constexpr size_t longestChain = 12;
/// The largest number of row bands if rows are kept from band to band, since
/// each band has its own launches.
constexpr int64_t mostKeepingBands = 8;

} // namespace

class RowBandPlanner::Search {
public:
  Search(func::FuncOp main, const TargetDescription &target)
      : target(target), costs(target), buffers(main, {}, /*inPlace=*/false) {
    for (auto [time, op] : llvm::enumerate(buffers.steps()))
      if (auto group = dyn_cast<GroupOp>(op)) {
        groups.push_back(group);
        stepOf.push_back(time);
      }
    plan::Buffers merged(main);
    auto requests = merged.requests(target.bufferAlign, nullptr);
    for (auto [step, group] : llvm::zip(stepOf, groups)) {
      alone.push_back(plan::aliveAt(requests, step));
      for (int64_t bytes : schedule::scratchBytes(group, target))
        alone.back() += aligned(bytes);
    }
  }

  std::vector<Chain> plan(int64_t maxBytes, bool keeps) {
    mayKeep = keeps;
    consider(maxBytes);
    return chainsOf(cheapest(std::max(maxBytes, leastPeak())));
  }

  std::vector<Chain> planAtNoCost(int64_t maxBytes) {
    if (groups.empty())
      return {};
    consider(maxBytes);
    int64_t low = std::max(maxBytes, leastPeak()),
            high = *llvm::max_element(alone);
    Choice best = cheapest(low);
    if (best.cost <= 0)
      return chainsOf(best);
    // Finds, by binary search, the lowest memory limit for which some choice of
    // chains adds no estimated time. A higher limit admits more choices.
    best = cheapest(high);
    while (high - low > high / 64) {
      int64_t middle = low + (high - low) / 2;
      Choice choice = cheapest(middle);
      if (choice.cost > 0) {
        low = middle;
        continue;
      }
      best = std::move(choice);
      high = middle;
    }
    return chainsOf(best);
  }

private:
  struct Candidate {
    size_t first, last;
    int64_t height;
    bool keeps;
    int64_t peak;
    double cost;
    OpOperand *input;
  };
  /// Chains in the order of their groups. `cost` is the time that they take in
  /// addition to computing the same groups as a whole.
  struct Choice {
    double cost;
    std::vector<const Candidate *> chains;
  };

  std::vector<Chain> chainsOf(const Choice &choice) const {
    std::vector<Chain> chains;
    for (const Candidate *candidate : choice.chains)
      chains.push_back({{groups.begin() + candidate->first,
                         groups.begin() + candidate->last + 1},
                        candidate->height,
                        candidate->keeps,
                        candidate->input});
    return chains;
  }

  /// Computes the candidate chains for memory limits down to 7/8 of `maxBytes`,
  /// unless the known candidates already cover `maxBytes`.
  void consider(int64_t maxBytes) {
    if (maxBytes >= considered)
      return;
    candidates.assign(groups.size(), {});
    considered = maxBytes - maxBytes / 8;
    considerAll();
  }

  void considerAll() {
    for (size_t i = 0; i < groups.size(); ++i)
      for (size_t j = i; j < std::min(groups.size(), i + longestChain); ++j)
        if (llvm::any_of(ArrayRef(alone).slice(i, j - i + 1),
                         [&](int64_t bytes) { return bytes > considered; }))
          if (!consider(i, j))
            break;
  }

  /// Returns the result of operandRows from a cache, since many chains request
  /// the same rows.
  const std::optional<SmallVector<OperandRows>> &reads(GroupOp group,
                                                       Rows rows) {
    auto [it, isNew] =
        known.insert({{group.getOperation(), rows.begin, rows.end}, {}});
    if (isNew)
      it->second = operandRows(group, rows);
    return it->second;
  }

  /// Adds the candidates for the chain of groups i .. j, one for each band
  /// height. Returns false if neither this chain nor a longer one that begins
  /// with group i is possible.
  bool consider(size_t i, size_t j) {
    ArrayRef<GroupOp> chain = ArrayRef(groups).slice(i, j - i + 1);
    for (GroupOp group : chain)
      if (group.getNumResults() != 1 || group.getOutputStrides() ||
          shapeOf(group->getResult(0)).size() < 3 ||
          shapeOf(group->getResult(0))[0] != 1 || hasDynamicSizes(group))
        return false;
    // Tries the first row only: whether a group can be computed row by row does
    // not depend on the rows.
    if (!reads(chain.back(), {0, 1}))
      return false;
    // Intermediate results must not be read outside of the chain. If they are,
    // a longer chain may include these readers.
    for (GroupOp group : chain.drop_back())
      if (!llvm::all_of(group->getUsers(), [&](Operation *user) {
            return llvm::is_contained(chain, user);
          }))
        return true;
    int64_t rows = shapeOf(chain.back()->getResult(0))[1];
    std::vector<OpOperand *> inputs;
    for (GroupOp group : chain)
      for (OpOperand &read : group->getOpOperands())
        if (isReadByRows(i, j, read.get()))
          inputs.push_back(&read);
    int64_t together = rowsTogether(chain.back());
    for (bool keeps : {false, true}) {
      int64_t before = 0;
      for (int64_t bands = 2; bands <= rows; ++bands) {
        if (keeps && (chain.size() == 1 || bands > mostKeepingBands))
          break;
        int64_t height = llvm::alignTo(llvm::divideCeil(rows, bands), together);
        if (height == before || height >= rows)
          continue;
        before = height;
        if (!evaluate(i, j, height, keeps, inputs))
          break;
      }
    }
    return true;
  }

  /// A row band that stands for `count` similar bands in cost estimates. It
  /// computes the rows `last` of the chain's result.
  struct Sample {
    Rows last;
    RowBand band;
    double count;
  };

  /// Returns all row bands of a chain whose bands keep rows for the next band.
  /// For other chains, returns a few bands; the middle one stands for all bands
  /// that are not returned. Returns nothing if the chain cannot be computed row
  /// by row.
  std::optional<std::vector<Sample>> samplesOf(const Chain &chain) {
    auto read = [&](GroupOp group, Rows rows) -> auto & {
      return reads(group, rows);
    };
    int64_t rows = shapeOf(chain.groups.back()->getResult(0))[1];
    std::vector<Sample> samples;
    if (chain.keeps) {
      auto bands = rowBandsOf(chain, /*fromEnd=*/false, read);
      if (!bands)
        return std::nullopt;
      for (RowBand &band : *bands) {
        Rows last = band.computed.back();
        samples.push_back({last, std::move(band), 1});
      }
      return samples;
    }
    int64_t bands = llvm::divideCeil(rows, chain.height);
    llvm::SetVector<int64_t> chosen;
    for (int64_t k : {int64_t(0), int64_t(1), bands / 2, bands / 2 + 1,
                      bands - 2, bands - 1})
      if (k >= 0 && k < bands)
        chosen.insert(k);
    for (int64_t k : chosen) {
      Rows last{k * chain.height, std::min(rows, (k + 1) * chain.height)};
      auto needed = rowsOfBand(chain.groups, last, read);
      if (!needed)
        return std::nullopt;
      samples.push_back({last, {*needed, *needed}, 1});
      if (k == bands / 2)
        samples.back().count += static_cast<double>(bands - chosen.size());
    }
    return samples;
  }

  bool evaluate(size_t i, size_t j, int64_t height, bool keeps,
                ArrayRef<OpOperand *> inputs) {
    Chain chain{{groups.begin() + i, groups.begin() + j + 1}, height, keeps};
    auto samples = samplesOf(chain);
    if (!samples)
      return false;
    OpOperand *input = nullptr;
    int64_t ends = bytesOfEnds(i, j, *samples, inputs, input);
    candidates[j].push_back({i, j, height, keeps,
                             aliveAcross(i, j, input ? input->get() : Value()) +
                                 ends + bytesBetween(chain, *samples),
                             costOf(chain, *samples), input});
    return true;
  }

  /// Returns the number of different kernels for the row bands of `group`, the
  /// chain's group with index `g`. Bands share a kernel if they have the same
  /// number of rows and read the same number of rows of each operand.
  size_t kernelsOf(GroupOp group, size_t g, ArrayRef<Sample> samples) {
    std::set<std::vector<int64_t>> kinds;
    for (const Sample &sample : samples) {
      Rows rows = sample.band.computed[g];
      if (rows.size() == 0)
        continue;
      std::vector<int64_t> kind{rows.size()};
      for (const OperandRows &read : *reads(group, rows))
        kind.push_back(read.rows.size());
      // The first band has its padding at the top. So its kernel differs from
      // that of the last band, even if both read the same number of rows.
      kind.push_back(rows.begin == 0);
      kinds.insert(kind);
    }
    return kinds.size();
  }

  /// Returns the cost of a chain relative to computing its groups as a whole.
  double costOf(const Chain &chain, ArrayRef<Sample> samples) {
    double cost = 0;
    for (auto [g, group] : llvm::enumerate(chain.groups)) {
      double own = 0;
      int64_t held = 0;
      for (const auto &[last, band, count] : samples) {
        int64_t rows = band.computed[g].size();
        if (rows == 0)
          continue;
        own += count * costs.launch(group, rows);
        held = std::max(held, band.held[g].size());
        Value result = group->getResult(0);
        if (int64_t kept = band.kept(g, /*fromEnd=*/false).size())
          own +=
              count * costs.copy(result.getType(), kept * rowElements(result));
      }
      // Row bands may skip rows of the result that no group reads. The saving
      // is not counted.
      int64_t rows = shapeOf(group->getResult(0))[1];
      cost += std::max(own - costs.launch(group, rows), 0.0) +
              costs.kernel() * double(kernelsOf(group, g, samples) - 1);
      if (g + 1 < chain.groups.size())
        cost -= costs.saved(plan::bytesOf(group->getResult(0).getType()),
                            held * rowBytes(group->getResult(0)));
    }
    return cost;
  }

  int64_t aligned(int64_t bytes) const {
    return static_cast<int64_t>(llvm::alignTo(bytes, target.bufferAlign));
  }

  static int64_t rowBytes(Value v) {
    return plan::bytesOf(v.getType()) / shapeOf(v)[1];
  }
  static int64_t rowElements(Value v) {
    return tensorType(v).getNumElements() / shapeOf(v)[1];
  }

  /// Returns the peak bytes of the chain's intermediate results, together with
  /// the scratch memory of the running group.
  int64_t bytesBetween(const Chain &chain, ArrayRef<Sample> samples) const {
    std::vector<size_t> readers = lastReaders(chain.groups);
    int64_t most = 0;
    for (size_t k = 0; k < samples.size(); ++k)
      for (size_t now = 0; now < chain.groups.size(); ++now) {
        int64_t sum = 0;
        for (int64_t bytes : schedule::scratchBytes(chain.groups[now], target))
          sum += aligned(bytes);
        for (size_t g = 0; g + 1 < chain.groups.size(); ++g)
          sum += aligned(rowBytes(chain.groups[g]->getResult(0)) *
                         rowsThere(chain, samples, k, now, g, readers[g]));
        most = std::max(most, sum);
      }
    return most;
  }

  /// Returns the number of rows of group `g` that are live while group `now`
  /// computes its rows of band `k`. `reader` is the last group that reads group
  /// `g`.
  static int64_t rowsThere(const Chain &chain, ArrayRef<Sample> samples,
                           size_t k, size_t now, size_t g, size_t reader) {
    const RowBand &band = samples[k].band;
    auto keptFor = [&](size_t later) -> int64_t {
      if (!chain.keeps || later >= samples.size())
        return 0;
      const RowBand &its = samples[later].band;
      return its.computed[g].size() > 0 ? its.kept(g, false).size()
             : later > 0                ? samples[later - 1].band.held[g].size()
                                        : 0;
    };
    return g > now         ? keptFor(k)
           : reader >= now ? band.held[g].size()
                           : keptFor(k + 1);
  }

  /// Returns the bytes that are live while the groups i .. j run, without the
  /// results of these groups and without `input`.
  int64_t aliveAcross(size_t i, size_t j, Value input) const {
    llvm::DenseSet<unsigned> own;
    for (size_t k = i; k <= j; ++k)
      own.insert(buffers.placeOf(groups[k]->getResult(0)).buffer);
    if (input)
      own.insert(buffers.placeOf(input).buffer);
    int64_t sum = 0;
    for (unsigned id = 0; id < buffers.size(); ++id) {
      const auto &buffer = buffers[id];
      if (buffer.kind == plan::Buffers::Arena && buffer.parent == id &&
          !own.contains(id) && buffer.first <= stepOf[j] &&
          buffer.last >= stepOf[i])
        sum += aligned(buffer.bytes);
    }
    return sum;
  }

  /// Returns the rows of `value` that the chain reads by rows (along axis 1) to
  /// compute one row band; nothing if there are none. With `byLastOnly`, only
  /// the last group of the chain counts.
  std::optional<Rows> rowsRead(ArrayRef<GroupOp> chain, const Sample &sample,
                               Value value, bool byLastOnly) {
    std::optional<Rows> all;
    for (auto [group, part] : llvm::zip(chain, sample.band.computed)) {
      if ((byLastOnly && group != chain.back()) || part.size() == 0)
        continue;
      for (const OperandRows &read : *reads(group, part)) {
        Value operand = group->getOperand(read.operand);
        if (operand != value || read.axis != 1)
          continue;
        all = all ? Rows{std::min(all->begin, read.rows.begin),
                         std::max(all->end, read.rows.end)}
                  : read.rows;
      }
    }
    return all;
  }

  /// Whether `value` occupies a whole buffer that only groups i .. j read, and
  /// all of them read it by rows.
  bool isReadByRows(size_t i, size_t j, Value value) {
    auto place = buffers.placeOf(value);
    const auto &buffer = buffers[place.buffer];
    if (buffer.kind != plan::Buffers::Arena || place.offset != 0 ||
        buffer.bytes != plan::bytesOf(value.getType()) ||
        buffer.first >= stepOf[i] || buffer.last > stepOf[j] ||
        shapeOf(value).size() < 3 || shapeOf(value)[0] != 1 ||
        hasDynamicSizes(value.getType()))
      return false;
    for (size_t k = i; k <= j; ++k) {
      GroupOp group = groups[k];
      const auto &all = reads(group, {0, shapeOf(group->getResult(0))[1]});
      if (!all)
        return false;
      for (const OperandRows &read : *all) {
        Value operand = group->getOperand(read.operand);
        if (buffers.placeOf(operand).buffer == place.buffer &&
            (operand != value || read.axis != 1))
          return false;
      }
    }
    return true;
  }

  /// Returns the bytes of the chain's result. If the result may overwrite one
  /// of `inputs`, sets `input` to it and returns the bytes that both take
  /// together.
  int64_t bytesOfEnds(size_t i, size_t j, ArrayRef<Sample> samples,
                      ArrayRef<OpOperand *> inputs, OpOperand *&input) {
    ArrayRef<GroupOp> chain = ArrayRef(groups).slice(i, j - i + 1);
    Value result = chain.back()->getResult(0);
    bool stored =
        buffers[buffers.placeOf(result).buffer].kind == plan::Buffers::Arena;
    int64_t resultBytes = stored ? aligned(plan::bytesOf(result.getType())) : 0;
    int64_t saved = 0, total = resultBytes;
    if (stored)
      for (OpOperand *read : inputs) {
        Value operand = read->get();
        // The input begins at least `lead` bytes after the beginning of the
        // result, so that the rows written by a band never overwrite rows that
        // are still to be read.
        int64_t bytes = aligned(plan::bytesOf(operand.getType()));
        int64_t lead = std::numeric_limits<int64_t>::min();
        for (size_t k = 0; k < samples.size(); ++k) {
          int64_t end = samples[k].last.end * rowBytes(result);
          auto behind = [&](std::optional<Rows> read) {
            if (read)
              lead = std::max(lead, end - read->begin * rowBytes(operand));
          };
          behind(rowsRead(chain, samples[k], operand, /*byLastOnly=*/true));
          if (k + 1 < samples.size() &&
              samples[k + 1].last.begin == samples[k].last.end)
            behind(rowsRead(chain, samples[k + 1], operand, false));
        }
        lead = aligned(std::max<int64_t>(lead, 0));
        int64_t together =
            std::min(std::max(resultBytes, lead + bytes), resultBytes + bytes);
        if (resultBytes + bytes - together > saved) {
          saved = resultBytes + bytes - together;
          total = together;
          input = read;
        }
      }
    return total;
  }

  /// Returns the smallest peak of live bytes that any choice of chains has.
  int64_t leastPeak() const {
    std::vector<int64_t> best{0};
    for (size_t n = 0; n < groups.size(); ++n) {
      best.push_back(std::max(best[n], alone[n]));
      for (const Candidate &c : candidates[n])
        if (mayKeep || !c.keeps)
          best.back() = std::min(best.back(), std::max(best[c.first], c.peak));
    }
    return best.back();
  }

  /// Returns the cheapest choice of chains with a peak of at most `limit`
  /// bytes. If there is none, the cost of the returned choice is infinite.
  Choice cheapest(int64_t limit) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<double> best{0};
    std::vector<const Candidate *> by{nullptr};
    for (size_t n = 0; n < groups.size(); ++n) {
      best.push_back(alone[n] <= limit ? best[n] : never);
      by.push_back(nullptr);
      for (const Candidate &c : candidates[n])
        if ((mayKeep || !c.keeps) && c.peak <= limit &&
            best[c.first] + c.cost < best.back()) {
          best.back() = best[c.first] + c.cost;
          by.back() = &c;
        }
    }
    Choice choice{best.back(), {}};
    for (size_t n = groups.size(); n > 0;) {
      if (by[n])
        choice.chains.insert(choice.chains.begin(), by[n]);
      n = by[n] ? by[n]->first : n - 1;
    }
    return choice;
  }

  const TargetDescription &target;
  RowBandCosts costs;
  plan::Buffers buffers;
  std::vector<GroupOp> groups;
  std::vector<int64_t> stepOf;
  /// For each group, the live bytes while it runs as a whole.
  std::vector<int64_t> alone;
  /// For each group, the candidate chains that end with it. A chain is a
  /// candidate only if one of its groups would need more than `considered`
  /// bytes when computed as a whole.
  std::vector<std::vector<Candidate>> candidates;
  int64_t considered = std::numeric_limits<int64_t>::max();
  /// Whether chains that keep rows from one band for the next may be chosen.
  /// Otherwise, only chains that recompute such rows are.
  bool mayKeep = true;
  std::map<std::tuple<Operation *, int64_t, int64_t>,
           std::optional<SmallVector<OperandRows>>>
      known;
};

RowBandPlanner::RowBandPlanner(func::FuncOp main,
                               const TargetDescription &target)
    : search(std::make_unique<Search>(main, target)) {}
RowBandPlanner::~RowBandPlanner() = default;

std::vector<Chain> RowBandPlanner::plan(int64_t maxBytes, bool keeps) {
  return search->plan(maxBytes, keeps);
}
std::vector<Chain> RowBandPlanner::planAtNoCost(int64_t maxBytes) {
  return search->planAtNoCost(maxBytes);
}

} // namespace ingot::decide
