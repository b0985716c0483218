// Times ONNX Runtime.
//
// Starts python/ingot/_reference.py in another process. On each request the
// process runs the model for the given time, and answers with the time of each
// run.

#ifndef INGOT_COMPILER_VERIFY_PEER_H
#define INGOT_COMPILER_VERIFY_PEER_H

#include "codegen/objects/TemporaryFolder.h"
#include "compiler/run/DataSets.h"
#include "llvm/Support/Program.h"

namespace ingot::verify {

class Peer {
public:
  /// Starts ONNX Runtime with a model and inputs; null with diagnostics if it
  /// is not installed in the Python of the command `python` or cannot run the
  /// model.
  static std::unique_ptr<Peer> start(const CompileOptions &compile,
                                     const InputData &data,
                                     llvm::StringRef python, unsigned threads,
                                     mlir::MLIRContext &context,
                                     Diagnostics &diagnostics);
  ~Peer();
  Peer(const Peer &) = delete;

  /// Returns "onnxruntime" with its version.
  const std::string &name() const { return version; }
  /// Runs the model for some seconds; appends the milliseconds of each run.
  /// False with diagnostics if the other process has ended.
  bool run(double seconds, std::vector<double> &times,
           Diagnostics &diagnostics);

private:
  explicit Peer(TemporaryFolder folder) : folder(std::move(folder)) {}
  /// Reads a line of the other process; nothing if it has ended.
  std::optional<std::string> readLine();

  TemporaryFolder folder;
  llvm::sys::ProcessInfo process;
  int ask = -1, answer = -1;
  std::string version, unread;
};

} // namespace ingot::verify

#endif // INGOT_COMPILER_VERIFY_PEER_H
