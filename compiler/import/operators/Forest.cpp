// Imports the decision trees of ai.onnx.ml.
//
// The three tree ensemble operators become one graph operator with tables of
// nodes. Each node tests whether a feature is <= a threshold. Other comparisons
// are converted by using the adjacent threshold, by swapping the branches, or
// by two nodes (before(v) is the largest number below v):
//
//   x < v   ->  x <= before(v)
//   x >= v  ->  x <= before(v), branches swapped
//   x > v   ->  x <= v, branches swapped
//   x == v  ->  x <= v, then not x <= before(v)

#include "compiler/import/operators/ClassScores.h"
#include "dialects/graph/ops/Movement.h"

#include <set>

using namespace mlir;

namespace ingot::graph {

namespace {

/// The comparisons in the order of the modes of TreeEnsemble.
enum class Compare { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual };

struct TreeNode {
  bool isLeaf = true, missingGoesLow = false;
  int64_t feature = 0, low = 0, high = 0;
  double threshold = 0;
  SmallVector<std::pair<int64_t, double>, 1> contributions; // (target, weight)
};

class Forest {
public:
  Forest(OnnxNode &node, bool isDouble) : node(node), isDouble(isDouble) {}

  /// Makes node `at` a decision: it compares a feature with `value` and goes to
  /// node `yes` or `no`. If `missing` is set, NaN goes to `yes`. A test of
  /// (in)equality consists of two decisions; the second is appended to `nodes`.
  void decide(int64_t at, Compare compare, int64_t feature, double value,
              bool missing, int64_t yes, int64_t no);
  /// Makes node `at` test whether a feature is in `set`: one comparison for each
  /// member.
  void decideMember(int64_t at, int64_t feature, ArrayRef<double> set,
                    bool missing, int64_t yes, int64_t no);
  /// Checks that the nodes form trees and that features and targets are in
  /// range; computes the depth of each tree.
  LogicalResult check(int64_t features, int64_t targets);
  Value build(Value x, int64_t targets, StringRef aggregate,
              ArrayRef<double> base, Type type);

  /// Returns the input `x` [rows, features]. If the number of features is known
  /// only at run time, cuts off the features after the last one that a node
  /// tests.
  Value withFeatures(Value x);

  std::vector<TreeNode> nodes;
  SmallVector<int64_t> roots, depths;

private:
  /// Returns the largest number below `value`. NaN stands for the number below
  /// -infinity: no feature is <= NaN.
  double before(double value) const {
    if (value == -INFINITY)
      return NAN;
    return isDouble ? std::nextafter(value, -INFINITY)
                    : std::nextafterf(static_cast<float>(value), -INFINITY);
  }
  Value ints(ArrayRef<int32_t> values, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(
        shape, node.builder.getIntegerType(32, /*isSigned=*/true));
    return node.constant(DenseElementsAttr::get(type, values));
  }

