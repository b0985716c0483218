#include "passes/schedule/gpu/BlockOperands.h"

#include "dialects/kernel/SmallFloats.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/PanelKernel.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class MatrixOperands : public BlockOperands {
public:
  explicit MatrixOperands(MatMulOp product)
      : product(product), sizes(dimsOf(product.getResult())) {
    ProductSizes own(product);
    batches = own.batches;
    rows = own.rows;
    columns = own.columns;
    steps = own.steps.most();
    oneMatrix = own.oneMatrix;
    leftTensor = product.getA();
    rightTensor = product.getB();
    leftRun = steps;
    rightRun = columns;
  }

  Place leftPlace(KernelBuilder &b, Expr batch, Expr row,
                  Expr step) const override {
    Exprs at = rowOf(b, batch, row);
    row = at.pop_back_val();
    return {operandAt(b, product.getA(), at, {row, step}), std::nullopt};
  }
  Place rightPlace(KernelBuilder &b, Expr batch, Expr step,
                   Expr column) const override {
    Exprs at = rowOf(b, batch, b.index(0));
    at.pop_back();
    return {operandAt(b, product.getB(), at, {step, column}), std::nullopt};
  }
  Expr first(KernelBuilder &b, Expr, Expr) const override {
    return b.constant(0, elementOf(product.getResult()));
  }
  Exprs place(KernelBuilder &b, Expr batch, Expr row,
              Expr column) const override {
    Exprs at = rowOf(b, batch, row);
    at.push_back(column);
    return at;
  }

private:
  /// Returns the index in the result of row `row` of batch `batch`, without the
  /// last axis.
  Exprs rowOf(KernelBuilder &b, Expr batch, Expr row) const {
    if (oneMatrix)
      return b.delinearize(row, ArrayRef(sizes).drop_back());
    Exprs at = b.delinearize(batch, ArrayRef(sizes).drop_back(2));
    at.push_back(row);
    return at;
  }
  static Exprs operandAt(KernelBuilder &b, Value operand, ArrayRef<Expr> batch,
                         ArrayRef<Expr> inside) {
    ArrayRef<int64_t> own = shapeOf(operand);
    Exprs at;
    for (size_t axis = 0; axis + 2 < own.size(); ++axis)
      at.push_back(own[axis] == 1
                       ? b.index(0)
                       : batch[batch.size() - (own.size() - 2) + axis]);
    llvm::append_range(at, inside);
    return at;
  }

  mutable MatMulOp product;
  Dims sizes;
  bool oneMatrix;
};

class WindowOperands : public BlockOperands {
public:
  explicit WindowOperands(ConvOp conv)
      : conv(conv), sizes(dimsOf(conv.getResult())) {
    auto groups = static_cast<int64_t>(conv.getGroups());
    areGroups = groups > 1;
    batches = groups;
    rows = graph::product(ArrayRef(sizes).drop_back());
    columns = shapeOf(conv.getW()).back() / groups;
    window.assign(shapeOf(conv.getW()).begin(), shapeOf(conv.getW()).end() - 1);
    steps = ShapedType::getNumElements(window);
    leftTensor = conv.getX();
    rightTensor = conv.getW();
    leftRun = window.back();
    rightRun = columns;
    // A contiguous slice of channels is read directly from the sliced tensor.
    if (auto slice = conv.getX().getDefiningOp<SliceOp>();
        slice && isa<BlockArgument>(slice.getX()) && takesChannels(slice)) {
      leftTensor = slice.getX();
      firstChannel = slice.getStarts().back();
      leftRun = std::gcd(leftRun, firstChannel);
    }
  }

