// Sequences and optional values between a body and what runs it.
//
// Functions have tensors only: such a value is a few of them (RunTimeSequence.h, and
// whether it is there). All values that a loop carries, or that two branches result in,
// have one form, with room for each.

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

SmallVector<Type> GraphImporter::CarriedForm::types() const {
  SmallVector<Type> types =
      sequence ? sequence->types() : SmallVector<Type>{tensor};
  if (hasPresent)
    types.push_back(RankedTensorType::get(
        {}, IntegerType::get(types.front().getContext(), 1)));
  return types;
}

Binding GraphImporter::CarriedForm::take(ArrayRef<Value> &values) const {
  auto next = [&] {
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  Binding binding;
  if (sequence) {
    RunTimeSequence list{sequence->sizes, next()};
    if (!sequence->isFixed())
      list.shapes = next();
    list.count = next();
    binding = Binding::sequence(std::move(list));
  } else {
    binding = Binding::known(next());
  }
  if (hasPresent)
    binding.present = next();
  return binding;
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
  both.hasPresent |= b.hasPresent;
  if (a.tensor || b.tensor)
    return a.tensor == b.tensor ? std::optional(both) : std::nullopt;
  both.sequence = SequenceForm::join(*a.sequence, *b.sequence);
  return both.sequence ? std::optional(both) : std::nullopt;
}

std::optional<GraphImporter::CarriedForm>
GraphImporter::formOfEither(const Binding &a, const Binding &b) {
  bool hasPresent = a.kind == Binding::Absent || b.kind == Binding::Absent;
  auto x = formOf(a), y = formOf(b);
  // An empty list has room in any sequence.
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
  if (form.sequence) {
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
