#include "compiler/import/RunTimeSequence.h"

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Strings.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {

bool SequenceForm::isFixed() const {
  return llvm::all_of(sizes, [](SizeRange size) { return size.isOne(); });
}

int64_t SequenceForm::width() const {
  int64_t width = 1;
  for (SizeRange size : sizes)
    width *= size.most;
  return width;
}

std::optional<SequenceForm> SequenceForm::join(const SequenceForm &a,
                                               const SequenceForm &b) {
  if (a.element != b.element || a.sizes.size() != b.sizes.size())
    return std::nullopt;
  SequenceForm both{a.element, {}, std::max(a.capacity, b.capacity)};
  for (auto [x, y] : llvm::zip(a.sizes, b.sizes))
    both.sizes.push_back(
        SizeRange(std::min(x.least, y.least), std::max(x.most, y.most)));
  return both;
}

bool SequenceForm::operator==(const SequenceForm &other) const {
  auto same = [](SizeRange x, SizeRange y) {
    return x.least == y.least && x.most == y.most;
  };
  return element == other.element && capacity == other.capacity &&
         sizes.size() == other.sizes.size() &&
         llvm::all_of(llvm::zip(sizes, other.sizes), [&](auto pair) {
           return same(std::get<0>(pair), std::get<1>(pair));
         });
}

SmallVector<Type> SequenceForm::types() const {
  Type i64 = IntegerType::get(element.getContext(), 64, IntegerType::Signed);
  SmallVector<Type> types{RankedTensorType::get({capacity, width()}, element)};
  if (!isFixed())
    types.push_back(
        RankedTensorType::get({capacity, int64_t(sizes.size())}, i64));
  types.push_back(RankedTensorType::get({}, i64));
  return types;
}

SequenceForm RunTimeSequence::form() const {
  return {elementOf(rows), sizes, dimsOf(rows)[0].most()};
}

SequenceBuilder::SequenceBuilder(GraphImporter &importer, NodePlace &at)
    : node(std::make_unique<ProtoNode>(importer, at)) {}

SequenceBuilder::~SequenceBuilder() = default;

std::optional<SequenceForm> SequenceBuilder::formOf(ArrayRef<Value> elements) {
  std::optional<SequenceForm> all;
  for (Value element : elements) {
    SequenceForm own{elementOf(element), {}, int64_t(elements.size())};
    for (const Dim &size : dimsOf(element))
      own.sizes.push_back(SizeRange(size.least(), size.most()));
    all = all ? SequenceForm::join(*all, own) : own;
    if (!all)
      return std::nullopt;
  }
  return all;
}

Value SequenceBuilder::filled(Type element, ArrayRef<int64_t> shape) {
  if (isa<kernel::StringType>(element)) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return buildStrings(node->builder, node->loc, shape,
                        std::vector<std::string>(count));
  }
  auto type = RankedTensorType::get(shape, element);
  return node->constant(
      DenseElementsAttr::get(type, node->builder.getZeroAttr(element)));
}

Value SequenceBuilder::withColumns(Value matrix, int64_t width) {
  int64_t own = shapeOf(matrix)[1];
  Value zero = filled(elementOf(matrix), {});
  return own == width ? matrix
                      : node->builder.createOrFold<PadOp>(
                            node->loc, matrix, zero, ArrayRef<int64_t>{0, 0},
                            ArrayRef<int64_t>{0, width - own});
}

Value SequenceBuilder::withRows(Value matrix, int64_t count) {
  Dim own = dimsOf(matrix)[0], width = dimsOf(matrix)[1];
  if (own == count)
    return matrix;
  if (int64_t missing = count - own.least(); missing > 0)
    matrix = node->builder.createOrFold<PadOp>(
        node->loc, matrix, filled(elementOf(matrix), {}),
        ArrayRef<int64_t>{0, 0}, ArrayRef<int64_t>{missing, 0});
  return node->build<SliceOp>(matrix, ArrayRef<int64_t>{0, 0},
                              ArrayRef<int64_t>{1, 1},
                              ArrayRef<Dim>{Dim(count), width});
}