  OnnxNode &node;
  bool isDouble;
};

} // namespace

void Forest::decide(int64_t at, Compare compare, int64_t feature, double value,
                    bool missing, int64_t yes, int64_t no) {
  auto set = [&](int64_t i, double threshold, int64_t low, int64_t high,
                 bool missingGoesLow) {
    nodes[i] = {/*isLeaf=*/false, missingGoesLow, feature, low, high,
                threshold};
  };
  switch (compare) {
  case Compare::LessEqual:
    return set(at, value, yes, no, missing);
  case Compare::Less:
    return set(at, before(value), yes, no, missing);
  case Compare::GreaterEqual:
    return set(at, before(value), no, yes, !missing);
  case Compare::Greater:
    return set(at, value, no, yes, !missing);
  case Compare::NotEqual:
    // `feature != value` is true if the feature is NaN, regardless of
    // `missing`.
    missing = false;
    std::swap(yes, no);
    [[fallthrough]];
  case Compare::Equal: {
    int64_t second = nodes.size();
    nodes.emplace_back();
    set(at, value, second, no, missing);
    set(second, before(value), no, yes, false);
  }
  }
}

void Forest::decideMember(int64_t at, int64_t feature, ArrayRef<double> set,
                          bool missing, int64_t yes, int64_t no) {
  for (auto [k, value] : llvm::enumerate(set)) {
    int64_t otherwise = no;
    if (k + 1 < set.size()) {
      otherwise = nodes.size();
      nodes.emplace_back();
    }
    decide(at, Compare::Equal, feature, value, missing, yes, otherwise);
    at = otherwise;
  }
}

LogicalResult Forest::check(int64_t features, int64_t targets) {
  // Computes the distance of each node to its farthest leaf, in depth-first
  // order. A node that is its own descendant is an error.
  constexpr int64_t unknown = -1, onTheWay = -2;
  std::vector<int64_t> steps(nodes.size(), unknown);
  for (int64_t root : roots) {
    SmallVector<int64_t> open = {root};
    while (!open.empty()) {
      int64_t i = open.back();
      const TreeNode &n = nodes[i];
      if (n.isLeaf)
        steps[i] = 0;
      if (steps[i] >= 0) {
        open.pop_back();
        continue;
      }
      if (n.feature < 0 || n.feature >= features)
        return node.invalid("a node reads feature " + Twine(n.feature) +
                            ", but the number of features of the input is " +
                            Twine(features));
      if (steps[i] == onTheWay && steps[n.low] >= 0 && steps[n.high] >= 0) {
        steps[i] = 1 + std::max(steps[n.low], steps[n.high]);
        open.pop_back();
        continue;
      }
      if (steps[i] == onTheWay &&
          (steps[n.low] == onTheWay || steps[n.high] == onTheWay))
        return node.invalid("the nodes do not form trees: some of them refer "
                            "to each other in a cycle");
      steps[i] = onTheWay;
      for (int64_t child : {n.low, n.high})
        if (steps[child] == onTheWay)
          return node.invalid("the nodes do not form trees: some of them refer "
                              "to each other in a cycle");
        else if (steps[child] == unknown)
          open.push_back(child);
    }
    depths.push_back(steps[root]);
  }
  for (const TreeNode &n : nodes)
    for (auto [target, weight] : n.contributions)
      if (target < 0 || target >= targets)
        return node.invalid("a leaf has target " + Twine(target) +
                            ", but the number of targets is " + Twine(targets));
  return success();
}

Value Forest::withFeatures(Value x) {
  if (dimsOf(x)[1].known())
    return x;
  int64_t asked = 1;
  for (const TreeNode &n : nodes)
    if (!n.isLeaf)
      asked = std::max(asked, n.feature + 1);
  if (!node.requireAtLeast(dimsOf(x)[1], asked))
    (void)node.invalid("a node reads feature " + Twine(asked - 1) +
                       ", but the number of features of the input is " +
                       kernel::sizeText(dimsOf(x)[1]));
  return node.slice(x, 1, 0, asked);
}

Value Forest::build(Value x, int64_t targets, StringRef aggregate,
                    ArrayRef<double> base, Type type) {
  x = withFeatures(x);
  int64_t count = nodes.size();
  std::vector<int32_t> feature, next, first, target;
  std::vector<double> threshold, weight;
  std::vector<int8_t> missing;
  bool anyMissing = false;
  for (auto [i, n] : llvm::enumerate(nodes)) {
    int32_t self = static_cast<int32_t>(i);
    feature.push_back(static_cast<int32_t>(n.feature));
    threshold.push_back(n.threshold);
    missing.push_back(n.missingGoesLow);
    anyMissing |= n.missingGoesLow;
    next.push_back(n.isLeaf ? self : static_cast<int32_t>(n.low));
    next.push_back(n.isLeaf ? self : static_cast<int32_t>(n.high));
    first.push_back(static_cast<int32_t>(weight.size()));
    for (auto [to, value] : n.contributions) {
      target.push_back(static_cast<int32_t>(to));
      weight.push_back(value);
    }
  }
  first.push_back(static_cast<int32_t>(weight.size()));
  if (weight.empty()) { // the tables must not be empty
    weight.push_back(0);
    target.push_back(0);
  }
  int64_t entries = weight.size(), trees = roots.size();
  std::vector<int32_t> starts(roots.begin(), roots.end()),
      steps(depths.begin(), depths.end());
  auto bytes = RankedTensorType::get(
      {count}, node.builder.getIntegerType(8, /*isSigned=*/true));
  Value missingTable =
      node.constant(DenseElementsAttr::get(bytes, ArrayRef<int8_t>(missing)));
  SmallVector<double> added(base);
  added.resize(targets, 0);
  return node.build<ForestOp>(
      x, ints(feature, {count}),
      floatConstant(node, {count}, threshold, elementOf(x)), missingTable,
      ints(next, {count, 2}), ints(starts, {trees}), ints(steps, {trees}),
      ints(first, {count + 1}), floatConstant(node, {entries}, weight, type),
      ints(target, {entries}), floatConstant(node, {targets}, added, type),
      aggregate, anyMissing);
}

//===----------------------------------------------------------------------===//
// TreeEnsembleClassifier and TreeEnsembleRegressor
//===----------------------------------------------------------------------===//

/// Reads floats from attribute `name`, or from the tensor attribute
/// `name`_as_tensor.
static SmallVector<double> floatsOrTensor(OnnxNode &node,
                                          const std::string &name) {
  std::string tensor = name + "_as_tensor";
  return node.floatsAttr(node.hasAttr(tensor) ? tensor : name);
}

/// Reads the nodes from the attributes nodes_*, and the contributions of leaves
/// from the attributes class_* or target_*: `kind` is "class" or "target".
static LogicalResult readForest(OnnxNode &node, Forest &forest,
                                const std::string &kind) {
  SmallVector<int64_t> trees = node.intsAttr("nodes_treeids"),
                       ids = node.intsAttr("nodes_nodeids");
  SmallVector<int64_t> yes = node.intsAttr("nodes_truenodeids"),
                       no = node.intsAttr("nodes_falsenodeids");
  SmallVector<int64_t> features = node.intsAttr("nodes_featureids");
  SmallVector<int64_t> missing =
      node.intsAttr("nodes_missing_value_tracks_true");
  SmallVector<double> values = floatsOrTensor(node, "nodes_values");
  SmallVector<std::string> modes = node.stringsAttr("nodes_modes");
  size_t count = ids.size();
  if (count == 0 || trees.size() != count || yes.size() != count ||
      no.size() != count || features.size() != count ||
      values.size() != count || modes.size() != count ||
      (!missing.empty() && missing.size() != count))
    return node.invalid("the nodes_ attributes must all have the same length");
  forest.nodes.resize(count);
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  std::set<int64_t> begun;
  for (size_t i = 0; i < count; ++i) {
    if (!places.emplace(std::pair(trees[i], ids[i]), i).second)
      return node.invalid("two nodes of a tree have the id " + Twine(ids[i]));
    // The first listed node of each tree is the root of the tree.
    if (begun.insert(trees[i]).second)
      forest.roots.push_back(i);
  }
  const std::pair<const char *, Compare> compares[] = {
      {"BRANCH_LEQ", Compare::LessEqual},    {"BRANCH_LT", Compare::Less},
      {"BRANCH_GTE", Compare::GreaterEqual}, {"BRANCH_GT", Compare::Greater},
      {"BRANCH_EQ", Compare::Equal},         {"BRANCH_NEQ", Compare::NotEqual}};
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF")
      continue;
    auto known =
        llvm::find_if(compares, [&](auto &c) { return modes[i] == c.first; });
    auto low = places.find({trees[i], yes[i]}),
         high = places.find({trees[i], no[i]});
    if (known == std::end(compares) || low == places.end() ||
        high == places.end())
      return node.invalid("a node has an unknown mode, or refers to a child "
                          "that does not exist");
    forest.decide(i, known->second, features[i], values[i],
                  !missing.empty() && missing[i] != 0, low->second,
                  high->second);
  }
  SmallVector<int64_t> targets = node.intsAttr(kind + "_ids"),
                       inTrees = node.intsAttr(kind + "_treeids");
  SmallVector<int64_t> atNodes = node.intsAttr(kind + "_nodeids");
  SmallVector<double> weights = floatsOrTensor(node, kind + "_weights");
  if (inTrees.size() != targets.size() || atNodes.size() != targets.size() ||
      weights.size() != targets.size())
    return node.invalid("the " + kind +
                        "_ attributes must all have the same length");
  for (size_t i = 0; i < targets.size(); ++i) {
    auto place = places.find({inTrees[i], atNodes[i]});
    if (place == places.end())
      return node.invalid("a leaf weight refers to a node that does not exist");
    forest.nodes[place->second].contributions.push_back(
        {targets[i], weights[i]});
  }
  return success();
}

