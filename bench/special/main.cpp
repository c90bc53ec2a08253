// The special functions on arrays, one thread. Ours are checked against long double formulas, or where there is none
// against Boost.Math; libraries against ours.
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <vector>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/variants.h"
#include "special/special.h"

namespace cq = calque;

namespace {

using Real = long double;
using Exact = Real (*)(Real x, Real y, Real z);

struct Range {
  double low = 0, high = 1;
};

/// The bounds of the arguments, as in the Python rivals. `exact` may be null.
struct Function {
  const char* name;
  std::vector<Range> ranges;
  Exact exact;
};

/// Euler and Maclaurin's formula from the twentieth term on.
Real hurwitz_zeta(Real s, Real q, Real) {
  Real sum = 0;
  for (int k = 0; k < 20; ++k) sum += std::pow(q + k, -s);
  const Real w = q + 20, power = std::pow(w, -s);
  constexpr Real kBernoulli[] = {1 / 12.0L, -1 / 720.0L, 1 / 30240.0L, -1 / 1209600.0L, 1 / 47900160.0L};
  Real factor = s / w, corrections = 0;
  for (int j = 0; j < 5; ++j) {
    corrections += kBernoulli[j] * factor;
    factor *= (s + (2 * j + 1)) * (s + (2 * j + 2)) / (w * w);
  }
  return sum + power * (w / (s - 1) + 0.5L + corrections);
}

Real riemann_zeta(Real s, Real, Real) { return hurwitz_zeta(s, 1, 0); }
Real log_gamma(Real x, Real, Real) { return std::lgamma(x); }
Real beta(Real x, Real y, Real) { return std::exp(std::lgamma(x) + std::lgamma(y) - std::lgamma(x + y)); }
Real trigamma(Real x, Real, Real) { return hurwitz_zeta(2, x, 0); }
Real polygamma_2(Real x, Real, Real) { return -2 * hurwitz_zeta(3, x, 0); }
Real erfcx(Real x, Real, Real) { return std::exp(x * x) * std::erfc(x); }
Real ndtr(Real x, Real, Real) { return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }
Real i0(Real x, Real, Real) { return std::cyl_bessel_i(0.0L, x); }
Real i1(Real x, Real, Real) { return std::cyl_bessel_i(1.0L, x); }
Real i0e(Real x, Real, Real) { return i0(x, 0, 0) * std::exp(-x); }

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"lgamma", {{2.5, 30}}, log_gamma},
      {"trigamma", {{0.1, 20}}, trigamma},
      {"polygamma 2", {{0.1, 20}}, polygamma_2},
      {"beta", {{0.5, 10}, {0.5, 10}}, beta},
      {"erfcx", {{-2, 20}}, erfcx},
      {"ndtr", {{-5, 5}}, ndtr},
      {"ndtri", {{0.001, 0.999}}, nullptr},
      {"i0", {{0, 20}}, i0},
      {"i0e", {{0, 20}}, i0e},
      {"i1", {{0.01, 20}}, i1},
      {"zeta", {{1.1, 10}, {0.1, 20}}, hurwitz_zeta},
      {"riemann zeta", {{1.1, 20}}, riemann_zeta},
      {"igamma", {{0.5, 20}, {0.1, 20}}, nullptr},
      {"igammac", {{0.5, 20}, {0.1, 20}}, nullptr},
      {"betainc", {{0.5, 20}, {0.5, 20}, {0.01, 0.99}}, nullptr},
  };
  return all;
}

template <class T>
using Compiled = std::function<cq::Array<T>(const cq::Array<T>&, const cq::Array<T>&, const cq::Array<T>&)>;

template <class T, class F>
Compiled<T> compiled(F f) {
  return cq::jit([f](auto x, auto y, auto z) { return f(x, y, z); });
}

