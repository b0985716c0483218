// Rewrites contractions of narrow integers into the forms that the target's dot
// products support.
//
//   matmul(a, b, a_zero, b_zero)
//     ->  matmul(a, b) - a_zero * (column sums of b - steps * b_zero)
//                      - b_zero * row sums of a
//
// (steps: the size of the axis that is summed.) This applies if the target has
// a dot product for the types of a and b (`Product` in the target's
// description). Sums and zero points are computed in si32 and wrap modulo 2^32
// like the dot product itself. Sums and products of constants are folded; the
// remaining operators become part of the epilogue.
//
// If the target has a dot product for another signedness only, an operand is
// converted by flipping the highest bit, which adds 128 to its values and its
// zero point or subtracts 128:
//
//   matmul(a: si8, b, a_zero, b_zero)
//     ->  matmul(a ^ 128: ui8, b, a_zero + 128, b_zero)
//
// On targets with slow partial-register accesses, the columns of a computed
// right operand are padded with zeros to whole registers.
//
// If the target has no dot product for the types, the contraction keeps its
// zero points and subtracts them from each element. Convolutions are rewritten
// like matrix multiplications:
//
//   conv(x, w, bias) {x_zero}  ->  conv(padded x, w, bias - x_zero * sums of w)
//
// The padding of a convolution has the value of the zero point. Unless this
// value is 0, it has to be stored around the input. If memory is scarce, the
// kernel supplies the padding instead:
//
//   conv(x, w, bias) {x_zero}  ->  conv(x, w, bias - x_zero * sums of w) {x_outside = x_zero}
//
// The input channels are padded with zeros to a multiple of the group of steps
// that one dot product sums. Cores that can also multiply single elements do
// not pad the channels. If a dot product reads whole kernel rows, the rows are
// padded instead where that is faster. If the weights change their signedness,
// the sums of the input over each window have to be subtracted; they are a
// convolution with one output channel and weights of ones. If windows overlap
// and there are many channels, the channels of each pixel are summed first:
//
//   conv(x, w: si8)  ->  conv(x, w ^ 128: ui8) - 128 * conv(conv_1x1(x, ones), ones)
//
// The input of a depthwise convolution is padded until all windows lie inside
// of it.
//
// Convolutions of bf16 and f16 are padded in the same way; floats have no
// signedness and no zero point.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Contraction.h"
#include "mlir/IR/Matchers.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/tiles/ChannelStream.h"
#include "passes/simplify/OtherSign.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;
using namespace ingot::simplify;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMINTEGERDOTS
#include "passes/decide/Passes.h.inc"

namespace {

/// Whether `v` is a constant of zeros, or absent.
bool isZero(Value v) { return !v || matchPattern(v, m_Zero()); }

/// Base class with functions that build the operators that replace the
/// contraction `op`; `wide` is the element type of its result.
class RewritingBase {
protected:
  explicit RewritingBase(Operation *op)
      : builder(op), loc(op->getLoc()), wide(elementOf(op->getResult(0))) {}

  Value cast(Value v, Type type) {
    return CastOp::create(builder, loc, tensorOf(dimsOf(v), type), v);
  }

  Value number(int64_t value, Type type) {
    if (isa<FloatType>(type))
      return ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(
              RankedTensorType::get({}, type),
              Attribute(builder.getFloatAttr(type, double(value)))));
    APInt bits(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
               /*implicitTrunc=*/true);
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, type), bits));
  }

  Value filled(ArrayRef<int64_t> shape, int64_t value, Type type) {
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get(shape, type),
                               APInt(type.getIntOrFloatBitWidth(), value)));
  }

  template <typename OpT> Value elementwise(Value x, Value y) {
    auto sizes = broadcastShapes({dimsOf(x), dimsOf(y)});
    return OpT::create(builder, loc, TypeRange{tensorOf(*sizes, elementOf(x))},
                       ValueRange{x, y})
        .getResult();
  }

  /// Returns the sums of `v` over `axes`. These axes have size 1 in the result.
  Value sum(Value v, ArrayRef<int64_t> axes) {
    v = cast(v, wide);
    Dims sizes = dimsOf(v);
    for (int64_t axis : axes)
      sizes[axis] = 1;
    return ReduceSumOp::create(builder, loc, tensorOf(sizes, wide), v, axes);
  }

  /// Returns `values` in the other signedness: their highest bit is flipped,
  /// which adds moveOf(the new type) to each value.
  Value flipped(Value values) {
    IntegerType type = otherSign(elementOf(values));
    return elementwise<XorOp>(cast(values, type), number(moveOf(type), type));
  }

  OpBuilder builder;
  Location loc;
  Type wide;
};

