// Arrays that are made of numbers: windows, spaced numbers, triangles, indices.
#include <cmath>
#include <numbers>

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

/// The index of each of n elements in f64, and `of` it converted.
template <class F>
Handle of_indices(DType d, int64_t n, const F& formula, const Site& s) {
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
  if (is_bool(d)) s.dtype_error("needs an element type of numbers, got bool");
  const Expression i(counted(DType::f64, Shape{n}, 0, s), s);
  return convert(formula(i), d, s);
}

/// A window of n points, 1 for one point.
template <class F>
Handle window_of(DType d, int64_t n, const F& formula, const Site& s) {
  if (n == 1) return splat(1, {d, Shape{1}}, s);
  return of_indices(d, n, formula, s);
}

/// cos(factor pi i / (n - 1)).
Expression cosine(Expression i, double factor, int64_t n) {
  return (i * (factor * std::numbers::pi / static_cast<double>(n - 1))).of<prim::Cos>();
}

}  // namespace

Handle tri(DType d, int64_t n, int64_t m, int64_t k, Location at) {
  const Site s{"tri", at};
  if (n < 0 || m < 0) s.shape_error("extents must not be negative, got " + std::to_string(std::min(n, m)));
  checked_product(Ints{n, m}, s);
  return convert(tril(splat(1, {DType::i32, Shape{n, m}}, s), k, at), d, s);
}

Handle eye_of(DType d, int64_t n, int64_t m, int64_t k, Location at) {
  const Site s{"eye", at};
  if (n < 0 || m < 0) s.shape_error("extents must not be negative, got " + std::to_string(std::min(n, m)));
  checked_product(Ints{n, m}, s);
  const Shape of{n, m};
  const DType id = n > INT32_MAX - m ? DType::i64 : DType::i32;
  const Expression row(counted(id, of, 0, s), s), column(counted(id, of, 1, s), s);
  return convert(row + static_cast<double>(std::clamp(k, -n, m)) == column, d, s);
}

Handle bartlett(DType d, int64_t n, Location at) {
  const auto formula = [n](Expression i) {
    const double half = static_cast<double>(n - 1) / 2;
    return 1.0 - (i - half).of<prim::Abs>() / half;
  };
  return window_of(d, n, formula, {"bartlett", at});
}

Handle blackman(DType d, int64_t n, Location at) {
  const auto formula = [n](Expression i) { return 0.42 - 0.5 * cosine(i, 2, n) + 0.08 * cosine(i, 4, n); };
  return window_of(d, n, formula, {"blackman", at});
}

Handle hamming(DType d, int64_t n, Location at) {
  return window_of(d, n, [n](Expression i) { return 0.54 - 0.46 * cosine(i, 2, n); }, {"hamming", at});
}

Handle hanning(DType d, int64_t n, Location at) {
  return window_of(d, n, [n](Expression i) { return 0.5 - 0.5 * cosine(i, 2, n); }, {"hanning", at});
}

Handle kaiser(DType d, int64_t n, double beta, Location at) {
  const auto formula = [n, beta](Expression i) {
    const double half = static_cast<double>(n - 1) / 2;
    const Expression t = (i - half) / half, under = 1.0 - t * t;
    const Expression root = (under < 0.0).choose(under.number(0), under).of<prim::Sqrt>();
    const Expression above = root * beta;
    return above.of<prim::I0>() / above.number(beta).of<prim::I0>();
  };
  return window_of(d, n, formula, {"kaiser", at});
}

Handle logspace(DType d, double low, double high, int64_t n, double base, Location at) {
  const Site s{"logspace", at};
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
  const Expression exponents(linspace(DType::f64, low, high, n, at), s);
  return convert(exponents.number(base).of<prim::Pow>(exponents), d, s);
}

Handle logspace_without_end(DType d, double low, double high, int64_t n, double base, Location at) {
  const Site s{"logspace", at};
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
  return slice_axis(logspace(d, low, high, n + 1, base, at), 0, 0, n, 1, s);
}

Handle geomspace_without_end(DType d, double low, double high, int64_t n, Location at) {
  const Site s{"geomspace", at};
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
  return slice_axis(geomspace(d, low, high, n + 1, at), 0, 0, n, 1, s);
}

Handle geomspace(DType d, double low, double high, int64_t n, Location at) {
  const Site s{"geomspace", at};
  if (low == 0 || high == 0 || (low < 0) != (high < 0)) {
    s.shape_error("needs ends of one sign that are not 0, got " + std::to_string(low) + " and " + std::to_string(high));
  }
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
  const double sign = low < 0 ? -1 : 1;
  const Expression logs(linspace(DType::f64, std::log(std::abs(low)), std::log(std::abs(high)), n, at), s);
  const Expression inner = logs.of<prim::Exp>() * sign;
  // The ends are exact.
  const Expression i(counted(DType::f64, Shape{n}, 0, s), s);
  const Expression first = i == 0.0, last = i == static_cast<double>(n - 1);
  return convert(first.choose(inner.number(low), last.choose(inner.number(high), inner)), d, s);
}

