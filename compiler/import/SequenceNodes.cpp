// Imports operators on sequences and optional values.
//
// If the length of a sequence and the accessed positions are known at compile
// time, the sequence is a list of values in the importer, without any operation
// in the graph. Any other sequence is represented by tensors
// (RunTimeSequence.h). An optional value is represented by the value that it
// contains.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot {

/// Whether the node's input 0 is a sequence; reports a diagnostic if not.
static bool checkSequence(ProtoNode &node, const NodePlace &at) {
  if (!at.bindings.empty() && at.bindings[0].kind == Binding::Sequence)
    return true;
  (void)node.invalid("the input must be a sequence");
  return false;
}

/// Whether input 0, a sequence, is a list of values in the importer, and input
/// `i`, a position in it, is absent or known at compile time.
static bool isListed(ProtoNode &node, const NodePlace &at, unsigned i) {
  return at.bindings[0].isList() && (!node.hasInput(i) || node.isKnown(i));
}

/// Returns input `i`, a position that is known at compile time, as an index in
/// [0, size): a negative position counts from the end.
static FailureOr<int64_t> position(ProtoNode &node, unsigned i, int64_t size) {
  auto given = node.requireInts(i, "position");
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return node.invalid("the position has " + Twine(given->size()) +
                        " elements, but must have exactly 1");
  int64_t place = given->front();
  if (place < -size || place >= size)
    return node.invalid("position " + Twine(place) +
                        " is out of range for a sequence of " + Twine(size) +
                        " elements");
  return place < 0 ? place + size : place;
}

/// Returns input 0, a sequence, represented by tensors. If the sequence is
/// empty, the type and shape of its elements are those of `also`, the tensor
/// that the node inserts.
static FailureOr<RunTimeSequence> atRunTime(ProtoNode &node,
                                            SequenceBuilder &sequences,
                                            const NodePlace &at,
                                            Value also = {}) {
  const Binding &given = at.bindings[0];
  if (given.list)
    return *given.list;
  auto form = SequenceBuilder::formOf(given.elements);
  if (given.elements.empty() && also) {
    form = SequenceBuilder::formOf({also});
    form->capacity = 0;
  }
  if (!form)
    return given.elements.empty()
               ? node.invalid("the sequence is empty")
               : node.unsupported("a position that is known only at run time "
                                  "is not supported for a sequence of tensors "
                                  "of different types or ranks");
  return sequences.pack(given.elements, *form);
}

/// Returns input `i`, a position in a sequence, as a value; null if the input
/// is absent. Fails with a diagnostic unless the input has one element.
static FailureOr<Value> runTimePosition(ProtoNode &node, unsigned i) {
  if (!node.hasInput(i))
    return Value();
  if (graph::tensorType(node.input(i)).getNumElements() != 1)
    return node.invalid("the position must have exactly one element");
  return node.input(i);
}

namespace {
struct ListAndPlace {
  RunTimeSequence list;
  Value place;
};
} // namespace

/// Returns input 0, a sequence, represented by tensors, and input `i`, a
/// position in the sequence. If the sequence is empty, the type and shape of
/// its elements are those of `also`, the tensor that the node inserts.
static FailureOr<ListAndPlace> listAndPlace(ProtoNode &node,
                                            SequenceBuilder &sequences,
                                            const NodePlace &at, unsigned i,
                                            Value also = {}) {
  auto list = atRunTime(node, sequences, at, also);
  auto place = runTimePosition(node, i);
  if (failed(list) || failed(place))
    return failure();
  return ListAndPlace{std::move(*list), *place};
}

static NodeResults oneResult(FailureOr<RunTimeSequence> list) {
  if (failed(list))
    return failure();
  return SmallVector<Binding>{Binding::sequence(std::move(*list))};
}

static NodeResults oneResult(FailureOr<Value> value) {
  if (failed(value))
    return failure();
  return SmallVector<Binding>{Binding::known(*value)};
}

/// Returns the result of a node for which the length of its sequence (input 0)
/// or the position in the sequence (input `i`) is known only at run time.
/// `build` computes the result from the sequence, represented by tensors, and
/// the position. `also` is the tensor that the node inserts, or null.
template <typename Build>
static NodeResults atPlaceOfRun(GraphImporter &importer, ProtoNode &node,
                                NodePlace &at, unsigned i, Build build,
                                Value also = {}) {
  SequenceBuilder sequences(importer, at);
  auto given = listAndPlace(node, sequences, at, i, also);
  if (failed(given))
    return failure();
  return oneResult(build(sequences, given->list, given->place));
}

