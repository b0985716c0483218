#include "Runner.h"

#include "compiler/import/TensorData.h"
#include "compiler/run/BuiltModel.h"
#include "compiler/run/DynamicSizes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <sys/mman.h>

using namespace mlir;

namespace ingot::conformance {

/// Memory with a known pattern before and after it, to detect out-of-bounds
/// writes. The beginning of the memory is filled with a pattern too, so that
/// reads of uninitialized elements affect the result. The rest is not filled:
/// with dynamic sizes the memory may have terabytes, of which a run uses
/// little, and the system allocates only pages that are written.
namespace {
class GuardedBuffer {
public:
  static constexpr size_t guard = 256;
  static constexpr size_t filled = 1 << 20;
  static constexpr char pattern = '\xa5';

  GuardedBuffer(size_t bytes, size_t align) : bytes(bytes) {
    align = std::max<size_t>(align, guard);
    whole = bytes + 2 * align + guard;
    void *mapped = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      llvm::report_fatal_error("no address space for a buffer of " +
                               llvm::Twine(bytes) + " bytes");
    memory = static_cast<char *>(mapped);
    offset = llvm::alignTo(reinterpret_cast<uintptr_t>(memory) + align, align) -
             reinterpret_cast<uintptr_t>(memory);
    std::memset(memory, pattern, std::min(whole, offset + filled));
    std::memset(memory + offset + bytes, pattern, guard);
  }
  ~GuardedBuffer() { munmap(memory, whole); }
  GuardedBuffer(const GuardedBuffer &) = delete;

