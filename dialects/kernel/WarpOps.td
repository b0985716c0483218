// Operations that the threads of a warp or of a block execute together.
//
// Upstream's `nvgpu` has such operations on two-dimensional vectors, and `nvvm`
// on pointers and structures of the LLVM dialect. Neither maps to C++, where a
// thread holds its fragment of a matrix in ordinary variables, one for each
// register. The operations below work on such values. Each operation is printed
// as a call of a function that the prologue of the generated file defines.

#ifndef INGOT_DIALECTS_KERNEL_WARPOPS_TD
#define INGOT_DIALECTS_KERNEL_WARPOPS_TD

def Kernel_LoadMatricesOp : Kernel_Op<"load_matrices"> {
  let summary = "Loads 8x8 matrices of 16-bit elements from shared memory, distributed over a warp (ldmatrix)";
  let description = [{
    One, two or four matrices of 8 rows of 16 bytes. Thread 8 * m + r of the warp passes
    the address of row r of matrix m, aligned to 16 bytes. Thread 4 * r + c gets bytes 4 *
    c to 4 * c + 3 of row r of each matrix; with `transposed` (16-bit elements), the
    elements in rows 2 * c and 2 * c + 1 of column r.

        %a:4 = kernel.load_matrices %tile[%row, %column]
             : memref<64x32xf16, #gpu.address_space<workgroup>> to i32, i32, i32, i32
  }];
  let arguments = (ins
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$tile, Variadic<Index>:$indices, UnitAttr:$transposed);
  let results = (outs Variadic<I32>:$parts);
  let assemblyFormat = [{
    $tile `[` $indices `]` (`transposed` $transposed^)? attr-dict `:` type($tile) `to` type($parts)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name of the operation in a target's table of intrinsics, such as
    /// "kernel.load_matrices[4,transposed]".
    std::string getIntrinsicName();
  }];
}

def Kernel_WarpProductOp : Kernel_Op<"warp_product", [Pure, AttrSizedOperandSegments]> {
  let summary = "Multiplies two matrix fragments of a warp and accumulates (mma.sync)";
  let description = [{
    An MMA tile of 16 rows and 8 columns with 32 bytes along K, distributed over the warp.
    In thread 4 * g + t, `sums` are elements (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8,
    2t + 1); `a` are the 4 bytes from 4t and from 16 + 4t on of rows g and g + 8, in the
    order (g, 4t), (g + 8, 4t), (g, 16 + 4t), (g + 8, 16 + 4t); `b` are those of column g.
    This is the layout that `kernel.load_matrices` yields.

    Floats are multiplied exactly and accumulated in f32, in unspecified order (8-bit operands may
    be f8E4M3FN and f8E5M2 mixed); integers, signed as the types say, are accumulated modulo 2^32.

        %d:4 = kernel.warp_product %a0, %a1, %a2, %a3 times %b0, %b1 plus %c0, %c1, %c2, %c3
             {left = f16, right = f16} : f32
  }];
  let arguments = (ins
    Variadic<I32>:$a, Variadic<I32>:$b, Variadic<AnyTypeOf<[F32, I32]>>:$sums,
    TypeAttr:$left, TypeAttr:$right);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$a, "::mlir::ValueRange":$b, "::mlir::ValueRange":$sums,
                                 "::mlir::Type":$left, "::mlir::Type":$right), [{
    build($_builder, $_state, ::mlir::TypeRange(sums), a, b, sums, left, right);
  }]>];
  let extraClassDeclaration = [{
    /// The name of the operation in a target's table of intrinsics, such as
    /// "kernel.warp_product[f16,f16]".
    std::string getIntrinsicName();
    /// Returns the result that is accumulated onto the operand `sum`; null if
    /// `sum` is not an accumulator.
    ::mlir::Value resultOf(::mlir::OpOperand &sum);
  }];
}