namespace {

/// Numbers along a new axis between ends of one shape.
struct Spaced {
  Expression low, high, part;  ///< of the shape of the result; part goes from 0 to 1
  Expression is_first, is_last;
  DType result;
};
Spaced spaced(const Operand& low, const Operand& high, int64_t n, bool endpoint, int axis, const Site& s) {
  const auto [a, b, result] = widened_pair(low, high, s);
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
  const Type t = type(a);
  const int rank = t.shape.rank() + 1;
  if (axis < -rank || axis >= rank) {
    s.shape_error("axis " + std::to_string(axis) + " is out of range for a result of rank " + std::to_string(rank));
  }
  const int at = axis < 0 ? axis + rank : axis;
  const Shape to = t.shape.with_inserted(static_cast<size_t>(at), n);
  checked_product(Ints(to.begin(), to.end()), s);
  Ints others;
  for (int d = 0; d < rank; ++d) {
    if (d != at) others.push_back(d);
  }
  const Expression i(counted(real_of(t.dtype), to, at, s), s);
  const auto last = static_cast<double>(endpoint ? std::max<int64_t>(n - 1, 1) : std::max<int64_t>(n, 1));
  return {{broadcast_in(a, to, others, s), s},
          {broadcast_in(b, to, others, s), s},
          (i / last).as(t.dtype),
          i == 0.0,
          i == last,
          result};
}

/// The ends are exact.
Expression line_between(const Spaced& x, Expression low, Expression high) {
  const Expression line = low + (high - low) * x.part;
  return x.is_first.choose(low, x.is_last.choose(high, line));
}

}  // namespace

Handle linspace_between(const Operand& low, const Operand& high, int64_t n, bool endpoint, int axis, Location at) {
  const Site s{"linspace", at};
  const Spaced x = spaced(low, high, n, endpoint, axis, s);
  return convert(line_between(x, x.low, x.high), x.result, s);
}

Handle logspace_between(const Operand& low, const Operand& high, int64_t n, bool endpoint, double base, int axis,
                        Location at) {
  const Site s{"logspace", at};
  const Spaced x = spaced(low, high, n, endpoint, axis, s);
  const Expression exponents = line_between(x, x.low, x.high);
  return convert(exponents.number(base).of<prim::Pow>(exponents), x.result, s);
}

Handle geomspace_between(const Operand& low, const Operand& high, int64_t n, bool endpoint, int axis, Location at) {
  const Site s{"geomspace", at};
  const Spaced x = spaced(low, high, n, endpoint, axis, s);
  if (is_complex(x.result)) reject(type(x.low), "real numbers", s);
  // Of one sign: low (high / low)^part, by logarithms of moduli.
  const Expression logs =
      line_between(x, x.low.of<prim::Abs>().of<prim::Log>(), x.high.of<prim::Abs>().of<prim::Log>());
  const Expression inner = x.low.of<prim::Sign>() * logs.of<prim::Exp>();
  const Expression exact = x.is_first.choose(x.low, x.is_last.choose(x.high, inner));
  return convert((x.low * x.high > 0.0).choose(exact, exact.number(__builtin_nan(""))), x.result, s);
}

std::vector<Handle> indices(const Shape& of, bool sparse, Location at) {
  const Site s{"indices", at};
  if (!sparse) checked_product(Ints(of.begin(), of.end()), s);
  std::vector<Handle> out;
  for (int a = 0; a < of.rank(); ++a) {
    Ints dims(of.size(), 1);
    dims[static_cast<size_t>(a)] = of[static_cast<size_t>(a)];
    out.push_back(counted(DType::i32, sparse ? Shape(dims) : of, a, s));
  }
  return out;
}

std::vector<Handle> triangle_indices(char which, int64_t n, int64_t k, int64_t m, Location at) {
  const Site s{which == 'l' ? "tril_indices" : "triu_indices", at};
  if (n < 0 || m < 0) s.shape_error("extents must not be negative, got " + std::to_string(std::min(n, m)));
  if (n > INT32_MAX || m > INT32_MAX) s.shape_error("the result is too large");
  Ints rows, columns;
  const int64_t offset = std::clamp(k, -n, m);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = which == 'l' ? 0 : std::clamp<int64_t>(i + offset, 0, m);
    const int64_t to = which == 'l' ? std::clamp<int64_t>(i + offset + 1, 0, m) : m;
    for (int64_t j = from; j < to; ++j) {
      rows.push_back(i);
      columns.push_back(j);
    }
  }
  const Shape of{std::ssize(rows)};
  return {constant_indices(rows, of, s), constant_indices(columns, of, s)};
}

std::vector<Handle> diag_indices(int64_t n, int64_t rank, Location at) {
  const Site s{"diag_indices", at};
  if (n < 0 || rank < 0) s.shape_error("extents must not be negative, got " + std::to_string(std::min(n, rank)));
  return std::vector<Handle>(static_cast<size_t>(rank), counted(DType::i32, Shape{n}, 0, s));
}

Handle full_like(const Operand& x, const Operand& number, Location at) {
  const Site s{"full_like", at};
  const Type t = type(value(x, s));
  return full(t.dtype, t.shape, number, at);
}

Handle diagflat(const Operand& x, int64_t k, Location at) {
  const Site s{"diagflat", at};
  return diag(flattened_to_vector(value(x, s), s), k, at);
}

}  // namespace calque::detail::ops
