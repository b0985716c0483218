// Attributes for dynamic sizes.

#ifndef INGOT_DIALECTS_KERNEL_SIZES_TD
#define INGOT_DIALECTS_KERNEL_SIZES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Kernel_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Kernel_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def Kernel_SymbolAttr : Kernel_Attr<"Symbol", "symbol"> {
  let summary = "A dynamic size with its bounds";
  let description = [{
    A size from `least` to `most`; in a model, a name denotes one symbol.

        #kernel.symbol<"batch" in 1 to 64>

    A symbol that is not given at run time, but follows from other sizes in a way that
    affine expressions cannot express, has a choice and its operands: the minimum or
    the maximum of two sizes, one of two sizes depending on a comparison of two
    others, or the quotient of two sizes (rounded down). Its name is the text of its
    definition. Such a symbol may be negative.

        #kernel.symbol<"max(batch, 4)" in 4 to 64 = max <"batch" in 1 to 64 : s0, 4>>
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$least, "int64_t":$most,
                        "SizeChoice":$choice, "::mlir::Attribute":$operands);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "int64_t":$least,
                                   "int64_t":$most), [{
    return $_get($_ctxt, name, least, most, SizeChoice::None, ::mlir::Attribute());
  }]>];
  let extraClassDeclaration = [{
    /// Whether the symbol is given at run time, by the caller or by a kernel.
    bool isGiven() const { return getChoice() == SizeChoice::None; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Kernel_SizesAttr : Kernel_Attr<"Sizes", "sizes", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Sizes as expressions of symbols";
  let description = [{
    As the encoding of a tensor type: the dynamic sizes of the tensor. The shape
    of the type then has the maximum sizes, for which memory is planned; strides
    follow this shape, so they are constant. As an attribute of an operation:
    sizes that are read, checked or passed.

        tensor<64x784xf32, #kernel.sizes<"batch" in 1 to 64 : s0, 784>>

    Symbols are sorted by name, each is part of some size, and expressions are
    simplified: equal sizes are equal attributes. (`Dim` and the parser create
    this canonical form.)
  }];
  let parameters = (ins ArrayRefParameter<"SymbolAttr">:$symbols,
                        ArrayRefParameter<"::mlir::AffineExpr">:$sizes);
  let extraClassDeclaration = [{
    /// Returns the sizes of a tensor type; null if its shape is static.
    static SizesAttr of(::mlir::Type type) {
      auto tensor = ::mlir::dyn_cast<::mlir::RankedTensorType>(type);
      return tensor ? ::mlir::dyn_cast_or_null<SizesAttr>(tensor.getEncoding()) : SizesAttr();
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // INGOT_DIALECTS_KERNEL_SIZES_TD
