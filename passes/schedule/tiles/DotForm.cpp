#include "passes/schedule/tiles/DotForm.h"

#include "targets/DepthwiseForms.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/ShortSums.h"
#include "dialects/kernel/DotLane.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/HalfTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Returns the name of an integer type in the target's tables, for example
/// "si8".
static std::string rowName(IntegerType type) {
  return (type.isUnsigned() ? "ui" : "si") + std::to_string(type.getWidth());
}

/// Returns the DotForm for elements of types `a` and `b`, in either order, from
/// the target's table of dot products; nothing if the table has no entry. `a`
/// is the type of the left operand's rows, whose elements are broadcast to all
/// columns.
static std::optional<DotForm> formByRows(StringRef a, StringRef b,
                                         unsigned group,
                                         const TargetDescription &target) {
  DotForm form;
  form.group = group;
  auto lanes = llvm::map_to_vector(target.vectorBytes,
                                   [](int64_t bytes) { return bytes / 4; });
  lanes.push_back(1);
  for (int64_t count : lanes) {
    const Product *row = target.product(b, a, group, count);
    bool byWord = row && !row->wordSpelling.empty();
    if (!byWord)
      if (auto *other = target.product(a, b, group, count))
        row = other;
    if (!row)
      continue;
    form.lanes.push_back(row->lanes);
    form.byWord = byWord;
    form.preparation = row->preparation;
    bool byLane = llvm::any_of(target.intrinsics, [&](const Intrinsic &known) {
      return known.op == kernel::dotByLane(b, a, 0);
    });
    unsigned bits = a == "bf16" ? 16 : 8;
    if (byLane && group * lanes.front() * bits == 128)
      form.rowGroups = lanes.front();
    form.perCycle =
        std::max(form.perCycle, (byWord ? row->wordsPerCycle : row->perCycle) *
                                    double(row->lanes * row->group));
  }
  return form.lanes.empty() ? std::nullopt : std::optional(form);
}

/// Returns the values of constant weights, which may be an argument of their
/// fusion group; null if the weights are not constant.
static ElementsAttr constantOf(Value weights) {
  if (auto argument = dyn_cast<BlockArgument>(weights))
    if (auto group = dyn_cast<GroupOp>(argument.getOwner()->getParentOp()))
      weights = group.getInputs()[argument.getArgNumber()];
  auto constant = weights.getDefiningOp<ConstantOp>();
  return constant && hasData(constant.getValue()) ? constant.getValue()
                                                  : ElementsAttr();
}

/// Whether none of the signed 8-bit weights is -128.
static bool isSymmetric(ElementsAttr weights) {
  std::vector<char> storage;
  return !llvm::is_contained(elementBytes(weights, storage), char(-128));
}

/// Returns the DotForm in which the lanes of a vector of sums take different K
/// steps (acrossLanes); nothing if the target has no such dot products. The
/// convolution's input channels must fill registers or half registers. The
/// weights must be constant and none of them -128 (see kAcrossLanesAttr);
/// weights that are already packed for this DotForm are recognized by the size
/// of their groups.
static std::optional<DotForm> formAcrossLanes(ConvOp conv,
                                              const TargetDescription &target) {
  auto x = dyn_cast<IntegerType>(elementOf(conv.getX())),
       w = dyn_cast<IntegerType>(elementOf(conv.getW()));
  if (!x || !w || x.isSignless() || w.isSignless() ||
      target.vectorBytes.empty())
    return std::nullopt;
  MLIRContext *context = conv.getContext();
  int64_t bytes = target.vectorBytes.front(), lanes = bytes / 4;
  const Intrinsic *across =
      target.intrinsic(kernel::dotAcrossLanes(rowName(x), rowName(w)),
                       VectorType::get({bytes}, IntegerType::get(context, 8)),
                       VectorType::get({lanes}, IntegerType::get(context, 32)));
  // The target's dot product of half a register sums pairs of K steps. For
  // whole registers, the same rate of multiply-adds is assumed.
  const Product *row = target.product(rowName(x), rowName(w), 2, lanes);
  if (!across || !row || shapeOf(conv.getX()).back() % (bytes / 2) != 0)
    return std::nullopt;
  auto packed = conv.getW().getDefiningOp<UnpackPanelsOp>();
  ElementsAttr weights = packed ? ElementsAttr() : constantOf(conv.getW());
  if (packed ? int64_t(packed.getGroup()) != bytes
             : !weights || !isSymmetric(weights))
    return std::nullopt;
  DotForm form;
  form.acrossLanes = true;
  form.group = bytes;
  form.lanes = {lanes};
  form.perCycle = row->perCycle * double(bytes / 2);
  return form;
}

