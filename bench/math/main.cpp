// Prints cycles per element and the largest error in ulp of every function and rival, over arrays of 2048 numbers.
// Loops of rivals are called directly. Calque's functions are called as users call them, and the call overhead,
// measured as the time of the same function over 16 numbers, is subtracted. Variants run interleaved; a figure is a
// median.
//
//   bench_math [--repetitions=N] [--json=FILE] [FUNCTION...]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include <calque/calque.h>
#include <nlohmann/json.hpp>

#include "math/routines.h"
#include "primitives/elementwise/special.h"

namespace cq = calque;

namespace {

constexpr size_t kElements = 2048, kFewElements = 16;

/// Calque's function of one or two arrays; unary functions ignore the second.
template <class T>
using Compiled = std::function<cq::Array<T>(const cq::Array<T>&, const cq::Array<T>&)>;

/// A function: Calque's, its exact value, the arguments it is timed on.
struct Function {
  std::string name;
  std::function<Compiled<float>(bool fast_math)> f32;
  std::function<Compiled<double>(bool fast_math)> f64;
  std::function<long double(long double, long double)> exact;
  double low, high;
  double second_low = 0, second_high = 0;

  template <class T>
  Compiled<T> compiled(bool fast_math) const {
    if constexpr (sizeof(T) == 4) {
      return f32(fast_math);
    } else {
      return f64(fast_math);
    }
  }
};

/// Arguments, in the forms that rivals and Calque take, and the result of a rival.
template <class T>
struct Arguments {
  std::vector<T> x, y, out;
  cq::Array<T> x_array, y_array;

  Arguments(const Function& f, uint64_t seed, size_t n);
};

template <class T>
struct Variant {
  std::string name;
  /// Runs on arguments; returns where the result is, which the next run may overwrite.
  std::function<const T*(Arguments<T>&)> run;
  bool is_dispatched = false;  ///< a call has overhead besides its loop
  double cycles = 0;
  double ulp = 0;
};

template <class T>
Variant<T> calque_variant(const char* name, Compiled<T> f) {
  const auto run = [f = std::move(f), result = cq::Array<T>()](Arguments<T>& a) mutable {
    result = f(a.x_array, a.y_array);
    return result.host().data();
  };
  return {name, run, true};
}

/// |got - exact| in ulps of a T near `exact`.
template <class T>
double ulp_error(T got, long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int ulp_exponent = std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs(std::ldexp(static_cast<long double>(got) - exact, -ulp_exponent)));
}

template <class T>
std::vector<T> random_numbers(double low, double high, uint64_t seed, size_t n) {
  std::mt19937_64 bits(seed);
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53));
  return values;
}

template <class T>
Arguments<T>::Arguments(const Function& f, uint64_t seed, size_t n)
    : x(random_numbers<T>(f.low, f.high, seed, n)),
      y(random_numbers<T>(f.second_low, f.second_high, seed + 1, n)),
      out(n),
      x_array(cq::Array<T>::from(std::span<const T>(x), {static_cast<int64_t>(n)})),
      y_array(cq::Array<T>::from(std::span<const T>(y), {static_cast<int64_t>(n)})) {}

/// The largest error over 64 blocks of random arguments.
template <class T>
double largest_error(const Function& f, const Variant<T>& v) {
  double worst = 0;
  for (uint64_t block = 0; block < 64; ++block) {
    Arguments<T> a(f, 2 * block, kElements);
    const T* out = v.run(a);
    for (size_t i = 0; i < kElements; ++i) worst = std::max(worst, ulp_error(out[i], f.exact(a.x[i], a.y[i])));
  }
  return worst;
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Measures the time of calls repeatedly.
template <class T>
class Timing {
 public:
  Timing(const Variant<T>& variant, Arguments<T> arguments) : variant_(variant), arguments_(std::move(arguments)) {}
  /// The first run determines how many calls take long enough to be timed.
  void repeat() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (int c = 0; c < calls_; ++c) variant_.run(arguments_);
    const double each = std::chrono::duration<double>(Clock::now() - start).count() / calls_;
    if (counted_) seconds_.push_back(each);
    if (!counted_) calls_ = std::max(1, static_cast<int>(3e-4 / each));
    counted_ = true;
  }
  double seconds() { return median(seconds_); }

 private:
  const Variant<T>& variant_;
  Arguments<T> arguments_;
  bool counted_ = false;
  int calls_ = 1;
  std::vector<double> seconds_;
};

