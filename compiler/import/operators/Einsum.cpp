// Imports Einsum as matrix multiplications.
//
// If a label occurs twice in one operand, the diagonal of these axes is taken.
// Axes whose label occurs in only one operand and not in the result are summed
// first. Then the operands are combined from left to right:
//
//   bij, bjk -> bik    [b, i, j] x [b, j, k], a matmul
//   bi, bj -> bij      [b, i, 1] * [b, 1, j], nothing is summed

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/graph/ops/Movement.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// The label of an axis: a letter or, for an axis under the ellipsis,
/// `ellipsis` + its distance from the last axis under the ellipsis.
using Label = int;
using Labels = SmallVector<Label>;
constexpr Label ellipsis = 256;

/// An operand of the Einsum node, with a label for each axis.
struct Term {
  Value x;
  Labels labels;

  Dim sizeOf(Label label) const {
    return dimsOf(x)[llvm::find(labels, label) - labels.begin()];
  }
  bool has(Label label) const { return llvm::is_contained(labels, label); }
};

class Einsum {
public:
  explicit Einsum(OnnxNode &node) : node(node) {}
  ImportResult import();

private:
  LogicalResult parse(StringRef equation);
  FailureOr<Labels> parseOperand(StringRef text, int64_t rank);
  LogicalResult fitSizes();
  LogicalResult growEllipses();
  void takeDiagonal(Term &term, size_t first, size_t second);
  void dropBroadcastAxes(Term &term);
  void arrange(Term &term, ArrayRef<Label> order);
  void sumExcept(Term &term, llvm::function_ref<bool(Label)> keep);
  Term join(Term a, Term b, llvm::function_ref<bool(Label)> needed);

  OnnxNode &node;
  SmallVector<Term> terms;
  Labels result;
  int64_t ellipsisRank = 0;
};
} // namespace

