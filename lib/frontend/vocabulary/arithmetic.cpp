// Elementwise functions under NumPy's names that are made of others.
#include <cmath>
#include <numbers>

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

Handle times_number(const Operand& x, double number, const Site& s) {
  const auto [v, result] = widened_real(x, s);
  return convert(Expression(v, s) * number, result, s);
}

}  // namespace

Handle heaviside(const Operand& x, const Operand& at_zero, Location at) {
  const Site s{"heaviside", at};
  const DType d = to_inexact(promoted_dtype(x, at_zero, s));
  Handle xs[] = {value(x, d, s), value(at_zero, d, s)};
  if (is_complex(d)) reject(type(xs[0]), "real numbers", s);
  broadcast_together(xs, s);
  const Expression v(xs[0], s), zero = v.number(0);
  const Expression number = (v < 0.0).choose(zero, (v > 0.0).choose(v.number(1), Expression(xs[1], s)));
  return (v == v).choose(number, v);
}

Handle float_power(const Operand& x, const Operand& y, Location at) {
  const Site s{"float_power", at};
  const DType d = to_inexact(promoted_dtype(x, y, s));
  Handle xs[] = {value(x, d, s), value(y, d, s)};
  broadcast_together(xs, s);
  return pow(xs[0], xs[1], at);
}

Handle true_divide(const Operand& x, const Operand& y, Location at) {
  const Site s{"true_divide", at};
  const DType d = to_inexact(promoted_dtype(x, y, s));
  Handle xs[] = {value(x, d, s), value(y, d, s)};
  broadcast_together(xs, s);
  return emit<prim::Div>(s, {xs[0], xs[1]});
}

Handle deg2rad(const Operand& x, Location at) { return times_number(x, std::numbers::pi / 180, {"deg2rad", at}); }
Handle rad2deg(const Operand& x, Location at) { return times_number(x, 180 / std::numbers::pi, {"rad2deg", at}); }

Handle reciprocal(const Operand& x, Location at) {
  const Site s{"reciprocal", at};
  const Handle v = value(x, s);
  if (is_bool(dtype(v))) reject(type(v), "numbers", s);
  return emit<prim::Div>(s, {splat(1, type(v), s), v});
}

std::vector<Handle> modf(const Operand& x, Location at) {
  const Site s{"modf", at};
  const DType d = to_inexact(operand_dtype(x, s));
  const Handle v = value(x, d, s);
  if (is_complex(d)) reject(type(v), "real numbers", s);
  const Expression e(v, s), whole = e.of<prim::Trunc>();
  // The fraction of an infinity is a zero of its sign.
  const Expression infinite = e.of<prim::Abs>() == __builtin_inf();
  const Expression rest = infinite.choose(e.number(0), e - infinite.choose(e.number(0), whole));
  return {rest.of<prim::Copysign>(e), whole};
}

std::vector<Handle> divmod(const Operand& x, const Operand& y, Location at) {
  const Site s{"divmod", at};
  const DType d = promoted_dtype(x, y, s);
  Handle xs[] = {value(x, d, s), value(y, d, s)};
  if (is_bool(d) || is_complex(d)) reject(type(xs[0]), "real numbers", s);
  broadcast_together(xs, s);
  return {floor_divide(xs[0], xs[1], at), mod(xs[0], xs[1], at)};
}

std::vector<Handle> frexp(const Operand& x, Location at) {
  const Site s{"frexp", at};
  const DType d = to_inexact(operand_dtype(x, s));
  const Handle v = value(x, d, s);
  if (is_complex(d)) reject(type(v), "real numbers", s);
  // In f32 or f64: the exponent is a field of the bits, of subnormal numbers that of the number times a power of two.
  const DType own = wide(d);
  const bool single = own == DType::f32;
  const DType bits_type = single ? DType::i32 : DType::i64;
  const int mantissa_bits = single ? 23 : 52, bias = single ? 126 : 1022, lift_by = single ? 25 : 54;
  const double mask = single ? 255 : 2047;
  const Expression e = Expression(v, s).as(own);
  const Expression smallest = e.of<prim::Abs>() < std::ldexp(1.0, 1 - bias - 1);
  const Expression scaled = smallest.choose(e * std::ldexp(1.0, lift_by), e);
  const Expression bits = scaled.bits_as(bits_type);
  const Expression field = bits.of<prim::ShrLogical>(bits.number(mantissa_bits)).of<prim::And>(bits.number(mask));
  Expression exponent = (field - static_cast<double>(bias)).as(DType::i32);
  exponent = smallest.choose(exponent - static_cast<double>(lift_by), exponent);
  // Zeros, infinities and NaN are their own mantissas.
  const Expression odd = (e == 0.0) | !(e.of<prim::Abs>() < __builtin_inf());
  exponent = odd.choose(exponent.number(0), exponent);
  const Expression minus = -exponent;
  // In two steps: the power of two itself may overflow.
  const Expression half = minus.of<prim::ShrArithmetic>(minus.number(1)), rest = minus - half;
  const Handle once = ldexp(e.handle(), half.fixed().handle(), at);
  const Expression mantissa(ldexp(once, rest.fixed().handle(), at), s);
  return {odd.choose(e, mantissa).as(d), exponent};
}