class ProductRewriting : RewritingBase {
public:
  explicit ProductRewriting(MatMulOp product)
      : RewritingBase(product), product(product) {}

  /// Rewrites a matmul. With `flipA` (`flipB`), the left (right) operand
  /// changes its signedness. Correcting for the zero point of the right operand
  /// needs the sums of the rows of the left operand; a matmul with ones
  /// computes them if the rows have fewer than `mostSteps` elements. The
  /// columns of the right operand are padded with zeros to a multiple of
  /// `columns`.
  void run(bool flipA, bool flipB, int64_t mostSteps, int64_t columns) {
    Operand a = centered(product.getA(), product.getAZero(), flipA);
    Operand b = centered(product.getB(), product.getBZero(), flipB);
    Value y = multiplied(a.values, b.values, columns);
    int64_t steps = shapeOf(a.values).back(), rank = shapeOf(b.values).size();
    if (a.zero) {
      Value sums = sum(b.values, rank - 2);
      if (b.zero)
        sums = elementwise<SubOp>(
            sums, elementwise<MulOp>(b.zero, number(steps, wide)));
      y = elementwise<SubOp>(y, elementwise<MulOp>(sums, a.zero));
    }
    if (b.zero) {
      Value sums =
          steps < mostSteps
              ? rowSums(a.values, elementOf(b.values))
              : sum(a.values,
                    static_cast<int64_t>(shapeOf(a.values).size()) - 1);
      y = elementwise<SubOp>(y, elementwise<MulOp>(sums, b.zero));
    }
    product.replaceAllUsesWith(y);
    product.erase();
  }

private:
  /// An operand and its zero point in si32; a null zero point means 0.
  struct Operand {
    Value values, zero;
  };

  Value multiplied(Value a, Value b, int64_t columns) {
    int64_t count = shapeOf(b).back(),
            missing = llvm::alignTo(count, columns) - count;
    if (missing == 0)
      return MatMulOp::create(builder, loc, product.getType(), a, b);
    SmallVector<int64_t> none(shapeOf(b).size()), more(none);
    more.back() = missing;
    b = PadOp::create(builder, loc, b, number(0, elementOf(b)), none, more);
    Dims sizes = dimsOf(product.getResult());
    sizes.back() = count + missing;
    Value y = MatMulOp::create(builder, loc, tensorOf(sizes, wide), a, b);
    SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
    return SliceOp::create(builder, loc, y, starts, steps,
                           shapeOf(product.getResult()));
  }

  Value rowSums(Value rows, Type type) {
    Dims sizes = dimsOf(rows);
    sizes.back() = 1;
    return MatMulOp::create(builder, loc, tensorOf(sizes, wide), rows,
                            filled({shapeOf(rows).back(), 1}, 1, type));
  }

  Operand centered(Value values, Value zero, bool flip) {
    Operand result{values, isZero(zero) ? Value() : cast(zero, wide)};
    if (!flip)
      return result;
    result.values = flipped(values);
    Value moved = number(moveOf(elementOf(result.values)), wide);
    result.zero = result.zero ? elementwise<AddOp>(result.zero, moved) : moved;
    return result;
  }

  MatMulOp product;
};

class ConvolutionRewriting : RewritingBase {
public:
  explicit ConvolutionRewriting(ConvOp conv)
      : RewritingBase(conv), conv(conv) {}

