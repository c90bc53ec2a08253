#include "frontend/vocabulary/binary_search.h"

#include <bit>

#include "calque/detail/control/control.h"

namespace calque::detail::ops {

Handle position_of(Handle sorted, Handle x, side where, const Site& s, std::optional<Handle> is_descending) {
  const int64_t n = extent_of(sorted, 0);
  const Expression zero(splat(0, {DType::i32, shape(x)}, s), s);
  if (n == 0) return zero;
  if (n > INT32_MAX) s.shape_error("the sorted vector " + to_string(type(sorted)) + " is too long for indices of i32");
  const Handle table = emit<prim::StopGradient>(s, {sorted});
  const Expression v = Expression(x, s).fixed();
  const bool has_nan = is_floating(dtype(x));
  const auto precedes = [&](Expression a) {
    const Expression is_less = where == side::left ? a < v : a <= v;
    if (!has_nan) return is_less;
    // NaN is greater than all numbers and equal to itself.
    const Expression x_is_nan = !(v == v);
    return is_less | (where == side::left ? x_is_nan & (a == a) : x_is_nan);
  };
  // The count is built from its highest bit on: a bit stays if that many elements precede x.
  const auto with_bit = [&](Expression count, Expression bit) {
    const Expression more = count + bit;
    Expression last = more - 1.0;
    if (is_descending) {
      const Expression falls(broadcast(*is_descending, shape(x), s), s);
      last = falls.choose(more.number(static_cast<double>(n)) - more, last);
    }
    const Expression element(take(table, last.handle(), 0, mode::clip, s.at), s);
    return ((more <= static_cast<double>(n)) & precedes(element)).choose(more, count);
  };
  const auto highest = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n)));
  const int64_t bits = std::bit_width(static_cast<uint64_t>(n));
  constexpr int64_t kUnrolled = 4;
  if (bits <= kUnrolled) {
    Expression count = zero;
    for (int64_t bit = highest; bit > 0; bit /= 2) count = with_bit(count, count.number(static_cast<double>(bit)));
    return count;
  }
  // A loop over the bits, which stays in the registers of a kernel.
  const TraceBody step = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression count(in[0], s), bit(in[1], s);
    out = {with_bit(count, bit), bit.of<prim::ShrArithmetic>(bit.number(1))};
  };
  const Handle carry[] = {zero, zero.number(static_cast<double>(highest))};
  return scan(step, carry, {}, {.length = bits}, {s.at, {}})[0];
}

}  // namespace calque::detail::ops