/// Whether a contraction with the given right operand, of which `rows` rows are
/// multiplied, can use products of two rows by two columns. The right operand
/// must be constant, so that it is packed; weights that are already packed are
/// recognized by the size of their groups.
static bool takesPairs(Value right, const Dim &rows, int64_t group) {
  if (rows.most() < 2)
    return false;
  if (auto packed = right.getDefiningOp<UnpackPanelsOp>())
    return int64_t(packed.getGroup()) == group;
  return constantOf(right) != nullptr;
}

/// Returns the DotForm of bf16. It uses bf16 dot products, or f32 multiply-adds
/// if these are faster. For f32 multiply-adds, a shift and a mask widen the
/// even and the odd K steps of each pair.
static std::optional<DotForm> formOfBFloats(const TargetDescription &target) {
  auto form = formByRows("bf16", "bf16", 2, target);
  if (!form)
    return form;
  double wide =
      target.rates.multiplyAdds * double(target.vectorBytes.front()) / 4;
  if (form->perCycle >= wide)
    return form;
  form->widened = true;
  form->rowGroups = 1;
  form->perCycle = wide;
  return form;
}

/// Returns the DotForm of f16 if the target accumulates in f16. `stage` limits
/// the error: a lane adds up 32 products, with a worst-case error of about
/// 2^-11 * sqrt(32) / 2 = 0.14 % of the sum, which is a third of the error of
/// rounding each operand to bf16. Twice as many K steps would be only 4 %
/// faster. If multiply-adds take a lane of a vector as factor, a stage also
/// loads and stores the f32 sums, so it is longer: with 160 products, the error
/// is at most 0.31 %, and 0.18 % in the mean, of the standard deviation of the
/// sum. So many hold all products of 3 x 3 windows of 16 channels and of 7 x 7
/// windows of an image.
static std::optional<DotForm> formOfHalves(const TargetDescription &target) {
  DotForm form;
  if (halvesByLane(target)) {
    // A dot product takes a single K step. A vector of f16 sums has twice as
    // many lanes as a vector of f32, so it is widened into two vectors.
    const Product *row =
        target.product("f16", "f16", 1, target.vectorBytes.front() / 2);
    form.group = 1;
    form.stage = 160;
    form.rowGroups = row->lanes;
    form.lanes = {row->lanes / 2};
    form.perCycle = row->perCycle * double(row->lanes);
    return form;
  }
  form.group = 2;
  form.stage = 64;
  for (int64_t bytes : target.vectorBytes) {
    const Product *row = target.product("f16", "f16", 1, bytes / 2);
    if (!row)
      continue;
    form.lanes.push_back(row->lanes / form.group);
    form.perCycle = std::max(form.perCycle, row->perCycle * double(row->lanes));
  }
  return form.lanes.empty() ? std::nullopt : std::optional(form);
}

/// Returns the DotForm in which each element is widened and multiplied
/// separately, in a core register.
static DotForm singleSteps() {
  DotForm form;
  form.group = 1;
  form.lanes = {1};
  form.perCycle = 1;
  return form;
}

/// Returns the DotForm in which the products of up to `pairs` pairs of unsigned
/// by signed 8-bit elements are summed in 16 bits, and these sums are widened by
/// products with ones; nothing if the target has no such instruction.
static std::optional<DotForm> formInShortSums(MLIRContext *context,
                                              int64_t pairs,
                                              const TargetDescription &target) {
  // With two groups, the sums of 4 x 2 vectors, two operands of two rows and
  // the weights fill 16 registers. On Zen 3 (2.9 GHz, one thread, G
  // multiply-adds per second, November 2026), one group takes 91, two take 112;
  // widened operands take 60.
  constexpr int64_t mostGroups = 2;
  auto vector = [&](int64_t bytes, unsigned bits) {
    return VectorType::get({bytes * 8 / bits}, IntegerType::get(context, bits));
  };
  DotForm form;
  form.group = 4;
  form.shortGroups = std::min(pairs, mostGroups);
  for (int64_t bytes : target.vectorBytes) {
    const Product *row = target.product("si16", "si16", 2, unsigned(bytes / 4));
    if (!row || !target.intrinsic(kernel::dotInHalves("ui8", "si8"),
                                  vector(bytes, 8), vector(bytes, 16)))
      continue;
    form.lanes.push_back(row->lanes);
    // Each group takes a product and an addition of pairs in 16 bits, of which
    // the first one adds nothing. Widening takes as many as a dot product of
    // pairs of 16-bit elements.
    auto groups = double(form.shortGroups);
    double products = row->perCycle * 2 * groups / (2 * groups + 1);
    form.perCycle = std::max(form.perCycle, products * double(row->lanes) *
                                                double(form.group));
  }
  return form.lanes.empty() ? std::nullopt : std::optional(form);
}

