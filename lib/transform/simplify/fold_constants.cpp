// A folded value has the bits that the compiled graph would compute: that, and not what can be evaluated, is the limit.
#include "transform/simplify/fold_constants.h"

#include <cstring>

#include "ir/values/bytes.h"
#include "math/evaluate.h"
#include "primitives/registry.h"
#include "reference/evaluate.h"

namespace calque::transform {
namespace {

using namespace primitives;

constexpr size_t kMaxBytes = 64;

Literal element_of(const AnyArray& array) {
  Literal element;
  std::memcpy(element.bytes, array.data(), size_of(array.dtype()));
  return element;
}

bool is_splat(const AnyArray& array) {
  const size_t width = size_of(array.dtype());
  const auto* bytes = static_cast<const char*>(array.data());
  for (size_t at = width; at < array.bytes(); at += width) {
    if (std::memcmp(bytes, bytes + at, width) != 0) return false;
  }
  return true;
}

Value add_array(Sweep& sweep, AnyArray array) {
  if (is_splat(array)) return sweep.literal(element_of(array), array.type());
  return sweep.constant(std::move(array));
}

std::optional<AnyArray> evaluate(const Sweep& sweep, const Draft& draft, std::span<const AnyArray> operands) {
  try {
    const reference::Options options{.forms = sweep.options().forms};
    return reference::evaluate_primitive(draft.primitive, operands, draft.attributes, {}, options)[0];
  } catch (const Error&) {
    return std::nullopt;  // it will be reported where the graph is run
  }
}

/// An elementwise equation of splats: one element stands for all.
std::optional<Value> fold_splats(Sweep& sweep, const Draft& draft) {
  std::vector<AnyArray> elements;
  for (const Value v : draft.operands) {
    if (!sweep.graph().is_literal(v)) return std::nullopt;
    elements.push_back(reference::materialize(sweep.graph().literal(v), {sweep.dtype(v), {}}));
  }
  const auto element = evaluate(sweep, draft, elements);
  if (!element) return std::nullopt;
  return sweep.literal(element_of(*element), draft.type);
}

std::optional<AnyArray> small_array(const Sweep& sweep, Value v) {
  const Graph& g = sweep.graph();
  if (bytes_of(g.type(v)) > kMaxBytes) return std::nullopt;
  if (g.is_literal(v)) return reference::materialize(g.literal(v), g.type(v));
  // What is on a device is not fetched for this.
  if (g.kind(v) != ValueKind::constant || g.constant(v).storage().device_memory() != nullptr) return std::nullopt;
  return g.constant(v).has_data() ? std::optional(g.constant(v)) : std::nullopt;
}

/// A function of lib/math whose folded value has the bits of the code that will be generated.
bool is_function(const Sweep& sweep, PrimitiveId id, DType dtype) {
  const auto& forms = sweep.options().forms;
  return forms && math::can_evaluate(id, dtype, *forms);
}

/// Results whose bits do not depend on an order of evaluation that the schedule chooses.
bool is_exact(const Draft& draft, LowerKind kind, DType dtype) {
  switch (draft.primitive.id) {
    case id_of<ReduceMax>:
    case id_of<ReduceMin>:
    case id_of<ReduceAnd>:
    case id_of<ReduceOr>:
    case id_of<Argmax>:
    case id_of<Argmin>:
    case id_of<Cummax>:
    case id_of<Cummin>:
      return true;
    case id_of<ReduceSum>:
    case id_of<ReduceProd>:
    case id_of<Cumsum>:
    case id_of<Cumprod>:
    case id_of<DotGeneral>:
      return !is_inexact(dtype);
    default:
      return kind == LowerKind::elementwise || kind == LowerKind::mapped;
  }
}

}  // namespace

std::optional<Value> fold(Sweep& sweep, const Draft& draft) {
  const Graph& g = sweep.graph();
  if (draft.operands.empty() || draft.primitive.has_effect) return std::nullopt;
  if (draft.type.shape.num_elements() == 0) return sweep.literal(Literal{}, draft.type);
  // Most equations have an operand that is not known.
  for (const Value v : draft.operands) {
    if (!g.is_literal(v) && g.kind(v) != ValueKind::constant) return std::nullopt;
  }
  const DType dtype = g.dtype(draft.operands[0]);
  const LowerKind kind = rules(draft.primitive.id).kind(dtype);
  const bool function = is_function(sweep, draft.primitive.id, dtype);
  if (draft.primitive.id == id_of<StopGradient>) return std::nullopt;
  if (!function && !is_exact(draft, kind, dtype)) return std::nullopt;
  if (function || kind == LowerKind::elementwise) {
    if (const auto v = fold_splats(sweep, draft)) return v;
  }
  if (bytes_of(draft.type) > kMaxBytes) return std::nullopt;
  std::vector<AnyArray> operands;
  for (const Value v : draft.operands) {
    auto array = small_array(sweep, v);
    if (!array) return std::nullopt;
    operands.push_back(std::move(*array));
  }
  auto result = evaluate(sweep, draft, operands);
  if (!result) return std::nullopt;
  return add_array(sweep, std::move(*result));
}

Graph fold_constants(const Graph& graph) { return Sweep({.fold = true}).run(graph); }

}  // namespace calque::transform
