// Vector operations that are single instructions on some targets. For such a
// target, the table of intrinsics has an entry for the operation. For other
// targets, passes/legalize expands the operation to `arith` and `vector`.

#ifndef INGOT_DIALECTS_KERNEL_VECTOROPS_TD
#define INGOT_DIALECTS_KERNEL_VECTOROPS_TD

def Kernel_Accumulator : AnyTypeOf<[I32, VectorOfRankAndType<[1], [I32]>],
    "a 32-bit integer or a vector of them">;

def Kernel_Sum : AnyTypeOf<[Kernel_Accumulator, F32, VectorOfRankAndType<[1], [F16, F32, I16]>],
    "a 32-bit integer or float, or a vector of them, or of f16 or 16-bit integers">;

def Kernel_DotOp : Kernel_Op<"dot", [
    Pure, AllTypesMatch<["a", "b"]>, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Dot products of groups of narrow elements, accumulated in wide lanes";
  let description = [{
    Processors multiply narrow integers in groups: for example, one instruction
    multiplies 64 pairs of 8-bit integers and adds each four adjacent products to
    one of 16 lanes of 32 bits. With group = lanes of `a` / lanes of
    `accumulator` (2, 4, 8 or 16; also 1 for 16-bit integers),

        result[i] = accumulator[i] + sum over j < group of
                        extend(a[group * i + j]) * extend(b[group * i + j])

    modulo 2^32: nothing saturates. Elements are signless in memory, so the operation
    states whether each operand is sign-extended or `unsigned`.

    Operands of bf16 are accumulated in f32. A target may add the products of a group in
    any order, round once or after each product, and flush subnormal numbers. Operands of
    f16 are multiplied lane by lane (a group of 1) and accumulated in f16, as on
    processors with twice as many lanes for f16; the code that builds the operation has to
    widen the sums before they lose too much precision.

    Upstream has one operation per instruction and width, in a dialect per processor
    family; and `vector.contract`, which describes the reduction by affine maps that do
    not show that a group is one instruction. Here an entry of the target (`Product` in
    targets/TargetDescription.h) states that the instruction exists; without it `legalize`
    extends, multiplies and adds with `arith`, which is also the definition that all
    instructions are tested against.

        %s = kernel.dot unsigned %a, %b, %sum : vector<32xi8>, vector<8xi32>
        %t = kernel.dot %c, %d, %s : vector<16xi16>, vector<8xi32>
        %u = kernel.dot %e, %f, %g : vector<32xbf16>, vector<16xf32>
        %v = kernel.dot %h, %i, %j : vector<32xf16>, vector<32xf16>
  }];
  let arguments = (ins
    VectorOfRankAndType<[1], [I8, I16, BF16, F16]>:$a,
    VectorOfRankAndType<[1], [I8, I16, BF16, F16]>:$b,
    Kernel_Sum:$accumulator, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let results = (outs Kernel_Sum:$result);
  let assemblyFormat = [{
    (`unsigned` $a_unsigned^)? $a `,` (`unsigned` $b_unsigned^)? $b `,` $accumulator
    attr-dict `:` type($a) `,` type($accumulator)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Return the number of lanes of the accumulator, and the number of
    /// adjacent products that are added to each lane.
    int64_t getLanes();
    int64_t getGroup();
    /// Return the operands' element types with signedness, as in a target's
    /// table of intrinsics: "ui8".
    std::string getTypeOfA();
    std::string getTypeOfB();
    /// If `operand` has the same 32-bit integer in all lanes, returns that
    /// integer; otherwise null.
    static ::mlir::Value wordInAllLanes(::mlir::Value operand);
  }];
}

def Kernel_MulHighOp : Kernel_Op<"mul_high", [
    Pure, Commutative, AllTypesMatch<["x", "y", "result"]>]> {
  let summary = "The upper 32 bits of the 64-bit product of signed integers";
  let description = [{
    Scales integers by fixed-point factors: `x * m / 2^32`, rounded down. Processors
    without (vectors of) floats have one or two instructions for it.

    `arith.mulsi_extended` has both halves as results, of which the lower one would always
    be dead, and tables of intrinsics describe operations with one result. If the target
    has no entry, `legalize` multiplies in 64 bits with `arith`.

        %y = kernel.mul_high %x, %m : vector<32xi32>
  }];
  let arguments = (ins Kernel_Accumulator:$x, Kernel_Accumulator:$y);
  let results = (outs Kernel_Accumulator:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($result)";
}

def Kernel_Exp2Op : Kernel_Op<"exp2", [Pure]> {
  let summary = "2^x, by the instruction of a device";
  let description = [{
    Accurate to two units in the last place; results that would be subnormal are 0. It has
    no expansion: only built if the target's table has an entry, and not with `--strict`.

    `math.exp2` guarantees the accuracy of its dialect, and has an expansion.

        %y = kernel.exp2 %x : f32
  }];
  let arguments = (ins F32:$x);
  let results = (outs F32:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

class Kernel_NarrowOp<string mnemonic, string range> : Kernel_Op<mnemonic, [
    Pure, AllTypesMatch<["x", "y"]>]> {
  let summary = "Two vectors of integers as one of half their width, saturated";
  let description = [{
    Converts each integer to the nearest }] # range # [{ integer of half its width. Blocks
    of 128 bits of `x` and of `y` follow each other in turn, as in what processors with
    wider registers have an instruction for:

        x, y: vector<8xi32>  ->  x0 x1 x2 x3  y0 y1 y2 y3  x4 x5 x6 x7  y4 y5 y6 y7

    `arith.trunci` wraps, and no dialect for several families of processors has a
    narrowing that saturates. Without an entry in the target's table, `legalize` compares,
    truncates and shuffles.

        %z = kernel.}] # mnemonic # [{ %x, %y : vector<16xi32> to vector<32xi16>
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I16, I32]>:$x,
                       VectorOfRankAndType<[1], [I16, I32]>:$y);
  let results = (outs VectorOfRankAndType<[1], [I8, I16]>:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
}

def Kernel_NarrowSignedOp : Kernel_NarrowOp<"narrow_signed", "signed">;
def Kernel_NarrowUnsignedOp : Kernel_NarrowOp<"narrow_unsigned", "unsigned">;

def Kernel_RoundSaturatedOp : Kernel_Op<"round_saturated", [Pure]> {
  let summary = "The 32-bit integers nearest to floats, saturated";
  let description = [{
    Rounds ties to even. A number outside of the 32-bit integers gives the nearest one of
    them, NaN gives 0.

    `arith.fptosi` rounds towards zero, and its result is undefined where it does not fit.
    Without an entry in the target's table, `legalize` rounds, compares and converts.

        %y = kernel.round_saturated %x : vector<4xf32> to vector<4xi32>
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$x);
  let results = (outs VectorOfRankAndType<[1], [I32]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
}

def Kernel_AddSaturatedOp : Kernel_Op<"add_saturated", [
    Pure, AllTypesMatch<["x", "y", "result"]>]> {
  let summary = "The sums of signed 16-bit integers, saturated";
  let description = [{
    `arith.addi` wraps. Without an entry in the target's table, `legalize` adds in 32 bits
    and clamps.

        %z = kernel.add_saturated %x, %y : vector<8xi16>
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I16]>:$x,
                       VectorOfRankAndType<[1], [I16]>:$y);
  let results = (outs VectorOfRankAndType<[1], [I16]>:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

class Kernel_ZipOp<string mnemonic, string half> : Kernel_Op<mnemonic, [
    Pure, AllTypesMatch<["x", "y", "result"]>]> {
  let summary = "The " # half # " halves of blocks of two vectors, their lanes in turn";
  let description = [{
    Interleaves, for each block of 128 bits, the lanes of the }] # half # [{ half: a lane of
    `x`, the lane of `y` at the same place, and so on.

    `vector.interleave` has both halves of a whole register as its result, which registers
    of several blocks have no instruction for. Without an entry in the target's table, `legalize`
    makes a `vector.shuffle` of it, which is also what it is defined by.

        %z = kernel.}] # mnemonic # [{ %x, %y : vector<64xi8>
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8, I16]>:$x, VectorOfRankAndType<[1], [I8, I16]>:$y);
  let results = (outs VectorOfRankAndType<[1], [I8, I16]>:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_ZipLowOp : Kernel_ZipOp<"zip_low", "lower">;
def Kernel_ZipHighOp : Kernel_ZipOp<"zip_high", "upper">;

def Kernel_LowBitsOp : Kernel_Op<"low_bits", [Pure]> {
  let summary = "The lowest bits of an integer, converted to float";
  let description = [{
    Converts the lowest `bits` bits (2 or 4) as an unsigned number. Processors that look
    up lanes in a register by their lowest bits need one instruction instead of a mask
    and a conversion; if the target has no entry ("kernel.low_bits[4]"), `legalize`
    expands it to these two.

        %f = kernel.low_bits 4 of %x : vector<16xi32> to vector<16xf32>
  }];
  let arguments = (ins I64Attr:$bits, Kernel_Accumulator:$x);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = "$bits `of` $x attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name in a target's table of intrinsics: "kernel.low_bits[4]".
    std::string getIntrinsicName();
  }];
}

#endif
