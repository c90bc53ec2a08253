// Polynomials by their coefficients, the highest power first, and convolutions of vectors.
#include "calque/detail/control/control.h"

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

/// Coefficients as a vector; a scalar is a constant polynomial.
Handle coefficients_of(Handle p, std::string_view what, const Site& s) {
  if (shape(p).rank() == 0) p = reshape(p, Shape{1}, s);
  return vector_operand(p, what, s);
}

struct Polynomials {
  Handle p, q;
};
/// Both of the promoted dtype, bools as i32.
Polynomials polynomials(const Operand& p, const Operand& q, const Site& s) {
  const DType d = sum_result(promoted_dtype(p, q, s));
  return {coefficients_of(value(p, d, s), "coefficients", s), coefficients_of(value(q, d, s), "coefficients", s)};
}

/// Both with as many coefficients as the longer one.
Polynomials aligned(Polynomials x, const Site& s) {
  const int64_t n = std::max(extent_of(x.p, 0), extent_of(x.q, 0));
  return {padded_along(x.p, 0, n - extent_of(x.p, 0), 0, 0, s), padded_along(x.q, 0, n - extent_of(x.q, 0), 0, 0, s)};
}

/// out[k] = sum over j of x[k + j] y[j], for the k where all of y is inside x.
Handle sliding_products(Handle x, Handle y, const Site& s) {
  const int64_t n = extent_of(x, 0), m = extent_of(y, 0), positions = n - m + 1;
  constexpr int64_t kMostSlices = 24;
  if (m <= kMostSlices) {
    std::optional<Handle> sum;
    for (int64_t j = 0; j < m; ++j) {
      const Handle weight = broadcast(slice_axis(y, 0, j, j + 1, 1, s), Shape{positions}, s);
      const Handle product = emit<prim::Mul>(s, {slice_axis(x, 0, j, j + positions, 1, s), weight});
      sum = sum ? emit<prim::Add>(s, {*sum, product}) : product;
    }
    return *sum;
  }
  // m copies of x one after another, cut into rows of one element more: row j begins with element j.
  checked_product(Ints{m, n + 1}, s);
  const Handle copies = reshape(broadcast_in(x, Shape{m, n}, {1}, s), Shape{m * n}, s);
  const Handle rows = reshape(padded_along(copies, 0, 0, m, 0, s), Shape{m, n + 1}, s);
  const Handle windows_of = slice_axis(rows, 1, 0, positions, 1, s);
  return emit<prim::DotGeneral>(
      s, {y, windows_of},
      {{"lhs_batch", Ints{}}, {"lhs_contract", Ints{0}}, {"rhs_batch", Ints{}}, {"rhs_contract", Ints{0}}});
}

/// Correlation of x with the shorter or equally long y.
Handle sliding(Handle x, Handle y, convolve_mode keep, const Site& s) {
  const int64_t m = extent_of(y, 0);
  int64_t low = 0, high = 0;
  if (keep == convolve_mode::full) low = high = m - 1;
  if (keep == convolve_mode::same) {
    low = m / 2;
    high = m - 1 - low;
  }
  return sliding_products(padded_along(padded_along(x, 0, low, 0, 0, s), 0, 0, high, 0, s), y, s);
}

struct Signals {
  Handle x, y;
  DType result;
};
Signals signals(const Operand& x, const Operand& y, const Site& s) {
  const DType result = sum_result(promoted_dtype(x, y, s));
  const Signals r{coefficients_of(value(x, wide(result), s), "x", s),
                  coefficients_of(value(y, wide(result), s), "y", s), result};
  if (extent_of(r.x, 0) == 0 || extent_of(r.y, 0) == 0) {
    s.shape_error("needs vectors with elements, got " + to_string(type(r.x)) + " and " + to_string(type(r.y)));
  }
  return r;
}

Handle convolution(Handle x, Handle y, convolve_mode keep, const Site& s) {
  if (extent_of(y, 0) > extent_of(x, 0)) std::swap(x, y);
  return sliding(x, reversed(y, {0}, s), keep, s);
}

}  // namespace