  /// Rewrites the convolution, and folds the zero point of the input into the
  /// bias. The parameters:
  /// - `flipX`, `flipW`: whether the input (the weights) change their
  ///   signedness.
  /// - `group`: channels are padded to a multiple of this number.
  /// - `kernelColumns`: rows of the filters are padded to this number of
  ///   columns.
  /// - `rowMultiple`: if it is not 0, rows of the input are stored together
  ///   with their padding, so that no window reaches beyond a row, and the row
  ///   length becomes a multiple of this number.
  /// - `stepsPerCycle`: the multiplications per cycle in a convolution with one
  ///   output channel.
  /// - `pads`: whether a pad operator stores the zero point around the input;
  ///   otherwise the kernel of the convolution provides this padding.
  void run(bool flipX, bool flipW, int64_t group, int64_t kernelColumns,
           int64_t rowMultiple, double stepsPerCycle, bool pads = true) {
    Value x = conv.getX(), w = conv.getW(), bias = conv.getBias();
    int64_t zero = conv.getXZero();
    if (flipX) {
      x = flipped(x);
      zero += moveOf(elementOf(x));
    }
    size_t rank = shapeOf(x).size();
    SmallVector<int64_t> none(rank), xLow(rank), xHigh(rank), wHigh(rank),
        low(conv.getLow());
    xHigh.back() = wHigh[rank - 2] =
        llvm::alignTo(shapeOf(x).back(), group) - shapeOf(x).back();
    wHigh[rank - 3] = kernelColumns - shapeOf(w)[rank - 3];
    for (size_t i = 0; i < low.size(); ++i) {
      bool isRow = rowMultiple != 0 && i + 1 == low.size();
      if ((zero == 0 || !pads) && !isRow)
        continue;
      int64_t kernel = isRow ? kernelColumns : shapeOf(w)[i];
      xLow[1 + i] = low[i];
      xHigh[1 + i] = highOf(i, kernel);
      if (int64_t all = low[i] + shapeOf(x)[1 + i] + xHigh[1 + i]; isRow)
        xHigh[1 + i] += int64_t(llvm::alignTo(all, rowMultiple)) - all;
      low[i] = 0;
    }
    if (zero != 0) {
      bias = withoutZero(w, bias, zero);
    }
    x = padded(x, xLow, xHigh, zero);
    w = padded(w, none, wHigh, 0);
    Value y, moved;
    if (flipW) {
      w = flipped(w);
      moved = elementwise<MulOp>(windowSums(x, w, low, stepsPerCycle),
                                 number(moveOf(elementOf(w)), wide));
    }
    y = convolved(x, w, bias, low, pads ? 0 : zero);
    y.getDefiningOp()->setDiscardableAttrs(
        conv->getDiscardableAttrDictionary());
    if (flipW)
      y = elementwise<SubOp>(y, moved);
    conv.replaceAllUsesWith(y);
    conv.erase();
  }

  /// Rewrites a depthwise convolution: pads the input so that all windows lie
  /// inside of it and `columnsBehind` more columns follow the last window, and
  /// folds the zero point into the bias.
  void runDepthwise(int64_t columnsBehind) {
    Value x = conv.getX(), w = conv.getW(), bias = conv.getBias();
    ArrayRef<int64_t> windows = shapeOf(w);
    size_t rank = windows.size(), axes = rank - 2;
    SmallVector<int64_t> low(rank), high(rank), inside(axes);
    for (size_t i = 0; i < axes; ++i) {
      low[1 + i] = conv.getLow()[i];
      high[1 + i] = highOf(i, windows[i], i + 1 == axes ? columnsBehind : 0);
    }
    if (int64_t zero = conv.getXZero())
      bias = withoutZero(w, bias, zero);
    x = padded(x, low, high, conv.getXZero());
    conv.replaceAllUsesWith(ConvOp::create(builder, loc, conv.getType(), x, w,
                                           bias, conv.getStrides(),
                                           conv.getDilations(), inside,
                                           conv.getGroups(), /*x_zero=*/0)
                                .getResult());
    conv.erase();
  }

private:
  /// Returns an upper bound of the number of elements by which the last window
  /// along `axis` reaches beyond the input. A window consists of `kernel`
  /// elements, and `behind` more elements must follow it.
  int64_t highOf(size_t axis, int64_t kernel, int64_t behind = 0) {
    Dim input = dimsOf(conv.getX())[1 + axis],
        last =
            (dimsOf(conv.getResult())[1 + axis] - 1) * conv.getStrides()[axis];
    int64_t reach = (kernel - 1) * conv.getDilations()[axis] + 1 + behind;
    return std::max<int64_t>(
        (last - input).most() + reach - conv.getLow()[axis], 0);
  }