Value SequenceBuilder::inRoom(Value flat, int64_t width) {
  // `flat` becomes a row of the sequence's tensor `rows`. A row has room for
  // the largest element. The rest of the row after a smaller element may be
  // undefined, except for booleans and strings, which must always be valid:
  // rows of these types are padded.
  Type element = elementOf(flat);
  Dim own = dimsOf(flat)[0];
  if (own == width)
    return flat;
  if (own == 0)
    return filled(element, {width});
  if (own.most() > width || isa<kernel::StringType>(element) ||
      element.isInteger(1))
    return resizedFlat(*node, flat, Dim(width));
  return node->build<WithRoomOp>(RankedTensorType::get({width}, element), flat);
}

FailureOr<RunTimeSequence> SequenceBuilder::pack(ArrayRef<Value> elements,
                                                 const SequenceForm &form) {
  RunTimeInts ints(*node);
  SmallVector<Value> rows, shapes;
  int64_t rank = form.sizes.size();
  for (Value element : elements) {
    Dims sizes = dimsOf(element);
    Dim count = product(sizes);
    Value flat =
        inRoom(node->reshape(element, ArrayRef<Dim>(count)), form.width());
    rows.push_back(node->reshape(flat, {1, form.width()}));
    if (!form.isFixed())
      shapes.push_back(node->reshape(ints.sizes(sizes), {1, rank}));
  }
  auto joined = [&](ArrayRef<Value> parts, Type element, int64_t width) {
    if (parts.empty())
      return filled(element, {form.capacity, width});
    return withRows(parts.size() == 1 ? parts[0]
                                      : Value(node->build<ConcatOp>(parts, 0)),
                    form.capacity);
  };
  RunTimeSequence sequence{form.sizes,
                           joined(rows, form.element, form.width())};
  Type i64 = node->builder.getIntegerType(64, /*isSigned=*/true);
  if (!form.isFixed())
    sequence.shapes = joined(shapes, i64, rank);
  if (int64_t(elements.size()) != form.capacity)
    sequence.count = ints.number(elements.size());
  return sequence;
}

Value SequenceBuilder::length(const RunTimeSequence &sequence) {
  RunTimeInts ints(*node);
  return sequence.count ? sequence.count
                        : node->reshape(ints.sizes(dimsOf(sequence.rows)[0]),
                                        ArrayRef<int64_t>());
}

FailureOr<Dim> SequenceBuilder::size(const RunTimeSequence &sequence) {
  Dim rows = dimsOf(sequence.rows)[0];
  if (!sequence.count)
    return rows;
  auto read =
      node->readSizes(RunTimeInts(*node).vector(sequence.count), {rows.most()});
  if (failed(read))
    return failure();
  return read->front();
}

Value SequenceBuilder::shapesOf(const RunTimeSequence &sequence) {
  if (sequence.shapes)
    return sequence.shapes;
  SmallVector<int64_t> sizes;
  for (SizeRange size : sequence.sizes)
    sizes.push_back(size.most);
  int64_t rank = sizes.size();
  Value one = node->reshape(RunTimeInts(*node).numbers(sizes), {1, rank});
  return node->builder.createOrFold<ExpandOp>(
      node->loc, one, ArrayRef<Dim>{dimsOf(sequence.rows)[0], Dim(rank)});
}

void SequenceBuilder::require(Value truths) {
  RunTimeInts ints(*node);
  Value wrong = node->sub(1, ints.vector(truths));
  Value number = node->build<ReduceSumOp>(wrong, ArrayRef<int64_t>{0});
  MLIRContext *context = node->builder.getContext();
  ReadSizesOp::create(node->builder, node->loc, ints.vector(number),
                      kernel::sizesAttr(Dims{Dim(0)}, context));
}

Value SequenceBuilder::wrapped(Value position, Value count, Value end) {
  RunTimeInts ints(*node);
  position = ints.vector(position);
  Value zero = ints.number(0);
  position = node->where(node->less(position, zero), node->add(position, count),
                         position);
  require(node->both(node->less(-1, position), node->less(position, end)));
  return position;
}

RunTimeSequence SequenceBuilder::fit(const RunTimeSequence &sequence,
                                     const SequenceForm &form) {
  RunTimeInts ints(*node);
  RunTimeSequence fitting;
  fitting.sizes = form.sizes;
  Value count = length(sequence);
  if (dimsOf(sequence.rows)[0].most() > form.capacity)
    require(node->less(count, form.capacity + 1));
  fitting.rows =
      withRows(withColumns(sequence.rows, form.width()), form.capacity);
  if (!form.isFixed())
    fitting.shapes = withRows(shapesOf(sequence), form.capacity);
  fitting.count = count;
  return fitting;
}