Handle polyval(const Operand& p, const Operand& x, Location at) {
  const Site s{"polyval", at};
  const DType result = sum_result(promoted_dtype(p, x, s)), d = wide(result);
  const Handle c = coefficients_of(value(p, d, s), "coefficients", s), v = value(x, d, s);
  const Shape of = shape(v);
  const int64_t n = extent_of(c, 0);
  if (n == 0) return splat(0, {result, of}, s);
  // Horner's rule; many coefficients are a loop, so that code does not grow with them.
  constexpr int64_t kUnrolled = 64;
  const auto coefficient = [&](int64_t i) {
    return Expression(broadcast(reshape(slice_axis(c, 0, i, i + 1, 1, s), Shape(), s), of, s), s);
  };
  Expression y = coefficient(0);
  const Expression at_x(v, s);
  if (n > kUnrolled) {
    const TraceBody step = [&](std::span<const Handle> in, std::vector<Handle>& out) {
      out.push_back(Expression(in[0], s) * at_x + Expression(broadcast(in[1], of, s), s));
    };
    const Handle carry[] = {y}, rest[] = {slice_axis(c, 0, 1, n, 1, s)};
    return convert(scan(step, carry, rest, {}, {at, {}})[0], result, s);
  }
  for (int64_t i = 1; i < n; ++i) y = y * at_x + coefficient(i);
  return convert(y, result, s);
}

Handle polyadd(const Operand& p, const Operand& q, Location at) {
  const Site s{"polyadd", at};
  const Polynomials x = aligned(polynomials(p, q, s), s);
  return emit<prim::Add>(s, {x.p, x.q});
}

Handle polysub(const Operand& p, const Operand& q, Location at) {
  const Site s{"polysub", at};
  const Polynomials x = aligned(polynomials(p, q, s), s);
  return emit<prim::Sub>(s, {x.p, x.q});
}

Handle polymul(const Operand& p, const Operand& q, Location at) {
  const Site s{"polymul", at};
  const Signals x = signals(p, q, s);
  return convert(convolution(x.x, x.y, convolve_mode::full, s), x.result, s);
}

Handle polyder(const Operand& p, int64_t m, Location at) {
  const Site s{"polyder", at};
  const DType d = sum_result(operand_dtype(p, s));
  const Handle c = coefficients_of(value(p, d, s), "coefficients", s);
  if (m < 0) s.shape_error("the order must not be negative, got " + std::to_string(m));
  if (m == 0) return c;
  const int64_t n = extent_of(c, 0), left = std::max<int64_t>(n - m, 0);
  if (left == 0) return splat(0, {d, Shape{0}}, s);
  // The coefficient of x^k times k (k - 1) ... (k - m + 1).
  Expression y = Expression(slice_axis(c, 0, 0, left, 1, s), s).as(wide(d));
  const Handle i = counted(dtype(y), Shape{left}, 0, s);
  const Expression power = Expression(splat(static_cast<double>(n - 1), type(i), s), s) - Expression(i, s);
  for (int64_t k = 0; k < m; ++k) y = y * (power - static_cast<double>(k));
  return y.as(d);
}

Handle polyint(const Operand& p, int64_t m, Location at) {
  const Site s{"polyint", at};
  const DType d = to_inexact(operand_dtype(p, s));
  const Handle c = coefficients_of(value(p, d, s), "coefficients", s);
  if (m < 0) s.shape_error("the order must not be negative, got " + std::to_string(m));
  if (m == 0) return c;
  const int64_t n = extent_of(c, 0);
  Expression y = Expression(c, s).as(wide(d));
  if (n > 0) {
    const Handle i = counted(dtype(y), Shape{n}, 0, s);
    const Expression power = Expression(splat(static_cast<double>(n), type(i), s), s) - Expression(i, s);
    for (int64_t k = 0; k < m; ++k) y = y / (power + static_cast<double>(k));
  }
  return convert(padded_along(y, 0, 0, m, 0, s), d, s);
}

Handle polyint_from(const Operand& p, int64_t m, const Operand& constants, Location at) {
  const Site s{"polyint", at};
  const DType d = to_inexact(promoted_dtype(p, constants, s));
  const Handle integral = polyint(value(p, d, s), m, at);
  Handle k = coefficients_of(value(constants, d, s), "constants", s);
  if (extent_of(k, 0) == 1) k = broadcast(k, Shape{m}, s);
  if (extent_of(k, 0) != m) {
    s.shape_error("needs " + std::to_string(m) + " constants of integration, or one for all, got " +
                  to_string(type(k)));
  }
  if (m == 0) return integral;
  // The constant that was added first has been integrated m - 1 times since.
  std::vector<double> factors(static_cast<size_t>(m), 1);
  for (size_t i = factors.size() - 1; i-- > 0;) {
    factors[i] = factors[i + 1] / static_cast<double>(factors.size() - 1 - i);
  }
  const Handle scale = constant(AnyArray::from<double>(std::span(factors), Shape{m}), s.at);
  const Expression scaled = Expression(k, s).as(wide(d)) * Expression(convert(scale, wide(d), s), s);
  const int64_t n = extent_of(integral, 0);
  const Handle parts[] = {slice_axis(integral, 0, 0, n - m, 1, s), scaled.as(d)};
  return concatenated(parts, 0, s);
}

