// Operations that copy data between kernels on a device and kernels on the
// host.
//
// A kernel without threads runs on the host. Its launch has the attribute
// `second_memory`, which for a GPU target means that all buffers of the launch
// are in host memory.

#ifndef INGOT_DIALECTS_KERNEL_HOSTOPS_TD
#define INGOT_DIALECTS_KERNEL_HOSTOPS_TD

include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/kernel/KernelDialect.td"
include "dialects/kernel/Sizes.td"

def Kernel_CopyOp : Kernel_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Copies a tensor from the device to the host, or back";
  let description = [{
    Copies a tensor between a GPU's memory and host memory: to the host with `second_memory`, to
    the device without it. Not `memref.copy`, which has no form on tensors, where the
    planner still has to assign the result a buffer.
    Not a launch, since no kernel runs.

        %h = kernel.copy %x {second_memory} : (tensor<8xf32>) -> tensor<8xf32>
        kernel.copy %x to %h {second_memory} : (memref<8xf32>, memref<8xf32>) -> ()

    If the tensor has a dynamic size and its buffer no gaps, only the first `elements`
    elements are copied.
  }];
  let arguments = (ins AnyTypeOf<[AnyStaticShapeMemRef, AnyStaticShapeTensor]>:$from,
                       Optional<AnyStaticShapeMemRef>:$to, UnitAttr:$second_memory,
                       OptionalAttr<Kernel_SizesAttr>:$elements);
  let results = (outs Optional<AnyStaticShapeTensor>:$result);
  let assemblyFormat = [{
    $from (`to` $to^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

#endif