template <class T>
Compiled<T> ours(std::string_view name) {
  if (name == "lgamma") return compiled<T>([](auto x, auto, auto) { return lgamma(x); });
  if (name == "trigamma") return compiled<T>([](auto x, auto, auto) { return trigamma(x); });
  if (name == "polygamma 2") return compiled<T>([](auto x, auto, auto) { return cq::polygamma(2, x); });
  if (name == "beta") return compiled<T>([](auto x, auto y, auto) { return exp(betaln(x, y)); });
  if (name == "erfcx") return compiled<T>([](auto x, auto, auto) { return erfcx(x); });
  if (name == "ndtr") return compiled<T>([](auto x, auto, auto) { return ndtr(x); });
  if (name == "ndtri") return compiled<T>([](auto x, auto, auto) { return ndtri(x); });
  if (name == "i0") return compiled<T>([](auto x, auto, auto) { return i0(x); });
  if (name == "i0e") return compiled<T>([](auto x, auto, auto) { return i0e(x); });
  if (name == "i1") return compiled<T>([](auto x, auto, auto) { return i1(x); });
  if (name == "zeta") return compiled<T>([](auto x, auto y, auto) { return zeta(x, y); });
  if (name == "riemann zeta") return compiled<T>([](auto x, auto, auto) { return zeta(x, T(1)); });
  if (name == "igamma") return compiled<T>([](auto x, auto y, auto) { return igamma(x, y); });
  if (name == "igammac") return compiled<T>([](auto x, auto y, auto) { return igammac(x, y); });
  return compiled<T>([](auto x, auto y, auto z) { return betainc(x, y, z); });
}

template <class T>
std::vector<T> random_numbers(size_t n, Range range, uint64_t seed) {
  if constexpr (sizeof(T) == 4)
    return bench::random_floats(n, float(range.low), float(range.high), seed);
  else
    return bench::random_doubles(n, range.low, range.high, seed);
}

template <class T>
void declare(const Function& function, int64_t count) {
  const auto n = size_t(count);
  const bench::Task task{std::string(function.name) + (sizeof(T) == 4 ? " f32" : " f64"), bench::size_name(count), {}};
  // Libraries lose some digits where an argument's rounding is magnified.
  const bench::Tolerance tolerance = sizeof(T) == 4 ? bench::Tolerance{3e-5, 1e-6} : bench::Tolerance{1e-11, 1e-14};
  const auto arguments = std::make_shared<std::array<std::vector<T>, 3>>();
  std::array<cq::Array<T>, 3> arrays;
  for (size_t i = 0; i < 3; ++i) {
    (*arguments)[i] = random_numbers<T>(n, i < function.ranges.size() ? function.ranges[i] : Range{}, i + 1);
    arrays[i] = cq::Array<T>::wrap((*arguments)[i].data(), {count}, [arguments](T*) {});
  }
  const auto [x, y, z] = arrays;
  const Compiled<T> f = ours<T>(function.name);
  const cq::Array<T> result = f(x, y, z);
  const std::vector<T> values(result.host().begin(), result.host().end());
  for (size_t i = 0; function.exact && i < n; i += 31) {
    const Real exact = function.exact((*arguments)[0][i], (*arguments)[1][i], (*arguments)[2][i]);
    const double rtol = sizeof(T) == 4 ? 1e-5 : 1e-12;
    bench::check(task.name + ": calque", double(values[i]), double(exact), rtol, 0);
  }
  bench::add_ours(task, [=] { return f(x, y, z); });

  const auto rival = [&](const char* name, Loop<T> run) {
    if (!run) return bench::skip(task, name, "has no such function");
    bench::add_rival<T>(task, name, values, tolerance, [=](T* to) {
      run((*arguments)[0].data(), (*arguments)[1].data(), (*arguments)[2].data(), to, n);
    });
  };
  rival("libstdc++", std_loop<T>(function.name));
  if (!boost_version().empty())
    rival("boost", boost_loop<T>(function.name));
  else
    bench::skip(task, "boost", "not installed");
}

void declare_all() {
  if (!boost_version().empty()) bench::version("Boost", boost_version());
  for (const int64_t n : bench::sizes({10000}))
    for (const Function& function : functions()) {
      declare<float>(function, n);
      declare<double>(function, n);
    }
}

}  // namespace

CALQUE_BENCH_MAIN(declare_all)