std::vector<Handle> polydiv(const Operand& p, const Operand& q, Location at) {
  const Site s{"polydiv", at};
  const DType result = to_inexact(promoted_dtype(p, q, s)), d = wide(result);
  const Handle dividend = coefficients_of(value(p, d, s), "coefficients", s),
               divisor = coefficients_of(value(q, d, s), "coefficients", s);
  const int64_t n = extent_of(dividend, 0), m = extent_of(divisor, 0);
  if (m == 0) s.shape_error("needs a divisor with coefficients, got " + to_string(type(divisor)));
  if (n < m) return {splat(0, {result, Shape{1}}, s), convert(dividend, result, s)};
  const auto coefficient = [&](Handle v, int64_t i) { return slice_axis(v, 0, i, i + 1, 1, s); };
  Handle rest = dividend;
  std::vector<Handle> quotient;
  for (int64_t k = 0; k + m <= n; ++k) {
    const Expression factor = Expression(coefficient(rest, 0), s) / Expression(coefficient(divisor, 0), s);
    quotient.push_back(factor);
    // Without its first coefficient, which becomes 0.
    const int64_t left = extent_of(rest, 0);
    const Expression tail(slice_axis(rest, 0, 1, left, 1, s), s);
    if (m == 1) {
      rest = tail;
      continue;
    }
    const Expression product =
        Expression(slice_axis(divisor, 0, 1, m, 1, s), s) * Expression(broadcast(factor, Shape{m - 1}, s), s);
    rest = tail - Expression(padded_along(product, 0, 0, left - m, 0, s), s);
  }
  if (m == 1) rest = splat(0, {d, Shape{1}}, s);
  return {convert(concatenated(quotient, 0, s), result, s), convert(rest, result, s)};
}

Handle poly(const Operand& roots, Location at) {
  const Site s{"poly", at};
  const auto [r, result] = widened(roots, s);
  const Handle v = vector_operand(r, "the roots", s);
  const int64_t n = extent_of(v, 0);
  Handle c = splat(1, {dtype(v), Shape{1}}, s);
  for (int64_t i = 0; i < n; ++i) {
    // Times x - root.
    const Expression root(broadcast(slice_axis(v, 0, i, i + 1, 1, s), shape(c), s), s);
    const Expression shifted(padded_along(c, 0, 0, 1, 0, s), s);
    c = shifted - Expression(padded_along(root * Expression(c, s), 0, 1, 0, 0, s), s);
  }
  return convert(c, result, s);
}

namespace {

/// A problem of least squares with columns of norm 1, which are better conditioned.
struct Fit {
  Handle matrix;  ///< [n, degree + 1]
  Handle values;  ///< [n] or [n, k]
  Handle scale;   ///< of the columns [degree + 1]
};
Fit fit_of(const Operand& x, const Operand& y, int64_t degree, const Operand* weights, const Site& s) {
  const DType d = to_inexact(promoted_dtype(x, y, s));
  if (d == DType::f16 || d == DType::bf16) reject(type(value(x, s)), "f32 or f64", s);
  const Handle points = vector_operand(value(x, d, s), "x", s);
  Handle values = value(y, d, s);
  if (degree < 0) s.shape_error("the degree must not be negative, got " + std::to_string(degree));
  if (shape(values).rank() == 0 || shape(values).rank() > 2 || shape(values)[0] != extent_of(points, 0) ||
      extent_of(points, 0) == 0) {
    s.shape_error("needs a value for each of the points, got " + to_string(type(points)) + " and " +
                  to_string(type(values)));
  }
  Handle matrix = vander(points, degree + 1, false, s.at);
  if (weights != nullptr) {
    const Handle w = value_fitting(*weights, d, s);
    if (shape(w) != shape(points)) {
      s.shape_error("needs a weight for each of the points, got " + to_string(type(points)) + " and " +
                    to_string(type(w)));
    }
    const auto times_weights = [&](Handle v) { return emit<prim::Mul>(s, {v, broadcast_in(w, shape(v), {0}, s)}); };
    matrix = times_weights(matrix);
    values = times_weights(values);
  }
  const Handle scale = convert(norm(matrix, Axes(0), true, s.at), d, s);
  return {emit<prim::Div>(s, {matrix, broadcast(scale, shape(matrix), s)}), values,
          reshape(scale, Shape{degree + 1}, s)};
}

/// The coefficients from the solution of a scaled problem.
Handle unscaled(Handle solution, const Fit& fit, const Site& s) {
  return emit<prim::Div>(s, {solution, broadcast_in(fit.scale, shape(solution), {0}, s)});
}

}  // namespace