NodeResults GraphImporter::importSequenceConstruct(NodePlace &at) {
  std::vector<Value> elements;
  for (Value value : at.inputs) {
    if (!value)
      return ProtoNode(*this, at).unsupported(
          "a sequence whose elements are not tensors is not supported");
    elements.push_back(value);
  }
  return SmallVector<Binding>{Binding::sequence(std::move(elements))};
}

NodeResults GraphImporter::importSequenceInsert(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  if (!at.inputs[1])
    return node.invalid("the tensor to insert is missing");
  if (!isListed(node, at, 2))
    return atPlaceOfRun(
        *this, node, at, 2,
        [&](SequenceBuilder &sequences, auto &list, Value place) {
          return sequences.insert(list, at.inputs[1], place);
        },
        at.inputs[1]);
  std::vector<Value> elements = at.bindings[0].elements;
  int64_t place = elements.size();
  if (node.hasInput(2)) {
    // SequenceInsert also allows the position after the last element, which
    // cannot be written as a negative position.
    auto given = node.requireInts(2, "position");
    if (failed(given))
      return failure();
    int64_t size = elements.size();
    if (given->size() != 1 || given->front() < -size || given->front() > size)
      return node.invalid(
          "the position must be one integer within the length of the sequence");
    place = given->front() < 0 ? given->front() + size : given->front();
  }
  elements.insert(elements.begin() + place, at.inputs[1]);
  return SmallVector<Binding>{Binding::sequence(std::move(elements))};
}

/// Returns the result of a node with two inputs: a sequence and a position in
/// it. If the length of the sequence or the position is known only at run time,
/// `ofRun` builds the result. Otherwise, `known` computes the result from the
/// list of elements.
template <typename OfRun, typename Known>
static NodeResults atPlace(GraphImporter &importer, NodePlace &at, OfRun ofRun,
                           Known known) {
  ProtoNode node(importer, at);
  if (!checkSequence(node, at))
    return failure();
  if (!isListed(node, at, 1))
    return atPlaceOfRun(importer, node, at, 1, ofRun);
  return known(node, at.bindings[0].elements);
}

NodeResults GraphImporter::importSequenceErase(NodePlace &at) {
  auto ofRun = [](SequenceBuilder &sequences, auto &list, Value place) {
    return sequences.erase(list, place);
  };
  return atPlace(
      *this, at, ofRun,
      [](ProtoNode &node, std::vector<Value> elements) -> NodeResults {
        FailureOr<int64_t> place = int64_t(elements.size()) - 1;
        if (node.hasInput(1))
          place = position(node, 1, elements.size());
        if (failed(place))
          return failure();
        if (elements.empty())
          return node.invalid("the sequence is empty");
        elements.erase(elements.begin() + *place);
        return SmallVector<Binding>{Binding::sequence(std::move(elements))};
      });
}

NodeResults GraphImporter::importSequenceAt(NodePlace &at) {
  return atPlace(
      *this, at,
      [](SequenceBuilder &sequences, auto &list, Value place) {
        return sequences.elementAt(list, place);
      },
      [](ProtoNode &node, ArrayRef<Value> elements) -> NodeResults {
        auto place = position(node, 1, elements.size());
        if (failed(place))
          return failure();
        return SmallVector<Binding>{Binding::known(elements[*place])};
      });
}

NodeResults GraphImporter::importSequenceLength(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  if (at.bindings[0].list)
    return SmallVector<Binding>{Binding::known(
        SequenceBuilder(*this, at).length(*at.bindings[0].list))};
  int64_t length = at.bindings[0].elements.size();
  return SmallVector<Binding>{Binding::known(integers(at, {}, length))};
}

/// Splits `x` along an axis into parts of the given lengths. If `keepsAxis` is
/// false, all lengths are 1, and the axis is removed from each part.
static NodeResults listOfParts(ProtoNode &node, OpBuilder &builder, Value x,
                               int64_t axis, ArrayRef<int64_t> lengths,
                               bool keepsAxis) {
  std::vector<Value> elements;
  int64_t start = 0;
  for (int64_t part : lengths) {
    Value section = graph::slice(builder, node.loc, x, axis, start, part);
    start += part;
    graph::Dims sizes = graph::dimsOf(section);
    if (!keepsAxis)
      sizes.erase(sizes.begin() + axis);
    elements.push_back(node.reshape(section, ArrayRef<graph::Dim>(sizes)));
  }
  return SmallVector<Binding>{Binding::sequence(std::move(elements))};
}