FailureOr<Labels> Einsum::parseOperand(StringRef text, int64_t rank) {
  Labels labels;
  int64_t letters = llvm::count_if(
      text, [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
  for (; !text.empty(); text = text.drop_front()) {
    if (text.consume_front("...")) {
      for (int64_t i = rank < 0 ? ellipsisRank : rank - letters; i-- > 0;)
        labels.push_back(ellipsis + i);
      if (text.empty())
        break;
    }
    if (!std::isalpha(static_cast<unsigned char>(text.front())))
      return node.invalid("the equation contains the invalid character `" +
                          text.take_front() + "`");
    labels.push_back(text.front());
  }
  if (rank >= 0 && static_cast<int64_t>(labels.size()) != rank)
    return node.invalid("the equation has " + Twine(labels.size()) +
                        " labels for an operand of rank " + Twine(rank));
  return labels;
}

LogicalResult Einsum::parse(StringRef equation) {
  std::string text;
  llvm::copy_if(equation, std::back_inserter(text),
                [](char c) { return c != ' '; });
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> operands;
  left.split(operands, ',');
  if (operands.size() != node.numInputs())
    return node.invalid("the equation has " + Twine(operands.size()) +
                        " operands, but the node has " +
                        Twine(node.numInputs()) + " inputs");
  std::map<Label, int> uses;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    FailureOr<Labels> labels =
        parseOperand(operand, shapeOf(node.input(i)).size());
    if (failed(labels))
      return failure();
    for (Label label : *labels) {
      ++uses[label];
      ellipsisRank = std::max<int64_t>(ellipsisRank, label - ellipsis + 1);
    }
    terms.push_back({node.input(i), *labels});
  }
  if (StringRef(text).contains("->")) {
    FailureOr<Labels> labels = parseOperand(right, -1);
    if (failed(labels))
      return failure();
    result = *labels;
  } else {
    // An equation without `->`: the result has the axes under the ellipsis,
    // then the labels that occur once, in alphabetical order.
    for (int64_t i = ellipsisRank; i-- > 0;)
      result.push_back(ellipsis + i);
    for (auto [label, count] : uses)
      if (label < ellipsis && count == 1)
        result.push_back(label);
  }
  for (Label label : result)
    if (!uses.count(label) || llvm::count(result, label) != 1)
      return node.invalid("each label of the result must occur once in the "
                          "result and in at least one operand");
  return success();
}

/// Whether two sizes may broadcast at run time because one of them may be 1.
/// This holds only for axes under the ellipsis: axes with a letter must have
/// equal sizes unless a size is known to be 1.
static bool mayBroadcast(Label label, const Dim &x, const Dim &y) {
  return label >= ellipsis && (x.mayBe(1) || y.mayBe(1));
}

/// Requires axes with the same label to have equal sizes, except sizes of 1,
/// which broadcast.
LogicalResult Einsum::fitSizes() {
  std::map<Label, std::pair<Value, size_t>> longest;
  for (Term &term : terms)
    for (auto [axis, label] : llvm::enumerate(term.labels)) {
      auto &other = longest.try_emplace(label, std::make_pair(term.x, axis))
                        .first->second;
      Dim size = dimsOf(term.x)[axis],
          known = dimsOf(other.first)[other.second];
      if (known == 1)
        other = {term.x, axis};
      else if (!size.mayBe(1) && !known.mayBe(1) && surelyDiffer(size, known))
        return node.invalid("a label stands for axes of sizes " +
                            kernel::sizeText(known) + " and " +
                            kernel::sizeText(size));
      else if (!(size == 1) && !mayBroadcast(label, size, known) &&
               failed(node.requireEqual(size, known, "axes of one label")))
        return failure();
    }
  return growEllipses();
}

/// Expands the operands along the axes under the ellipsis to the broadcast size
/// of all operands, which may be known only at run time. Sizes that are known
/// to be 1 remain 1.
LogicalResult Einsum::growEllipses() {
  std::map<Label, Dim> wholes;
  for (Label label = ellipsis; label < ellipsis + ellipsisRank; ++label) {
    Dims sizes;
    for (Term &term : terms)
      if (term.has(label))
        sizes.push_back(term.sizeOf(label));
    wholes[label] = node.wholeSize(sizes);
  }
  for (Term &term : terms) {
    Dims sizes = dimsOf(term.x);
    for (auto [size, label] : llvm::zip_equal(sizes, term.labels))
      if (auto whole = wholes.find(label);
          whole != wholes.end() && !(size == 1))
        size = whole->second;
    term.x = node.broadcastTo(term.x, sizes);
    if (!term.x)
      return node.invalid("the axes under the ellipsis do not broadcast");
  }
  return success();
}

/// Replaces axes `first` and `second` of `term`, both of size n, by their
/// diagonal: every (n + 1)-th element after flattening both axes to one.
void Einsum::takeDiagonal(Term &term, size_t first, size_t second) {
  Labels order;
  SmallVector<int64_t> perm = {static_cast<int64_t>(first),
                               static_cast<int64_t>(second)},
                       shape;
  order.push_back(term.labels[first]);
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (i == first || i == second)
      continue;
    perm.push_back(i);
    order.push_back(term.labels[i]);
    shape.push_back(shapeOf(term.x)[i]);
  }
  Value x = node.builder.createOrFold<TransposeOp>(node.loc, term.x, perm);
  if (hasDynamicSizes(x.getType())) {
    Dim count = dimsOf(x)[0];
    Value twice =
        node.expand(node.reshape(node.countTo(count), {count, 1}), {count, 2});
    term = {node.build<GatherNDOp>(x, twice, /*batch=*/0), order};
    return;
  }
  int64_t size = shapeOf(term.x)[first];
  shape.insert(shape.begin(), size * size);
  term = {node.slice(node.reshape(x, shape), 0, 0, size, size + 1), order};
}

/// Removes from `term` each axis of size 1 whose label has a larger size in
/// another operand.
void Einsum::dropBroadcastAxes(Term &term) {
  Labels labels;
  Dims sizes;
  for (auto [label, size] : llvm::zip(term.labels, dimsOf(term.x))) {
    Label current = label;
    bool longer = llvm::any_of(terms, [&](Term &other) {
      return other.has(current) && !(other.sizeOf(current) == 1);
    });
    if (size == 1 && longer)
      continue;
    labels.push_back(label);
    sizes.push_back(size);
  }
  term = {node.reshape(term.x, sizes), labels};
}

