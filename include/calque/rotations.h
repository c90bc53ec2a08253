#pragma once
// Rotations: quaternions (w, x, y, z), rotation vectors (axis times angle) and matrices, their conversions, and the
// manifolds that fitting steps along. The order of components and the meaning of steps are those of Ceres.
//
// Vectors are along the last axis: an argument of shape [..., 4] is a batch of quaternions; leading dimensions
// broadcast. All functions are smooth where the rotation is: at zero rotation, where the formulas divide by the angle,
// values and derivatives of the first two orders are right in forward and reverse mode and under vmap. Results are of
// the promoted type of the arguments, which are floating (compile error). ShapeError when the last extent is another.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "calque/functions.h"
#include "calque/trees.h"

namespace calque {
namespace detail {
/// Throws ShapeError unless the last extent of an argument is `extent`.
void require_components(std::string_view function, const Shape& shape, int64_t extent, Location location);
}  // namespace detail

namespace detail::rotations {

/// The N components along the last axis, each of shape [..., 1].
template <int N, class X>
std::array<X, N> components(std::string_view function, const X& x, Loc loc) {
  static_assert(is_floating(dtype_of<elem_t<X>>), "calque: rotations are of floating-point numbers");
  require_components(function, x.shape(loc), N, loc);
  const std::vector<X> parts = split(x, N, -1, loc);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::array<X, N>{parts[I]...};
  }(std::make_index_sequence<N>());
}
template <class X, size_t N>
X joined(const std::array<X, N>& parts, Loc loc) {
  return concatenate(std::vector<X>(parts.begin(), parts.end()), -1, loc);
}
/// x as an Out.
template <class Out, class X>
Out as_type(const X& x, Loc loc) {
  if constexpr (std::same_as<Out, X>) {
    return x;
  } else if constexpr (TracerLike<Out> && !TracerLike<X>) {
    return Out(calque::cast<elem_t<Out>>(x, loc));
  } else {
    return calque::cast<elem_t<Out>>(x, loc);
  }
}

template <class X>
std::array<X, 3> cross3(const std::array<X, 3>& a, const std::array<X, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class X>
X dot3(const std::array<X, 3>& a, const std::array<X, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// f(t) = exact(t) from `limit` on, below it the polynomial with these coefficients. Each is computed of arguments of
/// its own range, so that the one that is not selected is finite, with finite derivatives.
template <class X, class F>
X by_series(const X& t, double limit, std::initializer_list<double> coefficients, const F& exact, Loc loc) {
  const auto small = t < limit;
  const X near = where(small, t, 0, loc), far = where(small, 1, t, loc);
  X sum = near * 0;
  for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) sum = sum * near + *c;
  return where(small, sum, exact(far), loc);
}
// Functions of the square t of an angle. The series reach the last bit below the limit; above it the quotients lose few
// bits in second derivatives.
inline constexpr double kSeriesLimit = 0.25;
/// sin(x) / x.
template <class X>
X sinc_of_square(const X& t, Loc loc) {
  return by_series(
      t, kSeriesLimit,
      {1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800, 1. / 6227020800, -1. / 1307674368000},
      [&](const X& far) {
        const X x = sqrt(far, loc);
        return sin(x, loc) / x;
      },
      loc);
}
/// cos(x).
template <class X>
X cos_of_square(const X& t, Loc loc) {
  return by_series(
      t, kSeriesLimit,
      {1, -1. / 2, 1. / 24, -1. / 720, 1. / 40320, -1. / 3628800, 1. / 479001600, -1. / 87178291200,
       1. / 20922789888000},
      [&](const X& far) { return cos(sqrt(far, loc), loc); }, loc);
}
/// (1 - cos(x)) / x^2.
template <class X>
X versine_of_square(const X& t, Loc loc) {
  const X half = sinc_of_square(t * 0.25, loc);
  return 0.5 * half * half;
}
/// (x - sin(x)) / x^3.
template <class X>
X third_of_square(const X& t, Loc loc) {
  return by_series(
      t, kSeriesLimit,
      {1. / 6, -1. / 120, 1. / 5040, -1. / 362880, 1. / 39916800, -1. / 6227020800, 1. / 1307674368000},
      [&](const X& far) {
        const X x = sqrt(far, loc);
        return (x - sin(x, loc)) / (x * far);
      },
      loc);
}
/// (1 - x / 2 cot(x / 2)) / x^2.
template <class X>
X cotangent_of_square(const X& t, Loc loc) {
  return by_series(
      t, kSeriesLimit,
      {1. / 12, 1. / 720, 1. / 30240, 1. / 1209600, 1. / 47900160, 691. / 1307674368000, 1. / 74724249600,
       3617. / 10670622842880000},
      [&](const X& far) {
        const X half = 0.5 * sqrt(far, loc);
        return (1 - half * cos(half, loc) / sin(half, loc)) / far;
      },
      loc);
}
/// The angle of (w, x) over x, where x = sqrt(t): in [0, pi] if `whole`, else of the line through it, in (-pi/2, pi/2].
template <bool whole, class X>
X angle_over_sine(const X& t, const X& w, Loc loc) {
  auto small = t < 0.0625 * (w * w);
  if constexpr (whole) small = small & (w > 0);
  const X safe_w = where(small, w, 1, loc), u = where(small, t, 0, loc) / (safe_w * safe_w);
  X sum = u * 0;  // of atan(sqrt(u)) / sqrt(u)
  for (int n = 13; n >= 0; --n) sum = sum * u + (n % 2 == 0 ? 1.0 : -1.0) / (2 * n + 1);
  // At x = 0 and w < 0 the direction is lost, and what this is multiplied by is 0.
  const auto none = small | (t <= 0);
  const X x = sqrt(where(none, 1, t, loc), loc), far_w = where(small, 1, w, loc);
  X angle = atan2(x, far_w, loc);
  if constexpr (!whole) angle = where(far_w < 0, atan2(-x, -far_w, loc), angle, loc);
  return where(small, sum / safe_w, angle / x, loc);
}

/// x reflected by the reflection that maps the last axis to `to` (of length 1, else scaled by it).
template <class X>
std::array<X, 3> reflected(const std::array<X, 3>& to, const std::array<X, 3>& x, Loc loc) {
  const X sigma = to[0] * to[0] + to[1] * to[1];
  const X length = sqrt(sigma + to[2] * to[2], loc);
  // v = to - |to| e, of which the last component is computed without cancellation.
  const auto below = to[2] <= 0;
  const X last = where(below, to[2] - length, -sigma / where(below, 1, to[2] + length, loc), loc);
  const X square = sigma + last * last;
  const auto none = square <= 0;
  const X k = 2 * (to[0] * x[0] + to[1] * x[1] + last * x[2]) / where(none, 1, square, loc);
  return {length * (x[0] - k * to[0]), length * (x[1] - k * to[1]), length * (x[2] - k * last)};
}

template <class X>
std::array<X, 4> product4(const std::array<X, 4>& p, const std::array<X, 4>& q) {
  return {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
          p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
}
/// The unit quaternion of a rotation by `share` times the vector's length about it.
template <class X>
std::array<X, 4> exponential4(const std::array<X, 3>& v, double share, Loc loc) {
  const X t = share * share * dot3(v, v), k = share * sinc_of_square(t, loc);
  return {cos_of_square(t, loc), k * v[0], k * v[1], k * v[2]};
}
template <class X>
std::array<X, 3> rotated3(const std::array<X, 3>& v, const std::array<X, 3>& p, Loc loc) {
  const X t = dot3(v, v), c = cos_of_square(t, loc), s = sinc_of_square(t, loc);
  const X along = dot3(v, p) * versine_of_square(t, loc);
  const std::array<X, 3> across = cross3(v, p);
  return {c * p[0] + s * across[0] + along * v[0], c * p[1] + s * across[1] + along * v[1],
          c * p[2] + s * across[2] + along * v[2]};
}
template <class X>
std::array<X, 3> rotated_by4(const std::array<X, 4>& q, const std::array<X, 3>& p) {
  const std::array<X, 3> axis = {q[1], q[2], q[3]}, once = cross3(axis, p), twice = cross3(axis, once);
  const X k = 2 / (q[0] * q[0] + dot3(axis, axis));
  return {p[0] + k * (q[0] * once[0] + twice[0]), p[1] + k * (q[0] * once[1] + twice[1]),
          p[2] + k * (q[0] * once[2] + twice[2])};
}
template <class X>
std::array<X, 3> vector_of4(const std::array<X, 4>& q, Loc loc) {
  const X k = 2 * angle_over_sine<false>(q[1] * q[1] + q[2] * q[2] + q[3] * q[3], q[0], loc);
  return {k * q[1], k * q[2], k * q[3]};
}
template <class X>
std::array<X, 4> conjugate4(const std::array<X, 4>& q) {
  return {q[0], -q[1], -q[2], -q[3]};
}

/// The reflections of the first two axes by the one that maps the last axis to x.
template <class X>
std::array<std::array<X, 3>, 2> tangents3(const std::array<X, 3>& x, Loc loc) {
  const X none = zeros_like(x[0], loc), one = none + 1;
  return {reflected(x, std::array<X, 3>{one, none, none}, loc), reflected(x, std::array<X, 3>{none, one, none}, loc)};
}
/// Matrices [..., Rows, Columns] of entries of shape [..., 1].
template <class X, size_t Rows, size_t Columns>
X matrix_of(const std::array<std::array<X, Columns>, Rows>& entries, Loc loc) {
  std::vector<X> rows;
  for (const auto& row : entries) rows.push_back(joined(row, loc));
  return stack(rows, -2, loc);
}
template <class X, size_t Rows, size_t Columns>
std::array<std::array<X, Rows>, Columns> transposed(const std::array<std::array<X, Columns>, Rows>& entries) {
  return [&]<size_t... C>(std::index_sequence<C...>) {
    const auto column = [&]<size_t... R>(size_t c, std::index_sequence<R...>) {
      return std::array<X, Rows>{entries[R][c]...};
    };
    return std::array<std::array<X, Rows>, Columns>{column(C, std::make_index_sequence<Rows>())...};
  }(std::make_index_sequence<Columns>());
}
/// d(step q) / d step of the unit quaternion [1, step] at step 0. Its transpose is the inverse on unit quaternions.
template <class X>
std::array<std::array<X, 3>, 4> step_matrix4(const std::array<X, 4>& q) {
  return {{{-q[1], -q[2], -q[3]}, {q[0], q[3], -q[2]}, {-q[3], q[0], q[1]}, {q[2], -q[1], q[0]}}};
}
/// The entries of 1 + a [v] + b [v]^2, where [v] p is the cross product of v and p.
template <class X>
std::array<std::array<X, 3>, 3> series_of_cross(const std::array<X, 3>& v, const X& a, const X& b) {
  const X t = dot3(v, v);
  std::array<std::array<X, 3>, 3> m = {
      {{1 - b * t, -a * v[2], a * v[1]}, {a * v[2], 1 - b * t, -a * v[0]}, {-a * v[1], a * v[0], 1 - b * t}}};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) m[i][j] = m[i][j] + b * v[i] * v[j];
  }
  return m;
}

}  // namespace detail::rotations

