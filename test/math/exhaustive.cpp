// Measures the functions of lib/math: f32 over all bit patterns (or every n-th), f64 over random and hard points, each
// compared with the C library in more precision and the worst ones confirmed by MPFR. Prints a table in Markdown.
//
//   exhaustive [--stride N] [--f64-points N] [--f32-only | --f64-only] [FUNCTION...]

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "functions.h"
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

template <class T>
void consider(const UnaryFunction& f, T x, T got, Worst<T>& worst) {
  double error = 0;
  if constexpr (sizeof(T) == 4) {
    if (f.library != nullptr) {
      error = ulp_error(got, f.library(static_cast<double>(x)));
    } else {
      error = std::numeric_limits<double>::infinity();
    }
  } else {
    if (f.long_library != nullptr) {
      error = ulp_error(got, f.long_library(static_cast<long double>(x)));
    } else {
      error = std::numeric_limits<double>::infinity();
    }
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
    confirm(f, x, f.twice(x), worst);
  }
  PointSource<double> source(12345);
  // Where only MPFR knows the answer, fewer.
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
    // Of the second arguments a part is such that results are of moderate size.
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