  /// Returns the bias minus the contribution of the zero point `zero` of the
  /// input.
  Value withoutZero(Value w, Value bias, int64_t zero) {
    auto steps = llvm::to_vector(
        llvm::seq<int64_t>(0, static_cast<int64_t>(shapeOf(w).size()) - 1));
    Value sums = ReshapeOp::create(
        builder, loc, RankedTensorType::get(shapeOf(w).back(), wide),
        sum(w, steps));
    Value moved = elementwise<MulOp>(sums, number(-zero, wide));
    return bias ? elementwise<AddOp>(bias, moved) : moved;
  }

  /// Builds the convolution of input `x` with weights `w`, without a zero
  /// point; elements of the padding have the value `outside`.
  Value convolved(Value x, Value w, Value bias, ArrayRef<int64_t> low,
                  int64_t outside = 0) {
    Dims sizes = dimsOf(conv.getResult());
    sizes.back() = shapeOf(w).back();
    return ConvOp::create(builder, loc, tensorOf(sizes, wide), x, w, bias,
                          conv.getStrides(), conv.getDilations(), low,
                          /*groups=*/1, /*x_zero=*/0, outside);
  }

  /// Returns the sum of each window of `x` as a tensor with one channel. Uses
  /// the faster of two ways: a convolution with weights of ones, or a pointwise
  /// convolution that sums the channels of each pixel and a convolution that
  /// sums these sums over the window.
  Value windowSums(Value x, Value w, ArrayRef<int64_t> low,
                   double stepsPerCycle) {
    SmallVector<int64_t> window(shapeOf(w));
    Dims pixels = dimsOf(x);
    window.back() = 1;
    size_t axes = window.size() - 2;
    int64_t channels = window[axes];
    auto count = [](ArrayRef<int64_t> sizes) {
      return ShapedType::getNumElements(sizes);
    };
    // Cycles to add the sum of one pixel to the sum of its window: this needs a
    // load and an address computation.
    constexpr double cyclesOfSum = 3;
    auto outputs =
        double(count(ArrayRef(shapeOf(conv.getResult())).drop_back()));
    auto positions = double(count(ArrayRef(window).take_front(axes)));
    double ofPixels = double(count(shapeOf(x).drop_back())) * double(channels) /
                          stepsPerCycle +
                      outputs * positions * cyclesOfSum,
           ofWindows = outputs * positions * double(channels) / stepsPerCycle;
    if (ofWindows <= ofPixels)
      return convolved(x, filled(window, 1, elementOf(w)), Value(), low);
    SmallVector<int64_t> one(axes, 1), none(axes, 0), kernel(one);
    kernel.append({channels, 1});
    pixels.back() = 1;
    Value sums =
        ConvOp::create(builder, loc, tensorOf(pixels, wide), x,
                       filled(kernel, 1, elementOf(w)), Value(), one, one, none,
                       /*groups=*/1, /*x_zero=*/0);
    window[axes] = 1;
    return convolved(sums, filled(window, 1, wide), Value(), low);
  }

  Value padded(Value v, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
               int64_t value) {
    auto isZero = [](int64_t size) { return size == 0; };
    if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
      return v;
    return PadOp::create(builder, loc, v, number(value, elementOf(v)), low,
                         high);
  }

  ConvOp conv;
};

struct FormIntegerDotsPass : impl::FormIntegerDotsBase<FormIntegerDotsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SmallVector<Operation *> contractions;
    getOperation().walk([&](Operation *op) {
      if (isa<MatMulOp, ConvOp>(op) && hasKnownSteps(op) &&
          tensorType(op->getResult(0)).getNumElements() > 0)
        contractions.push_back(op);
    });
    for (Operation *op : contractions) {
      if (auto conv = dyn_cast<ConvOp>(op);
          conv && conv.isWidening() && conv.getGroups() == 1)
        form(conv, target);
      else if (auto conv = dyn_cast<ConvOp>(op); conv && conv.getGroups() > 1)
        formFilters(conv, target);
      else if (auto product = dyn_cast<MatMulOp>(op);
               product && product.isWidening() &&
               shapeOf(product.getA()).back() > 0)
        form(product, target);
    }
  }

