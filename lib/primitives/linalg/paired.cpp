#include "primitives/linalg/paired.h"

#include <fmt/format.h>

#include "primitives/registry.h"

namespace calque::primitives {
namespace {

Attributes without_paired(const Attributes& attributes) {
  Attributes out;
  for (const Attribute& a : attributes)
    if (a.name != kPairedAttribute.name) out.set(a.name, a.value);
  return out;
}

Type paired(const Type& type) {
  if (!is_complex(type.dtype)) return type;
  return {real_of(type.dtype), type.shape.with_inserted(type.shape.size(), 2)};
}

}  // namespace

bool is_paired(const Attributes& attributes) {
  return attributes.has(kPairedAttribute.name) && attributes.get<bool>(kPairedAttribute.name);
}

Type unpaired(const Type& type) {
  if (!is_floating(type.dtype) || type.shape.rank() == 0) return type;
  return {type.dtype == DType::f64 ? DType::c128 : DType::c64, type.shape.without(type.shape.size() - 1)};
}

std::vector<Type> unpaired_results(PrimitiveId id, const std::vector<Type>& operands, const Attributes& attributes) {
  std::vector<Type> complex_operands, results;
  for (const Type& type : operands) complex_operands.push_back(unpaired(type));
  std::vector<const Type*> pointers;
  for (const Type& type : complex_operands) pointers.push_back(&type);
  primitive(id).infer({pointers, without_paired(attributes), {}}, results);
  return results;
}

void infer_paired(Typing& t, PrimitiveId id) {
  std::vector<Type> operands;
  for (size_t i = 0; i < t.num_operands(); ++i) {
    const Type& type = t.operand(i);
    t.accept(i, set_of(DType::f32) | set_of(DType::f64));
    if (type.shape.rank() == 0 || type.shape[type.shape.size() - 1] != 2)
      t.shape_error(fmt::format("expects pairs, got {}", to_string(type)));
    operands.push_back(type);
  }
  for (const Type& type : unpaired_results(id, operands, t.attributes())) t.result(paired(type));
}

void evaluate_paired(Evaluation& e, PrimitiveId id) {
  std::vector<AnyArray> operands;
  std::vector<Type> operand_types;
  for (const AnyArray& a : e.operands) {
    operands.emplace_back(unpaired(a.type()), a.storage(), a.device());
    operand_types.push_back(a.type());
  }
  const std::vector<Type> types = unpaired_results(id, operand_types, e.attributes);
  const Attributes attributes = without_paired(e.attributes);
  Evaluation inner{attributes, e.subgraphs, operands, types, e.call, {}};
  inner.results.reserve(types.size());
  rules(id).evaluate(inner);
  for (const AnyArray& a : inner.results) e.results.emplace_back(paired(a.type()), a.storage(), a.device());
}

}  // namespace calque::primitives
