#pragma once
// Operators of pairs that promote to a third type (u8 + i8 -> i16). The friends of neither class can return it, so each
// unordered pair has a base class, shared by both, with the operators in both orders; argument-dependent lookup finds
// friends of bases.
#include "calque/detail/operator_lists.h"
#include "calque/detail/typed_operand.h"

namespace calque::detail {

/// bool, but dependent on T, so that Tracer<bool> is not needed before it is complete.
template <class T>
using dependent_bool = std::conditional_t<sizeof(T) != 0, bool, void>;

/// Operators of two tracers, or a tracer and an array. T, to which U and V promote, is a parameter: a member type of
/// that name would hide x.T().
template <class U, class V, class T>
struct MixedTracersTo {
  using Result = Tracer<T>;
  using Mask = Tracer<dependent_bool<U>>;
#define CALQUE_X(R, op, f, ok, why)                            \
  [[nodiscard]] friend R operator op(Exact<U> a, Exact<V> b) { \
    static_assert(ok, why);                                    \
    return R(ops::f(a.operand, b.operand, a.location));        \
  }                                                            \
  [[nodiscard]] friend R operator op(Exact<V> a, Exact<U> b) { \
    static_assert(ok, why);                                    \
    return R(ops::f(a.operand, b.operand, a.location));        \
  }
#define CALQUE_Y(op, f, ok, why) CALQUE_X(Result, op, f, ok, why)
  CALQUE_ARITHMETIC_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#define CALQUE_Y(op, f, ok, why) CALQUE_X(Mask, op, f, ok, why)
  CALQUE_COMPARISON_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#undef CALQUE_X
};
template <class U, class V>
using MixedTracers = MixedTracersTo<U, V, promote_t<U, V>>;

/// Operators of two arrays. T is a parameter for the same reason.
template <class U, class V, class T>
struct MixedArraysTo {
  using Result = Array<T>;
  using Mask = Array<dependent_bool<U>>;
#define CALQUE_X(R, op, f, ok, why)                                      \
  [[nodiscard]] friend R operator op(ArrayExact<U> a, ArrayExact<V> b) { \
    static_assert(ok, why);                                              \
    return R(run_binary(#f, &ops::f, a.operand, b.operand, a.location)); \
  }                                                                      \
  [[nodiscard]] friend R operator op(ArrayExact<V> a, ArrayExact<U> b) { \
    static_assert(ok, why);                                              \
    return R(run_binary(#f, &ops::f, a.operand, b.operand, a.location)); \
  }
#define CALQUE_Y(op, f, ok, why) CALQUE_X(Result, op, f, ok, why)
  CALQUE_ARITHMETIC_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#define CALQUE_Y(op, f, ok, why) CALQUE_X(Mask, op, f, ok, why)
  CALQUE_COMPARISON_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#undef CALQUE_X
};
template <class U, class V>
using MixedArrays = MixedArraysTo<U, V, promote_t<U, V>>;

/// The bases of an array or tracer of T: one for each U with which T promotes to a third type.
template <template <class, class> class M, class T>
struct MixedBases {};
#define CALQUE_BASES(T, ...)                 \
  template <template <class, class> class M> \
  struct MixedBases<M, T> : __VA_ARGS__ {}
#define CALQUE_M(U, V) M<U##_t, V##_t>
CALQUE_BASES(uint8_t, CALQUE_M(uint8, int8));
CALQUE_BASES(uint16_t, CALQUE_M(uint16, int8), CALQUE_M(uint16, int16));
CALQUE_BASES(uint32_t, CALQUE_M(uint32, int8), CALQUE_M(uint32, int16), CALQUE_M(uint32, int32));
CALQUE_BASES(uint64_t, CALQUE_M(uint64, int8), CALQUE_M(uint64, int16), CALQUE_M(uint64, int32),
             CALQUE_M(uint64, int64));
CALQUE_BASES(int8_t, CALQUE_M(uint8, int8), CALQUE_M(uint16, int8), CALQUE_M(uint32, int8), CALQUE_M(uint64, int8));
CALQUE_BASES(int16_t, CALQUE_M(uint16, int16), CALQUE_M(uint32, int16), CALQUE_M(uint64, int16));
CALQUE_BASES(int32_t, CALQUE_M(uint32, int32), CALQUE_M(uint64, int32));
CALQUE_BASES(int64_t, CALQUE_M(uint64, int64));
#undef CALQUE_M
#define CALQUE_HALVES M<float16, bfloat16>
CALQUE_BASES(float16, CALQUE_HALVES);
CALQUE_BASES(bfloat16, CALQUE_HALVES);
#undef CALQUE_HALVES
#define CALQUE_COMPLEX M<double, std::complex<float>>
CALQUE_BASES(double, CALQUE_COMPLEX);
CALQUE_BASES(std::complex<float>, CALQUE_COMPLEX);
#undef CALQUE_COMPLEX
#undef CALQUE_BASES

}  // namespace calque::detail
