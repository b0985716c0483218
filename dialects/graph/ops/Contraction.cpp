// Definitions of matrix multiplications and convolutions.

#include "dialects/graph/ops/Contraction.h"
#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Window.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/SmallFloats.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the shape of a matrix product; nullopt if the batch axes cannot be
/// broadcast.
static std::optional<Dims> productShape(ArrayRef<Dim> a, ArrayRef<Dim> b) {
  auto shape = broadcastShapes({a.drop_back(2), b.drop_back(2)});
  if (shape)
    shape->append({a[a.size() - 2], b.back()});
  return shape;
}

RankedTensorType MatMulOp::typeOf(Value a, Value b) {
  return tensorOf(*productShape(dimsOf(a), dimsOf(b)), elementOf(a));
}

/// Rejects `zero`, the zero point of `operand` (a factor of a matrix
/// multiplication), unless it has the element type of `operand` and is either a
/// scalar, or broadcasts to `operand` and has size 1 along K, the axis that is
/// summed. K is the axis at position `steps` from the end, 1 being the last.
/// `name` names the operand in errors.
static LogicalResult zeroPoint(TypeRule &rule, Value zero, Value operand,
                               size_t steps, StringRef name) {
  if (elementOf(zero) != elementOf(operand))
    return rule.refuse("has a zero point of " + name + " of " +
                       debugString(elementOf(zero)) + ", not " +
                       debugString(elementOf(operand)));
  ArrayRef<int64_t> own = shapeOf(zero), whole = shapeOf(operand);
  auto joined = broadcastShapes({own, whole});
  bool fits = own.size() >= 2 && own[own.size() - steps] == 1 && joined &&
              ArrayRef<int64_t>(*joined) == whole;
  return rule.require(own.empty() || fits,
                      "has a zero point of " + name +
                          " that is neither one number nor one for each " +
                          (steps == 1 ? "row" : "column"));
}

/// Checks the element types of a matrix multiplication or convolution: all are
/// equal, or the operands are narrow and the type `sum` of the result is wider.
/// Only integers of at most 16 bits that are summed as si32 may have zero
/// points.
static LogicalResult contractedTypes(TypeRule &rule, Value a, Value b, Type sum,
                                     bool hasZeros) {
  auto isNarrow = [](Type type) {
    return isa<IntegerType>(type) && !type.isInteger(1) &&
           type.getIntOrFloatBitWidth() <= 16;
  };
  Type x = elementOf(a), y = elementOf(b);
  bool widens = isNarrow(x) && isNarrow(y) && sum.isSignedInteger(32),
       widensFloats = sum.isF32() && ((x == y && (x.isBF16() || x.isF16())) ||
                                      (isFloat8(x) && isFloat8(y)));
  return rule.require(
      widens || ((widensFloats || (x == y && x == sum)) && !hasZeros),
      "multiplies " + debugString(x) + " by " + debugString(y) + " into " +
          debugString(sum) +
          "; types must be one, integers of at most 16 bits and "
          "a result of si32, or bf16, f16 or f8 and a result of f32");
}

LogicalResult MatMulOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims a = dimsOf(op.getA()), b = dimsOf(op.getB());
  if (a.size() < 2 || b.size() < 2)
    return rule.refuse("needs operands of two axes or more");
  if (mayDiffer(a.back(), b[b.size() - 2]))
    return rule.refuse("the inner sizes differ: " + kernel::sizeText(a.back()) +
                       " and " + kernel::sizeText(b[b.size() - 2]));
  auto shape = productShape(a, b);
  if (!shape)
    return rule.refuse("the batch axes do not broadcast");
  Type sum = rule.statedElement();
  ValueRange zeros = op.getZeros();
  if (failed(contractedTypes(rule, op.getA(), op.getB(), sum, !zeros.empty())))
    return failure();
  if (!zeros.empty() && zeros.size() != 2)
    return rule.refuse("has one zero point; there are two, or none");
  if (!zeros.empty() && (failed(zeroPoint(rule, zeros[0], op.getA(), 1, "a")) ||
                         failed(zeroPoint(rule, zeros[1], op.getB(), 2, "b"))))
    return failure();
  return rule.result(*shape, sum);
}

