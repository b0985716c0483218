#include "passes/schedule/tiles/HalfTile.h"

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

bool halvesByLane(const TargetDescription &target) {
  return llvm::any_of(target.intrinsics, [](const Intrinsic &row) {
    return row.op == kernel::dotByLane("f16", "f16", 0);
  });
}

bool sumsHalves(Operation *contraction) {
  auto multiplied = contraction->getAttrOfType<TypeAttr>(kMultipliedAttr);
  return multiplied && multiplied.getValue().isF16();
}

Value asStored(KernelBuilder &b, Expr element) {
  Value v = element.value;
  if (!isa<BFloat16Type, Float16Type>(element.type) ||
      getElementTypeOrSelf(v) == element.type)
    return v;
  if (auto load = v.getDefiningOp<arith::ExtFOp>())
    return load.getIn();
  Type type = element.type;
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    type = vector.clone(type);
  return arith::TruncFOp::create(b.builder, b.loc, type, v);
}

/// Returns the operands of an operator whose result elements are elements of
/// its operands or zero (maximum, minimum, relu); nothing for other operators.
static ValueRange chosenFrom(Operation *op) {
  return isa_and_nonnull<ReluOp, MaximumOp, MinimumOp>(op)
             ? ValueRange(op->getOperands())
             : ValueRange();
}

/// Whether `v` is a constant with the same value in all elements.
static bool isNumber(Value v) {
  auto constant = v.getDefiningOp<ConstantOp>();
  auto values = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                         : DenseElementsAttr();
  return values && values.isSplat();
}

/// Whether `v` is a constant with the same value in all elements, and f16
/// represents that value exactly.
static bool isHalf(Value v) {
  if (!isNumber(v))
    return false;
  auto values =
      cast<DenseElementsAttr>(v.getDefiningOp<ConstantOp>().getValue());
  if (!isa<FloatType>(values.getElementType()))
    return false;
  bool losesInfo = true;
  APFloat value = values.getSplatValue<APFloat>();
  value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo;
}

static bool canRound(Value v, Value anchor);

/// Whether each element of the f32 tensor `v` is exactly representable in f16.
/// The elements of `anchor` are assumed to be.
static bool isExact(Value v, Value anchor) {
  if (v == anchor)
    return true;
  Operation *op = v.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return elementOf(cast.getX()).isF16() &&
           (isa<BlockArgument>(cast.getX()) ||
            (cast.getX().getDefiningOp<CastOp>() &&
             canRound(cast.getX().getDefiningOp<CastOp>().getX(), anchor)));
  ValueRange operands = chosenFrom(op);
  return !operands.empty() && llvm::all_of(operands, [&](Value x) {
    return isHalf(x) || isExact(x, anchor);
  });
}

/// Whether f16 operators give the same result as computing `v` in f32 and then
/// rounding it to f16, except for a few units in the last place of an activation.
/// The elements of `anchor` count as exact in f16.
static bool canRound(Value v, Value anchor) {
  Operation *op = v.getDefiningOp();
  if (isExact(v, anchor))
    return true;
  if (isa_and_nonnull<AddOp, SubOp, MulOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value x) { return isExact(x, anchor); });
  // In f16, these functions are precise to a few units in the last place, and
  // their large results are as precise as the rounded operand.
  if (anchor &&
      isa_and_nonnull<SigmoidOp, SwishOp, HardSigmoidOp, HardSwishOp>(op))
    return isExact(op->getOperand(0), anchor);
  ValueRange operands = chosenFrom(op);
  return !operands.empty() && llvm::all_of(operands, [&](Value x) {
    return isNumber(x) || canRound(x, anchor);
  });
}

bool roundsToHalves(KernelBuilder &b, Value anchor) {
  auto rounding = b.result().getDefiningOp<CastOp>();
  return rounding && elementOf(b.result()).isF16() &&
         elementOf(rounding.getX()).isF32() &&
         canRound(rounding.getX(), anchor);
}

ColumnVectors inHalves(const ColumnVectors &columns,
                       const TargetDescription &target) {
  int64_t most = target.vectorBytes.front() / 2;
  ColumnVectors result{{}, columns.columns};
  for (int64_t lanes : columns.lanes) {
    int64_t *last = result.lanes.empty() ? nullptr : &result.lanes.back();
    if (last && *last == lanes && 2 * lanes == most)
      *last = most;
    else
      result.lanes.push_back(lanes);
  }
  return result;
}

Expr zeroHalves(KernelBuilder &b, int64_t lanes) {
  Type half = b.builder.getF16Type();
  auto type = VectorType::get({lanes}, half);
  return b.wrap(
      arith::ConstantOp::create(b.builder, b.loc,
                                cast<TypedAttr>(b.builder.getZeroAttr(type))),
      half);
}

Expr lowestHalves(KernelBuilder &b, int64_t lanes) {
  Type half = b.builder.getF16Type();
  auto infinity = APFloat::getInf(APFloat::IEEEhalf(), /*Negative=*/true);
  auto lowest =
      DenseElementsAttr::get(VectorType::get({lanes}, half), infinity);
  return b.wrap(arith::ConstantOp::create(b.builder, b.loc, lowest), half);
}

