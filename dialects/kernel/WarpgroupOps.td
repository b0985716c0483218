// Operations of warpgroups (four consecutive warps, the first of which has a
// number divisible by four), and copies of whole tiles, which signal mbarriers.
// With these, recent NVIDIA GPUs multiply large matrices (wgmma, TMA).
//
// Upstream's `nvgpu` has such operations on descriptors and tokens that become
// structures of the LLVM dialect. Here an mbarrier is a word in shared memory,
// and the accumulators are an array of the thread. Copies and products in
// flight are not values, since no register holds them. Each operation is
// printed as a call of a function that the prologue of the generated file
// defines.

#ifndef INGOT_DIALECTS_KERNEL_WARPGROUPOPS_TD
#define INGOT_DIALECTS_KERNEL_WARPGROUPOPS_TD

def Kernel_Tiles : TypeDef<Kernel_Dialect, "Tiles"> {
  let mnemonic = "tiles";
  let summary = "A tensor map (TMA descriptor), from which whole tiles are copied";
}

def Kernel_TilesOp : Kernel_Op<"tiles", [Pure]> {
  let summary = "The tensor map of an argument, which the host creates before the launch";
  let description = [{
    The tensor has `sizes`, of which the last axis is contiguous, and `strides` in
    elements. A copy fetches a `box` of it. With `low`, `high` and `steps` (an entry for
    every axis but the first and last), it fetches window positions instead (im2col mode):
    `box` is their number and the number of channels of each; positions advance from `low`
    to `high` by `steps` along an axis, then along the axis before. Elements outside of
    the tensor are zero.

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
    /// Whether copies fetch the input elements of window positions (im2col
    /// mode).
    bool areWindows() { return !getSteps().empty(); }
  }];
}

def Kernel_CopyTileOp : Kernel_Op<"copy_tile", [AttrSizedOperandSegments]> {
  let summary = "Starts a copy of a tile into shared memory (TMA)";
  let description = [{
    Executed by one thread. The tile begins at element `at`; a tile of windows begins where
    the window of its first position does, and `shift` is the position within each window.
    Its rows have 128 bytes (or fewer along the last axis, then zero-padded); 16-byte chunk
    p of row r is stored at chunk p ^ (r % 8), and `to` is aligned to 1024 bytes. When the
    tile has arrived, its bytes are counted at mbarrier `mbarrier`. With `blocks`, a mask of
    blocks of the cluster, all of these receive the tile and count its bytes, at the same
    addresses of their own shared memory.

        kernel.copy_tile %t[%row, %step] to %tile[%stage, %c0, %c0] at %mbarriers[%stage]
            : memref<4x128x64xf16, #gpu.address_space<workgroup>>, memref<8xi64, #gpu.address_space<workgroup>>
  }];
  let arguments = (ins Kernel_Tiles:$tiles, Variadic<Index>:$at, Variadic<Index>:$shift,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$to, Variadic<Index>:$to_indices,
    Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$mbarriers, Index:$mbarrier, Optional<Index>:$blocks);
  let assemblyFormat = [{
    $tiles `[` $at `]` (`shift` `[` $shift^ `]`)? `to` $to `[` $to_indices `]`
    `at` $mbarriers `[` $mbarrier `]` (`for` $blocks^)? attr-dict `:` type($to) `,` type($mbarriers)
  }];
  let hasVerifier = 1;
}

class Kernel_MbarrierOp<string mnemonic, dag further = (ins)> : Kernel_Op<mnemonic> {
  let arguments = !con((ins Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$mbarriers, Index:$mbarrier), further);
  let hasVerifier = 1;
}

