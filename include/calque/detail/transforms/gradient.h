#pragma once
// grad, value_and_grad and jvp as function objects on trees of tracers.
#include <cstdlib>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/transforms/chosen.h"

namespace calque::detail {

/// The part of a function's result that is differentiated.
template <class R>
struct value_part {
  using type = R;
};
template <class V, class Aux>
struct value_part<std::pair<V, Aux>> {
  using type = V;
};

/// grad and value_and_grad. N: WholeFirst or argnums.
template <class F, class N, bool WithValue>
struct Gradient : Transformed<F> {
  template <class... A>
  using value_t = body_t<F, seen_t<A>...>;
  template <class... A>
  static auto result_type() {
    using G = typename chosen_of<N, seen_t<A>...>::type;
    if constexpr (WithValue) {
      return std::type_identity<std::pair<value_t<A...>, G>>{};
    } else {
      return std::type_identity<G>{};
    }
  }
  template <class... A>
  using gradient_t = typename decltype(result_type<A...>())::type;

  template <class... A>
  gradient_t<A...> operator()(const A&... arguments) const {
    using Value = typename value_part<value_t<A...>>::type;
    // Of a graph's results the first is differentiated.
    constexpr bool number = ArrayLike<Value> || std::same_as<Value, std::vector<AnyTracer>>;
    static_assert(number, "calque: grad: the function must return one number, or std::pair of it and auxiliary values");
    if constexpr (number && check_chosen<N, seen_t<A>...>()) {
      return differentiate<gradient_t<A...>, value_t<A...>>(seen(arguments)...);
    } else {
      std::abort();  // an assertion above has failed
    }
  }

 private:
  template <class To, class R, class... X>
  To differentiate(const X&... x) const {
    const FlatArguments flat(x...);
    TracedResult<R> result;
    const std::vector<Handle> handles = emit_gradients(
        FunctionBody<R, F, X...>(this->function, result, x...), flat.handles, flat.leaves_of(positions<N>::list),
        WithValue, {WithValue ? "value_and_grad" : "grad", this->location, flat.paths});
    std::span<const Handle> rest(handles);
    if constexpr (WithValue) {
      R value = result.rebuild(rest);
      return To(std::move(value), rebuild_handles(chosen_of<N, X...>::pick(x...), rest));
    } else {
      return rebuild_handles(chosen_of<N, X...>::pick(x...), rest);
    }
  }
};

/// Throws GradError for a position that is not in [0, count).
void require_position(int position, size_t count, Location location);

/// grad by one argument, whose position is known at run time.
template <class F>
struct GradientAt : Transformed<F> {
  int position;

  bool shares_compiled_forms() const { return false; }

  template <class First, class... Rest>
  seen_t<First> operator()(const First& first, const Rest&... rest) const {
    constexpr bool alike = (std::same_as<seen_t<First>, seen_t<Rest>> && ...);
    static_assert(alike,
                  "calque: grad(f, 1): the arguments are of several types, so the gradient's type is not known; write "
                  "grad(f, cq::argnums<1>), which returns a tuple");
    if constexpr (alike) {
      require_position(position, 1 + sizeof...(Rest), this->location);
      std::optional<seen_t<First>> result;
      const auto at = [&]<int I>(std::integral_constant<int, I>) {
        if (position != I) return;
        const Gradient<F, argnums_t<I>, false> by{{this->function, this->location}};
        result.emplace(std::get<0>(by(first, rest...)));
      };
      [&]<int... I>(std::integer_sequence<int, I...>) {
        (at(std::integral_constant<int, I>{}), ...);
      }(std::make_integer_sequence<int, 1 + static_cast<int>(sizeof...(Rest))>{});
      return *std::move(result);
    } else {
      std::abort();  // the assertion has failed
    }
  }
};

/// jvp: a function of two tuples, primals and tangents.
template <class F>
struct Tangent : Transformed<F> {
  template <class... A, class... D>
  auto operator()(const std::tuple<A...>& primals, const std::tuple<D...>& tangents) const
      -> std::pair<body_t<F, seen_t<A>...>, body_t<F, seen_t<A>...>> {
    require_like("jvp", "the primals and the tangents", primals, tangents, this->location);
    return std::apply(
        [&](const A&... x) { return push<body_t<F, seen_t<A>...>>(flatten_handles(tangents), seen(x)...); }, primals);
  }

 private:
  template <class R, class... X>
  std::pair<R, R> push(const std::vector<Handle>& tangents, const X&... x) const {
    const FlatArguments flat(x...);
    TracedResult<R> result;
    const std::vector<Handle> handles = emit_jvp(FunctionBody<R, F, X...>(this->function, result, x...), flat.handles,
                                                 tangents, {"jvp", this->location, flat.paths});
    std::span<const Handle> rest(handles);
    R value = result.rebuild(rest);
    return std::pair<R, R>(std::move(value), result.rebuild(rest));
  }
};

/// The function object as a Callable under the transformation's name.
template <class T>
Callable<T> make_transformation(T transformed, const char* name) {
  JitOptions options;
  options.name = name;
  const Location location = transformed.location;
  return Callable<T>(std::move(transformed), std::move(options), location);
}

}  // namespace calque::detail