/// The product p q of quaternions [..., 4], the rotation by q and then by p.
///     quaternion_product(D{0, 1, 0, 0}, D{0, 0, 1, 0})  // [0. 0. 0. 1.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> quaternion_product(const A& p, const B& q, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  return detail::rotations::joined(
      detail::rotations::product4(
          detail::rotations::components<4>("quaternion_product", detail::rotations::as_type<Out>(p, loc), loc),
          detail::rotations::components<4>("quaternion_product", detail::rotations::as_type<Out>(q, loc), loc)),
      loc);
}
/// The conjugate of quaternions [..., 4], of unit ones the rotation back.
///     quaternion_conjugate(D{1, 2, 3, 4})  // [ 1. -2. -3. -4.]
template <ArrayLike A>
[[nodiscard]] A quaternion_conjugate(const A& q, Loc loc = Loc::current()) {
  return detail::rotations::joined(
      detail::rotations::conjugate4(detail::rotations::components<4>("quaternion_conjugate", q, loc)), loc);
}
/// The points p [..., 3] rotated by quaternions [..., 4] of any length but 0.
///     quaternion_rotate(D{1, 0, 0, 1}, D{1, 2, 3})  // [-2.  1.  3.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> quaternion_rotate(const A& q, const B& p, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  return detail::rotations::joined(
      detail::rotations::rotated_by4(
          detail::rotations::components<4>("quaternion_rotate", detail::rotations::as_type<Out>(q, loc), loc),
          detail::rotations::components<3>("quaternion_rotate", detail::rotations::as_type<Out>(p, loc), loc)),
      loc);
}
/// The points p [..., 3] rotated by rotation vectors v [..., 3], as Rodrigues' formula.
///     angle_axis_rotate(D{0, 0, M_PI / 2}, D{1, 2, 3})  // [-2.  1.  3.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> angle_axis_rotate(const A& v, const B& p, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  return detail::rotations::joined(
      detail::rotations::rotated3(
          detail::rotations::components<3>("angle_axis_rotate", detail::rotations::as_type<Out>(v, loc), loc),
          detail::rotations::components<3>("angle_axis_rotate", detail::rotations::as_type<Out>(p, loc), loc), loc),
      loc);
}

