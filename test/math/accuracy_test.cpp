// Every function of lib/math against MPFR: f32 on a stride through all bit patterns, f64 on random and hard points. The
// C library in higher precision replaces MPFR where both must give the same verdict.
#include <limits>

#include <gtest/gtest.h>

#include "functions.h"
#include "points.h"

namespace calque::math::test {
namespace {

template <class T>
double exact_error(const UnaryFunction& f, T x, T got) {
  Number argument;
  Number exact;
  mpfr_set_d(argument, static_cast<double>(x), MPFR_RNDN);
  f.exact(exact, argument);
  const double error = ulp_error_exact(got, exact);
  const double value = mpfr_get_d(exact, MPFR_RNDN);
  const double absolute = std::fabs(static_cast<double>(got) - value) / std::numeric_limits<T>::epsilon();
  return absolute <= f.slack(static_cast<double>(x)) ? 0 : error;
}

/// True when f is within its limit at x; MPFR is used only when the verdict of the C library is not clear.
template <class T>
::testing::AssertionResult is_accurate(const UnaryFunction& f, T x, bool ask_library) {
  const T got = [&] {
    if constexpr (sizeof(T) == 4) {
      return f.single(x);
    } else {
      return f.twice(x);
    }
  }();
  const double limit = sizeof(T) == 4 ? f.single_ulp : f.double_ulp;
  if (ask_library) {
    if constexpr (sizeof(T) == 4) {
      if (ulp_error(got, f.library(static_cast<double>(x))) < 0.95 * limit) {
        return ::testing::AssertionSuccess();
      }
    } else if (f.long_library != nullptr) {
      if (ulp_error(got, f.long_library(static_cast<long double>(x))) < 0.95 * limit) {
        return ::testing::AssertionSuccess();
      }
    }
  }
  const double error = exact_error(f, x, got);
  if (error <= limit) {
    return ::testing::AssertionSuccess();
  }
  char text[200];
  std::snprintf(text, sizeof(text), "%s(%a) = %a is off by %g ulp", f.name, static_cast<double>(x),
                static_cast<double>(got), error);
  return ::testing::AssertionFailure() << text;
}

class Accuracy : public ::testing::TestWithParam<UnaryFunction> {};

TEST_P(Accuracy, HoldsForFloatOnAStrideThroughAllBitPatterns) {
  int index = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 176'417) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_TRUE(is_accurate(GetParam(), x, ++index % 64 != 0));
  }
}

TEST_P(Accuracy, HoldsForFloatAtHardPoints) {
  for (const float x : hard_points<float>()) {
    ASSERT_TRUE(is_accurate(GetParam(), x, true));
  }
}

TEST_P(Accuracy, HoldsForDoubleAtRandomPoints) {
  PointSource<double> source(7);
  const int count = GetParam().long_library != nullptr ? 20'000 : 2'000;
  for (int i = 1; i <= count; ++i) {
    ASSERT_TRUE(is_accurate(GetParam(), source.next(), i % 64 != 0));
  }
}

TEST_P(Accuracy, HoldsForDoubleAtHardPoints) {
  const std::vector<double> points = hard_points<double>();
  const std::size_t step = GetParam().long_library != nullptr ? 1 : 31;
  for (std::size_t i = 0; i < points.size(); i += step) {
    ASSERT_TRUE(is_accurate(GetParam(), points[i], true));
  }
}

INSTANTIATE_TEST_SUITE_P(Math, Accuracy, ::testing::ValuesIn(unary_functions()),
                         [](const auto& info) { return std::string(info.param.name); });

class PairAccuracy : public ::testing::TestWithParam<BinaryFunction> {
 protected:
  template <class T>
  void check(T x, T y) {
    const BinaryFunction& f = GetParam();
    T got;
    double limit;
    if constexpr (sizeof(T) == 4) {
      got = f.single(x, y);
      limit = f.single_ulp;
      if (limit > 0 && ulp_error(got, f.library(static_cast<double>(x), static_cast<double>(y))) < 0.95 * limit) {
        return;
      }
    } else {
      got = f.twice(x, y);
      limit = f.double_ulp;
      if (limit > 0 &&
          ulp_error(got, f.long_library(static_cast<long double>(x), static_cast<long double>(y))) < 0.95 * limit) {
        return;
      }
    }
    Number a;
    Number b;
    Number exact;
    mpfr_set_d(a, static_cast<double>(x), MPFR_RNDN);
    mpfr_set_d(b, static_cast<double>(y), MPFR_RNDN);
    f.exact(exact, a, b);
    ASSERT_LE(ulp_error_exact(got, exact), limit) << f.name << "(" << x << ", " << y << ") = " << got;
  }

  template <class T>
  void run() {
    PointSource<T> first(3);
    PointSource<T> second(4);
    std::mt19937_64 engine(5);
    for (int i = 0; i < 20'000 && !HasFatalFailure(); ++i) {
      const T x = first.next();
      T y = second.next();
      if (i % 3 == 0) {
        y = second.any_bits(engine());
      } else if (i % 3 == 1 && x > 0) {
        // The range in which a power neither overflows nor underflows.
        y = static_cast<T>((static_cast<double>(engine() >> 11) * 0x1p-52 - 1) * 745 /
                           std::log(static_cast<double>(x)));
      }
      check(x, y);
    }
  }
};

TEST_P(PairAccuracy, HoldsForFloat) { run<float>(); }

TEST_P(PairAccuracy, HoldsForDouble) { run<double>(); }

INSTANTIATE_TEST_SUITE_P(Math, PairAccuracy, ::testing::ValuesIn(binary_functions()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace calque::math::test
