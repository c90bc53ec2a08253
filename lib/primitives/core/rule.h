#pragma once
// A primitive is one struct: its name, arity, accepted dtypes, typing, evaluation and lowering stand together in its
// family's header, and the registry is built from the structs alone. A rule that is missing is a compile error that
// names the struct and the rule (registry.h).
//
// What a struct P has:
//   name, doc                        its name in graphs, and one sentence that defines it to the bit
//   min_operands, max_operands       -1: any number
//   attributes                       name and kind of each static parameter
//   infer(Typing&)                   types of the results, or an error in the user's words
//   evaluate(Evaluation&)            the obvious loops; elementwise ones give `element` for one element instead
//   kind, lower(...)                 how one element of a result is computed (LowerKind)
//
//   jvp(Jvp&)                        forward mode: tangents of the results (transformation.h), or a type that says
//                                    why not: ZeroDerivative, NotDifferentiable<"reason">; elementwise primitives give
//                                    `tangent`, one expression, instead
//   transpose(Transposition&)        reverse mode of what is linear, or NotTransposable<"reason">
//   batch(Batching&)                 many examples at once
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

#include "primitives/core/lowering.h"
#include "primitives/core/transformation.h"
#include "primitives/core/typing.h"

namespace calque::primitives {

/// What the planner does with an equation.
enum class LowerKind : uint8_t {
  elementwise,  ///< a scalar operation on elements of the same index: Lowering::op with its own id
  mapped,       ///< P::lower says which elements of which operands an element of the result is made from
  function,     ///< a scalar operation whose code lib/math has
  structural,   ///< loops, reductions, calls and effects: the planner knows each
};

/// Kind of a static parameter, in the order of AttributeValue's alternatives.
enum class AttributeKind : uint8_t { boolean, integer, floating, text, dtype, integers, types, opaque };

/// A static parameter.
struct AttributeSpec {
  std::string_view name;
  AttributeKind kind;
  bool optional = false;
};

/// Sums and products that mean what they say to the last bit: compilers may round a product and a sum once, or
/// reassociate where they are told to be fast, but not where `exact=true` stands.
inline constexpr std::array kExactAttribute{AttributeSpec{"exact", AttributeKind::boolean, true}};

/// What the evaluation of one equation sees, and where its results go.
struct Evaluation {
  const Attributes& attributes;
  std::span<const Graph> subgraphs;
  std::span<const AnyArray> operands;
  std::span<const Type> result_types;
  /// Evaluates a sub-graph.
  const std::function<std::vector<AnyArray>(const Graph&, std::span<const AnyArray>)>& call;
  std::vector<AnyArray> results;

  /// Adds result number results.size(), uninitialised. Throws Error when it would not fit in memory.
  AnyArray& add_result();
};

/// An array to be filled. Throws Error, naming the operation, when it would not fit into the machine's memory.
AnyArray make_array(const Type& type);

/// The elements as bytes.
inline const char* bytes_of(const AnyArray& array) { return static_cast<const char*>(array.data()); }

/// Defaults of everything that most primitives do not have.
struct Rule {
  static constexpr std::array<AttributeSpec, 0> attributes{};
  static constexpr int min_subgraphs = 0;
  static constexpr int max_subgraphs = 0;
  static constexpr bool has_effect = false;
  /// The rule `jvp` computes the results too; else they are computed before it is called.
  static constexpr bool jvp_computes_results = false;
};

/// `N` operands of one type from `Accepted`, result of the same shape. P gives `element`, a template over the type
/// that the element is computed in: f32 for 16-bit floats (whose result is rounded), else the element type itself.
template <class P, int N, DTypeSet Accepted>
struct Elementwise : Rule {
  static constexpr int min_operands = N;
  static constexpr int max_operands = N;
  static constexpr DTypeSet accepted = Accepted;
  static constexpr LowerKind kind = LowerKind::elementwise;
  static constexpr DType result_dtype(DType operand) { return operand; }
  static void infer(Typing& t) { infer_elementwise(t, Accepted, &P::result_dtype); }
  /// Defined in elementwise_evaluation.h, from P::element.
  static void evaluate(Evaluation& e);
  /// From P::tangent, which gives what the tangent t of one operand adds to that of the result. It is linear in t:
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
/// 16 and 32 bits, long double for f64) and rounds once; lib/math has the code that everybody else runs.
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
struct Joined;
template <class... A>
struct Joined<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <class... A, class... B, class... Rest>
struct Joined<TypeList<A...>, TypeList<B...>, Rest...> : Joined<TypeList<A..., B...>, Rest...> {};
}  // namespace detail

/// The lists one after the other.
template <class... Lists>
using join_lists = typename detail::Joined<Lists...>::type;

}  // namespace calque::primitives
