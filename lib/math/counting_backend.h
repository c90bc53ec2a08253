// A backend that counts the operations of a function.
#pragma once

#include <algorithm>
#include <utility>

#include "math/lane.h"

namespace calque::math {

/// The operations of a function.
struct OperationCounts {
  int common = 0;  ///< operations of the common path
  int cold = 0;    ///< operations of the cold path
  int loops = 0;
  int bytes = 0;  ///< size of the widest element type of the common path
};

/// Its lanes have no values; every operation increments a counter.
struct CountingBackend {
  struct Nothing {};
  template <class T>
  using Value = Nothing;

  static inline thread_local OperationCounts counts;
  static inline thread_local bool inside_cold_path = false;

  template <class T>
  static Nothing constant(T) {
    return {};
  }

#define CALQUE_COUNTED(name)            \
  template <class T, class... Operands> \
  static Nothing name(Operands...) {    \
    return count<T>();                  \
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

  /// Bit casts are free in registers and not counted.
  template <class To, class From>
  static Nothing bitcast(Nothing) {
    return {};
  }
  template <class To, class From>
  static Nothing convert(Nothing) {
    return count<To>();
  }
  template <class T, std::size_t N, class Index>
  static Nothing lookup(const std::array<T, N>&, Nothing) {
    return count<T>();
  }
  template <class Mask, class Out, class Slow, class... In>
  static Out with_cold_path(const Mask&, const Out& fast, Slow slow, const In&... inputs) {
    const bool outer = std::exchange(inside_cold_path, true);
    slow(inputs...);
    inside_cold_path = outer;
    return fast;
  }
  template <class Cond, class Body, class... Carry>
  static std::tuple<Carry...> while_lanes(Cond cond, Body body, const Carry&... initial) {
    ++counts.loops;
    cond(initial...);
    return body(initial...);
  }

 private:
  template <class T>
  static Nothing count() {
    ++(inside_cold_path ? counts.cold : counts.common);
    if (!inside_cold_path) counts.bytes = std::max(counts.bytes, static_cast<int>(sizeof(T)));
    return {};
  }
};

}  // namespace calque::math