/// The type rule of convolutions. The weights are [kernel..., inputs, outputs].
/// With groups, `inputs` (of a transposed convolution: `outputs`) is the number
/// of channels of one group.
template <typename OpAdaptor>
static LogicalResult convTypes(OpAdaptor op, TypeRule &rule, bool transposed) {
  Dims x = dimsOf(op.getX()), w = dimsOf(op.getW());
  auto groups = static_cast<int64_t>(op.getGroups());
  if (w.size() != x.size() || w.size() < 2 || groups < 1)
    return rule.refuse("needs weights of the input's rank and groups");
  Dim inputs = w[w.size() - 2], outputs = w.back();
  (transposed ? outputs : inputs) *= groups;
  if (mayDiffer(inputs, x.back()) ||
      (transposed ? inputs : outputs).divisor() % groups != 0)
    return rule.refuse("the weights do not fit " + kernel::sizeText(x.back()) +
                       " channels in " + Twine(groups) + " groups");
  if (failed(rule.shape(op.getBias(), ArrayRef<Dim>(outputs), "a bias")))
    return failure();
  Type sum = op.getBias() ? elementOf(op.getBias()) : rule.statedElement();
  return rule.window(op.getX(), ArrayRef(w).drop_back(2), op.getStrides(),
                     op.getDilations(), {op.getLow()}, sum, outputs);
}

LogicalResult ConvOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(contractedTypes(rule, op.getX(), op.getW(), rule.statedElement(),
                             op.getXZero() != 0 || op.getXOutside() != 0)))
    return failure();
  return convTypes(op, rule, /*transposed=*/false);
}
LogicalResult ConvTransposeOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(rule.alike({op.getX(), op.getW(), op.getBias()})))
    return failure();
  return convTypes(op, rule, /*transposed=*/true);
}

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
  // Loads a zero point. If all columns have the same one, it is loaded as a
  // scalar and later broadcast to the lanes.
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
  return b.reduce(dimsOf(getA()).back(), b.constant(0, type),
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

bool hasKnownSteps(Operation *op) {
  return isa<ConvOp>(op) ? !hasDynamicSizes(op->getOperand(1).getType())
                         : dimsOf(op->getOperand(0)).back().known().has_value();
}

bool MatMulOp::isWidening() {
  return elementOf(getResult()) != elementOf(getA());
}

bool ConvOp::isWidening() {
  return elementOf(getResult()) != elementOf(getX());
}

bool ConvOp::isCheap() { return false; }
bool ConvOp::passesLanes() {
  // Lanes are adjacent output channels. Either all lanes read the same input
  // channel (one group), or each lane reads a different one (depthwise).
  int64_t outputs = shapeOf(getResult()).back(),
          inputs = shapeOf(getW()).drop_back().back();
  return getGroups() == 1 ||
         (inputs == 1 && outputs == static_cast<int64_t>(getGroups()));
}

Expr ConvOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Dims w = dimsOf(getW());
  Dim groupInputs = w[w.size() - 2], groupOutputs = w.back();
  groupOutputs = groupOutputs.floorDiv(getGroups());
  bool depthwise = groupInputs == 1 && groupOutputs == 1;
  Expr channel = idx.back();
  Type type = elementOf(getResult());
  Expr init = getBias() ? b.load(getBias(), {channel}) : b.constant(0, type);
  auto addProduct = [&](Expr x, Expr w, Expr acc) {
    if (isWidening()) {
      x = convert(x, type);
      w = convert(w, type);
    }
    // Subtracts x_zero + x_outside, the value of padding, so that padding
    // contributes 0. In return, `init` contains x_outside times the sum of all
    // weights (see below).
    int64_t moved = getXZero() + getXOutside();
    if (moved != 0)
      x = x - double(moved);
    return named(fma(x, w, acc), "sum");
  };
  if (getXOutside() != 0) {
    Dims steps(w.begin(), w.end() - 1);
    Exprs at;
    auto nest = [&](auto &&self, Expr acc) -> Expr {
      if (at.size() == steps.size()) {
        Exprs wAt(at);
        wAt.push_back(channel);
        return named(fma(convert(b.load(getW(), wAt), type),
                         b.constantInt(getXOutside(), type), acc),
                     "sum_outside");
      }
      return b.reduce(steps[at.size()], acc, [&](Expr i, Expr acc) {
        at.push_back(named(i, "step"));
        Expr sum = self(self, acc);
        at.pop_back();
        return sum;
      });
    };
    init = nest(nest, b.broadcast(init, b.lanes()));
  }
  return overWindow(
      b, idx, dimsOf(getX()), dimsOf(getResult()), ArrayRef(w).drop_back(2),
      getStrides(), getDilations(), getLow(), init,
      [&](ArrayRef<Expr> k, ArrayRef<Expr> at, Expr acc) {
        return b.reduce(groupInputs, acc, [&](Expr c, Expr acc) {
          named(c, "input_channel");
          Exprs xAt(at.begin(), at.end()), wAt(k.begin(), k.end());
          wAt.push_back(c);
          wAt.push_back(channel);
          if (depthwise) {
            xAt.back() = channel;
            return addProduct(b.load(getX(), xAt), b.load(getW(), wAt), acc);
          }
          xAt.back() =
              getGroups() == 1
                  ? c
                  : channel / b.size(groupOutputs) * b.size(groupInputs) + c;
          return addProduct(b.loadScalar(getX(), xAt), b.load(getW(), wAt),
                            acc);
        });
      });
}

