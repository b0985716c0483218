// What the threads of a warp, or of a block, do together.
//
// Upstream's `nvgpu` has such operations on vectors of two dimensions, `nvvm` on
// pointers and structures of the LLVM dialect. Neither has a text in C, where a thread
// holds its part of a matrix in ordinary variables, one for each register: here they are
// that from the start. Each prints as one function of the target's opening text.

#ifndef INGOT_DIALECTS_KERNEL_WARPOPS_TD
#define INGOT_DIALECTS_KERNEL_WARPOPS_TD

def Kernel_LoadMatricesOp : Kernel_Op<"load_matrices"> {
  let summary = "Loads matrices of 8 rows of 16 bytes, each thread a part of each";
  let description = [{
    One, two or four matrices in memory that the block shares. Thread 8 * m + r of the warp
    says where row r of matrix m is: 16 bytes, at a multiple of 16. Thread 4 * r + c gets
    the bytes from 4 * c on of row r of each; `transposed` (elements of 16 bits), the
    elements of rows 2 * c and 2 * c + 1 that are in column r.

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
    /// As the rows of targets name it: "kernel.load_matrices[4,transposed]".
    std::string getIntrinsicName();
  }];
}

def Kernel_WarpProductOp : Kernel_Op<"warp_product", [Pure, AttrSizedOperandSegments]> {
  let summary = "A product of two small matrices by a warp, added to sums";
  let description = [{
    Matrices of 16 rows and 8 columns, and of 32 bytes of steps, which are spread over the
    warp. Of thread 4 * g + t, `sums` are elements (g, 2t), (g, 2t + 1), (g + 8, 2t) and
    (g + 8, 2t + 1); `a` are the bytes from 4t and from 16 + 4t on of rows g and g + 8, in
    the order (g, 4t), (g + 8, 4t), (g, 16 + 4t), (g + 8, 16 + 4t); `b` are those of
    column g. It is what `kernel.load_matrices` gives.

    Floats are multiplied exactly and summed in f32, in an order that no standard fixes
    (of 8 bits, f8E4M3FN and f8E5M2, both operands need not be of one kind); integers, of the sign that the types say, modulo 2^32.

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
    /// As the rows of targets name it: "kernel.warp_product[f16,f16]".
    std::string getIntrinsicName();
    /// The result that is a sum with more added; null for another operand.
    ::mlir::Value resultOf(::mlir::OpOperand &sum);
  }];
}

def Kernel_RoundPairOp : Kernel_Op<"round_pair", [Pure]> {
  let summary = "Two numbers rounded to floats of 16 bits, side by side in a word";
  let description = [{
    `low` is in the lower half, as matrix units take pairs of steps. Two roundings, a shift
    and an `or` are merged into the one instruction for it by no compiler.

        %w = kernel.round_pair %low, %high to bf16
  }];
  let arguments = (ins F32:$low, F32:$high, TypeAttr:$element);
  let results = (outs I32:$word);
  let assemblyFormat = "$low `,` $high `to` $element attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// As the rows of targets name it: "kernel.round_pair[bf16]".
    std::string getIntrinsicName();
  }];
}

def Kernel_CopyAheadOp : Kernel_Op<"copy_ahead", [AttrSizedOperandSegments]> {
  let summary = "Begins to copy 16 bytes into memory that the block shares";
  let description = [{
    They are there when the thread has awaited them (`kernel.await_copies`), and for other
    threads behind the next barrier. With a condition that does not hold, zeros are
    written and nothing is read. `to` is at a multiple of 16 bytes.

    `nvgpu.device_async_copy` hands out a token for each copy, a value that a pipeline
    would have to carry through its loop though no register holds it.

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

def Kernel_StorePieceOp : Kernel_Op<"store_piece", [AttrSizedOperandSegments]> {
  let summary = "Stores 16 bytes of numbers at once, rounded to the elements of the buffer";
  let description = [{
    At a multiple of 16 bytes of memory that the block shares. Of other memory also 4 or 8
    bytes, one by one where a buffer that is not known to be aligned turns out not to be
    ("[bf16,unaligned]" in the target's table). Stores of single elements, each rounded by an
    instruction of its own, are merged by no compiler.

        kernel.store_piece %a, %b, %c, %d to %tile[%r, %c]
            : memref<64x36xf32, #gpu.address_space<workgroup>>
  }];
  let arguments = (ins Variadic<F32>:$values,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$to, Variadic<Index>:$indices);
  let assemblyFormat = "$values `to` $to `[` $indices `]` attr-dict `:` type($to)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the target's table calls it: "kernel.store_piece[bf16]".
    std::string getIntrinsicName();
  }];
}

def Kernel_CloseCopiesOp : Kernel_Op<"close_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The copies of this thread since the last such place are a group";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Kernel_AwaitCopiesOp : Kernel_Op<"await_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for all groups of copies of this thread but the newest ones";
  let description = [{
        kernel.await_copies but 2
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$newest);
  let assemblyFormat = "`but` $newest attr-dict";
  let hasVerifier = 1;
}

def Kernel_AwaitInputsOp : Kernel_Op<"await_inputs", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for the end of the kernel in front of this one";
  let description = [{
    Of kernels that begin early. Before it nothing is read but constants, and nothing is
    stored to memory of the device.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Kernel_CountOp : Kernel_Op<"count", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds to a number that all blocks of a launch share";
  let description = [{
    All threads of the block come here, and each gets the number with this block's amount
    in it. What they have written before is there for the threads of any block that comes
    later. The numbers are an argument that is cleared in front of the launch.

        %n = kernel.count %done[%tile], %strips : memref<28xi32>
  }];
  let arguments = (ins AnyStaticShapeMemRef:$counts, Index:$at, Index:$amount);
  let results = (outs Index:$total);
  let assemblyFormat = "$counts `[` $at `]` `,` $amount attr-dict `:` type($counts)";
  let hasVerifier = 1;
}

#endif // INGOT_DIALECTS_KERNEL_WARPOPS_TD
