// Measures the functions of lib/math: f32 over all bit patterns (or every n-th), f64 over random and hard points, each
// compared with the C library in higher precision and the worst ones confirmed by MPFR. Prints a table in Markdown.
//
//   exhaustive [--stride N] [--f64-points N] [--f32-only | --f64-only] [FUNCTION...]
//   exhaustive --equations
//
// --equations instead prints the number of operations of each function on its common and cold paths.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "functions.h"
#include "math/counting_backend.h"
#include "points.h"

namespace calque::math::test {
namespace {

struct Options {
  std::uint32_t stride = 1;
  std::uint64_t points = 10'000'000;
  bool single = true;
  bool twice = true;
  std::vector<std::string> names;
};

template <class T>
struct Worst {
  double error = 0;
  T at = 0;
  T got = 0;
  /// Largest distance from the correctly rounded result, in representable values.
  double distance = 0;
  T distance_at = 0;
};

template <class T>
T nearest(mpfr_srcptr v) {
  if constexpr (sizeof(T) == 4) {
    return mpfr_get_flt(v, MPFR_RNDN);
  } else {
    return mpfr_get_d(v, MPFR_RNDN);
  }
}

template <class T>
void confirm(const UnaryFunction& f, T x, T got, Worst<T>& worst) {
  Number argument;
  Number exact;
  mpfr_set_d(argument, static_cast<double>(x), MPFR_RNDN);
  f.exact(exact, argument);
  const double error = ulp_error_exact(got, exact);
  if (error > worst.error) {
    worst.error = error;
    worst.at = x;
    worst.got = got;
  }
  const double distance = representable_distance(got, nearest<T>(exact));
  if (distance > worst.distance) {
    worst.distance = distance;
    worst.distance_at = x;
  }
}

/// Passes x on to MPFR if the C library, in higher precision, finds an error near the worst so far.
template <class T>
void consider(const UnaryFunction& f, T x, T got, Worst<T>& worst) {
  double error = std::numeric_limits<double>::infinity();
  const auto judge = [&](auto exact) {
    // Correctly rounded results, the majority, need no arithmetic.
    error = got == static_cast<T>(exact) ? 0 : ulp_error(got, exact);
  };
  if constexpr (sizeof(T) == 4) {
    judge(f.library(static_cast<double>(x)));
  } else if (f.long_library != nullptr) {
    judge(f.long_library(static_cast<long double>(x)));
  }
  if (error > worst.error * 0.999 && error > 0.5) {
    confirm(f, x, got, worst);
  }
}

void measure_single(const UnaryFunction& f, std::uint32_t stride) {
  Worst<float> worst;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    consider(f, x, f.single(x), worst);
  }
  std::printf("| %s | f32 | %.3f | %a | %g | %.9g |\n", f.name, worst.error, static_cast<double>(worst.at),
              worst.distance, static_cast<double>(worst.distance_at));
  std::fflush(stdout);
}

void measure_double(const UnaryFunction& f, std::uint64_t points) {
  Worst<double> worst;
  for (const double x : hard_points<double>()) {
    // MPFR needs a millisecond for the functions that are made of others.
    if (f.long_library != nullptr) {
      consider(f, x, f.twice(x), worst);
    } else {
      confirm(f, x, f.twice(x), worst);
    }
  }
  PointSource<double> source(12345);
  // Fewer points where only MPFR has the function.
  const std::uint64_t count = f.long_library != nullptr ? points : std::min<std::uint64_t>(points, 100'000);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = source.next();
    consider(f, x, f.twice(x), worst);
  }
  std::printf("| %s | f64 | %.3f | %a | %g | %.17g |\n", f.name, worst.error, worst.at, worst.distance,
              worst.distance_at);
  std::fflush(stdout);
}

template <class T>
void measure_pairs(const BinaryFunction& f, std::uint64_t points) {
  Worst<T> worst;
  T second = 0;
  PointSource<T> source(54321);
  std::mt19937_64 engine(99);
  for (std::uint64_t i = 0; i < points; ++i) {
    const T x = source.next();
    // Some of the second arguments are chosen such that results have moderate size.
    T y = i % 3 == 0 ? source.any_bits(engine()) : source.next();
    if (i % 3 == 2 && x > 0) {
      y = static_cast<T>((static_cast<double>(engine() >> 11) * 0x1p-52 - 1) * 745 / std::log(static_cast<double>(x)));
    }
    T got;
    double error;
    if constexpr (sizeof(T) == 4) {
      got = f.single(x, y);
      error = ulp_error(got, f.library(static_cast<double>(x), static_cast<double>(y)));
    } else {
      got = f.twice(x, y);
      error = ulp_error(got, f.long_library(static_cast<long double>(x), static_cast<long double>(y)));
    }
    if (error > worst.error * 0.999 && (error > 0.5 || f.single_ulp == 0)) {
      Number a;
      Number b;
      Number exact;
      mpfr_set_d(a, static_cast<double>(x), MPFR_RNDN);
      mpfr_set_d(b, static_cast<double>(y), MPFR_RNDN);
      f.exact(exact, a, b);
      error = ulp_error_exact(got, exact);
      worst.distance = std::max(worst.distance, representable_distance(got, nearest<T>(exact)));
      if (error > worst.error) {
        worst.error = error;
        worst.at = x;
        second = y;
      }
    }
  }
  std::printf("| %s | %s | %.3f | %a, %a | %g | |\n", f.name, sizeof(T) == 4 ? "f32" : "f64", worst.error,
              static_cast<double>(worst.at), static_cast<double>(second), worst.distance);
  std::fflush(stdout);
}

template <class T, class Function>
void print_equations(const char* name, Function function) {
  CountingBackend::counts = {};
  function(Lane<T, CountingBackend>(1));
  const OperationCounts& counts = CountingBackend::counts;
  std::printf("| %s | %s | %d | %d |\n", name, sizeof(T) == 4 ? "f32" : "f64", counts.common, counts.cold);
}

int print_all_equations() {
  std::printf("| function | type | common | cold |\n|---|---|---|---|\n");
#define CALQUE_EQUATIONS(f)                                             \
  print_equations<float>(#f, [](const auto& x) { return math::f(x); }); \
  print_equations<double>(#f, [](const auto& x) { return math::f(x); });
#define CALQUE_PAIR_EQUATIONS(f)                                           \
  print_equations<float>(#f, [](const auto& x) { return math::f(x, x); }); \
  print_equations<double>(#f, [](const auto& x) { return math::f(x, x); });
  CALQUE_EQUATIONS(exp)
  CALQUE_EQUATIONS(exp2)
  CALQUE_EQUATIONS(expm1)
  CALQUE_EQUATIONS(sigmoid)
  CALQUE_EQUATIONS(log)
  CALQUE_EQUATIONS(log2)
  CALQUE_EQUATIONS(log10)
  CALQUE_EQUATIONS(log1p)
  CALQUE_EQUATIONS(sin)
  CALQUE_EQUATIONS(cos)
  CALQUE_EQUATIONS(tan)
  CALQUE_EQUATIONS(asin)
  CALQUE_EQUATIONS(acos)
  CALQUE_EQUATIONS(atan)
  CALQUE_EQUATIONS(sinh)
  CALQUE_EQUATIONS(cosh)
  CALQUE_EQUATIONS(tanh)
  CALQUE_EQUATIONS(asinh)
  CALQUE_EQUATIONS(acosh)
  CALQUE_EQUATIONS(atanh)
  CALQUE_EQUATIONS(cbrt)
  CALQUE_EQUATIONS(rsqrt)
  CALQUE_EQUATIONS(erf)
  CALQUE_EQUATIONS(erfc)
  CALQUE_EQUATIONS(erf_inv)
  CALQUE_EQUATIONS(lgamma)
  CALQUE_EQUATIONS(tgamma)
  CALQUE_EQUATIONS(digamma)
  CALQUE_EQUATIONS(trigamma)
  CALQUE_EQUATIONS(erfcx)
  CALQUE_EQUATIONS(ndtr)
  CALQUE_EQUATIONS(log_ndtr)
  CALQUE_EQUATIONS(ndtri)
  CALQUE_EQUATIONS(i0)
  CALQUE_EQUATIONS(i0e)
  CALQUE_EQUATIONS(i1)
  CALQUE_EQUATIONS(i1e)
  CALQUE_PAIR_EQUATIONS(pow)
  CALQUE_PAIR_EQUATIONS(atan2)
  CALQUE_PAIR_EQUATIONS(hypot)
  CALQUE_PAIR_EQUATIONS(fmod)
  CALQUE_PAIR_EQUATIONS(remainder)
  CALQUE_PAIR_EQUATIONS(nextafter)
  return 0;
}

int run(const Options& options) {
  std::printf("| function | type | max error (ulp) | at | max distance | at |\n|---|---|---|---|---|---|\n");
  for (const UnaryFunction& f : unary_functions()) {
    if (!options.names.empty() &&
        std::find(options.names.begin(), options.names.end(), f.name) == options.names.end()) {
      continue;
    }
    if (options.single) {
      measure_single(f, options.stride);
    }
    if (options.twice) {
      measure_double(f, options.points);
    }
  }
  for (const BinaryFunction& f : binary_functions()) {
    if (!options.names.empty() &&
        std::find(options.names.begin(), options.names.end(), f.name) == options.names.end()) {
      continue;
    }
    if (options.single) {
      measure_pairs<float>(f, options.points);
    }
    if (options.twice) {
      measure_pairs<double>(f, options.points);
    }
  }
  return 0;
}

}  // namespace
}  // namespace calque::math::test

int main(int argc, char** argv) {
  calque::math::test::Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--equations") == 0) {
      return calque::math::test::print_all_equations();
    }
    if (std::strcmp(argv[i], "--stride") == 0 && i + 1 < argc) {
      options.stride = static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else if (std::strcmp(argv[i], "--f64-points") == 0 && i + 1 < argc) {
      options.points = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--f32-only") == 0) {
      options.twice = false;
    } else if (std::strcmp(argv[i], "--f64-only") == 0) {
      options.single = false;
    } else {
      options.names.emplace_back(argv[i]);
    }
  }
  return calque::math::test::run(options);
}
