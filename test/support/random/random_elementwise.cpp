// The elementwise primitives are drawn from the registry's list: a new one is included without being named here.
#include <algorithm>

#include "support/random/random_generator.h"

namespace calque::test {
namespace {

using primitives::DTypeSet;

struct Operation {
  const Primitive* primitive;
  int operands;
  DTypeSet accepted;
  bool math, may_be_exact;
};

constexpr bool all_optional(std::span<const primitives::AttributeSpec> specs) {
  return std::all_of(specs.begin(), specs.end(), [](const primitives::AttributeSpec& s) { return s.optional; });
}

template <class P>
concept PlainElementwise =
    requires { P::accepted; } && all_optional(P::attributes) && P::min_operands == P::max_operands &&
    (P::kind == primitives::LowerKind::elementwise || P::kind == primitives::LowerKind::function);

template <class... P>
std::vector<Operation> list_operations(primitives::TypeList<P...>) {
  std::vector<Operation> operations;
  const auto add = [&]<class Q>() {
    if constexpr (PlainElementwise<Q>) {
      operations.push_back({&primitives::get<Q>(), Q::min_operands, Q::accepted,
                            Q::kind == primitives::LowerKind::function,
                            !std::span<const primitives::AttributeSpec>(Q::attributes).empty()});
    }
  };
  (add.template operator()<P>(), ...);
  return operations;
}

const std::vector<Operation>& operations() {
  static const auto list = list_operations(primitives::PrimitiveList{});
  return list;
}

/// Continuous on all floats, and of moderate slope where it is finite.
bool is_smooth(std::string_view name) {
  constexpr std::string_view kSmooth[] = {"neg",   "abs",  "add",  "sub",  "mul",   "max",  "min",      "fma",
                                          "sin",   "cos",  "atan", "tanh", "asinh", "cbrt", "logistic", "erf",
                                          "clamp", "erfc", "exp",  "exp2", "expm1", "sinh", "cosh",     "hypot"};
  return std::find(std::begin(kSmooth), std::end(kSmooth), name) != std::end(kSmooth);
}

}  // namespace

void Generator::elementwise() {
  const Operation& op = rng_.pick(operations());
  if (op.math && !options_.math) return;
  if (!enabled(op.primitive->name)) return;
  DTypeSet accepted = 0;
  for (const DType d : options_.dtypes) {
    const bool allowed = jumps(d) || is_smooth(op.primitive->name);
    if (allowed && primitives::contains(op.accepted, d)) accepted |= primitives::set_of(d);
  }
  // re and im of real operands make a complex one.
  const auto may_be = [&](DType d) {
    return std::find(options_.dtypes.begin(), options_.dtypes.end(), d) != options_.dtypes.end();
  };
  const bool makes_complex = op.primitive->name == "complex" && !(may_be(DType::c64) && may_be(DType::c128));
  if (accepted == 0 || makes_complex) return;
  auto first = draw(accepted);
  if (!first) {
    const Value v = any();
    std::vector<DType> targets;
    for (const DType d : options_.dtypes) {
      if (primitives::contains(accepted, d) && convertible(graph_.dtype(v), d)) targets.push_back(d);
    }
    if (targets.empty()) return;
    first = emit<primitives::Convert>({v}, {{"dtype", rng_.pick(targets)}});
  }
  const Type type = graph_.type(*first);
  ValueList operands;
  for (int i = 0; i < op.operands; ++i) operands.push_back(i == 0 ? *first : like(type));
  if (rng_.chance(50)) std::reverse(operands.begin(), operands.end());
  Attributes attributes;
  if (op.may_be_exact && rng_.chance(20)) attributes = {{"exact", true}};
  emit(*op.primitive, std::move(operands), std::move(attributes));
}

void Generator::convert() {
  const Value v = any();
  const DType from = graph_.dtype(v);
  const size_t kind = rng_.below(100);
  if (kind < 12) {
    if (enabled("stop_gradient")) emit<primitives::StopGradient>({v});
    return;
  }
  if (kind < 20) {
    if (enabled("optimization_barrier")) emit<primitives::OptimizationBarrier>({v, any()});
    return;
  }
  if (kind < 45) {
    std::vector<DType> targets;
    for (const DType d : options_.dtypes) {
      const bool same_width = size_of(d) == size_of(from) && !is_bool(d) && !is_bool(from);
      if (same_width && !is_complex(d) && !is_complex(from) &&
          (options_.discontinuous || (!is_inexact(from) && !is_inexact(d)))) {
        targets.push_back(d);
      }
    }
    if (!targets.empty() && enabled("bitcast")) emit<primitives::Bitcast>({v}, {{"dtype", rng_.pick(targets)}});
    return;
  }
  const DType to = dtype();
  if (convertible(from, to) && enabled("convert")) emit<primitives::Convert>({v}, {{"dtype", to}});
}

void Generator::select() {
  if (!enabled("select")) return;
  const Value on_true = any();
  const Type type = graph_.type(on_true);
  const Value predicate = like({DType::bool_, type.shape});
  const Value on_false = like(type);
  emit<primitives::Select>({predicate, on_true, on_false});
}

}  // namespace calque::test
