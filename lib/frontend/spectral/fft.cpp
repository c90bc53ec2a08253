// Fourier transforms of any axes, made of those of the last dimension.
#include "calque/detail/fft.h"

#include <cmath>
#include <limits>
#include <string>

#include "frontend/vocabulary/common.h"
#include "trace/builder.h"

namespace calque::detail::ops::fft {
namespace {

using prim::FftKind;

bool is_real_kind(FftKind kind) { return kind == FftKind::rfft || kind == FftKind::irfft; }
bool is_inverse(FftKind kind) { return kind == FftKind::ifft || kind == FftKind::irfft; }

void check_tracing(const Site& s) {
  if (tracing()) return;
  throw LeakedTracerError(std::string(s.name) +
                          ": makes a tracer and needs a running trace: call it in a function that " + "jit wraps" +
                          where_text(s.at));
}

/// The operand in the dtype in which it is transformed: of rfft real, else complex.
Handle transformed_operand(const Operand& x, FftKind kind, const Site& s) {
  const DType d = wide(to_inexact(operand_dtype(x, s)));
  if (kind != FftKind::rfft) return value(x, promote_weak(d, DType::c64), s);
  if (is_complex(d)) reject(type(value(x, s)), "real numbers", s);
  return value(x, d, s);
}

/// The first n elements along the axis, zeros behind those that are there.
Handle resized(Handle x, int axis, int64_t n, const Site& s) {
  const Type t = type(x);
  const auto a = static_cast<size_t>(axis);
  if (t.shape[a] >= n) return t.shape[a] == n ? x : slice_axis(x, axis, 0, n, 1, s);
  const Handle parts[] = {x, splat(0, {t.dtype, t.shape.with(a, n - t.shape[a])}, s)};
  return concatenated(parts, axis, s);
}

/// One transform along an axis, of length n; x has as many elements as that needs.
Handle along(Handle x, FftKind kind, int axis, int64_t n, const Site& s) {
  const int last = shape(x).rank() - 1;
  Ints perm;
  for (int d = 0; d <= last; ++d) perm.push_back(d == axis ? last : d == last ? axis : d);
  const Handle rows = axis == last ? x : transpose(x, perm, s);
  const Handle y =
      emit<prim::Fft>(s, {rows}, {{"kind", std::string(prim::kFftNames[static_cast<size_t>(kind)])}, {"length", n}});
  return axis == last ? y : transpose(y, perm, s);
}

Handle scaled_parts(Handle x, double factor, const Site& s) {
  if (factor == 1) return x;
  const Expression z(x, s);
  if (!is_complex(dtype(x))) return z * factor;
  return (z.re() * factor).with_im(z.im() * factor);
}

/// Inverse transforms are divided by n as they are.
double factor_of(FftKind kind, norm by, double n) {
  if (by == norm::backward) return 1;
  if (by == norm::ortho) return is_inverse(kind) ? std::sqrt(n) : 1 / std::sqrt(n);
  return is_inverse(kind) ? n : 1 / n;
}

/// The transform of that kind along the last of the axes, and fft or ifft along the others. A size that is 0 is that of
/// the operand.
Handle transform(Handle x, FftKind kind, const std::vector<int>& axes, Ints sizes, norm by, const Site& s) {
  const Type t = type(x);
  if (axes.empty()) return kind == FftKind::irfft ? emit<prim::Real>(s, {x}) : x;
  double elements = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t extent = t.shape[static_cast<size_t>(axes[i])];
    const bool is_half = kind == FftKind::irfft && i + 1 == axes.size();
    if (sizes[i] == 0) sizes[i] = is_half ? 2 * (extent - 1) : extent;
    if (sizes[i] < 1) {
      s.shape_error("needs at least " + std::string(is_half ? "2 elements" : "1 element") + " along axis " +
                    std::to_string(axes[i]) + " if no size is given, got " + to_string(t));
    }
    if (sizes[i] > std::numeric_limits<int64_t>::max() / 4)
      s.shape_error("a size of " + std::to_string(sizes[i]) + " is too large");
    elements *= static_cast<double>(sizes[i]);
    x = resized(x, axes[i], is_half ? sizes[i] / 2 + 1 : sizes[i], s);
  }
  const FftKind other = is_inverse(kind) ? FftKind::ifft : FftKind::fft;
  const auto others = [&] {
    for (size_t i = axes.size() - 1; i-- > 0;) x = along(x, other, axes[i], sizes[i], s);
  };
  if (kind == FftKind::irfft) others();
  x = along(x, kind, axes.back(), sizes.back(), s);
  if (kind != FftKind::irfft) others();
  return scaled_parts(x, factor_of(kind, by, elements), s);
}

Handle along_one(const Operand& x, FftKind kind, std::optional<int64_t> n, int axis, norm by, const Site& s) {
  const Handle v = transformed_operand(x, kind, s);
  const int a = axis_in(axis, v, s);
  if (n && *n < 1) s.shape_error("n must be at least 1, got " + std::to_string(*n));
  return transform(v, kind, {a}, {n.value_or(0)}, by, s);
}

Handle along_several(const Operand& x, FftKind kind, std::span<const int64_t> sizes, const Axes& axes, norm by,
                     const Site& s) {
  const Handle v = transformed_operand(x, kind, s);
  const Type t = type(v);
  const int rank = t.shape.rank();
  std::vector<int> list;
  if (axes.every) {
    const int count = sizes.empty() ? rank : static_cast<int>(sizes.size());
    if (count > rank) s.shape_error("got " + std::to_string(count) + " sizes for the dimensions of " + to_string(t));
    for (int d = rank - count; d < rank; ++d) list.push_back(d);
  } else {
    normal_axes(axes, t, s);  // throws
    for (const int axis : axes.list) list.push_back(normal_axis(axis, rank, t, s));
  }
  if (!sizes.empty() && sizes.size() != list.size()) {
    s.shape_error("needs a size for each axis, got " + std::to_string(sizes.size()) + " sizes and " +
                  std::to_string(list.size()) + " axes");
  }
  for (const int64_t size : sizes)
    if (size < 1) s.shape_error("sizes must be at least 1, got " + std::to_string(size));
  if (is_real_kind(kind) && list.empty()) s.shape_error("needs an axis, got none of " + to_string(t));
  return transform(v, kind, list, sizes.empty() ? Ints(list.size(), 0) : Ints(sizes.begin(), sizes.end()), by, s);
}

Handle along_two(const Operand& x, FftKind kind, std::span<const int64_t> sizes, const Axes& axes, norm by,
                 const Site& s) {
  if (axes.every || axes.list.size() != 2) {
    s.shape_error("needs two axes, got " + (axes.every ? "all" : std::to_string(axes.list.size())));
  }
  return along_several(x, kind, sizes, axes, by, s);
}

norm opposite(norm by) {
  return by == norm::ortho ? norm::ortho : by == norm::forward ? norm::backward : norm::forward;
}

/// Rolled towards the end by half of each extent, or back.
Handle shifted(const Operand& x, const Axes& axes, bool back, const Site& s) {
  Handle v = value(x, s);
  const Type t = type(v);
  for (const int64_t axis : normal_axes(axes, t, s)) {
    const int64_t n = t.shape[static_cast<size_t>(axis)], first = back ? n / 2 : n - n / 2;
    if (first == 0 || first == n) continue;
    const auto a = static_cast<int>(axis);
    const Handle parts[] = {slice_axis(v, a, first, n, 1, s), slice_axis(v, a, 0, first, 1, s)};
    v = concatenated(parts, a, s);
  }
  return v;
}

/// The least product of 2, 3 and 5 that is not below n.
int64_t fast_length(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (int64_t fives = 1; fives < best; fives *= 5)
    for (int64_t length = fives; length < best; length *= 3) {
      int64_t even = length;
      while (even < n) even *= 2;
      best = std::min(best, even);
    }
  return best;
}

}  // namespace

