// Models in a program for an emulator.
//
// A program of generated C++ and a small main function, built with the target's
// tools and run by its emulator. It reads a file of calls and writes a file of
// results, with nothing but fopen, fread and fwrite, so that it runs under an
// operating system and on a bare board with semihosting alike:
//
//     calls:   for each call the model's number and the bytes of its inputs
//     results: for each call a status, what was damaged, the bytes of its
//              outputs
//
// Results are written one by one: of a program that dies the calls before are
// known, and which one it died in. Around every buffer lies a pattern, so that
// a write beside it shows.

#ifndef INGOT_COMPILER_RUN_EMULATEDPROGRAM_H
#define INGOT_COMPILER_RUN_EMULATEDPROGRAM_H

#include "compiler/report/Diagnostics.h"
#include "runtime_support/ingot.h"
#include "targets/TargetDescription.h"

#include "llvm/Support/Error.h"

#include <optional>

namespace ingot {

class EmulatedProgram {
public:
  static constexpr int64_t madeBytes = 8;

  struct Model {
    /// Prefix of the generated names.
    std::string name;
    int64_t arenaBytes = 0, arenaAlign = 1;
    llvm::SmallVector<int64_t> inputBytes, outputBytes;
    /// The sizes of the io struct, which come first in it: as all calls have them, or
    /// none for those that a run makes. Each of these is an output of `madeBytes` behind
    /// the others, of which the first bytes are written.
    std::vector<std::optional<int64_t>> sizes = {};
    /// Of the memory that vectors read fastest, which is behind the arena.
    int64_t nearBytes = 0;
  };
  struct Call {
    unsigned model = 0;
    llvm::SmallVector<llvm::ArrayRef<char>> inputs;
  };
  struct Result {
    ingot_status status = INGOT_OK;
    /// A write beside a buffer, or into an input.
    bool overflow = false, inputWritten = false;
    std::vector<std::vector<char>> outputs;
  };

  /// All files go to `folder`, which has to exist.
  EmulatedProgram(const TargetDescription &target, llvm::StringRef folder)
      : target(asEmulated(target)), folder(folder) {}

  /// The number of the model.
  unsigned add(Model model);
  /// Builds the program of generated `sources` with their `headers`, compiled
  /// with `flags`, and `objects`; false with diagnostics: Internal if a source
  /// does not compile, RunFailed if the program does not link.
  bool build(llvm::ArrayRef<std::string> sources,
             llvm::ArrayRef<std::string> headers,
             llvm::ArrayRef<std::string> flags,
             llvm::ArrayRef<std::string> objects, Diagnostics &diagnostics);
  /// As many results as calls were finished; less than there are calls means
  /// that the program died, and `error` says how.
  std::vector<Result> run(llvm::ArrayRef<Call> calls, unsigned seconds,
                          llvm::Error &error) const;

private:
  std::string path(const llvm::Twine &name) const;
  std::string program() const { return path("program"); }
  /// Writes the main function; returns its path.
  llvm::Expected<std::string>
  writeMain(llvm::ArrayRef<std::string> headers) const;
  llvm::Error link(llvm::ArrayRef<std::string> objects) const;

  /// With the compilers of its emulation, where it has one.
  const TargetDescription target;
  std::string folder;
  std::vector<Model> models;
};

} // namespace ingot

#endif // INGOT_COMPILER_RUN_EMULATEDPROGRAM_H
