// Definitions of recurrent layers.

#include "dialects/graph/ops/Recurrent.h"

#include "dialects/graph/ExprNames.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// Emits the code that RNN, GRU and LSTM have in common.
template <typename OpT> class Recurrence {
public:
  Recurrence(OpT op, BodyBuilder &b, const NarrowProduct *narrow)
      : op(op), b(b), narrow(narrow), hidden(shapeOf(op.getH0())[1]),
        scratch(b.outputs.back()), real(elementOf(op.getScratch())) {}

  /// Emits loops over the time steps of all sequences, and calls `cell(t,
  /// batch)` for one step of one sequence. After the end of a sequence (operand
  /// `lengths`), stores zeros instead. The steps are from the first to the last
  /// or, if `reverse`, from the last to the first.
  void steps(llvm::function_ref<void(Expr, Expr)> cell) {
    Dim time = dimsOf(op.getGates())[0], batch = dimsOf(op.getGates())[1];
    b.forRange(b.index(0), b.size(time), [&](Expr step) {
      named(step, "step");
      Expr t = named(op.getReverse() ? b.size(time - 1) - step : step, "time");
      b.forEach(batch, [&](ArrayRef<Expr> at) {
        named(at[0], "batch");
        if (!op.getLengths())
          return cell(t, at[0]);
        Expr length = named(convert(b.loadScalar(op.getLengths(), at),
                                    b.builder.getIndexType()),
                            "length");
        b.when(t < length, [&] { cell(t, at[0]); });
        b.when(t >= length, [&] {
          b.forLanes(hidden, [&](Expr i) {
            b.store(0, b.broadcast(b.constant(0, real), b.lanes()),
                    {t, at[0], i});
          });
        });
      });
    });
  }

  void copyState(Value from, unsigned to) {
    b.forEach(ArrayRef(dimsOf(from)).drop_back(), [&](ArrayRef<Expr> at) {
      named(at[0], "batch");
      b.forLanes(hidden, [&](Expr i) {
        b.store(to, b.load(from, {at[0], i}), {at[0], i});
      });
    });
  }

  Expr state(Expr batch, Expr i) {
    return convert(b.loadOutput(1, elementOf(op.getH()), {batch, i}), real);
  }
  Expr input(Expr t, Expr batch, Expr column) {
    return convert(b.load(op.getGates(), {t, batch, column}), real);
  }
  /// Returns the value of gate `gate` for hidden element `i`, from `scratch`,
  /// which has one row for all gates.
  Expr gate(int64_t gate, Expr i) {
    return b.loadFrom(scratch, real, {column(gate, i)});
  }
  Expr column(int64_t gate, Expr i) {
    return gate == 0 ? i
                     : named(i + static_cast<double>(gate * hidden),
                             "column_" + llvm::Twine(gate));
  }

  /// Computes scratch[column] = start(column) + sum over k of x(k) * r[k,
  /// column] for the columns of gates [first, first + count), at step `t`. `x`
  /// loads as many elements as the builder has lanes; they are rounded to the
  /// type of narrow weights.
  void product(Expr t, int64_t first, int64_t count,
               llvm::function_ref<Expr(Expr)> start,
               llvm::function_ref<Expr(Expr)> x) {
    Type weights = elementOf(op.getR());
    auto factor = [&](Expr k) {
      return named(weights == elementOf(op.getGates())
                       ? x(k)
                       : convert(convert(x(k), weights), real),
                   "state");
    };
    int64_t lanes = b.vectorLanes, block = lanes * BodyBuilder::sumsAtOnce,
            begin = first * hidden, blocks = count * hidden / block;
    // If the weights were packed in panels of `block` columns (each stored as a
    // kernel reads it), they are read contiguously.
    auto packed = op.getR().template getDefiningOp<UnpackPanelsOp>();
    bool inPanels = packed && int64_t(packed.getPanel()) == block &&
                    begin % block == 0 && count * hidden % block == 0;
    auto columns = [&](Expr panel, Expr at, int64_t many) {
      Exprs sums;
      auto offset = [&](int64_t v) {
        return v == 0 ? at
                      : named(at + static_cast<double>(v * b.lanes()),
                              "column_" + llvm::Twine(v));
      };
      auto weight = [&](Expr k, int64_t v) {
        if (!inPanels)
          return b.load(op.getR(), {k, offset(v)});
        Expr row = (panel + double(begin / block)) * double(hidden) + k;
        return b.load(
            packed.getPacked(),
            {named(row * double(block), "weights_of_row") + double(v * lanes)});
      };
      for (int64_t v = 0; v < many; ++v)
        sums.push_back(b.broadcast(start(offset(v)), b.lanes()));
      auto storeSums = [&] {
        for (int64_t v = 0; v < many; ++v)
          b.store(scratch, sums[v], {offset(v)});
      };
      if (narrow) {
        sums = narrow->addPanel(panel + double(begin / block), sums);
        return storeSums();
      }
      int64_t factors =
          many > 1 && hidden % b.factorLanes == 0 ? b.factorLanes : 1;
      auto addRow = [&](Expr k, Expr state, Exprs &carried) {
        Expr factor = b.broadcast(state, b.lanes());
        for (int64_t v = 0; v < many; ++v)
          carried[v] =
              named(fma(factor, convert(weight(k, v), real), carried[v]),
                    many == 1 ? "sum" : "sum_" + llvm::Twine(v));
      };
      sums = b.loop(
          b.index(0), b.index(hidden), factors, sums,
          [&](Expr k, ArrayRef<Expr> carried) -> Exprs {
            named(k, "hidden");
            Expr states;
            (void)b.withLanes(factors, [&] { return states = factor(k); });
            Exprs next(carried.begin(), carried.end());
            if (factors == 1)
              addRow(k, states, next);
            else
              for (int64_t lane = 0; lane < factors; ++lane)
                addRow(named(k + double(lane), "hidden_" + llvm::Twine(lane)),
                       b.wrap(vector::ExtractOp::create(b.builder, b.loc,
                                                        states.value, lane),
                              states.type),
                       next);
            return next;
          });
      storeSums();
    };
    auto panels = [&] {
      // A thread reads the same panels (blocks of columns) of the weights in
      // each time step. With `alternates`, it reverses their order in every
      // other step, since the panels that it read last are still cached.
      b.forShared(blocks, [&](Expr from, Expr to) {
        b.forRange(from, to, [&](Expr panel) {
          named(panel, "panel");
          if (b.alternates)
            panel = named(
                select(equal(t % 2.0, 0.0), panel, from + (to - 1.0) - panel),
                "alternating_panel");
          columns(panel, named(panel * double(block) + double(begin), "column"),
                  BodyBuilder::sumsAtOnce);
        });
      });
    };
    auto inPlace = [&] {
      b.loop(b.index(begin), b.index(begin + blocks * block), block, {},
             [&](Expr at, ArrayRef<Expr>) -> Exprs {
               columns({}, named(at, "column"), BodyBuilder::sumsAtOnce);
               return {};
             });
    };
    if (narrow)
      b.forLanes(hidden, [&](Expr k) { b.store(narrow->state, x(k), {k}); });
    if (blocks > 0)
      (void)b.withLanes(lanes, [&]() -> Expr {
        inPanels ? panels() : inPlace();
        return {};
      });
    b.forLanes(count * hidden - blocks * block, [&](Expr i) {
      columns({}, named(i + double(begin + blocks * block), "column"), 1);
    });
  }

  Expr activate(unsigned which, Expr x) {
    double alpha = op.getAlpha()[which], beta = op.getBeta()[which];
    // Like ONNX Runtime, clips the input of every activation function except
    // that of the cell state of an LSTM.
    if (op.getClip() && which < 2) {
      double clip = op.getClip()->convertToDouble();
      x = min(max(x, -clip), clip);
    }
    StringRef name = cast<StringAttr>(op.getActivations()[which]).getValue();
    if (name == "Sigmoid")
      return sigmoid(x);
    if (name == "Tanh")
      return tanh(x);
    if (name == "Relu")
      return max(x, 0.0);
    if (name == "Affine")
      return x * alpha + beta;
    if (name == "LeakyRelu")
      return select(x < 0.0, x * alpha, x);
    if (name == "ThresholdedRelu")
      return select(x > alpha, x, 0.0);
    if (name == "ScaledTanh")
      return tanh(x * beta) * alpha;
    if (name == "HardSigmoid")
      return min(max(x * alpha + beta, 0.0), 1.0);
    if (name == "Elu")
      return select(x < 0.0, expm1(x) * alpha, x);
    if (name == "Softsign")
      return x / (abs(x) + 1.0);
    assert(name == "Softplus" && "the verifier knows the activations");
    return max(x, 0.0) + log1p(exp(-abs(x)));
  }

  void storeStep(Expr t, Expr batch, Expr i, Expr x) {
    b.store(0, convert(x, elementOf(op.getY())), {t, batch, i});
    b.store(1, convert(x, elementOf(op.getH())), {batch, i});
  }

  OpT op;
  BodyBuilder &b;
  const NarrowProduct *narrow;
  int64_t hidden;
  Value scratch;
  Type real;
};

} // namespace