// ---- conversions

/// The unit quaternions [..., 4] of rotation vectors [..., 3].
///     angle_axis_to_quaternion(D{0, 0, M_PI})  // [6.123234e-17 0.000000e+00 0.000000e+00 1.000000e+00]
template <ArrayLike A>
[[nodiscard]] A angle_axis_to_quaternion(const A& v, Loc loc = Loc::current()) {
  return detail::rotations::joined(
      detail::rotations::exponential4(detail::rotations::components<3>("angle_axis_to_quaternion", v, loc), 0.5, loc),
      loc);
}
/// The rotation vectors [..., 3] of quaternions [..., 4] of any length but 0; their length, the angle, is at most pi.
///     quaternion_to_angle_axis(D{1, 0, 0, 1})  // [0.         0.         1.57079633]
template <ArrayLike A>
[[nodiscard]] A quaternion_to_angle_axis(const A& q, Loc loc = Loc::current()) {
  return detail::rotations::joined(
      detail::rotations::vector_of4(detail::rotations::components<4>("quaternion_to_angle_axis", q, loc), loc), loc);
}
/// The matrices [..., 3, 3] that rotate as quaternions [..., 4] of any length but 0: R p is `quaternion_rotate(q, p)`.
///     quaternion_to_rotation_matrix(D{1, 0, 0, 1})  // [[ 0. -1.  0.]
///                                                   //  [ 1.  0.  0.]
///                                                   //  [ 0.  0.  1.]]
template <ArrayLike A>
[[nodiscard]] A quaternion_to_rotation_matrix(const A& q, Loc loc = Loc::current()) {
  const auto [w, x, y, z] = detail::rotations::components<4>("quaternion_to_rotation_matrix", q, loc);
  const A k = 2 / (w * w + x * x + y * y + z * z);
  const A rows[] = {detail::rotations::joined(
                        std::array<A, 3>{1 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y)}, loc),
                    detail::rotations::joined(
                        std::array<A, 3>{k * (x * y + w * z), 1 - k * (x * x + z * z), k * (y * z - w * x)}, loc),
                    detail::rotations::joined(
                        std::array<A, 3>{k * (x * z - w * y), k * (y * z + w * x), 1 - k * (x * x + y * y)}, loc)};
  return stack(std::vector<A>(std::begin(rows), std::end(rows)), -2, loc);
}
/// The matrices [..., 3, 3] that rotate as rotation vectors [..., 3]: R p is `angle_axis_rotate(v, p)`.
///     angle_axis_to_rotation_matrix(D{0, 0, 0})  // [[1. 0. 0.]
///                                                //  [0. 1. 0.]
///                                                //  [0. 0. 1.]]
template <ArrayLike A>
[[nodiscard]] A angle_axis_to_rotation_matrix(const A& v, Loc loc = Loc::current()) {
  return quaternion_to_rotation_matrix(angle_axis_to_quaternion(v, loc), loc);
}

