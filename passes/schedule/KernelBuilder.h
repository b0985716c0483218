// What strategies and tiles build loops with.

#ifndef INGOT_PASSES_SCHEDULE_KERNELBUILDER_H
#define INGOT_PASSES_SCHEDULE_KERNELBUILDER_H

#include "dialects/graph/ExprNames.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/schedule/GroupView.h"
#include "passes/schedule/Plan.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// What a strategy builds in: the kernel function with its buffers bound.
class KernelBuilder : public graph::BodyBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, kernel::FuncOp function,
                GroupView group, const TargetDescription &target,
                mlir::ValueRange outputs)
      : BodyBuilder(builder, function.getLoc(), outputs), group(group),
        target(target), function(function) {}

  GroupView group;
  const TargetDescription &target;
  kernel::FuncOp function;
  Plan plan;
  /// Whether threads divide the passes of forShared.
  bool sharesSteps = false;

  /// What launches of the kernel have to know besides its arguments.
  struct Promises {
    /// Result i may be written over operand j.
    llvm::SmallVector<std::pair<int64_t, int64_t>> inPlace;
    /// Tensors that are only scratch memory: live while the kernel runs.
    llvm::SmallVector<mlir::Type> scratch;
    /// Which of these are cleared in front of each launch.
    llvm::SmallVector<size_t> cleared;
  };
  Promises promises;

  /// Makes arguments of the sizes at run time that the group's tensors have.
  void addSizes();
  /// Removes those that nothing has asked for, when all is built.
  void dropUnusedSizes();

  /// The result tensor `i`, its type.
  mlir::Value result(unsigned i = 0) const { return group.results()[i]; }

  /// for i in [0, extent), divided among threads where there are any and the
  /// kernel takes long enough. Once per kernel, outermost.
  void parallelFor(const graph::Dim &extent,
                   llvm::function_ref<void(graph::Expr)> body);
  /// One of `count` equal parts of what is done for one step.
  struct Piece {
    graph::Expr number;
    int64_t count;
  };
  /// As parallelFor, where `steps` steps are done for each i: with few i they are cut
  /// into pieces that `steps` is a multiple of, so that few cores have equal shares.
  void parallelFor(const graph::Dim &extent, int64_t steps,
                   llvm::function_ref<void(graph::Expr, const Piece &)> body);
  /// One kernel has either this, in any number of its steps, or one loop of those
  /// above. Threads divide the passes where `sharesSteps`.
  void
  forShared(int64_t trips,
            llvm::function_ref<void(graph::Expr, graph::Expr)> body) override;
  /// Has threads divide [0, extent) among themselves; `body` is what one of them does of
  /// it: from `begin` to `end`. Where all is done at once, that is all of it. Memory at
  /// the number `begin` is no other thread's. Once per kernel, outermost.
  void
  forPart(const graph::Dim &extent,
          llvm::function_ref<void(graph::Expr begin, graph::Expr end)> body);
  /// As parallelFor, over all of `trips`: leading axes are divided together
  /// where the first has few parts.
  void forIndependent(
      llvm::ArrayRef<graph::Dim> trips,
      llvm::function_ref<void(llvm::ArrayRef<graph::Expr>)> body) override;
  /// On a device the threads of `threadsOfRow` share a row that has elements enough.
  void
  forRows(llvm::ArrayRef<graph::Dim> trips, const graph::Dim &length,
          mlir::Type type,
          llvm::function_ref<void(llvm::ArrayRef<graph::Expr>)> body) override;
  /// On a device each thread has a column.
  void forColumns(
      llvm::ArrayRef<graph::Dim> trips,
      llvm::function_ref<void(llvm::ArrayRef<graph::Expr>)> body) override;
  /// Has the whole kernel run on a single thread of the device.
  void onOneThread();
  /// Runs `body` on each thread of so many blocks of the device, with the numbers of
  /// the block and of the thread in it. Once per kernel, outermost.
  void onBlocks(const graph::Dim &blocks, int64_t threads,
                llvm::function_ref<void(graph::Expr, graph::Expr)> body);
  /// Memory that the threads of a block share, at most what the target has.
  mlir::Value shared(llvm::ArrayRef<int64_t> shape, mlir::Type type,
                     const llvm::Twine &name);
  /// How many threads of the device share each of so many rows: a warp, or a block of more
  /// where there are few rows and each thread gets two elements at least.
  int64_t threadsOfRow(llvm::ArrayRef<graph::Dim> rows, int64_t length) const;
  /// Runs `body` for each place in `trips` on so many threads of the device, a warp or a
  /// block, with the number of the thread among these. Once per kernel, outermost.
  void forSharedRows(
      llvm::ArrayRef<graph::Dim> trips, int64_t threads,
      llvm::function_ref<void(llvm::ArrayRef<graph::Expr>, graph::Expr)> body);
  /// Merges a value of each thread of a warp; all threads get the result.
  graph::Expr
  acrossWarp(graph::Expr value,
             llvm::function_ref<graph::Expr(graph::Expr, graph::Expr)> merge);
  /// The same for the threads that forSharedRows has for a place.
  graph::Expr acrossThreads(
      graph::Expr value,
      llvm::function_ref<graph::Expr(graph::Expr, graph::Expr)> merge) override;
  /// Waits for all threads of the block.
  void barrier();
  /// Runs `body(i, lanes)` over [0, size) in the target's vectors of `type`,
  /// then the rest in narrower ones. `widest` limits the lanes.
  void forLanes(const graph::Dim &size, mlir::Type type,
                llvm::function_ref<void(graph::Expr i, int64_t lanes)> body,
                int64_t widest = 0);
  /// The same over one piece of [0, size). If there are several, these are whole vectors.
  void forLanes(const Piece &piece, int64_t size, mlir::Type type,
                llvm::function_ref<void(graph::Expr i, int64_t lanes)> body);
  /// Returns which of two types decides how many lanes code has that computes in
  /// both: that of which a vector holds fewer elements, unless the target takes whole
  /// registers. The first one if there is no difference.
  mlir::Type decidingLanes(mlir::Type a, mlir::Type b) const;
  /// if (condition) then(); else otherwise();
  void branch(graph::Expr condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  /// The result `i` may be written over operand `operand`.
  void allowInPlace(unsigned result, unsigned operand);
  /// The same buffer under another shape; null if its strides do not allow it
  /// (outputs may lie inside a larger tensor).
  mlir::Value view(mlir::Value buffer, llvm::ArrayRef<int64_t> shape);
  /// Whether an output is a tensor of its own.
  bool isContiguous(unsigned output) const;
  /// Adds an output that is only scratch memory: live while the kernel runs.
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape, mlir::Type type);
  /// The same for numbers that the blocks of a device count in, zeros at first.
  mlir::Value counts(int64_t size);

private:
  /// Runs `body` for each place in `trips` on `each` threads of the device, with the
  /// number of the thread among these.
  void forPlaces(
      llvm::ArrayRef<graph::Dim> trips, int64_t each,
      llvm::function_ref<void(llvm::ArrayRef<graph::Expr>, graph::Expr)> body);
  /// Runs `body(i)` for i in [0, count), each on a thread of the device, in blocks of so
  /// many or of what there is to do.
  void onThreads(const graph::Dim &count, int64_t ofBlock,
                 llvm::function_ref<void(graph::Expr)> body);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_KERNELBUILDER_H