  Place leftPlace(KernelBuilder &b, Expr batch, Expr row,
                  Expr step) const override {
    Exprs at = b.delinearize(row, ArrayRef(sizes).drop_back()),
          inWindow = b.delinearize(step, window);
    ArrayRef<int64_t> shape = shapeOf(conv.getX());
    std::optional<Expr> isInside;
    for (size_t axis = 0; axis + 1 < window.size(); ++axis) {
      int64_t stride = conv.getStrides()[axis],
              dilation = conv.getDilations()[axis], low = conv.getLow()[axis];
      int64_t size = shape[1 + axis];
      at[1 + axis] = at[1 + axis] * double(stride) +
                     inWindow[axis] * double(dilation) - double(low);
      // No bounds check is needed if no window reaches outside of the input.
      int64_t last = (sizes[1 + axis].most() - 1) * stride - low +
                     (window[axis] - 1) * dilation;
      if (low > 0)
        isInside = both(isInside, at[1 + axis] >= 0.0);
      if (last >= size)
        isInside = both(isInside, at[1 + axis] < double(size));
    }
    Expr channel = areGroups ? batch * double(window.back()) + inWindow.back()
                             : inWindow.back();
    at.push_back(firstChannel ? channel + double(firstChannel) : channel);
    return {at, isInside};
  }
  Place rightPlace(KernelBuilder &b, Expr batch, Expr step,
                   Expr column) const override {
    Exprs at = b.delinearize(step, window);
    at.push_back(packedColumn(batch, column));
    return {at, std::nullopt};
  }
  Expr first(KernelBuilder &b, Expr batch, Expr column) const override {
    return conv.getBias()
               ? b.load(conv.getBias(), {packedColumn(batch, column)})
               : b.constant(0, elementOf(conv.getResult()));
  }
  Exprs place(KernelBuilder &b, Expr batch, Expr row,
              Expr column) const override {
    Exprs at = b.delinearize(row, ArrayRef(sizes).drop_back());
    at.push_back(packedColumn(batch, column));
    return at;
  }

private:
  static Expr both(std::optional<Expr> x, Expr y) { return x ? *x & y : y; }

  mutable ConvOp conv;
  Dims sizes;
  /// The kernel size and the number of input channels (per group).
  SmallVector<int64_t> window;
  /// The channel of the left tensor at which the convolution's input begins.
  int64_t firstChannel = 0;
};

/// A product with weights of 2, 4 or 8 bits, which have a scale, and possibly a
/// zero point, per block of steps along K (MatMulNBits).
class NarrowOperands : public BlockOperands {
public:
  explicit NarrowOperands(NarrowMatMulOp product)
      : product(product), sizes(dimsOf(product.getResult())) {
    ProductSizes own(product.getA(), product.getW(), product.getResult());
    rows = own.rows * own.batches;
    columns = own.columns;
    steps = own.steps.most();
    leftTensor = product.getA();
    rightTensor = product.getW();
    leftRun = steps;
    rightRun = columns;
    // Weights of up to four bytes are processed together, so that they share
    // the load of a scale.
    together =
        std::gcd<int64_t, int64_t>(product.getBlock(), 4 * product.perByte());
    rightBytes = double(product.getBits()) / 8;
  }

