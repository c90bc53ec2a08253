// The routine `fft` against sums in a wider type, for rows by themselves and side by side.
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/ir/program.h"
#include "primitives/spectral/fft.h"
#include "runtime/routines/routines.h"
#include "support/random/random.h"
#include "support/splitting.h"

namespace calque::test {
namespace {

using primitives::FftKind;

constexpr FftKind kKinds[] = {FftKind::fft, FftKind::ifft, FftKind::rfft, FftKind::irfft};

size_t numbers_read(FftKind kind, size_t n) {
  return kind == FftKind::rfft ? n : kind == FftKind::irfft ? 2 * (n / 2 + 1) : 2 * n;
}
size_t numbers_written(FftKind kind, size_t n) {
  return kind == FftKind::irfft ? n : kind == FftKind::rfft ? 2 * (n / 2 + 1) : 2 * n;
}

template <class T>
std::vector<T> transformed(FftKind kind, size_t n, const std::vector<T>& x) {
  const DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const auto rows = static_cast<int64_t>(x.size() / numbers_read(kind, n)), length = static_cast<int64_t>(n);
  const Type real{dtype, {rows, length}}, whole{dtype, {rows, length, 2}}, half{dtype, {rows, length / 2 + 1, 2}};
  kernel::RoutineRef routine;
  routine.routine = primitives::Routine::fft;
  routine.flags = static_cast<uint32_t>(kind);
  routine.arguments = {kind == FftKind::rfft ? real : kind == FftKind::irfft ? half : whole};
  routine.results = {kind == FftKind::irfft ? real : kind == FftKind::rfft ? half : whole};
  std::vector<T> y(static_cast<size_t>(rows) * numbers_written(kind, n));
  void* pointers[] = {const_cast<T*>(x.data()), y.data()};
  runtime::run_routine(routine, pointers);
  return y;
}

template <class T>
std::vector<T> samples(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<T> x(count);
  const auto uniform = [&] { return std::ldexp(static_cast<double>(rng.next() >> 11), -53); };
  for (T& v : x) v = static_cast<T>(uniform() + uniform() + uniform() - 1.5);
  return x;
}

/// The root mean square and the greatest magnitude of the errors, over the root mean square of the results.
struct Errors {
  double squares = 0, of_results = 0, most = 0, count = 0;
  double mean() const { return std::sqrt(squares / of_results); }
  double greatest() const { return most / std::sqrt(of_results / count); }
};

template <class T>
void compare(FftKind kind, size_t n, const std::vector<T>& x, Errors& errors) {
  using W = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const std::vector<T> y = transformed(kind, n, x);
  const bool inverse = kind == FftKind::ifft || kind == FftKind::irfft;
  std::vector<W> cosines, sines;
  for (size_t k = 0; k < n; ++k) {
    const W angle = 2 * std::numbers::pi_v<W> * static_cast<W>(k) / static_cast<W>(n);
    cosines.push_back(std::cos(angle)), sines.push_back(inverse ? std::sin(angle) : -std::sin(angle));
  }
  const size_t half = n / 2 + 1, written = kind == FftKind::rfft ? half : n;
  const T *from = x.data(), *to = y.data();
  std::vector<W> re(n), im(n);
  for (size_t row = 0; row < x.size() / numbers_read(kind, n); ++row) {
    for (size_t j = 0; j < n; ++j) {
      if (kind == FftKind::rfft) {
        re[j] = from[j], im[j] = 0;
      } else if (kind == FftKind::irfft && j >= half) {
        re[j] = re[n - j], im[j] = -im[n - j];
      } else {
        re[j] = from[2 * j], im[j] = kind == FftKind::irfft && (j == 0 || 2 * j == n) ? W(0) : W(from[2 * j + 1]);
      }
    }
    from += numbers_read(kind, n);
    for (size_t k = 0; k < written; ++k) {
      W a = 0, b = 0;
      for (size_t j = 0, jk = 0; j < n; ++j, jk = jk + k < n ? jk + k : jk + k - n) {
        a += re[j] * cosines[jk] - im[j] * sines[jk];
        b += re[j] * sines[jk] + im[j] * cosines[jk];
      }
      if (inverse) a /= static_cast<W>(n), b /= static_cast<W>(n);
      const W error_re = a - *to++, error_im = kind == FftKind::irfft ? W(0) : b - *to++;
      const auto square = static_cast<double>(error_re * error_re + error_im * error_im);
      errors.squares += square;
      errors.of_results += static_cast<double>(kind == FftKind::irfft ? a * a : a * a + b * b);
      errors.most = std::max(errors.most, std::sqrt(square));
      errors.count += 1;
    }
  }
}

/// Of rows by themselves and side by side.
template <class T>
void check_length(size_t n) {
  const double eps = std::numeric_limits<T>::epsilon(), digits = std::max(1.0, std::log2(static_cast<double>(n)));
  for (const FftKind kind : kKinds) {
    Errors errors;
    const size_t read = numbers_read(kind, n);
    for (size_t i = 0; i < (n < 16 ? 20U : 1U); ++i) compare(kind, n, samples<T>(read, 100 * n + i), errors);
    compare(kind, n, samples<T>(read * (n < 16 ? 37 : n <= 128 ? 5 : 2), n), errors);
    EXPECT_LE(errors.mean(), 0.6 * eps * std::sqrt(digits)) << n << " " << static_cast<int>(kind);
    EXPECT_LE(errors.greatest(), 4 * eps * digits) << n << " " << static_cast<int>(kind);
  }
}

TEST(FftRoutine, EveryLengthInSinglePrecision) {
  for (size_t n = 1; n <= 300; ++n) check_length<float>(n);
}
TEST(FftRoutine, EveryLengthInDoublePrecision) {
  for (size_t n = 1; n <= 300; ++n) check_length<double>(n);
}
TEST(FftRoutine, LongRows) {
  for (const size_t n : {499, 512, 1000, 1009, 1024, 2 * 17 * 31, 61 * 16, 67 * 15, 2048}) {
    check_length<float>(n);
    check_length<double>(n);
  }
}

/// Each result has a wave of another frequency: impulses at some elements give all of it, and back.
template <class T>
void check_long_row(size_t n) {
  std::vector<T> x(2 * n);
  const size_t at[] = {0, 1, n / 3, n - 2};
  for (const size_t j : at) x[2 * j] = T(1), x[2 * j + 1] = T(0.5);
  const std::vector<T> y = transformed(FftKind::fft, n, x), back = transformed(FftKind::ifft, n, y);
  double most = 0, returned = 0;
  for (size_t k = 0; k < n; ++k) {
    std::complex<double> want;
    for (const size_t j : at)
      want += std::complex<double>(1, 0.5) *
              std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
    most = std::max(most, std::abs(want - std::complex<double>(y[2 * k], y[2 * k + 1])));
    returned = std::max<double>(returned, std::hypot(back[2 * k] - x[2 * k], back[2 * k + 1] - x[2 * k + 1]));
  }
  const double eps = std::numeric_limits<T>::epsilon();
  EXPECT_LE(most, 40 * eps) << n;
  EXPECT_LE(returned, 10 * eps) << n;
}
TEST(FftRoutine, RowsLongerThanCaches) {
  for (const size_t n : {1 << 20, 3 << 19, 125 << 13, (1 << 20) + 2}) check_long_row<double>(n);
  check_long_row<float>(1 << 21);
}

TEST(FftRoutine, AnImpulseIsExact) {
  for (const size_t n : {1, 2, 8, 12, 30, 64, 1024, 4096}) {
    std::vector<double> x(2 * n);
    x[0] = 1;
    const std::vector<double> y = transformed(FftKind::fft, n, x);
    for (size_t k = 0; k < n; ++k) EXPECT_TRUE(y[2 * k] == 1 && y[2 * k + 1] == 0) << n;
  }
}

TEST(FftRoutine, NanFillsItsRow) {
  for (const FftKind kind : kKinds) {
    for (const size_t n : {2, 5, 8, 48, 67, 134, 256}) {
      const size_t read = numbers_read(kind, n), written = numbers_written(kind, n);
      for (const size_t rows : {1, 5}) {
        std::vector<double> x(rows * read, 1.0);
        x[(rows / 2) * read + read / 2 / 2 * 2] = std::numeric_limits<double>::quiet_NaN();
        const std::vector<double> y = transformed(kind, n, x);
        for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / written == rows / 2) << n << " " << i;
      }
    }
  }
}

/// As numpy.fft.irfft does.
TEST(FftRoutine, ImaginaryPartsAtTheEndsAreNotRead) {
  for (const size_t n : {1, 2, 5, 8, 200}) {
    std::vector<double> x = samples<double>(numbers_read(FftKind::irfft, n), n);
    x[1] = 0;
    if (n % 2 == 0) x[n + 1] = 0;
    const std::vector<double> y = transformed(FftKind::irfft, n, x);
    x[1] = std::numeric_limits<double>::quiet_NaN();
    if (n % 2 == 0) x[n + 1] = 7;
    EXPECT_EQ(transformed(FftKind::irfft, n, x), y) << n;
  }
}

TEST(FftRoutine, ResultsDoNotDependOnThreads) {
  for (const FftKind kind : kKinds) {
    for (const size_t n : {6, 100, 128, 1000, 1009}) {
      const std::vector<float> x = samples<float>(numbers_read(kind, n) * (300000 / n), n);
      const Threads one(1);
      const std::vector<float> y = transformed(kind, n, x);
      for (const int threads : {2, 7}) {
        const Threads several(threads);
        const std::vector<float> z = transformed(kind, n, x);
        EXPECT_EQ(std::memcmp(y.data(), z.data(), y.size() * sizeof(float)), 0) << n << " " << threads;
      }
    }
  }
}

TEST(FftRoutine, NoRows) { EXPECT_TRUE(transformed(FftKind::fft, 8, std::vector<double>()).empty()); }

/// More plans than are kept, each used twice.
TEST(FftRoutine, PlansAreMadeAgain) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const size_t n : {1 << 18, 3 << 17, 1 << 19, 5 << 17}) {
      std::vector<double> x(2 * n);
      x[2] = 1;
      const std::vector<double> y = transformed(FftKind::fft, n, x);
      EXPECT_NEAR(y[n / 2], 0, 1e-15) << n;  // exp(-pi i / 2)
      EXPECT_NEAR(y[n / 2 + 1], -1, 1e-15) << n;
    }
  }
}

}  // namespace
}  // namespace calque::test