  char *data() { return memory + offset; }
  bool intact() const {
    auto clean = [](const char *from) {
      return llvm::all_of(ArrayRef<char>(from, guard),
                          [](char c) { return c == pattern; });
    };
    return clean(memory + offset - guard) && clean(memory + offset + bytes);
  }

private:
  char *memory;
  size_t bytes, whole, offset;
};
} // namespace

static SmallVector<int64_t> sizesOf(ArrayRef<RankedTensorType> types) {
  SmallVector<int64_t> bytes;
  for (RankedTensorType type : types)
    bytes.push_back(type.getNumElements() *
                    elementBytes(type.getElementType()));
  return bytes;
}

SmallVector<int64_t> Signature::inputBytes() const { return sizesOf(inputs); }
SmallVector<int64_t> Signature::outputBytes() const { return sizesOf(outputs); }

static Status compareTensor(const Tensor &got, const Tensor &want,
                            Tolerance tolerance, llvm::raw_ostream &os) {
  if (got.type != want.type) {
    os << describe(got.type) << ", expected " << describe(want.type);
    return Status::Mismatch;
  }
  Difference difference = compare(got, want, tolerance);
  if (difference.same())
    return Status::Pass;
  os << difference.wrong << " of " << want.elements() << " differ, first at "
     << difference.firstWrong << ": " << got.text(difference.firstWrong)
     << ", expected " << want.text(difference.firstWrong);
  return Status::Mismatch;
}

/// Compares an output. Returns Unsupported if the only differences are in
/// random numbers.
static Status compareOutput(const ModelValue &got, const Unit &unit,
                            unsigned index, bool isRandom, StringRef caseFolder,
                            MLIRContext *context, std::string &reason) {
  llvm::raw_string_ostream os(reason);
  os << "output " << index << ": ";
  ModelValue like;
  like.isSequence = unit.outputs[index] == 's';
  like.isOptional = unit.outputs[index] == 'o';
  if ((unit.outputs[index] != 't' && !like.isSequence && !like.isOptional) ||
      got.isOptional != like.isOptional ||
      (!like.isOptional && got.isSequence != like.isSequence)) {
    os << "another kind of value than was expected";
    return Status::Mismatch;
  }
  SmallString<256> path(caseFolder);
  llvm::sys::path::append(path, "output_" + Twine(index) + ".pb");
  std::string error;
  std::optional<ModelValue> want = readValue(path, like, context, error);
  if (!want) {
    os << "the expected value cannot be read: " << error;
    return Status::Error;
  }
  if (!got.matches(*want)) {
    os << (got.isPresent ? "a value of " : "no value of ") << got.tensors.size()
       << " tensors, expected " << (want->isPresent ? "one of " : "none of ")
       << want->tensors.size();
    return Status::Mismatch;
  }
  for (size_t i = 0; got.isPresent && i < got.tensors.size(); ++i)
    if (Status result =
            compareTensor(got.tensors[i], want->tensors[i], unit.tolerance, os);
        result != Status::Pass)
      return isRandom && got.tensors[i].type == want->tensors[i].type
                 ? Status::Unsupported
                 : result;
  return Status::Pass;
}

bool fitsInputs(const Signature &signature, const InputData &data,
                std::string &reason) {
  if (signature.inputs.size() != data.size()) {
    reason = "the function takes another number of inputs";
    return false;
  }
  for (auto [type, tensor] : llvm::zip(signature.inputs, data))
    if (!tensor || !takes(type, tensor->type)) {
      reason = "an input is " + (tensor ? describe(tensor->type) : "missing") +
               ", but the function takes " + describe(type);
      return false;
    }
  return true;
}

std::vector<int64_t> fixSizes(Signature &signature, const InputData &data,
                              std::string &why) {
  auto types = llvm::map_to_vector(
      data, [](const std::optional<Tensor> &tensor) { return tensor->type; });
  std::vector<int64_t> values =
      valuesOf(signature.sizes, signature.inputs, types, why)
          .value_or(std::vector<int64_t>());
  for (RankedTensorType &type : signature.outputs)
    type = typeAt(type, signature.sizes, values);
  signature.inputs.assign(types.begin(), types.end());
  return values;
}

std::string equalSizes(StringRef why) { return "equal-sizes: " + why.str(); }

Status compareOutputs(std::vector<std::vector<char>> outputs,
                      const Signature &signature, const Unit &unit,
                      StringRef caseFolder, MLIRContext *context,
                      std::string &reason) {
  std::vector<Tensor> tensors;
  for (auto [type, bytes] : llvm::zip(signature.outputs, outputs))
    tensors.push_back({type, std::move(bytes)});
  std::vector<ModelValue> values =
      joinOutputs(signature.outputTensors, tensors);
  if (values.size() != unit.outputs.size()) {
    reason = llvm::utostr(values.size()) + " outputs, expected " +
             llvm::utostr(unit.outputs.size());
    return Status::Mismatch;
  }
  Status all = Status::Pass;
  for (auto [i, got] : llvm::enumerate(values)) {
    Status result = compareOutput(got, unit, i, signature.isRandom, caseFolder,
                                  context, reason);
    if (result != Status::Pass && result != Status::Unsupported)
      return result;
    if (result == Status::Unsupported)
      all = result;
    reason.clear();
  }
  if (all == Status::Unsupported)
    reason = "random-numbers: types and shapes are as expected, the numbers "
             "are those of another generator";
  return all;
}

Status runFunction(Function function, const Signature &signature,
                   const InputData &data, const Unit &unit,
                   StringRef caseFolder, MLIRContext *context,
                   std::string &reason) {
  if (!fitsInputs(signature, data, reason))
    return Status::Error;
  GuardedBuffer arena(signature.arenaBytes, signature.arenaAlign);
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<void *> io;
  auto add = [&](size_t bytes) {
    buffers.push_back(std::make_unique<GuardedBuffer>(bytes, 64));
    io.push_back(buffers.back()->data());
    return buffers.back()->data();
  };
  // Each output buffer has exactly the bytes that the output needs at the sizes
  // of the input data.
  Signature here = signature;
  std::string why;
  std::vector<int64_t> values = fixSizes(here, data, why);
  if (values.size() != signature.sizes.size()) {
    reason = equalSizes(why);
    return Status::Unsupported;
  }
  llvm::append_range(io, fieldsOf(signature.sizes, values));
  for (const std::optional<Tensor> &tensor : data)
    llvm::copy(tensor->bytes, add(tensor->bytes.size()));
  for (int64_t bytes : here.outputBytes())
    add(bytes);
  ingot_status status = function(io.data(), arena.data(), nullptr);
  // This test guesses the bounds of data-dependent sizes, so a size beyond its
  // bound is no error.
  if (status == INGOT_ERROR_SHAPE &&
      StringRef(unit.mode).starts_with("dynamic-")) {
    reason = "made-size: " + statusText(status).str();
    return Status::Unsupported;
  }
  if (status != INGOT_OK) {
    reason = "the function returns: " + statusText(status).str();
    return Status::Error;
  }
  if (!arena.intact() ||
      !llvm::all_of(buffers, [](auto &buffer) { return buffer->intact(); })) {
    reason = "memory beside a buffer was written";
    return Status::Error;
  }
  for (auto [tensor, buffer] : llvm::zip(data, buffers))
    if (std::memcmp(tensor->bytes.data(), buffer->data(),
                    tensor->bytes.size())) {
      reason = "an input was written";
      return Status::Error;
    }
  // Outputs with a data-dependent size were allocated for its upper bound.
  here.outputs = signature.outputs;
  for (RankedTensorType &type : here.outputs)
    type = typeAt(type, signature.sizes, values);
  std::vector<std::vector<char>> outputs;
  for (auto [i, bytes] : llvm::enumerate(here.outputBytes())) {
    char *from = buffers[data.size() + i]->data();
    Tensor output{here.outputs[i], std::vector<char>(from, from + bytes)};
    output.internStrings();
    outputs.push_back(std::move(output.bytes));
  }
  return compareOutputs(std::move(outputs), here, unit, caseFolder, context,
                        reason);
}

} // namespace ingot::conformance
