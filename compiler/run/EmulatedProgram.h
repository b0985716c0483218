// Builds models into a program for an emulator.
//
// The program consists of generated C++ and a small main function, is built
// with the target's tools, and runs under its emulator. It reads a file of
// calls and writes a file of results, using only fopen, fread and fwrite, so
// that it runs both under an operating system and on a bare board with
// semihosting:
//
//     calls:   per call, the number of the model and the bytes of its inputs
//     results: per call, a status, whether the call wrote outside its buffers
//              or into an input, and the bytes of its outputs
//
// Results are written one by one: if the program crashes, the results before
// the crash are known, and so is the call that crashed. Each buffer is
// surrounded by a pattern, which reveals out-of-bounds writes.

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
    /// The dynamic sizes of the io struct, which are its first fields: a
    /// constant for all calls, or nothing for a data-dependent size, which the
    /// run computes. Each data-dependent size is an additional output of
    /// `madeBytes` bytes after the other outputs.
    std::vector<std::optional<int64_t>> sizes = {};
    /// Bytes of fast local memory (VTCM). Its buffer follows the arena, the
    /// memory of intermediate tensors.
    int64_t vtcmBytes = 0;
  };
  struct Call {
    unsigned model = 0;
    llvm::SmallVector<llvm::ArrayRef<char>> inputs;
  };
  struct Result {
    ingot_status status = INGOT_OK;
    /// Whether the call wrote outside a buffer, or into an input.
    bool overflow = false, inputWritten = false;
    std::vector<std::vector<char>> outputs;
  };

  /// All files of the program are written to `folder`, which must exist.
  EmulatedProgram(const TargetDescription &target, llvm::StringRef folder)
      : target(asEmulated(target)), folder(folder) {}

  /// Adds a model; returns its number.
  unsigned add(Model model);
  /// Builds the program from `objects` and from the generated `sources`, whose
  /// headers are `headers`, compiled with `flags`. False with diagnostics on
  /// failure: Internal if a source does not compile, RunFailed if the program
  /// does not link.
  bool build(llvm::ArrayRef<std::string> sources,
             llvm::ArrayRef<std::string> headers,
             llvm::ArrayRef<std::string> flags,
             llvm::ArrayRef<std::string> objects, Diagnostics &diagnostics);
  /// Runs the program on `calls`, for at most `seconds`. Returns the results of
  /// the calls that finished. `error` says whether the program crashed, took
  /// too long, or could not be started.
  std::vector<Result> run(llvm::ArrayRef<Call> calls, unsigned seconds,
                          llvm::Error &error) const;

private:
  std::string path(const llvm::Twine &name) const;
  std::string program() const { return path("program"); }
  /// Writes the main function; returns its path.
  llvm::Expected<std::string>
  writeMain(llvm::ArrayRef<std::string> headers) const;
  llvm::Error link(llvm::ArrayRef<std::string> objects) const;

  /// The target, with the compilers of its emulation if it has one.
  const TargetDescription target;
  std::string folder;
  std::vector<Model> models;
};

} // namespace ingot

#endif // INGOT_COMPILER_RUN_EMULATEDPROGRAM_H
