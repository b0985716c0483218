// Imports matrix multiplications and convolutions.

#include "compiler/import/operators/Products.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Requires the inner sizes of a matmul, which may be dynamic, to be equal.
static LogicalResult fitInner(OnnxNode &node, Value &a, Value &b) {
  int64_t last = int64_t(shapeOf(a).size()) - 1,
          rank = int64_t(shapeOf(b).size()),
          other = std::max<int64_t>(rank - 2, 0);
  Dim x = dimsOf(a)[last], y = dimsOf(b)[other];
  if (x.known() && y.known() && !(x == y))
    return node.invalid("the inner sizes differ: " + kernel::sizeText(x) +
                        " and " + kernel::sizeText(y));
  // If one of the two inner sizes is a number, the operand whose inner size is
  // dynamic gets this number as its size.
  return x.known() ? node.fitAxis(b, other, a, last,
                                  "the inner sizes of the matrix product")
                   : node.fitAxis(a, last, b, other,
                                  "the inner sizes of the matrix product");
}

/// Returns the matmul of `a` and `b`, with elements of type `type`. `zeros`
/// contains the zero points of integer operands, or is empty.
static Value multiply(OnnxNode &node, Value a, Value b, ValueRange zeros,
                      Type type) {
  if (shapeOf(a).empty() || shapeOf(b).empty())
    return noValue(node.invalid(
        "the operands of a matrix product must have rank 1 or more"));
  if (failed(fitInner(node, a, b)))
    return {};
  SmallVector<Value> both{a, b};
  auto batch = node.broadcast(both, /*others=*/2);
  if (!batch)
    return noValue(node.invalid("the batch axes do not broadcast"));
  a = both[0];
  b = both[1];
  Dims as = dimsOf(a), bs = dimsOf(b);
  bool rowVector = as.size() == 1, columnVector = bs.size() == 1;
  if (rowVector)
    as.insert(as.begin(), 1);
  if (columnVector)
    bs.push_back(1);
  if (rowVector)
    a = buildReshape(node.builder, node.loc, a, as);
  if (columnVector)
    b = buildReshape(node.builder, node.loc, b, bs);
  Dims result(*batch);
  result.push_back(as[as.size() - 2]);
  result.push_back(bs.back());
  Value product = node.build<MatMulOp>(tensorOf(result, type), a, b, zeros);
  if (rowVector || columnVector) {
    Dims shape(*batch);
    if (!rowVector)
      shape.push_back(as[as.size() - 2]);
    if (!columnVector)
      shape.push_back(bs.back());
    product = buildReshape(node.builder, node.loc, product, shape);
  }
  return product;
}

Value importMatMul(OnnxNode &node, Value a, Value b) {
  return multiply(node, a, b, {}, elementOf(a));
}

Value importIntegerMatMul(OnnxNode &node, Value a, Value b, ValueRange zeros) {
  return multiply(node, a, b, zeros,
                  node.builder.getIntegerType(32, /*isSigned=*/true));
}

static ImportResult importGemm(OnnxNode &node) {
  Value a = node.input(0), b = node.input(1), c = node.input(2);
  if (shapeOf(a).size() != 2 || shapeOf(b).size() != 2)
    return node.invalid("A and B must be matrices of rank 2");
  if (node.intAttr("transA", 0))
    a = node.transpose(a, {1, 0});
  if (node.intAttr("transB", 0))
    b = node.transpose(b, {1, 0});
  Value y = importMatMul(node, a, b);
  if (!y)
    return failure();
  double alpha = node.floatAttr("alpha", 1), beta = node.floatAttr("beta", 1);
  // Integers are multiplied by fractions in float64.
  Type type = elementOf(y), element = type;
  if (isa<IntegerType>(type) &&
      (std::trunc(alpha) != alpha || std::trunc(beta) != beta))
    element = node.f64();
  y = node.cast(y, element);
  if (alpha != 1)
    y = node.mul(y, alpha);
  if (c) {
    const bool isZero = !OnnxNode::unlessZeros(c);
    c = node.cast(c, element);
    // A size of C that is not 1 determines the size of the product.
    int64_t missing = int64_t(shapeOf(y).size() - shapeOf(c).size());
    for (int64_t i = 0; i < int64_t(shapeOf(c).size()) && missing >= 0; ++i)
      if (dimsOf(c)[i].least() > 1)
        (void)node.takeEqual(dimsOf(y)[missing + i], dimsOf(c)[i]);
    if (beta != 1)
      c = node.mul(c, beta);
    c = node.broadcastTo(c, dimsOf(y));
    if (!c)
      return node.invalid("C does not broadcast to the product");
    if (!isZero)
      y = node.add(y, c);
  }
  return one(node.cast(y, type));
}