Handle polyfit(const Operand& x, const Operand& y, int64_t degree, Location at) {
  return polyfit_weighted(x, y, degree, nullptr, at);
}

Handle polyfit_weighted(const Operand& x, const Operand& y, int64_t degree, const Operand* weights, Location at) {
  const Site s{"polyfit", at};
  const Fit fit = fit_of(x, y, degree, weights, s);
  return unscaled(linalg::least_squares(fit.matrix, fit.values, at), fit, s);
}

std::vector<Handle> polyfit_cov(const Operand& x, const Operand& y, int64_t degree, const Operand* weights,
                                bool is_unscaled, Location at) {
  const Site s{"polyfit_cov", at};
  const Fit fit = fit_of(x, y, degree, weights, s);
  const Type t = type(fit.matrix);
  if (is_complex(t.dtype)) reject(t, "real numbers", s);
  const int64_t n = t.shape[0], m = t.shape[1];
  if (!is_unscaled && n <= m) {
    s.shape_error("needs more points than coefficients, got " + std::to_string(n) + " and " + std::to_string(m));
  }
  const Handle solution = linalg::least_squares(fit.matrix, fit.values, at);
  const Handle gram = matmul(transpose(fit.matrix, {1, 0}, s), fit.matrix, at);
  Expression covariance(linalg::inv(gram, at), s);
  const Shape square = shape(covariance);
  covariance = covariance / Expression(broadcast_in(fit.scale, square, {0}, s), s) /
               Expression(broadcast_in(fit.scale, square, {1}, s), s);
  const bool columns = shape(fit.values).rank() == 2;
  const Shape to = columns ? square.with_inserted(2, extent_of(fit.values, 1)) : square;
  Handle result = broadcast_in(covariance, to, {0, 1}, s);
  if (!is_unscaled) {
    const Expression distance = Expression(fit.values, s) - Expression(matmul(fit.matrix, solution, at), s);
    const Expression squares(reduce_axes<prim::ReduceSum>(distance * distance, {0}, false, s), s);
    const Handle factor = squares / static_cast<double>(n - m);
    result = Expression(result, s) * Expression(broadcast_in(factor, to, columns ? Ints{2} : Ints{}, s), s);
  }
  return {unscaled(solution, fit, s), result};
}

Handle convolve(const Operand& x, const Operand& y, convolve_mode keep, Location at) {
  const Site s{"convolve", at};
  Signals v = signals(x, y, s);
  if (extent_of(v.y, 0) > extent_of(v.x, 0)) std::swap(v.x, v.y);
  // Of extent m, `same` begins behind the first (m - 1) / 2 elements of the full one.
  if (keep == convolve_mode::same) {
    const int64_t m = extent_of(v.y, 0), from = (m - 1) / 2;
    const Handle padded = padded_along(padded_along(v.x, 0, m - 1 - from, 0, 0, s), 0, 0, from, 0, s);
    return convert(sliding_products(padded, reversed(v.y, {0}, s), s), v.result, s);
  }
  return convert(convolution(v.x, v.y, keep, s), v.result, s);
}

Handle correlate(const Operand& x, const Operand& y, convolve_mode keep, Location at) {
  const Site s{"correlate", at};
  Signals v = signals(x, y, s);
  if (is_complex(dtype(v.y))) v.y = emit<prim::Conj>(s, {v.y});
  if (extent_of(v.x, 0) >= extent_of(v.y, 0)) return convert(sliding(v.x, v.y, keep, s), v.result, s);
  // The longer one slides: the result is reversed.
  return convert(reversed(sliding(v.y, v.x, keep, s), {0}, s), v.result, s);
}

}  // namespace calque::detail::ops