#define CALQUE_X(f)                                                                                       \
  Handle f(const Operand& x, std::optional<int64_t> n, int axis, norm by, Location at) {                  \
    return along_one(x, FftKind::f, n, axis, by, {"fft::" #f, at});                                       \
  }                                                                                                       \
  Handle f##2(const Operand& x, std::span<const int64_t> sizes, const Axes& axes, norm by, Location at) { \
    return along_two(x, FftKind::f, sizes, axes, by, {"fft::" #f "2", at});                               \
  }                                                                                                       \
  Handle f##n(const Operand& x, std::span<const int64_t> sizes, const Axes& axes, norm by, Location at) { \
    return along_several(x, FftKind::f, sizes, axes, by, {"fft::" #f "n", at});                           \
  }
CALQUE_X(fft)
CALQUE_X(ifft)
CALQUE_X(rfft)
CALQUE_X(irfft)
#undef CALQUE_X

Handle hfft(const Operand& x, std::optional<int64_t> n, int axis, norm by, Location at) {
  const Site s{"fft::hfft", at};
  const Handle v = emit<prim::Conj>(s, {transformed_operand(x, FftKind::irfft, s)});
  return along_one(Operand(v), FftKind::irfft, n, axis, opposite(by), s);
}

Handle ihfft(const Operand& x, std::optional<int64_t> n, int axis, norm by, Location at) {
  const Site s{"fft::ihfft", at};
  return emit<prim::Conj>(s, {along_one(x, FftKind::rfft, n, axis, opposite(by), s)});
}

Handle fftfreq(DType dtype, int64_t n, double d, Location at) {
  const Site s{"fft::fftfreq", at};
  check_tracing(s);
  if (n < 1) s.shape_error("n must be at least 1, got " + std::to_string(n));
  const Expression i(counted(DType::f64, Shape{n}, 0, s), s);
  const Expression k = (i < static_cast<double>((n + 1) / 2)).choose(i, i - static_cast<double>(n));
  return convert(k / (static_cast<double>(n) * d), dtype, s);
}

Handle rfftfreq(DType dtype, int64_t n, double d, Location at) {
  const Site s{"fft::rfftfreq", at};
  check_tracing(s);
  if (n < 1) s.shape_error("n must be at least 1, got " + std::to_string(n));
  const Expression i(counted(DType::f64, Shape{n / 2 + 1}, 0, s), s);
  return convert(i / (static_cast<double>(n) * d), dtype, s);
}

Handle fftshift(const Operand& x, const Axes& axes, Location at) {
  return shifted(x, axes, false, {"fft::fftshift", at});
}
Handle ifftshift(const Operand& x, const Axes& axes, Location at) {
  return shifted(x, axes, true, {"fft::ifftshift", at});
}

Handle convolve(const Operand& x, const Operand& y, convolve_mode mode, Location at) {
  const Site s{"fft::convolve", at};
  const DType d = wide(to_inexact(promoted_dtype(x, y, s)));
  const Handle a = vector_operand(value(x, d, s), "x", s), b = vector_operand(value(y, d, s), "y", s);
  const int64_t n = extent_of(a, 0), m = extent_of(b, 0);
  if (n == 0 || m == 0)
    s.shape_error("needs vectors with elements, got " + to_string(type(a)) + " and " + to_string(type(b)));
  const int64_t full = n + m - 1, length = fast_length(full);
  const FftKind there = is_complex(d) ? FftKind::fft : FftKind::rfft,
                back = is_complex(d) ? FftKind::ifft : FftKind::irfft;
  const Handle product = emit<prim::Mul>(s, {transform(a, there, {0}, {length}, norm::backward, s),
                                             transform(b, there, {0}, {length}, norm::backward, s)});
  const Handle all = transform(product, back, {0}, {length}, norm::backward, s);
  const int64_t less = std::min(n, m), more = std::max(n, m);
  const int64_t first = mode == convolve_mode::full ? 0 : mode == convolve_mode::same ? (less - 1) / 2 : less - 1;
  const int64_t count = mode == convolve_mode::full ? full : mode == convolve_mode::same ? more : more - less + 1;
  return slice_axis(all, 0, first, first + count, 1, s);
}

}  // namespace calque::detail::ops::fft
