#pragma once
// Values defined by an equation: roots, fixed points, stationary points, solutions of linear systems. Their derivative
// is that of the implicit function theorem: where f(x, p) = 0, the tangent dx solves (df/dx) dx = -(df/dp) dp, whatever
// steps found x (Blondel et al., Efficient and Modular Implicit Differentiation, NeurIPS 2022, arXiv:2105.15183). It
// exists to every order, in both modes, by parameters and by tracers that f captures; that by the first guess is zero.
// f is recorded once. Arguments are any trees. Called on data alone, these functions run at once, and f must not
// capture tracers (ConcretizationError).
#include <concepts>
#include <utility>

#include "calque/detail/transforms/implicit_trees.h"

namespace calque {

namespace detail {
template <class P>
concept Parameter = !std::same_as<P, SolveOptions>;
}  // namespace detail

// Functions of f, x0, any number of parameters, and options. With more than four parameters errors have no line.
#define CALQUE_SOLVER(name, problem, with_info)                                                                       \
  template <class F, class X>                                                                                         \
  [[nodiscard]] auto name(const F& f, const X& x0, SolveOptions options = {}, Loc loc = Loc::current()) {             \
    return detail::solve_problem<problem, with_info>(f, options, loc, x0);                                            \
  }                                                                                                                   \
  template <class F, class X, detail::Parameter A>                                                                    \
  [[nodiscard]] auto name(const F& f, const X& x0, const A& a, SolveOptions options = {}, Loc loc = Loc::current()) { \
    return detail::solve_problem<problem, with_info>(f, options, loc, x0, a);                                         \
  }                                                                                                                   \
  template <class F, class X, detail::Parameter A, detail::Parameter B>                                               \
  [[nodiscard]] auto name(const F& f, const X& x0, const A& a, const B& b, SolveOptions options = {},                 \
                          Loc loc = Loc::current()) {                                                                 \
    return detail::solve_problem<problem, with_info>(f, options, loc, x0, a, b);                                      \
  }                                                                                                                   \
  template <class F, class X, detail::Parameter A, detail::Parameter B, detail::Parameter C>                          \
  [[nodiscard]] auto name(const F& f, const X& x0, const A& a, const B& b, const C& c, SolveOptions options = {},     \
                          Loc loc = Loc::current()) {                                                                 \
    return detail::solve_problem<problem, with_info>(f, options, loc, x0, a, b, c);                                   \
  }                                                                                                                   \
  template <class F, class X, detail::Parameter A, detail::Parameter B, detail::Parameter C, detail::Parameter D>     \
  [[nodiscard]] auto name(const F& f, const X& x0, const A& a, const B& b, const C& c, const D& d,                    \
                          SolveOptions options = {}, Loc loc = Loc::current()) {                                      \
    return detail::solve_problem<problem, with_info>(f, options, loc, x0, a, b, c, d);                                \
  }                                                                                                                   \
  template <class F, class X, detail::Parameter... P>                                                                 \
    requires(sizeof...(P) > 4)                                                                                        \
  [[nodiscard]] auto name(const F& f, const X& x0, const P&... parameters) {                                          \
    return detail::solve_problem<problem, with_info>(f, SolveOptions{}, {}, x0, parameters...);                       \
  }

/// root(f, x0, parameters..., options): the x with f(x, parameters...) = 0 that Newton's method finds from x0, a tree
/// like x0; f returns one of the same structure, types (compile error) and shapes. The Jacobian is a matrix; steps are
/// halved until they lessen the sum of squares, and where the Jacobian is singular they go along its gradient. Leaves
/// are real floats; 16-bit ones are solved for in f32. x is NaN where it does not converge within
/// `options.max_iterations`, for each example of a batch on its own; so are derivatives where the Jacobian is singular.
/// Throws DTypeError for an x0 that is not of real floats, ShapeError that names a leaf of f's result of another shape,
/// or for options out of range.
///
///     auto cube_root = [](auto a) { return cq::root([](auto x, auto a) { return x * x * x - a; }, 1.0, a); };
///     cq::grad(cube_root)(8.0)  // 0.08333333
CALQUE_SOLVER(root, detail::Problem::root, false)
/// root_and_info(f, x0, parameters..., options): std::pair of x and a SolveInfo. x is the last iterate, also where it
/// did not converge. Throws as `root`.
///     root_and_info([](auto x, auto a) { return x * x - a; }, 1.0, 9.0).first  // 3.0
CALQUE_SOLVER(root_and_info, detail::Problem::root, true)

/// fixed_point(f, x0, parameters..., options): the x with x = f(x, parameters...) to which the iteration of f leads
/// from x0, a tree like x0; f returns one of the same structure, types (compile error) and shapes. It converges if f is
/// a contraction there. The derivative's system has the matrix I - df/dx. NaN where it does not converge; leaves and
/// errors are as of `root`.
///
///     auto f = [](auto a) { return cq::fixed_point([](auto x, auto a) { return cos(a * x); }, 0.5, a); };
///     f(1.0)  // 0.73908513
CALQUE_SOLVER(fixed_point, detail::Problem::fixed_point, false)
/// fixed_point_and_info(f, x0, parameters..., options): as `root_and_info`; the residual is the last change of x.
///     fixed_point_and_info([](auto x) { return cos(x); }, 0.5).first  // 0.73908513
CALQUE_SOLVER(fixed_point_and_info, detail::Problem::fixed_point, true)

/// minimize_newton(f, x0, parameters..., options): the x to which Newton's method on the gradient of f, a real floating
/// scalar (compile error), leads from x0, a tree like x0: where the Hessian is not positive definite, a multiple of the
/// identity is added, and each step lessens f, so x is a local minimum, or x0 itself if the gradient is zero there. The
/// derivative is -inverse(H) d(gradient)/dp with the Hessian H. NaN where it does not converge, as for an f without a
/// minimum; leaves and errors are as of `root`, ShapeError also for an f that does not return a scalar.
///
///     auto f = [](auto a) { return cq::minimize_newton([](auto x, auto a) { return exp(x) - a * x; }, 0.0, a); };
///     f(3.0)  // 1.09861229
CALQUE_SOLVER(minimize_newton, detail::Problem::minimum, false)
/// minimize_newton_and_info(f, x0, parameters..., options): as `root_and_info`; the residual is that of the gradient.
///     minimize_newton_and_info([](auto x) { return x * x - 2.0 * x; }, 5.0).first  // 1.0
CALQUE_SOLVER(minimize_newton_and_info, detail::Problem::minimum, true)
#undef CALQUE_SOLVER

/// The x with f(x) = 0 that `solve(f, initial_guess)` returns, a tree like the guess, or std::pair of it and further
/// values, which have no derivative. Its derivative, also by what f captures, is that of the equation:
/// tangent_solve(g, b) returns the solution of g(t) = b for the linear g, the derivative of f at x, in b's structure;
/// of a scalar it is b / g(1.0). What it records is differentiated for higher orders, and transposed in reverse mode.
/// As jax.lax.custom_root. Throws DTypeError for leaves that are not floating or complex, ShapeError that names a leaf
/// of another shape.
///     auto solve = [](auto f, auto x) { return root(f, x); };
///     auto divide = [](auto g, auto b) { return b / g(1.0); };
///     grad([&](auto a) { return custom_root([a](auto x) { return x * x - a; }, 1.0 + 0.0 * a, solve, divide); })(9.0)
///     // 0.16666667
template <class F, class X, class Solve, class TangentSolve>
[[nodiscard]] auto custom_root(const F& f, const X& initial_guess, const Solve& solve,
                               const TangentSolve& tangent_solve, Loc loc = Loc::current()) {
  if constexpr (detail::check_tree<X>()) {
    if constexpr (detail::check_problem<detail::Problem::root, F, to_tracer_t<X>>()) {
      return detail::call_at_once(detail::WithRoot<F, Solve, TangentSolve>{{f, loc}, solve, tangent_solve},
                                  "custom_root", initial_guess);
    }
  }
}

/// The x with matvec(x) = b, where matvec is linear, that `solve(matvec, b)` returns: a tree like b, or std::pair of it
/// and further values, which have no derivative. The derivative, also by what matvec captures, is that of the system,
/// and is solved by `solve` too: for the right-hand side db - (dA) x. Without `transpose_solve` there is no reverse
/// mode (GradError). As jax.lax.custom_linear_solve. Throws DTypeError for leaves that are not floating or complex,
/// ShapeError that names a leaf of another shape. That matvec is linear is not checked.
///     auto solve = [](auto f, auto b) { return b / f(1.0 + 0.0 * b); };
///     custom_linear_solve([](auto x) { return D{2, 4} * x; }, D{2, 8}, solve)  // [1. 2.]
template <class M, class X, class Solve>
[[nodiscard]] auto custom_linear_solve(const M& matvec, const X& b, const Solve& solve, Loc loc = Loc::current()) {
  return detail::linear_solve_at(matvec, b, solve, detail::NotTransposed{}, loc);
}
/// The same with transpose_solve(vecmat, b), which returns the solution of vecmat(x) = b for the transpose of matvec,
/// a function too; it serves reverse mode.
///     auto solve = [](auto f, auto b) { return b / f(1.0 + 0.0 * b); };
///     auto f = [&](auto b) { return sum(custom_linear_solve([](auto x) { return D{2, 4} * x; }, b, solve, solve)); };
///     grad(f)(D{2, 8})  // [0.5  0.25]
template <class M, class X, class Solve, class TransposeSolve>
  requires(!std::same_as<TransposeSolve, Loc>)
[[nodiscard]] auto custom_linear_solve(const M& matvec, const X& b, const Solve& solve,
                                       const TransposeSolve& transpose_solve, Loc loc = Loc::current()) {
  return detail::linear_solve_at(matvec, b, solve, transpose_solve, loc);
}

namespace linalg {

/// The x with matvec(x) = b for a symmetric positive definite matvec, by conjugate gradients (Hestenes and Stiefel,
/// 1952) from zero: a tree like b, until the residual is at most options.tolerance |b| in the 2-norm, within
/// options.max_iterations, by default 10 n of n unknowns; else NaN. The derivative is that of the system, by the same
/// method in both modes. Leaves are real floats; 16-bit ones are solved for in f32. Throws DTypeError for others,
/// ShapeError that names a leaf of another shape, or for options out of range. That matvec is linear and symmetric is
/// not checked.
///     linalg::cg([](auto x) { return matmul(D{{2, 1}, {1, 2}}, x); }, D{4, 5})  // [1. 2.]
template <class M, class X>
[[nodiscard]] auto cg(const M& matvec, const X& b, SolveOptions options = {}, Loc loc = Loc::current()) {
  if constexpr (detail::check_tree<X>()) {
    if constexpr (detail::check_matvec<M, to_tracer_t<X>>()) {
      return detail::call_at_once(detail::ConjugateGradients<M>{{matvec, loc}, options}, "cg", b);
    }
  }
}

}  // namespace linalg
}  // namespace calque
