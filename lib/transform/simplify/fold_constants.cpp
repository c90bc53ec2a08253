// A folded value has the bits that the compiled graph would compute. An equation that could be evaluated is not folded
// if that does not hold.
#include "transform/simplify/fold_constants.h"

#include <cstring>

#include "ir/values/bytes.h"
#include "primitives/registry.h"
#include "reference/evaluate.h"
#include "transform/simplify/defined_bits.h"

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

Value add_array(Rewriter& rewriter, AnyArray array) {
  if (is_splat(array)) return rewriter.literal(element_of(array), array.type());
  return rewriter.constant(std::move(array));
}

std::optional<AnyArray> evaluate(const Rewriter& rewriter, const PendingEquation& pending,
                                 std::span<const AnyArray> operands) {
  try {
    const reference::Options options{.forms = rewriter.options().forms};
    return reference::evaluate_primitive(pending.primitive, operands, pending.attributes, {}, options)[0];
  } catch (const Error&) {
    return std::nullopt;  // the error will be reported when the graph runs
  }
}

/// Folds an elementwise equation of splats by evaluating one element.
std::optional<Value> fold_splats(Rewriter& rewriter, const PendingEquation& pending) {
  std::vector<AnyArray> elements;
  for (const Value v : pending.operands) {
    if (!rewriter.graph().is_literal(v)) return std::nullopt;
    elements.push_back(reference::materialize(rewriter.graph().literal(v), {rewriter.dtype(v), {}}));
  }
  const auto element = evaluate(rewriter, pending, elements);
  if (!element) return std::nullopt;
  return rewriter.literal(element_of(*element), pending.type);
}

std::optional<AnyArray> small_array(const Rewriter& rewriter, Value v) {
  const Graph& g = rewriter.graph();
  if (bytes_of(g.type(v)) > kMaxBytes) return std::nullopt;
  if (g.is_literal(v)) return reference::materialize(g.literal(v), g.type(v));
  // Arrays on a device are not fetched.
  if (g.kind(v) != ValueKind::constant || g.constant(v).storage().device_memory() != nullptr) return std::nullopt;
  return g.constant(v).has_data() ? std::optional(g.constant(v)) : std::nullopt;
}

}  // namespace

std::optional<Value> fold(Rewriter& rewriter, const PendingEquation& pending) {
  const Graph& g = rewriter.graph();
  if (pending.operands.empty() || pending.primitive.has_effect) return std::nullopt;
  if (pending.type.shape.num_elements() == 0) return rewriter.literal(Literal{}, pending.type);
  // Most equations have an operand that is not known.
  for (const Value v : pending.operands) {
    if (!g.is_literal(v) && g.kind(v) != ValueKind::constant) return std::nullopt;
  }
  const DType dtype = g.dtype(pending.operands[0]);
  if (pending.primitive.id == id_of<StopGradient>) return std::nullopt;
  if (!has_defined_bits(pending.primitive.id, dtype, rewriter.options().forms)) return std::nullopt;
  const LowerKind kind = rules(pending.primitive.id).kind(dtype);
  if (kind == LowerKind::function || kind == LowerKind::elementwise) {
    if (const auto v = fold_splats(rewriter, pending)) return v;
  }
  if (bytes_of(pending.type) > kMaxBytes) return std::nullopt;
  std::vector<AnyArray> operands;
  for (const Value v : pending.operands) {
    auto array = small_array(rewriter, v);
    if (!array) return std::nullopt;
    operands.push_back(std::move(*array));
  }
  auto result = evaluate(rewriter, pending, operands);
  if (!result) return std::nullopt;
  return add_array(rewriter, std::move(*result));
}

Graph fold_constants(const Graph& graph) { return Rewriter({.fold = true}).run(graph); }

}  // namespace calque::transform
