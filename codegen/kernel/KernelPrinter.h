// Prints a kernel, in the form that `legalize` guarantees, as a C++ function:
// loops, named values, nested expressions. The printer only decides about
// parentheses: Placement decides which operations are statements, and which
// values share a variable.

#ifndef INGOT_CODEGEN_KERNEL_KERNELPRINTER_H
#define INGOT_CODEGEN_KERNEL_KERNELPRINTER_H

#include "codegen/kernel/CTypes.h"
#include "codegen/kernel/Names.h"
#include "codegen/kernel/Placement.h"
#include "codegen/kernel/SourceMap.h"
#include "codegen/kernel/TextWriter.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/TileRegisters.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <set>

namespace ingot {

/// The names and declarations that all functions of one generated source file
/// share.
struct SourceContext {
  explicit SourceContext(const TargetDescription &target) : target(target) {}

  const TargetDescription &target;
  /// C names of functions and globals, by symbol.
  llvm::StringMap<std::string> functions, globals;
  /// Kernels that the host launches, by symbol; all other functions are helpers
  /// that kernels call.
  llvm::StringSet<> launched;
  /// Functions that compare floats or call one that does, by symbol.
  llvm::StringSet<> comparesFloats;
  /// Helper functions that are called by kernels which the host executes, in a
  /// GPU output.
  llvm::StringSet<> onHost;
  /// The vector types that the source declares, and those that need a splat
  /// function.
  std::set<std::string> vectorTypes, splats;
  /// In C, which has no conditional operator for vectors: the types that need a
  /// function for it.
  std::set<std::string> selects;
  /// The memory types of vectors (with their alignment) that are loaded, and
  /// those that are stored.
  std::set<std::string> loads, stores;
  /// A function that takes consecutive lanes of a vector, or that places two
  /// vectors side by side.
  struct Part {
    std::string operand, result;
    int64_t first, count, lanesOfOperand;
  };
  /// The functions (described by Part) that the source needs, by name.
  std::map<std::string, Part> parts;
  /// The functions and constants of PrintedFunctions.cpp that the source needs,
  /// by name.
  std::set<std::string> helpers;
  /// With several GPU targets: the preprocessor condition under which the
  /// bodies of kernels are compiled for this target. Kernels are declared in
  /// every pass of the compiler.
  std::string passCondition;
  /// In C: the names of the function that executes a part of a kernel's
  /// iterations, and of the struct of its arguments, by symbol.
  llvm::StringMap<std::string> bodies, arguments;
  /// Receives the positions of operations in the text, if not null.
  SourceMap *map = nullptr;

  /// Returns the time of `cycles` predicted cycles, divided by `parts`, in
  /// nanoseconds rounded up; 0 if there is no prediction.
  int64_t nanoseconds(std::optional<uint64_t> cycles, int64_t parts = 1) const;
  /// Returns the C++ statement that prefetches `bytes` bytes from `pointer`.
  std::string prefetch(llvm::StringRef pointer, int64_t bytes) const;
};

/// How tightly an expression binds, tightest first.
enum class Binding {
  Primary,
  Unary,
  Product,
  Sum,
  Shift,
  Compare,
  Logic,
  Choice
};

struct Expression {
  std::string text;
  Binding binding = Binding::Primary;
  /// For integers: the signedness of the text's C type.
  Sign sign = Sign::Signed;
  /// If the text is the extension of a narrower integer: the text of that
  /// integer, which C promotes to an int of the same value. Otherwise empty.
  std::string promoted = {};
};

class KernelPrinter {
public:
  KernelPrinter(mlir::FunctionOpInterface kernel, SourceContext &context,
                TextWriter &out);
  void print();

private:
  struct Variable {
    std::string name;
    Sign sign = Sign::Signed;
  };