static ImportResult importTreeEnsembleRegressor(OnnxNode &node) {
  Value x = featureRows(node);
  if (!x)
    return failure();
  Forest forest(node, elementOf(x).isF64());
  int64_t targets = node.intAttr("n_targets", 1);
  if (failed(readForest(node, forest, "target")) ||
      failed(forest.check(shapeOf(x)[1], targets)))
    return failure();
  std::string aggregate = node.stringAttr("aggregate_function", "SUM");
  if (!llvm::is_contained({"SUM", "AVERAGE", "MIN", "MAX"}, aggregate))
    return node.invalid("unknown aggregate_function `" + aggregate + "`");
  Value scores = forest.build(x, targets, aggregate,
                              floatsOrTensor(node, "base_values"), node.f32());
  std::string transform = node.stringAttr("post_transform", "NONE");
  Value result = transformTargets(node, scores, transform);
  if (!result)
    return failure();
  return one(result);
}

static ImportResult importTreeEnsembleClassifier(OnnxNode &node) {
  Value x = featureRows(node);
  if (!x)
    return failure();
  auto labels = classLabels(node, "classlabels_int64s", "classlabels_strings");
  if (failed(labels))
    return failure();
  int64_t classes = labels->size();
  Forest forest(node, elementOf(x).isF64());
  SmallVector<double> base = floatsOrTensor(node, "base_values"),
                      weights = floatsOrTensor(node, "class_weights");
  SmallVector<int64_t> ids = node.intsAttr("class_ids");
  if (failed(readForest(node, forest, "class")) ||
      failed(forest.check(shapeOf(x)[1], classes)))
    return failure();
  Builder &b = node.builder;
  Type f32 = b.getF32Type(), i64 = b.getIntegerType(64, /*isSigned=*/true);
  std::string transform = node.stringAttr("post_transform", "NONE");
  auto labelAt = [&](Value index) { return labelsAt(node, *labels, index); };

  // If there are two classes and all leaves contribute to the same class, the
  // score of this class decides.
  bool oneScore = classes == 2 && llvm::all_equal(ids);
  if (oneScore) {
    for (TreeNode &n : forest.nodes)
      for (auto &[target, weight] : n.contributions)
        target = 0;
    // If there are two base values, the base value of the class to which the
    // leaves contribute is used.
    if (base.size() == 2 && !ids.empty())
      base = {base[static_cast<size_t>(ids.front())]};
    Value score = forest.build(x, 1, "SUM", ArrayRef(base).take_front(1), f32);
    bool probabilities = llvm::all_of(weights, [](double w) { return w >= 0; });
    Value isSecond = node.greater(score, probabilities ? 0.5 : 0);
    Value scores = bothScores(node, score, transform,
                              !probabilities && transform != "PROBIT");
    if (!scores)
      return failure();
    return SmallVector<Value>{labelAt(node.cast(isSecond, i64)), scores};
  }
  if (classes < 2)
    return node.unsupported("a single class is not supported",
                            "remove the node: its label is always the same");
  Value scores = forest.build(x, classes, "SUM", base, f32);
  Value index = node.build<ArgMaxOp>(scores, 1, /*last=*/false);
  Value result = transformScores(node, scores, transform);
  if (!result)
    return failure();
  return SmallVector<Value>{labelAt(index), result};
}

