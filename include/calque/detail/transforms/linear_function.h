#pragma once
// The linear functions that vjp and linearize return: a linear map of flat lists as a function of trees.
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calque/detail/transforms/transform_trees.h"

namespace calque::detail {

/// Collects the leaves of trees of data as arrays: arrays share their elements, and empty ones stay empty.
struct ArrayCollector : LeafVisitor {
  std::vector<AnyArray>& arrays;
  explicit ArrayCollector(std::vector<AnyArray>& list) : arrays(list) {}
  template <class To, class X>
  void leaf(const X& x) {
    if constexpr (ArrayLike<X>) {
      arrays.push_back(x.has_value() ? x.any() : AnyArray());
    } else {
      arrays.push_back(leaf_array(x));
    }
  }
};
template <class... X>
std::vector<AnyArray> collect_arrays(const X&... x) {
  std::vector<AnyArray> arrays;
  ArrayCollector collector(arrays);
  (walk_tree<to_tracer_t<X>>(x, collector), ...);
  return arrays;
}

/// The static structure of trees, as that of trees of tracers.
template <class... X>
std::vector<StaticPart> traced_structure(const X&... x) {
  StructureWriter writer;
  (walk_tree<to_tracer_t<X>>(x, writer), ...);
  return writer.take();
}

/// The tree To, of tracers or of arrays, with the structure of `x` and leaves from the list; `next` counts them.
template <class To, class X, class T>
To take_leaves(const X& x, std::vector<T>& leaves, size_t& next) {
  auto leaf = [&]<class L>(const auto&) { return leaf_from<L>(std::move(leaves[next++])); };
  return map_leaves<To>(x, leaf);
}

/// A tree of default-constructed tracers with the structure and static parts of `x`.
template <class X>
to_tracer_t<X> outline_of(const X& x) {
  auto leaf = []<class To>(const auto&) { return To(); };
  return map_leaves<to_tracer_t<X>>(x, leaf);
}

template <class... X>
std::vector<std::string> all_paths(const std::string& prefix, const X&... x) {
  std::vector<std::string> paths;
  size_t i = 0;
  const auto add = [&](std::vector<std::string> more) { paths.insert(paths.end(), more.begin(), more.end()); };
  (add(leaf_paths(x, prefix + std::to_string(i++))), ...);
  return paths;
}

/// A linear map between trees like the value Y and trees like the arguments X.
template <class Y, class... X>
class LinearFunction {
 public:
  LinearFunction(std::shared_ptr<const LinearMap> map, std::tuple<to_tracer_t<X>...> arguments, to_tracer_t<Y> value)
      : map_(std::move(map)), arguments_(std::move(arguments)), value_(std::move(value)) {}
  /// The graph of the map: its inputs are the residuals, then the (co)tangents.
  Graph graph() const { return graph_of(held(map_, "linear function")); }

 protected:
  static constexpr bool kTraced = (holds_tracer<X> || ...);

  template <class B>
  auto transposed(const B& cotangent, Location location) const {
    check_tree<B>();
    require_same_structure("vjp", "the value and the cotangent", traced_structure(value_), traced_structure(cotangent),
                           location);
    const auto paths = [&] { return leaf_paths(cotangent, "cotangent"); };
    return with_leaves<kTraced || holds_tracer<B>>(
        [&]<bool T>(auto& leaves) {
          size_t next = 0;
          return [&]<size_t... I>(std::index_sequence<I...>) {
            return std::tuple<result_t<T, X>...>{
                take_leaves<result_t<T, X>>(std::get<I>(arguments_), leaves, next)...};  // braces: left to right
          }(std::index_sequence_for<X...>{});
        },
        paths, location, cotangent);
  }

  template <class... D>
  auto pushed_forward(const D&... tangents) const {
    (check_tree<D>(), ...);
    const auto expected = std::apply([](const auto&... a) { return traced_structure(a...); }, arguments_);
    require_same_structure("linearize", "the arguments and the tangents", expected, traced_structure(tangents...), {});
    const auto paths = [&] { return all_paths("tangent ", tangents...); };
    return with_leaves<kTraced || (holds_tracer<D> || ...)>(
        [&]<bool T>(auto& leaves) {
          size_t next = 0;
          return take_leaves<result_t<T, Y>>(value_, leaves, next);
        },
        paths, {}, tangents...);
  }

 private:
  /// Applies the map to the leaves of these trees, in the running trace or at once.
  template <bool Traced, class Build, class... B>
  auto with_leaves(const Build& build, LeafPaths paths, Location location, const B&... arguments) const {
    const LinearMap& map = held(map_, "linear function");
    if constexpr (Traced) {
      require_trace_of(map, location);
      std::vector<Handle> leaves = emit_linear_map(map, operand_handles(location, arguments...), paths, location);
      return build.template operator()<true>(leaves);
    } else {
      std::vector<AnyArray> leaves = run_linear_map(map, collect_arrays(arguments...), paths, location);
      return build.template operator()<false>(leaves);
    }
  }

  std::shared_ptr<const LinearMap> map_;
  std::tuple<to_tracer_t<X>...> arguments_;
  to_tracer_t<Y> value_;
};

/// std::pair of the function's value and its linear map, as `Result`.
template <LinearMode mode, template <class, class...> class Result, class F, class... X>
auto linearized(std::string_view name, const F& function, const X&... x) {
  (check_tree<X>(), ...);
  using R = body_t<F, X...>;
  check_tree<R>();
  constexpr bool in_trace = (holds_tracer<X> || ...);
  using Y = result_t<in_trace, R>;
  TracedResult<R> result;
  const FunctionBody<R, F, X...> body(function, result, x...);
  const std::vector<std::string> paths = all_paths("argument ", x...);
  const TransformSite site{name, {}, paths};
  auto out = [&] {
    if constexpr (in_trace) {
      return emit_linearized(mode, body, operand_handles({}, x...), site);
    } else {
      return run_linearized(mode, body, collect_arrays(x...), site);
    }
  }();
  size_t next = 0;
  Y value = take_leaves<Y>(result.tree(), out.results, next);
  return std::pair<Y, Result<Y, X...>>(
      std::move(value),
      Result<Y, X...>(std::move(out.map), std::tuple<to_tracer_t<X>...>{outline_of(x)...}, result.tree()));
}

}  // namespace calque::detail
