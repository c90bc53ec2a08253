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
#define CALQUE_UNARY_BY_HAND(f, result) CALQUE_CHECK(f)
#define CALQUE_UNARY(f, result, rule, Primitive) CALQUE_CHECK(f)
#include "calque/elementwise.def"
    CALQUE_CHECK(fabs)
};
template <class X>
constexpr Call kReductions[] = {
    CALQUE_CHECK(sum) CALQUE_CHECK(prod) CALQUE_CHECK(mean) CALQUE_CHECK(var) CALQUE_CHECK(stddev) CALQUE_CHECK(amax)
    CALQUE_CHECK(amin) CALQUE_CHECK(norm) CALQUE_CHECK(logsumexp) CALQUE_CHECK(any) CALQUE_CHECK(all)
    CALQUE_CHECK_AXIS(argmax) CALQUE_CHECK_AXIS(argmin) CALQUE_CHECK_AXIS(cumsum) CALQUE_CHECK_AXIS(cumprod)
    CALQUE_CHECK_AXIS(cummax) CALQUE_CHECK_AXIS(cummin) CALQUE_CHECK_AXIS(softmax) CALQUE_CHECK_AXIS(log_softmax)
    CALQUE_CHECK_AXIS(layer_norm) CALQUE_CHECK(transpose) CALQUE_CHECK(squeeze) CALQUE_CHECK(flip)
    CALQUE_CHECK(diagonal) CALQUE_CHECK(trace)
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
