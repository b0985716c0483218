#include "compiler/import/ModelFile.h"

#include "compiler/import/AcceptedForms.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

using namespace mlir;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace ingot {

ModelFile::ModelFile() = default;
ModelFile::~ModelFile() = default;

StringRef ModelFile::description() const {
  return proto->doc_string().empty() ? proto->graph().doc_string()
                                     : proto->doc_string();
}

/// The size limit that protobuf sets for a message, in bytes.
static constexpr uint64_t maxModelBytes = INT32_MAX;

/// The number of bytes of the model file that are read at a time.
static constexpr int readBytes = 1 << 18;

/// The limit for the nesting of subgraphs, types and functions; real models
/// have less than ten levels.
static constexpr int maxNesting = 100;

/// Returns a guess, for diagnostics, of the kind of a file that is not an ONNX
/// model, given its first bytes.
static std::string guessKind(StringRef bytes) {
  if (bytes.starts_with("version https://git-lfs"))
    return "it is a git-lfs pointer; fetch the file itself with `git lfs pull`";
  if (bytes.starts_with("PK\x03\x04"))
    return "it is a zip archive";
  if (bytes.starts_with("\x1f\x8b"))
    return "it is compressed with gzip";
  if (bytes.size() > 8 && bytes.substr(4, 4) == "TFL3")
    return "it is a TensorFlow Lite model; convert it to ONNX first";
  StringRef head = bytes.take_front(512);
  bool text = !head.empty() && llvm::all_of(head, [](unsigned char c) {
    return c >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return text ? "it is a text file" : "it may be cut off or damaged";
}

/// Parses a model in blocks of the file, so that the whole file is never in
/// memory beside the parsed message.
static bool parse(google::protobuf::io::FileInputStream &stream,
                  onnx::ModelProto &proto) {
  // A damaged file is reported to the user by Ingot, not in protobuf's log.
  google::protobuf::LogSilencer silence;
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(maxNesting);
  return proto.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

std::unique_ptr<ModelFile> ModelFile::open(StringRef filePath,
                                           Diagnostics &diagnostics) {
  diagnostics.setFile(filePath);
  fs::file_status status;
  if (std::error_code error = fs::status(filePath, status)) {
    // A word without a folder or an extension may be meant as a command.
    diagnostics.report(DiagnosticId::CannotRead,
                       "the model cannot be read: " + error.message(),
                       filePath.find_first_of("./\\") == StringRef::npos
                           ? "`ingot help` lists the commands"
                           : "");
    return nullptr;
  }
  if (status.type() != fs::file_type::regular_file &&
      status.type() != fs::file_type::fifo_file) {
    diagnostics.report(DiagnosticId::CannotRead,
                       "the model is not a regular file");
    return nullptr;
  }
  if (status.getSize() > maxModelBytes) {
    diagnostics.report(DiagnosticId::FileTooLarge,
                       "the model file has " + Twine(status.getSize()) +
                           " bytes; an ONNX file can have at most 2147483647",
                       "save the model with its weights as external data");
    return nullptr;
  }
  auto cannotRead = [&](std::error_code error) {
    diagnostics.report(DiagnosticId::CannotRead,
                       "the model cannot be read: " + error.message());
    return nullptr;
  };
  int descriptor;
  if (std::error_code error = fs::openFileForRead(filePath, descriptor))
    return cannotRead(error);
  google::protobuf::io::FileInputStream stream(descriptor, readBytes);
  stream.SetCloseOnDelete(true);
  std::unique_ptr<ModelFile> file(new ModelFile);
  file->filePath = filePath.str();
  file->proto = std::make_unique<onnx::ModelProto>();
  bool parsed = parse(stream, *file->proto);
  if (stream.GetErrno())
    return cannotRead(
        std::error_code(stream.GetErrno(), std::generic_category()));
  if (parsed && stream.ByteCount() == 0) {
    diagnostics.report(DiagnosticId::EmptyFile, "the model file is empty");
    return nullptr;
  }
  if (!parsed) {
    std::string kind = "it may be cut off or damaged";
    // Only a regular file can be read again to guess its kind; a pipe cannot.
    if (status.type() == fs::file_type::regular_file)
      if (auto head = llvm::MemoryBuffer::getFileSlice(
              filePath, std::min<uint64_t>(status.getSize(), 512), 0))
        kind = guessKind((*head)->getBuffer());
    diagnostics.report(DiagnosticId::NotOnnx,
                       "this is not an ONNX model: " + kind);
    return nullptr;
  }
  acceptForms(*file->proto, diagnostics);
  return file;
}

std::unique_ptr<ModelFile> ModelFile::of(onnx::ModelProto &&proto,
                                         StringRef path) {
  std::unique_ptr<ModelFile> file(new ModelFile);
  file->filePath = path.str();
  file->proto = std::make_unique<onnx::ModelProto>(std::move(proto));
  return file;
}

const onnx::FunctionProto &ModelFile::keep(onnx::FunctionProto &&function) {
  return *kept.emplace_back(
      std::make_unique<onnx::FunctionProto>(std::move(function)));
}

/// The external_data entries of a tensor: a file, and a range of bytes in it.
namespace {
struct ExternalEntries {
  StringRef location;
  uint64_t offset = 0, length = 0;
  bool hasLength = false;
};
} // namespace

static bool readEntries(const onnx::TensorProto &tensor,
                        ExternalEntries &entries, std::string &error) {
  for (const auto &entry : tensor.external_data()) {
    StringRef value = entry.value();
    uint64_t *number = entry.key() == "offset"   ? &entries.offset
                       : entry.key() == "length" ? &entries.length
                                                 : nullptr;
    if (entry.key() == "location")
      entries.location = value;
    if (!number)
      continue;
    if (value.getAsInteger(10, *number)) {
      error = "its external data has " + entry.key() + " `" + printable(value) +
              "`, which is not a number of bytes";
      return false;
    }
    entries.hasLength |= number == &entries.length;
  }
  if (entries.location.empty())
    error = "its external data has no location";
  return !entries.location.empty();
}

/// Returns the folder of `model` and, if `model` is a symbolic link, the folder
/// of the link's target, both as real paths. In a cache of downloaded models,
/// the model file and its external data may both be links: `name/model.onnx` to
/// `blobs/a`, `name/model.onnx_data` to `blobs/b`.
static SmallVector<SmallString<256>, 2> foldersOf(StringRef model) {
  SmallVector<SmallString<256>, 2> folders;
  auto add = [&](StringRef folder) {
    SmallString<256> real;
    if (!fs::real_path(folder, real) && !llvm::is_contained(folders, real))
      folders.push_back(real);
  };
  StringRef folder = path::parent_path(model);
  add(folder.empty() ? "." : folder);
  SmallString<256> realModel;
  if (!fs::real_path(model, realModel))
    add(path::parent_path(realModel));
  return folders;
}

/// Whether the real path `file` is below the real path `folder`.
static bool isBelow(StringRef file, StringRef folder) {
  return file.consume_front(folder) &&
         (folder.ends_with("/") || file.starts_with("/"));
}

/// Returns the real path of `location` if it is a regular file in or below a
/// folder of the model; otherwise empty, with the reason in `error`.
static std::string resolveBeside(StringRef model, StringRef location,
                                 std::string &error) {
  std::string shown = "`" + printable(location) + "`";
  bool escapes = path::is_absolute(location) || location.contains('\0') ||
                 location.contains('\\');
  for (StringRef part :
       llvm::make_range(path::begin(location), path::end(location)))
    escapes |= part == "..";
  if (escapes) {
    error = "its external data " + shown + " is not inside the model's folder";
    return "";
  }
  SmallVector<SmallString<256>, 2> folders = foldersOf(model);
  if (folders.empty()) {
    error = "the model's folder cannot be read";
    return "";
  }
  SmallString<256> real;
  std::error_code missing;
  for (StringRef folder : folders) {
    SmallString<256> joined(folder);
    path::append(joined, location);
    std::error_code code = fs::real_path(joined, real);
    if (!code)
      break;
    real.clear();
    if (!missing)
      missing = code;
  }
  if (real.empty()) {
    error =
        "its external data " + shown + " cannot be read: " + missing.message();
    return "";
  }
  // A symbolic link in the folder may point to a file outside of it.
  if (llvm::none_of(folders,
                    [&](StringRef folder) { return isBelow(real, folder); })) {
    error = "its external data " + shown +
            " is a link to outside of the model's folder";
    return "";
  }
  if (!fs::is_regular_file(real)) {
    error = "its external data " + shown + " is not a regular file";
    return "";
  }
  return real.str().str();
}

std::unique_ptr<llvm::MemoryBuffer>
ModelFile::externalData(const onnx::TensorProto &tensor,
                        std::string &error) const {
  ExternalEntries entries;
  if (!readEntries(tensor, entries, error))
    return nullptr;
  bool isScratch = !scratchPath.empty() && entries.location == scratchPath;
  std::string real = isScratch
                         ? scratchPath
                         : resolveBeside(filePath, entries.location, error);
  if (real.empty())
    return nullptr;
  auto cannotRead = [&](std::error_code code) {
    error = "its external data cannot be read: " + code.message();
    return nullptr;
  };
  uint64_t size;
  if (std::error_code code = fs::file_size(real, size))
    return cannotRead(code);
  uint64_t length = entries.hasLength ? entries.length
                                      : size - std::min(entries.offset, size);
  if (entries.offset > size || length > size - entries.offset) {
    error = "its external data needs " + std::to_string(length) +
            " bytes at offset " + std::to_string(entries.offset) + " of `" +
            printable(entries.location) + "`, which has " +
            std::to_string(size);
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFileSlice(real, length, entries.offset);
  if (!buffer)
    return cannotRead(buffer.getError());
  return std::move(*buffer);
}

} // namespace ingot
