#include "math/expand_rules.h"

namespace calque::math {

namespace {

template <class T>
Value power(Value x_raw, Value n_raw) {
  using I = Lane<T, GraphBackend>;
  const I x = I::from_raw(x_raw), n = I::from_raw(n_raw);
  const I one(T(1)), zero(T(0));
  // Square and multiply, one bit of the exponent a step.
  const auto [rest, base, product] = while_lanes([](const I& k, const I&, const I&) { return k > I(T(0)); },
                                                 [](const I& k, const I& b, const I& p) {
                                                   const auto odd = (k & I(T(1))) != I(T(0));
                                                   return std::tuple{k >> I(T(1)), b * b, where(odd, p * b, p)};
                                                 },
                                                 n, x, one);
  if constexpr (std::is_unsigned_v<T>) return product.raw();
  const I minus(static_cast<T>(-1));
  const I odd_sign = where((n & one) != zero, minus, one);
  const I inverse = where(x == one, one, where(x == minus, odd_sign, where(x == zero, minus, zero)));
  return where(n < zero, inverse, product).raw();
}

}  // namespace

Value expand_integer_power(DType dtype, Value x, Value n) {
  switch (dtype) {
    case DType::i8:
      return power<int8_t>(x, n);
    case DType::i16:
      return power<int16_t>(x, n);
    case DType::i32:
      return power<int32_t>(x, n);
    case DType::i64:
      return power<int64_t>(x, n);
    case DType::u8:
      return power<uint8_t>(x, n);
    case DType::u16:
      return power<uint16_t>(x, n);
    case DType::u32:
      return power<uint32_t>(x, n);
    default:
      return power<uint64_t>(x, n);
  }
}

}  // namespace calque::math