/// Transposes convolution weights [O, C / groups, kernel...] to [kernel..., C /
/// groups, O], where C is the number of input channels and O that of output
/// channels.
static Value kernelLast(OnnxNode &node, Value w) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(2, shapeOf(w).size()));
  perm.append({1, 0});
  return node.transpose(w, perm);
}

/// Checks that input and weights have the same rank, that the weights match
/// kernel_shape, and that the attribute `group` is positive. Dynamic kernel
/// sizes are assumed to equal kernel_shape.
static LogicalResult checkConvInputs(OnnxNode &node, Value x, Value w) {
  if (shapeOf(w).size() != shapeOf(x).size())
    return node.invalid("the input has rank " + Twine(shapeOf(x).size()) +
                        ", but the weights have rank " +
                        Twine(shapeOf(w).size()));
  SmallVector<int64_t> declared =
      node.intsAttr("kernel_shape", shapeOf(w).drop_front(2));
  for (size_t i = 0; i < declared.size() && i + 2 < shapeOf(w).size(); ++i)
    if (Dim size = dimsOf(w)[2 + i]; !size.known()) {
      if (!node.hasAttr("kernel_shape")) {
        (void)node.requireAtLeast(size, 1);
        continue;
      }
      if (failed(node.requireEqual(size, declared[i],
                                   "kernel_shape and the weights' shape")))
        return failure();
    }
  if (ArrayRef<int64_t>(declared) != shapeOf(w).drop_front(2))
    return node.invalid("kernel_shape contradicts the weights' shape");
  if (node.intAttr("group", 1) < 1)
    return node.invalid("group must be positive");
  return success();
}

Value importConv(OnnxNode &node, Value x, Value w, Value bias) {
  if (failed(checkConvInputs(node, x, w)))
    return {};
  int64_t groups = node.intAttr("group", 1);
  if (!node.requireMultiple(dimsOf(w)[0], groups))
    return noValue(
        node.invalid("the weights have " + kernel::sizeText(dimsOf(w)[0]) +
                     " output channels, which must be a multiple of the " +
                     Twine(groups) + " groups"));
  Dims kernel(ArrayRef<Dim>(dimsOf(w)).drop_front(2));
  auto geometry =
      WindowGeometry::read(node, x, ArrayRef<Dim>(kernel), /*pads=*/true);
  if (failed(geometry))
    return {};
  Value inside = geometry->pad(node, x, /*fill=*/0);
  Value y = node.build<ConvOp>(
      geometry->resultType(x, dimsOf(w)[0]), toChannelsLast(node, inside),
      kernelLast(node, w), OnnxNode::unlessZeros(bias), geometry->strides,
      geometry->dilations, geometry->low, groups,
      /*x_zero=*/0);
  return toChannelsFirst(node, y);
}

/// Crops axes of `y` to sizes that are known only at run time: half of the
/// excess is removed at the start of the axis, the rest at the end. Axes that
/// are too short get zeros at the end.
static Value cropAtRunTime(OnnxNode &node, Value y,
                           ArrayRef<WindowGeometry::Padded> axes) {
  RunTimeInts ints(node);
  for (const auto &[axis, size, isUpper] : axes) {
    Value beyond =
        node.max(0, node.sub(ints.sizes(dimsOf(y)[axis]), ints.sizes(size)));
    Value before = ints.div(node.add(beyond, isUpper ? 0 : 1), 2);
    y = padAlong(node, y, axis, node.sub(0, before), size, "constant",
                 node.scalarConstant(0, elementOf(y)));
  }
  return y;
}