FailureOr<Dims> SequenceBuilder::sizesIn(const RunTimeSequence &sequence,
                                         Value position) {
  RunTimeInts ints(*node);
  Dims sizes;
  int64_t rank = sequence.sizes.size();
  Value shape;
  if (sequence.shapes)
    shape =
        node->reshape(gatherAlong(*node, sequence.shapes, 0, position), {rank});
  for (auto [axis, range] : llvm::enumerate(sequence.sizes)) {
    if (range.isOne()) {
      sizes.push_back(range.most);
      if (shape)
        require(node->equal(ints.part(shape, axis), range.most));
      continue;
    }
    auto read = node->readSizes(ints.part(shape, axis), {range.most});
    if (failed(read))
      return failure();
    sizes.push_back(read->front());
  }
  // If the sequence is an input of the model, its rows may be too narrow for an
  // element with all sizes at their upper bounds. So the generated program
  // checks that the element fits into its row.
  Dim elements = product(sizes);
  if (int64_t width = shapeOf(sequence.rows)[1]; elements.most() > width)
    require(node->less(ints.sizes(elements), width + 1));
  return sizes;
}

FailureOr<Value> SequenceBuilder::row(const RunTimeSequence &sequence,
                                      Value position) {
  auto sizes = sizesIn(sequence, position);
  if (failed(sizes))
    return failure();
  Value row = gatherAlong(*node, sequence.rows, 0, position);
  Dim elements = product(ArrayRef<Dim>(*sizes));
  row = resizedFlat(*node, node->reshape(row, {shapeOf(row)[1]}), elements);
  return node->reshape(row, ArrayRef<Dim>(*sizes));
}

FailureOr<Value> SequenceBuilder::single(const RunTimeSequence &sequence) {
  return row(sequence, RunTimeInts(*node).numbers({0}));
}

FailureOr<Value> SequenceBuilder::elementAt(const RunTimeSequence &sequence,
                                            Value position) {
  Value count = RunTimeInts(*node).vector(length(sequence));
  return row(sequence, wrapped(position, count, count));
}

FailureOr<RunTimeSequence>
SequenceBuilder::insert(const RunTimeSequence &sequence, Value x,
                        Value position) {
  RunTimeInts ints(*node);
  auto form = SequenceForm::join(sequence.form(), *formOf({x}));
  if (!form)
    return node->unsupported(
        "tensors of different types or ranks in a sequence whose length is "
        "known only at run time are not supported");
  ++form->capacity;
  Value count = ints.vector(length(sequence));
  RunTimeSequence all = fit(sequence, *form);
  Value end = node->add(count, 1);
  Value place = position ? wrapped(position, count, end) : count;
  auto one = pack({x}, {form->element, form->sizes, 1});
  if (failed(one))
    return failure();
  // Row i of the new tensor takes row i of the old tensor before the insertion
  // position, and row i - 1 after it.
  Value rows = node->countTo(Dim(form->capacity));
  Value from =
      node->sub(rows, node->cast(node->less(place, rows), elementOf(rows)));
  Value here = node->reshape(node->equal(rows, place), {form->capacity, 1});
  auto put = [&](Value matrix, Value row) {
    return node->where(here, row, gatherAlong(*node, matrix, 0, from));
  };
  all.rows = put(all.rows, one->rows);
  if (all.shapes)
    all.shapes = put(all.shapes, one->shapes ? one->shapes : shapesOf(*one));
  all.count = node->reshape(end, ArrayRef<int64_t>());
  return all;
}

FailureOr<RunTimeSequence>
SequenceBuilder::erase(const RunTimeSequence &sequence, Value position) {
  RunTimeInts ints(*node);
  Value count = ints.vector(length(sequence));
  Value place = wrapped(position ? position : ints.number(-1), count, count);
  RunTimeSequence rest = fit(sequence, sequence.form());
  Value rows = node->countTo(dimsOf(rest.rows)[0]);
  Value isBehind = node->less(node->sub(place, 1), rows);
  Value from = node->add(rows, node->cast(isBehind, elementOf(rows)));
  rest.rows = gatherAlong(*node, rest.rows, 0, from);
  if (rest.shapes)
    rest.shapes = gatherAlong(*node, rest.shapes, 0, from);
  rest.count = node->reshape(node->sub(count, 1), ArrayRef<int64_t>());
  return rest;
}

