#pragma once
// Evaluation of elementwise primitives, derived from their `element`. Included by the source files of families that
// have elementwise primitives; a struct without `element` is a compile error there.
#include <array>
#include <type_traits>
#include <utility>

#include "primitives/core/rule.h"
#include "primitives/elementwise/numbers.h"

namespace calque::primitives {
namespace detail {

/// The loop for element type T, computed in type C.
template <class P, class T, class C, size_t... I>
void evaluate_loop(Evaluation& e, std::index_sequence<I...>) {
  static_assert(
      requires(C c) { P::template element<C>(((void)I, c)...); }, "this primitive has no evaluation rule `element`");
  using Computed = decltype(P::template element<C>(((void)I, C{})...));
  using Result = std::conditional_t<std::is_same_v<Computed, C>, T, Computed>;
  const std::array<const T*, sizeof...(I)> in{e.operands[I].template data_as<T>()...};
  AnyArray& out = e.add_result();
  auto* to = static_cast<Result*>(out.mutable_data());
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    const Computed r = P::template element<C>(static_cast<C>(in[I][i])...);
    if constexpr (std::is_same_v<Computed, Result>) {
      to[i] = r;
    } else {
      to[i] = round_once<Result>(r);
    }
  }
}

}  // namespace detail

template <class P, int N, DTypeSet Accepted>
void Elementwise<P, N, Accepted>::evaluate(Evaluation& e) {
  visit_dtype(e.operands[0].dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      using C = std::conditional_t<requires { P::computes_in_own_type; }, T, Compute<T>>;
      detail::evaluate_loop<P, T, C>(e, std::make_index_sequence<N>{});
    }
  });
}

template <class P, int N, DTypeSet Accepted>
void MathFunction<P, N, Accepted>::evaluate(Evaluation& e) {
  visit_dtype(e.operands[0].dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      detail::evaluate_loop<P, T, Wider<T>>(e, std::make_index_sequence<N>{});
    }
  });
}

}  // namespace calque::primitives
