// The models that fuzzing starts from, and parts of them.

#ifndef INGOT_TEST_FUZZ_SEEDS_H
#define INGOT_TEST_FUZZ_SEEDS_H

#include "Mutate.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ingot::fuzz {

/// The models given on the command line, read when they are first needed. Small
/// and large models are drawn equally often, regardless of their number.
class Seeds {
public:
  /// Adds a model, or every *.onnx file below a folder; returns false if there
  /// is none.
  bool add(const std::filesystem::path &path);
  bool empty() const { return bySize.empty(); }

  /// Draws a model and returns all of it with its weights; nullopt if it is too
  /// large.
  std::optional<onnx::ModelProto> whole(Random &random);
  /// Returns one to six connected nodes of a model. Values from outside become
  /// inputs, constants stay constants; shapes are those of the whole model.
  std::optional<onnx::ModelProto> part(Random &random);

private:
  struct Seed {
    std::filesystem::path path;
    onnx::ModelProto model;
    bool isRead = false;
    /// For each value whose type shape inference determines: its type.
    std::map<std::string, onnx::TypeProto> types;
    std::map<std::string, const onnx::TensorProto *> constants;
    std::map<std::string, int> producer;
    std::map<std::string, std::vector<int>> readers;
  };

  Seed &draw(Random &random);
  static void read(Seed &seed);
  static std::vector<int> chooseNodes(const Seed &seed, Random &random);
  /// The models, grouped by the logarithm (base 4) of their file size.
  std::map<unsigned, std::vector<std::unique_ptr<Seed>>> bySize;
};

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_SEEDS_H