/// The activations that `Recurrence::activate` supports.
static constexpr StringLiteral activationNames[] = {
    "Sigmoid",         "Tanh",       "Relu",        "Affine", "LeakyRelu",
    "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu",    "Softsign",
    "Softplus"};

/// Fails unless `x` has these sizes; an absent operand (null) has any sizes.
static LogicalResult hasSizes(TypeRule &rule, Value x, ArrayRef<Dim> sizes,
                              StringRef what) {
  if (!x || ArrayRef<Dim>(dimsOf(x)) == sizes)
    return success();
  return rule.refuse(
      "has " + what + " of '" + debugString(x.getType()) +
      "', not of the shape [" +
      llvm::join(llvm::map_range(sizes, kernel::sizeText), ", ") + "]");
}

/// The type rule of a recurrent operator that has `gates` gates and takes the
/// names of `activations` activation functions. `hasCell`: whether it has a
/// second state, the cell of an LSTM.
template <typename OpAdaptor>
static LogicalResult cellTypes(OpAdaptor op, TypeRule &rule, int64_t gates,
                               size_t activations, bool hasCell = false) {
  Value x = op.getGates(), h0 = op.getH0();
  if (shapeOf(x).size() != 3 || shapeOf(h0).size() != 2)
    return rule.refuse("needs gates [time, batch, gates * hidden] and a state "
                       "[batch, hidden]");
  Dim time = dimsOf(x)[0], batch = dimsOf(x)[1];
  int64_t hidden = shapeOf(h0)[1], width = gates * hidden;
  bool isNarrow = elementOf(x).isF32() && elementOf(op.getR()).isBF16();
  if (failed(rule.alike({x, isNarrow ? x : op.getR(), h0})) ||
      failed(hasSizes(rule, x, {time, batch, width}, "gates")) ||
      failed(rule.shape(op.getR(), {hidden, width}, "recurrent weights")) ||
      failed(hasSizes(rule, h0, {batch, hidden}, "a state")) ||
      failed(hasSizes(rule, op.getLengths(), batch, "lengths")))
    return failure();
  if (op.getActivations().size() != activations ||
      op.getAlpha().size() != activations || op.getBeta().size() != activations)
    return rule.refuse("does not have " + Twine(activations) +
                       " activations with alpha and beta");
  for (StringAttr name : op.getActivations().template getAsRange<StringAttr>())
    if (!llvm::is_contained(activationNames, name.getValue()))
      return rule.refuse("has the unknown activation `" + name.getValue() +
                         "`");
  (void)rule.result(ArrayRef<Dim>{time, batch, hidden}, elementOf(x));
  for (int state = 0; state < (hasCell ? 2 : 1); ++state)
    (void)rule.result(h0);
  return rule.result(width, realType(x));
}

