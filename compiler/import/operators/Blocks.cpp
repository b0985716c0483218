// Imports DepthToSpace and SpaceToDepth.

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Moves blocks of elements from channels to spatial axes or back: splits axes
/// to the shape `split`, transposes by `perm`, and merges axes to `merged`.
static Value rearrange(OnnxNode &node, ArrayRef<Dim> split,
                       ArrayRef<int64_t> perm, ArrayRef<Dim> merged) {
  Value x = node.reshape(node.input(0), split);
  return node.reshape(node.transpose(x, perm), merged);
}

static ImportResult importDepthToSpace(OnnxNode &node) {
  int64_t block = node.intAttr("blocksize", 0);
  Value x = node.input(0);
  if (shapeOf(x).size() != 4 || block <= 0 ||
      !node.requireMultiple(dimsOf(x)[1], block * block))
    return node.invalid("the input must have rank 4, and its channels must be "
                        "a multiple of blocksize * blocksize");
  Dims s = dimsOf(x);
  Dim channels = s[1].floorDiv(block * block);
  Dims merged = {s[0], channels, s[2] * block, s[3] * block};
  if (node.stringAttr("mode", "DCR") == "CRD")
    return one(rearrange(node, Dims{s[0], channels, block, block, s[2], s[3]},
                         {0, 1, 4, 2, 5, 3}, merged));
  return one(rearrange(node, Dims{s[0], block, block, channels, s[2], s[3]},
                       {0, 3, 4, 1, 5, 2}, merged));
}

static ImportResult importSpaceToDepth(OnnxNode &node) {
  int64_t block = node.intAttr("blocksize", 0);
  Value x = node.input(0);
  if (shapeOf(x).size() != 4 || block <= 0 ||
      !node.requireMultiple(dimsOf(x)[2], block) ||
      !node.requireMultiple(dimsOf(x)[3], block))
    return node.invalid("the input must have rank 4, and its height and width "
                        "must be multiples of blocksize");
  Dims s = dimsOf(x);
  Dim height = s[2].floorDiv(block), width = s[3].floorDiv(block);
  Dims split = {s[0], s[1], height, block, width, block};
  Dims merged = {s[0], s[1] * (block * block), height, width};
  if (node.stringAttr("mode", "DCR") == "CRD")
    return one(rearrange(node, split, {0, 1, 3, 5, 2, 4}, merged));
  return one(rearrange(node, split, {0, 3, 5, 1, 2, 4}, merged));
}

void registerBlocksImports(OnnxRegistry &registry) {
  registry.add("DepthToSpace", importDepthToSpace);
  registry.add("SpaceToDepth", importSpaceToDepth);
}

} // namespace ingot::graph
