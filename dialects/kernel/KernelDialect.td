// The kernel dialect and its attributes.

#ifndef INGOT_DIALECTS_KERNEL_KERNELDIALECT_TD
#define INGOT_DIALECTS_KERNEL_KERNELDIALECT_TD

include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::ingot::kernel";
  let summary = "Launches of kernels on planned buffers";
  let description = [{
    Attributes of modules:
    - `kernel.strict` (unit): floating-point operations must not be reordered.
    - `kernel.target` (string): the target that the decisions were made for.
    - `kernel.model` (string): the imported file, for comments.
    - `kernel.state_bytes` (i64), after planning: the memory that persists between runs.
    Attributes of loops:
    - `kernel.unrolled` (bool): true: C++ compilers shall unroll the loop fully, so that
      arrays indexed by it stay in registers; false: they shall not unroll it, since a
      single iteration fills the registers.
    - `kernel.unroll_count` (i64): C++ compilers shall unroll the loop this many times;
      `kernel.clang_unroll_count` (i64): only clang shall do so.
    - `kernel.scalar` (unit): C++ compilers must not vectorize the loop.
    Attributes of loads:
    - `kernel.side_by_side` (unit): one of several loads of adjacent elements by one thread,
      which the device can combine.
    Attributes of programs, and of functions that become programs:
    - `kernel.macs_recomputed` (i64): multiply-adds computed twice to save memory.
    - `kernel.vtcm_least` (i64), if the target's VTCM is too small: the least size of VTCM with
      which vectors would read nothing but constants from other memory.
    Attributes of the arguments of kernels:
    - `kernel.name` (string): the name to print.
    - `kernel.read` (unit): the argument is only read.
    - `kernel.align` (i64): all launches pass an address that is a multiple of this many
      bytes, and adjacent elements are loaded together.
    - `kernel.may_alias` (unit): the argument may overlap another one.
    Attributes of the arguments of programs (before planning, of the arguments and results of
    the function that becomes the program):
    - `kernel.onnx_name` (string): the name of the tensor in the model.
    - `kernel.onnx_type` (string): its ONNX element type, with the signedness that the
      memref type lacks.
    - `kernel.output` (unit): written by the program; other arguments are only read.
    - `kernel.bound` (elements): the only value that the caller may pass.
    - `kernel.state` (string): on an input: its value is what the previous run stored as the
      output of the same name; on an output: the next run reads it.
    - `kernel.stream` (two i64), on an input, before the stage `simplify` streams it: the axis
      along which a call shall take only new columns, and their number; 0: the least possible.
    - `kernel.streamed` (five i64), on an input that takes new columns only: the axis, the
      columns of a call, the columns of the window, the multiply-adds of a call, and those of
      the whole window.
    - `kernel.slots` (two i64), after planning of such a tensor: its offset in the state, and
      its offset while the byte at `kernel.phase` (i64) of the state is odd. A run that
      writes the output flips that byte. Without `kernel.phase` both offsets are equal.
    - `kernel.appended` (unit), after planning of such an output: the run has stored it in
      place, in the memory of the input of the same name.
    - `kernel.sizes` (sizes): the dynamic sizes of a buffer, whose type has the maximum sizes.
    - `kernel.part` (string): the role of the tensor in a sequence or optional value:
      `elements` (a matrix with a row for each element, stored from the beginning of the
      row), `shapes` (their shapes, a row each) or `present` (whether an optional value
      exists).
    - `kernel.element` (sizes): the shape that all elements of a sequence have; it then has
      no `shapes`.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registers the attributes of Sizes.td.
    void addSizes();
  }];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

#endif // INGOT_DIALECTS_KERNEL_KERNELDIALECT_TD
