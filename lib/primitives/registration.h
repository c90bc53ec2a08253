#pragma once
// Fills in the registry's entries of a family's primitives, and checks that each has its rules. Included by the source
// files of families alone, whose one line
//   template void register_family<ShapeList>(std::span<const Registration>);
// instantiates it; primitives/list.h has the list of families.
#include <concepts>
#include <optional>
#include <utility>

#include "primitives/registry.h"

namespace calque::primitives {

template <class P>
concept HasName = requires {
  { P::name } -> std::convertible_to<std::string_view>;
};
template <class P>
concept HasDoc = requires {
  { P::doc } -> std::convertible_to<std::string_view>;
};
template <class P>
concept HasArity = requires {
  { P::min_operands } -> std::convertible_to<int>;
  { P::max_operands } -> std::convertible_to<int>;
};
template <class P>
concept HasTyping = requires(Typing& t) { P::infer(t); };
template <class P>
concept HasEvaluation = requires(Evaluation& e) { P::evaluate(e); };
template <class P>
concept HasLowerKind = requires {
  { P::kind } -> std::convertible_to<LowerKind>;
};
template <class P>
concept HasIndexMap = requires(Lowering& l, const Equation& e, std::span<const Scalar> index) {
  { P::lower(l, e, size_t{0}, index) } -> std::same_as<Scalar>;
};

template <class P>
concept HasFusionKind = requires {
  { P::fusion_kind } -> std::convertible_to<FusionKind>;
};
template <class P>
concept HasScalarOp = requires {
  { P::scalar_op } -> std::convertible_to<ScalarOp>;
};
template <class P>
concept HasIntrinsic = requires {
  { P::intrinsic } -> std::convertible_to<std::string_view>;
};
template <class P>
concept HasComposition = requires { &P::compose; };
template <class P>
concept HasAnchor = requires {
  { P::anchor } -> std::convertible_to<Anchor>;
};
template <class P>
concept HasRoutine = requires {
  { P::routine } -> std::convertible_to<Routine>;
};
template <class P>
concept HasRoutineFlags = requires(const Attributes& attributes) {
  { P::routine_flags(attributes) } -> std::convertible_to<uint32_t>;
};
template <class P>
concept HasUpdateOperand = requires {
  { P::update_operand } -> std::convertible_to<int>;
};
template <class P>
concept HasCombiner = requires {
  { P::combiner } -> std::convertible_to<std::optional<Combiner>>;
};
template <class P>
concept HasAlwaysReads = requires {
  { P::always_reads } -> std::convertible_to<bool>;
};
template <class P>
concept HasDefinedBits = requires {
  { P::defined_bits } -> std::convertible_to<DefinedBits>;
};

template <class P>
concept HasJvp = requires(Jvp& j) { P::jvp(j); };
/// A type instead of a rule states why there is none.
template <class P>
concept HasZeroDerivative = std::same_as<typename P::jvp, ZeroDerivative>;
template <class P>
concept RefusesJvp = requires {
  { P::jvp::reason } -> std::convertible_to<std::string_view>;
};
template <class P>
concept HasTranspose = requires(Transposition& t) { P::transpose(t); };
template <class P>
concept RefusesTranspose = requires {
  { P::transpose::reason } -> std::convertible_to<std::string_view>;
};
template <class P>
concept HasBatching = requires(Batching& b) { P::batch(b); };

/// Checks arity and attributes before P::infer is called.
void check_form(Typing& t, const TypingInput& input, const Primitive& primitive, std::span<const AttributeSpec> specs);

/// The `lower` rule of elementwise primitives: the scalar operation on the operands' elements at `index`.
Scalar lower_elementwise(Lowering& lowering, const Equation& equation, size_t result, std::span<const Scalar> index);

namespace detail {

template <class P>
void infer(const TypingInput& input, std::vector<Type>& results) {
  Typing t(P::name, input, results);
  check_form(t, input, get<P>(), P::attributes);
  P::infer(t);
}

template <class P>
LowerKind kind(DType dtype) {
  if constexpr (requires { P::lower_kind(dtype); }) {
    return P::lower_kind(dtype);
  } else {
    return P::kind;
  }
}

template <class P>
constexpr bool is_fused_as(FusionKind kind) {
  if constexpr (HasFusionKind<P>) return P::fusion_kind == kind;
  return false;
}

template <class P>
constexpr bool is_anchor(Anchor anchor) {
  if constexpr (HasAnchor<P>) return P::anchor == anchor;
  return false;
}

/// The scalars as the parameters of P::compose.
template <class P, size_t... I>
Scalar compose_of(Lowering& lowering, std::span<const Scalar> operands, std::index_sequence<I...>) {
  return P::compose(ScalarTerm{&lowering, operands[I]}...).value;
}
template <class P>
Scalar compose(Lowering& lowering, std::span<const Scalar> operands) {
  return compose_of<P>(lowering, operands, std::make_index_sequence<P::min_operands>{});
}

/// Compiles if P has the traits that say how code is generated for it.
template <class P>
constexpr bool has_code_generation() {
  static_assert(HasFusionKind<P>, "this primitive has no fusion kind `static constexpr FusionKind fusion_kind`");
  static_assert(P::kind != LowerKind::elementwise || HasScalarOp<P> || HasIntrinsic<P> || HasComposition<P>,
                "this primitive is elementwise and code generation does not know what to emit: it has neither `static "
                "constexpr ScalarOp scalar_op`, nor `static constexpr std::string_view intrinsic`, nor `static "
                "ScalarTerm compose(ScalarTerm...)`");
  static_assert(!is_fused_as<P>(FusionKind::anchor) || HasAnchor<P>,
                "this primitive is an anchor op and does not say which loops its kernel has: `static constexpr Anchor "
                "anchor`");
  static_assert(!is_fused_as<P>(FusionKind::routine) || HasRoutine<P>,
                "this primitive is a routine and does not say which: `static constexpr Routine routine`");
  constexpr bool kCombines =
      is_fused_as<P>(FusionKind::reduction) || is_anchor<P>(Anchor::cumulative) || is_anchor<P>(Anchor::scatter);
  static_assert(
      !kCombines || HasCombiner<P>,
      "this primitive combines values and has no combiner `static constexpr Combiner combiner` (a scatter that "
      "replaces them: `std::nullopt_t combiner`)");
  static_assert(!is_fused_as<P>(FusionKind::view) || HasAlwaysReads<P>,
                "this primitive is a view and does not say `static constexpr bool always_reads`: whether each element "
                "is an element of the operand, unconditionally");
  return true;
}

template <class P>
void register_code_generation(Rules& rules) {
  rules.kind = &kind<P>;
  if constexpr (HasFusionKind<P>) rules.fusion_kind = P::fusion_kind;
  if constexpr (HasScalarOp<P>) rules.scalar_op = P::scalar_op;
  if constexpr (HasIntrinsic<P>) {
    rules.scalar_op = ScalarOp::intrinsic;
    rules.intrinsic = P::intrinsic;
  }
  if constexpr (HasComposition<P>) rules.compose = &compose<P>;
  if constexpr (HasAnchor<P>) rules.anchor = P::anchor;
  if constexpr (HasRoutine<P>) rules.routine = P::routine;
  if constexpr (HasRoutineFlags<P>) rules.routine_flags = &P::routine_flags;
  if constexpr (HasUpdateOperand<P>) rules.update_operand = P::update_operand;
  if constexpr (HasCombiner<P>) rules.combiner = P::combiner;
  if constexpr (HasAlwaysReads<P>) rules.always_reads = P::always_reads;
  if constexpr (HasDefinedBits<P>) {
    rules.defined_bits = P::defined_bits;
  } else {
    rules.defined_bits = P::kind == LowerKind::structural ? DefinedBits::never : DefinedBits::always;
  }
  if constexpr (HasIndexMap<P>) {
    rules.lower = &P::lower;
  } else if constexpr (P::kind == LowerKind::elementwise) {
    rules.lower = &lower_elementwise;
  }
}

template <class P>
void register_primitive(std::span<const Registration> table) {
  static_assert(HasName<P>, "this primitive has no name");
  static_assert(HasDoc<P>, "this primitive has no doc sentence");
  static_assert(HasArity<P>, "this primitive has no min_operands and max_operands");
  static_assert(HasTyping<P>, "this primitive has no typing rule `static void infer(Typing&)`");
  static_assert(HasEvaluation<P>, "this primitive has no evaluation rule `static void evaluate(Evaluation&)`");
  static_assert(HasLowerKind<P>, "this primitive has no lowering kind `static constexpr LowerKind kind`");
  static_assert(P::kind != LowerKind::mapped || HasIndexMap<P>,
                "this primitive is mapped and has no lowering rule `static Scalar lower(Lowering&, const Equation&, "
                "size_t result, std::span<const Scalar> index)`");
  static_assert(HasJvp<P> || HasZeroDerivative<P> || RefusesJvp<P>,
                "this primitive has no derivative `static void jvp(Jvp&)` and no reason, such as `using jvp = "
                "ZeroDerivative` or `NotDifferentiable<\"...\">`");
  static_assert(HasTranspose<P> || RefusesTranspose<P>,
                "this primitive has no rule `static void transpose(Transposition&)` and no reason, such as `using "
                "transpose = NotLinear`");
  static_assert(has_code_generation<P>());
  static_assert(HasBatching<P>, "this primitive has no batching rule `static void batch(Batching&)`");
  const Registration& entry = table[id_of<P>];
  entry.primitive->name = P::name;
  entry.primitive->id = id_of<P>;
  entry.primitive->doc = P::doc;
  entry.primitive->min_operands = P::min_operands;
  entry.primitive->max_operands = P::max_operands;
  entry.primitive->min_subgraphs = P::min_subgraphs;
  entry.primitive->max_subgraphs = P::max_subgraphs;
  entry.primitive->has_effect = P::has_effect;
  entry.primitive->infer = &infer<P>;
  entry.rules->evaluate = &P::evaluate;
  entry.rules->attributes = P::attributes;
  if constexpr (HasJvp<P>) {
    entry.rules->jvp = &P::jvp;
    entry.rules->jvp_computes_results = P::jvp_computes_results;
  } else if constexpr (RefusesJvp<P>) {
    entry.rules->no_jvp = P::jvp::reason;
  }
  if constexpr (HasTranspose<P>) {
    entry.rules->transpose = &P::transpose;
  } else if constexpr (RefusesTranspose<P>) {
    entry.rules->no_transpose = P::transpose::reason;
  }
  if constexpr (HasBatching<P>) entry.rules->batch = &P::batch;
  register_code_generation<P>(*entry.rules);
}

}  // namespace detail

/// Fills in the entries of the listed primitives.
template <class... P>
void register_primitives(TypeList<P...>, std::span<const Registration> table) {
  (detail::register_primitive<P>(table), ...);
}

template <class Family>
void register_family(std::span<const Registration> table) {
  register_primitives(Family{}, table);
}

}  // namespace calque::primitives
