// A chain of groups i .. j needs, while it runs: what is alive across it, its
// input and its result, and for one stripe the rows in between. Where it is the
// last reader of its input, the result may creep over the rows that are read,
// so that both take little more than the larger one. Chains and heights are
// then chosen along the order of the groups: best[j + 1] is the cheapest of
// best[i] + cost(i .. j) over all chains within the limit.

#include "passes/decide/StripePlan.h"

#include "passes/plan/Buffers.h"
#include "passes/schedule/GroupCost.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

std::optional<std::vector<Rows>> rowsOfStripe(ArrayRef<GroupOp> groups,
                                              Rows last, ReadRows read) {
  std::vector<Rows> rows(groups.size());
  rows.back() = last;
  for (size_t i = groups.size(); i-- > 0;) {
    GroupOp group = groups[i];
    if (rows[i].size() == 0)
      return std::nullopt;
    const auto &reads = read(group, rows[i]);
    if (!reads)
      return std::nullopt;
    for (const OperandRows &read : *reads) {
      Operation *producer = group->getOperand(read.operand).getDefiningOp();
      auto it = llvm::find(groups, producer);
      if (it == groups.end())
        continue;
      if (read.axis != 1)
        return std::nullopt;
      Rows &known = rows[it - groups.begin()];
      known = known.size() == 0 ? read.rows
                                : Rows{std::min(known.begin, read.rows.begin),
                                       std::max(known.end, read.rows.end)};
    }
  }
  return rows;
}

namespace {

/// What a launch costs in work, so that no more stripes than needed are made.
constexpr double launchWork = 500;
/// Longer chains pay with too much work done twice.
constexpr size_t longestChain = 12;

} // namespace

class StripePlanner::Search {
public:
  Search(func::FuncOp main, int64_t alignment)
      : alignment(alignment), buffers(main, {}, /*inPlace=*/false) {
    for (auto [time, op] : llvm::enumerate(buffers.steps()))
      if (auto group = dyn_cast<GroupOp>(op)) {
        groups.push_back(group);
        stepOf.push_back(time);
      }
    plan::Buffers merged(main);
    auto requests = merged.requests(alignment, nullptr);
    for (int64_t step : stepOf)
      alone.push_back(plan::aliveAt(requests, step));
  }

  std::vector<Chain> plan(int64_t maxBytes) {
    // With a lower limit there is more to consider.
    if (maxBytes < considered) {
      candidates.clear();
      considered = maxBytes - maxBytes / 8;
      considerAll();
    }
    std::vector<Chain> chains;
    int64_t limit = std::max(maxBytes, leastPeak());
    for (const Candidate *candidate : cheapest(limit))
      chains.push_back({{groups.begin() + candidate->first,
                         groups.begin() + candidate->last + 1},
                        candidate->height,
                        candidate->input});
    return chains;
  }

private:
  struct Candidate {
    size_t first, last;
    int64_t height, peak;
    double cost;
    OpOperand *input;
  };

  void considerAll() {
    for (size_t i = 0; i < groups.size(); ++i)
      for (size_t j = i; j < std::min(groups.size(), i + longestChain); ++j)
        if (llvm::any_of(ArrayRef(alone).slice(i, j - i + 1),
                         [&](int64_t bytes) { return bytes > considered; }))
          if (!consider(i, j))
            break;
  }

  /// operandRows, remembered: chains ask for the same rows again and again.
  const std::optional<SmallVector<OperandRows>> &reads(GroupOp group,
                                                       Rows rows) {
    auto [it, isNew] =
        known.insert({{group.getOperation(), rows.begin, rows.end}, {}});
    if (isNew)
      it->second = operandRows(group, rows);
    return it->second;
  }

  /// Adds what the groups i .. j can be as a chain; false if no longer chain
  /// from i on is one.
  bool consider(size_t i, size_t j) {
    ArrayRef<GroupOp> chain = ArrayRef(groups).slice(i, j - i + 1);
    for (GroupOp group : chain)
      if (group.getNumResults() != 1 || group.getOutputStrides() ||
          shapeOf(group->getResult(0)).size() < 3 ||
          shapeOf(group->getResult(0))[0] != 1 || hasRunTimeSizes(group))
        return false;
    // Whether it is row by row at all does not depend on the rows.
    if (!reads(chain.back(), {0, 1}))
      return false;
    // What is computed in between is read inside alone.
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
    int64_t before = 0;
    for (int64_t stripes = 2; stripes <= rows; ++stripes) {
      int64_t height = llvm::divideCeil(rows, stripes);
      if (height == before)
        continue;
      before = height;
      if (!evaluate(i, j, height, inputs))
        break;
    }
    return true;
  }

  /// A few of the stripes stand for all: the others are between them.
  struct Sample {
    Rows last;
    std::vector<Rows> rows;
    double count;
  };