void SequenceBuilder::requireAlike(const RunTimeSequence &sequence,
                                   std::optional<int64_t> otherAxis) {
  RunTimeInts ints(*node);
  if (!sequence.shapes)
    return;
  int64_t capacity = shapeOf(sequence.shapes)[0];
  Value isElement = node->reshape(
      node->less(node->countTo(Dim(capacity)), ints.vector(length(sequence))),
      {capacity, 1});
  Value first = slice(node->builder, node->loc, sequence.shapes, 0, 0, 1);
  Value same = node->equal(sequence.shapes, first);
  SmallVector<bool> isOther(sequence.sizes.size(), false);
  if (otherAxis)
    isOther[*otherAxis] = true;
  auto type = RankedTensorType::get({1, int64_t(isOther.size())},
                                    node->builder.getI1Type());
  Value ignored = node->constant(DenseElementsAttr::get(type, isOther));
  Value isBehind = node->elementwise<NotOp>({isElement});
  require(node->either(node->either(same, ignored), isBehind));
}

FailureOr<Value> SequenceBuilder::concat(const RunTimeSequence &given,
                                         int64_t axis, bool isNewAxis) {
  RunTimeInts ints(*node);
  int64_t rank = int64_t(given.sizes.size()) + isNewAxis;
  auto along = node->normalizeAxis(axis, rank);
  if (failed(along))
    return failure();
  axis = *along;
  RunTimeSequence sequence = fit(given, given.form());
  int64_t capacity = shapeOf(sequence.rows)[0],
          width = shapeOf(sequence.rows)[1];
  Value count = ints.vector(length(sequence));
  require(node->less(0, count));
  requireAlike(sequence, isNewAxis ? std::nullopt : std::optional(axis));
  auto sizes = sizesIn(sequence, ints.numbers({0}));
  if (failed(sizes))
    return failure();
  // For each row of the tensor that contains the sequence: the length of the
  // row's element along the concatenated axis; 0 for unused rows.
  Value isElement = node->less(node->countTo(Dim(capacity)), count);
  Value lengths = ints.numbers({1});
  if (isNewAxis)
    sizes->insert(sizes->begin() + axis, Dim(1));
  else
    lengths = node->reshape(
        slice(node->builder, node->loc, shapesOf(sequence), 1, axis, 1),
        {capacity});
  lengths = node->where(isElement, lengths, 0);
  int64_t longest = isNewAxis ? 1 : given.sizes[axis].most;
  require(
      node->both(node->less(-1, lengths), node->less(lengths, longest + 1)));
  int64_t most = capacity * longest;
  Value total = node->build<ReduceSumOp>(lengths, ArrayRef<int64_t>{0});
  auto whole = node->readSizes(ints.vector(total), {most});
  if (failed(whole))
    return failure();
  // For each position along the concatenated axis: the element it belongs to,
  // and the offset in that element.
  Dim end = whole->front();
  Value places = node->countTo(end),
        ends = node->reshape(ints.sums(lengths, /*exclusive=*/false),
                             {1, capacity});
  Value column = node->reshape(places, ArrayRef<Dim>{end, Dim(1)});
  Value before =
      node->sub(1, node->cast(node->less(column, ends), elementOf(ends)));
  Value which =
      node->reshape(node->build<ReduceSumOp>(before, ArrayRef<int64_t>{1}),
                    ArrayRef<Dim>(end));
  Value inside = node->sub(
      places, ints.take(ints.sums(lengths, /*exclusive=*/true), which));
  Value own = ints.take(lengths, which);
  Dims outer(ArrayRef<Dim>(*sizes).take_front(axis)),
      inner(ArrayRef<Dim>(*sizes).drop_front(axis + 1));
  Dim outerSize = product(outer), innerSize = product(inner);
  // The index of the result's element (o, p, i) in the flattened rows. p is the
  // position along the concatenated axis, which[p] the element of the sequence
  // that it belongs to, own[p] the length of this element along the axis, and
  // inside[p] the offset in it:
  //   which[p] * width + (o * own[p] + inside[p]) * inner + i
  auto aligned = [&](Value vector, int64_t place) {
    return node->alignAt(vector, place, 3);
  };
  Value index = node->add(
      node->mul(aligned(node->countTo(outerSize), 0), aligned(own, 1)),
      aligned(inside, 1));
  index = node->add(node->mul(index, ints.sizes(innerSize)),
                    aligned(node->countTo(innerSize), 2));
  index = node->add(index, aligned(node->mul(which, width), 1));
  Value flat = node->reshape(index, ArrayRef<Dim>(product(dimsOf(index))));
  Value elements =
      ints.take(node->reshape(sequence.rows, {capacity * width}), flat);
  Dims result(outer);
  result.push_back(end);
  llvm::append_range(result, inner);
  return node->reshape(elements, ArrayRef<Dim>(result));
}

