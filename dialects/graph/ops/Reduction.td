// Reductions and scans.
//
// A reduction is one record with four code fragments: the initial value of the
// accumulator, how an element is added to it, how two accumulators are merged,
// and how the accumulator becomes the result. Reduced axes keep size 1 (a
// reshape drops them), so that changes of layout can be moved through a
// reduction.

/// Each fragment is the body of a C++ function with the parameter
/// ElementBuilder &b and further parameters: `init` has the element type
/// `type`; `combine` has the accumulator `acc` and the element `x`; `merge` has
/// two accumulators `acc` and `x`; `finish` has the accumulator `acc` and the
/// number `count` of elements.
class Graph_Reduction<string mnemonic, code init, code combine, code merge = combine, code finish = "return acc;">
    : Graph_ElementOp<mnemonic, [Graph_DynamicSizes,
                                 DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>,
                                 DeclareOpInterfaceMethods<ReductionOpInterface, ["init", "combine", "merge", "finish"]>,
                                 DeclareOpInterfaceMethods<PermuteOpInterface>]> {
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$axes);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferTypes(Adaptor op, ::ingot::graph::TypeRule &rule) {
      return rule.reduction(op.getInput(), op.getAxes(), elementOf(op.getInput()));
    }
    ::ingot::graph::Expr $cppClass::emitElement(::ingot::graph::ElementBuilder &b, ::llvm::ArrayRef<::ingot::graph::Expr> idx) {
      return ::ingot::graph::emitReduction(*this, b, idx);
    }
    bool $cppClass::passesLanes() {
      return getAxes().empty() || getAxes().back() + 1 != static_cast<int64_t>(shapeOf(getInput()).size());
    }
    bool $cppClass::isCheap() { return false; }
    ::mlir::Operation *$cppClass::buildPermuted(::mlir::OpBuilder &builder, ::llvm::ArrayRef<int64_t> perm, ::mlir::ValueRange operands) {
      return ::ingot::graph::buildPermutedAxes(*this, builder, perm, operands);
    }
    ::ingot::graph::Expr $cppClass::init(::ingot::graph::ElementBuilder &b) {
      [[maybe_unused]] ::mlir::Type type = elementOf(getInput());
      }] # init # [{
    }
    ::ingot::graph::Expr $cppClass::combine(::ingot::graph::ElementBuilder &b, ::ingot::graph::Expr acc, ::ingot::graph::Expr x) {
      }] # combine # [{
    }
    ::ingot::graph::Expr $cppClass::merge(::ingot::graph::ElementBuilder &b, ::ingot::graph::Expr acc, ::ingot::graph::Expr x) {
      }] # merge # [{
    }
    ::ingot::graph::Expr $cppClass::finish(::ingot::graph::ElementBuilder &b, ::ingot::graph::Expr acc, const ::ingot::graph::Dim &count) {
      }] # finish # [{
    }
  }];
}

def Graph_ReduceSumOp : Graph_Reduction<"reduce_sum", [{ return b.constant(0, type); }], [{ return acc + x; }]>;
def Graph_ReduceMeanOp : Graph_Reduction<"reduce_mean", [{ return b.constant(0, type); }], [{ return acc + x; }],
    [{ return acc + x; }],
    [{ return meanOf(acc, count); }]>;
def Graph_ReduceProdOp : Graph_Reduction<"reduce_prod", [{ return b.constant(1, type); }], [{ return acc * x; }]>;
def Graph_ReduceMaxOp : Graph_Reduction<"reduce_max", [{ return lowest(b, type); }], [{ return max(acc, x); }]>;
def Graph_ReduceMinOp : Graph_Reduction<"reduce_min", [{ return highest(b, type); }], [{ return min(acc, x); }]>;
def Graph_ReduceL1Op : Graph_Reduction<"reduce_l1", [{ return b.constant(0, type); }], [{ return acc + abs(x); }],
    [{ return acc + x; }]>;
def Graph_ReduceSumSquareOp : Graph_Reduction<"reduce_sum_square", [{ return b.constant(0, type); }],
    [{ return fma(x, x, acc); }], [{ return acc + x; }]>;
def Graph_ReduceL2Op : Graph_Reduction<"reduce_l2", [{ return b.constant(0, type); }],
    [{ return fma(x, x, acc); }], [{ return acc + x; }],
    [{
      if (isa<FloatType>(acc.type))
        return sqrt(acc);
      return convert(sqrt(convert(acc, b.builder.getF64Type())), acc.type);
    }]>;
def Graph_ReduceLogSumOp : Graph_Reduction<"reduce_log_sum", [{ return b.constant(0, type); }], [{ return acc + x; }],
    [{ return acc + x; }],
    [{
      if (isa<FloatType>(acc.type))
        return log(acc);
      return convert(log(convert(acc, b.builder.getF64Type())), acc.type);
    }]>;

/// Returns the position of the extreme element along `axis`, which keeps size
/// 1. If several elements are equally extreme, returns the position of the
/// first or, with `last`, of the last. NaN counts as the most extreme.
class Graph_ArgReduction<string mnemonic>
    : Graph_ElementOp<mnemonic, [Graph_DynamicSizes,
                                 DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>,
                                 DeclareOpInterfaceMethods<PermuteOpInterface>]> {
  let arguments = (ins Graph_Tensor:$input, I64Attr:$axis, BoolAttr:$last);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferTypes(Adaptor op, ::ingot::graph::TypeRule &rule) {
      int64_t axis = op.getAxis();
      auto position = ::mlir::IntegerType::get(op.getInput().getContext(), 64, ::mlir::IntegerType::Signed);
      if (failed(rule.reduction(op.getInput(), axis, position)))
        return ::llvm::failure();
      return rule.require(shapeOf(op.getInput())[axis] != 0, "has an axis without elements");
    }
  }];
}
def Graph_ArgMaxOp : Graph_ArgReduction<"arg_max">;
def Graph_ArgMinOp : Graph_ArgReduction<"arg_min">;

/// Running sums or products along `axis`. With `exclusive`, a result does not
/// include the element at its own position; with `reverse`, the scan starts at
/// the end.
class Graph_Scan<string mnemonic>
    : Graph_BodyOp<mnemonic, [Graph_DynamicSizes, DeclareOpInterfaceMethods<PermuteOpInterface>]> {
  let arguments = (ins Graph_Tensor:$input, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
  let results = (outs Graph_Tensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferTypes(Adaptor op, ::ingot::graph::TypeRule &rule) {
      return rule.along(op.getAxis(), op.getInput());
    }
  }];
}
def Graph_CumSumOp : Graph_Scan<"cum_sum">;
def Graph_CumProdOp : Graph_Scan<"cum_prod">;
