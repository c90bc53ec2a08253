// Counts the equations that a function becomes.
#pragma once

#include <utility>

#include "math/lane.h"

namespace calque::math::test {

/// Lanes without values; every operation adds one to `common`, or to `rare` inside a slow path.
struct CountingBackend {
  struct Nothing {};
  template <class T>
  using Value = Nothing;

  static inline int common = 0;
  static inline int rare = 0;
  static inline bool inside_rare = false;

  template <class T>
  static Nothing constant(T) {
    return {};
  }

#define CALQUE_COUNTED(name)            \
  template <class T, class... Operands> \
  static Nothing name(Operands...) {    \
    return count();                     \
  }
  CALQUE_COUNTED(add)
  CALQUE_COUNTED(sub)
  CALQUE_COUNTED(mul)
  CALQUE_COUNTED(div)
  CALQUE_COUNTED(neg)
  CALQUE_COUNTED(sqrt)
  CALQUE_COUNTED(abs)
  CALQUE_COUNTED(floor)
  CALQUE_COUNTED(trunc)
  CALQUE_COUNTED(rint)
  CALQUE_COUNTED(fma)
  CALQUE_COUNTED(multiply_add)
  CALQUE_COUNTED(product_error)
  CALQUE_COUNTED(bit_and)
  CALQUE_COUNTED(bit_or)
  CALQUE_COUNTED(bit_xor)
  CALQUE_COUNTED(bit_not)
  CALQUE_COUNTED(shift_left)
  CALQUE_COUNTED(shift_right)
  CALQUE_COUNTED(eq)
  CALQUE_COUNTED(ne)
  CALQUE_COUNTED(lt)
  CALQUE_COUNTED(le)
  CALQUE_COUNTED(gt)
  CALQUE_COUNTED(ge)
  CALQUE_COUNTED(select)
#undef CALQUE_COUNTED

  /// Bit casts cost nothing in registers and are not counted.
  template <class To, class From>
  static Nothing bitcast(Nothing) {
    return {};
  }
  template <class To, class From>
  static Nothing convert(Nothing) {
    return count();
  }
  template <class T, std::size_t N, class Index>
  static Nothing lookup(const std::array<T, N>&, Nothing) {
    return count();
  }
  template <class Out, class Slow, class... In>
  static Out rarely(const Lane<bool, CountingBackend>&, const Out& fast, Slow slow, const In&... inputs) {
    const bool outer = std::exchange(inside_rare, true);
    slow(inputs...);
    inside_rare = outer;
    return fast;
  }
  template <class Cond, class Body, class... Carry>
  static std::tuple<Carry...> while_lanes(Cond cond, Body body, const Carry&... initial) {
    cond(initial...);
    return body(initial...);
  }

 private:
  static Nothing count() {
    ++(inside_rare ? rare : common);
    return {};
  }
};

}  // namespace calque::math::test
