// Sizes that are known only at run time, as attributes.

#ifndef INGOT_DIALECTS_KERNEL_SIZES_TD
#define INGOT_DIALECTS_KERNEL_SIZES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Kernel_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Kernel_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def Kernel_SymbolAttr : Kernel_Attr<"Symbol", "symbol"> {
  let summary = "A size that is known only at run time, and its bounds";
  let description = [{
    At least `least` and at most `most`; a model has one symbol of a name.

        #kernel.symbol<"batch" in 1 to 64>

    A symbol that is not given to the run but follows from other sizes in a way that
    affine expressions cannot state has a choice and its operands: the smaller or the
    larger of two sizes, one of two sizes by a comparison of two others, or a quotient
    of two sizes (rounded down). Its name is the text of its definition. Such a symbol
    may be negative.

        #kernel.symbol<"max(batch, 4)" in 4 to 64 = max <"batch" in 1 to 64 : s0, 4>>
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$least, "int64_t":$most,
                        "SizeChoice":$choice, "::mlir::Attribute":$operands);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "int64_t":$least,
                                   "int64_t":$most), [{
    return $_get($_ctxt, name, least, most, SizeChoice::None, ::mlir::Attribute());
  }]>];
  let extraClassDeclaration = [{
    /// Whether the run is given the symbol, by the caller or by a kernel.
    bool isGiven() const { return getChoice() == SizeChoice::None; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Kernel_SizesAttr : Kernel_Attr<"Sizes", "sizes", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Sizes as expressions of symbols";
  let description = [{
    As the encoding of a tensor's type: how large the tensor is at run time. The
    shape of the type is then the most that it can be, which memory is planned
    for; strides follow the shape, so that they stay constants. As an attribute
    of a kernel or a launch: sizes that are counted or passed.

        tensor<64x784xf32, #kernel.sizes<"batch" in 1 to 64 : s0, 784>>

    Symbols are in the order of their names, each is part of some size, and
    expressions are simplified: equal sizes are equal attributes. (The canonical
    form is made by `Dim`, and by the parser.)
  }];
  let parameters = (ins ArrayRefParameter<"SymbolAttr">:$symbols,
                        ArrayRefParameter<"::mlir::AffineExpr">:$sizes);
  let extraClassDeclaration = [{
    /// The sizes that the type of a tensor has; null if they are its shape.
    static SizesAttr of(::mlir::Type type) {
      auto tensor = ::mlir::dyn_cast<::mlir::RankedTensorType>(type);
      return tensor ? ::mlir::dyn_cast_or_null<SizesAttr>(tensor.getEncoding()) : SizesAttr();
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // INGOT_DIALECTS_KERNEL_SIZES_TD
