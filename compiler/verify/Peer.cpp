#include "compiler/verify/Peer.h"

#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/verify/Reference.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace ingot::verify {

std::unique_ptr<Peer> Peer::start(const CompileOptions &compile,
                                  const InputData &data, StringRef python,
                                  unsigned threads, MLIRContext &context,
                                  Diagnostics &diagnostics) {
  std::vector<std::string> command;
  for (StringRef name : {"python3", "python"})
    if (command.empty())
      command = installedCommand(python.empty() ? name : python);
  auto folder = TemporaryFolder::create();
  if (!folder) {
    reportFault(folder.takeError(), diagnostics);
    return nullptr;
  }
  auto fail = [&](const Twine &why) -> std::unique_ptr<Peer> {
    diagnostics.report(DiagnosticId::MissingProgram,
                       "--compare: ONNX Runtime cannot run the model: " + why,
                       "install onnxruntime in the Python that is found "
                       "(`python3`, or the one of --python)");
    return nullptr;
  };
  if (command.empty())
    return fail("there is no Python");
  Compilation reader(compile, context, diagnostics);
  ModelFile *file = reader.open();
  if (!file)
    return nullptr;
  std::string error;
  for (auto [i, input] : llvm::enumerate(fedInputs(file->model(), &context)))
    if (!writeTensorProto(folder->file("input_" + std::to_string(i) + ".pb"),
                          input.name, *data[i], error))
      return fail(error);
  std::string script = folder->file("reference.py"), ask = folder->file("ask"),
              answer = folder->file("answer");
  std::error_code code;
  llvm::raw_fd_ostream os(script, code);
  os << kReferenceScript;
  os.close();
  if (code || mkfifo(ask.c_str(), 0600) || mkfifo(answer.c_str(), 0600))
    return fail("temporary files cannot be written");
  command.insert(command.end(),
                 {script, "--time", compile.model, folder->path().str(),
                  std::to_string(threads)});
  std::unique_ptr<Peer> peer(new Peer(std::move(*folder)));
  // Opens the FIFOs for reading and writing, since open() would otherwise wait
  // for the other process.
  peer->ask = ::open(ask.c_str(), O_RDWR | O_CLOEXEC);
  peer->answer = ::open(answer.c_str(), O_RDWR | O_CLOEXEC);
  SmallVector<StringRef> words(command.begin(), command.end());
  peer->process = llvm::sys::ExecuteNoWait(
      words.front(), words, std::nullopt,
      {StringRef(""), std::nullopt, StringRef("")}, 0, &error);
  if (peer->ask < 0 || peer->answer < 0 || !peer->process.Pid)
    return fail(printable(error));
  std::optional<std::string> first = peer->readLine();
  if (!first)
    return fail("its Python has ended");
  StringRef reason = *first;
  if (reason.consume_front("error: "))
    return fail(printable(reason, 300));
  peer->version = *first;
  return peer;
}

Peer::~Peer() {
  if (ask >= 0)
    ::close(ask);
  if (answer >= 0)
    ::close(answer);
  std::string error;
  // The other process ends when it reads the end of its FIFO, which has no
  // writer any more; after 5 seconds it is killed.
  if (process.Pid)
    llvm::sys::Wait(process, /*SecondsToWait=*/5, &error);
}

std::optional<std::string> Peer::readLine() {
  while (true) {
    size_t end = unread.find('\n');
    if (end != std::string::npos) {
      std::string line = unread.substr(0, end);
      unread.erase(0, end + 1);
      return line;
    }
    pollfd wanted{answer, POLLIN, 0};
    int ready = ::poll(&wanted, 1, /*milliseconds=*/200);
    if (ready < 0 && errno != EINTR)
      return std::nullopt;
    if (ready > 0) {
      char buffer[65536];
      ssize_t bytes = ::read(answer, buffer, sizeof(buffer));
      if (bytes <= 0)
        return std::nullopt;
      unread.append(buffer, bytes);
      continue;
    }
    if (ready == 0 && process.Pid) {
      std::string error;
      llvm::sys::ProcessInfo ended =
          llvm::sys::Wait(process, /*SecondsToWait=*/0, &error, nullptr,
                          /*Polling=*/true);
      if (ended.Pid) {
        process = {};
        // Continues if the process has written something before it ended.
        if (::poll(&wanted, 1, 0) <= 0)
          return std::nullopt;
      }
    }
  }
}

bool Peer::run(double seconds, std::vector<double> &times,
               Diagnostics &diagnostics) {
  std::string request = std::to_string(seconds) + "\n";
  std::optional<std::string> line;
  if (::write(ask, request.data(), request.size()) ==
      static_cast<ssize_t>(request.size()))
    line = readLine();
  if (!line) {
    diagnostics.report(DiagnosticId::RunFailed,
                       "--compare: ONNX Runtime has ended during the run");
    return false;
  }
  SmallVector<StringRef> words;
  StringRef(*line).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    double time;
    if (!word.getAsDouble(time))
      times.push_back(time);
  }
  return true;
}

} // namespace ingot::verify
