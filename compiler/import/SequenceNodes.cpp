// Lists of tensors.
//
// A sequence is a list of values that the importer keeps: its length and the
// positions asked for must be known, then nothing of it is left in the graph.
// An optional value is the value that it holds.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot {

/// Whether the node's input 0 is a sequence; says so if not.
static bool checkSequence(ProtoNode &node, const NodePlace &at) {
  if (!at.bindings.empty() && at.bindings[0].kind == Binding::Sequence)
    return true;
  (void)node.invalid("its input is no sequence");
  return false;
}

/// Input `i` as a place among `size`.
static FailureOr<int64_t> position(ProtoNode &node, unsigned i, int64_t size) {
  auto given = node.requireInts(i, "position");
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return node.invalid("the position has " + Twine(given->size()) +
                        " elements");
  int64_t place = given->front();
  if (place < -size || place >= size)
    return node.invalid("position " + Twine(place) +
                        " is outside of the sequence");
  return place < 0 ? place + size : place;
}

NodeResults GraphImporter::importSequenceConstruct(NodePlace &at) {
  std::vector<Value> elements;
  for (Value value : at.inputs) {
    if (!value)
      return ProtoNode(*this, at).unsupported(
          "a sequence of other than tensors");
    elements.push_back(value);
  }
  return SmallVector<Binding>{Binding::sequence(std::move(elements))};
}

NodeResults GraphImporter::importSequenceInsert(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  if (!at.inputs[1])
    return node.invalid("there is no tensor to insert");
  std::vector<Value> elements = at.bindings[0].elements;
  int64_t place = elements.size();
  if (node.hasInput(2)) {
    // One behind the last is a place to insert at; counted from the end it is
    // not.
    auto given = node.requireInts(2, "position");
    if (failed(given))
      return failure();
    int64_t size = elements.size();
    if (given->size() != 1 || given->front() < -size || given->front() > size)
      return node.invalid("the position is outside of the sequence");
    place = given->front() < 0 ? given->front() + size : given->front();
  }
  elements.insert(elements.begin() + place, at.inputs[1]);
  return SmallVector<Binding>{Binding::sequence(std::move(elements))};
}

NodeResults GraphImporter::importSequenceErase(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  std::vector<Value> elements = at.bindings[0].elements;
  FailureOr<int64_t> place = int64_t(elements.size()) - 1;
  if (node.hasInput(1))
    place = position(node, 1, elements.size());
  if (failed(place))
    return failure();
  if (elements.empty())
    return node.invalid("the sequence is empty");
  elements.erase(elements.begin() + *place);
  return SmallVector<Binding>{Binding::sequence(std::move(elements))};
}

NodeResults GraphImporter::importSequenceAt(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  const std::vector<Value> &elements = at.bindings[0].elements;
  auto place = position(node, 1, elements.size());
  if (failed(place))
    return failure();
  return SmallVector<Binding>{Binding::known(elements[*place])};
}

NodeResults GraphImporter::importSequenceLength(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  int64_t length = at.bindings[0].elements.size();
  return SmallVector<Binding>{Binding::known(integers(at, {}, length))};
}

NodeResults GraphImporter::importSplitToSequence(NodePlace &at) {
  ProtoNode node(*this, at);
  Value x = node.input(0);
  if (!x)
    return node.invalid("there is no tensor to split");
  auto axis = node.axisAttr("axis", 0, graph::shapeOf(x).size());
  if (failed(axis))
    return failure();
  int64_t size = graph::shapeOf(x)[*axis];
  SmallVector<int64_t> sizes;
  if (node.hasInput(1)) {
    auto split = node.requireInts(1, "split");
    if (failed(split))
      return failure();
    sizes = *split;
    if (graph::shapeOf(node.input(1)).empty()) {
      int64_t each = sizes[0];
      if (each < 1)
        return node.invalid("split is " + Twine(each));
      sizes.assign(size / each, each);
      if (size % each)
        sizes.push_back(size % each);
    }
  } else {
    sizes.assign(size, 1);
  }
  int64_t sum = 0;
  for (int64_t part : sizes) {
    if (part < 0 || part > size - sum)
      return node.invalid("the split does not fit the axis");
    sum += part;
  }
  if (sum != size)
    return node.invalid("the split does not fit the axis");
  bool keepsAxis = node.hasInput(1) || node.intAttr("keepdims", 1);
  std::vector<Value> elements;
  int64_t start = 0;
  for (int64_t part : sizes) {
    Value piece = graph::slice(builder, node.loc, x, *axis, start, part);
    start += part;
    SmallVector<int64_t> shape(graph::shapeOf(piece));
    if (!keepsAxis)
      shape.erase(shape.begin() + *axis);
    elements.push_back(node.reshape(piece, shape));
  }
  return SmallVector<Binding>{Binding::sequence(std::move(elements))};
}

NodeResults GraphImporter::importConcatFromSequence(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  ArrayRef<Value> elements = at.bindings[0].elements;
  if (elements.empty())
    return node.invalid("the sequence is empty");
  if (node.intAttr("new_axis", 0)) {
    Value all = stack(at, elements, node.intAttr("axis", 0));
    if (!all)
      return failure();
    return SmallVector<Binding>{Binding::known(all)};
  }
  auto axis = node.axisAttr("axis", 0, graph::shapeOf(elements[0]).size());
  if (failed(axis))
    return failure();
  assumeAlike(elements, *axis);
  auto sizes = llvm::map_to_vector(
      elements, [](Value element) { return graph::dimsOf(element); });
  if (!graph::concatenated(
          SmallVector<ArrayRef<graph::Dim>>(sizes.begin(), sizes.end()),
          *axis) ||
      !llvm::all_equal(llvm::map_range(elements, graph::elementOf)))
    return node.invalid("the tensors differ in their shapes or types");
  return SmallVector<Binding>{Binding::known(
      elements.size() == 1
          ? elements[0]
          : graph::ConcatOp::create(builder, node.loc, elements, *axis)
                .getResult())};
}

NodeResults GraphImporter::importOptional(NodePlace &at) {
  return SmallVector<Binding>{at.bindings.empty() ? Binding::absent()
                                                  : at.bindings[0]};
}

NodeResults GraphImporter::importOptionalHasElement(NodePlace &at) {
  bool has = !at.bindings.empty() && at.bindings[0].kind != Binding::Absent;
  return SmallVector<Binding>{Binding::known(boolean(at, has))};
}

NodeResults GraphImporter::importOptionalGetElement(NodePlace &at) {
  if (at.bindings[0].kind == Binding::Absent)
    return ProtoNode(*this, at).invalid("the value is absent");
  return SmallVector<Binding>{at.bindings[0]};
}

} // namespace ingot
