// Encoders of ai.onnx.ml on numbers: a table of keys, compared with each element.
//
//   LabelEncoder    the value of the first key that x is equal to, else the default
//   OneHotEncoder   x == key[k], along a further axis

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

static Type int64(OnnxNode &node) {
  return node.builder.getIntegerType(64, /*isSigned=*/true);
}

/// The keys or values that a LabelEncoder has: as integers, floats or a tensor.
static FailureOr<DenseElementsAttr> listOf(OnnxNode &node, StringRef what) {
  std::string prefix = what.str();
  Builder &b = node.builder;
  if (node.hasAttr(prefix + "_strings"))
    return node.unsupported("`" + prefix + "_strings`");
  if (node.hasAttr(prefix + "_int64s")) {
    SmallVector<int64_t> list = node.intsAttr(prefix + "_int64s");
    return DenseElementsAttr::get(
        RankedTensorType::get({int64_t(list.size())}, int64(node)),
        ArrayRef(list));
  }
  if (node.hasAttr(prefix + "_floats")) {
    SmallVector<double> list = node.floatsAttr(prefix + "_floats");
    std::vector<float> singles(list.begin(), list.end());
    return DenseElementsAttr::get(
        RankedTensorType::get({int64_t(list.size())}, b.getF32Type()),
        ArrayRef(singles));
  }
  if (node.hasAttr(prefix + "_tensor"))
    if (DenseElementsAttr list = node.tensorAttr(prefix + "_tensor")) {
      auto type =
          RankedTensorType::get({list.getNumElements()}, list.getElementType());
      return list.reshape(type);
    }
  return node.invalid("there are no " + prefix);
}

/// What elements become that are no key.
static FailureOr<Value> defaultOf(OnnxNode &node, Type type) {
  if (node.hasAttr("default_tensor")) {
    DenseElementsAttr given = node.tensorAttr("default_tensor");
    if (!given || given.getNumElements() != 1 || given.getElementType() != type)
      return node.invalid("`default_tensor` is not one element of the type of "
                          "the values");
    return node.reshape(node.constant(given), {});
  }
  if (isa<FloatType>(type))
    return node.scalarConstant(node.floatAttr("default_float", -0.0), type);
  return node.scalarConstant(double(node.intAttr("default_int64", -1)), type);
}

/// x [..., 1] == keys [k]. A NaN among keys is equal to a NaN.
static Value matches(OnnxNode &node, Value x, Value keys) {
  Dims apart = dimsOf(x);
  apart.push_back(1);
  x = node.reshape(x, apart);
  Value same = node.elementwise<EqualOp>({x, keys});
  if (!isa<FloatType>(elementOf(x)))
    return same;
  Value bothMissing = node.elementwise<AndOp>(
      {node.elementwise<IsNaNOp>({x}), node.elementwise<IsNaNOp>({keys})});
  return node.elementwise<OrOp>({same, bothMissing});
}

static ImportResult importLabelEncoder(OnnxNode &node) {
  Value x = node.input(0);
  if (node.hasAttr("classes_strings"))
    return node.unsupported("`classes_strings`");
  auto keys = listOf(node, "keys"), values = listOf(node, "values");
  if (failed(keys) || failed(values))
    return failure();
  if (keys->getNumElements() != values->getNumElements() ||
      keys->getNumElements() == 0)
    return node.invalid("there are " + Twine(keys->getNumElements()) +
                        " keys for " + Twine(values->getNumElements()) +
                        " values");
  if (keys->getElementType() != elementOf(x))
    return node.invalid("the keys do not have the type of X");
  Type type = values->getElementType();
  auto otherwise = defaultOf(node, type);
  if (failed(otherwise))
    return failure();
  Value found = matches(node, x, node.constant(*keys));
  // The first key counts; the default is behind the last.
  Type byte = node.builder.getIntegerType(8, /*isSigned=*/false);
  int64_t last = shapeOf(found).size() - 1;
  Dims column = dimsOf(found);
  column[last] = 1;
  Value always =
      node.build<ExpandOp>(node.scalarConstant(1, byte), ArrayRef(column));
  Value all =
      node.build<ConcatOp>(ValueRange{node.cast(found, byte), always}, last);
  Value place = node.build<ArgMaxOp>(all, last, /*last=*/false);
  Value table = node.build<ConcatOp>(
      ValueRange{node.constant(*values), node.reshape(*otherwise, {1})}, 0);
  place = node.reshape(place, ArrayRef(dimsOf(x)));
  return one(node.build<GatherOp>(table, place, 0, /*inRange=*/true));
}

static ImportResult importOneHotEncoder(OnnxNode &node) {
  Value x = node.input(0);
  if (node.hasAttr("cats_strings"))
    return node.unsupported("`cats_strings`");
  SmallVector<int64_t> categories = node.intsAttr("cats_int64s");
  if (categories.empty())
    return node.invalid("`cats_int64s` is missing");
  if (node.intAttr("zeros", 1) != 1)
    return node.unsupported("`zeros`=0: an error for other categories",
                            "export the model with zeros=1");
  auto type = RankedTensorType::get({int64_t(categories.size())}, int64(node));
  Value keys =
      node.constant(DenseElementsAttr::get(type, ArrayRef(categories)));
  // A number counts without its fraction.
  Value found = matches(node, node.cast(x, int64(node)), keys);
  return one(node.cast(found, node.builder.getF32Type()));
}

/// A map from labels to scores for each row, of which there is no tensor: the scores
/// themselves, whose columns are in the order of the labels.
static ImportResult importZipMap(OnnxNode &node) {
  Value x = node.input(0);
  size_t labels = std::max(node.intsAttr("classlabels_int64s").size(),
                           node.stringsAttr("classlabels_strings").size());
  if (shapeOf(x).empty() || shapeOf(x).back() != int64_t(labels))
    return node.invalid("there are " + Twine(labels) +
                        " labels for the columns of the input");
  return one(x);
}

void registerLabelsImports(OnnxRegistry &registry) {
  StringRef domain = "ai.onnx.ml";
  registry.add("ZipMap", importZipMap,
               "maps: the result is the tensor of the scores, with a column "
               "for each label",
               domain);
  registry.add("LabelEncoder", importLabelEncoder, "strings", domain);
  registry.add("OneHotEncoder", importOneHotEncoder, "strings; `zeros`=0",
               domain);
}

} // namespace ingot::graph
