#pragma once
// root, fixed_point, minimize_newton, custom_root, custom_linear_solve and cg as function objects on trees of tracers.
#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/derivatives.h"
#include "calque/detail/transforms/implicit.h"

namespace calque::detail {

/// Whether a lambda with `auto` parameters can be called; others are checked when they are.
template <class F, class... A>
constexpr bool accepts() {
  if constexpr (std::is_void_v<typename decltype(parameter_types<F>())::type>) {
    return std::invocable<const F&, A...>;
  } else {
    return true;
  }
}

template <class R>
constexpr bool is_floating_result() {
  if constexpr (ArrayLike<R>) {
    return is_floating(dtype_of<elem_t<R>>);
  } else {
    return false;
  }
}

/// Checks at compile time that f takes x and the parameters, trees of tracers, and what it returns.
template <Problem problem, class F, class X, class... P>
constexpr bool check_problem() {
  constexpr bool takes = accepts<F, X, to_tracer_t<P>...>();
  static_assert(takes,
                "calque: root, fixed_point, minimize_newton: f cannot be called with x0 and the parameters; the first "
                "guess x0 comes behind f: root(f, x0, parameters...)");
  if constexpr (takes) {
    using R = body_t<F, X, P...>;
    if constexpr (problem == Problem::minimum) {
      constexpr bool number = is_floating_result<R>();
      static_assert(number, "calque: minimize_newton: f must return one real floating number");
      return number;
    } else {
      constexpr bool same = std::same_as<R, X>;
      static_assert(same,
                    "calque: root, fixed_point: f must return what x0 is, the same structure with the same element "
                    "types; mind that 0.0 is f64");
      return same;
    }
  } else {
    return false;
  }
}

constexpr const char* name_of(Problem problem) {
  if (problem == Problem::root) return "root";
  return problem == Problem::fixed_point ? "fixed_point" : "minimize_newton";
}

/// A function of x0 and the parameters that gives x, or std::pair of x and a SolveInfo.
template <class F, Problem problem, bool WithInfo>
struct Solved : Transformed<F> {
  SolveOptions options;

  /// Options are run-time values.
  bool shares_compiled_forms() const {
    return !options.tolerance && !options.max_iterations && shareable(this->function);
  }

  using Info = SolveInfo<Tracer<double>, Tracer<int32_t>, Tracer<bool>>;
  template <class X>
  using solution_t = std::conditional_t<WithInfo, std::pair<X, Info>, X>;

  template <class X, class... P>
  solution_t<X> operator()(const X& x0, const P&... parameters) const {
    return record<X>(x0, seen(parameters)...);
  }

 private:
  template <class X, class... P>
  solution_t<X> record(const X& x0, const P&... parameters) const {
    using R = body_t<F, X, P...>;
    FlatArguments flat(x0, parameters...);
    const size_t unknowns = flat.ends[0];
    const std::vector<std::string> names = leaf_paths(x0, "x0");
    std::copy(names.begin(), names.end(), flat.paths.begin());
    TracedResult<R> result;
    std::vector<std::string> paths;
    const FunctionBody<R, F, X, P...> function(this->function, result, x0, parameters...);
    const auto body = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      function(inputs, outputs);
      paths = leaf_paths(result.tree());
      if constexpr (problem != Problem::minimum) {
        require_like(name_of(problem), "x0 and f's result", x0, result.tree(), this->location);
      }
    };
    const std::vector<Handle> handles = emit_solution(problem, body, flat.handles, unknowns, paths, options, WithInfo,
                                                      {name_of(problem), this->location, flat.paths});
    std::span<const Handle> rest(handles);
    X x = rebuild_handles(x0, rest);
    if constexpr (WithInfo) {
      return {std::move(x), Info{Tracer<double>(rest[0]), Tracer<int32_t>(rest[1]), Tracer<bool>(rest[2])}};
    } else {
      return x;
    }
  }
};

/// Calls the transformation: recorded if an argument is a tracer, else run at once.
template <class T, class... A>
auto call_at_once(const T& transformed, const char* name, const A&... arguments) {
  if constexpr ((holds_tracer<A> || ...)) {
    return inlined(transformed, arguments...);
  } else {
    return make_transformation(transformed, name)(arguments...);
  }
}

