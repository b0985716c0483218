// Base classes of operators; includes the operators of all families.

#ifndef INGOT_GRAPH_OPS_TD
#define INGOT_GRAPH_OPS_TD

include "dialects/graph/GraphDialect.td"
include "dialects/graph/GraphInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

def Graph_Tensor : StaticShapeTensorOf<[AnyType]>;
def Graph_Floats : StaticShapeTensorOf<[AnyFloat]>;
/// Signed and unsigned integers, and booleans (i1).
def Graph_Integers : StaticShapeTensorOf<[AnyInteger]>;
def Graph_Truths : StaticShapeTensorOf<[I1]>;

/// A list of constant and dynamic sizes.
def Graph_SizesAttr : Attr<CPred<"::llvm::isa<::ingot::kernel::SizesAttr>($_self)">, "sizes"> {
  let storageType = "::ingot::kernel::SizesAttr";
  let returnType = "::ingot::kernel::SizesAttr";
  let convertFromStorage = "$_self";
}

/// A string that is one of `names`.
class Graph_Choice<list<string> names> : ConfinedAttr<StrAttr, [AttrConstraint<
    CPred<"::llvm::is_contained({" # !interleave(!foreach(name, names, "\"" # name # "\""), ", ") #
          "}, ::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "that is one of: " # !interleave(names, ", ")>]>;

/// Verifies an operator by its type rule `inferTypes` (TypeRule.h). If the
/// operands do not determine a result type, the rule reads it from the
/// operator.
def Graph_StatedTypes : NativeOpTrait<"TypedByRule", [], [{
    static ::llvm::LogicalResult inferTypes(Adaptor op, ::ingot::graph::TypeRule &rule);
  }]> {
  let cppNamespace = "::ingot::graph";
}
def Graph_BuildersByRule : NativeOpTrait<"InfersTypes", [], [{}], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> loc, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      ::ingot::graph::TypeRule rule(getOperationName(), loc);
      if (failed(inferTypes(Adaptor(operands, attributes, properties, regions), rule)))
        return ::llvm::failure();
      types.assign(rule.results().begin(), rule.results().end());
      return ::llvm::success();
    }
  }]> {
  let cppNamespace = "::ingot::graph";
}
/// Verifies an operator by its type rule, like Graph_StatedTypes. Operands and
/// attributes determine all result types, so builders take none.
def Graph_InferredTypes
    : TraitList<[Graph_StatedTypes, DeclareOpInterfaceMethods<InferTypeOpInterface>, Graph_BuildersByRule]>;

/// Marks operators whose type rule and definition (the code that computes their
/// elements) support dynamic sizes.
def Graph_DynamicSizes : NativeOpTrait<"DynamicSizes"> {
  let cppNamespace = "::ingot::graph";
}

/// Marks operators whose result is stored in the memory of their first operand,
/// a state or the result of another such operator.
def Graph_InPlace : NativeOpTrait<"InPlace"> {
  let cppNamespace = "::ingot::graph";
}

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An operator with one result. Its definition is the code that computes a
/// single element of that result.
class Graph_ElementOp<string mnemonic, list<Trait> traits = [], Trait types = Graph_InferredTypes>
    : Graph_Op<mnemonic, !listconcat([Pure, types], traits)> {
  let results = (outs Graph_Tensor:$result);
}

/// An operator whose definition is code that writes the whole results.
class Graph_BodyOp<string mnemonic, list<Trait> traits = [], Trait types = Graph_InferredTypes>
    : Graph_Op<mnemonic, !listconcat([Pure, types, DeclareOpInterfaceMethods<BodyOpInterface>], traits)>;

include "dialects/graph/ops/Elementwise.td"
include "dialects/graph/ops/Movement.td"
include "dialects/graph/ops/Indexing.td"
include "dialects/graph/ops/Resample.td"
include "dialects/graph/ops/Recurrent.td"
include "dialects/graph/ops/Forest.td"
include "dialects/graph/ops/Reduction.td"
include "dialects/graph/ops/Contraction.td"
include "dialects/graph/ops/Window.td"
include "dialects/graph/ops/Normalization.td"
include "dialects/graph/ops/Random.td"
include "dialects/graph/ops/Strings.td"
include "dialects/graph/ops/Structure.td"

#endif // INGOT_GRAPH_OPS_TD