  bool isUnpacked() const override { return true; }
  Place leftPlace(KernelBuilder &b, Expr, Expr row, Expr step) const override {
    Exprs at = b.delinearize(row, ArrayRef(sizes).drop_back());
    at.push_back(step);
    return {at, std::nullopt};
  }
  Place rightPlace(KernelBuilder &, Expr, Expr step,
                   Expr column) const override {
    return {{step / double(product.perByte()), column}, std::nullopt};
  }
  Expr right(KernelBuilder &b, Expr batch, Expr step,
             Expr column) const override {
    Place place = rightPlace(b, batch, step, column);
    Expr number =
        product.numberIn(product.wordOf(b.load(product.getW(), place.at)),
                         step % double(product.perByte()));
    return weight(number, scaleOf(b, step, column), zeroOf(b, step, column));
  }
  Exprs rightSteps(KernelBuilder &b, Expr, Expr step,
                   Expr column) const override {
    int64_t perByte = product.perByte();
    Expr scale = scaleOf(b, step, column),
         byte = named(step / double(perByte), "byte");
    std::optional<Expr> zero = zeroOf(b, step, column);
    Exprs weights;
    for (int64_t i = 0; i < together / perByte; ++i) {
      Expr word = named(
          product.wordOf(b.load(product.getW(), {byte + double(i), column})),
          "word_" + Twine(i));
      for (int64_t place = 0; place < perByte; ++place)
        weights.push_back(weight(product.numberIn(word, place), scale, zero));
    }
    return weights;
  }
  Expr first(KernelBuilder &b, Expr, Expr) const override {
    return b.constant(0, elementOf(product.getResult()));
  }
  Exprs place(KernelBuilder &b, Expr, Expr row, Expr column) const override {
    Exprs at = b.delinearize(row, ArrayRef(sizes).drop_back());
    at.push_back(column);
    return at;
  }

private:
  Expr ofBlock(KernelBuilder &b, Value from, Expr step, Expr column) const {
    Expr block = named(step / double(product.getBlock()), "block");
    return convert(b.load(from, {block, column}),
                   elementOf(product.getResult()));
  }
  Expr scaleOf(KernelBuilder &b, Expr step, Expr column) const {
    return named(ofBlock(b, product.getScales(), step, column), "scale");
  }
  std::optional<Expr> zeroOf(KernelBuilder &b, Expr step, Expr column) const {
    if (IntegerAttr zero = product.getZeroAttr())
      return b.constant(double(zero.getInt()), elementOf(product.getResult()));
    return product.getZeros()
               ? std::optional(named(
                     ofBlock(b, product.getZeros(), step, column), "zero"))
               : std::nullopt;
  }
  static Expr weight(Expr number, Expr scale, std::optional<Expr> zero) {
    return (zero ? number - *zero : number) * scale;
  }

  mutable NarrowMatMulOp product;
  Dims sizes;
};

/// Whether all sizes of a tensor after the first `axes` axes are static.
bool isKnownBehind(Value tensor, size_t axes) {
  Dims sizes = dimsOf(tensor);
  return llvm::all_of(ArrayRef(sizes).drop_front(std::min(axes, sizes.size())),
                      [](const Dim &size) { return size.known(); });
}

/// Whether the block strategies support these operand and result types.
bool areMultiplied(Type left, Type right, Type result) {
  if (result.isF32() && isFloat8(left) && isFloat8(right))
    return true;
  if (isa<Float32Type, Float16Type, BFloat16Type>(result))
    return left == right && (left == result || result.isF32());
  auto isByte = [](Type type) {
    return type.isSignedInteger(8) || type.isUnsignedInteger(8);
  };
  return result.isSignedInteger(32) && isByte(left) && isByte(right);
}

Expr elementAt(KernelBuilder &b, Value tensor,
               const BlockOperands::Place &place) {
  if (!place.inside)
    return b.load(tensor, place.at);
  return b.ifElse(
      *place.inside, [&] { return b.load(tensor, place.at); },
      [&] { return b.constant(0, elementOf(tensor)); });
}

} // namespace

Expr BlockOperands::left(KernelBuilder &b, Expr batch, Expr row,
                         Expr step) const {
  return elementAt(b, leftTensor, leftPlace(b, batch, row, step));
}

Expr BlockOperands::right(KernelBuilder &b, Expr batch, Expr step,
                          Expr column) const {
  return elementAt(b, rightTensor, rightPlace(b, batch, step, column));
}

double BlockOperands::elementSeconds(const Device &device) const {
  constexpr double clock = 1.5e9;
  double elements =
      double(rows.most()) * double(columns) * double(batches.most());
  double used = std::min(
      1.0, elements / (double(device.busyThreads) * device.multiprocessors));
  // Seconds that a thread takes for each step (K): it waits for its loads, with
  // few other loads in flight.
  constexpr double stepSeconds = 0.1e-6;
  return std::max(double(steps) * stepSeconds,
                  elements * double(steps) * 2 /
                      (device.warp * clock * device.multiprocessors * used));
}