template <Problem problem, bool WithInfo, class F, class X, class... P>
auto solve_problem(const F& f, const SolveOptions& options, Location location, const X& x0, const P&... parameters) {
  if constexpr (check_tree<X>() && (check_tree<P>() && ...)) {
    if constexpr (check_problem<problem, F, to_tracer_t<X>, seen_t<to_tracer_t<P>>...>()) {
      return call_at_once(Solved<F, problem, WithInfo>{{f, location}, options}, name_of(problem), x0, parameters...);
    }
  }
}

/// What a user's solver returns: x, or std::pair of x and further values.
template <class R, class X>
constexpr bool is_solution() {
  if constexpr (is_pair<R> && !std::same_as<R, X>) {
    return std::same_as<typename R::first_type, X>;
  } else {
    return std::same_as<R, X>;
  }
}
/// The x of it.
template <class X, class R>
const X& solution_of(const R& result) {
  if constexpr (std::same_as<R, X>) {
    return result;
  } else {
    return result.first;
  }
}

/// A user's function of one tree, or of a function and a tree, as a trace body for trees like `like`.
template <class X, class Call>
auto body_like(const X& like, std::string_view name, std::string_view what, Location location, const Call& call) {
  return [&like, name, what, location, &call](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    const auto given = call(inputs);
    require_like(name, what, like, solution_of<X>(given), location);
    append_handles(given, outputs);
  };
}

template <class F, class Solve, class TangentSolve>
struct WithRoot : Transformed<F> {
  Solve solve;
  TangentSolve tangent_solve;

  bool shares_compiled_forms() const {
    return shareable(this->function) && shareable(solve) && shareable(tangent_solve);
  }

  template <class X>
  auto operator()(const X& guess) const {
    using R = to_tracer_t<decltype(call_traced(solve, this->function, std::declval<X>()))>;
    constexpr bool fits = is_solution<R, X>();
    static_assert(fits,
                  "calque: custom_root: solve(f, x0) must return what the initial guess is, or std::pair of it and "
                  "further values");
    if constexpr (fits) {
      return record<R>(guess);
    } else {
      return guess;
    }
  }

 private:
  template <class R, class X>
  R record(const X& guess) const {
    constexpr const char* name = "custom_root";
    const std::vector<Handle> handles = flatten_handles(guess);
    const std::vector<std::string> paths = leaf_paths(guess, "the initial guess"), results = leaf_paths(guess);
    const auto equation = [&](std::span<const Handle> inputs) {
      return traced(call_traced(this->function, rebuild_handles(guess, inputs)));
    };
    TracedResult<R> solution;
    const auto solver = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      solution.put(traced(call_traced(solve, this->function, rebuild_handles(guess, inputs))), outputs);
      require_like(name, "the initial guess and solve's result", guess, solution_of<X>(solution.tree()),
                   this->location);
    };
    const auto tangents = [&](std::span<const Handle> inputs) {
      X b = rebuild_handles(guess, inputs);
      const X x = rebuild_handles(guess, inputs);
      const auto along = linearize(this->function, x).second;
      auto given = traced(call_traced(tangent_solve, along, std::move(b)));
      constexpr bool like = std::same_as<decltype(given), X>;
      static_assert(like, "calque: custom_root: tangent_solve(g, b) must return what the initial guess is");
      if constexpr (like) {
        return given;
      } else {
        return guess;
      }
    };
    return solution.rebuild(emit_custom_root(
        body_like(guess, name, "the initial guess and f's result", this->location, equation), solver,
        body_like(guess, name, "the initial guess and tangent_solve's result", this->location, tangents), handles,
        results, {name, this->location, paths}));
  }
};

/// The transposed linear function, as the solver of the transposed system receives it.
template <class M>
struct Transposed {
  const M& matvec;
  template <class X>
  to_tracer_t<X> operator()(const X& y) const {
    return std::get<0>(vjp(matvec, y).second(y));
  }
};

/// Instead of a solver of the transposed system: there is none, or the system is its own transpose.
struct NotTransposed {};

template <class M, class Solve, class TransposeSolve>
struct WithLinearSolve : Transformed<M> {
  Solve solve;
  TransposeSolve transpose_solve;

  bool shares_compiled_forms() const {
    return shareable(this->function) && shareable(solve) && shareable(transpose_solve);
  }