Handle spacing(const Operand& x, Location at) {
  const Site s{"spacing", at};
  const DType d = to_inexact(operand_dtype(x, s));
  const Handle v = value(x, d, s);
  if (is_complex(d)) reject(type(v), "real numbers", s);
  const Expression e = Expression(v, s).fixed();
  // The distance to the neighbour away from zero, with the number's sign.
  const Expression away = e.of<prim::Nextafter>(e.number(__builtin_inf()).of<prim::Copysign>(e));
  const Expression infinite = e.of<prim::Abs>() == __builtin_inf();
  return infinite.choose(e.number(__builtin_nan("")), away - e);
}

Handle round_decimals(const Operand& x, int decimals, Location at) {
  const Site s{"round", at};
  const Handle v = value(x, s);
  const DType d = dtype(v);
  if (is_bool(d) || is_complex(d)) reject(type(v), "real numbers", s);
  if (is_integer(d)) {
    if (decimals >= 0) return v;
    const double wide_factor = std::pow(10.0, -decimals);
    if (decimals < -18) return splat(0, type(v), s);
    // To the nearest multiple, of two equally near ones the even one.
    const Expression e = Expression(v, s).as(is_unsigned_integer(d) ? DType::u64 : DType::i64);
    const Expression factor = e.number(wide_factor);
    const Expression down = Expression(floor_divide(e.handle(), factor.handle(), at), s);
    const Expression rest = e - down * factor;
    const Expression half = e.number(wide_factor / 2);
    const Expression odd = down.of<prim::And>(down.number(1)) == 1.0;
    const Expression up = (rest > half) | ((rest == half) & odd);
    return convert(up.choose(down + 1.0, down) * factor, d, s);
  }
  if (decimals == 0) return emit<prim::Round>(s, {v});
  const Expression e = Expression(v, s).as(wide(d));
  const double factor = std::pow(10.0, std::abs(decimals));
  const Expression scaled = decimals > 0 ? e * factor : e / factor;
  const Expression rounded = scaled.of<prim::Round>();
  const Expression back = decimals > 0 ? rounded / factor : rounded * factor;
  // Numbers that overflow when scaled have no such decimals.
  const Expression fits = scaled.of<prim::Abs>() < __builtin_inf();
  return fits.choose(back, e).as(d);
}

namespace {

/// How far each bit of a byte is shifted, along the last dimension.
Handle bit_numbers(const Shape& of, bitorder order, const Site& s) {
  const Handle i = counted(DType::u8, of, of.rank() - 1, s);
  return order == bitorder::little ? i : emit<prim::Sub>(s, {splat(7, type(i), s), i});
}

/// The operand, without an axis all elements as a vector, and the axis.
std::pair<Handle, int> along_axis_or_all(Handle v, std::optional<int> axis, const Site& s) {
  if (!axis) return {flattened_to_vector(v, s), 0};
  return {v, axis_in(*axis, v, s)};
}

}  // namespace

Handle clip_one(const Operand& x, const Operand& bound, bool low, Location at) {
  const Site s{"clip", at};
  const Type t = type(value(x, s));
  if (is_bool(t.dtype) || is_complex(t.dtype)) reject(t, "real numbers", s);
  const Handle open = extremum_identity(low, {t.dtype, Shape()}, s);
  return low ? clip(x, bound, open, at) : clip(x, open, bound, at);
}

Handle packbits(const Operand& x, std::optional<int> axis, bitorder order, Location at) {
  const Site s{"packbits", at};
  const Handle given = value(x, s);
  if (is_inexact(dtype(given))) reject(type(given), "integers or bool", s);
  auto [v, a] = along_axis_or_all(convert(convert(given, DType::bool_, s), DType::u8, s), axis, s);
  const int last = shape(v).rank() - 1;
  v = moved_axis(v, a, last, s);
  const int64_t n = extent_of(v, last), bytes = (n + 7) / 8;
  v = padded_along(v, last, 0, bytes * 8 - n, 0, s);
  const Shape own = shape(v);
  const Shape grid = own.with(static_cast<size_t>(last), bytes).with_inserted(static_cast<size_t>(last) + 1, 8);
  v = reshape(v, grid, s);
  const Handle shifted = emit<prim::Shl>(s, {v, bit_numbers(grid, order, s)});
  return moved_axis(reduce_axes<prim::ReduceSum>(shifted, {last + 1}, false, s), last, a, s);
}