/// The unit quaternions [..., 4] of rotation matrices [..., 3, 3]: w is positive where the trace is not negative,
/// elsewhere the largest of x, y and z is, as of Ceres. For matrices that are no rotations the result has no meaning.
///     rotation_matrix_to_quaternion(D::eye(3))  // [1. 0. 0. 0.]
template <ArrayLike A>
[[nodiscard]] A rotation_matrix_to_quaternion(const A& r, Loc loc = Loc::current()) {
  detail::require_components("rotation_matrix_to_quaternion", r.shape(loc), 3, loc);
  std::array<std::array<A, 3>, 3> m;
  const std::vector<A> rows = split(r, 3, -2, loc);
  for (size_t i = 0; i < 3; ++i) {
    m[i] = detail::rotations::components<3>("rotation_matrix_to_quaternion", squeeze(rows[i], {-2}, loc), loc);
  }
  // 4 q_i q_j for the largest component i: its square is at least 1, so that the root and the quotient are smooth.
  const A w = 1 + m[0][0] + m[1][1] + m[2][2], x = 1 + m[0][0] - m[1][1] - m[2][2];
  const A y = 1 - m[0][0] + m[1][1] - m[2][2], z = 1 - m[0][0] - m[1][1] + m[2][2];
  const A wx = m[2][1] - m[1][2], wy = m[0][2] - m[2][0], wz = m[1][0] - m[0][1];
  const A xy = m[0][1] + m[1][0], xz = m[0][2] + m[2][0], yz = m[1][2] + m[2][1];
  const auto of_w = w >= 1, of_x = (x >= y) & (x >= z), of_y = y >= z;
  const auto choose = [&](const A& a, const A& b, const A& c, const A& d) {
    return A(where(of_w, a, where(of_x, b, where(of_y, c, d, loc), loc), loc));
  };
  const A k = 0.5 / sqrt(choose(w, x, y, z), loc);
  return detail::rotations::joined(std::array<A, 4>{k * choose(w, wx, wy, wz), k * choose(wx, x, xy, xz),
                                                    k * choose(wy, xy, y, yz), k * choose(wz, xz, yz, z)},
                                   loc);
}
/// The rotation vectors [..., 3] of rotation matrices [..., 3, 3], of length at most pi.
///     rotation_matrix_to_angle_axis(D::eye(3))  // [0. 0. 0.]
template <ArrayLike A>
[[nodiscard]] A rotation_matrix_to_angle_axis(const A& r, Loc loc = Loc::current()) {
  return quaternion_to_angle_axis(rotation_matrix_to_quaternion(r, loc), loc);
}

