// Maps values to buffers with live ranges, before offsets are assigned.
//
// The values of @main, whose operations are launches (or still groups),
// constants and views, become parts of buffers. A reshape or slice shares the
// bytes of its operand, and the operands of a concatenation are parts of its
// result. A result takes over the bytes of an operand if the kernel allows it
// and no later step reads the operand. Buffers that the launches of a fork
// (concurrent branches) use are live during the whole fork.

#ifndef INGOT_PASSES_PLAN_BUFFERS_H
#define INGOT_PASSES_PLAN_BUFFERS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/plan/ArenaOffsets.h"
#include "llvm/ADT/DenseMap.h"

namespace ingot::plan {

/// Returns the number of bytes that a tensor occupies.
int64_t bytesOf(mlir::Type type);
/// Returns the offset in bytes of the first element that `slice` reads of its
/// operand.
int64_t sliceOffset(mlir::Operation *slice);
/// Whether the elements of a slice are contiguous in its operand.
bool isContiguous(mlir::Operation *slice);

class Buffers {
public:
  /// Reads the operations of `main` in the order `order`, which must contain
  /// all of them except the terminator, with definitions before uses. If
  /// `order` is empty, reads them in program order. With `inPlace`, results may
  /// take over the bytes of operands.
  explicit Buffers(mlir::FunctionOpInterface main,
                   llvm::ArrayRef<mlir::Operation *> order = {},
                   bool inPlace = true);

  enum Kind { Arena, Input, Output, Constant };
  struct Buffer {
    Kind kind = Arena;
    unsigned argument = 0; // number in the planned main (Input and Output)
    int64_t bytes = 0;
    int64_t first = 0, last = 0;   // the live range in steps; in a fork, the
                                   // steps of the whole fork
    unsigned parent = 0;           // itself, or the buffer that it is part of
    int64_t shift = 0;             // offset in the parent, in bytes
    bool isInSecondMemory = false; // in VTCM or host memory, not in the arena
    bool isAppended = false; // an output that is in the memory of an input
  };
  struct Place {
    unsigned buffer;
    int64_t offset;
  };

  Place placeOf(mlir::Value value) const;
  unsigned size() const { return buffers.size(); }
  const Buffer &operator[](unsigned buffer) const { return buffers[buffer]; }
  /// Whether result `number` of the program is in the memory of an input.
  bool isAppended(unsigned number) const {
    return llvm::any_of(buffers, [&](const Buffer &buffer) {
      return buffer.isAppended && buffer.argument == arguments + number;
    });
  }
  /// Returns a request for each buffer in the arena or, with `inSecondMemory`,
  /// for each buffer in VTCM or host memory. Sets `owners`, unless it is null,
  /// to the buffer of each request.
  std::vector<ArenaRequest> requests(int64_t alignment,
                                     std::vector<unsigned> *owners,
                                     bool inSecondMemory = false) const;
  /// The operations that are steps, at which live ranges begin and end:
  /// launches, groups and concatenations.
  const std::vector<mlir::Operation *> &steps() const { return stepOps; }

private:
  unsigned newBuffer(Kind kind, int64_t bytes, int64_t time,
                     unsigned argument = 0);
  void read(mlir::Operation *op);
  void keepCharacters(mlir::Operation *op);
  void readReturned(mlir::FunctionOpInterface main);
  void placeParts(mlir::Operation *concat, int64_t time);
  /// Extends the live range of each buffer that a launch in a fork (concurrent
  /// branches) uses to the whole fork.
  void keepInForks();
  /// Returns the first and last step of the fork that contains step `time`; if
  /// none contains it, `time` itself twice.
  std::pair<int64_t, int64_t> forkAround(int64_t time) const;
  void mergeInPlace();
  bool mergeInPlace(int64_t time, mlir::Value result, mlir::Value operand);
  /// Makes buffer `part` a part of buffer `whole`, at the byte offset `shift`.
  void absorb(unsigned part, unsigned whole, int64_t shift);

  std::vector<Buffer> buffers;
  llvm::DenseMap<mlir::Value, Place> places;
  /// Operands of concatenations. The steps that compute them store them in the
  /// concatenation's buffer, so they never take over the memory of another
  /// value.
  llvm::DenseSet<mlir::Value> parts;
  /// The tensors of characters to which strings point.
  llvm::SmallVector<mlir::Value> characters;
  std::vector<mlir::Operation *> stepOps;
  /// For each step in a fork (concurrent branches), the first and last step of
  /// the fork.
  llvm::DenseMap<int64_t, std::pair<int64_t, int64_t>> forks;
  unsigned arguments;
};

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_BUFFERS_H
