// Matrix products and convolutions.

#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Window.h"

using namespace mlir;

namespace ingot::graph {

bool MatMulOp::isCheap() { return false; }
bool MatMulOp::passesLanes() { return true; }

Expr MatMulOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr m = idx[idx.size() - 2], n = idx.back();
  auto at = [&](Value operand, Expr row, Expr column) {
    Exprs i;
    ArrayRef<int64_t> shape = shapeOf(operand);
    for (size_t axis = 0; axis + 2 < shape.size(); ++axis)
      i.push_back(shape[axis] == 1 ? b.index(0)
                                   : idx[idx.size() - shape.size() + axis]);
    i.push_back(row);
    i.push_back(column);
    return i;
  };
  Type type = elementOf(getResult());
  return b.reduce(shapeOf(getA()).back(), b.constant(0, type),
                  [&](Expr k, Expr acc) {
                    named(k, "step");
                    Expr x = b.loadScalar(getA(), at(getA(), m, k)),
                         y = b.load(getB(), at(getB(), k, n));
                    return named(fma(x, y, acc), "sum");
                  });
}

bool ConvOp::isCheap() { return false; }
bool ConvOp::passesLanes() {
  // Lanes are output channels: one group, or each channel its own.
  int64_t outputs = shapeOf(getResult()).back(),
          inputs = shapeOf(getW()).drop_back().back();
  return getGroups() == 1 ||
         (inputs == 1 && outputs == static_cast<int64_t>(getGroups()));
}

Expr ConvOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> w = shapeOf(getW());
  ArrayRef<int64_t> kernel = w.drop_back(2);
  int64_t groupInputs = w[w.size() - 2], outputs = w.back();
  int64_t groupOutputs = outputs / getGroups();
  bool depthwise = groupInputs == 1 && groupOutputs == 1;
  Expr channel = idx.back();
  Expr init = getBias() ? b.load(getBias(), {channel})
                        : b.constant(0, elementOf(getResult()));
  return overWindow(
      b, idx, shapeOf(getX()), kernel, getStrides(), getDilations(), getLow(),
      init, [&](ArrayRef<Expr> k, ArrayRef<Expr> at, Expr acc) {
        return b.reduce(groupInputs, acc, [&](Expr c, Expr acc) {
          named(c, "input_channel");
          Exprs xAt(at.begin(), at.end()), wAt(k.begin(), k.end());
          wAt.push_back(c);
          wAt.push_back(channel);
          if (depthwise) {
            xAt.back() = channel;
            return named(fma(b.load(getX(), xAt), b.load(getW(), wAt), acc),
                         "sum");
          }
          xAt.back() = getGroups() == 1
                           ? c
                           : channel / static_cast<double>(groupOutputs) *
                                     static_cast<double>(groupInputs) +
                                 c;
          return named(fma(b.loadScalar(getX(), xAt), b.load(getW(), wAt), acc),
                       "sum");
        });
      });
}

bool ConvTransposeOp::isCheap() { return false; }
bool ConvTransposeOp::passesLanes() { return getGroups() == 1; }

Expr ConvTransposeOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> w = shapeOf(getW()), x = shapeOf(getX());
  ArrayRef<int64_t> kernel = w.drop_back(2);
  int64_t groupInputs = w[w.size() - 2] / getGroups(), groupOutputs = w.back();
  Expr channel = idx.back();
  Expr group = getGroups() == 1 ? b.index(0)
                                : channel / static_cast<double>(groupOutputs);
  Expr inGroup =
      getGroups() == 1 ? channel : channel % static_cast<double>(groupOutputs);
  Expr init = getBias() ? b.load(getBias(), {channel})
                        : b.constant(0, elementOf(getResult()));
  Exprs k, at(idx.begin(), idx.end());
  auto nest = [&](auto &&self, size_t axis, Expr acc) -> Expr {
    if (axis == kernel.size()) {
      return b.reduce(groupInputs, acc, [&](Expr c, Expr acc) {
        named(c, "input_channel");
        Exprs xAt(at.begin(), at.end()), wAt(k.begin(), k.end());
        xAt.back() = group * static_cast<double>(groupInputs) + c;
        wAt.push_back(xAt.back());
        wAt.push_back(inGroup);
        return named(fma(b.loadScalar(getX(), xAt), b.load(getW(), wAt), acc),
                     "sum");
      });
    }
    std::string name = spatialAxisName(axis, kernel.size());
    return b.reduce(kernel[axis], acc, [&](Expr i, Expr acc) {
      named(i, "kernel_" + name);
      // i * stride = o + low - k * dilation must be a multiple inside the
      // input.
      Expr scaled = idx[1 + axis] + static_cast<double>(getLow()[axis]) -
                    i * static_cast<double>(getDilations()[axis]);
      named(scaled, "spread_" + name);
      double stride = static_cast<double>(getStrides()[axis]);
      Expr inside = (scaled >= 0.0) & equal(scaled % stride, 0.0) &
                    (scaled < static_cast<double>(x[1 + axis]) * stride);
      named(inside, "is_inside");
      return b.ifElse(
          inside,
          [&] {
            k.push_back(i);
            at[1 + axis] = named(scaled / stride, "input_" + name);
            Expr result = self(self, axis + 1, acc);
            k.pop_back();
            return result;
          },
          [&] { return acc; });
    });
  };
  return nest(nest, 0, b.broadcast(init, b.lanes()));
}

Expr PackPanelsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> shape = shapeOf(getW());
  int64_t columns = shape.back(),
          steps = tensorType(getW()).getNumElements() / columns;
  int64_t panel = getPanel(), full = columns / panel;
  auto at = [&](Expr step, Expr column) {
    Exprs i = b.delinearize(step, shape.drop_back());
    i.push_back(column);
    return b.load(getW(), i);
  };
  auto inPanels = [&] {
    Exprs p = b.delinearize(idx[0], {full, steps, panel});
    return at(p[1], p[0] * double(panel) + p[2]);
  };
  int64_t tail = getTail(), inTail = columns - full * panel;
  auto inLast = [&] {
    Exprs p =
        b.delinearize(idx[0] - double(full * panel * steps), {steps, tail});
    return b.ifElse(
        p[1] < double(inTail),
        [&] { return at(p[0], p[1] + double(full * panel)); },
        [&] { return b.constant(0, elementOf(getW())); });
  };
  if (inTail == 0)
    return inPanels();
  if (full == 0)
    return inLast();
  return b.ifElse(idx[0] < double(full * panel * steps), inPanels, inLast);
}

Expr UnpackPanelsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  int64_t columns = shape.back(),
          steps = tensorType(getResult()).getNumElements() / columns;
  int64_t panel = getPanel(), full = columns / panel, tail = getTail();
  Expr step = b.linearize(idx.drop_back(), shape.drop_back()),
       column = idx.back();
  auto inPanels = [&] {
    return b.load(
        getPacked(),
        {(column / double(panel) * double(steps) + step) * double(panel) +
         column % double(panel)});
  };
  auto inLast = [&] {
    return b.load(getPacked(),
                  {step * double(tail) + column - double(full * panel) +
                   double(full * panel * steps)});
  };
  if (full * panel == columns)
    return inPanels();
  if (full == 0)
    return inLast();
  return b.ifElse(column < double(full * panel), inPanels, inLast);
}

} // namespace ingot::graph
