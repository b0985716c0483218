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
  // A zero point that all columns share is one number in all lanes.
  auto zeroAt = [&](Value zero, Expr row, Expr column) {
    ArrayRef<int64_t> shape = shapeOf(zero);
    Exprs i;
    if (!shape.empty())
      i = at(zero, shape[shape.size() - 2] == 1 ? b.index(0) : row,
             shape.back() == 1 ? b.index(0) : column);
    bool perLane = !shape.empty() && shape.back() != 1;
    return convert(perLane ? b.load(zero, i) : b.loadScalar(zero, i), type);
  };
  std::optional<Expr> aZero, bZero;
  if (!getZeros().empty()) {
    aZero = zeroAt(getAZero(), m, b.index(0));
    bZero = zeroAt(getBZero(), b.index(0), n);
  }
  return b.reduce(shapeOf(getA()).back(), b.constant(0, type),
                  [&](Expr k, Expr acc) {
                    named(k, "step");
                    Expr x = b.loadScalar(getA(), at(getA(), m, k)),
                         y = b.load(getB(), at(getB(), k, n));
                    if (isWidening()) {
                      x = convert(x, type);
                      y = convert(y, type);
                    }
                    if (aZero)
                      x = x - *aZero;
                    if (bZero)
                      y = y - *bZero;
                    return named(fma(x, y, acc), "sum");
                  });
}

bool MatMulOp::isWidening() {
  return elementOf(getResult()) != elementOf(getA());
}

/// Checks that `zero` has no axes, or broadcasts to `operand` with one place on
/// the axis of the steps, `steps` axes before the end.
static LogicalResult verifyZeroPoint(MatMulOp op, Value zero, Value operand,
                                     size_t steps, StringRef name) {
  if (elementOf(zero) != elementOf(operand))
    return op.emitOpError()
           << "has a zero point of " << name << " of " << elementOf(zero)
           << ", not " << elementOf(operand);
  ArrayRef<int64_t> own = shapeOf(zero), whole = shapeOf(operand);
  if (own.empty())
    return success();
  auto joined = broadcastShapes({own, whole});
  if (own.size() < 2 || own[own.size() - steps] != 1 || !joined ||
      ArrayRef<int64_t>(*joined) != whole)
    return op.emitOpError() << "has a zero point of " << name
                            << " that is neither one number nor one for each "
                            << (steps == 1 ? "row" : "column");
  return success();
}

LogicalResult MatMulOp::verify() {
  Type a = elementOf(getA()), b = elementOf(getB()), y = elementOf(getResult());
  if (!isWidening() && a == b && getZeros().empty())
    return success();
  auto isNarrow = [](Type type) {
    return isa<IntegerType>(type) && !type.isInteger(1) &&
           type.getIntOrFloatBitWidth() <= 16;
  };
  if (!isNarrow(a) || !isNarrow(b) || !y.isSignedInteger(32))
    return emitOpError() << "multiplies " << a << " by " << b << " into " << y
                         << "; types must be one, or integers of at most 16 "
                            "bits and a result of si32";
  if (getZeros().empty())
    return success();
  if (getZeros().size() != 2)
    return emitOpError("has one zero point; there are two, or none");
  if (failed(verifyZeroPoint(*this, getAZero(), getA(), 1, "a")))
    return failure();
  return verifyZeroPoint(*this, getBZero(), getB(), 2, "b");
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

namespace {
/// The steps of a matrix (all axes but the last) in groups along the last of
/// their axes.
struct GroupedSteps {
  GroupedSteps(ArrayRef<int64_t> matrix, int64_t group)
      : groups(matrix.drop_back()), lastAxis(groups.back()) {
    groups.back() = llvm::divideCeil(lastAxis, group);
    for (int64_t size : groups)
      count *= size;
  }

  SmallVector<int64_t> groups;
  int64_t lastAxis, count = 1;
};
} // namespace

Expr PackPanelsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> shape = shapeOf(getW());
  int64_t columns = shape.back(), group = getGroup();
  GroupedSteps steps(shape, group);
  int64_t panel = getPanel(), full = columns / panel;
  auto zero = [&] { return b.constant(0, elementOf(getW())); };
  auto at = [&](Expr groupOfSteps, Expr inGroup, Expr column) {
    Exprs i = b.delinearize(groupOfSteps, steps.groups);
    if (group > 1)
      i.back() = i.back() * double(group) + inGroup;
    Expr last = i.back();
    i.push_back(column);
    if (steps.lastAxis % group == 0)
      return b.load(getW(), i);
    return b.ifElse(
        last < double(steps.lastAxis), [&] { return b.load(getW(), i); }, zero);
  };
  auto inPanels = [&] {
    Exprs p = b.delinearize(idx[0], {full, steps.count, panel, group});
    return at(p[1], p[3], p[0] * double(panel) + p[2]);
  };
  int64_t tail = getTail(), inTail = columns - full * panel;
  int64_t inFull = full * panel * steps.count * group;
  auto inLast = [&] {
    Exprs p =
        b.delinearize(idx[0] - double(inFull), {steps.count, tail, group});
    return b.ifElse(
        p[1] < double(inTail),
        [&] { return at(p[0], p[2], p[1] + double(full * panel)); }, zero);
  };
  if (inTail == 0)
    return inPanels();
  if (full == 0)
    return inLast();
  return b.ifElse(idx[0] < double(inFull), inPanels, inLast);
}

Expr UnpackPanelsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  int64_t columns = shape.back(), group = getGroup();
  GroupedSteps steps(shape, group);
  int64_t panel = getPanel(), full = columns / panel, tail = getTail();
  Exprs groupAt(idx.drop_back());
  Expr inGroup = b.index(0), column = idx.back();
  if (group > 1) {
    inGroup = groupAt.back() % double(group);
    groupAt.back() = groupAt.back() / double(group);
  }
  Expr groupOfSteps = b.linearize(groupAt, steps.groups);
  auto load = [&](Expr position) {
    return b.load(getPacked(),
                  {group == 1 ? position : position * double(group) + inGroup});
  };
  auto inPanels = [&] {
    return load((column / double(panel) * double(steps.count) + groupOfSteps) *
                    double(panel) +
                column % double(panel));
  };
  auto inLast = [&] {
    return load(groupOfSteps * double(tail) + column - double(full * panel) +
                double(full * panel * steps.count));
  };
  if (full * panel == columns)
    return inPanels();
  if (full == 0)
    return inLast();
  return b.ifElse(column < double(full * panel), inPanels, inLast);
}

} // namespace ingot::graph
