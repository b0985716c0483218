// The state of a batch while it is compiled, built and run.

#ifndef INGOT_TEST_CONFORMANCE_UNITBATCH_H
#define INGOT_TEST_CONFORMANCE_UNITBATCH_H

#include "Batch.h"
#include "Runner.h"

#include "compiler/run/EmulatedProgram.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

namespace ingot::conformance {

/// Returns the first diagnostic as "id: operator: message".
std::string firstReason(const Diagnostics &diagnostics);

/// A generated header and source, and their entry function once they are built.
struct Text {
  std::string header, source;
  /// The object file with the weights, if they are not in the source, and its
  /// hash. Generated code with an object file becomes a library of its own,
  /// built with optimization; all other code becomes one library without
  /// optimization.
  std::string object;
  llvm::XXH128_hash_t weights = {};
  std::string error;
  Function function = nullptr;
};

/// A compiled unit (a case in one mode): its index in the batch, the index of
/// its generated code in `texts`, and the types of its inputs and outputs.
struct Prepared {
  int unit;
  int text;
  Signature signature;
};

/// Compiles all units (cases in one mode), then builds the generated sources,
/// then runs them.
class Batch {
public:
  Batch(llvm::ArrayRef<Unit> units, const Settings &settings,
        llvm::StringRef folder, const Listener &listener)
      : units(units), settings(settings), folder(folder), listener(listener),
        context(makeContext()) {}

  void run() {
    for (int unit = 0, e = units.size(); unit < e; ++unit) {
      listener.begin(unit, "compile");
      prepare(unit);
    }
    const TargetDescription &target = *settings.target;
    if (!target.runsOnThisHost || !target.runsOnThisHost())
      return emulate();
    build();
    for (const Prepared &prepared : ready)
      call(prepared);
  }

private:
  std::string path(const llvm::Twine &name) const {
    llvm::SmallString<256> result(folder);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  std::string caseFolder(const Unit &unit) const {
    return settings.suite + "/" + unit.kind + "/" + unit.name;
  }

  Signature atSizesOf(const Prepared &prepared,
                      std::vector<std::vector<char>> &outputs);
  int64_t boundFor(const Unit &unit);
  void prepare(int unit);
  int addText(Compilation &compilation, int unit);
  void build();
  void buildWithWeights(int text);
  std::string nameOf(int text) const;
  std::vector<std::string> writeSource(llvm::ArrayRef<int> which,
                                       llvm::StringRef name,
                                       std::string &error);
  bool buildLibrary(llvm::ArrayRef<int> which, llvm::StringRef name,
                    llvm::StringRef level, std::string &error);
  bool readData(const Prepared &prepared, InputData &data, std::string &reason);
  void call(const Prepared &prepared);

  void emulate();
  void emulate(llvm::ArrayRef<int> which, llvm::StringRef level);
  /// Units (modes) of one case for which the same code was generated, so that
  /// one call of an emulated program tests all of them.
  using Modes = llvm::SmallVector<const Prepared *>;
  void runCalls(const EmulatedProgram &program, llvm::ArrayRef<Modes> prepared,
                llvm::ArrayRef<EmulatedProgram::Call> calls);

  llvm::ArrayRef<Unit> units;
  const Settings &settings;
  std::string folder;
  const Listener &listener;
  std::unique_ptr<mlir::MLIRContext> context;
  std::vector<Text> texts;
  std::vector<Prepared> ready;
  /// For the case that is being compiled: each imported module, as MLIR text,
  /// with the unit that was compiled from it.
  std::string currentCase;
  std::vector<std::pair<std::string, Prepared>> imported;
};

} // namespace ingot::conformance

#endif // INGOT_TEST_CONFORMANCE_UNITBATCH_H