template <class T>
void time_variants(const Function& f, std::vector<Variant<T>>& variants, double frequency, int repetitions) {
  std::vector<Timing<T>> loops, calls;
  for (Variant<T>& v : variants) {
    Arguments<T> many(f, 1, kElements), few(f, 1, kFewElements);
    v.run(many);  // compiles
    loops.emplace_back(v, std::move(many));
    if (v.is_dispatched) v.run(few);
    calls.emplace_back(v, std::move(few));
  }
  for (int r = -1; r < repetitions; ++r) {
    for (size_t i = 0; i < variants.size(); ++i) {
      loops[i].repeat();
      if (variants[i].is_dispatched) calls[i].repeat();
    }
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    double seconds = loops[i].seconds();
    size_t elements = kElements;
    if (variants[i].is_dispatched) {
      seconds -= calls[i].seconds();
      elements -= kFewElements;
    }
    variants[i].cycles = seconds * frequency / static_cast<double>(elements);
    variants[i].ulp = largest_error(f, variants[i]);
  }
}

template <class T>
void measure(const Function& f, const std::vector<Routine<T>>& rivals, double frequency, int repetitions,
             nlohmann::ordered_json& rows) {
  const bool twice = sizeof(T) == 8;
  std::vector<Variant<T>> variants = {calque_variant<T>("calque", f.compiled<T>(false)),
                                      calque_variant<T>("calque fast_math", f.compiled<T>(true))};
  for (const Routine<T>& r : rivals) {
    if (f.name != r.function) continue;
    variants.push_back({r.rival, [run = r.run](Arguments<T>& a) {
                          run(a.x.data(), a.y.data(), a.out.data(), a.x.size());
                          return static_cast<const T*>(a.out.data());
                        }});
  }
  time_variants(f, variants, frequency, repetitions);
  std::printf("| %s | %s |", f.name.c_str(), twice ? "f64" : "f32");
  for (const char* name :
       {"calque", "calque fast_math", "sleef u10", "sleef u35", "eigen", "libmvec", "libm", "intrinsics"}) {
    const auto v = std::find_if(variants.begin(), variants.end(), [&](const auto& each) {
      return each.name == name || (each.name == "sleef u05" && std::strcmp(name, "sleef u10") == 0) ||
             (each.name == "sleef u15" && std::strcmp(name, "sleef u10") == 0);
    });
    if (v == variants.end()) {
      std::printf(" |");
      continue;
    }
    std::printf(v->ulp < 1e3 ? " %.2f (%.2f) |" : " %.2f (%.0e) |", v->cycles, v->ulp);
    rows.push_back({{"function", f.name},
                    {"type", twice ? "f64" : "f32"},
                    {"variant", v->name},
                    {"cycles", v->cycles},
                    {"ulp", v->ulp}});
  }
  std::printf("\n");
  std::fflush(stdout);
}

template <class T, class F>
Compiled<T> of_one(F f, bool fast_math) {
  return [g = cq::jit(f, {.fast_math = fast_math})](const auto& x, const auto&) { return g(x); };
}
template <class T, class F>
Compiled<T> of_two(F f, bool fast_math) {
  return [g = cq::jit(f, {.fast_math = fast_math})](const auto& x, const auto& y) { return g(x, y); };
}

