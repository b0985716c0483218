// What warpgroups do (four warps, from a multiple of four on), and copies of whole tiles
// that gates announce: how some devices multiply large matrices.
//
// Upstream's `nvgpu` has these on descriptors and tokens that become structures of the LLVM
// dialect; here a gate is a word in shared memory, sums are an array of the thread, and
// what is in flight is no value, as no register holds it. Each prints as one function of
// the target's opening text.

#ifndef INGOT_DIALECTS_KERNEL_WARPGROUPOPS_TD
#define INGOT_DIALECTS_KERNEL_WARPGROUPOPS_TD

def Kernel_Tiles : TypeDef<Kernel_Dialect, "Tiles"> {
  let mnemonic = "tiles";
  let summary = "A map of a tensor, from which whole tiles are copied";
}

def Kernel_TilesOp : Kernel_Op<"tiles", [Pure]> {
  let summary = "A map of an argument, which the host makes before the launch";
  let description = [{
    The tensor has `sizes`, the last one of neighbouring elements, and `strides` in
    elements. A copy brings a `box` of it. With `low`, `high` and `steps` (one of each for
    every axis but the first and last) it brings positions of windows instead: `box` is
    their number and that of the channels of each; positions go from `low` to `high` by
    `steps` along an axis, and on along the axis before. What is outside is zero.

        %t = kernel.tiles %x sizes <256, 192> strides [192, 1] box [128, 64] : memref<256x192xf16>
  }];
  let arguments = (ins Kernel_Buffer:$tensor, Kernel_SizesAttr:$sizes,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$box, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$low,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$high, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$steps);
  let results = (outs Kernel_Tiles:$tiles);
  let assemblyFormat = [{
    $tensor `sizes` $sizes `strides` $strides `box` $box
    (`low` $low^ `high` $high `steps` $steps)? attr-dict `:` type($tensor)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it copies positions of windows.
    bool areWindows() { return !getSteps().empty(); }
  }];
}

def Kernel_CopyTileOp : Kernel_Op<"copy_tile", [AttrSizedOperandSegments]> {
  let summary = "Begins to copy a tile into memory that the block shares";
  let description = [{
    One thread asks for it. The tile begins `at` an element; a tile of windows, where the
    window of its first position does, and `shift` is the place in each window. Its rows
    have 128 bytes (or less in the last axis, of which the others are zero), piece p of 16
    bytes of row r is at place p ^ (r % 8), and `to` is at a multiple of 1024 bytes. When it
    is there its bytes are counted at `gate`. With `blocks`, a bit for each block of the
    cluster, these all get it, and count its bytes, at the same places of their own memory.

        kernel.copy_tile %t[%row, %step] to %tile[%stage, %c0, %c0] at %gates[%stage]
            : memref<4x128x64xf16, #gpu.address_space<workgroup>>, memref<8xi64, #gpu.address_space<workgroup>>
  }];
  let arguments = (ins Kernel_Tiles:$tiles, Variadic<Index>:$at, Variadic<Index>:$shift,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$to, Variadic<Index>:$to_indices,
    Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$gates, Index:$gate, Optional<Index>:$blocks);
  let assemblyFormat = [{
    $tiles `[` $at `]` (`shift` `[` $shift^ `]`)? `to` $to `[` $to_indices `]`
    `at` $gates `[` $gate `]` (`for` $blocks^)? attr-dict `:` type($to) `,` type($gates)
  }];
  let hasVerifier = 1;
}

class Kernel_GateOp<string mnemonic, dag further = (ins)> : Kernel_Op<mnemonic> {
  let arguments = !con((ins Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$gates, Index:$gate), further);
  let hasVerifier = 1;
}

def Kernel_InitGateOp : Kernel_GateOp<"init_gate", (ins ConfinedAttr<I64Attr, [IntPositive]>:$arrivals)> {
  let summary = "Sets up a gate that opens each time so many threads have arrived";
  let assemblyFormat = "$gates `[` $gate `]` `for` $arrivals attr-dict `:` type($gates)";
}
def Kernel_PublishGatesOp : Kernel_Op<"publish_gates", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Shows copies the gates that this thread has set up; others see them behind a barrier";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Kernel_ExpectBytesOp : Kernel_GateOp<"expect_bytes", (ins ConfinedAttr<I64Attr, [IntPositive]>:$bytes)> {
  let summary = "Arrives at a gate, which waits for so many bytes of copies as well";
  let assemblyFormat = "$gates `[` $gate `]` `,` $bytes attr-dict `:` type($gates)";
}
def Kernel_ArriveOp : Kernel_GateOp<"arrive", (ins Optional<Index>:$block)> {
  let summary = "Arrives at a gate: what this thread did before is done";
  let description = [{
    That of this block, or of the one with that number in its cluster.
  }];
  let assemblyFormat = "$gates `[` $gate `]` (`of` $block^)? attr-dict `:` type($gates)";
}
def Kernel_ClusterBarrierOp : Kernel_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until all threads of all blocks of the cluster are here";
  let description = [{
    What was written before is seen by all behind it, unless that is not `shown`: gates, which are
    published, are seen all the same.
  }];
  let arguments = (ins UnitAttr:$shown);
  let assemblyFormat = "(`shown` $shown^)? attr-dict";
  let hasVerifier = 1;
}
def Kernel_SendOp : Kernel_Op<"send", [AttrSizedOperandSegments]> {
  let summary = "Begins to store 16 bytes in the shared memory of a block of the cluster";
  let description = [{
    Four numbers of f32 or i32 become an innermost row of `to` in the memory of the block with that
    number, whose gate counts their bytes when they are there. That block sees them behind the gate's
    opening; nothing else orders them.

        kernel.send %a, %b, %c, %d to %parts[%rank, %thread, %c0] of %block at %gates[%c8]
            : (f32, f32, f32, f32) to memref<2x128x4xf32, #gpu.address_space<workgroup>>, memref<9xi64, #gpu.address_space<workgroup>>
  }];
  let arguments = (ins Variadic<AnyTypeOf<[F32, I32]>>:$values, Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$to,
    Variadic<Index>:$to_indices, Index:$block, Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$gates, Index:$gate);
  let assemblyFormat = [{
    $values `to` $to `[` $to_indices `]` `of` $block `at` $gates `[` $gate `]` attr-dict
    `:` `(` type($values) `)` `to` type($to) `,` type($gates)
  }];
  let hasVerifier = 1;
}
def Kernel_AwaitGateOp : Kernel_GateOp<"await_gate", (ins Index:$parity)> {
  let summary = "Waits until a gate has opened";
  let description = [{
    Openings are numbered from 0 on; it waits for the last one whose number has this
    parity. Of a gate that has never opened, that of parity 1 counts as done.
  }];
  let assemblyFormat = "$gates `[` $gate `]` `,` $parity attr-dict `:` type($gates)";
}

