// Definitions of pooling operators.

#include "dialects/graph/ops/Window.h"
#include "dialects/graph/ExprNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::graph {

static Dims dimsOf(ArrayRef<int64_t> sizes) {
  return Dims(sizes.begin(), sizes.end());
}

static Expr ceilDivide(Expr x, int64_t by) {
  return by == 1 ? x
                 : (x + static_cast<double>(by - 1)) / static_cast<double>(by);
}

bool hasNoBorders(const Dim &input, const Dim &output, int64_t kernel,
                  int64_t stride, int64_t dilation, int64_t low) {
  return low == 0 &&
         (input - (output - 1) * stride).least() > (kernel - 1) * dilation;
}

std::pair<Expr, Expr> insideWindow(Expr start, const Dim &kernel,
                                   int64_t dilation, const Dim &size) {
  // ceilDivide is correct only for non-negative numbers, so negative numbers
  // are replaced by 0 first.
  ElementBuilder &b = *start.builder;
  Expr zero = b.index(0);
  Expr before = named(max(named(zero - start, "to_first"), zero), "outside");
  Expr after =
      named(max(named(b.size(size) - start, "to_end"), zero), "to_last");
  return {min(ceilDivide(before, dilation), b.size(kernel)),
          min(ceilDivide(after, dilation), b.size(kernel))};
}

Exprs overWindow(
    ElementBuilder &b, ArrayRef<Expr> idx, ArrayRef<Dim> inputShape,
    ArrayRef<Dim> outputShape, ArrayRef<Dim> kernel, ArrayRef<int64_t> strides,
    ArrayRef<int64_t> dilations, ArrayRef<int64_t> low, ArrayRef<Expr> init,
    llvm::function_ref<Exprs(ArrayRef<Expr>, ArrayRef<Expr>, ArrayRef<Expr>)>
        body) {
  Exprs k, at(idx.begin(), idx.end());
  auto inLanes = [&](Exprs values) {
    for (Expr &value : values)
      value = b.broadcast(value, b.lanes());
    return values;
  };
  auto nest = [&](auto &&self, size_t axis, ArrayRef<Expr> accs) -> Exprs {
    if (axis == kernel.size())
      return inLanes(body(k, at, accs));
    std::string name = spatialAxisName(axis, kernel.size());
    Expr start = named(idx[1 + axis] * static_cast<double>(strides[axis]) -
                           static_cast<double>(low[axis]),
                       "first_input_" + name);
    auto position = [&](Expr i, ArrayRef<Expr> carried) -> Exprs {
      k.push_back(named(i, "kernel_" + name));
      at[1 + axis] = named(start + i * static_cast<double>(dilations[axis]),
                           "input_" + name);
      Exprs results = self(self, axis + 1, carried);
      k.pop_back();
      return results;
    };
    if (kernel[axis].known() &&
        hasNoBorders(inputShape[1 + axis], outputShape[1 + axis],
                     *kernel[axis].known(), strides[axis], dilations[axis],
                     low[axis]))
      return b.loop(kernel[axis], accs, position);
    auto [lo, hi] = insideWindow(start, kernel[axis], dilations[axis],
                                 inputShape[1 + axis]);
    named(lo, "first_kernel_" + name);
    named(hi, "end_kernel_" + name);
    return b.loop(lo, hi, 1, accs, position);
  };
  return nest(nest, 0, inLanes(Exprs(init.begin(), init.end())));
}

Expr overWindow(
    ElementBuilder &b, ArrayRef<Expr> idx, ArrayRef<Dim> inputShape,
    ArrayRef<Dim> outputShape, ArrayRef<Dim> kernel, ArrayRef<int64_t> strides,
    ArrayRef<int64_t> dilations, ArrayRef<int64_t> low, Expr init,
    llvm::function_ref<Expr(ArrayRef<Expr>, ArrayRef<Expr>, Expr)> body) {
  return overWindow(
      b, idx, inputShape, outputShape, kernel, strides, dilations, low,
      ArrayRef(init),
      [&](ArrayRef<Expr> k, ArrayRef<Expr> at, ArrayRef<Expr> accs) -> Exprs {
        return {body(k, at, accs[0])};
      })[0];
}

bool MaxPoolOp::isCheap() { return false; }
bool MaxPoolOp::passesLanes() { return true; }
bool MaxPoolIndexOp::isCheap() { return false; }
bool MaxPoolIndexOp::passesLanes() { return false; }
bool AveragePoolOp::isCheap() { return false; }
bool AveragePoolOp::passesLanes() { return true; }
bool LpPoolOp::isCheap() { return false; }
bool LpPoolOp::passesLanes() { return true; }

Expr MaxPoolOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  return overWindow(
      b, idx, dimsOf(getX()), dimsOf(getResult()), dimsOf(getKernel()),
      getStrides(), getDilations(), getLow(), lowest(b, elementOf(getX())),
      [&](ArrayRef<Expr>, ArrayRef<Expr> at, Expr acc) {
        Expr x = b.load(getX(), at);
        // Ignores NaN: comparisons with NaN are false, so `acc` never becomes
        // NaN.
        return named(isa<FloatType>(elementOf(getX())) ? select(x > acc, x, acc)
                                                       : max(acc, x),
                     "best");
      });
}