// ---- manifolds: plus(x, step) is x moved by a step of the tangent space, minus(y, x) the step from x to y. The
// Jacobian of plus is by the step where it is 0, that of minus is by y where it is x; on the manifold their product
// is 1.

/// The unit quaternion x [..., 4] rotated by a step [..., 3]: [cos |step|, sin |step| / |step| step] x. The step is
/// half of a rotation vector, as of Ceres' QuaternionManifold.
///     quaternion_plus(D{1, 0, 0, 0}, D{0, 0, 0})  // [1. 0. 0. 0.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> quaternion_plus(const A& x, const B& step, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  const auto turn = detail::rotations::exponential4(
      detail::rotations::components<3>("quaternion_plus", detail::rotations::as_type<Out>(step, loc), loc), 1, loc);
  return detail::rotations::joined(
      detail::rotations::product4(
          turn, detail::rotations::components<4>("quaternion_plus", detail::rotations::as_type<Out>(x, loc), loc)),
      loc);
}
/// The step [..., 3] with which `quaternion_plus` goes from x to y, unit quaternions [..., 4]; of length at most pi / 2
/// for the same rotation as y or -y.
///     quaternion_minus(D{0, 0, 0, 1}, D{1, 0, 0, 0})  // [0.         0.         1.57079633]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> quaternion_minus(const A& y, const B& x, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  const auto between = detail::rotations::product4(
      detail::rotations::components<4>("quaternion_minus", detail::rotations::as_type<Out>(y, loc), loc),
      detail::rotations::conjugate4(
          detail::rotations::components<4>("quaternion_minus", detail::rotations::as_type<Out>(x, loc), loc)));
  return 0.5 * detail::rotations::joined(detail::rotations::vector_of4(between, loc), loc);
}
/// The Jacobians [..., 4, 3] of `quaternion_plus` at unit quaternions x [..., 4].
///     quaternion_plus_jacobian(D{1, 0, 0, 0})  // [[-0. -0. -0.]
///                                              //  [ 1.  0. -0.]
///                                              //  [-0.  1.  0.]
///                                              //  [ 0. -0.  1.]]
template <ArrayLike A>
[[nodiscard]] A quaternion_plus_jacobian(const A& x, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  return r::matrix_of(r::step_matrix4(r::components<4>("quaternion_plus_jacobian", x, loc)), loc);
}
/// The Jacobians [..., 3, 4] of `quaternion_minus` at unit quaternions x [..., 4].
///     quaternion_minus_jacobian(D{0, 0, 0, 1})  // [[-0.  0. -1.  0.]
///                                               //  [-0.  1.  0. -0.]
///                                               //  [-1. -0.  0.  0.]]
template <ArrayLike A>
[[nodiscard]] A quaternion_minus_jacobian(const A& x, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  return r::matrix_of(r::transposed(r::step_matrix4(r::components<4>("quaternion_minus_jacobian", x, loc))), loc);
}

