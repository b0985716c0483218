// The operations of a program after lowering: launches (calls of kernels),
// buffers in the arena (the memory for intermediate tensors), views.
// KernelOps.td describes each operation, and why no upstream operation serves.

#ifndef INGOT_DIALECTS_KERNEL_KERNELDIALECT_H
#define INGOT_DIALECTS_KERNEL_KERNELDIALECT_H

#include "dialects/kernel/Sizes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "dialects/kernel/KernelDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.h.inc"

namespace ingot::kernel {

/// Names of the attributes of modules (see KernelDialect.td).
inline constexpr llvm::StringLiteral kStrictAttr = "kernel.strict";
inline constexpr llvm::StringLiteral kTargetAttr = "kernel.target";
inline constexpr llvm::StringLiteral kModelAttr = "kernel.model";
inline constexpr llvm::StringLiteral kStateBytesAttr = "kernel.state_bytes";
/// Names of the attributes of loops. `kernel.names` exists only in printed IR
/// (see ValueNames.h).
inline constexpr llvm::StringLiteral kNamesAttr = "kernel.names";
inline constexpr llvm::StringLiteral kUnrolledAttr = "kernel.unrolled";
inline constexpr llvm::StringLiteral kScalarAttr = "kernel.scalar";
/// Name of an attribute of loads. One thread loads adjacent elements by several
/// loads with this attribute, which the device can combine into one access.
inline constexpr llvm::StringLiteral kSideBySideAttr = "kernel.side_by_side";
/// Name of an attribute of functions that kernels call: a comment to print
/// above the C++ function.
inline constexpr llvm::StringLiteral kCommentAttr = "kernel.comment";
/// Names of the attributes of programs (entry points, and bodies of ifs and
/// loops). `kernel.equal_sizes` is a flat list of pairs of sizes: x0, y0, x1,
/// y1, ... The two sizes of a pair must be equal at run time.
inline constexpr llvm::StringLiteral kEqualSizesAttr = "kernel.equal_sizes";
inline constexpr llvm::StringLiteral kMacsRecomputedAttr =
    "kernel.macs_recomputed";
inline constexpr llvm::StringLiteral kVtcmLeastAttr = "kernel.vtcm_least";
/// Attributes of the arguments of kernels: the name in the generated code, and
/// that the kernel only reads the argument.
inline constexpr llvm::StringLiteral kNameAttr = "kernel.name";
inline constexpr llvm::StringLiteral kReadAttr = "kernel.read";
/// States that the generated C++ code accesses a buffer of signless integers as
/// unsigned integers.
inline constexpr llvm::StringLiteral kUnsignedAttr = "kernel.unsigned";
inline constexpr llvm::StringLiteral kAlignAttr = "kernel.align";
inline constexpr llvm::StringLiteral kClearedAttr = "kernel.cleared";
inline constexpr llvm::StringLiteral kMayAliasAttr = "kernel.may_alias";
/// Names of attributes of the arguments and results of programs (entry points,
/// and bodies of ifs and loops).
inline constexpr llvm::StringLiteral kOnnxNameAttr = "kernel.onnx_name";
inline constexpr llvm::StringLiteral kOnnxTypeAttr = "kernel.onnx_type";
inline constexpr llvm::StringLiteral kOutputAttr = "kernel.output";
inline constexpr llvm::StringLiteral kBoundAttr = "kernel.bound";
inline constexpr llvm::StringLiteral kSizesAttr = "kernel.sizes";
inline constexpr llvm::StringLiteral kPartAttr = "kernel.part";
inline constexpr llvm::StringLiteral kElementAttr = "kernel.element";
inline constexpr llvm::StringLiteral kStateAttr = "kernel.state";
inline constexpr llvm::StringLiteral kStreamAttr = "kernel.stream";
inline constexpr llvm::StringLiteral kStreamedAttr = "kernel.streamed";
inline constexpr llvm::StringLiteral kSlotsAttr = "kernel.slots";
inline constexpr llvm::StringLiteral kPhaseAttr = "kernel.phase";
inline constexpr llvm::StringLiteral kAppendedAttr = "kernel.appended";
/// The values of `kernel.part`: which part of an ONNX sequence or optional
/// value a tensor of the interface contains.
inline constexpr llvm::StringLiteral kElementsPart = "elements";
inline constexpr llvm::StringLiteral kShapesPart = "shapes";
inline constexpr llvm::StringLiteral kPresentPart = "present";

/// Returns the trip count of the parallel loop of a kernel (on a GPU, the
/// number of thread blocks); nullopt if it has no such loop.
std::optional<Dim> extentOf(FuncOp kernel);
void setExtent(FuncOp kernel, const Dim &extent);
/// Returns the number of trailing arguments of a kernel that select a range of
/// the parallel loop: 2 (begin and end), or 0 if there is no such loop or if
/// the kernel runs on a GPU.
unsigned partArguments(FuncOp kernel);
/// Whether threads share the iterations of loops inside the kernel
/// (`kernel.parallel`).
bool sharesSteps(FuncOp kernel);
/// Whether a launch of the kernel has work for several threads.
bool usesThreads(FuncOp kernel);

/// Checks that the launches of a fork (whose branches run concurrently) are
/// consecutive, and that none reads a value that another branch computes. A
/// program with forks must be public and do no work on the host.
llvm::LogicalResult verifyForks(ProgramOp program);
/// Checks that the launches of a worker group (`team`: the same threads process
/// them in sequence) are consecutive. Between them, no other operation may do
/// work or make the program return an error.
llvm::LogicalResult verifyTeams(ProgramOp program);

/// Returns the bytes of one element in memory; types narrower than a byte, such
/// as i1, take one byte.
int64_t elementBytes(mlir::Type elementType);

/// Returns the bytes from the start of a static memref to the end of its last
/// element, including the layout's offset. 0 for an empty memref.
int64_t spanBytes(mlir::MemRefType type);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_KERNELDIALECT_H
