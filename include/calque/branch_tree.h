#pragma once
// A drawing of the paths that calls have taken through a function whose branches follow the data.
#include <string>
#include <tuple>

#include "calque/jit.h"

namespace calque {

namespace detail {
std::string branch_tree_dot(const FunctionState& function, Arguments& arguments, const CallSite& site);
}

/// The paths that calls with arguments of these types have taken through a function made with `branches::trace`, as
/// text for Graphviz (`dot -Tsvg`): a hexagon for each question with its line and what is asked, a box for the
/// operations between two of them, and a dashed edge where native code leaves for other answers. Empty before the first
/// call, and for a function that asks nothing of its tracers.
///     branch_tree_dot(jit([](auto x) { return x + 1.0; }, {.branches = branches::trace}), 2.0).size()  // 21
template <class F, class... A>
[[nodiscard]] std::string branch_tree_dot(const Jitted<F>& function, const A&... arguments) {
  (detail::check_tree<A>(), ...);
  static_assert(!(holds_tracer<A> || ...), "calque: branch_tree_dot takes data or cq::spec, not tracers");
  detail::Arguments flat(detail::tree_tag<A...>, arguments...);
  const detail::CallContext<F, A...> context{&function.function(), std::tie(arguments...)};
  return detail::branch_tree_dot(*function.state(), flat, context.site());
}

}  // namespace calque
