// The public templates of two operands: their C++ types agree with the dtypes that the type-erased functions record. A
// few types represent all: one of every kind, and pairs that promote to a third type.
#include <gtest/gtest.h>

#include "trace/recorded_type.h"

namespace calque::test {
namespace {

// clang-format off
#define CALQUE_PAIRS(CALQUE_CHECK)                                                                                \
    CALQUE_CHECK(minimum) CALQUE_CHECK(max) CALQUE_CHECK(fmin) CALQUE_CHECK(fdim) CALQUE_CHECK(pow)               \
    CALQUE_CHECK(rem) CALQUE_CHECK(mod) CALQUE_CHECK(floor_divide) CALQUE_CHECK(remainder) CALQUE_CHECK(atan2)    \
    CALQUE_CHECK(hypot) CALQUE_CHECK(copysign) CALQUE_CHECK(xlogy) CALQUE_CHECK(logaddexp)

#define CALQUE_CHECK_LITERALS(f)              \
    CALQUE_CALL(#f " with 2", f(x, 2))        \
    CALQUE_CALL(#f " with 0.5", f(0.5, x))

template <class X>
constexpr Call kBesideLiterals[] = {CALQUE_PAIRS(CALQUE_CHECK_LITERALS)};
// For complex tracers std::gcd is found too.
template <class X>
constexpr Call kGcdBesideLiterals[] = {CALQUE_CHECK_LITERALS(gcd)};

#define CALQUE_CHECK_PAIR(f) CALQUE_CALL_TWO(#f, f(x, y))

template <class X, class Y>
constexpr Call kBinary[] = {
    CALQUE_PAIRS(CALQUE_CHECK_PAIR)
    CALQUE_CHECK_PAIR(ldexp)
    CALQUE_CALL_TWO("fma", fma(x, 2.0, y))
    CALQUE_CALL_TWO("where", where(cast<bool>(x), x, y))
    CALQUE_CALL_TWO("matmul", matmul(x, transpose(y)))
    CALQUE_CALL_TWO("outer", outer(x, y))
    CALQUE_CALL_TWO("einsum", einsum("ij,ij->j", x, y))
    CALQUE_CALL_TWO("concatenate", concatenate(std::tuple{x, y}, 0))
};
template <class X, class Y>
constexpr Call kGcd[] = {CALQUE_CHECK_PAIR(gcd)};
// clang-format on

/// Calls f.template operator()<X>() for the representatives.
template <class F>
void for_representatives(const F& f) {
  const auto each = [&]<class... X>(std::type_identity<X>...) { (f.template operator()<X>(), ...); };
  each(std::type_identity<bool>(), std::type_identity<uint8_t>(), std::type_identity<int32_t>(),
       std::type_identity<float16>(), std::type_identity<bfloat16>(), std::type_identity<float>(),
       std::type_identity<double>(), std::type_identity<std::complex<float>>());
}

TEST(FunctionTypes, WithLiteralsAreThoseRecorded) {
  for_representatives([]<class X>() {
    expect_own_types(dtype_of<X>, dtype_of<X>, kBesideLiterals<X>);
    if constexpr (!ComplexElem<X>) expect_own_types(dtype_of<X>, dtype_of<X>, kGcdBesideLiterals<X>);
  });
}

template <class X, class Y>
void expect_pair() {
  expect_own_types(dtype_of<X>, dtype_of<Y>, kBinary<X, Y>);
  if constexpr (!ComplexElem<X>) expect_own_types(dtype_of<X>, dtype_of<Y>, kGcd<X, Y>);
}

TEST(FunctionTypes, OfTwoOperandsAreThoseRecorded) {
  for_representatives([]<class X>() {
    expect_pair<X, X>();
    expect_pair<X, uint8_t>();
    expect_pair<X, int32_t>();
    expect_pair<X, float16>();
    expect_pair<X, double>();
  });
}

}  // namespace
}  // namespace calque::test
