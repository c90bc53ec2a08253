"""lgamma, tgamma, digamma: coefficients for gamma.h. Those for f32 are doubles too: f32 is computed in f64, with fewer terms."""

from mpmath import mp, mpf, sqrt, pi, log, loggamma, gamma, psi, euler, findroot
from remez import BITS, Header, hexadecimal, rounded

mp.prec = 240
h = Header("gamma.py", "GammaConstants")


def both(name, f, a, b, counts, weight, what):
    h.polynomial(name, f, a, b, counts, weight, what, 400, format="double")


def pair(name, value, comment):
    for kind in BITS:
        high = rounded(value, 53)
        h.add(kind, name + "0", "double", hexadecimal(high, "double"), comment)
        h.add(kind, name + "1", "double", hexadecimal(rounded(value - high, 53), "double"))


pair("kHalfLog2PiLess_", (log(2 * pi) - 1) / 2, "(log(2 pi) - 1) / 2")
pair("kLogPi_", log(pi), "log pi")
root = findroot(lambda z: psi(0, z), mpf("1.4616"))
pair("kDigammaRootLess2_", root - 2, "the positive root of digamma, less 2")


def near_two(v):
    if abs(v) < mpf(2) ** -100:
        return 1 - euler
    if abs(1 + v) < mpf(2) ** -100:
        return +euler
    return loggamma(2 + v) / (v * (1 + v))


both("kLgamma", near_two, -1, 1, {"float": 17, "double": 28}, lambda v: 1 / near_two(v), "lgamma(2 + v) / (v (1 + v)) on |v| <= 1, relative")


def stirling(w):
    z = 1 / sqrt(w)
    return (loggamma(z) - (z - mpf(1) / 2) * log(z) + z - log(2 * pi) / 2) * z


both("kStirling", stirling, mpf(10) ** -20, mpf(1) / 9, {"float": 5, "double": 11}, lambda w: sqrt(w),
     "z (lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2) in 1 / z^2, z >= 3, lgamma absolute")
both("kGamma", lambda v: gamma(2 + v), 0, 1, {"float": 11, "double": 17}, lambda v: 1 / gamma(2 + v), "gamma(2 + v) on [0, 1], relative")


def digamma_rest(w):
    z = 1 / sqrt(w)
    return (log(z) - 1 / (2 * z) - psi(0, z)) / w


both("kDigammaLarge", digamma_rest, mpf(10) ** -20, mpf(1) / 9, {"float": 6, "double": 11}, lambda w: w,
     "z^2 (log z - 1 / (2 z) - digamma(z)) in 1 / z^2, z >= 3, digamma absolute")


def digamma_quotient(v):
    return psi(0, 2 + v) / (2 + v - root)


both("kDigamma", digamma_quotient, -1, 1, {"float": 18, "double": 29}, lambda v: 1 / digamma_quotient(v),
     "digamma(2 + v) / (2 + v - root) on |v| <= 1, relative")
h.print()
