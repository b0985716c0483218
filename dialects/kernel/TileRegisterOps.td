// Matrix tile registers of a CPU, and matrix multiplications of them.
//
// A thread has a few tile registers, identified by number. No SSA value
// represents one, since C++ compilers do not allocate tile registers:
// intrinsics take the number as a constant. Upstream's tile operations work on
// two-dimensional vectors, which would have to be allocated to tile registers
// first.

#ifndef INGOT_DIALECTS_KERNEL_TILEREGISTEROPS_TD
#define INGOT_DIALECTS_KERNEL_TILEREGISTEROPS_TD

include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/kernel/KernelDialect.td"

def Kernel_Tile : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<15>]>;

def Kernel_ShapeTilesOp : Kernel_Op<"shape_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Configures the shapes of tiles and discards their contents";
  let description = [{
    Tile i has `rows[i]` rows of `bytes[i]` bytes, a multiple of 4, until the next
    `shape_tiles`. Memory written earlier may be loaded into tiles from here on.

        kernel.shape_tiles rows [16, 16, 16] bytes [64, 64, 64]
  }];
  let arguments = (ins DenseI64ArrayAttr:$rows, DenseI64ArrayAttr:$bytes);
  let assemblyFormat = "`rows` $rows `bytes` $bytes attr-dict";
  let hasVerifier = 1;
}

def Kernel_ReleaseTilesOp : Kernel_Op<"release_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Releases the tiles: they lose their shapes and are no longer saved on context switches";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Kernel_ClearTileOp : Kernel_Op<"clear_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Sets all elements of a tile to zero";
  let arguments = (ins Kernel_Tile:$tile);
  let assemblyFormat = "$tile attr-dict";
  let hasVerifier = 1;
}

/// Moves a tile between a tile register and the buffer. The register is not an
/// operand, so the operation is declared to read and write memory.
class Kernel_MoveTileOp<string mnemonic, list<MemoryEffect> ofBuffer>
    : Kernel_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins
    Kernel_Tile:$tile, Arg<AnyStaticShapeMemRef, "", ofBuffer>:$buffer, Variadic<Index>:$indices,
    ConfinedAttr<I64Attr, [IntPositive]>:$pitch);
  let hasVerifier = 1;
}

def Kernel_LoadTileOp : Kernel_MoveTileOp<"load_tile", [MemRead]> {
  let summary = "Loads a tile whose rows are `pitch` bytes apart in memory";
  let description = [{
        kernel.load_tile 4, %x[%row, %step] pitch 256 : memref<64x256xi8>
  }];
  let assemblyFormat = "$tile `,` $buffer `[` $indices `]` `pitch` $pitch attr-dict `:` type($buffer)";
}

def Kernel_StoreTileOp : Kernel_MoveTileOp<"store_tile", [MemWrite]> {
  let summary = "Stores a tile whose rows are `pitch` bytes apart in memory";
  let description = [{
        kernel.store_tile 0, %sums[%c0, %c0] pitch 128 : memref<16x32xi32>
  }];
  let assemblyFormat = "$tile `,` $buffer `[` $indices `]` `pitch` $pitch attr-dict `:` type($buffer)";
}

def Kernel_MultiplyTilesOp : Kernel_Op<"multiply_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds the matrix product of two tiles to a third";
  let description = [{
    A row of `a` holds consecutive K elements of a row of the left matrix. Row k of `b`
    holds, for each column of the right matrix, the K elements that correspond to bytes 4 *
    k to 4 * k + 3 of a row of `a`. Integers, signed as the types say, are summed modulo
    2^32; floats in f32, in unspecified order.

        kernel.multiply_tiles 0 plus 4 times 6 of ui8, si8
  }];
  let arguments = (ins Kernel_Tile:$sums, Kernel_Tile:$a, Kernel_Tile:$b,
    TypeAttr:$left, TypeAttr:$right);
  let assemblyFormat = "$sums `plus` $a `times` $b `of` $left `,` $right attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name of the operation in a target's table of intrinsics, such as
    /// "kernel.multiply_tiles[ui8,si8]".
    std::string getIntrinsicName();
  }];
}

#endif // INGOT_DIALECTS_KERNEL_TILEREGISTEROPS_TD
