// Promotion of C++ types agrees with the run-time lattice, for every pair of element types and kind of literal.
#include "calque/detail/promotion.h"

#include <gtest/gtest.h>

#include "calque/array.h"

namespace calque {
namespace {

template <class F, int... I>
void for_each_dtype(F&& f, std::integer_sequence<int, I...>) {
  (f.template operator()<type_of<static_cast<DType>(I)>>(), ...);
}
template <class F>
void for_each_dtype(F&& f) {
  for_each_dtype(f, std::make_integer_sequence<int, kDTypeCount>{});
}

TEST(Promotion, JoinsEveryPairAsTheLatticeDoes) {
  for_each_dtype([]<class T>() {
    for_each_dtype([]<class U>() {
      using J = promoted_elem_t<Tracer<T>, Array<U>>;
      EXPECT_EQ(dtype_of<J>, promote(dtype_of<T>, dtype_of<U>)) << dtype_of<T> << " " << dtype_of<U>;
      EXPECT_TRUE((std::same_as<J, promoted_elem_t<Array<U>, const Tracer<T>&>>)) << dtype_of<T> << " " << dtype_of<U>;
    });
  });
}

TEST(Promotion, LiteralsPromoteWithEveryDTypeByTheLattice) {
  for_each_dtype([]<class T>() {
    EXPECT_EQ((dtype_of<promoted_elem_t<Tracer<T>, int>>), promote_weak(dtype_of<T>, DType::i32));
    EXPECT_EQ((dtype_of<promoted_elem_t<unsigned long long, Tracer<T>>>), promote_weak(dtype_of<T>, DType::u64));
    EXPECT_EQ((dtype_of<promoted_elem_t<Tracer<T>, double>>), promote_weak(dtype_of<T>, DType::f64));
    EXPECT_EQ((dtype_of<promoted_elem_t<std::complex<double>, Array<T>>>), promote_weak(dtype_of<T>, DType::c128));
    // Never wider than an operand of the literal's kind.
    constexpr bool is_float = is_floating(dtype_of<T>), is_integral = is_integer(dtype_of<T>);
    if constexpr (is_float) {
      EXPECT_TRUE((std::same_as<promoted_elem_t<Tracer<T>, double>, T>));
    }
    if constexpr (is_float || is_integral) {
      EXPECT_TRUE((std::same_as<promoted_elem_t<Tracer<T>, long>, T>));
    }
    if constexpr (!is_inexact(dtype_of<T>)) {
      EXPECT_TRUE((std::same_as<promoted_elem_t<Tracer<T>, double>, double>));
      EXPECT_TRUE((std::same_as<promoted_elem_t<Tracer<T>, float>, float>));
    }
    EXPECT_EQ((dtype_of<promoted_elem_t<Tracer<T>, bool>>), promote(dtype_of<T>, DType::bool_));
    EXPECT_EQ((dtype_of<promoted_elem_t<Tracer<T>, float16>>), promote(dtype_of<T>, DType::f16));
  });
}

TEST(Promotion, OperatorsHaveTheJoinedType) {
  for_each_dtype([]<class T>() {
    for_each_dtype([]<class U>() {
      using J = promoted_elem_t<Tracer<T>, Tracer<U>>;
      EXPECT_TRUE((std::same_as<decltype(Tracer<T>() + Tracer<U>()), Tracer<J>>)) << dtype_of<T> << " " << dtype_of<U>;
      EXPECT_TRUE((std::same_as<decltype(Tracer<T>() * Array<U>()), Tracer<J>>)) << dtype_of<T> << " " << dtype_of<U>;
      EXPECT_TRUE((std::same_as<decltype(Array<T>() * Tracer<U>()), Tracer<J>>)) << dtype_of<T> << " " << dtype_of<U>;
      EXPECT_TRUE((std::same_as<decltype(Array<T>() + Array<U>()), Array<J>>)) << dtype_of<T> << " " << dtype_of<U>;
      EXPECT_TRUE((std::same_as<decltype(Tracer<T>() == Array<U>()), Tracer<bool>>));
      EXPECT_TRUE((std::same_as<decltype(Array<T>() != Array<U>()), Array<bool>>));
    });
    EXPECT_TRUE((std::same_as<decltype(Tracer<T>() * 2.0), Tracer<promoted_elem_t<Tracer<T>, double>>>)) << dtype_of<T>;
    EXPECT_TRUE((std::same_as<decltype(2 + Tracer<T>()), Tracer<promoted_elem_t<Tracer<T>, int>>>)) << dtype_of<T>;
    EXPECT_TRUE((std::same_as<decltype(Array<T>() * 2.0), Array<promoted_elem_t<Tracer<T>, double>>>)) << dtype_of<T>;
    EXPECT_TRUE((std::same_as<decltype(2 + Array<T>()), Array<promoted_elem_t<Tracer<T>, int>>>)) << dtype_of<T>;
    EXPECT_TRUE((std::same_as<decltype(Tracer<T>() == 2.0), Tracer<bool>>)) << dtype_of<T>;
    EXPECT_TRUE((std::same_as<decltype(1 != Array<T>()), Array<bool>>)) << dtype_of<T>;
  });
}

TEST(Promotion, NoStrongOperandGivesTheLiteralsOwnType) {
  static_assert(std::same_as<promoted_elem_t<int, int>, int32_t>);
  static_assert(std::same_as<promoted_elem_t<int, double>, double>);
  static_assert(std::same_as<promoted_elem_t<long, float>, float>);
  static_assert(std::same_as<promoted_elem_t<int, long>, int64_t>);
  static_assert(std::same_as<promoted_elem_t<int, unsigned>, uint32_t>);
  static_assert(std::same_as<promoted_elem_t<double, std::complex<double>>, std::complex<double>>);
  static_assert(std::same_as<promoted_elem_t<double, double, Tracer<bfloat16>>, bfloat16>);
  static_assert(std::same_as<promoted_elem_t<int, bool>, int32_t>);
}

TEST(Promotion, IntegersHaveTheDTypeOfTheirWidth) {
  static_assert(std::same_as<canon_t<long long>, int64_t>);
  static_assert(std::same_as<canon_t<unsigned long long>, uint64_t>);
  static_assert(std::same_as<canon_t<unsigned char>, uint8_t>);
  static_assert(std::same_as<canon_t<wchar_t>, int32_t>);
  static_assert(std::same_as<canon_t<bool>, bool>);
}

TEST(Promotion, ResultIsATracerIfAnyOperandIs) {
  static_assert(std::same_as<out_t<float, Array<int>, double>, Array<float>>);
  static_assert(std::same_as<out_t<float, Array<int>, const Tracer<bool>&>, Tracer<float>>);
}

TEST(Promotion, ArraysConvertToExactlyTheirElementType) {
  static_assert(!std::is_convertible_v<Array<float>, double>);
  static_assert(std::is_convertible_v<Array<double>, double>);
  static_assert(!std::is_convertible_v<Tracer<float>, Array<float>>);
  static_assert(std::is_convertible_v<Array<float>, Tracer<float>>);
  static_assert(!std::is_convertible_v<Array<float>, Tracer<double>>);
  static_assert(!std::is_convertible_v<Tracer<float>, double>);
  static_assert(!std::is_constructible_v<Array<float>, Array<double>>);
}

}  // namespace
}  // namespace calque