/// The rotation vector [..., 3] of the rotation by v and then by `step`, rotation vectors [..., 3].
///     angle_axis_plus(D{0, 0, 1}, D{0, 0, 0.5})  // [0.  0.  1.5]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> angle_axis_plus(const A& v, const B& step, Loc loc = Loc::current()) {
  return quaternion_to_angle_axis(
      quaternion_product(angle_axis_to_quaternion(step, loc), angle_axis_to_quaternion(v, loc), loc), loc);
}
/// The step [..., 3] with which `angle_axis_plus` goes from x to y.
///     angle_axis_minus(D{0, 0, 1.5}, D{0, 0, 1})  // [0.  0.  0.5]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> angle_axis_minus(const A& y, const B& x, Loc loc = Loc::current()) {
  return quaternion_to_angle_axis(
      quaternion_product(angle_axis_to_quaternion(y, loc), angle_axis_to_quaternion(-x, loc), loc), loc);
}
/// The Jacobians [..., 3, 3] of `angle_axis_plus` at rotation vectors v [..., 3].
///     angle_axis_plus_jacobian(D{0, 0, 0})  // [[1. 0. 0.]
///                                           //  [0. 1. 0.]
///                                           //  [0. 0. 1.]]
template <ArrayLike A>
[[nodiscard]] A angle_axis_plus_jacobian(const A& v, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  // plus returns the vector of length at most pi, as what the derivative is at.
  const auto p = r::vector_of4(r::exponential4(r::components<3>("angle_axis_plus_jacobian", v, loc), 0.5, loc), loc);
  const A t = r::dot3(p, p);
  return r::matrix_of(r::series_of_cross(p, A(t * 0 - 0.5), A(r::cotangent_of_square(t, loc))), loc);
}
/// The Jacobians [..., 3, 3] of `angle_axis_minus` at rotation vectors v [..., 3].
///     angle_axis_minus_jacobian(D{0, 0, 0})  // [[1. 0. 0.]
///                                            //  [0. 1. 0.]
///                                            //  [0. 0. 1.]]
template <ArrayLike A>
[[nodiscard]] A angle_axis_minus_jacobian(const A& v, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  const auto p = r::components<3>("angle_axis_minus_jacobian", v, loc);
  const A t = r::dot3(p, p);
  return r::matrix_of(r::series_of_cross(p, A(r::versine_of_square(t, loc)), A(r::third_of_square(t, loc))), loc);
}