private:
  /// Pads the input of a depthwise convolution and folds its zero point into
  /// the bias if a strategy of the target needs that.
  static void formFilters(ConvOp conv, const TargetDescription &target) {
    if (auto stream = schedule::ChannelStream::of(conv, target))
      ConvolutionRewriting(conv).runDepthwise(stream->overreach());
    else if (conv.getXZero() != 0 && schedule::filtersInBlocks(conv, target))
      ConvolutionRewriting(conv).runDepthwise(/*columnsBehind=*/0);
  }

  /// Rewrites a matmul. Its operands change their signedness only if the target
  /// has a faster dot product for the changed types.
  static void form(MatMulOp product, const TargetDescription &target) {
    // Matrix units of devices support any signedness.
    if (schedule::modelOf(target).takesAnySign) {
      if (!product.getZeros().empty())
        ProductRewriting(product).run(false, false, 0, /*columns=*/1);
      return;
    }
    // Kernels with dot products in core registers (for targets without int8
    // vectors) support only constant right operands.
    if (target.coreRegisters && !matchPattern(product.getB(), m_Constant()))
      return;
    Type a = elementOf(product.getA()), b = elementOf(product.getB());
    // If the right operand changes its signedness, row sums of the left operand
    // are needed, which cost a pass over it. So the left operand is changed by
    // preference. But if its row sums are needed anyway, for the zero point of
    // the right operand, the right operand is changed by preference.
    bool needsRowSums = !isZero(product.getBZero());
    // Floats have neither signedness nor zero point.
    if (isa<FloatType>(a))
      return;
    std::pair<bool, bool> flips[] = {{false, false},
                                     {!needsRowSums, needsRowSums},
                                     {needsRowSums, !needsRowSums},
                                     {true, true}};
    ShortSums shortSums = schedule::shortSumsOf(product, target);
    double best = 0;
    bool byWord = false;
    int64_t lanes = 1;
    std::pair<bool, bool> chosen;
    for (auto [flipA, flipB] : flips)
      if (auto dots = schedule::dotForm(
              flipA ? otherSign(a) : a, flipB ? otherSign(b) : b, target,
              shapeOf(product.getA()).back(),
              /*fillsUp=*/false, flipB ? ShortSums() : shortSums);
          dots && dots->perCycle > best) {
        best = dots->perCycle;
        byWord = dots->byWord;
        lanes = dots->lanes.front();
        chosen = {flipA, flipB};
      }
    auto [flipA, flipB] = chosen;
    // If partial registers are slow, the columns of a computed right operand
    // are padded to a multiple of a register's lanes, unless they fill less
    // than half a register. Constants are packed instead.
    int64_t count = shapeOf(product.getB()).back();
    if (!target.wholeRegisters || hasDynamicSizes(product) ||
        2 * count < lanes || matchPattern(product.getB(), m_Constant()))
      lanes = 1;
    if (best > 0 &&
        (flipA || flipB || !product.getZeros().empty() || count % lanes != 0))
      // Rows of the left operand that fill fewer than two vectors are summed by
      // a matmul with ones; adding their elements in vectors would be slower.
      ProductRewriting(product).run(flipA, flipB,
                                    byWord ? 2 * target.maxLanes(a) : 0, lanes);
  }

  /// Rewrites a convolution. Operands change their signedness only if the dot
  /// product for the changed types is faster. If the signedness of the weights
  /// changes, the sum of the input over each window is needed, which takes as
  /// long as one more vector of output channels.
  static void form(ConvOp conv, const TargetDescription &target) {
    if (schedule::modelOf(target).takesAnySign) {
      if (conv.getXZero() != 0)
        ConvolutionRewriting(conv).run(false, false, /*group=*/1,
                                       shapeOf(conv.getW()).end()[-3],
                                       /*rowMultiple=*/0, 1);
      return;
    }
    Type x = elementOf(conv.getX()), w = elementOf(conv.getW());
    int64_t channels = shapeOf(conv.getX()).back();
    ShortSums shortSums = schedule::shortSumsOf(conv, target);
    std::optional<schedule::DotForm> chosen;
    double best = 0;
    bool flipsX = false, flipsW = false;
    for (auto [flipX, flipW] :
         {std::pair(false, false), std::pair(true, false),
          std::pair(false, true), std::pair(true, true)}) {
      if ((flipX || flipW) && isa<FloatType>(x))
        break;
      auto form = schedule::dotForm(
          flipX ? otherSign(x) : x, flipW ? otherSign(w) : w, target, channels,
          /*fillsUp=*/false, flipW ? ShortSums() : shortSums);
      if (!form)
        continue;
      double vectors = double(
          llvm::divideCeil(shapeOf(conv.getW()).back(), form->lanes.front()));
      double rate = form->perCycle * (flipW ? vectors / (vectors + 1) : 1);
      if (rate > best) {
        chosen = form;
        best = rate;
        flipsX = flipX;
        flipsW = flipW;
      }
      // On targets that multiply in core registers, only the given signedness
      // is tried: changing it would need memory for a copy of the input.
      if (target.coreRegisters)
        break;
    }
    if (!chosen)
      return;
    int64_t group = chosen->group, columns = shapeOf(conv.getW()).end()[-3],
            filled = columns;
    if (target.coreRegisters) {
      group = 1;
      if (!schedule::copiesWindows(conv, target))
        filled = fastestKernelColumns(conv, target);
    } else if (int64_t wide = leastKernelColumns(conv, group, target);
               wide != 0) {
      group = 1;
      filled = wide;
    }
    bool isInPlace = !target.coreRegisters && group == 1;
    int64_t rowMultiple = 0;
    // Kernels read the rows of windows in place. So on targets that need
    // aligned accesses, rows of the input have to begin at 32-bit words.
    if (isInPlace)
      rowMultiple = target.alignedAccess
                        ? chosen->group / std::gcd(channels, chosen->group)
                        : 1;
    if (flipsX || flipsW || conv.getXZero() != 0 || channels % group ||
        filled != columns || isInPlace)
      ConvolutionRewriting(conv).run(
          flipsX, flipsW, group, filled, rowMultiple,
          chosen->perCycle / double(chosen->lanes.front()),
          /*pads=*/!schedule::fillsPadding(conv, target));
  }

  /// Returns the number of columns to which the rows of filters are padded with
  /// zeros, so that the number of elements in a row is a multiple of `group`.
  /// Returns 0 if rows are not padded: because the number of channels is such a
  /// multiple already, because dot products cannot read whole rows, or because
  /// padding the channels instead adds fewer elements to a row. If both add
  /// equally many, channels are padded on targets that need aligned accesses,
  /// and rows on others.
  static int64_t leastKernelColumns(ConvOp conv, int64_t group,
                                    const TargetDescription &target) {
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    int64_t columns = w.end()[-3], channels = w.end()[-2], filled = columns;
    if (channels % group == 0 || !schedule::readsKernelRows(conv))
      return 0;
    while (filled * channels % group != 0)
      ++filled;
    int64_t others = columns * int64_t(llvm::alignTo(channels, group));
    return filled * channels < others + (target.alignedAccess ? 0 : 1) ? filled
                                                                       : 0;
  }

  /// Returns the number of columns to which the rows of filters are padded with
  /// zeros so that a row takes the least time. Returns the number of columns
  /// without padding if a dot product cannot read a whole row.
  static int64_t fastestKernelColumns(ConvOp conv,
                                      const TargetDescription &target) {
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    int64_t columns = w.end()[-3], best = columns;
    if (!schedule::readsKernelRows(conv))
      return columns;
    constexpr int64_t mostAdded = 15;
    double least = INFINITY;
    for (int64_t c = columns; c <= columns + mostAdded; ++c) {
      int64_t steps = c * w.end()[-2];
      auto form = schedule::dotForm(elementOf(conv.getX()),
                                    elementOf(conv.getW()), target, steps);
      if (form && double(steps) / form->perCycle < least) {
        least = double(steps) / form->perCycle;
        best = c;
      }
    }
    return best;
  }
};

} // namespace
} // namespace ingot::decide