static ImportResult importConvTranspose(OnnxNode &node) {
  Value x = node.input(0), w = node.input(1), bias = node.input(2);
  if (failed(checkConvInputs(node, x, w)))
    return failure();
  size_t rank = shapeOf(x).size() - 2;
  int64_t groups = node.intAttr("group", 1);
  if (!node.requireMultiple(dimsOf(x)[1], groups))
    return node.invalid("the input has " + kernel::sizeText(dimsOf(x)[1]) +
                        " channels, which must be a multiple of the " +
                        Twine(groups) + " groups");
  if (failed(node.requireEqual(dimsOf(x)[1], dimsOf(w)[0],
                               "the channels of input and weights")))
    return failure();
  for (size_t i = 0; i < rank; ++i)
    if (!node.requireAtLeast(dimsOf(x)[2 + i], 1))
      return node.invalid("the output would be empty on spatial axis " +
                          Twine(i));
  Dims xs = dimsOf(x), ws = dimsOf(w);
  SmallVector<int64_t> strides =
      node.intsAttr("strides", SmallVector<int64_t>(rank, 1));
  SmallVector<int64_t> dilations =
      node.intsAttr("dilations", SmallVector<int64_t>(rank, 1));
  auto padding = readPads(node, rank);
  if (failed(padding))
    return failure();
  ArrayRef<int64_t> pads = *padding;
  SmallVector<int64_t> extra =
      node.intsAttr("output_padding", SmallVector<int64_t>(rank, 0));
  SmallVector<int64_t> wanted = node.intsAttr("output_shape");
  if (wanted.size() == rank + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (strides.size() != rank || dilations.size() != rank ||
      extra.size() != rank || (!wanted.empty() && wanted.size() != rank))
    return node.invalid("strides, dilations, output_padding and output_shape "
                        "must have one entry for each spatial axis");
  auto autoPad = readAutoPad(node);
  if (failed(autoPad))
    return failure();
  SmallVector<int64_t> low;
  // The axes of the result that must be cropped or extended by an amount that
  // is known only at run time.
  SmallVector<WindowGeometry::Padded> cropped;
  Dims shape{xs[0]};
  for (size_t i = 0; i < rank; ++i) {
    if (strides[i] < 1 || dilations[i] < 1 || ws[2 + i].least() < 1)
      return node.invalid(
          "strides, dilations and kernel sizes must be positive");
    Dim full = (xs[2 + i] - 1) * strides[i] +
               ((ws[2 + i] - 1) * dilations[i] + (extra[i] + 1));
    Dim given = full - (pads[i] + pads[rank + i]);
    bool same =
        *autoPad == AutoPad::SameUpper || *autoPad == AutoPad::SameLower;
    if (!wanted.empty() || same) {
      Dim size = wanted.empty() ? xs[2 + i] * strides[i] : Dim(wanted[i]);
      bool isUpper = *autoPad == AutoPad::SameUpper;
      if (size.least() < 1)
        return node.invalid("the output would be empty on spatial axis " +
                            Twine(i));
      std::optional<int64_t> missing = (full - size).known();
      // If the kernel is shorter than the stride, the output with auto_pad ends
      // with the last window, and is not extended to input size * stride.
      if (wanted.empty() && missing && *missing < 0) {
        size = full;
        missing = 0;
      }
      int64_t total = std::max<int64_t>(0, missing.value_or(0));
      low.push_back(isUpper ? total / 2 : total - total / 2);
      shape.push_back(missing ? size : full);
      if (!missing)
        cropped.push_back({2 + i, size, isUpper});
    } else {
      low.push_back(*autoPad == AutoPad::Valid ? 0 : pads[i]);
      shape.push_back(*autoPad == AutoPad::Valid ? full : given);
    }
    // If a node has both pads and auto_pad, ONNX's shape rule uses pads, but
    // ONNX's specification uses auto_pad. The node is accepted if both give the
    // same size.
    if (wanted.empty() && node.hasAttr("pads") &&
        surelyDiffer(shape.back(), given))
      return node.invalid("pads contradicts auto_pad");
    if (!ws[2 + i].known() && shape.back().least() < 1) {
      auto checked = checkedSize(node, shape.back());
      if (failed(checked))
        return failure();
      shape.back() = *checked;
    } else if (shape.back().least() < 1)
      return node.invalid("the output would be empty on spatial axis " +
                          Twine(i));
  }
  shape.push_back(dimsOf(w)[1] * groups);
  // Transposes the weights of ConvTranspose [C, O / groups, kernel...] to
  // [kernel..., C, O / groups].
  auto perm = llvm::to_vector(llvm::seq<int64_t>(2, 2 + rank));
  perm.append({0, 1});
  bias = OnnxNode::unlessZeros(bias);
  Value y = node.build<ConvTransposeOp>(
      tensorOf(shape, elementOf(x)), toChannelsLast(node, x),
      node.transpose(w, perm), cropped.empty() ? bias : Value(), strides,
      dilations, low, groups);
  y = cropAtRunTime(node, toChannelsFirst(node, y), cropped);
  // If zeros may have been appended, the bias is added here instead of in the
  // convolution, so that it is also added to the appended elements.
  if (bias && !cropped.empty())
    y = node.add(y, node.alignAt(bias, 1, shapeOf(y).size()));
  return one(y);
}

void registerContractionImports(OnnxRegistry &registry) {
  registry.add("MatMul", [](OnnxNode &node) {
    return one(importMatMul(node, node.input(0), node.input(1)));
  });
  registry.add("Gemm", importGemm);
  registry.add("Conv", [](OnnxNode &node) {
    return one(importConv(node, node.input(0), node.input(1), node.input(2)));
  });
  registry.add("ConvTranspose", importConvTranspose);
}

} // namespace ingot::graph