Expr MaxPoolIndexOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  // Carries only the position of the best value through the loops of
  // overWindow, and reloads the value for each comparison.
  Dims shape = dimsOf(getX());
  Dims spatial(shape.begin() + 1, shape.end() - 1);
  Type signedI64 = elementOf(getResult());
  auto positionOf = [&](ArrayRef<Expr> at) {
    // The order in which axes contribute to the flat position: batch, channel,
    // then the spatial axes. The first spatial axis varies fastest if the
    // storage order is column-major.
    Exprs order{at.front(), at.back()};
    Dims sizes{shape.front(), shape.back()};
    Exprs inner(at.begin() + 1, at.end() - 1);
    Dims innerSizes(spatial);
    if (getStorageOrder()) {
      std::reverse(inner.begin(), inner.end());
      std::reverse(innerSizes.begin(), innerSizes.end());
    }
    order.append(inner);
    sizes.append(innerSizes);
    return convert(b.linearize(order, sizes), signedI64);
  };
  auto valueAt = [&](Expr position) {
    Exprs order;
    Dims sizes{shape.front(), shape.back()};
    Dims innerSizes(spatial);
    if (getStorageOrder())
      std::reverse(innerSizes.begin(), innerSizes.end());
    sizes.append(innerSizes);
    order = b.delinearize(convert(position, b.builder.getIndexType()), sizes);
    Exprs at{order[0]};
    Exprs inner(order.begin() + 2, order.end());
    if (getStorageOrder())
      std::reverse(inner.begin(), inner.end());
    at.append(inner);
    at.push_back(order[1]);
    return b.load(getX(), at);
  };
  return overWindow(b, idx, shape, dimsOf(getResult()), dimsOf(getKernel()),
                    getStrides(), getDilations(), getLow(),
                    b.constantInt(-1, signedI64),
                    [&](ArrayRef<Expr>, ArrayRef<Expr> at, Expr best) {
                      Expr here = named(positionOf(at), "here");
                      return b.ifElse(
                          best < 0.0, [&] { return here; },
                          [&] {
                            Expr x = b.load(getX(), at), known = valueAt(best);
                            Expr better = x > known;
                            if (isa<FloatType>(x.type))
                              better = better | isNaN(known);
                            return select(better, here, best);
                          });
                    });
}

Expr meanOfWindow(ElementBuilder &b, AveragePoolOp pool, ArrayRef<Expr> idx,
                  Expr sum) {
  Dims shape = dimsOf(pool.getX()), result = dimsOf(pool.getResult());
  ArrayRef<int64_t> kernel = pool.getKernel(), strides = pool.getStrides(),
                    dilations = pool.getDilations(), low = pool.getLow();
  // The number of positions over which a window averages is the product of one
  // factor for each axis. The factor is constant if no window is clipped along
  // that axis.
  int64_t all = 1;
  Expr count;
  for (size_t i = 0; i < kernel.size(); ++i) {
    Dim lastStart = (result[1 + i] - 1) * strides[i] - low[i];
    int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
    int64_t before = pool.getCountPadding() ? low[i] : 0,
            after = pool.getCountPadding() ? pool.getHigh()[i] : 0;
    bool clipped =
        low[i] > before || (lastStart + extent - shape[1 + i]).most() > after;
    if (!clipped) {
      all *= kernel[i];
      continue;
    }
    Expr start = idx[1 + i] * static_cast<double>(strides[i]) -
                 static_cast<double>(low[i] - before);
    auto [lo, hi] = insideWindow(start, kernel[i], dilations[i],
                                 shape[1 + i] + before + after);
    count = named(count ? count * (hi - lo) : hi - lo, "count");
  }
  if (!count)
    return meanOf(sum, all);
  // A window that lies entirely in the padding has no mean; 0 / 0 gives NaN.
  return sum /
         convert(count * static_cast<double>(all), elementOf(pool.getX()));
}

Expr AveragePoolOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr sum = overWindow(b, idx, dimsOf(getX()), dimsOf(getResult()),
                        dimsOf(getKernel()), getStrides(), getDilations(),
                        getLow(), b.constant(0, elementOf(getX())),
                        [&](ArrayRef<Expr>, ArrayRef<Expr> at, Expr acc) {
                          return named(acc + b.load(getX(), at), "sum");
                        });
  return meanOfWindow(b, *this, idx, sum);
}

Expr LpPoolOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Type type = elementOf(getX());
  double p = static_cast<double>(getP());
  Expr sum = overWindow(
      b, idx, dimsOf(getX()), dimsOf(getResult()), dimsOf(getKernel()),
      getStrides(), getDilations(), getLow(), b.constant(0, type),
      [&](ArrayRef<Expr>, ArrayRef<Expr> at, Expr acc) {
        Expr x = b.load(getX(), at);
        return named(acc + (p == 1   ? abs(x)
                            : p == 2 ? x * x
                                     : pow(abs(x), b.constant(p, type))),
                     "sum");
      });
  return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, b.constant(1 / p, type));
}

} // namespace ingot::graph
