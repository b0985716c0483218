//===- Buffers.h - which values share bytes, and when ------------*- C++
//-*-===//
//
// Before anything has an address: the values of @main, whose operations are
// launches (or still groups), constants and views, as pieces of buffers. A
// reshape or slice has the bytes of its operand, the parts of a concatenation
// are pieces of it, and a result takes over its operand's bytes where the
// kernel allows it and the operand is read for the last time. All that launches
// of a fork use is alive during all of the fork.
//
//===----------------------------------------------------------------------===//

#ifndef INGOT_PASSES_PLAN_BUFFERS_H
#define INGOT_PASSES_PLAN_BUFFERS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/plan/ArenaOffsets.h"
#include "llvm/ADT/DenseMap.h"

namespace ingot::plan {

/// What the elements of a tensor take in memory.
int64_t bytesOf(mlir::Type type);
/// From the first byte that `slice` reads of its operand to the end of the
/// last.
int64_t sliceOffset(mlir::Operation *slice);
/// Whether the elements of a slice follow each other in its operand.
bool isContiguous(mlir::Operation *slice);

class Buffers {
public:
  /// Reads `main` with its operations in the order given (all of its body but
  /// the terminator, or a permutation that keeps definitions before uses).
  explicit Buffers(mlir::FunctionOpInterface main,
                   llvm::ArrayRef<mlir::Operation *> order = {},
                   bool inPlace = true);

  enum Kind { Arena, Input, Output, Constant };
  struct Buffer {
    Kind kind = Arena;
    unsigned argument = 0; // of the planned main, for Input and Output
    int64_t bytes = 0;
    int64_t first = 0, last = 0; // steps that write first and read last, or of
                                 // their forks the first and the last one
    unsigned parent = 0;         // itself, or the buffer that it is part of
    int64_t shift = 0;           // bytes from the begin of the parent
    bool isNear = false;         // in near memory instead of the arena
    bool isAppended = false;     // an output that is in the memory of an input
  };
  struct Place {
    unsigned buffer;
    int64_t offset;
  };

  Place placeOf(mlir::Value value) const;
  unsigned size() const { return buffers.size(); }
  const Buffer &operator[](unsigned buffer) const { return buffers[buffer]; }
  /// Whether the result `number` of the program is in the memory of an argument.
  bool isAppended(unsigned number) const {
    return llvm::any_of(buffers, [&](const Buffer &buffer) {
      return buffer.isAppended && buffer.argument == arguments + number;
    });
  }
  /// What is to be placed in the arena, or in near memory, and for each request its
  /// buffer.
  std::vector<ArenaRequest> requests(int64_t alignment,
                                     std::vector<unsigned> *owners,
                                     bool near = false) const;
  /// The operations that are steps: launches, groups and concatenations.
  const std::vector<mlir::Operation *> &steps() const { return stepOps; }

private:
  unsigned newBuffer(Kind kind, int64_t bytes, int64_t time,
                     unsigned argument = 0);
  void read(mlir::Operation *op);
  void keepCharacters(mlir::Operation *op);
  void readReturned(mlir::FunctionOpInterface main);
  void placeParts(mlir::Operation *concat, int64_t time);
  /// Makes what a fork uses alive from its first step to its last one.
  void keepInForks();
  /// The first and the last step of the fork that a step is in; else itself.
  std::pair<int64_t, int64_t> forkAround(int64_t time) const;
  void mergeInPlace();
  bool mergeInPlace(int64_t time, mlir::Value result, mlir::Value operand);
  /// `part` lies in `whole` from byte `shift` on.
  void absorb(unsigned part, unsigned whole, int64_t shift);

  std::vector<Buffer> buffers;
  llvm::DenseMap<mlir::Value, Place> places;
  /// Pieces of concatenations: nothing is put over their operands.
  llvm::DenseSet<mlir::Value> parts;
  /// What strings are addresses of.
  llvm::SmallVector<mlir::Value> characters;
  std::vector<mlir::Operation *> stepOps;
  /// Of each step that is in a fork.
  llvm::DenseMap<int64_t, std::pair<int64_t, int64_t>> forks;
  unsigned arguments;
};

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_BUFFERS_H