def Kernel_TileProductOp : Kernel_Op<"tile_product", [AttrSizedOperandSegments]> {
  let summary = "Begins a product of two tiles by a warpgroup, which is added to sums";
  let description = [{
    64 rows, and as many columns as twice the sums of a thread; of both 32 bytes of steps,
    as `kernel.copy_tile` brings them. Thread 32 * w + 4 * g + t of the warpgroup has element
    (16 * w + g + 8 * h, 8 * j + 2 * t + s) as number 4 * j + 2 * h + s. The sums are
    nobody's until they are awaited. The `first` product of a sum takes the place of what
    was there.

    Of 16-bit floats, the left operand may be four words of the thread's own from an index on,
    which are nobody's until then as well: steps 2 * t and 2 * t + 1 of rows g and g + 8,
    and the same of steps 2 * t + 8 and 2 * t + 9.

    A tile that is `turned` has steps below each other: its rows are of 64 neighbouring
    numbers of 16 bits, rows of the product on the left and columns on the right. Further
    64 of them are a place on along the axis before the steps.

        kernel.tile_product %a[%stage, %row, %step] times %b[%stage, %c0, %step] plus %sums
            of f16, f16 : memref<..>, memref<..>, memref<64xf32>
        kernel.tile_product %a[%stage, %row, %step] times %b[%stage, %c0, %step, %c0] plus %sums
            of f16, f16 right turned : memref<..>, memref<4x2x64x64xf16, ..>, memref<64xf32>
  }];
  let arguments = (ins
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$left, Variadic<Index>:$left_indices,
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$right, Variadic<Index>:$right_indices,
    Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$sums, TypeAttr:$left_type, TypeAttr:$right_type,
    UnitAttr:$left_turned, UnitAttr:$right_turned, UnitAttr:$first);
  let assemblyFormat = [{
    $left `[` $left_indices `]` `times` $right `[` $right_indices `]` `plus` $sums
    (`first` $first^)? `of` $left_type `,` $right_type (`left` `turned` $left_turned^)?
    (`right` `turned` $right_turned^)? attr-dict `:` type($left) `,` type($right) `,` type($sums)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// As the rows of targets name it: "kernel.tile_product[f16,f16]", with ",words", ",turned"
    /// and ",first" where it is of these.
    std::string getIntrinsicName();
    /// Whether the left operand is in registers.
    bool isLeftWords();
    /// Whether warpgroups may get these operands in other ways than as tiles of steps.
    bool isOfHalves() { return getLeftType().isF16() || getLeftType().isBF16(); }
    bool isTurned() { return getLeftTurned() || getRightTurned(); }
    /// Bytes from 64 rows or columns of a turned tile to the next 64; 0 if it is not turned.
    int64_t getLeftDistance();
    int64_t getRightDistance();
  }];
}
class Kernel_SumsOp<string mnemonic, dag further = (ins)> : Kernel_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = !con((ins Variadic<AnyStaticShapeMemRef>:$sums), further);
  let hasVerifier = 1;
}
def Kernel_BeginProductsOp : Kernel_SumsOp<"begin_products"> {
  let summary = "Hands the sums of this thread, and the words that it multiplies, to products that follow";
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
}
def Kernel_CloseProductsOp : Kernel_Op<"close_products", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The products begun since the last such place are a group";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Kernel_AwaitProductsOp : Kernel_SumsOp<"await_products",
    (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$newest)> {
  let summary = "Waits for all groups of products but the newest ones; these sums and words may be used then";
  let assemblyFormat = "`but` $newest (`:` $sums^ `:` type($sums))? attr-dict";
}

def Kernel_SetRegistersOp : Kernel_Op<"set_registers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "From here on each thread of this warpgroup has so many registers";
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<24>, IntMaxValue<240>]>:$count, UnitAttr:$fewer);
  let assemblyFormat = "$count (`fewer` $fewer^)? attr-dict";
  let hasVerifier = 1;
}

#endif // INGOT_DIALECTS_KERNEL_WARPGROUPOPS_TD