void SequenceBuilder::dropAxis(RunTimeSequence &sequence, int64_t axis) {
  int64_t rank = sequence.sizes.size();
  sequence.sizes.erase(sequence.sizes.begin() + axis);
  SmallVector<Value> columns;
  for (int64_t k = 0; k < rank && sequence.shapes; ++k)
    if (k != axis)
      columns.push_back(
          slice(node->builder, node->loc, sequence.shapes, 1, k, 1));
  bool isFixed = sequence.form().isFixed();
  sequence.shapes = isFixed || columns.empty() ? Value()
                    : columns.size() == 1
                        ? columns[0]
                        : Value(node->build<ConcatOp>(columns, 1));
  sequence.rows = slice(node->builder, node->loc, sequence.rows, 1, 0,
                        sequence.form().width());
}

FailureOr<RunTimeSequence> SequenceBuilder::split(Value x, int64_t axis,
                                                  Value part) {
  RunTimeInts ints(*node);
  Dims from = dimsOf(x);
  Dim size = from[axis];
  part = ints.vector(part);
  require(node->less(0, part));
  int64_t most = size.most();
  // The length of a part is limited to the size of the axis. It is also at
  // least 1, so that the division below is valid.
  Value length = node->max(node->min(part, ints.sizes(size)), 1);
  Value last = node->sub(length, 1);
  Value number = ints.div(node->add(ints.sizes(size), last), length);
  Value starts = node->mul(node->countTo(Dim(most)), length);
  Value lengths =
      node->max(node->min(node->sub(ints.sizes(size), starts), length), 1);
  Dim outer = product(ArrayRef<Dim>(from).take_front(axis)),
      inner = product(ArrayRef<Dim>(from).drop_front(axis + 1));
  RunTimeSequence parts;
  SmallVector<Value> columns;
  for (auto [k, own] : llvm::enumerate(from)) {
    bool isAxis = int64_t(k) == axis;
    parts.sizes.push_back(isAxis ? SizeRange(0, most)
                                 : SizeRange(own.least(), own.most()));
    Value column = isAxis ? lengths : ints.sizes(own);
    columns.push_back(node->builder.createOrFold<ExpandOp>(
        node->loc,
        node->reshape(column, {tensorType(column).getNumElements(), 1}),
        ArrayRef<Dim>{Dim(most), Dim(1)}));
  }
  parts.shapes = columns.size() == 1 ? columns[0]
                                     : Value(node->build<ConcatOp>(columns, 1));
  // Row e of the result contains part e of `x`, flattened. `index` is the index
  // in the flattened `x` of the element at position f of row e. It is computed
  // from the coordinates of f: along the axes before `axis` (out), along `axis`
  // (mid), and along the axes after it (in).
  int64_t width = outer.most() * most * inner.most();
  Value place = node->alignAt(node->countTo(Dim(width)), 1, 2);
  Value own = node->alignAt(lengths, 0, 2), start = node->alignAt(starts, 0, 2);
  Value step = ints.sizes(inner);
  Value in = ints.modulo(place, step), row = ints.div(place, step);
  Value mid = ints.modulo(row, own), out = ints.div(row, own);
  Value index = node->add(node->mul(node->add(node->mul(out, ints.sizes(size)),
                                              node->add(start, mid)),
                                    step),
                          in);
  Value flat = node->reshape(x, ArrayRef<Dim>(product(from)));
  parts.rows = node->reshape(
      ints.take(flat, node->reshape(index, {most * width})), {most, width});
  parts.count = node->reshape(number, ArrayRef<int64_t>());
  return parts;
}

} // namespace ingot
