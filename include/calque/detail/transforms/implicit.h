#pragma once
// The type-erased core of implicit differentiation: what solves for the values of a tree, with the derivative of the
// equation that they solve. Tracers captured by the user's functions become operands, so that derivatives by them are
// right.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calque/detail/transforms/transform.h"

namespace calque {

/// When a solver stops.
struct SolveOptions {
  /// The solution is found when the last step is at most tolerance * (1 + |x|), in the maximum norm. By default eps to
  /// the power of 2/3, where eps is that of the least precise element type of x: 3.7e-11 for f64, 2.4e-5 for f32.
  std::optional<double> tolerance{};
  /// The most steps; by default 100, of fixed_point 1000.
  std::optional<int> max_iterations{};
};

/// The type of `cq::symmetric`.
struct symmetric_t {};
/// Says that a linear function is its own transpose: `custom_linear_solve(matvec, b, solve, symmetric)`.
inline constexpr symmetric_t symmetric;

/// How a solver ended.
template <class R, class I, class B>
struct SolveInfo {
  /// The maximum norm of what should be zero: f(x), x - f(x), or the gradient.
  R residual;
  /// The number of steps.
  I iterations;
  /// Whether the tolerance was reached.
  B converged;
};

namespace detail {

/// What a solver makes zero.
enum class Problem : uint8_t {
  root,         ///< f(x)
  fixed_point,  ///< x - f(x)
  minimum,      ///< the gradient of f
};

/// The x with this property of body(x..., parameters...), where the first `unknowns` operands are the first guess, then
/// the residual (f64), the steps (i32) and whether it converged (bool). `results`: paths of the body's results, read
/// after it ran. x is NaN where it did not converge, or the last iterate if `keep`. Throws DTypeError for an x that is
/// not of real floats, ShapeError or DTypeError when the body's results do not fit, ShapeError for options out of
/// range.
std::vector<Handle> emit_solution(Problem problem, BodyRef body, std::span<const Handle> operands, size_t unknowns,
                                  const std::vector<std::string>& results, const SolveOptions& options, bool keep,
                                  const TransformSite& site);

/// The x..., further values... of `solve` (of the first guess), where body(x) is zero; tangent_solve of (b, x) are the
/// tangents of x for which that of the body is b. Throws as above, where x may be complex.
std::vector<Handle> emit_custom_root(BodyRef body, BodyRef solve, BodyRef tangent_solve, std::span<const Handle> guess,
                                     const std::vector<std::string>& results, const TransformSite& site);

/// How the transpose of a linear system is solved.
struct TransposedSystem {
  TraceBody vecmat, solve;
};
/// The x..., further values... of `solve` (of b), where matvec(x) is b. Without `transposed` there is no reverse mode.
/// Throws as `emit_custom_root`.
std::vector<Handle> emit_linear_solve(BodyRef matvec, BodyRef solve, const TransposedSystem* transposed,
                                      std::span<const Handle> b, const std::vector<std::string>& results,
                                      const TransformSite& site);

/// The conjugate gradients of a symmetric positive definite matvec, as a linear system that is its own transpose.
/// Throws as `emit_solution`.
std::vector<Handle> emit_conjugate_gradients(BodyRef matvec, std::span<const Handle> b,
                                             const std::vector<std::string>& results, const SolveOptions& options,
                                             const TransformSite& site);

}  // namespace detail
}  // namespace calque