LogicalResult RNNOp::inferTypes(Adaptor op, TypeRule &rule) {
  return cellTypes(op, rule, 1, 1);
}
LogicalResult GRUOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(cellTypes(op, rule, 3, 2)) ||
      failed(rule.alike({op.getGates(), op.getBias()})))
    return failure();
  return rule.shape(op.getBias(), shapeOf(op.getH0()).back(), "a bias");
}
LogicalResult LSTMOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(cellTypes(op, rule, 4, 3, /*hasCell=*/true)) ||
      failed(rule.alike({op.getGates(), op.getC0(), op.getPeepholes()})) ||
      failed(hasSizes(rule, op.getC0(), dimsOf(op.getH0()), "a cell")))
    return failure();
  return rule.shape(op.getPeepholes(), 3 * shapeOf(op.getH0()).back(),
                    "peepholes");
}

static void emit(RNNOp op, BodyBuilder &b, const NarrowProduct *narrow) {
  Recurrence<RNNOp> r(op, b, narrow);
  r.copyState(op.getH0(), 1);
  r.steps([&](Expr t, Expr batch) {
    r.product(
        t, 0, 1, [&](Expr column) { return r.input(t, batch, column); },
        [&](Expr k) { return r.state(batch, k); });
    b.forLanes(r.hidden, [&](Expr i) {
      r.storeStep(t, batch, i, r.activate(0, r.gate(0, i)));
    });
  });
}

