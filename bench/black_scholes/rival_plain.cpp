#include <cmath>

#include "black_scholes/black_scholes.h"

void greeks_plain(const Options& o, const Greeks& out) {
  double* __restrict price = out[0], * __restrict delta = out[1], * __restrict gamma = out[2];
  double* __restrict theta = out[3], * __restrict vega = out[4], * __restrict rho = out[5];
#include "black_scholes/closed_form.inc"
}