  // Statements (KernelPrinter.cpp).
  void printSignature();
  void printAlignments();
  void printBody();
  int64_t alignmentOfLocals() const;
  void printBlock(mlir::Block &block);
  void printStatement(mlir::Operation *op);
  void printInsert(mlir::vector::InsertOp insert);
  void printCall(mlir::func::CallOp call);
  Expression callText(mlir::func::CallOp call);
  void printCallExternal(kernel::CallExternalOp call);
  void printReturn(mlir::func::ReturnOp op);
  void declareUninitialized(mlir::Value value);
  /// Declares the variable of `value` or, if it is already declared, assigns to
  /// it.
  void define(mlir::Value value, const Expression &expression);
  bool printUpdate(mlir::Operation *op);
  Variable &newVariable(mlir::Value value, Sign sign);
  std::string declaredType(mlir::Value value, Sign sign);
  /// Returns the signedness of an integer variable that is assigned more than
  /// once.
  Sign signOf(mlir::Value variable) const;
  /// Returns the signedness of the elements of a buffer, according to the type
  /// of its C++ pointer.
  Sign signOfElements(mlir::Value memref) const;
  /// Calls `print` for the content of a C++ block: names declared in the block
  /// are available again after it.
  void inScope(llvm::function_ref<void()> print);
  void nameGroups();
  std::string nameHint(mlir::Value value);
  std::string loadedFrom(mlir::Operation *op);
  // Loops and conditions (ControlStatements.cpp).
  void printFor(mlir::scf::ForOp loop);
  void printLoop(mlir::scf::ForOp loop);
  void printParallel(kernel::ParallelOp step);
  void printWhile(mlir::scf::WhileOp loop);
  void printIf(mlir::scf::IfOp conditional);
  void assignAll(mlir::ValueRange to, mlir::ValueRange from);
  // Pointers that advance with each load (CursorStatements.cpp).
  void printCursor(kernel::CursorOp cursor);
  void printPrefetch(kernel::PrefetchOp prefetch);
  void printLoadNext(kernel::LoadNextOp load);
  void declareLoadRegisters();
  // Operations of a GPU thread block or warp (WarpStatements.cpp).
  void printMoment(mlir::Operation *op);
  void printAwait(kernel::AwaitCopiesOp await);
  void printLoadMatrices(kernel::LoadMatricesOp load);
  void printWarpProduct(kernel::WarpProductOp product);
  void printCopyAhead(kernel::CopyAheadOp copy);
  void printStoreVector(kernel::StoreVectorOp store);
  void printCount(kernel::CountOp count);
  std::string calledBy(llvm::StringRef name);
  // Operations of warpgroups (WarpgroupStatements.cpp).
  void printShared();
  void printInitMbarrier(kernel::InitMbarrierOp init);
  void printExpectBytes(kernel::ExpectBytesOp expect);
  void printArrive(kernel::ArriveOp arrive);
  void printClusterBarrier(kernel::ClusterBarrierOp barrier);
  void printSend(kernel::SendOp send);
  void printWaitMbarrier(kernel::WaitMbarrierOp await);
  void printTiles(kernel::TilesOp) {}
  void printCopyTile(kernel::CopyTileOp copy);
  void printTileProduct(kernel::TileProductOp product);
  void printBeginProducts(kernel::BeginProductsOp begin);
  void printAwaitProducts(kernel::AwaitProductsOp await);
  void printSetRegisters(kernel::SetRegistersOp set);
  std::string sumsText(mlir::ValueRange sums);
  std::string mbarrierText(mlir::Value mbarriers, mlir::Value mbarrier);
  // Matrix tile registers (TileStatements.cpp).
  void printShapeTiles(kernel::ShapeTilesOp shapes);
  void printReleaseTiles(kernel::ReleaseTilesOp release);
  void printClearTile(kernel::ClearTileOp clear);
  void printLoadTile(kernel::LoadTileOp load);
  void printStoreTile(kernel::StoreTileOp store);
  void printMultiplyTiles(kernel::MultiplyTilesOp product);

  // Expressions of scalars, and rules that vectors share with them
  // (Expressions.cpp and its siblings).
  Expression value(mlir::Value value);
  Expression integer(mlir::Value value, Sign sign);
  Expression initializer(mlir::Value value, Sign sign);
  Expression ofOperation(mlir::Operation *op);
  Expression constant(mlir::arith::ConstantOp op);
  Expression constant(mlir::arith::ConstantOp op, Sign sign);
  Expression number(const llvm::APFloat &value);
  Expression number(const llvm::APInt &value, Sign sign);
  std::string helper(const std::string &name);
  Expression integerArithmetic(mlir::Operation *op, const char *spelling,
                               Binding binding, Sign sign);
  Expression logic(mlir::Operation *op, const char *spelling,
                   const char *ofTruth);
  Expression floatArithmetic(mlir::Operation *op, const char *spelling,
                             Binding binding);
  Expression negation(mlir::arith::NegFOp op);
  Expression builtin(mlir::Operation *op, const char *name);
  Expression multiplyAdd(mlir::math::FmaOp op);
  Expression multiplyAdd(mlir::vector::FMAOp op);
  Expression multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);
  Expression compare(mlir::arith::CmpIOp op);
  Expression compare(mlir::arith::CmpFOp op);
  std::string comparisonName(mlir::arith::CmpFOp op);
  std::optional<Expression> extremum(mlir::arith::SelectOp op);
  Expression select(mlir::arith::SelectOp op);
  Sign commonSign(mlir::Value a, mlir::Value b);
  Expression conditional(mlir::scf::IfOp op);
  Expression convert(mlir::Operation *op, Sign from, Sign to);
  Expression convertPartOfByte(mlir::Operation *op, Sign from, Sign to);
  Expression bitcast(mlir::Operation *op);
  std::string spelled(llvm::StringRef spelling, mlir::ValueRange operands);
  Expression intrinsic(llvm::StringRef spelling, mlir::ValueRange operands,
                       mlir::Type type, Sign sign = Sign::Unsigned);
  std::optional<Expression> intrinsic(mlir::Operation *op);
  Expression castTo(const std::string &type, const Expression &expression);
  std::string within(const Expression &expression, Binding limit);

