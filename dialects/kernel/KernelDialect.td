// The dialect, and what its operations are made of.

#ifndef INGOT_DIALECTS_KERNEL_KERNELDIALECT_TD
#define INGOT_DIALECTS_KERNEL_KERNELDIALECT_TD

include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::ingot::kernel";
  let summary = "Launching planned kernels on planned buffers";
  let description = [{
    Attributes of modules:
    - `kernel.strict` (unit): operations on floats keep their order.
    - `kernel.target` (string): the target that was decided for.
    - `kernel.model` (string): the file that was imported, for comments.
    - `kernel.state_bytes` (i64), after planning: the memory that lives from run to run.
    Attributes of loops:
    - `kernel.unrolled` (bool): compilers write all passes one after the other, so that
      what these index stays in registers; false: each by itself, since one pass fills
      the registers.
    Attributes of loads:
    - `kernel.side_by_side` (unit): one of several that a thread makes of neighbouring
      elements, and its device can make one of.
    Attributes of programs, and of functions that become programs:
    - `kernel.macs_recomputed` (i64): multiply-adds done twice to save memory.
    - `kernel.near_least` (i64): the least near memory with which vectors read nothing
      elsewhere but constants, where there is less.
    Attributes of the arguments of kernels:
    - `kernel.name` (string): the name to print.
    - `kernel.read` (unit): only read.
    - `kernel.align` (i64): all launches pass an address that is a multiple of so many
      bytes, and neighbours are loaded together.
    - `kernel.may_alias` (unit): may share bytes with another argument.
    Attributes of the arguments of programs; before planning of the arguments
    and results of the function that becomes the program:
    - `kernel.onnx_name` (string): what the model calls the tensor.
    - `kernel.onnx_type` (string): its element type in ONNX's words, with the
      sign that memory does not know.
    - `kernel.output` (unit): written by the program; the others are only read.
    - `kernel.bound` (elements): the only value that the caller may pass.
    - `kernel.state` (string): of an input, that it is what the last run has stored as
      the output with the same name; of an output, that the next run gets it.
    - `kernel.slots` (two i64), after planning of such a tensor: its place in the state,
      and its place where the byte at `kernel.phase` (i64) of the state is odd. A run
      that writes the output changes that byte. Without it both places are one.
    - `kernel.appended` (unit), after planning of such an output: the run has stored it in
      the memory of the input with the same name.
    - `kernel.sizes` (sizes): of a buffer, whose type says the most: the sizes at
      run time.
    - `kernel.part` (string): what the tensor is of a value that is a sequence or
      optional: `elements` (a matrix with a row for each element, which lies at the
      beginning of its row), `shapes` (their shapes, a row each) or `present`
      (whether an optional value is there).
    - `kernel.element` (sizes): the shape of all elements of a sequence, which has
      no `shapes` then.
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
