// Operations on vectors that are instructions of some targets. A row of a target says
// that it has one; without, passes/legalize computes the same by `arith` and `vector`.

#ifndef INGOT_DIALECTS_KERNEL_VECTOROPS_TD
#define INGOT_DIALECTS_KERNEL_VECTOROPS_TD

def Kernel_Accumulator : AnyTypeOf<[I32, VectorOfRankAndType<[1], [I32]>],
    "a 32-bit integer or a vector of them">;

def Kernel_Sum : AnyTypeOf<[Kernel_Accumulator, F32, VectorOfRankAndType<[1], [F16, F32]>],
    "a 32-bit integer or float, or a vector of them, or a vector of f16">;

def Kernel_DotOp : Kernel_Op<"dot", [
    Pure, AllTypesMatch<["a", "b"]>, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Products of narrow numbers, summed in groups into wide lanes";
  let description = [{
    Processors multiply narrow integers in groups: one instruction multiplies 64
    pairs of bytes and adds each four neighbouring products to one of 16 lanes of
    32 bits. With group = lanes of `a` / lanes of `accumulator` (2, 4, 8 or 16),

        result[i] = accumulator[i] + sum over j < group of
                        extend(a[group * i + j]) * extend(b[group * i + j])

    modulo 2^32: nothing saturates. Elements have no sign in memory, so the
    operation says how each operand is extended: by its sign, or as `unsigned`.

    Operands of bf16 are summed in f32. A target may take the products of a group in
    any order, round once or after each of them, and take subnormal numbers for zeros.
    Operands of f16 are multiplied lane by lane (a group of 1) and summed in f16, as
    processors do that have twice as many lanes for them; it is for who asks to widen such
    sums before they lose too much.

    Upstream has one operation for each instruction, of one width each, in a dialect
    for each family of processors, none of which has a form for the others; and
    `vector.contract`, which names the reduction by affine maps,
    from which nobody could tell that a group is one instruction. Here a row of the
    target (`Product` in targets/TargetDescription.h) says that there is an
    instruction; without a row, `legalize` extends, multiplies and adds with
    `arith`, which is also the definition that all instructions are tested against.

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
    /// Lanes of the accumulator, and neighbouring products that go into each.
    int64_t getLanes();
    int64_t getGroup();
    /// The operands' elements with their sign, as rows of targets name them: "ui8".
    std::string getTypeOfA();
    std::string getTypeOfB();
    /// The integer of 32 bits that an operand has in all lanes; null if it is not
    /// such a vector.
    static ::mlir::Value wordInAllLanes(::mlir::Value operand);
  }];
}

def Kernel_MulHighOp : Kernel_Op<"mul_high", [
    Pure, Commutative, AllTypesMatch<["x", "y", "result"]>]> {
  let summary = "The upper half of a product of signed integers of 32 bits";
  let description = [{
    What a scale between integers is: `x * m / 2^32`, rounded down. Processors without
    (vectors of) floats have an instruction or two for it.

    `arith.mulsi_extended` has both halves as results, of which the lower one would always
    be dead, and tables of intrinsics describe operations by one result. Without a row of
    the target, `legalize` multiplies in 64 bits with `arith`.

        %y = kernel.mul_high %x, %m : vector<32xi32>
  }];
  let arguments = (ins Kernel_Accumulator:$x, Kernel_Accumulator:$y);
  let results = (outs Kernel_Accumulator:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($result)";
}

def Kernel_Exp2Op : Kernel_Op<"exp2", [Pure]> {
  let summary = "2^x, as one instruction of a device has it";
  let description = [{
    Within two units in the last place; a result that would be subnormal is 0. There is no
    other way to compute it: whoever makes one has asked the target's table for its row.
    Not with `--strict`.

    `math.exp2` is as accurate as all of that dialect, and has an expansion.

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
    Of each integer the nearest }] # range # [{ integer of half its width. Blocks
    of 128 bits of `x` and of `y` follow each other in turn, as in what processors with
    wider registers have an instruction for:

        x, y: vector<8xi32>  ->  x0 x1 x2 x3  y0 y1 y2 y3  x4 x5 x6 x7  y4 y5 y6 y7

    `arith.trunci` wraps, and no dialect for several families of processors has a
    narrowing that saturates. Without a row of the target, `legalize` compares,
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

class Kernel_ZipOp<string mnemonic, string half> : Kernel_Op<mnemonic, [
    Pure, AllTypesMatch<["x", "y", "result"]>]> {
  let summary = "The " # half # " halves of blocks of two vectors, their lanes in turn";
  let description = [{
    Of each block of 128 bits the }] # half # [{ half: a lane of `x`, the lane of `y` at the
    same place, and so on.

    `vector.interleave` has both halves of a whole register as its result, which registers
    of several blocks have no instruction for. Without a row of the target, `legalize`
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
  let summary = "The lowest bits of an integer as a float";
  let description = [{
    A number of 2 or 4 bits without a sign, whatever is above it. Processors that look up
    lanes in a register by their lowest bits need one instruction for what otherwise is a
    mask and a conversion; without a row of the target ("kernel.low_bits[4]"), `legalize`
    makes these two of it.

        %f = kernel.low_bits 4 of %x : vector<16xi32> to vector<16xf32>
  }];
  let arguments = (ins I64Attr:$bits, Kernel_Accumulator:$x);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = "$bits `of` $x attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What rows of targets call it.
    std::string getIntrinsicName();
  }];
}

#endif