def Kernel_RoundPairOp : Kernel_Op<"round_pair", [Pure]> {
  let summary = "Rounds two f32 to 16-bit floats, packed in a 32-bit word";
  let description = [{
    `low` is in the lower half, as matrix units expect pairs along K. No compiler merges
    two roundings, a shift and an `or` into the single instruction for it.

        %w = kernel.round_pair %low, %high to bf16
  }];
  let arguments = (ins F32:$low, F32:$high, TypeAttr:$element);
  let results = (outs I32:$word);
  let assemblyFormat = "$low `,` $high `to` $element attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name of the operation in a target's table of intrinsics, such as
    /// "kernel.round_pair[bf16]".
    std::string getIntrinsicName();
  }];
}

def Kernel_CopyAheadOp : Kernel_Op<"copy_ahead", [AttrSizedOperandSegments]> {
  let summary = "Starts an asynchronous copy of 16 bytes into shared memory (cp.async)";
  let description = [{
    The bytes are visible to the thread after it awaits them (`kernel.await_copies`), and
    to other threads after the next barrier. If the condition is false, zeros are written
    and nothing is read. `to` is aligned to 16 bytes.

    `nvgpu.device_async_copy` yields a token per copy, a value that a pipeline would have
    to carry through its loop although no register holds it.

        kernel.copy_ahead %x[%i, %j] to %tile[%r, %c] if %inside
            : memref<256x192xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
  }];
  let arguments = (ins
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$from, Variadic<Index>:$from_indices,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$to, Variadic<Index>:$to_indices,
    Optional<I1>:$condition);
  let assemblyFormat = [{
    $from `[` $from_indices `]` `to` $to `[` $to_indices `]` (`if` $condition^)? attr-dict
    `:` type($from) `,` type($to)
  }];
  let hasVerifier = 1;
}

def Kernel_StoreVectorOp : Kernel_Op<"store_vector", [AttrSizedOperandSegments]> {
  let summary = "Rounds numbers to the element type of the buffer and stores them in one access of 16 bytes";
  let description = [{
    In shared memory, the access has 16 bytes and is aligned. In global memory it may also
    have 4 or 8 bytes; if the buffer is not known to be aligned, elements are stored one by
    one where it is misaligned at run time ("[bf16,unaligned]" in the target's table). No
    compiler merges stores of single elements that are rounded by separate instructions.

        kernel.store_vector %a, %b, %c, %d to %tile[%r, %c]
            : memref<64x36xf32, #gpu.address_space<workgroup>>
  }];
  let arguments = (ins Variadic<F32>:$values,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$to, Variadic<Index>:$indices);
  let assemblyFormat = "$values `to` $to `[` $indices `]` attr-dict `:` type($to)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name in a target's table of intrinsics: "kernel.store_vector[bf16]".
    std::string getIntrinsicName();
  }];
}

def Kernel_CloseCopiesOp : Kernel_Op<"close_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes the copies that this thread has started since its last close_copies a group (cp.async.commit_group)";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Kernel_AwaitCopiesOp : Kernel_Op<"await_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for all groups of copies of this thread but the newest ones (cp.async.wait_group)";
  let description = [{
        kernel.await_copies but 2
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$newest);
  let assemblyFormat = "`but` $newest attr-dict";
  let hasVerifier = 1;
}

def Kernel_AwaitInputsOp : Kernel_Op<"await_inputs", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for the end of the previous kernel";
  let description = [{
    For kernels that start before the previous one ends (programmatic dependent launch).
    Before this operation, a kernel reads only constants and stores nothing to global
    memory.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Kernel_CountOp : Kernel_Op<"count", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds to a counter that all blocks of a launch share";
  let description = [{
    All threads of the block execute it, and each gets the counter's value including this
    block's amount. Everything that these threads wrote before is visible to the threads
    of any block that adds later. The counters are an argument that is cleared before the
    launch.

        %n = kernel.count %done[%tile], %k_tiles : memref<28xi32>
  }];
  let arguments = (ins AnyStaticShapeMemRef:$counts, Index:$at, Index:$amount);
  let results = (outs Index:$total);
  let assemblyFormat = "$counts `[` $at `]` `,` $amount attr-dict `:` type($counts)";
  let hasVerifier = 1;
}

#endif // INGOT_DIALECTS_KERNEL_WARPOPS_TD
