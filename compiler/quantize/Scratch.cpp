#include "compiler/quantize/Scratch.h"

#include "compiler/Faults.h"
#include "onnx/onnx_pb.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"

#include <cerrno>
#include <unistd.h>

using llvm::ArrayRef;
using llvm::MutableArrayRef;

namespace ingot::quantize {

/// The alignment of tensors in the file, so that they can be mapped and read as
/// floats.
static constexpr uint64_t alignment = 64;

std::unique_ptr<Scratch> Scratch::create(Diagnostics &diagnostics) {
  auto folder = TemporaryFolder::create();
  if (!folder) {
    reportFault(folder.takeError(), diagnostics);
    return nullptr;
  }
  int file;
  std::string path = folder->file("scratch");
  if (std::error_code code = llvm::sys::fs::openFileForReadWrite(
          path, file, llvm::sys::fs::CD_CreateAlways, llvm::sys::fs::OF_None)) {
    reportFault(llvm::createFileError(path, code), diagnostics);
    return nullptr;
  }
  return std::unique_ptr<Scratch>(new Scratch(std::move(*folder), file));
}

Scratch::Scratch(TemporaryFolder &&given, int file)
    : folder(std::move(given)), filePath(folder.file("scratch")), file(file) {}

Scratch::~Scratch() { ::close(file); }

/// Transfers `bytes` bytes by calls of `move`. Like a system call, `move` gets
/// the number of bytes that are done, transfers some of the remaining bytes and
/// returns their number. Returns 0, or an error code: `atEnd` if a call
/// transfers nothing.
static int moveAll(size_t bytes, int atEnd,
                   llvm::function_ref<ssize_t(size_t)> move) {
  for (size_t done = 0; done < bytes;) {
    ssize_t moved = move(done);
    if (moved < 0 && errno == EINTR)
      continue;
    if (moved <= 0)
      return moved < 0 ? errno : atEnd;
    done += moved;
  }
  return 0;
}

void Scratch::replace(uint64_t offset, ArrayRef<char> bytes) {
  if (int error = moveAll(bytes.size(), ENOSPC, [&](size_t done) {
        return ::pwrite(file, bytes.data() + done, bytes.size() - done,
                        offset + done);
      }))
    fault = error;
}

void Scratch::read(uint64_t offset, MutableArrayRef<char> bytes) const {
  if (int error = moveAll(bytes.size(), EIO, [&](size_t done) {
        return ::pread(file, bytes.data() + done, bytes.size() - done,
                       offset + done);
      }))
    fault = error;
}

uint64_t Scratch::behind(uint64_t offset, uint64_t bytes) {
  return llvm::alignTo(offset + bytes, alignment);
}

uint64_t Scratch::append(ArrayRef<char> bytes) {
  uint64_t offset = end;
  replace(offset, bytes);
  end = behind(offset, bytes.size());
  return offset;
}

static uint64_t numberOf(const onnx::TensorProto &tensor, llvm::StringRef key) {
  uint64_t number = 0;
  for (const auto &entry : tensor.external_data())
    if (entry.key() == key)
      (void)llvm::StringRef(entry.value()).getAsInteger(10, number);
  return number;
}

bool Scratch::has(const onnx::TensorProto &tensor) const {
  return llvm::any_of(tensor.external_data(), [&](const auto &entry) {
    return entry.key() == "location" && entry.value() == filePath;
  });
}

void Scratch::put(onnx::TensorProto &tensor, ArrayRef<char> bytes) {
  if (has(tensor) && numberOf(tensor, "length") == bytes.size())
    return replace(numberOf(tensor, "offset"), bytes);
  uint64_t offset = append(bytes);
  // `bytes` may refer to the data of the tensor, so it is not read after that
  // data is cleared below.
  size_t length = bytes.size();
  tensor.clear_external_data();
  // Swaps the fields with empty ones, since clearing them would keep their
  // memory.
  google::protobuf::RepeatedField<float>().Swap(tensor.mutable_float_data());
  std::string().swap(*tensor.mutable_raw_data());
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto add = [&](const char *key, const std::string &value) {
    auto &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", filePath);
  add("offset", std::to_string(offset));
  add("length", std::to_string(length));
}

void Scratch::takeBack(onnx::TensorProto &tensor) const {
  std::string bytes(numberOf(tensor, "length"), '\0');
  read(numberOf(tensor, "offset"), {bytes.data(), bytes.size()});
  tensor.clear_external_data();
  tensor.clear_data_location();
  *tensor.mutable_raw_data() = std::move(bytes);
}

bool Scratch::check(Diagnostics &diagnostics) const {
  if (!fault)
    return true;
  reportFault(llvm::createFileError(
                  filePath, std::error_code(fault, std::generic_category())),
              diagnostics);
  return false;
}

} // namespace ingot::quantize