  bool evaluate(size_t i, size_t j, int64_t height,
                ArrayRef<OpOperand *> inputs) {
    ArrayRef<GroupOp> chain = ArrayRef(groups).slice(i, j - i + 1);
    int64_t rows = shapeOf(chain.back()->getResult(0))[1];
    int64_t stripes = llvm::divideCeil(rows, height);
    llvm::SetVector<int64_t> chosen;
    for (int64_t k : {int64_t(0), int64_t(1), stripes / 2, stripes / 2 + 1,
                      stripes - 2, stripes - 1})
      if (k >= 0 && k < stripes)
        chosen.insert(k);
    std::vector<Sample> samples;
    for (int64_t k : chosen) {
      Rows last{k * height, std::min(rows, (k + 1) * height)};
      auto needed =
          rowsOfStripe(chain, last, [&](GroupOp group, Rows rows) -> auto & {
            return reads(group, rows);
          });
      if (!needed)
        return false;
      samples.push_back({last, std::move(*needed), 1});
      if (k == stripes / 2)
        samples.back().count += static_cast<double>(stripes - chosen.size());
    }
    double work = 0;
    int64_t between = 0;
    for (const Sample &sample : samples) {
      between = std::max(between, bytesBetween(chain, sample));
      for (auto [group, part] : llvm::zip(chain, sample.rows))
        work += sample.count *
                static_cast<double>(schedule::workOf(
                    schedule::GroupView{&group->getRegion(0).front()})) *
                static_cast<double>(part.size()) /
                static_cast<double>(shapeOf(group->getResult(0))[1]);
    }
    for (GroupOp group : chain)
      work -= static_cast<double>(
          schedule::workOf(schedule::GroupView{&group->getRegion(0).front()}));
    work = std::max(work, 0.0) +
           launchWork * static_cast<double>((stripes - 1) * chain.size());
    OpOperand *input = nullptr;
    int64_t ends = bytesOfEnds(i, j, samples, inputs, input);
    candidates.push_back(
        {i, j, height,
         aliveAcross(i, j, input ? input->get() : Value()) + ends + between,
         work, input});
    return true;
  }

  int64_t aligned(int64_t bytes) const {
    return static_cast<int64_t>(llvm::alignTo(bytes, alignment));
  }

  static int64_t rowBytes(Value v) {
    return plan::bytesOf(v.getType()) / shapeOf(v)[1];
  }

  /// The most that results between the groups take in a stripe.
  int64_t bytesBetween(ArrayRef<GroupOp> chain, const Sample &sample) const {
    int64_t most = 0;
    for (size_t now = 0; now < chain.size(); ++now) {
      int64_t sum = 0;
      for (size_t k = 0; k <= now && k + 1 < chain.size(); ++k) {
        GroupOp group = chain[k];
        if (llvm::any_of(group->getUsers(), [&](Operation *user) {
              return llvm::find(chain, user) - chain.begin() >=
                     static_cast<ptrdiff_t>(now);
            }))
          sum += aligned(rowBytes(group.getResult(0)) * sample.rows[k].size());
      }
      most = std::max(most, sum);
    }
    return most;
  }

  /// What neither belongs to the chain nor is `input`.
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

  /// What the chain reads of `value` in a stripe; none if not just some rows.
  std::optional<Rows> rowsRead(ArrayRef<GroupOp> chain, const Sample &sample,
                               Value value, bool byLastOnly) {
    std::optional<Rows> all;
    for (auto [group, part] : llvm::zip(chain, sample.rows)) {
      if (byLastOnly && group != chain.back())
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

  /// Whether all reads of `value`'s buffer are of rows of it, by this chain.
  bool isReadByRows(size_t i, size_t j, Value value) {
    auto place = buffers.placeOf(value);
    const auto &buffer = buffers[place.buffer];
    if (buffer.kind != plan::Buffers::Arena || place.offset != 0 ||
        buffer.bytes != plan::bytesOf(value.getType()) ||
        buffer.first >= stepOf[i] || buffer.last > stepOf[j] ||
        shapeOf(value).size() < 3 || shapeOf(value)[0] != 1 ||
        hasRunTimeSizes(value.getType()))
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

  /// What result and input take together, and the input that counts.
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
        // The input has to begin so far behind the result that what is written
        // stays before what is still to be read.
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

  /// The least peak that any choice reaches.
  int64_t leastPeak() const {
    std::vector<int64_t> best{0};
    for (size_t n = 0; n < groups.size(); ++n) {
      best.push_back(std::max(best[n], alone[n]));
      for (const Candidate &c : candidates)
        if (c.last == n)
          best.back() = std::min(best.back(), std::max(best[c.first], c.peak));
    }
    return best.back();
  }

  /// The chains of the cheapest choice below `limit`, in order.
  std::vector<const Candidate *> cheapest(int64_t limit) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<double> best{0};
    std::vector<const Candidate *> by{nullptr};
    for (size_t n = 0; n < groups.size(); ++n) {
      best.push_back(alone[n] <= limit ? best[n] : never);
      by.push_back(nullptr);
      for (const Candidate &c : candidates)
        if (c.last == n && c.peak <= limit &&
            best[c.first] + c.cost < best.back()) {
          best.back() = best[c.first] + c.cost;
          by.back() = &c;
        }
    }
    std::vector<const Candidate *> chosen;
    for (size_t n = groups.size(); n > 0;) {
      if (by[n])
        chosen.insert(chosen.begin(), by[n]);
      n = by[n] ? by[n]->first : n - 1;
    }
    return chosen;
  }

  int64_t alignment;
  plan::Buffers buffers;
  std::vector<GroupOp> groups;
  std::vector<int64_t> stepOf;
  /// What is alive while a group runs as it is.
  std::vector<int64_t> alone;
  /// Chains with a group that needs more than `considered` as it is.
  std::vector<Candidate> candidates;
  int64_t considered = std::numeric_limits<int64_t>::max();
  std::map<std::tuple<Operation *, int64_t, int64_t>,
           std::optional<SmallVector<OperandRows>>>
      known;
};

StripePlanner::StripePlanner(func::FuncOp main, int64_t alignment)
    : search(std::make_unique<Search>(main, alignment)) {}
StripePlanner::~StripePlanner() = default;

std::vector<Chain> StripePlanner::plan(int64_t maxBytes) {
  return search->plan(maxBytes);
}

} // namespace ingot::decide
