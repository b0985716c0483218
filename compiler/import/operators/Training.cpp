// Imports the optimizers of ai.onnx.preview.training.
//
// One step of an optimizer is elementwise. It updates any number of tensors x,
// each with its gradient and one or two optimizer states:
//
//   g = gradient + norm_coefficient * x,  new states,  new x

#include "compiler/import/operators/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// The operands of an optimizer node, and arithmetic on them.
class Optimizer {
public:
  /// `kinds` is the number of inputs for each tensor: the tensor, its gradient,
  /// and its states.
  Optimizer(OnnxNode &node, unsigned kinds)
      : node(node), kinds(kinds), count((node.numInputs() - 2) / kinds) {}

  LogicalResult check() {
    if (node.numInputs() < 2 + kinds || (node.numInputs() - 2) % kinds)
      return node.invalid("the inputs must be R, T and " + Twine(kinds) +
                          " inputs for each optimized tensor");
    for (unsigned i = 0; i < count; ++i)
      for (unsigned kind = 1; kind < kinds; ++kind)
        if (Value other = node.input(2 + kind * count + i);
            (hasDynamicSizes(other.getType()) &&
             failed(node.requireAlike(
                 other, x(i),
                 "the shapes of the tensors that belong together"))) ||
            other.getType() != x(i).getType())
          return node.invalid("input " + Twine(2 + kind * count + i) +
                              " belongs to input " + Twine(2 + i) +
                              ", but differs from it in shape or type");
    return success();
  }
  Value x(unsigned i) const { return node.input(2 + i); }
  Value running(unsigned i, unsigned which = 0) const {
    return node.input(2 + (2 + which) * count + i);
  }
  /// Returns `value` as a scalar constant of the element type of `like`.
  Value number(double value, Value like) {
    return node.scalarConstant(value, elementOf(like));
  }
  Value scaled(double factor, Value a) { return node.mul(factor, a); }
  Value root(Value a) { return node.elementwise<SqrtOp>(a); }

  Value gradient(unsigned i) {
    return node.add(scaled(node.floatAttr("norm_coefficient", 0), x(i)),
                    node.input(2 + count + i));
  }
  /// Return the learning rate (input 0) and the step number (input 1), in the
  /// element type of `like`.
  Value rate(Value like) { return node.cast(node.input(0), elementOf(like)); }
  Value step(Value like) { return node.cast(node.input(1), elementOf(like)); }
  /// Returns `first` in the first step, `later` in all others.
  Value unlessFirst(Value later, Value first) {
    return node.where(node.greater(node.input(1), 0), later, first);
  }

  OnnxNode &node;
  unsigned kinds, count;
};

} // namespace

/// Returns the results of an optimizer node: the new values of all tensors,
/// then, for each kind of state, the new states of all tensors.
static ImportResult results(ArrayRef<SmallVector<Value>> kinds) {
  SmallVector<Value> all;
  for (const SmallVector<Value> &kind : kinds)
    llvm::append_range(all, kind);
  return all;
}

static ImportResult importAdagrad(OnnxNode &node) {
  Optimizer o(node, 3);
  if (failed(o.check()))
    return failure();
  SmallVector<Value> tensors, squares;
  for (unsigned i = 0; i < o.count; ++i) {
    Value x = o.x(i), g = o.gradient(i);
    Value decay =
        node.add(1, o.scaled(node.floatAttr("decay_factor", 0), o.step(x)));
    squares.push_back(node.add(o.running(i), node.mul(g, g)));
    Value width = node.add(o.root(squares[i]), node.floatAttr("epsilon", 0));
    tensors.push_back(
        node.sub(x, node.div(node.mul(node.div(o.rate(x), decay), g), width)));
  }
  return results({tensors, squares});
}

static ImportResult importAdam(OnnxNode &node) {
  Optimizer o(node, 4);
  if (failed(o.check()))
    return failure();
  double alpha = node.floatAttr("alpha", 0.9),
         beta = node.floatAttr("beta", 0.999);
  SmallVector<Value> tensors, means, squares;
  for (unsigned i = 0; i < o.count; ++i) {
    Value x = o.x(i), g = o.gradient(i);
    auto left = [&](double decay) {
      return node.sub(1, node.pow(decay, o.step(x)));
    };
    Value rate = o.unlessFirst(
        node.div(node.mul(o.rate(x), o.root(left(beta))), left(alpha)),
        o.rate(x));
    means.push_back(
        node.add(o.scaled(alpha, o.running(i)), o.scaled(1 - alpha, g)));
    squares.push_back(node.add(o.scaled(beta, o.running(i, 1)),
                               o.scaled(1 - beta, node.mul(g, g))));
    Value width = node.add(o.root(squares[i]), node.floatAttr("epsilon", 0));
    Value moved = node.sub(x, node.div(node.mul(rate, means[i]), width));
    tensors.push_back(
        o.scaled(1 - node.floatAttr("norm_coefficient_post", 0), moved));
  }
  return results({tensors, means, squares});
}

static ImportResult importMomentum(OnnxNode &node) {
  Optimizer o(node, 3);
  if (failed(o.check()))
    return failure();
  std::string mode = node.stringAttr("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return node.invalid("unknown mode `" + mode + "`");
  double alpha = node.floatAttr("alpha", 0), beta = node.floatAttr("beta", 0);
  SmallVector<Value> tensors, momenta;
  for (unsigned i = 0; i < o.count; ++i) {
    Value x = o.x(i), g = o.gradient(i);
    Value share = o.unlessFirst(o.number(beta, x), o.number(1, x));
    momenta.push_back(
        node.add(o.scaled(alpha, o.running(i)), node.mul(share, g)));
    Value way = mode == "standard" ? momenta[i]
                                   : node.add(g, o.scaled(alpha, momenta[i]));
    tensors.push_back(node.sub(x, node.mul(o.rate(x), way)));
  }
  return results({tensors, momenta});
}

void registerTrainingImports(OnnxRegistry &registry) {
  StringRef domain = "ai.onnx.preview.training";
  registry.add("Adagrad", importAdagrad, "", domain);
  registry.add("Adam", importAdam, "", domain);
  registry.add("Momentum", importMomentum, "", domain);
}

} // namespace ingot::graph