/// Returns the number of axes of K steps of a contraction that are divided into
/// pairs as one. With an odd number of channels, a pair spans two kernel columns.
static int64_t axesOfPairs(Operation *contraction) {
  Value weights = contraction->getOperand(1);
  return isa<ConvOp>(contraction) && shapeOf(weights).end()[-2] % 2 != 0 ? 2
                                                                         : 1;
}

ShortSums shortSumsOf(Operation *contraction, const TargetDescription &target) {
  auto conv = dyn_cast<ConvOp>(contraction);
  Value weights = contraction->getOperand(1);
  MLIRContext *context = contraction->getContext();
  Type type = elementOf(weights),
       left = IntegerType::get(context, 8, IntegerType::Unsigned);
  if ((conv && conv.getGroups() != 1) || !type.isSignedInteger(8) ||
      target.hasInt8Dot(left, type) || !formInShortSums(context, 1, target))
    return {};
  ElementsAttr constant = constantOf(weights);
  if (!constant)
    return {};
  int64_t axes = axesOfPairs(contraction),
          pairs = graph::pairsInShortSums(constant, axes);
  ArrayRef<int64_t> shape = shapeOf(weights);
  if (pairs || shape.end()[-2] % kShortGroup != 0 ||
      (!conv && shape.size() != 2))
    return {pairs};
  // The width of most panels: two vectors of sums.
  int64_t panel = target.vectorBytes.front() / 2;
  std::vector<char> wide = wideGroups(constant, axes, panel);
  // The share is rounded down to eighths, so that equal contractions with
  // different weights share a kernel.
  auto fitting = int64_t(llvm::count(wide, 0));
  double share = double(8 * fitting / int64_t(wide.size())) / 8;
  return share > 0 ? ShortSums{1, share} : ShortSums();
}

/// Returns what graph.short_sums and graph.short_share say about a contraction.
static ShortSums markedSums(Operation *contraction) {
  ShortSums sums;
  if (auto pairs = contraction->getAttrOfType<IntegerAttr>(kShortSumsAttr))
    sums.pairs = pairs.getInt();
  if (auto share = contraction->getAttrOfType<FloatAttr>(kShortShareAttr))
    sums.share = share.getValueAsDouble();
  return sums;
}

/// Returns the form in which the groups of `sums.share` are multiplied as in
/// `narrow`, the others as in `wide`.
static DotForm mixedForm(const DotForm &narrow, const DotForm &wide,
                         ShortSums sums) {
  // A branch that is predicted wrongly costs up to half of a widened group of a
  // tile of four rows (Zen 3, November 2026).
  constexpr double branch = 0.5;
  DotForm form = narrow;
  form.widened = true;
  form.shortShare = sums.share;
  form.perCycle = 1 / (sums.share / narrow.perCycle +
                       (1 - sums.share) * (1 + branch) / wide.perCycle);
  return form;
}

