// The builder with which strategies and tiles create loops.

#ifndef INGOT_PASSES_SCHEDULE_KERNELBUILDER_H
#define INGOT_PASSES_SCHEDULE_KERNELBUILDER_H

#include "dialects/graph/ExprNames.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/schedule/GroupView.h"
#include "passes/schedule/Plan.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// Builds the body of a kernel function whose buffers are bound to the tensors
/// of a group.
class KernelBuilder : public graph::BodyBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, kernel::FuncOp function,
                GroupOnTarget group, mlir::ValueRange outputs)
      : BodyBuilder(builder, function.getLoc(), outputs), group(group),
        target(group.target), function(function) {}

  GroupOnTarget group;
  const TargetDescription &target;
  kernel::FuncOp function;
  Plan plan;
  /// The predicted cycles of all iterations of forShared, if they are divided
  /// among threads; not set otherwise.
  std::optional<int64_t> sharedCycles;

  /// Properties of the kernel, besides its arguments, that its launches depend
  /// on.
  struct Promises {
    /// Pairs (i, j): result i may be written over operand j.
    llvm::SmallVector<std::pair<int64_t, int64_t>> inPlace;
    /// Scratch buffers of the kernel, which are live only while it runs.
    llvm::SmallVector<mlir::Type> scratch;
    /// Indices of the scratch buffers that must be zeroed before each launch.
    llvm::SmallVector<size_t> cleared;
  };
  Promises promises;

  /// Adds an argument for each dynamic size of the group's tensors.
  void addSizes();
  /// Removes the size arguments that the finished kernel does not use.
  void dropUnusedSizes();

  /// Returns result `i` of the group as a value of tensor type.
  mlir::Value result(unsigned i = 0) const { return group.results()[i]; }

  /// Emits `for i in [0, extent)`, divided among threads if the target has them
  /// and the kernel takes long enough. Called at most once per kernel, for the
  /// outermost loop.
  void parallelFor(const graph::Dim &extent,
                   llvm::function_ref<void(graph::Expr)> body);
  /// Part `number` of `count` equal parts into which the steps of one iteration
  /// of parallelFor are divided.
  struct Part {
    graph::Expr number;
    int64_t count;
  };
  /// Like the overload above, with `steps` steps inside each iteration. If
  /// `extent` is small, the steps of an iteration are divided into equal parts
  /// so that a few cores get equal shares.
  void parallelFor(const graph::Dim &extent, int64_t steps,
                   llvm::function_ref<void(graph::Expr, const Part &)> body);
  /// Emits a loop over [0, trips), divided among threads if `sharedCycles` is
  /// set; `body` emits the code for the iterations [begin, end) of one thread.
  /// A kernel has either any number of these loops or a single parallelFor.
  void
  forShared(int64_t trips,
            llvm::function_ref<void(graph::Expr, graph::Expr)> body) override;
  /// Divides [0, extent) among threads. `body` emits the code of one thread for
  /// [begin, end), which is the whole range if one thread does all. Memory
  /// indexed by `begin` belongs to that thread alone. Called at most once per
  /// kernel, for the outermost loop.
  void
  forPart(const graph::Dim &extent,
          llvm::function_ref<void(graph::Expr begin, graph::Expr end)> body);
  /// Emits a loop nest over all of `trips`, whose outermost loop is divided
  /// among threads as by parallelFor. If the first axis has few iterations, it
  /// is merged with the next ones.
  void forIndependent(
      llvm::ArrayRef<graph::Dim> trips,
      llvm::function_ref<void(llvm::ArrayRef<graph::Expr>)> body) override;
  /// Whether threads can share each row of `length` elements: rows are long
  /// enough, and partial results of `type` can be exchanged. Callers that sum
  /// in order (--strict) do not share rows.
  virtual bool sharesRows(int64_t length, mlir::Type type) const {
    return false;
  }
  /// Makes the kernel run on a single device thread.
  void onOneThread();
  /// Emits `body` for each thread of `blocks` blocks of the device. `body` gets
  /// the block's number and the thread's number in the block. Called at most
  /// once per kernel, for the outermost loop.
  void onBlocks(const graph::Dim &blocks, int64_t threads,
                llvm::function_ref<void(graph::Expr, graph::Expr)> body);
  /// Allocates a buffer in the shared memory of a block.
  mlir::Value shared(llvm::ArrayRef<int64_t> shape, mlir::Type type,
                     const llvm::Twine &name);
  /// Returns how many device threads share each row: a warp, or a block of
  /// several warps if there are few rows and each thread gets at least two
  /// elements.
  int64_t threadsOfRow(llvm::ArrayRef<graph::Dim> rows, int64_t length) const;
  /// Emits `body` for each index in `trips`, which `threads` threads of the
  /// device (a warp or a block) execute together. `body` gets the index and the
  /// thread's number among these threads. Called at most once per kernel, for
  /// the outermost loop.
  void forSharedRows(
      llvm::ArrayRef<graph::Dim> trips, int64_t threads,
      llvm::function_ref<void(llvm::ArrayRef<graph::Expr>, graph::Expr)> body);
  /// Reduces one value per thread across a warp with `merge`; all threads get
  /// the result.
  graph::Expr
  acrossWarp(graph::Expr value,
             llvm::function_ref<graph::Expr(graph::Expr, graph::Expr)> merge);
  /// Reduces one value per thread across the threads that forSharedRows assigns
  /// to one index.
  graph::Expr acrossThreads(
      graph::Expr value,
      llvm::function_ref<graph::Expr(graph::Expr, graph::Expr)> merge) override;
  /// Emits a barrier for all threads of the block.
  void barrier();
  /// Emits `body(i, lanes)` for the elements [0, size): in the target's vectors
  /// of `type`, then for the rest in narrower ones. `widest` limits the lanes
  /// if not 0.
  void forLanes(const graph::Dim &size, mlir::Type type,
                llvm::function_ref<void(graph::Expr i, int64_t lanes)> body,
                int64_t widest = 0);
  /// Emits `body(i, lanes)` for the elements of `part`, one of the parts of [0,
  /// size). If there are several parts, each consists of whole vectors.
  void forLanes(const Part &part, int64_t size, mlir::Type type,
                llvm::function_ref<void(graph::Expr i, int64_t lanes)> body);
  /// Returns which of the types `a` and `b` determines the number of lanes in
  /// code that computes with both: the type with fewer elements per vector, or
  /// with more if the target uses whole registers only. Returns `a` if there is
  /// no difference.
  mlir::Type decidingLanes(mlir::Type a, mlir::Type b) const;
  /// Emits `if (condition) then(); else otherwise();`.
  void branch(graph::Expr condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  /// Declares that result `result` may be written over operand `operand`,
  /// unless the result is part of a larger tensor.
  void allowInPlace(unsigned result, unsigned operand);
  /// Returns `buffer` viewed in another shape; null if its strides do not allow
  /// it (an output may be part of a larger tensor).
  mlir::Value view(mlir::Value buffer, llvm::ArrayRef<int64_t> shape);
  /// Whether an output is a tensor of its own, not part of a larger one.
  bool isContiguous(unsigned output) const;
  /// Adds a scratch buffer to the kernel's outputs, live only while the kernel
  /// runs.
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape, mlir::Type type);
  /// Adds a scratch buffer of counters for the blocks of a device, zeroed
  /// before each launch.
  mlir::Value counts(int64_t size);

  /// Records what launches have to know of the complete kernel, and replaces
  /// what its machine cannot execute. `startsOutside`: how many launches would
  /// start one by one if the host ran it.
  virtual mlir::LogicalResult finish(int64_t startsOutside);
  virtual ~KernelBuilder() = default;

  /// Emits `body` for all indices of an iteration space of sizes `trips`. Each
  /// index is processed by `each` consecutive threads of the device; `body`
  /// gets the index and the number of the thread, from 0 to `each` - 1.
  void forPlaces(
      llvm::ArrayRef<graph::Dim> trips, int64_t each,
      llvm::function_ref<void(llvm::ArrayRef<graph::Expr>, graph::Expr)> body);
  /// Emits `body(i)` for i in [0, count), each for one device thread, in blocks
  /// of at most `ofBlock` threads.
  void onThreads(const graph::Dim &count, int64_t ofBlock,
                 llvm::function_ref<void(graph::Expr)> body);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_KERNELBUILDER_H
