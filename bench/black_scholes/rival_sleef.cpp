#include <sleef.h>

#include "black_scholes/black_scholes.h"

namespace {

#if defined(__AVX512F__)
typedef __m512d Vector;
Vector log(Vector x) { return Sleef_logd8_u10avx512f(x); }
Vector exp(Vector x) { return Sleef_expd8_u10avx512f(x); }
Vector erfc(Vector x) { return Sleef_erfcd8_u15avx512f(x); }
Vector root(Vector x) { return Sleef_sqrtd8_avx512f(x); }
#elif defined(__AVX2__) && defined(__FMA__)
typedef __m256d Vector;
Vector log(Vector x) { return Sleef_logd4_u10avx2(x); }
Vector exp(Vector x) { return Sleef_expd4_u10avx2(x); }
Vector erfc(Vector x) { return Sleef_erfcd4_u15avx2(x); }
Vector root(Vector x) { return Sleef_sqrtd4_avx2(x); }
#else
typedef double Vector;
Vector log(Vector x) { return Sleef_log_u10(x); }
Vector exp(Vector x) { return Sleef_exp_u10(x); }
Vector erfc(Vector x) { return Sleef_erfc_u15(x); }
Vector root(Vector x) { return Sleef_sqrt(x); }
#endif
constexpr size_t kLanes = sizeof(Vector) / sizeof(double);

Vector load(const double* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

void store(double* to, Vector v) { __builtin_memcpy(to, &v, sizeof v); }

}  // namespace

void greeks_sleef(const Options& o, const Greeks& out) {
  size_t i = 0;
  for (; i + kLanes <= o.n; i += kLanes) {
    Vector s = load(o.spot + i), k = load(o.strike + i), t = load(o.time + i), v = load(o.volatility + i);
    Vector rooted = root(t), deviation = v * rooted;
    Vector d1 = (log(s / k) + (o.rate + 0.5 * v * v) * t) / deviation, d2 = d1 - deviation;
    Vector discounted = k * exp(-o.rate * t), density = 0.3989422804014327 * exp(-0.5 * d1 * d1);
    Vector n1 = 0.5 * erfc(-d1 * 0.7071067811865476), n2 = 0.5 * erfc(-d2 * 0.7071067811865476);
    store(out[0] + i, s * n1 - discounted * n2);
    store(out[1] + i, n1);
    store(out[2] + i, density / (s * deviation));
    store(out[3] + i, s * density * v / (2.0 * rooted) + o.rate * discounted * n2);
    store(out[4] + i, s * density * rooted);
    store(out[5] + i, t * discounted * n2);
  }
  const Options rest{o.spot + i, o.strike + i, o.time + i, o.volatility + i, o.rate, o.n - i};
  greeks_plain(rest, {out[0] + i, out[1] + i, out[2] + i, out[3] + i, out[4] + i, out[5] + i});
}

const char* sleef_version() {
#define CALQUE_TEXT(x) #x
#define CALQUE_DOTTED(a, b, c) CALQUE_TEXT(a) "." CALQUE_TEXT(b) "." CALQUE_TEXT(c)
  return CALQUE_DOTTED(SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL);
}