std::vector<Function> functions() {
  std::vector<Function> list;
  const auto add = [&](const char* name, auto f, auto exact, double low, double high) {
    list.push_back({name, [f](bool fast) { return of_one<float>(f, fast); },
                    [f](bool fast) { return of_one<double>(f, fast); },
                    [exact](long double x, long double) { return exact(x); }, low, high});
  };
  const auto add_pair = [&](const char* name, auto f, auto exact, double low, double high, double low2, double high2) {
    list.push_back({name, [f](bool fast) { return of_two<float>(f, fast); },
                    [f](bool fast) { return of_two<double>(f, fast); }, exact, low, high, low2, high2});
  };
#define CALQUE_ADD(f, low, high) \
  add(#f, [](auto x) { return f(x); }, [](long double x) { return std::f(x); }, low, high)
#define CALQUE_ADD_PAIR(f, low, high, low2, high2)                                                                \
  add_pair(                                                                                                       \
      #f, [](auto x, auto y) { return f(x, y); }, [](long double x, long double y) { return std::f(x, y); }, low, \
      high, low2, high2)
  CALQUE_ADD(exp, -20, 20);
  CALQUE_ADD(exp2, -20, 20);
  CALQUE_ADD(expm1, -5, 5);
  CALQUE_ADD(log, 0, 100);
  CALQUE_ADD(log2, 0, 100);
  CALQUE_ADD(log10, 0, 100);
  CALQUE_ADD(log1p, -0.9, 10);
  CALQUE_ADD(sin, -10, 10);
  CALQUE_ADD(cos, -10, 10);
  CALQUE_ADD(tan, -10, 10);
  CALQUE_ADD(asin, -1, 1);
  CALQUE_ADD(acos, -1, 1);
  CALQUE_ADD(atan, -10, 10);
  CALQUE_ADD(sinh, -5, 5);
  CALQUE_ADD(cosh, -5, 5);
  CALQUE_ADD(tanh, -5, 5);
  CALQUE_ADD(asinh, -10, 10);
  CALQUE_ADD(acosh, 1, 10);
  CALQUE_ADD(atanh, -1, 1);
  CALQUE_ADD(erf, -4, 4);
  CALQUE_ADD(erfc, -4, 4);
  CALQUE_ADD(sqrt, 0, 100);
  CALQUE_ADD(cbrt, 0, 100);
  CALQUE_ADD(lgamma, 0, 20);
  CALQUE_ADD(tgamma, 0, 20);
  add("rsqrt", [](auto x) { return rsqrt(x); }, [](long double x) { return 1 / std::sqrt(x); }, 0, 100);
  add("sigmoid", [](auto x) { return sigmoid(x); }, [](long double x) { return 1 / (1 + std::exp(-x)); }, -10, 10);
#define CALQUE_ADD_SPECIAL(f, reference, low, high) \
  add(#f, [](auto x) { return f(x); }, [](long double x) { return calque::primitives::special::reference; }, low, high)
  CALQUE_ADD_SPECIAL(digamma, digamma(x), 0, 20);
  CALQUE_ADD_SPECIAL(trigamma, trigamma(x), 0, 20);
  CALQUE_ADD_SPECIAL(erfcx, erfcx(x), 0, 20);
  CALQUE_ADD_SPECIAL(ndtr, ndtr(x), -5, 5);
  CALQUE_ADD_SPECIAL(log_ndtr, log_ndtr(x), -10, 10);
  CALQUE_ADD_SPECIAL(ndtri, ndtri(x), 0, 1);
  CALQUE_ADD_SPECIAL(i0, bessel_i(0, x, false), -20, 20);
  CALQUE_ADD_SPECIAL(i0e, bessel_i(0, x, true), -20, 20);
  CALQUE_ADD_SPECIAL(i1, bessel_i(1, x, false), -20, 20);
  CALQUE_ADD_SPECIAL(i1e, bessel_i(1, x, true), -20, 20);
#undef CALQUE_ADD_SPECIAL
  CALQUE_ADD_PAIR(pow, 0, 10, -5, 5);
  CALQUE_ADD_PAIR(atan2, -10, 10, -10, 10);
  CALQUE_ADD_PAIR(hypot, -10, 10, -10, 10);
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names;
  std::string json_file;
  int repetitions = 15;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--json=")) {
      json_file = argument.substr(7);
    } else if (argument.starts_with("--repetitions=")) {
      repetitions = std::max(1, std::atoi(argument.c_str() + 14));
    } else if (!argument.starts_with("--")) {
      names.push_back(argument);
    }
  }
  Routines rivals;
  std::vector<Routines> lists = {eigen_routines(), plain_routines(), fast_math_routines(), intrinsics_routines()};
#if CALQUE_BENCH_SLEEF
  lists.push_back(sleef_routines());
#endif
  for (const Routines& list : lists) {
    rivals.f32.insert(rivals.f32.end(), list.f32.begin(), list.f32.end());
    rivals.f64.insert(rivals.f64.end(), list.f64.begin(), list.f64.end());
  }
  const double frequency = clock_frequency();
  std::printf("clock %.3g GHz; cycles an element (largest error in ulp)\n", frequency / 1e9);
  std::printf("| function | type | calque | fast_math | sleef u10 | sleef u35 | eigen | libmvec | libm | by hand |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Function& f : functions()) {
    if (!names.empty() && std::find(names.begin(), names.end(), f.name) == names.end()) continue;
    measure<float>(f, rivals.f32, frequency, repetitions, rows);
    measure<double>(f, rivals.f64, frequency, repetitions, rows);
  }
  if (!json_file.empty()) std::ofstream(json_file) << nlohmann::ordered_json{{"math", rows}}.dump(1) << '\n';
}
