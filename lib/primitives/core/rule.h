#pragma once
// A primitive is one struct that holds its name, arity, accepted dtypes, typing, evaluation and lowering rules. The
// registry is built from these structs alone. A missing rule is a compile error that names the struct and the rule
// (registration.h).
//
// Members of a struct P:
//   name, doc                        its name in graphs, and one sentence that defines it bit by bit
//   min_operands, max_operands       -1: any number
//   attributes                       name and kind of each static parameter
//   infer(Typing&)                   types of the results, or an error for the user
//   evaluate(Evaluation&)            reference evaluation; elementwise primitives define `element` for one element
//                                    instead
//   kind, lower(...)                 how one element of a result is computed (LowerKind)
//
// and, of those in code_generation.h, the ones that its kind needs:
//   fusion_kind                      how the planner fuses it
//   scalar_op, intrinsic, or compose(ScalarTerm...)
//                                    elementwise: the operation that code generation emits, the LLVM intrinsic, or an
//                                    expression of such operations
//   anchor                           anchor ops: the loops of its kernel
//   routine                          routines: the function of the runtime that computes it; routine_flags(attributes)
//                                    are its flags, if it has any
//   combiner                         reductions, cumulative operations and scatters: how two values are combined
//   always_reads                     views: whether each element is an element of the operand, unconditionally
//   update_operand                   the operand that replaces elements of operand 0, where all others stay:
//                                    the carry of a loop is then updated in place, or copied before if something
//                                    reads it afterwards
//   defined_bits                     whether the reference computes the bits of generated code, whatever the schedule;
//                                    if not given, never of structural primitives, always of others
//
//   jvp(Jvp&)                        forward mode: tangents of the results (transformation.h), or a type that states
//                                    why there is none: ZeroDerivative, NotDifferentiable<"reason">; elementwise
//                                    primitives define `tangent`, one expression, instead
//   transpose(Transposition&)        reverse mode: the transpose of a linear equation, or NotTransposable<"reason">
//   batch(Batching&)                 vmap: the equation on a batch of examples
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "calque/ir/any_array.h"
#include "calque/ir/attribute.h"
#include "calque/ir/graph.h"
#include "calque/ir/primitive.h"

#include "primitives/core/code_generation.h"
#include "primitives/core/lowering.h"
#include "primitives/core/scalar_term.h"
#include "primitives/core/transformation.h"
#include "primitives/core/typing.h"

namespace calque::primitives {

/// How the planner lowers an equation.
enum class LowerKind : uint8_t {
  elementwise,  ///< a scalar operation on elements of the same index: Lowering::op with its own id
  mapped,       ///< P::lower computes an element of the result from elements of operands, by an index map
  function,     ///< a scalar operation implemented in lib/math
  structural,   ///< loops, reductions, calls and effects: each has its own lowering
};

/// Kind of a static parameter, in the order of AttributeValue's alternatives.
enum class AttributeKind : uint8_t { boolean, integer, floating, text, dtype, integers, types, opaque };

/// The name and kind of a static parameter.
struct AttributeSpec {
  std::string_view name;
  AttributeKind kind;
  bool optional = false;
};

/// The attribute of add, sub and mul that forbids contraction and reassociation: with `exact=true` the operation is
/// rounded as written, in every mode.
inline constexpr std::array kNoContractAttribute{AttributeSpec{"exact", AttributeKind::boolean, true}};

/// The inputs and results of the evaluation of one equation.
struct Evaluation {
  const Attributes& attributes;
  std::span<const Graph> subgraphs;
  std::span<const AnyArray> operands;
  std::span<const Type> result_types;
  /// Evaluates a sub-graph.
  const std::function<std::vector<AnyArray>(const Graph&, std::span<const AnyArray>)>& call;
  std::vector<AnyArray> results;

  /// Appends the next result, uninitialized. Throws Error when it does not fit into memory.
  AnyArray& add_result();
};

/// An uninitialized array. Throws Error when it does not fit into the machine's memory.
AnyArray make_array(const Type& type);

/// The elements of an array as bytes.
inline const char* bytes_of(const AnyArray& array) { return static_cast<const char*>(array.data()); }

/// Defaults of optional members.
struct Rule {
  static constexpr std::array<AttributeSpec, 0> attributes{};
  static constexpr int min_subgraphs = 0;
  static constexpr int max_subgraphs = 0;
  static constexpr bool has_effect = false;
  /// True when the rule `jvp` also computes the primal results; otherwise they are computed before it is called.
  static constexpr bool jvp_computes_results = false;
};

/// Base of primitives that have their own lowering: control flow, calls and effects.
struct Structural : Rule {
  static constexpr LowerKind kind = LowerKind::structural;
};

/// `N` operands of one type from `Accepted`, result of the same shape. P defines `element`, a template over the type of
/// the computation: f32 for 16-bit floats (whose result is then rounded), else the element type itself.
template <class P, int N, DTypeSet Accepted>
struct Elementwise : Rule {
  static constexpr int min_operands = N;
  static constexpr int max_operands = N;
  static constexpr DTypeSet accepted = Accepted;
  static constexpr LowerKind kind = LowerKind::elementwise;
  static constexpr FusionKind fusion_kind = FusionKind::elementwise;
  static constexpr DType result_dtype(DType operand) { return operand; }
  static void infer(Typing& t) { infer_elementwise(t, Accepted, &P::result_dtype); }
  /// Defined in elementwise_evaluation.h, from P::element.
  static void evaluate(Evaluation& e);
  /// From P::tangent: the contribution of one operand's tangent t to the tangent of the result, which is linear in t:
  ///   1 operand:  Term tangent(Term t, Term x, Term result)
  ///   2 and 3:    Term tangent(int operand, Term t, Term x, Term y, [Term z,] Term result)
  static void jvp(Jvp& j) {
    for (size_t i = 0; i < N; ++i) {
      if (j.active(i)) j.add(tangent_by(j, i).value);
    }
  }
  using transpose = NotLinear;
  static void batch(Batching& b) { batch_elementwise(b); }

 private:
  static Term tangent_by(const Jvp& j, size_t i) {
    const Term t = j.tangent(i), x = j.primal(0);
    [[maybe_unused]] const int operand = static_cast<int>(i);
    if constexpr (N == 1) {
      return P::tangent(t, x, j.result());
    } else if constexpr (N == 2) {
      return P::tangent(operand, t, x, j.primal(1), j.result());
    } else {
      return P::tangent(operand, t, x, j.primal(1), j.primal(2), j.result());
    }
  }
};

/// A transcendental or special function of floating-point numbers. The reference computes it in a wider type (f64 for
/// 16 and 32 bits, long double for f64) and rounds once; generated code uses lib/math.
template <class P, int N = 1, DTypeSet Accepted = kFloat>
struct MathFunction : Elementwise<P, N, Accepted> {
  static constexpr LowerKind kind = LowerKind::function;
  static void evaluate(Evaluation& e);
};

/// A list of primitives.
template <class... P>
struct TypeList {};

namespace detail {
template <class... Lists>
struct Concatenated;
template <class... A>
struct Concatenated<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <class... A, class... B, class... Rest>
struct Concatenated<TypeList<A...>, TypeList<B...>, Rest...> : Concatenated<TypeList<A..., B...>, Rest...> {};
}  // namespace detail

/// The concatenation of the lists.
template <class... Lists>
using concatenate_lists = typename detail::Concatenated<Lists...>::type;

}  // namespace calque::primitives
