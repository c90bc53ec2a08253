// lib/math on plain scalars: for constant folding, the reference of strict mode, and tests. Must be compiled without
// contraction (-ffp-contract=off) to produce the same bits as the other backends.
#pragma once

#include <bit>
#include <utility>

#include "math/emulated_fma.h"
#include "math/lane.h"

namespace calque::math {

/// Its lanes are plain numbers.
struct ScalarBackend {
  template <class T>
  using Value = T;

  template <class T>
  static T constant(T c) {
    return c;
  }

  template <class T>
  static T add(T a, T b) {
    return wrap<T>(bits(a) + bits(b));
  }
  template <class T>
  static T sub(T a, T b) {
    return wrap<T>(bits(a) - bits(b));
  }
  template <class T>
  static T mul(T a, T b) {
    return wrap<T>(bits(a) * bits(b));
  }
  template <class T>
  static T div(T a, T b) {
    return a / b;
  }
  template <class T>
  static T neg(T a) {
    return wrap<T>(-bits(a));
  }
  template <class T>
  static T sqrt(T a) {
    if constexpr (sizeof(T) == 4) {
      return __builtin_sqrtf(a);
    } else {
      return __builtin_sqrt(a);
    }
  }
  template <class T>
  static T abs(T a) {
    if constexpr (sizeof(T) == 4) {
      return __builtin_fabsf(a);
    } else {
      return __builtin_fabs(a);
    }
  }
  template <class T>
  static T floor(T a) {
    if constexpr (sizeof(T) == 4) {
      return __builtin_floorf(a);
    } else {
      return __builtin_floor(a);
    }
  }
  template <class T>
  static T trunc(T a) {
    if constexpr (sizeof(T) == 4) {
      return __builtin_truncf(a);
    } else {
      return __builtin_trunc(a);
    }
  }
  template <class T>
  static T rint(T a) {
    if constexpr (sizeof(T) == 4) {
      return __builtin_rintf(a);
    } else {
      return __builtin_rint(a);
    }
  }
  template <class T>
  static T fma(T a, T b, T c) {
    if constexpr (sizeof(T) == 4) {
      return __builtin_fmaf(a, b, c);
    } else {
      return __builtin_fma(a, b, c);
    }
  }
  template <class T>
  static T multiply_add(T a, T b, T c) {
    return fma(a, b, c);
  }

  template <class T>
  static T product_error(T a, T b, T p) {
    return fma(a, b, -p);
  }

  template <class T>
  static T bit_and(T a, T b) {
    return static_cast<T>(a & b);
  }
  template <class T>
  static T bit_or(T a, T b) {
    return static_cast<T>(a | b);
  }
  template <class T>
  static T bit_xor(T a, T b) {
    return static_cast<T>(a ^ b);
  }
  template <class T>
  static T bit_not(T a) {
    if constexpr (std::is_same_v<T, bool>) {
      return !a;
    } else {
      return static_cast<T>(~a);
    }
  }
  template <class T>
  static T shift_left(T a, T n) {
    return wrap<T>(bits(a) << bits(n));
  }
  template <class T>
  static T shift_right(T a, T n) {
    return static_cast<T>(a >> n);
  }

  template <class T>
  static bool eq(T a, T b) {
    return a == b;
  }
  template <class T>
  static bool ne(T a, T b) {
    return a != b;
  }
  template <class T>
  static bool lt(T a, T b) {
    return a < b;
  }
  template <class T>
  static bool le(T a, T b) {
    return a <= b;
  }
  template <class T>
  static bool gt(T a, T b) {
    return a > b;
  }
  template <class T>
  static bool ge(T a, T b) {
    return a >= b;
  }
  template <class T>
  static T select(bool mask, T a, T b) {
    return mask ? a : b;
  }

  template <class To, class From>
  static To bitcast(From a) {
    return std::bit_cast<To>(a);
  }
  template <class To, class From>
  static To convert(From a) {
    return static_cast<To>(a);
  }
  template <class T, std::size_t N, class Index>
  static T lookup(const std::array<T, N>& table, Index i) {
    return table[static_cast<std::size_t>(i)];
  }

  template <class Mask, class Out, class Slow, class... In>
  static Out with_cold_path(const Mask& mask, const Out& fast, Slow slow, const In&... inputs) {
    return mask.raw() ? slow(inputs...) : fast;
  }

  template <class Cond, class Body, class... Carry>
  static std::tuple<Carry...> while_lanes(Cond cond, Body body, const Carry&... initial) {
    std::tuple<Carry...> carry(initial...);
    while (std::apply(cond, carry).raw()) {
      carry = std::apply(body, carry);
    }
    return carry;
  }

 private:
  // Integer arithmetic is done on unsigned types that are not promoted to int, so that it wraps.
  template <class T>
  static auto bits(T a) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<std::common_type_t<std::make_unsigned_t<T>, std::uint32_t>>(a);
    } else {
      return a;
    }
  }
  template <class T, class U>
  static T wrap(U a) {
    return static_cast<T>(a);
  }
};

/// ScalarBackend for targets without fused multiply-add.
struct UnfusedScalarBackend : ScalarBackend {
  template <class T>
  static T fma(T a, T b, T c) {
    using F = Lane<T, UnfusedScalarBackend>;
    return emulated_fma(F(a), F(b), F(c)).raw();
  }
  template <class T>
  static T multiply_add(T a, T b, T c) {
    return a * b + c;
  }
  template <class T>
  static T product_error(T a, T b, T p) {
    using F = Lane<T, UnfusedScalarBackend>;
    return emulated_product_error(F(a), F(b), F(p)).raw();
  }
};

}  // namespace calque::math
