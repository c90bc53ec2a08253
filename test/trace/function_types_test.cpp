// The public templates of one operand: their C++ types agree with the dtypes that the type-erased functions record.
#include <gtest/gtest.h>

#include "trace/recorded_type.h"

namespace calque::test {
namespace {

// clang-format off
#define CALQUE_CHECK(f) CALQUE_CALL(#f, f(x))
#define CALQUE_CHECK_AXIS(f) CALQUE_CALL(#f, f(x, -1))

template <class X>
constexpr Call kUnary[] = {
    CALQUE_CHECK(sqrt) CALQUE_CHECK(rsqrt) CALQUE_CHECK(cbrt) CALQUE_CHECK(exp) CALQUE_CHECK(exp2) CALQUE_CHECK(expm1)
    CALQUE_CHECK(log) CALQUE_CHECK(log2) CALQUE_CHECK(log10) CALQUE_CHECK(log1p) CALQUE_CHECK(sin) CALQUE_CHECK(cos)
    CALQUE_CHECK(tan) CALQUE_CHECK(asin) CALQUE_CHECK(acos) CALQUE_CHECK(atan) CALQUE_CHECK(sinh) CALQUE_CHECK(cosh)
    CALQUE_CHECK(tanh) CALQUE_CHECK(asinh) CALQUE_CHECK(acosh) CALQUE_CHECK(atanh) CALQUE_CHECK(sigmoid)
    CALQUE_CHECK(erf) CALQUE_CHECK(erfc) CALQUE_CHECK(erfinv) CALQUE_CHECK(lgamma) CALQUE_CHECK(tgamma)
    CALQUE_CHECK(digamma) CALQUE_CHECK(floor) CALQUE_CHECK(ceil) CALQUE_CHECK(trunc) CALQUE_CHECK(round)
    CALQUE_CHECK(rint) CALQUE_CHECK(nearbyint) CALQUE_CHECK(round_half_away) CALQUE_CHECK(sign) CALQUE_CHECK(square)
    CALQUE_CHECK(relu) CALQUE_CHECK(conj) CALQUE_CHECK(popcount) CALQUE_CHECK(clz) CALQUE_CHECK(stop_gradient)
    CALQUE_CHECK(positive) CALQUE_CHECK(abs) CALQUE_CHECK(fabs) CALQUE_CHECK(real) CALQUE_CHECK(imag)
    CALQUE_CHECK(isnan) CALQUE_CHECK(isinf) CALQUE_CHECK(isfinite) CALQUE_CHECK(signbit)
};
template <class X>
constexpr Call kReductions[] = {
    CALQUE_CHECK(sum) CALQUE_CHECK(prod) CALQUE_CHECK(mean) CALQUE_CHECK(var) CALQUE_CHECK(stddev) CALQUE_CHECK(amax)
    CALQUE_CHECK(amin) CALQUE_CHECK(norm) CALQUE_CHECK(logsumexp) CALQUE_CHECK(any) CALQUE_CHECK(all)
    CALQUE_CHECK_AXIS(argmax) CALQUE_CHECK_AXIS(argmin) CALQUE_CHECK_AXIS(cumsum) CALQUE_CHECK_AXIS(cumprod)
    CALQUE_CHECK_AXIS(cummax) CALQUE_CHECK_AXIS(cummin) CALQUE_CHECK_AXIS(softmax) CALQUE_CHECK_AXIS(log_softmax)
    CALQUE_CHECK_AXIS(layer_norm) CALQUE_CHECK(transpose) CALQUE_CHECK(squeeze) CALQUE_CHECK(flip)
};
// clang-format on

/// Calls f.template operator()<T>() for every element type.
template <class F>
void for_every_type(const F& f) {
  for (int d = 0; d < kDTypeCount; ++d) visit_dtype(static_cast<DType>(d), f);
}

TEST(FunctionTypes, OfOneOperandAreThoseRecorded) {
  for_every_type([]<class T>() { expect_own_types(dtype_of<T>, dtype_of<T>, kUnary<T>); });
}

TEST(FunctionTypes, OfReductionsAreThoseRecorded) {
  for_every_type([]<class T>() { expect_own_types(dtype_of<T>, dtype_of<T>, kReductions<T>); });
}

}  // namespace
}  // namespace calque::test