void Einsum::arrange(Term &term, ArrayRef<Label> order) {
  SmallVector<int64_t> perm;
  for (Label label : order)
    perm.push_back(llvm::find(term.labels, label) - term.labels.begin());
  term = {node.builder.createOrFold<TransposeOp>(node.loc, term.x, perm),
          Labels(order)};
}

void Einsum::sumExcept(Term &term, llvm::function_ref<bool(Label)> keep) {
  SmallVector<int64_t> axes;
  Dims sizes;
  Labels labels;
  for (auto [axis, label] : llvm::enumerate(term.labels)) {
    if (!keep(label)) {
      axes.push_back(axis);
      continue;
    }
    labels.push_back(label);
    sizes.push_back(dimsOf(term.x)[axis]);
  }
  if (axes.empty())
    return;
  Value x = node.build<ReduceSumOp>(term.x, axes);
  term = {node.reshape(x, sizes), labels};
}

Term Einsum::join(Term a, Term b, llvm::function_ref<bool(Label)> needed) {
  sumExcept(a, [&](Label label) { return b.has(label) || needed(label); });
  sumExcept(b, [&](Label label) { return a.has(label) || needed(label); });
  Labels batch, contracted, rows, columns;
  for (Label label : a.labels)
    (!b.has(label)   ? rows
     : needed(label) ? batch
                     : contracted)
        .push_back(label);
  for (Label label : b.labels)
    if (!a.has(label))
      columns.push_back(label);
  arrange(a, llvm::to_vector(llvm::concat<Label>(batch, rows, contracted)));
  arrange(b, llvm::to_vector(llvm::concat<Label>(batch, contracted, columns)));
  auto sizes = [](const Term &term, ArrayRef<Label> labels) {
    Dims sizes;
    for (Label label : labels)
      sizes.push_back(term.sizeOf(label));
    return sizes;
  };
  Dims shape = sizes(a, batch), batchSizes = shape;
  llvm::append_range(shape, sizes(a, rows));
  llvm::append_range(shape, sizes(b, columns));
  auto count = [&](const Term &term, ArrayRef<Label> labels) {
    return product(ArrayRef<Dim>(sizes(term, labels)));
  };
  Dim m = count(a, rows), n = count(b, columns), k = count(a, contracted);
  auto matrix = [&](Value x, const Dim &height, const Dim &width) {
    Dims matrixSizes(batchSizes);
    matrixSizes.append({height, width});
    return node.reshape(x, matrixSizes);
  };
  Value x = matrix(a.x, m, k), y = matrix(b.x, k, n);
  Value product =
      contracted.empty() ? node.mul(x, y) : node.build<MatMulOp>(x, y);
  return {node.reshape(product, shape),
          llvm::to_vector(llvm::concat<Label>(batch, rows, columns))};
}

ImportResult Einsum::import() {
  if (failed(parse(node.stringAttr("equation", ""))))
    return failure();
  if (failed(fitSizes()))
    return failure();
  for (Term &term : terms) {
    for (size_t i = 0; i < term.labels.size(); ++i) {
      auto again = std::find(term.labels.begin() + i + 1, term.labels.end(),
                             term.labels[i]);
      if (again == term.labels.end())
        continue;
      size_t second = again - term.labels.begin();
      if (!(dimsOf(term.x)[second] == dimsOf(term.x)[i]))
        return node.unsupported("a label that repeats within one operand on "
                                "axes of different sizes is not supported");
      takeDiagonal(term, i, second);
      i = static_cast<size_t>(-1); // the axes have moved: start again
    }
  }
  for (Term &term : terms)
    dropBroadcastAxes(term);
  Term joined = terms[0];
  for (size_t i = 1; i < terms.size(); ++i)
    joined = join(joined, terms[i], [&](Label label) {
      return llvm::is_contained(result, label) ||
             llvm::any_of(ArrayRef(terms).drop_front(i + 1),
                          [&](const Term &later) { return later.has(label); });
    });
  sumExcept(joined,
            [&](Label label) { return llvm::is_contained(result, label); });
  arrange(joined, result);
  return one(joined.x);
}

static ImportResult importEinsum(OnnxNode &node) {
  return Einsum(node).import();
}

void registerEinsumImports(OnnxRegistry &registry) {
  registry.add("Einsum", importEinsum);
}

} // namespace ingot::graph