NodeResults GraphImporter::importSplitToSequence(NodePlace &at) {
  ProtoNode node(*this, at);
  Value x = node.input(0);
  if (!x)
    return node.invalid("the tensor to split is missing");
  auto axis = node.axisAttr("axis", 0, graph::shapeOf(x).size());
  if (failed(axis))
    return failure();
  bool hasSplit = node.hasInput(1),
       keepsAxis = hasSplit || node.intAttr("keepdims", 1),
       isKnown = !hasSplit || node.isKnown(1),
       hasOnePart = !hasSplit || graph::shapeOf(node.input(1)).empty();
  std::optional<int64_t> size = graph::dimsOf(x)[*axis].known();
  if (!hasOnePart && !isKnown) {
    auto parts =
        graph::splitToLengths(node, *axis, graph::shapeOf(node.input(1))[0]);
    if (failed(parts))
      return failure();
    return SmallVector<Binding>{
        Binding::sequence(std::vector<Value>(parts->begin(), parts->end()))};
  }
  if (hasOnePart && (!isKnown || !size)) {
    SequenceBuilder sequences(*this, at);
    auto parts = sequences.split(x, *axis,
                                 hasSplit ? node.input(1)
                                          : graph::RunTimeInts(node).number(1));
    if (succeeded(parts) && !keepsAxis)
      sequences.dropAxis(*parts, *axis);
    return oneResult(std::move(parts));
  }
  SmallVector<int64_t> lengths;
  if (hasSplit) {
    auto split = node.requireInts(1, "split");
    if (failed(split))
      return failure();
    lengths = *split;
    int64_t sum = 0;
    for (int64_t part : lengths)
      if (part < 0 || llvm::AddOverflow(sum, part, sum))
        return node.invalid("the split sizes must be 0 or more and add up to "
                            "the size of the axis");
    if (!hasOnePart && !size) {
      if (failed(node.requireEqual(
              graph::dimsOf(x)[*axis], sum,
              "the size of the axis and the sum of the split sizes")))
        return failure();
      x = node.input(0);
      size = sum;
    }
    if (hasOnePart) {
      int64_t each = lengths[0];
      if (each < 1)
        return node.invalid("split is " + Twine(each) +
                            ", but must be 1 or more");
      lengths.assign(*size / each, each);
      if (*size % each)
        lengths.push_back(*size % each);
    } else if (sum != *size) {
      return node.invalid("the split sizes must be 0 or more and add up to the "
                          "size of the axis");
    }
  } else {
    lengths.assign(*size, 1);
  }
  return listOfParts(node, builder, x, *axis, lengths, keepsAxis);
}

NodeResults GraphImporter::importConcatFromSequence(NodePlace &at) {
  ProtoNode node(*this, at);
  if (!checkSequence(node, at))
    return failure();
  if (at.bindings[0].list)
    return oneResult(SequenceBuilder(*this, at).concat(
        *at.bindings[0].list, node.intAttr("axis", 0),
        node.intAttr("new_axis", 0) != 0));
  ArrayRef<Value> elements = at.bindings[0].elements;
  if (elements.empty())
    return node.invalid("the sequence is empty");
  if (!llvm::all_equal(llvm::map_range(elements, graph::elementOf)))
    return node.invalid("the tensors must have the same element type");
  SmallVector<Value> parts(elements);
  bool isNewAxis = node.intAttr("new_axis", 0) != 0;
  for (Value &part : parts) {
    graph::Dims sizes = graph::dimsOf(part);
    auto axis = node.axisAttr("axis", 0, int64_t(sizes.size()) + isNewAxis);
    if (failed(axis))
      return failure();
    if (isNewAxis)
      sizes.insert(sizes.begin() + *axis, 1);
    part = node.reshape(part, ArrayRef<graph::Dim>(sizes));
  }
  Value all = node.valueAs("Concat", parts);
  if (!all)
    return failure();
  return SmallVector<Binding>{Binding::known(all)};
}

NodeResults GraphImporter::importOptional(NodePlace &at) {
  return SmallVector<Binding>{at.bindings.empty() ? Binding::absent()
                                                  : at.bindings[0]};
}

NodeResults GraphImporter::importOptionalHasElement(NodePlace &at) {
  if (!at.bindings.empty() && at.bindings[0].present)
    return SmallVector<Binding>{Binding::known(at.bindings[0].present)};
  bool has = !at.bindings.empty() && at.bindings[0].kind != Binding::Absent;
  return SmallVector<Binding>{Binding::known(boolean(at, has))};
}

NodeResults GraphImporter::importOptionalGetElement(NodePlace &at) {
  if (at.bindings[0].kind == Binding::Absent)
    return ProtoNode(*this, at).invalid(
        "the optional value is empty, so that it has no element");
  Binding element = at.bindings[0];
  if (Value present = std::exchange(element.present, Value()))
    SequenceBuilder(*this, at).require(present);
  return SmallVector<Binding>{element};
}

} // namespace ingot
