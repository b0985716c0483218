// Imports the encoders of ai.onnx.ml, which compare each element with a table
// of keys. The keys are numbers or strings.
//
//   LabelEncoder    the value of the first key equal to x, else a default
//   CategoryMapper  maps strings to integers or integers to strings
//   OneHotEncoder   x == key[k], along an additional axis

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Strings.h"

using namespace mlir;

namespace ingot::graph {

static Value strings(OnnxNode &node, ArrayRef<std::string> list) {
  return buildStrings(node.builder, node.loc, {int64_t(list.size())}, list);
}

static bool isOfStrings(Value x) { return isString(elementOf(x)); }

/// Returns the keys (`what` is "keys") or values ("values") of a LabelEncoder
/// as a vector. They are attributes of strings, integers or floats, or a
/// tensor.
static FailureOr<Value> listOf(OnnxNode &node, StringRef what) {
  std::string prefix = what.str();
  Builder &b = node.builder;
  for (StringRef form : {"_strings", "_tensor"})
    if (SmallVector<std::string> list = node.stringsAttr((prefix + form).str());
        !list.empty())
      return strings(node, list);
  if (node.hasAttr(prefix + "_int64s"))
    return node.integers(node.intsAttr(prefix + "_int64s"));
  if (node.hasAttr(prefix + "_floats")) {
    SmallVector<double> list = node.floatsAttr(prefix + "_floats");
    std::vector<float> singles(list.begin(), list.end());
    return node.constant(DenseElementsAttr::get(
        RankedTensorType::get({int64_t(list.size())}, b.getF32Type()),
        ArrayRef(singles)));
  }
  if (node.hasAttr(prefix + "_tensor"))
    if (DenseElementsAttr list = node.tensorAttr(prefix + "_tensor")) {
      auto type =
          RankedTensorType::get({list.getNumElements()}, list.getElementType());
      return node.constant(list.reshape(type));
    }
  return node.invalid("the list of " + prefix + " is missing or empty");
}

/// Returns the value, of type `type`, that LabelEncoder returns for elements
/// that are equal to no key.
static FailureOr<Value> defaultOf(OnnxNode &node, Type type) {
  bool ofStrings = isString(type);
  if (node.hasAttr("default_tensor")) {
    if (SmallVector<std::string> given = node.stringsAttr("default_tensor");
        ofStrings && given.size() == 1)
      return buildStrings(node.builder, node.loc, {}, given);
    DenseElementsAttr given = node.tensorAttr("default_tensor");
    if (!given || given.getNumElements() != 1 || given.getElementType() != type)
      return node.invalid(
          "`default_tensor` must have one element, of the type of the values");
    return node.reshape(node.constant(given), {});
  }
  if (ofStrings)
    return buildStrings(node.builder, node.loc, {},
                        {node.stringAttr("default_string", "_Unused")});
  if (isa<FloatType>(type))
    return node.scalarConstant(node.floatAttr("default_float", -0.0), type);
  int64_t other = node.intAttr("default_int64", -1);
  return node.cast(node.reshape(node.integers(other), {}), type);
}

/// Returns booleans [..., k] that tell whether each element of `x` [...] equals
/// each of the k keys. NaN is equal to a key that is NaN.
static Value matches(OnnxNode &node, Value x, Value keys) {
  Dims apart = dimsOf(x);
  apart.push_back(1);
  x = node.reshape(x, apart);
  Value same = node.equal(x, keys);
  if (!isa<FloatType>(elementOf(x)))
    return same;
  Value bothMissing = node.both(node.elementwise<IsNaNOp>({x}),
                                node.elementwise<IsNaNOp>({keys}));
  return node.either(same, bothMissing);
}

/// Returns for each element of input 0 the value of the first key that is equal
/// to the element, or the default.
static ImportResult mapped(OnnxNode &node, Value keys, Value values) {
  Value x = node.input(0);
  int64_t count = shapeOf(keys)[0];
  if (count != shapeOf(values)[0] || count == 0)
    return node.invalid("there are " + Twine(count) + " keys for " +
                        Twine(shapeOf(values)[0]) + " values");
  if (elementOf(keys) != elementOf(x))
    return node.invalid("the keys must have the element type of X");
  auto otherwise = defaultOf(node, elementOf(values));
  if (failed(otherwise))
    return failure();
  Value found = matches(node, x, keys);
  // ArgMax finds the first key that matches. A column of ones after all keys
  // selects the default.
  Type byte = node.builder.getIntegerType(8, /*isSigned=*/false);
  int64_t last = shapeOf(found).size() - 1;
  Dims column = dimsOf(found);
  column[last] = 1;
  Value always = node.expand(node.scalarConstant(1, byte), column);
  Value all = node.concat({node.cast(found, byte), always}, last);
  Value place = node.build<ArgMaxOp>(all, last, /*last=*/false);
  Value table = node.concat({values, node.reshape(*otherwise, {1})}, 0);
  place = node.reshape(place, dimsOf(x));
  return one(node.build<GatherOp>(table, place, 0, /*inRange=*/true));
}

/// Imports CategoryMapper: maps strings to integers or integers to strings. If
/// two keys are equal, the last one applies.
static ImportResult mappedToOther(OnnxNode &node,
                                  SmallVector<std::string> names,
                                  SmallVector<int64_t> numbers) {
  std::reverse(names.begin(), names.end());
  std::reverse(numbers.begin(), numbers.end());
  Value first = strings(node, names), second = node.integers(numbers);
  return isOfStrings(node.input(0)) ? mapped(node, first, second)
                                    : mapped(node, second, first);
}

static ImportResult importLabelEncoder(OnnxNode &node) {
  if (node.hasAttr("classes_strings")) {
    SmallVector<std::string> classes = node.stringsAttr("classes_strings");
    return mappedToOther(
        node, classes,
        llvm::to_vector(llvm::seq<int64_t>(0, int64_t(classes.size()))));
  }
  auto keys = listOf(node, "keys"), values = listOf(node, "values");
  if (failed(keys) || failed(values))
    return failure();
  return mapped(node, *keys, *values);
}

static ImportResult importCategoryMapper(OnnxNode &node) {
  return mappedToOther(node, node.stringsAttr("cats_strings"),
                       node.intsAttr("cats_int64s"));
}

static ImportResult importOneHotEncoder(OnnxNode &node) {
  Value x = node.input(0);
  bool isString = isOfStrings(x);
  SmallVector<int64_t> categories = node.intsAttr("cats_int64s");
  SmallVector<std::string> names = node.stringsAttr("cats_strings");
  if (isString ? names.empty() : categories.empty())
    return node.invalid(isString ? "`cats_strings` is missing"
                                 : "`cats_int64s` is missing");
  if (node.intAttr("zeros", 1) != 1)
    return node.unsupported(
        "`zeros`=0, an error for unknown categories, is not supported",
        "export the model with zeros=1");
  Value keys = isString ? strings(node, names) : node.integers(categories);
  // Floats are truncated to integers before they are compared with the
  // categories.
  Value found = matches(node, isString ? x : node.cast(x, node.i64()), keys);
  return one(node.cast(found, node.f32()));
}

/// Imports ZipMap. ZipMap returns a map from labels to scores for each row,
/// which tensors cannot represent. The result is the tensor of scores instead,
/// with columns in the order of the labels.
static ImportResult importZipMap(OnnxNode &node) {
  Value x = node.input(0);
  size_t labels = std::max(node.intsAttr("classlabels_int64s").size(),
                           node.stringsAttr("classlabels_strings").size());
  if (shapeOf(x).empty() || !node.takeEqual(dimsOf(x).back(), int64_t(labels)))
    return node.invalid("the input must have one column for each of the " +
                        Twine(labels) + " labels");
  return one(x);
}

void registerLabelsImports(OnnxRegistry &registry) {
  StringRef domain = "ai.onnx.ml";
  registry.add("ZipMap", importZipMap,
               "maps: the result is the tensor of the scores, with a column "
               "for each label",
               domain);
  registry.add("LabelEncoder", importLabelEncoder, "", domain);
  registry.add("CategoryMapper", importCategoryMapper, "", domain);
  registry.add("OneHotEncoder", importOneHotEncoder, "`zeros`=0", domain);
}

} // namespace ingot::graph