Handle unpackbits(const Operand& x, std::optional<int> axis, std::optional<int64_t> count, bitorder order,
                  Location at) {
  const Site s{"unpackbits", at};
  const Handle given = value(x, s);
  if (dtype(given) != DType::u8) reject(type(given), "bytes (u8)", s);
  auto [v, a] = along_axis_or_all(given, axis, s);
  const int last = shape(v).rank() - 1;
  v = moved_axis(v, a, last, s);
  const Shape own = shape(v), grid = own.with_inserted(static_cast<size_t>(last) + 1, 8);
  Ints axes;
  for (int i = 0; i <= last; ++i) axes.push_back(i);
  const Handle shifted = emit<prim::ShrLogical>(s, {broadcast_in(v, grid, axes, s), bit_numbers(grid, order, s)});
  Handle bits = emit<prim::And>(s, {shifted, splat(1, type(shifted), s)});
  const int64_t all = extent_of(v, last) * 8;
  bits = reshape(bits, own.with(static_cast<size_t>(last), all), s);
  if (count) {
    if (*count < -all) {
      s.shape_error("the count is " + std::to_string(*count) + ", but there are " + std::to_string(all) + " bits");
    }
    const int64_t wanted = *count < 0 ? all + *count : *count;
    bits = padded_along(bits, last, 0, wanted - all, 0, s);
  }
  return moved_axis(bits, last, a, s);
}

Handle angle_in(const Operand& x, bool degrees, Location at) {
  const Handle radians = angle(x, at);
  return degrees ? rad2deg(radians, at) : radians;
}

Handle mulhi(const Operand& x, const Operand& y, Location at) {
  const Site s{"mulhi", at};
  const DType d = promoted_dtype(x, y, s);
  Handle both[] = {value(x, d, s), value(y, d, s)};
  if (!is_integer(d)) reject(type(both[0]), "integers", s);
  broadcast_together(both, s);
  const Expression a(both[0], s), b(both[1], s);
  const size_t bits = 8 * size_of(d);
  const auto shifted = [&](Expression v, size_t by) {
    const Expression n = v.number(static_cast<double>(by));
    return is_unsigned_integer(d) ? v.of<prim::ShrLogical>(n) : v.of<prim::ShrArithmetic>(n);
  };
  if (bits < 64) {
    const DType twice = is_unsigned_integer(d) ? DType::u64 : DType::i64;
    return shifted(a.as(twice) * b.as(twice), bits).as(d);
  }
  // In halves of 32 bits (Warren, Hacker's Delight, 8-2). The lower halves are not negative.
  const auto lower = [&](Expression v) {
    const Expression mask = v.number(1).of<prim::Shl>(v.number(32)) - 1.0;
    return v.of<prim::And>(mask);
  };
  const auto low_product = [&](Expression v, Expression w) {
    // The product of two lower halves, shifted by 32 bits, as unsigned numbers.
    const Expression product = v.bits_as(DType::u64) * w.bits_as(DType::u64);
    return product.of<prim::ShrLogical>(product.number(32)).bits_as(d);
  };
  const Expression a0 = lower(a), a1 = shifted(a, 32), b0 = lower(b), b1 = shifted(b, 32);
  const Expression t = a1 * b0 + low_product(a0, b0);
  const Expression w = lower(t) + a0 * b1;
  return a1 * b1 + shifted(t, 32) + shifted(w, 32);
}

Handle reduce_xor(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"reduce_xor", at};
  Handle v = value(x, s);
  const Type t = type(v);
  if (is_inexact(t.dtype)) reject(t, "integers or bool", s);
  const Ints list = normal_axes(axes, t, s);
  // The axes one after another, each folded in halves.
  for (const int64_t each : list) {
    const int a = static_cast<int>(each);
    if (extent_of(v, a) == 0) v = splat(0, {t.dtype, shape(v).with(static_cast<size_t>(a), 1)}, s);
    while (extent_of(v, a) > 1) {
      const int64_t n = extent_of(v, a), half = n / 2;
      const Handle folded =
          emit<prim::Xor>(s, {slice_axis(v, a, 0, half, 1, s), slice_axis(v, a, half, 2 * half, 1, s)});
      const Handle parts[] = {folded, slice_axis(v, a, 2 * half, n, 1, s)};
      v = n % 2 == 0 ? folded : concatenated(parts, a, s);
    }
  }
  if (keepdims) return v;
  Ints left;
  for (int64_t a = 0; a < t.shape.rank(); ++a) {
    if (std::ranges::find(list, a) == list.end()) left.push_back(t.shape[static_cast<size_t>(a)]);
  }
  return reshape(v, Shape(left), s);
}

}  // namespace calque::detail::ops