std::optional<DotForm> dotForm(Type a, Type b, const TargetDescription &target,
                               int64_t steps, bool fillsUp, ShortSums sums) {
  if (a.isBF16() && b.isBF16())
    return formOfBFloats(target);
  if (a.isF16() && b.isF16())
    return formOfHalves(target);
  auto left = dyn_cast<IntegerType>(a), right = dyn_cast<IntegerType>(b);
  if (!left || !right || left.isSignless() || right.isSignless() ||
      left.getWidth() != right.getWidth())
    return std::nullopt;
  std::optional<DotForm> best;
  auto rate = [&](const DotForm &form) {
    return form.isScalar() ? form.perCycle * double(steps) /
                                 double(llvm::alignTo(steps, form.group))
                           : form.perCycle;
  };
  for (unsigned group : {16u, 8u, 4u, 2u})
    if (auto form = formByRows(rowName(left), rowName(right), group, target);
        form && (!form->isScalar() || fillsUp || steps % group == 0) &&
        (!best || rate(*form) > rate(*best)))
      best = form;
  if (left.getWidth() == 8)
    if (auto form = formByRows("si16", "si16", 2, target);
        form && (!best || form->perCycle > best->perCycle)) {
      best = form;
      best->group = 4;
      best->widened = true;
    }
  if (sums.pairs > 0 && left.isUnsignedInteger(8) && right.isSignedInteger(8))
    if (auto form = formInShortSums(a.getContext(), sums.pairs, target)) {
      if (sums.share < 1 && best)
        form = best->widened ? mixedForm(*form, *best, sums) : *best;
      if (!best || form->perCycle > best->perCycle)
        best = form;
    }
  return best || !target.coreRegisters ? best : std::optional(singleSteps());
}

std::optional<DotForm> dotFormOfPairs(Type a, Type b,
                                      const TargetDescription &target) {
  auto nameOf = [](Type type) -> std::string {
    auto integer = dyn_cast<IntegerType>(type);
    if (type.isBF16())
      return "bf16";
    return integer && !integer.isSignless() ? rowName(integer) : "";
  };
  std::string left = nameOf(a), right = nameOf(b);
  if (left.empty() || right.empty() || target.vectorBytes.empty())
    return std::nullopt;
  MLIRContext *context = a.getContext();
  int64_t bytes = target.vectorBytes.front(), lanes = bytes / 4,
          elements = 8 * bytes / a.getIntOrFloatBitWidth();
  Type stored = a.isBF16() ? a : IntegerType::get(context, 8),
       sum = a.isBF16() ? Type(Float32Type::get(context))
                        : IntegerType::get(context, 32);
  auto plain = formByRows(left, right, elements / lanes, target);
  if (!plain || !target.intrinsic(kernel::dotOfPairs(left, right),
                                  VectorType::get({elements}, stored),
                                  VectorType::get({lanes}, sum)))
    return std::nullopt;
  DotForm form;
  form.ofPairs = true;
  form.group = elements / 2;
  form.rowGroups = 2;
  form.lanes = {lanes};
  form.perCycle = 2 * plain->perCycle;
  return form;
}

/// Returns the DotForm for a product of `rows` rows. In a product of few rows,
/// reading the weights takes more time than multiplying, so f16 sums are widened
/// after each vector of a row: sums of 160 products may have an error of 0.3 %,
/// which in the last layer of a network is the error of its outputs.
static std::optional<DotForm> withShortStages(std::optional<DotForm> form,
                                              const Dim &rows) {
  constexpr int64_t few = 8;
  if (form && form->stage && form->group == 1 && rows.most() < few)
    form->stage = form->rowGroups;
  return form;
}

std::optional<DotForm> dotForm(MatMulOp product,
                               const TargetDescription &target) {
  if (!product.isWidening() || !product.getZeros().empty() ||
      (elementOf(product.getA()).isF16() && !sumsHalves(product)))
    return std::nullopt;
  if (auto pairs = dotFormOfPairs(elementOf(product.getA()),
                                  elementOf(product.getB()), target);
      pairs &&
      takesPairs(product.getB(), ProductSizes(product).rows, pairs->group))
    return pairs;
  return withShortStages(dotForm(elementOf(product.getA()),
                                 elementOf(product.getB()), target,
                                 shapeOf(product.getA()).back(),
                                 /*fillsUp=*/false, markedSums(product)),
                         ProductSizes(product).rows);
}

bool readsKernelRows(ConvOp conv) {
  constexpr int64_t manyChannels = 8;
  ArrayRef<int64_t> dilations = conv.getDilations();
  return shapeOf(conv.getX()).back() < manyChannels && dilations.size() <= 2 &&
         dilations.back() == 1;
}

/// Whether a pool is fused with the convolution: only elementwise operators lie
/// between the two.
static bool hasPool(ConvOp conv, const TargetDescription &target) {
  Value v = conv.getResult();
  while (v.hasOneUse()) {
    Operation *user = *v.getUsers().begin();
    if (joinsConvolution(user, target))
      return true;
    if (!isa<ElementwiseOpInterface>(user))
      return false;
    v = user->getResult(0);
  }
  return false;
}