/// The pose x [..., 7], a unit quaternion and a translation, after the motion exp(step) of SE(3), where step [..., 6]
/// is a rotation vector w and a velocity v: the points that x maps to p go to R(w) p + V(w) v.
///     se3_plus(D{1, 0, 0, 0, 1, 2, 3}, D{0, 0, 0, 0, 0, 1})  // [1. 0. 0. 0. 1. 2. 4.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> se3_plus(const A& x, const B& step, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  const auto [qw, qx, qy, qz, tx, ty, tz] =
      detail::rotations::components<7>("se3_plus", detail::rotations::as_type<Out>(x, loc), loc);
  const auto [wx, wy, wz, vx, vy, vz] =
      detail::rotations::components<6>("se3_plus", detail::rotations::as_type<Out>(step, loc), loc);
  const std::array<Out, 3> w = {wx, wy, wz}, v = {vx, vy, vz};
  const auto rotated =
      detail::rotations::product4(detail::rotations::exponential4(w, 0.5, loc), std::array<Out, 4>{qw, qx, qy, qz});
  const auto moved = detail::rotations::rotated3(w, std::array<Out, 3>{tx, ty, tz}, loc);
  const Out t = detail::rotations::dot3(w, w), a = detail::rotations::versine_of_square(t, loc),
            b = detail::rotations::third_of_square(t, loc);
  const auto once = detail::rotations::cross3(w, v), twice = detail::rotations::cross3(w, once);
  std::array<Out, 7> all = {rotated[0], rotated[1], rotated[2], rotated[3], moved[0], moved[1], moved[2]};
  for (size_t i = 0; i < 3; ++i) all[4 + i] = all[4 + i] + v[i] + a * once[i] + b * twice[i];
  return detail::rotations::joined(all, loc);
}
/// The step [..., 6] with which `se3_plus` goes from x to y.
///     se3_minus(D{1, 0, 0, 0, 1, 2, 4}, D{1, 0, 0, 0, 1, 2, 3})  // [0. 0. 0. 0. 0. 1.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> se3_minus(const A& y, const B& x, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  const auto a = detail::rotations::components<7>("se3_minus", detail::rotations::as_type<Out>(y, loc), loc);
  const auto b = detail::rotations::components<7>("se3_minus", detail::rotations::as_type<Out>(x, loc), loc);
  const auto between =
      detail::rotations::product4(std::array<Out, 4>{a[0], a[1], a[2], a[3]},
                                  detail::rotations::conjugate4(std::array<Out, 4>{b[0], b[1], b[2], b[3]}));
  const auto w = detail::rotations::vector_of4(between, loc);
  const auto rotated = detail::rotations::rotated_by4(between, std::array<Out, 3>{b[4], b[5], b[6]});
  const std::array<Out, 3> shift = {a[4] - rotated[0], a[5] - rotated[1], a[6] - rotated[2]};
  const Out k = detail::rotations::cotangent_of_square(detail::rotations::dot3(w, w), loc);
  const auto once = detail::rotations::cross3(w, shift), twice = detail::rotations::cross3(w, once);
  std::array<Out, 6> all = {w[0], w[1], w[2], shift[0], shift[1], shift[2]};
  for (size_t i = 0; i < 3; ++i) all[3 + i] = all[3 + i] - 0.5 * once[i] + k * twice[i];
  return detail::rotations::joined(all, loc);
}
/// The Jacobians [..., 7, 6] of `se3_plus` at poses x [..., 7].
///     se3_plus_jacobian(D{1, 0, 0, 0, 1, 2, 3}).at(range(4, 7))  // [[ 0.  3. -2.  1.  0.  0.]
///                                                                //  [-3.  0.  1.  0.  1.  0.]
///                                                                //  [ 2. -1.  0.  0.  0.  1.]]
template <ArrayLike A>
[[nodiscard]] A se3_plus_jacobian(const A& x, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  const auto p = r::components<7>("se3_plus_jacobian", x, loc);
  const auto by_step = r::step_matrix4(std::array<A, 4>{p[0], p[1], p[2], p[3]});
  const A none = zeros_like(p[0], loc), one = none + 1;
  const auto half = [&](size_t i) {
    return std::array<A, 6>{0.5 * by_step[i][0], 0.5 * by_step[i][1], 0.5 * by_step[i][2], none, none, none};
  };
  return r::matrix_of(std::array<std::array<A, 6>, 7>{half(0), half(1), half(2), half(3),
                                                      std::array<A, 6>{none, p[6], -p[5], one, none, none},
                                                      std::array<A, 6>{-p[6], none, p[4], none, one, none},
                                                      std::array<A, 6>{p[5], -p[4], none, none, none, one}},
                      loc);
}
/// The Jacobians [..., 6, 7] of `se3_minus` at poses x [..., 7].
///     se3_minus_jacobian(D{1, 0, 0, 0, 1, 2, 3}).at(range(0, 3), range(1, 4))  // [[ 2. -0.  0.]
///                                                                              //  [ 0.  2. -0.]
///                                                                              //  [-0.  0.  2.]]
template <ArrayLike A>
[[nodiscard]] A se3_minus_jacobian(const A& x, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  const auto p = r::components<7>("se3_minus_jacobian", x, loc);
  const auto by_step = r::transposed(r::step_matrix4(std::array<A, 4>{p[0], p[1], p[2], p[3]}));
  const A none = zeros_like(p[0], loc), one = none + 1;
  std::array<std::array<A, 4>, 3> moved = by_step;  // the cross product of the translation and twice a column
  for (size_t c = 0; c < 4; ++c) {
    const auto column =
        r::cross3(std::array<A, 3>{p[4], p[5], p[6]}, std::array<A, 3>{by_step[0][c], by_step[1][c], by_step[2][c]});
    for (size_t i = 0; i < 3; ++i) moved[i][c] = column[i];
  }
  const auto row = [&](const std::array<A, 4>& q, const A& a, const A& b, const A& c) {
    return std::array<A, 7>{2 * q[0], 2 * q[1], 2 * q[2], 2 * q[3], a, b, c};
  };
  return r::matrix_of(
      std::array<std::array<A, 7>, 6>{row(by_step[0], none, none, none), row(by_step[1], none, none, none),
                                      row(by_step[2], none, none, none), row(moved[0], one, none, none),
                                      row(moved[1], none, one, none), row(moved[2], none, none, one)},
      loc);
}