Expr largerOfHalves(KernelBuilder &b, Expr x, Expr y) {
  return b.wrap(
      arith::MaxNumFOp::create(b.builder, b.loc, x.value, asStored(b, y)),
      x.type);
}

Expr biasHalves(KernelBuilder &b, Value bias, Expr first, int64_t lanes) {
  Type half = b.builder.getF16Type();
  int64_t wide = std::min(lanes, b.target.maxLanes(b.builder.getF32Type()));
  SmallVector<Value> parts;
  for (int64_t done = 0; done < lanes; done += wide) {
    Expr loaded = b.withLanes(wide, [&] {
      return b.load(bias, {done ? first + double(done) : first});
    });
    parts.push_back(arith::TruncFOp::create(b.builder, b.loc,
                                            VectorType::get({wide}, half),
                                            b.broadcast(loaded, wide).value));
  }
  Value all = parts[0];
  if (parts.size() == 2)
    all = vector::ShuffleOp::create(
        b.builder, b.loc, parts[0], parts[1],
        llvm::to_vector(llvm::seq<int64_t>(0, lanes)));
  return named(b.wrap(all, half), "bias");
}

Tile halvesTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns) {
  Tile tile{rows, columns, {}};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t lanes : columns.lanes)
      tile.sums.push_back(zeroHalves(b, lanes));
  return tile;
}

bool addsStagesInHalves(ConvOp conv, const DotForm &form) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  return form.stage && form.group == 1 &&
         ShapedType::getNumElements(w.drop_back()) > w.end()[-2];
}

DotForm stagesOf(DotForm form, int64_t steps) {
  if (steps <= form.stage)
    form.stage = 0;
  return form;
}

Expr sumOfHalves(KernelBuilder &b, Expr x, Expr y) {
  return b.wrap(arith::AddFOp::create(b.builder, b.loc, x.value, y.value),
                x.type);
}

void addInHalves(KernelBuilder &b, Tile &tile, const Tile &more) {
  for (auto [sum, other] : llvm::zip(tile.sums, more.sums))
    sum = sumOfHalves(b, sum, other);
}

void addBiasInHalves(KernelBuilder &b, Tile &tile, Value bias,
                     Expr firstColumn) {
  int64_t column = 0;
  for (auto [v, lanes] : llvm::enumerate(tile.columns.lanes)) {
    Expr part = biasHalves(
        b, bias, column ? firstColumn + double(column) : firstColumn, lanes);
    column += lanes;
    for (int64_t row = 0; row < tile.rows; ++row) {
      Expr &sum = tile.at(row, v);
      sum = sumOfHalves(b, sum, part);
    }
  }
}

Expr widened(KernelBuilder &b, Expr halves) {
  auto type = cast<VectorType>(halves.value.getType());
  Type wide = b.builder.getF32Type();
  return b.wrap(
      arith::ExtFOp::create(b.builder, b.loc, type.clone(wide), halves.value),
      wide);
}

Tile widened(KernelBuilder &b, const Tile &tile) {
  Tile result{tile.rows, tile.columns, {}};
  for (Expr sum : tile.sums)
    result.sums.push_back(widened(b, sum));
  return result;
}

Tile widened(KernelBuilder &b, const Tile &tile, const ColumnVectors &columns) {
  Tile result{tile.rows, columns, {}};
  ArrayRef<int64_t> halves = tile.columns.lanes;
  for (int64_t row = 0; row < tile.rows; ++row) {
    size_t vector = 0;
    int64_t first = 0;
    for (auto [v, lanes] : llvm::enumerate(columns.lanes)) {
      Expr half =
          lanesOf(b, tile.sums[row * halves.size() + vector], first, lanes);
      result.sums.push_back(
          named(widened(b, half), result.nameAt("sum", row, v)));
      first += lanes;
      if (first == halves[vector]) {
        ++vector;
        first = 0;
      }
    }
  }
  return result;
}

Expr fmaOfHalves(KernelBuilder &b, Expr x, Expr y, Expr sum) {
  return b.wrap(kernel::DotOp::create(b.builder, b.loc, sum.value.getType(),
                                      asStored(b, x), asStored(b, y), sum.value,
                                      false, false),
                sum.type);
}

Value addHalves(KernelBuilder &b, Value sum, Value halves, int64_t group) {
  int64_t count = cast<VectorType>(halves.getType()).getNumElements();
  for (int64_t first = 0; first < group; ++first) {
    SmallVector<int64_t> lanes;
    for (int64_t lane = first; lane < count; lane += group)
      lanes.push_back(lane);
    Value steps =
        isa<VectorType>(sum.getType())
            ? vector::ShuffleOp::create(b.builder, b.loc, halves, halves, lanes)
                  .getResult()
            : vector::ExtractOp::create(b.builder, b.loc, halves, first)
                  .getResult();
    Value wide = arith::ExtFOp::create(b.builder, b.loc, sum.getType(), steps);
    sum = arith::AddFOp::create(b.builder, b.loc, sum, wide);
  }
  return sum;
}

} // namespace ingot::schedule