bool copiesWindows(ConvOp conv, const TargetDescription &target) {
  return target.coreRegisters && conv.isWidening() && conv.getGroups() == 1 &&
         isa<IntegerType>(elementOf(conv.getX())) && !hasPool(conv, target);
}

bool fillsPadding(ConvOp conv, const TargetDescription &target) {
  return target.coreRegisters && conv.isWidening() && conv.getGroups() == 1 &&
         conv.getW().getDefiningOp<ConstantOp>() &&
         (copiesWindows(conv, target) || readsKernelRows(conv));
}

bool groupsKernelRows(ConvOp conv, const DotForm &form) {
  return readsKernelRows(conv) && shapeOf(conv.getX()).back() % form.group != 0;
}

/// Whether no window reaches into the padding along the columns.
static bool hasWholeRows(ConvOp conv) {
  Dim input = dimsOf(conv.getX()).end()[-2],
      output = dimsOf(conv.getResult()).end()[-2];
  return conv.getLow().back() == 0 &&
         (input - (output - 1) * conv.getStrides().back()).least() >=
             shapeOf(conv.getW()).end()[-3];
}

std::optional<DotForm> dotForm(ConvOp conv, const TargetDescription &target) {
  if (!conv.isWidening() || conv.getXZero() != 0 || conv.getGroups() != 1 ||
      (elementOf(conv.getX()).isF16() && !sumsHalves(conv)))
    return std::nullopt;
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  if (copiesWindows(conv, target))
    return dotForm(elementOf(conv.getX()), elementOf(conv.getW()), target,
                   ShapedType::getNumElements(w.drop_back()),
                   /*fillsUp=*/true);
  int64_t channels = w.end()[-2],
          steps = channels * (readsKernelRows(conv) ? w.end()[-3] : 1);
  Dim positions =
      graph::product(ArrayRef(dimsOf(conv.getResult())).drop_back());
  auto form = withShortStages(dotForm(elementOf(conv.getX()),
                                      elementOf(conv.getW()), target, steps,
                                      /*fillsUp=*/false, markedSums(conv)),
                              positions);
  if (auto across = formAcrossLanes(conv, target);
      across && (!form || across->perCycle >= form->perCycle))
    return across;
  auto fillsGroups = [&](const DotForm &form) {
    return channels % form.group == 0 ||
           (steps % form.group == 0 && groupsKernelRows(conv, form) &&
            hasWholeRows(conv) && isa<BlockArgument>(conv.getX()));
  };
  if (auto pairs = dotFormOfPairs(elementOf(conv.getX()),
                                  elementOf(conv.getW()), target);
      pairs && fillsGroups(*pairs) &&
      takesPairs(conv.getW(), positions, pairs->group))
    return pairs;
  return !form || form->isScalar() || fillsGroups(*form) ? form : std::nullopt;
}

std::optional<DotForm> depthwiseForm(ConvOp conv,
                                     const TargetDescription &target) {
  auto x = dyn_cast<IntegerType>(elementOf(conv.getX())),
       w = dyn_cast<IntegerType>(elementOf(conv.getW()));
  if (!target.wholeRegisters || !x || !w || x.isSignless() || w.isSignless())
    return std::nullopt;
  constexpr unsigned group = 4;
  unsigned lanes = target.vectorBytes.front() / group;
  DotForm form;
  form.group = group;
  form.lanes = {lanes};
  for (auto [a, b] : {std::pair(x, w), std::pair(w, x)})
    if (target.product(rowName(a), rowName(b), group, lanes))
      return form;
  return std::nullopt;
}

/// Whether `conv` is a depthwise convolution of integers with one filter for each
/// channel.
static bool filtersIntegers(ConvOp conv) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  return conv.isWidening() && w.size() >= 3 && w.end()[-2] == 1 &&
         int64_t(conv.getGroups()) == w.back();
}

bool filtersInBlocks(ConvOp conv, const TargetDescription &target) {
  return filtersIntegers(conv) &&
         filtersByDots(target, elementOf(conv.getX()), elementOf(conv.getW()),
                       shapeOf(conv.getW()).back());
}

bool filtersWidened(ConvOp conv, const TargetDescription &target) {
  return filtersIntegers(conv) && conv.getXOutside() == 0 &&
         filtersByWords(target, elementOf(conv.getX()), elementOf(conv.getW()),
                        shapeOf(conv.getW()).back());
}

} // namespace ingot::schedule