def Kernel_InitMbarrierOp : Kernel_MbarrierOp<"init_mbarrier", (ins ConfinedAttr<I64Attr, [IntPositive]>:$arrivals)> {
  let summary = "Initializes an mbarrier, whose phase completes each time this many threads have arrived";
  let assemblyFormat = "$mbarriers `[` $mbarrier `]` `for` $arrivals attr-dict `:` type($mbarriers)";
}
def Kernel_FenceMbarriersOp : Kernel_Op<"fence_mbarriers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes mbarriers that this thread has initialized visible to copies; other threads see them after a barrier";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Kernel_ExpectBytesOp : Kernel_MbarrierOp<"expect_bytes", (ins ConfinedAttr<I64Attr, [IntPositive]>:$bytes)> {
  let summary = "Arrives at an mbarrier, whose phase also waits for this many bytes of copies";
  let assemblyFormat = "$mbarriers `[` $mbarrier `]` `,` $bytes attr-dict `:` type($mbarriers)";
}
def Kernel_ArriveOp : Kernel_MbarrierOp<"arrive", (ins Optional<Index>:$block)> {
  let summary = "Arrives at an mbarrier, after everything that this thread did before";
  let description = [{
    The mbarrier is that of this block, or of block `block` of the cluster.
  }];
  let assemblyFormat = "$mbarriers `[` $mbarrier `]` (`of` $block^)? attr-dict `:` type($mbarriers)";
}
def Kernel_ClusterBarrierOp : Kernel_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until all threads of all blocks of the cluster have arrived";
  let description = [{
    With `shown`, everything written before is visible to all threads afterwards; without it, only
    mbarriers, which are published separately.
  }];
  let arguments = (ins UnitAttr:$shown);
  let assemblyFormat = "(`shown` $shown^)? attr-dict";
  let hasVerifier = 1;
}
def Kernel_SendOp : Kernel_Op<"send", [AttrSizedOperandSegments]> {
  let summary = "Starts a store of 16 bytes into the shared memory of another block of the cluster";
  let description = [{
    Four f32 or i32 become an innermost row of `to` in the shared memory of block `block`, whose
    mbarrier counts their bytes on arrival. That block sees them once the phase of the mbarrier
    completes; nothing else orders them.

        kernel.send %a, %b, %c, %d to %parts[%rank, %thread, %c0] of %block at %mbarriers[%c8]
            : (f32, f32, f32, f32) to memref<2x128x4xf32, #gpu.address_space<workgroup>>, memref<9xi64, #gpu.address_space<workgroup>>
  }];
  let arguments = (ins Variadic<AnyTypeOf<[F32, I32]>>:$values, Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$to,
    Variadic<Index>:$to_indices, Index:$block, Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$mbarriers, Index:$mbarrier);
  let assemblyFormat = [{
    $values `to` $to `[` $to_indices `]` `of` $block `at` $mbarriers `[` $mbarrier `]` attr-dict
    `:` `(` type($values) `)` `to` type($to) `,` type($mbarriers)
  }];
  let hasVerifier = 1;
}
def Kernel_WaitMbarrierOp : Kernel_MbarrierOp<"wait_mbarrier", (ins Index:$parity)> {
  let summary = "Waits until a phase of an mbarrier has completed";
  let description = [{
    Phases are numbered from 0; the operation waits for the completion of the latest
    phase with this parity. Before the first completion, the phase of parity 1
    counts as completed.
  }];
  let assemblyFormat = "$mbarriers `[` $mbarrier `]` `,` $parity attr-dict `:` type($mbarriers)";
}

def Kernel_TileProductOp : Kernel_Op<"tile_product", [AttrSizedOperandSegments]> {
  let summary = "Starts a matrix multiplication of two tiles by a warpgroup, accumulating (wgmma)";
  let description = [{
    64 rows, twice as many columns as a thread has accumulators, and 32 bytes along K, in the
    layout of `kernel.copy_tile`. Thread 32 * w + 4 * g + t of the warpgroup holds element (16
    * w + g + 8 * h, 8 * j + 2 * t + s) as accumulator 4 * j + 2 * h + s. Accumulators must
    not be accessed until they are awaited. With `first`, the product overwrites the
    accumulators.

    For 16-bit floats, the left operand may be four words in registers of the thread, from an
    index on, which must not be accessed until they are awaited either: K elements 2 * t and
    2 * t + 1 of rows g and g + 8, and K elements 2 * t + 8 and 2 * t + 9 of these rows.

    A tile that is `turned` is transposed (MN-major): each of its rows is one K step and holds
    64 consecutive 16-bit elements along M (left) or N (right). The next 64 elements are at
    the next index of the axis before K.

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
    /// The name of the operation in a target's table of intrinsics, such as
    /// "kernel.tile_product[f16,f16]". The brackets also contain ",words" if
    /// the left operand is in registers, ",turned" if a tile is transposed, and
    /// ",first" if the product overwrites the sums.
    std::string getIntrinsicName();
    /// Whether the left operand is in registers.
    bool isLeftWords();
    /// Whether the operands are 16-bit floats. Only these may be in registers
    /// or in transposed tiles.
    bool isOfHalves() { return getLeftType().isF16() || getLeftType().isBF16(); }
    bool isTurned() { return getLeftTurned() || getRightTurned(); }
    /// Return the bytes from 64 rows or columns of a transposed tile to the
    /// next 64; 0 if the tile is not transposed.
    int64_t getLeftDistance();
    int64_t getRightDistance();
  }];
}
class Kernel_SumsOp<string mnemonic, dag further = (ins)> : Kernel_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = !con((ins Variadic<AnyStaticShapeMemRef>:$sums), further);
  let hasVerifier = 1;
}
def Kernel_BeginProductsOp : Kernel_SumsOp<"begin_products"> {
  let summary = "Orders this thread's accesses to its accumulators and operand words before the following products (wgmma.fence)";
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
}
def Kernel_CloseProductsOp : Kernel_Op<"close_products", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes the products started since the last close_products a group (wgmma.commit_group)";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Kernel_AwaitProductsOp : Kernel_SumsOp<"await_products",
    (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$newest)> {
  let summary = "Waits for all groups of products but the newest ones; these accumulators and words may then be accessed";
  let assemblyFormat = "`but` $newest (`:` $sums^ `:` type($sums))? attr-dict";
}

def Kernel_SetRegistersOp : Kernel_Op<"set_registers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Changes the number of registers of each thread of this warpgroup (setmaxnreg)";
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<24>, IntMaxValue<240>]>:$count, UnitAttr:$fewer);
  let assemblyFormat = "$count (`fewer` $fewer^)? attr-dict";
  let hasVerifier = 1;
}

#endif // INGOT_DIALECTS_KERNEL_WARPGROUPOPS_TD