  // Vectors and memory (VectorExpressions.cpp).
  Expression vectorConstant(mlir::arith::ConstantOp op);
  Expression splat(mlir::Type type, const Expression &scalar);
  std::optional<Expression> splatSource(mlir::Value value);
  std::pair<Expression, Expression> mixedOperands(mlir::Value a, mlir::Value b);
  Expression shuffle(mlir::Value a, mlir::Value b, mlir::Type type,
                     llvm::ArrayRef<int64_t> lanes);
  Expression shuffle(mlir::vector::ShuffleOp op);
  std::optional<Expression> namedShuffle(const Expression &left,
                                         const Expression &right,
                                         bool sameOperands, mlir::Type result,
                                         mlir::Type operand,
                                         llvm::ArrayRef<int64_t> picks);
  Expression extractSlice(mlir::vector::ExtractStridedSliceOp op);
  Expression insertSlice(mlir::vector::InsertStridedSliceOp op);
  Expression insertedLane(mlir::vector::InsertOp op);
  Expression fromElements(mlir::vector::FromElementsOp op);
  Expression extract(mlir::vector::ExtractOp op);
  Expression broadcast(mlir::vector::BroadcastOp op);
  Expression fromLanes(mlir::Type type, llvm::ArrayRef<std::string> lanes);
  std::string lane(mlir::Value vector, const std::string &index);
  std::string laneValue(mlir::Value scalar, mlir::Type vectorType);
  unsigned maskBits(mlir::Value mask);
  Expression maskAs(mlir::Value mask, unsigned bits);
  Expression load(mlir::memref::LoadOp op);
  Expression load(mlir::vector::LoadOp op);
  Expression global(mlir::memref::GetGlobalOp op);
  Expression stringAt(kernel::StringAtOp op);
  Expression emptyString(kernel::EmptyStringOp op);
  Expression character(kernel::CharacterOp op);
  Expression load(mlir::Value memref, mlir::ValueRange indices, mlir::Type type,
                  std::optional<int64_t> alignment = std::nullopt);
  void printLocal(mlir::memref::AllocaOp local);
  void printView(kernel::ViewOp view);
  void printStore(mlir::memref::StoreOp op);
  void printStore(mlir::vector::StoreOp op);
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange indices,
             std::optional<int64_t> alignment = std::nullopt);
  std::string memoryVector(const std::string &name,
                           std::optional<int64_t> alignment);
  std::string address(mlir::Value memref, mlir::ValueRange indices);
  std::string pointerTo(mlir::Value memref, mlir::ValueRange indices);
  std::string offsetText(mlir::Value memref, mlir::ValueRange indices);
  /// A value that is multiplied by `factor`, a part of the index of an element.
  struct OffsetTerm {
    mlir::Value value;
    int64_t factor;
  };
  bool addsConstant(mlir::Value index) const;
  /// Appends the terms of `index` * `factor`, and adds its constants to
  /// `offset`.
  void addTerms(mlir::Value index, int64_t factor,
                llvm::SmallVectorImpl<OffsetTerm> &terms, int64_t &offset);
  /// Returns the call that loads a vector of the memory type `vector` from the
  /// address `from`.
  std::string loadOf(const std::string &vector, const std::string &from);
  std::string pointer(mlir::Value memref);
  std::string typeName(mlir::Type type, Sign sign);
  std::string useVector(const std::string &name);

  mlir::FunctionOpInterface kernel;
  SourceContext &context;
  TextWriter &out;
  Placement placement;
  NameScope names;
  /// The name of the ingot_context argument, if the kernel distributes the
  /// iterations of its loops over the caller's threads.
  std::string threads;
  /// The names of the registers that multi-register loads fill, by number.
  std::map<int64_t, std::string> loadRegisters;
  /// For each parameter: its declaration without the name, and the name.
  std::vector<std::pair<std::string, std::string>> parameters;
  llvm::DenseMap<mlir::Value, Variable> variables;
  /// The names of variables that hold several values, by Placement::variable.
  llvm::DenseMap<mlir::Value, llvm::StringRef> groupNames;
};

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_KERNELPRINTER_H