bool ConvTransposeOp::isCheap() { return false; }
bool ConvTransposeOp::passesLanes() { return getGroups() == 1; }

Expr ConvTransposeOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Dims w = dimsOf(getW()), x = dimsOf(getX());
  ArrayRef<Dim> kernel = ArrayRef(w).drop_back(2);
  Dim groupInputs = w[w.size() - 2].floorDiv(getGroups()),
      groupOutputs = w.back();
  Expr channel = idx.back();
  Expr group = getGroups() == 1 ? b.index(0) : channel / b.size(groupOutputs);
  Expr inGroup = getGroups() == 1 ? channel : channel % b.size(groupOutputs);
  Expr init = getBias() ? b.load(getBias(), {channel})
                        : b.constant(0, elementOf(getResult()));
  Exprs k, at(idx.begin(), idx.end());
  auto nest = [&](auto &&self, size_t axis, Expr acc) -> Expr {
    if (axis == kernel.size()) {
      return b.reduce(groupInputs, acc, [&](Expr c, Expr acc) {
        named(c, "input_channel");
        Exprs xAt(at.begin(), at.end()), wAt(k.begin(), k.end());
        xAt.back() = group * b.size(groupInputs) + c;
        wAt.push_back(xAt.back());
        wAt.push_back(inGroup);
        return named(fma(b.loadScalar(getX(), xAt), b.load(getW(), wAt), acc),
                     "sum");
      });
    }
    std::string name = spatialAxisName(axis, kernel.size());
    return b.reduce(kernel[axis], acc, [&](Expr i, Expr acc) {
      named(i, "kernel_" + name);
      // For output position o and kernel position i, the input position p
      // satisfies p * stride = o + low - i * dilation. So the right side must
      // be a multiple of the stride, and p must be inside the input.
      Expr scaled = idx[1 + axis] + static_cast<double>(getLow()[axis]) -
                    i * static_cast<double>(getDilations()[axis]);
      named(scaled, "spread_" + name);
      double stride = static_cast<double>(getStrides()[axis]);
      Expr inside = (scaled >= 0.0) & equal(scaled % stride, 0.0) &
                    (scaled < b.size(x[1 + axis]) * stride);
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

//===----------------------------------------------------------------------===//
// Weights of 2, 4 or 8 bits
//===----------------------------------------------------------------------===//

LogicalResult NarrowMatMulOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims a = dimsOf(op.getA());
  ArrayRef<int64_t> w = shapeOf(op.getW());
  int64_t bits = op.getBits(), block = op.getBlock();
  Type number = elementOf(op.getW());
  if (bits != 2 && bits != 4 && bits != 8)
    return rule.refuse("has weights of " + Twine(bits) +
                       " bits, which are 2, 4 or 8");
  if (a.size() < 2 || w.size() != 2 || hasDynamicSizes(op.getW().getType()))
    return rule.refuse(
        "needs an operand of two axes or more, and weights of two "
        "known sizes");
  int64_t perByte = 8 / bits;
  if (block < 1 || block % perByte != 0 || w[0] > (int64_t(1) << 40) ||
      w[0] * perByte % block != 0)
    return rule.refuse("the weights' " + Twine(w[0]) +
                       " rows of bytes are no whole blocks of " + Twine(block) +
                       " steps");
  if (mayDiffer(a.back(), w[0] * perByte))
    return rule.refuse("the inner sizes differ: " + kernel::sizeText(a.back()) +
                       " and " + Twine(w[0] * perByte));
  if (!isa<FloatType>(elementOf(op.getA())) ||
      !(number.isUnsignedInteger(8) ||
        (bits == 8 && number.isSignedInteger(8))))
    return rule.refuse("needs floats, and weights in bytes without a sign");
  if (op.getZeros() && elementOf(op.getZeros()) != number)
    return rule.refuse("has zero points of another type than the weights");
  if (op.getZeros() && op.getZero())
    return rule.refuse("has zero points both as a tensor and as an attribute");
  if (auto zero = op.getZeroAttr();
      zero && (zero.getInt() < -128 || zero.getInt() > 255))
    return rule.refuse("has the zero point " + Twine(zero.getInt()) +
                       ", which is no byte");
  Dims blocks{w[0] * perByte / block, w[1]};
  if (failed(rule.shape(op.getScales(), ArrayRef(blocks), "scales")) ||
      failed(rule.shape(op.getZeros(), ArrayRef(blocks), "zero points")))
    return failure();
  a.back() = w[1];
  return rule.result(a, elementOf(op.getA()));
}

bool NarrowMatMulOp::isCheap() { return false; }
bool NarrowMatMulOp::passesLanes() { return true; }

Expr NarrowMatMulOp::wordOf(Expr byte) {
  return convert(byte, IntegerType::get(getContext(), 32, IntegerType::Signed));
}

Expr NarrowMatMulOp::numberIn(Expr word, Expr place) {
  if (getBits() < 8) {
    Expr mask = word.builder->constantInt((1 << getBits()) - 1, word.type);
    word = (word >> convert(place * double(getBits()), word.type)) & mask;
  }
  return convert(word, elementOf(getResult()));
}

Expr NarrowMatMulOp::numberIn(Expr word, int64_t place) {
  if (place > 0)
    word = word >>
           word.builder->constantInt(place * int64_t(getBits()), word.type);
  // The last weight of a byte is in the highest bits of the byte, so a shift
  // alone isolates it.
  if (place + 1 == perByte())
    return convert(word, elementOf(getResult()));
  ElementBuilder &b = *word.builder;
  Type f32 = b.builder.getF32Type(), type = f32;
  if (auto vector = dyn_cast<VectorType>(word.value.getType()))
    type = vector.clone(f32);
  Value number = kernel::LowBitsOp::create(b.builder, b.loc, type,
                                           int64_t(getBits()), word.value);
  return convert(Expr{&b, number, f32}, elementOf(getResult()));
}

Expr NarrowMatMulOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Type type = elementOf(getResult());
  Expr column = idx.back();
  return b.reduce(
      dimsOf(getA()).back(), b.constant(0, type), [&](Expr k, Expr sum) {
        named(k, "step");
        Exprs at(idx.drop_back());
        at.push_back(k);
        Expr block = named(k / double(getBlock()), "block"),
             byte = b.load(getW(), {k / double(perByte()), column}),
             weight = numberIn(wordOf(byte), k % double(perByte()));
        if (getZeros())
          weight = weight - convert(b.load(getZeros(), {block, column}), type);
        if (IntegerAttr zero = getZeroAttr())
          weight = weight - b.constant(double(zero.getInt()), type);
        weight = weight * convert(b.load(getScales(), {block, column}), type);
        return named(
            fma(b.loadScalar(getA(), at), named(weight, "weight"), sum), "sum");
      });
}

namespace {
/// The K dimension of a weight matrix, which consists of all axes but the last.
/// The last `axes` of these axes are merged; their indices (the steps along K)
/// are divided into groups of `group` steps.
struct GroupedSteps {
  GroupedSteps(ArrayRef<int64_t> matrix, int64_t group, int64_t axes)
      : grouped(matrix.drop_back().take_back(axes)),
        groups(matrix.drop_back(1 + axes)), together(product(grouped)) {
    groups.push_back(llvm::divideCeil(together, group));
    count = product(groups);
  }

  /// The sizes of the merged axes.
  ArrayRef<int64_t> grouped;
  /// The sizes of the axes before `grouped`, then the number of groups.
  SmallVector<int64_t> groups;
  int64_t together, count = 1;
};
} // namespace

/// Returns the number of elements of a weight matrix that is packed in panels
/// (groups of adjacent columns, stored in the order in which a kernel reads
/// them) with the attributes of graph.pack_panels; nullopt if these are invalid
/// for the matrix.
static std::optional<int64_t> packedSize(ArrayRef<int64_t> matrix,
                                         int64_t panel, int64_t tail,
                                         int64_t group, int64_t axes) {
  int64_t rank = static_cast<int64_t>(matrix.size());
  if (rank < 2 || panel < 1 || tail < matrix.back() % panel || group < 1 ||
      axes < 1 || axes >= rank)
    return std::nullopt;
  int64_t full = matrix.back() / panel * panel,
          last = matrix.back() % panel == 0 ? 0 : tail;
  return GroupedSteps(matrix, group, axes).count * group * (full + last);
}

LogicalResult PackPanelsOp::inferTypes(Adaptor op, TypeRule &rule) {
  auto size = packedSize(shapeOf(op.getW()), op.getPanel(), op.getTail(),
                         op.getGroup(), op.getAxes());
  if (!size)
    return rule.refuse("the columns do not fit the panels");
  return rule.result(*size, elementOf(op.getW()));
}

LogicalResult UnpackPanelsOp::inferTypes(Adaptor op, TypeRule &rule) {
  auto size = packedSize(rule.stated(), op.getPanel(), op.getTail(),
                         op.getGroup(), op.getAxes());
  if (!size)
    return rule.refuse("the columns do not fit the panels");
  // A byte for each panel and group of steps may follow the weights
  // (kShortShareAttr).
  ArrayRef<int64_t> matrix = rule.stated();
  int64_t panels = llvm::divideCeil(matrix.back(), int64_t(op.getPanel())),
          groups = GroupedSteps(matrix, op.getGroup(), op.getAxes()).count;
  bool hasBytes =
      shapeOf(op.getPacked()) == ArrayRef<int64_t>{*size + panels * groups};
  if (!hasBytes && failed(rule.shape(op.getPacked(), *size, "an operand")))
    return failure();
  return rule.result(rule.stated(), elementOf(op.getPacked()));
}

Expr PackPanelsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> shape = shapeOf(getW());
  int64_t columns = shape.back(), group = getGroup();
  GroupedSteps steps(shape, group, getAxes());
  int64_t panel = getPanel(), full = columns / panel;
  auto zero = [&] { return b.constant(0, elementOf(getW())); };
  auto at = [&](Expr groupOfSteps, Expr inGroup, Expr column) {
    Exprs i = b.delinearize(groupOfSteps, steps.groups);
    Expr step = i.pop_back_val();
    if (group > 1)
      step = step * double(group) + inGroup;
    llvm::append_range(i, b.delinearize(step, steps.grouped));
    i.push_back(column);
    if (steps.together % group == 0)
      return b.load(getW(), i);
    return b.ifElse(
        step < double(steps.together), [&] { return b.load(getW(), i); }, zero);
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
  GroupedSteps steps(shape, group, getAxes());
  int64_t panel = getPanel(), full = columns / panel, tail = getTail();
  Expr inGroup = b.index(0), column = idx.back();
  ArrayRef<Expr> step = idx.drop_back();
  Exprs groupAt(step.drop_back(steps.grouped.size()));
  groupAt.push_back(
      b.linearize(step.take_back(steps.grouped.size()), steps.grouped));
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

int64_t multiplyAddsOf(Operation *op) {
  if (auto group = dyn_cast<GroupOp>(op)) {
    int64_t sum = 0;
    for (Operation &inner : group.getBody().front().without_terminator())
      sum += multiplyAddsOf(&inner);
    return sum;
  }
  auto elements = [](Value v) { return tensorType(v).getNumElements(); };
  // Operators with several results have no multiply-adds that are counted.
  // Neither has an operator without result elements, whose sizes would lead to
  // divisions by 0 below.
  if (op->getNumResults() != 1 || elements(op->getResult(0)) == 0)
    return 0;
  if (auto conv = dyn_cast<ConvOp>(op))
    return elements(conv.getResult()) *
           (elements(conv.getW()) / shapeOf(conv.getW()).back());
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return elements(conv.getX()) /
           std::max<int64_t>(shapeOf(conv.getX()).back(), 1) *
           elements(conv.getW());
  if (auto product = dyn_cast<MatMulOp>(op))
    return elements(product.getResult()) * shapeOf(product.getA()).back();
  if (auto product = dyn_cast<NarrowMatMulOp>(op))
    return elements(product.getResult()) * shapeOf(product.getA()).back();
  return 0;
}

} // namespace ingot::graph
