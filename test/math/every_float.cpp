// Runs the compiled f32 functions, vectors and special cases included, over all 2^32 bit patterns (or every n-th) and
// compares them with the f64 functions, which are accurate to 2^-28 ulp of an f32 if they are within 2 ulp
// (math_exhaustive measures those against MPFR). Prints a Markdown row per function; exit status 1 when one exceeds its
// limit. Functions of two arguments are run on as many random pairs; the argument printed is then the counter from
// which the pair was generated.
//
//   math_every_float [--stride N] [--fast] [FUNCTION...]
//
// --fast: the forms of fast_math, on arguments whose results are normal numbers.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <calque/calque.h>

namespace cq = calque;

namespace {

constexpr int64_t kBlock = int64_t{1} << 18;

/// The bit patterns first, first + stride, ... as floats.
template <class First, class Stride>
auto floats(const First& first, const Stride& stride) {
  return cq::bitcast<float>(first + stride * cq::iota<uint32_t>(kBlock));
}

/// |y - exact| in ulp of an f32 near `exact`; infinite where only one is NaN or infinity.
template <class Y, class Exact>
auto ulp_error(const Y& y, const Exact& exact) {
  const auto nearest = cq::cast<float>(exact);
  const auto exponent = (cq::bitcast<uint64_t>(exact) >> uint64_t{52}) & uint64_t{0x7ff};
  // 2^-149 at least.
  const auto unit_exponent = maximum(exponent, uint64_t{1023 - 126}) - uint64_t{23};
  const auto unit = cq::bitcast<double>(unit_exponent << uint64_t{52});
  const auto error = abs(cq::cast<double>(y) - exact) / unit;
  const auto special = !(isfinite(y) && isfinite(nearest));
  const auto agree = y == nearest || (isnan(y) && isnan(nearest));
  return cq::where(special, cq::where(agree, 0.0, std::numeric_limits<double>::infinity()), error);
}

/// True when fast_math guarantees the result. It flushes subnormal numbers, and functions split arguments into parts:
/// parts of a number whose least significant bit is subnormal are lost.
template <class X, class Exact>
auto is_ordinary(const X& x, const Exact& exact) {
  const auto magnitude = abs(exact);
  return isfinite(x) && (abs(x) >= 0x1p-102f) && (magnitude >= 0x1p-102) && (magnitude < 0x1p127);
}

/// A hash of a counter, a bijection (the finaliser of MurmurHash3).
template <class X>
auto scrambled(X x) {
  x = (x ^ (x >> uint32_t{16})) * uint32_t{0x85ebca6b};
  x = (x ^ (x >> uint32_t{13})) * uint32_t{0xc2b2ae35};
  return x ^ (x >> uint32_t{16});
}

struct Function {
  std::string name;
  double limit;
  /// The largest error of a block, and all errors.
  std::function<double(uint32_t first, uint32_t stride, bool fast)> worst;
  std::function<cq::Array<double>(uint32_t first, uint32_t stride, bool fast)> errors;
};

template <class Errors>
Function function(const char* name, double limit, Errors errors) {
  const auto worst = [errors](bool fast) {
    return [errors, fast](auto first, auto stride) { return cq::amax(errors(fast)(first, stride)); };
  };
  const auto usual_worst = cq::jit(worst(false));
  const auto fast_worst = cq::jit(worst(true), {.fast_math = true});
  const auto usual_errors = cq::jit(errors(false));
  const auto fast_errors = cq::jit(errors(true), {.fast_math = true});
  return {name, limit,
          [=](uint32_t first, uint32_t stride, bool fast) {
            return double(fast ? fast_worst(first, stride) : usual_worst(first, stride));
          },
          [=](uint32_t first, uint32_t stride, bool fast) {
            return fast ? fast_errors(first, stride) : usual_errors(first, stride);
          }};
}

template <class F>
Function make(const char* name, double limit, F f) {
  return function(name, limit, [f](bool fast) {
    return [f, fast](auto first, auto stride) {
      const auto x = floats(first, stride);
      const auto exact = f(cq::cast<double>(x));
      const auto e = ulp_error(f(x), exact);
      return fast ? cq::where(is_ordinary(x, exact), e, 0.0) : e;
    };
  });
}

/// A function of two arguments on pairs of random bit patterns; in half of them the second argument is chosen such that
/// a power has moderate size.
template <class F>
Function make_pair(const char* name, double limit, F f) {
  return function(name, limit, [f](bool fast) {
    return [f, fast](auto first, auto stride) {
      const auto counter = first + stride * cq::iota<uint32_t>(kBlock);
      const auto x = cq::bitcast<float>(scrambled(counter));
      const auto bits = scrambled(counter ^ uint32_t{0x9e3779b9});
      const auto near = (cq::cast<float>(bits) * 0x1p-31f - 1.0f) * 155.0f / log2(abs(x));
      const auto y = cq::where((scrambled(bits) & uint32_t{1}) == uint32_t{0}, near, cq::bitcast<float>(bits));
      const auto exact = f(cq::cast<double>(x), cq::cast<double>(y));
      const auto e = ulp_error(f(x, y), exact);
      return fast ? cq::where(is_ordinary(x, exact), e, 0.0) : e;
    };
  });
}

std::vector<Function> functions() {
#define CALQUE_FUNCTION(f, limit) make(#f, limit, [](auto x) { return f(x); })
#define CALQUE_PAIR(f, limit) make_pair(#f, limit, [](auto x, auto y) { return f(x, y); })
  return {
      CALQUE_FUNCTION(exp, 1),        CALQUE_FUNCTION(exp2, 1),    CALQUE_FUNCTION(expm1, 1),
      CALQUE_FUNCTION(sigmoid, 1),    CALQUE_FUNCTION(log, 1),     CALQUE_FUNCTION(log2, 1),
      CALQUE_FUNCTION(log10, 1),      CALQUE_FUNCTION(log1p, 1),   CALQUE_FUNCTION(sin, 1),
      CALQUE_FUNCTION(cos, 1),        CALQUE_FUNCTION(tan, 1),     CALQUE_FUNCTION(asin, 1),
      CALQUE_FUNCTION(acos, 1),       CALQUE_FUNCTION(atan, 1),    CALQUE_FUNCTION(sinh, 1),
      CALQUE_FUNCTION(cosh, 1),       CALQUE_FUNCTION(tanh, 1),    CALQUE_FUNCTION(asinh, 1),
      CALQUE_FUNCTION(acosh, 1),      CALQUE_FUNCTION(atanh, 1),   CALQUE_FUNCTION(sqrt, 1),
      CALQUE_FUNCTION(rsqrt, 1),      CALQUE_FUNCTION(cbrt, 1),    CALQUE_FUNCTION(erf, 1),
      CALQUE_FUNCTION(trigamma, 1),   CALQUE_FUNCTION(erfcx, 2),   CALQUE_FUNCTION(ndtr, 1.5),
      CALQUE_FUNCTION(log_ndtr, 1.5), CALQUE_FUNCTION(ndtri, 2.5), CALQUE_FUNCTION(i0, 3.5),
      CALQUE_FUNCTION(i0e, 3.5),      CALQUE_FUNCTION(i1, 3.5),    CALQUE_FUNCTION(i1e, 3.5),
      CALQUE_FUNCTION(erfc, 2),       CALQUE_PAIR(pow, 1),         CALQUE_PAIR(atan2, 1),
      CALQUE_PAIR(hypot, 1),
  };
#undef CALQUE_FUNCTION
#undef CALQUE_PAIR
}

/// Prints the row. Returns true when the function is within its limit.
bool measure(const Function& f, uint32_t stride, bool fast) {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t count = ((uint64_t{1} << 32) + stride - 1) / stride;
  double worst = 0;
  uint32_t block = 0;
  for (uint64_t at = 0; at < count; at += kBlock) {
    // The last block may wrap around from the last pattern to 0.
    const auto first = static_cast<uint32_t>(at * stride);
    const double error = f.worst(first, stride, fast);
    if (error > worst) {
      worst = error;
      block = first;
    }
  }
  const cq::Array<double> of_block = f.errors(block, stride, fast);
  const auto errors = of_block.host();
  const auto at = static_cast<uint32_t>(std::max_element(errors.begin(), errors.end()) - errors.begin());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("| %s | %.3f | %a | %.0f s |\n", f.name.c_str(), worst,
              static_cast<double>(std::bit_cast<float>(block + stride * at)), seconds);
  std::fflush(stdout);
  return worst <= (fast ? 5 : f.limit);
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t stride = 1;
  bool fast = false;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--stride") == 0 && i + 1 < argc) {
      stride = static_cast<uint32_t>(std::max(1L, std::strtol(argv[++i], nullptr, 10)));
    } else if (std::strcmp(argv[i], "--fast") == 0) {
      fast = true;
    } else {
      names.emplace_back(argv[i]);
    }
  }
  std::printf("| function | largest error (ulp) | at | time |\n|---|---|---|---|\n");
  bool good = true;
  for (const Function& f : functions())
    if (names.empty() || std::find(names.begin(), names.end(), f.name) != names.end())
      good = measure(f, stride, fast) && good;
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