std::unique_ptr<BlockOperands> BlockOperands::of(GroupView group,
                                                 Operation *anchor) {
  if (!anchor || !isa<MatMulOp, ConvOp, NarrowMatMulOp>(anchor) ||
      group.results().size() != 1 ||
      (!isa<NarrowMatMulOp>(anchor) &&
       !areMultiplied(elementOf(anchor->getOperand(0)),
                      elementOf(anchor->getOperand(1)),
                      elementOf(anchor->getResult(0)))) ||
      tensorType(anchor->getResult(0)).getNumElements() == 0 ||
      dimsOf(anchor->getResult(0)) != dimsOf(group.results()[0]))
    return nullptr;
  std::unique_ptr<BlockOperands> found;
  auto multiplied = anchor->getAttrOfType<TypeAttr>(kMultipliedAttr);
  if (auto product = dyn_cast<MatMulOp>(anchor)) {
    if (product.getZeros().empty() && isKnownBehind(product.getA(), 1) &&
        isKnownBehind(product.getB(), 0))
      found = std::make_unique<MatrixOperands>(product);
  } else if (auto conv = dyn_cast<ConvOp>(anchor)) {
    if (conv.getXZero() == 0 && conv.getXOutside() == 0 &&
        isKnownBehind(conv.getX(), 1) && isKnownBehind(conv.getW(), 0))
      found = std::make_unique<WindowOperands>(conv);
  } else if (auto narrow = cast<NarrowMatMulOp>(anchor);
             elementOf(narrow.getA()).isF32() &&
             isKnownBehind(narrow.getA(), 1) &&
             isCompact(dimsOf(narrow.getResult()))) {
    found = std::make_unique<NarrowOperands>(narrow);
  }
  if (!found || found->steps == 0)
    return nullptr;
  if (!found->isUnpacked())
    found->rightBytes = double(bytesOf(found->rightType()));
  if (multiplied && isa<FloatType>(multiplied.getValue()))
    found->multiplied = multiplied.getValue();
  return found;
}

void packColumns(GroupOp group, Operation *anchor) {
  OpOperand &weights = anchor->getOpOperand(1);
  ArrayRef<int64_t> shape = shapeOf(weights.get());
  // Batched right operands keep their layout, and so do weights of 2, 4 or 8
  // bits (NarrowMatMulOp).
  if (isa<NarrowMatMulOp>(anchor) ||
      (isa<MatMulOp>(anchor) && shape.size() != 2))
    return;
  packPanels(group, weights, /*panel=*/1, /*tail=*/0,
             vectorAccessBytes / bytesOf(elementOf(weights.get())),
             static_cast<int64_t>(shape.size()) - 1);
}

bool isInColumns(const BlockOperands &operands) {
  auto packed = operands.rightTensor.getDefiningOp<UnpackPanelsOp>();
  return !packed || (packed.getPanel() == 1 &&
                     int64_t(packed.getGroup()) ==
                         vectorAccessBytes / bytesOf(operands.rightType()));
}

bool hasVectors(KernelBuilder &b, Value tensor, int64_t run) {
  Value buffer = b.bufferOf(tensor);
  int64_t vectorElements = vectorAccessBytes / bytesOf(elementOf(tensor));
  if (!buffer || run % vectorElements != 0)
    return false;
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  return strides.back() == 1 && offset % vectorElements == 0 &&
         llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
           return stride % vectorElements == 0;
         });
}

SmallVector<Value> valuesOf(ArrayRef<Expr> exprs) {
  return llvm::map_to_vector(exprs, [](Expr e) { return e.value; });
}

void copyAhead(KernelBuilder &b, Value from, ArrayRef<Expr> at, Value to,
               ArrayRef<Expr> place, std::optional<Expr> inside) {
  SmallVector<Value> indices = valuesOf(at);
  // Use index 0 on axes of size 1, whatever expression was given for the index.
  for (auto [index, size] :
       llvm::zip_equal(indices, cast<MemRefType>(from.getType()).getShape()))
    if (size == 1)
      index = b.index(0).value;
  kernel::CopyAheadOp::create(b.builder, b.loc, from, indices, to,
                              valuesOf(place),
                              inside ? inside->value : Value());
}

bool BlockStrategy::matches(GroupOnTarget group) const {
  auto operands = BlockOperands::of(group);
  return operands && operands->rows.most() >= fewest &&
         operands->columns >= fewest && operands->steps >= fewest &&
         fits(*operands, group);
}

} // namespace ingot::schedule
