#pragma once
// checkpoint, custom_jvp and custom_vjp as function objects on trees of tracers.
#include <cstdlib>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/transforms/gradient.h"

namespace calque::detail {

template <class F>
struct Checkpointed : Transformed<F> {
  template <class... A>
  body_t<F, seen_t<A>...> operator()(const A&... arguments) const {
    return record<body_t<F, seen_t<A>...>>(seen(arguments)...);
  }

 private:
  template <class R, class... X>
  R record(const X&... x) const {
    const FlatArguments flat(x...);
    TracedResult<R> result;
    return result.rebuild(emit_checkpoint(FunctionBody<R, F, X...>(this->function, result, x...), flat.handles,
                                          {"checkpoint", this->location, flat.paths}));
  }
};

/// A body that also records the paths of its result's leaves.
template <class R, class F, class... X>
auto recording_paths(const FunctionBody<R, F, X...>& function, const TracedResult<R>& result,
                     std::vector<std::string>& paths) {
  return [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    function(inputs, outputs);
    paths = leaf_paths(result.tree());
  };
}

template <class F, class Rule>
struct WithJvp : Transformed<F> {
  Rule rule;

  bool shares_compiled_forms() const { return shareable(this->function) && shareable(rule); }

  template <class... A>
  body_t<F, seen_t<A>...> operator()(const A&... arguments) const {
    using R = body_t<F, seen_t<A>...>;
    constexpr bool takes = std::invocable<const Rule&, std::tuple<A...>, std::tuple<A...>>;
    static_assert(takes, "calque: custom_jvp: the rule must take (primals, tangents), two tuples of the arguments");
    if constexpr (takes) {
      using Given =
          to_tracer_t<decltype(call_traced(rule, std::declval<std::tuple<A...>>(), std::declval<std::tuple<A...>>()))>;
      constexpr bool fits = std::same_as<Given, std::pair<R, R>>;
      static_assert(fits,
                    "calque: custom_jvp: the rule must return std::pair{value, tangent}, both of the type that the "
                    "function returns; cast, so that they agree");
      if constexpr (fits) return record<R>(std::tie(arguments...), seen(arguments)...);
    }
    std::abort();  // an assertion has failed
  }

 private:
  template <class R, class... A, class... X>
  R record(const std::tuple<const A&...>& originals, const X&... x) const {
    const FlatArguments flat(x...);
    TracedResult<R> result;
    std::vector<std::string> paths;
    const FunctionBody<R, F, X...> function(this->function, result, x...);
    const auto derivative = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      const auto tree = [&] {
        return std::apply(
            [&](const A&... a) { return std::tuple<A...>{rebuild_seen(a, inputs)...}; },  // braces: left to right
            originals);
      };
      std::tuple<A...> primals = tree();
      std::tuple<A...> tangents = tree();
      const std::pair<R, R> given = traced(call_traced(rule, std::move(primals), std::move(tangents)));
      require_like("custom_jvp", "the function's value and the rule's", result.tree(), given.first, this->location);
      require_like("custom_jvp", "the function's value and the rule's tangent", result.tree(), given.second,
                   this->location);
      append_handles(given, outputs);
    };
    return result.rebuild(emit_custom_jvp(recording_paths(function, result, paths), derivative, flat.handles, paths,
                                          {"custom_jvp", this->location, flat.paths}));
  }
};

template <class P, class R>
inline constexpr bool is_value_and_residuals = false;
template <class R, class Residuals>
inline constexpr bool is_value_and_residuals<std::pair<R, Residuals>, R> = true;

template <class F, class Forward, class Backward>
struct WithVjp : Transformed<F> {
  Forward forward;
  Backward backward;

  bool shares_compiled_forms() const { return shareable(this->function) && shareable(forward) && shareable(backward); }

  template <class... A>
  body_t<F, seen_t<A>...> operator()(const A&... arguments) const {
    using R = body_t<F, seen_t<A>...>;
    using P = body_t<Forward, seen_t<A>...>;
    constexpr bool pair = is_value_and_residuals<P, R>;
    static_assert(
        pair,
        "calque: custom_vjp: forward must return std::pair{value, residuals} with the value that the function "
        "returns");
    if constexpr (pair) {
      using Residuals = typename P::second_type;
      constexpr bool takes = std::invocable<const Backward&, Residuals, R>;
      static_assert(takes, "calque: custom_vjp: backward must take (residuals, cotangent of the value)");
      if constexpr (takes) {
        using Given = given_t<Residuals, R>;
        constexpr bool fits = std::same_as<Given, std::tuple<cotangent_t<A>...>>;
        static_assert(fits,
                      "calque: custom_vjp: backward must return a std::tuple with a cotangent for each argument, of "
                      "the argument's type; cast, so that they agree");
        if constexpr (fits) return record<R, P, A...>(seen(arguments)...);
      }
    }
    std::abort();  // an assertion has failed
  }

 private:
  template <class Residuals, class R>
  using given_t =
      to_tracer_t<decltype(call_traced(std::declval<const Backward&>(), std::declval<Residuals>(), std::declval<R>()))>;
  /// A static argument has a cotangent too, which is not used.
  template <class A>
  using cotangent_t = to_tracer_t<A>;

  template <class R, class P, class... A, class... X>
  R record(const X&... x) const {
    const FlatArguments flat(x...);
    TracedResult<R> result;
    TracedResult<P> kept;
    std::vector<std::string> paths;
    const FunctionBody<R, F, X...> function(this->function, result, x...);
    const FunctionBody<P, Forward, X...> with_residuals(forward, kept, x...);
    const auto run_forward = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      with_residuals(inputs, outputs);
      require_like("custom_vjp", "the function's value and that of forward", result.tree(), kept.tree().first,
                   this->location);
    };
    const auto run_backward = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      auto residuals = rebuild_handles(kept.tree().second, inputs);
      auto cotangent = rebuild_handles(kept.tree().first, inputs);
      const auto given = traced(call_traced(backward, std::move(residuals), std::move(cotangent)));
      append_cotangents(given, outputs, std::index_sequence_for<X...>{}, x...);
    };
    return result.rebuild(emit_custom_vjp(recording_paths(function, result, paths), run_forward, run_backward,
                                          flat.handles, paths, {"custom_vjp", this->location, flat.paths}));
  }

  /// Appends the cotangents of the arguments that hold arrays.
  template <class Given, size_t... I, class... X>
  void append_cotangents(const Given& given, std::vector<Handle>& outputs, std::index_sequence<I...>,
                         const X&... x) const {
    const auto append = [&]<class A>(const A& argument, const auto& cotangent) {
      if constexpr (holds_tracer<A>) {
        require_like("custom_vjp", "an argument and its cotangent", argument, cotangent, this->location);
        append_handles(cotangent, outputs);
      }
    };
    (append(x, std::get<I>(given)), ...);
  }
};

}  // namespace calque::detail