static void emit(GRUOp op, BodyBuilder &b, const NarrowProduct *narrow) {
  Recurrence<GRUOp> r(op, b, narrow);
  r.copyState(op.getH0(), 1);
  auto input = [&](Expr t, Expr batch) {
    return [&, t, batch](Expr column) { return r.input(t, batch, column); };
  };
  r.steps([&](Expr t, Expr batch) {
    auto state = [&](Expr k) { return r.state(batch, k); };
    r.product(t, 0, 2, input(t, batch), state);
    if (op.getBias()) {
      // Computes only the term of the candidate state that depends on the
      // previous state. The term that depends on the input is added after the
      // multiplication by the reset gate.
      r.product(
          t, 2, 1,
          [&](Expr column) {
            return convert(b.load(op.getBias(),
                                  {column - static_cast<double>(2 * r.hidden)}),
                           r.real);
          },
          state);
    } else {
      // Overwrites the reset gate in `scratch` by the product of reset gate and
      // previous state.
      b.forLanes(r.hidden, [&](Expr i) {
        b.store(r.scratch, r.activate(0, r.gate(1, i)) * r.state(batch, i),
                {r.column(1, i)});
      });
      r.product(t, 2, 1, input(t, batch), [&](Expr k) { return r.gate(1, k); });
    }
    b.forLanes(r.hidden, [&](Expr i) {
      Expr z = named(r.activate(0, r.gate(0, i)), "update"),
           candidate = r.gate(2, i);
      if (op.getBias())
        candidate = fma(r.activate(0, r.gate(1, i)), candidate,
                        r.input(t, batch, r.column(2, i)));
      candidate = named(r.activate(1, candidate), "candidate");
      r.storeStep(t, batch, i, (1.0 - z) * candidate + z * r.state(batch, i));
    });
  });
}

static void emit(LSTMOp op, BodyBuilder &b, const NarrowProduct *narrow) {
  Recurrence<LSTMOp> r(op, b, narrow);
  r.copyState(op.getH0(), 1);
  r.copyState(op.getC0(), 2);
  Type cellType = elementOf(op.getC());
  r.steps([&](Expr t, Expr batch) {
    r.product(
        t, 0, 4, [&](Expr column) { return r.input(t, batch, column); },
        [&](Expr k) { return r.state(batch, k); });
    b.forLanes(r.hidden, [&](Expr i) {
      Expr cell =
          named(convert(b.loadOutput(2, cellType, {batch, i}), r.real), "cell");
      auto peep = [&](int64_t gate, Expr x, Expr at) {
        return op.getPeepholes()
                   ? fma(convert(b.load(op.getPeepholes(), {r.column(gate, i)}),
                                 r.real),
                         at, x)
                   : x;
      };
      Expr in = named(r.activate(0, peep(0, r.gate(0, i), cell)), "input_gate");
      Expr forget = named(op.getInputForget()
                              ? 1.0 - in
                              : r.activate(0, peep(2, r.gate(2, i), cell)),
                          "forget_gate");
      Expr candidate = named(r.activate(1, r.gate(3, i)), "candidate");
      Expr next = named(forget * cell + in * candidate, "next_cell");
      Expr out =
          named(r.activate(0, peep(1, r.gate(1, i), next)), "output_gate");
      b.store(2, convert(next, cellType), {batch, i});
      r.storeStep(t, batch, i, named(out * r.activate(2, next), "next_state"));
    });
  });
}

void emitRecurrence(Operation *layer, BodyBuilder &b,
                    const NarrowProduct *narrow) {
  llvm::TypeSwitch<Operation *>(layer).Case<RNNOp, GRUOp, LSTMOp>(
      [&](auto op) { emit(op, b, narrow); });
}

void RNNOp::emitBody(BodyBuilder &b) { emitRecurrence(*this, b); }
void GRUOp::emitBody(BodyBuilder &b) { emitRecurrence(*this, b); }
void LSTMOp::emitBody(BodyBuilder &b) { emitRecurrence(*this, b); }

} // namespace ingot::graph
