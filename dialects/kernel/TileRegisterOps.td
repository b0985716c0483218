// Registers of a processor that hold small matrices, and their products.
//
// A thread has a few such tiles, known by number: no value stands for one, as registers
// cannot be chosen by compilers of C (their functions take the number as a constant). The
// vector dialect's two-dimensional vectors, and upstream's operations on tiles, which are
// such vectors, would have to be allocated to them first.

#ifndef INGOT_DIALECTS_KERNEL_TILEREGISTEROPS_TD
#define INGOT_DIALECTS_KERNEL_TILEREGISTEROPS_TD

include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/kernel/KernelDialect.td"

def Kernel_Tile : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<15>]>;

def Kernel_ShapeTilesOp : Kernel_Op<"shape_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Gives tiles their shapes; what they held is lost";
  let description = [{
    Tile i has `rows[i]` rows of `bytes[i]` bytes, a multiple of 4, up to the next such
    place. Memory that was written before can be loaded into tiles from here on.

        kernel.shape_tiles rows [16, 16, 16] bytes [64, 64, 64]
  }];
  let arguments = (ins DenseI64ArrayAttr:$rows, DenseI64ArrayAttr:$bytes);
  let assemblyFormat = "`rows` $rows `bytes` $bytes attr-dict";
  let hasVerifier = 1;
}

def Kernel_ReleaseTilesOp : Kernel_Op<"release_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The tiles have no shapes and take no part in switches of threads any more";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Kernel_ClearTileOp : Kernel_Op<"clear_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes all elements of a tile zero";
  let arguments = (ins Kernel_Tile:$tile);
  let assemblyFormat = "$tile attr-dict";
  let hasVerifier = 1;
}

/// Reads or writes the buffer and the other way round the tile, which is no operand.
class Kernel_MoveTileOp<string mnemonic, list<MemoryEffect> ofBuffer>
    : Kernel_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins
    Kernel_Tile:$tile, Arg<AnyStaticShapeMemRef, "", ofBuffer>:$buffer, Variadic<Index>:$indices,
    ConfinedAttr<I64Attr, [IntPositive]>:$pitch);
  let hasVerifier = 1;
}

def Kernel_LoadTileOp : Kernel_MoveTileOp<"load_tile", [MemRead]> {
  let summary = "Loads a tile, whose rows are so many bytes apart";
  let description = [{
        kernel.load_tile 4, %x[%row, %step] pitch 256 : memref<64x256xi8>
  }];
  let assemblyFormat = "$tile `,` $buffer `[` $indices `]` `pitch` $pitch attr-dict `:` type($buffer)";
}

def Kernel_StoreTileOp : Kernel_MoveTileOp<"store_tile", [MemWrite]> {
  let summary = "Stores a tile, whose rows will be so many bytes apart";
  let description = [{
        kernel.store_tile 0, %sums[%c0, %c0] pitch 128 : memref<16x32xi32>
  }];
  let assemblyFormat = "$tile `,` $buffer `[` $indices `]` `pitch` $pitch attr-dict `:` type($buffer)";
}

def Kernel_MultiplyTilesOp : Kernel_Op<"multiply_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds the product of two tiles to a third one";
  let description = [{
    A row of `a` has steps of a row of the matrix; row k of `b` has of each column the
    steps that are bytes 4 * k to 4 * k + 3 in a row of `a`. Integers, of the sign that the
    types say, are summed modulo 2^32, floats in f32 in an order that no standard fixes.

        kernel.multiply_tiles 0 plus 4 times 6 of ui8, si8
  }];
  let arguments = (ins Kernel_Tile:$sums, Kernel_Tile:$a, Kernel_Tile:$b,
    TypeAttr:$left, TypeAttr:$right);
  let assemblyFormat = "$sums `plus` $a `times` $b `of` $left `,` $right attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// As the rows of targets name it: "kernel.multiply_tiles[ui8,si8]".
    std::string getIntrinsicName();
  }];
}

#endif // INGOT_DIALECTS_KERNEL_TILEREGISTEROPS_TD
