// Definitions of softmax, layer normalization and LRN.

#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/Strict.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {
/// Emits loops along one axis of a tensor, at a fixed index on the other axes.
/// The loops use vectors if the axis is the last one.
class AxisLoops {
public:
  AxisLoops(BodyBuilder &b, Dim size, bool isLast)
      : b(b), size(size), isLast(isLast) {}

  Expr reduce(Expr init, llvm::function_ref<Expr(Expr, Expr)> body,
              llvm::function_ref<Expr(Expr, Expr)> merge) {
    return isLast ? b.reduceLanes(size, init, body, merge)
                  : b.reduce(size, init, body);
  }
  void each(llvm::function_ref<void(Expr)> body) {
    if (isLast)
      return b.forLanes(size, body);
    b.forRange(b.index(0), b.size(size), body);
  }

private:
  BodyBuilder &b;
  Dim size;
  bool isLast;
};
} // namespace

/// Emits loops over the indices on all axes other than `axis`, and calls `body`
/// for their content. `at` is a full index; `body` sets its entry for `axis`.
static void forRows(
    BodyBuilder &b, Type type, const Dims &shape, int64_t axis,
    llvm::function_ref<void(MutableArrayRef<Expr> at, AxisLoops loops)> body) {
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  Dims outer(shape);
  outer[axis] = 1;
  if (axis == last)
    return b.forRows(outer, shape[axis], type, [&](ArrayRef<Expr> idx) {
      Exprs at(idx);
      body(at, AxisLoops(b, shape[axis], /*isLast=*/true));
    });
  b.forColumns(outer, [&](ArrayRef<Expr> idx) {
    Exprs at(idx);
    body(at, AxisLoops(b, shape[axis], /*isLast=*/false));
  });
}

static Expr plus(Expr x, Expr y) { return named(x + y, "sum"); }
/// Returns the larger value and ignores NaN, since the sum of exponentials
/// propagates NaN anyway.
static Expr larger(Expr x, Expr y) {
  return named(select(y > x, y, x), "largest");
}

static Expr largest(BodyBuilder &b, Type type, AxisLoops loops,
                    llvm::function_ref<Expr(Expr)> load) {
  return loops.reduce(
      lowest(b, type), [&](Expr i, Expr acc) { return larger(acc, load(i)); },
      larger);
}

/// Rounds `x` to its element type in the graph, as storing and loading `x`
/// would.
static Expr rounded(Expr x) {
  return convert({x.builder, x.value, computeType(x.type)}, x.type);
}

/// Emits the loops of softmax or log-softmax over the rows along `axis`. Calls
/// `emit` to emit the code of one row, with the indices of an element of the
/// row, the loops along the row, a function that loads element i of the row,
/// and the maximum of its elements.
static void overRowsOfPowers(
    BodyBuilder &b, Value input, int64_t axis,
    llvm::function_ref<void(MutableArrayRef<Expr> at, AxisLoops loops,
                            llvm::function_ref<Expr(Expr)> load, Expr top)>
        emit) {
  Type type = elementOf(input);
  forRows(b, computeType(type), dimsOf(input), axis,
          [&](MutableArrayRef<Expr> at, AxisLoops loops) {
            auto load = [&](Expr i) {
              at[axis] = i;
              return b.load(input, at);
            };
            emit(at, loops, load, largest(b, type, loops, load));
          });
}

void SoftmaxOp::emitBody(BodyBuilder &b) {
  Type type = elementOf(getInput());
  int64_t axis = getAxis();
  overRowsOfPowers(
      b, getInput(), axis,
      [&](MutableArrayRef<Expr> at, AxisLoops loops,
          llvm::function_ref<Expr(Expr)> load, Expr top) {
        // The result buffer holds the exponentials until they are divided by
        // their sum. If the element type is narrow, exponentials and sum are
        // rounded to it, as ONNX defines.
        Expr sum = loops.reduce(
            b.constant(0, type),
            [&](Expr i, Expr acc) {
              Expr e = named(rounded(expOrZero(load(i) - top)), "power");
              b.store(0, e, at);
              return plus(acc, e);
            },
            plus);
        Expr total = rounded(sum), factor;
        if (!kernel::isStrict(*this))
          factor = named(1.0 / total, "factor");
        loops.each([&](Expr i) {
          at[axis] = i;
          Expr power = b.loadOutput(0, type, at);
          Expr y = factor ? power * factor : power / total;
          b.store(0, getZeroNan() ? select(isNaN(y), 0.0, y) : y, at);
        });
      });
}

void LogSoftmaxOp::emitBody(BodyBuilder &b) {
  Type type = elementOf(getInput());
  overRowsOfPowers(
      b, getInput(), getAxis(),
      [&](MutableArrayRef<Expr> at, AxisLoops loops,
          llvm::function_ref<Expr(Expr)> load, Expr top) {
        Expr sum = loops.reduce(
            b.constant(0, type),
            [&](Expr i, Expr acc) {
              return plus(acc, expOrZero(load(i) - top));
            },
            plus);
        // For elements close to the maximum `top`, the difference `load(i) -
        // top` is exact, so it is computed before `logSum` is subtracted.
        Expr logSum = named(log(sum), "log_of_sum");
        loops.each([&](Expr i) { b.store(0, load(i) - top - logSum, at); });
      });
}