//===----------------------------------------------------------------------===//
// TreeEnsemble
//===----------------------------------------------------------------------===//

static ImportResult importTreeEnsemble(OnnxNode &node) {
  Value x = featureRows(node);
  if (!x)
    return failure();
  Forest forest(node, elementOf(x).isF64());
  SmallVector<int64_t> features = node.intsAttr("nodes_featureids"),
                       missing =
                           node.intsAttr("nodes_missing_value_tracks_true");
  SmallVector<int64_t> yes = node.intsAttr("nodes_truenodeids"),
                       no = node.intsAttr("nodes_falsenodeids");
  SmallVector<int64_t> yesLeaf = node.intsAttr("nodes_trueleafs"),
                       noLeaf = node.intsAttr("nodes_falseleafs");
  SmallVector<int64_t> targets = node.intsAttr("leaf_targetids");
  SmallVector<double> splits = node.floatsAttr("nodes_splits"),
                      modes = node.floatsAttr("nodes_modes");
  SmallVector<double> weights = node.floatsAttr("leaf_weights"),
                      members = node.floatsAttr("membership_values");
  int64_t count = features.size(), leaves = targets.size();
  for (size_t size : {yes.size(), no.size(), yesLeaf.size(), noLeaf.size(),
                      splits.size(), modes.size()})
    if (static_cast<int64_t>(size) != count)
      return node.invalid(
          "the nodes_ attributes must all have the same length");
  if (static_cast<int64_t>(weights.size()) != leaves || leaves == 0 ||
      (!missing.empty() && static_cast<int64_t>(missing.size()) != count))
    return node.invalid("the leaf_ attributes must all have the same length");
  // The order of nodes is: decisions, then leaves, then additional nodes for
  // comparisons that need two nodes.
  forest.nodes.resize(count + leaves);
  for (int64_t i = 0; i < leaves; ++i)
    forest.nodes[count + i].contributions.push_back({targets[i], weights[i]});
  size_t nextMember = 0;
  for (int64_t i = 0; i < count; ++i) {
    auto child = [&](int64_t id, bool isLeaf) {
      return isLeaf ? count + id : id;
    };
    if (yes[i] < 0 || yes[i] >= (yesLeaf[i] ? leaves : count) || no[i] < 0 ||
        no[i] >= (noLeaf[i] ? leaves : count))
      return node.invalid("a node refers to a child that does not exist");
    if (!(modes[i] >= 0 && modes[i] <= 6))
      return node.invalid("a node has an unknown mode");
    int64_t low = child(yes[i], yesLeaf[i] != 0),
            high = child(no[i], noLeaf[i] != 0);
    bool nan = !missing.empty() && missing[i] != 0;
    if (modes[i] < 6) {
      forest.decide(i, static_cast<Compare>(modes[i]), features[i], splits[i],
                    nan, low, high);
      continue;
    }
    // BRANCH_MEMBER: in the list of members, NaN terminates each set.
    SmallVector<double> set;
    while (nextMember < members.size() && !std::isnan(members[nextMember]))
      set.push_back(members[nextMember++]);
    ++nextMember;
    if (set.empty())
      return node.invalid("a BRANCH_MEMBER node has an empty set of members");
    forest.decideMember(i, features[i], set, nan, low, high);
  }
  for (int64_t root : node.intsAttr("tree_roots")) {
    if (root < 0 || root >= count)
      return node.invalid("a tree root does not refer to a node");
    forest.roots.push_back(root);
  }
  int64_t targetCount = node.intAttr("n_targets", 1),
          aggregate = node.intAttr("aggregate_function", 1);
  if (failed(forest.check(shapeOf(x)[1], targetCount)))
    return failure();
  if (forest.roots.empty())
    return node.invalid("tree_roots is empty: there are no trees");
  if (aggregate < 0 || aggregate > 3)
    return node.invalid("unknown aggregate_function " + Twine(aggregate) +
                        "; it must be 0 (average), 1 (sum), 2 (minimum) or 3 "
                        "(maximum)");
  const char *aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const char *transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                              "PROBIT"};
  int64_t transform = node.intAttr("post_transform", 0);
  if (transform < 0 || transform >= int64_t(std::size(transforms)))
    return node.invalid("unknown post_transform " + Twine(transform));
  if (transform == 1 || transform == 2)
    node.warnOfReadings(
        "post_transform " + Twine(transform) + " is " + transforms[transform] +
            " in ONNX, and " + transforms[3 - transform] + " in ONNX Runtime",
        "use post_transform 0, followed by a separate operator");
  Value scores =
      forest.build(x, targetCount, aggregates[aggregate], {}, elementOf(x));
  Value result = transformScores(node, scores, transforms[transform]);
  if (!result)
    return failure();
  // Float16 is computed in float32.
  return one(node.cast(result, elementOf(node.input(0))));
}

void registerForestImports(OnnxRegistry &registry) {
  registry.add("TreeEnsemble", importTreeEnsemble, "", "ai.onnx.ml");
  registry.add("TreeEnsembleRegressor", importTreeEnsembleRegressor, "",
               "ai.onnx.ml");
  registry.add("TreeEnsembleClassifier", importTreeEnsembleClassifier,
               "a single class", "ai.onnx.ml");
}

} // namespace ingot::graph
