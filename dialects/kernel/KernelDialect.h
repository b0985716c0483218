// Launches, arena buffers, views.
//
// The operations of the main function after lowering; see KernelOps.td for what
// each is and why upstream has none like it.

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

/// Names of the attributes that KernelOps.td describes: of modules,
inline constexpr llvm::StringLiteral kStrictAttr = "kernel.strict";
inline constexpr llvm::StringLiteral kTargetAttr = "kernel.target";
inline constexpr llvm::StringLiteral kModelAttr = "kernel.model";
inline constexpr llvm::StringLiteral kStateBytesAttr = "kernel.state_bytes";
/// of loops, in text alone (ValueNames.h),
inline constexpr llvm::StringLiteral kNamesAttr = "kernel.names";
inline constexpr llvm::StringLiteral kUnrolledAttr = "kernel.unrolled";
/// of loads (of neighbouring elements by one thread, that its device can make one of),
inline constexpr llvm::StringLiteral kSideBySideAttr = "kernel.side_by_side";
/// of functions that kernels call,
inline constexpr llvm::StringLiteral kCommentAttr = "kernel.comment";
/// of programs (pairs of sizes that have to be equal in a run, one after the other),
inline constexpr llvm::StringLiteral kEqualSizesAttr = "kernel.equal_sizes";
inline constexpr llvm::StringLiteral kMacsRecomputedAttr =
    "kernel.macs_recomputed";
inline constexpr llvm::StringLiteral kNearLeastAttr = "kernel.near_least";
/// of the arguments of kernels,
inline constexpr llvm::StringLiteral kNameAttr = "kernel.name";
inline constexpr llvm::StringLiteral kReadAttr = "kernel.read";
inline constexpr llvm::StringLiteral kAlignAttr = "kernel.align";
inline constexpr llvm::StringLiteral kClearedAttr = "kernel.cleared";
inline constexpr llvm::StringLiteral kMayAliasAttr = "kernel.may_alias";
/// and of the arguments and results of programs.
inline constexpr llvm::StringLiteral kOnnxNameAttr = "kernel.onnx_name";
inline constexpr llvm::StringLiteral kOnnxTypeAttr = "kernel.onnx_type";
inline constexpr llvm::StringLiteral kOutputAttr = "kernel.output";
inline constexpr llvm::StringLiteral kBoundAttr = "kernel.bound";
inline constexpr llvm::StringLiteral kSizesAttr = "kernel.sizes";
inline constexpr llvm::StringLiteral kPartAttr = "kernel.part";
inline constexpr llvm::StringLiteral kElementAttr = "kernel.element";
inline constexpr llvm::StringLiteral kStateAttr = "kernel.state";
inline constexpr llvm::StringLiteral kSlotsAttr = "kernel.slots";
inline constexpr llvm::StringLiteral kPhaseAttr = "kernel.phase";
inline constexpr llvm::StringLiteral kAppendedAttr = "kernel.appended";
/// What kPartAttr can say.
inline constexpr llvm::StringLiteral kElementsPart = "elements";
inline constexpr llvm::StringLiteral kShapesPart = "shapes";
inline constexpr llvm::StringLiteral kPresentPart = "present";

/// How far the parallel loop of a kernel goes, if it has one.
std::optional<Dim> extentOf(FuncOp kernel);
void setExtent(FuncOp kernel, const Dim &extent);
/// Returns how many arguments at a kernel's end say which part of the parallel loop a
/// call does: begin and end, or none.
unsigned partArguments(FuncOp kernel);
/// Whether threads share steps inside of the kernel (`kernel.parallel`).
bool sharesSteps(FuncOp kernel);
/// Whether threads have anything to do in a launch of the kernel.
bool usesThreads(FuncOp kernel);

/// Checks that launches of a fork follow each other, and that none asks for what another
/// of its branches computes.
llvm::LogicalResult verifyForks(ProgramOp program);
/// Checks that launches of a team follow each other, and that nothing but launches is
/// among them that takes time or ends the run.
llvm::LogicalResult verifyTeams(ProgramOp program);

/// Bytes of one element in memory: i1 is one byte, narrower types round up.
int64_t elementBytes(mlir::Type elementType);

/// Bytes from the first to the last element of a static memref, plus one
/// element; includes the layout's offset. Zero for an empty memref.
int64_t spanBytes(mlir::MemRefType type);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_KERNELDIALECT_H
