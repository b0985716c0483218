// Models to start from, and parts of them.

#ifndef INGOT_TEST_FUZZ_SEEDS_H
#define INGOT_TEST_FUZZ_SEEDS_H

#include "Mutate.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ingot::fuzz {

/// The models given on the command line. Files are read when first needed.
/// Whatever their number and size, small and large models get equal turns.
class Seeds {
public:
  /// Adds a model, or every *.onnx file below a folder; false if there is none.
  bool add(const std::filesystem::path &path);
  bool empty() const { return bySize.empty(); }

  /// A model with all of its weights; none if the drawn one has too many.
  std::optional<onnx::ModelProto> whole(Random &random);
  /// One to six connected nodes of a model. What they read becomes an input, or
  /// stays a constant; shapes are those of the whole model.
  std::optional<onnx::ModelProto> part(Random &random);

private:
  struct Seed {
    std::filesystem::path path;
    onnx::ModelProto model;
    bool isRead = false;
    /// The types of all values, as far as they can be inferred.
    std::map<std::string, onnx::TypeProto> types;
    std::map<std::string, const onnx::TensorProto *> constants;
    std::map<std::string, int> producer;
    std::map<std::string, std::vector<int>> readers;
  };

  Seed &draw(Random &random);
  static void read(Seed &seed);
  static std::vector<int> chooseNodes(const Seed &seed, Random &random);
  /// By the logarithm of the file's size.
  std::map<unsigned, std::vector<std::unique_ptr<Seed>>> bySize;
};

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_SEEDS_H
