// The public templates of structured matrices, products and norms: their C++ types agree with the dtypes that the
// type-erased functions record.
#include <gtest/gtest.h>

#include "calque/linalg.h"

#include "trace/recorded_type.h"

namespace calque::test {
namespace {

// clang-format off
#define CALQUE_CHECK(f) CALQUE_CALL(#f, f(x))

template <class X>
constexpr Call kOfOne[] = {
    CALQUE_CHECK(diag) CALQUE_CHECK(tril) CALQUE_CHECK(triu)
    CALQUE_CALL("diag of a vector", diag(reshape(x, {-1}), 1))
    CALQUE_CALL("vander", vander(reshape(x, {-1})))
    CALQUE_CALL("vander without columns", vander(reshape(x, {-1}), 0))
    CALQUE_CALL("toeplitz", toeplitz(reshape(x, {-1})))
    CALQUE_CALL("kron with 2", kron(x, 2))
    CALQUE_CALL("kron with 0.5", kron(x, 0.5))
    CALQUE_CALL("block_diag with 0.5", block_diag(x, 0.5))
    CALQUE_CHECK(linalg::norm)
    CALQUE_CALL("norm one", linalg::norm(x, linalg::ord::one))
    CALQUE_CALL("norm minus_inf", linalg::norm(x, linalg::ord::minus_inf))
    CALQUE_CALL("norm of nothing", linalg::norm(reshape(x, {3, 2}).at(range(0, 0)), linalg::ord::inf))
    CALQUE_CALL("norm 0", linalg::norm(x, 0, 1))
    CALQUE_CALL("norm 3", linalg::norm(x, 3, 1))
    CALQUE_CALL("norm -1", linalg::norm(x, -1, 1))
};

#define CALQUE_CHECK_PAIR(f) CALQUE_CALL_TWO(#f, f(x, y))

template <class X, class Y>
constexpr Call kOfTwo[] = {
    CALQUE_CHECK_PAIR(inner) CALQUE_CHECK_PAIR(vdot) CALQUE_CHECK_PAIR(vecdot) CALQUE_CHECK_PAIR(cross)
    CALQUE_CHECK_PAIR(kron) CALQUE_CHECK_PAIR(block_diag)
    CALQUE_CALL_TWO("toeplitz", toeplitz(reshape(x, {-1}), reshape(y, {-1})))
    CALQUE_CALL_TWO("multi_dot", linalg::multi_dot(x, transpose(y), x))
};
// clang-format on

TEST(MatrixTypes, AreThoseRecorded) {
  for (int d = 0; d < kDTypeCount; ++d) {
    visit_dtype(static_cast<DType>(d), []<class T>() { expect_own_types(dtype_of<T>, dtype_of<T>, kOfOne<T>); });
  }
}

template <class X, class Y>
void expect_pair() {
  expect_own_types(dtype_of<X>, dtype_of<Y>, kOfTwo<X, Y>);
}

TEST(MatrixTypes, OfPairsAreThoseRecorded) {
  expect_pair<bool, bool>();
  expect_pair<bool, uint8_t>();
  expect_pair<uint8_t, int8_t>();
  expect_pair<int32_t, float16>();
  expect_pair<float16, bfloat16>();
  expect_pair<float, int64_t>();
  expect_pair<double, float>();
  expect_pair<std::complex<float>, double>();
}

}  // namespace
}  // namespace calque::test
