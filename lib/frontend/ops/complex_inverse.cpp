// Inverse trigonometric and hyperbolic functions of complex numbers, after Kahan, "Branch cuts for complex elementary
// functions, or much ado about nothing's sign bit" (1987). On a branch cut the sign of the zero part chooses the side.
// Infinite and NaN parts give what C's Annex G says.
#include <numbers>

#include "frontend/ops/complex.h"

namespace calque::detail::ops {
namespace {

struct ReIm {
  Expression re, im;
  Expression joined() const { return re.with_im(im); }
};

ReIm re_im(Expression z) { return {z.re(), z.im()}; }

Expression infinity(Expression x) { return x.number(std::numeric_limits<double>::infinity()); }

/// The magnitudes of z between which squares neither overflow nor vanish.
double large(Expression x) { return dtype(x) == DType::f32 ? 0x1p+50 : 0x1p+500; }

/// log(2 |z|), for large z.
Expression log_twice(const ReIm& z) {
  constexpr double kScale = 0.0625;
  const Expression size = (z.re * kScale).of<prim::Hypot>(z.im * kScale);
  return size.of<prim::Log>() + (std::numbers::ln2 - std::log(kScale));
}

/// The square roots of 1 - z and 1 + z.
struct Roots {
  ReIm below, above;
};

Roots roots(const ReIm& z, const Site& s) {
  const auto root = [&](Expression re, Expression im) {
    return re_im(Expression(sqrt(re.with_im(im).handle(), s.at), s));
  };
  return {root(1 - z.re, -z.im), root(1 + z.re, z.im)};
}

// In the products below the imaginary parts of the roots have opposite signs, so nothing cancels.

ReIm asin_parts(const ReIm& z, const Site& s) {
  const auto [below, above] = roots(z, s);
  const Expression is_large = z.re.of<prim::Hypot>(z.im) > large(z.re);
  const Expression across = is_large.choose(z.im.of<prim::Abs>(), below.re * above.re - below.im * above.im);
  const Expression re = z.re.of<prim::Atan2>(across);
  const Expression im = is_large.choose(log_twice(z).of<prim::Copysign>(z.im),
                                        (below.re * above.im - below.im * above.re).of<prim::Asinh>());
  return {(z.re == 0.0).choose(z.re, re), im};
}

ReIm acos_parts(const ReIm& z, const Site& s) {
  const auto [below, above] = roots(z, s);
  const Expression is_large = z.re.of<prim::Hypot>(z.im) > large(z.re);
  const Expression angle =
      is_large.choose(z.im.of<prim::Abs>(), below.re).of<prim::Atan2>(is_large.choose(z.re, above.re));
  const Expression re = is_large.choose(angle, angle * 2.0);
  const Expression im = is_large.choose(-log_twice(z).of<prim::Copysign>(z.im),
                                        (above.re * below.im - above.im * below.re).of<prim::Asinh>());
  return {(z.re == 0.0).choose(re.number(std::numbers::pi / 2), re), im};
}

ReIm atanh_parts(const ReIm& z) {
  const Expression x = z.re.of<prim::Abs>(), y = z.im, size = y.of<prim::Abs>();
  // Where z is large, atanh z is 1 / z up to the imaginary part of pi / 2.
  const Expression most = (x < size).choose(size, x), least = (x < size).choose(x, size);
  const Expression is_large = x.of<prim::Hypot>(y) > large(x);
  const Expression ratio = is_large.choose(least / most, x.number(0));
  const Expression reciprocal = x / most / most / (1 + ratio * ratio);
  const Expression endless = (x == infinity(x)) | (size == infinity(x));
  // The distance from 1; where its square vanishes, the logarithm is taken of the distance.
  const Expression distance = (1 - x).of<prim::Hypot>(y), is_near = distance < 1 / large(x);
  const Expression inside = is_near.choose(distance.number(1), distance);
  const Expression near = (std::numbers::ln2 - distance.of<prim::Log>()) * 0.5;
  const Expression far = (4 * x / (inside * inside)).of<prim::Log1p>() * 0.25;
  const Expression re = endless.choose(x.number(0), is_large.choose(reciprocal, is_near.choose(near, far)));
  const Expression angle = (2 * y).of<prim::Atan2>((1 - x) * (1 + x) - y * y) * 0.5;
  const Expression quarter = y.number(std::numbers::pi / 2).of<prim::Copysign>(y);
  // An infinite real part does not make the angle of a NaN known.
  return {(z.re == 0.0).choose(z.re, re.of<prim::Copysign>(z.re)), (is_large & (y == y)).choose(quarter, angle)};
}

/// i z, and -i z.
ReIm times_i(const ReIm& z) { return {-z.im, z.re}; }
ReIm over_i(const ReIm& z) { return {z.im, -z.re}; }

ReIm acosh_parts(const ReIm& z, const Site& s) {
  const ReIm w = acos_parts(z, s);
  return {w.im.of<prim::Abs>(), w.re.of<prim::Copysign>(z.im)};
}

Expression root(Expression z, const Site& s) { return {sqrt(z.handle(), s.at), s}; }

}  // namespace

std::optional<Handle> complex_inverse(Expression z, const Site& s) {
  const auto make = [&](auto of_parts, const ComplexFunction& derivative) -> Handle {
    return holomorphic(z, s, [&](Expression at) { return of_parts(re_im(at)).joined(); }, derivative);
  };
  const auto rotated = [](Expression at) { return times_i(re_im(at)).joined(); };
  // 1 / sqrt(1 - z^2), by factors.
  const auto of_root = [&s](Expression at) { return 1 / (root(1 - at, s) * root(1 + at, s)); };
  if (s.name == "asin") return make([&](const ReIm& w) { return asin_parts(w, s); }, of_root);
  if (s.name == "acos")
    return make([&](const ReIm& w) { return acos_parts(w, s); }, [&](Expression at) { return -of_root(at); });
  if (s.name == "asinh")
    return make([&](const ReIm& w) { return over_i(asin_parts(times_i(w), s)); },
                [&](Expression at) { return of_root(rotated(at)); });
  if (s.name == "acosh")
    return make([&](const ReIm& w) { return acosh_parts(w, s); },
                [&](Expression at) { return 1 / (root(at - 1, s) * root(at + 1, s)); });
  if (s.name == "atanh")
    return make([](const ReIm& w) { return atanh_parts(w); }, [](Expression at) { return 1 / ((1 - at) * (1 + at)); });
  if (s.name == "atan")
    return make([](const ReIm& w) { return over_i(atanh_parts(times_i(w))); },
                [&](Expression at) { return 1 / ((1 - rotated(at)) * (1 + rotated(at))); });
  return std::nullopt;
}

}  // namespace calque::detail::ops