Operation *SoftmaxOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                    ValueRange operands) {
  return buildPermutedAxes(*this, builder, perm, operands);
}
Operation *LogSoftmaxOp::buildPermuted(OpBuilder &builder,
                                       ArrayRef<int64_t> perm,
                                       ValueRange operands) {
  return buildPermutedAxes(*this, builder, perm, operands);
}

//===----------------------------------------------------------------------===//
// Layer normalization, LRN
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::inferTypes(Adaptor op, TypeRule &rule) {
  Value x = op.getInput();
  if (shapeOf(x).empty() || op.getAffine().size() > 2)
    return rule.refuse("needs rows, and no more than a scale and a bias");
  for (Value parameter : op.getAffine())
    if (failed(rule.shape(parameter, dimsOf(x).back(), "a scale or bias")))
      return failure();
  return rule.result(x);
}

void LayerNormOp::emitBody(BodyBuilder &b) {
  // The scale and the bias may have a wider element type than the input; they
  // are converted to `type` when they are loaded.
  Type type = computeType(elementOf(getInput()));
  ArrayRef<int64_t> shape = shapeOf(getInput());
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  Dim count = dimsOf(getInput()).back();
  forRows(
      b, type, dimsOf(getInput()), last,
      [&](MutableArrayRef<Expr> at, AxisLoops loops) {
        auto loadAs = [&](Value from, ArrayRef<Expr> where) {
          return convert(b.load(from, where), type);
        };
        Expr zero = b.constant(0, type), mean = zero;
        auto load = [&](Expr i) {
          at[last] = i;
          Expr x = loadAs(getInput(), at);
          return getCenter() ? named(x - mean, "centered") : x;
        };
        // Computes the variance from the differences to the mean: the
        // difference of the mean square and the squared mean would lose
        // precision.
        if (getCenter())
          mean = named(meanOf(loops.reduce(
                                  zero,
                                  [&](Expr i, Expr acc) {
                                    at[last] = i;
                                    return plus(acc, loadAs(getInput(), at));
                                  },
                                  plus),
                              count),
                       "mean");
        Expr square =
            meanOf(loops.reduce(
                       zero,
                       [&](Expr i, Expr acc) {
                         Expr x = load(i);
                         return named(fma(x, x, acc), "sum_of_squares");
                       },
                       plus),
                   count);
        named(square, "variance");
        Expr factor = named(1.0 / sqrt(square + getEpsilon().convertToDouble()),
                            "factor");
        loops.each([&](Expr i) {
          Expr y = named(load(i) * factor, "normalized");
          if (getAffine().size() == 1)
            y = y * loadAs(getAffine()[0], i);
          else if (getAffine().size() == 2)
            y = fma(y, loadAs(getAffine()[0], i), loadAs(getAffine()[1], i));
          b.store(0, y, at);
        });
      });
}

LogicalResult LRNOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (static_cast<int64_t>(op.getSize()) < 1)
    return rule.refuse("has a window that is not positive");
  return rule.along(op.getAxis(), op.getInput());
}

Expr LRNOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  int64_t axis = getAxis(), channels = shapeOf(getInput())[axis];
  // An element has at most channels - 1 others on each side.
  int64_t before = std::min<int64_t>((getSize() - 1) / 2, channels - 1);
  int64_t behind = std::min<int64_t>(getSize() / 2, channels - 1);
  Exprs at(idx);
  Expr zero = b.constant(0, elementOf(getInput()));
  Expr end = b.size(dimsOf(getInput())[axis]);
  Expr sum = b.reduce(before + 1 + behind, zero, [&](Expr k, Expr acc) {
    named(k, "neighbour");
    Expr c = named(idx[axis] + k - static_cast<double>(before), "channel_near");
    Expr x = b.ifElse((c >= 0.0) & (c < end),
                      [&] {
                        at[axis] = c;
                        return b.load(getInput(), at);
                      },
                      [&] { return zero; });
    return named(fma(x, x, acc), "sum_of_squares");
  });
  double alpha = getAlpha().convertToDouble() / static_cast<double>(getSize());
  Expr base = named(sum * alpha + getBias().convertToDouble(), "base");
  Expr scale = power(
      base, b.constant(getBeta().convertToDouble(), b.builder.getF32Type()));
  return b.load(getInput(), idx) / scale;
}
bool LRNOp::passesLanes() {
  return getAxis() + 1 != shapeOf(getInput()).size();
}
bool LRNOp::isCheap() { return false; }
Operation *LRNOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                ValueRange operands) {
  return buildPermutedAxes(*this, builder, perm, operands);
}

} // namespace ingot::graph