/// The unit vector x [..., 3] moved by a step [..., 2] along the sphere: H (sin |step| / |step| step, cos |step|) |x|,
/// where H is the reflection that maps the last axis to x, as of Ceres' SphereManifold from version 2.2 on (before, a
/// step moved by half of its length). Derivatives by x are those of H, which jumps where x is the last axis.
///     unit_vector_plus(D{0, 0, 1}, D{M_PI / 2, 0})  // [1.000000e+00 0.000000e+00 6.123234e-17]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> unit_vector_plus(const A& x, const B& step, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  namespace r = detail::rotations;
  const auto p = r::components<3>("unit_vector_plus", r::as_type<Out>(x, loc), loc);
  const auto [a, b] = r::components<2>("unit_vector_plus", r::as_type<Out>(step, loc), loc);
  const Out t = a * a + b * b, k = r::sinc_of_square(t, loc);
  return r::joined(r::reflected(p, std::array<Out, 3>{k * a, k * b, r::cos_of_square(t, loc)}, loc), loc);
}
/// The step [..., 2] with which `unit_vector_plus` goes from x to y, unit vectors [..., 3].
///     unit_vector_minus(D{1, 0, 0}, D{0, 0, 1})  // [1.57079633 0.        ]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> unit_vector_minus(const A& y, const B& x, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<A, B>, A, B>;
  namespace r = detail::rotations;
  const auto to = r::components<3>("unit_vector_minus", r::as_type<Out>(y, loc), loc);
  const auto from = r::components<3>("unit_vector_minus", r::as_type<Out>(x, loc), loc);
  const auto [a, b, c] = r::reflected(from, to, loc);
  const Out k = r::angle_over_sine<true>(a * a + b * b, c, loc);
  return r::joined(std::array<Out, 2>{k * a, k * b}, loc);
}
/// The Jacobians [..., 3, 2] of `unit_vector_plus` at unit vectors x [..., 3].
///     unit_vector_plus_jacobian(D{0, 0, 1})  // [[1. 0.]
///                                            //  [0. 1.]
///                                            //  [0. 0.]]
template <ArrayLike A>
[[nodiscard]] A unit_vector_plus_jacobian(const A& x, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  return r::matrix_of(r::transposed(r::tangents3(r::components<3>("unit_vector_plus_jacobian", x, loc), loc)), loc);
}
/// The Jacobians [..., 2, 3] of `unit_vector_minus` at unit vectors x [..., 3].
///     unit_vector_minus_jacobian(D{0, 0, 1})  // [[1. 0. 0.]
///                                             //  [0. 1. 0.]]
template <ArrayLike A>
[[nodiscard]] A unit_vector_minus_jacobian(const A& x, Loc loc = Loc::current()) {
  namespace r = detail::rotations;
  return r::matrix_of(r::tangents3(r::components<3>("unit_vector_minus_jacobian", x, loc), loc), loc);
}

}  // namespace calque
