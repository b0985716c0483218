// What lies between kernels of a device and those of the host beside it.
//
// A kernel without threads runs on the host. Its launch has `near`: beside a device, near
// memory is the host's own, and all buffers of such a launch are there.

#ifndef INGOT_DIALECTS_KERNEL_HOSTOPS_TD
#define INGOT_DIALECTS_KERNEL_HOSTOPS_TD

include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/kernel/KernelDialect.td"
include "dialects/kernel/Sizes.td"

def Kernel_CopyOp : Kernel_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Brings a tensor from a device to the host, or back";
  let description = [{
    Between near memory and all other memory: to it with `near`, else from it. Not
    `memref.copy`, which has no form on tensors: the planner gives the copy its place. Not
    a launch, as no kernel runs.

        %h = kernel.copy %x {near} : (tensor<8xf32>) -> tensor<8xf32>
        kernel.copy %x to %h {near} : (memref<8xf32>, memref<8xf32>) -> ()

    Of a buffer without gaps whose tensor has a size at run time, as many `elements` are
    copied, the first ones.
  }];
  let arguments = (ins AnyTypeOf<[AnyStaticShapeMemRef, AnyStaticShapeTensor]>:$from,
                       Optional<AnyStaticShapeMemRef>:$to, UnitAttr:$near,
                       OptionalAttr<Kernel_SizesAttr>:$elements);
  let results = (outs Optional<AnyStaticShapeTensor>:$result);
  let assemblyFormat = [{
    $from (`to` $to^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

#endif