  template <class X>
  auto operator()(const X& b) const {
    using R = to_tracer_t<decltype(call_traced(solve, this->function, std::declval<X>()))>;
    constexpr bool fits = is_solution<R, X>();
    static_assert(fits,
                  "calque: custom_linear_solve: solve(matvec, b) must return what b is, or std::pair of it and further "
                  "values");
    if constexpr (fits) {
      return record<R>(b);
    } else {
      return b;
    }
  }

 private:
  template <class R, class X>
  R record(const X& b) const {
    constexpr const char* name = "custom_linear_solve";
    const std::vector<Handle> handles = flatten_handles(b);
    const std::vector<std::string> paths = leaf_paths(b, "b"), results = leaf_paths(b);
    const auto product = [&](std::span<const Handle> inputs) {
      return traced(call_traced(this->function, rebuild_handles(b, inputs)));
    };
    const auto matvec = body_like(b, name, "b and matvec's result", this->location, product);
    TracedResult<R> solution;
    const auto solver = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      solution.put(traced(call_traced(solve, this->function, rebuild_handles(b, inputs))), outputs);
      require_like(name, "b and solve's result", b, solution_of<X>(solution.tree()), this->location);
    };
    const TransformSite site{name, this->location, paths};
    if constexpr (std::same_as<TransposeSolve, NotTransposed>) {
      return solution.rebuild(emit_linear_solve(matvec, solver, nullptr, handles, results, site));
    } else if constexpr (std::same_as<TransposeSolve, symmetric_t>) {
      const TransposedSystem same{matvec, solver};
      return solution.rebuild(emit_linear_solve(matvec, solver, &same, handles, results, site));
    } else {
      const Transposed<M> vecmat{this->function};
      const auto transposed_product = [&](std::span<const Handle> inputs) {
        return vecmat(rebuild_handles(b, inputs));
      };
      const auto transposed_solution = [&](std::span<const Handle> inputs) {
        auto given = traced(call_traced(transpose_solve, vecmat, rebuild_handles(b, inputs)));
        constexpr bool like = is_solution<decltype(given), X>();
        static_assert(like, "calque: custom_linear_solve: transpose_solve(vecmat, b) must return what b is");
        if constexpr (like) {
          return solution_of<X>(given);
        } else {
          return b;
        }
      };
      const TransposedSystem transposed{
          body_like(b, name, "b and the transposed matvec's result", this->location, transposed_product),
          body_like(b, name, "b and transpose_solve's result", this->location, transposed_solution)};
      return solution.rebuild(emit_linear_solve(matvec, solver, &transposed, handles, results, site));
    }
  }
};

template <class M, class X>
constexpr bool check_matvec() {
  constexpr bool takes = accepts<M, X>();
  static_assert(takes, "calque: custom_linear_solve, cg: matvec cannot be called with b");
  if constexpr (takes) {
    constexpr bool same = std::same_as<body_t<M, X>, X>;
    static_assert(same,
                  "calque: custom_linear_solve, cg: matvec must return what b is, the same structure with the same "
                  "element types; mind that 0.0 is f64");
    return same;
  } else {
    return false;
  }
}

template <class M, class X, class Solve, class TransposeSolve>
auto linear_solve_at(const M& matvec, const X& b, const Solve& solve, const TransposeSolve& transpose_solve,
                     Location location) {
  if constexpr (check_tree<X>()) {
    if constexpr (check_matvec<M, to_tracer_t<X>>()) {
      return call_at_once(WithLinearSolve<M, Solve, TransposeSolve>{{matvec, location}, solve, transpose_solve},
                          "custom_linear_solve", b);
    }
  }
}

template <class M>
struct ConjugateGradients : Transformed<M> {
  SolveOptions options;

  bool shares_compiled_forms() const {
    return !options.tolerance && !options.max_iterations && shareable(this->function);
  }

  template <class X>
  X operator()(const X& b) const {
    constexpr const char* name = "linalg::cg";
    const std::vector<std::string> paths = leaf_paths(b, "b"), results = leaf_paths(b);
    const auto product = [&](std::span<const Handle> inputs) {
      return traced(call_traced(this->function, rebuild_handles(b, inputs)));
    };
    return rebuild_from(b,
                        emit_conjugate_gradients(body_like(b, name, "b and matvec's result", this->location, product),
                                                 flatten_handles(b), results, options, {name, this->location, paths}));
  }
};

}  // namespace calque::detail
