// Passes sequences and optional values into and out of the bodies of If, Loop
// and Scan.
//
// Functions take and return only tensors, so such a value is split into
// tensors: the rows, shapes and count of a sequence (RunTimeSequence.h), and a
// boolean that says whether an optional value is present. All values of one
// loop state, or the results of both branches of an If, share one form
// (CarriedForm), which is large enough for all of them. A tensor of varying
// shape is passed as a sequence with one element.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"

using namespace mlir;

namespace ingot {

void Binding::forEachValue(llvm::function_ref<void(Value &)> use) {
  auto useIfAny = [&](Value &any) {
    if (any)
      use(any);
  };
  useIfAny(value);
  llvm::for_each(elements, useIfAny);
  if (list)
    for (Value *part : {&list->rows, &list->shapes, &list->count})
      useIfAny(*part);
  useIfAny(present);
}

FailureOr<Binding> GraphImporter::takeTensors(NodePlace &at,
                                              const CarriedForm &form,
                                              ArrayRef<Value> &values) {
  auto next = [&] {
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  Binding binding;
  if (form.sequence) {
    RunTimeSequence list{form.sequence->sizes, next()};
    if (!form.sequence->isFixed())
      list.shapes = next();
    if (!form.isBox)
      list.count = next();
    binding = Binding::sequence(std::move(list));
  } else {
    binding = Binding::known(next());
  }
  if (form.isBox) {
    auto value = SequenceBuilder(*this, at).single(*binding.list);
    if (failed(value))
      return failure();
    binding = Binding::known(*value);
  }
  if (form.hasPresent)
    binding.present = next();
  return binding;
}

GraphImporter::CarriedForm GraphImporter::boxOf(Type type) {
  SequenceForm form{cast<RankedTensorType>(type).getElementType(), {}, 1};
  for (const graph::Dim &size : graph::dimsOf(cast<RankedTensorType>(type)))
    form.sizes.push_back(SizeRange(size.least(), size.most()));
  CarriedForm box;
  box.sequence = std::move(form);
  box.isBox = true;
  return box;
}

std::optional<GraphImporter::CarriedForm>
GraphImporter::formOf(const Binding &binding) {
  CarriedForm form;
  form.hasPresent = static_cast<bool>(binding.present);
  if (binding.kind == Binding::Known)
    form.tensor = binding.value.getType();
  else if (binding.list)
    form.sequence = binding.list->form();
  else if (binding.isList())
    form.sequence = SequenceBuilder::formOf(binding.elements);
  else
    return std::nullopt;
  if (!form.tensor && !form.sequence)
    return std::nullopt;
  return form;
}

std::optional<GraphImporter::CarriedForm>
GraphImporter::join(const CarriedForm &a, const CarriedForm &b) {
  CarriedForm both = a;
  if (a.tensor && a.tensor != b.tensor)
    both = boxOf(a.tensor);
  both.hasPresent = a.hasPresent || b.hasPresent;
  if (both.tensor)
    return both;
  CarriedForm other = b.tensor ? boxOf(b.tensor) : b;
  if (both.isBox != other.isBox)
    return std::nullopt;
  both.sequence = SequenceForm::join(*both.sequence, *other.sequence);
  return both.sequence ? std::optional(both) : std::nullopt;
}

std::optional<GraphImporter::CarriedForm>
GraphImporter::formOfEither(const Binding &a, const Binding &b) {
  bool hasPresent = a.kind == Binding::Absent || b.kind == Binding::Absent;
  auto x = formOf(a), y = formOf(b);
  // If one of the two values is absent or an empty list, which has no form of
  // its own, both use the form of the value that has one.
  auto isEmpty = [](const Binding &binding) {
    return binding.kind == Binding::Absent ||
           (binding.isList() && binding.elements.empty());
  };
  std::optional<CarriedForm> both = x && y       ? join(*x, *y)
                                    : isEmpty(a) ? y
                                    : isEmpty(b) ? x
                                                 : std::nullopt;
  if (both && both->tensor && !hasPresent && !(x && y))
    return std::nullopt;
  if (both)
    both->hasPresent |= hasPresent;
  return both;
}

bool GraphImporter::appendTensors(NodePlace &at, const Binding &binding,
                                  const CarriedForm &form,
                                  SmallVectorImpl<Value> &values) {
  SequenceBuilder sequences(*this, at);
  bool isAbsent = binding.kind == Binding::Absent;
  if (form.isBox && !isAbsent) {
    auto packed = sequences.pack({binding.value}, *form.sequence);
    if (failed(packed))
      return false;
    values.push_back(packed->rows);
    if (packed->shapes)
      values.push_back(packed->shapes);
  } else if (form.isBox) {
    // An absent tensor of varying shape is passed as zeros, in the smallest
    // shape that the tensor may have.
    const SequenceForm &box = *form.sequence;
    SmallVector<int64_t> least;
    for (SizeRange size : box.sizes)
      least.push_back(size.least);
    values.push_back(sequences.filled(box.element, {1, box.width()}));
    if (!box.isFixed())
      values.push_back(integers(at, {1, int64_t(least.size())}, least));
  } else if (form.sequence) {
    RunTimeSequence list;
    if (binding.list) {
      list = *binding.list;
    } else {
      auto packed = sequences.pack(binding.elements, *form.sequence);
      if (failed(packed))
        return false;
      list = *packed;
    }
    list = sequences.fit(list, *form.sequence);
    for (Value part : {list.rows, list.shapes, list.count})
      if (part)
        values.push_back(part);
  } else if (isAbsent) {
    auto type = cast<RankedTensorType>(form.tensor);
    values.push_back(sequences.filled(type.getElementType(), type.getShape()));
  } else {
    values.push_back(binding.value);
  }
  if (form.hasPresent)
    values.push_back(binding.present ? binding.present
                                     : boolean(at, !isAbsent));
  return true;
}

bool GraphImporter::closeResults(NodePlace &at, BodyFunction &body,
                                 ArrayRef<CarriedForm> forms) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&body.function.getBody().front());
  SmallVector<std::string> names;
  body.results.clear();
  for (auto [binding, form, name] :
       llvm::zip(body.bindings, forms, body.names)) {
    binding.forEachValue([&](Value &value) { value = resolve(value); });
    if (!appendTensors(at, binding, form, body.results))
      return false;
    names.resize(body.results.size(), name);
  }
  body.names = std::move(names);
  return checkStaysInside(at, body.function, body.results);
}

} // namespace ingot
